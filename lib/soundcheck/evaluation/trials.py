"""Measures that pages about speaker verification show beside their verdicts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.evaluation.conclusions import TrialGap
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.verification import KINDS, NO_BLOCKS, own_trials
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
from soundcheck.statistics.bootstrap import Resampled

RATES = 41  # false acceptance rates at which a band of the curve is computed
_NON_TARGETS = {
    "all trials": "all trials",
    KINDS[1]: "non-targets of the same sex",
    KINDS[2]: "non-targets of different sexes",
}


def overview(evaluation: Evaluation, subset: Subset) -> list[tuple[str, str, Resampled]]:
    """Compute all that is said about the scores of a corpus."""
    trials = evaluation.trials(subset, subset.predictions.clean)
    threshold = evaluation.threshold(subset, subset.predictions.clean)
    rows: list[tuple[str, str, Weighted]] = []
    for kind, mask in evaluation.kinds(subset).items():
        rows.append((f"equal error rate, {_NON_TARGETS[kind]}", "%", equal_error_rate(trials.only(mask))))
    settings = {"main setting": evaluation.cost, **evaluation.costs}
    for name, cost in settings.items():
        about = f"{name} (P {cost.p_target:g}, miss {cost.c_miss:g}, false alarm {cost.c_false_alarm:g})"
        rows.append((f"minimum detection cost, {about}", "", min_dcf(trials, **cost.plain)))
        rows.append(
            (f"the same, normalised, {name}", "", min_dcf(trials, **cost.plain, normalised=True)),
        )
    about = f"at the threshold {threshold:.4g}".replace("inf", "∞").replace("-", "−")
    rows += [
        (f"false acceptance rate {about}", "%", false_acceptance_rate(trials, threshold)),
        (f"false rejection rate {about}", "%", false_rejection_rate(trials, threshold)),
        (f"actual detection cost {about}", "", actual_dcf(trials, threshold, **evaluation.cost.plain)),
    ]
    rows += [
        ("log likelihood cost of the scores as they are", "", cllr(trials)),
        ("the same after the best calibration", "", min_cllr(trials)),
    ]
    return [(name, unit, evaluation.resample(statistic, NO_BLOCKS)) for name, unit, statistic in rows]


def group_errors(evaluation: Evaluation, subset: Subset) -> pd.DataFrame:
    """Compute both error rates at the threshold in use, of all trials and of each group."""
    threshold = evaluation.threshold(subset, subset.predictions.clean)
    masks = {("", "all trials"): np.ones(len(subset), dtype=bool)}
    for column in evaluation.family.options["groups"]:
        groups = evaluation.groups(subset, column, judged=False)
        if groups:
            masks[column, "within any group"] = evaluation.within_groups(subset, column, judged=False)
        for group in groups:
            masks[column, group] = subset.mask(column, group)
    rows = []
    for (column, group), mask in masks.items():
        own = subset.take(np.flatnonzero(mask))
        own = own_trials(own, own.predictions.clean)
        row: dict[str, object] = {"corpus": subset.corpus, "column": column, "group": group}
        for name, rate in (("far", false_acceptance_rate), ("frr", false_rejection_rate)):
            found = evaluation.resample(rate(own, threshold), NO_BLOCKS)
            low, high = found.interval(evaluation.interval)
            row |= {name: found.value[0], f"{name}_low": low[0], f"{name}_high": high[0]}
            row["speakers"] = int(found.blocks[0])
        targets = int(subset.truth[mask].sum())
        counts = {"targets": targets, "nontargets": int(mask.sum()) - targets, "trials": int(mask.sum())}
        rows.append(row | counts)
    return pd.DataFrame(rows)


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
