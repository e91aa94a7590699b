"""What families measure beside plain metrics: of groups, of speakers, and ranges of emotions.

A set of measures is a function of an evaluation and a subset; it gives tests of the family with their
measures. Bins and classes that too few segments fall into, in all groups together, are not evaluated.
"""

import functools
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.evaluation.trials import rates_in_use
from soundcheck.metrics import classification, regression
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.classification import with_label_shares
from soundcheck.metrics.combinators import combine, require_count, restrict, stack
from soundcheck.metrics.distribution import bin_proportions, class_proportions, proportion_in_range
from soundcheck.metrics.speakers import SpeakerValues, speaker_averages, speaker_proportions
from soundcheck.metrics.verification import false_acceptance_rate, false_rejection_rate
from soundcheck.metrics.word_rates import group_error_rate
from soundcheck.statistics import balance

Ends = tuple[float, float]
EVERYWHERE = slice(None)  # the context of all segments


def speaker_values(evaluation: Evaluation, subset: Subset, predictions: Predictions) -> SpeakerValues:
    """Compute true and predicted averages, or shares of classes, of speakers with enough segments."""
    options = evaluation.family.options
    data = (subset.truth, predictions.clean, subset.segments["speaker"])
    if subset.task.is_regression:
        return speaker_averages(*data, options["speaker_minimum"])
    least = options["speaker_minimum"], options["class_minimum"]
    return speaker_proportions(*data, subset.task.classes, *least)


def subsets_with_speakers(evaluation: Evaluation) -> list[tuple[Subset, SpeakerValues]]:
    """Give the subsets that have speakers with enough segments, and their values; the others are skipped."""
    result = []
    for subset in evaluation.subsets():
        values = speaker_values(evaluation, subset, subset.predictions)
        if len(values):
            result.append((subset, values))
        else:
            evaluation.skip(subset, "no speaker has enough labelled segments")
    return result


def range_names(evaluation: Evaluation) -> pd.DataFrame:
    """Name the range that is expected of each category (row) and task (column), empty where none is."""
    return pd.DataFrame(evaluation.family.options["expected"]).T.fillna("")


def expected_ranges(evaluation: Evaluation, subset: Subset, name: str = "") -> dict[str, Ends]:
    """Give lowest and highest expected value of each category that a subset has; of one range if named."""
    names, ranges = range_names(evaluation), evaluation.family.options["ranges"]
    result = {}
    for category, kind in names.get(subset.task.name, pd.Series(dtype=object)).items():
        if kind and name in ("", kind) and subset.mask("category", category).any():
            ends = ranges[kind]
            result[category] = ends.get("from", -float("inf")), ends.get("to", float("inf"))
    return result


def range_measures(evaluation: Evaluation, subset: Subset) -> dict[str, Measure]:
    """Give a test a range: the share of the segments of each category that lie within."""

    def share(s: Subset, p: Predictions, expected: dict[str, Ends]) -> Statistic:
        return stack(
            {
                category: restrict(proportion_in_range(p.clean, *ends), s.mask("category", category))
                for category, ends in expected.items()
            }
        )

    return {
        f"Samples In Expected {name.title()} Range": functools.partial(share, expected=expected)
        for name in evaluation.family.options["ranges"]
        if (expected := expected_ranges(evaluation, subset, name))
    }


MeasureSet = Callable[[Evaluation, Subset], Mapping[str, Measure]]
TRANSCRIPTS = {"Word Error Rate Difference": lambda s, p: group_error_rate(s.truth, p.clean)}
TRIALS = {
    "False Acceptance Rate Difference": false_acceptance_rate,
    "False Rejection Rate Difference": false_rejection_rate,
}
# Kind of a task -> how bad a prediction is, in words, and the measure: of trials whether one is rejected.
ERRORS: Mapping[str, tuple[str, Measure]] = {
    "regression": ("mean absolute error", lambda s, p: regression.mean_absolute_error(s.truth, p.clean)),
    "classification": (
        "share of wrong classes",
        lambda s, p: combine(
            [classification.accuracy(s.truth, p.clean, s.task.classes)], lambda right: 1 - right
        ),
    ),
    "transcription": ("word error rate", lambda s, p: group_error_rate(s.truth, p.clean)),
    "embedding": ("share of rejected trials", lambda s, p: regression.mean_value(p.clean)),
}


def _wrong_class(subset: Subset, predicted: Predictions) -> Statistic:
    right = " ".join(("right", *subset.task.classes))  # the name of no class
    wrong = np.where(predicted.clean == subset.truth, right, predicted.clean)
    return class_proportions(wrong, subset.task.classes)


# Of all segments of a group, the share that is wrongly taken for each class: its error profile.
TAKEN_FOR: Mapping[str, Measure] = {"taken_for": _wrong_class}


def agreement(evaluation: Evaluation, subset: Subset, *, balanced: bool = True) -> dict[str, Measure]:
    """Measure how predictions agree with labels.

    Precision depends on how frequent a label is: of groups that were not drawn to be alike, it is computed as
    if all of them had the same labels.
    """

    def of_frequent(statistic: Statistic, labels: Statistic, s: Subset, predicted: Statistic) -> Statistic:
        statistic = statistic if balanced else with_label_shares(statistic, labels)
        size, minimum = len(s) / s.group_size[0], evaluation.family.options["bin_minimum"]
        return require_count(statistic, predicted, balance.least_predictions(minimum, size), "prediction")

    def of_bins(statistic: Statistic, s: Subset) -> Statistic:
        return require_count(statistic, regression.bin_counts(s.truth), least_per_bin(evaluation, s))

    def precision_per_bin(s: Subset, p: Predictions) -> Statistic:
        precision, labels = regression.precision_per_bin(s.truth, p.clean), regression.bin_counts(s.truth)
        return of_bins(of_frequent(precision, labels, s, regression.bin_counts(p.clean)), s)

    def precision_per_class(s: Subset, p: Predictions) -> Statistic:
        precision = classification.precision_per_class(s.truth, p.clean, s.task.classes)
        labels, predicted = (classification.class_counts(side, s.task.classes) for side in (s.truth, p.clean))
        return of_frequent(precision, labels, s, predicted)

    of_values: dict[str, Measure] = {
        "Concordance Correlation Coeff": lambda s, p: regression.concordance_cc(s.truth, p.clean),
        "Mean Absolute Error": lambda s, p: regression.mean_absolute_error(s.truth, p.clean),
        "Precision Per Bin": precision_per_bin,
        "Recall Per Bin": lambda s, p: of_bins(regression.recall_per_bin(s.truth, p.clean), s),
    }
    of_classes: dict[str, Measure] = {
        "Precision Per Class": precision_per_class,
        "Recall Per Class": lambda s, p: classification.recall_per_class(s.truth, p.clean, s.task.classes),
        "Unweighted Average Recall": lambda s, p: classification.unweighted_average_recall(
            s.truth, p.clean, s.task.classes
        ),
    }
    result = of_values if subset.task.is_regression else of_classes
    return {test: measure for test, measure in result.items() if test in evaluation.family.tests}


def of_suite_groups(evaluation: Evaluation, subset: Subset) -> Mapping[str, Measure]:
    """Measure what is known: errors of transcripts or trials, agreement with labels, predictions alone."""
    if subset.task.is_embedding:
        return rates_in_use(evaluation, TRIALS)
    if subset.task.is_transcription:
        return {} if subset.truth is None else TRANSCRIPTS
    if subset.truth is None:
        return predictions(evaluation, subset)
    return agreement(evaluation, subset, balanced=False)


def predictions(evaluation: Evaluation, subset: Subset) -> dict[str, Callable[..., Statistic]]:
    """Measure what is predicted, without labels; bins are counted in a context, if a mask of it is given."""

    def proportions(s: Subset, p: Predictions, inside: np.ndarray | slice = EVERYWHERE) -> Statistic:
        if not s.task.is_regression:
            return class_proportions(p.clean, s.task.classes)
        counts = regression.bin_counts(p.clean[inside])
        return require_count(bin_proportions(p.clean), counts, least_per_bin(evaluation, s))

    if not subset.task.is_regression:
        return {"Relative Difference Per Class": proportions}
    return {
        "Mean Value": lambda s, p, inside=EVERYWHERE: regression.mean_value(p.clean),
        "Relative Difference Per Bin": proportions,
    }


SHIFTS = {
    "Mean Value": "Mean Shift Difference",
    "Relative Difference Per Bin": "Bin Proportion Shift Difference",
    "Relative Difference Per Class": "Class Proportion Shift Difference",
}  # what is predicted -> the test of how much a context shifts it


def shifts(evaluation: Evaluation, subset: Subset) -> dict[str, Callable[..., Statistic]]:
    """Measure what is predicted, for tests of how much a context shifts it."""
    return {SHIFTS[test]: measure for test, measure in predictions(evaluation, subset).items()}


def least_per_bin(evaluation: Evaluation, subset: Subset) -> int:
    """Give the fewest segments that a bin needs in all groups together, by the option ``bin_minimum``."""
    return balance.least_per_bin(evaluation.family.options["bin_minimum"], len(subset) / subset.group_size[0])
