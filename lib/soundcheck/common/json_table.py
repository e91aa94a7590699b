"""Tables in JSON Lines: an object a line, every value as the text that a CSV file would hold.

Conventions
-----------
- UTF-8, a byte order mark is fine; lines count from 1 and end with LF or CR LF; blank lines say nothing.
- Objects may have different keys; what one lacks, and ``null``, is the empty cell.
- Numbers are written as Python writes them, truth values as ``true`` and ``false``. A list or an object is no
  cell: it is refused where a cell is needed, and left alone elsewhere (``""``).
- The file is read line by line: memory is that of the cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.json_lines import NUMBER, TEXT, field_problem, json_object, kind_of
from soundcheck.common.text_table import TextTable, decode_text

LONGEST = 10 * 1024**2  # bytes of a line


def read_json_table(
    path: Path,
    shown: str,
    *,
    texts: Collection[str] = (),
    numbers: Collection[str] = (),
    needed: Collection[str] = (),
) -> TextTable:
    """Read a file of JSON Lines as a table of text.

    Parameters
    ----------
    path
        The file.
    shown
        How messages call it.
    texts, numbers
        Keys whose values are texts, or numbers; an object without them is fine.
    needed
        Keys that every object has.

    Raises
    ------
    InputError
        If the file is missing, another kind of file, not UTF-8 or empty; all lines that are no object, have a
        key twice, lack one that is needed, or a value of another type than they should.
    """
    problems = Problems()
    columns: dict[str, list[str]] = {}
    places: list[int] = []
    expected = {**dict.fromkeys(texts, TEXT), **dict.fromkeys(numbers, NUMBER)}
    for line, text in _lines(files.require_regular(path, shown), shown, problems):
        where = f"{shown} line {line}"
        try:
            row = json_object(text, where)
        except InputError as error:
            problems.extend(error)
            if not places and not text.startswith("{"):  # another kind of file, all of whose lines are wrong
                break
            continue
        for key in needed:
            if row.get(key) in (None, ""):
                problems.add(f"{where}, key {key}", "it is missing or empty", "Each line needs one")
        escaped = "\\u" in text  # otherwise all characters are whole: the bytes were UTF-8
        for key, value in row.items():
            wanted = expected.get(key)
            if wanted and value is not None and kind_of(value) != wanted:
                problems.add(f"{where}, key {key}", f"{kind_of(value)}, not {wanted}", "Correct it")
            if escaped and type(value) is str and (what := field_problem(value, TEXT)):
                problems.add(f"{where}, key {key}", what, "Correct it")
            column = columns.get(key)
            if column is None:
                column = columns[key] = []
            if len(column) < len(places):
                column.extend([""] * (len(places) - len(column)))
            column.append(value if type(value) is str else _cell(value))
        places.append(line)
    problems.raise_if_any()
    if not places:
        raise input_error(shown, "the file is empty", "Give one JSON object a line")
    for column in columns.values():
        column.extend([""] * (len(places) - len(column)))
    numbered = range(1, len(places) + 1)
    return TextTable(columns, numbered if places[-1] == len(places) else places, "line", shown)


def _lines(path: Path, shown: str, problems: Problems) -> Iterator[tuple[int, str]]:
    """Give the lines that are not blank with their numbers."""
    with open(path, "rb") as file:
        line = 0
        while content := file.readline(LONGEST + 1):
            line += 1
            if len(content) > LONGEST:
                raise input_error(
                    f"{shown} line {line}", f"longer than {LONGEST} bytes", "Is this JSON Lines?"
                )
            if line == 1:
                text = decode_text(content, shown)
            else:
                try:
                    text = content.decode()
                except UnicodeDecodeError as error:
                    what = f"byte {error.start} of the line is not UTF-8 text"
                    problems.add(f"{shown} line {line}", what, "Save the file as UTF-8 text")
                    continue
            if text := text.strip():
                yield line, text


def _cell(value: object) -> str:
    if value is None or isinstance(value, list | dict):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
