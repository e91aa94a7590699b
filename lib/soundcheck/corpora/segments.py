"""The segment table: one row a segment, with checked labels, the same for every source.

Readers deliver a :class:`~soundcheck.corpora.raw_table.RawTable` of text under our column names. It becomes
a :class:`~soundcheck.corpora.labels.Reading`: :func:`prepare` does what the suite says, :func:`parse`
converts and checks, with all problems and their places at once. The audio is looked at later.

- Text cells are kept exactly as written; only the empty cell, ``""``, is missing. They are mapped by the
  different texts of a column, never row by row, and once: ``{a: b, b: a}`` swaps the two. Words of the suite
  come before those of the format.
- A row that cannot be used although the table as a whole can is left out and listed.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.messages import (
    EACH,
    Caveat,
    InputError,
    counted,
    did_you_mean,
    input_error,
    quoted,
    some,
)
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import parse_seconds
from soundcheck.corpora import labels, splits
from soundcheck.corpora.labels import NAMED, UNKNOWN, Reading, present
from soundcheck.corpora.raw_table import RawTable
from soundcheck.corpora.utterances import segment_name
from soundcheck.metrics.normalisation import noise_marks
from soundcheck.suite.corpus_format import RESERVED_COLUMNS, CorpusEntry

# What the suite says ----------------------------------------------------------------------------------------

CHANNEL = "channel"
A_FILE_A_CHANNEL = (
    "Write each channel as a file of its own, and name those: all channels of a file are averaged"
)
MOST_WORDS = 100  # different texts of a column among which a similar one is looked for
_CHANNELS = re.compile(r"\d+(,\d+)*|[ab]|left|right", re.IGNORECASE)  # what a file of several has
_EXTENSION = re.compile(r"(\.[A-Za-z][A-Za-z0-9]{1,4})?$")


def prepare(raw: RawTable, entry: CorpusEntry, words: Mapping[str, Mapping[str, str]]) -> Reading:
    """Do to a raw table what the keys say; ``words`` are those of the format, see ``CorpusFormat.values``."""
    reading = Reading(raw, entry)
    table, root, notices = raw.table.copy(deep=False), entry.root or raw.root, reading.notices
    slashed = table["file"].str.replace("\\", "/") if entry.audio or entry.cut else table["file"]
    if (slashed != table["file"]).any():
        table["file"] = slashed
        notices.append("backslashes in names of files count as slashes")
    if entry.cut:
        table["file"] = _cut(table["file"], entry.cut, notices)
    if entry.audio:
        table["file"] = _from_root(table["file"], raw.root, root)
    for name in {**words, **entry.values}:
        if name in table.columns:
            table[name] = _mapped(table[name], words.get(name, {}), entry.values.get(name, {}), notices)
        elif name in entry.values:
            what = f"corpora.{entry.name}.values.{name} maps its values, and it is not there"
            reading.problem(None, f"column {name}", what, did_you_mean(name, raw.table.columns))
    reading.problems.raise_if_any()
    if CHANNEL in table.columns:
        _name_channels(table, reading)
    reading.raw = dataclasses.replace(raw, table=table, root=root)
    return reading


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


def _name_channels(table: pd.DataFrame, reading: Reading) -> None:
    """Tell channels with the same times apart: by the name of the file, or refuse them if there is audio."""
    key = [name for name in ("file", "start", "end") if name in table.columns]
    named = names_channel(table[CHANNEL])
    twice = named & table.duplicated(key, keep=False) & ~table.duplicated([*key, CHANNEL], keep=False)
    if not twice.any():
        return
    row = int(np.flatnonzero(twice)[0])
    if reading.entry.audio:
        example = quoted(table["file"].iloc[row], 60)
        what = f"{counted(int(twice.sum()), 'segment')} are other channels of the same times, as of {example}"
        raise input_error(f"{reading.raw.places[row]}, column {CHANNEL}", what, A_FILE_A_CHANNEL)
    names = [
        _EXTENSION.sub(rf"-{channel}\1", name, count=1) if has_one else name
        for name, channel, has_one in zip(table["file"], table[CHANNEL].str.strip(), named, strict=True)
    ]
    example = quoted(names[row], 60)
    reading.notices.append(f"names of files have their channel at the end, such as {example}")
    table["file"] = pd.Series(names, index=table.index, dtype=object)


def names_channel(column: pd.Series) -> pd.Series:
    """Say which cells name a channel of a file, and not something else that is called so."""
    known = {text: _CHANNELS.fullmatch(text.strip()) is not None for text in column.unique()}
    return column.map(known).astype(bool)


# The table --------------------------------------------------------------------------------------------------

TIMES = ("start", "end")
TEXT_COLUMNS = tuple(name for name in RESERVED_COLUMNS if name not in ("file", *TIMES))

_ADDRESS = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")
_OUTSIDE = "outside"  # remedy of names that lead out of the folder, see `_wider_root`


def parse(reading: Reading, tasks: Mapping[str, Task], *, needs_audio: bool = True) -> Reading:
    """Check a prepared table and convert its cells: the rows that may be used, in canonical order.

    Its audio is not looked at yet: ``duration`` is that of the source, in seconds.

    - ``needs_audio``: whether any model listens.
    - Raises InputError: all problems of the table at once.
    """
    raw, entry = reading.raw, reading.entry
    columns = {"file": _files(reading, needs_audio)}
    columns |= {name: _times(reading, name) for name in TIMES}
    # Where there is audio, its length counts, and a column of anything may be called duration.
    columns["duration"] = _times(Reading(raw, entry) if entry.audio else reading, "duration")
    start, end = columns["start"], columns["end"]
    for row in np.flatnonzero(start >= end):
        relation = "equals" if start[row] == end[row] else "is after"
        what = f"start {start[row]:.10g} s {relation} end {end[row]:.10g} s"
        reading.problem(row, "columns start and end", what, "Give a start before the end")
    _labels(reading, tasks, columns)
    reading.problems.raise_if_any()
    every = pd.DataFrame(columns).assign(place=np.arange(len(raw.table)))
    _check_duplicates(every, tasks, reading)
    reading.problems.raise_if_any()
    every = every[every["file"].notna()]
    parsed = _split(every, reading)
    others = every[~every["place"].isin(parsed["place"])]
    reading.elsewhere = others.drop(columns="place").reset_index(drop=True)
    for name in [name for name in labels.WHO if name in columns]:
        labels.note_unknown_words(raw.table[name].iloc[parsed["place"]], reading)
    parsed = _blocks(parsed, reading)
    _note(parsed, tasks, reading.notices)
    reading.caveats += labels.speakers_of_both_sexes(parsed, entry)
    order = ["file", *TIMES]
    reading.table = parsed.sort_values(order, kind="stable", na_position="first", ignore_index=True)
    return reading


def _labels(reading: Reading, tasks: Mapping[str, Task], columns: dict[str, object]) -> None:
    """Add the columns of labels, without words for nobody."""
    table, entry, remedies = reading.raw.table, reading.entry, reading.remedies
    ranged = {*entry.number_ranges} - {"duration"}
    further = [name for name in entry.further_columns if name not in (*tasks, *ranged, *columns)]
    texts = list(dict.fromkeys(name for name in (*TEXT_COLUMNS, *further) if name in table.columns))
    for name in sorted(ranged & {*table.columns}):
        remedy = "Give a number, or leave the cell empty; columns of words take no ranges"
        columns[name] = labels.read_numbers(reading, name, remedy)
    for name in texts:
        columns[name] = present(table[name], table[name] != "")
        if name in labels.WHO:
            columns[name], _ = labels.without_nobody(columns[name], entry.unknown)
    for name in texts:
        labels.note_placeholders(columns[name], name, reading)
    if "sex" in columns:
        columns["sex"], columns[f"{UNKNOWN}sex"] = labels.read_sexes(columns["sex"], reading)
        either = "`values: {sex: {WORD: female}}`"
        remedies["sex"] = f"If it means either, say so under corpora.{entry.name}: {either}"
    labelled = [task for task in tasks.values() if task.name in table.columns]
    several = sum(task.is_regression for task in labelled) > 1
    for task in labelled:
        name = task.name
        if task.is_regression:
            columns[name] = labels.read_ratings(reading, task, several)
        elif task.is_labelled:
            remedies[name] = labels.class_remedy(task, table, entry, tasks)
            columns[name], columns[UNKNOWN + name] = labels.read_classes(table[name], task, reading)
            # What is no class of the task may still be a name of an emotion that a family tests.
            if name == "emotion" and "category" not in table.columns:
                columns["category"] = present(table[name], table[name] != "")


# Files and times --------------------------------------------------------------------------------------------


def _files(reading: Reading, needs_audio: bool) -> pd.Series:
    """Check the names of files; those that exist but must not be opened become ``None`` and are listed."""
    raw, entry, column = reading.raw, reading.entry, reading.raw.table["file"]
    rows = np.flatnonzero(~column.duplicated())
    first = dict(zip(column.iloc[rows], rows.tolist(), strict=True))
    faults: dict[str, tuple[str, str]] = {}
    if entry.audio:
        inside = functools.cache(functools.partial(files.inside, raw.root))  # folders hold many files
        faults = {name: fault for name in first if any(fault := _file_problem(raw.root, name, inside))}
        for name in [name for name, (what, _) in faults.items() if what.endswith("not exist")][:EACH]:
            what, remedy = faults[name]  # to look at all names of a folder takes its time
            faults[name] = what, files.nearest_name(Path(raw.root, name)) or remedy
    elif "" in first:  # any other name will do
        faults[""] = ("the cell is empty", "Give each segment a name")
    wider = _wider_root(raw, entry, first) if any(remedy == _OUTSIDE for _, remedy in faults.values()) else ""
    unheard = entry.audio and not needs_audio
    if unheard and not any(os.path.exists(os.path.join(raw.root, name)) for name in first):
        wider = f"Declare `audio: false` under corpora.{entry.name}: no model listens"
        faults = {name: (what, _OUTSIDE if remedy else "") for name, (what, remedy) in faults.items()}
    for name, (what, remedy) in faults.items():
        if remedy:
            reading.problem(first[name], "column file", what, wider if remedy == _OUTSIDE else remedy)
        else:
            reading.leave_out(name, what, "audio")
    return present(column, ~column.isin(list(faults))) if faults else column


def _file_problem(root: Path, name: str, inside: Callable[[str], Path]) -> tuple[str, str]:
    """Say what is wrong with a file, and what to do; one without remedy is listed. Opens nothing."""
    relative = "Give a path relative to the corpus folder"
    if not name:
        return "the cell is empty", relative
    if _ADDRESS.match(name):
        return f"{quoted(name)} is an address; nothing is fetched", relative
    if os.path.isabs(name) or _DRIVE.match(name) or ".." in name.split("/"):
        return f"{quoted(name)} leads out of the corpus folder", _OUTSIDE
    path = os.path.join(root, name)
    reason = files.irregularity(path)
    if reason == "the file does not exist":
        return f"the file {quoted(name)} does not exist", relative
    if not reason:
        try:
            inside(os.path.dirname(name) if not os.path.islink(path) else name)
        except InputError:
            reason = "the link leads out of the corpus folder"
    return reason, ""


def _wider_root(raw: RawTable, entry: CorpusEntry, names: Iterable[str]) -> str:
    """Say by which keys names that lead out of the folder of a corpus are found."""
    absolute = [name for name in names if name.startswith("/")] or [*filter(_DRIVE.match, names)]
    if absolute:
        common = os.path.commonpath([os.path.dirname(name) for name in absolute])
        here = (
            f"`root: {common}`" if os.path.exists(absolute[0]) else "as `root:` the folder that has them here"
        )
        return f"Declare `cut: {common}` and {here}"
    up = max((os.path.normpath(name).split("/").count("..") for name in names), default=0)
    base, source = (entry.root, entry.shown_root) if entry.root else (entry.path, entry.shown_path)
    wider = os.path.normpath(os.path.join(source, os.path.relpath(raw.root, base), *up * [".."]))
    return f"Declare `root: {wider}` under corpora.{entry.name}, the folder that has all of them"


def _times(reading: Reading, name: str) -> np.ndarray:
    if name not in reading.raw.table.columns:
        return np.full(len(reading.raw.table), np.nan)
    remedy = "Give seconds such as 1.5, or H:MM:SS; an empty cell means the beginning or end of the file"
    return labels.read_numbers(reading, name, remedy, parse_seconds)


# Rows -------------------------------------------------------------------------------------------------------


def _check_duplicates(table: pd.DataFrame, tasks: Collection[str], reading: Reading) -> None:
    key, raw = ["file", *TIMES], reading.raw
    texts = [name for name in table if table[name].dtype == object and name in raw.table and name != "file"]
    described = dict.fromkeys([*texts, *(name for name in tasks if name in table)])
    known = table[table["file"].notna()]
    repeated = known[known.duplicated(key, keep=False)]
    parts, ratings = "parts of a recording need the columns start and end", "ratings of several people"
    for segment, rows in repeated.groupby(key, sort=True, dropna=False):
        what = f"the segment {quoted(segment_name(*segment))} is there {len(rows)} times"
        remedy = "Remove the repeated row"
        if conflicts := [name for name in described if rows[name].nunique(dropna=False) > 1]:
            what += f" with different {', '.join(conflicts)}"
            remedy = f"Give one row a segment: {parts}, {ratings} their mean or majority"
        reading.problems.add(" and ".join(raw.places[row] for row in rows["place"]), what, remedy)


def _split(table: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Keep the rows of the splits that are evaluated."""
    raw, entry = reading.raw, reading.entry
    if "split" not in table.columns:
        if entry.format not in ("commonvoice", "parquet"):  # their tables and shards are the splits
            splits.choose({"": len(table)}, entry, raw.source, "row", {})
        return table
    names = table["split"].fillna("")
    counts, where = Counter(names.tolist()), f"{raw.source}, column split"
    chosen, notices = splits.choose(counts, entry, where, "row", raw.split_kinds)
    evaluated = table[names.isin(chosen)]
    train = [name for name, kind in splits.kinds_of(counts, raw.split_kinds).items() if kind == splits.TRAIN]
    if "speaker" in table.columns and train and not {*train} & {*chosen}:
        learned = set(table.loc[names.isin(train), "speaker"].dropna())
        speakers = set(evaluated["speaker"].dropna())
        if learned & speakers:
            which = chosen[0] if len(chosen) == 1 else "evaluated"
            both = f"{len(learned & speakers)} of {len(speakers)} {which} speakers also train"
            text = f"{both}, so results tell little about speakers that are new to a model trained on them"
            reading.caveats.append(Caveat(text, corpus=entry.name))
    reading.notices += notices
    return evaluated


def _blocks(table: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Leave out rows that belong to no block; without speakers every file is a block."""
    columns = list(reading.entry.blocks)
    absent = [name for name in columns if name not in table.columns or table[name].isna().all()]
    if absent == columns == ["speaker"]:
        reading.notices.append("no column speaker: each file counts as a block of its own in intervals")
        return table.drop(columns="speaker", errors="ignore")
    for name in absent:
        what = f"corpora.{reading.entry.name}.blocks names it, and it is not there"
        reading.problem(None, f"column {name}", what, did_you_mean(name, reading.raw.table.columns))
    reading.problems.raise_if_any()
    missing = table[columns].isna().any(axis=1)
    for row in table[missing].to_dict("records"):
        names = " and no ".join(name for name in columns if pd.isna(row[name]))
        item = segment_name(row["file"], row["start"], row["end"])
        reading.leave_out(item, f"no {names}, so it belongs to no block", "block")
    if len(columns) > 1:
        reading.notices.append(f"resampled together in intervals: {' within '.join(reversed(columns))}")
    return table[~missing]


def _note(table: pd.DataFrame, tasks: Mapping[str, Task], notices: list[str]) -> None:
    """Say what a reader of results must know about labels and speakers."""
    no_reference = "no transcript (an empty reference): without one there are no word errors to count"
    what = {n: no_reference if task.is_transcription else f"no label for {n}" for n, task in tasks.items()}
    for name, missing in {**what, "sex": "no sex: not in comparisons of sexes"}.items():
        if name in table.columns:
            empty = table[name].isna()
            if UNKNOWN + name in table.columns:
                empty &= table[UNKNOWN + name].isna()
            if empty.any():
                notices.append(f"{empty.sum()} of {len(table)} segments have {missing}")
            if missing == no_reference:
                _note_marks(table[name].dropna(), notices)


def _note_marks(texts: pd.Series, notices: list[str]) -> None:
    """Count the references with marks of noises, and name the most frequent ones."""
    marks = list(filter(None, (noise_marks(str(text)) for text in texts)))
    if marks:
        counts = Counter(itertools.chain(*marks)).most_common()
        named = some([f"{quoted(mark, 40)} ({count})" for mark, count in counts], NAMED)
        notices.append(
            f"{len(marks)} of {len(texts)} references have marks of noises or unknown words: {named}. "
            "The normaliser basic leaves them out; normaliser: basic-with-marks takes them for words"
        )
