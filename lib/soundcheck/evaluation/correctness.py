"""What tests of correctness measure beside plain metrics: values of speakers, ranges of emotions."""

from __future__ import annotations

import functools

import pandas as pd

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import restrict, stack
from soundcheck.metrics.distribution import proportion_in_range
from soundcheck.metrics.speakers import SpeakerValues, speaker_averages, speaker_proportions

Ends = tuple[float, float]


def speaker_values(evaluation: Evaluation, subset: Subset, predictions: Predictions) -> SpeakerValues:
    """Compute the true and predicted value of each speaker with enough labelled segments.

    Values are averages for regression, the proportion of each class for classification. The family's options
    ``speaker_minimum`` and ``class_minimum`` say how many segments are enough.
    """
    options = evaluation.family.options
    data = (subset.truth, predictions.clean, subset.segments["speaker"])
    if subset.task.is_regression:
        return speaker_averages(*data, options["speaker_minimum"])
    least = options["speaker_minimum"], options["class_minimum"]
    return speaker_proportions(*data, subset.task.classes, *least)


def subsets_with_speakers(evaluation: Evaluation) -> list[tuple[Subset, SpeakerValues]]:
    """Give the subsets that have speakers with enough segments, and their values; the others are skipped."""
    found = [(one, speaker_values(evaluation, one, one.predictions)) for one in evaluation.subsets()]
    for subset, values in found:
        if not len(values):
            evaluation.skip(subset, "no speaker has enough labelled segments")
    return [(subset, values) for subset, values in found if len(values)]


def range_names(evaluation: Evaluation) -> pd.DataFrame:
    """Name the range that is expected of each category (row) and task (column), empty where none is."""
    return pd.DataFrame(evaluation.family.options["expected"]).T.fillna("")


def expected_ranges(evaluation: Evaluation, subset: Subset, name: str = "") -> dict[str, Ends]:
    """Give lowest and highest expected value of each category that a subset has; of one range if named."""
    names, ranges = range_names(evaluation), evaluation.family.options["ranges"]
    found = {}
    for category, own in names.get(subset.task.name, pd.Series(dtype=object)).items():
        if own and name in ("", own) and subset.mask("category", category).any():
            found[category] = ranges[own].get("from", -float("inf")), ranges[own].get("to", float("inf"))
    return found


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
