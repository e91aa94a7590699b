"""Where an excess reaches 0: known answers, properties, and coverage on simulated recognisers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.combinators import stack
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.crossing import crossing, first_reached


def found(errors, words, limit, blocks, replicates=200, seed=0):
    """Resample the errors beyond a limit at each level, ``(levels, segments)``."""
    levels = {str(n): word_error_rate(words, own - limit) for n, own in enumerate(errors)}
    return resample(stack(levels), blocks, replicates, seed)


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=2, max_size=6))
def test_the_first_place_is_where_a_line_crosses_zero(excess):
    excess = np.array(excess)
    places = np.arange(len(excess), dtype=float)
    place = first_reached(excess, places)
    if np.isfinite(place):
        assert np.interp(place, places, excess) == pytest.approx(0, abs=1e-9)
        assert (excess[: int(np.ceil(place))] < 0).all()
    else:
        assert (excess[0] >= 0) if place < 0 else (excess < 0).all()


def test_known_answers():
    """Ten speakers who are all alike: the interval is the crossing itself."""
    words, blocks = np.full(20, 10.0), np.repeat(np.arange(10), 2)
    errors = [np.full(20, rate) for rate in (1.0, 2.0, 3.0, 5.0)]
    doubled = crossing(found(errors, words, 2 * np.full(20, 1.25), blocks))
    assert (doubled.place, doubled.low, doubled.high) == (1.5, 1.5, 1.5)
    never = crossing(found(errors, words, np.full(20, 9.0), blocks))
    assert never.place == never.low == never.high == np.inf
    before = crossing(found(errors, words, np.full(20, 0.5), blocks))
    assert before.place == before.low == before.high == -np.inf


def test_what_withholds_an_interval_and_what_a_single_level_says():
    words, blocks = np.full(8, 10.0), np.repeat(np.arange(4), 2)
    few = crossing(found([np.zeros(8), np.full(8, 4.0)], words, np.full(8, 2.0), blocks))
    assert few.place == 0.5 and np.isnan([few.low, few.high]).all()
    blocks = np.arange(8)
    assert crossing(found([np.zeros(8)], words, np.full(8, 2.0), blocks)).place == np.inf
    unknown = crossing(found([np.full(8, np.nan)] * 2, words, np.full(8, 2.0), blocks))
    assert np.isnan([unknown.place, unknown.low, unknown.high]).all()


def test_intervals_hold_the_true_level():
    """Speakers err and suffer unlike each other; 93 to 97 of 100 intervals hold the truth."""
    rng, speakers, levels, base = np.random.default_rng(7), 12, 4, 0.15
    rates = base + 0.7 / (1 + np.exp(-1.6 * (np.arange(levels) - 1.2)))

    def shifted(rate, shift):
        return 1 / (1 + np.exp(-(np.log(rate / (1 - rate)) + shift)))

    own, suffers = rng.normal(0, 0.6, (2, 200_000)) * [[1], [0.8]]
    before = shifted(base, own).mean()
    excess = [shifted(rate, own + suffers).mean() - 2 * before for rate in rates]
    true = first_reached(np.array(excess), np.arange(levels, dtype=float))
    blocks, held, sides, trials = np.repeat(np.arange(speakers), 6), 0, [0, 0], 300
    for trial in range(trials):
        own, suffers = rng.normal(0, 0.6, (2, speakers, 1)) * [[[1]], [[0.8]]]
        words = rng.integers(3, 12, (speakers, 6))
        clean = rng.binomial(words, np.broadcast_to(shifted(base, own), words.shape)).ravel()
        heard = [
            rng.binomial(words, np.broadcast_to(shifted(rate, own + suffers), words.shape)).ravel()
            for rate in rates
        ]
        seen = crossing(found(heard, words.ravel(), 2.0 * clean, blocks, 200, trial))
        held += seen.low <= true <= seen.high
        sides = [sides[0] + (seen.low > true), sides[1] + (seen.high < true)]
    # 0.93 to 0.97, and what 300 trials leave to chance
    assert 0.91 <= held / trials <= 0.99, (
        held,
        sides,
    )
    assert max(sides) / trials <= 0.06
