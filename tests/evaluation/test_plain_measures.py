"""Measures that are plain functions: the replicates of statistics, and faults that end as reasons."""

import itertools
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation import Evaluation
from soundcheck.evaluation.subset import PlainStatistic, Predictions, Subset, statistic_of
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error
from soundcheck.statistics import bootstrap
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.evidence import LEAST_BLOCKS

REPLICATES = 100
CLASSES = ("anger", "happiness", "neutral", "sadness")
TEST, OTHER = "Mean Absolute Error", "Pearson Correlation Coeff"


def subset(task="arousal", sizes=(1, 7, 40, 3, 12, 2, 25, 9), missing=(), seed=0) -> Subset:
    """Blocks of these sizes in mixed order; no answer for some rows."""
    rng = np.random.default_rng(seed)
    blocks = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = len(blocks)
    if BUILTIN[task].is_regression:
        truth = rng.random(n)
        clean, changed, random = (np.clip(truth + rng.normal(0, 0.1, n), 0, 1) for _ in range(3))
        clean[list(missing)] = np.nan
    else:
        truth, clean, changed, random = (rng.choice(CLASSES, n).astype(object) for _ in range(4))
    keys, sexes = [f"k{i}" for i in range(n)], rng.choice(["female", "male"], n)
    segments = pd.DataFrame({"key": keys, "speaker": blocks, "sex": sexes})
    predictions, reference = Predictions(clean, changed), Predictions(random, random, random=True)
    return Subset("c", BUILTIN[task], segments, truth, predictions, reference, blocks)


def error(s, p):
    return np.mean(np.abs(p.clean - s.truth))


def recalls(s, p):
    rows = {name: s.truth == name for name in CLASSES}
    return {name: np.mean(p.clean[mask] == name) if mask.any() else None for name, mask in rows.items()}


def concordance(s, p):
    x, y = s.truth, p.clean
    return 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)


def error_statistic(s, p):
    return mean_absolute_error(s.truth, p.clean)


PAIRS = [  # task, plain function, and the statistic
    ("arousal", error, error_statistic),
    ("arousal", concordance, lambda s, p: concordance_cc(s.truth, p.clean)),
    ("emotion", recalls, lambda s, p: recall_per_class(s.truth, p.clean, CLASSES)),
]


def resampled(measure, rows: Subset):
    return resample(statistic_of(measure, rows, rows.predictions), rows.blocks, REPLICATES)


def same(rows: Subset, plain, additive) -> None:
    ours, theirs = resampled(plain, rows), resampled(additive, rows)
    assert ours.labels == theirs.labels and ours.replicates.shape == theirs.replicates.shape
    np.testing.assert_allclose(ours.value, theirs.value, atol=1e-9)
    np.testing.assert_allclose(ours.replicates, theirs.replicates, atol=1e-9)
    # Nobody knows which rows a function looks at, so of a rare class it may have too many blocks.
    alike = (ours.blocks == theirs.blocks) | (theirs.blocks >= LEAST_BLOCKS)
    withheld = np.array([[bool(text) for text in each.withheld] for each in (ours, theirs)])
    assert (withheld[0] == withheld[1])[alike].all() and (ours.blocks >= theirs.blocks).all()


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=2, max_size=7), st.integers(0, 9), st.sampled_from(PAIRS))
def test_replicates_are_those_of_the_statistic(sizes, seed, pair):
    task, *both = pair
    same(subset(task, sizes, seed=seed), *both)


def test_rows_without_answer_are_left_out_and_counted():
    rows = subset(sizes=(4, 4, 4, 8, 2), missing=(0, 3, 5))
    rows.predictions.clean[rows.blocks == 4] = np.nan  # a block without any answer is not drawn
    same(rows, error, error_statistic)
    point = statistic_of(error, rows, rows.predictions).point()
    without = np.isnan(rows.predictions.clean).sum()
    assert point.segments.tolist() == [22 - without]
    assert f"no prediction for {without} of 22 segments" in point.notes[0]
    texts = Predictions(np.array(["a b", None, "c", ""], dtype=object))
    statistic = PlainStatistic(lambda _, p: max(map(len, p.clean)), subset("emotion", (1, 1, 1, 1)), texts)
    assert statistic.rows.tolist() == [True, False, True, True] and statistic.point().value[0] == 3


def test_undefined_replicates_are_noted_or_withhold_the_interval():
    lacking = resampled(lambda s, _: 0.5 if 0 in s.segments["speaker"].values else None, subset())
    share = np.mean(bootstrap.weights(8, REPLICATES)[:, 0] == 0)
    assert lacking.withheld == (f"interval withheld: undefined in {100 * share:.1f} % of the replicates",)
    seldom = resampled(lambda s, _: np.nan if s.segments["speaker"].nunique() < 4 else 0.5, subset())
    assert seldom.withheld == ("",) and "undefined in" in seldom.notes[0]


def in_replicates(first, later):
    """Give one answer for all data and another one for replicates; exceptions are raised."""

    def measure(s, _):
        answer = later if s.segments["key"].duplicated().any() else first
        if isinstance(answer, Exception):
            raise answer
        return answer

    return measure


def always(answer):
    return in_replicates(answer, answer)


NUMBERS = itertools.count()
FAULTS = {
    "raises": (always(ValueError(f"no\nluck in {Path('/home/me/x')}")), "raised ValueError: no luck in …"),
    "raises later": (in_replicates(1.0, KeyError("gone")), "raised KeyError in a replicate: 'gone'"),
    "spoils": (lambda s, _: s.truth.fill(0), "raised ValueError: .*read-only"),
    "none": (always(None), r"returned 'None' \(NoneType\)"),
    "truth value": (always(True), r"returned 'True' \(bool\) where"),
    "text in a mapping": (always({"a": 1, "b": "x"}), r"x.* \(str\) in a mapping"),
    "other values": (lambda *_: next(NUMBERS), "other values when it was called again"),
    "other labels": (in_replicates({"a": 1, "b": 1}, {"a": 1, "c": 1}), "labels in a replicate.*'b', 'c'"),
    "other labels for the reference": (lambda _, p: {str(p.random): 1.0}, "labels for the random reference"),
}


@pytest.fixture
def evaluation(describe) -> Evaluation:
    return Evaluation(describe("correctness_regression", replicates=REPLICATES, seconds=20.0))


@pytest.mark.parametrize(("measure", "why"), FAULTS.values(), ids=FAULTS)
def test_faults_are_skips_with_a_reason_and_the_next_test_goes_on(evaluation, measure, why):
    rows = subset()
    before = rows.truth.copy()
    (row,) = evaluation.judge(rows, TEST, measure)
    assert (row.passed, row.value, row.test) == (None, None, TEST)
    assert re.search(why, row.skipped) and row.skipped.startswith("error: ")  # so that `check` fails
    assert "/home" not in row.skipped and "\n" not in row.skipped
    np.testing.assert_array_equal(rows.truth, before)
    evaluation.judge(rows, TEST, measure)  # the same fault for another group is no second row
    evaluation.judge(rows, OTHER, error)
    frame = evaluation.frame()
    assert len(frame) == 2 and frame["passed"].notna().sum() == 1


@pytest.mark.parametrize(
    ("rows", "measure", "why"),
    [
        (subset(missing=range(99)), error, "no prediction for 99 segments"),
        (subset(), lambda *_: {"a": np.inf, "b": -np.inf}, "the value is infinite"),
        (subset(), in_replicates(0.5, -np.inf), "interval withheld: undefined in"),
    ],
)
def test_no_predictions_and_infinite_values_are_no_errors(evaluation, rows, measure, why):
    for row in evaluation.judge(rows, TEST, measure):
        assert row.skipped.startswith(why) and row.low is None


def test_verdict_reference_and_curve_are_those_of_the_statistic(evaluation):
    rows = subset()
    (plain,), (additive,) = (evaluation.judge(rows, TEST, measure) for measure in (error, error_statistic))
    for name in ("value", "low", "high", "certainty", "reference", "passed", "segments", "blocks"):
        assert getattr(plain, name) == pytest.approx(getattr(additive, name), abs=1e-9), name
    # Both rest on the same rows and blocks, so models can be compared on either.
    first, second = evaluation._judged
    assert (first.segments, first.blocks) == (second.segments, second.blocks)
    steps = {"clean": rows, "noise": rows}
    pd.testing.assert_frame_equal(evaluation.curve(steps, error), evaluation.curve(steps, error_statistic))


def test_functions_of_a_notebook_share_its_time_and_what_takes_too_long_is_refused_at_once(evaluation):
    assert evaluation._seconds_left == 16  # of the 20 s that a notebook may take
    (row,) = evaluation.judge(subset(), TEST, lambda *_: time.sleep(0.002) or 0.5)
    assert row.passed is not None and 0 < evaluation._seconds_left < 15.8
    (row,) = evaluation.judge(subset(), TEST, lambda *_: time.sleep(0.2) or 0.5)
    needed = r"100 calls of the measure at about 0\.\d s each would take \d\d s.*fewer replicates"
    assert re.search(needed, row.skipped) and evaluation._seconds_left > 10, row.skipped
