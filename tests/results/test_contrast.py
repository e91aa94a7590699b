"""Two models on one test, and what is said of it: paired, signed by what the test asks for, and honest."""

import dataclasses

import numpy as np
import pytest
from scipy import stats
from tests.results.made import ABOUT, value

from soundcheck.book.two_runs import _sentences
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error
from soundcheck.results import rows as verdicts
from soundcheck.results.contrast import (
    Contrast,
    compared_alone,
    conclusion,
    contrast_frame,
    contrasts,
    shown_values,
    with_outcomes,
)
from soundcheck.results.rows import Judged
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.evidence import welch
from soundcheck.statistics.fixed_speakers import fixed_speakers

BLOCKS = np.repeat(np.arange(40), 10)


def contrast(baseline: Judged, candidate: Judged):
    return with_outcomes([compared_alone(baseline, candidate)])[0]


@pytest.fixture(scope="module")
def data():
    """Labels, and what two models say; some speakers are hard for both."""
    rng = np.random.default_rng(0)
    truth = rng.random(400)
    hard = np.repeat(rng.normal(0, 0.2, 40), 10)
    return truth, truth + hard + rng.normal(0, 0.05, 400), truth + hard + rng.normal(0, 0.04, 400)


def judged(data, metric, rule=">") -> list[Judged]:
    """Judge both models by a metric, with what is known of these speakers, too."""
    sides = []
    for model, predicted in zip(("old", "new"), data[1:], strict=True):
        statistic = metric(data[0], predicted)
        resampled = resample(statistic, BLOCKS, seed=3)
        fixed = fixed_speakers(statistic, BLOCKS, spread=True)
        about = ABOUT | {"model": model, "test": "t", "rule": rule}
        (row,) = verdicts.judge(resampled, threshold=0.5, **about)
        spread = fixed.spread[:, 0], fixed.freedom[0]
        sides.append(Judged(row, resampled.replicates[:, 0], "s", "b", 0, *spread))
    return sides


@pytest.fixture(scope="module")
def correlations(data):
    return judged(data, concordance_cc)


@pytest.fixture(scope="module")
def errors(data):
    return judged(data, mean_absolute_error, "<")


def changed(entry: Judged, **of_verdict) -> Judged:
    return dataclasses.replace(entry, verdict=dataclasses.replace(entry.verdict, **of_verdict))


def spread_of(replicates, blocks=40):
    return np.sqrt(blocks / (blocks - 1)) * np.std(replicates, ddof=1)


def test_paired_interval_is_that_of_the_difference(data, correlations):
    truth, one, other = data
    row, back = contrast(*correlations), contrast(*correlations[::-1])
    oracle = paired_difference(concordance_cc(truth, other), concordance_cc(truth, one))
    oracle = resample(oracle, BLOCKS, seed=3)
    error = np.sqrt(40 / 39) * oracle.standard_error[0]
    reach = stats.t.ppf(0.975, 39) * error
    assert row.difference == pytest.approx(oracle.value[0], abs=1e-12)
    assert (row.low, row.high) == pytest.approx((row.difference - reach, row.difference + reach), abs=1e-10)
    assert row.p_value == pytest.approx(2 * stats.t.sf(abs(row.difference) / error, 39))
    assert (row.pairing, row.adjusted_p_value) == ("paired", row.p_value)
    assert (back.difference, back.low, back.high) == pytest.approx((-row.difference, -row.high, -row.low))
    assert (row.outcome, back.outcome) == ("better", "worse")
    few = [dataclasses.replace(entry, smaller_side=5) for entry in correlations]  # of groups the smaller side
    error = spread_of(few[1].replicates - few[0].replicates, 5)
    assert contrast(*few).p_value == pytest.approx(2 * stats.t.sf(row.difference / error, 4))
    assert contrast(few[0], dataclasses.replace(few[1], smaller_side=4)).p_value is None
    equal = contrast(correlations[0], correlations[0].of("new"))
    assert (equal.difference, equal.low, equal.high, equal.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert (equal.outcome, equal.certainty) == ("no evidence", None)


def test_differences_of_errors_are_shares_of_them(errors, correlations):
    row = contrast(*errors)
    assert row.difference < 0 and row.outcome_sample == "better"
    assert row.relative == pytest.approx(row.difference / row.baseline_value)
    assert row.relative_low < row.relative < row.relative_high < 0
    assert contrast(*(changed(side, rule="<") for side in correlations)).outcome == "worse"
    for about in ({"test": "Change Eer White Noise"}, {"group": "sex: female"}, {"rule": ">"}):
        assert contrast(*(changed(entry, **about) for entry in errors)).relative is None
    noisy = dataclasses.replace(errors[0], replicates=errors[0].replicates + np.linspace(-2, 2, 1000))
    assert contrast(noisy, errors[1]).relative is None  # an error that is not clearly above 0
    for test, against, furthest in (("Entity Error Rate", "", 1), ("Recall Per Class", "us", 2)):  # of shares
        row = contrast(*(changed(side, test=test, against=against) for side in (noisy, errors[1])))
        assert (row.low, row.high) == (-furthest, furthest)


def test_sizes_are_compared_and_do_not_hide_their_spread(rng):
    """Folded at 0, the replicates of two values near 0 would look surer than they are."""
    numbers, spreads = (-0.2, 0.05), rng.normal(0, 0.03, (2, 1000))
    old, new = (
        Judged(value(number=number, rule="|value| <", blocks=30), number + spread, "s", "b")
        for number, spread in zip(numbers, spreads, strict=True)
    )
    row, error = contrast(old, new), spread_of(spreads.sum(axis=0), 30)
    assert row.difference == pytest.approx(-0.15) and row.relative is None
    assert row.high - row.low == pytest.approx(2 * stats.t.ppf(0.975, 29) * error)
    assert (row.outcome, contrast(new, old).outcome) == ("better", "worse")


def test_other_blocks_and_other_draws_are_unpaired(correlations):
    old, new = correlations
    errors = spread_of(old.replicates), spread_of(new.replicates)
    expected = welch(new.verdict.value - old.verdict.value, errors, (40, 40))
    elsewhere = contrast(old, dataclasses.replace(new, blocks="others"))
    (seeds,) = contrasts([old], [new], same_draws=False)
    for row, why in ((elsewhere, "not the same blocks"), (seeds, "drawn with other seeds")):
        assert (row.p_value, row.low, row.high) == pytest.approx(expected)
        assert (row.pairing, row.outcome, row.certainty) == ("unpaired", "no evidence", None)
        assert row.skipped == f"unpaired, {why}"


@pytest.mark.parametrize(
    ("cells", "fields", "outcome", "skipped"),
    [
        ({}, {"segments": "fewer"}, "better", "not the same segments: 400 against 400"),
        ({"threshold": 0.4}, {}, "better", "thresholds differ: 0.5 and 0.4"),
        ({"rule": "|gap| <"}, {}, "", "the test does not say, or not alike, what is better"),
        ({"value": None, "passed": None, "skipped": "1 segment"}, {}, "", "new: 1 segment"),
        ({"blocks": 4}, {}, "no evidence", "interval withheld: too few speakers to generalise"),
    ],
)
def test_what_is_said_of_rows_that_differ(correlations, cells, fields, outcome, skipped):
    old, new = changed(correlations[0], skipped="changed in this suite: 0.4 to 0.5"), correlations[1]
    row = contrast(old, dataclasses.replace(changed(new, **cells), **fields))
    assert row.outcome == outcome and row.skipped.startswith(skipped)
    assert (row.p_value is None) == (row.pairing == "") == (outcome != "better")


def test_outcomes_are_what_benjamini_and_hochberg_leave(correlations):
    rng = np.random.default_rng(2)
    old, new = correlations
    shifts = np.concatenate([np.full(10, 4.0), np.zeros(90)]) + rng.normal(size=100)
    size, base = spread_of(new.replicates - old.replicates), old.verdict.value
    before = [changed(old, test=f"{n:03}") for n in range(100)]
    after = [changed(new, test=f"{n:03}", value=base + shift * size) for n, shift in enumerate(shifts)]
    rows = contrasts(before, after)
    p = np.array([row.p_value for row in rows])
    left = stats.false_discovery_control(p) <= 0.05
    assert [row.outcome != "no evidence" for row in rows] == left.tolist()
    assert 5 < left.sum() < (p <= 0.05).sum()


def test_tests_of_one_model_and_values_without_threshold_are_listed(correlations):
    without = {"threshold": None, "passed": None, "evidence": "without", "skipped": "x"}
    old, new = (changed(side, **without) for side in correlations)
    (row,), known = contrasts([old], [new]), contrast(*correlations)
    (more,) = contrasts([], [changed(correlations[1], test="u")], names=("old", "new"))
    assert (row.difference, row.p_value, row.outcome) == (known.difference, known.p_value, known.outcome)
    assert (more.baseline, more.test, more.outcome, more.skipped) == ("old", "u", "", "not judged for old")
    group = verdicts.Estimate("m", "c", "f", "t", "w", value=0.1, excluded="interval withheld: 3 speakers")
    assert shown_values([group], "fairness")[0].skipped.endswith("test; interval withheld: 3 speakers")


def on(entry: Judged, segments: str, count: int, number: float) -> Judged:
    shifted = entry.replicates + number - entry.verdict.value
    row = changed(entry, segments=count, value=number, low=number - 0.1, high=number + 0.1)
    return dataclasses.replace(row, segments=segments, replicates=shifted)


def test_models_that_left_out_segments_are_compared_on_those_that_both_answered(errors):
    old, new = errors
    fewer, shared = on(new, "few", 100, 0.5 * old.verdict.value), on(old, "few", 100, 0.4 * old.verdict.value)
    (easy,) = contrasts([old], [fewer])
    (fair,) = contrasts([old], [fewer], common=([shared], []), apart={"c"})
    (alone,) = contrasts([old], [fewer], apart={"c"})
    assert (easy.outcome, fair.outcome, fair.pairing, fair.segments) == ("better", "worse", "paired", 100)
    assert fair.skipped == "on 100 segments that both answered: old has 400, new 100"
    assert (fair.baseline_value, fair.baseline_passed) == (shared.verdict.value, old.verdict.passed)
    assert (alone.outcome, alone.p_value) == ("", None) and "list both models in one suite" in alone.skipped
    again = on(old, old.segments, 400, 3 * old.verdict.value)  # tests on the same segments stay
    assert contrasts([old], [new]) == contrasts([old], [new], common=([again], []), apart={"c"})


def test_the_answer_for_these_speakers_is_that_of_the_difference(data, errors):
    (truth, one, other), (old, new) = data, errors
    row = contrast(old, new)
    both = paired_difference(mean_absolute_error(truth, other), mean_absolute_error(truth, one))
    error = fixed_speakers(both, BLOCKS).error[0]
    reach = stats.t.ppf(0.975, min(old.freedom, new.freedom)) * error
    bounds = (row.difference_low_sample, row.difference_high_sample)
    assert bounds == pytest.approx((row.difference - reach, row.difference + reach))
    assert row.p_sample < 0.05 and row.outcome_sample == "better"
    elsewhere = contrast(old, dataclasses.replace(new, segments="others"))  # nothing cancels
    width = np.hypot(np.linalg.norm(old.spread), np.linalg.norm(new.spread)) / error
    assert elsewhere.difference_high_sample - elsewhere.difference == pytest.approx(reach * width, rel=0.05)


def of_test(test="Some Test", **cells) -> Contrast:
    known = {"family": "f", "difference": 0.0, "low": -0.04, "high": 0.1, "p_value": 0.9, "rule": ">"}
    known |= {"outcome": "no evidence", "pairing": "paired"} | cells
    return Contrast("old", "new", "c", category="correctness", task="t", test=test, **known)


WORD_ERRORS = {
    **dict(family="asr_word_errors", rule="<", baseline_value=0.1, candidate_value=0.151, difference=0.051),
    **dict(difference_low_sample=0.032, difference_high_sample=0.07, p_sample=1e-6, outcome_sample="worse"),
    **dict(low=-0.01, high=0.112, p_value=0.08, blocks=6),
}


def test_the_headline_comes_first_with_both_answers():
    for cells, text in (
        ({}, "word error rate 0.1 → 0.151, 51 % more errors: significantly worse for these speakers "),
        ({"outcome": "worse", "p_value": 0.004}, "p < 0.001) and for new speakers (difference −0.01 to 0.11"),
        ({"p_value": None, "blocks": 4}, "; nothing follows for new speakers (4 are too few)."),
    ):
        rows = [of_test(test, **WORD_ERRORS | cells) for test in ("Character Error Rate", "Word Error Rate")]
        page = conclusion(contrast_frame([of_test(), *rows]))
        assert text in page.partition(" For new speakers, ")[0] and page.count("→") == 1  # a measure a task
    scripts = [of_test(f"{unit} Error Rate", **WORD_ERRORS) for unit in ("Character", "Mixed")]
    assert "mixed error rate 0.1 →" in conclusion(contrast_frame(scripts))  # as on the first page
    *_, line = _sentences(contrast_frame([of_test("Word Error Rate", **WORD_ERRORS)]))
    assert line.endswith("0.1 → 0.151 (difference 0.051, 95 % 0.032 to 0.07 for these speakers)")
