// Opens what is folded around the row that an address leads to.
document.addEventListener("DOMContentLoaded", () => {
  const open = () => {
    if (!location.hash.startsWith("#row-")) return;
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let place = target.closest("details"); place; place = place.parentElement.closest("details")) place.open = true;
    target.scrollIntoView({ block: "center" });
  };
  window.addEventListener("hashchange", open);
  open();
});
