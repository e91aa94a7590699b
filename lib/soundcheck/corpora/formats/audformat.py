"""``format: audformat``: a folder with ``db.yaml`` and tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from soundcheck.corpora.layouts.audb_cache import only_flavour
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import Folder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry


class AudformatKeys(TableKeys):
    """Keys of a database."""

    path: Folder = ""
    tables: schema.Texts = []
    attributes: schema.Texts = []  # tables that only tell more about the segments of the others


class AudformatFormat(TableFormat):
    """Databases of the field; see :mod:`soundcheck.corpora.layouts.audformat_db`."""

    keyword = "audformat"
    reader = "soundcheck.corpora.layouts.audformat_db:read_database"
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
