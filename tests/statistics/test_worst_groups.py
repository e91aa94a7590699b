"""The search for groups that are served worse: a plain loop gives the same, planted ones are found."""

import itertools

import numpy as np
import pytest
from scipy import stats

from soundcheck.metrics.regression import mean_value
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.statistics.bootstrap import weights
from soundcheck.statistics.worst_groups import LEAST_SEGMENTS, repeated_groups, search

MARGIN, REPLICATES = 0.05, 200


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


def searched(columns, errors, blocks):
    return search(columns, mean_value(errors), blocks, MARGIN, REPLICATES)


def numbers_of(groups):
    return [(group.words, group.gap, group.error, group.p_value, group.blocks) for group in groups]


def plain_search(columns, errors, counts, blocks, seed):
    """Search with loops over candidates, blocks and replicates' sums; words -> gap, error, p, adjusted p."""
    result, seen = {}, []
    for names in [(n,) for n in columns] + list(itertools.combinations(columns, 2)):
        values = [tuple(columns[n][row] for n in names) for row in range(len(errors))]
        known = np.array([None not in value for value in values])
        for value in sorted({value for value in values if None not in value}):
            group = np.array([other == value for other in values])
            rest = known & ~group
            sides = [len(set(blocks[side])) for side in (group, rest)]
            repeated = any((group == other).all() for other in seen)
            if min(group.sum(), rest.sum()) < LEAST_SEGMENTS or min(sides) < 5 or repeated:
                continue
            seen.append(group)
            parts = [x * side for side in (group, rest) for x in (errors, counts)]
            sums = [[part[blocks == b].sum() for part in parts] for b in sorted(set(blocks[known]))]
            drawn = weights(len(sums), REPLICATES, seed).astype(float) @ sums

            gaps = drawn[:, 0] / drawn[:, 1] - drawn[:, 2] / drawn[:, 3]
            gap = errors[group].sum() / counts[group].sum() - errors[rest].sum() / counts[rest].sum()
            least = min(sides)
            error = np.sqrt(least / (least - 1)) * np.std(gaps, ddof=1)
            result[value] = gap, error, stats.t.sf(gap / error, least - 1) if gap >= MARGIN else 1.0
    adjusted = stats.false_discovery_control([numbers[2] for numbers in result.values()])
    return {value: (*result[value], p) for value, p in zip(result, adjusted, strict=True)}


def test_equal_to_a_plain_loop(rng):
    columns, wrong, blocks, _ = corpus(rng, speakers=36, each=12, worse=0.6)
    columns["room"][(rng.random(len(wrong)) < 0.3) | (blocks == 3)] = None  # a speaker is on neither side
    first = np.arange(len(wrong)) % 12 == 0
    columns["edge"] = words("edge", np.where(blocks // 5 == 2, 1, 2 * (first & (blocks < 30))))
    columns["small"] = words("small", (first & (blocks < 20)).astype(int))
    hers = [room and room.replace("room", "her room") for room in columns["room"]]
    columns["her room"] = np.where(columns["sex"] == "sex: 0", np.array(hers, dtype=object), None)
    lengths = rng.integers(1, 9, size=len(wrong)).astype(float)
    errors = wrong * lengths
    result = search(columns, word_error_rate(lengths, errors), blocks, MARGIN, REPLICATES, 3)
    expected = plain_search(columns, errors, lengths, blocks, 3)
    assert [group.words for group in result.candidates] == list(expected)
    # Women in a room are one group, under the simpler name.
    names = [group.name for group in result.candidates]
    assert "her room: 0" in names and "sex: 0 × room: 0" not in names
    numbers = [(group.gap, group.error, group.p_value) for group in result.candidates]
    np.testing.assert_allclose(numbers, [row[:3] for row in expected.values()], rtol=0, atol=1e-9)
    np.testing.assert_allclose(result.adjusted, [row[3] for row in expected.values()], rtol=0, atol=1e-9)
    assert result.p_value == result.adjusted.min() and result.named


def test_a_planted_group_is_named_first_with_its_interval_and_others_folded_below(rng):
    columns, wrong, blocks, planted = corpus(rng, speakers=60, worse=0.5)
    result = searched(columns, wrong, blocks)
    (only,) = result.named
    assert only.name == "sex: 0 × channel: 1" and (only.segments == np.flatnonzero(planted)).all()
    assert only.value == pytest.approx(wrong[planted].mean(), abs=1e-11) and only.blocks == 30
    assert only.others == pytest.approx(wrong[~planted].mean(), abs=1e-11)
    assert "channel: 1" in {group.name for group in only.folded}  # half of it is the planted group
    assert search(columns, mean_value(wrong), blocks, only.gap, REPLICATES).named[0].name == only.name
    columns["both"] = words("both", np.where(planted, 1, 0))  # as if a suite named the product
    assert searched(columns, wrong, blocks).named[0].name == "both: 1"  # a part does not stand above it
    count = 1 + len(only.folded)
    assert count == (result.adjusted <= 0.05).sum()
    assert result.level == pytest.approx(1 - 0.05 * count / len(result.candidates))
    reach = stats.t.ppf((1 + result.level) / 2, only.smaller - 1) * only.error
    assert (only.low, only.high) == pytest.approx((only.gap - reach, only.gap + reach))
    sizes = {group: 8 * len(group.segments) / len(wrong) for group in result.candidates}
    similar = [(group, group.error * size**0.5) for group, size in sizes.items() if 0.5 <= size <= 2]
    passed = [error * stats.t.isf(0.05 / len(sizes), group.smaller - 1) for group, error in similar]
    power = [error * stats.t.ppf(0.8, group.smaller - 1) for group, error in similar]
    gaps = [max(least, MARGIN) + more for least, more in zip(passed, power, strict=True)]
    assert result.planned_gap() == pytest.approx(np.median(gaps))


def test_segments_without_prediction_are_left_out_and_groups_of_them_not_judged(rng):
    columns, wrong, blocks, _ = corpus(rng, speakers=40, worse=0.4)
    some = np.where(rng.random(len(wrong)) < 0.2, np.nan, wrong)
    known = ~np.isnan(some)
    result = searched(columns, some, blocks)
    alone = searched({name: column[known] for name, column in columns.items()}, some[known], blocks[known])
    assert numbers_of(result.candidates) == numbers_of(alone.candidates) and result.segments == known.sum()
    wrong[(columns["channel"] == "channel: 1") & (np.arange(len(wrong)) % 3 > 0)] = np.nan
    result = searched(columns, wrong, blocks)
    unknown = {group.name: group.p_value for group in result.candidates if np.isnan(group.gap)}
    assert "channel: 1" in unknown and "channel: 0" not in unknown and set(unknown.values()) == {1}


def test_the_order_of_segments_changes_nothing(rng):
    columns, wrong, blocks, _ = corpus(rng, worse=0.3)
    errors = np.abs(wrong + rng.normal(0, 0.1, len(wrong)))
    order = rng.permutation(len(wrong))
    mixed = {name: column[order] for name, column in columns.items()}
    one, other = searched(columns, errors, blocks), searched(mixed, errors[order], blocks[order])
    assert numbers_of(one.candidates) == numbers_of(other.candidates)
    assert numbers_of(one.named) == numbers_of(other.named)


@pytest.mark.parametrize(
    ("groups", "errors", "expected"),
    [
        ([[0, 1], [2, 3]], [], {0: [], 1: []}),  # shares nothing
        ([[0, 1], [0, 1, 2, 3], [1, 2, 3]], [1, 1], {0: [1, 2]}),  # shares half
        ([[0, 1], [1, 2, 3]], [1, 1], {0: [1]}),  # less, and is no worse without
        ([[0, 1], [1, 2, 3]], [1, 1, 0.25, 0.25], {0: [], 1: []}),  # worse without, too
        ([[0, 1], [0, 1, 2, 3]], [1, 0.9, 0.9, 0.9], {1: [0]}),  # a part no worse than the rest of the whole
        ([[0, 1], [0, 1, 2, 3]], [1, 1, 0.1, 0.1], {0: [1]}),
        ([[0, 1], [0, 1, 2, 3], [1, 2]], [1, 1, 0.3, 0.3], {0: [1, 2]}),  # a part goes where its whole goes
    ],
)
def test_which_of_several_groups_stands_for_one_weakness(groups, errors, expected):
    """Twelve segments; a group is served worse if its mean is higher by 0.2."""
    errors = np.pad(np.array(errors, dtype=float), (0, 12 - len(errors)))

    def worse(group: np.ndarray, rest: np.ndarray) -> bool:
        return bool(group.any() and rest.any() and errors[group].mean() - errors[rest].mean() > 0.2)

    masks = [np.isin(np.arange(12), group) for group in groups]
    assert repeated_groups([(group, ~group) for group in masks], worse) == expected
