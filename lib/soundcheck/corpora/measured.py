"""Measured columns: what the sound itself tells about each segment, beside what the table says.

A family asks for a measured column by ``measured:`` in its threshold file, a suite by ``groups:`` and
``adjust:``. It is computed once for each sound, whatever models and families look at it, and stands in the
segment table like a column of the data. Where no test needs it of all sounds, a sample is measured.

- Each sound is read once for all measures that are not known of it yet. What is known is kept by the content
  of the sound, in a file for each measure; a change of a measure's code forgets that measure only.
- What cannot be measured is NaN. Sounds that can no longer be read are not remembered.
- Samples are drawn by the content of sounds: the same ones in any order of the table.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import soundfile
from pandas.api.types import is_numeric_dtype

from soundcheck.common import files
from soundcheck.common.errors import Problems
from soundcheck.common.progress import Progress
from soundcheck.common.store import JsonCache
from soundcheck.corpora import audio
from soundcheck.corpora.labels import as_numbers
from soundcheck.corpora.load import Corpus, identified, inspect_files
from soundcheck.corpora.measures import CACHED, FINGERPRINT, MEASURES, networks
from soundcheck.suite.groups import number_of, numbers_of

BATCH = 50  # sounds that are worth another process
SAMPLE_SOUNDS = 300
SAMPLE_SECONDS = 3600.0  # of sound in a sample; hour-long recordings are few
UNUSED_SEGMENTS = 20_000  # of splits that are not evaluated
UNUSED_BYTES = 2_400_000_000  # of their files, some 20 hours
LONGEST = 24 * 3600.0  # seconds of such a file


@dataclasses.dataclass(frozen=True)
class Measured:
    """What a measure gave."""

    values: np.ndarray  # one number a segment that could be measured, float64
    asked: int  # segments that were measured, with those that gave no number
    whole: bool  # whether these are all segments, and not a sample


def check_installed(names: Iterable[str]) -> None:
    """Refuse measures whose networks are not installed, all at once; says how to install them."""
    problems = Problems()
    for name in dict.fromkeys(names):
        if package := MEASURES[name].package:
            with problems.collected():
                networks.check_network(package, MEASURES[name].extra, f"measured column {name}")
    problems.raise_if_any()


def measure(
    corpus: Corpus, names: Sequence[str], cache: Path, jobs: int = 1, progress: bool = False
) -> Corpus:
    """Add measured columns to a corpus, float64; all NaN if it has no audio.

    A column of such a name that the data bring is kept: its numbers are used if all its cells are numbers,
    else it stays a column of words. A notice tells which.
    """
    table, notices = corpus.segments, list(corpus.notices)
    wanted = [name for name in dict.fromkeys(names) if name not in table.columns]
    for name in sorted({*names} & {*table.columns} - {"duration"}):  # which every table has
        numbers = as_numbers(table[name])
        table = table if numbers is None else table.assign(**{name: numbers})
        usage = f"whose {'words' if numbers is None else 'numbers'} are used"
        notices.append(f"the corpus has a column {name} of its own, {usage}; nothing was measured for it")
    known: dict[str, dict] = {name: {} for name in wanted}
    if corpus.entry.audio and wanted:
        known, unreadable = measured_values(corpus, wanted, cache, jobs, progress)
        if unreadable:
            notices.append(f"{unreadable} sounds could not be read again when they were to be measured")
    columns = {name: table["audio"].map(known[name]).astype(np.float64) for name in wanted}
    return dataclasses.replace(corpus, segments=table.assign(**columns), notices=tuple(notices))


def measured_values(
    corpus: Corpus, names: Sequence[str], cache: Path, jobs: int = 1, progress: bool = False
) -> tuple[dict[str, dict[str, float | str]], int]:
    """Find what is known of sounds and measure the rest, without adding columns.

    - ``corpus``: a part of one needs another name: what is cached under a name is of these segments only.
    - ``names``: of :data:`soundcheck.corpora.measures.CACHED`.
    - Returns name -> digest of the sound -> what was measured; and how many sounds could not be read.
    """
    folder, corpus_slug = cache / "measured", files.slug(corpus.name)
    known = {name: JsonCache(folder / f"{corpus_slug}-{name}.json", _version(name)) for name in names}
    sounds = corpus.segments.drop_duplicates("audio").set_index("audio")
    missing = {key: [name for name in names if known[name].get(key) is None] for key in sounds.index}
    todo = {key: unknown for key, unknown in missing.items() if unknown}
    unreadable = 0
    if todo:
        from joblib import Parallel, delayed  # late: mostly nothing is new

        places = sounds.loc[list(todo), ["file", "start", "end"]].itertuples(index=False)
        values = Parallel(n_jobs=min(jobs, max(1, len(todo) // BATCH + 1)), return_as="generator")(
            delayed(_measure_one)(unknown, corpus.root / place.file, place.start, place.end)
            for unknown, place in zip(todo.values(), places, strict=True)
        )
        what = f"sounds of {corpus.name[:40]}"
        values = Progress.over(values, "measuring", what, len(todo), visible=progress)
        try:
            for key, numbers in zip(todo, values, strict=True):
                unreadable += numbers is None
                for name, value in (numbers or {}).items():
                    known[name].put(key, value)
        finally:  # what was measured before an interruption need not be measured again
            for values_of_measure in known.values():
                values_of_measure.save()
    return {name: values_of_measure.used for name, values_of_measure in known.items()}, unreadable


def _measure_one(names: Sequence[str], path: Path, start: float, end: float) -> dict[str, float | str] | None:
    """Measure a sound; ``None`` if it cannot be read any more."""
    try:
        original, rate = audio.read_as_is(path, start, end)
    except (OSError, soundfile.LibsndfileError):
        return None
    signal = audio.centred(audio.resampled(original, rate)).astype(np.float32)
    inputs = {True: (original, rate), False: (signal, audio.SAMPLING_RATE)}
    return {name: CACHED[name](*inputs[CACHED[name].own_rate]) for name in names}


def _version(name: str) -> str:
    """Give what a number depends on besides the sound: code of the measure and of reading, libraries."""
    modules = (sys.modules[CACHED[name].function.__module__], audio)
    packages = ("audresample", "soundfile", *CACHED[name].libraries)
    versions = [f"{package} {importlib.metadata.version(package)}" for package in packages]
    return files.digest("\n".join([name, *versions, *(files.digest(Path(m.__file__)) for m in modules)]))


def measured_sounds(corpus: Corpus, names: Sequence[str], cache: Path) -> dict[str, Measured]:
    """Find what was measured on all segments, and measure the rest on a sample.

    Returns measures that gave a number, in the order of ``names``; none for a corpus without audio.
    """
    if not corpus.entry.audio:
        return {}
    table = corpus.segments
    known = [name for name in names if is_known(table, name)]
    sample = table if len(known) == len(names) else sampled(corpus, names, cache)
    measured = {}
    for name in names:
        source = table if name in known else sample
        values = numbers_of(source, name)
        if np.isfinite(values).any():
            measured[name] = Measured(values[np.isfinite(values)], len(values), len(source) == len(table))
    return measured


def sampled(corpus: Corpus, names: Sequence[str], cache: Path) -> pd.DataFrame:
    """Draw rows of the segment table, with what is not known of all of them measured."""
    sample = drawn(corpus.segments)
    rest = [name for name in names if not is_known(corpus.segments, name)]
    # What the data bring under the names of measures is theirs; here the sound is measured.
    bare = sample.drop(columns=[name for name in rest if name in sample])
    part = dataclasses.replace(corpus, name=f"{corpus.name} sample", segments=bare)
    return measure(part, rest, cache).segments


def is_known(table: pd.DataFrame, name: str) -> bool:
    """Say whether a column of numbers tells a measure of all segments."""
    return any(c in table and is_numeric_dtype(table[c]) for c in (name, number_of(name)))


def drawn(table: pd.DataFrame, most: int | None = None, seconds: float = SAMPLE_SECONDS) -> pd.DataFrame:
    """Draw at most so many sounds, each once, and seconds all together; one sound there always is."""
    sounds = table.drop_duplicates("audio")
    order = sounds["audio"].map(lambda audio: files.digest(f"sample {audio}")).sort_values().index
    chosen = sounds.loc[order[: SAMPLE_SOUNDS if most is None else most]]
    enough = chosen["duration"].fillna(0.0).cumsum().le(seconds)
    enough.iloc[:1] = True
    return chosen[enough].reset_index(drop=True)


def fingerprint_unused_splits(
    corpus: Corpus, cache: Path, jobs: int = 1
) -> tuple[pd.DataFrame, dict[str, float | str]]:
    """Listen to segments of the splits that are not evaluated, as far as copies of evaluated ones go.

    Loading a corpus does not open these files; of many some are read: whole files, drawn by their names.

    - Returns the segments that could be read, with ``duration`` and ``audio`` like those that are evaluated,
      and digest of the sound -> fingerprint.
    """
    rows = corpus.elsewhere
    counts = rows["file"].value_counts()
    names = sorted(counts.index, key=lambda name: files.digest(f"other split {name}"))
    sizes = [os.path.getsize(corpus.root / name) for name in names]
    few = (counts[names].cumsum().to_numpy() <= UNUSED_SEGMENTS) & (np.cumsum(sizes) <= UNUSED_BYTES)
    names = [name for name, wanted in zip(names, few, strict=True) if wanted]
    title = f"{corpus.name} other splits"
    place = cache / "facts" / f"{files.slug(title)}.json"
    facts = inspect_files(corpus.root, names, LONGEST, place, jobs=jobs, progress=True, title=title[:40])
    usable = {name: fact for name, fact in facts.items() if not fact.problem}
    rows = rows[rows["file"].isin(usable)]
    length = rows["file"].map({name: fact.duration for name, fact in usable.items()}).astype(np.float64)
    rows = rows.assign(duration=np.minimum(rows["end"].fillna(np.inf), length) - rows["start"].fillna(0.0))
    rows = rows[rows["duration"] > 0].reset_index(drop=True)
    rows = identified(rows, {name: fact.digest for name, fact in usable.items()})
    if rows.empty:
        return rows, {}
    part = dataclasses.replace(corpus, name=title, segments=rows)
    return rows, measured_values(part, (FINGERPRINT,), cache, jobs, progress=True)[0][FINGERPRINT]
