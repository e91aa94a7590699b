// Makes tables sortable and long ones searchable; without it everything is there, in its first order.
document.addEventListener("DOMContentLoaded", () => {
  const text = (row, column) => (row.cells[column] ? row.cells[column].textContent.trim() : "");
  const compare = (a, b) => {
    const x = parseFloat(a.replace(/,/g, "")), y = parseFloat(b.replace(/,/g, ""));
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  document.querySelectorAll("table.sc-sortable").forEach((table) => {
    const body = table.tBodies[0];
    const first = Array.from(body.rows);
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.title = "Sort by this column";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = first.slice().sort((a, b) => compare(text(a, column), text(b, column)));
        body.replaceChildren(...(down ? rows.reverse() : rows));
      });
    });
    if (first.length > 12) {
      const field = document.createElement("input");
      field.type = "search";
      field.className = "sc-filter";
      field.placeholder = "Filter rows";
      field.setAttribute("aria-label", "Filter rows");
      field.addEventListener("input", () => {
        const wanted = field.value.toLowerCase();
        first.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
      });
      table.parentElement.before(field);
    }
  });
});
