"""Classification metrics: known answers, oracles away from the edges, our rule at the edges."""

import audmetric
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.classification import (
    class_counts,
    class_numbers,
    confusion,
    precision_per_class,
    recall_per_class,
    unweighted_average_precision,
    unweighted_average_recall,
    with_label_shares,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

CLASSES = ("anger", "happiness", "neutral", "sadness")
ALL = (recall_per_class, precision_per_class, unweighted_average_recall, unweighted_average_precision)
labels = st.sampled_from(CLASSES)


def reasons(statistic):
    return statistic.point().reasons


@given(st.lists(st.tuples(labels, labels), min_size=2, max_size=60))
def test_oracles(pairs):
    truth, prediction = (list(side) for side in zip(*pairs, strict=True))
    here = [name for name in CLASSES if name in truth]
    places = [CLASSES.index(name) for name in here]
    recalls = sklearn_metrics.recall_score(truth, prediction, labels=here, average=None, zero_division=0)
    precisions = sklearn_metrics.precision_score(
        truth, prediction, labels=here, average=None, zero_division=0
    )
    np.testing.assert_allclose(
        values(recall_per_class(truth, prediction, CLASSES))[places], recalls, atol=1e-9
    )
    np.testing.assert_allclose(
        values(precision_per_class(truth, prediction, CLASSES))[places], precisions, atol=1e-9
    )
    assert value(unweighted_average_recall(truth, prediction, CLASSES)) == pytest.approx(
        recalls.mean(), abs=1e-9
    )
    if len(here) == 4:
        assert value(unweighted_average_recall(truth, prediction, CLASSES)) == pytest.approx(
            audmetric.unweighted_average_recall(truth, prediction, CLASSES), abs=1e-9
        )
        assert value(unweighted_average_precision(truth, prediction, CLASSES)) == pytest.approx(
            audmetric.unweighted_average_precision(truth, prediction, CLASSES), abs=1e-9
        )
    expected = sklearn_metrics.confusion_matrix(truth, prediction, labels=list(CLASSES))
    assert confusion(truth, prediction, CLASSES)[:, :4].tolist() == expected.tolist()


def test_class_absent_from_truth():
    truth, prediction = ["anger", "neutral", "neutral"], ["anger", "sadness", "neutral"]
    for metric in (recall_per_class, precision_per_class):
        found = metric(truth, prediction, CLASSES).point()
        assert found.reasons[1] == "class 'happiness' does not occur in the truth"
        assert found.reasons[3] == "class 'sadness' does not occur in the truth"
        assert np.isnan(found.value[[1, 3]]).all()
    found = unweighted_average_recall(truth, prediction, CLASSES).point()
    assert found.value[0] == 0.75
    assert found.notes == ("over 2 of 4 classes",)


def test_class_never_predicted_has_precision_zero():
    found = precision_per_class(["a", "b", "b"], ["a", "a", "a"], ["a", "b"]).point()
    assert found.value.tolist() == [pytest.approx(1 / 3), 0.0]
    assert found.segments.tolist() == [3, 2]
    assert found.reasons == ("", "")


def test_one_class_in_truth():
    found = unweighted_average_recall(["anger"] * 4, ["anger", "anger", "anger", "neutral"], CLASSES).point()
    assert found.value[0] == 0.75
    assert found.notes == ("not informative: 1 class in the truth",)
    assert unweighted_average_recall(["a"] * 4, ["a"] * 4, ["a"]).point().notes == ("",)


@pytest.mark.parametrize("metric", ALL)
def test_one_segment_and_none(metric):
    assert set(reasons(metric(["a"], ["a"], ["a", "b"]))) == {"1 segment"}
    assert set(reasons(metric([], [], ["a", "b"]))) == {"no segments"}


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_predictions_are_unanswered(missing):
    truth, prediction = ["a"] * 5 + ["b"] * 5, ["a"] * 5 + ["b"] * 4 + [missing]
    found = recall_per_class(truth, prediction, ["a", "b"]).point()
    assert found.segments.tolist() == [5, 4]
    assert found.notes == ("no prediction for 1 of 10 segments",) * 2


def test_names_stay_as_written():
    names = ["NA", "none", "no", "001", "1"]
    assert class_numbers(names, names).tolist() == [0, 1, 2, 3, 4]
    assert class_numbers(pd.Series(names, dtype="str"), names).tolist() == [0, 1, 2, 3, 4]


def test_faults():
    with pytest.raises(ValueError, match="same class is given twice"):
        recall_per_class(["a"], ["a"], ["a", "a"])
    with pytest.raises(ValueError, match="One class a segment"):
        class_numbers([["a"], ["b"]], ["a"])
    with pytest.raises(ValueError, match="1 labels do not fit 2 predictions"):
        recall_per_class(["a"], ["a", "a"], ["a"])


# Precision at given shares of labels: equal to plain counting, and blind to how frequent labels are


ABC = ("a", "b", "c")


def test_by_hand():
    # Of four a three are called a; of two b one is. As many a as b: 0.75 / (0.75 + 0.5).
    truth, predicted = list("aaaabb"), list("aaabab")
    found = values(with_label_shares(precision_per_class(truth, predicted, "ab"), [1, 1]))
    assert found == pytest.approx([0.75 / 1.25, 0.5 / 0.75])


def test_repeating_segments_is_the_same_as_more_of_their_label(rng):
    truth, predicted = rng.choice(ABC, 60), rng.choice(ABC, 60)
    times = np.select([truth == "a", truth == "b"], [3, 2], 1)
    more = precision_per_class(np.repeat(truth, times), np.repeat(predicted, times), ABC)
    counts = class_counts(np.repeat(truth, times), ABC)
    found = with_label_shares(precision_per_class(truth, predicted, ABC), counts)
    np.testing.assert_allclose(values(found), values(more), atol=1e-12)


def test_a_missing_class_is_left_out_and_other_statistics_are_refused():
    plain = precision_per_class(list("aab"), list("aba"), ABC)
    assert np.isnan(values(with_label_shares(plain, [1, 1, 1]))[2])
    with pytest.raises(ValueError, match="2 classes"):
        with_label_shares(plain, [1, 1])
    assert values(recall_per_class(list("aab"), list("aba"), ABC))[0] == 0.5
