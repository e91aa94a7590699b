"""The sound material of a suite: recordings that it names, and what other packages make for the rest.

Conventions
-----------
- A folder is searched for audio files, folders in it as well. Of an audformat database, a folder with
  ``db.yaml``, ``where`` may choose segments by the value of a column.
- A folder given as ``noise`` holds a folder for each kind, by our names or by those of MUSAN
  :cite:`snyder2015`: ``speech`` for babble, ``noise`` for environmental sounds, ``music``.
- Files that cannot be used are listed; a kind of which nothing is left is refused.
- Known file names of impulse responses are those of the Aachen impulse response database :cite:`jeub2009`,
  ``air_binaural_booth_0_3.wav`` and the like, and of the multichannel acoustic reverberation database at York
  :cite:`wen2006`, ``ir_2_R.wav``: 2 m, to the right; or ``ir_2_R_4.wav``: microphone 4 of it. For anything
  else a folder holds a table ``impulse_responses.csv`` with columns ``file`` and ``label`` and perhaps
  ``distance`` in metres, or a folder for each room or position.
- One response is the reference, the *base*; responses of other rooms or positions are compared with it.
- ``published_responses.csv`` has the known names as regular expressions, the first that matches counts;
  labels and distances may refer to their groups. Of the array of York the microphone 4 is used, others only
  where it is missing. The numbers in names of Aachen are those of the loader that comes with it; responses
  of its telephones have no distance.
"""

from __future__ import annotations

import csv
import dataclasses
import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from soundcheck.augment.sounds import BASE, OTHER, Sound, Sounds, SoundSet
from soundcheck.augment.sources import SOUND_SOURCES
from soundcheck.common import files
from soundcheck.common.files import MARKER
from soundcheck.common.messages import InputError, Problems, did_you_mean, input_error, quoted
from soundcheck.common.text_table import parse_number, read_text_table
from soundcheck.corpora.formats.tables import HEADER, only_flavour
from soundcheck.corpora.labels import Reading
from soundcheck.corpora.load import inspect_files
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
    limit = suite.audio_seconds
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
    measured = measurements(entry.path, where, names) if is_response else {}
    usable, left_out = [], []
    for name, start, end in segments:
        fact = facts[name]
        end = min(end, fact.duration)
        if not fact.problem and is_response and name not in measured:
            continue
        if fact.problem or end - start < SHORTEST:
            left_out.append((name, fact.problem or "the segment is too short"))
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
    entry: SoundEntry, measured: Mapping[str, Measurement], usable: list[Sound], left_out: list
) -> list[Sound]:
    """Say which impulse response is the base and which are compared with it."""
    kind, where = entry.kind, f"sounds.{entry.kind}"
    wanted = entry.base or BASES[kind]
    base = reference(measured, {sound.name for sound in usable}, wanted, f"{where}.base")
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
        path=entry.path,
        shown_path=entry.shown_path,
        columns={"item": column},
        split=("all",),
        blocks=("file",),
    )
    where = f"sounds.{entry.kind}.where"
    try:
        from soundcheck.corpora.audformat_database import read_database  # late: few sounds need it

        table = parse(Reading(read_database(corpus, {}), corpus), {}).table
    except InputError as error:
        what = f"column {quoted(column)} cannot be read from {entry.shown_path}"
        raise input_error(where, what, error.problems[0].what) from error
    chosen = table[table["item"] == value]
    if chosen.empty:
        what = f"no segment has {quoted(value)} in column {quoted(column)}"
        raise input_error(where, what, did_you_mean(value, sorted(set(table["item"].dropna()))))
    start, end = chosen["start"].fillna(0.0).astype(float), chosen["end"].fillna(math.inf).astype(float)
    return list(zip(chosen["file"], start.tolist(), end.tolist(), strict=True))


# Where impulse responses were measured, and which others are compared with

TABLE = "impulse_responses.csv"
BASES = {"positions": "centre 1 m", "rooms": "booth"}  # what the others are compared with, if nothing is said
PUBLISHED_BASE = "binaural_booth_0_3"  # how the name of the published base of rooms ends
SIMILAR = 1.5  # ratio of distances up to which they count as similar when a base is chosen


class Measurement(NamedTuple):
    """Where an impulse response was measured."""

    label: str
    distance: float = 0.0  # metres between mouth and microphone; 0 if unknown
    where: str = ""  # the row of the table that tells it, for messages; empty if no table does


def measurements(folder: Path, source: str, names: Sequence[str]) -> dict[str, Measurement]:
    """Tell where each impulse response of a folder was measured, by file.

    - ``source``: how messages call the folder.
    - ``names``: its audio files, relative to it. Those that stand for nothing (other microphones of an array)
      are missing in the result.
    - Raises InputError: if nothing tells what the files stand for, or the table is wrong.
    """
    if (folder / TABLE).exists():
        return _from_table(folder, source, names)
    with Path(__file__).with_name("published_responses.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    known: dict[str, dict[str, Measurement]] = {"yes": {}, "no": {}}  # by whether a name is preferred
    for name in names:
        for row in published:
            if match := re.fullmatch(row["pattern"], PurePosixPath(name).stem.lower()):
                distance = float(match.expand(row["distance"]))
                known[row["preferred"]][name] = Measurement(match.expand(row["label"]), distance)
                break
    if measured := known["yes"] or known["no"]:
        return measured
    folders = {name: PurePosixPath(name).parent.name for name in names}
    if len(set(folders.values())) > 1:
        return {name: Measurement(label) for name, label in folders.items() if label}
    remedy = f"Add a table {TABLE} with columns file and label, or use a folder for each"
    raise input_error(source, "nothing tells which room or position the impulse responses stand for", remedy)


def _from_table(folder: Path, source: str, names: Sequence[str]) -> dict[str, Measurement]:
    table = read_text_table(folder / TABLE, f"{source}/{TABLE}")
    problems = Problems()
    for column in ("file", "label"):
        if column not in table.columns:
            problems.add(f"{table.header}, column {column}", "the column is missing", "Add it")
    problems.raise_if_any()
    measured: dict[str, Measurement] = {}
    for row, (file, label) in enumerate(zip(table.columns["file"], table.columns["label"], strict=True)):
        where, distance = table.where(row), 0.0
        if file not in names:
            what = f"{quoted(file)} is not an audio file of this folder"
            problems.add(f"{where}, column file", what, "Correct the name or remove the row")
        elif file in measured:
            what = f"{quoted(file)} stands here a second time"
            problems.add(f"{where}, column file", what, "Remove one of the rows")
        elif not label.strip():
            problems.add(f"{where}, column label", "the cell is empty", "Name room or position")
        elif "distance" in table.columns:
            try:
                distance = _distance(table.columns["distance"][row].strip(), file)
            except ValueError as error:
                remedy = "Give the metres between mouth and microphone, such as 1.5, or remove the column"
                problems.add(f"{where}, column distance", str(error), remedy)
        measured[file] = Measurement(label.strip(), distance, where)
    problems.raise_if_any()
    return measured


def _distance(text: str, file: str) -> float:
    if not text:
        raise ValueError(f"{quoted(file)} has no distance")
    if (metres := parse_number(text)) > 0:
        return metres
    raise ValueError(f"{quoted(text)} is not a valid distance, it must be above 0")


def reference(measured: Mapping[str, Measurement], usable: Collection[str], base: str, source: str) -> str:
    """Choose the one response, a file, that others are compared with.

    If the base is a room or position with several responses, the published one is taken, else the one with
    the most other rooms at a similar distance, else the first by name.

    - ``usable``: files that can be read.
    - ``base``: a file, or a room or position in upper or lower case.
    - ``source``: how messages call the place where the base is named.
    - Raises InputError: if there is no such response, or if a table leaves open which of several it is.
    """
    same = [name for name, place in measured.items() if place.label.casefold() == base.casefold()]
    candidates = [base] if base in measured else same
    if not candidates:
        labels = sorted({place.label for place in measured.values()})
        raise input_error(source, f"no impulse response is called {quoted(base)}", did_you_mean(base, labels))
    candidates = [name for name in candidates if name in usable]
    if not candidates:
        raise input_error(source, f"no usable impulse response belongs to {quoted(base)}", "Check its files")

    def order(name: str) -> tuple[bool, int, str]:
        label, distance, _ = measured[name]
        similar = {
            place.label
            for place in measured.values()
            if place.label.casefold() != label.casefold()
            and distance
            and 1 / SIMILAR <= place.distance / distance <= SIMILAR
        }
        return not PurePosixPath(name).stem.lower().endswith(PUBLISHED_BASE), -len(similar), name

    chosen, *others = sorted(candidates, key=order)
    _, distance, _ = measured[chosen]
    for name in others:
        if measured[name].where and measured[name].distance == distance:
            at = f" at {distance:g} m" if distance else ""
            what = f"{quoted(base)} has two impulse responses{at}, {quoted(chosen)} and {quoted(name)}"
            remedy = "Only one can be the reference: remove a row, or name the file with base: in the suite"
            raise input_error(f"{measured[name].where}, column label", what, remedy)
    return chosen
