"""Sounds that a suite brings: folders of recordings, audformat databases, the layouts of known collections.

Conventions
-----------
- A folder is searched for audio files, folders in it as well. Of an audformat database, a folder with
  ``db.yaml``, ``where`` may choose segments by the value of a column.
- A folder given as ``noise`` holds a folder for each kind, by our names or by those of MUSAN
  :cite:`snyder2015`: ``speech`` for babble, ``noise`` for environmental sounds, ``music``.
- Files that cannot be used are listed; a kind of which nothing is left is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import MARKER
from soundcheck.corpora.audio import AudioInfo
from soundcheck.corpora.formats.audformat import HEADER, only_flavour
from soundcheck.corpora.inspection import inspect_files
from soundcheck.corpora.segments import parse
from soundcheck.sounds import responses
from soundcheck.sounds.sound import BASE, OTHER, Sound, SoundSet
from soundcheck.suite.entries import NOISE_KINDS, RESPONSE_KINDS, CorpusEntry, SoundEntry, public_path

SUFFIXES = (".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff", ".aifc")
FOLDERS = {  # kind: what its folder may be called in a collection
    "babble": ("babble", "speech"),
    "coughing": ("coughing", "cough", "coughs"),
    "environmental": ("environmental", "environment", "noise"),
    "music": ("music",),
    "sneezing": ("sneezing", "sneeze", "sneezes"),
}
SHORTEST = 0.01  # seconds of a segment that can be heard


def read_sounds(
    entries: Mapping[str, SoundEntry], limit: float, cache: Path, *, jobs: int = 1, progress: bool = False
) -> dict[str, SoundSet]:
    """Read the recordings that a suite names.

    - ``entries``: by kind, or ``"noise"`` for a collection; a kind of its own comes before the collection.
    - ``limit``: seconds of the longest file that is read.
    - ``cache``: folder that keeps what is known about files.
    - ``jobs, progress``: processes; whether to show progress bars.
    - Returns kind -> sounds, of the kinds that there are recordings for.
    - Raises InputError: if a folder holds nothing that can be used; holds the problems of all.
    """
    problems = Problems()
    named = {kind: entry for kind, entry in entries.items() if kind != "noise"}
    if "noise" in entries:
        try:
            named = _kinds(entries["noise"]) | named
        except InputError as error:
            problems.extend(error)
    found = {}
    for kind, entry in sorted(named.items()):
        try:
            found[kind] = _read(kind, entry, limit, cache, jobs, progress)
        except InputError as error:
            problems.extend(error)
    problems.raise_if_any()
    return found


def _kinds(entry: SoundEntry) -> dict[str, SoundEntry]:
    """Find the folders of a collection."""
    entry = dataclasses.replace(entry, path=only_flavour(entry.path))
    try:
        there = {path.name.lower(): path for path in sorted(entry.path.iterdir()) if path.is_dir()}
    except OSError as error:
        what = f"{quoted(entry.shown_path)} cannot be read: {error.strerror or error}"
        raise input_error("sounds.noise", what, "Check the permissions") from error
    kinds = {}
    for kind in NOISE_KINDS:
        for name in FOLDERS[kind]:
            if name in there and kind not in kinds:
                shown = f"{entry.shown_path.rstrip('/')}/{there[name].name}"
                kinds[kind] = SoundEntry(kind, there[name], shown)
    if not kinds:
        known = ", ".join(name for names in FOLDERS.values() for name in names)
        what = f"{quoted(entry.shown_path)} has no folder for any kind of noise"
        raise input_error("sounds.noise", what, f"Known are {known}; or name each kind by itself")
    return kinds


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where a sound is: a file, perhaps a part of it."""

    file: str
    start: float = 0.0
    end: float = float("inf")


def _read(kind: str, entry: SoundEntry, limit: float, cache: Path, jobs: int, progress: bool) -> SoundSet:
    where = f"sounds.{kind}"
    entry = dataclasses.replace(entry, path=only_flavour(entry.path))
    database = (entry.path / HEADER).is_file()
    if entry.where and not database:
        raise input_error(f"{where}.where", "only audformat databases have columns", "Name the folder itself")
    if database and entry.where:
        places = _of_database(entry)
    else:
        places = [_Place(name) for name in _audio_files(entry.path)]
    if not places:
        what = f"there is no audio file in {quoted(entry.shown_path)}"
        raise input_error(where, what, f"Put recordings there: {', '.join(SUFFIXES[:5])}")
    names = list(dict.fromkeys(place.file for place in places))
    store = cache / "facts" / f"sounds-{kind}-{files.digest(str(entry.path))[:10]}.json"
    facts = inspect_files(
        entry.path, names, limit, store, jobs=jobs, progress=progress, title=f"sounds.{kind}"
    )
    measured = responses.measurements(entry.path, where, names) if kind in RESPONSE_KINDS else {}
    usable, left_out = [], []
    for place in places:
        fact = facts[place.file]
        problem = fact.problem
        if not problem and (kind not in RESPONSE_KINDS or place.file in measured):
            sound = _sound(kind, entry, place, fact)
            if sound.duration >= SHORTEST:
                usable.append(sound)
                continue
            problem = "the segment is too short"
        if problem:
            left_out.append((place.file, problem))
    if not usable:
        reasons = "; ".join(f"{quoted(name)}: {reason}" for name, reason in left_out[:3])
        raise input_error(where, f"no recording can be used ({reasons})", "Check the files")
    if kind in RESPONSE_KINDS:
        usable = _with_roles(kind, entry, measured, usable, left_out)
    usable.sort(key=lambda sound: (sound.name, sound.start))
    source = f"recordings of the suite, {public_path(entry.shown_path)}"
    return SoundSet(kind, tuple(usable), source, False, tuple(dict.fromkeys(left_out)))


def _sound(kind: str, entry: SoundEntry, place: _Place, fact: AudioInfo) -> Sound:
    end = min(place.end, fact.duration)
    return Sound(
        place.file,
        entry.path / place.file,
        duration=end - place.start,
        digest=files.digest(f"{fact.digest}|{place.start!r}|{end!r}"),
        start=place.start,
        channel=0 if kind in RESPONSE_KINDS else None,
    )


def _with_roles(
    kind: str,
    entry: SoundEntry,
    measured: Mapping[str, responses.Measurement],
    usable: list[Sound],
    left_out: list[tuple[str, str]],
) -> list[Sound]:
    """Say which impulse response is the base and which are compared with it."""
    where = f"sounds.{kind}"
    wanted = entry.base or responses.BASES[kind]
    base = responses.reference(measured, {sound.name for sound in usable}, wanted, f"{where}.base")
    found: list[Sound] = []
    for sound in usable:
        place = measured[sound.name]
        if kind == "rooms" and measured[base].distance and not place.distance:
            left_out.append((sound.name, "nothing tells at which distance it was measured"))
            continue
        role = OTHER
        if (
            place.label.casefold() == measured[base].label.casefold()
        ):  # of several segments of a file the first
            role = BASE if sound.name == base and all(other.role != BASE for other in found) else ""
        found.append(dataclasses.replace(sound, role=role, label=place.label, distance=place.distance))
    if OTHER not in {sound.role for sound in found}:
        raise input_error(where, "there is nothing to compare the base with", "Add other impulse responses")
    return found


def _audio_files(folder: Path) -> list[str]:
    """List the audio files below a folder.

    Not hidden ones, nor those behind links of folders, nor those that Soundcheck wrote into an output folder.
    """
    ours = {path.parent for path in folder.rglob(MARKER)}
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.suffix.lower() in SUFFIXES and not hidden and not path.is_dir():
            if ours.isdisjoint(path.parents):
                found.append(name.as_posix())
    return sorted(found)


def _of_database(entry: SoundEntry) -> list[_Place]:
    """List the segments of an audformat database with a wanted value of a column."""
    columns = {"item": next(iter(entry.where))}
    corpus = CorpusEntry(
        f"sounds.{entry.kind}",
        "audformat",
        entry.path,
        entry.shown_path,
        columns=columns,
        split=("all",),
        blocks=("file",),
    )
    where = f"sounds.{entry.kind}.where"
    try:
        from soundcheck.corpora.audformat_database import read_database  # late: few sounds need it

        table = parse(read_database(corpus, {}), corpus, {}).table
    except InputError as error:
        what = f"column {quoted(next(iter(entry.where)))} cannot be read from {entry.shown_path}"
        raise input_error(where, what, error.problems[0].what) from error
    for column, value in entry.where.items():
        known = sorted(set(table["item"].dropna()))
        table = table[table["item"] == value]
        if table.empty:
            what = f"no segment has {quoted(value)} in column {quoted(column)}"
            raise input_error(where, what, did_you_mean(value, known))
    start = table["start"].fillna(0.0).to_numpy(dtype=np.float64)
    end = table["end"].fillna(np.inf).to_numpy(dtype=np.float64)
    places = zip(table["file"], start, end, strict=True)
    return [_Place(file, float(first), float(last)) for file, first, last in places]
