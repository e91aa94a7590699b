"""Data sets as the Hugging Face Hub knows them: ``format: audiofolder`` and ``format: parquet``.

A folder of sounds has ``metadata`` tables or labels: a table lists the files of its own folder and below, by
``file_name``. Without any, each sound is labelled by the folder that it lies in, unless that is a split or
the corpus itself. Shards have the sounds in them, see :mod:`soundcheck.corpora.parquet_shards`.

- Folders that are links, and names that begin with a dot, are passed over.
- Tables of several folders are put together; a column that one of them lacks is empty there.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import read_json_table
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, read_text_table
from soundcheck.common.wording import counted
from soundcheck.corpora.raw_table import RawTable, entry_name, format_hint, join, take_columns
from soundcheck.corpora.splits import split_among
from soundcheck.corpora.utterances import plain_path
from soundcheck.suite.corpus_format import FileOrFolderKeys, FolderKeys, TableFormat
from soundcheck.suite.entries import CorpusEntry

FILE, LABEL, SPLIT = "file_name", "label", "split"
NAMES = {  # of data sets on the Hub: our column -> usual names, the first that exists counts
    "transcript": ("transcript", "transcription", "text", "sentence", "normalized_text"),
    "speaker": ("speaker", "speaker_id", "client_id"),
    "sex": ("sex", "gender"),
    "language": ("language", "lang", "locale"),
    "accent": ("accent", "accents"),
}
TABLES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
SOUNDS = (".wav", ".flac", ".ogg", ".opus", ".mp3", ".aif", ".aiff")  # that are looked for in a folder
MOST_LABELS = 10  # that a notice names


class AudioFolderFormat(TableFormat):
    """Folders of sounds."""

    keyword = "audiofolder"
    keys = FolderKeys

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read a folder under our column names."""
        source = entry_name(entry)
        paths, sounds = _walk(entry.path, source)
        if not paths:
            return _labelled(sounds, entry, tasks, source)
        table = join([_read(entry.path, path, source) for path in paths], source)
        _add_splits(table.columns, table.columns[FILE])
        unlisted = len({*sounds}.difference(map(plain_path, table.columns[FILE])))
        notice = f"{counted(unlisted, 'sound')} in the folder stand in no metadata table: not used"
        names = {"file": (FILE,), **NAMES}
        return take_columns(table, entry, tasks, names, notices=[notice] if unlisted else [])


def _walk(root: Path, source: str) -> tuple[list[str], list[str]]:
    """Find the tables and the sounds below a folder, by their names in it."""
    tables, sounds, problems = [], [], Problems()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        below = Path(folder).relative_to(root)
        described = [name for name in TABLES if name in names]
        if len(described) > 1:
            what = f"{' and '.join(described)} are both there for the same folder"
            where = posixpath.join(source, below.as_posix()).removesuffix("/.")
            problems.add(where, what, "Keep one of them")
        audible = [name for name in sorted(names) if name.lower().endswith(SOUNDS) and name[0] != "."]
        tables += [(below / name).as_posix() for name in described]
        sounds += [(below / name).as_posix() for name in audible]
    for name in [name for name in (*tables, *sounds) if name.encode(errors="replace") != os.fsencode(name)]:
        problems.add(source, f"the name {quoted(name)} is not UTF-8", "Rename it, for instance with convmv")
    problems.raise_if_any()
    if not tables and not sounds:
        inside = {path.suffix for path in root.rglob("*.parquet")} and "This looks like `format: parquet`"
        remedy = inside or "Name the folder with metadata.csv, or with a folder for each label"
        raise input_error(source, "there is neither a metadata table nor a sound in the folder", remedy)
    return tables, sounds


def _read(root: Path, path: str, source: str) -> TextTable:
    """Read a table; names become relative to the corpus."""
    where, place = f"{source}/{path}", files.inside(root, path)
    if path.endswith(".jsonl"):
        table = read_json_table(place, where, texts=[FILE], needed=[FILE])
    else:
        table = read_text_table(place, where)
    if FILE not in table.columns:
        remedy = format_hint(table.columns, "audiofolder") or f"It has {', '.join(list(table.columns)[:10])}"
        raise input_error(f"{table.header}, column {FILE}", "the column is missing", remedy)
    folder = posixpath.dirname(path)
    names = table.columns[FILE]  # an empty one stays empty, which is refused later
    table.columns[FILE] = [posixpath.join(folder, name) if name else "" for name in names]
    return table


def _labelled(sounds: Sequence[str], entry: CorpusEntry, tasks: Mapping[str, Task], source: str) -> RawTable:
    """Label sounds by the folders that they lie in."""
    columns, notices = {FILE: list(sounds)}, []
    _add_splits(columns, sounds)
    folders = [posixpath.basename(posixpath.dirname(name)) for name in sounds]
    labels = ["" if split_among([name]) or name == "data" else name for name in folders]
    if any(labels):
        columns[LABEL] = labels
        if LABEL not in entry.columns.values():
            names = sorted({*labels} - {""})
            named = ", ".join([*map(quoted, names[:MOST_LABELS]), *(["..."] if names[MOST_LABELS:] else [])])
            what = f"the folders are the column {LABEL}, which nothing uses: {named}"
            notices = [f"{what}. To test it, map it, for instance `columns: {{emotion: {LABEL}}}`"]
    table = TextTable(columns, [f"{source}/{name}" for name in sounds], "", source)
    return take_columns(table, entry, tasks, {"file": (FILE,)}, (LABEL,), notices=notices)


def _add_splits(columns: dict[str, Sequence[str]], names: Sequence[str]) -> None:
    """Add the splits that the folders of files are, unless there is such a column."""
    splits = [split_among(plain_path(name).split("/")[:-1]) for name in names]
    if SPLIT not in columns and any(splits):
        columns[SPLIT] = splits


class ParquetFormat(TableFormat):
    """Data sets in Parquet shards; see :mod:`soundcheck.corpora.parquet_shards`."""

    keyword = "parquet"
    reader = "soundcheck.corpora.parquet_shards:read_shards"
    keys = FileOrFolderKeys

    @classmethod
    def problems(cls, keys: FileOrFolderKeys) -> Iterator[tuple[str, str, str]]:
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
