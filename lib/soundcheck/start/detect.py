"""Detects in which format data lie in a folder.

Each format has something that no other one has: a file of a certain name, keys of its first line, names of
columns. What is special comes first, what holds for any table later, and a folder of recordings last.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted
from soundcheck.corpora.formats.audformat import HEADER, only_flavour
from soundcheck.start.column_names import FILE_NAMES
from soundcheck.start.folder_index import AUDIO, FolderIndex, by_split
from soundcheck.suite.corpus_format import CORPUS_FORMATS

_TRIAL = re.compile(r"([01]\s+\S+\s+\S+|\S+\s+\S+\s+(target|nontarget))\s*")


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
            return dataclasses.replace(detected, predictions=tuple(index.root / one for one in predicted))
        return detected
    sought = "; ".join(f"{name}: {what}" for name, (what, _) in FORMATS.items())
    what = f"no format is recognised among {len(index.others) + len(index.audio)} files"
    remedy = f"Looked for {sought}. Write a table with a column file, and name it"
    raise input_error(f"--data {quoted(place.name)}", what, remedy)


ROOT = [Path()]  # the folder itself is what ``path:`` names


def _audformat(index: FolderIndex) -> Iterable[Path]:
    return ROOT if (only_flavour(index.root) / HEADER).is_file() else []


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
    return ROOT if any("file_name" in one for one in names) else []


def _table(index: FolderIndex) -> Iterable[Path]:
    tables = index.ending(".csv", ".tsv") + index.ending(".parquet")
    return [path for path in tables if {name.lower() for name in index.columns(path)} & {*FILE_NAMES}]


def _trials(index: FolderIndex) -> Iterable[Path]:
    texts = [path for path in index.others[:200] if path.suffix.lower() in ("", ".txt", ".trl", ".lst")]
    heads = {path: index.lines(path, 10) for path in texts}
    return [path for path, lines in heads.items() if lines and all(map(_TRIAL.fullmatch, lines))]


# Keyword of the format, perhaps with a word for its layout -> what is looked for, and where it may be.
FORMATS: dict[str, tuple[str, Callable[[FolderIndex], Iterable[Path]]]] = {
    "audformat": (HEADER, _audformat),
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
