"""What is concluded from groups and values: gaps, intervals, p-values, thresholds and their remarks."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.evaluation.conftest import judging

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.evaluation.conclusions import Computed, estimate_rows
from soundcheck.evaluation.evaluation import Evaluation, GroupCount
from soundcheck.evaluation.groups import Groups, judge_groups
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.classification import recall_per_class, unweighted_average_recall
from soundcheck.metrics.distribution import class_proportions
from soundcheck.metrics.regression import concordance_cc, mean_value
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.results import states
from soundcheck.results.rows import Estimate
from soundcheck.results.states import decide
from soundcheck.results.table import collected
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.evidence import Scale
from soundcheck.statistics.fixed_speakers import value_ends
from soundcheck.statistics.simulation import MOST_CLASSES, simulated_threshold
from soundcheck.suite.families import Margin, OwnTest, with_own_tests

EMOTION = BUILTIN["emotion"]
AROUSAL = BUILTIN["arousal"]
CLASSES = np.array(EMOTION.classes, dtype=object)
TESTS = {
    "Recall Per Class": lambda s, p: recall_per_class(s.truth, p.clean, EMOTION.classes),
    "Unweighted Average Recall": lambda s, p: unweighted_average_recall(s.truth, p.clean, EMOTION.classes),
}


def voices(predict, speakers: int = 20, each: int = 16, task=EMOTION, seed: int = 0) -> Subset:
    """Half of the speakers are women; ``predict(truth, female, rng)`` answers."""
    rng = np.random.default_rng(seed)
    blocks = np.repeat(np.arange(speakers), each)
    female = blocks < speakers // 2
    truth = rng.uniform(size=len(blocks)) if task.is_regression else CLASSES[np.arange(len(blocks)) % 4]
    table = pd.DataFrame({"key": np.arange(len(blocks)).astype(str)})
    table["sex"] = np.where(female, "female", "male")
    answers, random = Predictions(predict(truth, female, rng)), Predictions(rng.permutation(truth))
    return Subset("c", task, table, truth, answers, random, blocks).sized(2, len(blocks) // 2)


def right_for_women(truth, female, rng):
    return np.where(female, truth, CLASSES[(np.searchsorted(CLASSES, truth) + 1) % 4])


def guesses(truth, female, rng):
    return rng.choice(CLASSES, len(truth))


def rows_of(
    subset: Subset, tests=TESTS, column="sex", names=("female", "male"), adjust=(), own=None, **settings
):
    judge = judging(**{"family": "fairness_sex", "task": subset.task, "adjust": adjust} | settings)
    judge.family = with_own_tests(judge.family, own or {})
    counts = [GroupCount(name, 1) for name in names]
    judge_groups(judge, Groups(subset, column, counts, subset), tests)
    frame = decide(judge.frame())
    return frame[frame["test"].isin(tests) & frame["group"].ne("")]


@pytest.mark.parametrize("thresholds", ["published", "simulated"])
def test_right_for_one_sex_and_wrong_for_the_other_fails_clearly(thresholds):
    frame = rows_of(voices(right_for_women), thresholds=thresholds)
    assert (
        frame["gap"].abs().eq(1).all() and frame["holds"].all() and frame["evidence"].eq("clear fail").all()
    )
    judged = frame["passed"].notna()
    assert frame.loc[judged, "passed"].eq(False).all() and judged.any()
    assert frame.loc[~judged, "skipped"].str.contains("too few segments to tell").all()
    if thresholds == "published":  # the value compares with all, the gap with the others
        row = frame.set_index(["test", "group"]).loc["Unweighted Average Recall", "sex: female"]
        assert (row["value"], row["gap"], row["threshold"]) == (0.5, 1.0, 0.075) and judged.all()


def test_a_model_that_guesses_is_accused_by_nothing_that_holds():
    accused = [rows_of(voices(guesses, seed=seed))["holds"].eq(True).any() for seed in range(8)]
    assert sum(accused) <= 1


def test_everything_right_is_no_proof_with_few_speakers():
    """Nobody of ten women and ten men is misunderstood: up to 31 of 100 speakers of one sex might be."""
    few = rows_of(voices(lambda truth, *_: truth))
    assert few["gap"].eq(0).all() and few["evidence"].eq("open").all()
    assert few["bound"].iloc[0] == pytest.approx(1 - 0.025**0.1)
    many = voices(lambda truth, *_: truth, speakers=200, each=4)
    assert rows_of(many)["evidence"].eq("clear pass").all()


def test_too_few_speakers_on_one_side():
    subset = voices(guesses)
    subset.segments["sex"] = np.where(subset.blocks < 4, "female", "male")
    frame = rows_of(subset)
    unknown = ["low", "high", "gap_low", "gap_high", "bound", "certainty", "p_value"]
    assert frame[unknown].isna().all(axis=None) and frame["passed"].notna().all()
    assert frame["evidence"].eq("none").all()
    assert frame["skipped"].str.contains("4 (?:block|speaker).*5 needed").all()


def test_p_values_of_permutations_are_those_of_groups_of_speakers():
    subset = voices(guesses)
    subset.segments["sex"] = np.where(np.arange(len(subset)) % 3, "female", "male")
    within = rows_of(subset)  # groups that vary within speakers are not permuted
    assert within["p_value"].notna().all() and within["least_p"].isna().all()
    frame = rows_of(voices(right_for_women, speakers=10))
    assert frame[["least_p", "p_value"]].to_numpy() == pytest.approx(2 / 252) and frame["holds"].all()


def test_values_without_groups_are_compared_with_their_threshold():
    subset = voices(lambda truth, female, rng: truth + rng.normal(0, 0.05, len(truth)), task=AROUSAL)
    judge = judging("correctness_regression", AROUSAL)
    judge.judge(subset, "Concordance Correlation Coeff", lambda s, p: concordance_cc(s.truth, p.clean))
    (row,) = judge.frame().query("value.notna()").itertuples(index=False)
    assert (row.gap, row.gap_low, row.gap_high) == pytest.approx(
        (row.value - 0.5, row.low - 0.5, row.high - 0.5)
    )
    assert (row.evidence, row.bound) == ("clear pass", row.low)
    assert row.value - row.low > 1.05 * (row.high - row.value)  # the scale ends at 1
    assert row.high < 1 and row.p_value > 0.999 and np.isnan(row.matters)


def test_statements_do_not_depend_on_the_order_of_segments():
    subset = voices(guesses)
    shuffled = subset.take(np.random.default_rng(5).permutation(len(subset)))
    pd.testing.assert_frame_equal(rows_of(subset), rows_of(shuffled))


def test_without_threshold_a_group_is_reported_unless_a_margin_judges_it():
    task = Task("feeling", "classification", (*EMOTION.classes, "fear"))
    subset = dataclasses.replace(voices(right_for_women), task=task)
    tests = {"Relative Difference Per Class": lambda s, p: class_proportions(p.clean, s.task.classes)}
    about = {"tests": tests, "family": "fairness_accent", "thresholds": "published"}
    frame = rows_of(subset, **about)
    assert len(frame) == 10 and frame["state"].eq("reported").all() and frame["gap_low"].notna().all()
    assert frame[["holds", "p_value", "matters", "threshold", "certainty"]].isna().all(axis=None)
    assert frame["skipped"].str.contains("for 4 classes, not 5").all()
    frame = rows_of(subset, **about, margin=Margin(0.1, relative=None))
    assert frame["passed"].eq(frame["gap"].abs() < 0.1).all() and frame["p_value"].notna().all()
    assert frame["skipped"].str.startswith("no threshold: judged by the margin").all()


def test_groups_are_compared_with_the_reference_that_a_suite_names():
    subset, names = voices(right(0.9, 0.6), speakers=30), ["irish", "us", "welsh"]
    subset = subset.with_column("accent", np.array(names)[subset.blocks % 3])
    correct = pd.Series(subset.predictions.clean == subset.truth)
    recall = correct.groupby([subset.segments["accent"], subset.truth]).mean().groupby(level=0).mean()
    tests = {RECALL: TESTS[RECALL]}
    for named, why in (("us", states.REFERENCE), ("kenyan", f"{states.NO_REFERENCE}: kenyan")):
        corpora = [SimpleNamespace(name="c", adjust=(), against={"accent": named})]
        frame = rows_of(subset, tests, "accent", names, corpora=corpora).set_index("group")
        assert frame["group_value"].tolist() == pytest.approx(recall.tolist())
        assert frame["against"].eq(named).all()
        compared = frame["gap"].notna()
        assert compared.tolist() == [named == "us", False, named == "us"]
        assert frame["skipped"].str.contains(why, regex=False).eq(~compared).all()
        assert frame["state"].eq(states.NOT_EVALUATED).eq(~compared).all()
        differences = (recall - recall["us"])[compared.to_numpy()].tolist()
        assert frame["gap"][compared].tolist() == pytest.approx(differences)
        assert frame["others_value"][compared].eq(frame["group_value"].get("accent: us")).all()


def test_guesses_are_judged_by_their_own_difference():
    """They miss the anger of women alone, which is a difference of 1 in one recall and of 1/4 in all."""
    subset = voices(guesses)
    female = subset.segments["sex"].eq("female").to_numpy()
    missed = np.where(female & (subset.truth == CLASSES[0]), CLASSES[1], subset.truth)
    frame = rows_of(dataclasses.replace(subset, reference=Predictions(missed)))
    assert frame["reference_passed"].eq(frame["label"].isin(CLASSES[1:])).all()


def test_of_files_nothing_follows_for_new_speakers():
    frame = rows_of(voices(right(0.9, 0.3)), block_names={"c": "file"})
    assert frame["state"].eq(states.NOT_EVALUATED).all() and frame["state_sample"].eq(states.FAIL).all()
    assert frame[["p_value", "least_p"]].isna().all(axis=None) and frame["gap_low"].notna().all()
    assert frame["skipped"].str.endswith(states.NO_SPEAKERS).all()


MEAN = {"Mean Value": lambda s, p: mean_value(p.clean)}
NEWER = ["adjusted", "adjusted_low", "adjusted_high", "counterpart", "adjusted_by"]
SPEAKERS, EACH = 80, 20


def accents(noisy: float = 0.0, accent: float = 0.0) -> Subset:
    """Half of the speakers are Irish and speak in more noise; noise and accent raise what is predicted."""
    rng = np.random.default_rng(0)
    blocks = np.repeat(np.arange(SPEAKERS), EACH)
    irish, n = blocks < SPEAKERS // 2, len(blocks)
    noise = rng.normal(size=SPEAKERS)[blocks] * 0.7 + rng.normal(size=n) * 0.7 + irish
    values = 0.4 + noisy * noise + accent * irish + rng.normal(0, 0.02, n)
    values += rng.normal(0, 0.02, SPEAKERS)[blocks]
    table = pd.DataFrame({"key": np.arange(n).astype(str), "noise": noise})
    table["accent"] = np.where(irish, "irish", "welsh")
    table["device"] = np.where(irish, "phone", "headset")
    random = Predictions(rng.random(n))
    return Subset("c", AROUSAL, table, None, Predictions(values), random, blocks).sized(2, n // 2)


def adjusted_rows(subset: Subset, adjust=("noise",), column="accent", names=("irish", "welsh"), **settings):
    about = {"family": "fairness_accent", "tests": MEAN, "replicates": 400} | settings
    return rows_of(subset, column=column, names=names, adjust=adjust, **about).set_index("group")


@pytest.fixture(scope="module")
def noisy():
    return accents(noisy=0.1)


def test_a_gap_that_is_all_noise_goes_and_one_of_the_accent_stays(noisy):
    frame, without = adjusted_rows(noisy), adjusted_rows(noisy, ())
    noise, accent = (rows.loc["accent: irish"] for rows in (frame, adjusted_rows(accents(accent=0.1))))
    assert noise["gap"] > 0.06
    assert abs(noise["adjusted"]) < 0.15 * noise["gap"] and noise["adjusted_low"] < 0 < noise["adjusted_high"]
    assert accent["adjusted"] == pytest.approx(accent["gap"], rel=0.1)
    assert accent["adjusted_low"] < 0.1 < accent["adjusted_high"]
    for row in (noise, accent):
        assert row["adjusted_by"] == "noise" and 0.9 < row["counterpart"] <= 1
    # Nothing else of a row changes, and two groups mirror each other.
    pd.testing.assert_frame_equal(frame.drop(columns=NEWER), without.drop(columns=NEWER))
    assert without["adjusted_by"].eq("").all() and without[NEWER[:4]].isna().all(axis=None)
    assert frame["adjusted"].sum() == pytest.approx(0, abs=1e-11)


def test_what_cannot_adjust_is_refused_with_words_and_accuses_all_the_same():
    subset = accents(accent=0.1)
    alone = np.where(np.arange(len(subset)) % 5 > 0, subset.segments["device"], "both")
    frame = adjusted_rows(subset.with_column("fifth", alone), ["fifth"])
    assert frame["adjusted_by"].eq("none: only 20 % of the group have a counterpart").all()
    assert frame["holds"].all() and frame["adjusted"].isna().all() and frame["counterpart"].eq(0.2).all()
    nowhere = adjusted_rows(subset, ("noise", "device"))
    assert nowhere["adjusted_by"].eq("none: device decides the group").all()


def test_ranges_of_a_number_are_not_adjusted_by_that_number(noisy):
    numbers = noisy.segments["noise"]
    subset = noisy.with_column("noise (number)", numbers)
    subset = subset.with_column("noise", np.where(numbers < 0.37, "quiet", "loud"))
    frame = adjusted_rows(subset, ("noise (number)",), "noise", ["loud", "quiet"])
    assert frame["gap"].abs().min() > 0.1 and frame["adjusted"].isna().all()
    assert frame["adjusted_by"].eq("none: noise decides the group").all()


@pytest.mark.parametrize(
    ("suite", "own", "margin"),
    [
        (Margin(), OwnTest(), 0.075),  # as it was published
        (Margin(0.2), OwnTest(), 0.2),
        (Margin(0.2), OwnTest({"arousal": 0.3}), 0.3),  # the threshold that a suite gives a test comes first
        (Margin(0.2), OwnTest({"arousal": 0.3}, Margin(0.1)), 0.1),  # but for a margin of that test
    ],
)
def test_whose_margin_judges_a_difference(suite, own, margin):
    frame = adjusted_rows(accents(accent=0.25), (), margin=suite, own={"Mean Value": own})
    assert frame[["matters", "threshold"]].eq(margin).all(axis=None)
    assert frame["state"].eq(states.FAIL if margin < 0.25 else states.PASS).all()


ROWS = 60
MEAN_VALUE, RECALL = "Mean Value", "Unweighted Average Recall"


def of_classes(count: int) -> Task:
    return Task("words", "classification", tuple(f"w{n}" for n in range(count)))


@pytest.fixture
def judge(describe):
    """Judge a mean of 0.01 by a test of a family; gives its row, and the evaluation."""

    def row(test=MEAN_VALUE, family="fairness_accent", task=AROUSAL, groups=2, size=100, **settings):
        evaluation = Evaluation(describe(family, tasks=(task,), **{"thresholds": "simulated"} | settings))
        answers = Predictions(
            np.linspace(0, 1, ROWS) if task.is_regression else np.resize(task.classes, ROWS)
        )
        segments = pd.DataFrame({"key": [str(n) for n in range(ROWS)]})
        rows = Subset("c", task, segments, None, answers, answers, np.arange(ROWS) % 10).sized(groups, size)
        (verdict,) = evaluation.judge(rows, test, lambda *_: mean_value(np.full(ROWS, 0.01)), "accent: welsh")
        return verdict, evaluation

    return row


OWN = {MEAN_VALUE: OwnTest({"arousal": 0.3}, None, "agreed")}
PUBLISHED = {"thresholds": "published"}
SEXES = {"family": "fairness_sex", "test": RECALL}


@pytest.mark.parametrize(
    ("settings", "threshold", "remark"),
    [
        ({"groups": 1}, 0.075, "published threshold: simulations are for 2 groups or more of at least 2"),
        (PUBLISHED, 0.075, ""),
        ({"tests": OWN} | PUBLISHED, 0.3, "changed in this suite: 0.075 → 0.3 (agreed)"),
        (SEXES | PUBLISHED | {"task": of_classes(7)}, 0.075, "threshold: simulated for 4 classes, not 7"),
        (SEXES | {"task": of_classes(MOST_CLASSES + 1)}, 0.075, f"for at most {MOST_CLASSES} classes"),
    ],
)
def test_a_row_says_where_its_threshold_is_from(judge, settings, threshold, remark):
    row, _ = judge(**settings)
    assert row.passed and row.threshold == threshold
    assert remark in row.skipped and ("threshold" in row.skipped) <= bool(remark)


def test_thresholds_of_seven_classes_and_tests_that_a_suite_leaves_out(judge):
    task = of_classes(7)
    row, evaluation = judge(**SEXES, task=task, size=1000)
    test = evaluation.family.tests[RECALL]
    simulated = simulated_threshold(test.threshold_for(task), test.simulation, 2, 1000, 7).threshold
    assert [row.threshold] == [simulated] == evaluation.simulated()["simulated"].tolist()
    row, _ = judge(tests={MEAN_VALUE: OwnTest(run=False, why="noise")})
    assert row.skipped == "switched off in this suite: noise" and row.passed is None


def estimated(measure, statistic, speakers, kind="t"):
    blocks = np.repeat(np.arange(speakers), len(statistic) // speakers)
    resampled = resample(statistic, blocks, 200)
    about = dict.fromkeys(("model", "corpus", "family", "task"), "x")
    computed = Computed(statistic, resampled, blocks)
    (row,) = estimate_rows(about | {"measure": measure, "condition": ""}, computed, kind)
    return row


def recall_of(right, count):
    return recall_per_class(["a"] * count, np.where(np.arange(count) < right, "a", "b"), ["a"])


def errors_of(errors, count):
    return word_error_rate(np.full(count, 5.0), np.full(count, errors))


# statistic of 8 recordings a speaker -> why there is no interval for new speakers, and whether these have one
@pytest.mark.parametrize(
    ("measure", "statistic", "speakers", "why", "known"),
    [
        ("recall", recall_of(96, 96), 12, "all of 12 speakers at 1, 20 needed", True),
        ("recall", recall_of(240, 240), 30, "", True),
        ("word_error_rate", errors_of(0.0, 96), 12, "all of 12 speakers at 0, 20 needed", False),
        ("word_error_rate", errors_of(1.0, 96), 12, "nothing varies", False),
    ],
)
def test_values_that_do_not_vary(measure, statistic, speakers, why, known):
    row = estimated(measure, statistic, speakers)
    assert (row.low is None, row.excluded) == (why != "", why and f"interval withheld: {why}")
    expected = value_ends(1.0, 0.0, np.nan, Scale(0, 1), 8 * speakers)(0.025) if known else (None, None)
    assert (row.low_sample, row.high_sample) == pytest.approx(expected)


@pytest.mark.parametrize(("kind", "speakers"), [("t", 5), ("expanded", 40)])
def test_intervals_lie_within_the_possible_range(kind, speakers, rng):
    n, truth = 4 * speakers, rng.random(4 * speakers)
    errors = np.where((rng.random(n) < 0.1) | (np.arange(n) == 0), 30.0, 0.0)
    for measure, statistic, low, high in (
        ("word_error_rate", word_error_rate(np.full(n, 9.0), errors), 0, np.inf),
        ("recall", recall_of(n - 1, n), 0, 1),
        ("concordance_cc", concordance_cc(truth, truth + rng.normal(0, 0.01, n)), -1, 1),
    ):
        row = estimated(measure, statistic, speakers, kind=kind)
        for ends in ((row.low, row.high), (row.low_sample, row.high_sample)):
            assert ends == (None, None) or low <= ends[0] <= row.value <= ends[1] <= high


def test_a_group_that_one_family_compares_keeps_its_interval():
    row = {"model": "m", "corpus": "c", "task": "transcript", "measure": "word_error_rate", "value": 0.1}
    row |= {"part": "accent: us", "segments": 40, "speakers": 9}
    small = Estimate(family="asr_word_errors", excluded="40 segments, 50 needed", **row)
    compared = Estimate(family="fairness_groups", low=0.05, high=0.15, **row)
    assert collected([small, compared]) == collected([compared, small]) == [compared]
    both = collected([compared, dataclasses.replace(compared, value=0.2)])
    assert [row.measure for row in both] == ["word_error_rate", "word_error_rate (fairness_groups)"]


def right(of_women, of_men):
    def predict(truth, female, rng):
        wrong = CLASSES[(np.searchsorted(CLASSES, truth) + 1) % 4]
        return np.where(rng.random(len(truth)) < np.where(female, of_women, of_men), truth, wrong)

    return predict


@pytest.mark.parametrize(("women", "men"), [(0.9, 0.7), (0.7, 0.7), (0.98, 0.94), (0.998, 0.95)])
def test_cells_of_a_difference_follow_from_its_sides(women, men):
    frame = rows_of(voices(right(women, men), speakers=60), margin=Margin(), thresholds="published")
    frame = frame[frame["gap_low_sample"].notna()]
    group, others = frame["group_value"], frame["others_value"]
    np.testing.assert_allclose(frame["gap"], group - others, atol=1e-9)
    np.testing.assert_allclose(
        frame["matters"], (0.25 * (1 - others)).clip(0.005, frame["threshold"]), rtol=1e-5
    )
    zero = (frame["gap_low_sample"] <= 0) & (frame["gap_high_sample"] >= 0)
    assert zero.eq(frame["p_sample"] > 0.05).all() and frame["p_sample"].le(1).all()
    assert (frame["gap_low"].ge(-1) & frame["gap_high"].le(1)).all()
    ratio, whole = frame["ratio"].notna(), frame["label"] == ""  # of 480 segments a sex
    few = (1 - np.maximum(group, others)) * 480 < 5
    assert whole.any() and ratio[whole].eq(~few[whole]).all()
    np.testing.assert_allclose(frame["ratio"][ratio], ((1 - group) / (1 - others))[ratio], rtol=1e-4)


@pytest.mark.parametrize(("of_women", "known"), [(4, False), (5, True)])
def test_a_ratio_of_word_error_rates_needs_so_many_wrong_words(of_women, known):
    """Of 160 segments with 10 words each a sex: recordings times rate would be less than one error."""
    test, subset = "Word Error Rate Difference", voices(guesses)
    number = np.arange(160)
    errors = np.concatenate([number < of_women, number < 20]).astype(float)
    rates = {test: lambda s, p: word_error_rate(np.full(320, 10.0), errors)}
    frame = rows_of(subset, rates, family="fairness_groups").set_index("group")
    assert frame["ratio"].notna().tolist() == [known] * 2
    if known:
        assert frame.loc["sex: female", "ratio"] == pytest.approx(of_women / 20)


@pytest.mark.parametrize(
    ("margin", "state"),
    [
        (Margin(), states.INCONCLUSIVE),
        (Margin(relative=0.4), states.PASS),
        (Margin(relative=None), states.PASS),
        (Margin(0.024), states.PASS),  # which is less than a quarter of the rate of 0.1
        (Margin(floor=0.03), states.PASS),  # which is more
    ],
)
def test_where_a_relative_margin_is_in_force_the_ratio_has_to_be_known_as_well(margin, state):
    """Speakers of both sexes make 5 or 15 errors in 100: the ratio of their rates may be 1.26."""

    def predict(truth, female, rng):
        number = np.arange(len(truth))
        wrong = number % 100 < np.where(number // 100 % 2, 5, 15)
        return np.where(wrong, CLASSES[(np.searchsorted(CLASSES, truth) + 1) % 4], truth)

    frame = rows_of(voices(predict, 80, 100), {RECALL: TESTS[RECALL]}, margin=margin, replicates=1000)
    assert frame["gap_high"].between(0.022, 0.024).all() and frame["ratio_high"].between(1.25, 1.27).all()
    assert frame["state"].eq(state).all()


@pytest.mark.parametrize("value", [-0.2, -0.05, 0.05, 0.2])
def test_values_under_a_two_sided_rule_are_compared_with_the_nearer_end(value):
    subset = voices(lambda truth, female, rng: value + rng.normal(0, 0.02, len(truth)), task=AROUSAL)
    judge = judging("correctness_calibration", AROUSAL)
    test, definition = next((n, t) for n, t in judge.family.tests.items() if t.rule == "|value| <")
    threshold = 0.1
    definition = dataclasses.replace(definition, thresholds={"regression": threshold})
    judge.family = dataclasses.replace(judge.family, tests={test: definition})
    (row,) = judge.judge(subset, test, lambda s, p: mean_value(p.clean))
    assert row.passed == (abs(value) < threshold)
    assert row.gap == pytest.approx(row.value - np.copysign(threshold, value), abs=1e-6)
    assert (row.p_sample < 0.01) == (row.p_value < 0.01) == (abs(value) > threshold)


@pytest.mark.parametrize(("women", "men"), [(0.8, 0.8), (0.05, 0.05)])
def test_classes_without_threshold_are_compared_with_chance(women, men):
    task = dataclasses.replace(EMOTION, classes=(*EMOTION.classes, "fear"))
    subset = dataclasses.replace(voices(right(women, men)), task=task)
    judge = judging("correctness_classification", task)
    test = "Unweighted Average Recall"
    (row,) = judge.judge(
        subset,
        test,
        lambda s, p: unweighted_average_recall(s.truth, p.clean, EMOTION.classes),
        chance=lambda s, p: unweighted_average_recall(s.truth, np.roll(p.clean, 1), EMOTION.classes),
    )
    assert row.passed == (row.value > row.threshold) and row.gap == pytest.approx(row.value - row.threshold)
    assert (row.p_sample < 0.01) == (row.p_value < 0.01) == (not row.passed)
