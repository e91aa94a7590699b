"""Which trials are compared: the list of a corpus, or a balanced one."""

import itertools
import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.corpora.trials.trial_design import generate
from soundcheck.corpora.trials.trial_table import TrialTable

pytestmark = pytest.mark.slow

NAN = float("nan")
SEXES = {"f": "female", "m": "male", "": None}
some = settings(max_examples=30, deadline=None)

# Sex and number of segments of each speaker
VOICES = st.lists(st.tuples(st.sampled_from("ffmm"), st.integers(1, 5)), min_size=1, max_size=9)


def corpus(*voices: tuple[str, int], **columns: list) -> pd.DataFrame:
    """Make a segment table of speakers s0, s1, ... with a sex and a number of segments."""
    rows = [
        (f"s{n}/{m}.wav", f"s{n}", SEXES[sex]) for n, (sex, count) in enumerate(voices) for m in range(count)
    ]
    table = pd.DataFrame(rows, columns=["file", "speaker", "sex"], dtype=object)
    table = table.assign(start=NAN, end=NAN, key=table["file"], audio="#" + table["file"])
    return table.assign(**columns)


def kinds(segments: pd.DataFrame, table: TrialTable) -> list[str]:
    """Tell of each trial, from the segments that it points to, of whom it is."""
    first, second = (segments.iloc[rows] for rows in sides(table))
    found = []
    for one, other in zip(first.itertuples(), second.itertuples(), strict=True):
        same = "same sex" if one.sex == other.sex else "different sexes"
        found.append("one speaker" if one.speaker == other.speaker else same)
    return found


def sides(table: TrialTable) -> tuple[np.ndarray, np.ndarray]:
    return table.members[table.frame["enrolment"]], table.frame["segment"].to_numpy()


def pairs(table: TrialTable) -> list[frozenset]:
    return [frozenset(pair) for pair in zip(*sides(table), strict=True)]


def possible(voices: list[tuple[str, int]]) -> dict[str, int]:
    """Count all pairs of segments, one by one."""
    segments = [(n, sex) for n, (sex, count) in enumerate(voices) for _ in range(count)]
    counts = Counter({"one speaker": 0, "same sex": 0, "different sexes": 0})
    for (one, sex), (other, its) in itertools.combinations(segments, 2):
        counts["one speaker" if one == other else "same sex" if sex == its else "different sexes"] += 1
    return counts


@some
@given(VOICES, st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 99))
def test_as_many_different_trials_as_wanted_or_possible(voices, targets, same_sex, cross_sex, seed):
    segments = corpus(*voices)
    table = generate(segments, seed, targets=targets, same_sex=same_sex, cross_sex=cross_sex)
    most = possible(voices)
    expected = [
        *["one speaker"] * min(targets, most["one speaker"]),
        *["same sex"] * min(same_sex, most["same sex"]),
        *["different sexes"] * min(cross_sex, most["different sexes"]),
    ]
    assert kinds(segments, table) == expected
    assert len(set(pairs(table))) == len(expected)
    assert all(len(pair) == 2 for pair in pairs(table))
    frame = table.frame
    assert frame["target"].tolist() == [kind == "one speaker" for kind in expected]
    assert frame["key"].tolist() == [str(n) for n in range(len(expected))]
    assert table.numbers.tolist() == list(range(table.listed))
    first, second = sides(table)
    assert frame["enrol"].tolist() == segments["file"].iloc[first].tolist()
    assert frame["test"].tolist() == segments["file"].iloc[second].tolist()
    assert frame["enrol_speaker"].tolist() == segments["speaker"].iloc[first].tolist()
    assert frame["test_speaker"].tolist() == segments["speaker"].iloc[second].tolist()
    assert table.origin == "generated"


@some
@given(VOICES, st.integers(0, 40), st.integers(0, 99))
def test_targets_are_balanced(voices, targets, seed):
    """Turns: whoever has fewer trials than another by more than one has no pair left; so have segments."""
    segments = corpus(*voices)
    table = generate(segments, seed, targets=targets, same_sex=0, cross_sex=0)
    counts = Counter(table.frame["enrol_speaker"])
    used = Counter(itertools.chain(*pairs(table)))
    for n, (_, size) in enumerate(voices):
        own = counts[f"s{n}"]
        if own < size * (size - 1) // 2:
            assert own >= max(counts.values(), default=0) - 1
        shares = [used[row] for row in np.flatnonzero(segments["speaker"] == f"s{n}")]
        assert max(shares) - min(shares) <= 2
        if size > 1 and own and own % size == 0:
            assert len(set(shares)) == 1


@some
@given(st.integers(2, 9), st.integers(2, 9), st.integers(1, 3), st.integers(0, 99))
def test_two_speakers_are_balanced(women, men, segments, seed):
    """After a whole round each speaker has taken part equally often."""
    voices = [("f", segments)] * women + [("m", segments)] * men
    rounds = min(women, men) - 1
    same, cross = 2 * rounds, max(women, men) * rounds
    table = generate(corpus(*voices), seed, targets=0, same_sex=same, cross_sex=cross)
    part = table.frame[["enrol_speaker", "test_speaker"]]
    spoken = Counter(part.iloc[:same].to_numpy().ravel())
    by_sex = [[spoken[f"s{n}"] for n in own] for own in (range(women), range(women, women + men))]
    assert [sum(own) for own in by_sex] == [same, same]
    for own in by_sex:
        assert max(own) - min(own) <= 2
    spoken = Counter(part.iloc[same:].to_numpy().ravel())
    for own in (range(women), range(women, women + men)):
        counts = [spoken[f"s{n}"] for n in own]
        assert max(counts) - min(counts) <= (len(own) < max(women, men))
    enrolled = Counter("f" if int(name[1:]) < women else "m" for name in part.iloc[same:]["enrol_speaker"])
    assert abs(enrolled["f"] - enrolled["m"]) <= 1 + rounds


@some
@given(VOICES, st.integers(0, 99), st.randoms(use_true_random=False))
def test_the_order_of_the_table_does_not_matter(voices, seed, random):
    segments = corpus(*voices, audio=[f"#{n // 2}" for n in range(sum(count for _, count in voices))])
    rows = list(range(len(segments)))
    random.shuffle(rows)
    sizes = {"targets": 7, "same_sex": 8, "cross_sex": 9}
    one = generate(segments, seed, **sizes)
    other = generate(segments.iloc[rows].reset_index(drop=True), seed, **sizes)
    names = ["key", "enrol", "test", "target", "enrolment", "enrol_speaker", "test_speaker"]
    pd.testing.assert_frame_equal(one.frame[names], other.frame[names])
    assert [rows[row] for row in other.members] == one.members.tolist()
    assert [rows[row] for row in other.frame["segment"]] == one.frame["segment"].tolist()
    assert one.notices == other.notices


@settings(max_examples=25, deadline=None)
@given(VOICES, st.integers(0, 12), st.integers(0, 12))
def test_a_shorter_list_begins_a_longer_one(voices, short, more):
    segments = corpus(*voices)
    for name in ("targets", "same_sex", "cross_sex"):
        none = {"targets": 0, "same_sex": 0, "cross_sex": 0}
        one, other = (generate(segments, 3, **(none | {name: size})) for size in (short, short + more))
        columns = ["enrol", "test"]
        pd.testing.assert_frame_equal(one.frame[columns], other.frame[columns].head(len(one)))


def test_the_seed_counts():
    segments = corpus(*[("f", 4)] * 6)
    one, again, other = (generate(segments, seed, targets=9, same_sex=9, cross_sex=0) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one.frame, again.frame)
    assert set(pairs(one)) != set(pairs(other))


def test_a_round_robin_by_hand():
    """Four segments: next neighbours in a ring first, the two pairs across last."""
    table = generate(corpus(("f", 4)), 0, targets=6, same_sex=0, cross_sex=0)
    first, second = sides(table)
    a, b, c, d = first[:4]
    expected = [(a, b), (b, c), (c, d), (d, a), (a, c), (b, d)]
    assert list(zip(first, second, strict=True)) == expected


def test_both_sexes_get_their_share_as_far_as_it_goes():
    segments = corpus(*[("f", 2)] * 2, *[("m", 2)] * 5)  # 4 pairs of women, 40 of men

    def shares(wanted: int) -> Counter:
        table = generate(segments, 0, targets=0, same_sex=wanted, cross_sex=0)
        return Counter(segments["sex"].iloc[table.frame["segment"]])

    assert shares(6) == {"female": 3, "male": 3}
    assert shares(7) == {"female": 4, "male": 3}
    assert shares(20) == {"female": 4, "male": 16}


def test_sizes_are_told():
    segments = corpus(*[("f", 3)] * 4, *[("m", 3)] * 4)
    table = generate(segments, 0, targets=10, same_sex=20, cross_sex=30)
    sizes = "10 target trials, 20 non-target trials of the same sex, 30 non-target trials of different sexes"
    assert table.notices == (f"60 trials were generated: {sizes}",)
    table = generate(segments, 0, targets=25, same_sex=20, cross_sex=150)
    assert table.notices[1:] == (
        "only 24 different target trials are possible, 25 were wanted",
        "only 144 different non-target trials of different sexes are possible, 150 were wanted",
    )


@pytest.mark.parametrize("drop", [True, False])
def test_without_sex_speakers_are_any(drop):
    segments = corpus(*[("", 3)] * 4)
    segments = segments.drop(columns="sex") if drop else segments
    table = generate(segments, 0, targets=5, same_sex=7, cross_sex=8)
    assert table.notices == (
        "20 trials were generated: 5 target trials, 15 non-target trials",
        "no speaker has a sex: non-target trials are of any two",
    )
    assert table.frame["target"].tolist() == [True] * 5 + [False] * 15
    differ = table.frame["enrol_speaker"] != table.frame["test_speaker"]
    assert differ.tolist() == [False] * 5 + [True] * 15


def test_one_sex_alone():
    table = generate(corpus(*[("m", 3)] * 4), 0, targets=5, same_sex=7, cross_sex=8)
    assert table.notices == (
        "12 trials were generated: 5 target trials, 7 non-target trials of the same sex, "
        "0 non-target trials of different sexes",
        "all speakers with a sex are male: there are no trials of different sexes",
    )


@pytest.mark.parametrize("targets", [5, 30, 1000])
def test_no_trial_compares_a_woman_with_a_man_of_one_name(targets):
    segments = corpus(*[("f", 8)] * 5)
    segments["sex"] = ["female", "male"] * 20
    table = generate(segments, 0, targets=targets, same_sex=20, cross_sex=20)
    own = table.frame[table.frame["target"]]
    sexes = segments["sex"].to_numpy()
    assert len(own) == min(targets, 5 * 2 * 6)  # of a speaker six pairs of women, six of men
    assert (sexes[table.members[own["enrolment"]]] == sexes[own["segment"]]).all()
    assert any("of one speaker and both sexes: no trials are made of them" in one for one in table.notices)
    assert "each speaker has both sexes, or none: non-target trials are of any two" in table.notices
    if targets == 1000:
        assert "80 pairs of one speaker and both sexes: no trials are made of them" in table.notices
        more = generate(segments, 0, targets=30, same_sex=20, cross_sex=20).frame
        assert own["key"].size >= 30 and more["test"].head(30).tolist() == own["test"].head(30).tolist()


def test_speakers_without_sex_are_compared_with_themselves():
    segments = corpus(("f", 2), ("", 2), ("m", 2), ("f", 2), ("m", 1), ("m", 1))
    segments.loc[segments["speaker"] == "s2", "sex"] = ["female", "male"]
    segments.loc[segments["file"] == "s3/0.wav", "sex"] = None  # she has another segment that tells
    table = generate(segments, 0, targets=9, same_sex=9, cross_sex=99)
    assert "2 speakers without sex, or with both, take part in target trials only" in table.notices
    frame = table.frame
    assert set(frame.loc[frame["target"], "enrol_speaker"]) == {"s0", "s1", "s3"}
    assert "1 pair of one speaker and both sexes: no trials are made of them" in table.notices
    others = frame.loc[~frame["target"], ["enrol_speaker", "test_speaker"]]
    assert set(others.to_numpy().ravel()) == {"s0", "s3", "s4", "s5"}


def test_a_sound_is_not_compared_with_itself():
    segments = corpus(("f", 3), ("f", 2), audio=["#0", "#0", "#1", "#0", "#2"])
    table = generate(segments, 0, targets=9, same_sex=9, cross_sex=0)
    first, second = (segments["audio"].iloc[rows].tolist() for rows in sides(table))
    assert sorted(map(sorted, zip(first[:2], second[:2], strict=True))) == [["#0", "#1"], ["#0", "#2"]]
    assert sorted(map(sorted, zip(first[2:], second[2:], strict=True))) == [
        ["#0", "#1"],
        ["#0", "#2"],
        ["#1", "#2"],
    ]
    assert table.notices[1] == "1 segment repeats a sound of its speaker and takes no part"


def test_segments_without_speaker_take_no_part():
    segments = corpus(("f", 2), ("f", 2), speaker=["a", None, "b", "b"])
    table = generate(segments, 0, targets=9, same_sex=9, cross_sex=0)
    assert 1 not in {*table.members, *table.frame["segment"]}
    assert len(table) == 3


def test_names_tell_the_times_of_segments():
    segments = corpus(("f", 3), start=[0.0, 1.5, NAN], end=[1.5, NAN, NAN], file=["a.wav", "a.wav", "b .wav"])
    table = generate(segments, 0, targets=3, same_sex=0, cross_sex=0)
    assert {*table.frame["enrol"], *table.frame["test"]} == {"a.wav 0 to 1.5", "a.wav 1.5", "b .wav"}


def test_nothing_to_compare():
    table = generate(corpus(("f", 1)), 0, targets=3, same_sex=3, cross_sex=3)
    assert (len(table), len(table.members)) == (0, 0)
    assert table.notices[0].startswith("0 trials were generated: 0 target trials")


@pytest.mark.parametrize(
    "voices",
    [
        [("fm"[n % 2], 4) for n in range(10_000)],
        [("fm"[n % 2], 1000 if n < 2 else 1) for n in range(400)],
        [("f", 1000), ("m", 1000)],
    ],
)
def test_large_corpora_are_quick(voices):
    segments = corpus(*voices)
    begin = time.process_time()
    table = generate(segments, 0, targets=10_000, same_sex=20_000, cross_sex=100_000)
    assert time.process_time() - begin < 10
    assert len(set(pairs(table))) == len(table)
    assert int((~table.frame["target"]).sum()) >= 100_000
