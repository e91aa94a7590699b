"""Differential tests of recognisers, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.metrics.differential import (
    BETWEEN,
    NOT_ROBUST,
    ROBUST,
    Localised,
    Omega,
    counts,
    localise,
    read_omega,
    violations,
    word_counts,
    word_distance,
    word_drops,
    words,
)


def test_words_are_those_of_the_paper():
    assert words("%HESITATION Well-known: don't;  six, 5.5!") == ["well", "known", "don't", "six", "5", "5!"]
    assert words(" .,; ") == []


def test_distance_is_summed_over_clips():
    first = ["please call stella", "six spoons", ""]
    second = ["please fall stella now", "", ""]
    assert word_distance(first, second) == (2 + 2, 4 + 2)
    assert word_distance([], []) == (0, 0)
    with pytest.raises(ValueError):
        word_distance(["a"], [])


def table(rows):
    return pd.DataFrame(rows, columns=["pair", "transformation", "level", "group", "distance"])


# Degradations: under noise at 10 dB english +0.05, korean +0.20, russian +0.10; at 2 dB +0.10, +0.10, +0.40.
DISTANCES = table(
    [
        ("A-B", "", np.nan, "english", 0.10),
        ("A-B", "", np.nan, "korean", 0.30),
        ("A-B", "", np.nan, "russian", 0.20),
        ("A-B", "noise", 10.0, "english", 0.15),
        ("A-B", "noise", 10.0, "korean", 0.50),
        ("A-B", "noise", 10.0, "russian", 0.30),
        ("A-B", "noise", 2.0, "english", 0.20),
        ("A-B", "noise", 2.0, "korean", 0.40),
        ("A-B", "noise", 2.0, "russian", 0.60),
    ]
)
GROUPS = ("english", "korean", "russian")


def test_violations_by_hand():
    found = violations(DISTANCES)
    # At 10 dB: korean over english by 0.15, over russian by 0.10; russian over english by 0.05.
    # At 2 dB: russian over english and korean by 0.30. All comparisons are strict.
    at_ten = found[found["level"] == 10.0]
    told = {(row.base, row.other): [] for row in at_ten.itertuples()}
    for row in at_ten.itertuples():
        told[row.base, row.other].append(row.tau)
    assert told == {
        ("korean", "english"): [0.01, 0.05, 0.1],
        ("korean", "russian"): [0.01, 0.05],
        ("russian", "english"): [0.01],
    }
    at_two = found[found["level"] == 2.0]
    assert set(at_two["base"]) == {"russian"} and len(at_two) == 2 * 4
    assert np.allclose(at_two["excess"], 0.3)


def test_counts_have_the_layout_of_the_paper():
    found = violations(DISTANCES)
    assert counts(found, GROUPS).loc["all"].tolist() == [0, 5, 1 + 8]
    by_tau = counts(found, GROUPS, "tau")
    assert by_tau.loc[0.01].tolist() == [0, 2, 3]
    assert by_tau.loc[0.15].tolist() == [0, 0, 2]
    assert (by_tau.diff().dropna() <= 0).all().all()  # cumulative
    for by in ("tau", "pair", "transformation"):
        assert (counts(found, GROUPS, by).sum() == counts(found, GROUPS).loc["all"]).all()
    assert counts(violations(DISTANCES, taus=[9]), GROUPS).loc["all"].tolist() == [0, 0, 0]


def test_settings_are_excluded():
    found = violations(DISTANCES, excluded=[("noise", 2.0)])
    assert set(found["level"]) == {10.0}


def test_a_group_without_distance_is_not_compared():
    gap = DISTANCES.copy()
    gap.loc[4, "distance"] = np.nan  # korean at 10 dB
    found = violations(gap)
    assert not found[found["level"] == 10.0][["base", "other"]].eq("korean").any().any()
    assert len(found[found["level"] == 2.0]) == 8


def test_adding_the_same_to_all_groups_changes_nothing():
    moved = DISTANCES.assign(distance=DISTANCES["distance"] + 0.123)
    pd.testing.assert_frame_equal(violations(moved), violations(DISTANCES))


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="no column level"):
        violations(DISTANCES.drop(columns="level"))
    with pytest.raises(ValueError, match="twice"):
        violations(pd.concat([DISTANCES, DISTANCES.head(4).tail(1)]))
    with pytest.raises(
        ValueError, match="Group 'korean' has no distance of 'A-B' for the signals as they are"
    ):
        violations(DISTANCES.drop(index=1))


def test_word_drops():
    drops, weak = word_drops({"bags": 4, "six": 4, "new": 0, "gone": 2}, [{"bags": 1, "new": 3, "six": 9}], 3)
    assert drops == {"bags": 3, "six": 0, "new": 0, "gone": 2}
    assert weak == {"bags"}
    assert word_drops({"gone": 2}, [{}], 2)[1] == {"gone"}  # from omega on
    assert word_drops({"same": 2}, [{"same": 2}], 0)[1] == set()
    with pytest.raises(ValueError, match="no level"):
        word_drops({"a": 1}, [], 1)


def kinds(found):
    return {word.word: word.kind for word in found}


def test_localised_words_by_hand():
    before = {"bags": 4, "six": 4, "red": 4, "rare": 1, "more": 3}
    levels = [{"bags": 3, "six": 4, "red": 3, "more": 5}, {"bags": 1, "six": 5, "red": 3, "more": 3}]
    found = localise(before, levels, Omega(3, False), minimum=2)
    assert found[0] == Localised("bags", 4, 3, NOT_ROBUST)
    assert found[1] == Localised("red", 4, 1, BETWEEN)
    assert kinds(found[2:]) == {"six": ROBUST, "more": ROBUST}  # new words elsewhere are no drop
    assert kinds(localise(before, levels, Omega(0.25, True), minimum=2))["red"] == NOT_ROBUST
    assert kinds(localise(before, levels, Omega(0.26, True), minimum=2))["red"] == BETWEEN
    assert [word.word for word in localise(before, levels, Omega(3, False), minimum=2, most=2)] == [
        "bags",
        "red",
    ]
    assert localise({}, [{}], Omega(1, False)) == []
    with pytest.raises(ValueError, match="no level"):
        localise(before, [], Omega(3, False))


def test_the_drop_reaches_omega_itself():
    # What the paper chose under noise for native speakers, with the ω that it set for each recogniser:
    # bags drops by 3 (Google), thick and slabs by 3 (Microsoft), things and scoop by 2 (IBM).
    for chosen, drop, omega in ((["bags"], 3, 3), (["thick", "slabs"], 3, 3), (["things", "scoop"], 2, 2)):
        before = dict.fromkeys([*chosen, "please"], 4)
        level = dict.fromkeys(chosen, 4 - drop) | {"please": 4}
        found = kinds(localise(before, [level], Omega(omega, False)))
        assert found == dict.fromkeys(chosen, NOT_ROBUST) | {"please": ROBUST}
        assert NOT_ROBUST not in kinds(localise(before, [level], Omega(omega + 1, False))).values()


def test_a_count_of_omega_leaves_out_no_word_that_reaches_it():
    found = localise({"things": 2, "seldom": 1}, [{}], Omega(2, False), minimum=3)
    assert kinds(found) == {"things": NOT_ROBUST}
    assert localise({"things": 2}, [{}], Omega(0.5, True), minimum=3) == []


def test_a_group_keeps_a_word_that_pooling_loses():
    # Four speakers of each of three groups read the same; under noise one group loses "spoons" altogether.
    text = "six spoons of fresh snow peas"
    clean = {group: word_counts([text] * 4) for group in ("english", "korean", "russian")}
    noisy = {group: word_counts([text] * 4) for group in clean}
    noisy["korean"] = word_counts(["six of fresh snow peas"] * 4)
    noisy["russian"] = word_counts([f"{text} spoons"] * 4)  # and another one hears it everywhere
    for omega in (Omega(3, False), Omega(0.5, True)):
        found = {group: kinds(localise(clean[group], [noisy[group]], omega)) for group in clean}
        assert found["korean"]["spoons"] == NOT_ROBUST
        assert found["english"]["spoons"] == found["russian"]["spoons"] == ROBUST
        pooled = localise(sum(clean.values(), word_counts([])), [sum(noisy.values(), word_counts([]))], omega)
        assert kinds(pooled)["spoons"] == ROBUST


@pytest.mark.parametrize(
    ("given", "value", "share"),
    [
        (0.5, 0.5, True),
        (1, 1, False),
        (3, 3, False),
        (3.0, 3, False),
        ({"share": 1}, 1, True),
        ({"count": 2}, 2, False),
        ({"default": 0.5, "ibm": 2}, 0.5, True),
        ({"default": {"count": 3}, "google": {"share": 0.2}}, 3, False),
    ],
)
def test_omega_is_read(given, value, share):
    assert read_omega(given, "other") == Omega(value, share)


def test_omega_of_a_model():
    given = {"default": 3, "ibm": {"count": 2}, "google": {"share": 0.25}}
    assert read_omega(given, "ibm") == Omega(2, False)
    assert str(read_omega(given, "google")) == "25\xa0%"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (0, "above 0"),
        (-1, "above 0"),
        (2.5, "whole number"),
        ("many", "not a number"),
        (True, "not a number"),
        (None, "not a number"),
        ({"count": 0.5}, "whole number"),
        ({"share": 2}, "at most 1"),
        ({"count": 2, "share": 0.5}, "not both"),
        ({}, "no default"),
        ({"ibm": 2}, "no default"),
        ({"default": 2, "ibm": "x"}, "not a number"),
        ({"default": {"ibm": 2}}, "neither a count nor a share"),
    ],
)
def test_bad_omegas_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        read_omega(given, "other")
