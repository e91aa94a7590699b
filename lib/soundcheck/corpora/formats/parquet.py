"""``format: parquet``: shards of the Hugging Face Hub, with the sounds in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from soundcheck.common.tasks import Task
from soundcheck.suite.corpus_format import FileOrFolder, TableFormat, TableKeys
from soundcheck.suite.entries import CorpusEntry

if TYPE_CHECKING:
    from soundcheck.corpora.segments import RawTable


class ParquetKeys(TableKeys):
    """Keys of shards: their folder, or a single one."""

    path: FileOrFolder = ""


class ParquetFormat(TableFormat):
    """Data sets in Parquet shards; see :mod:`soundcheck.corpora.layouts.parquet_corpus`."""

    keyword = "parquet"
    keys = ParquetKeys

    @classmethod
    def make(cls, entry: CorpusEntry, cache: Path, *, jobs: int, progress: bool) -> CorpusEntry:
        """Write the sounds of the shards into the cache, if there is something to hear."""
        from soundcheck.corpora.layouts.parquet_corpus import unpack

        if not entry.audio:
            return entry
        return dataclasses.replace(entry, root=unpack(entry, cache, progress), shown_root="")

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read all columns of the shards but the sounds."""
        from soundcheck.corpora.layouts.parquet_corpus import read_parquet_corpus

        return read_parquet_corpus(entry, tasks)
