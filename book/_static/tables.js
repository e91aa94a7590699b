// Makes tables sortable and long ones searchable, and copies or saves the rows that are shown. Without it all is there,
// in its first order; rows of "All results" come in a file beside the page.
window.soundcheck = {
  given: {},
  give(name, data) { this.given[name] = data; },
  // Loads a file of data, which calls give: from a disk, too, where a page may not fetch anything.
  load(address, name, use) {
    const script = Object.assign(document.createElement("script"), { src: address });
    script.addEventListener("load", () => use(this.given[name]));
    script.addEventListener("error", () => use(undefined));
    document.head.append(script);
  },
};
document.addEventListener("DOMContentLoaded", () => {
  const LONG = 8; // rows from which a table gets a search field
  const MOST = 1000, PART = 100; // rows that are shown at once; of more, a part and a button for the next
  const FORMULA = /^[=+\-@\t\r]/; // what a spreadsheet would run
  const collator = new Intl.Collator("en", { numeric: true });
  const counted = (number) => number.toLocaleString("en");
  const make = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    made.textContent = text;
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  };
  const numeric = (text) => {
    const number = Number(text.replace(/,/g, "").replace("−", "-"));
    return text !== "" && Number.isFinite(number) ? number : text;
  };
  const isNumber = (text) => typeof numeric(text) === "number";
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b));

  const rowOfPage = (row) => {
    const cells = Array.from(row.cells, (cell) => {
      const copy = cell.cloneNode(true), { sort, facet } = cell.dataset;
      const small = Array.from(copy.querySelectorAll("small.sc-line, small > *"), (one) => one.textContent.trim());
      copy.querySelectorAll("small").forEach((one) => one.remove());
      const first = copy.textContent.trim();
      return { first, small, raw: sort, key: numeric(sort ?? cell.textContent.trim()), facet: facet ?? first };
    });
    const badges = Array.from(row.querySelectorAll(".sc-badge"), (one) => one.textContent);
    const random = Boolean(row.querySelector(".sc-uninformative"));
    return { cells, badges, random, text: row.textContent.toLowerCase(), element: () => row };
  };

  // A value is a text or [text, small print, what it is sorted by, choice of a filter]; a row is numbers of values, then
  // that of its page and its place there.
  const rowsOfData = ({ columns, rows, pages, linked, badge, badges }, names) => {
    const values = columns.map((column) => column.map((value) => {
      const [first, lines, sort, facet] = [].concat(value);
      const key = sort ?? (isNumber(first) || !lines ? numeric(first) : `${first} ${lines}`);
      return { first, small: lines ? lines.split("\n") : [], key, facet: facet ?? first };
    }));
    const shown = ({ first, small }, column, address) => {
      const cell = make("td", "", { "data-label": names[column], ...(isNumber(first) ? { class: "sc-number" } : {}) });
      const line = make("span", column === linked || column === badge ? "" : first, { class: "sc-line" });
      if (column === linked) line.append(make("a", first, { href: address }));
      if (column === badge) line.append(make("span", first, { class: `sc-badge ${badges[first]}` }));
      cell.append(line, ...small.map((text) => make("small", text, { class: "sc-line" })));
      return cell;
    };
    return rows.map((row) => {
      const cells = columns.map((_, column) => values[column][row[column]]);
      const [page, place] = row.slice(columns.length);
      let made = null;
      const element = () => {
        if (made) return made;
        made = make("tr", "");
        made.append(...cells.map((cell, column) => shown(cell, column, `${pages[page]}.html#row-${place}`)));
        return made;
      };
      const text = cells.map(({ first, small }) => `${first} ${small.join(" ")}`).join(" ").toLowerCase();
      return { cells, badges: [cells[badge].first], random: false, text, element };
    });
  };

  const prepare = (table, rows) => {
    const body = table.tBodies[0], heads = Array.from(table.tHead.rows[0].cells), place = table.parentElement;
    const tools = make("div", "", { class: "sc-tools", role: "group", "aria-label": "Rows of the table" });
    const next = make("button", "", { type: "button", class: "sc-next" }), count = make("output", "");
    const part = rows.length > MOST ? PART : rows.length, filters = [];
    let now = rows, shown = part, sorted = null;

    const draw = (most = shown) => {
      body.replaceChildren(...now.slice(0, most).map((row) => row.element()));
      const left = now.length - most;
      next.hidden = left <= 0;
      next.textContent = `Show ${counted(Math.min(PART, left))} of ${counted(left)} more rows`;
      count.textContent = `${now.length === rows.length ? "" : `${counted(now.length)} of `}${counted(rows.length)} rows`;
    };
    const update = () => {
      now = rows.filter((row) => filters.every((keeps) => keeps(row)));
      shown = part;
      const key = (row) => row.cells[sorted.column]?.key ?? "";
      if (sorted) now.sort((a, b) => {
        const empty = (key(a) === "") - (key(b) === ""); // empty cells last
        return empty || sorted.sign * compare(key(a), key(b));
      });
      draw();
    };
    next.addEventListener("click", () => {
      const first = shown;
      shown += PART;
      draw();
      if (next.hidden) body.rows[first].querySelector("a, button")?.focus();
    });
    addEventListener("beforeprint", () => part < rows.length && draw(rows.length)); // on paper there is no button
    addEventListener("afterprint", () => part < rows.length && draw());

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
        sorted = order && { column, sign: order === "ascending" ? 1 : -1 };
        update();
      });
    });

    const choice = (column) => { // a list of what a column holds, to choose one of
      const values = Array.from(new Set(rows.map((row) => row.cells[column]?.facet ?? ""))).filter(Boolean);
      if (values.length < 2) return;
      const label = make("label", `${heads[column].dataset.filter} `), list = make("select", "");
      const cut = (value) => (value.length > 60 ? `${value.slice(0, 59)}…` : value);
      list.append(make("option", "all", { value: "" }));
      list.append(...values.sort(collator.compare).map((value) => make("option", cut(value), { value })));
      label.append(list);
      tools.append(label);
      filters.push((row) => !list.value || row.cells[column]?.facet === list.value);
    };
    const box = (text, keeps) => { // a box, if some rows are kept by it and others are not
      if (rows.every(keeps) || !rows.some(keeps)) return null;
      const label = make("label", ""), checked = make("input", "", { type: "checkbox" });
      label.append(checked, text);
      tools.append(label);
      return { checked, keeps };
    };
    if (rows.length >= LONG) {
      const field = make("input", "", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
      tools.append(field);
      filters.push((row) => field.value.toLowerCase().split(/\s+/).every((word) => row.text.includes(word)));
      heads.forEach((head, column) => head.dataset.filter && choice(column));
      const names = Array.from(new Set(rows.flatMap((row) => row.badges)));
      const states = names.map((name) => box(name, (row) => row.badges.includes(name))).filter(Boolean);
      const wanted = () => states.filter(({ checked }) => checked.checked);
      filters.push((row) => !wanted().length || wanted().some(({ keeps }) => keeps(row)));
      const random = names.length ? box("random fails", (row) => !row.random) : null;
      filters.push((row) => !random?.checked.checked || !row.random);
      tools.append(count);
      tools.addEventListener("input", update);
    }

    // For a spreadsheet: small print has a column of its own, numbers have all their digits, formulas are texts.
    const plain = (text) => {
      const flat = text.replace(/\s+/g, " ").trim();
      if (isNumber(flat)) return flat.replace(/,/g, "").replace("−", "-");
      if (/^[+−-]?[0-9.]+ %$/.test(flat)) return flat.replace("−", "-");
      return FORMULA.test(flat) ? `'${flat}` : flat;
    };
    const lines = () => {
      const names = heads.map((head) => head.textContent.trim());
      const below = names.map((_, column) => now.some((row) => row.cells[column]?.small.length));
      const head = names.flatMap((name, column) => [name, ...(below[column] ? [`${name}: small print`] : [])]);
      return [head.map(plain), ...now.map((row) => names.flatMap((_, column) => {
        const { first = "", small = [], raw = "" } = row.cells[column] ?? {};
        const value = isNumber(first) && isNumber(raw) ? raw : plain(first);
        return [value, ...(below[column] ? [plain(small.join("; "))] : [])];
      }))];
    };
    const exported = make("span", "", { class: "sc-export" }), told = make("output", "");
    const button = (text, title, act) => {
      const made = make("button", text, { type: "button", title });
      made.addEventListener("click", act);
      return made;
    };
    const copy = async () => {
      const text = lines().map((line) => line.join("\t")).join("\n");
      try {
        await navigator.clipboard.writeText(text);
      } catch { // browsers that give no clipboard to pages of a disk
        const field = make("textarea", "");
        field.value = text;
        document.body.append(field);
        field.select();
        const done = document.execCommand("copy");
        field.remove();
        if (!done) return void (told.textContent = "The browser does not let this page copy; CSV saves the rows");
      }
      told.textContent = `${counted(now.length)} rows copied`;
    };
    const save = () => {
      const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
      const text = lines().map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
      const page = location.pathname.split("/").slice(-2).join("_").replace(/\.html$/, "");
      const number = Array.from(document.querySelectorAll("table.sc-table")).indexOf(table) + 1;
      const href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
      const download = `${page}_table_${number}.csv`.replace(/[^\w.-]+/g, "_");
      make("a", "", { href, download }).click();
      setTimeout(() => URL.revokeObjectURL(href), 10000);
      told.textContent = `${counted(now.length)} rows saved`;
    };
    exported.append(told, button("Copy", "Copy the rows that are shown, for a spreadsheet", copy));
    exported.append(button("CSV", "Save the rows that are shown as a CSV file", save));
    tools.append(exported);
    place.before(tools);
    if (part < rows.length) place.after(next);
    draw();
  };

  document.querySelectorAll("table.sc-sortable").forEach((table) => {
    const { rows } = table.dataset, names = Array.from(table.tHead.rows[0].cells, (head) => head.textContent.trim());
    if (!rows) prepare(table, Array.from(table.tBodies[0].rows, rowOfPage));
    else window.soundcheck.load(rows, "rows", (data) => data && prepare(table, rowsOfData(data, names)));
  });
});
