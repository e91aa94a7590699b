"""The bootstrap: blocks and draws, replicates against loops, coverage, and where an excess reaches 0."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.additive import values
from soundcheck.metrics.change import unchanged
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import difference, restrict, stack
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, mean_value
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.statistics import bootstrap
from soundcheck.statistics.bootstrap import block_codes, blocks_of, crossing, first_reached, resample, weights
from soundcheck.statistics.evidence import Scale

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def speakers(rng, blocks=30):
    """Truth, prediction and block of segments whose errors are correlated within a speaker."""
    block = np.repeat(np.arange(blocks), 20)

    def correlated():
        return np.sqrt(0.2) * rng.normal(size=blocks)[block] + np.sqrt(0.8) * rng.normal(size=len(block))

    truth = 0.5 + 0.15 * correlated()
    return truth, truth + 0.1 * correlated(), block


# Blocks and how often each is drawn


def test_blocks_are_names_in_order_or_combinations_of_columns(rng):
    assert block_codes(["1", "001", "NA", "1"])[1] == 3 and block_codes([])[1] == 0
    meetings, people = rng.choice(["m1", "m2", "m3"], 200), rng.choice(list("abcd"), 200)
    files = [f"{n:03d}.wav" for n in range(200)]
    table = pd.DataFrame({"file": files, "meeting": meetings, "speaker": people})
    by_hand, n = block_codes(table["meeting"] + " " + table["speaker"])
    assert n == 12 and blocks_of(table, ["meeting", "speaker"]).tolist() == by_hand.tolist()
    assert blocks_of(table, ["speaker", "topic"]).tolist() == list(range(200))  # each file
    with pytest.raises(ValueError, match="1 of 200 segments have no block"):
        blocks_of(table.assign(speaker=[None, *people[1:]]), ["meeting", "speaker"])
    joined = pd.DataFrame({"file": ["1", "2"], "meeting": ["a b", "a"], "speaker": ["c", "b c"]})
    assert blocks_of(joined, ["meeting", "speaker"]).tolist() == [1, 0]  # names are not put together


def test_draws_follow_from_seed_and_number_of_blocks_only():
    """Any change of these bytes changes every published interval."""
    assert weights(5, 3, seed=0).tolist() == [[2, 1, 2, 0, 0], [1, 0, 1, 2, 1], [2, 2, 0, 1, 0]]
    assert weights(50, 300)[:100].tobytes() == weights(50, 100).tobytes()
    assert weights(50, 100, seed=1).tobytes() != weights(50, 100, seed=0).tobytes()
    with pytest.raises(ValueError, match="read-only"):
        weights(50, 100)[0, 0] = 3
    for n_blocks in (1, 7, 1000):  # multinomial: the variance of a count is 1 - 1/K; 5 standard errors
        drawn = weights(n_blocks, 500)
        assert drawn.shape == (500, n_blocks) and (drawn.sum(axis=1) == n_blocks).all()
        assert abs(drawn.var() - (1 - 1 / n_blocks)) <= 5 * np.sqrt(2.5 / drawn.size) + 1e-12


def test_large_weights_are_drawn_in_pieces_with_the_same_result(monkeypatch, rng):
    truth, prediction, block = speakers(rng, blocks=50)
    whole = resample(concordance_cc(truth, prediction), block).replicates.tobytes()
    for name, size in (("_CHUNK", 350), ("_CACHED_WEIGHTS", 0), ("_SUMS_AT_ONCE", 400), ("_SUMS_AT_ONCE", 1)):
        monkeypatch.setattr(bootstrap, name, size)
        assert resample(concordance_cc(truth, prediction), block).replicates.tobytes() == whole


# Replicates


def test_replicates_are_those_of_a_loop_over_blocks(rng):
    truth, prediction, block = speakers(rng, blocks=25)
    classes, group = ["a", "b", "c"], rng.random(500) < 0.5
    labels, guesses = rng.choice(classes, 500, p=[0.6, 0.38, 0.02]), rng.choice(classes, 500)

    def statistics(i):
        recalls = recall_per_class(labels[i], guesses[i], classes)
        gaps = difference(restrict(recalls, group[i]), recalls)
        return concordance_cc(truth[i], prediction[i]), unchanged(truth[i], prediction[i]), gaps

    replicates = [resample(each, block, 100).replicates for each in statistics(slice(None))]
    rows = [np.flatnonzero(block == b) for b in range(25)]
    for n, counts in enumerate(weights(25, 100)):
        drawn = np.concatenate([np.tile(rows[b], count) for b, count in enumerate(counts)])
        for resampled, statistic in zip(replicates, statistics(drawn), strict=True):
            np.testing.assert_allclose(resampled[n], values(statistic), atol=1e-12)


def test_few_segments_or_blocks_and_constant_predictions(rng):
    nothing = resample(concordance_cc([np.nan, np.nan], [0.1, 0.2]), np.array([0, 1]))
    assert nothing.reasons == ("no segments",)
    assert np.isnan(nothing.interval()).all() and nothing.blocks.tolist() == [0]
    one = resample(concordance_cc([0.1, 0.5, 0.9], [0.2, 0.5, 0.7]), np.zeros(3, int))
    assert np.isfinite(one.value[0]) and one.withheld == ("interval withheld: 1 block, 5 needed",)
    assert np.isnan(one.interval()).all() and np.isnan(one.certainty(0, ">", 0.5, True))
    truth, prediction, block = speakers(rng)
    constant = resample(concordance_cc(truth, np.full(len(truth), 1 / 3)), block)
    assert [ends.tolist() for ends in (constant.value, *constant.interval())] == [[0.0]] * 3
    result = resample(mean_absolute_error(truth, prediction), block, 200)
    assert result.standard_error[0] == pytest.approx(np.std(result.replicates, ddof=1), rel=1e-11)
    assert result.lies_within(Scale(0.0, 1.0)) and not result.lies_within(Scale(0.5, 1.0))
    for blocks in ([0, 1], [0, -1, 2], [0.0, 1.0, 2.0]):
        with pytest.raises(ValueError, match="A block number from 0 is needed for each of 3 segments"):
            resample(mean_value([0.1, 0.2, 0.3]), np.array(blocks))


@pytest.mark.parametrize(("rare", "withheld"), [(5, False), (1, True)])
def test_a_rare_class_is_noted_and_then_withheld(rare, withheld):
    truth = np.array(["b"] * rare + ["a"] * (40 - rare))
    result = resample(recall_per_class(truth, truth, ["a", "b"]), np.arange(40), 4000)
    missing = np.isnan(result.replicates[:, 1]).mean()
    assert missing == pytest.approx((1 - rare / 40) ** 40, abs=0.02)
    assert bool(result.withheld[1]) == np.isnan(result.interval()[0][1]) == withheld
    if not withheld:
        assert result.notes == ("", f"undefined in {100 * missing:.1f} % of the replicates")


# Intervals


@pytest.mark.parametrize(("blocks", "kind"), [(40, "percentile"), (10, "expanded")])
def test_intervals_of_ccc_cover(blocks, kind):
    # Truth has variance 0.15², the error 0.1², the prediction their sum, and there is no bias.
    true, rng, hits, data_sets = 2 * 0.15**2 / (0.15**2 + 0.15**2 + 0.1**2), np.random.default_rng(0), 0, 150
    for n in range(data_sets):
        truth, prediction, block = speakers(rng, blocks)
        low, high = resample(concordance_cc(truth, prediction), block, 400, seed=n).interval(kind)
        hits += low[0] <= true <= high[0]
    slack = 2.6 * np.sqrt(0.95 * 0.05 / data_sets)
    assert 0.92 - slack <= hits / data_sets <= 0.97 + slack


# Where an excess reaches 0


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=2, max_size=6))
def test_the_first_place_is_where_a_line_crosses_zero(excess):
    excess, places = np.array(excess), np.arange(len(excess), dtype=float)
    place = first_reached(excess, places)
    if np.isfinite(place):
        assert np.interp(place, places, excess) == pytest.approx(0, abs=1e-9)
        assert (excess[: int(np.ceil(place))] < 0).all()
    else:
        assert (excess[0] >= 0) if place < 0 else (excess < 0).all()


def crossed(errors, words, limit, blocks, seed=0):
    """Say where the errors beyond a limit reach 0; errors ``(levels, segments)``."""
    levels = {str(n): word_error_rate(words, level - limit) for n, level in enumerate(errors)}
    return crossing(resample(stack(levels), blocks, 150, seed))


def test_crossings_with_known_answers():
    words, blocks = np.full(20, 10.0), np.repeat(np.arange(10), 2)
    errors = [np.full(20, rate) for rate in (1.0, 2.0, 3.0, 5.0)]
    for limit, place in ((2.5, 1.5), (9.0, np.inf), (0.5, -np.inf)):  # ten speakers who are all alike
        result = crossed(errors, words, limit, blocks)
        assert result.place == result.low == result.high == place
    words, limit = np.full(8, 10.0), np.full(8, 2.0)
    few = crossed([0 * words, np.full(8, 4.0)], words, limit, np.repeat(np.arange(4), 2))
    assert few.place == 0.5 and np.isnan([few.low, few.high]).all()
    unknown = crossed([np.full(8, np.nan)] * 2, words, limit, np.arange(8))
    assert np.isnan([unknown.place, unknown.low, unknown.high]).all()


def test_intervals_of_crossings_hold_the_true_level():
    """Speakers err and suffer unlike each other."""
    rng, levels, base = np.random.default_rng(7), np.arange(4.0), 0.15
    rates = base + 0.7 / (1 + np.exp(-1.6 * (levels - 1.2)))

    def drawn(people):
        """Shares of errors of each speaker, unchanged and at each level."""
        habit, suffers = rng.normal(0, 0.6, (2, people, 1)) * [[[1]], [[0.8]]]
        odds = [np.log(base / (1 - base)) + habit, *(np.log(r / (1 - r)) + habit + suffers for r in rates)]
        return 1 / (1 + np.exp(-np.array(odds)))

    before, *changed = drawn(100_000).mean(axis=(1, 2))
    true = first_reached(np.array(changed) - 2 * before, levels)
    blocks, trials, too_high, too_low = np.repeat(np.arange(12), 6), 150, 0, 0
    for trial in range(trials):
        words, shares = rng.integers(3, 12, (12, 6)), drawn(12)
        clean, *changed = (rng.binomial(words, np.broadcast_to(p, words.shape)).ravel() for p in shares)
        result = crossed(changed, words.ravel(), 2.0 * clean, blocks, trial)
        too_high, too_low = too_high + (result.low > true), too_low + (result.high < true)
    # 0.93 to 0.97, and what 150 trials leave to chance
    assert 0.89 <= 1 - (too_high + too_low) / trials <= 0.995
    assert max(too_high, too_low) / trials <= 0.07
