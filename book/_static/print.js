// On paper what is folded is open, pictures are all there, and colours are the light ones; afterwards all is as it was.
(() => {
  const root = document.documentElement;
  let folded = [], theme = null;
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
    for (const picture of document.querySelectorAll("img[loading=lazy]")) picture.loading = "eager";
    theme = root.dataset.theme;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
    if (theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = theme;
    folded = [];
  });
})();
