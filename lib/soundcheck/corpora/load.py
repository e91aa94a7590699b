"""Loads a corpus: read its table, look at its audio, put both together.

The table is read and checked first, so that a bad one is refused within seconds; then every file is looked
at, in parallel. What a file turns out to be is kept in the cache by its content, never by its name or time.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files, store
from soundcheck.common.messages import (
    Caveat,
    SoundcheckError,
    counted,
    did_you_mean,
    input_error,
    quoted,
)
from soundcheck.common.progress import Progress
from soundcheck.corpora import audio, labels, segments
from soundcheck.corpora.audio import AudioInfo
from soundcheck.corpora.labels import Reading
from soundcheck.corpora.raw_table import Excluded, RawTable
from soundcheck.corpora.segments import A_FILE_A_CHANNEL, CHANNEL, TIMES
from soundcheck.corpora.trials.trial_files import read_enrolments, read_trials
from soundcheck.corpora.trials.trial_table import TrialTable, resolve
from soundcheck.corpora.utterances import segment_name
from soundcheck.metrics import alternatives
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.suite.corpus_format import CORPUS_FORMATS, CorpusFormat
from soundcheck.suite.entries import CorpusEntry, Suite

BATCH = 50  # sounds that are worth another process


@dataclasses.dataclass(frozen=True)
class Corpus:
    """A corpus ready to be evaluated."""

    name: str
    entry: CorpusEntry  # what the suite says about it
    root: Path  # folder that files are relative to; never shown
    # RangeIndex, sorted by file, start, end. Columns: ``file``, ``start``, ``end`` (seconds, NaN = bound of
    # the file), ``duration`` (seconds), ``audio`` (digest of the sound), ``key`` (unique text), reserved text
    # columns that the source has (``None`` = missing), one column a labelled task; ``category`` holds what
    # stands in the column emotion, classes of the task or not.
    segments: pd.DataFrame
    left_out: tuple[Excluded, ...]  # what is not evaluated
    notices: tuple[str, ...]  # what a reader of results must know
    trials: TrialTable | None = None  # trials between its segments, if it brings a list of them
    # how many segments have labels that mean nothing to any test, in sentences
    unlabelled: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()  # columns of the segment table whose values are groups that the suite names
    adjust: tuple[str, ...] = ()  # columns by which differences between groups are adjusted, words or numbers
    offered: tuple[str, ...] = ()  # names of all columns of the source
    # how the sounds of its segments are stored, the most frequent format first; empty without audio
    formats: tuple[SoundFormat, ...] = ()
    # rows of the table that belong to splits which are not evaluated, without ``duration`` and ``audio``:
    # nobody has opened their files
    elsewhere: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame)
    caveats: tuple[Caveat, ...] = ()  # what makes numbers of this corpus doubtful


_CONTAINERS = {"WAVEX": "WAV", "RF64": "WAV (RF64)", "OGG": "Ogg"}
_ENCODINGS = {  # of libsndfile -> what people call it, and bits a sample; 0 where a codec knows none
    **{f"PCM_{bits}": (f"{bits}-bit PCM", bits) for bits in (16, 24, 32)},
    **{"PCM_S8": ("8-bit PCM", 8), "PCM_U8": ("8-bit PCM", 8), "ALAW": ("A-law", 8), "ULAW": ("µ-law", 8)},
    **{"FLOAT": ("32-bit float", 32), "DOUBLE": ("64-bit float", 64)},
    **{"VORBIS": ("Vorbis", 0), "OPUS": ("Opus", 0), "MPEG_LAYER_III": ("layer III", 0)},
}


@dataclasses.dataclass(frozen=True)
class SoundFormat:
    """Files that are stored alike."""

    container: str  # see AudioInfo
    encoding: str
    sampling_rate: int  # in Hz, of the files; models hear 16 kHz
    channels: int  # of the files; models hear their mean
    files: int
    segments: int
    seconds: float  # length of the files together

    @property
    def name(self) -> str:
        """What people call it, such as ``WAV, 16-bit PCM``."""
        container = _CONTAINERS.get(self.container, self.container)
        return f"{container}, {_ENCODINGS.get(self.encoding, (self.encoding, 0))[0]}"

    @property
    def bits(self) -> int:
        """Bits a sample; 0 where a codec knows none."""
        return _ENCODINGS.get(self.encoding, ("", 0))[1]


def sound_formats(names: pd.Series, facts: Mapping[str, AudioInfo]) -> tuple[SoundFormat, ...]:
    """Count the files of segments by the way they are stored, those of the most files first."""
    if not facts:
        return ()
    segments = names.value_counts()
    keys = ["container", "encoding", "sampling_rate", "channels"]
    frame = pd.DataFrame([vars(facts[name]) for name in segments.index])
    frame = frame.assign(segments=segments.to_numpy(), files=1).rename(columns={"duration": "seconds"})
    table = frame.groupby(keys, as_index=False)[["files", "segments", "seconds"]].sum().round({"seconds": 3})
    table = table.sort_values(["files", *keys], ascending=[False, *[True] * len(keys)])
    return tuple(SoundFormat(**row) for row in table.to_dict("records"))


def inspect_files(
    root: Path, names: Sequence[str], limit: float, path: Path, *, jobs: int, progress: bool, title: str
) -> dict[str, AudioInfo]:
    """Look at every file once; what is known about the same content is not looked at again.

    - ``limit``: seconds of the longest file that is read.
    - ``path``: file that keeps what is known.
    """
    version = files.digest(f"{limit} {files.digest(Path(audio.__file__))}")
    known = {key: AudioInfo(**value) for key, value in (store.read(path, version) or {}).items()}
    # joblib takes longer to hand a small file out than to read it
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        hashes = list(pool.map(_digest, [root / name for name in names]))
    todo = {content: name for name, content in zip(names, hashes, strict=True) if content not in known}
    if todo:
        calls = [(root / name, limit) for name in todo.values()]
        infos = in_parallel(audio.inspect, calls, jobs, "looking at audio", f"files of {title}", progress)
        known |= dict(zip(todo, infos, strict=True))
        readable = [content for content in hashes if not content.startswith("?")]
        store.write(path, {content: vars(known[content]) for content in readable}, version)
    return {name: known[content] for name, content in zip(names, hashes, strict=True)}


def in_parallel(
    function: Callable, calls: Sequence[tuple], jobs: int, step: str, things: str, progress: bool
) -> Iterator:
    """Give what a function says to each of several arguments, in their order, as soon as it is known."""
    from joblib import Parallel, delayed  # late: mostly nothing is new

    processes = min(jobs, len(calls) // BATCH + 1)
    results = Parallel(n_jobs=processes, return_as="generator")(delayed(function)(*call) for call in calls)
    return Progress.over(results, step, things, len(calls), visible=progress)


def _digest(path: Path) -> str:
    """Hash a file; one that cannot be read gets a name of its own, so that it is looked at each time."""
    try:
        return f"?{path}" if files.irregularity(path) else files.digest(path)
    except OSError:
        return f"?{path}"


NO_AUDIO = "the corpus has no audio: models that listen are not asked about it"
LONGEST = 360_000.0  # seconds of a file that is looked at; the limit of a suite is one for segments
ROUNDING = 0.001  # seconds that an end may lie behind its file without a word
OVERSHOOT = 0.5  # seconds behind its file from which on an end is wrong, not rounded
OFFSET = 1.0  # dB by which an offset raises the level of a file that is named
NAME = ["file", *TIMES]


def load_corpus(
    entry: CorpusEntry, suite: Suite, cache: Path, jobs: int = 1, progress: bool = False
) -> Corpus:
    """Load a corpus of a suite.

    - ``cache``: folder for corpora that are made, and for what is known about files.
    - Raises InputError: if the table cannot be used, a segment ends behind its file, or no segment is left.
    """
    form = CORPUS_FORMATS[entry.format]
    entry = form.make(entry, cache, jobs=jobs, progress=progress)
    reading = segments.prepare(_read(form, entry, suite), entry, form.values)
    if suite.alternatives:
        _check_alternatives(reading, suite)
    needs_audio = any(model.about.needs_audio for model in suite.models.values())
    segments.parse(reading, suite.tasks, needs_audio=needs_audio)
    raw, entry = reading.raw, reading.entry
    names, left_out, notices = reading.table["file"].unique(), reading.left_out, reading.notices
    facts: dict[str, AudioInfo] = {}
    if entry.audio:
        place = cache / "facts" / f"{files.slug(entry.name)}.json"
        options = {"jobs": jobs, "progress": progress, "title": entry.name[:40]}
        facts = inspect_files(raw.root, names, LONGEST, place, **options)
        table = _add_audio(reading, facts, suite.audio_seconds)
    else:  # nobody listens: a file is what it is called, here and in no other corpus
        length = reading.table["end"] - reading.table["start"].fillna(0.0)  # as far as the table knows
        duration = length.where(reading.table["end"].notna(), reading.table["duration"])
        contents = {name: files.digest(f"{entry.name} {name}") for name in names}
        table = identified(reading.table.assign(duration=duration), contents)
    if table.empty:
        reasons = "; ".join(dict.fromkeys(item.reason for item in left_out[:3])) or "no row is left"
        remedy = "" if "`" in reasons else "Check the files and the split"
        raise input_error(raw.source, f"no segment can be used ({reasons})", remedy)
    _check_base_condition(table, entry)
    notices += _audio_notices(table, facts) if entry.audio else [NO_AUDIO]
    predicted = {name for model in suite.models.values() if model.kind != "random" for name in model.tasks}
    tasks = [task for name, task in suite.tasks.items() if name in predicted]
    single = labels.single_classes(table, tasks, reading)
    unlabelled = labels.unlabelled(table, reading.remedies)
    table = table.drop(columns=[name for name in table.columns if name.startswith(labels.UNKNOWN)])
    trials = _trials(reading, table) if entry.trials is not None else None
    if trials is not None:
        left_out += trials.left_out
        notices += trials.notices
    return Corpus(
        name=entry.name,
        entry=entry,
        root=raw.root,
        segments=table,
        left_out=tuple(left_out),
        notices=tuple(dict.fromkeys(notices)),
        trials=trials,
        unlabelled=unlabelled,
        offered=raw.offered,
        formats=sound_formats(table["file"], facts),
        elsewhere=reading.elsewhere,
        caveats=(*reading.caveats, *single),
    )


def _read(form: type[CorpusFormat], entry: CorpusEntry, suite: Suite) -> RawTable:
    """Read a table; errors of a plug-in format name that format and its file."""
    built_in = form.__module__.startswith("soundcheck.")
    try:
        return form.read(entry, suite.tasks)
    except (SoundcheckError, OSError):
        raise
    except Exception as error:
        if built_in:  # a defect
            raise
        where = f"{suite.file.name}, corpora.{entry.name}"
        what = f"the format {quoted(entry.format)} fails: {type(error).__name__}: {error}"
        raise input_error(where, what, f"Look at {form.__module__}.{form.__qualname__}.read") from error


def _check_alternatives(reading: Reading, suite: Suite) -> None:
    """Refuse transcripts whose alternatives cannot be read; marks that the normaliser drops are none."""
    normaliser = NORMALISERS[suite.normaliser]
    for row, text in enumerate(reading.raw.table.get("transcript", ())):
        try:
            alternatives.parse(normaliser.prepare(text))
        except ValueError as error:
            what = f"{quoted(text if len(text) <= 60 else text[:60] + '…')}: {error}"
            remedy = "Write { um / uh / @ } with blanks round each /, or leave out alternatives: true"
            reading.problem(row, "column transcript", what, remedy)


def _trials(reading: Reading, table: pd.DataFrame) -> TrialTable:
    """Read the trials that a corpus brings, and find their segments."""
    raw, entry = reading.raw, reading.entry
    trials = read_trials(entry.trials, entry.shown_trials, entry.layout)
    enrolments = read_enrolments(entry.enrolments, entry.shown_enrolments) if entry.enrolments else None
    usable = set(table["file"])
    unusable = {*reading.table["file"], *(item.item for item in reading.left_out)} - usable
    elsewhere = set(raw.table["file"]) - usable - unusable
    resolved = resolve(trials, table, enrolments=enrolments, elsewhere=elsewhere, left_out=unusable)
    if entry.trials == entry.path:  # how its speakers were found matters to whoever reads about the trials
        return dataclasses.replace(resolved, notices=(*resolved.notices, *raw.notices))
    return resolved


def _check_base_condition(table: pd.DataFrame, entry: CorpusEntry) -> None:
    known = sorted(table["condition"].dropna().unique()) if "condition" in table.columns else []
    if entry.base_condition and entry.base_condition not in known:
        what = f"no segment has the condition {quoted(entry.base_condition)}"
        remedy = did_you_mean(entry.base_condition, known) or "The corpus needs a column condition"
        raise input_error(f"corpora.{entry.name}.base_condition", what, remedy)


def identified(table: pd.DataFrame, contents: Mapping[str, str]) -> pd.DataFrame:
    """Add the key of each segment, and the digest of its sound by that of its file."""
    bounds = (map(_text, table[name].tolist()) for name in TIMES)
    names = list(zip(table["file"].tolist(), *bounds, strict=True))
    return table.assign(
        key=[f"{file}|{start}|{end}" for file, start, end in names],
        audio=[files.digest(f"{contents[file]}|{start}|{end}") for file, start, end in names],
    ).drop(columns="place", errors="ignore")


def _text(seconds: float) -> str:
    return "" if math.isnan(seconds) else repr(float(seconds))


# Audio ------------------------------------------------------------------------------------------------------


def _add_audio(reading: Reading, facts: Mapping[str, AudioInfo], limit: float) -> pd.DataFrame:
    """Add what the audio tells to the table; segments that cannot be used are left out."""
    table, notices = reading.table, reading.notices
    counts = table["file"].value_counts()
    for name, fact in facts.items():
        if fact.problem:
            several = f" ({counts[name]} segments)" if counts[name] > 1 else ""
            reading.leave_out(name, f"{fact.problem}{several}", "audio")
    _check_channels(table, reading.raw, facts)
    lengths = {name: fact.duration for name, fact in facts.items() if not fact.problem}
    table = table[table["file"].isin(lengths)].reset_index(drop=True)
    length = table["file"].map(lengths).to_numpy(dtype=np.float64)
    notices += _end_by_duration(table, length, reading.raw.begins)
    _check_ends(table, length, reading)
    end = table["end"].to_numpy()
    seconds = np.where(np.isnan(end), length, np.minimum(end, length)) - table["start"].fillna(0.0).to_numpy()
    table = table.drop(columns="duration").assign(duration=seconds)
    over = np.where(end > length + ROUNDING, end - length, 0)
    if over.any():
        what = f"end behind their file, by at most {over.max():.3f} s, and are cut there"
        notices.append(_counted(table, over > 0, what))
    short, long = np.round(audio.SHORTEST - seconds, 6) > 0, np.round(seconds - limit, 6) > 0
    for row in np.flatnonzero(short | long):
        reason = f"only {1000 * seconds[row]:.3g} ms of it lie within the file"
        reason = reason if short[row] else audio.too_long(seconds[row], limit, seconds.max())
        reading.leave_out(segment_name(*table.loc[row, NAME]), reason, "audio")
    table = table[~(short | long)].reset_index(drop=True)
    return identified(table, {name: fact.digest for name, fact in facts.items()})


def _check_channels(table: pd.DataFrame, raw: RawTable, facts: Mapping[str, AudioInfo]) -> None:
    """Refuse segments that are one channel of several: the audio is the mean of all."""
    if CHANNEL not in raw.table.columns:
        return
    several = table["file"].isin([name for name, fact in facts.items() if fact.channels > 1])
    named = segments.names_channel(raw.table[CHANNEL].iloc[table["place"]])
    wrong = table[several & named.to_numpy()]
    if len(wrong):
        example, place = quoted(wrong["file"].iloc[0]), raw.places[wrong["place"].iloc[0]]
        what = f"{counted(len(wrong), 'segment')} of one channel where the file has several, as {example}"
        raise input_error(f"{place}, column {CHANNEL}", what, A_FILE_A_CHANNEL)


def _end_by_duration(table: pd.DataFrame, length: np.ndarray, begins: bool) -> list[str]:
    """End rows without an end by their duration; say where it is not that of the file, and what counts."""
    end = table["start"].fillna(0.0) + table["duration"].where(table["end"].isna())
    differs = np.abs(end - length) > audio.SHORTEST  # not by rounding
    part = differs & (end < length) & (table["start"].notna() | begins)
    table["end"] = table["end"].where(~part, end)  # so that the names of these have it
    ways = ((part, "only these seconds count"), (differs & ~part, "the file counts to its end"))
    what = "have a duration that is not that of the file"
    return [_counted(table, rows, f"{what}, {counts}") for rows, counts in ways if rows.any()]


def _check_ends(table: pd.DataFrame, length: np.ndarray, reading: Reading) -> None:
    start, end = (table[name].to_numpy() for name in TIMES)
    late = start >= length
    for row in np.flatnonzero(late | (np.round(end - length, 6) >= OVERSHOOT)):
        name, time = ("start", start[row]) if late[row] else ("end", end[row])
        bounds = " to ".join(_text(side[row]) or "the end" for side in (start, end))
        what = f"the segment {bounds} s goes past the end of the file, which is {length[row]:.3f} s long"
        is_seconds = time <= 10 * length[row]
        remedy = "Correct the times" if is_seconds else "Are these milliseconds or samples? Give seconds"
        reading.problem(table["place"].iloc[row], f"column {name}", what, remedy)
    reading.problems.raise_if_any()


def _counted(table: pd.DataFrame, rows: np.ndarray, what: str) -> str:
    """Count segments and name three."""
    names = [segment_name(*row) for row in table.loc[rows, NAME].head(3).to_numpy()]
    return f"{rows.sum()} of {counted(len(table), 'segment')} {what}: {', '.join(map(quoted, names))}"


def _audio_notices(table: pd.DataFrame, facts: Mapping[str, AudioInfo]) -> list[str]:
    """Tell what is odd about the sounds of a corpus."""
    facts = {name: facts[name] for name in table["file"].unique()}

    def named(names: Sequence[str]) -> str:
        return f"{len(names)} of {counted(len(facts), 'file')}, {', '.join(map(quoted, names[:3]))}"

    notices = []
    if odd := [name for name, fact in facts.items() if fact.notice]:
        notices.append(f"{facts[odd[0]].notice}: {named(odd)}")
    if raised := [name for name, fact in facts.items() if fact.raised > OFFSET]:
        offset = max((facts[name].offset for name in raised), key=abs)
        level = max(facts[name].raised for name in raised)
        what = f"a constant offset, up to {offset:.3g} of full scale and {level:.1f} dB of level"
        notices.append(f"{what}, which no number counts as sound: {named(raised)}")
    if "speaker" in table.columns:
        speakers = table.groupby("audio")["speaker"].nunique()
        shared = table["audio"].isin(speakers[speakers > 1].index)
        if shared.any():
            notices.append(f"{int(shared.sum())} segments have the same sound as one of another speaker")
    if repeated := int(table["audio"].duplicated().sum()):
        notices.append(f"{repeated} segments repeat the sound of another segment")
    return notices
