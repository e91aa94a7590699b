"""Two models on one test: paired, signed by what the test asks for, honest about what cannot be said."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from soundcheck import results
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error
from soundcheck.results import Judged, Verdict, contrast, contrast_csv, contrast_frame, contrasts
from soundcheck.statistics import bootstrap

BLOCKS = np.repeat(np.arange(40), 10)


@pytest.fixture
def data(rng):
    truth = rng.random(400)
    hard = np.repeat(rng.normal(0, 0.2, 40), 10)  # speakers that are hard for every model
    return truth, truth + hard + rng.normal(0, 0.05, 400), truth + hard + rng.normal(0, 0.04, 400)


def judged(metric, truth, prediction, model, rule, threshold, blocks="b", segments="s") -> Judged:
    found = bootstrap.resample(metric(truth, prediction), BLOCKS, seed=3)
    about = {"corpus": "c", "family": "f", "category": "correctness", "task": "arousal", "test": "t"}
    (verdict,) = results.judge(found, model=model, rule=rule, threshold=threshold, **about)
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
    low, high = oracle.interval()
    assert found.difference == pytest.approx(oracle.value[0], abs=1e-12)
    assert (found.low, found.high) == pytest.approx((low[0], high[0]), abs=1e-11)
    assert found.relative == pytest.approx(found.difference / found.baseline_value)


def test_pairing_sees_what_single_intervals_hide(data):
    old, new = pair(concordance_cc, data)
    assert old.verdict.low < new.verdict.value < old.verdict.high
    found = contrast(old, new)
    assert found.outcome == "better"
    assert found.certainty > 0.975
    assert found.high - found.low < 0.3 * (old.verdict.high - old.verdict.low)


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
    old, new = pair(concordance_cc, data, "<", 0.1)
    assert contrast(old, new).outcome == "worse"


def test_absolute_values_where_the_sign_does_not_count():
    about = ("c", "f", "fairness", "arousal", "t")
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.005, 1000)

    def made(model, value):
        verdict = Verdict(
            model, *about, value=value, low=value - 0.01, high=value + 0.01, segments=9, blocks=9,
            threshold=0.1, rule="|value| <", passed=abs(value) < 0.1,
        )  # fmt: skip
        return Judged(verdict, value + noise, "s", "b")

    found = contrast(made("old", -0.2), made("new", 0.05))
    assert found.difference == pytest.approx(-0.15)
    assert found.outcome == "better"
    assert contrast(made("old", 0.05), made("new", -0.2)).outcome == "worse"


def test_equal_models_are_no_evidence(data):
    truth, one, _ = data
    old = judged(concordance_cc, truth, one, "old", ">", 0.5)
    found = contrast(old, dataclasses.replace(old, verdict=dataclasses.replace(old.verdict, model="new")))
    assert (found.difference, found.low, found.high) == (0.0, 0.0, 0.0)
    assert found.outcome == "no evidence"
    assert found.certainty is None


def test_what_cannot_be_paired(data):
    old, new = pair(concordance_cc, data)
    other = contrast(old, dataclasses.replace(new, blocks="others"))
    assert other.low is None and other.outcome == "no evidence"
    assert "different blocks" in other.skipped
    fewer = contrast(old, dataclasses.replace(new, segments="fewer"))
    assert fewer.low is not None
    assert fewer.skipped == "not the same segments: 400 against 400"
    short = contrast(old, dataclasses.replace(new, replicates=new.replicates[:10]))
    assert "numbers of replicates" in short.skipped
    nothing = dataclasses.replace(
        new, verdict=dataclasses.replace(new.verdict, value=None, passed=None, low=None, skipped="1 segment")
    )
    assert contrast(old, nothing).outcome == ""
    assert contrast(old, nothing).skipped == "new: 1 segment"


def test_tests_of_one_model_only_are_listed(data):
    old, new = pair(concordance_cc, data)
    more = dataclasses.replace(new, verdict=dataclasses.replace(new.verdict, test="u"))
    found = contrasts([old], [new, more])
    assert [(row.test, row.outcome, row.skipped) for row in found] == [
        ("t", "better", ""),
        ("u", "", "not judged for old"),
    ]


def test_files(tmp_path, data):
    old, new = pair(concordance_cc, data)
    results.save([old, Judged(old.verdict, np.empty(0))], tmp_path / "rows.json", notes=["x"])
    again = results.load_judged(tmp_path / "rows.json")
    assert [entry.verdict for entry in again] == [old.verdict] * 2
    assert np.array_equal(again[0].replicates, old.replicates)
    assert np.isnan(again[1].replicates).all()
    assert again[0].blocks == "b"
    found = [contrast(old, dataclasses.replace(new, verdict=dataclasses.replace(new.verdict, label="=1+1")))]
    results.save_contrasts(found, tmp_path / "contrasts.json")
    assert results.load_contrasts(tmp_path / "contrasts.json") == found
    (tmp_path / "c.csv").write_bytes(contrast_csv(contrast_frame(found)))
    read = pd.read_csv(tmp_path / "c.csv")
    assert list(read.columns) == results.CONTRAST_COLUMNS
    assert read["label"][0] == "'=1+1"
    assert contrast_frame([]).empty


def test_groups_are_compared_with_the_same_group(data):
    old, new = pair(concordance_cc, data)

    def of(entry, group):
        return dataclasses.replace(entry, verdict=dataclasses.replace(entry.verdict, group=group))

    female, male = "sex: female", "sex: male"
    found = contrasts([of(old, female), of(old, male)], [of(new, male)])
    assert [(one.group, bool(one.outcome)) for one in found] == [(female, False), (male, True)]
    assert contrast_frame(found).columns[-1] == "group"
