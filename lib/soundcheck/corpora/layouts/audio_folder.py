"""Reads a folder of sounds with ``metadata`` tables, or one whose folders are labels.

A metadata table lists the files of its own folder and below, by ``file_name``. Without any, each sound is
labelled by the folder that it lies in, unless that is a split or the corpus itself.

Conventions
-----------
- Folders that are links, and names that begin with a dot, are passed over.
- Tables of several folders are put together; a column that one of them lacks is empty there.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import read_json_table
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, read_text_table
from soundcheck.common.wording import counted
from soundcheck.corpora.format_hints import hint
from soundcheck.corpora.joined_tables import join
from soundcheck.corpora.layouts.hugging_face import NAMES, split_among
from soundcheck.corpora.segments import RawTable
from soundcheck.corpora.table_keys import take_columns
from soundcheck.suite.entries import CorpusEntry

FILE, LABEL, SPLIT = "file_name", "label", "split"
TABLES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
SOUNDS = (".wav", ".flac", ".ogg", ".opus", ".mp3", ".aif", ".aiff")  # that are looked for in a folder
MOST_LABELS = 10  # that a notice names


def read_audio_folder(entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
    """Read a folder under our column names.

    - ``entry``: the suite's entry; ``path`` is the folder.
    - ``tasks``: tasks of the suite by name.
    - Raises InputError: if there is neither a table nor a sound, two tables are for one folder, or one cannot
      be used.
    """
    shown = (entry.shown_path or entry.path.name).rstrip("/")
    described, sounds = _walk(entry.path, shown)
    tables = [_read(entry.path, place, shown) for place in described]
    if not tables:
        return _labelled(sounds, entry, tasks, shown)
    joined, places = join(tables, shown)
    columns = dict(joined.columns)
    splits = _by_folder(columns[FILE], lambda folder: split_among(folder.split("/")))
    if SPLIT not in columns and any(splits):
        columns[SPLIT] = splits
    table = dataclasses.replace(joined, columns=columns)
    raw = take_columns(table, entry, tasks, {"file": (FILE,), **NAMES})
    unlisted = len({*sounds} - {*columns[FILE]})
    told = f"{counted(unlisted, 'sound')} in the folder stand in no metadata table: not used"
    notices = (*raw.notices, *([told] if unlisted else []))
    return dataclasses.replace(raw, places=places, root=entry.path, notices=notices)


def _walk(root: Path, shown: str) -> tuple[list[str], list[str]]:
    """Find the tables and the sounds below a folder, by their names in it."""
    tables, sounds, problems = [], [], Problems()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        below = Path(folder).relative_to(root)
        own = [name for name in TABLES if name in names]
        if len(own) > 1:
            what = f"{' and '.join(own)} are both there for the same folder"
            problems.add(posixpath.join(shown, below.as_posix()).removesuffix("/."), what, "Keep one of them")
        tables += [(below / name).as_posix() for name in own]
        found = (name for name in sorted(names) if name.lower().endswith(SOUNDS) and name[0] != ".")
        sounds += [(below / name).as_posix() for name in found]
    problems.raise_if_any()
    if not tables and not sounds:
        inside = {path.suffix for path in root.rglob("*.parquet")} and "This looks like `format: parquet`"
        remedy = inside or "Name the folder with metadata.csv, or with a folder for each label"
        raise input_error(shown, "there is neither a metadata table nor a sound in the folder", remedy)
    return tables, sounds


def _read(root: Path, place: str, shown: str) -> TextTable:
    """Read a table; names become relative to the corpus."""
    where = f"{shown}/{place}"
    path = files.inside(root, place)
    if place.endswith(".jsonl"):
        table = read_json_table(path, where, texts=[FILE], needed=[FILE])
    else:
        table = read_text_table(path, where)
    if FILE not in table.columns:
        remedy = hint(table.columns, "audiofolder") or f"It has {', '.join(list(table.columns)[:10])}"
        raise input_error(f"{table.header}, column {FILE}", "the column is missing", remedy)
    folder = posixpath.dirname(place)
    if not folder:
        return table
    empty = [table.where(row, FILE) for row, name in enumerate(table.columns[FILE]) if not name]
    if empty:
        raise input_error(empty[0], "the cell is empty", "Name the file, relative to the table")
    names = [posixpath.join(folder, name) for name in table.columns[FILE]]
    return TextTable({**table.columns, FILE: names}, table.places, table.unit, where, table.nested)


def _labelled(sounds: Sequence[str], entry: CorpusEntry, tasks: Mapping[str, Task], shown: str) -> RawTable:
    """Label sounds by the folders that they lie in."""
    columns = {FILE: list(sounds)}
    splits = _by_folder(sounds, lambda folder: split_among(folder.split("/")))
    labels = _by_folder(sounds, _label)
    if any(splits):
        columns[SPLIT] = splits
    notices = []
    if any(labels):
        columns[LABEL] = labels
        if LABEL not in entry.columns.values():
            there = sorted({*labels} - {""})
            named = ", ".join([*map(quoted, there[:MOST_LABELS]), *(["..."] if there[MOST_LABELS:] else [])])
            what = f"the folders are the column {LABEL}, which nothing uses: {named}"
            notices.append(f"{what}. To test it, map it, for instance `columns: {{emotion: {LABEL}}}`")
    table = TextTable(columns, range(1, len(sounds) + 1), "file", shown)
    raw = take_columns(table, entry, tasks, {"file": (FILE,)}, (LABEL,))
    places = [f"{shown}/{name}" for name in sounds]
    return dataclasses.replace(raw, places=places, root=entry.path, notices=(*raw.notices, *notices))


def _label(folder: str) -> str:
    """Give the last folder of a path that is a label; splits are none."""
    last = posixpath.basename(folder)
    return "" if split_among([last]) or last == "data" else last


def _by_folder(names: Sequence[str], tell: Callable[[str], str]) -> list[str]:
    """Tell something of the folder of each name, once for each folder."""
    which, folders = pd.factorize(np.array([posixpath.dirname(name) for name in names], dtype=object))
    told = np.array([*(tell(folder) for folder in folders), None], dtype=object)[:-1]
    return told[which].tolist()
