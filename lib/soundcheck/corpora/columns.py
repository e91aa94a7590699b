"""Columns that are added to segment tables: what the sound itself tells about each segment, and groups.

A family asks for a measured column by ``measured:`` in its threshold file, a suite by ``groups:`` and
``adjust:``. It is computed once for each sound, whatever models and families look at it, and stands in the
segment table like a column of the data. Where no test needs it of all sounds, a sample is measured.

- Each sound is read once for all measures that are not known of it yet. What is known is kept by the content
  of the sound, in a file for each measure; a change of a measure's code forgets that measure only.
- What cannot be measured is NaN. Sounds that can no longer be read are not remembered.
- Samples are drawn by the content of sounds: the same ones in any order of the table.

Groups of a suite are words as they are, numbers in ranges, and products of two.

- A group column stands under its name, text, ``None`` where a segment is in no group. Numbers that were cut
  into ranges stand beside it, see :func:`soundcheck.suite.corpus_format.number_of`.
- A segment without a value, or outside of all ranges, is in no group; their number is reported.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import soundfile
from pandas.api.types import is_numeric_dtype

from soundcheck.common import files
from soundcheck.common.messages import Problems, counted, did_you_mean, quoted
from soundcheck.common.store import JsonCache
from soundcheck.corpora import audio
from soundcheck.corpora.labels import as_numbers
from soundcheck.corpora.load import Corpus, identified, in_parallel, inspect_files
from soundcheck.corpora.measures import networks, recording, voice
from soundcheck.corpora.repeats import fingerprint
from soundcheck.suite.corpus_format import BOTH, MEASURED_COLUMNS, OTHERS, NumberRange, number_of, numbers_of
from soundcheck.suite.entries import CorpusEntry, Suite
from soundcheck.suite.families import Family

# Measures ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Measure:
    """A measure; call it with a signal and its sampling rate."""

    function: Callable[[np.ndarray, int], float | str]
    title: str  # what it is called on pages
    unit: str
    noticeable: float  # smallest difference between groups that is worth a word
    own_rate: bool = False  # whether it wants the sampling rate of the file
    libraries: tuple[str, ...] = ()  # packages whose versions decide the number
    package: str = ""  # with the weights of its network; empty for other measures
    extra: str = ""  # that brings this package

    def __call__(self, signal: np.ndarray, sampling_rate: int) -> float | str:
        """Measure a signal."""
        return self.function(signal, sampling_rate)


MEASURES: dict[str, Measure] = {
    "signal_to_noise": Measure(recording.signal_to_noise, "signal-to-noise ratio", "dB", 3.0),
    "level": Measure(recording.level, "level", "dB", 3.0),
    "duration": Measure(recording.duration, "duration", "s", 0.5),
    "bandwidth": Measure(recording.bandwidth, "bandwidth", "Hz", 500.0),
    "clipping": Measure(recording.clipping, "clipped samples", "share", 0.001, own_rate=True),
    "silence": Measure(recording.silence, "silence", "share", 0.1),
    "pitch": Measure(voice.mean_pitch, "pitch", "Hz", 20.0, libraries=("praat-parselmouth",)),
    "speaking_rate": Measure(
        voice.speaking_rate, "speaking rate", "syllables a second", 0.5, libraries=("praat-parselmouth",)
    ),
    # Runtimes differ by less than what is rounded away, and have two names: the weights decide.
    "speech_share": Measure(
        networks.speech_share, "speech", "share", 0.1, package="silero_vad", extra="silero"
    ),
    "predicted_quality": Measure(
        networks.predicted_quality, "predicted quality", "1 to 5", 0.3, package="speechmos", extra="dnsmos"
    ),
}

FINGERPRINT = "fingerprint"  # kept like a measure, and no column: it is a text
CACHED = MEASURES | {FINGERPRINT: Measure(fingerprint, "fingerprint", "", 0.0, libraries=("scipy",))}


# Measured columns -------------------------------------------------------------------------------------------

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
    - ``names``: of :data:`soundcheck.corpora.columns.CACHED`.
    - Returns name -> digest of the sound -> what was measured; and how many sounds could not be read.
    """
    folder, corpus_slug = cache / "measured", files.slug(corpus.name)
    known = {name: JsonCache(folder / f"{corpus_slug}-{name}.json", _version(name)) for name in names}
    sounds = corpus.segments.drop_duplicates("audio").set_index("audio")
    missing = {key: [name for name in names if known[name].get(key) is None] for key in sounds.index}
    todo = {key: unknown for key, unknown in missing.items() if unknown}
    unreadable = 0
    if todo:
        places = sounds.loc[list(todo), ["file", "start", "end"]].itertuples(index=False)
        calls = [
            (unknown, corpus.root / file, *times)
            for unknown, (file, *times) in zip(todo.values(), places, strict=True)
        ]
        values = in_parallel(
            _measure_one, calls, jobs, "measuring", f"sounds of {corpus.name[:40]}", progress
        )
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
    packages = ("audresample", "soundfile", *CACHED[name].libraries, *filter(None, [CACHED[name].package]))
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


# Groups -----------------------------------------------------------------------------------------------------

VOICES = ("low", "medium", "high")  # groups of speakers by pitch, which a family makes
MOST_GROUPS = 50  # of a column; more are names or numbers
MOST_NUMBERS = 10  # different numbers that may be groups of their own


def measured_columns(entry: CorpusEntry, families: Iterable[Family], names: Iterable[str] = ()) -> list[str]:
    """List what has to be measured on a corpus: for its groups, adjustments and families, and ``names``."""
    columns = {*entry.further_columns} & {*MEASURED_COLUMNS} | {*names}
    return sorted(columns.union(*(family.measured for family in families if entry.is_for(family.name))))


def check_groups(suite: Suite, corpora: Sequence[Corpus]) -> None:
    """Refuse columns that are missing, or hold too many different words or numbers, all at once.

    What the suite names for all corpora must be there in one of them, what it names for one in that one.
    """
    problems = Problems()
    concerned: dict[tuple[str, str], list[Corpus]] = {}  # key and column -> corpora that it is named for
    for corpus in corpora:
        grouped = corpus.entry.grouped
        for key, names in (("groups", grouped), ("adjust", corpus.entry.adjust)):
            shared = getattr(corpus.entry, key) == getattr(suite, key)
            for name in names:
                where = key if shared else f"corpora.{corpus.name}.{key}"
                concerned.setdefault((where, name), []).append(corpus)
        for name in grouped:
            if name in corpus.segments and not is_numeric_dtype(corpus.segments[name]):
                _check_words(corpus, name, problems)
    for (where, name), some in concerned.items():
        if name not in MEASURED_COLUMNS and not any(name in corpus.segments for corpus in some):
            who = "no corpus has" if len(some) > 1 else f"the corpus {quoted(some[0].name)} has not"
            offered = sorted({*itertools.chain(*(corpus.offered for corpus in some)), *MEASURED_COLUMNS})
            problems.add(where, f"{who} the column {quoted(name)}", did_you_mean(name, offered))
    for column in dict.fromkeys(column for corpus in corpora for column in corpus.entry.against):
        _check_reference(suite, corpora, column, problems)
    problems.raise_if_any()


def _check_words(corpus: Corpus, name: str, problems: Problems) -> None:
    """Note a column whose values are too many to be groups."""
    words = pd.Series(corpus.segments[name].dropna().unique())
    is_number = as_numbers(words) is not None
    most, kind = (MOST_NUMBERS, "numbers") if is_number else (MOST_GROUPS, "values")
    if len(words) > most:
        what = f"it holds {len(words)} different {kind}, more than the {most} that can be groups"
        remedy = f"Name ranges of numbers, such as {{{name}: {{low: [0, 40], high: [40, 80]}}}}"
        remedy = remedy if is_number else "Is this a name? Name a column with fewer values"
        problems.add(f"corpora.{corpus.name}, column {name}", what, remedy)


def _check_reference(suite: Suite, corpora: Sequence[Corpus], column: str, problems: Problems) -> None:
    """Note where groups of a column cannot be compared with the reference group that is named for them."""
    groups_of = {corpus.name: _groups_of(corpus, column) for corpus in corpora}
    every = dict.fromkeys(itertools.chain(*groups_of.values()))
    for corpus in corpora:
        named, groups = corpus.entry.against.get(column, OTHERS), groups_of[corpus.name]
        key = "groups" if named == suite.against.get(column) else f"corpora.{corpus.name}.groups"
        where, what = f"{key}, {column}, against", f"the corpus {corpus.name} has no group {quoted(named)}"
        if named == OTHERS and OTHERS in groups and column in corpus.entry.against:
            what = f"{OTHERS} means all other groups, and the corpus {corpus.name} has a group called so"
            problems.add(where, what, "Give the group another name with `values:`")
        elif named != OTHERS and list(every) == [named]:
            problems.add(where, f"{quoted(named)} is the only group", "Remove against")
        elif named != OTHERS and named in every and named not in groups and len(groups) > 1:
            other = f"`groups: [{{{column}: {{against: {OTHERS}}}}}]`"
            problems.add(where, what, f"Give {corpus.name} a reference of its own, such as {other}")
        elif named != OTHERS and named not in every and groups:
            problems.add(where, what, did_you_mean(named, every))


def _groups_of(corpus: Corpus, column: str) -> list[str]:
    """List the groups of a column or product of a corpus, which is not yet measured."""
    ranges, sides = corpus.entry.number_ranges, []
    for name in column.split(BOTH):
        if name in ranges:
            sides.append([number_range.name for number_range in ranges[name]])
        elif name == "pitch":
            sides.append(list(VOICES))
        else:
            known = corpus.segments[name].dropna() if name in corpus.segments else []
            sides.append(sorted({str(value) for value in known}))
    return [BOTH.join(pair) for pair in itertools.product(*sides)]


def add_groups(corpus: Corpus) -> Corpus:
    """Add the group columns of a corpus, and list by what differences are adjusted."""
    table, notices = corpus.segments.copy(), list(corpus.notices)
    words: dict[str, pd.Series] = {}
    ranges = corpus.entry.number_ranges
    for name in corpus.entry.grouped:
        if name not in table:
            notices.append(f"no column {name}, so nothing is compared by it")
        elif name in ranges:
            words[name] = pd.Series(cut(table[name], ranges[name]), index=table.index, dtype=object)
            used = set(words[name].dropna())
            empty = [f"{r.name} ({r.low:g} to {r.high:g})" for r in ranges[name] if r.name not in used]
            if empty:
                notices.append(f"no segment is in these ranges of {name}: {', '.join(empty)}")
        else:
            words[name] = table[name].astype(object)
    for name in (*ranges, *corpus.entry.adjust):
        numbers = as_numbers(table[name]) if name in table else None
        # a few different numbers may be groups of their own
        if numbers is not None and (is_numeric_dtype(table[name]) or table[name].nunique() > MOST_NUMBERS):
            table[number_of(name)] = numbers
    groups = [group for group in corpus.entry.groups if all(name in words for name in group.columns)]
    for group in groups:
        table[group.name] = product([words[name] for name in group.columns])
        missing = int(table[group.name].isna().sum())
        if missing == len(table):
            notices.append(f"no segment has a value of {group.name}, so nothing is compared by it")
        elif missing:
            what = f"{group.name}, or none in its ranges" if group.ranges else group.name
            of_all = f"{missing} of {counted(len(table), 'segment')}"
            notices.append(f"{of_all} have no {what}: not in comparisons by it")
    adjust = [number_of(name) if number_of(name) in table else name for name in corpus.entry.adjust]
    return dataclasses.replace(
        corpus,
        segments=table,
        notices=tuple(dict.fromkeys(notices)),
        groups=tuple(group.name for group in groups),
        adjust=tuple(name for name in adjust if name in table),
    )


def cut(numbers: pd.Series, ranges: Sequence[NumberRange]) -> np.ndarray:
    """Give the range that each number is in, object ``(N,)``; ``None`` outside of all.

    >>> ages = pd.Series([30.0, 31.0, 99.0, np.nan])
    >>> cut(ages, [NumberRange("young", 0, 30), NumberRange("old", 30, 80)]).tolist()
    ['young', 'old', None, None]
    """
    values = numbers.to_numpy(dtype=np.float64)
    names = np.full(len(values), None, dtype=object)
    for group in reversed(ranges):  # the lower one of two that share a border comes last and has it
        names[(values >= group.low) & (values <= group.high)] = group.name
    return names


def product(columns: Sequence[pd.Series]) -> pd.Series:
    """Put the values of one or two columns together; ``None`` where one is missing."""
    if len(columns) == 1:
        return columns[0]
    first, second = columns
    joined = first.astype(str).astype(object) + BOTH + second.astype(str).astype(object)
    return joined.where(first.notna() & second.notna(), None).astype(object)
