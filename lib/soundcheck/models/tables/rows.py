"""What a file predicts, and which of its rows belongs to which segment; and scores of trials.

Conventions
-----------
- A row names a corpus (or none, for all), a file, and perhaps start and end in seconds. A row without start
  begins with its file. Which file a name means says :mod:`soundcheck.corpora.utterances`.
- A single row of a file without any times fits its only segment, whatever the times of that are.
- Times that differ by at most :data:`TOLERANCE` are the same. Of several rows that fit a segment, the one
  with the nearest times is taken, then the one that begins first.
- Ids stand for segments instead of files, and have no times.

Scores of trials that were computed elsewhere: ``scores: file`` in a suite
--------------------------------------------------------------------------
Higher scores mean more alike; with ``distances: true`` lower ones do, and their signs are turned.

They belong to the trials of the corpora that bring a list of them, one score for each trial. Layouts are
those of :mod:`soundcheck.corpora.trials.trial_files`; which side of a trial a name means says
:mod:`soundcheck.corpora.utterances`. Labels beside the scores have to be those of the list.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import files
from soundcheck.common.messages import InputError, Problems, input_error, nearest, quoted, some, told_apart
from soundcheck.common.tasks import EMBEDDING, REGRESSION, Task
from soundcheck.common.text_table import TextTable
from soundcheck.corpora.utterances import UtteranceNames, matched_by_less, plain_path
from soundcheck.models.answers import NOT_ASKED, TEXT_LIMIT
from soundcheck.models.base import DRAWN, LookUpModel
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import numbers_of
from soundcheck.suite.entries import ModelKeys
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    import pandas as pd

    from soundcheck.corpora.load import Corpus
    from soundcheck.corpora.trials.trial_files import Listing
    from soundcheck.corpora.trials.trial_table import TrialTable
    from soundcheck.suite.entries import ModelEntry, Suite


TOLERANCE = 0.01  # seconds that times may differ by
SAME_SECONDS = 0.001  # two rows whose times differ by at most this are duplicates
# What to do about two predictions to one segment: which is the right one, only the user knows.
TWICE = "Look where the two come from, such as two runs in one file, and give each run a file of its own"
_ENDLESS = 2.0**40  # instead of the end of a row that reaches to the end of its file
_NAMES = (
    "Write names as in the corpus: files relative to its folder, or ids without extension, and times in "
    "seconds. Names of files with ids at the end of lines end in .trn, of STM and CTM in .stm and .ctm"
)
_LOOKED_AT = 2_000  # files among which the one that is most like a name is looked for


class FileModel(LookUpModel):
    """A model whose predictions lie in a file; they are numbered."""

    changes_audio = False
    source: str  # how messages call the file
    noun: str  # and a prediction
    names: Sequence[str]  # what each is found by: a file or an id
    are_ids: bool = True  # whether names have no extension
    remarks: Sequence[str] = ()  # for readers of the model's page

    @abc.abstractmethod
    def where(self, *numbers: int) -> str:
        """Say where predictions stand."""

    @abc.abstractmethod
    def uses(self, corpus: Corpus) -> pd.DataFrame:
        """List which predictions a corpus uses: ``number``, and ``file`` and ``sound`` of the segment."""

    @abc.abstractmethod
    def span(self, number: int) -> tuple[float, float]:
        """Give start and end of a prediction in seconds, NaN = not given."""

    def misfit(self, corpora: Sequence[Corpus]) -> InputError:
        """Make the error if nothing fits the corpora: shows a prediction, and the segment most like it."""
        tables = (corpus.segments[["file", "start", "end"]].head(_LOOKED_AT) for corpus in corpora)
        known = {str(row.file): row for table in tables for row in table.drop_duplicates("file").itertuples()}
        base = plain_path(self.names[0]).rpartition("/")[2]
        same = (file for file in known if plain_path(file).rpartition("/")[2] == base)
        similar = known[next(same, "") or nearest(self.names[0], known) or next(iter(known))]
        here, there = told_apart(self.names[0], str(similar.file))
        there += _times(similar.start, similar.end)
        both = f"here is {here}{_times(*self.span(0))}, in the corpus {there}"
        return input_error(self.where(0), f"no {self.noun} belongs to a segment: {both}", _NAMES)

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Say how many predictions belong to no segment, and which names fit by less.

        Refuses files of which none does, or unclear ones; the problems of all corpora at once.
        """
        used = used_by(corpora, self.uses)
        if used.empty and any(len(corpus.segments) for corpus in corpora):
            raise self.misfit(corpora)
        notices = []
        if extra := len(self.names) - used["number"].nunique() if corpora else 0:
            plural = "entries belong" if self.noun == "entry" else f"{self.noun}s belong"
            belong = f"{self.noun} belongs" if extra == 1 else plural
            notices.append(f"{extra} {belong} to no segment of the corpora")
        spellings = compared(used, self.names, self.where, self.source, are_ids=self.are_ids)
        return [*notices, *spellings, *self.remarks]


def _times(start: float, end: float) -> str:
    begin, last = np.nan_to_num(start), "its end" if np.isnan(end) else f"{end:.10g} s"
    return f" from {begin:.10g} s to {last}" if begin or not np.isnan(end) else ""


@dataclasses.dataclass(eq=False)
class Rows(FileModel):
    """The rows of a table, or lines with one prediction each."""

    cells: TextTable  # says where a row stands; its column ``file`` has the file, or the id, of each
    # Task, or what the model says of its predictions, -> value of each row: float64 (NaN = none) or object.
    answers: Mapping[str, np.ndarray]
    problems: np.ndarray  # of each row, why it has no prediction for some task; empty = it has all
    frame: pd.DataFrame | None = None  # see sort_rows; None: names are ids
    changes: Sequence[str] = ("",)  # of the signal, that there are rows for; "" = none
    drawn: np.ndarray | None = None  # of each row, what the run drew that wrote it
    remarks: Sequence[str] = ()
    computing_times: np.ndarray | None = None
    noun: str = "row"
    _numbers: dict[tuple, tuple[Corpus, np.ndarray]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self.source, self.names = self.cells.source, self.cells.columns["file"]
        self.are_ids = self.frame is None
        self.changes_audio = len(self.changes) > 1

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for the segments of a corpus."""
        numbers = self.find(corpus, change)
        missing = numbers < 0
        values = {
            name: np.where(missing, np.nan if column.dtype.kind == "f" else None, column[numbers])
            for name, column in self.answers.items()
        }
        if self.drawn is not None:
            values[DRAWN] = np.where(missing, "", self.drawn[numbers])
        not_asked = f"{NOT_ASKED}: no {self.noun} in {self.source}"
        return values, np.where(missing, not_asked, self.problems[numbers]).tolist()

    def where(self, *numbers: int) -> str:
        """Say where rows stand."""
        return self.cells.where_all(numbers, "" if self.are_ids else "file")

    def uses(self, corpus: Corpus) -> pd.DataFrame:
        """List which rows a corpus uses, for clean and changed signals."""
        numbers = np.stack([self.find(corpus, change) for change in self.changes])
        return segments_used(corpus, np.nonzero(numbers >= 0)[1], numbers[numbers >= 0])

    def find(self, corpus: Corpus, change: str = "") -> np.ndarray:
        """Find the number of each segment's row, int64 ``(segments,)``, -1 = none; looks once a corpus.

        Raises InputError if a name could mean several files or segments, several names mean the same, or
        several segments of a file are meant without times.
        """
        key = id(corpus), change
        if key not in self._numbers:
            if self.frame is None:
                problems = Problems()
                names = UtteranceNames(corpus.segments)
                numbers = names.assign(self.names, "name", self.where, problems)
                problems.raise_if_any()
            else:
                numbers = self._by_times(corpus, self.frame[self.frame["change"] == change])
            numbers.flags.writeable = False  # it is shared
            self._numbers[key] = corpus, numbers
        return self._numbers[key][1]

    def _by_times(self, corpus: Corpus, rows: pd.DataFrame) -> np.ndarray:
        import pandas as pd  # late: a suite is read without it

        segments = corpus.segments
        group = self._groups(corpus, rows)[pd.factorize(segments["file"])[0]]
        several = segments["file"].duplicated(keep=False).to_numpy()
        alone = rows[rows["whole"]].set_index("group").reindex(group)
        for place in np.flatnonzero(several & (alone["end"] == _ENDLESS).to_numpy())[:1]:
            file = quoted(segments["file"].iloc[place])
            what = f"the corpus has several segments of {file}, and the {self.noun} has no times"
            remedy = "Give start and end, or offset and duration, in seconds"
            raise input_error(self.where(int(alone["number"].iloc[place])), what, remedy)
        numbers = alone["number"].where(~several).fillna(-1).to_numpy(dtype=np.int64, copy=True)
        start, end = (segments[name].to_numpy(dtype=np.float64) for name in ("start", "end"))
        start = np.nan_to_num(start)
        last = np.where(np.isnan(end), start + numbers_of(segments, "duration"), end)
        wanted = pd.DataFrame({"group": group, "start": start, "end": last, "segment": range(len(group))})
        open_ = wanted[np.isnan(end)].assign(end=_ENDLESS)  # both reach to the end of the file
        wanted = pd.concat([wanted, open_]).dropna()
        fitting = _nearest(wanted[(wanted["group"] >= 0) & (numbers[wanted["segment"]] < 0)], rows)
        numbers[fitting["segment"]] = fitting["number"]
        return numbers

    def _groups(self, corpus: Corpus, rows: pd.DataFrame) -> np.ndarray:
        """Give the group of rows that each file of a corpus means, int64 ``(files,)``; -1 = none."""
        problems = Problems()
        segments = corpus.segments.drop_duplicates("file").drop(columns="item", errors="ignore")
        names, first = UtteranceNames(segments), rows.drop_duplicates("group")
        known = np.full(len(segments), -1, dtype=np.int64)
        for name in dict.fromkeys(("", files.slug(corpus.name), corpus.name)):  # the last one counts
            named = first[first["corpus"] == name]

            def where(*places: int, named: pd.DataFrame = named) -> str:
                return self.where(*named["number"].iloc[list(places)].tolist())

            matches = names.assign(named["file"].tolist(), "name", where, problems)
            known = np.where(matches >= 0, np.append(named["group"], -1)[matches], known)
        problems.raise_if_any()
        return known

    def span(self, number: int) -> tuple[float, float]:
        """Give start and end of a row."""
        if self.frame is None:
            return np.nan, np.nan
        row = self.frame[self.frame["number"] == number].iloc[0]
        return row["start"], row["end"] if row["end"] < _ENDLESS else np.nan


def _nearest(wanted: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Find the row of the same group with the nearest times, if any is the same, for each ``segment``."""
    import pandas as pd  # late: a suite is read without it

    times = ["group", "start", "end"]
    same = wanted.merge(rows, on=times)[["segment", "number"]].drop_duplicates("segment")
    wanted = wanted[~wanted["segment"].isin(same["segment"])]
    if wanted.empty:  # most often
        return same
    from scipy.spatial import KDTree  # late: it takes long

    ours, theirs = (frame[times].to_numpy(dtype=np.float64) for frame in (wanted, rows))
    pairs = KDTree(ours).sparse_distance_matrix(KDTree(theirs), TOLERANCE, np.inf, output_type="ndarray")
    away = np.abs(ours[pairs["i"]] - theirs[pairs["j"]]).sum(axis=1)
    near = pd.DataFrame({"away": away, "place": pairs["j"]})
    near["segment"] = wanted["segment"].to_numpy()[pairs["i"]]
    near["number"] = rows["number"].to_numpy()[pairs["j"]]
    return pd.concat([same, near.sort_values(["away", "place"]).drop_duplicates("segment")])


def sort_rows(
    cells: TextTable,
    start: np.ndarray,
    end: np.ndarray,
    problems: Problems,
    tasks: Sequence[str] = (),
    changes: Sequence[str] | str = "",
) -> pd.DataFrame:
    """Sort the rows of a table under their files, and note duplicates and rows without file.

    ``start`` and ``end`` are seconds, NaN = not given; duplicates are shown with the columns ``tasks``;
    ``changes`` of the signal. Gives ``change``, ``corpus``, ``file``, ``group`` (the number of these),
    ``start``, ``end``, ``number`` (of the row in the table) and ``whole`` (the only row of its file, without
    times).
    """
    import pandas as pd  # late: a suite is read without it

    names = np.array(cells.columns["file"], dtype=object)
    for number in np.flatnonzero(names == ""):
        problems.add(cells.where(number, "file"), "the cell is empty")
    corpora = [name.strip() for name in cells.columns.get("corpus", ())] or ""
    frame = pd.DataFrame({"change": changes, "corpus": corpora, "file": names}, dtype=object)
    frame = frame.assign(start=start, end=end, number=np.arange(len(frame)))
    frame["group"] = frame.groupby(["change", "corpus", "file"], sort=False).ngroup()
    timeless = frame["start"].isna() & frame["end"].isna()
    frame["whole"] = timeless & ~frame["group"].duplicated(keep=False)
    frame = frame.fillna({"start": 0.0, "end": _ENDLESS}).sort_values(["group", "start", "end", "number"])
    step = frame[["group", "start", "end"]].diff().abs()
    same = (step["group"] == 0) & (step["start"] <= SAME_SECONDS) & (step["end"] <= SAME_SECONDS)
    for place in np.flatnonzero(same):
        pair = sorted(frame["number"].iloc[[place - 1, place]].tolist())
        what = f"the segment {quoted(names[pair[0]])} is a duplicate"
        for task in tasks:
            one, other = (str(cells.columns[task][number]) for number in pair)
            what += f", its {task} {quoted(one, 40)} and {quoted(other, 40)}" if one != other else ""
        problems.add(cells.where_all(pair), what, TWICE)
    return frame


def problems_of(
    cells: TextTable,
    answers: Mapping[str, np.ndarray],
    tasks: Sequence[Task],
    reasons: Mapping[str, Mapping[int, str]] = MappingProxyType({}),
) -> np.ndarray:
    """Say what rows lack, object ``(rows,)``; values that are none are taken out.

    ``reasons``: task -> row -> why it has no value, if it has none.
    """
    problems: dict[int, dict[str, None]] = collections.defaultdict(dict)
    for task in tasks:
        values, known = answers[task.name], reasons.get(task.name, {})
        missing = np.isnan(values) if task.is_regression else np.equal(values, None).astype(bool)
        why = dict.fromkeys(np.flatnonzero(missing).tolist(), f"{cells.source} has no value for {task.name}")
        for row, text in enumerate(values) if task.is_transcription else ():
            if what := long_text(text, cells.source, task.name):
                why[row] = what
        for row, what in (why | {row: known[row] for row in known if row in why}).items():
            values[row] = np.nan if task.is_regression else None
            problems[row][what] = None
    texts = np.full(len(cells), "", dtype=object)
    texts[[*problems]] = ["; ".join(of_row) for of_row in problems.values()]
    return texts


def long_text(text: str | None, source: str, task: str) -> str:
    """Say that a text is too long to be a transcript; empty if it is not."""
    length = len(text or "")
    what = f"{source} has a text of {length} characters for {task}; at most {TEXT_LIMIT} are a transcript"
    return what if length > TEXT_LIMIT else ""


def segments_used(corpus: Corpus, segments: np.ndarray, numbers: np.ndarray) -> pd.DataFrame:
    """List predictions (numbers) and the segments (places) that use them, see :meth:`FileModel.uses`."""
    uses = corpus.segments[["file", "audio"]].iloc[segments].rename(columns={"audio": "sound"})
    return uses.assign(number=numbers)


def used_by(corpora: Sequence[Corpus], uses: Callable[[Corpus], pd.DataFrame]) -> pd.DataFrame:
    """Put together what all corpora use, with a column ``corpus``; raises the problems of all at once."""
    import pandas as pd  # late: a suite is read without it

    problems = Problems()
    frames = [pd.DataFrame(columns=["number", "file", "sound", "corpus"])] if not corpora else []
    for corpus in corpora:
        with problems.collected():
            frames.append(uses(corpus).assign(corpus=corpus.name))
    problems.raise_if_any()
    return pd.concat(frames)


def compared(
    used: pd.DataFrame, names: Sequence[str], where: Callable[[int], str], source: str, *, are_ids: bool
) -> list[str]:
    """Refuse predictions that would belong to different sounds in two corpora; say which names fit by less.

    ``names`` and ``where`` are of the predictions.
    """
    several = (used.groupby("number")[["corpus", "sound"]].transform("nunique") > 1).all(axis=1)
    if several.any():
        number = int(used["number"][several].iloc[0])
        both = used[used["number"] == number].drop_duplicates(["corpus", "file"])
        places = [f"{quoted(one.file)} of {quoted(one.corpus)}" for one in both.itertuples()]
        what = f"{quoted(names[number])} would be the prediction for several sounds, {some(places, 3)}"
        corpus = both["corpus"].iloc[0]
        remedy = f"Write `corpora: [{corpus}]` for the model, or give a table with a column corpus"
        raise input_error(where(number), what, remedy)
    used_names = np.array(names, dtype=object)[used["number"].to_numpy(dtype=np.int64)]
    return matched_by_less({*zip(used_names, used["file"], strict=True)}, source, are_ids)


# Scores of trials -------------------------------------------------------------------------------------------


PAIR = ["enrol", "test"]
SCORE = Task("score", REGRESSION, low=-np.inf, high=np.inf)


class ScoreKeys(ModelKeys):
    """Keys of a file of scores; with ``distances``, lower numbers mean more alike."""

    distances: schema.Boolean = False


class ScoreModel(LookUpModel):
    """Scores from a file; ``fingerprint`` is the digest of it, and of how it is read."""

    keyword = "scores"
    keys = ScoreKeys
    only_task = EMBEDDING, "scores of trials are all that the file holds"
    changes_audio = False
    for_trials = True

    def __init__(self, entry: ModelEntry, suite: Suite) -> None:
        from soundcheck.corpora.trials.trial_files import read_scores

        self._entry, self._scores = entry, read_scores(entry.path, entry.target)
        distances, frame = entry.options.get("distances", False), self._scores.frame
        if distances:
            self._scores = dataclasses.replace(self._scores, frame=frame.assign(score=-frame["score"]))
        self.fingerprint = files.digest(f"{files.digest(entry.path)} {distances}")

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Find the file."""
        return find_place(suite_file, target, folder=False)

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Give the scores of all trials of a corpus; raises InputError if some have none."""
        scores = scores_of_trials(self._scores, corpus.trials)
        return {SCORE.name: scores}, [""] * len(scores)

    def input_keys(self, corpus: Corpus) -> np.ndarray:
        """Give the keys of the trials of a corpus."""
        return corpus.trials.frame["key"].to_numpy()

    def table_tasks(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Name the column of scores."""
        return (SCORE,)

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Compare the file with the trials of all corpora that it is for.

        Raises InputError if trials have no score, no corpus has trials, or several do and the file does not
        name them.
        """
        users = [corpus for corpus in corpora if self._entry.listens_to(corpus.entry)]
        where, scores, source = f"models.{self._entry.name}", self._scores, self._entry.target
        if corpora and not users:
            remedy = "Add `trials: file` to a corpus, or a corpus with `format: trials`"
            raise input_error(where, "no corpus that it is asked about brings a list of trials", remedy)
        if len(users) > 1 and "enrol" not in scores.frame:
            what = "the file has one score a line, and several corpora have trials"
            raise input_error(where, what, f"Name the one that they are for: corpora: [{users[0].name}]")
        if not users:
            return []
        used, frame = used_by(users, lambda corpus: _uses(corpus, _find(scores, corpus.trials))), scores.frame
        extra = len(frame) - used["number"].nunique()
        belong = "score belongs" if extra == 1 else "scores belong"
        notices = [f"{extra} {belong} to no trial that is evaluated"] * bool(extra)
        if "..." in scores.form:
            notices.append(f"{source} is read as {scores.form}; other columns are not used")
        for side in PAIR if "enrol" in frame else ():
            uses, names = used.assign(file=used[side]), frame[side].tolist()
            notices += compared(
                uses, names, lambda number: scores.where(frame.index[number]), source, are_ids=True
            )
        return list(dict.fromkeys(notices))


def scores_of_trials(scores: Listing, trials: TrialTable) -> np.ndarray:
    """Give each trial its score, float64 ``(T,)``.

    Raises InputError if a trial has no score, all of them at once; if labels contradict those of the list; if
    the order of lines counts, and there are not as many scores as trials in the list.
    """
    return scores.frame["score"].to_numpy()[_find(scores, trials)]


def _find(scores: Listing, trials: TrialTable) -> np.ndarray:
    """Find the place of each trial's score, int64 ``(T,)``; see :func:`scores_of_trials`."""
    frame = scores.frame
    if "enrol" not in frame:
        if trials.listed != len(frame):
            counts = f"{len(frame)} scores without names, the list {trials.listed} trials"
            remedy = "Give one number for each trial, in the order of the list"
            raise input_error(scores.source, f"the file has {counts}", remedy)
        places = trials.numbers
    else:
        places = _find_pairs(scores, trials.frame[PAIR])
    if "target" in frame:
        problems = Problems()
        for row in np.flatnonzero(frame["target"].to_numpy()[places] != trials.frame["target"].to_numpy()):
            what = "the label beside the score is not that of the list of trials"
            remedy = "Look which of the two is right, and whether the scores are those of this list"
            problems.add(scores.where(frame.index[places[row]]), what, remedy)
        problems.raise_if_any()
    return places


def _find_pairs(scores: Listing, pairs: pd.DataFrame) -> np.ndarray:
    """Find the place of each pair's score by the names of both sides."""
    import pandas as pd  # late: whoever reads a suite imports this module

    problems = Problems()
    frame, known = scores.frame[PAIR].reset_index(drop=True), pd.DataFrame()
    for side in PAIR:
        given, wanted = frame[side].unique(), pairs[side].unique()
        first = frame[side].drop_duplicates().index

        def where(*names: int, first: pd.Index = first) -> str:
            return " and ".join(scores.where(scores.frame.index[first[name]]) for name in names)

        places = UtteranceNames(pd.DataFrame({"file": wanted})).assign(given, "name", where, problems)
        known[side] = frame[side].map(dict(zip(given[places[places >= 0]], wanted[places >= 0], strict=True)))
    problems.raise_if_any()
    known = known.dropna()
    place = pd.MultiIndex.from_frame(known).get_indexer(pd.MultiIndex.from_frame(pairs))
    missing = np.flatnonzero(place < 0)
    if len(missing) and len(missing) == len(place):
        in_file, in_list = zip(*map(told_apart, frame.iloc[0], pairs.iloc[0]), strict=True)
        both = f"the pair here is {' '.join(in_file)}, the first trial is {' '.join(in_list)}"
        what = f"no score belongs to a trial: {both}"
        raise input_error(
            scores.where(scores.frame.index[0]), what, "Write the names as the list of trials does"
        )
    for pair in pairs.iloc[missing].drop_duplicates().itertuples(index=False):
        what = f"no score for the trial {' '.join(map(quoted, pair))}"
        problems.add(scores.source, what, "Add a line with its score")
    problems.raise_if_any()
    return known.index.to_numpy()[place]


def _uses(corpus: Corpus, numbers: np.ndarray) -> pd.DataFrame:
    """List which scores the trials of a corpus use, with both names and the sounds."""
    trials, sounds = corpus.trials, corpus.segments["audio"].astype(object).reset_index(drop=True)
    enrolled = sounds[trials.members].groupby(trials.member_of).agg(" ".join)
    sound = trials.frame["enrolment"].map(enrolled) + " " + sounds[trials.frame["segment"]].to_numpy()
    return trials.frame[PAIR].assign(number=numbers, sound=sound)
