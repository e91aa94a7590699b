// Where the rows of a table come from: the page itself, or a file beside it for more rows than a page can hold.
// Both say the same of a row: what it is sorted by, what it holds, and the element that shows it.
window.soundcheck = window.soundcheck || {};
{
  const numeric = (text) => {
    const number = Number(text.replace(/,/g, "").replace("−", "-"));
    return text !== "" && Number.isFinite(number) ? number : text;
  };
  const cached = (make) => {
    const made = [];
    return (row) => made[row] === undefined ? (made[row] = make(row)) : made[row];
  };

  window.soundcheck.numeric = numeric;

  window.soundcheck.rowsOfPage = (table) => {
    const rows = Array.from(table.tBodies[0].rows);
    const text = cached((row) => rows[row].textContent.toLowerCase());
    const cell = (row, column) => rows[row].cells[column];
    const lines = (row, column) => {
      const found = cell(row, column);
      if (!found) return ["", ""];
      const small = Array.from(found.querySelectorAll("small.sc-line, small > *"), (one) => one.textContent.trim());
      const copy = found.cloneNode(true);
      copy.querySelectorAll("small").forEach((one) => one.remove());
      return [copy.textContent.trim(), small.join("; ")];
    };
    return {
      length: rows.length,
      key: (row, column) => {
        const found = cell(row, column);
        if (!found) return "";
        return numeric(found.dataset.sort === undefined ? found.textContent.trim() : found.dataset.sort);
      },
      has: (row, word) => text(row).includes(word),
      facet: (row, column) => {
        const found = cell(row, column);
        if (!found) return "";
        return found.dataset.facet === undefined ? lines(row, column)[0] : found.dataset.facet;
      },
      raw: (row, column) => cell(row, column)?.dataset.sort,
      lines,
      badges: cached((row) => Array.from(rows[row].querySelectorAll(".sc-badge"), (one) => one.textContent)),
      passesToo: (row) => Boolean(rows[row].querySelector(".sc-uninformative")),
      element: (row) => rows[row],
    };
  };

  // A value is a text or [text, small print, what it is sorted by, choice of a filter].
  const rowsOfData = ({ columns, rows, pages, linked, badge, badges }) => {
    const values = columns.map((column) => column.map((value) => Array.isArray(value) ? value : [value]));
    const texts = values.map((column) => column.map((value) => `${value[0]} ${value[1] || ""}`.toLowerCase()));
    const matching = {}; // word -> of each column which values hold it, so that a row is looked up, not searched
    const keys = values.map((column) => column.map(([first, small, sort]) => {
      if (typeof sort === "number") return sort;
      return typeof numeric(first) === "number" || !small ? numeric(first) : `${first} ${small}`;
    }));
    const link = columns.length, anchor = link + 1;
    const value = (row, column) => values[column][rows[row][column]];

    const shown = (row, column) => {
      const cell = document.createElement("td");
      const [first, small] = value(row, column);
      const line = document.createElement("span");
      line.className = "sc-line";
      let inner = line;
      if (column === linked) {
        inner = line.appendChild(document.createElement("a"));
        inner.href = `${pages[rows[row][link]]}.html#row-${rows[row][anchor]}`;
      } else if (column === badge) {
        inner = line.appendChild(document.createElement("span"));
        inner.className = `sc-badge ${badges[first]}`;
      }
      inner.textContent = first;
      cell.append(line);
      (small ? small.split("\n") : []).forEach((text) => {
        const below = cell.appendChild(document.createElement("small"));
        below.className = "sc-line";
        below.textContent = text;
      });
      if (typeof numeric(first) === "number") cell.className = "sc-number";
      return cell;
    };
    return {
      length: rows.length,
      key: (row, column) => keys[column][rows[row][column]],
      has: (row, word) => {
        matching[word] = matching[word] || texts.map((column) => column.map((text) => text.includes(word)));
        return matching[word].some((found, column) => found[rows[row][column]]);
      },
      facet: (row, column) => {
        const found = value(row, column);
        return found.length < 4 ? found[0] : found[3];
      },
      raw: () => undefined,
      lines: (row, column) => {
        const [first, small] = value(row, column);
        return [first, (small || "").replace(/\n/g, "; ")];
      },
      badges: (row) => [value(row, badge)[0]],
      passesToo: () => false,
      element: cached((row) => {
        const made = document.createElement("tr");
        made.append(...columns.map((_, column) => shown(row, column)));
        return made;
      }),
    };
  };

  // A script is loaded from a disk, too, where a page may not fetch anything.
  window.soundcheck.rowsBeside = (table, use) => {
    window.soundcheck.load(table.dataset.rows, "rows", (data) => {
      document.querySelectorAll(".sc-rows-note").forEach((note) => { note.hidden = Boolean(data); });
      use(data ? rowsOfData(data) : window.soundcheck.rowsOfPage(table));
    });
  };

  // Load a file of data that calls soundcheck.give(name, data); nothing is given if it cannot be read.
  window.soundcheck.load = (address, name, use) => {
    const script = document.createElement("script");
    window.soundcheck.given = window.soundcheck.given || {};
    script.src = address;
    script.addEventListener("load", () => use(window.soundcheck.given[name]));
    script.addEventListener("error", () => use(undefined));
    document.head.append(script);
  };
  window.soundcheck.give = (name, data) => {
    window.soundcheck.given[name] = data;
  };
}
