"""Disagreement of recognisers as statistics: the same numbers as the plain computations, and by hand."""

import numpy as np
import pytest

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.combinators import against_average
from soundcheck.metrics.differential import (
    TAUS,
    counts,
    degradations,
    distance_table,
    dropped_words,
    group_distances,
    violation_certainties,
    violation_proportions,
    violations,
    word_edits,
)
from soundcheck.statistics.bootstrap import resample

WORDS = ("go", "left", "right", "stop", "the", "door")
SETTINGS = [("", ""), ("Noise", "10"), ("Noise", "2"), ("Drop", "5")]
GROUPS = ["french", "german", "welsh"]


def texts(rng, count):
    return [" ".join(rng.choice(WORDS, rng.integers(0, 5))) for _ in range(count)]


@pytest.fixture
def heard():
    rng = np.random.default_rng(0)
    first = [texts(rng, 30) for _ in SETTINGS]
    second = [texts(rng, 30) for _ in SETTINGS]
    group = np.array(GROUPS)[rng.integers(0, 3, 30)]
    return first, second, [group == name for name in GROUPS], rng.integers(0, 9, 30)


def test_distances_are_those_of_the_plain_computation(heard):
    first, second, masks, _ = heard
    found = values(group_distances(first, second, masks)).reshape(3, 4)
    for g, mask in enumerate(masks):
        for s in range(4):
            clips = zip(*(np.array(side[s], dtype=object)[mask] for side in (first, second)), strict=True)
            edits, longer = np.sum([word_edits(*pair) for pair in clips], axis=0)
            assert found[g, s] == pytest.approx(edits / longer)


def test_shares_are_counts_of_violations_by_comparisons(heard):
    first, second, masks, _ = heard
    distances = group_distances(first, second, masks)
    table = distance_table(values(distances), "a–b", SETTINGS, GROUPS)
    for tau in TAUS:
        counted = counts(violations(table, [tau]), GROUPS).loc["all"]
        shares = values(violation_proportions(distances, GROUPS, tau))
        assert shares * (2 * 3) == pytest.approx(counted.to_numpy())
    # Without the settings of noise one is left.
    counted = counts(violations(table, [0.05], {("Noise", "10"), ("Noise", "2")}), GROUPS).loc["all"]
    shares = values(violation_proportions(distances, GROUPS, 0.05, np.array([False, False, True])))
    assert shares * 2 == pytest.approx(counted.to_numpy())


def test_by_hand():
    # Clean both agree; under noise they disagree on two of four words of a, one of four of b.
    first = [["go left", "the door", "go left", "the door"], ["go", "the", "go left", "door"]]
    second = [["go left", "the door", "go left", "the door"], ["go left", "the door", "go left", "the door"]]
    masks = [np.array([True, True, False, False]), np.array([False, False, True, True])]
    distances = group_distances(first, second, masks)
    assert values(distances).tolist() == [0, 0.5, 0, 0.25]
    assert degradations(values(distances), 2).tolist() == [[0.5], [0.25]]
    assert values(violation_proportions(distances, ["a", "b"], 0.2)).tolist() == [1, 0]
    assert values(violation_proportions(distances, ["a", "b"], 0.25)).tolist() == [0, 0]  # strictly more


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_an_answer_that_is_not_needed_may_be_missing(heard, average):
    first, second, masks, _ = heard
    second[2][7] = None
    assert len(SETTINGS) == 4
    needed = [True, True, False, True]
    found = values(group_distances(first, second, masks, average, needed)).reshape(3, 4)
    second[2][7] = first[2][7] = ""  # nobody wrote a word: adds nothing either
    expected = values(group_distances(first, second, masks, average)).reshape(3, 4)
    assert np.array_equal(found, expected)
    first[1][7] = None
    shorter = values(group_distances(first, second, masks, average, needed)).reshape(3, 4)
    assert not np.array_equal(shorter, expected)


def test_certainty_is_the_share_of_replicates_with_the_violation(heard):
    first, second, masks, blocks = heard
    found = resample(group_distances(first, second, masks), blocks, 200, 0)
    table = distance_table(found.value, "a–b", SETTINGS, GROUPS)
    rows = violations(table, [0.01])
    sure = violation_certainties(found.replicates, rows, SETTINGS, GROUPS)
    assert len(sure) == len(rows) and np.all((sure >= 0) & (sure <= 1))
    row = rows.iloc[0]
    s, g, k = SETTINGS.index((row.transformation, row.level)), GROUPS.index(row.base), GROUPS.index(row.other)
    drawn = found.replicates.reshape(-1, 3, 4)
    excess = (drawn[:, g, s] - drawn[:, g, 0]) - (drawn[:, k, s] - drawn[:, k, 0])
    assert sure[0] == pytest.approx((excess[np.isfinite(excess)] > 0.01).mean())
    assert np.isnan(violation_certainties(np.empty((0, 12)), rows, SETTINGS, GROUPS)).all()


def test_dropped_words_by_hand():
    original = ["go left", "go right", "stop"]
    changed = [["go left", "right", "stop"], ["left", "go go", ""]]
    # go: 2, then 1 and 2; left: 1, 1, 1; right: 1, 1, 0; stop: 1, 1, 0.
    assert value(dropped_words(original, changed, ["go", "left", "right", "stop"])) == pytest.approx(3 / 5)
    assert value(dropped_words(original, changed, ["left"])) == 0
    point = dropped_words(["", ""], [["", ""]], ["go"]).point()
    assert point.reasons == ("no words are recognised",)


def test_groups_are_compared_with_the_average_of_those_that_have_a_value():
    texts = ["go", "go", "stop", "stop", ""]
    drops = dropped_words(texts, [["go", "", "", "", ""]], ["go", "stop"])
    masks = [np.isin(np.arange(5), rows) for rows in ([0, 1], [2, 3], [4])]  # 1/2, 1, and no words at all
    compared = against_average(drops, masks, 0)
    assert value(compared) == pytest.approx(0.5 - 0.75) and compared.point().segments.tolist() == [2]
    assert against_average(drops, masks, 2).point().reasons == ("no words are recognised",)
    found = resample(compared, np.array([0, 1, 2, 3, 4]), 300, 0)
    assert np.isfinite(found.replicates).mean() > 0.8


def test_macro_is_the_mean_of_the_distances_of_segments():
    first = [["go left right stop", "go", ""], ["go left", "stop", "door"]]
    second = [["go left right door", "left", ""], ["go left", "stop", ""]]
    everybody = [np.array([True, True, True])]
    # Edits by words: 1/4, 1/1 and none at all; then 0/2, 0/1 and 1/1.
    assert values(group_distances(first, second, everybody)).tolist() == pytest.approx([2 / 5, 1 / 4])
    macro = group_distances(first, second, everybody, "macro")
    assert values(macro).tolist() == pytest.approx([(1 / 4 + 1) / 2, 1 / 3])
    assert macro.point().segments.tolist() == [3, 3]
    assert np.isnan(values(group_distances([[""]], [[""]], [np.array([True])], "macro"))).all()
    with pytest.raises(ValueError, match="unknown average 'median', allowed: micro, macro"):
        group_distances(first, second, everybody, "median")
