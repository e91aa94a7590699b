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

import json
from collections.abc import Collection, Iterator
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import TextTable, decode_text

__all__ = ["read_json_lines"]

LONGEST = 10 * 1024**2  # bytes of a line
_KINDS = {str: "a text", bool: "a truth value", int: "a number", float: "a number", type(None): "null"}
_KINDS |= {list: "a list", dict: "an object"}


class _TwiceError(ValueError):
    """A key stands twice in one object."""


def read_json_lines(
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
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_refuse_constant)
    expected = {**dict.fromkeys(texts, "a text"), **dict.fromkeys(numbers, "a number")}
    for line, text in _lines(files.require_regular(path, shown), shown, problems):
        where = f"{shown} line {line}"
        try:
            row = decoder.decode(text)
        except _TwiceError as error:
            problems.add(where, str(error), "Keep one of them")
            continue
        except (ValueError, RecursionError) as error:
            what = getattr(error, "msg", None) or str(error)
            problems.add(where, f"this is no JSON ({what}): {quoted(text[:40])}", "Write one object a line")
            if not places:  # another kind of file, all of whose lines are wrong
                break
            continue
        if not isinstance(row, dict):
            problems.add(where, f"this is {_KINDS[type(row)]}, not an object", "Write one object a line")
            continue
        for key in needed:
            if row.get(key) in (None, ""):
                problems.add(f"{where}, key {key}", "it is missing or empty", "Each line needs one")
        for key, value in row.items():
            wanted = expected.get(key)
            if wanted and value is not None and _KINDS[type(value)] != wanted:
                problems.add(f"{where}, key {key}", f"{_KINDS[type(value)]}, not {wanted}", "Correct it")
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


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _TwiceError(f"the key {quoted(twice)} stands there twice")
    return found


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _cell(value: object) -> str:
    if value is None or isinstance(value, list | dict):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
