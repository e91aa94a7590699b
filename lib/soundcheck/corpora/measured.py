"""Measured columns: what the sound itself tells about each segment, beside what the table says.

A family asks for a measured column by ``measured:`` in its threshold file, a suite by ``groups:`` and
``adjust:``. It is computed once for each sound, whatever models and families look at it, and stands in the
segment table like a column of the data.

Conventions
-----------
- Each sound is read once for all measures that are not known of it yet. What is known is kept by the content
  of the sound, in a file for each measure; a change of a measure's code forgets that measure only.
- What cannot be measured is NaN. Sounds that can no longer be read are not remembered.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import soundfile
from pandas.api.types import is_numeric_dtype

from soundcheck.common import files, store
from soundcheck.common.errors import InputError, Problems
from soundcheck.common.progress import Progress
from soundcheck.common.text_table import parse_number
from soundcheck.corpora import audio
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.measures import KEPT, MEASURES, frames, networks, pitch

__all__ = ["MEASURES", "check_installed", "listened", "measure"]

BATCH = 50  # sounds that are worth another process


def check_installed(names: Iterable[str]) -> None:
    """Refuse measures whose networks are not installed, all at once.

    - ``names``: names of :data:`MEASURES`.
    - Raises InputError: if a package is missing; says how to install it.
    """
    problems = Problems()
    for name in dict.fromkeys(names):
        if package := MEASURES[name].package:
            try:
                networks.check_network(package, MEASURES[name].extra, f"measured column {name}")
            except InputError as error:
                problems.extend(error)
    problems.raise_if_any()


def measure(
    corpus: Corpus, names: Sequence[str], cache: Path, jobs: int = 1, progress: bool = False
) -> Corpus:
    """Add measured columns to a corpus.

    - ``names``: names of :data:`MEASURES`. A column of this name that the data bring is kept: its numbers are
      used if all its cells are numbers, else it stays a column of words. A notice tells which.
    - ``cache``: folder that keeps what was measured, by the content of the sound.
    - ``progress``: whether to tell how far it is.
    - With the columns in float64; all NaN if the corpus has no audio.
    """
    table, notices = corpus.segments, list(corpus.notices)
    wanted = [name for name in dict.fromkeys(names) if name not in table.columns]
    for name in sorted({*names} & {*table.columns} - {"duration"}):  # which every table has
        column, told = _brought(table[name])
        table = table.assign(**{name: column})
        notices.append(f"the corpus has a column {name} of its own, {told}; nothing was measured for it")
    known: dict[str, dict] = {name: {} for name in wanted}
    if corpus.entry.audio and wanted:
        known, unreadable = listened(corpus, wanted, cache, jobs, progress)
        if unreadable:
            notices.append(f"{unreadable} sounds could not be read again when they were to be measured")
    columns = {name: table["audio"].map(known[name]).astype(np.float64) for name in wanted}
    table = table.assign(**columns)
    return dataclasses.replace(corpus, segments=table, notices=tuple(notices))


def _brought(column: pd.Series) -> tuple[pd.Series, str]:
    """Read a column of the data as numbers if it holds nothing else."""
    if is_numeric_dtype(column):
        return column, "whose numbers are used"
    there = column.dropna()
    try:
        numbers = there.map(lambda text: parse_number(text.strip()))
    except ValueError:
        return column, "whose words are used"
    return numbers.astype(np.float64).reindex(column.index), "whose numbers are used"


def listened(
    corpus: Corpus, names: Sequence[str], cache: Path, jobs: int = 1, progress: bool = False
) -> tuple[dict[str, dict[str, float | str | None]], int]:
    """Find what is known of sounds and measure the rest, without adding columns.

    - ``corpus``: whose segments. What is kept under its name is all that is kept: a part of a corpus needs
      another one.
    - ``names``: of :data:`soundcheck.corpora.measures.KEPT`.
    - ``cache, jobs, progress``: see :func:`measure`.
    - Returns name -> digest of the sound -> what was measured, ``None`` for nothing; and how many sounds
      could not be read.
    """
    paths = {name: cache / "measured" / f"{files.slug(corpus.name)}-{name}.json" for name in names}
    versions = {name: _version(name) for name in names}
    known = {name: store.read(paths[name], versions[name]) or {} for name in names}
    sounds = corpus.segments.drop_duplicates("audio").set_index("audio")
    missing = {key: [name for name in names if key not in known[name]] for key in sounds.index}
    todo = {key: some for key, some in missing.items() if some}
    unreadable = 0
    try:
        for key, values in _running(corpus, sounds, todo, jobs, progress):
            unreadable += values is None
            for name, value in (values or {}).items():
                known[name][key] = None if value != value else value  # NaN
    finally:  # what was measured before an interruption need not be measured again
        for name in {name for some in todo.values() for name in some}:
            lasting = {key: known[name][key] for key in sounds.index if key in known[name]}
            store.write(paths[name], lasting, versions[name])
    return known, unreadable


def _running(
    corpus: Corpus, sounds: pd.DataFrame, todo: Mapping[str, list[str]], jobs: int, progress: bool
) -> Iterator[tuple[str, dict[str, float | str] | None]]:
    """Measure sounds one after the other, and tell how far it is."""
    if not todo:
        return iter(())
    from joblib import Parallel, delayed  # late: mostly nothing is new

    places = sounds.loc[list(todo), ["file", "start", "end"]].itertuples(index=False)
    found = Parallel(n_jobs=min(jobs, max(1, len(todo) // BATCH + 1)), return_as="generator")(
        delayed(_measure_one)(names, corpus.root / place.file, place.start, place.end)
        for names, place in zip(todo.values(), places, strict=True)
    )
    what = f"sounds of {corpus.name[:40]}"
    return zip(todo, Progress.over(found, "measuring", what, len(todo), shown=progress), strict=True)


def _measure_one(names: Sequence[str], path: Path, start: float, end: float) -> dict[str, float | str] | None:
    """Measure a sound; ``None`` if it cannot be read any more."""
    try:
        own, rate = audio.read_as_is(path, start, end)
    except (OSError, soundfile.LibsndfileError):
        return None
    heard = audio.centred(audio.resampled(own, rate)).astype(np.float32)
    values = {}
    for name in names:
        found = KEPT[name]
        values[name] = found(own, rate) if found.own_rate else found(heard, audio.SAMPLING_RATE)
    return values


def _version(name: str) -> str:
    """Give what a number depends on besides the sound: code of the measure and of reading, libraries."""
    found = KEPT[name]
    modules = (sys.modules[found.function.__module__], frames, pitch, audio)
    modules += (networks,) if found.package else ()
    packages = ("audresample", "soundfile", *found.libraries)
    versions = [f"{package} {importlib.metadata.version(package)}" for package in packages]
    return files.digest("\n".join([name, *versions, *(files.digest(Path(m.__file__)) for m in modules)]))
