// A link into what is folded opens it, also in browsers that do not do so by themselves.
(function () {
  function open() {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch (error) { return; }
    const folded = target && target.closest('details:not([open])');
    if (!folded) return;
    for (let one = folded; one; one = one.parentElement.closest('details')) one.open = true;
    target.scrollIntoView();
  }
  window.addEventListener('hashchange', open);
  document.addEventListener('DOMContentLoaded', open);
})();
