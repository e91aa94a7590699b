"""Share of unchanged predictions: where a change begins, and what is missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.change import EVENTS, impact, impact_codes, is_unchanged, net_corrections, unchanged

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


# What a candidate corrects and breaks


CLASSES = np.array(["anger", "neutral", "sadness"], dtype=object)


def test_numbers_within_the_tolerance_are_right():
    truth = np.full(5, 0.5)
    baseline = np.array([0.5, 0.55, 0.54, 0.3, 0.3])
    candidate = np.array([0.549, 0.5, 0.56, 0.7, 0.32])
    # 0.54 to 0.56 crosses the border, but by less than the tolerance
    assert impact_codes(truth, baseline, candidate).tolist() == [3, 2, 3, 1, 3]


def test_missing_answers_are_unanswered():
    found = impact([0.5, 0.5, 0.5], [0.5, np.nan, 0.5], [0.9, 0.9, 0.5]).point()
    assert found.segments.tolist() == [2, 2, 2]
    assert found.notes == ("no prediction for 1 of 3 segments",) * 3
    assert impact([np.nan], [0.5], [0.5]).point().reasons == ("no segments",) * 3


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=40))
def test_against_counting(rows):
    truth, baseline, candidate = CLASSES[np.array(rows).T]
    counted = {
        "added errors": np.mean((baseline == truth) & (candidate != truth)),
        "corrections": np.mean((baseline != truth) & (candidate == truth)),
        "changed errors": np.mean((baseline != truth) & (candidate != truth) & (baseline != candidate)),
    }
    found = dict(zip(EVENTS, values(impact(truth, baseline, candidate)), strict=True))
    assert found == pytest.approx(counted, abs=1e-12)
    net = value(net_corrections(truth, baseline, candidate))
    right = np.mean(candidate == truth) - np.mean(baseline == truth)
    assert net == pytest.approx(right, abs=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_swapped_models_swap_corrections_and_added_errors(seed):
    rng = np.random.default_rng(seed)
    truth, one, other = rng.random((3, 30))
    there, back = values(impact(truth, one, other)), values(impact(truth, other, one))
    assert there[[0, 1, 2]].tolist() == back[[2, 1, 0]].tolist()
