"""``format: csv``: a CSV or Parquet table, one row a segment, columns under their own or mapped names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from soundcheck.common.tasks import Task
from soundcheck.common.text_table import read_text_table
from soundcheck.suite.corpus_format import TableFormat
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable


class CsvFormat(TableFormat):
    """Tables of segments."""

    keyword = "csv"

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a table under our column names.

        Raises InputError: if the table cannot be read, or a column is missing that is needed or mapped.
        """
        from soundcheck.corpora.table_keys import take_columns

        shown = entry.shown_path or entry.path.name
        return take_columns(read_text_table(entry.path, shown), entry, tasks)
