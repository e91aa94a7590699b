"""The first rows of data under the names of their format, as its own reader gives them."""

from __future__ import annotations

import dataclasses
import gzip
import itertools
import tempfile
from pathlib import Path

import pandas as pd

from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.segments import RawTable
from soundcheck.corpora.splits import ALL
from soundcheck.corpora.table_keys import prepare
from soundcheck.start.column_names import FILE_NAMES
from soundcheck.start.listing import Listing, by_split
from soundcheck.start.recognise import Found
from soundcheck.suite.corpus_format import CORPUS_FORMATS
from soundcheck.suite.entries import CorpusEntry

WHOLE_BYTES = 8 * 1024**2  # a larger file is read in part
FIRST_LINES = 5000
FIRST_ROWS = 20_000


@dataclasses.dataclass(frozen=True)
class Sample:
    """What a reader makes of the beginning of data."""

    # Text cells under our names where the format has them, all other columns under theirs; ``""`` = missing
    frame: pd.DataFrame
    columns: dict[str, str]  # our name -> theirs, what had to be mapped to read anything at all
    root: Path  # folder that files are relative to
    part: bool  # whether there are more rows

    @property
    def shown_rows(self) -> str:
        """Say how many rows were looked at."""
        return f"the first {len(self.frame)} rows" if self.part else f"{len(self.frame)} rows"


def read_sample(found: Found) -> Sample:
    """Read the beginning of data by the reader of their format.

    Raises InputError: if they cannot be read.
    """
    path, part = found.path, False
    columns = _file_column(path) if found.format == "csv" else {}
    if found.format == "parquet" and path.is_dir():  # one of many shards
        path, part = sorted(path.rglob("*.parquet"), key=by_split)[0], True
    if path.is_file() and path.stat().st_size > WHOLE_BYTES and path.suffix != ".parquet":
        with tempfile.TemporaryDirectory() as folder:
            frame, root = _read(found, _beginning(path, Path(folder)), columns)
        part, root = True, path.parent if root.is_relative_to(folder) else root
    else:
        frame, root = _read(found, path, columns)
    part = part or len(frame) > FIRST_ROWS
    return Sample(frame.head(FIRST_ROWS).reset_index(drop=True), columns, root, part)


def _file_column(path: Path) -> dict[str, str]:
    """Find the column of files in a table of any kind."""
    names = [name.strip() for name in Listing(path).header(Path(path.name))]
    if path.suffix == ".parquet":
        import pyarrow.parquet

        names = pyarrow.parquet.read_schema(path).names
    known = {name.lower(): name for name in reversed(names)}
    theirs = next((known[name] for name in FILE_NAMES if name in known), "file")
    return {} if theirs == "file" else {"file": theirs}


def _beginning(path: Path, folder: Path) -> Path:
    """Copy the first lines of a file."""
    short = folder / path.name
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "rb") as whole, opened(short, "wb") as copy:
        copy.writelines(itertools.islice(whole, FIRST_LINES))
    return short


def _read(found: Found, path: Path, columns: dict[str, str]) -> tuple[pd.DataFrame, Path]:
    """Read with the format's reader, all columns that it offers."""
    form = CORPUS_FORMATS[found.format]
    fields = {field.name for field in dataclasses.fields(CorpusEntry)}
    options = {name: field.default for name, field in form.keys.model_fields.items() if name not in fields}
    options |= found.keys
    audio = found.format != "parquet"  # whose sounds would have to be written to files before
    split = None if audio else (ALL,)  # of shards only the first file is read
    entry = CorpusEntry(
        "data", found.format, path, found.path.name, columns, split=split, options=options, audio=audio
    )
    entry = form.complete(entry)
    raw: RawTable = form.read(entry, BUILTIN)
    offered = tuple(name for name in raw.offered if name not in raw.table)
    if offered:
        raw = form.read(dataclasses.replace(entry, blocks=offered), BUILTIN)
    raw = prepare(raw, entry, form.values)
    frame = raw.table.astype(object).fillna("")
    return frame, raw.root or path.parent
