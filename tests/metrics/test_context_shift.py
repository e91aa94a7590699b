"""Shifts by context and their differences: known answers, the plain formula, missing cells."""

import numpy as np
import pytest

from soundcheck.metrics.additive import values
from soundcheck.metrics.combinators import shift_difference
from soundcheck.metrics.distribution import bin_proportions, class_proportions
from soundcheck.metrics.regression import mean_value

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

LANGUAGES = ("de", "en", "zh")


def data(seed=0, n=300):
    rng = np.random.default_rng(seed)
    language, sentiment = rng.integers(3, size=n), rng.integers(3, size=n)
    return rng.random(n), [language == i for i in range(3)], sentiment == 0


@pytest.mark.parametrize("kind", ["mean", "bins", "classes"])
def test_against_the_plain_formula(kind):
    prediction, groups, context = data()
    if kind == "mean":
        statistic, plain = mean_value(prediction), lambda rows: np.array([prediction[rows].mean()])
    elif kind == "bins":
        edges = [-np.inf, 0.25, 0.5, 0.75, np.inf]
        statistic = bin_proportions(prediction)
        plain = lambda rows: np.histogram(prediction[rows], edges)[0] / rows.sum()  # noqa: E731
    else:
        classes = np.array(["a", "b"], dtype=object)[(prediction > 0.4).astype(int)]
        statistic = class_proportions(classes, ("a", "b"))
        plain = lambda rows: np.array([(classes[rows] == c).mean() for c in "ab"])  # noqa: E731
    shifts = [plain(group & context) - plain(group) for group in groups]
    for tested in range(3):
        expected = shifts[tested] - np.mean(shifts, axis=0)
        found = shift_difference(statistic, groups, tested, context)
        np.testing.assert_allclose(values(found), expected, atol=1e-9)
        assert set(found.point().segments) == {int((groups[tested] & context).sum())}


def test_a_group_without_the_context_leaves_no_average():
    prediction, groups, context = data(1)
    context = context & ~groups[2]
    point = shift_difference(mean_value(prediction), groups, 0, context).point()
    assert np.isnan(point.value[0]) and point.reasons == ("no segments",)
