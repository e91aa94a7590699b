"""Groups: which are large enough, each against all in one call, and voices."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from judging import judging

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation import groups
from soundcheck.evaluation.eligibility import eligible, group_counts
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.groups import voice_groups
from soundcheck.evaluation.judging import Judging
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.distribution import bin_proportions
from soundcheck.metrics.regression import mean_value

TASK = BUILTIN["arousal"]
MEAN = {"Mean Value": lambda s, p: mean_value(p.clean)}

# Which are large enough


@pytest.mark.parametrize(
    ("needed", "why"),
    [
        ([], ""),
        ([(25, "segment", 25)], ""),
        ([(24, "segment", 25)], "24 segments, 25 needed"),
        ([(None, "speaker", 2), (0, "word", 1)], "0 words, 1 needed"),  # what is not known is enough
        ([(9, "segment", 10), (1, "speaker", 2)], "9 segments, 10 needed"),  # the first that is too small
    ],
)
def test_the_first_count_that_is_too_small_is_named(needed, why):
    assert eligible(needed) == why


def counting(own: Subset, **options):
    """Make an evaluation of the segments of a corpus that keeps what is skipped."""
    family = SimpleNamespace(options=options, label=False, name="f")
    found = SimpleNamespace(family=family, tasks=[own.task], seed=0, skipped=[])
    found.view = lambda subset: SimpleNamespace(segments=own.segments)
    found.skip = lambda _, reason, test, column: found.skipped.append((reason, test, column))
    return found


def spoken(said, **columns) -> Subset:
    data = pd.DataFrame({"key": [str(n) for n in range(len(said))]} | columns)
    texts = np.array(said, dtype=object)
    nothing = Predictions(texts)
    return Subset("talk", BUILTIN["transcript"], data, texts, nothing, nothing, np.arange(len(said)))


def lacks(evaluation, subset: Subset, column: str) -> dict[str, str]:
    return {count.group: count.lacks for count in group_counts(evaluation, subset, column)}


def test_groups_need_enough_words_and_each_other():
    said = ["one two three", "one two three", "one", "one two three four"]
    own = spoken(said, accent=["welsh", "welsh", "irish", "scottish"])
    evaluation = counting(own, minimum_words=4)
    assert lacks(evaluation, own, "accent") == {"irish": "1 word, 4 needed", "scottish": "", "welsh": ""}
    assert lacks(evaluation, own, "sex") == {}
    assert Evaluation.groups(evaluation, own, "accent") == ["scottish", "welsh"]
    assert Evaluation.groups(counting(own, minimum_words=5), own, "accent") == []  # one alone


def test_small_groups_are_listed_and_skipped():
    accents = ["welsh"] * 5 + ["irish"] * 4 + ["scottish"] * 2 + [None]
    own = spoken(["one"] * 12, accent=accents, speaker=[f"s{n % 3}" for n in range(12)])
    evaluation = counting(own, minimum_segments=4, groups=["accent", "sex"])
    looked_at = own.take(np.array([0, 1, 2, 3, 5, 6, 9]))  # two of four irish segments
    found = groups.columns_of(evaluation, looked_at, ["A"])
    assert [one.names for one in found] == [[], []]  # one group alone has nothing to be compared with
    assert groups.too_small(found) == [
        ("talk", "accent", "irish", 4, 3, "2 transformed segments, 4 needed"),
        ("talk", "accent", "scottish", 2, 2, "2 segments, 4 needed"),
    ]
    assert evaluation.skipped == [
        ("2 transformed segments, 4 needed", "A", "accent: irish"),
        ("2 segments, 4 needed", "A", "accent: scottish"),
        ("fewer than 2 groups with 4 segments", "A", "accent"),
        ("the corpus has no column sex", "A", "sex"),
    ]


def test_groups_of_trials_need_trials_of_both_kinds_and_speakers():
    frame = pd.DataFrame({"sex": ["f"] * 4 + ["m"] * 4 + ["x"] * 2 + ["y"] * 3 + [None]})
    target = np.array([True, True, False, False] * 2 + [False, False, True, True, False, True])
    pairs = [(0, 0), (1, 1), (0, 1), (0, 2), *[(3, 3), (4, 4), (3, 4), (4, 3)]]
    frame[["first", "second"]] = np.array([*pairs, (5, 6), (6, 7), (8, 8), (9, 9), (8, 9), (0, 0)])
    nothing = Predictions(np.zeros(len(frame)))
    own = Subset("c", BUILTIN["embedding"], frame, target, nothing, nothing, np.zeros(len(frame), dtype=int))
    evaluation = counting(own, minimum_trials=2, minimum_speakers=3)
    assert lacks(evaluation, own, "sex") == {
        "f": "",
        "m": "2 speakers, 3 needed",
        "x": "0 target trials, 2 needed",
        "y": "1 non-target trial, 2 needed",
    }
    assert lacks(evaluation, own, "accent") == {}


# Each against all


def evaluation(family: str, **options) -> Judging:
    found = judging(family, TASK, replicates=20, interval="percentile", thresholds="published")
    found.family.options.update(options)
    return found


@pytest.fixture
def subset(rng) -> Subset:
    """Three languages of different sizes, with sentiments; one prediction is missing."""
    table = pd.DataFrame({"language": np.repeat(["de", "en", "fr"], [120, 60, 30]), "nothing": None})
    table["key"] = [f"k{n:03d}" for n in range(len(table))]
    table["sentiment"] = rng.choice(["negative", "positive"], len(table))
    predicted, random = Predictions(rng.random(210)), Predictions(rng.random(210), random=True)
    predicted.clean[3] = np.nan
    return Subset("c", TASK, table, None, predicted, random, np.arange(210) % 12)


def found(judge: Judging) -> dict[tuple[str, str], float]:
    frame = judge.frame()
    known = frame[frame["value"].notna()]
    return {(row.test, row.group): row.value for row in known[known["label"].eq("")].itertuples()}


@pytest.mark.parametrize("against", [groups.EVERYBODY, groups.AVERAGE])
def test_each_group_against_all(subset, against):
    judge, names = evaluation("fairness_language"), ["de", "en", "fr"]
    groups.judge_groups(judge, subset, "language", names, MEAN, against=against)
    table = subset.segments.assign(value=subset.predictions.clean)
    means = table.groupby("language")["value"].mean()
    all_groups = means.mean() if against == groups.AVERAGE else table["value"].mean()
    expected = {("Mean Value", f"language: {name}"): means[name] - all_groups for name in names}
    assert found(judge) == pytest.approx(expected, abs=1e-11)
    frame = judge.frame().set_index("group")
    assert frame.loc["language: de", "segments"] == 119 and frame.loc["language: fr", "segments"] == 30
    assert set(judge.simulated()["groups"]) == {3}


def test_groups_in_a_context(subset):
    judge = evaluation("fairness_linguistic_sentiment")
    tests = {"Mean Shift Difference": lambda s, p, inside: mean_value(p.clean)}
    context = ("sentiment", "negative")
    groups.judge_groups(judge, subset, "language", ["de", "en", "fr"], tests, context=context)
    table = subset.segments.assign(value=subset.predictions.clean)
    inside = table[table["sentiment"].eq("negative")].groupby("language")["value"].mean()
    shifts = inside - table.groupby("language")["value"].mean()
    expected = {
        ("Mean Shift Difference", f"language: {name}, sentiment: negative"): shift - shifts.mean()
        for name, shift in shifts.items()
    }
    assert found(judge) == pytest.approx(expected, abs=1e-11)


def test_labels_stay_beside_the_group(subset):
    judge = evaluation("fairness_language")
    tests = {"Relative Difference Per Bin": lambda s, p: bin_proportions(p.clean)}
    groups.judge_groups(judge, subset, "language", ["de", "en"], tests)
    frame = judge.frame()
    judged = frame[frame["value"].notna()]
    assert len(judged) == 8 and set(judged["group"]) == {"language: de", "language: en"}
    assert judged["label"].nunique() == 4 and not judged["label"].str.contains("de").any()


def test_columns_are_any_word_and_unknown_ones_are_listed(subset):
    judge = evaluation("fairness_language", groups=["language", "dialect", "nothing", "sentiment"])
    names = {"language": ["de", "en", "fr"], "sentiment": ["negative"]}
    judge.skip(subset, "nobody listens", "Mean Value")
    columns = groups.columns_of(
        judge,
        subset,
        MEAN,
        "fewer than 2 groups with 5 segments",
        lambda s, column: [groups.GroupCount(name, 9) for name in names[column]],
    )
    assert [one.names for one in columns] == [names["language"], [], [], []]
    reasons = {
        "": "nobody listens",
        "dialect": "the corpus has no column dialect",
        "nothing": "the corpus has no column nothing",
        "sentiment": "fewer than 2 groups with 5 segments",
    }
    own = judge.frame().query("test == 'Mean Value'").set_index("group")
    assert own["skipped"].to_dict() == reasons
    groups.judge_groups(judge, subset, "language", names["language"], MEAN)
    frame = judge.frame()
    own = frame.query("test == 'Mean Value'").set_index("group")
    assert own["value"].notna().sum() == 3 and set(own.index[own["value"].isna()]) == {*reasons} - {""}
    assert frame["group"].eq("").sum() == 1  # the other test for values was not judged at all


def test_labels_that_are_groups(subset):
    """A measure may give a value for each group at once; the random reference is told apart."""
    judge, random = evaluation("fairness_language"), []

    def measure(subset, predictions):
        random.append(predictions.random)
        return bin_proportions(predictions.clean)

    judge.judge(subset, "Mean Value", measure, column="range")
    frame = judge.frame()
    judged = frame[frame["value"].notna()]
    assert judged["label"].eq("").all() and len(judged) == 4
    assert judged["group"].str.startswith("range: ").all() and random == [False, True]
    both = (subset.reference, subset.reference.take(np.arange(3)), subset.reference.unchanged())
    assert all(predictions.random for predictions in both)


# Voices


def data(**pitches):
    speakers = [name for name, values in pitches.items() for _ in values]
    return [value for values in pitches.values() for value in values], speakers


def test_borders_belong_to_the_lower_group():
    found, _ = voice_groups(*data(a=[145.0] * 26, b=[145.01] * 26, c=[190.0] * 26, d=[190.01] * 26))
    assert [found[26 * n] for n in range(4)] == ["low", "medium", "medium", "high"]
    found, _ = voice_groups(*data(a=[120.0] * 3), (100, 200), (110, 115), 2)
    assert set(found) == {"high"}


def test_more_than_25_usable_segments():
    found, counts = voice_groups(
        *data(a=[120.0] * 25, b=[120.0] * 26, c=[120.0] * 25 + [40.0, 351.0, np.nan])
    )
    assert set(found[25:51]) == {"low"} and set(found[:25]) == set(found[51:]) == {None}
    rows = counts.set_index("group")["segments"]
    assert rows["low"] == 26 and rows["speakers with up to 25 usable segments"] == 50
    assert rows["no pitch from 50 to 350 Hz"] == 3


def test_segments_outside_do_not_move_a_speaker():
    found, counts = voice_groups(*data(a=[140.0] * 30 + [600.0] * 30))
    assert set(found[:30]) == {"low"} and set(found[30:]) == {None}
    low = counts.set_index("group").loc["low"]
    assert (low["speakers"], low["lowest"], low["highest"]) == (1, 140.0, 140.0)


def test_whispered_speakers_and_segments_of_nobody():
    pitch, speakers = data(a=[np.nan] * 30, b=[200.0] * 30)
    speakers[-1] = None
    found, counts = voice_groups(pitch, speakers)
    assert set(found[:30]) == {None} and set(found[30:59]) == {"high"} and found[59] is None
    assert counts.set_index("group").loc["no speaker", "segments"] == 1
    found, counts = voice_groups([], [])
    assert len(found) == 0 and counts["segments"].sum() == 0
