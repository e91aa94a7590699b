"""Share of unchanged predictions: where a change begins, and what is missing."""

import numpy as np
import pytest

from soundcheck.metrics.additive import value
from soundcheck.metrics.change import is_unchanged, unchanged

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def test_exactly_the_tolerance_is_a_change_for_all_decimals():
    clean = np.arange(0, 96) / 100
    assert not is_unchanged(clean, clean + 0.05).any()
    assert not is_unchanged(clean + 0.05, clean).any()
    assert not is_unchanged(np.round(clean + 0.05, 2), clean).any()
    assert is_unchanged(clean, clean + 0.0499999).all()


def test_classes():
    found = is_unchanged(["a", "b", "c", None], ["a", "c", None, None])
    assert found.tolist()[:2] == [1.0, 0.0]
    assert np.isnan(found[2:]).all()


def test_share():
    assert value(unchanged([0.1, 0.2, 0.3, 0.4], [0.1, 0.24, 0.36, 0.4])) == 0.75
    assert value(unchanged(["a", "b"], ["a", "a"])) == 0.5
    assert value(unchanged([0.1], [0.1])) == 1.0


def test_missing_predictions():
    found = unchanged([0.1, 0.2, np.nan, 0.4], [0.1, 0.2, 0.3, np.nan]).point()
    assert found.value[0] == 1.0 and found.segments[0] == 2
    assert found.notes == ("no prediction for 2 of 4 segments",)
    assert unchanged([], []).point().reasons == ("no segments",)
