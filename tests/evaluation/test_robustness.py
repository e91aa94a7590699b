"""Quality under a change, and its change, are those of the metrics on the same segments."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.robustness import change_of_quality, quality
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import value


def subset(task, truth, clean, changed):
    clean, changed, truth = (np.asarray(column) for column in (clean, changed, truth))
    predictions = Predictions(clean, changed)
    data = pd.DataFrame({"key": [str(n) for n in range(len(truth))]})
    return Subset("c", BUILTIN[task], data, truth, predictions, predictions, np.arange(len(truth)))


def test_values_are_compared_by_concordance_on_segments_with_both():
    truth, clean = np.array([0.1, 0.4, 0.6, 0.9]), np.array([0.1, 0.4, 0.6, 0.9])
    changed = clean + 0.1  # means differ by 0.1, variances agree: 2 s / (2 s + 0.01)
    own = subset("arousal", truth, clean, changed)
    variance = np.var(truth)
    expected = 2 * variance / (2 * variance + 0.01)
    assert value(quality(own, own.predictions)) == pytest.approx(expected)
    assert value(change_of_quality(own, own.predictions)) == pytest.approx(expected - 1)
    missing = subset("arousal", truth, clean, [np.nan, *changed[1:]])
    variance = np.var(truth[1:])
    expected = 2 * variance / (2 * variance + 0.01)
    assert value(change_of_quality(missing, missing.predictions)) == pytest.approx(expected - 1)


def test_classes_are_compared_by_unweighted_average_recall():
    truth = np.array(["anger", "anger", "neutral", "neutral"], dtype=object)
    changed = np.array(["anger", "neutral", "neutral", "neutral"], dtype=object)
    own = subset("emotion", truth, truth, changed)
    assert value(quality(own, own.predictions)) == pytest.approx(0.75)
    assert value(change_of_quality(own, own.predictions)) == pytest.approx(-0.25)
