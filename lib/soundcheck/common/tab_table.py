"""Tables whose cells are separated by tabs, without any quoting: quotes are letters like others.

Conventions
-----------
- UTF-8, a byte order mark is fine. Lines count from 1, the header is line 1, and end with LF or CR LF; blank
  lines say nothing. Each row has as many cells as the header.
"""

from __future__ import annotations

from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import TextTable, decode_text


def read_tab_table(path: Path, shown: str) -> TextTable:
    """Read a table as text.

    Parameters
    ----------
    path
        The file.
    shown
        How messages call it.

    Raises
    ------
    InputError
        If it is missing, no text, has no rows, a column twice, or rows of another length than the header.
    """
    lines = decode_text(files.require_regular(path, shown).read_bytes(), shown).split("\n")
    rows = [(number, line.rstrip("\r")) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise input_error(shown, "the file is empty", "Give a table with tabs and one row a segment")
    header = [name.strip() for name in rows[0][1].split("\t")]
    problems = Problems()
    if len(header) == 1:
        what = "the header has no tabs"
        raise input_error(f"{shown} line 1", what, "Separate the cells by tabs")
    for name in sorted({name for name in header if header.count(name) > 1}):
        problems.add(f"{shown} line 1", f"two columns are called {quoted(name)}", "Keep one of them")
    cells = [line.split("\t") for _, line in rows[1:]]
    for (number, _), row in zip(rows[1:], cells, strict=True):
        if len(row) != len(header):
            what = f"the row has {len(row)} cells, the header {len(header)}"
            problems.add(f"{shown} line {number}", what, "Correct the row; is there a tab too many?")
    problems.raise_if_any()
    if not cells:
        raise input_error(shown, "the table has a header but no rows", "Give one row a segment")
    columns = dict(zip(header, zip(*cells, strict=True), strict=True))
    return TextTable(columns, [number for number, _ in rows[1:]], "line", shown)
