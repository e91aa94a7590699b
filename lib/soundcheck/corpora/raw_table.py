"""What the reader of a format delivers: cells of text under our names, with the place of each row.

Light to import, as formats are: every suite that is read imports them.

- Cells are text, ``""`` = missing.
- A column is called as the suite says (``columns:``), as the format does, or the same as ours.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from soundcheck.common.messages import Problems, did_you_mean, quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable
from soundcheck.corpora import splits
from soundcheck.suite.corpus_format import RESERVED_COLUMNS, CorpusEntry

if TYPE_CHECKING:
    import pandas as pd

USUAL_NAMES = ("file", "path", "filename", "file_name", "filepath", "audio", "wav", "wav_path", "audio_path")
_SIGNS = {  # format -> columns that only it has together
    "nemo": {"audio_filepath"},
    "commonvoice": {"client_id", "path", "sentence"},
    "emobox": {"key", "wav", "emo"},
    "speechbrain": {"ID", "wav"},
    "csv": {"file"},
}
MOST_UNUSED = 8  # columns that a notice names


@dataclasses.dataclass(frozen=True)
class Excluded:
    """Something that is not evaluated: what it is called, and why."""

    item: str
    reason: str
    stage: str = "corpus"


@dataclasses.dataclass(frozen=True)
class RawTable:
    """What a reader delivers."""

    # text cells under our names: ``file``, ``start``, ``end`` (seconds or clock), reserved columns, tasks,
    # the columns of the blocks; ``""`` = missing. ``duration`` is that of rows without times.
    table: pd.DataFrame
    places: Sequence[str]  # where each row stands, for messages
    root: Path  # folder that files are relative to
    source: str  # how messages call the source
    left_out: tuple[Excluded, ...] = ()
    notices: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()  # names of all columns of the source, for suggestions
    # whether a duration without times chooses the beginning of a file; else it is but said of the file
    begins: bool = False
    # name of a split -> what the source says it is for: ``"train"``, ``"dev"`` or ``"test"``
    split_kinds: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # regression task -> lowest and highest label that the source declares
    scales: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    # column -> where each of its cells stands, if not where the row does
    column_places: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)

    def place(self, row: int, column: str = "") -> str:
        """Say where a cell or a row stands."""
        return self.column_places.get(column, self.places)[row]


def entry_name(entry: CorpusEntry) -> str:
    """Say how messages call the file or folder of a corpus."""
    return (entry.shown_path or entry.path.name).rstrip("/")


def take_columns(
    table: TextTable,
    entry: CorpusEntry,
    tasks: Mapping[str, Task],
    usual: Mapping[str, Sequence[str]] | None = None,
    known: Collection[str] = (),
    *,
    root: Path | None = None,
    left_out: Iterable[Excluded] = (),
    notices: Iterable[str] = (),
    begins: bool = False,
    places: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> RawTable:
    """Give a table our names.

    - ``table``: text cells under the names of the source.
    - ``usual``: our name -> names that the format has for it, the first that exists counts.
    - ``known``: columns that the format has used already.
    - ``root``: by default the folder of the corpus.
    - ``notices``: of the reader; they follow those about columns.
    - ``places``: column of the source -> where each of its cells stands, if not where the row does.
    - Raises InputError: if a column is missing that the suite maps, or the one of the files; if one that is
      used holds lists.
    """
    import pandas as pd  # late: see above

    problems, columns, column_places, column_notices, used = Problems(), {}, {}, [], {*known}
    usual = dict(usual or {})
    if "split" not in (*table.columns, *entry.columns) and (split_name := split_column(table, entry)):
        usual["split"] = (split_name,)
        column_notices.append(f"split is the column {split_name}; `columns:` takes another")
    for name in dict.fromkeys([*RESERVED_COLUMNS, *tasks, *entry.further_columns, "duration"]):
        named = entry.columns.get(name)
        names = dict.fromkeys([named] if named is not None else [*usual.get(name, ()), name])
        present = [theirs for theirs in names if theirs in table.columns and theirs not in table.nested]
        nested = [theirs for theirs in names if theirs in table.nested]
        if present:
            columns[name] = table.columns[present[0]]
            if present[0] in places:
                column_places[name] = places[present[0]]
            used |= {*present}
            if present[1:]:
                others = ", ".join(present[1:])
                notice = f"{name} is the column {present[0]}, not {others}; `columns:` takes another"
                column_notices.append(notice)
        elif nested:
            what = f"its values are of the type {quoted(table.nested[nested[0]], 40)}, not a cell a row"
            remedy = f"Write one text or number a row, or name another column: `columns: {{{name}: ...}}`"
            problems.add(f"{table.header}, column {nested[0]}", what, remedy)
        elif named is not None:
            what = f"corpora.{entry.name}.columns.{name} names it, and it is not there"
            problems.add(f"{table.header}, column {named}", what, did_you_mean(named, table.columns))
    if "file" not in columns and "file" not in entry.columns:
        wanted = usual.get("file", ("file",))[0]
        remedy = did_you_mean(wanted, table.columns)
        if likely := [name for name in table.columns if name.strip().lower() in USUAL_NAMES]:
            remedy = f"Did you mean '{likely[0]}'? Then map it with `columns: {{file: {likely[0]}}}`"
        other = next((form for form, sign in _SIGNS.items() if sign <= {*table.columns}), entry.format)
        remedy = remedy if other == entry.format else f"This looks like `format: {other}`"
        problems.add(f"{table.header}, column {wanted}", "the column is missing", remedy)
    problems.raise_if_any()
    return RawTable(
        pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}),
        table.row_places(),
        root or (entry.path if entry.path.is_dir() else entry.path.parent),
        table.source,
        tuple(left_out),
        (*column_notices, *unused([*table.columns, *table.nested], used), *notices),
        tuple(table.columns),
        begins,
        column_places=column_places,
    )


def join(tables: Sequence[TextTable], source: str) -> TextTable:
    """Put tables below each other; a column that one lacks is empty there.

    >>> one, two = TextTable({"a": ["1"]}, [2], "line", "x"), TextTable({"b": ["2"]}, [5], "line", "y")
    >>> table = join([one, two], "both")
    >>> table.columns, table.row_places()
    ({'a': ['1', ''], 'b': ['', '2']}, ['x line 2', 'y line 5'])
    """
    names = dict.fromkeys(name for table in tables for name in table.columns)
    columns = {
        name: [cell for table in tables for cell in table.columns.get(name, [""] * len(table))]
        for name in names
    }
    nested = {name: kind for table in tables for name, kind in table.nested.items()}
    places = [place for table in tables for place in table.row_places()]
    return TextTable(columns, places, "", source, nested)


def unused(names: Iterable[str], used: Collection[str], noun: str = "columns") -> list[str]:
    """Name what nothing reads in one notice; none if all is used.

    >>> unused(["path", "up_votes", "segment"], {"path"})
    ['not used: columns segment, up_votes']
    >>> unused("abcdefgh", "", "files") + unused("abcdefghi", "", "files")
    ['not used: files a, b, c, d, e, f, g, h', 'not used: files a, b, c, d, e, f, g, h (1 more)']
    """
    left = sorted({*names} - {*used} - {""})
    more = f" ({len(left) - MOST_UNUSED} more)" if len(left) > MOST_UNUSED else ""
    return [f"not used: {noun} {', '.join(left[:MOST_UNUSED])}{more}"] if left else []


def split_column(table: TextTable, entry: CorpusEntry) -> str:
    """Find a column that tells training from testing by its name or all its values; empty = there is none."""
    used = {*RESERVED_COLUMNS, *entry.columns.values(), *table.nested}
    columns = {name: cells for name, cells in table.columns.items() if name not in used}
    usual = [name for name in columns if re.sub(r"[\W_]+", "_", name.strip().lower()) in splits.COLUMNS]
    by_name = (name for name in usual if any(splits.kinds_of({*columns[name]}, {}).values()))
    by_values = (name for name in columns if splits.tell_splits(columns[name]))
    return next(by_name, None) or next(by_values, "")
