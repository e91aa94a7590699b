"""The search for groups that are served worse: a plain loop gives the same, planted ones are found."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from soundcheck.metrics.regression import mean_value
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.statistics.draws import weights
from soundcheck.statistics.worst_groups import LEAST_SEGMENTS, repeated_groups, search

MATTERS, REPLICATES = 0.05, 200


def words(name, codes):
    return np.array([None if code < 0 else f"{name}: {code}" for code in codes], dtype=object)


def corpus(rng, speakers=16, each=20, worse=0.0):
    """Speakers with a sex, segments with a channel and a room; women over channel 1 are served worse."""
    speaker = np.repeat(np.arange(speakers), each)
    sex, channel, room = speaker % 2, rng.integers(3, size=len(speaker)), rng.integers(2, size=len(speaker))
    planted = (sex == 0) & (channel == 1)
    wrong = (rng.random(len(speaker)) < 0.2 + worse * planted).astype(float)
    columns = {"sex": words("sex", sex), "channel": words("channel", channel), "room": words("room", room)}
    return columns, wrong, speaker, planted


def plain(columns, errors, counts, blocks, matters, seed):
    """Search with loops over candidates, blocks and replicates' sums; words -> gap, error, p, adjusted p."""
    found, seen = {}, []
    for names in [(n,) for n in columns] + list(itertools.combinations(columns, 2)):
        known = np.array([all(columns[n][row] is not None for n in names) for row in range(len(errors))])
        values = [tuple(columns[n][row] for n in names) if known[row] else None for row in range(len(errors))]
        for value in sorted({value for value in values if value is not None}):
            own = np.array([one == value for one in values])
            rest = known & ~own
            sides = [len(set(blocks[side])) for side in (own, rest)]
            if min(own.sum(), rest.sum()) < LEAST_SEGMENTS or min(sides) < 5:
                continue
            if any((own == other).all() for other in seen):
                continue
            seen.append(own)
            names_of = sorted(set(blocks[known]))
            sums = np.array(
                [
                    [(x * (side & (blocks == b))).sum() for side in (own, rest) for x in (errors, counts)]
                    for b in names_of
                ]
            )
            drawn = weights(len(names_of), REPLICATES, seed).astype(float) @ sums
            gaps = drawn[:, 0] / drawn[:, 1] - drawn[:, 2] / drawn[:, 3]
            gap = errors[own].sum() / counts[own].sum() - errors[rest].sum() / counts[rest].sum()
            least = min(sides)
            error = np.sqrt(least / (least - 1)) * np.std(gaps, ddof=1)
            found[value] = gap, error, stats.t.sf(gap / error, least - 1) if gap >= matters else 1.0
    ordered = sorted(found, key=lambda value: found[value][2], reverse=True)
    adjusted, lowest = {}, 1.0
    for rank, value in zip(range(len(ordered), 0, -1), ordered, strict=True):
        lowest = min(lowest, found[value][2] * len(ordered) / rank)
        adjusted[value] = lowest
    return {value: (*numbers, adjusted[value]) for value, numbers in found.items()}


@pytest.mark.parametrize("missing", [False, True])
def test_equal_to_a_plain_loop(rng, missing):
    columns, wrong, blocks, _ = corpus(rng, speakers=36, each=12, worse=0.6)
    if missing:
        columns["room"][rng.random(len(wrong)) < 0.3] = None
        columns["room"][blocks == 3] = None  # a speaker who is on neither side
    lengths = rng.integers(1, 9, size=len(wrong)).astype(float)
    errors = wrong * lengths
    found = search(columns, word_error_rate(lengths, errors), blocks, MATTERS, REPLICATES, 3)
    expected = plain(columns, errors, lengths, blocks, MATTERS, 3)
    assert [one.words for one in found.candidates] == list(expected)
    got = [(one.gap, one.error, one.p_value) for one in found.candidates]
    np.testing.assert_allclose(got, [row[:3] for row in expected.values()], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.adjusted, [row[3] for row in expected.values()], rtol=0, atol=1e-9)
    assert found.p_value == found.adjusted.min() and found.named


def test_a_planted_group_is_named_first_with_its_interval(rng):
    columns, wrong, blocks, planted = corpus(rng, speakers=40, worse=0.4)
    found = search(columns, mean_value(wrong), blocks, MATTERS, REPLICATES)
    first = found.named[0]
    assert first.name == "sex: 0 × channel: 1"
    assert (first.segments == np.flatnonzero(planted)).all()
    assert first.value == pytest.approx(wrong[planted].mean(), abs=1e-11)
    assert first.others == pytest.approx(wrong[~planted].mean(), abs=1e-11)
    count = sum(1 + len(one.folded) for one in found.named)
    assert count == (found.adjusted <= 0.05).sum()
    assert found.level == pytest.approx(1 - 0.05 * count / len(found.candidates))
    reach = stats.t.ppf((1 + found.level) / 2, first.smaller - 1) * first.error
    assert (first.low, first.high) == pytest.approx((first.gap - reach, first.gap + reach))


def test_groups_that_repeat_a_worse_one_are_folded_below_it(rng):
    columns, wrong, blocks, _ = corpus(rng, speakers=60, worse=0.5)
    found = search(columns, mean_value(wrong), blocks, MATTERS, REPLICATES)
    (only,) = found.named
    names = {one.name for one in only.folded}
    assert only.name == "sex: 0 × channel: 1"
    assert "channel: 1" in names  # half of it is the planted group


def test_a_part_of_a_group_does_not_stand_above_it():
    first, larger = [], 0
    for seed in range(8):
        columns, wrong, blocks, planted = corpus(np.random.default_rng(seed), speakers=60, worse=0.5)
        columns["both"] = words("both", np.where(planted, 1, 0))  # as if a suite named the product
        found = search(columns, mean_value(wrong), blocks, MATTERS, REPLICATES)
        first.append(found.named[0].name)
        gap = found.named[0].gap
        larger += any(one.gap > gap for one in found.named[0].folded)
    assert first.count("both: 1") >= 7  # one in ten finds a room that is worse by chance
    assert larger  # it would have stood above


def test_two_weaknesses_are_two_groups(rng):
    columns, wrong, blocks, planted = corpus(rng, speakers=60)
    second = (columns["sex"] == "sex: 1") & (columns["channel"] == "channel: 2")
    wrong = (rng.random(len(wrong)) < 0.1 + 0.5 * planted + 0.4 * second).astype(float)
    found = search(columns, mean_value(wrong), blocks, MATTERS, REPLICATES)
    assert [one.name for one in found.named] == ["sex: 0 × channel: 1", "sex: 1 × channel: 2"]


def test_segments_of_one_group_count_once_under_the_simpler_name(rng):
    columns, wrong, blocks, _ = corpus(rng)
    columns["again"] = np.array([word.replace("sex", "again") for word in columns["sex"]], dtype=object)
    her = np.array([word.replace("room", "her room") for word in columns["room"]], dtype=object)
    columns["her room"] = np.where(columns["sex"] == "sex: 0", her, None)
    found = search(columns, mean_value(wrong), blocks, MATTERS, REPLICATES)
    names = [one.name for one in found.candidates]
    assert len(names) == len(set(names)) and not any("again" in name for name in names)
    # Women in a room are one group, whichever column says that they are women.
    assert "her room: 0" in names and "sex: 0 × room: 0" not in names
    assert len({one.segments.tobytes() for one in found.candidates}) == len(names)


def test_segments_without_prediction_are_left_out(rng):
    columns, wrong, blocks, _ = corpus(rng, worse=0.4)
    wrong[rng.random(len(wrong)) < 0.2] = np.nan
    known = ~np.isnan(wrong)
    found = search(columns, mean_value(wrong), blocks, MATTERS, REPLICATES)
    rest = {name: words[known] for name, words in columns.items()}
    there = search(rest, mean_value(wrong[known]), blocks[known], MATTERS, REPLICATES)
    expected = [(one.words, one.gap, one.p_value, one.blocks) for one in there.candidates]
    assert [(one.words, one.gap, one.p_value, one.blocks) for one in found.candidates] == expected
    assert found.segments == known.sum() and found.candidates[0].segments.max() < len(wrong)


def test_a_group_of_which_most_have_no_prediction_is_not_judged(rng):
    columns, wrong, blocks, _ = corpus(rng, speakers=40, worse=0.4)
    wrong[(columns["channel"] == "channel: 1") & (np.arange(len(wrong)) % 3 > 0)] = np.nan
    found = search(columns, mean_value(wrong), blocks, MATTERS, REPLICATES)
    unknown = {one.name for one in found.candidates if np.isnan(one.gap)}
    assert "channel: 1" in unknown and "channel: 0" not in unknown
    assert all(one.p_value == 1 for one in found.candidates if np.isnan(one.gap))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_segments_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    columns, wrong, blocks, _ = corpus(rng, worse=0.3)
    errors = np.abs(wrong + rng.normal(0, 0.1, len(wrong)))
    order = rng.permutation(len(wrong))
    one = search(columns, mean_value(errors), blocks, MATTERS, 50)
    other = search(
        {n: w[order] for n, w in columns.items()}, mean_value(errors[order]), blocks[order], MATTERS, 50
    )
    assert [(c.words, c.gap, c.error, c.p_value) for c in one.candidates] == [
        (c.words, c.gap, c.error, c.p_value) for c in other.candidates
    ]
    assert [each.name for each in one.named] == [each.name for each in other.named]


# Which of several groups stands for one weakness: cases worked out by hand


N = 12


def group(*segments: int) -> tuple[np.ndarray, np.ndarray]:
    own = np.isin(np.arange(N), segments)
    return own, ~own


def by(errors):
    """Say that segments are served worse if their mean is higher by 0.2."""
    errors = np.array(errors, dtype=float)

    def worse(own: np.ndarray, rest: np.ndarray) -> bool:
        return bool(own.any() and rest.any() and errors[own].mean() - errors[rest].mean() > 0.2)

    return worse


def test_nothing_is_nothing():
    assert repeated_groups([], by([0] * N)) == {}


def test_a_group_that_shares_half_stands_below():
    errors = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(0, 1, 2, 3), group(1, 2, 3)], by(errors)) == {0: [1, 2]}


def test_a_group_that_shares_less_stands_alone_only_if_it_is_worse_without():
    errors = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(1, 2, 3)], by(errors)) == {0: [1]}
    errors = [1, 1, 0.8, 0.8, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(1, 2, 3)], by(errors)) == {0: [], 1: []}


def test_a_group_that_shares_nothing_stands_alone():
    assert repeated_groups([group(0, 1), group(2, 3)], by([0] * N)) == {0: [], 1: []}


def test_a_part_that_is_no_worse_than_the_rest_stands_below_the_whole():
    errors = [1, 0.9, 0.9, 0.9, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(0, 1, 2, 3)], by(errors)) == {1: [0]}
    errors = [1, 1, 0.1, 0.1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(0, 1, 2, 3)], by(errors)) == {0: [1]}


def test_a_part_goes_where_its_whole_goes():
    errors = [1, 1, 0.3, 0.3, 0, 0, 0, 0, 0, 0, 0, 0]
    # The last one lies within the second and is no worse than the rest of it.
    sides = [group(0, 1), group(0, 1, 2, 3), group(1, 2)]
    assert repeated_groups(sides, by(errors)) == {0: [1, 2]}


def test_more_speakers_show_smaller_gaps(rng):
    planned = []
    for speakers in (16, 40, 80):
        columns, wrong, blocks, _ = corpus(rng, speakers=speakers)
        planned.append(search(columns, mean_value(wrong), blocks, MATTERS, REPLICATES).planned_gap())
    assert planned[0] > planned[1] > planned[2] > MATTERS
