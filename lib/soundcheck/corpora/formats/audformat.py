"""``format: audformat``: a folder with ``db.yaml`` and tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from soundcheck.common.tasks import Task
from soundcheck.corpora.layouts.audb_cache import only_flavour
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import Folder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable


class AudformatKeys(TableKeys):
    """Keys of a database."""

    path: Folder = ""
    tables: schema.Texts = []
    attributes: schema.Texts = []  # tables that only tell more about the segments of the others


class AudformatFormat(TableFormat):
    """Databases of the field; see :mod:`soundcheck.corpora.layouts.audformat_db`."""

    keyword = "audformat"
    keys = AudformatKeys

    @classmethod
    def problems(cls, keys: AudformatKeys) -> Iterator[tuple[str, str, str]]:
        """Refuse attributes of segments that nothing names."""
        yield from super().problems(keys)
        if keys.attributes and not keys.tables:
            yield "attributes", "it does not say whose attributes", "Add tables: that bring the segments"

    @classmethod
    def complete(cls, entry: CorpusEntry) -> CorpusEntry:
        """Go on to the only flavour in the folder of a version, as audb's cache has it."""
        if entry.path is None:
            return entry
        folder = only_flavour(entry.path)
        if folder == entry.path:
            return entry
        return dataclasses.replace(
            entry, path=folder, shown_path=f"{entry.shown_path.rstrip('/')}/{folder.name}"
        )

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read tables and what the database says about speakers."""
        from soundcheck.corpora.layouts.audformat_db import read_database

        return read_database(entry, tasks)
