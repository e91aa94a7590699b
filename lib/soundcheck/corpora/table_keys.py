"""What ``root:``, ``cut:`` and ``values:`` of a corpus do to its table before anything in it is checked.

- Cells are text, ``""`` = missing. All work is done on the different texts of a column, never row by row.
- A cell is mapped once: ``{a: b, b: a}`` swaps the two. Words of the suite come before those of the format.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted, some
from soundcheck.corpora.labels import NAMED
from soundcheck.corpora.raw_table import RawTable
from soundcheck.suite.entries import CorpusEntry

CHANNEL = "channel"
A_FILE_A_CHANNEL = (
    "Write each channel as a file of its own, and name those: all channels of a file are averaged"
)
MOST_WORDS = 100  # different texts of a column among which a similar one is looked for
_CHANNELS = re.compile(r"\d+(,\d+)*|[ab]|left|right", re.IGNORECASE)  # what a file of several has
_EXTENSION = re.compile(r"(\.[A-Za-z][A-Za-z0-9]{1,4})?$")


def prepare(raw: RawTable, entry: CorpusEntry, words: Mapping[str, Mapping[str, str]]) -> RawTable:
    """Do what the keys say; ``words`` are those of the format, see ``CorpusFormat.values``."""
    table, notices, problems = raw.table.copy(deep=False), list(raw.notices), Problems()
    slashed = table["file"].str.replace("\\", "/") if entry.audio or entry.cut else table["file"]
    if (slashed != table["file"]).any():
        table["file"] = slashed
        notices.append("backslashes in names of files count as slashes")
    if entry.cut:
        table["file"] = _cut(table["file"], entry.cut, notices)
    root = entry.root or raw.root
    if entry.audio:
        table["file"] = _from_root(table["file"], raw.root, root)
    for name in {**words, **entry.values}:
        if name in table.columns:
            table[name] = _mapped(table[name], words.get(name, {}), entry.values.get(name, {}), notices)
        elif name in entry.values:
            what = f"corpora.{entry.name}.values.{name} maps its values, and it is not there"
            remedy = did_you_mean(name, raw.table.columns)
            problems.add(f"{raw.source}, column {name}", what, remedy)
    problems.raise_if_any()
    if CHANNEL in table.columns:
        _name_channels(table, raw, entry, notices)
    return dataclasses.replace(raw, table=table, root=root, notices=tuple(notices))


def _cut(column: pd.Series, folder: str, notices: list[str]) -> pd.Series:
    """Take a folder from the beginning of names; say how many had it."""
    cut = column.str.removeprefix(folder.replace("\\", "/").removesuffix("/") + "/").astype(object)
    whole = column[cut == column]
    count = len(column) - len(whole)
    notice = f"the folder that `cut:` names begins {count} of {counted(len(column), 'name')} of files"
    if len(whole):  # the end of one, so that the folders of somebody's machine are not shown
        notice += f", not {quoted(whole.iloc[0].rsplit('/', 1)[-1])}" + (", for one" if count else "")
    notices.append(notice)
    return cut


def _from_root(column: pd.Series, folder: Path, root: Path) -> pd.Series:
    """Write names with ``..`` as from the root; if one leads out, all are from the folder of the table."""
    names = {name: os.path.normpath(name) for name in column.unique() if ".." in name.split("/")}
    if any(name.startswith("..") for name in names.values()):
        relative = (name for name in column.unique() if name and "://" not in name and name[0] not in "/~")
        names = {name: os.path.relpath(folder / name, root) for name in relative}
    return column.map(lambda name: names.get(name, name)).astype(object) if names else column


def _mapped(
    column: pd.Series, words: Mapping[str, str], suite_words: Mapping[str, str], notices: list[str]
) -> pd.Series:
    """Map the texts of a column; tell what became of them, and which of the suite's own do not occur."""
    counts = column.value_counts().to_dict()
    mapped = {text: new for text, new in {**words, **suite_words}.items() if text in counts and new != text}
    changes = [
        f"{quoted(text)} counts as {quoted(mapped[text]) if mapped[text] else 'missing'} "
        f"({counted(counts[text], 'row')})"
        for text in sorted(mapped)
    ]
    if changes:
        notices.append(f"column {column.name}: {some(changes, NAMED)}")
    for text in suite_words:
        if text not in counts:  # of names and sentences there are too many to suggest some
            hint = did_you_mean(text, sorted(counts)) if len(counts) <= MOST_WORDS else ""
            what = f"no segment has {quoted(text)}, which `values:` maps. {hint}".rstrip(". ")
            notices.append(f"column {column.name}: {what}")
    return column.map({text: mapped.get(text, text) for text in counts}).astype(object) if mapped else column


def _name_channels(table: pd.DataFrame, raw: RawTable, entry: CorpusEntry, notices: list[str]) -> None:
    """Tell channels with the same times apart: by the name of the file, or refuse them if there is audio."""
    key = [name for name in ("file", "start", "end") if name in table.columns]
    named = names_channel(table[CHANNEL])
    twice = named & table.duplicated(key, keep=False) & ~table.duplicated([*key, CHANNEL], keep=False)
    if not twice.any():
        return
    row = int(np.flatnonzero(twice)[0])
    if entry.audio:
        example = quoted(table["file"].iloc[row], 60)
        what = f"{counted(int(twice.sum()), 'segment')} are other channels of the same times, as of {example}"
        raise input_error(f"{raw.places[row]}, column {CHANNEL}", what, A_FILE_A_CHANNEL)
    names = [
        _EXTENSION.sub(rf"-{channel}\1", name, count=1) if has_one else name
        for name, channel, has_one in zip(table["file"], table[CHANNEL].str.strip(), named, strict=True)
    ]
    notices.append(f"names of files have their channel at the end, such as {quoted(names[row], 60)}")
    table["file"] = pd.Series(names, index=table.index, dtype=object)


def names_channel(column: pd.Series) -> pd.Series:
    """Say which cells name a channel of a file, and not something else that is called so."""
    known = {text: _CHANNELS.fullmatch(text.strip()) is not None for text in column.unique()}
    return column.map(known).astype(bool)
