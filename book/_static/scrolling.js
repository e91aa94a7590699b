// Says of a wide table that its left side is out of sight, for the shadow beside the column that stays.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".sc-scroll").forEach((place) => {
    place.addEventListener("scroll", () => {
      place.classList.toggle("sc-scrolled", place.scrollLeft > 1);
    }, { passive: true });
  });
});
