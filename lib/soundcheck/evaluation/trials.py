"""Measures that pages about speaker verification show beside their verdicts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.evaluation.conclusions import TrialGap
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.verification import KINDS, NO_BLOCKS
from soundcheck.metrics.calibration import cllr, min_cllr
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import (
    actual_dcf,
    det_curve,
    equal_error_rate,
    equal_error_threshold,
    false_acceptance_rate,
    false_rejection_rate,
    frr_at_far,
    min_dcf,
    min_dcf_threshold,
)
from soundcheck.metrics.weighted import Weighted, weighted_difference
from soundcheck.results.estimates import Estimate

RATES = 41  # false acceptance rates at which a band of the curve is computed
_NON_TARGETS = {
    "all trials": "all trials",
    KINDS[1]: "non-targets of the same sex",
    KINDS[2]: "non-targets of different sexes",
}


def overview(evaluation: Evaluation, subset: Subset) -> dict[str, Estimate]:
    """Estimate all that is said about the scores of a corpus."""
    trials = evaluation.trials(subset, subset.predictions.clean)
    threshold = evaluation.threshold(subset, subset.predictions.clean)
    main, found = evaluation.cost.plain, {}

    def add(name: str, measure: str, statistic: Weighted, condition: str = "") -> None:
        (found[name],) = evaluation.estimate(subset, measure, statistic, condition=condition)

    for kind, mask in evaluation.kinds(subset).items():
        condition = "" if mask.all() else kind
        add(
            f"equal error rate, {_NON_TARGETS[kind]}",
            "equal_error_rate",
            equal_error_rate(trials.only(mask)),
            condition,
        )
    for name, cost in {"main setting": evaluation.cost, **evaluation.costs}.items():
        about = f"{name} (P {cost.p_target:g}, miss {cost.c_miss:g}, false alarm {cost.c_false_alarm:g})"
        of = "" if name == "main setting" else f" (cost {name})"
        add(f"minimum detection cost, {about}", f"min_dcf{of}", min_dcf(trials, **cost.plain))
        normalised = min_dcf(trials, **cost.plain, normalised=True)
        add(f"the same, normalised, {name}", f"min_dcf_normalised{of}", normalised)
    about = f"at the threshold {threshold:.4g}".replace("inf", "∞").replace("-", "−")
    add(f"false acceptance rate {about}", "false_acceptance_rate", false_acceptance_rate(trials, threshold))
    add(f"false rejection rate {about}", "false_rejection_rate", false_rejection_rate(trials, threshold))
    add(
        f"actual detection cost {about}", "actual_dcf (not normalised)", actual_dcf(trials, threshold, **main)
    )
    add("log likelihood cost of the scores as they are", "cllr", cllr(trials))
    add("the same after the best calibration", "min_cllr", min_cllr(trials))
    return found


def det_curves(
    evaluation: Evaluation, named: Mapping[str, Trials], *, bands: bool = True
) -> dict[str, dict[str, object]]:
    """Compute curves of both errors with their bands and their points."""
    curves = {}
    for name, trials in named.items():
        equal = equal_error_rate(trials).point().value[0]
        if np.isnan(equal):
            continue
        thresholds, far, frr = det_curve(trials)
        best = min_dcf_threshold(trials, **evaluation.cost.plain)
        place = max(0, int(np.searchsorted(thresholds, best, side="right")) - 1)
        curves[name] = {
            "far": far,
            "frr": frr,
            "equal": float(equal),
            "minimum": (float(far[place]), float(frr[place])),
        }
        if bands:
            curves[name] |= _band(evaluation, trials)
    return curves


def _band(evaluation: Evaluation, trials: Trials) -> dict[str, object]:
    """Compute the interval of the false rejection rate at some false acceptance rates."""
    others = int((~trials.target & ~np.isnan(trials.scores)).sum())
    deviate = scipy.special.ndtri
    rates = scipy.special.ndtr(np.linspace(deviate(min(0.01, max(1 / others, 1e-5))), deviate(0.7), RATES))
    found = evaluation.resample(frr_at_far(trials, rates), NO_BLOCKS)
    low, high = found.interval(evaluation.interval)
    return {"rates": rates, "low": low, "high": high}


def thresholds_of(evaluation: Evaluation, subset: Subset) -> dict[str, float]:
    """Give the thresholds that a page marks: of equal errors, of the lowest cost, and the one in use."""
    trials = evaluation.trials(subset, subset.predictions.clean)
    found = {
        "equal error rate": equal_error_threshold(trials),
        "lowest cost": min_dcf_threshold(trials, **evaluation.cost.plain),
    }
    used = evaluation.threshold(subset, subset.predictions.clean)
    if used not in found.values():
        found["in use"] = used
    return {name: value for name, value in found.items() if np.isfinite(value)}


Rate = Callable[[Trials, float], Weighted]
WithinMeasure = Callable[[Subset, Predictions, np.ndarray], Weighted]


def judge_trial_groups(
    evaluation: Evaluation, subset: Subset, column: str, groups: Sequence[str], tests: Mapping[str, Rate]
) -> None:
    """Judge error rates at the threshold in use for each group of a column against all groups.

    A value is the rate of the trials within the group minus that of the trials within any group, itself
    included; the gap is that rate minus the one of the trials within the other groups; all on the same
    replicates.
    """
    judge_within_groups(evaluation, subset, column, groups, rates_in_use(evaluation, tests))


def rates_in_use(evaluation: Evaluation, tests: Mapping[str, Rate]) -> dict[str, WithinMeasure]:
    """Make measures of error rates at the threshold in use."""
    return {test: functools.partial(_rate_in_use, evaluation, rate) for test, rate in tests.items()}


def judge_within_groups(
    evaluation: Evaluation,
    subset: Subset,
    column: str,
    groups: Sequence[str],
    tests: Mapping[str, WithinMeasure],
) -> None:
    """Judge measures of the trials within each group of a column against those within all groups."""
    within = subset.segments[column].isin(groups).to_numpy(dtype=bool)
    masks = {group: subset.mask(column, group) for group in groups}
    evaluation.estimate_groups(subset, tests, {f"{column}: {group}": mask for group, mask in masks.items()})
    for group, inside in masks.items():
        reference = evaluation.reference(subset, column, masks, group)
        for test, measure in tests.items():
            against_all = functools.partial(_difference, measure, inside, within)
            gap = TrialGap(measure, inside, *reference)
            evaluation.judge(subset, test, against_all, f"{column}: {group}", gap=gap)


def _difference(
    measure: WithinMeasure, inside: np.ndarray, compared: np.ndarray, subset: Subset, predictions: Predictions
) -> Weighted:
    return weighted_difference(measure(subset, predictions, inside), measure(subset, predictions, compared))


def _rate_in_use(
    evaluation: Evaluation, rate: Rate, subset: Subset, predictions: Predictions, mask: np.ndarray
) -> Weighted:
    everybody = evaluation.trials(subset, predictions.clean)
    return rate(everybody.only(mask), evaluation.threshold(subset, predictions.clean))
