"""What the run tells notebooks about models, the rows of a corpus that they evaluate, and plain measures.

The runner writes descriptions, which notebooks read: each row comes with what the model and the random
reference say.

A measure may be a plain function that gives a number, or numbers by label, instead of sums. It is called
again for every replicate, with the rows of the drawn blocks, as often as they were drawn; the draws are those
of a statistic of :mod:`soundcheck.metrics`.

- The function gets a subset and predictions and returns a number or a mapping of label to number. ``None``,
  NaN and infinite numbers are undefined.
- It gets only rows that have predictions; when more than half of the rows have none, there is no value.
- Rows keep their order. ``subset.blocks`` numbers a block that was drawn twice as two blocks; columns such as
  ``subset.segments["speaker"]`` do not.
- A function that cannot be used, or takes too long, ends as a :class:`PlainMeasureError` with the reason.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import math
import numbers
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common.media import Description
from soundcheck.common.messages import quoted, shorten, terminal
from soundcheck.common.tasks import Task, scale_sentence
from soundcheck.corpora.trials.trial_table import TrialTable, read_table
from soundcheck.metrics import additive
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.differential import Setting
from soundcheck.metrics.trials import cosine_scores, mean_directions
from soundcheck.metrics.weighted import Weighted
from soundcheck.predict.tables import failed, read_predictions
from soundcheck.statistics import bootstrap
from soundcheck.suite.entries import ERROR, LEFT_OUT


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorpusDescription:
    """A corpus and where the predictions of one model for it are."""

    name: str  # name in the suite, and its title for people
    title: str
    synthetic: bool = False  # whether the speech is synthetic
    root: Path  # folder of the corpus, for listening; never shown
    # columns whose values are resampled together; the file where there are no such columns
    blocks: tuple[str, ...]
    base_condition: str = ""  # condition that others are compared with; empty = the most frequent one
    probes_of: str = ""  # name of the corpus whose words this one probes; empty for all others
    segments: Path  # parquet files: the segment table and the predictions
    predictions: Path
    trials: Path | None = None  # parquet file of the trials of a family; ``None`` if it compares none
    audio: bool = True  # whether there is anything to hear
    groups: tuple[str, ...] = ()  # columns of the segment table whose values are groups that the suite names
    adjust: tuple[str, ...] = ()  # columns by which differences between groups are adjusted, words or numbers
    # task -> ends of the scale of its labels, where the suite says that it is another one than the task's
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    # column -> the group that its other groups are compared with; ``"others"``, also where it is not
    # named, = all other groups
    against: dict[str, str] = dataclasses.field(default_factory=dict)
    # how an input that the model was asked and gave no answer for counts: ``"error"`` or ``"left out"``
    missing: str = LEFT_OUT


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelDescription(Description):
    """What all notebooks about models are given."""

    tasks: tuple[Task, ...]  # tasks of the model, or of both, that are looked at
    seed: int
    replicates: int
    interval: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorpusView(CorpusDescription):
    """One corpus and the predictions of one model; tables stand in the place of the files that hold them."""

    segments: pd.DataFrame  # the segment table
    # table of predictions, one row a segment and change; of a model of scores one row a trial
    predictions: pd.DataFrame
    trials: TrialTable | None = None  # trials between the segments, if the family asks for them

    def labels(self, task: Task) -> np.ndarray:
        """Give the labels of a task; all missing if the corpus has none."""
        nothing = pd.Series(None, index=self.segments.index, dtype=object)
        return _array(self.segments.get(task.name, nothing), task)

    def rows_under(self, change: str = "") -> pd.DataFrame:
        """Give the predictions for the clean signals, or under a change (by its identity), by key."""
        return self.predictions[self.predictions["change"] == change].set_index("key")

    def predicted(self, task: Task, change: str = "") -> np.ndarray:
        """Give the predictions of a task for the clean signals, or under a change (by its identity)."""
        rows = self.rows_under(change)
        result = _array(rows.reindex(columns=[task.name])[task.name].reindex(self.segments["key"]), task)
        if task.is_transcription and self.missing == ERROR:
            lost = self.lost(change).reindex(self.segments["key"], fill_value=False)
            result[lost.to_numpy(dtype=bool)] = ""
        return task.scale(result) if task.is_regression else result

    def lost(self, change: str = "") -> pd.Series:
        """Say for which inputs the model was asked for a transcript in vain, bool, by key."""
        rows = self.rows_under(change)
        return failed(rows) & rows.reindex(columns=["transcript"])["transcript"].isna()

    def unchanged(self, *changes: str) -> np.ndarray:
        """Say which signals all of some changes (by their identities) have left as they are."""
        same = np.full(len(self.segments), bool(changes) and "drawn" in self.predictions)
        for change in changes if same.any() else ():
            drawn = self.rows_under(change)["drawn"]
            result = drawn.index[drawn.str.contains('"unchanged": true', regex=False)]
            same &= self.segments["key"].isin(result).to_numpy()
        return same

    def stated(self, names: Sequence[str], change: str = "") -> np.ndarray:
        """Give what the model says of its answers, float64 ``(segments, names)``; NaN = nothing."""
        result = self.rows_under(change).reindex(index=self.segments["key"], columns=list(names))
        return result.to_numpy(dtype=np.float64)

    def scores(self, change: str = "", chosen: np.ndarray | None = None) -> np.ndarray:
        """Score the trials of the corpus for the clean signals, or with changed ones on the test side."""
        return score_trials(self.predictions, self.segments["key"].tolist(), self.trials, change, chosen)

    @property
    def block_name(self) -> str:
        """What is resampled, in the singular: ``speaker``, ``file`` or ``block``."""
        return bootstrap.block_name(self.blocks, self.segments.columns)

    def block_codes(self) -> np.ndarray:
        """Give the block of each segment as whole numbers from 0."""
        return bootstrap.blocks_of(self.segments, self.blocks)


def read_view(description: CorpusDescription) -> CorpusView:
    """Read the corpus and predictions that the runner describes."""
    tables = {
        "segments": pd.read_parquet(description.segments),
        "predictions": read_predictions(description.predictions),
        "trials": read_table(description.trials) if description.trials else None,
    }
    return CorpusView(**(vars(description) | tables))


def _array(column: pd.Series, task: Task) -> np.ndarray:
    if task.is_regression:
        return column.to_numpy(dtype=np.float64)
    return column.astype(str).to_numpy(dtype=object, na_value=None)


SCORE = "score"  # column of the tables of models that bring scores


def score_trials(
    predictions: pd.DataFrame,
    keys: Sequence[str],
    trials: TrialTable,
    change: str = "",
    chosen: np.ndarray | None = None,
) -> np.ndarray:
    """Score trials with what a model said about the segments."""
    frame = trials.frame if chosen is None else trials.frame.iloc[chosen]
    rows = predictions[predictions["change"] == change]
    if SCORE in predictions:
        result = pd.Series(rows[SCORE].to_numpy(), index=rows["key"])
        return result.reindex(frame["key"]).to_numpy(dtype=np.float64)
    clean = embeddings(predictions[predictions["change"] == ""], keys)
    tested = embeddings(rows, keys) if change else clean
    if not clean.shape[1] or not tested.shape[1]:
        return np.full(len(frame), np.nan)
    count = int(trials.member_of.max(initial=-1)) + 1
    enrolled = mean_directions(clean, trials.members, trials.member_of, count)
    first, second = (frame[name].to_numpy(dtype=np.int64) for name in ("enrolment", "segment"))
    return cosine_scores(enrolled, tested, first, second)


def embeddings(rows: pd.DataFrame, keys: Sequence[str]) -> np.ndarray:
    """Put the embeddings of segments into one array, float32 ``(segments, d)``; NaN where there is none."""
    known = dict(zip(rows["key"], rows["embedding"], strict=True))
    size = next((len(vector) for vector in known.values() if vector is not None), 0)
    result = np.full((len(keys), size), np.nan, dtype=np.float32)
    for row, vector in enumerate(map(known.get, keys)):
        if vector is not None:
            result[row] = vector
    return result


CLEAN: Setting = ("", "")  # the signals as they are


@dataclasses.dataclass(frozen=True, eq=False)
class Predictions:
    """What the model, or the random reference, predicts for the rows of a subset, ``(segments,)`` each."""

    clean: np.ndarray  # for the signals as they are: float64 or class names
    changed: np.ndarray | None = None  # for the changed signals; ``None`` if the subset has no change
    random: bool = False  # whether they are those of the random reference
    # of transformed subsets: predictions under each setting; ``clean`` are those under :data:`CLEAN`
    settings: Mapping[Setting, np.ndarray] = dataclasses.field(default_factory=dict)

    def unchanged(self) -> Predictions:
        """Give the clean predictions for the changed signals as well."""
        return dataclasses.replace(self, changed=self.clean)

    def levels(self, transformation: str) -> list[np.ndarray]:
        """Give the predictions under each level of a transformation, in its order."""
        return [predicted for (name, _), predicted in self.settings.items() if name == transformation]

    def take(self, rows: np.ndarray) -> Predictions:
        """Keep some rows."""
        changed = None if self.changed is None else self.changed[rows]
        settings = {setting: predicted[rows] for setting, predicted in self.settings.items()}
        return dataclasses.replace(self, clean=self.clean[rows], changed=changed, settings=settings)


Measure = Callable[["Subset", Predictions], Statistic | Weighted | float | Mapping[str, float | None]]
once = functools.lru_cache(maxsize=4)  # of a measure: of the model and the reference, and both on other rows


@dataclasses.dataclass(frozen=True, eq=False)
class Subset:
    """The rows of one corpus that can be evaluated for one task, in canonical order."""

    corpus: str  # name of the corpus
    task: Task  # the task
    segments: pd.DataFrame  # rows of the segment table
    truth: np.ndarray | None  # labels, shape ``(segments,)``; ``None`` if the corpus has none for the task
    predictions: Predictions  # predictions of the model and of the random reference model
    reference: Predictions
    blocks: np.ndarray  # block of each row, as integer codes from 0
    change: str = ""  # name of the change, empty for clean signals; of pairs the names of both conditions
    root: Path = Path()  # folder of the corpus, for listening; never shown
    # how many groups are compared, and how many segments each has; decides simulated thresholds
    group_size: tuple[int, int] | None = None
    # name of the change that the clean predictions are for: what is compared may be changed itself
    base: str = ""
    # segments that the changed predictions are for, row by row, if they are others than ``segments``
    partner: pd.DataFrame | None = None
    balanced: bool = False  # whether groups were drawn to be alike

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def labelled(self) -> bool:
        """Whether any segment has a label."""
        return self.truth is not None and bool(pd.notna(self.truth).any())

    @property
    def sides(self) -> tuple[str, str]:
        """Names of what is compared: clean or base and change, or both conditions of pairs."""
        if self.partner is not None:
            return str(self.segments["condition"].iloc[0]), str(self.partner["condition"].iloc[0])
        return self.base or "clean", self.change

    def with_answers(self, change: Callable[[Predictions], Predictions], **cells: object) -> Subset:
        """Change the predictions of the model and of the reference alike, and perhaps other fields."""
        both = {"predictions": change(self.predictions), "reference": change(self.reference)}
        return dataclasses.replace(self, **both, **cells)

    def unchanged(self) -> Subset:
        """Give the clean predictions for the changed signals as well."""
        return self.with_answers(Predictions.unchanged)

    def take(self, rows: np.ndarray) -> Subset:
        """Keep the rows of a mask, or with these numbers, in canonical order."""
        rows = np.sort(np.flatnonzero(rows) if np.asarray(rows).dtype == bool else rows)
        _, blocks = np.unique(self.blocks[rows], return_inverse=True)
        return self.with_answers(
            lambda predictions: predictions.take(rows),
            segments=self.segments.iloc[rows].reset_index(drop=True),
            truth=None if self.truth is None else self.truth[rows],
            blocks=blocks,
            partner=None if self.partner is None else self.partner.iloc[rows].reset_index(drop=True),
        )

    def measured(
        self, measure: Measure, predictions: Predictions, rows: np.ndarray | None = None
    ) -> Statistic | Weighted:
        """Compute a measure, on some rows, bool ``(segments,)``; of trials the measure takes these itself."""
        if rows is not None and self.task.is_embedding:
            return measure(self, predictions, rows)
        statistic = measure(self, predictions)
        return statistic if rows is None else restrict(statistic, rows)

    def mask(self, column: str, value: object) -> np.ndarray:
        """Say which rows have a value in a column of the segment table, bool ``(segments,)``."""
        return self.segments[column].eq(value).fillna(False).to_numpy(dtype=bool)

    def with_column(self, name: str, values: Sequence[object]) -> Subset:
        """Add a column to the segment table."""
        return dataclasses.replace(self, segments=self.segments.assign(**{name: values}))

    def sized(self, groups: int, samples: int) -> Subset:
        """Say how many groups are compared, and how many segments each has or would have."""
        return dataclasses.replace(self, group_size=(groups, samples))


class Corpora:
    """The corpora of a notebook about models."""

    corpora: Sequence[CorpusView]
    tasks: Sequence[Task]
    seed: int
    replicates: int

    @property
    def synthetic(self) -> bool:
        """Whether any of the corpora is synthetic."""
        return any(view.synthetic for view in self.corpora)

    @property
    def scales(self) -> list[str]:
        """How labels on another scale than 0 to 1 are shown, in sentences."""
        sentences = [
            scale_sentence(task.name, *view.ranges.get(task.name, (task.low, task.high)))
            for task in self.tasks
            for view in self.corpora
            if task.is_regression
        ]
        return list(dict.fromkeys(filter(None, sentences)))

    def view(self, subset: Subset) -> CorpusView:
        """Give the corpus that a subset is from."""
        return next(view for view in self.corpora if view.name == subset.corpus)

    def resample(
        self, statistic: Statistic | Weighted, blocks: np.ndarray, noun: str = "speaker"
    ) -> bootstrap.Resampled:
        """Compute a statistic with replicates of the suite's number and seed."""
        return bootstrap.resample(statistic, blocks, self.replicates, self.seed, noun)


# Measures that are plain functions

SECONDS = 100.0  # that all replicates of a notebook's plain functions may take by default
NOTE = "computed by calling the measure again for each replicate"

_LABELS = "Return every label each time, with NaN where its value is undefined"
_ANSWERS = "Return a number, a mapping of label to number, or a statistic of soundcheck.metrics"
_TOO_SLOW = (
    "longer than the time limit of the notebook allows. Set fewer replicates or a larger limit "
    "(notebook_seconds) in the suite, or return a statistic of soundcheck.metrics"
)
_PATH = re.compile(r"(?<![\w.])(?:/[^\s/'\":]+){2,}")


class PlainMeasureError(Exception):
    """Why a measure gives no statistic, in words for the results table."""


class NoPredictionError(PlainMeasureError):
    """There is nothing to compute a measure on, which is no fault of the measure."""


def statistic_of(
    measure: Measure, subset: Subset, predictions: Predictions, seconds: float = SECONDS
) -> additive.Statistic | Weighted:
    """Call a measure, and make a statistic of what it gives."""
    for array in (subset.truth, predictions.clean, predictions.changed):
        if array is not None:
            array.flags.writeable = False  # a measure that changes them raises an error
    result = None
    try:
        result = measure(subset, predictions)
    except Exception as error:  # whatever somebody's function raises
        if _predicted(predictions).all():  # else perhaps because of missing predictions
            raise _raised(error) from error
    if isinstance(result, additive.Statistic | Weighted):
        return result
    statistic = PlainStatistic(measure, subset, predictions, seconds)
    if statistic.rows.all():
        first, again = pd.Series(_read(result)), pd.Series(statistic.values)
        if not (first.index.equals(again.index) and np.allclose(first, again, 1e-9, 1e-12, equal_nan=True)):
            what = "the measure returned other values when it was called again with the same data"
            raise PlainMeasureError(f"{what}; give its random numbers a seed")
    return statistic


class PlainStatistic(Weighted):
    """The values of a plain function, and its replicates."""

    def __init__(
        self, measure: Measure, subset: Subset, predictions: Predictions, seconds: float = SECONDS
    ) -> None:
        self._measure, self._subset, self._predictions = measure, subset, predictions
        self._seconds = seconds
        self.rows = _predicted(predictions)
        self.parts = (additive.Contributions(self.rows, ~self.rows),)
        self._places = np.flatnonzero(self.rows)
        if not len(self._places):
            raise NoPredictionError(f"no prediction for {additive.segments(len(self.rows))}")
        drawn, self._blocks = np.unique(subset.blocks[self.rows], return_inverse=True)
        self.n_blocks = len(drawn)
        start = time.monotonic()
        self.values = self._call(np.ones(self.n_blocks, dtype=np.int64))
        self._took = time.monotonic() - start
        self.labels = tuple(self.values)

    def point(self) -> additive.Point:
        """Give the values; see :class:`~soundcheck.metrics.weighted.Weighted`."""
        refusal, note = additive.missing_predictions(self.parts)
        result = np.array(list(self.values.values()))
        reasons = [refusal or ("the value is infinite" if np.isinf(each) else "") for each in result]
        note = "; ".join(filter(None, (note, NOTE if self.n_blocks > 1 else "")))
        counts = np.full(len(result), len(self._places))
        return additive.checked_point(result, counts, reasons, [note] * len(result))

    def blocks(self) -> np.ndarray:
        """Count the blocks that each value rests on: all, because nobody knows which ones it looks at."""
        return np.full(len(self.labels), self.n_blocks)

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Call the function for each replicate."""
        start, replicates = time.monotonic(), np.full((len(weights), len(self.labels)), np.nan)
        for number, row in enumerate(weights):
            result = self._call(row, self.labels)
            replicates[number] = [result[label] for label in self.labels]
            elapsed = time.monotonic() - start
            fastest = min(elapsed / (number + 1), self._took)  # one call alone may be slow by chance
            if elapsed + (len(weights) - number - 1) * fastest > self._seconds:
                each = float(f"{fastest:.1g}")  # times vary, texts should not
                took = f"at about {each:g} s each would take {len(weights) * each:.0f} s"
                raise PlainMeasureError(f"{len(weights)} calls of the measure {took}, {_TOO_SLOW}")
        return replicates

    def _call(self, weights: np.ndarray, labels: tuple[str, ...] = ()) -> dict[str, float]:
        """Call the function with blocks as often as the weights say, and read what it returns."""
        repeats = weights.astype(np.int64)[self._blocks]
        copies = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        rows = np.repeat(self._places, repeats)
        blocks = np.repeat(self._blocks, repeats) * (int(weights.max()) + 1) + copies
        _, blocks = np.unique(blocks, return_inverse=True)
        try:
            # A thousand warnings and printed lines are kept from the page.
            with (
                warnings.catch_warnings(action="ignore"),
                contextlib.redirect_stdout(io.StringIO()),
                np.errstate(all="ignore"),
            ):
                subset = dataclasses.replace(self._subset.take(rows), blocks=blocks)
                result = self._measure(subset, self._predictions.take(rows))
        except Exception as error:  # whatever somebody's function raises
            raise _raised(error, " in a replicate" if labels else "") from error
        if result is None and labels == ("",):
            return {"": math.nan}
        values = _read(result)
        if labels and set(values) != set(labels):
            other = sorted(set(values) ^ set(labels))
            names = ", ".join(map(quoted, other[:5])) + (", ..." if len(other) > 5 else "")
            raise PlainMeasureError(
                f"the measure returned other labels in a replicate than for all data: {names} not in both. "
                f"{_LABELS}"
            )
        return values


def aligned(random: additive.HasPoint, model: additive.HasPoint) -> np.ndarray:
    """Give the values of the random reference in the order of the model's labels."""
    values = additive.values(random)
    if not isinstance(random, PlainStatistic):
        return values
    if set(random.labels) != set(model.labels):
        raise PlainMeasureError(
            f"the measure returned other labels for the random reference than for the model. {_LABELS}"
        )
    return values[[random.labels.index(label) for label in model.labels]]


def _predicted(predictions: Predictions) -> np.ndarray:
    known = np.ones(len(predictions.clean), dtype=bool)
    for side in filter(lambda side: side is not None, (predictions.clean, predictions.changed)):
        is_number = side.dtype.kind == "f"
        known &= np.isfinite(additive.numbers(side)) if is_number else pd.notna(side)
    return known


def _read(result: object) -> dict[str, float]:
    """Read a number, or numbers by label."""
    where, returned = "", {"": result}
    if isinstance(result, Mapping):
        where, returned = "in a mapping ", {str(label): each for label, each in result.items()}
        if not returned:
            raise PlainMeasureError("the measure returned an empty mapping")
        returned = {label: math.nan if each is None else each for label, each in returned.items()}
    for label, value in returned.items():
        value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
        if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_):
            raise PlainMeasureError(
                f"the measure returned {quoted(repr(value), 40)} ({type(value).__name__}) {where}where a "
                f"number belongs. {_ANSWERS}"
            )
        returned[label] = float(value)
    return returned


def _raised(error: Exception, where: str = "") -> PlainMeasureError:
    text = terminal(_PATH.sub("…", str(error)).replace("\n", " "))
    return PlainMeasureError(f"the measure raised {type(error).__name__}{where}: {shorten(text, 160)}")
