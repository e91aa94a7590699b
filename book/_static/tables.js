// Makes tables sortable and long ones searchable, and copies or saves the rows that are shown. Without it all is there,
// in its first order; rows of "All results" come in a file beside the page.
document.addEventListener("DOMContentLoaded", () => {
  const LONG = 8; // rows from which a table gets a search field
  const MOST = 1000, PART = 100; // rows that are shown at once; of more, a part and a button for the next
  const FORMULA = /^[=+\-@\t\r]/; // what a spreadsheet would run
  const { make, on } = window.soundcheck, button = window.soundcheck.button.bind(window.soundcheck);
  const collator = new Intl.Collator("en", { numeric: true });
  const counted = (number) => number.toLocaleString("en");
  const different = (values) => Array.from(new Set(values)).filter(Boolean);
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
    return { cells, text: row.textContent.toLowerCase(), element: () => row };
  };

  // A value is a text or [text, small print, what it is sorted by, choice of a filter]; a row is numbers of values, then
  // that of its page and its place there.
  const rowsOfData = ({ columns, rows, pages, linked, badge, badges }, names) => {
    const values = columns.map((column) => column.map((value) => {
      const [first, lines, sort, facet] = [].concat(value);
      const key = sort ?? (isNumber(first) || !lines ? numeric(first) : `${first} ${lines}`);
      return { first, small: lines ? lines.split("\n") : [], key, facet: facet ?? first };
    }));
    const shown = ({ first, small }, column, href) => {
      const marked = column === badge ? make("span", first, { class: `sc-badge ${badges[first]}` }) : first;
      const line = make("span", column === linked ? make("a", first, { href }) : marked, { class: "sc-line" });
      const below = small.map((text) => make("small", text, { class: "sc-line" }));
      const right = isNumber(first) ? { class: "sc-number" } : {};
      return make("td", [line, ...below], { "data-label": names[column], ...right });
    };
    return rows.map((row) => {
      const cells = columns.map((_, column) => values[column][row[column]]), [page, place] = row.slice(columns.length);
      const text = cells.map(({ first, small }) => `${first} ${small.join(" ")}`).join(" ").toLowerCase();
      const address = `${pages[page]}.html#row-${place}`;
      let made = null;
      const element = () => (made ??= make("tr", cells.map((cell, column) => shown(cell, column, address))));
      return { cells, text, element };
    });
  };

  const prepare = (table, rows) => {
    const body = table.tBodies[0], heads = Array.from(table.tHead.rows[0].cells), place = table.parentElement;
    const tools = make("div", "", { class: "sc-tools", role: "group", "aria-label": "Rows of the table" });
    const count = make("output"), next = button("", { class: "sc-next" }, () => {
      const first = shown;
      draw(shown += PART);
      if (next.hidden) body.rows[first].querySelector("a, button")?.focus();
    });
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
      if (sorted) now.sort((a, b) => (key(a) === "") - (key(b) === "") || sorted.sign * compare(key(a), key(b)));
      draw(); // empty cells last
    };
    // On paper there is no button.
    if (part < rows.length) on(window, { beforeprint: () => draw(rows.length), afterprint: () => draw() });

    heads.forEach((head, column) => {
      const name = head.textContent.trim(), isLink = head.children.length > 0; // which stays one
      const about = { title: "Sort: up, down, as it was", ...(isLink ? { "aria-label": `Sort by ${name}` } : {}) };
      const sorts = button(isLink ? "" : name, about, () => {
        const order = { ascending: "descending", descending: "" }[head.getAttribute("aria-sort")] ?? "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (order) head.setAttribute("aria-sort", order);
        sorted = order && { column, sign: order === "ascending" ? 1 : -1 };
        update();
      });
      head.replaceChildren(...(isLink ? [...head.childNodes, sorts] : [sorts]));
    });

    const choice = (head, column) => { // a list of what a column holds, to choose one of
      const facet = (row) => row.cells[column]?.facet, values = different(rows.map(facet)).sort(collator.compare);
      if (!head.dataset.filter || values.length < 2) return;
      const options = values.map((value) => make("option", value, { value }));
      const list = make("select", [make("option", "all", { value: "" }), ...options]);
      tools.append(make("label", [`${head.dataset.filter} `, list]));
      filters.push((row) => !list.value || facet(row) === list.value);
    };
    if (rows.length >= LONG) {
      const field = make("input", "", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
      tools.append(field);
      filters.push((row) => field.value.toLowerCase().split(/\s+/).every((word) => row.text.includes(word)));
      heads.forEach(choice);
      on(tools, { input: update }).append(count);
    }

    // For a spreadsheet: small print has a column of its own, numbers have all their digits, formulas are texts.
    const plain = (text) => {
      const flat = text.replace(/\s+/g, " ").trim();
      if (isNumber(flat)) return flat.replace(/,/g, "").replace("−", "-");
      if (/^[+−-]?[0-9.]+ %$/.test(flat)) return flat.replace("−", "-");
      return FORMULA.test(flat) ? `'${flat}` : flat;
    };
    const lines = () => {
      const below = heads.map((_, column) => now.some((row) => row.cells[column]?.small.length));
      const line = (cell) => heads.flatMap((head, column) => cell(head, column).slice(0, below[column] ? 2 : 1));
      const names = line(({ textContent }) => [plain(textContent), `${plain(textContent)}: small print`]);
      return [names, ...now.map((row) => line((_, column) => {
        const { first = "", small = [], raw = "" } = row.cells[column] ?? {};
        return [isNumber(first) && isNumber(raw) ? raw : plain(first), plain(small.join("; "))];
      }))];
    };
    const said = make("output");
    const copy = async () => {
      const text = lines().map((line) => line.join("\t")).join("\n");
      const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
      said.textContent = copied ? `${counted(now.length)} rows copied` : "Not allowed to copy; CSV saves the rows";
    };
    const save = () => {
      const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
      const text = lines().map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
      const page = location.pathname.split("/").slice(-2).join("_").replace(/\.html$/, "");
      const number = Array.from(document.querySelectorAll("table.sc-table")).indexOf(table) + 1;
      const href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
      make("a", "", { href, download: `${page}_table_${number}.csv`.replace(/[^\w.-]+/g, "_") }).click();
      said.textContent = `${counted(now.length)} rows saved`;
    };
    const copies = button("Copy", { title: "Copy the rows that are shown, for a spreadsheet" }, copy);
    const saves = button("CSV", { title: "Save the rows that are shown as a CSV file" }, save);
    tools.append(make("span", [said, copies, saves], { class: "sc-export" }));
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
