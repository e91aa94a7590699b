// What all scripts share. Then: opens what a link leads to, on paper everything, and names what the theme leaves nameless.
window.soundcheck = {
  given: {},
  give(name, data) { this.given[name] = data; },
  // Loads a file of data, which calls give: from a disk, too, where a page may not fetch anything.
  load(address, name, use) {
    const script = Object.assign(document.createElement("script"), { src: address });
    document.head.append(this.on(script, { load: () => use(this.given[name]), error: () => use(undefined) }));
  },
  make(tag, content = "", attributes = {}) {
    const made = document.createElement(tag);
    made.append(...[].concat(content));
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  },
  on(target, events) {
    Object.entries(events).forEach(([name, act]) => target.addEventListener(name, act));
    return target;
  },
  button(text, attributes, click) { return this.on(this.make("button", text, { type: "button", ...attributes }), { click }); },
};
(() => {
  const root = document.documentElement;
  let folded = [], theme;
  const open = () => {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    if (!target?.closest("details")) return;
    for (let place = target.closest("details"); place; place = place.parentElement.closest("details")) place.open = true;
    target.scrollIntoView({ block: "center" });
  };
  const print = (printing) => { // what is folded opens, pictures are all there, and colours are the light ones
    if (printing) [folded, theme] = [[...document.querySelectorAll("details:not([open])")], root.dataset.theme];
    folded.forEach((one) => { one.open = printing; });
    document.querySelectorAll("img[loading=lazy]").forEach((picture) => { picture.loading = "eager"; });
    if (printing || theme !== undefined) root.dataset.theme = printing ? "light" : theme;
    else delete root.dataset.theme;
  };
  window.soundcheck.on(window, { hashchange: open, beforeprint: () => print(true), afterprint: () => print(false) });
  document.addEventListener("DOMContentLoaded", () => {
    open();
    const every = (where, use) => document.querySelectorAll(where).forEach(use);
    const name = (where, text) => every(where, (one) => one.setAttribute("aria-label", text(one)));
    const role = (where, text) => every(where, (one) => one.setAttribute("role", text));
    name("nav summary", (one) => `Pages below ${one.parentElement.previousElementSibling?.textContent.trim()}`);
    name("#pst-primary-sidebar", () => "Book");
    role("#pst-primary-sidebar", "complementary");
    role("[role=doc-biblioentry]", "listitem");
    every("div.math", (one) => { one.tabIndex = 0; }); // moved by keys where it is wide
    // Wide tables: the column that stays gets a shadow when the others have moved below it.
    every(".sc-scroll", (one) => one.addEventListener("scroll", () =>
      one.classList.toggle("sc-scrolled", one.scrollLeft > 1), { passive: true }));
  });
})();
