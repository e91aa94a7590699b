"""Tables in JSON Lines: an object a line, every value as the text that a CSV file would hold.

Conventions
-----------
- UTF-8, a byte order mark is fine; lines count from 1 and end with LF or CR LF; blank lines say nothing.
- Objects may have different keys; what one lacks, and ``null``, is the empty cell.
- Numbers are written as Python writes them, truth values as ``true`` and ``false``. A list or an object is no
  cell: it is refused where a cell is needed, and left alone elsewhere (``""``).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.json_lines import NUMBER, TEXT, field_problem, json_object, json_objects, kind_of
from soundcheck.common.text_table import TextTable, decode_text


def read_json_table(
    path: Path,
    shown: str,
    *,
    texts: Collection[str] = (),
    numbers: Collection[str] = (),
    needed: Collection[str] = (),
) -> TextTable:
    """Read a file of JSON Lines as a table of text.

    - ``texts, numbers``: keys whose values are texts, or numbers; an object without them is fine.
    - ``needed``: keys that every object has.
    - Raises InputError: if the file is missing, another kind of file, not UTF-8 or empty; all lines that are
      no object, have a key twice, lack one that is needed, or a value of another type than they should.
    """
    text = decode_text(files.require_regular(path, shown).read_bytes(), shown)
    if not text.strip():
        raise input_error(shown, "the file is empty", "Give one JSON object a line")
    first = text.lstrip().split("\n", 1)[0]
    if not first.startswith("{"):  # another kind of file, all of whose lines are wrong
        json_object(first, f"{shown} line {text[: text.index(first)].count(chr(10)) + 1}")
    problems = Problems()
    columns: dict[str, list[str]] = {}
    places: list[int] = []
    expected = {**dict.fromkeys(texts, TEXT), **dict.fromkeys(numbers, NUMBER)}
    escaped = "\\u" in text  # otherwise all characters are whole: the bytes were UTF-8
    for line, row in json_objects(text, shown, problems):
        for key in needed:
            if row.get(key) in (None, ""):
                where = f"{shown} line {line}, key {key}"
                problems.add(where, "it is missing or empty", "Each line needs one")
        for key, value in row.items():
            wanted = expected.get(key)
            if wanted and value is not None and kind_of(value) != wanted:
                what = f"{kind_of(value)}, not {wanted}"
                problems.add(f"{shown} line {line}, key {key}", what, "Correct it")
            if escaped and type(value) is str and (what := field_problem(value, TEXT)):
                problems.add(f"{shown} line {line}, key {key}", what, "Correct it")
            column = columns.setdefault(key, [])
            column += [""] * (len(places) - len(column))
            column.append(value if type(value) is str else _cell(value))
        places.append(line)
    problems.raise_if_any()
    columns = {key: column + [""] * (len(places) - len(column)) for key, column in columns.items()}
    return TextTable(columns, places, "line", shown)


def _cell(value: object) -> str:
    if value is None or isinstance(value, list | dict):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
