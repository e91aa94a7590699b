"""Speaker verification: trials, their thresholds and errors, also under other conditions of use.

A subset of trials is like a subset of segments: its ``segments`` are the trials, ``truth`` says which of them
are targets, predictions are scores. A trial belongs to a group if both of its speakers do. Speakers are
resampled; a non-target trial counts as often as the product of how often each was drawn. The tested side is
changed, the enrolled one stays as it is.
"""

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.augment import registry
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.evaluation.judging import Judging
from soundcheck.evaluation.subset import Predictions, Subset, once
from soundcheck.metrics import verification
from soundcheck.metrics.combinators import relabel
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.weighted import Weighted, weighted_difference
from soundcheck.results.rows import Estimate
from soundcheck.suite.families import Family

NO_CHANGES = "scores and embeddings of a table cannot answer for changed signals"
EQUAL_ERROR_RATE = "equal error rate"
MINIMUM_COST = "minimum cost"
EQUAL_COSTS = {"c_miss": 1.0, "c_false_alarm": 1.0}  # of a rejected target, and of an accepted non-target
SIDES = ["enrol_speaker", "test_speaker"]
NO_BLOCKS = np.zeros(0, dtype=np.intp)  # trials bring their own
TARGET, NON_TARGET = "target", "non-target"
SAME_SEX, OTHER_SEX = "non-target, same sex", "non-target, other sex"  # of non-targets whose sexes are known
KINDS = (TARGET, SAME_SEX, OTHER_SEX, NON_TARGET)

# Of a table of trials; see soundcheck.corpora.trials.trial_table, and with_groups.
TRIAL_COLUMNS = frozenset(
    ("key", "enrol", "test", "target", "enrolment", "segment", "enrol_speaker", "test_speaker")
    + ("first", "second", "enrolled", "kind")
)


def threshold_in_use(family: Family, model: str, scores: np.ndarray, target: np.ndarray) -> float:
    """Give the threshold above which a trial is accepted: a number, or chosen on the trials themselves."""
    wanted = family.option("threshold", model)
    nobody = np.zeros(len(scores), dtype=np.intp)  # who speaks makes no difference
    trials = Trials(scores, target, nobody, nobody, 1)
    if wanted == EQUAL_ERROR_RATE:
        return verification.equal_error_threshold(trials)
    if wanted == MINIMUM_COST:
        return verification.min_dcf_threshold(trials, **family.options["cost"])
    return float(wanted)


def own_trials(subset: Subset, scores: np.ndarray) -> Trials:
    """Put trials together as if there were no other speakers: only theirs are drawn."""
    result = Trials.of(scores, subset.truth, *(subset.segments[side] for side in SIDES))
    return result.of_recordings(subset.segments["enrolled"], subset.segments["segment"])


def scores_under(clean: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Give scores under a change for the trials that have one as they are, float64 ``(trials,)``.

    >>> scores_under(np.array([0.9, 0.2, np.nan]), np.array([0.5, np.nan, 0.1])).tolist()
    [0.5, -0.9, nan]
    """
    lowest = np.nanmin(scores) - 1 if np.isfinite(scores).any() else 0.0
    return np.where(np.isnan(clean), np.nan, np.where(np.isnan(scores), lowest, scores))


class TrialTasks(Judging):
    """What an evaluation knows of trials: their scores, thresholds and groups."""

    @property
    def cost(self) -> dict[str, float]:
        """Share of targets in use and costs of both errors, by which the main tests weigh errors."""
        return EQUAL_COSTS | self.family.options["cost"]

    @property
    def costs(self) -> dict[str, dict[str, float]]:
        """Further settings of the cost by name."""
        return {name: EQUAL_COSTS | cost for name, cost in self.family.options["costs"].items()}

    def why_unscored(self, change: str) -> str:
        """Say why there are no scores under a change; empty if there are."""
        if change and not self.predicts_changes:
            return NO_CHANGES
        return registry.missing(self.family.changes[change]) if change else ""

    def trials(self, subset: Subset, scores: np.ndarray) -> Trials:
        """Put the trials of a subset and scores for them together, for metrics."""
        first, second = (subset.segments[name].to_numpy() for name in ("first", "second"))
        speakers = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
        result = Trials(scores, subset.truth, first, second, speakers)
        return result.of_recordings(subset.segments["enrolled"], subset.segments["segment"])

    def threshold(self, subset: Subset, scores: np.ndarray) -> float:
        """Give the threshold in use; minus infinity with trials of one kind only, which have no rates."""
        result = threshold_in_use(self.family, self.model, scores, subset.truth)
        return -np.inf if np.isnan(result) else result

    def kinds(self, subset: Subset) -> dict[str, np.ndarray]:
        """Mask all trials, then targets with each kind of non-target, unless one has too few of these."""
        masks = {kind: subset.segments["kind"].eq(kind).to_numpy() for kind in (SAME_SEX, OTHER_SEX)}
        few = any(mask.sum() < self.family.options["minimum_trials"] for mask in masks.values())
        kinds = {} if few else {kind: mask | subset.truth for kind, mask in masks.items()}
        return {"all trials": np.ones(len(subset), dtype=bool)} | kinds


def enrolled_recordings(table: TrialTable) -> np.ndarray:
    """Give the recording that each trial is enrolled with; of several the first stands for all."""
    first = pd.Series(table.members).groupby(table.member_of).first()
    return first[table.frame["enrolment"]].to_numpy()


def with_groups(table: TrialTable, segments: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Add numbers of the speakers, the groups of all recordings of both sides, and the kind of each trial."""
    first, second = enrolled_recordings(table), table.frame["segment"].to_numpy()
    codes, _ = pd.factorize(pd.concat([table.frame[side] for side in SIDES]), sort=True)
    added = {"first": codes[: len(first)], "second": codes[len(first) :], "enrolled": first}
    target = table.frame["target"].to_numpy(dtype=bool)
    added["kind"] = np.where(target, TARGET, NON_TARGET).astype(object)
    for column in sorted({*columns, "sex"} - TRIAL_COLUMNS - {*table.frame}):  # a list may bring its own
        unknown = pd.Series(None, index=segments.index, dtype=object)
        values = segments.get(column, unknown).to_numpy(dtype=object)
        of = pd.Series(values[table.members], dtype=object).groupby(table.member_of)  # of each enrolment
        enrolled = of.first().where(of.nunique(dropna=False).eq(1))[table.frame["enrolment"]].to_numpy()
        tested = values[second]
        same = enrolled == tested
        added[column] = np.where(pd.notna(enrolled) & same, enrolled, None)
        if column == "sex":
            others = pd.notna(enrolled) & pd.notna(tested) & ~target
            added["kind"][others] = np.where(same[others], SAME_SEX, OTHER_SEX)
    return table.frame.assign(**added)


# What is judged and estimated

RATES = 41  # false acceptance rates at which a band of the curve is computed
Error = Callable[[Trials], Weighted]
Rate = Callable[[Trials, float], Weighted]
Curves = dict[str, dict[str, object]]  # name -> both errors, their points, and perhaps a band
WithinMeasure = Callable[[Subset, Predictions, np.ndarray], Weighted]


def judge_errors(evaluation: TrialTasks, subset: Subset) -> None:
    """Judge equal error rate, detection costs and the log likelihood cost of all trials of a corpus."""
    cost, costs = evaluation.cost, evaluation.costs

    def in_use(trials: Trials) -> Weighted:
        threshold = evaluation.threshold(subset, trials.scores)
        return verification.actual_dcf(trials, threshold, **cost, normalised=True)

    def normalised(name: str, trials: Trials) -> Weighted:
        return relabel(verification.min_dcf(trials, **costs[name], normalised=True), lambda _: name)

    def judge(test: str, measure: Error) -> None:
        evaluation.judge(subset, test, lambda s, p: measure(evaluation.trials(s, p.clean)))

    judge("Equal Error Rate", verification.equal_error_rate)
    judge("Minimum Detection Cost", functools.partial(verification.min_dcf, **cost))
    for name in costs:
        judge("Normalised Minimum Detection Cost", functools.partial(normalised, name))
    judge("Actual Detection Cost", in_use)
    judge("Log Likelihood Cost", verification.cllr)


def judge_changed_trials(
    evaluation: TrialTasks, subsets: Sequence[Subset], changed: Sequence[Subset]
) -> None:
    """Judge the equal error rate of changed minus that of clean recordings, over the same trials."""

    def change(subset: Subset, predictions: Predictions) -> Weighted:
        scores = np.array([predictions.changed, predictions.clean])
        both = np.where(np.isfinite(scores).all(axis=0), scores, np.nan)
        trials = (evaluation.trials(subset, side) for side in both)
        return weighted_difference(*map(verification.equal_error_rate, trials))

    for name in evaluation.family.changes:
        for subset in subsets:
            evaluation.skip(subset, evaluation.why_unscored(name), f"Change Eer {name}")
    for subset in changed:
        evaluation.judge(subset, f"Change Eer {subset.change}", change)


def overview(evaluation: TrialTasks, subset: Subset) -> list[Estimate]:
    """Estimate all that is said about the scores of a corpus; the kind of non-targets is the condition."""
    trials = evaluation.trials(subset, subset.predictions.clean)
    threshold = evaluation.threshold(subset, subset.predictions.clean)
    result: dict[str, dict[str, Weighted]] = {}
    for kind, mask in evaluation.kinds(subset).items():
        equal = verification.equal_error_rate(trials.only(mask))
        result["" if mask.all() else kind] = {"equal_error_rate": equal}
    for name, cost in {"": evaluation.cost, **evaluation.costs}.items():
        of = f" (cost {name})" if name else ""
        result[""][f"min_dcf{of}"] = verification.min_dcf(trials, **cost)
        result[""][f"min_dcf_normalised{of}"] = verification.min_dcf(trials, **cost, normalised=True)
    result[""] |= rates_at(trials, threshold)
    result[""]["actual_dcf (not normalised)"] = verification.actual_dcf(trials, threshold, **evaluation.cost)
    result[""] |= {"cllr": verification.cllr(trials), "min_cllr": verification.min_cllr(trials)}
    return estimates_of(evaluation, subset, result)


def rates_at(trials: Trials, threshold: float) -> dict[str, Weighted]:
    """Give both error rates at a threshold, by measure."""
    rates = (verification.false_acceptance_rate, verification.false_rejection_rate)
    return {rate.__name__: rate(trials, threshold) for rate in rates}


def estimates_of(
    evaluation: TrialTasks, subset: Subset, measured: Mapping[str, Mapping[str, Weighted]]
) -> list[Estimate]:
    """Estimate measures under each condition; the unnamed condition is all trials as they are."""
    return [
        evaluation.estimate(subset, measure, statistic, condition=condition)[0]
        for condition, measures in measured.items()
        for measure, statistic in measures.items()
    ]


def det_curves(evaluation: TrialTasks, named: Mapping[str, Trials], *, bands: bool = True) -> Curves:
    """Compute curves of both errors with their bands and their points."""
    curves: Curves = {}
    for name, trials in named.items():
        equal = verification.equal_error_rate(trials).point().value[0]
        if np.isnan(equal):
            continue
        thresholds, far, frr = verification.det_curve(trials)
        best = verification.min_dcf_threshold(trials, **evaluation.cost)
        place = max(0, int(np.searchsorted(thresholds, best, side="right")) - 1)
        curves[name] = {"far": far, "frr": frr, "equal": float(equal), "minimum": (far[place], frr[place])}
        if bands:
            others = int((~trials.target & ~np.isnan(trials.scores)).sum())
            deviates = scipy.special.ndtri([min(0.01, max(1 / others, 1e-5)), 0.7])
            rates = scipy.special.ndtr(np.linspace(*deviates, RATES))
            resampled = evaluation.resample(verification.frr_at_far(trials, rates), NO_BLOCKS)
            low, high = resampled.interval(evaluation.interval)
            curves[name] |= {"rates": rates, "low": low, "high": high}
    return curves


def curves_of_kinds(evaluation: TrialTasks, subset: Subset) -> Curves:
    """Compute curves of all trials, and of those with each kind of non-targets."""
    trials = evaluation.trials(subset, subset.predictions.clean)
    kinds = evaluation.kinds(subset).items()
    return det_curves(evaluation, {name: trials.only(mask) for name, mask in kinds})


def curves_of_changes(evaluation: TrialTasks, changed: Sequence[Subset]) -> dict[str, Curves]:
    """Compute curves of each corpus as it is and under each change, without bands."""
    named: dict[str, dict[str, Trials]] = {}
    for subset in changed:
        clean = evaluation.trials(subset, subset.predictions.clean)
        trials = named.setdefault(subset.corpus, {"clean": clean})
        trials[subset.change] = evaluation.trials(subset, subset.predictions.changed)
    return {corpus: det_curves(evaluation, trials, bands=False) for corpus, trials in named.items()}


def thresholds_of(evaluation: TrialTasks, subset: Subset) -> dict[str, float]:
    """Give the thresholds that a page marks: of equal errors, of the lowest cost, and the one in use."""
    scores = subset.predictions.clean
    result = best_thresholds(evaluation, evaluation.trials(subset, scores))
    used = evaluation.threshold(subset, scores)
    result |= {} if used in result.values() else {"in use": used}
    return {name: value for name, value in result.items() if np.isfinite(value)}


def best_thresholds(evaluation: TrialTasks, trials: Trials) -> dict[str, float]:
    """Give the thresholds of equal errors and of the lowest cost."""
    lowest = verification.min_dcf_threshold(trials, **evaluation.cost)
    return {"equal error rate": verification.equal_error_threshold(trials), "lowest cost": lowest}


def rates_in_use(evaluation: TrialTasks, tests: Mapping[str, Rate]) -> dict[str, WithinMeasure]:
    """Make measures of error rates at the threshold in use."""

    @once
    def decided(subset: Subset, predictions: Predictions) -> tuple[Trials, float]:
        scores = predictions.clean
        return evaluation.trials(subset, scores), evaluation.threshold(subset, scores)

    def measure(rate: Rate, subset: Subset, predictions: Predictions, mask: np.ndarray) -> Weighted:
        trials, threshold = decided(subset, predictions)
        return rate(trials.only(mask), threshold)

    return {test: functools.partial(measure, rate) for test, rate in tests.items()}
