"""A corpus in Parquet shards: its sounds as files in the cache, everything else as a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable
from soundcheck.corpora.joined_tables import join
from soundcheck.corpora.layouts import shard_sounds
from soundcheck.corpora.layouts.hugging_face import NAMES
from soundcheck.corpora.layouts.parquet_shards import chosen_shards, read_cells, recordings, sound_column
from soundcheck.corpora.segments import Excluded, RawTable
from soundcheck.corpora.table_keys import take_columns
from soundcheck.suite.entries import CorpusEntry

SPLIT = "split"


def unpack(entry: CorpusEntry, cache: Path, progress: bool) -> Path:
    """Write the sounds of the split that is evaluated; gives their folder.

    Raises InputError: if there is no shard, one is damaged, or none of the columns holds sounds.
    """
    shards, _ = chosen_shards(entry)
    column = sound_column(shards[0], entry)
    folder = shard_sounds.folder_of(entry, shards, column, cache)
    shard_sounds.write_sounds(shards, column, folder, cache / "sounds", entry.name[:40], progress)
    return folder


def read_parquet_corpus(entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
    """Read the table of a corpus under our column names.

    - ``entry``: the suite's entry; if there is something to hear, ``root`` is what :func:`unpack` gave.
    - ``tasks``: tasks of the suite by name.
    - Raises InputError: if a shard cannot be read, or a column is missing that the suite maps.
    """
    shards, notices = chosen_shards(entry)
    shown = (entry.shown_path or entry.path.name).rstrip("/")
    column = sound_column(shards[0], entry)
    paths, groups = zip(*(recordings(shard, column) for shard in shards), strict=True)
    names = shard_sounds.names_of(shards, paths)
    if not entry.audio:  # any name will do, and theirs say more
        names = [
            [path or name for path, name in zip(*pair, strict=True)]
            for pair in zip(paths, names, strict=True)
        ]
    tables = []
    for shard, own in zip(shards, names, strict=True):
        cells = read_cells(shard)
        columns = {**cells.columns, column: own}
        if shard.split and SPLIT not in columns:
            columns[SPLIT] = [shard.split] * len(own)
        nested = {name: kind for name, kind in cells.nested.items() if name != column}
        tables.append(TextTable(columns, cells.places, cells.unit, shard.shown, nested))
    table, places = join(tables, shown)
    raw = take_columns(table, entry, tasks, {"file": (column,), **NAMES})
    left_out = []
    if entry.audio:
        there = [
            one
            for number, own in enumerate(groups)
            for one in shard_sounds.present(entry.root, number, len(own))
        ]
        absent = [row for row, is_there in enumerate(there) if not is_there]
        left_out = [Excluded(places[row], "the shard holds no sound for this row", "audio") for row in absent]
        kept = [row for row, is_there in enumerate(there) if is_there]
        if absent:
            raw = dataclasses.replace(raw, table=raw.table.iloc[kept].reset_index(drop=True))
            places = [places[row] for row in kept]
    told = (*notices, *raw.notices)
    return dataclasses.replace(raw, places=places, left_out=tuple(left_out), notices=told)
