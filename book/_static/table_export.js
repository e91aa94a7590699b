// Copies the rows that a table shows, for a spreadsheet, or saves them as CSV: numbers as they are, and no text
// that a spreadsheet would run as a formula.
window.soundcheck = window.soundcheck || {};
{
  const FORMULA = /^[=+\-@\t\r]/;
  const SHARE = /^[+−-]?[0-9.]+ %$/;

  const plain = (text) => {
    const flat = text.replace(/\s+/g, " ").trim();
    if (typeof window.soundcheck.numeric(flat) === "number") return flat.replace(/,/g, "").replace("−", "-");
    if (SHARE.test(flat)) return flat.replace("−", "-");
    return FORMULA.test(flat) ? `'${flat}` : flat;
  };
  // A number has all its digits where the cell keeps them.
  const first = (source, row, column) => {
    const [text] = source.lines(row, column), raw = source.raw(row, column);
    const both = [text, raw || ""].every((one) => typeof window.soundcheck.numeric(one) === "number");
    return both ? raw : plain(text);
  };

  // Small print below the cells of a column gets a column of its own.
  const cells = ({ now, source, table }) => {
    const names = Array.from(table.tHead.rows[0].cells, (head) => head.textContent.trim());
    const below = names.map((_, column) => now.rows.some((row) => source.lines(row, column)[1]));
    const lines = [names.flatMap((name, column) =>
      [plain(name), ...(below[column] ? [plain(`${name}: small print`)] : [])])];
    now.rows.forEach((row) => lines.push(names.flatMap((_, column) =>
      [first(source, row, column), ...(below[column] ? [plain(source.lines(row, column)[1])] : [])])));
    return lines;
  };
  const quoted = (text) => /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  const csv = (lines) => lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
  const tabbed = (lines) => lines.map((line) => line.join("\t")).join("\n");

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // browsers that give no clipboard to pages of a disk
      const field = document.createElement("textarea");
      field.value = text;
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      if (!done) throw new Error("nothing copied");
    }
  };
  const save = (text, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const named = (table) => {
    const page = location.pathname.split("/").slice(-2).join("_").replace(/\.html$/, "");
    const tables = Array.from(document.querySelectorAll("table.sc-table"));
    return `${page}_table_${tables.indexOf(table) + 1}.csv`.replace(/[^\w.-]+/g, "_");
  };

  window.soundcheck.exporting = (shown, tools) => {
    const told = document.createElement("output");
    const button = (text, about, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.title = about;
      made.addEventListener("click", act);
      return made;
    };
    const both = document.createElement("span");
    both.className = "sc-export";
    both.append(
      told,
      button("Copy", "Copy the rows that are shown, for a spreadsheet", () => {
        copy(tabbed(cells(shown))).then(
          () => { told.textContent = `${shown.now.rows.length.toLocaleString("en")} rows copied`; },
          () => { told.textContent = "The browser does not let this page copy; CSV saves the rows"; },
        );
      }),
      button("CSV", "Save the rows that are shown as a CSV file", () => {
        save(csv(cells(shown)), named(shown.table));
        told.textContent = `${shown.now.rows.length.toLocaleString("en")} rows saved`;
      }),
    );
    tools.append(both);
  };
}
