"""JSON Lines: one object a line, read and checked with the line that is at fault in each message.

Conventions
-----------
- UTF-8, a byte order mark is fine. Lines count from 1 and end with LF or CR LF; blank lines say nothing.
- A field is text or a number. ``null`` and an absent field are the same: ``None``, or NaN for numbers. Fields
  that nobody asks for may be anything.
- Numbers are finite; ``true`` is none. A key that stands twice in an object is refused, because readers
  differ in which one they take.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import decode_text

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

TEXT, NUMBER = "a text", "a number"
KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
_LONGEST = 1 << 24  # bytes of a line that is read at once with others


@dataclasses.dataclass(frozen=True)
class JsonLines:
    """Fields of all lines."""

    # field -> a value a line: object (str or ``None``) or float64 (NaN = none), each ``(lines,)``. Fields
    # that no line has are there, too.
    columns: dict[str, np.ndarray]
    lines: Sequence[int]
    shown: str  # how messages call the file

    def __len__(self) -> int:
        return len(self.lines)

    def where(self, row: int, field: str = "") -> str:
        """Say where a value stands: ``results.jsonl line 5, field duration``."""
        return self.where_all([row], field)

    def where_all(self, rows: Sequence[int], field: str = "") -> str:
        """Say where values of one or two lines stand: ``results.jsonl lines 5 and 9, field duration``."""
        lines = " and ".join(str(self.lines[row]) for row in sorted(rows))
        place = f"{self.shown} line{'s' * (len(rows) > 1)} {lines}"
        return f"{place}, field {field}" if field else place


def read_json_lines(content: bytes, shown: str, fields: Mapping[str, str]) -> JsonLines:
    """Read fields of all lines.

    - ``content``: all bytes of the file.
    - ``fields``: name of a field -> :data:`TEXT` or :data:`NUMBER`.
    - Raises InputError: if it is no UTF-8 text or has no line; if a line is no object, or a field of another
      type or doubled. All problems of the lines at once.
    """
    text = decode_text(content, shown)
    read = _at_once(text, shown, fields) or _one_by_one(text, shown, fields)
    if not len(read):
        raise input_error(shown, "the file has no line", "Give one JSON object a line")
    return read


def _at_once(text: str, shown: str, fields: Mapping[str, str]) -> JsonLines | None:
    """Read lines that are plainly right, ten times as quick; ``None`` if one could be wrong."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.json

    content = text.rstrip().encode().replace(b"\r\n", b"\n")
    count = content.count(b"\n") + 1
    if not content or content.count(b"}\n{") != count - 1 or b"\r" in content:
        return None
    schema = pa.schema([(n, pa.string() if kind == TEXT else pa.float64()) for n, kind in fields.items()])
    try:
        table = pyarrow.json.read_json(
            pa.py_buffer(content),
            pyarrow.json.ReadOptions(use_threads=False, block_size=min(_LONGEST, len(content) + 1)),
            pyarrow.json.ParseOptions(
                explicit_schema=schema, newlines_in_values=False, unexpected_field_behavior="ignore"
            ),
        )
    except pa.ArrowException:
        return None
    if table.num_rows != count:
        return None
    columns: dict[str, np.ndarray] = {}
    for name, kind in fields.items():
        column: pa.ChunkedArray = table.column(name)
        columns[name] = column.to_numpy()
        if kind == NUMBER and np.isfinite(columns[name]).sum() + column.null_count != count:
            return None
    return JsonLines(columns, range(1, count + 1), shown)


def _one_by_one(text: str, shown: str, fields: Mapping[str, str]) -> JsonLines:
    """Read each line by itself, and tell all that is wrong."""
    import numpy as np

    problems = Problems()
    lines = []
    values: dict[str, list] = {name: [] for name in fields}
    for line, item in json_objects(text, shown, problems):
        lines.append(line)
        for name, kind in fields.items():
            value = item.get(name)
            what = field_problem(value, kind)
            if what:
                problems.add(f"{shown} line {line}, field {name}", what, f"Give {kind}")
            values[name].append(value if not what and value is not None else None)
    problems.raise_if_any()
    columns = {}
    for name, kind in fields.items():
        if kind == NUMBER:
            columns[name] = np.array(
                [math.nan if v is None else float(v) for v in values[name]], dtype=np.float64
            )
        else:
            columns[name] = np.array([*values[name], None], dtype=object)[:-1]
    return JsonLines(columns, lines, shown)


def json_objects(text: str, shown: str, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the object of each line with its number; what is none is noted and passed over."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, json_object(line, f"{shown} line {number}")
        except InputError as error:
            problems.extend(error)


def json_list(text: str, shown: str, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the objects of one list with their numbers, from 1; what is none is noted and passed over.

    Raises InputError: if the text is no list.
    """
    remedy = "Give one JSON list of objects"
    items = _loaded(text, shown, remedy)
    if not isinstance(items, list):
        raise input_error(shown, f"this is {kind_of(items)}, not a list", remedy)
    for number, item in enumerate(items, start=1):
        if isinstance(item, dict):
            yield number, item
        else:
            problems.add(f"{shown} entry {number}", f"this is {kind_of(item)}, not an object", remedy)


def json_object(text: str, where: str, remedy: str = "Give one JSON object a line") -> dict[str, Any]:
    """Read one object.

    Raises InputError: if it is none, or has a key twice.
    """
    item = _loaded(text, where, remedy)
    if not isinstance(item, dict):
        raise input_error(where, f"this is {kind_of(item)}, not an object", remedy)
    return item


def _loaded(text: str, where: str, remedy: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        what = str(error)
        if isinstance(error, json.JSONDecodeError):
            line = f"line {error.lineno}, " if "\n" in text else ""
            what = f"{quoted(text.strip(), 40)} is no JSON ({error.msg}, {line}character {error.colno})"
        elif not isinstance(error, _FaultError):
            what = f"{quoted(text.strip(), 40)} is no JSON that can be read"
        raise input_error(where, what, remedy) from error


def field_problem(value: object, kind: str) -> str:
    """Say why a value is not of a kind; empty if it is, or is ``None``."""
    if value is None:
        return ""
    if kind == TEXT:
        if not isinstance(value, str):
            return f"{quoted(json.dumps(value), 40)} is {kind_of(value)}, not {kind}"
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"{quoted(value, 40)} holds half a character (a surrogate alone)"
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{quoted(json.dumps(value), 40)} is {kind_of(value)}, not {kind}"
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    return "" if finite else f"{quoted(value, 40)} is not a finite number"


def kind_of(value: object) -> str:
    """Name the kind of a JSON value."""
    return KINDS.get(type(value), "a number")


class _FaultError(ValueError):
    """Something that JSON allows and that is refused here."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    item = dict(pairs)
    if len(item) != len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise _FaultError(f"the key {quoted(double, 40)} stands twice in an object")
    return item


def _no_constant(name: str) -> float:
    raise _FaultError(f"{name} is not a finite number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
