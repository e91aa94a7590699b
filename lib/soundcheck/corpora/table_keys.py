"""What the keys of a corpus do to its table before anything in it is checked.

``columns:`` gives columns our names, ``root:`` and ``cut:`` say what names of files are relative to, and
``values:`` maps what stands in the cells; a format may bring names and words of its own, and the suite comes
first. Readers of formats call :func:`take_columns`; the rest is done for all of them by :func:`prepare`.

Conventions
-----------
- Cells are text, ``""`` = missing. All work is done on the different texts of a column, never row by row.
- A cell is mapped once: ``{a: b, b: a}`` swaps the two.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable
from soundcheck.common.wording import counted, some
from soundcheck.corpora import splits
from soundcheck.corpora.format_hints import hint
from soundcheck.corpora.segments import NAMED, RawTable
from soundcheck.suite.corpus_format import RESERVED_COLUMNS
from soundcheck.suite.entries import CorpusEntry

USUAL_NAMES = ("path", "filename", "file_name", "filepath", "audio", "wav", "wav_path", "audio_path")

CHANNEL = "channel"
_CHANNELS = re.compile(r"\d+(,\d+)*|[ab]|left|right", re.IGNORECASE)  # what a file of several has
_EXTENSION = re.compile(r"(\.[A-Za-z][A-Za-z0-9]{1,4})?$")
MOST_UNUSED = 8  # columns that a notice names

A_FILE_A_CHANNEL = (
    "Write each channel as a file of its own, and name those: all channels of a file are averaged"
)
MOST_WORDS = 100  # different texts of a column among which a similar one is looked for


class Places(Sequence):
    """Where the rows of a table stand, each written when somebody asks for it.

    >>> list(Places("calls.csv", "line", range(2, 4)))
    ['calls.csv line 2', 'calls.csv line 3']
    """

    def __init__(self, shown: str, unit: str, numbers: Sequence[int]) -> None:
        self._begin = f"{shown} {unit}"
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, row: int) -> str:
        return f"{self._begin} {self._numbers[row]}"


def take_columns(
    table: TextTable,
    entry: CorpusEntry,
    tasks: Mapping[str, Task],
    usual: Mapping[str, Sequence[str]] | None = None,
    known: Collection[str] = (),
) -> RawTable:
    """Give a table our names: those of the suite, of the format, or the same as theirs.

    - ``table``: text cells under the names of the source.
    - ``entry``: the suite's entry: ``columns:``, what it groups by, where it stands.
    - ``tasks``: tasks of the suite by name.
    - ``usual``: our name -> names that the format has for it, the first that is there counts.
    - ``known``: columns that the format has used already.
    - Returns files are relative to the folder of the table, unless the suite says otherwise.
    - Raises InputError: if a column is missing that the suite maps, or the one of the files; if one that is
      used holds lists.
    """
    problems, columns, notices, used = Problems(), {}, [], {*known}
    if "split" not in (*table.columns, *entry.columns) and (theirs := split_column(table, entry)):
        usual = {**(usual or {}), "split": (theirs,)}
        notices.append(f"split is the column {theirs}; `columns:` takes another")
    for name in dict.fromkeys([*RESERVED_COLUMNS, *tasks, *entry.further_columns, "duration"]):
        own = entry.columns.get(name)
        theirs = [own] if own is not None else [*(usual or {}).get(name, ()), name]
        found = [one for one in dict.fromkeys(theirs) if one in table.columns and one not in table.nested]
        nested = [one for one in theirs if one in table.nested]
        if found:
            columns[name] = table.columns[found[0]]
            used |= {*found}
            if len(found) > 1:
                others = ", ".join(found[1:])
                notices.append(f"{name} is the column {found[0]}, not {others}; `columns:` takes another")
        elif nested:
            what = f"its values are of the type {quoted(table.nested[nested[0]], 40)}, not a cell a row"
            remedy = f"Write one text or number a row, or name another column: `columns: {{{name}: ...}}`"
            problems.add(f"{table.header}, column {nested[0]}", what, remedy)
        elif own is not None:
            what = f"corpora.{entry.name}.columns.{name} names it, and it is not there"
            problems.add(f"{table.header}, column {own}", what, did_you_mean(own, table.columns))
    if "file" not in columns and "file" not in entry.columns:
        wanted = (usual or {}).get("file", ("file",))[0]
        remedy = hint(table.columns, entry.format) or _suggest(table, wanted)
        problems.add(f"{table.header}, column {wanted}", "the column is missing", remedy)
    problems.raise_if_any()
    notices += unused([*table.columns, *table.nested], used)
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    places = Places(table.shown, table.unit, table.places)
    return RawTable(
        frame,
        places,
        entry.path.parent,
        table.shown,
        notices=tuple(notices),
        offered=tuple(table.columns),
    )


def unused(there: Iterable[str], used: Collection[str], noun: str = "columns") -> list[str]:
    """Name what nothing reads in one notice; none if all is used.

    >>> unused(["path", "up_votes", "segment"], {"path"})
    ['not used: columns segment, up_votes']
    """
    left = sorted({*there} - {*used} - {""})
    more = f" ({len(left) - MOST_UNUSED} more)" if len(left) > MOST_UNUSED else ""
    return [f"not used: {noun} {', '.join(left[:MOST_UNUSED])}{more}"] if left else []


def split_column(table: TextTable, entry: CorpusEntry) -> str:
    """Find a column that tells training from testing by its name or all its values; empty = there is none."""
    used = {*RESERVED_COLUMNS, *entry.columns.values(), *table.nested}
    columns = {name: cells for name, cells in table.columns.items() if name not in used}
    usual = [name for name in columns if re.sub(r"[\W_]+", "_", name.strip().lower()) in splits.COLUMNS]
    found = [name for name in usual if any(splits.kinds_of({*columns[name]}, {}).values())]
    return next(
        (name for name in (*found, *columns) if name in found or splits.tell_splits(columns[name])), ""
    )


def _suggest(table: TextTable, wanted: str) -> str:
    usual = [name for name in table.columns if name.strip().lower() in (*USUAL_NAMES, "file")]
    if usual:
        return f"Did you mean '{usual[0]}'? Then map it with `columns: {{file: {usual[0]}}}`"
    return did_you_mean(wanted, table.columns)


def prepare(raw: RawTable, entry: CorpusEntry, words: Mapping[str, Mapping[str, str]]) -> RawTable:
    """Do what ``root:``, ``cut:`` and ``values:`` say.

    - ``words``: fixed words of the format, see :class:`soundcheck.suite.corpus_format.CorpusFormat`.
    - Raises InputError: if a column is not there whose values are mapped.
    """
    table, notices, problems = raw.table.copy(deep=False), list(raw.notices), Problems()
    slashed = table["file"].str.replace("\\", "/") if entry.audio or entry.cut else table["file"]
    if (slashed != table["file"]).any():
        table["file"] = slashed
        notices.append("backslashes in names of files count as slashes")
    if entry.cut:
        table["file"], told = _cut(table["file"], entry.cut)
        notices.append(told)
    root = entry.root or raw.root
    if entry.audio:
        table["file"] = _from_root(table["file"], raw.root, root)
    for name in {**words, **entry.values}:
        own = entry.values.get(name, {})
        if name in table.columns:
            mapped = {**words.get(name, {}), **own}
            table[name], told = _mapped(table[name], mapped, own, f"column {name}")
            notices += told
        elif name in entry.values:
            what = f"corpora.{entry.name}.values.{name} maps its values, and it is not there"
            remedy = did_you_mean(name, raw.table.columns)
            problems.add(f"{raw.shown}, column {name}", what, remedy)
    problems.raise_if_any()
    table, told = _by_channel(dataclasses.replace(raw, table=table), entry)
    notices += told
    return dataclasses.replace(raw, table=table, root=root, notices=tuple(notices))


def _from_root(column: pd.Series, folder: Path, root: Path) -> pd.Series:
    """Write names with ``..`` as from the root; if one leads out, all are from the folder of the table."""
    names = {name: os.path.normpath(name) for name in column.unique() if ".." in name.split("/")}
    if any(name.startswith("..") for name in names.values()):
        relative = (name for name in column.unique() if name and "://" not in name and name[0] not in "/~")
        names = {name: os.path.relpath(folder / name, root) for name in relative}
    return column.map(lambda name: names.get(name, name)).astype(object) if names else column


def _by_channel(raw: RawTable, entry: CorpusEntry) -> tuple[pd.DataFrame, list[str]]:
    """Tell the channels of a file apart; gives the table, and what was done.

    Where there is nothing to hear, the channel becomes a part of the name if the same times occur twice.

    Raises InputError: if there is something to hear: channels are averaged.
    """
    table, key = raw.table, [name for name in ("file", "start", "end") if name in raw.table.columns]
    if CHANNEL not in table.columns:
        return table, []
    named = channels_of(table[CHANNEL])
    twice = named & table.duplicated(key, keep=False) & ~table.duplicated([*key, CHANNEL], keep=False)
    if not twice.any():
        return table, []
    row = int(np.flatnonzero(twice)[0])
    example = quoted(table["file"].iloc[row], 60)
    if entry.audio:
        what = f"{counted(int(twice.sum()), 'segment')} are other channels of the same times, as of {example}"
        raise input_error(f"{raw.places[row]}, column {CHANNEL}", what, A_FILE_A_CHANNEL)
    names = [
        _EXTENSION.sub(rf"-{channel}\1", name, count=1) if own else name
        for name, channel, own in zip(table["file"], table[CHANNEL].str.strip(), named, strict=True)
    ]
    told = f"names of files have their channel at the end, such as {quoted(names[row], 60)}"
    return table.assign(file=pd.Series(names, index=table.index, dtype=object)), [told]


def channels_of(column: pd.Series) -> pd.Series:
    """Say which cells name a channel of a file, and not something else that is called so."""
    known = {text: _CHANNELS.fullmatch(text.strip()) is not None for text in column.unique()}
    return column.map(known).astype(bool)


def _cut(column: pd.Series, folder: str) -> tuple[pd.Series, str]:
    """Take a folder from the beginning of names; say how many had it."""
    beginning = folder.replace("\\", "/").removesuffix("/") + "/"
    names = column.tolist()
    cut = pd.Series([name.removeprefix(beginning) for name in names], index=column.index, dtype=object)
    count = int((cut != column).sum())
    told = f"the folder that `cut:` names begins {count} of {counted(len(names), 'name')} of files"
    if count < len(names):
        told += f", not {quoted(_base(column[cut == column].iloc[0]))}" + (", for one" if count else "")
    return cut, told


def _base(name: str) -> str:
    """Give the end of a name, so that the folders of somebody's machine are not told."""
    return name.rsplit("/", 1)[-1]


def _mapped(
    column: pd.Series, mapped: Mapping[str, str], own: Mapping[str, str], where: str
) -> tuple[pd.Series, list[str]]:
    """Map the texts of a column; tell what became of them, and which of the suite's own do not occur."""
    which, texts = pd.factorize(column, use_na_sentinel=False)
    there = set(texts)
    told = [_unused(where, text, there) for text in own if text not in there]
    if there.isdisjoint(mapped):
        return column, told
    counts = np.bincount(which, minlength=len(texts))
    changes = list(_changes(dict(zip(texts, counts.tolist(), strict=True)), mapped))
    if changes:
        told.insert(0, f"{where}: {some(changes, NAMED)}")
    after = np.array([mapped.get(text, text) for text in texts], dtype=object)
    return pd.Series(after[which], index=column.index, dtype=object), told


def _unused(where: str, text: str, there: Collection[str]) -> str:
    """Say that nothing is mapped; of names and sentences there are too many to suggest some."""
    hint = did_you_mean(text, sorted(there)) if len(there) <= MOST_WORDS else ""
    return f"{where}: no segment has {quoted(text)}, which `values:` maps. {hint}".rstrip(". ")


def _changes(counts: Mapping[str, int], mapped: Mapping[str, str]) -> Iterator[str]:
    for text in sorted(counts):
        new = mapped.get(text, text)
        if new != text:
            meant = f"counts as {quoted(new)}" if new else "counts as missing"
            yield f"{quoted(text)} {meant} ({counted(counts[text], 'row')})"
