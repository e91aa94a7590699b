"""A row says where its threshold comes from if that is not where a reader expects it from."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.regression import mean_value
from soundcheck.statistics.simulated_thresholds import simulated_threshold
from soundcheck.statistics.simulation import MOST_CLASSES
from soundcheck.suite.own_rules import OwnTest

ROWS = 60
EMOTIONS = Task("emotion7", "classification", tuple("abcdefg"))
FAMILY, TEST = "fairness_accent", "Mean Value"


def subset(task: Task) -> Subset:
    rng = np.random.default_rng(0)
    answers = rng.uniform(size=ROWS) if task.is_regression else rng.choice(list(task.classes), ROWS)
    segments = pd.DataFrame({"key": [str(n) for n in range(ROWS)]})
    blocks = np.arange(ROWS) % 10
    return Subset("c", task, segments, None, Predictions(answers), Predictions(answers), blocks)


@pytest.fixture
def evaluate(describe):
    """Judge the mean of some answers as a fairness test, and give its row."""

    def row(task=BUILTIN["arousal"], thresholds="simulated", groups=2, size=100, tests=None, family=None):
        evaluation = Evaluation(describe(FAMILY, thresholds=thresholds, tests=tests or {}, tasks=(task,)))
        evaluation.family = family or evaluation.family
        judged = subset(task).sized(groups, size) if groups else subset(task)
        (verdict,) = evaluation.judge(judged, TEST, lambda s, p: mean_value(np.full(ROWS, 0.01)))
        return verdict

    return row


SIMULATED = "published threshold: simulations are for 2 groups or more of at least 2 segments"
CHANGED = "changed in this suite: 0.075 → 0.3 (agreed)"
OWN = {TEST: OwnTest({"arousal": 0.3}, None, "agreed")}


@pytest.mark.parametrize(
    ("settings", "threshold", "remark"),
    [
        ({}, None, ""),
        ({"thresholds": "published"}, 0.075, ""),
        ({"groups": 1}, 0.075, SIMULATED),
        ({"size": 1}, 0.075, SIMULATED),
        ({"groups": 1, "thresholds": "published"}, 0.075, ""),
        ({"groups": 0}, 0.075, ""),  # a value that compares no groups
        ({"tests": OWN}, 0.3, CHANGED),
        ({"tests": OWN, "thresholds": "published"}, 0.3, CHANGED),
    ],
)
def test_a_row_says_where_its_threshold_is_from(evaluate, settings, threshold, remark):
    row = evaluate(**settings)
    assert row.passed and threshold in (None, row.threshold)
    assert (remark in row.skipped) if remark else "threshold" not in row.skipped


def test_a_test_without_simulation_says_published(evaluate, describe):
    family = Evaluation(describe(FAMILY)).family
    plain = dataclasses.replace(family.tests[TEST], simulation={})
    row = evaluate(family=dataclasses.replace(family, tests=family.tests | {TEST: plain}))
    assert row.threshold == 0.075 and "published threshold: no simulation belongs to it" in row.skipped


def test_a_test_that_is_left_out_is_not_computed(evaluate, describe):
    evaluation = Evaluation(describe(FAMILY, tests={TEST: OwnTest(run=False, why="noise")}))
    (row,) = evaluation.judge(subset(BUILTIN["arousal"]), TEST, lambda s, p: 1 / 0, group="accent: welsh")
    assert row.skipped == "switched off in this suite: noise" and row.passed is None and row.group == ""
    (only,) = [entry.verdict for entry in evaluation._judged]
    assert only == row


@pytest.mark.parametrize("count", [7, MOST_CLASSES + 1])
def test_classes_are_simulated_as_they_are_unless_they_are_too_many(describe, count):
    task = Task("words", "classification", tuple(f"w{n}" for n in range(count)))
    evaluation = Evaluation(describe("fairness_sex", thresholds="simulated", tasks=(task,)))
    test = evaluation.family.tests["Unweighted Average Recall"]
    found, _ = evaluation._threshold(subset(task).sized(2, 1000), test)
    published = test.threshold_for(task)
    if count > MOST_CLASSES:
        assert found == published and evaluation.simulated().empty
    else:
        assert found == simulated_threshold(published, test.simulation, 2, 1000, count).threshold
        assert evaluation.simulated()["simulated"].tolist() == [found] and evaluation.notes == []


@pytest.mark.parametrize(("task", "told"), [(EMOTIONS, True), (BUILTIN["emotion"], False)])
def test_published_thresholds_say_that_they_were_simulated_for_four_classes(describe, task, told):
    evaluation = Evaluation(describe("fairness_sex", tasks=(task,)))
    judged = subset(task).sized(2, 100)
    (row,) = evaluation.judge(
        judged, "Unweighted Average Recall", lambda s, p: mean_value(np.full(ROWS, 0.01))
    )
    assert row.passed and row.threshold == 0.075
    assert ("published threshold: simulated for 4 classes, not 7" in row.skipped) == told


def test_a_level_for_four_classes_is_shown_and_says_why(describe):
    evaluation = Evaluation(describe("correctness_classification", tasks=(EMOTIONS,)))
    measure = lambda s, p: mean_value(np.linspace(0.3, 0.5, ROWS))  # noqa: E731
    (row,) = evaluation.judge(subset(EMOTIONS), "Unweighted Average Recall", measure)
    assert (row.evidence, row.value, row.passed) == (
        "shown",
        pytest.approx(0.4),
        None,
    ) and row.low is not None
    told = (
        "no threshold for emotion7: shown without verdict; the one for classification is for 4 classes, not 7"
    )
    assert row.skipped == told
