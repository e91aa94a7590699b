// What all scripts share. Then: opens what a link leads to, prepares for paper, names what the theme leaves nameless.
window.soundcheck = (() => {
  const on = (target, events) => {
    Object.entries(events).forEach(([name, act]) => target.addEventListener(name, act));
    return target;
  };
  const make = (tag, content = [], attributes = {}, events = {}) => {
    const made = document.createElement(tag);
    made.append(...[].concat(content));
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return on(made, events);
  };
  const button = (text, attributes, click) => make("button", text, { type: "button", ...attributes }, { click });
  // Loads a file of data, which calls give: from a disk, too, where a page may not fetch anything.
  const given = {}, give = (name, data) => { given[name] = data; };
  const load = (src, name, use) => document.head.append(make("script", [], { src }, { load: () => use(given[name]) }));
  return { on, make, button, give, load };
})();
(() => {
  const root = document.documentElement, every = (where, use) => document.querySelectorAll(where).forEach(use);
  let theme = root.dataset.theme;
  const open = () => {
    const target = document.querySelector(":target"), around = target?.closest("details");
    for (let place = around; place; place = place.parentElement.closest("details")) place.open = true;
    if (around) target.scrollIntoView({ block: "center" });
  };
  const print = (printing) => { // pictures are all there, and colours are the light ones
    every("img[loading=lazy]", (picture) => { picture.loading = "eager"; });
    if (printing) theme = root.dataset.theme;
    root.dataset.theme = printing ? "light" : theme;
  };
  window.soundcheck.on(window, { hashchange: open, beforeprint: () => print(true), afterprint: () => print(false) });
  document.addEventListener("DOMContentLoaded", () => {
    open();
    const set = (where, name, text) => every(where, (one) => one.setAttribute(name, text));
    set("#pst-primary-sidebar", "aria-label", "Book");
    set("#pst-primary-sidebar", "role", "complementary");
    set("[role=doc-biblioentry]", "role", "listitem");
    set("div.math", "tabindex", 0); // moved by keys where it is wide
    every("nav summary", (one) => one.setAttribute(
      "aria-label", `Pages below ${one.parentElement.previousElementSibling?.textContent.trim()}`));
    // Wide tables: the column that stays gets a shadow when the others have moved below it.
    document.addEventListener("scroll", ({ target }) =>
      target.classList?.toggle("sc-scrolled", target.scrollLeft > 1), { capture: true, passive: true });
  });
})();
