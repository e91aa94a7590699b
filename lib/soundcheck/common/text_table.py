"""Tables as they were written: every cell as text, with the place where it stands.

Readers that guess change data silently: ``NA`` becomes missing, ``001`` and ``1`` the same speaker, a
trailing comma shifts all columns. So everything is read as text, each row must have as many cells as the
header, and whoever uses a column converts it, naming line and column of what does not fit.

Conventions
-----------
- CSV in UTF-8 (a byte order mark is fine), or Parquet; the content tells which, not the name. Cells of CSV
  are separated by commas, semicolons or tabs: by what is most frequent in the header.
- Lines count from 1, the header is line 1; Parquet has rows, counted from 1.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from soundcheck.common import files
from soundcheck.common.messages import Problems, input_error, quoted
from soundcheck.common.tasks import half_precision

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_CLOCK = re.compile(r"(?:(\d+) days?(?:,? |$))?(?:(\d+):([0-5]?\d):([0-5]?\d(?:\.\d+)?))?")
_FOREIGN = {  # first bytes -> what the file is
    b"\x80": "a Python pickle, which is never opened",
    b"PK\x03\x04": "a zip archive (perhaps a spreadsheet)",
    b"\x93NUMPY": "a NumPy array",
    b"\x1f\x8b": "a gzip archive",
    b"\x89HDF": "an HDF5 file",
}
_JSON = re.compile(r"\s*(\{\s*[\"}]|\[\s*[{\]])")  # begins an object, or a list of them
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16


@dataclasses.dataclass(frozen=True)
class TextTable:
    """The cells of a table."""

    columns: dict[str, Sequence[str]]  # name of a column -> its cells, in the order of the file
    places: Sequence[int | str]  # line (or row) of each row; all of its place where tables were joined
    unit: str  # ``"line"`` or ``"row"``: what ``places`` counts; empty = they are whole
    source: str  # how messages call the table
    # name of a column -> its type, where its values are lists, structures or bytes instead of cells
    nested: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # name of a column -> what the file calls it, where a suite renames it
    headings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    noun: str = "column"  # how messages call a column
    top: int = 1  # line with the names of the columns

    def __len__(self) -> int:
        return len(self.places)

    def where(self, row: int, column: str = "") -> str:
        """Say where a cell stands: ``segments.csv line 5, column arousal``."""
        return self.where_all([row], column)

    def where_all(self, rows: Sequence[int], column: str = "") -> str:
        """Say where cells of one or two rows stand: ``segments.csv lines 5 and 9, column arousal``."""
        places = " and ".join(str(self.places[row]) for row in sorted(rows))
        place = f"{self.source} {self.unit}{'s' * (len(rows) > 1)} {places}" if self.unit else places
        return f"{place}, {self.noun} {self.headings.get(column, column)}" if column else place

    def row_places(self) -> list[str]:
        """Say where each row stands."""
        return [f"{self.source} {self.unit} {n}" for n in self.places] if self.unit else [*self.places]

    @property
    def header(self) -> str:
        """Say where the names of the columns stand."""
        return f"{self.source} line {self.top}" if self.unit == "line" else self.source


def read_text_table(path: Path, display_name: str) -> TextTable:
    """Read a CSV or Parquet table as text.

    Raises InputError: if it is missing, no regular file, not a table or has no rows; if rows and header
    differ in length.
    """
    files.require_regular(path, display_name)
    return parse_text_table(Path(path).read_bytes(), display_name)


def read_tab_table(path: Path, display_name: str) -> TextTable:
    """Read a table whose cells are separated by tabs, and whose quotes are letters like others."""
    text = decode_text(files.require_regular(path, display_name).read_bytes(), display_name)
    if not text.strip():
        raise input_error(display_name, "the file is empty", "Give a table with tabs and one row a segment")
    if "\t" not in text.lstrip().split("\n", 1)[0]:
        raise input_error(f"{display_name} line 1", "the header has no tabs", "Separate the cells by tabs")
    remedy = "Correct the row; is there a tab too many?"
    return csv_table(text, display_name, "\t", quoting=csv.QUOTE_NONE, remedy=remedy)


def parse_text_table(content: bytes, display_name: str) -> TextTable:
    """Read the bytes of a table; see :func:`read_text_table`."""
    if content[:4] == b"PAR1":
        return _parquet(content, display_name)
    text = decode_text(content, display_name)
    if not text.strip():
        remedy = "Give a CSV or Parquet table with names of columns and at least one row"
        raise input_error(display_name, "the file is empty", remedy)
    if _JSON.match(text):
        remedy = "Give a CSV text whose first line has the names of the columns, or a Parquet table"
        raise input_error(f"{display_name} line 1", "this is JSON, not a table", remedy)
    separator = max(",;\t", key=re.search(r"\S[^\r\n]*", text)[0].count)
    sign = {",": "a comma", ";": "a semicolon", "\t": "a tab"}[separator]
    remedy = f"Correct the row; put cells that hold {sign} in quotes"
    return csv_table(text, display_name, separator, remedy=remedy)


def decode_text(content: bytes, display_name: str) -> str:
    """Decode UTF-8, perhaps with a byte order mark.

    Raises InputError: if this is another kind of file, is not UTF-8 or has a NUL character; names the line.
    """
    if content.startswith(_WIDE):
        raise input_error(f"{display_name} line 1", "byte 0 begins UTF-16 text", "Save the file as UTF-8")
    for start, what in _FOREIGN.items():
        if content.startswith(start):
            raise input_error(display_name, f"this is {what}", "Give a CSV text in UTF-8 or a Parquet table")
    try:
        text = content.decode().removeprefix("\ufeff")
        offset, what = content.find(b"\0"), "is a NUL character, this is not text"
    except UnicodeDecodeError as error:
        offset, what = error.start, "is not UTF-8 text"
    if offset >= 0:
        line = len(content[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
        where = f"{display_name} line {line}"
        raise input_error(where, f"byte {offset} {what}", "Save the file as UTF-8 text")
    return text


def csv_table(
    text: str,
    display_name: str,
    separator: str = ",",
    *,
    remedy: str,
    quoting: int = csv.QUOTE_MINIMAL,
    least: int = 1,
) -> TextTable:
    """Read a text as CSV.

    - ``remedy``: what to do about a row that has not as many cells as the header.
    - ``least``: number of rows that there have to be.
    """
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, quoting=quoting)
    rows: dict[int, list[str]] = {}  # line -> its cells
    line = 1
    try:
        for row in reader:
            if row:
                rows[line] = row
            line = reader.line_num + 1
    except csv.Error as error:
        what, remedy = f"the row that begins here is no CSV ({error})", "Check its quotes: one is not closed"
        raise input_error(f"{display_name} line {line}", what, remedy) from error
    top = next(iter(rows))
    header = [cell.strip() for cell in rows.pop(top)]
    if len(header) == 1 and "|" in header[0]:
        what = "the cells are separated by bars, not by commas"
        raise input_error(f"{display_name} line {top}", what, "Save the table with commas")
    check_names(header, f"{display_name} line {top}")
    problems = Problems()
    for line, row in rows.items():
        if len(row) != len(header):
            what = f"the row has {len(row)} cells, the header {len(header)}"
            problems.add(f"{display_name} line {line}", what, remedy)
    problems.raise_if_any()
    if len(rows) < least:
        raise input_error(display_name, "the table has a header but no rows", "Give at least one row")
    columns = {name: [row[place] for row in rows.values()] for place, name in enumerate(header)}
    return TextTable(columns, [*rows], "line", display_name, top=top)


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse columns of the same name."""
    problems = Problems()
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add(where, f"two columns are called {quoted(name)}", "Keep one of them")
    problems.raise_if_any()


def _parquet(content: bytes, display_name: str) -> TextTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        what = f"the file is not a valid Parquet table ({str(error).splitlines()[0][:100]})"
        raise input_error(display_name, what, "Write it again") from error
    check_names(table.column_names, display_name)
    if not table.num_rows:
        raise input_error(display_name, "the table has no rows", "Give at least one row")
    columns = {name: cell_texts(table.column(name)) for name in table.column_names}
    nested = {field.name: str(field.type) for field in table.schema if pa.types.is_nested(field.type)}
    return TextTable(columns, range(1, table.num_rows + 1), "row", display_name, nested)


def cell_texts(column: pa.ChunkedArray) -> list[str]:
    """Write the values of a column as a CSV file would hold them, half precision with three digits."""
    import pyarrow as pa

    if pa.types.is_duration(column.type):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
        ticks = column.cast(pa.int64()).to_pylist()
        return ["" if tick is None else repr(tick / per_second) for tick in ticks]
    if pa.types.is_float16(column.type):
        return ["" if value is None else repr(half_precision(value)) for value in column.to_pylist()]
    return ["" if value is None else str(value) for value in column.to_pylist()]


def parse_column(
    cells: Sequence[str], parse: Callable[[str], float], *, needed: bool = False
) -> tuple[np.ndarray, list[tuple[int, str]]]:
    """Read a column of numbers or times with :func:`parse_number` or :func:`parse_seconds`.

    - ``needed``: whether the empty cell is wrong, too; else it is NaN.
    - Returns float64 ``(rows,)``, NaN for what cannot be read; and of each such cell its row and why.
    """
    import numpy as np

    numbers, wrong = {"": math.nan}, {}
    for cell in dict.fromkeys(cells):  # each different text once: most times and numbers repeat
        if cell or needed:
            try:
                numbers[cell] = parse(cell.strip())
            except ValueError as error:
                numbers[cell], wrong[cell] = math.nan, str(error)
    values = np.fromiter(map(numbers.__getitem__, cells), np.float64, len(cells))
    problems = [(row, wrong[cell]) for row, cell in enumerate(cells) if cell in wrong] if wrong else []
    return values, problems


def parse_number(text: str) -> float:
    """Read a finite decimal number with a point.

    Raises ValueError: saying what is wrong, for a message.

    >>> parse_number("5e-1")
    0.5
    """
    if not NUMBER.fullmatch(text):
        comma = " (write a point, not a comma)" if NUMBER.fullmatch(text.replace(",", ".")) else ""
        raise ValueError(f"{quoted(text)} is not a number{comma}")
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{quoted(text)} is not a finite number")
    return number


def parse_seconds(text: str) -> float:
    """Read a time in seconds or as a clock, such as ``0 days 00:00:01.5``; empty is NaN.

    Raises ValueError: saying what is wrong, for a message.

    >>> parse_seconds("0:01:30.5")
    90.5
    """
    if text in ("", "NaT"):
        return math.nan
    if NUMBER.fullmatch(text):
        seconds = float(text)
        if not 0 <= seconds < math.inf:
            raise ValueError(f"{quoted(text)} is before the beginning of the file")
        return seconds
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = clock.groups(default="0")
        return int(days) * 86400.0 + int(hours) * 3600.0 + int(minutes) * 60.0 + float(seconds)
    raise ValueError(f"{quoted(text)} is not a time")
