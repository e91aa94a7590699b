"""Judges the error rates of trials within each group of speakers against those within all groups.

The counterpart of :func:`soundcheck.evaluation.groups.judge_groups` for trials: the same threshold serves
everybody, and the trials of a group are those of which both sides belong to it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from soundcheck.evaluation.conclusions import TrialGap
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.verification import Verification
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.weighted import Weighted, weighted_difference

Rate = Callable[[Trials, float], Weighted]
WithinMeasure = Callable[[Subset, Predictions, np.ndarray], Weighted]


def judge_trial_groups(
    evaluation: Verification, subset: Subset, column: str, groups: Sequence[str], tests: Mapping[str, Rate]
) -> None:
    """Judge error rates at the threshold in use for each group of a column against all groups.

    A value is the rate of the trials within the group minus that of the trials within any group, itself
    included; the gap is that rate minus the one of the trials within the other groups; all on the same
    replicates.

    Parameters
    ----------
    evaluation
        Judges and keeps the rows.
    subset
        All trials, also those that lie within no group: they belong to the threshold in use.
    column
        Column of the trials that holds the group of both sides.
    groups
        Groups to judge.
    tests
        Test of the family's threshold file -> error rate, a function of trials and a threshold.
    """
    measures = {test: functools.partial(_rate_in_use, evaluation, rate) for test, rate in tests.items()}
    judge_within_groups(evaluation, subset, column, groups, measures)


def judge_within_groups(
    evaluation: Verification,
    subset: Subset,
    column: str,
    groups: Sequence[str],
    tests: Mapping[str, WithinMeasure],
) -> None:
    """Judge measures of the trials within each group of a column against those within all groups.

    Parameters
    ----------
    evaluation, subset, column, groups
        See :func:`judge_trial_groups`.
    tests
        Test of the family's threshold file -> measure, a function of a subset, predictions and a mask of the
        trials that count.
    """
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
    evaluation: Verification, rate: Rate, subset: Subset, predictions: Predictions, mask: np.ndarray
) -> Weighted:
    everybody = evaluation.trials(subset, predictions.clean)
    return rate(everybody.only(mask), evaluation.threshold(subset, predictions.clean))
