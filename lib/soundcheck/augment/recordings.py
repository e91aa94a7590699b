"""The sound material of a suite: recordings that it names, and what other packages make for the rest.

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
import math
from collections.abc import Collection, Mapping
from pathlib import Path

from soundcheck.augment import responses
from soundcheck.augment.sounds import BASE, OTHER, Sound, Sounds, SoundSet
from soundcheck.augment.sources import SOUND_SOURCES
from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import MARKER
from soundcheck.corpora.formats.audformat import HEADER, only_flavour
from soundcheck.corpora.inspection import inspect_files
from soundcheck.corpora.segments import parse
from soundcheck.suite.entries import (
    NOISE_KINDS,
    RESPONSE_KINDS,
    SPEECH_KINDS,
    CorpusEntry,
    SoundEntry,
    Suite,
    public_path,
)

SUFFIXES = (".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff", ".aifc")
FOLDERS = {  # kind: what its folder may be called in a collection
    "babble": ("babble", "speech"),
    "coughing": ("coughing", "cough", "coughs"),
    "environmental": ("environmental", "environment", "noise"),
    "music": ("music",),
    "sneezing": ("sneezing", "sneeze", "sneezes"),
}
SHORTEST = 0.01  # seconds of a segment that can be heard


def load_sounds(
    suite: Suite, kinds: Collection[str], cache: Path, *, jobs: int = 1, progress: bool = False
) -> Sounds:
    """Load the kinds of sounds that any transform needs, from the recordings of a suite or from a source.

    What the suite names is checked even if nothing needs it; speech in another language may be missing.

    - ``cache``: folder for synthesised sounds and for what is known about files.
    - ``jobs, progress``: processes; whether to show progress bars.
    - Raises InputError: if what the suite names cannot be used, or nobody has a kind.
    """
    limit = suite.audio_limit
    sets = read_sounds(suite.sounds, limit, cache, jobs=jobs, progress=progress)
    missing = {kind for kind in kinds if kind not in sets}
    for source in SOUND_SOURCES.values() if missing else ():
        made = {kind: text for kind, text in source.kinds().items() if kind in missing}
        if made:
            folder = source.make(cache, jobs=jobs, progress=progress)
            entries = {kind: SoundEntry(kind, folder / kind, kind) for kind in made}
            for kind, group in read_sounds(entries, limit, cache).items():
                sets[kind] = dataclasses.replace(group, source=made[kind], synthetic=True)
            missing -= set(made)
    missing -= set(SPEECH_KINDS)
    if missing:
        what = f"nobody has sounds of {', '.join(sorted(missing))}, which the families draw from"
        remedy = "Name folders with recordings, or install a package that makes such sounds (soundcheck_demo)"
        raise input_error(f"{suite.file.name}, sounds", what, f"{remedy}; or name other families")
    return Sounds({kind: sets[kind] for kind in sorted(sets) if kind in kinds})


def read_sounds(
    entries: Mapping[str, SoundEntry], limit: float, cache: Path, *, jobs: int = 1, progress: bool = False
) -> dict[str, SoundSet]:
    """Read the recordings that a suite names, by kind.

    - ``entries``: by kind, or ``"noise"`` for a collection; a kind of its own comes before the collection.
    - ``limit``: seconds of the longest file that is read.
    - Raises InputError: if a folder holds nothing that can be used; holds the problems of all.
    """
    problems, sets = Problems(), {}
    collection = _of_collection(entries["noise"], problems) if "noise" in entries else {}
    named = collection | {kind: entry for kind, entry in entries.items() if kind != "noise"}
    for kind, entry in sorted(named.items()):
        try:
            sets[kind] = _read(entry, limit, cache, jobs, progress)
        except InputError as error:
            problems.extend(error)
    problems.raise_if_any()
    return sets


def _of_collection(entry: SoundEntry, problems: Problems) -> dict[str, SoundEntry]:
    """Find the folders of a collection."""
    entry = dataclasses.replace(entry, path=only_flavour(entry.path))
    try:
        folders = {path.name.lower(): path for path in sorted(entry.path.iterdir()) if path.is_dir()}
    except OSError as error:
        what = f"{quoted(entry.shown_path)} cannot be read: {error.strerror or error}"
        problems.add("sounds.noise", what, "Check the permissions")
        return {}
    kinds = {}
    for kind in NOISE_KINDS:
        for folder in [folders[name] for name in FOLDERS[kind] if name in folders][:1]:
            kinds[kind] = SoundEntry(kind, folder, f"{entry.shown_path.rstrip('/')}/{folder.name}")
    if not kinds:
        names = ", ".join(name for names in FOLDERS.values() for name in names)
        what = f"{quoted(entry.shown_path)} has no folder for any kind of noise"
        problems.add("sounds.noise", what, f"Known are {names}; or name each kind by itself")
    return kinds


def _read(entry: SoundEntry, limit: float, cache: Path, jobs: int, progress: bool) -> SoundSet:
    kind, where = entry.kind, f"sounds.{entry.kind}"
    entry = dataclasses.replace(entry, path=only_flavour(entry.path))
    is_database = (entry.path / HEADER).is_file()
    if entry.where and not is_database:
        raise input_error(f"{where}.where", "only audformat databases have columns", "Name the folder itself")
    if entry.where:
        segments = _of_database(entry)
    else:
        segments = [(name, 0.0, math.inf) for name in _audio_files(entry.path)]
    if not segments:
        what = f"there is no audio file in {quoted(entry.shown_path)}"
        raise input_error(where, what, f"Put recordings there: {', '.join(SUFFIXES[:5])}")
    names = list(dict.fromkeys(name for name, *_ in segments))
    store = cache / "facts" / f"sounds-{kind}-{files.digest(str(entry.path))[:10]}.json"
    facts = inspect_files(entry.path, names, limit, store, jobs=jobs, progress=progress, title=where)
    is_response = kind in RESPONSE_KINDS
    measured = responses.measurements(entry.path, where, names) if is_response else {}
    usable, left_out = [], []
    for name, start, end in segments:
        fact, problem = facts[name], facts[name].problem
        end = min(end, fact.duration)
        if not problem and is_response and name not in measured:
            continue
        if not problem and end - start < SHORTEST:
            problem = "the segment is too short"
        if problem:
            left_out.append((name, problem))
            continue
        digest = files.digest(f"{fact.digest}|{start!r}|{end!r}")
        channel = 0 if is_response else None
        usable.append(Sound(name, entry.path / name, end - start, digest, start, channel))
    if not usable:
        reasons = "; ".join(f"{quoted(name)}: {reason}" for name, reason in left_out[:3])
        raise input_error(where, f"no recording can be used ({reasons})", "Check the files")
    if is_response:
        usable = _with_roles(entry, measured, usable, left_out)
    usable.sort(key=lambda sound: (sound.name, sound.start))
    source = f"recordings of the suite, {public_path(entry.shown_path)}"
    return SoundSet(kind, tuple(usable), source, False, tuple(dict.fromkeys(left_out)))


def _with_roles(
    entry: SoundEntry, measured: Mapping[str, responses.Measurement], usable: list[Sound], left_out: list
) -> list[Sound]:
    """Say which impulse response is the base and which are compared with it."""
    kind, where = entry.kind, f"sounds.{entry.kind}"
    wanted = entry.base or responses.BASES[kind]
    base = responses.reference(measured, {sound.name for sound in usable}, wanted, f"{where}.base")
    sounds: list[Sound] = []
    for sound in usable:
        label, distance, _ = measured[sound.name]
        if kind == "rooms" and measured[base].distance and not distance:
            left_out.append((sound.name, "nothing tells at which distance it was measured"))
            continue
        role = OTHER
        if label.casefold() == measured[base].label.casefold():  # of several segments of a file the first
            role = BASE if sound.name == base and all(other.role != BASE for other in sounds) else ""
        sounds.append(dataclasses.replace(sound, role=role, label=label, distance=distance))
    if OTHER not in {sound.role for sound in sounds}:
        raise input_error(where, "there is nothing to compare the base with", "Add other impulse responses")
    return sounds


def _audio_files(folder: Path) -> list[str]:
    """List the audio files below a folder.

    Not hidden ones, nor those behind links of folders, nor those that Soundcheck wrote into an output folder.
    """
    outputs = {path.parent for path in folder.rglob(MARKER)}
    names = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.suffix.lower() in SUFFIXES and not hidden and not path.is_dir():
            if outputs.isdisjoint(path.parents):
                names.append(name.as_posix())
    return sorted(names)


def _of_database(entry: SoundEntry) -> list[tuple[str, float, float]]:
    """List the segments of an audformat database with the wanted value of a column: file, start, end."""
    ((column, value),) = entry.where.items()
    corpus = CorpusEntry(
        f"sounds.{entry.kind}",
        "audformat",
        entry.path,
        entry.shown_path,
        columns={"item": column},
        split=("all",),
        blocks=("file",),
    )
    where = f"sounds.{entry.kind}.where"
    try:
        from soundcheck.corpora.audformat_database import read_database  # late: few sounds need it

        table = parse(read_database(corpus, {}), corpus, {}).table
    except InputError as error:
        what = f"column {quoted(column)} cannot be read from {entry.shown_path}"
        raise input_error(where, what, error.problems[0].what) from error
    chosen = table[table["item"] == value]
    if chosen.empty:
        what = f"no segment has {quoted(value)} in column {quoted(column)}"
        raise input_error(where, what, did_you_mean(value, sorted(set(table["item"].dropna()))))
    start, end = chosen["start"].fillna(0.0).astype(float), chosen["end"].fillna(math.inf).astype(float)
    return list(zip(chosen["file"], start.tolist(), end.tolist(), strict=True))
