// Makes tables sortable and long ones searchable. Without it everything is there, in its first order.
document.addEventListener("DOMContentLoaded", () => {
  const LONG = 8; // rows from which a table gets a search field

  const key = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    const given = cell.dataset.sort === undefined ? cell.textContent.trim() : cell.dataset.sort;
    const number = Number(given.replace(/,/g, "").replace("−", "-"));
    return given !== "" && Number.isFinite(number) ? number : given;
  };
  const compare = (a, b) => {
    if (a === "" || b === "") return (a === "") - (b === ""); // empty cells last
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };

  const sortable = (table, rows) => {
    const body = table.tBodies[0];
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.title = "Sort: up, down, as it was";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
        const order = next === undefined ? "ascending" : next;
        table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
        const sorted = rows.slice();
        if (order) {
          head.setAttribute("aria-sort", order);
          const sign = order === "ascending" ? 1 : -1;
          sorted.sort((a, b) => {
            const x = key(a, column), y = key(b, column);
            return x === "" || y === "" ? compare(x, y) : sign * compare(x, y);
          });
        }
        body.replaceChildren(...sorted);
      });
    });
  };

  const filterable = (table, rows) => {
    const tools = document.createElement("div");
    tools.className = "sc-tools";
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = "Filter rows";
    field.setAttribute("aria-label", "Filter rows");
    tools.append(field);
    const choice = (text, keeps) => {
      if (!rows.some((row) => !keeps(row)) || !rows.some(keeps)) return { checked: false, keeps };
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      label.append(box, text);
      tools.append(label);
      return { get checked() { return box.checked; }, keeps };
    };
    // One box a state that the table has; several of them show the rows of each.
    const badges = (row) => Array.from(row.querySelectorAll(".sc-badge"), (badge) => badge.textContent);
    const states = Array.from(new Set(rows.flatMap(badges)), (state) =>
      choice(state, (row) => badges(row).includes(state)));
    const choices = table.querySelector(".sc-badge") ? [
      choice("random fails", (row) => !row.querySelector(".sc-uninformative")),
    ] : [];
    const told = document.createElement("output");
    tools.append(told);
    const update = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = states.filter((one) => one.checked);
      let shown = 0;
      rows.forEach((row) => {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word)) ||
          (wanted.length > 0 && !wanted.some((one) => one.keeps(row))) ||
          choices.some((one) => one.checked && !one.keeps(row));
        shown += !row.hidden;
      });
      told.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} rows`;
    };
    tools.addEventListener("input", update);
    table.parentElement.before(tools);
  };

  document.querySelectorAll("table.sc-sortable").forEach((table) => {
    const rows = Array.from(table.tBodies[0].rows);
    sortable(table, rows);
    if (rows.length >= LONG) filterable(table, rows);
  });
});
