// Makes tables sortable and long ones searchable. Without it everything is there, in its first order.
// A table shows a source: the rows that stand in the page, or (table_rows.js) rows that come in a file beside it.
document.addEventListener("DOMContentLoaded", () => {
  const LONG = 8; // rows from which a table gets a search field
  const MOST = 1000; // rows that are shown at once; of more, some and a button for the next
  const PART = 100;
  const { exporting, rowsBeside, rowsOfPage } = window.soundcheck;
  const collator = new Intl.Collator("en", { numeric: true });
  const counted = (number) => number.toLocaleString("en");

  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return collator.compare(String(a), String(b));
  };

  const make = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    made.textContent = text;
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  };

  // Which rows are shown and in which order; filters and sorting change it, and then it draws itself.
  const view = (table, source) => {
    const body = table.tBodies[0];
    const every = Array.from({ length: source.length }, (_, row) => row);
    const part = source.length > MOST ? PART : source.length;
    const next = make("button", "", { type: "button", class: "sc-next" });
    const keys = [];
    const now = { rows: every, keeps: () => true, sorted: null, shown: part, told: () => {} };

    const keyed = (column) => {
      keys[column] = keys[column] || every.map((row) => source.key(row, column));
      return keys[column];
    };
    const draw = () => {
      body.replaceChildren(...now.rows.slice(0, now.shown).map(source.element));
      const left = now.rows.length - now.shown;
      next.hidden = left <= 0;
      next.textContent = `Show ${counted(Math.min(PART, left))} of ${counted(left)} more rows`;
    };
    const update = () => {
      now.rows = every.filter(now.keeps);
      now.shown = part;
      if (now.sorted) {
        const { column, sign } = now.sorted, of = keyed(column);
        now.rows.sort((a, b) => {
          const x = of[a], y = of[b];
          if (x === "" || y === "") return (x === "") - (y === ""); // empty cells last
          return sign * compare(x, y);
        });
      }
      draw();
      now.told(now.rows.length);
    };
    next.addEventListener("click", () => {
      const first = now.shown;
      now.shown += PART;
      draw();
      if (next.hidden) body.rows[first].querySelector("a, button")?.focus();
    });
    if (source.length > MOST) {
      table.parentElement.after(next);
      draw();
      let before = part; // on paper there is no button for more
      addEventListener("beforeprint", () => { before = now.shown; now.shown = source.length; draw(); });
      addEventListener("afterprint", () => { now.shown = before; draw(); });
    }
    return { now, update, table, source };
  };

  const sortable = (shown) => {
    const heads = Array.from(shown.table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const name = head.textContent.trim();
      const button = make("button", "", { type: "button", title: "Sort: up, down, as it was" });
      if (head.children.length) { // a link stays one
        button.setAttribute("aria-label", `Sort by ${name}`);
        head.append(button);
      } else {
        button.textContent = name;
        head.replaceChildren(button);
      }
      button.addEventListener("click", () => {
        const after = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
        const order = after === undefined ? "ascending" : after;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (order) head.setAttribute("aria-sort", order);
        shown.now.sorted = order && { column, sign: order === "ascending" ? 1 : -1 };
        shown.update();
      });
    });
  };

  // A list of what a marked column holds, to choose one of.
  const chosen = (shown, head, column, tools) => {
    const values = new Set(Array.from(shown.now.rows, (row) => shown.source.facet(row, column)));
    values.delete("");
    if (values.size < 2) return () => true;
    const label = make("label", `${head.dataset.filter} `);
    const list = make("select", "");
    list.append(make("option", "all", { value: "" }));
    Array.from(values).sort(collator.compare).forEach((value) => {
      list.append(make("option", value.length > 60 ? `${value.slice(0, 59)}…` : value, { value }));
    });
    label.append(list);
    tools.append(label);
    return (row) => list.value === "" || shown.source.facet(row, column) === list.value;
  };

  const choice = (rows, text, keeps, tools) => {
    if (!rows.some((row) => !keeps(row)) || !rows.some(keeps)) return { checked: false, keeps };
    const label = document.createElement("label");
    const box = make("input", "", { type: "checkbox" });
    label.append(box, text);
    tools.append(label);
    return { get checked() { return box.checked; }, keeps };
  };

  const filterable = (shown, tools) => {
    const { now, source, table } = shown, every = now.rows;
    const field = make("input", "", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
    tools.append(field);
    const lists = Array.from(table.tHead.rows[0].cells, (head, column) =>
      head.dataset.filter ? chosen(shown, head, column, tools) : () => true);
    // One box a state that the table has; several of them show the rows of each.
    const badges = Array.from(new Set(every.flatMap((row) => source.badges(row))));
    const states = badges.map((state) => choice(every, state, (row) => source.badges(row).includes(state), tools));
    const random = badges.length ? choice(every, "random fails", (row) => !source.passesToo(row), tools) : null;
    const told = make("output", "");
    tools.append(told);
    now.told = (count) => {
      told.textContent = count === source.length ? `${counted(count)} rows`
        : `${counted(count)} of ${counted(source.length)} rows`;
    };
    now.told(source.length);
    tools.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = states.filter((one) => one.checked);
      now.keeps = (row) => words.every((word) => source.has(row, word)) && lists.every((keeps) => keeps(row)) &&
        (wanted.length === 0 || wanted.some((one) => one.keeps(row))) && !(random?.checked && !random.keeps(row));
      shown.update();
    });
  };

  const prepare = (table, source) => {
    const shown = view(table, source);
    const tools = make("div", "", { class: "sc-tools", role: "group", "aria-label": "Rows of the table" });
    sortable(shown);
    if (source.length >= LONG) filterable(shown, tools);
    exporting(shown, tools);
    table.parentElement.before(tools);
  };

  document.querySelectorAll("table.sc-sortable").forEach((table) => {
    if (table.dataset.rows) rowsBeside(table, (source) => prepare(table, source));
    else prepare(table, rowsOfPage(table));
  });
});
