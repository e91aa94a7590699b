"""Which trials are compared: the list of a corpus, or a balanced one."""

import itertools
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.trials.trial_design import generate, trial_lists
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.suite.entries import CorpusEntry, ModelEntry, Suite
from soundcheck.suite.thresholds import read_family

LISTED = yaml.safe_load(Path(__file__).with_name("layouts.yml").read_text("utf-8"))
SEXES = {"f": ["female"], "m": ["male"], "": [None], "both": ["female", "male"]}  # of segments in turn
some = settings(max_examples=12, deadline=None)

# Sex and number of segments of each speaker
VOICES = st.lists(st.tuples(st.sampled_from("ffmm"), st.integers(1, 5)), min_size=1, max_size=9)


def corpus(*voices: tuple[str, int], **columns: list) -> pd.DataFrame:
    """Make a segment table of speakers s0, s1, ... with a sex and a number of segments."""
    rows = [
        (f"s{n}/{m}.wav", f"s{n}", SEXES[sex][m % len(SEXES[sex])])
        for n, (sex, count) in enumerate(voices)
        for m in range(count)
    ]
    table = pd.DataFrame(rows, columns=["file", "speaker", "sex"], dtype=object)
    table = table.assign(start=np.nan, end=np.nan, key=table["file"], audio="#" + table["file"])
    return table.assign(**columns)


def made(segments, targets=0, same_sex=0, cross_sex=0, seed=0) -> TrialTable:
    return generate(segments, seed, targets=targets, same_sex=same_sex, cross_sex=cross_sex)


def sides(table: TrialTable) -> tuple[np.ndarray, np.ndarray]:
    return table.members[table.frame["enrolment"]], table.frame["segment"].to_numpy()


def pairs(table: TrialTable) -> list[frozenset]:
    return [frozenset(pair) for pair in zip(*sides(table), strict=True)]


def kinds(segments: pd.DataFrame, these: list) -> list[str]:
    """Tell of pairs of rows of whom they are; empty if no trial is made of them."""
    both = segments.groupby("speaker")["sex"].agg(lambda sexes: {*sexes.dropna()})
    sex_of = {who: sexes.copy().pop() if len(sexes) == 1 else "" for who, sexes in both.items()}

    def kind(one, other) -> str:
        if one.speaker == other.speaker:
            return "" if {one.sex, other.sex} == {"female", "male"} else "one speaker"
        if not any(sex_of.values()):
            return "two speakers"
        sexes = sex_of[one.speaker], sex_of[other.speaker]
        return "" if "" in sexes else "same sex" if sexes[0] == sexes[1] else "different sexes"

    rows = [*segments.itertuples()]
    return [kind(rows[one], rows[other]) for one, other in these]


ANY_VOICES = st.lists(st.tuples(st.sampled_from([*SEXES]), st.integers(1, 5)), min_size=1, max_size=9)


@some
@given(VOICES | ANY_VOICES, st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 99))
def test_as_many_different_trials_as_wanted_or_possible(voices, targets, same_sex, cross_sex, seed):
    segments = corpus(*voices)
    table = made(segments, targets, same_sex, cross_sex, seed)
    possible = Counter(kinds(segments, [*itertools.combinations(range(len(segments)), 2)]))
    wanted = {"one speaker": targets, "same sex": same_sex, "different sexes": cross_sex}
    wanted |= {"two speakers": same_sex + cross_sex}
    expected = [name for name, size in wanted.items() for _ in range(min(size, possible[name]))]
    assert kinds(segments, [*zip(*sides(table), strict=True)]) == expected
    assert len(set(pairs(table))) == len(expected) and all(len(pair) == 2 for pair in pairs(table))
    frame = table.frame
    assert frame["target"].tolist() == [kind == "one speaker" for kind in expected]
    assert frame["key"].tolist() == [str(n) for n in range(len(expected))]
    assert table.numbers.tolist() == list(range(table.listed)) and table.origin == "generated"
    for side, rows in zip(("enrol", "test"), sides(table), strict=True):
        assert frame[side].tolist() == segments["file"].iloc[rows].tolist()
        assert frame[f"{side}_speaker"].tolist() == segments["speaker"].iloc[rows].tolist()


@some
@given(VOICES, st.integers(0, 40), st.integers(0, 99))
def test_targets_are_balanced(voices, targets, seed):
    """Turns: whoever has fewer trials than another by more than one has no pair left; so have segments."""
    segments = corpus(*voices)
    table = made(segments, targets, seed=seed)
    counts = Counter(table.frame["enrol_speaker"])
    used = Counter(itertools.chain(*pairs(table)))
    for n, (_, size) in enumerate(voices):
        trials = counts[f"s{n}"]
        if trials < size * (size - 1) // 2:
            assert trials >= max(counts.values(), default=0) - 1
        shares = [used[row] for row in np.flatnonzero(segments["speaker"] == f"s{n}")]
        assert max(shares) - min(shares) <= 2
        if size > 1 and trials and trials % size == 0:
            assert len(set(shares)) == 1


def test_two_speakers_are_balanced():
    women, men = range(4), range(4, 10)
    segments = corpus(*[("f", 2)] * 4, *[("m", 2)] * 6)
    part = made(segments, 0, 2 * 6, 6 * 4, 1).frame[["enrol_speaker", "test_speaker"]].to_numpy()
    within, across = Counter(part[:12].ravel()), Counter(part[12:].ravel())
    assert {across[f"s{n}"] for n in women} == {6} and {across[f"s{n}"] for n in men} == {4}
    for group in (women, men):
        counts = [within[f"s{n}"] for n in group]
        assert sum(counts) == 12 and max(counts) - min(counts) <= 1
    enrolled = sum(int(name[1:]) < 4 for name in part[12:, 0])
    assert abs(enrolled - 12) <= 4


@some
@given(VOICES, st.integers(0, 99), st.randoms(use_true_random=False))
def test_the_order_of_the_table_does_not_matter(voices, seed, random):
    segments = corpus(*voices, audio=[f"#{n // 2}" for n in range(sum(count for _, count in voices))])
    rows = list(range(len(segments)))
    random.shuffle(rows)
    one = made(segments, 7, 8, 9, seed)
    other = made(segments.iloc[rows].reset_index(drop=True), 7, 8, 9, seed)
    names = ["key", "enrol", "test", "target", "enrolment", "enrol_speaker", "test_speaker"]
    pd.testing.assert_frame_equal(one.frame[names], other.frame[names])
    assert [rows[row] for row in other.members] == one.members.tolist()
    assert [rows[row] for row in other.frame["segment"]] == one.frame["segment"].tolist()
    assert one.notices == other.notices


@some
@given(VOICES, st.integers(0, 12), st.integers(0, 12), st.sampled_from(["targets", "same_sex", "cross_sex"]))
def test_a_shorter_list_begins_a_longer_one(voices, short, more, kind):
    segments, columns = corpus(*voices), ["enrol", "test"]
    one, other = (made(segments, **{kind: size}) for size in (short, short + more))
    pd.testing.assert_frame_equal(one.frame[columns], other.frame[columns].head(len(one)))


def test_another_seed_makes_other_trials():
    segments = corpus(*[("f", 4)] * 6)
    assert set(pairs(made(segments, 9, 9, seed=1))) != set(pairs(made(segments, 9, 9, seed=2)))


def test_a_round_robin_by_hand():
    """Four segments: next neighbours in a ring first, the two pairs across last."""
    first, second = sides(made(corpus(("f", 4)), 6))
    a, b, c, d = first[:4]
    assert list(zip(first, second, strict=True)) == [(a, b), (b, c), (c, d), (d, a), (a, c), (b, d)]


@pytest.mark.parametrize(("wanted", "female", "male"), [(6, 3, 3), (7, 4, 3), (20, 4, 16)])
def test_both_sexes_get_their_share_as_far_as_it_goes(wanted, female, male):
    segments = corpus(*[("f", 2)] * 2, *[("m", 2)] * 5)  # 4 pairs of women, 40 of men
    counts = Counter(segments["sex"].iloc[made(segments, same_sex=wanted).frame["segment"]])
    assert counts == {"female": female, "male": male}


@pytest.mark.parametrize(("voices", "notice"), LISTED["designs"])
def test_sizes_and_what_is_missing_are_told(voices, notice):
    notices = made(corpus(*voices), 5, 7, 6).notices
    assert any(text.startswith(notice) for text in notices), notices


def test_a_sound_is_not_compared_with_itself():
    segments = corpus(("f", 3), ("f", 2), audio=["#0", "#0", "#1", "#0", "#2"])
    table = made(segments, 9, 9)
    sounds = [
        sorted(pair) for pair in zip(*(segments["audio"].iloc[rows] for rows in sides(table)), strict=True)
    ]
    same, other = [["#0", "#1"], ["#0", "#2"]], [["#0", "#1"], ["#0", "#2"], ["#1", "#2"]]
    assert (sorted(sounds[:2]), sorted(sounds[2:])) == (same, other)
    assert table.notices[1] == "1 segment with a sound that the speaker has already: not compared"


def test_segments_without_speaker_take_no_part_and_names_tell_their_times():
    table = made(corpus(("f", 2), ("f", 2), speaker=["a", None, "b", "b"]), 9, 9)
    assert 1 not in {*table.members, *table.frame["segment"]} and len(table) == 3
    times = {"start": [0.0, 1.5, np.nan], "end": [1.5, np.nan, np.nan]}
    table = made(corpus(("f", 3), file=["a.wav", "a.wav", "b .wav"], **times), 3)
    assert {*table.frame["enrol"], *table.frame["test"]} == {"a.wav 0 to 1.5", "a.wav 1.5", "b .wav"}


@pytest.mark.slow
def test_large_corpora_are_quick():
    begin = time.process_time()
    table = made(corpus(*[("f", 4), ("m", 4)] * 1000, ("f", 500), ("m", 500)), 10_000, 10_000, 20_000)
    assert time.process_time() - begin < 5
    assert len(set(pairs(table))) == len(table) and int((~table.frame["target"]).sum()) == 30_000


FAMILY, GROUPS = read_family("speaker_verification"), read_family("fairness_groups")
SPOKEN = {"speaker": ["x", "x", "y"]}


def lists(*families, trials=None, task="embedding", **columns):
    table = corpus(("f", 3)).drop(columns="speaker").assign(**columns)
    one = SimpleNamespace(name="c", entry=CorpusEntry("c", "csv"), segments=table, trials=trials)
    model = ModelEntry("m", "python", "a:b", (task,))
    return trial_lists(Suite(models={"m": model}, tasks=dict(BUILTIN)), families, [one])


def test_trials_are_made_of_speakers_and_shared_by_families():
    tables = lists(FAMILY, GROUPS, **SPOKEN)
    assert [*tables] == [("c", "speaker_verification"), ("c", "fairness_groups")]
    one, other = tables.values()
    assert one is other and one.origin == "generated"
    assert sorted(one.frame["target"].tolist()) == [False, False, True]


def test_a_list_of_the_corpus_is_taken_and_nothing_is_made_for_nobody():
    trials = object()
    assert lists(FAMILY, trials=trials) == {("c", "speaker_verification"): trials}
    assert lists(FAMILY) == {}  # neither list nor speakers
    assert lists(FAMILY, GROUPS, task="arousal", **SPOKEN) == {}  # nobody compares
    assert lists(read_family("fairness_sex"), **SPOKEN) == {}
