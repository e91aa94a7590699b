"""Detects in which format data lie in a folder, and infers what their columns are and what can be tested.

The format is found without reading much: names, first lines, columns.

Each format has something that no other one has: a file of a certain name, keys of its first line, names of
columns. What is special comes first, what holds for any table later, and a folder of recordings last. What
columns are called in tables of other people stands in ``column_names.csv``, the most likely first.

Folders of data hold millions of files, so only so many are looked at, and of a file only its beginning.
Links are followed only if they stay inside. Nothing is executed.
"""

from __future__ import annotations

import collections
import contextlib
import csv
import dataclasses
import functools
import gzip
import itertools
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pandas as pd

from soundcheck.common.files import MARKER, inside
from soundcheck.common.json_lines import json_or_none
from soundcheck.common.messages import InputError, input_error, quoted, some
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
from soundcheck.corpora import splits
from soundcheck.corpora.formats.tables import HEADER, only_flavour
from soundcheck.corpora.labels import WHO, without_nobody
from soundcheck.corpora.segments import prepare
from soundcheck.corpora.splits import ALL, DEV, EVAL, TEST, TRAIN, split_class
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import CORPUS_FORMATS, MEASURED_COLUMNS, RESERVED_COLUMNS, UNUSABLE
from soundcheck.suite.entries import CorpusEntry

with Path(__file__).with_name("column_names.csv").open(encoding="utf-8", newline="") as _file:
    _NAMES = {row["kind"]: tuple(row["names"].split()) for row in csv.DictReader(_file)}

FILE_NAMES = _NAMES.pop("file")  # of the column with the audio files in tables of all kinds
RATINGS = _NAMES.pop("ratings")  # of numbers that a task of its own may be made of
CLASSES = _NAMES.pop("classes")  # of words that a task may be made of
SYNONYMS = _NAMES | {"split": splits.COLUMNS}  # our column -> what else it may be called


def first_of(columns: Iterable[str], names: Iterable[str]) -> str:
    """Find the column with the first of some names, which are in lower case; empty if there is none."""
    lower = {str(name).strip().lower(): name for name in reversed(list(columns))}
    return next((lower[name] for name in names if name in lower), "")


AUDIO = (".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".aif", ".aiff", ".aifc", ".sph")
TABLES = (".csv", ".tsv", ".parquet")
MOST_ENTRIES = 200_000  # of folders that are looked at
MOST_AUDIO = 500  # names of audio files that are listed
MOST_TABLES = 2000  # names of other files that are listed
HEAD_BYTES = 2**18  # of a file that are read
_SKIPPED = ("__pycache__", "node_modules")
_ORDER = (TEST, EVAL, DEV, "", TRAIN)
_TRIAL = re.compile(r"([01]\s+\S+\s+\S+|\S+\s+\S+\s+(target|nontarget))\s*")


def by_split(path: Path) -> tuple[int, int, str]:
    """Order files by how likely they are what models are tested on: test sets first, training data last."""
    return _ORDER.index(split_class(path.stem)), len(path.parts), path.as_posix()


class FolderIndex:
    """Files of a folder, relative to it, or a single file."""

    def __init__(self, place: Path) -> None:
        self.root = place if place.is_dir() else place.parent
        paths = list(self._walk() if place.is_dir() else [Path(place.name)])
        self.audio = [path for path in paths if path.suffix.lower() in AUDIO][:MOST_AUDIO]
        others = [path for path in paths if path.suffix.lower() not in AUDIO][:MOST_TABLES]
        self.others = sorted(others, key=lambda path: (len(path.parts), path.as_posix()))

    def _walk(self) -> Iterator[Path]:
        """List files, those near the top first."""
        left, folders = MOST_ENTRIES, [Path()]
        for folder in folders:  # which grows
            if left <= 0:
                return
            try:
                with os.scandir(self.root / folder) as entries:
                    listed = sorted(itertools.islice(entries, left), key=lambda entry: entry.name)
            except OSError:
                continue
            left -= len(listed)
            if any(entry.name == MARKER for entry in listed):
                continue  # written by Soundcheck
            for entry in listed:
                path = folder / entry.name
                if entry.name.startswith(".") or entry.name in _SKIPPED:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                    continue
                with contextlib.suppress(InputError, OSError):
                    if entry.is_file(follow_symlinks=False) or inside(self.root, path).is_file():
                        yield path

    def lines(self, path: Path, most: int = 20) -> list[str]:
        """Read the first lines of a text file, unzipped if it is zipped; none if it is no text."""
        try:
            with (gzip.open if path.name.endswith(".gz") else open)(self.root / path, "rb") as file:
                content = file.read(HEAD_BYTES)
        except (OSError, EOFError, zlib.error):
            return []
        lines = [] if b"\0" in content else content.decode("utf-8-sig", "replace").splitlines()
        if len(content) == HEAD_BYTES and len(lines) > 1:
            lines.pop()  # perhaps cut in the middle
        return [line for line in lines if line.strip()][:most]

    def columns(self, path: Path) -> dict[str, object]:
        """Read names of columns with their types: of Parquet, of tables of text, whose types are ``None``."""
        if path.suffix == ".parquet":
            import pyarrow.parquet

            try:
                schema = pyarrow.parquet.read_schema(self.root / path)
            except (OSError, pyarrow.ArrowException):
                return {}
            return dict(zip(schema.names, schema.types, strict=True))
        return dict.fromkeys(cell.strip() for row in self._rows(path, 1) for cell in row)

    def _rows(self, path: Path, most: int) -> Iterator[list[str]]:
        """Read the first rows of a table of text."""
        # The reader refuses longer cells.
        lines = [line[: HEAD_BYTES // 4] for line in self.lines(path, most)]
        return csv.reader(lines, delimiter=max(",;\t", key="".join(lines[:1]).count))

    def file_column(self, path: Path) -> str:
        """Find the column with the audio files: by its name, or the only one whose first cell names one."""
        names, cells = [*self._rows(path, 2), [], []][:2]
        audible = [name for name, cell in zip(names, cells, strict=False) if cell.lower().endswith(AUDIO)]
        return first_of(self.columns(path), FILE_NAMES) or (audible[0].strip() if len(audible) == 1 else "")

    def with_columns(self, ending: str, *names: str) -> list[Path]:
        """List the tables that have some columns."""
        return [path for path in self.ending(ending) if {*names} <= {*self.columns(path)}]

    def with_keys(self, *names: str) -> list[Path]:
        """List the files whose first line is a JSON object with some keys."""
        lists = self.ending(".jsonl", ".json", ".jsonl.gz")[:200]
        return [path for path in lists if {*names} <= self.keys(path)]

    def ending(self, *endings: str) -> list[Path]:
        """List files by how their names end."""
        return [path for path in self.others if path.name.lower().endswith(endings)]

    def keys(self, path: Path) -> set[str]:
        """Read the keys of the object on the first line of a file."""
        value = json_or_none("".join(self.lines(path, 1)))
        return set(value) if isinstance(value, dict) else set()


@dataclasses.dataclass(frozen=True)
class DetectedFormat:
    """Data whose format is known."""

    format: str  # keyword of the format
    path: Path  # what ``path:`` names, absolute
    why: str  # what it was recognised by
    others: tuple[Path, ...] = ()  # what could have been named as well
    # Further keys that the format needs here
    keys: dict[str, object] = dataclasses.field(default_factory=dict)
    predictions: tuple[Path, ...] = ()  # files with predictions of models, absolute


def detect_format(place: Path) -> DetectedFormat:
    """Find out in which format data are; InputError says what was looked for if none is known."""
    if not place.exists():
        raise input_error(f"--data {quoted(str(place))}", "it does not exist", "Name a folder or a file")
    index = FolderIndex(place.parent if place.name == HEADER else place)
    for name, (sought, candidates) in FORMATS.items():
        keyword = name.split()[0]
        paths = sorted(candidates(index), key=by_split) if keyword in CORPUS_FORMATS else []
        if not paths:
            continue
        path, *others = (index.root / path for path in paths)
        tables = [str(table) for table in index.ending(*TABLES)] if name == "audiofolder" else []
        unused = f"; no column of {some(tables, 3)} names them" if tables else ""
        predicted = index.with_keys("audio_filepath", "pred_text") if keyword == "nemo" else []
        return DetectedFormat(
            keyword,
            path,
            f"{path.name}: {sought}{unused}",
            tuple(others),
            {"fold": 1} if keyword == "emobox" and not any(path.glob("*.jsonl")) else {},
            tuple(index.root / name for name in sorted(predicted, key=by_split)),
        )
    sought = "; ".join(f"{name}: {what}" for name, (what, _) in FORMATS.items())
    what = f"no format is recognised among {len(index.others) + len(index.audio)} files"
    remedy = f"Looked for {sought}. Write a table with a column file, and name it"
    raise input_error(f"--data {quoted(place.name)}", what, remedy)


ROOT = [Path()]  # the folder itself is what ``path:`` names


def _emobox(index: FolderIndex) -> Iterable[Path]:
    lists = index.with_keys("key", "wav", "emo")
    maps = {path.parent for path in index.others if lists and path.name == "label_map.json"}
    return maps or {path.parents["fold" in path.parent.name] for path in lists}


def _nemo(index: FolderIndex) -> Iterable[Path]:
    lists = index.with_keys("audio_filepath")  # files of predictions often lie beside what was said
    return [path for path in lists if "pred_text" not in index.keys(path)] or lists


def _parquet(index: FolderIndex) -> Iterable[Path]:
    from pyarrow import types

    tables = [index.columns(path) for path in index.ending(".parquet")[:20]]
    kinds = [columns["audio"] for columns in tables if "audio" in columns]
    structs = [kind for kind in kinds if types.is_struct(kind)]
    binary = any(types.is_binary(kind) or types.is_large_binary(kind) for kind in kinds)
    return ROOT if binary or any(kind.get_field_index("bytes") >= 0 for kind in structs) else []


def _metadata(index: FolderIndex) -> Iterable[Path]:
    files = [path for path in index.others if path.stem == "metadata"]
    names = [{*index.columns(path), *index.keys(path)} for path in files]
    return ROOT if any("file_name" in name for name in names) else []


def _table(index: FolderIndex) -> Iterable[Path]:
    return [path for path in index.ending(*TABLES) if index.file_column(path)]


def _trials(index: FolderIndex) -> Iterable[Path]:
    texts = [path for path in index.others[:200] if path.suffix.lower() in ("", ".txt", ".trl", ".lst")]
    heads = {path: index.lines(path, 10) for path in texts}
    return [path for path, lines in heads.items() if lines and all(map(_TRIAL.fullmatch, lines))]


# Keyword of the format, perhaps with a word for its layout -> what is looked for, and where it may be.
FORMATS: dict[str, tuple[str, Callable[[FolderIndex], Iterable[Path]]]] = {
    "audformat": (HEADER, lambda index: ROOT if (only_flavour(index.root) / HEADER).is_file() else []),
    "kaldi": ("wav.scp", lambda index: {p.parent for p in index.others if p.name == "wav.scp"}),
    "commonvoice": (
        "a .tsv with client_id, path, sentence",
        lambda index: index.with_columns(".tsv", "client_id", "path", "sentence"),
    ),
    "emobox": ("JSON lines with key, wav, emo", _emobox),
    "lhotse": ("cuts in .jsonl or .jsonl.gz", lambda index: index.with_keys("recording", "supervisions")),
    "nemo": ("JSON lines with audio_filepath", _nemo),
    "parquet": (".parquet with a column audio", _parquet),
    "speechbrain": ("a .csv with ID and wav", lambda index: index.with_columns(".csv", "ID", "wav")),
    "audiofolder with metadata": ("metadata.csv, .jsonl or .parquet with file_name", _metadata),
    "csv": ("a .csv or .parquet with a column such as file or path", _table),
    "trials": ("lines such as `1 a.wav b.wav`", _trials),
    "audiofolder": (f"audio files ({', '.join(AUDIO[:4])}, ...)", lambda index: ROOT if index.audio else []),
}


# What columns are -------------------------------------------------------------------------------------------


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
    file = FolderIndex(path).file_column(Path(path.name)) if detected.format == "csv" else ""
    columns = {} if file in ("", "file") else {"file": file}
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
    audio = detected.format != "parquet"  # whose sounds would have to be written to files before
    split = None if audio else (ALL,)  # of shards only the first file is read
    named = {"name": "data", "format": detected.format, "path": path, "shown_path": detected.path.name}
    read = {"columns": columns, "split": split, "audio": audio}
    entry = form.complete(schema.entry(CorpusEntry, form.keys(**detected.keys), **named, **read))
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
        # They may lead out of the folder of the table, to sounds beside it.
        up = max(os.path.normpath(name).split("/").count("..") for name in names)
        inferred.root = root.joinpath(*up * [".."]) if up else None
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
    rests = ["/".join(parts[first:]) for first in range(len(parts))] if ".." not in parts else []
    beginnings = (name[: len(name) - len(rest)] for rest in rests if rest and _is_below(base, rest))
    return next(beginnings, None)
