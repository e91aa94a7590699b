"""What a candidate corrects and breaks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.change import EVENTS, impact, impact_codes, net_corrections

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

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
