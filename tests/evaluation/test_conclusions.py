"""What is concluded from a group and from a value: gaps, evidence, p-values, and what they cannot say."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from judging import judging

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.evaluation.groups import AVERAGE, judge_groups
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.classification import recall_per_class, unweighted_average_recall
from soundcheck.metrics.distribution import class_proportions
from soundcheck.metrics.regression import concordance_cc, mean_value
from soundcheck.results import states
from soundcheck.results.states import decide
from soundcheck.suite.margins import Margin

EMOTION = BUILTIN["emotion"]
TESTS = {
    "Recall Per Class": lambda s, p: recall_per_class(s.truth, p.clean, EMOTION.classes),
    "Unweighted Average Recall": lambda s, p: unweighted_average_recall(s.truth, p.clean, EMOTION.classes),
}


def voices(predict, speakers: int = 20, each: int = 16, task=EMOTION, seed: int = 0) -> Subset:
    """Half of the speakers are women; ``predict(truth, female, rng)`` answers."""
    rng = np.random.default_rng(seed)
    blocks = np.repeat(np.arange(speakers), each)
    female = blocks < speakers // 2
    classes = np.array(EMOTION.classes, dtype=object)
    truth = rng.uniform(size=len(blocks)) if task.is_regression else classes[np.arange(len(blocks)) % 4]
    table = pd.DataFrame(
        {"key": np.arange(len(blocks)).astype(str), "sex": np.where(female, "female", "male")}
    )
    answers = Predictions(predict(truth, female, rng))
    subset = Subset("c", task, table, truth, answers, Predictions(rng.permutation(truth)), blocks)
    return subset.sized(2, len(blocks) // 2)


def right_for_women(truth, female, rng):
    wrong = np.array(EMOTION.classes, dtype=object)[(np.searchsorted(EMOTION.classes, truth) + 1) % 4]
    return np.where(female, truth, wrong)


def guesses(truth, female, rng):
    return rng.choice(np.array(EMOTION.classes, dtype=object), len(truth))


def frame_of(subset: Subset, tests=TESTS, column: str = "sex", against: str = "everybody", **settings):
    own = judging(**{"family": "fairness_sex", "task": EMOTION} | settings)
    judge_groups(own, subset, column, sorted(set(subset.segments[column])), tests, against=against)
    frame = decide(own.frame())
    return frame[frame["test"].isin(tests) & frame["group"].ne("")]


@pytest.mark.parametrize(
    ("thresholds", "interval"), [("gap", "t"), ("published", "percentile"), ("simulated", "t")]
)
def test_right_for_one_sex_and_wrong_for_the_other_fails_clearly(thresholds, interval):
    frame = frame_of(voices(right_for_women), thresholds=thresholds, interval=interval)
    assert frame["gap"].abs().eq(1).all() and frame["holds"].eq(True).all()
    assert frame["evidence"].eq("clear fail").all()
    judged = frame["passed"].notna()
    assert frame.loc[judged, "passed"].eq(False).all()
    assert frame.loc[~judged, "skipped"].str.contains("too few segments to tell").all()
    assert judged.any() and judged.all() == (thresholds != "simulated")


def test_a_model_that_guesses_is_accused_by_nothing_that_holds():
    accused = [frame_of(voices(guesses, seed=seed))["holds"].eq(True).any() for seed in range(30)]
    assert np.mean(accused) <= 0.1


def test_the_gap_is_that_of_the_group_to_the_others_and_not_to_all():
    frame = frame_of(voices(right_for_women), thresholds="published").set_index(["test", "group", "label"])
    row = frame.loc["Unweighted Average Recall", "sex: female", ""]
    assert (row["value"], row["gap"]) == (0.5, 1.0)
    assert (row["rule"], row["threshold"], row["matters"]) == ("|value| <", 0.075, 0.075)


def test_thresholds_of_gaps_compare_the_gap_with_what_matters():
    frame = frame_of(voices(right_for_women), margin=Margin(0.2, relative=None))
    assert frame["rule"].eq("|gap| <").all() and frame[["threshold", "matters"]].eq(0.2).all(axis=None)
    assert frame_of(voices(right_for_women), margin=Margin(1.5, relative=None))["passed"].all()


def test_everything_right_is_no_proof_with_few_speakers():
    """Nobody of ten women and ten men is misunderstood: up to 31 of 100 speakers of one sex might be."""
    few = frame_of(voices(lambda truth, female, rng: truth))
    assert few["gap"].eq(0).all() and few["evidence"].eq("open").all()
    assert few["bound"].iloc[0] == pytest.approx(1 - 0.025**0.1)
    many = frame_of(voices(lambda truth, female, rng: truth, speakers=200, each=4))
    assert many["evidence"].eq("clear pass").all()


@pytest.mark.parametrize("women", [1, 4])
def test_too_few_speakers_on_one_side(women):
    subset = voices(guesses)
    subset.segments["sex"] = np.where(subset.blocks < women, "female", "male")
    frame = frame_of(subset)
    assert frame[["low", "high", "gap_low", "gap_high", "bound", "certainty"]].isna().all(axis=None)
    assert frame["evidence"].eq("none").all() and frame["passed"].notna().all()
    assert frame["skipped"].str.contains(f"{women} (?:block|speaker).*5 needed").all()
    assert frame["p_value"].isna().all()


def test_groups_that_vary_within_speakers_are_not_permuted():
    subset = voices(guesses)
    subset.segments["sex"] = np.where(np.arange(len(subset)) % 3, "female", "male")
    frame = frame_of(subset)
    assert frame["p_value"].notna().all() and frame["least_p"].isna().all()


def test_few_speakers_cannot_show_a_gap_among_many_tests():
    frame = frame_of(voices(right_for_women, speakers=10))
    assert frame[["least_p", "p_value"]].to_numpy() == pytest.approx(2 / 252)
    assert not states.cannot_be_significant(frame).any()  # two groups are one test: five tests
    more = pd.concat([frame, frame.assign(corpus="d")], ignore_index=True)
    assert states.cannot_be_significant(more).all()  # each by itself; together they can
    assert frame["holds"].all()


def test_accents_are_compared_with_all_others_together():
    rng = np.random.default_rng(1)
    blocks = np.repeat(np.arange(30), 10)
    table = pd.DataFrame({"key": np.arange(300).astype(str), "accent": np.array(["a", "b", "c"])[blocks % 3]})
    values = rng.uniform(0.3, 0.6, 300) + 0.2 * (blocks % 3 == 0)
    task, answers = BUILTIN["arousal"], Predictions(values)
    subset = Subset("c", task, table, None, answers, Predictions(rng.uniform(size=300)), blocks).sized(3, 100)
    tests = {"Mean Value": lambda s, p: mean_value(p.clean)}
    frame = frame_of(subset, tests, "accent", AVERAGE, family="fairness_accent", task=task)
    rows = frame.set_index("group")
    own = table["accent"].eq("a").to_numpy()
    assert rows.loc["accent: a", "gap"] == pytest.approx(values[own].mean() - values[~own].mean())
    assert rows["holds"].to_dict() == {"accent: a": True, "accent: b": True, "accent: c": True}
    assert rows.loc["accent: a", "gap_low"] < 0.2 < rows.loc["accent: a", "gap_high"]


def test_values_without_groups_are_compared_with_their_threshold():
    task = BUILTIN["arousal"]
    subset = voices(lambda truth, female, rng: truth + rng.normal(0, 0.05, len(truth)), task=task)
    own = judging("correctness_regression", task)
    own.judge(subset, "Concordance Correlation Coeff", lambda s, p: concordance_cc(s.truth, p.clean))
    (row,) = own.frame().query("value.notna()").itertuples(index=False)
    assert row.gap == pytest.approx(row.value - 0.5) and row.gap_low == pytest.approx(row.low - 0.5)
    assert (row.evidence, row.bound) == ("clear pass", row.low)
    assert row.high < 1 and row.p_value > 0.999 and np.isnan(row.matters)


def test_statements_do_not_depend_on_the_order_of_segments():
    subset = voices(guesses)
    order = np.random.default_rng(5).permutation(len(subset))
    shuffled = Subset(
        "c", EMOTION, subset.segments.iloc[order].reset_index(drop=True), subset.truth[order],
        subset.predictions.take(order), subset.reference.take(order), subset.blocks[order],
    ).sized(2, len(subset) // 2)  # fmt: skip
    pd.testing.assert_frame_equal(frame_of(subset), frame_of(shuffled))


FEELING = Task("feeling", "classification", (*EMOTION.classes, "fear"))  # five classes, one never felt


def shares(**settings):
    """Judge how much of the predictions of either sex is a class, for a task of five classes."""
    subset = voices(right_for_women)
    subset = dataclasses.replace(subset, task=FEELING)
    tests = {"Relative Difference Per Class": lambda s, p: class_proportions(p.clean, s.task.classes)}
    return frame_of(subset, tests, family="fairness_accent", task=FEELING, **settings)


@pytest.mark.parametrize("thresholds", ["gap", "published", "simulated"])
def test_without_threshold_a_group_is_shown_and_counts_among_no_tests(thresholds):
    frame = shares(thresholds=thresholds)
    assert len(frame) == 10 and states.decide(frame)["state"].eq("reported").all()
    assert frame[["value", "gap", "gap_low", "gap_high"]].notna().all(axis=None)
    assert frame[["p_value", "least_p", "matters", "threshold", "certainty"]].isna().all(axis=None)
    assert frame["holds"].isna().all() and frame["skipped"].str.contains("for 4 classes, not 5").all()


@pytest.mark.parametrize("thresholds", ["gap", "published", "simulated"])
def test_a_gap_that_matters_judges_what_has_no_threshold(thresholds):
    frame = shares(thresholds=thresholds, margin=Margin(0.1, relative=None))
    assert frame["rule"].eq("|gap| <").all() and frame["threshold"].eq(0.1).all()
    assert frame["passed"].notna().all() and frame["p_value"].notna().all()
    assert frame["skipped"].str.startswith("no threshold: judged by the margin").all()
    assert not frame["skipped"].str.contains("shown without verdict").any()
