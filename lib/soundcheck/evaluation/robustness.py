"""Changes of the sound: predictions that stay, quality, and error rates from mild to severe changes.

- A *setting* is a change with a level; changes are in the order of the threshold file, levels from mild to
  severe.
- Error rates under settings are about the segments or trials with a prediction for the sound as it is. A
  missing transcript under a change counts as an empty one, a missing score as the lowest.
- The random reference predicts the same for every setting: drawn anew it would change by chance.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.groups import Groups
from soundcheck.evaluation.subset import CLEAN, Predictions, Subset
from soundcheck.evaluation.trials import scores_under
from soundcheck.metrics import word_rates
from soundcheck.metrics.additive import Statistic, values
from soundcheck.metrics.change import TOLERANCE, unchanged
from soundcheck.metrics.classification import unweighted_average_recall
from soundcheck.metrics.combinators import paired, paired_difference, relative_difference, restrict, stack
from soundcheck.metrics.differential import Setting
from soundcheck.metrics.regression import concordance_cc
from soundcheck.metrics.verification import equal_error_rate, min_dcf
from soundcheck.metrics.weighted import Weighted, memoised, weighted_sums
from soundcheck.metrics.word_errors import WORD, Counts, unit_of, word_error_rate, word_errors
from soundcheck.statistics.bootstrap import Crossing, crossing
from soundcheck.suite.entries import ERROR
from soundcheck.suite.families import PerturbationSeries

Swept = tuple[PerturbationSeries, list[dict[str, Subset]]]
Parts = Mapping[str, Sequence[Setting]]  # label of a value -> settings that it is the mean of
Mask = np.ndarray | None  # rows, bool ``(segments,)``; all if there is none


def changed_subsets(evaluation: Evaluation) -> list[Subset]:
    """Give the subsets of all corpora and tasks under each of the family's changes."""
    return [subset for change in evaluation.family.changes for subset in evaluation.subsets(change)]


def swept(evaluation: Evaluation, base: str = "") -> list[Swept]:
    """Give each of the family's series with the subsets under its steps; see :meth:`Evaluation.swept`."""
    return [(series, list(evaluation.swept(series, base))) for series in evaluation.family.sweeps.values()]


def quality(subset: Subset, predictions: Predictions) -> Statistic:
    """Concordance correlation (values) or unweighted average recall (classes) for the changed signals."""
    if subset.task.is_regression:
        return concordance_cc(subset.truth, predictions.changed)
    return unweighted_average_recall(subset.truth, predictions.changed, subset.task.classes)


def change_of_quality(subset: Subset, predictions: Predictions) -> Statistic:
    """:func:`quality` for the changed signals minus that for the clean ones, on the same segments."""
    return paired_difference(quality(subset, predictions), quality(subset, predictions.unchanged()))


def quality_name(subset: Subset) -> str:
    """Name what :func:`quality` is of a subset."""
    return "concordance_cc" if subset.task.is_regression else "unweighted_average_recall"


def labelled(swept: Iterable[Swept]) -> list[Swept]:
    """Keep the corpora and tasks of :func:`swept` that have labels."""
    return [
        (series, [steps for steps in everywhere if next(iter(steps.values())).truth is not None])
        for series, everywhere in swept
    ]


def proportion_unchanged(subset: Subset, predictions: Predictions, tolerance: float = TOLERANCE) -> Statistic:
    """Share of segments whose value moves by less than the tolerance, or whose class stays."""
    return unchanged(predictions.clean, predictions.changed, tolerance)


def judge_unchanged(evaluation: Evaluation, subset: Subset, name: str = "") -> None:
    """Judge the share of predictions that stay, in a test called like the change; or by a ``name``."""
    tolerance = evaluation.family.options["tolerance"]

    def share(subset: Subset, predictions: Predictions) -> Statistic:
        result = proportion_unchanged(subset, predictions, tolerance)
        return stack({subset.change: result}) if name else result

    evaluation.judge(subset, f"Percentage Unchanged Predictions {name or subset.change}", share)


def judge_changes(evaluation: Evaluation, subsets: Iterable[Subset]) -> None:
    """Judge the share of unchanged predictions and, on segments with a label, the change of quality."""
    for subset in subsets:
        labelled = 0 if subset.truth is None else int(pd.notna(subset.truth).sum())
        if 0 < labelled < len(subset):
            text = "the change of quality is computed on these, the share of unchanged predictions on all"
            where = f"{subset.corpus}, {subset.task.name}"
            evaluation.note(f"{where}: {labelled} of {len(subset)} segments have a label; {text}")
        judge_unchanged(evaluation, subset)
        if not labelled:
            evaluation.skip(subset, f"no segment has a label for {subset.task.name}")
        else:
            metric = "Ccc" if subset.task.is_regression else "Uar"
            evaluation.judge(subset, f"Change {metric} {subset.change}", change_of_quality)
            predictions = subset.predictions
            both = paired(quality(subset, predictions.unchanged()), quality(subset, predictions))
            for condition, statistic in zip((f"before {subset.change}", subset.change), both, strict=True):
                evaluation.estimate(subset, quality_name(subset), statistic, condition=condition)


DOUBLE, HALF = 2.0, 0.5  # the clean rate, and the rate at which every second word is wrong
UNKNOWN = Crossing(np.nan, np.nan, np.nan)
BEFORE = "before changes"  # the condition of the segments that are changed, as they are


class Sweep:
    """Error rates of one model under all settings, and by how much they exceed its clean rate.

    A subclass gives the ``excess`` of the mean rate under settings over so many times the clean rate, and
    what is ``measured`` under a setting: name -> its name among the estimates, if it is one, and a statistic.
    """

    rows, predictions, count_as = "", "", ""  # nouns, and what missing predictions count as
    nothing_wrong: str
    too_high: str  # what is said of a clean rate that can hardly double
    highest: float  # rate of a model that knows nothing

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        # Settings of each transformation that this machine and the sound material can make
        possible = {name: evaluation.possible(of) for name, of in evaluation.family.transformations.items()}
        self.settings = {name: [(name, step) for step in steps] for name, steps in possible.items() if steps}
        self.every = [setting for settings in self.settings.values() for setting in settings]
        self._known: dict[tuple[object, ...], object] = {}

    def note_missing(self, subset: Subset) -> None:
        """Note how many predictions are missing, and what they count as."""
        known = pd.notna(subset.predictions.clean)
        what = f"{self.rows} have no {self.predictions[:-1]} as they are; left out"
        self.evaluation.note_share(subset.corpus, ~known, what)
        if lost := self.lost(subset, known):
            what = f"{lost} of {len(self.every) * known.sum()} {self.predictions} under changes are missing"
            self.evaluation.note(f"{subset.corpus}: {what}; {self.count_as}")

    def lost(self, subset: Subset, known: np.ndarray) -> int:
        """Count the predictions of some rows that are missing under changes."""
        return sum(int(pd.isna(subset.predictions.settings[setting][known]).sum()) for setting in self.every)

    def half(self, subset: Subset, settings: Sequence[Setting]) -> Statistic | None:
        """Rate under each setting minus one half; ``None`` where one half means nothing."""

    def mildest_changes(self, subset: Subset, predictions: Predictions, **of: bool) -> object:
        """Change of the rate under the mildest setting of each transformation."""
        parts = {" ".join(settings[0]): settings[:1] for settings in self.settings.values()}
        return self.excess(subset, predictions, parts, **of)

    def mean_change(self, subset: Subset, predictions: Predictions, mask: Mask = None) -> object:
        """Change of the rate, averaged over all settings."""
        return self.excess(subset, predictions, {"": self.every}, mask=mask)

    def curves(self, subset: Subset) -> pd.DataFrame:
        """Compute what is measured with its interval, and the ``reference``, clean and under each setting."""
        rows = []
        for setting in [CLEAN, *self.every]:
            row = {"corpus": subset.corpus, "transformation": setting[0], "level": setting[1]}
            for name, (measure, statistic) in self.measured(subset, setting).items():
                span = self._span(subset, statistic, measure, " ".join(setting).strip() or BEFORE)
                columns = (name, f"{name}_low", f"{name}_high", "segments", "blocks")
                row |= dict(zip(columns, span, strict=True))
            guessed = self.excess(subset, subset.reference, {"": [setting]}, 0.0)
            rows.append(row | {"reference": values(guessed)[0]})
        return pd.DataFrame(rows)

    def limits(self, subset: Subset) -> list[dict[str, object]]:
        """Find the levels of each transformation, mild to severe, at which the rate doubles, and is one half.

        ``doubled`` and ``half`` are places of levels; ``half`` is ``None`` where that means nothing.
        """
        clean = float(values(self.excess(subset, subset.predictions, {"": [CLEAN]}, 0.0))[0])
        remark = self.too_high if DOUBLE * clean >= self.highest else ""
        if not clean > 0:
            nothing = f"{self.nothing_wrong} as it is, so nothing doubles"
            remark = "there is no rate as it is" if np.isnan(clean) else nothing

        def place(statistic: Statistic | Weighted) -> Crossing:
            resampled = self.evaluation.resample(statistic, subset.blocks)
            return crossing(resampled, self.evaluation.interval)

        rows = []
        for name, settings in self.settings.items():
            parts = {level: [(name, level)] for _, level in settings}
            doubled = place(self.excess(subset, subset.predictions, parts, DOUBLE)) if clean else UNKNOWN
            half = self.half(subset, settings)
            row = {"corpus": subset.corpus, "transformation": name, "levels": tuple(parts), "clean": clean}
            rows.append(row | {"doubled": doubled, "remark": remark, "half": half and place(half)})
        return rows

    def group_changes(self, subset: Subset, result: Iterable[Groups]) -> pd.DataFrame:
        """Compute the mean change of each group for each transformation, and (empty) over all settings."""
        rows = []
        parts = [(groups.column, *part) for groups in result for part in groups.masks.items()]
        for column, group, mask in parts:
            for name, settings in {"": self.every, **self.settings}.items():
                change = self.excess(subset, subset.predictions, {"": settings}, mask=mask)
                rows.append((subset.corpus, column, group, name, *self._span(subset, change)))
        names = ("corpus", "column", "group", "transformation", "value", "low", "high", "segments", "blocks")
        return pd.DataFrame(rows, columns=names)

    def _span(
        self, subset: Subset, statistic: Statistic | Weighted, measure: str = "", condition: str = ""
    ) -> tuple[float, float, float, int, int]:
        if measure:
            (estimate,) = self.evaluation.estimate(subset, measure, statistic, condition=condition)
            numbers = np.array([estimate.value, estimate.low, estimate.high], dtype=np.float64)
            return *numbers, estimate.segments, estimate.speakers or len(np.unique(subset.blocks))
        resampled = self.evaluation.resample(statistic, subset.blocks)
        return tuple(resampled.row(self.evaluation.interval).values())


class WordSweep(Sweep):
    """Word error rates, of characters where words cannot be told apart; additive, so changes are paired."""

    rows, predictions, count_as = "segments", "transcripts", "they count as empty"
    nothing_wrong = "no word is wrong"
    too_high = "doubles only if words are made up: an empty transcript has 100\xa0%"
    highest = 1.0

    def lost(self, subset: Subset, known: np.ndarray) -> int:
        """Count those that have become empty texts already, too."""
        result, view = super().lost(subset, known), self.evaluation.view(subset)
        if view.missing != ERROR:
            return result
        changes = [self.evaluation.settings[setting].identity for setting in self.every]
        lost = (view.lost(change).reindex(subset.segments["key"][known]) for change in changes)
        return result + sum(int(of_change.eq(True).sum()) for of_change in lost)

    def _counts(self, subset: Subset, predictions: Predictions, setting: Setting | None = None) -> Counts:
        place = (subset.corpus, predictions.random, setting)
        if place not in self._known:
            clean = setting is None or predictions.random
            texts = predictions.clean if clean else predictions.settings[setting]
            texts = texts if setting is None else word_rates.missing_as_empty(texts)
            count = word_errors if unit_of(subset.truth) == WORD else word_rates.characters_of
            self._known[place] = count(subset.truth, texts)
        return self._known[place]

    def excess(
        self, subset: Subset, predictions: Predictions, parts: Parts, times: float = 1.0, mask: Mask = None
    ) -> Statistic:
        """Mean rate under some settings minus so many times the clean rate; one value a part."""
        clean, result = self._counts(subset, predictions), {}
        for label, settings in parts.items():
            counts = [self._counts(subset, predictions, setting) for setting in settings]
            errors = np.mean([count.errors for count in counts], axis=0)
            statistic = word_error_rate(clean.words, errors - times * clean.errors)
            result[label] = statistic if mask is None else restrict(statistic, mask)
        return result[""] if list(result) == [""] else stack(result)

    def measured(self, subset: Subset, setting: Setting) -> dict[str, tuple[str, Statistic]]:
        """Give the rate, its change, and the change divided by the clean rate."""
        rate, change = (self.excess(subset, subset.predictions, {"": [setting]}, n) for n in (0.0, 1.0))
        unit = "word" if unit_of(subset.truth) == WORD else "character"
        result = {"rate": (f"{unit}_error_rate", rate)}
        if setting != CLEAN:
            clean = self._counts(subset, subset.predictions)
            relative = relative_difference(rate, word_error_rate(clean.words, clean.errors))
            result |= {"change": ("", change), "relative": ("", relative)}
        return result

    def half(self, subset: Subset, settings: Sequence[Setting]) -> Statistic:
        """Rate under each setting minus one half."""
        clean = self._counts(subset, subset.predictions)
        limit, excess = HALF * clean.words + 0 * clean.errors, {}
        for name, level in settings:
            errors = self._counts(subset, subset.predictions, (name, level)).errors
            excess[level] = word_error_rate(clean.words, errors - limit)
        return stack(excess)


class TrialSweep(Sweep):
    """Equal error rates, and lowest normalised costs: no sums, so that rates are compared on replicates."""

    rows, predictions, count_as = "trials", "scores", "these trials count as rejected"
    nothing_wrong = "no trial is decided wrongly"
    too_high = "twice the rate is what guessing has, or more"
    highest = 0.5

    def _rate(
        self,
        subset: Subset,
        predictions: Predictions,
        setting: Setting,
        mask: Mask = None,
        cost: bool = False,
    ) -> Weighted:
        place = (subset.corpus, predictions.random, setting, b"" if mask is None else mask.tobytes(), cost)
        if place not in self._known:
            scores = predictions.settings[CLEAN if predictions.random else setting]
            trials = self.evaluation.trials(subset, scores_under(predictions.clean, scores))
            trials = trials if mask is None else trials.only(mask)
            costs = self.evaluation.cost
            result = min_dcf(trials, **costs, normalised=True) if cost else equal_error_rate(trials)
            self._known[place] = memoised(result)
        return self._known[place]

    def excess(
        self,
        subset: Subset,
        predictions: Predictions,
        parts: Parts,
        times: float = 1.0,
        mask: Mask = None,
        cost: bool = False,
    ) -> Weighted:
        """Mean rate, or cost, under some settings minus so many times the clean one; one value a part."""
        terms = {}
        for label, settings in parts.items():
            rates = [self._rate(subset, predictions, setting, mask, cost) for setting in settings]
            terms[label] = [(1 / len(settings), rate) for rate in rates]
            if times:
                terms[label].append((-times, self._rate(subset, predictions, CLEAN, mask, cost)))
        return weighted_sums(terms)

    def measured(self, subset: Subset, setting: Setting) -> dict[str, tuple[str, Weighted]]:
        """Give the lowest cost, the rate and its change."""
        cost = self._rate(subset, subset.predictions, setting, cost=True)
        rate = self._rate(subset, subset.predictions, setting)
        result = {"cost": ("min_dcf_normalised", cost), "rate": ("equal_error_rate", rate)}
        if setting != CLEAN:
            result["change"] = ("", self.excess(subset, subset.predictions, {"": [setting]}))
        return result
