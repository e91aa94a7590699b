"""Recognises in which format data lie in a folder.

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
from soundcheck.start.listing import AUDIO, Listing, by_split
from soundcheck.suite.corpus_format import CORPUS_FORMATS

_TRIAL = re.compile(r"([01]\s+\S+\s+\S+|\S+\s+\S+\s+(target|nontarget))\s*")
_JSON_LINES = (".jsonl", ".json", ".jsonl.gz")


@dataclasses.dataclass(frozen=True)
class Found:
    """Data that were recognised."""

    format: str  # keyword of the format
    path: Path  # what ``path:`` names, absolute
    why: str  # what it was recognised by
    others: tuple[Path, ...] = ()  # what could have been named as well
    # Further keys that the format needs here
    keys: dict[str, object] = dataclasses.field(default_factory=dict)
    answers: tuple[Path, ...] = ()  # files with answers of models, absolute


def recognise(place: Path) -> Found:
    """Find out in which format data are.

    Raises InputError: if there is nothing, or nothing that a format is known for; says what was looked for.
    """
    if not place.exists():
        raise input_error(f"--data {quoted(str(place))}", "it does not exist", "Name a folder or a file")
    place = place.parent if place.name == HEADER else place
    listing = Listing(place)
    for keyword, (_, find) in FORMATS.items():
        if keyword.split()[0] not in CORPUS_FORMATS:
            continue
        found = find(listing)
        if found is not None:
            return dataclasses.replace(found, format=keyword.split()[0])
    looked = "; ".join(f"{keyword}: {what}" for keyword, (what, _) in FORMATS.items())
    what = f"no format is recognised among {len(listing.others) + len(listing.audio)} files"
    remedy = f"Looked for {looked}. Write a table with a column file, and name it"
    raise input_error(f"--data {quoted(place.name)}", what, remedy)


def _first(listing: Listing, paths: Iterable[Path], why: str) -> Found | None:
    """Take the most likely one."""
    ordered = sorted(paths, key=by_split)
    if not ordered:
        return None
    places = [listing.root / path for path in ordered]
    return Found("", places[0], f"{ordered[0].name}: {why}", tuple(places[1:]))


def _audformat(listing: Listing) -> Found | None:
    folder = only_flavour(listing.root)
    return Found("", listing.root, HEADER) if (folder / HEADER).is_file() else None


def _kaldi(listing: Listing) -> Found | None:
    folders = [path.parent for path in listing.others if path.name == "wav.scp"]
    return _first(listing, folders, "a folder with wav.scp")


def _commonvoice(listing: Listing) -> Found | None:
    wanted = {"client_id", "path", "sentence"}
    tables = [path for path in listing.named(".tsv") if wanted <= {*listing.header(path)}]
    return _first(listing, tables, "columns client_id, path and sentence")


def _with_keys(*wanted: str) -> Callable[[Listing], list[Path]]:
    return lambda listing: [
        path for path in listing.named(*_JSON_LINES)[:200] if {*wanted} <= listing.keys(path)
    ]


def _emobox(listing: Listing) -> Found | None:
    lists = _with_keys("key", "wav", "emo")(listing)
    maps = [path for path in listing.others if path.name == "label_map.json"]
    if not lists:
        return None
    near = maps or [path.parent.parent / "x" if "fold" in path.parent.name else path for path in lists]
    found = _first(listing, {path.parent for path in near}, "lists with key, wav and emo")
    folds = found is not None and not any(found.path.glob("*.jsonl"))
    return dataclasses.replace(found, keys={"fold": 1}) if folds else found


def _lhotse(listing: Listing) -> Found | None:
    return _first(listing, _with_keys("recording", "supervisions")(listing), "recording and supervisions")


def _nemo(listing: Listing) -> Found | None:
    lists = _with_keys("audio_filepath")(listing)
    answers = [path for path in lists if "pred_text" in listing.keys(path)]  # often beside what was said
    manifests = [path for path in lists if path not in answers] or lists
    found = _first(listing, manifests, "audio_filepath on each line")
    places = tuple(listing.root / path for path in sorted(answers, key=by_split))
    return dataclasses.replace(found, answers=places) if found is not None else None


def _parquet(listing: Listing) -> Found | None:
    import pyarrow.lib
    import pyarrow.parquet

    for path in listing.named(".parquet")[:20]:
        try:
            kind = pyarrow.parquet.read_schema(listing.root / path).field("audio").type
        except (KeyError, OSError, pyarrow.lib.ArrowException):
            continue
        struct = pyarrow.types.is_struct(kind) and kind.get_field_index("bytes") >= 0
        if struct or pyarrow.types.is_binary(kind) or pyarrow.types.is_large_binary(kind):
            return Found("", listing.root, f"{path.name}: a column audio with sound")
    return None


def _speechbrain(listing: Listing) -> Found | None:
    tables = [path for path in listing.named(".csv") if {"ID", "wav"} <= {*listing.header(path)}]
    return _first(listing, tables, "columns ID and wav")


def _metadata(listing: Listing) -> Found | None:
    for path in listing.others:
        if path.stem != "metadata":
            continue
        inside = path.suffix == ".csv" and "file_name" in listing.header(path)
        if inside or "file_name" in listing.keys(path) or path.suffix == ".parquet":
            return Found("", listing.root, f"{path.as_posix()} with file_name")
    return None


def _table(listing: Listing) -> Found | None:
    tables = [path for path in listing.named(".csv", ".tsv") if _file_column(listing.header(path))]
    tables += [path for path in listing.named(".parquet") if _file_column(_parquet_columns(listing, path))]
    return _first(listing, tables, "a column of files")


def _file_column(columns: Iterable[str]) -> bool:
    return any(name.strip().lower() in FILE_NAMES for name in columns)


def _parquet_columns(listing: Listing, path: Path) -> list[str]:
    import pyarrow.lib
    import pyarrow.parquet

    try:
        return pyarrow.parquet.read_schema(listing.root / path).names
    except (OSError, pyarrow.lib.ArrowException):
        return []


def _trials(listing: Listing) -> Found | None:
    lists = []
    for path in listing.others[:200]:
        lines = listing.lines(path, 10) if path.suffix.lower() in ("", ".txt", ".trl", ".lst") else []
        if lines and all(_TRIAL.fullmatch(line) for line in lines):
            lists.append(path)
    return _first(listing, lists, "lines of two recordings and whether it is one speaker")


def _recordings(listing: Listing) -> Found | None:
    if not listing.audio:
        return None
    return Found("", listing.root, f"audio files in folders, such as {listing.audio[0].as_posix()}")


# Keyword of the format, perhaps with a word for one of its layouts -> what is looked for, and how.
FORMATS: dict[str, tuple[str, Callable[[Listing], Found | None]]] = {
    "audformat": (HEADER, _audformat),
    "kaldi": ("wav.scp", _kaldi),
    "commonvoice": ("a .tsv with client_id, path, sentence", _commonvoice),
    "emobox": ("JSON lines with key, wav, emo", _emobox),
    "lhotse": ("cuts in .jsonl or .jsonl.gz", _lhotse),
    "nemo": ("JSON lines with audio_filepath", _nemo),
    "parquet": (".parquet with a column audio", _parquet),
    "speechbrain": ("a .csv with ID and wav", _speechbrain),
    "audiofolder with metadata": ("metadata.csv, .jsonl or .parquet with file_name", _metadata),
    "csv": ("a .csv or .parquet with a column such as file or path", _table),
    "trials": ("lines such as `1 a.wav b.wav`", _trials),
    "audiofolder": (f"audio files ({', '.join(AUDIO[:4])}, ...)", _recordings),
}
