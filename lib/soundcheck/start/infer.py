"""Infers what the columns of data are: ours under other names, what can be tested, what may be compared."""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
import os
import re
from pathlib import Path

import pandas as pd

from soundcheck.common.tasks import (
    BUILTIN,
    CLASSIFICATION,
    EMOTION,
    REGRESSION,
    USUAL,
    Task,
    meanings,
    usual_scales,
)
from soundcheck.corpora.labels import WHO, without_nobody
from soundcheck.corpora.segments import prepare
from soundcheck.corpora.splits import ALL
from soundcheck.start.detect import (
    CLASSES,
    FILE_NAMES,
    RATINGS,
    SYNONYMS,
    DetectedFormat,
    FolderIndex,
    by_split,
    first_of,
)
from soundcheck.suite.corpus_format import CORPUS_FORMATS, MEASURED_COLUMNS, RESERVED_COLUMNS, UNUSABLE
from soundcheck.suite.entries import CorpusEntry

SPEAKER = re.compile(r"(spk|spkr|speaker|actor|subj|subject|participant|user|id|sp|[spfm])[ _-]?\d+", re.I)
FEW_ROWS = 3  # rows a value, below which a column of many values names somebody or something
GROUP_VALUES = (2, 20)
MOST_CLASSES = 50
MANY_NUMBERS = 6  # different numbers are cut into two ranges
MOST_GROUPS = 6
FIRST_FILES = 20  # that are looked for
_NAME = re.compile(r"[^\W\d]\w*")


@dataclasses.dataclass
class InferredColumns:
    """What a suite says about the columns of data."""

    # Text cells, one row a segment: our columns under our names, all others under theirs, but those without
    # any content; ``None`` = missing
    frame: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame)
    part: bool = False  # whether there are more rows
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

    @functools.cached_property
    def segments(self) -> pd.DataFrame:
        """The rows as a segment table has them: ``None`` = missing, no words for nobody, labels of tasks."""
        table = self.frame.copy()
        for name in {*WHO} & {*table}:
            table[name], _ = without_nobody(table[name])
        table = table.assign(category=table["emotion"]) if "emotion" in table else table
        return table.assign(**dict.fromkeys({*table} & {*BUILTIN} - {*self.tasks}))


def infer_columns(detected: DetectedFormat, data: Path) -> InferredColumns:
    """Read data by the reader of their format, and infer what the columns are; ``data`` is what was named."""
    path, sounds_inside = detected.path, detected.format == "parquet"
    shards = sorted(path.rglob("*.parquet"), key=by_split) if sounds_inside and path.is_dir() else [path]
    names = FolderIndex(path).columns(Path(path.name)) if detected.format == "csv" else ()
    file = first_of(names, FILE_NAMES) or "file"
    columns = {} if file == "file" else {"file": file}
    frame, root = _read(detected, shards[0], columns)
    inferred = InferredColumns(frame.copy(), len(shards) > 1, columns)
    for ours, others in SYNONYMS.items():
        if ours not in frame and (theirs := first_of(frame, (ours, *others))):
            inferred.columns[ours] = theirs
            inferred.frame[ours] = frame[theirs]
    _find_numbers(inferred)
    _find_classes(inferred)
    frame = inferred.frame
    if "transcript" in frame:
        inferred.tasks["transcript"] = BUILTIN["transcript"]
    speakers = without_nobody(frame["speaker"])[0].nunique() if "speaker" in frame else 0
    if not inferred.tasks and speakers > 1:
        inferred.tasks["embedding"] = BUILTIN["embedding"]
    if "split" in frame:
        inferred.splits = frame["split"].fillna("").value_counts().sort_index().to_dict()
    _find_groups(inferred)
    if not sounds_inside:
        _find_audio(inferred, root, data)
    return inferred


def _read(detected: DetectedFormat, path: Path, columns: dict[str, str]) -> tuple[pd.DataFrame, Path]:
    """Read with the format's reader, all columns that it offers; gives what files are relative to, too."""
    form = CORPUS_FORMATS[detected.format]
    fields = {field.name for field in dataclasses.fields(CorpusEntry)}
    options = {name: field.default for name, field in form.keys.model_fields.items() if name not in fields}
    options |= detected.keys
    audio = detected.format != "parquet"  # whose sounds would have to be written to files before
    split = None if audio else (ALL,)  # of shards only the first file is read
    entry = CorpusEntry(
        *("data", detected.format, path, detected.path.name, columns),
        split=split,
        options=options,
        audio=audio,
    )
    entry = form.complete(entry)
    raw = form.read(entry, BUILTIN)
    offered = tuple(name for name in raw.offered if name not in raw.table)
    if offered:
        raw = form.read(dataclasses.replace(entry, blocks=offered), BUILTIN)
    raw = prepare(raw, entry, form.values).raw
    table = raw.table.astype(object).reset_index(drop=True)
    table = table.where(table.notna() & table.ne(""), None)
    return table.dropna(axis="columns", how="all"), raw.root or path.parent


def _find_numbers(inferred: InferredColumns) -> None:
    """Find labels that are numbers, and guess their scale."""
    frame = inferred.frame
    for name in [*(task.name for task in BUILTIN.values() if task.is_regression), *RATINGS]:
        theirs = first_of(frame, [name])
        if not theirs or (name in RATINGS and not _NAME.fullmatch(theirs)):
            continue
        numbers = pd.to_numeric(frame[theirs].dropna(), errors="coerce")
        if not numbers.abs().lt(math.inf).all():
            continue
        scale = likely_scale(numbers)
        if name in BUILTIN:
            inferred.tasks[name] = BUILTIN[name]
            inferred.columns |= {name: theirs} if name != theirs else {}
            inferred.ranges |= {name: scale} if scale != (0, 1) else {}
        elif numbers.nunique() > 1:
            inferred.tasks[theirs] = Task(theirs, REGRESSION, (), *scale)
        frame[name] = frame[theirs]


def likely_scale(numbers: pd.Series) -> tuple[float, float]:
    """Guess on which scale numbers are: a usual one that they fit, else from the lowest to the highest."""
    low, high = float(numbers.min()), float(numbers.max())
    around = (scale for scale in USUAL if scale[0] <= low and high <= scale[1])
    usual = [*usual_scales(numbers.dropna().to_numpy()), *around]
    return usual[0] if usual else (math.floor(low), math.ceil(high))


def _find_classes(inferred: InferredColumns) -> None:
    """Find a column of classes: the four emotions under any name, or others, a task of their own."""
    frame = inferred.frame
    for name in CLASSES:
        theirs = first_of(frame, [name])
        if not theirs or theirs in inferred.tasks or theirs in inferred.columns.values():
            continue
        labels = sorted(frame[theirs].dropna().unique())
        numbers = pd.to_numeric(pd.Series(labels), errors="coerce").notna().all()
        if not 2 <= len(labels) <= MOST_CLASSES or numbers:
            continue
        if all(SPEAKER.fullmatch(label) for label in labels):
            if "speaker" not in frame:
                inferred.columns["speaker"], frame["speaker"] = theirs, frame[theirs]
            continue
        if len(labels) > MANY_NUMBERS and frame[theirs].count() < FEW_ROWS * len(labels):
            continue
        known = meanings(labels, EMOTION)
        means = {label: label if label in EMOTION else known.get(label, "") for label in labels}
        if all(means.values()) and len({*means.values()}) > 1:
            task = BUILTIN["emotion"]
            mapped = {label: meaning for label, meaning in means.items() if label != meaning}
            inferred.values |= {task.name: mapped} if mapped else {}
            frame[task.name] = frame[theirs].map(means, na_action="ignore")
        else:
            new_task = "feeling" if "emo" in name or any(means.values()) else f"own_{name}"
            task = Task(new_task, CLASSIFICATION, tuple(labels))
            frame[task.name] = frame[theirs]
        inferred.tasks[task.name] = task
        inferred.columns |= {task.name: theirs} if task.name != theirs else {}
        return


def _find_groups(inferred: InferredColumns) -> None:
    """Find columns with a few values that nothing else is made of."""
    frame = inferred.frame
    ours = {*RESERVED_COLUMNS, *BUILTIN, *UNUSABLE, *MEASURED_COLUMNS}
    used = {*ours, *inferred.tasks, *inferred.columns.values()}
    same = [frame[name] for name in frame if name in ours]  # under the names of their format, too
    used |= {theirs for name, others in SYNONYMS.items() if name in frame for theirs in others}
    for name in frame:
        if name in used or not _NAME.fullmatch(str(name)) or len(inferred.groups) == MOST_GROUPS:
            continue
        if any(frame[name].equals(other) for other in same):
            continue
        counts, numbers = frame[name].value_counts(), pd.to_numeric(frame[name].dropna(), errors="coerce")
        if len(counts) > MANY_NUMBERS and numbers.notna().all():
            if str(name).lower() == "age":
                border = float(numbers.median())  # of two ranges with about as many rows
                low, high = math.floor(numbers.min()), math.ceil(numbers.max())
                halves = {f"up to {border:g}": [low, border], f"above {border:g}": [border, high]}
                inferred.groups.append({name: halves})
        elif GROUP_VALUES[0] <= len(counts) <= GROUP_VALUES[1] and counts.iloc[-1] > 1:
            inferred.groups.append(str(name))


def _find_audio(inferred: InferredColumns, root: Path, data: Path) -> None:
    """Look for the first files; if they are named by the paths of another machine, for the ends of paths."""
    names = inferred.frame.get("file", pd.Series()).dropna().unique()[:FIRST_FILES]
    if any(_is_below(root, name) for name in names):
        return
    index = FolderIndex(data if data.is_dir() else data.parent)
    for base in dict.fromkeys([root, index.root, *(index.root / path.parent for path in index.audio)]):
        beginnings = collections.Counter(_beginning(base, name) for name in names)
        for beginning, count in beginnings.items():
            # Most of them: a few files of the same name lie in many folders.
            if beginning is not None and 2 * count > len(names):
                inferred.root, inferred.cut = (None if base == root else base), beginning
                return
    inferred.audio = False


def _is_below(root: Path, name: str) -> bool:
    return not os.path.isabs(name) and (root / name).is_file()


def _beginning(base: Path, name: str) -> str | None:
    """Find what has to be cut from the beginning of a name so that the rest is a file below a folder."""
    parts = name.replace("\\", "/").split("/")
    for first in range(len(parts)):
        rest = "/".join(parts[first:])
        if rest and _is_below(base, rest) and ".." not in parts:
            return name[: len(name) - len(rest)]
    return None
