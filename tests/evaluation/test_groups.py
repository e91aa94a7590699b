"""Groups: which are large enough, each against all in one call, voices, and the search for the worst."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.conftest import judging

from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.evaluation import groups
from soundcheck.evaluation.evaluation import Evaluation, GroupCount, group_counts
from soundcheck.evaluation.groups import voice_groups
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.worst_groups import (
    MOST_VALUES,
    NO_GROUP,
    columns_of,
    in_ranges,
    remark_of,
    search_all,
)
from soundcheck.metrics.distribution import bin_proportions
from soundcheck.metrics.regression import mean_value
from soundcheck.report import group_views as views

TASK = BUILTIN["arousal"]
MEAN = {"Mean Value": lambda s, p: mean_value(p.clean)}


def counting(subset: Subset, **options):
    family, skipped = SimpleNamespace(options=options, label=False, name="f"), []
    about = {"family": family, "tasks": [subset.task], "seed": 0, "skipped": skipped}
    skip = lambda _, reason, test, column: skipped.append((reason, test, column))  # noqa: E731
    return SimpleNamespace(**about, view=lambda _: subset, skip=skip)


def spoken(texts, **columns) -> Subset:
    data = pd.DataFrame({"key": [str(n) for n in range(len(texts))]} | columns)
    texts = np.array(texts, dtype=object)
    nothing = Predictions(texts)
    return Subset("talk", BUILTIN["transcript"], data, texts, nothing, nothing, np.arange(len(texts)))


def lacks(subset: Subset, column: str, **options) -> dict[str, str]:
    return {count.group: count.lacks for count in group_counts(counting(subset, **options), subset, column)}


def test_groups_need_enough_words_and_each_other():
    texts = ["one two three", "one two three", "one", "one two three four"]
    subset = spoken(texts, accent=["welsh", "welsh", "irish", "scottish"])
    few = {"irish": "1 word, 4 needed", "scottish": "", "welsh": ""}
    assert lacks(subset, "accent", minimum_words=4) == few and lacks(subset, "sex", minimum_words=4) == {}
    large = [Evaluation.groups(counting(subset, minimum_words=least), subset, "accent") for least in (4, 5)]
    assert large == [["scottish", "welsh"], []]  # one alone has nothing to be compared with


def test_small_groups_are_listed_and_skipped():
    accents = ["welsh"] * 5 + ["irish"] * 4 + ["scottish"] * 2 + [None]
    subset = spoken(["one"] * 12, accent=accents, speaker=[f"s{n % 3}" for n in range(12)])
    evaluation = counting(subset, minimum_segments=4, groups=["accent", "sex"])
    looked_at = subset.take(np.array([0, 1, 2, 3, 5, 6, 9]))  # two of four irish segments
    columns = groups.columns_of(evaluation, looked_at, ["A"])
    small = [
        ("talk", "accent", "irish", 4, 3, "2 transformed segments, 4 needed"),
        ("talk", "accent", "scottish", 2, 2, "2 segments, 4 needed"),
    ]
    assert [column.names for column in columns] == [[], []] and groups.too_small(columns) == small
    assert evaluation.skipped == [
        *((why, "A", f"accent: {name}") for *_, name, _, _, why in small),
        ("fewer than 2 groups with 4 segments", "A", "accent"),
        ("the corpus has no column sex", "A", "sex"),
    ]


def test_groups_of_trials_need_trials_of_both_kinds_and_speakers():
    rows = "f00 f11 f01 f02 m33 m44 m34 m43 x56 x67 y88 y99 y89".split()
    frame = pd.DataFrame(map(list, rows), columns=["sex", "first", "second"])
    target, zeros = frame["first"].eq(frame["second"]).to_numpy(), np.zeros(len(frame), dtype=int)
    subset = Subset("c", BUILTIN["embedding"], frame, target, Predictions(zeros), Predictions(zeros), zeros)
    few = {"m": "2 speakers, 3 needed", "x": "0 target trials, 2 needed", "y": "1 non-target trial, 2 needed"}
    assert lacks(subset, "sex", minimum_trials=2, minimum_speakers=3) == {"f": ""} | few


@pytest.fixture
def subset(rng) -> Subset:
    """Three languages of different sizes, with sentiments; one prediction is missing."""
    table = pd.DataFrame({"language": np.repeat(["de", "en", "fr"], [120, 60, 30])})
    table["key"] = [f"k{n:03d}" for n in range(len(table))]
    table["sentiment"] = rng.choice(["negative", "positive"], len(table))
    predicted, random = Predictions(rng.random(210)), Predictions(rng.random(210), random=True)
    predicted.clean[3] = np.nan
    return Subset("c", TASK, table, None, predicted, random, np.arange(210) % 12)


def judged(subset, family, tests, names=("de", "en", "fr"), **options):
    judge = judging(family, TASK, replicates=20, interval="percentile", thresholds="published")
    counts = [GroupCount(name, 1) for name in names]
    groups.judge_groups(judge, groups.Groups(subset, "language", counts, subset), tests, **options)
    frame = judge.frame()
    return frame[frame["value"].notna()].set_index("group"), judge


@pytest.mark.parametrize("against", [groups.EVERYBODY, groups.AVERAGE])
def test_each_group_against_all(subset, against):
    frame, judge = judged(subset, "fairness_language", MEAN, against=against)
    table, names = subset.segments.assign(value=subset.predictions.clean), ["de", "en", "fr"]
    means = table.groupby("language")["value"].mean()
    whole = means.mean() if against == groups.AVERAGE else table["value"].mean()
    expected = {f"language: {name}": means[name] - whole for name in names}
    assert frame["value"].to_dict() == pytest.approx(expected, abs=1e-11)
    others = [table[table["language"].ne(name)]["value"].mean() for name in names]  # all together
    assert frame["gap"].tolist() == pytest.approx(list(means - others), abs=1e-11)
    assert frame["segments"].tolist() == [119, 60, 30] and set(judge.simulated()["groups"]) == {3}


def test_groups_in_a_context(subset):
    tests = {"Mean Shift Difference": lambda s, p, inside: mean_value(p.clean)}
    context = ("sentiment", "negative")
    frame, _ = judged(subset, "fairness_linguistic_sentiment", tests, context=context)
    table = subset.segments.assign(value=subset.predictions.clean)
    inside = table[table["sentiment"].eq("negative")].groupby("language")["value"].mean()
    shifts = (inside - table.groupby("language")["value"].mean()).rename(
        "language: {}, sentiment: negative".format
    )
    assert frame["value"].to_dict() == pytest.approx((shifts - shifts.mean()).to_dict(), abs=1e-11)


def test_labels_stay_beside_the_group_and_may_be_groups_themselves(subset):
    tests = {"Relative Difference Per Bin": lambda s, p: bin_proportions(p.clean)}
    rows, judge = judged(subset, "fairness_language", tests, ("de", "en"))
    assert len(rows) == 8 and set(rows.index) == {"language: de", "language: en"}
    assert rows["label"].nunique() == 4 and not rows["label"].str.contains("de").any()
    random = []
    proportions = lambda _, p: random.append(p.random) or bin_proportions(p.clean)  # noqa: E731
    ranges = judge.judge(subset, "Mean Value", proportions, column="range")
    assert [row.label for row in ranges] == [""] * 4 and random == [False, True]
    assert all(row.group.startswith("range: ") for row in ranges)


def voices(limits=(), **pitches):
    """Name the group of each speaker's first segment, and count segments by group or reason."""
    speakers = [name for name, numbers in pitches.items() for _ in numbers]
    hertz = [pitch for numbers in pitches.values() for pitch in numbers]
    names, counts = voice_groups(hertz, speakers, *limits)
    first = {name: names[speakers.index(name)] for name in pitches}
    return first, counts.set_index("group")


def test_groups_of_voices():
    borders, _ = voices(a=[145.0] * 26, b=[145.01] * 26, c=[190.0] * 26, d=[190.01] * 26)
    assert borders == {"a": "low", "b": "medium", "c": "medium", "d": "high"}  # of the lower group
    assert voices(((100, 200), (110, 115), 2), a=[120.0] * 3)[0] == {"a": "high"}
    usable = {"a": [120.0] * 25, "b": [120.0] * 26, "c": [120.0] * 25 + [40.0, 351.0, np.nan]}
    first, counts = voices(**usable, d=[np.nan] * 30)
    assert first == {"a": None, "b": "low", "c": None, "d": None}
    assert counts.loc["low", "segments"] == 26 and counts.loc["no pitch from 50 to 350 Hz", "segments"] == 33
    assert counts.loc["speakers with up to 25 usable segments", "segments"] == 50
    names, counts = voice_groups([140.0] * 30 + [600.0] * 30, ["a"] * 59 + [None])
    assert set(names[:30]) == {"low"} and set(names[30:]) == {None}  # what is not usable moves nobody
    assert counts.set_index("group").loc["low", ["speakers", "highest"]].tolist() == [1, 140.0]


TEST = "Groups Served Worse"
PHONE = "<b>phone</b>"


def people(speakers: int = 40, worse: float = 0.4) -> pd.DataFrame:
    """Speakers of two sexes over three channels; the model is worse for women over a telephone."""
    rng = np.random.default_rng(0)
    speaker = np.repeat(np.arange(speakers), 12)
    n = len(speaker)
    table = pd.DataFrame({"speaker": [f"s{s:02d}" for s in speaker]})
    table["sex"] = np.array(["female", "male"])[speaker % 2]
    table["condition"] = rng.choice([PHONE, "room", "car"], size=n)
    table = table.assign(duration=rng.gamma(3, size=n), pitch=np.nan, arousal=rng.random(n), category="joy")
    planted = table["sex"].eq("female") & table["condition"].eq(PHONE)
    return table.assign(predicted=table["arousal"] + rng.normal(0, 0.1, n) + worse * planted)


@pytest.fixture
def searched(load):
    def of(table: pd.DataFrame):
        answers, tasks = {"arousal": table["predicted"]}, (BUILTIN["arousal"],)
        segments = table.drop(columns="predicted")
        evaluation = load("fairness_worst_groups", segments, answers, tasks, audio=False, replicates=200)
        result = search_all(evaluation, TEST)
        return evaluation, result, next(evaluation.frame().itertuples())

    return of


def test_columns_are_those_whose_words_may_be_groups():
    numbers, emotion = np.arange(500.0), ["anger", None, "joy", None] * 125
    table = pd.DataFrame({"speaker": [f"s{n}" for n in range(500)], "sex": ["female", "male"] * 250})
    rooms, cities = ([f"{n % most}" for n in range(500)] for most in (MOST_VALUES, MOST_VALUES + 1))
    table = table.assign(accent=cities, language="en", sentiment=None, emotion=emotion, room=rooms)
    table = table.assign(category=emotion, age=["young", "old"] * 250, city=[*cities[1:], "0"])
    table = table.assign(**{"age (number)": numbers, "duration": numbers, "pitch": np.nan, "level": numbers})
    columns, passed_over = columns_of(table, ["age", "city"], ["duration", "pitch"], {"speaker"})
    assert list(columns) == ["sex", "emotion", "room", "age", "city", "duration"]
    assert passed_over == {
        "accent": f"it has {MOST_VALUES + 1} values, more than {MOST_VALUES}",
        "language": "it has one value",
        "sentiment": "it has no value",
        "category": "it says the same as emotion",
        "pitch": "it could not be measured",
    }
    assert columns["emotion"][:2].tolist() == ["emotion: anger", None]
    words = pd.DataFrame({"pitch": ["low", "high"], "pitch (number)": [1.0, 2.0]})
    assert columns_of(words, ["pitch"], ["pitch"])[0]["pitch"].tolist() == ["pitch: low", "pitch: high"]


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=60))
def test_a_range_says_where_its_numbers_lie(numbers):
    for number, word in zip(numbers, in_ranges("x", np.array(numbers)), strict=True):
        where, *ends = word.replace("−", "-").removeprefix("x ").replace(" to ", " ").split()
        low, high = float(ends[0]), float(ends[-1])
        assert {"below": number < low, "above": number > low}.get(where, low <= number <= high)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([0, 0.01, 0.02, 0.03, np.inf], ["below 0.75 %", *["of 0.75 to 2.25 %"] * 2, "above 2.25 %", None]),
        ([0.0] * 4 + [0.02], ["of 0 %"] * 4 + ["above 0 %"]),
        ([0.01, 0.01, 0.03 - 0.02, 0.05], ["of 1 to 2 %"] * 3 + ["above 2 %"]),  # rounded, none is below
        ([np.nan], [None]),
    ],
)
def test_ranges_are_quarters_in_the_unit_of_the_measure(numbers, words):
    expected = [word and f"clipped samples {word}" for word in words]
    assert in_ranges("clipping", np.array(numbers)).tolist() == expected


def test_the_row_counts_and_its_remark_names(searched):
    table = people()
    evaluation, (result,), row = searched(table)
    assert (row.value, row.passed, row.reference, row.label, row.group) == (1, False, 0, "", "")
    assert row.skipped.startswith(f"sex: female × condition: {PHONE} (0.3")
    assert row.p_value == result.search.p_value < 0.001 and row.evidence == "none"
    assert pd.isna(row.low) and (row.segments, row.blocks) == (480, 40)
    assert result.passed_over == {"pitch": "it could not be measured", "category": "it has one value"}
    # On the page names are escaped, and the worst of the group and typical others are heard.
    heard, named = (view(evaluation, [result]) for view in (views.named_segments, views.named_groups))
    parts = heard, views.looked_at([result]), named, views.could_be_shown([result])
    heard, page = str(heard), "".join(map(str, parts))
    assert "<b>phone" not in page and page.count("&lt;b&gt;phone&lt;/b&gt;") > 3
    group = table["sex"].eq("female") & table["condition"].eq(PHONE)
    assert f">{(table['predicted'] - table['arousal']).abs()[group].idxmax():06d} " in heard
    assert heard.count("the others, typical; labelled") == 2


def test_nothing_found_too_little_or_missing(searched):
    _, _, row = searched(people(worse=0))
    assert (row.value, row.passed) == (0, True) and row.skipped.startswith("none of ")
    _, result, row = searched(people(speakers=4))
    assert not result and pd.isna(row.passed) and row.skipped == NO_GROUP
    table = people()
    _, result, row = searched(table.assign(predicted=table["predicted"].where(table.index % 3 == 0)))
    assert not result and row.skipped == "no prediction for 320 of 480 segments"
    lost = table["condition"].eq("car") & (table.index % 12 > 4)
    evaluation, (result,), _ = searched(table.assign(predicted=table["predicted"].mask(lost)))
    notes = " ".join(evaluation.notes)
    undefined = sum(np.isnan(group.gap) for group in result.search.candidates)
    assert result.search.named and undefined > 1 and f"{undefined} groups could not be judged" in notes
    assert "no prediction for" in notes


def test_a_remark_names_three_groups():
    groups = [SimpleNamespace(name=f"g{n}", gap=0.254, low=-0.01, high=0.5) for n in range(5)]
    named_groups = [f"g{n} (0.25 worse, −0.01 to 0.5)" for n in range(3)]
    for named, text in ((5, [*named_groups, "2 more"]), (3, named_groups), (0, ["none"])):
        remark = remark_of(SimpleNamespace(named=groups[:named], candidates=range(9)))
        assert remark == f"{', '.join(text)}{'; ' if named else ' '}of 9 groups looked at"


def test_of_verification_what_is_tested_in_rejected_trials_of_one_speaker_is_looked_at(load, rng):
    table, n = people(), 480
    tested, target = np.tile(rng.permutation(n), 2), np.arange(2 * n) < n
    enrolled = np.where(target, tested, (tested + 12) % n)  # another speaker
    numbers, speaker = np.arange(2 * n), table["speaker"].to_numpy()
    frame = pd.DataFrame({"key": [f"{number:04}" for number in numbers], "target": target})
    frame = frame.assign(enrol_speaker=speaker[enrolled], test_speaker=speaker[tested])
    frame = frame.assign(enrolment=numbers, segment=tested)
    planted = (table["sex"].eq("female") & table["condition"].eq(PHONE)).to_numpy()[tested]
    scores = np.where(planted & target, 0.5, 0.51)  # those above the threshold are accepted
    scores[::50] = np.nan
    answers, trials = {"key": frame["key"], "score": scores}, TrialTable(frame, enrolled, numbers, "list")
    about = (table.drop(columns=["predicted", "arousal"]), answers, (BUILTIN["embedding"],))
    evaluation = load("fairness_worst_groups", *about, audio=False, trials=trials)
    options = evaluation.family.options | {"threshold": 0.5}
    evaluation.family = dataclasses.replace(evaluation.family, options=options)
    (result,) = search_all(evaluation, TEST)
    assert [group.name for group in result.search.named] == [f"sex: female × condition: {PHONE}"]
    rejected = [np.nan if np.isnan(score) else float(score <= 0.5) for score in scores[:n]]
    np.testing.assert_array_equal(result.subset.predictions.clean, rejected)
    names = ["speaker", "sex", "condition", "duration"]
    of_tested = table[names].iloc[tested[:n]].assign(key=frame["key"].to_numpy()[:n])
    assert result.subset.segments[[*names, "key"]].values.tolist() == of_tested.values.tolist()
    assert len(set(zip(result.subset.blocks, of_tested["speaker"], strict=True))) == 40
