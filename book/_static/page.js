// Opens what a link leads to, on paper everything, and names what the theme leaves without a name.
(() => {
  const root = document.documentElement;
  let folded = [], theme = null;

  const open = () => {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    if (!target?.closest("details")) return;
    for (let place = target.closest("details"); place; place = place.parentElement.closest("details")) place.open = true;
    target.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", open);
  addEventListener("beforeprint", () => { // pictures are all there, and colours are the light ones
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
  document.addEventListener("DOMContentLoaded", () => {
    open();
    const name = (where, text) => document.querySelectorAll(where).forEach((one) => one.setAttribute("aria-label", text(one)));
    name("nav summary", (one) => `Pages below ${one.parentElement.previousElementSibling?.textContent.trim()}`);
    name("#pst-primary-sidebar", () => "Book");
    document.getElementById("pst-primary-sidebar")?.setAttribute("role", "complementary");
    document.querySelectorAll("[role=doc-biblioentry]").forEach((one) => one.setAttribute("role", "listitem"));
    document.querySelectorAll("div.math").forEach((one) => { one.tabIndex = 0; }); // moved by keys where it is wide
    // Wide tables: the column that stays gets a shadow when the others have moved below it.
    document.querySelectorAll(".sc-scroll").forEach((one) => one.addEventListener("scroll", () => {
      one.classList.toggle("sc-scrolled", one.scrollLeft > 1);
    }, { passive: true }));
  });
})();
