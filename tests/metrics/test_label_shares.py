"""Precision at given shares of labels: equal to plain counting, and blind to how frequent labels are."""

import numpy as np
import pytest

from soundcheck.metrics.additive import values
from soundcheck.metrics.classification import (
    class_counts,
    precision_per_class,
    recall_per_class,
    with_label_shares,
)

CLASSES = ("a", "b", "c")


def test_by_hand():
    # Of four a three are called a; of two b one is. As many a as b: 0.75 / (0.75 + 0.5).
    truth, predicted = list("aaaabb"), list("aaabab")
    found = values(with_label_shares(precision_per_class(truth, predicted, "ab"), [1, 1]))
    assert found == pytest.approx([0.75 / 1.25, 0.5 / 0.75])


def test_repeating_segments_is_the_same_as_more_of_their_label(rng):
    truth, predicted = rng.choice(CLASSES, 60), rng.choice(CLASSES, 60)
    times = np.select([truth == "a", truth == "b"], [3, 2], 1)
    more = precision_per_class(np.repeat(truth, times), np.repeat(predicted, times), CLASSES)
    counts = class_counts(np.repeat(truth, times), CLASSES)
    found = with_label_shares(precision_per_class(truth, predicted, CLASSES), counts)
    np.testing.assert_allclose(values(found), values(more), atol=1e-12)


def test_a_missing_class_is_left_out_and_other_statistics_are_refused():
    plain = precision_per_class(list("aab"), list("aba"), CLASSES)
    assert np.isnan(values(with_label_shares(plain, [1, 1, 1]))[2])
    with pytest.raises(ValueError, match="2 classes"):
        with_label_shares(plain, [1, 1])
    assert values(recall_per_class(list("aab"), list("aba"), CLASSES))[0] == 0.5
