"""Searches for groups for which a model is worse: the columns that are looked at, and the row of the results.

Columns are the words that the segment table has, those of the suite's groups, and measured numbers in three
ranges: below the lower quartile, above the upper one, and between, rounded to three digits. Of verification a
segment stands for each target trial in which it is tested. A row says how many groups are named; which ones
is its remark, because the key of a row has to be the same from run to run.
"""

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.messages import counted
from soundcheck.corpora.columns import MEASURES
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.measure_sets import ERRORS
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.evaluation.trials import threshold_in_use
from soundcheck.metrics.additive import round_significant
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics.evidence import LEAST_BLOCKS
from soundcheck.statistics.worst_groups import LEAST_SEGMENTS, Search, search

MOST_VALUES = 50  # of a column that is looked at
NO_GROUP = (
    f"no group has {LEAST_BLOCKS} speakers or other blocks and {LEAST_SEGMENTS} segments on either side"
)

# Names and texts; of a single one nobody knows how much speakers differ.
_NOT_GROUPS = {"file", "key", "audio", "speaker", "item", "transcript", "split"}
_MOST_NAMED = 3  # groups that a remark names


@dataclasses.dataclass(frozen=True, eq=False)
class GroupSearch:
    """What was looked at in a corpus, and what was found."""

    subset: Subset  # the segments
    unit: str  # how bad predictions are, in words, and the measure of it
    measure: Measure
    columns: dict[str, np.ndarray]  # name -> words ``(segments,)``, of the columns that were looked at
    passed_over: dict[str, str]  # other columns -> why not
    search: Search  # the groups


class _Count(Weighted):
    """How many groups are named; a count of findings has neither replicates nor an interval."""

    n_blocks = 1  # so nothing is drawn

    def __init__(self, result: Search, blocks: int) -> None:
        self.count, self._named, self._blocks = result.segments, len(result.named), blocks

    def _texts(self) -> tuple[list[str], str]:
        return [""], ""

    def blocks(self) -> np.ndarray:
        """Count the blocks that were looked at."""
        return np.array([self._blocks])

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Count the groups."""
        return np.full((len(weights), 1), float(self._named))


def search_all(evaluation: Evaluation, test: str) -> list[GroupSearch]:
    """Look at all groups of each corpus and task, and judge how many are named."""
    result = []
    for subset in evaluation.subsets():
        if subset.task.is_embedding:
            if len(np.unique(subset.truth)) < 2:
                evaluation.skip(subset, "trials of one kind give no threshold")
                continue
            subset = _tested(evaluation, subset)
        if searched := search_groups(evaluation, subset, test):
            result.append(searched)
    return result


def _tested(evaluation: Evaluation, trials: Subset) -> Subset:
    """Give the tested segment of each trial of one speaker; predictions say whether it was rejected."""
    view, rows = evaluation.view(trials), np.flatnonzero(trials.truth)
    tested, keys = (trials.segments[name].to_numpy()[rows] for name in ("segment", "key"))

    def rejected(scored: Predictions) -> Predictions:
        threshold = threshold_in_use(evaluation.family, evaluation.model, scored.clean, trials.truth)
        result = np.where(np.isnan(scored.clean), np.nan, scored.clean <= threshold)
        return dataclasses.replace(scored, clean=result[rows])

    segments = view.segments.iloc[tested].assign(key=keys).reset_index(drop=True)
    _, blocks = np.unique(view.block_codes()[tested], return_inverse=True)
    return trials.with_answers(rejected, segments=segments, truth=None, blocks=blocks)


def search_groups(evaluation: Evaluation, subset: Subset, test: str) -> GroupSearch | None:
    """Look at all groups by how bad predictions are, and judge how many are named; skipped without any."""
    unit, measure = ERRORS[subset.task.kind]
    worse = measure(subset, subset.predictions)
    whole = worse.point()
    if whole.reasons[0]:
        evaluation.skip(subset, whole.reasons[0])
        return None
    view, task, family = evaluation.view(subset), subset.task, evaluation.family
    hidden = {*_NOT_GROUPS, *view.blocks, task.name}
    if task.name == "emotion":
        hidden.add("category")  # the label with all its names
    measured = [*family.measured, *family.options["columns"]]
    columns, passed_over = columns_of(subset.segments, view.groups, measured, hidden - set(view.groups))
    matters, draws = family.options["matters"][task.kind], (evaluation.replicates, evaluation.seed)
    result = search(columns, worse, subset.blocks, matters, *draws)
    place = f"{subset.corpus}, {task.name}"
    if whole.notes[0]:
        evaluation.note(f"{place}: {whole.notes[0]}")
    if undefined := sum(np.isnan(group.gap) for group in result.candidates):
        what = "could not be judged: most segments of either side have no prediction"
        evaluation.note(f"{place}: {counted(undefined, 'group')} {what}")
    if not result.candidates:
        evaluation.skip(subset, NO_GROUP)
        return None
    blocks = len(np.unique(subset.blocks[worse.rows]))

    def count(_: Subset, predictions: Predictions) -> _Count:
        if not predictions.random:
            return _Count(result, blocks)
        errors = measure(subset, predictions)
        return _Count(search(columns, errors, subset.blocks, matters, *draws), blocks)

    (verdict,) = evaluation.judge(subset, test, count)
    if verdict.value is not None:  # the suite does not leave the test out
        remark = "; ".join(filter(None, (remark_of(result), verdict.skipped)))
        evaluation.amend(dataclasses.replace(verdict, p_value=result.p_value, skipped=remark))
    return GroupSearch(subset, unit, measure, columns, passed_over, result)


def remark_of(result: Search) -> str:
    """Name the groups in a line, for the results table."""
    named, looked = result.named, counted(len(result.candidates), "group")
    text = [
        f"{group.name} ({group.gap:.2g} worse, " + f"{group.low:.2g} to {group.high:.2g})".replace("-", "−")
        for group in named[:_MOST_NAMED]
    ]
    if len(named) > _MOST_NAMED:
        text.append(f"{len(named) - _MOST_NAMED} more")
    return f"{', '.join(text)}; of {looked} looked at" if named else f"none of {looked} looked at"


def columns_of(
    segments: pd.DataFrame, groups: Sequence[str], measured: Iterable[str], hidden: Iterable[str] = ()
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Take the columns of a segment table whose values may be groups, and say why others are passed over.

    >>> table = pd.DataFrame({"sex": ["f", "m", "f"], "room": ["a", "a", "a"], "speaker": ["x", "y", "z"]})
    >>> columns, passed_over = columns_of(table, [], [], {"speaker"})
    >>> columns["sex"].tolist(), passed_over
    (['sex: f', 'sex: m', 'sex: f'], {'room': 'it has one value'})
    """
    result: dict[str, np.ndarray] = {}
    passed_over: dict[str, str] = {}
    column_of: dict[tuple, str] = {}  # what a column says of each segment -> its name
    numeric = [name for name in dict.fromkeys(measured) if name not in groups]
    for name in segments.columns:
        values = segments[name]
        number = pd.api.types.is_numeric_dtype(values)
        if name in hidden or number and name not in numeric:
            continue
        if number:
            words = in_ranges(name, values.to_numpy(dtype=np.float64))
        else:
            words = (f"{name}: " + values.astype(str)).to_numpy(dtype=object)
            words[values.isna()] = None
        count = len(set(words) - {None})
        same = column_of.setdefault(tuple(values.where(values.notna(), None)), name)
        if number and not count:
            passed_over[name] = "it could not be measured"
        elif count < 2:
            passed_over[name] = "it has one value" if count else "it has no value"
        elif count > MOST_VALUES and name not in groups:
            passed_over[name] = f"it has {count} values, more than {MOST_VALUES}"
        elif same in result:
            passed_over[name] = f"it says the same as {same}"
        else:
            result[name] = words
    return result, passed_over


def in_ranges(name: str, numbers: np.ndarray) -> np.ndarray:
    """Give measured numbers the name of their range: the lowest quarter, the highest quarter, and between.

    >>> in_ranges("duration", np.array([1.0, 2.0, 3.0, 4.0, np.nan])).tolist()[::2]
    ['duration below 1.75 s', 'duration of 1.75 to 3.25 s', None]
    """
    title, unit = (MEASURES[name].title, MEASURES[name].unit) if name in MEASURES else (name, "")
    numbers = np.asarray(numbers, dtype=np.float64)
    if unit == "share":
        unit, numbers = "%", 100 * numbers
    numbers = round_significant(numbers)  # 0.3 - 0.2 s are not below 0.1 s
    known = np.isfinite(numbers)
    low = high = np.nan
    if known.any():
        low, high = (float(f"{border:.3g}") for border in np.quantile(numbers[known], [0.25, 0.75]))
    first, last = (f"{border:g}".replace("-", "−") for border in (low, high))
    between = f"of {first}" if low == high else f"of {first} to {last}"
    ranges = [f"{title} {words} {unit}".strip() for words in (f"below {first}", between, f"above {last}")]
    place = (numbers >= low).astype(int) + (numbers > high)
    return np.where(known, np.array(ranges, dtype=object)[place], None)
