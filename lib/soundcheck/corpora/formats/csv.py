"""``format: csv``: a CSV or Parquet table, one row a segment, columns under their own or mapped names."""

from __future__ import annotations

from collections.abc import Mapping

from soundcheck.common.tasks import Task
from soundcheck.common.text_table import read_text_table
from soundcheck.corpora.raw_table import RawTable, entry_name, take_columns
from soundcheck.suite.corpus_format import TableFormat
from soundcheck.suite.entries import CorpusEntry


class CsvFormat(TableFormat):
    """Tables of segments."""

    keyword = "csv"

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a table under our column names."""
        return take_columns(read_text_table(entry.path, entry_name(entry)), entry, tasks)
