"""Measures that are plain functions: the replicates of statistics, and faults that end as reasons."""

import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation import Evaluation, plain_measures
from soundcheck.evaluation.plain_measures import PlainMeasureError, PlainStatistic, statistic_of
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.change import unchanged
from soundcheck.metrics.classification import recall_per_class, unweighted_average_recall
from soundcheck.metrics.combinators import difference, restrict
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error
from soundcheck.metrics.speakers import speaker_averages
from soundcheck.statistics import bootstrap, draws
from soundcheck.statistics.evidence import LEAST_BLOCKS
from soundcheck.statistics.rules import INTERVALS

REPLICATES = 100
CLASSES = ("anger", "happiness", "neutral", "sadness")
TEST = "Mean Absolute Error"


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
        clean[list(missing)] = None
    segments = pd.DataFrame(
        {"key": [f"k{i}" for i in range(n)], "speaker": blocks, "sex": rng.choice(["female", "male"], n)}
    )
    predictions, reference = Predictions(clean, changed), Predictions(random, random)
    return Subset("c", BUILTIN[task], segments, truth, predictions, reference, blocks)


def error(subset, predictions):
    return np.mean(np.abs(predictions.clean - subset.truth))


def recalls(subset, predictions):
    rows = {name: subset.truth == name for name in CLASSES}
    return {
        name: np.mean(predictions.clean[own] == name) if own.any() else None for name, own in rows.items()
    }


def average_recall(subset, predictions):
    return np.mean([each for each in recalls(subset, predictions).values() if each is not None])


def ccc(subset, predictions):
    x, y = subset.truth, predictions.clean
    return 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)


def stays(subset, predictions):
    return float(np.mean(np.abs(predictions.clean - predictions.changed) < 0.05))


def women_minus_all(subset, predictions):
    women = subset.mask("sex", "female")
    errors = np.abs(predictions.clean - subset.truth)
    return errors[women].mean() - errors.mean()


def of_classes(metric):
    return lambda s, a: metric(s.truth, a.clean, CLASSES)


def women_against_all(s, a):
    errors = mean_absolute_error(s.truth, a.clean)
    return difference(restrict(errors, s.mask("sex", "female")), errors)


PAIRS = {
    "mean absolute error": ("arousal", error, lambda s, a: mean_absolute_error(s.truth, a.clean)),
    "concordance": ("arousal", ccc, lambda s, a: concordance_cc(s.truth, a.clean)),
    "recall per class": ("emotion", recalls, of_classes(recall_per_class)),
    "average recall": ("emotion", average_recall, of_classes(unweighted_average_recall)),
    "unchanged": ("arousal", stays, lambda s, a: unchanged(a.clean, a.changed)),
    "a group against all": ("arousal", women_minus_all, women_against_all),
}


def same(rows: Subset, plain, additive, seed=3) -> None:
    """Compare value, replicates and intervals of both paths."""
    expected = bootstrap.resample(additive(rows, rows.predictions), rows.blocks, REPLICATES, seed)
    found = bootstrap.resample(statistic_of(plain, rows, rows.predictions), rows.blocks, REPLICATES, seed)
    assert found.labels == expected.labels
    np.testing.assert_allclose(found.value, expected.value, atol=1e-9)
    np.testing.assert_allclose(found.replicates, expected.replicates, atol=1e-9)
    assert found.replicates.shape == expected.replicates.shape
    # Nobody knows which rows a function looks at, so of a rare class it may have too many blocks.
    alike = (found.blocks == expected.blocks) | (expected.blocks >= LEAST_BLOCKS)
    withheld = np.array([[bool(text) for text in each.withheld] for each in (found, expected)])
    assert (withheld[0] == withheld[1])[alike].all()
    assert (found.blocks >= expected.blocks).all()
    kinds = INTERVALS if (found.blocks == expected.blocks).all() else ("percentile", "gaussian")
    for kind in kinds:
        ours, theirs = (np.array(each.interval(kind))[:, alike] for each in (found, expected))
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("name", PAIRS)
def test_replicates_are_those_of_the_statistic(name):
    task, plain, additive = PAIRS[name]
    same(subset(task), plain, additive)


@settings(max_examples=4, deadline=None)
@given(
    st.lists(st.integers(1, 12), min_size=2, max_size=7),
    st.integers(0, 9),
    st.sampled_from(["arousal", "emotion"]),
)
def test_any_blocks(sizes, seed, task):
    plain, additive = PAIRS["mean absolute error" if task == "arousal" else "recall per class"][1:]
    rows = subset(task, sizes, seed=seed)
    same(rows, plain, additive, seed)


def test_rows_without_answer_are_left_out_and_counted():
    rows = subset(sizes=(4, 4, 4, 8, 2), missing=(0, 3, 5))
    gone = rows.blocks == 4  # a block without any answer is not drawn
    rows.predictions.clean[gone] = np.nan
    same(rows, error, PAIRS["mean absolute error"][2])
    point = statistic_of(error, rows, rows.predictions).point()
    without = int(np.isnan(rows.predictions.clean).sum())
    assert point.segments.tolist() == [22 - without]
    assert f"no prediction for {without} of 22 segments" in point.notes[0]
    rows.predictions.clean[:15] = np.nan
    point = statistic_of(error, rows, rows.predictions).point()
    assert "no prediction for" in point.reasons[0] and np.isnan(point.value[0])
    rows.predictions.clean[:] = np.nan
    with pytest.raises(PlainMeasureError, match="no prediction for 22 segments"):
        statistic_of(error, rows, rows.predictions)


def test_undefined_replicates_are_noted_or_withhold_the_interval():
    def without(lacking):
        """Undefined as soon as the rows lack a block."""
        return lambda s, a: None if lacking not in s.segments["speaker"].values else 0.5

    rows = subset()
    found = bootstrap.resample(statistic_of(without(0), rows, rows.predictions), rows.blocks, REPLICATES)
    share = np.mean(draws.weights(8, REPLICATES)[:, 0] == 0)
    assert found.withheld == (f"interval withheld: undefined in {100 * share:.1f} % of the replicates",)

    def seldom(s, a):
        return np.nan if s.segments["speaker"].nunique() < 4 else 0.5

    found = bootstrap.resample(statistic_of(seldom, rows, rows.predictions), rows.blocks, REPLICATES)
    assert found.withheld == ("",) and "undefined in" in found.notes[0]


def test_a_block_drawn_twice_has_its_rows_twice_and_two_numbers():
    seen = []

    def measure(s, a):
        seen.append((s.segments["speaker"].to_numpy(), s.blocks, s.truth))
        return 0.5

    rows = subset()
    statistic = statistic_of(measure, rows, rows.predictions)
    seen.clear()
    drawn = draws.weights(8, 20, 1)
    statistic.evaluate(drawn)
    for weights, (speakers, blocks, truth) in zip(drawn, seen, strict=True):
        sizes = np.bincount(rows.blocks)
        assert np.bincount(speakers, minlength=8).tolist() == (weights * sizes).tolist()
        assert sorted(np.bincount(blocks)) == sorted(np.repeat(sizes, weights))
        assert len(truth) == len(speakers)


def test_averages_of_speakers_go_by_blocks():
    """A speaker drawn twice is two speakers, as for the ready-made averages; her name alone would be one."""
    sizes = (10, 12, 30, 11, 25, 18)
    rows = subset(sizes=sizes)

    def by(name):
        def measure(s, a):
            column = s.blocks if name == "blocks" else s.segments["speaker"].to_numpy()
            means = pd.DataFrame({"t": s.truth, "p": a.clean}).groupby(column).mean()
            return (means["p"] - means["t"]).abs().mean()

        return bootstrap.resample(statistic_of(measure, rows, rows.predictions), rows.blocks, REPLICATES)

    averages = speaker_averages(rows.truth, rows.predictions.clean, rows.blocks)
    expected = bootstrap.resample(averages.mean_absolute_error(), rows.blocks, REPLICATES)
    np.testing.assert_allclose(by("blocks").replicates, expected.replicates, atol=1e-9)
    assert np.abs(by("speaker").replicates - expected.replicates).max() > 1e-4


# Faults


def counting():
    calls = []

    def measure(subset, predictions):
        calls.append(1)
        return len(calls)

    return measure


def in_replicates(first, later):
    """Give one answer for all data and another one for replicates."""
    return lambda s, a: later if s.segments["key"].duplicated().any() else first


def fails(s, a):
    raise ValueError(f"no\nluck in {Path('/home/somebody/secret')}")


def spoils(s, a):
    s.truth[:] = 0
    return 0.5


def fails_later(s, a):
    if s.segments["key"].duplicated().any():
        raise KeyError("gone")
    return 1.0


FAULTS = {
    "raises later": (fails_later, "raised KeyError in a replicate: 'gone'"),
    "raises": (fails, r"the measure raised ValueError: no luck in …"),
    "none": (lambda s, a: None, r"returned 'None' \(NoneType\)"),
    "text": (lambda s, a: "good", r"returned .*good.* \(str\)"),
    "truth value": (lambda s, a: True, r"returned 'True' \(bool\) where"),
    "complex": (lambda s, a: 1j, r"returned '1j' \(complex\)"),
    "list": (lambda s, a: [1.0, 2.0], r"returned '\[1.0, 2.0\]' \(list\)"),
    "array": (lambda s, a: s.truth, r"\(ndarray\) where"),
    "text in a mapping": (lambda s, a: {"a": 1, "b": "x"}, r"x.* \(str\) in a mapping"),
    "nothing in it": (lambda s, a: {}, "an empty mapping"),
    "labels alike": (lambda s, a: {"1": 1, 1: 2}, "two labels that read alike"),
    "other values": (counting(), "other values when it was called again"),
    "spoils": (spoils, "raised ValueError: .*read-only"),
    "other labels": (
        in_replicates({"a": 1, "b": 1}, {"a": 1, "c": 1}),
        "other labels in a replicate.*'b', 'c'",
    ),
    "number, then labels": (in_replicates(1, {"a": 1}), "other labels in a replicate"),
    "labels, then none": (in_replicates({"a": 1}, None), r"returned \'None\'"),
    "list later": (in_replicates(1, [1, 2]), r"returned \'\[1, 2\]\'"),
    "other labels for the reference": (
        lambda s, a: {"x" if a.clean[0] == s.predictions.clean[0] else "y": 1.0},
        "other labels for the random reference",
    ),
}


@pytest.fixture
def evaluation(describe) -> Evaluation:
    return Evaluation(describe("correctness_regression", replicates=REPLICATES, seconds=20.0))


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_skips_with_a_reason_and_the_next_test_goes_on(evaluation, name):
    measure, told = FAULTS[name]
    rows = subset()
    before = rows.truth.copy()
    (row,) = evaluation.judge(rows, TEST, measure)
    assert row.passed is None and row.value is None and row.test == TEST
    assert re.search(told, row.skipped), row.skipped
    assert row.skipped.startswith("error: ")  # so that `soundcheck check` fails
    assert "/home" not in row.skipped and "\n" not in row.skipped
    assert any(TEST in note and row.skipped in note for note in evaluation.notes)
    np.testing.assert_array_equal(rows.truth, before)
    evaluation.judge(rows, TEST, measure)  # the same fault for another group is no second row
    evaluation.judge(rows, "Pearson Correlation Coeff", error)
    frame = evaluation.frame()
    assert len(frame) == 2 and frame["passed"].notna().sum() == 1
    evaluation.save()


def test_no_predictions_and_infinite_values_are_no_errors(evaluation):
    (row,) = evaluation.judge(subset(missing=range(99)), TEST, error)
    assert row.skipped == "no prediction for 99 segments"
    nothing = subset().take(np.array([], dtype=int))
    (row,) = evaluation.judge(nothing, "Pearson Correlation Coeff", error)
    assert row.skipped.startswith("no prediction")
    first, second = evaluation.judge(subset(), TEST, lambda s, a: {"a": np.inf, "b": 10**400})
    assert first.skipped == second.skipped == "the value is infinite"
    (third,) = evaluation.judge(subset(), TEST, in_replicates(0.5, -np.inf))
    assert "undefined in" in third.skipped and third.low is None and third.value == 0.5
    (fourth,) = evaluation.judge(subset(), TEST, lambda s, a: np.nan)
    assert fourth.skipped == "undefined"


def test_verdict_and_reference_are_those_of_the_statistic(evaluation):
    rows = subset()
    (plain,) = evaluation.judge(rows, TEST, error)
    (additive,) = evaluation.judge(rows, TEST, lambda s, a: mean_absolute_error(s.truth, a.clean))
    for name in ("value", "low", "high", "certainty", "reference", "passed", "segments", "blocks"):
        assert getattr(plain, name) == pytest.approx(getattr(additive, name), abs=1e-9), name
    # Both rest on the same rows and blocks, so models can be compared on either.
    first, second = evaluation._judged
    assert (first.segments, first.blocks) == (second.segments, second.blocks)
    assert any(plain_measures.NOTE in note for note in evaluation.notes)


def test_functions_of_a_notebook_share_its_time_and_what_takes_too_long_is_refused_at_once(evaluation):
    def waits(seconds):
        def measure(s, a):
            time.sleep(seconds)
            return 0.5

        return measure

    assert evaluation._seconds_left == 16  # of the 20 s that a notebook may take
    (row,) = evaluation.judge(subset(), TEST, waits(0.01))
    assert row.passed is not None and 0 < evaluation._seconds_left < 15
    start = time.monotonic()
    (row,) = evaluation.judge(subset(), TEST, waits(0.3))
    assert time.monotonic() - start < 5
    needed = r"100 calls of the measure at about 0\.\d s each would take \d\d s.*fewer replicates"
    assert re.search(needed, row.skipped), row.skipped


def test_curves_take_plain_functions(evaluation):
    rows = subset()
    plain, additive = (
        evaluation.curve({"clean": rows, "noise": rows}, measure)
        for measure in (error, PAIRS["mean absolute error"][2])
    )
    pd.testing.assert_frame_equal(plain, additive)
    broken = evaluation.curve({"clean": rows, "noise": rows}, fails)
    assert list(broken.columns) == list(additive.columns) and broken["value"].isna().all()
    assert any("no luck" in note for note in evaluation.notes)


def test_texts_are_answers_like_any_other():
    texts = np.array(["a b", None, "c", ""], dtype=object)
    rows = subset("emotion", (1, 1, 1, 1))
    found = PlainStatistic(lambda s, a: float(np.mean([len(t) for t in a.clean])), rows, Predictions(texts))
    assert found.rows.tolist() == [True, False, True, True] and found.point().value[0] == pytest.approx(4 / 3)
