"""The segment table: one row a segment, with checked labels, the same for every source.

Readers deliver a :class:`RawTable` table of text under our column names; :func:`parse` converts and checks it
and collects all problems with the place where they stand. The audio is looked at later.

Conventions
-----------
- Text cells are kept exactly as written; only the empty cell is missing.
- Labels of regression tasks are scaled to 0..1, NaN = unlabelled. A class that the task does not have counts
  as unlabelled and is listed: it never becomes an extra class. Its text stays in a column that begins with
  :data:`UNKNOWN`, until :func:`unlabelled` has counted the segments that are evaluated.
- A row that cannot be used although the table as a whole can is left out and listed.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.caveats import Caveat
from soundcheck.common.class_words import NOTHING, as_values
from soundcheck.common.errors import InputError, Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.scales import another_scale, outside, range_advice, usual_scales
from soundcheck.common.tasks import Task, scale_sentence, scaled
from soundcheck.common.text_table import parse_column, parse_number, parse_seconds
from soundcheck.common.wording import counted, some
from soundcheck.corpora import nobody, own_task, splits
from soundcheck.metrics.normalisation import noise_marks
from soundcheck.suite.corpus_format import RESERVED_COLUMNS
from soundcheck.suite.entries import CorpusEntry

TEXT_COLUMNS = tuple(name for name in RESERVED_COLUMNS if name not in ("file", "start", "end"))
SEX = dict.fromkeys(
    "female f woman women w girl weiblich frau femme femenino feminino mujer 女".split(), "female"
)
SEX |= dict.fromkeys(
    "male m man men boy männlich mann homme masculino hombre 男".split(), "male"
)  # lower case
TIMES = ("start", "end")
NAMED = 5  # examples that a notice names
EXAMPLES = 3  # cells that a message names
UNREACHED = 0.1  # of the width of a range, between its end and the nearest label
ENOUGH = 20  # labels, to say that an end is not reached
UNKNOWN = "unknown "  # begins the name of a column with labels that are not classes
OUTSIDE = "outside"  # remedy of names that lead out of the folder, see `_outside`
LABEL = "label"  # stage of labels that are listed; their segments stay

_ADDRESS = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


@dataclasses.dataclass(frozen=True)
class Excluded:
    """Something that is not evaluated: what it is called, and why."""

    item: str
    reason: str
    stage: str = "corpus"


@dataclasses.dataclass(frozen=True)
class RawTable:
    """What a reader delivers.

    - ``left_out, notices``: what the reader has to tell.
    """

    # text cells under our names: ``file``, ``start``, ``end`` (seconds or clock), reserved columns, tasks,
    # the columns of the blocks; ``""`` = missing. ``duration`` is that of rows without times.
    table: pd.DataFrame
    places: Sequence[str]  # where each row stands, for messages
    root: Path  # folder that files are relative to
    shown: str  # how messages call the source
    left_out: tuple[Excluded, ...] = ()
    notices: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()  # names of all columns of the source, for suggestions
    # whether a duration without times chooses the beginning of a file; else it is but said of the file
    begins: bool = False
    # name of a split -> what the source says it is for: ``"train"``, ``"dev"`` or ``"test"``
    split_kinds: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # regression task -> lowest and highest label that the source declares
    scales: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class SegmentTable:
    """A checked table before its audio is looked at.

    ``table`` has a column ``place`` more, the number of the row in the raw table, and ``duration`` as the
    source has it: in seconds, NaN = not known. ``remedies`` say by task what to do about labels that
    are none of its classes. ``elsewhere`` are rows of splits that are not evaluated, ``caveats`` what makes
    numbers of the corpus doubtful.
    """

    table: pd.DataFrame
    left_out: tuple[Excluded, ...]
    notices: tuple[str, ...]
    remedies: Mapping[str, str]
    elsewhere: pd.DataFrame
    caveats: tuple[Caveat, ...] = ()


def parse(
    raw: RawTable, entry: CorpusEntry, tasks: Mapping[str, Task], *, heard: bool = True
) -> SegmentTable:
    """Check a raw table and convert its cells.

    - ``entry``: the suite's entry: split, blocks, label ranges.
    - ``tasks``: tasks of the suite by name.
    - Returns rows that may be used, in canonical order.
    - Raises InputError: all problems of the table at once.
    """
    problems = Problems()
    table = raw.table
    left_out, notices, remedies = list(raw.left_out), list(raw.notices), {}
    caveats: list[Caveat] = []
    columns: dict[str, object] = {
        "file": _files(raw, entry, heard, problems, left_out) if entry.audio else _names(raw, problems)
    }
    for name in TIMES:
        columns[name] = _times(raw, name, problems)
    # Where there is audio, its length counts, and a column of anything may be called duration.
    columns["duration"] = _times(raw, "duration", Problems() if entry.audio else problems)
    _check_order(raw, columns["start"], columns["end"], problems)
    ranged = {name for group in entry.groups for name in group.ranges} - {"duration"}
    further = [name for name in entry.further_columns if name not in (*tasks, *ranged, *columns)]
    texts = [name for name in (*TEXT_COLUMNS, *further) if name in table.columns]
    for name in sorted(ranged & {*table.columns}):
        remedy = "Give a number, or leave the cell empty; columns of words take no ranges"
        columns[name] = _read(raw, name, parse_number, remedy, problems)
    for name in dict.fromkeys(texts):
        columns[name] = table[name].where(table[name] != "", None).astype(object)
    unknown = {}
    for name in [name for name in nobody.COLUMNS if name in columns]:
        columns[name], unknown[name] = nobody.without_nobody(columns[name], entry.unknown)
    for name in dict.fromkeys(texts):
        notices += _nothings(columns[name], name, entry)
    if "sex" in columns:
        columns["sex"], columns[f"{UNKNOWN}sex"] = _sex(columns["sex"], left_out, notices)
        either = "`values: {sex: {WORD: female}}`"
        remedies["sex"] = f"If it means either, say so under corpora.{entry.name}: {either}"
    several = sum(task.is_regression and task.name in table.columns for task in tasks.values()) > 1
    for task in tasks.values():
        if task.name not in table.columns:
            continue
        if task.is_regression:
            columns[task.name] = _numbers(raw, task, entry, several, problems, notices)
        elif task.is_labelled:
            remedies[task.name] = own_task.remedy(task, table, entry, tasks)
            columns[task.name], columns[UNKNOWN + task.name] = _classes(raw, task, left_out)
            # What is no class of the task may still be a name of an emotion that a family asks for.
            if task.name == "emotion" and "category" not in table.columns:
                columns["category"] = table[task.name].where(table[task.name] != "", None).astype(object)
    problems.raise_if_any()
    parsed = pd.DataFrame(columns)
    parsed["place"] = np.arange(len(parsed))
    labels = dict.fromkeys([*texts, *(name for name in tasks if name in parsed)])
    _check_duplicates(parsed, list(labels), raw.places, problems)
    problems.raise_if_any()
    parsed = parsed[parsed["file"].notna()]
    every, parsed = parsed, _split(parsed, entry, raw, notices, caveats)
    unused = ~every["place"].isin(parsed["place"])
    elsewhere = every[unused].drop(columns="place").reset_index(drop=True)
    for name, words in unknown.items():
        _tell_nobody(name, words.iloc[parsed["place"]], left_out, notices)
    parsed = _blocks(parsed, entry, raw, left_out, notices)
    _note(parsed, tasks, notices)
    caveats += _two_people(parsed, entry)
    parsed = parsed.sort_values(
        ["file", "start", "end"], kind="stable", na_position="first", ignore_index=True
    )
    return SegmentTable(parsed, tuple(left_out), tuple(notices), remedies, elsewhere, tuple(caveats))


# Cells ------------------------------------------------------------------------------------------------------


def _files(
    raw: RawTable, entry: CorpusEntry, heard: bool, problems: Problems, left_out: list[Excluded]
) -> pd.Series:
    """Check the names of files; those that exist but must not be opened become ``None`` and are listed."""
    column = raw.table["file"]
    rows = np.flatnonzero(~column.duplicated())
    first = dict(zip(column.iloc[rows], rows.tolist(), strict=True))
    within = functools.cache(functools.partial(_is_inside, raw.root))  # folders: they hold many files
    verdicts = {name: _file(raw.root, name, within) for name in first}
    outside = _outside(raw, entry, first) if any(OUTSIDE == how for *_, how in verdicts.values()) else ""
    silent = not heard and not any(os.path.exists(os.path.join(raw.root, name)) for name in first)
    nothing = f"Declare `audio: false` under corpora.{entry.name}: no model listens"
    for name, row in first.items():
        kind, what, remedy = verdicts[name]
        if kind == "refuse":
            remedy = nothing if silent else outside if remedy == OUTSIDE else remedy
            problems.add(f"{raw.places[row]}, column file", what, remedy)
        elif kind == "list":
            left_out.append(Excluded(name, what, "audio"))
    listed = [name for name, (kind, *_) in verdicts.items() if kind]
    return column.where(~column.isin(listed), None).astype(object) if listed else column


def _outside(raw: RawTable, entry: CorpusEntry, names: Iterable[str]) -> str:
    """Say by which keys names that lead out of the folder of a corpus are found."""
    absolute = [name for name in names if name.startswith("/")] or [*filter(_DRIVE.match, names)]
    if absolute:
        common = os.path.commonpath([os.path.dirname(name) for name in absolute])
        here = (
            f"`root: {common}`" if os.path.exists(absolute[0]) else "as `root:` the folder that has them here"
        )
        return f"Declare `cut: {common}` and {here}"
    up = max((os.path.normpath(name).split("/").count("..") for name in names), default=0)
    base, shown = (entry.root, entry.shown_root) if entry.root else (entry.path, entry.shown_path)
    wider = os.path.normpath(os.path.join(shown, os.path.relpath(raw.root, base), *up * [".."]))
    return f"Declare `root: {wider}` under corpora.{entry.name}, the folder that has all of them"


def _names(raw: RawTable, problems: Problems) -> pd.Series:
    """Refuse segments without a name; where there is nothing to hear, any other name will do."""
    column = raw.table["file"]
    for row in np.flatnonzero(column == ""):
        problems.add(f"{raw.places[row]}, column file", "the cell is empty", "Give each segment a name")
    return column


def _file(root: Path, name: str, within: Callable[[str], bool]) -> tuple[str, str, str]:
    """Judge a file's name: ``("refuse" | "list" | "", what, remedy)``; opens nothing."""
    inside = "Give a path relative to the corpus folder"
    if not name:
        return "refuse", "the cell is empty", inside
    if _ADDRESS.match(name):
        return "refuse", f"{quoted(name)} is an address; nothing is fetched", inside
    if os.path.isabs(name) or _DRIVE.match(name):
        return "refuse", f"{quoted(name)} is an absolute path", OUTSIDE
    if name.startswith("~"):
        return "refuse", f"{quoted(name)} begins in a home folder", inside
    if ".." in name.replace("\\", "/").split("/"):
        return "refuse", f"{quoted(name)} leads out of the corpus folder", OUTSIDE
    if "\0" in name:
        return "refuse", f"{quoted(name)} has a NUL character", inside
    path = os.path.join(root, name)
    reason = files.irregularity(path)
    if reason == "the file does not exist":
        return "refuse", f"the file {quoted(name)} does not exist", files.nearest_name(Path(path)) or inside
    if reason:
        return "list", reason, ""
    if not within(os.path.dirname(name)) or (os.path.islink(path) and not _is_inside(root, name)):
        return "list", "the link leads out of the corpus folder", ""
    return "", "", ""


def _is_inside(root: Path, name: str) -> bool:
    try:
        files.inside(root, name)
    except InputError:
        return False
    return True


def _times(raw: RawTable, name: str, problems: Problems) -> np.ndarray:
    if name not in raw.table.columns:
        return np.full(len(raw.table), np.nan)
    remedy = "Give seconds such as 1.5, or H:MM:SS; an empty cell means the beginning or end of the file"
    return _read(raw, name, parse_seconds, remedy, problems)


def _read(
    raw: RawTable, name: str, parse: Callable[[str], float], remedy: str, problems: Problems
) -> np.ndarray:
    """Read a column of numbers; empty = NaN."""
    values, wrong = parse_column(raw.table[name].tolist(), parse)
    for row, what in wrong:
        problems.add(f"{raw.places[row]}, column {name}", what, remedy)
    return values


def _check_order(raw: RawTable, start: np.ndarray, end: np.ndarray, problems: Problems) -> None:
    for row in np.flatnonzero(start >= end):
        relation = "equals" if start[row] == end[row] else "is after"
        what = f"start {start[row]:.10g} s {relation} end {end[row]:.10g} s"
        problems.add(f"{raw.places[row]}, columns start and end", what, "Give a start before the end")


def _numbers(
    raw: RawTable,
    task: Task,
    entry: CorpusEntry,
    several: bool,
    problems: Problems,
    notices: list[str],
) -> np.ndarray:
    """Read labels of a regression task and scale them to 0..1; ``several`` tasks have scales of their own."""
    low, high = bounds = entry.ranges.get(task.name, (task.low, task.high))
    name, key = task.name, f"under corpora.{entry.name}"
    remedy = f'Give a number with a point; what is no label: `values: {{{name}: {{TEXT: ""}}}}` {key}'
    if none := sorted(text for text in raw.table[name].unique() if text and text.strip().lower() in NOTHING):
        remedy = f"If it means that there is no label: `{as_values(name, dict.fromkeys(none, ''))}` {key}"
    values = _read(raw, name, parse_number, remedy, problems)
    given = values[~np.isnan(values)]
    beyond = np.flatnonzero(outside(values, bounds))
    if len(beyond):
        cells = [f"{quoted(raw.table[name].iloc[row])} in {raw.places[row]}" for row in beyond[:EXAMPLES]]
        count = f"all {len(given)}" if len(beyond) == len(given) else f"{len(beyond)} of {len(given)}"
        more = ", ..." if len(beyond) > EXAMPLES else ""
        what = (
            f"labels not in {low:g} to {high:g}: {count} ({', '.join(cells)}{more}); "
            f"all lie from {given.min():g} to {given.max():g}"
        )
        found, lowest = usual_scales(given), "the lowest and highest possible label, not those that occur"
        remedy = f"Declare {range_advice(found, name if several else '')} {key}: {lowest}"
        if not another_scale(given, bounds):
            text = raw.table[name].iloc[beyond[0]]
            remedy += f"; or correct the labels, or say which are none, `{as_values(name, {text: ''})}`"
        problems.add(f"{raw.shown}, column {name}", what, remedy)
    notices += filter(None, [scale_sentence(name, *bounds)])
    if len(given) >= ENOUGH and not len(beyond):
        ends = ((low, np.abs(given - low).min()), (high, np.abs(given - high).min()))
        missed = [f"{end:g}" for end, gap in ends if gap > UNREACHED * abs(high - low)]
        if missed:
            reach = f"{name}: labels lie from {given.min():g} to {given.max():g}"
            ask = "is the range that of the scale, and not only of these labels?"
            notices.append(f"{reach}, never near {' or '.join(missed)} of their range; {ask}")
    return scaled(values, low, high)


def _classes(raw: RawTable, task: Task, left_out: list[Excluded]) -> tuple[pd.Series, pd.Series]:
    """Keep the classes of the task; list the others, and give them beside."""
    column = raw.table[task.name]
    counts = column.value_counts()
    for text, count in sorted(counts.drop(["", *task.classes], errors="ignore").items()):
        reason = f"not a class of {task.name}, {count} segments count as unlabelled. "
        left_out.append(Excluded(f"label {quoted(text)}", reason + did_you_mean(text, task.classes), LABEL))
    known = column.isin(task.classes)
    return (column.where(known, None).astype(object), _others(column, known))


def _nothings(column: pd.Series, name: str, entry: CorpusEntry) -> list[str]:
    """Say that the most frequent text of a column is one that often means that nothing is known."""
    counts = column.value_counts()
    if counts.empty or counts.iloc[0] < 2 or counts.index[0].strip().lower() not in NOTHING:
        return []
    text, count = counts.index[0], f"{counts.iloc[0]} of {len(column)} rows have {quoted(counts.index[0])}"
    remedy = f"if it means that nothing is known: `{as_values(name, {text: ''})}` under corpora.{entry.name}"
    return [f"column {name}: {count}, which counts as it is written; {remedy}"]


def single_classes(
    table: pd.DataFrame, tasks: Iterable[Task], remedies: Mapping[str, str], corpus: str, shown: str
) -> list[Caveat]:
    """Say of which tasks all labels are of a single class.

    - ``table``: segments that are evaluated, with the columns that begin with :data:`UNKNOWN`.
    - ``tasks``: what models are asked for.
    - ``remedies``: by task what to do about labels that are no classes.
    - ``corpus, shown``: its name, and how messages call its table.
    - Raises InputError: if more than half of the labels are no classes, and no other task has them.
    """
    caveats, problems, tasks = [], Problems(), list(tasks)
    for task in tasks:
        if not task.classes or task.name not in table.columns:
            continue
        known, strange = table[task.name].dropna(), table[UNKNOWN + task.name].dropna()
        elsewhere = any({*strange} <= {*other.classes} for other in tasks)  # as in a task of one's own
        if known.nunique() > 1 or (known.empty and elsewhere):
            continue
        total, only = len(known) + len(strange), "".join(map(quoted, known.unique()))
        what = f"all {total} labels of {task.name} are {only}"
        if len(strange):
            what = f"{total} labels are not classes of {task.name}"
            what = f"{len(strange)} of {what}, and all others are {only}" if only else f"all {what}"
        remedy = remedies[task.name] if len(strange) else ""
        if len(strange) > len(known):
            problems.add(f"{shown}, column {task.name}", what, remedy)
        text = ". ".join(filter(None, [f"{what}, so no average over classes can be judged", remedy]))
        caveats.append(Caveat(text, corpus=corpus, task=task.name))
    problems.raise_if_any()
    return caveats


def _others(column: pd.Series, known: pd.Series) -> pd.Series:
    """Keep the texts of a column that are not known, ``None`` for all others."""
    return column.where(~known & column.notna() & (column != ""), None).astype(object)


def _sex(column: pd.Series, left_out: list[Excluded], notices: list[str]) -> tuple[pd.Series, pd.Series]:
    """Map the usual words to female and male; list the others, which belong to neither group."""
    plain = {text: text.strip().lower().rstrip(".") for text in column.dropna().unique()}
    unclear = "m" if "h" in plain.values() else ""  # mujer beside hombre, unless h is homme
    words = {text: SEX.get(word) if word != unclear else None for text, word in plain.items()}
    mapped = column.map(words).astype(object)
    mapped = mapped.where(mapped.notna(), None)
    if read := [f"{quoted(text)} counts as {sex}" for text, sex in words.items() if sex not in (None, text)]:
        notices.append(f"column sex: {', '.join(sorted(read))}")
    counts = column[mapped.isna()].value_counts()
    for text, count in sorted(counts.items()):
        reason = f"neither female nor male, {count} segments take no part in comparisons of sexes"
        left_out.append(Excluded(f"sex {quoted(text)}", reason, LABEL))
    return mapped, _others(column, mapped.notna())


def _tell_nobody(name: str, words: pd.Series, left_out: list[Excluded], notices: list[str]) -> None:
    """Count and list the words of a column that stand for nobody."""
    counts = sorted(words.value_counts().items())
    if counts:
        named = ", ".join(f"{quoted(word)} ({counted(count, 'segment')})" for word, count in counts)
        notices.append(f"column {name}: unknown are {named}; `unknown:` names other words")
    for word, count in counts if name != "speaker" else ():  # without a speaker, segments are listed
        reason = f"unknown, {counted(count, 'segment')} in no group of {name}"
        left_out.append(Excluded(f"{name} {quoted(word)}", reason, LABEL))


def unlabelled(table: pd.DataFrame, remedies: Mapping[str, str]) -> tuple[str, ...]:
    """Say in sentences how many segments have a label that means nothing to any test, and which.

    - ``table``: segments that are evaluated, with the columns that begin with :data:`UNKNOWN`.
    - ``remedies``: by task what to do about them.
    """
    told = []
    for column in (name for name in table.columns if name.startswith(UNKNOWN)):
        task, given = column.removeprefix(UNKNOWN), table[column].dropna()
        if given.empty:
            continue
        counts = sorted(Counter(given).items(), key=lambda item: (-item[1], item[0]))
        named = some([f"{quoted(text, 40)} ({count})" for text, count in counts], NAMED)
        what = "a sex that is neither female nor male"
        what = what if task == "sex" else f"labels that are not classes of {task}"
        advice = f". {remedies[task]}" if remedies.get(task) else ""
        told.append(f"{len(given)} of {len(table)} segments have {what}: {named}{advice}")
    return tuple(told)


# Rows -------------------------------------------------------------------------------------------------------


def _check_duplicates(
    table: pd.DataFrame, labels: Sequence[str], places: Sequence[str], problems: Problems
) -> None:
    key = ["file", *TIMES]
    known = table[table["file"].notna()]
    repeated = known[known.duplicated(key, keep=False)]
    found: dict[bool, list[tuple[str, str]]] = {}
    for segment, rows in repeated.groupby(key, sort=True, dropna=False):
        conflicts = [name for name in labels if rows[name].nunique(dropna=False) > 1]
        differs = f" with different {', '.join(conflicts)}" if conflicts else ""
        where = " and ".join(places[row] for row in rows["place"])
        what = f"the segment {quoted(segment_name(*segment))} is there {len(rows)} times{differs}"
        found.setdefault(bool(conflicts), []).append((where, what))
    for conflict, told in found.items():
        parts, ratings = "parts of a recording need the columns start and end", "ratings of several people"
        remedy = f"Give one row a segment: {parts}, {ratings} their mean or majority"
        more = f", as are {len(told) - 1} more segments" if len(told) > 1 else ""
        where, what = told[0]
        problems.add(where, what + more, remedy if conflict else "Remove the repeated row")


def _blocks(
    table: pd.DataFrame, entry: CorpusEntry, raw: RawTable, left_out: list[Excluded], notices: list[str]
) -> pd.DataFrame:
    """Leave out rows that belong to no block; without speakers every file is a block."""
    columns, problems = list(entry.blocks), Problems()
    absent = [name for name in columns if name not in table.columns or table[name].isna().all()]
    if absent == columns == ["speaker"]:
        notices.append("no column speaker: each file counts as a block of its own in intervals")
        return table.drop(columns="speaker", errors="ignore")
    for name in absent:
        what = f"corpora.{entry.name}.blocks names it, and it is not there"
        problems.add(f"{raw.shown}, column {name}", what, did_you_mean(name, raw.table.columns))
    problems.raise_if_any()
    missing = table[columns].isna().any(axis=1)
    for row in table.loc[missing, list({"file", *TIMES, *columns})].to_dict("records"):
        names = " and no ".join(name for name in columns if pd.isna(row[name]))
        name = segment_name(row["file"], row["start"], row["end"])
        left_out.append(Excluded(name, f"no {names}, so it belongs to no block", "block"))
    if len(columns) > 1:
        notices.append(f"resampled together in intervals: {' within '.join(reversed(columns))}")
    return table[~missing]


def _split(
    table: pd.DataFrame, entry: CorpusEntry, raw: RawTable, notices: list[str], caveats: list[Caveat]
) -> pd.DataFrame:
    """Keep the rows of the splits that are evaluated."""
    if "split" not in table.columns:
        return table
    given = table["split"].fillna("")
    counts, where = Counter(given.tolist()), f"{raw.shown}, column split"
    chosen, told = splits.choose(counts, entry, where, "row", raw.split_kinds)
    kept = table[given.isin(chosen)]
    train = [name for name, kind in splits.kinds_of(counts, raw.split_kinds).items() if kind == splits.TRAIN]
    if "speaker" in table.columns and train and not {*train} & {*chosen}:
        learned = set(table.loc[given.isin(train), "speaker"].dropna())
        speakers = set(kept["speaker"].dropna())
        if learned & speakers:
            which = chosen[0] if len(chosen) == 1 else "evaluated"
            both = f"{len(learned & speakers)} of {len(speakers)} {which} speakers also train"
            text = f"{both}, so results tell little about speakers that are new to a model trained on them"
            caveats.append(Caveat(text, corpus=entry.name))
    notices += told
    return kept


def _note(table: pd.DataFrame, tasks: Mapping[str, Task], notices: list[str]) -> None:
    """Say what a reader of results must know about labels and speakers."""
    for name, task in tasks.items():
        if name in table.columns:
            empty = table[name].isna()
            if UNKNOWN + name in table.columns:
                empty &= table[UNKNOWN + name].isna()
            missing = int(empty.sum())
            if missing and task.is_transcription:
                what = "no transcript (an empty reference): without one there are no word errors to count"
                notices.append(f"{missing} of {len(table)} segments have {what}")
            elif missing:
                notices.append(f"{missing} of {len(table)} segments have no label for {name}")
            if task.is_transcription:
                _note_marks(table[name].dropna(), notices)
    if "sex" in table.columns:
        missing = int((table["sex"].isna() & table[f"{UNKNOWN}sex"].isna()).sum())
        if missing:
            notices.append(f"{missing} of {len(table)} segments have no sex: not in comparisons of sexes")


def _note_marks(texts: pd.Series, notices: list[str]) -> None:
    """Count the references with marks of noises, and name the most frequent ones."""
    marks = [found for text in texts if (found := noise_marks(str(text)))]
    if marks:
        counts = Counter(itertools.chain(*marks)).most_common()
        named = some([f"{quoted(mark, 40)} ({count})" for mark, count in counts], NAMED)
        notices.append(
            f"{len(marks)} of {len(texts)} references have marks of noises or unknown words: {named}. "
            "The normaliser basic leaves them out; normaliser: basic-with-marks takes them for words"
        )


def _two_people(table: pd.DataFrame, entry: CorpusEntry) -> list[Caveat]:
    """Doubt names that stand for people of both sexes; blocks that part them make up for labels alone."""
    if "speaker" not in table.columns or "sex" not in table.columns:
        return []
    two, parted = (
        sexes[sexes > 1].index
        for columns in (["speaker"], list(dict.fromkeys([*entry.blocks, "speaker"])))
        for sexes in [table.groupby(columns)["sex"].nunique()]
    )
    if two.empty:
        return []
    named = ", ".join([*map(quoted, two[:NAMED]), *(["..."] if len(two) > NAMED else [])])
    text = (
        f"{len(two)} of {counted(table['speaker'].nunique(), 'speaker')} are of both sexes, so one name may "
    )
    text += f"stand for two people ({named}). Trials of one speaker may be of two"
    text += "" if parted.empty else ", and intervals and p-values count too few people"
    text += ". Name a column that tells people apart, `columns: {speaker: ...}`"
    text += "" if parted.empty else ", or say `blocks: [part, speaker]`, where `part` is a column of the data"
    return [Caveat(text, corpus=entry.name, task="embedding" if parted.empty else "")]


def segment_name(file: str, start: float, end: float) -> str:
    """Name a segment: its file, and its times in seconds if it has any."""
    return f"{file} {' to '.join(f'{time:.10g}' for time in (start, end) if not math.isnan(time))}".strip()
