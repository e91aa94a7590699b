"""Blocks and how often each is drawn."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.statistics.draws import block_codes, blocks_of, weights


def test_block_codes_follow_sorted_names():
    assert block_codes(["b", "a", "c", "a"])[0].tolist() == [1, 0, 2, 0]
    assert block_codes(["1", "001", "NA", "1"])[1] == 3
    assert block_codes([10, 9, 10])[0].tolist() == [1, 0, 1]
    codes, n = block_codes([])
    assert len(codes) == n == 0


def test_blocks_are_combinations_of_columns(rng):
    table = pd.DataFrame(
        {
            "file": [f"{n:03d}.wav" for n in range(200)],
            "meeting": rng.choice(["m1", "m2", "m3"], 200),
            "speaker": rng.choice(list("abcd"), 200),
        }
    )
    by_hand, n = block_codes(table["meeting"] + " " + table["speaker"])
    assert n == 12 and blocks_of(table, ["meeting", "speaker"]).tolist() == by_hand.tolist()
    other = blocks_of(table, ["speaker", "meeting"])  # the same blocks, numbered in another order
    assert len(set(zip(other.tolist(), by_hand.tolist(), strict=True))) == 12
    assert blocks_of(table, ["speaker"]).tolist() == block_codes(table["speaker"])[0].tolist()
    assert blocks_of(table, ["speaker", "topic"]).tolist() == list(range(200))  # each file
    with pytest.raises(ValueError, match="1 of 200 segments have no block"):
        blocks_of(
            table.assign(speaker=table["speaker"].where(np.arange(200) > 0, None)), ["meeting", "speaker"]
        )
    joined = pd.DataFrame({"file": ["1", "2"], "meeting": ["a b", "a"], "speaker": ["c", "b c"]})
    assert blocks_of(joined, ["meeting", "speaker"]).tolist() == [1, 0]  # names are not put together


def test_block_codes_refuse_missing_blocks():
    with pytest.raises(ValueError, match="2 of 3 segments have no block"):
        block_codes(["a", None, np.nan])


@pytest.mark.parametrize("n_blocks", [1, 2, 7, 300, 1000])
def test_weights_are_multinomial(n_blocks):
    drawn = weights(n_blocks, 500)
    assert drawn.shape == (500, n_blocks)
    assert (drawn.sum(axis=1) == n_blocks).all()
    # variance of a count is 1 - 1/K; 5 standard errors
    n = drawn.size
    assert abs(drawn.var() - (1 - 1 / n_blocks)) <= 5 * np.sqrt(2.5 / n) + 1e-12


def test_weights_do_not_move_with_the_number_of_replicates_and_differ_by_seed():
    assert weights(50, 300)[:100].tobytes() == weights(50, 100).tobytes()
    assert weights(50, 100, seed=1).tobytes() != weights(50, 100, seed=0).tobytes()
    assert weights(50, 100) is weights(50, 100)
    with pytest.raises(ValueError, match="read-only"):
        weights(50, 100)[0, 0] = 3


def test_frozen_draws():
    """Any change of these bytes changes every published interval."""
    assert weights(5, 3, seed=0).tolist() == [[2, 1, 2, 0, 0], [1, 0, 1, 2, 1], [2, 2, 0, 1, 0]]
