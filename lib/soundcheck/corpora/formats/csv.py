"""``format: csv``: a CSV or Parquet table, one row a segment, columns under their own or mapped names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, read_text_table
from soundcheck.suite.corpus_format import RESERVED_COLUMNS, Folder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable

USUAL_NAMES = ("path", "filename", "file_name", "filepath", "audio", "wav", "wav_path", "audio_path")


class CsvKeys(TableKeys):
    """Keys of a table; ``root`` is the folder of its files if that is not the table's own."""

    root: Folder = ""


class CsvFormat(TableFormat):
    """Tables of segments."""

    keyword = "csv"
    keys = CsvKeys

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a table under our column names.

        Raises
        ------
        InputError
            If the table cannot be read, or a column is missing that is needed or mapped.
        """
        import pandas as pd

        from soundcheck.corpora.segments import RawTable

        shown = entry.shown_path or entry.path.name
        table = read_text_table(entry.path, shown)
        problems = Problems()
        wanted = dict.fromkeys([*RESERVED_COLUMNS, *tasks, *entry.further_columns])
        columns = {}
        for name in wanted:
            theirs = entry.columns.get(name, name)
            if theirs in table.columns:
                columns[name] = table.columns[theirs]
            elif name in entry.columns:
                where = f"{table.header}, column {theirs}"
                what = f"corpora.{entry.name}.columns.{name} names it, and it is not there"
                problems.add(where, what, did_you_mean(theirs, table.columns))
        if "file" not in columns and "file" not in entry.columns:
            problems.add(f"{table.header}, column file", "the column is missing", _suggest(table))
        problems.raise_if_any()
        frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
        places = [table.where(row) for row in range(len(table))]
        root = entry.root or entry.path.parent
        return RawTable(frame, places, root, shown, offered=tuple(table.columns))


def _suggest(table: TextTable) -> str:
    usual = [name for name in table.columns if name.strip().lower() in USUAL_NAMES]
    if usual:
        return f"Did you mean '{usual[0]}'? Then map it with `columns: {{file: {usual[0]}}}`"
    return did_you_mean("file", table.columns)
