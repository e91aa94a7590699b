"""``format: audformat``: a folder with ``db.yaml`` and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from soundcheck.common.tasks import Task
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import Folder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable


class AudformatKeys(TableKeys):
    """Keys of a database."""

    path: Folder = ""
    tables: schema.Texts = []


class AudformatFormat(TableFormat):
    """Databases of the field; see :mod:`soundcheck.corpora.audformat_db`."""

    keyword = "audformat"
    keys = AudformatKeys

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read tables and what the database says about speakers."""
        from soundcheck.corpora.audformat_db import read_database

        return read_database(entry, tasks)
