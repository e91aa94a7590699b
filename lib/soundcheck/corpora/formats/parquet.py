"""``format: parquet``: shards of the Hugging Face Hub, with the sounds in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from soundcheck.suite.corpus_format import FileOrFolder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry


class ParquetKeys(TableKeys):
    """Keys of shards: their folder, or a single one."""

    path: FileOrFolder = ""


class ParquetFormat(TableFormat):
    """Data sets in Parquet shards; see :mod:`soundcheck.corpora.parquet_shards`."""

    keyword = "parquet"
    reader = "soundcheck.corpora.parquet_shards:read_shards"
    keys = ParquetKeys

    @classmethod
    def problems(cls, keys: ParquetKeys) -> Iterator[tuple[str, str, str]]:
        """Refuse folders of sounds that lie in the shards."""
        yield from super().problems(keys)
        for key in ("root", "cut"):
            if getattr(keys, key):
                yield key, "the sounds are in the shards themselves, not in files", "Remove it"

    @classmethod
    def make(cls, entry: CorpusEntry, cache: Path, *, jobs: int, progress: bool) -> CorpusEntry:
        """Write the sounds of the shards into the cache, if the corpus has audio."""
        if not entry.audio:
            return entry
        from soundcheck.corpora.parquet_shards import unpack  # late: it loads pyarrow

        return dataclasses.replace(entry, root=unpack(entry, cache, progress), shown_root="")
