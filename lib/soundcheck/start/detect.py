"""Detects in which format data lie in a folder, without reading much of it: names, first lines, columns.

Each format has something that no other one has: a file of a certain name, keys of its first line, names of
columns. What is special comes first, what holds for any table later, and a folder of recordings last. What
columns are called in tables of other people stands in ``column_names.csv``, the most likely first.

Folders of data hold millions of files, so only so many are looked at, and of a file only its beginning.
Links are followed only if they stay inside. Nothing is executed.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import gzip
import itertools
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from soundcheck.common.files import MARKER, inside
from soundcheck.common.messages import InputError, input_error, quoted
from soundcheck.corpora import splits
from soundcheck.corpora.formats.tables import HEADER, only_flavour
from soundcheck.corpora.splits import DEV, EVAL, TEST, TRAIN, split_class
from soundcheck.suite.corpus_format import CORPUS_FORMATS

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
            import pyarrow.lib
            import pyarrow.parquet

            try:
                schema = pyarrow.parquet.read_schema(self.root / path)
            except (OSError, pyarrow.lib.ArrowException):
                return {}
            return dict(zip(schema.names, schema.types, strict=True))
        first = [line[: HEAD_BYTES // 4] for line in self.lines(path, 1)]  # the reader refuses longer cells
        cells = next(csv.reader(first, delimiter=max(",;\t", key="".join(first).count)), [])
        return dict.fromkeys(cell.strip() for cell in cells)

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
        try:
            value = json.loads("".join(self.lines(path, 1)) or "null")
        except ValueError:
            return set()
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
        detected = DetectedFormat(keyword, path, f"{path.name}: {sought}", tuple(others))
        if keyword == "emobox" and not any(path.glob("*.jsonl")):
            return dataclasses.replace(detected, keys={"fold": 1})
        if keyword == "nemo":
            predicted = sorted(index.with_keys("audio_filepath", "pred_text"), key=by_split)
            return dataclasses.replace(detected, predictions=tuple(index.root / name for name in predicted))
        return detected
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

    kinds = [index.columns(path).get("audio") for path in index.ending(".parquet")[:20]]
    structs = [kind for kind in kinds if kind is not None and types.is_struct(kind)]
    binary = [
        kind for kind in kinds if kind is not None and (types.is_binary(kind) or types.is_large_binary(kind))
    ]
    return ROOT if binary or any(kind.get_field_index("bytes") >= 0 for kind in structs) else []


def _metadata(index: FolderIndex) -> Iterable[Path]:
    files = [path for path in index.others if path.stem == "metadata"]
    names = [{*index.columns(path), *index.keys(path)} for path in files]
    return ROOT if any("file_name" in name for name in names) else []


def _table(index: FolderIndex) -> Iterable[Path]:
    tables = index.ending(".csv", ".tsv") + index.ending(".parquet")
    return [path for path in tables if {name.lower() for name in index.columns(path)} & {*FILE_NAMES}]


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
