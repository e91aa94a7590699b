"""Understands the columns of data: ours under other names, what can be tested, what may be compared."""

from __future__ import annotations

import collections
import dataclasses
import math
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common.class_words import meanings
from soundcheck.common.scales import USUAL, usual_scales
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, EMOTION, REGRESSION, Task
from soundcheck.corpora.labels import WHO, without_nobody
from soundcheck.start.column_names import CLASSES, RATINGS, SYNONYMS
from soundcheck.start.listing import Listing
from soundcheck.start.sample import Sample
from soundcheck.suite.corpus_format import RESERVED_COLUMNS
from soundcheck.suite.groups import MEASURED_COLUMNS, UNUSABLE

SPEAKER = re.compile(r"(spk|spkr|speaker|actor|subj|subject|participant|user|id|sp|[spfm])[ _-]?\d+", re.I)
FEW_ROWS = 3  # rows a value, below which a column of many values names somebody or something
GROUP_VALUES = (2, 20)
MANY_NUMBERS = 6  # different numbers are cut into two ranges
MOST_GROUPS = 6
LOOKED_AT = 20  # files that are looked for
_NAME = re.compile(r"[^\W\d]\w*")


@dataclasses.dataclass
class Understanding:
    """What a suite says about data."""

    columns: dict[str, str] = dataclasses.field(default_factory=dict)  # as under ``columns:`` and ``values:``
    values: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    # What is labelled: tasks by name; those that are not built in have to be declared
    tasks: dict[str, Task] = dataclasses.field(default_factory=dict)
    # Task -> lowest and highest label, if not 0 and 1
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    groups: list[str | dict] = dataclasses.field(default_factory=list)  # columns that may be worth comparing
    splits: dict[str, int] = dataclasses.field(default_factory=dict)  # value of the column ``split`` -> rows
    audio: bool = True  # whether there is sound
    root: Path | None = None  # as the keys; ``None`` and empty if they are not needed
    cut: str = ""
    # The rows under our names, missing cells ``None``
    frame: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame)

    @property
    def declared(self) -> dict[str, Task]:
        """Tasks that are not built in."""
        return {name: task for name, task in self.tasks.items() if name not in BUILTIN}


def understand(sample: Sample, data: Path, *, sounds_inside: bool = False) -> Understanding:
    """Understand the columns of data."""
    frame = sample.frame.copy()
    about = Understanding(columns=dict(sample.columns))
    for ours, others in SYNONYMS.items():
        theirs = None if ours in frame and _filled(frame[ours]) else _named(frame, (ours, *others))
        if theirs is not None:
            about.columns[ours] = theirs
            frame[ours] = frame[theirs]
    _find_numbers(frame, about)
    _find_classes(frame, about)
    if "transcript" in frame and _filled(frame["transcript"]):
        about.tasks["transcript"] = BUILTIN["transcript"]
    if not about.tasks and "speaker" in frame and without_nobody(frame["speaker"])[0].nunique() > 1:
        about.tasks["embedding"] = BUILTIN["embedding"]
    if "split" in frame and _filled(frame["split"]):
        about.splits = frame["split"].value_counts().sort_index().to_dict()
    _find_groups(frame, about)
    if not sounds_inside:
        _find_audio(frame, sample.root, data, about)
    about.frame = frame.where(frame != "", None)
    for name in {*WHO} & {*frame}:
        about.frame[name], _ = without_nobody(about.frame[name])
    if "emotion" in about.frame:
        about.frame["category"] = about.frame["emotion"]
    for name in set(about.frame) & {*BUILTIN} - {*about.tasks}:
        about.frame[name] = None
    return about


def _filled(column: pd.Series) -> bool:
    return bool((column != "").any())


def _named(frame: pd.DataFrame, names: Iterable[str]) -> str | None:
    """Find a column with content by one of its names."""
    known = {str(name).strip().lower(): name for name in reversed(list(frame))}
    return next((known[name] for name in names if name in known and _filled(frame[known[name]])), None)


def _find_numbers(frame: pd.DataFrame, about: Understanding) -> None:
    """Find labels that are numbers, and guess their scale."""
    for name in [*(task.name for task in BUILTIN.values() if task.is_regression), *RATINGS]:
        theirs = _named(frame, [name])
        if theirs is None or (name in RATINGS and not _NAME.fullmatch(theirs)):
            continue
        numbers = pd.to_numeric(frame[theirs].where(frame[theirs] != ""), errors="coerce")
        if numbers.isna().all() or (numbers.isna() & (frame[theirs] != "")).any():
            continue
        bounds = likely_scale(numbers)
        if name in BUILTIN:
            about.tasks[name] = BUILTIN[name]
            if name != theirs:
                about.columns[name] = theirs
            if bounds != (0, 1):
                about.ranges[name] = bounds
        elif numbers.nunique() > 1:
            about.tasks[theirs] = Task(theirs, REGRESSION, (), *bounds)
        frame[name] = frame[theirs]


def likely_scale(numbers: pd.Series) -> tuple[float, float]:
    """Guess on which scale numbers are."""
    low, high = float(numbers.min()), float(numbers.max())
    around = (scale for scale in USUAL if scale[0] <= low and high <= scale[1])
    return next(
        iter([*usual_scales(numbers.dropna().to_numpy()), *around]), (math.floor(low), math.ceil(high))
    )


def _find_classes(frame: pd.DataFrame, about: Understanding) -> None:
    """Find a column of classes: the four emotions under any name, or others, a task of their own."""
    for name in CLASSES:
        theirs = _named(frame, [name])
        if theirs is None or theirs in about.tasks or theirs in about.columns.values():
            continue
        labels = sorted(set(frame[theirs]) - {""})
        if not 2 <= len(labels) <= 50 or pd.to_numeric(pd.Series(labels), errors="coerce").notna().all():
            continue
        if all(SPEAKER.fullmatch(label) for label in labels):
            if "speaker" not in frame:
                about.columns["speaker"], frame["speaker"] = theirs, frame[theirs]
            continue
        if len(labels) > MANY_NUMBERS and (frame[theirs] != "").sum() < FEW_ROWS * len(labels):
            continue
        meant = meanings(labels, EMOTION)
        means = {label: label if label in EMOTION else meant.get(label, "") for label in labels}
        if all(means.values()) and len({*means.values()}) > 1:
            if theirs != "emotion":
                about.columns["emotion"] = theirs
            mapped = {label: meant for label, meant in means.items() if label != meant}
            if mapped:
                about.values["emotion"] = mapped
            about.tasks["emotion"] = BUILTIN["emotion"]
            frame["emotion"] = frame[theirs].map(means).fillna("")
            return
        own = "feeling" if "emo" in name or any(means.values()) else f"own_{name}"
        about.tasks[own] = Task(own, CLASSIFICATION, tuple(labels))
        about.columns[own] = theirs
        frame[own] = frame[theirs]
        return


def _find_groups(frame: pd.DataFrame, about: Understanding) -> None:
    """Find columns with a few values that nothing else is made of."""
    ours = {*RESERVED_COLUMNS, *BUILTIN, *UNUSABLE, *MEASURED_COLUMNS}
    used = {*ours, *about.tasks, *about.columns.values()}
    same = [frame[name] for name in frame if name in ours]  # under the names of their format, too
    used |= {theirs for name, others in SYNONYMS.items() if name in frame for theirs in others}
    for name in frame:
        if name in used or not _NAME.fullmatch(str(name)) or len(about.groups) == MOST_GROUPS:
            continue
        if any(frame[name].equals(other) for other in same):
            continue
        given = frame[name][frame[name] != ""]
        counts, numbers = given.value_counts(), pd.to_numeric(given, errors="coerce")
        if len(counts) > MANY_NUMBERS and numbers.notna().all():
            if str(name).lower() == "age":
                about.groups.append(_halves(str(name), numbers))
        elif GROUP_VALUES[0] <= len(counts) <= GROUP_VALUES[1] and counts.iloc[-1] > 1:
            about.groups.append(str(name))


def _halves(name: str, numbers: pd.Series) -> dict:
    """Cut numbers into two ranges with about as many rows."""
    border = float(numbers.median())
    low, high = math.floor(numbers.min()), math.ceil(numbers.max())
    return {name: {f"up to {border:g}": [low, border], f"above {border:g}": [border, high]}}


def _find_audio(frame: pd.DataFrame, root: Path, data: Path, about: Understanding) -> None:
    """Look for the first files; if they are named by the paths of another machine, for the ends of paths."""
    names = [name for name in dict.fromkeys(frame.get("file", pd.Series(dtype=object))) if name][:LOOKED_AT]
    if any(_is_below(root, name) for name in names):
        return
    listing = Listing(data if data.is_dir() else data.parent)
    folders = dict.fromkeys(listing.root / path.parent for path in listing.audio)
    for base in dict.fromkeys([root, listing.root, *folders]):
        beginnings = collections.Counter(_elsewhere(base, name) for name in names)
        # Most of them: a few files of the same name lie in many folders.
        for beginning, count in beginnings.most_common(1):
            if beginning is not None and 2 * count > len(names):
                about.root, about.cut = (None if base == root else base), beginning
                return
    about.audio = False


def _is_below(root: Path, name: str) -> bool:
    return not os.path.isabs(name) and (root / name).is_file()


def _elsewhere(base: Path, name: str) -> str | None:
    """Find what has to be cut from the beginning of a name so that the rest is a file below a folder."""
    parts: Sequence[str] = name.replace("\\", "/").split("/")
    for first in range(len(parts)):
        rest = "/".join(parts[first:])
        if rest and _is_below(base, rest) and ".." not in parts:
            return name[: len(name) - len(rest)]
    return None
