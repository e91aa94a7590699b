"""Two models on one test: paired, signed by what the test asks for, honest about what cannot be said."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error
from soundcheck.results import verdict as verdicts
from soundcheck.results.contrast import (
    compared_alone,
    contrasts,
    load_contrasts,
    save_contrasts,
    with_outcomes,
)
from soundcheck.results.judged import Judged, load_all, load_judged, save
from soundcheck.results.verdict import Verdict
from soundcheck.statistics import bootstrap
from soundcheck.statistics.fixed_speakers import SKETCH, fixed_speakers
from soundcheck.statistics.significance import welch

BLOCKS = np.repeat(np.arange(40), 10)


def contrast(baseline: Judged, candidate: Judged):
    """Compare two models on one test, as if there were no others."""
    return with_outcomes([compared_alone(baseline, candidate)])[0]


@pytest.fixture
def data(rng):
    truth = rng.random(400)
    hard = np.repeat(rng.normal(0, 0.2, 40), 10)  # speakers that are hard for every model
    return truth, truth + hard + rng.normal(0, 0.05, 400), truth + hard + rng.normal(0, 0.04, 400)


def judged(metric, truth, prediction, model, rule, threshold, blocks="b", segments="s") -> Judged:
    found = bootstrap.resample(metric(truth, prediction), BLOCKS, seed=3)
    about = {"corpus": "c", "family": "f", "category": "correctness", "task": "arousal", "test": "t"}
    (verdict,) = verdicts.judge(found, model=model, rule=rule, threshold=threshold, **about)
    return Judged(verdict, found.replicates[:, 0], segments, blocks)


def pair(metric, data, rule=">", threshold=0.5):
    truth, one, other = data
    return (
        judged(metric, truth, one, "old", rule, threshold),
        judged(metric, truth, other, "new", rule, threshold),
    )


def test_paired_interval_is_that_of_the_difference(data):
    truth, one, other = data
    found = contrast(*pair(concordance_cc, data))
    oracle = bootstrap.resample(
        paired_difference(concordance_cc(truth, other), concordance_cc(truth, one)), BLOCKS, seed=3
    )
    error = np.sqrt(40 / 39) * oracle.standard_error[0]
    reach = stats.t.ppf(0.975, 39) * error
    assert found.difference == pytest.approx(oracle.value[0], abs=1e-12)
    assert (found.low, found.high) == pytest.approx(
        (found.difference - reach, found.difference + reach), abs=1e-10
    )
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.difference) / error, 39))
    assert (found.pairing, found.adjusted_p_value) == ("paired", found.p_value)


def test_swapped_models(data):
    old, new = pair(concordance_cc, data)
    there, back = contrast(old, new), contrast(new, old)
    assert (back.difference, back.low, back.high) == pytest.approx(
        (-there.difference, -there.high, -there.low)
    )
    assert (there.outcome, back.outcome) == ("better", "worse")


def test_less_is_better_if_the_rule_says_so(data):
    found = contrast(*pair(mean_absolute_error, data, "<", 0.1))
    assert found.difference < 0
    assert found.outcome == ("better" if found.high < 0 else "no evidence")
    assert found.relative == pytest.approx(found.difference / found.baseline_value)
    assert found.relative_low < found.relative < found.relative_high < 0
    old, new = pair(concordance_cc, data, "<", 0.1)
    assert contrast(old, new).outcome == "worse"


@pytest.mark.parametrize(
    "rules", [("|value| <", "|value| <"), ("|gap| <", "|gap| <"), ("|value| <", "|gap| <")]
)
def test_absolute_values_where_the_sign_does_not_count(rules):
    about = ("c", "f", "fairness", "arousal", "t")
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.005, 1000)

    def made(model, value, rule):
        verdict = Verdict(
            model, *about, value=value, low=value - 0.01, high=value + 0.01, segments=9, blocks=9,
            threshold=0.1, rule=rule, passed=abs(value) < 0.1,
        )  # fmt: skip
        return Judged(verdict, value + noise, "s", "b")

    found = contrast(made("old", -0.2, rules[0]), made("new", 0.05, rules[1]))
    assert found.difference == pytest.approx(-0.15)
    assert found.outcome == "better"
    assert found.relative is None
    assert contrast(made("old", 0.05, rules[0]), made("new", -0.2, rules[1])).outcome == "worse"


def test_small_values_do_not_hide_their_spread():
    """Folded at 0, the replicates of two values near 0 would look surer than they are."""
    about = ("c", "f", "fairness", "arousal", "t")
    rng = np.random.default_rng(0)
    first, second = (value + rng.normal(0, 0.05, 1000) for value in (-0.002, 0.03))
    old, new = (
        Judged(
            Verdict(
                model, *about, value=value, low=-1, high=1, blocks=30, threshold=1, rule="|value| <",
                passed=True,
            ),
            replicates, "s", "b",
        )
        for model, value, replicates in (("old", -0.002, first), ("new", 0.03, second))
    )  # fmt: skip
    error = np.sqrt(30 / 29) * np.std(second + first, ddof=1)
    folded = np.std(np.abs(second) - np.abs(first))
    found = contrast(old, new)
    assert found.high - found.low == pytest.approx(2 * stats.t.ppf(0.975, 29) * error)
    assert error > 1.4 * folded


def test_equal_models_are_no_evidence(data):
    truth, one, _ = data
    old = judged(concordance_cc, truth, one, "old", ">", 0.5)
    found = contrast(old, dataclasses.replace(old, verdict=dataclasses.replace(old.verdict, model="new")))
    assert (found.difference, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert found.outcome == "no evidence"
    assert found.certainty is None


def changed(entry, **of_verdict):
    """Give a judged test with other facts in its verdict."""
    return dataclasses.replace(entry, verdict=dataclasses.replace(entry.verdict, **of_verdict))


def test_other_blocks_and_other_draws_are_unpaired(data):
    old, new = pair(concordance_cc, data)
    errors = [np.sqrt(40 / 39) * np.std(entry.replicates, ddof=1) for entry in (old, new)]
    p, low, high = welch(new.verdict.value - old.verdict.value, tuple(errors), (40, 40))
    elsewhere = contrast(old, dataclasses.replace(new, blocks="others"))
    (seeds,) = contrasts([old], [new], same_draws=False)
    for found, why in ((elsewhere, "not the same blocks"), (seeds, "drawn with other seeds")):
        assert (found.p_value, found.low, found.high) == pytest.approx((p, low, high))
        assert (found.pairing, found.outcome) == ("unpaired", "no evidence")
        assert found.skipped == f"unpaired, {why}"
        assert found.certainty is None


def test_what_is_said_of_rows_that_differ(data):
    old, new = pair(concordance_cc, data)
    fewer = contrast(old, dataclasses.replace(new, segments="fewer"))
    assert fewer.pairing == "paired"
    assert fewer.skipped == "not the same segments: 400 against 400"
    assert contrast(old, changed(new, threshold=0.4)).skipped == "thresholds differ: 0.5 and 0.4"
    other_rule = contrast(old, changed(new, rule="<"))
    assert (other_rule.outcome, other_rule.p_value) == ("", None)
    nothing = changed(new, value=None, passed=None, low=None, skipped="1 segment")
    assert contrast(old, nothing).outcome == ""
    assert contrast(old, nothing).skipped == "new: 1 segment"


def test_more_replicates_continue_the_same_draws(data):
    truth, one, other = data
    long = bootstrap.resample(concordance_cc(truth, one), BLOCKS, 1500, seed=3)
    old, new = pair(concordance_cc, data)
    longer = dataclasses.replace(old, replicates=long.replicates[:, 0])
    assert contrast(longer, new) == contrast(old, new)


@pytest.mark.parametrize("few", [{"blocks": 4}, {"evidence": "none"}, {"low": None, "high": None}])
def test_too_few_speakers_have_no_p_value(data, few):
    old, new = pair(concordance_cc, data)
    for one, other in ((changed(old, **few), new), (old, changed(new, **few))):
        found = contrast(one, other)
        assert (found.outcome, found.p_value, found.low, found.pairing) == ("no evidence", None, None, "")
        assert "too few speakers to generalise" in found.skipped


def test_a_group_of_few_speakers_decides_how_sure_one_may_be(data):
    old, new = pair(concordance_cc, data)
    sides = [dataclasses.replace(entry, smaller_side=6) for entry in (old, new)]
    found = contrast(*sides)
    error = np.sqrt(6 / 5) * np.std(new.replicates - old.replicates, ddof=1)
    assert found.p_value == pytest.approx(2 * stats.t.sf(found.difference / error, 5))
    assert contrast(sides[0], dataclasses.replace(new, smaller_side=4)).p_value is None


def test_outcomes_are_what_benjamini_and_hochberg_leave(data):
    rng = np.random.default_rng(2)
    old, new = pair(concordance_cc, data)
    shifts = np.concatenate([np.full(10, 4.0), np.zeros(90)]) + rng.normal(size=100)
    size = np.std(new.replicates - old.replicates, ddof=1) * np.sqrt(40 / 39)
    base = old.verdict.value
    before = [changed(old, test=f"{n:03}") for n in range(100)]
    after = [changed(new, test=f"{n:03}", value=base + shift * size) for n, shift in enumerate(shifts)]
    found = contrasts(before, after)
    p = np.array([row.p_value for row in found])
    ranked = np.sort(p)
    passing = np.flatnonzero(ranked <= 0.05 * np.arange(1, 101) / 100)
    limit = ranked[passing[-1]]
    assert [row.outcome != "no evidence" for row in found] == (p <= limit).tolist()
    assert 5 < (p <= limit).sum() < (p <= 0.05).sum()
    assert all(row.adjusted_p_value <= 0.05 for row in found if row.outcome == "better")


def test_relative_differences_are_of_errors_alone(data):
    old, new = pair(mean_absolute_error, data, "<", 0.1)
    assert contrast(old, new).relative is not None
    for about in (
        {"test": "Word Error Rate Difference"},
        {"test": "Change Eer White Noise"},
        {"group": "sex: female"},
        {"rule": ">"},
        {"rule": "|value| <"},
    ):
        assert contrast(changed(old, **about), changed(new, **about)).relative is None
    unclear = dataclasses.replace(old, replicates=old.replicates + np.linspace(-1, 1, 1000))
    assert contrast(unclear, new).relative is None


def test_tests_of_one_model_only_are_listed(data):
    old, new = pair(concordance_cc, data)
    more = dataclasses.replace(new, verdict=dataclasses.replace(new.verdict, test="u"))
    found = contrasts([old], [new, more])
    assert [(row.test, row.outcome, row.skipped) for row in found] == [
        ("t", "better", ""),
        ("u", "", "not judged for old"),
    ]


def test_values_without_threshold_are_compared(data):
    old, new = pair(concordance_cc, data, threshold=None)
    old, new = changed(old, evidence="shown"), changed(new, evidence="shown")
    (found,) = contrasts([old], [new])
    judged = contrast(*pair(concordance_cc, data))
    assert (found.difference, found.p_value, found.outcome) == (
        judged.difference,
        judged.p_value,
        judged.outcome,
    )
    assert found.threshold is None and found.baseline_passed is None
    (alone,) = contrasts([old], [])
    assert alone.baseline_value == old.verdict.value and alone.skipped.startswith("not judged for")


def counted_on(entry: Judged, segments: str, count: int, value: float | None = None) -> Judged:
    """Give a test as if it rested on other segments."""
    value = entry.verdict.value if value is None else value
    shifted = entry.replicates + value - entry.verdict.value
    row = changed(entry, segments=count, value=value, low=value - 0.1, high=value + 0.1)
    return dataclasses.replace(row, segments=segments, replicates=shifted)


def test_models_that_left_out_segments_are_compared_on_those_that_both_answered(data):
    old, new = pair(mean_absolute_error, data, "<", 0.5)
    fewer = counted_on(new, "few", 100, 0.5 * old.verdict.value)
    shared = counted_on(old, "few", 100, 0.4 * old.verdict.value)
    (easy,) = contrasts([old], [fewer])
    (fair,) = contrasts([old], [fewer], common=([shared], []), apart={"c"})
    assert easy.outcome == "better"  # on easier segments
    assert (fair.outcome, fair.pairing, fair.segments) == ("worse", "paired", 100)
    assert fair.baseline_value == shared.verdict.value
    assert fair.skipped == "on 100 segments that both answered: old has 400, new 100"
    assert (fair.baseline_passed, fair.candidate_passed) == (old.verdict.passed, fewer.verdict.passed)


def test_there_is_no_outcome_on_other_segments(data):
    old, new = pair(mean_absolute_error, data, "<", 0.5)
    fewer = counted_on(new, "few", 100, 0.5 * old.verdict.value)
    (found,) = contrasts([old], [fewer], apart={"c"})
    assert (found.outcome, found.p_value, found.pairing) == ("", None, "")
    assert found.skipped.startswith("not the same segments: 400 against 100; list both models in one suite")
    assert contrasts([old], [new], apart={"c"}) == contrasts([old], [new])  # a test on the same ones


@pytest.mark.parametrize(
    ("count", "reason", "told"),
    [
        (0, "no segments", "on 0 segments that both answered: old has 400, new 400; old: no segments"),
        (
            100,
            "no prediction for 300 of 400 segments",
            "on 100 segments that both answered: old has 400, new 400; "
            "not answered by both: 300 of 400 segments",
        ),
    ],
)
def test_without_an_outcome_on_common_segments_the_reason_is_said(data, count, reason, told):
    old, new = pair(mean_absolute_error, data, "<", 0.5)
    none = [
        dataclasses.replace(
            changed(entry, value=None, low=None, high=None, segments=count, passed=None, skipped=reason),
            segments="none",
        )
        for entry in (old, new)
    ]
    (found,) = contrasts([old], [new], common=(none[:1], none[1:]), apart={"c"})
    assert (found.outcome, found.p_value) == ("", None)
    assert found.skipped == told


def with_spread(metric, truth, prediction, model, speakers, **changes) -> Judged:
    entry = judged(metric, truth, prediction, model, "<", 0.1)
    fixed = fixed_speakers(metric(truth, prediction), speakers, spread=True)
    entry = dataclasses.replace(entry, spread=fixed.spread[:, 0], freedom=fixed.freedom[0])
    return changed(entry, **changes)


def test_the_answer_for_these_speakers_is_that_of_the_difference(data):
    truth, one, other = data
    old, new = (
        with_spread(mean_absolute_error, truth, x, name, BLOCKS) for name, x in (("old", one), ("new", other))
    )
    found = contrast(old, new)
    both = paired_difference(mean_absolute_error(truth, other), mean_absolute_error(truth, one))
    error = fixed_speakers(both, BLOCKS).error[0]
    reach = stats.t.ppf(0.975, min(old.freedom, new.freedom)) * error
    bounds = (found.difference_low_sample, found.difference_high_sample)
    assert bounds == pytest.approx((found.difference - reach, found.difference + reach))
    assert found.p_sample < 0.05 and found.outcome_sample == "better"
    elsewhere = contrast(old, dataclasses.replace(new, segments="others"))  # nothing cancels
    width = np.hypot(np.linalg.norm(old.spread), np.linalg.norm(new.spread)) / error
    apart = elsewhere.difference_high_sample - elsewhere.difference_low_sample
    assert apart == pytest.approx(2 * reach * width, rel=0.05)


def test_equal_models_come_out_equal_for_these_speakers():
    """Both models have the same errors in expectation, on 12 tests of 6 speakers with 25 recordings."""
    rng = np.random.default_rng(1)
    speakers, about = np.arange(150) % 6, ("c", "f", "correctness", "t")
    marked = 0
    for _ in range(100):
        sides = ([], [])
        for test in range(12):
            hard = rng.random(150) < 0.2
            for side, name in zip(sides, ("old", "new"), strict=True):
                wrong = np.where(rng.random(150) < 0.3, rng.random(150) < 0.2, hard).astype(float)
                metric = mean_absolute_error(np.zeros(150), wrong)
                fixed = fixed_speakers(metric, speakers, spread=True)
                verdict = Verdict(
                    name, *about, f"{test}", value=wrong.mean(), blocks=6, rule="<", skipped="few"
                )
                side.append(Judged(verdict, np.empty(0), "s", "b", 0, fixed.spread[:, 0], fixed.freedom[0]))
        marked += any(row.outcome_sample in ("better", "worse") for row in contrasts(*sides))
    assert marked <= 10  # of 100 at 5 %: eleven or more once in a hundred times


@pytest.mark.parametrize("written", [True, False])
def test_spreads_are_kept_with_replicates(data, tmp_path, written):
    truth, one, _ = data
    entry = with_spread(mean_absolute_error, truth, one, "m", BLOCKS)
    plain = judged(concordance_cc, truth, one, "m", ">", 0.5)
    group = changed(plain, group="sex: female")
    save([entry, plain], tmp_path / "rows.json", parts=[group] if written else ())
    found = load_judged(tmp_path / "rows.json", parts=True)
    assert [row.verdict for row in found] == [
        entry.verdict,
        plain.verdict,
        *([group.verdict] if written else []),
    ]
    np.testing.assert_array_equal(found[0].spread, entry.spread)
    np.testing.assert_array_equal(found[1].replicates, plain.replicates)
    assert found[0].freedom == entry.freedom and len(found[1].spread) == 0 and np.isnan(found[1].freedom)
    assert len(load_judged(tmp_path / "rows.json")) == len(load_all(tmp_path / "rows.json")[0]) == 2


def test_tests_that_count_missing_answers_stay_as_they_are(data):
    old, new = pair(mean_absolute_error, data, "<", 0.5)
    again = counted_on(old, old.segments, 400, 3 * old.verdict.value)  # others are missing now
    assert contrasts([old], [new], common=([again], []), apart={"c"}) == contrasts([old], [new])


def test_many_recordings_keep_the_spread_of_differences():
    rng = np.random.default_rng(0)
    truth = rng.random(30_000)
    hard = rng.normal(0, 0.1, 30_000)
    first, second = (truth + hard + rng.normal(0, 0.02, 30_000) for _ in range(2))
    speakers = np.arange(30_000) % 50
    metrics = [mean_absolute_error(truth, x) for x in (first, second)]
    spreads = [fixed_speakers(metric, speakers, spread=True).spread for metric in metrics]
    assert all(len(spread) == SKETCH for spread in spreads)
    error = fixed_speakers(paired_difference(*metrics), speakers).error[0]
    assert np.linalg.norm(spreads[0] - spreads[1]) == pytest.approx(error, rel=0.1)
    assert error < 0.5 * fixed_speakers(metrics[0], speakers).error[0]


def test_contrasts_come_back_from_their_file(tmp_path, data):
    rows = contrasts(*([entry] for entry in pair(concordance_cc, data)))
    save_contrasts(rows, tmp_path / "contrasts.json")
    assert load_contrasts(tmp_path / "contrasts.json") == rows
