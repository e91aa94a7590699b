// Makes tables sortable and long ones searchable, and copies or saves the rows that are shown. Without it all is there,
// in its first order; rows of "All results" come in a file beside the page.
document.addEventListener("DOMContentLoaded", () => {
  const LONG = 8; // rows from which a table gets a search field
  const NUMBER = /^[+−-]?[\d,.]+(e-?\d+)?( %)?$/, FORMULA = /^[=+\-@]/; // what a spreadsheet reads, and would run
  const { make, on, button } = window.soundcheck;
  const collator = new Intl.Collator("en", { numeric: true });
  const counted = (number) => number.toLocaleString("en");
  const signed = (text) => text.replace(/,/g, "").replace("−", "-");
  const isNumber = (text) => text !== "" && Number.isFinite(Number(signed(text)));
  const by = (column, sign) => (one, other) => { // empty cells last
    const [a, b] = [one, other].map((row) => row.cells[column].key), numbers = [a, b].every(Number.isFinite);
    return (a === "") - (b === "") || sign * (numbers ? a - b : collator.compare(a, b));
  };

  // A row has cells: a text, small print below it, what it is sorted by, and by which a filter chooses it.
  const rowOf = (cells, element) => ({
    cells, element, text: cells.map(({ first, small }) => `${first} ${small}`).join(" ").toLowerCase(),
  });
  const cell = (first, small = "", sort = null, facet = null) => {
    const text = String(sort ?? (isNumber(first) ? first : `${first} ${small}`.trim()));
    const key = isNumber(text) ? Number(signed(text)) : text;
    return { first, small, key, facet: facet ?? first, full: isNumber(first) && isNumber(text) ? String(key) : first };
  };
  const rowOfPage = (row) => rowOf(Array.from(row.cells, (one) => {
    const copy = one.cloneNode(true), small = Array.from(copy.querySelectorAll("small"), (line) => line.textContent.trim());
    copy.querySelectorAll("small").forEach((line) => line.remove());
    return cell(copy.textContent.trim(), small.join("\n"), one.dataset.sort, one.dataset.facet);
  }), () => row);

  // Of data a row is numbers of values, which are cells as above, then that of its page and its place there.
  const rowsOfData = ({ columns, rows, pages, linked, badge, badges }, heads) => {
    const values = columns.map((column) => column.map((value) => cell(...[].concat(value))));
    const shown = ({ first, small }, column, href) => {
      const marked = column === badge ? make("span", first, { class: `sc-badge ${badges[first]}` }) : first;
      const line = make("span", column === linked ? make("a", first, { href }) : marked, { class: "sc-line" });
      const below = small.split("\n").filter(Boolean).map((text) => make("small", text, { class: "sc-line" }));
      const right = isNumber(first) ? { class: "sc-number" } : {};
      return make("td", [line, ...below], { "data-label": heads[column].textContent, ...right });
    };
    return rows.map((row) => {
      const cells = columns.map((_, column) => values[column][row[column]]), [page, place] = row.slice(columns.length);
      const address = `${pages[page]}.html#row-${place}`;
      return rowOf(cells, () => make("tr", cells.map((one, column) => shown(one, column, address))));
    });
  };

  const prepare = (table, heads, rows) => {
    const PART = table.dataset.rows ? 100 : 1000; // rows that are shown at once; of more a button shows the next
    const body = table.tBodies[0], filters = [], count = make("output"), said = make("output");
    let now = rows, shown = PART, sorted = null;
    const next = button("", { class: "sc-next" }, () => draw(shown + PART));
    const draw = (most) => {
      shown = most;
      body.replaceChildren(...now.slice(0, shown).map((row) => row.element()));
      const left = now.length - shown;
      next.hidden = left <= 0;
      next.textContent = `Show ${counted(Math.min(PART, left))} of ${counted(left)} more rows`;
      count.textContent = `${now.length === rows.length ? "" : `${counted(now.length)} of `}${counted(rows.length)} rows`;
    };
    const update = () => {
      now = rows.filter((row) => filters.every((keeps) => keeps(row)));
      if (sorted) now.sort(sorted);
      draw(PART);
    };

    heads.forEach((head, column) => {
      const sort = () => {
        const order = { null: "ascending", ascending: "descending", descending: null }[head.ariaSort];
        heads.forEach((other) => { other.ariaSort = other === head ? order : null; });
        sorted = order && by(column, order === "ascending" ? 1 : -1);
        update();
      };
      head.replaceChildren(button(head.textContent, { title: "Sort: up, down, as it was" }, sort));
    });

    const tools = make("div", [], { class: "sc-tools", role: "group", "aria-label": "Rows of the table" });
    if (rows.length >= LONG) {
      const field = make("input", [], { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
      tools.append(field);
      filters.push((row) => field.value.toLowerCase().split(/\s+/).every((word) => row.text.includes(word)));
      heads.forEach(({ dataset: { filter } }, column) => { // a list of what a column holds, to choose one of
        const values = [...new Set(rows.map((row) => row.cells[column].facet))].filter(Boolean).sort(collator.compare);
        if (!filter || values.length < 2) return;
        const options = values.map((value) => make("option", value, { value }));
        const list = make("select", [make("option", "all", { value: "" }), ...options]);
        tools.append(make("label", [`${filter} `, list]));
        filters.push((row) => !list.value || row.cells[column].facet === list.value);
      });
      on(tools, { input: update }).append(count);
    }

    // For a spreadsheet: small print has a column of its own, numbers have all their digits, formulas are texts.
    const lines = () => {
      const plain = (text) => (NUMBER.test(text) ? signed(text) : text.replace(/\s+/g, " ").replace(FORMULA, "'$&"));
      const below = heads.map((_, column) => now.some((row) => row.cells[column].small));
      const line = (pairs) => pairs.flatMap((pair, column) => pair.slice(0, below[column] ? 2 : 1).map(plain));
      const names = heads.map(({ textContent }) => [textContent, `${textContent}: small print`]);
      return [names, ...now.map((row) => row.cells.map((one) => [one.full, one.small.replace(/\n/g, "; ")]))].map(line);
    };
    const copy = async () => {
      const text = lines().map((line) => line.join("\t")).join("\n");
      const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
      said.textContent = copied ? `${counted(now.length)} rows copied` : "Not allowed to copy; CSV saves the rows";
    };
    const save = () => {
      const quoted = (line) => line.map((text) => `"${text.replace(/"/g, '""')}"`).join(",");
      const text = lines().map(quoted).join("\r\n");
      const href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
      const number = Array.from(document.querySelectorAll("table.sc-table")).indexOf(table) + 1;
      make("a", [], { href, download: `${document.title} table ${number}.csv`.replace(/[^\w.-]+/g, "_") }).click();
      said.textContent = `${counted(now.length)} rows saved`;
    };
    const copies = button("Copy", { title: "Copy the rows that are shown, for a spreadsheet" }, copy);
    const saves = button("CSV", { title: "Save the rows that are shown as a CSV file" }, save);
    tools.append(make("span", [said, copies, saves], { class: "sc-export" }));
    table.parentElement.before(tools);
    table.parentElement.after(next);
    on(window, { beforeprint: () => draw(rows.length), afterprint: () => draw(PART) }); // on paper there is no button
    draw(PART);
  };

  document.querySelectorAll("table.sc-sortable").forEach((table) => {
    const { rows } = table.dataset, heads = Array.from(table.tHead.rows[0].cells);
    if (!rows) prepare(table, heads, Array.from(table.tBodies[0].rows, rowOfPage));
    else window.soundcheck.load(rows, "rows", (data) => prepare(table, heads, rowsOfData(data, heads)));
  });
});
