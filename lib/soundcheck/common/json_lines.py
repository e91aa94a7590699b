"""Objects in JSON files: one a line, or a list of them; as columns of values or as a table of text.

Conventions
-----------
- UTF-8, a byte order mark is fine. Lines count from 1 and end with LF or CR LF; blank lines are skipped.
- ``null`` and an absent key are the same.
- Numbers are finite; ``true`` is none. A key that an object has twice is refused, because readers differ in
  which one they take.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from soundcheck.common import files
from soundcheck.common.messages import Problems, input_error, quoted
from soundcheck.common.text_table import TextTable, decode_text

TEXT, NUMBER = "a text", "a number"
KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
_ONE_A_LINE = "Give one JSON object a line"
_SURROGATE = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


def read_json_lines(content: bytes, display_name: str, fields: Mapping[str, str]) -> TextTable:
    """Read fields of all lines as columns: texts or ``None`` (object), or numbers (float64, NaN = none).

    - ``fields``: name of a field -> :data:`TEXT` or :data:`NUMBER`; others may hold anything.
    - Raises InputError: all lines that are no object, or have a field of another type or twice; or if there
      is no line.
    """
    import numpy as np

    rows = _rows(decode_text(content, display_name), display_name, fields)
    columns = {
        name: np.array([row.get(name) for row in rows.values()], {TEXT: object, NUMBER: np.float64}[kind])
        for name, kind in fields.items()
    }
    return TextTable(columns, [*rows], "line", display_name, noun="field")


def read_json_table(
    path: Path,
    display_name: str,
    *,
    texts: Collection[str] = (),
    numbers: Collection[str] = (),
    needed: Collection[str] = (),
) -> TextTable:
    """Read a file with an object a line as a table of text, every value as a CSV file would hold it.

    What an object lacks, ``null``, a list and an object are the empty cell.

    - ``texts, numbers``: fields whose values are texts, or numbers, where an object has them.
    - ``needed``: fields that every object has.
    - Raises InputError: if the file is missing, empty or another kind of file; all lines that are no object,
      have a field twice, lack one that is needed, or have a value of another type.
    """
    text = decode_text(files.require_regular(path, display_name).read_bytes(), display_name)
    first = text.lstrip().split("\n", 1)[0]
    if first and not first.startswith("{"):  # another kind of file, all of whose lines are wrong
        json_object(first, f"{display_name} line {text[: text.index(first)].count(chr(10)) + 1}")
    kinds = {**dict.fromkeys(texts, TEXT), **dict.fromkeys(numbers, NUMBER)}
    rows = _rows(text, display_name, kinds, needed)
    names = dict.fromkeys(name for row in rows.values() for name in row)
    columns = {name: [_cell(row.get(name)) for row in rows.values()] for name in names}
    return TextTable(columns, [*rows], "line", display_name)


def _rows(
    text: str, display_name: str, kinds: Mapping[str, str], needed: Collection[str] = ()
) -> dict[int, dict[str, Any]]:
    """Read the objects of all lines, by their numbers; fields have the kinds that they ought to have."""
    problems, rows = Problems(), {}
    for line, row in json_objects(text, display_name, problems):
        rows[line] = row
        for name in needed:
            if row.get(name) in (None, ""):
                where = f"{display_name} line {line}, field {name}"
                problems.add(where, "it is missing or empty", "Each line needs one")
        for name, value in row.items():
            if what := name in kinds and field_problem(value, kinds[name]):
                problems.add(f"{display_name} line {line}, field {name}", what, f"Give {kinds[name]}")
    problems.raise_if_any()
    if not rows:
        raise input_error(display_name, "the file is empty", _ONE_A_LINE)
    return rows


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, list | dict):
        return ""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def json_objects(text: str, display_name: str, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the object of each line with its number; lines that are none are noted."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            with problems.collected():
                yield number, json_object(line, f"{display_name} line {number}")


def json_list(text: str, display_name: str, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the objects of one list with their numbers, from 1; items that are none are noted.

    Raises InputError: if the text is no list.
    """
    remedy = "Give one JSON list of objects"
    items = _loaded(text, display_name, remedy)
    if not isinstance(items, list):
        raise input_error(display_name, f"this is {kind_of(items)}, not a list", remedy)
    for number, item in enumerate(items, start=1):
        with problems.collected():
            yield number, _checked(item, text, f"{display_name} entry {number}", remedy)


def json_or_none(text: str | bytes) -> Any:
    """Read JSON of others, which may be anything; ``None`` if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def json_object(text: str, where: str, remedy: str = _ONE_A_LINE) -> dict[str, Any]:
    """Read one object.

    Raises InputError: if it is none, has a key twice, or half a character.
    """
    return _checked(_loaded(text, where, remedy), text, where, remedy)


def _checked(item: Any, text: str, where: str, remedy: str) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise input_error(where, f"this is {kind_of(item)}, not an object", remedy)
    if _SURROGATE.search(text):
        try:
            json.dumps(item, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            what = f"{quoted(item, 40)} holds half a character (a surrogate alone)"
            raise input_error(where, what, "Write whole characters") from error
    return item


def _loaded(text: str, where: str, remedy: str) -> Any:
    try:
        return _DECODER.decode(text)
    except _RefusedError as error:
        what = str(error)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if "\n" in text else ""
        what = f"{quoted(text.strip(), 40)} is no JSON ({error.msg}, {line}character {error.colno})"
    except (ValueError, RecursionError):
        what = f"{quoted(text.strip(), 40)} is no JSON that can be read"
    raise input_error(where, what, remedy)


def field_problem(value: object, kind: str) -> str:
    """Say why a value is not of a kind; empty if it is, or is ``None``."""
    if value is not None and kind_of(value) != kind:
        return f"{quoted(json.dumps(value), 40)} is {kind_of(value)}, not {kind}"
    is_finite = kind != NUMBER or value is None or abs(value) <= sys.float_info.max  # whole numbers, too
    return "" if is_finite else f"{quoted(value, 40)} is not a finite number"


def kind_of(value: object) -> str:
    """Name the kind of a JSON value."""
    return KINDS.get(type(value), "a number")


class _RefusedError(ValueError):
    """JSON that is refused here."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    item = dict(pairs)
    if len(item) != len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(f"the key {quoted(double, 40)} stands twice in an object")
    return item


def _no_constant(name: str) -> float:
    raise _RefusedError(f"{name} is not a finite number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
