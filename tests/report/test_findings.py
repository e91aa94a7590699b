"""Headings of figures say what the data carry, and nothing else."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.report import findings_of_curves, findings_of_rows, findings_of_values
from soundcheck.report.findings_of_values import confusion, distribution, movement, of_groups, relation

BLOCKS = np.repeat(np.arange(20), 10)
HOSTILE = "<script>" + "x" * 5000


@pytest.fixture
def truth(rng):
    return rng.random(200)


@pytest.fixture
def noise(truth, rng):
    """Have nothing to do with the truth, so that slopes and means are known."""
    drawn = 0.02 * rng.standard_normal(200)
    sides = np.stack([np.ones(200), truth], axis=1)
    return drawn - sides @ np.linalg.lstsq(sides, drawn)[0]


def test_the_slope_says_whether_predictions_are_pulled_to_the_middle(truth, noise):
    assert relation(truth, 0.2 + 0.6 * truth + noise, BLOCKS, "valence").startswith(
        "Valence is pulled to the middle: slope 0.60 (95 % 0.5"
    )
    assert "pushed to the ends: slope 1.4" in relation(truth, 1.4 * truth + noise, BLOCKS, "valence")
    assert "neither pulled to the middle" in relation(truth, truth + noise, BLOCKS, "valence")
    assert "turned round: slope −1.0 (95 % −1.0" in relation(truth, 1 - truth + noise, BLOCKS, "valence")


def test_a_slope_around_zero_is_no_finding(truth, rng):
    told = relation(truth, rng.random(200), BLOCKS, "valence")
    assert told.startswith("Valence cannot be told to follow the labels")


def test_few_speakers_carry_no_interval(truth, noise):
    told = relation(truth, 0.6 * truth + noise, BLOCKS % 3, "valence")
    assert told == "Valence: slope 0.60 (too few speakers for an interval)"
    assert relation(truth[:0], noise[:0], BLOCKS[:0], "valence") == ""
    assert relation(np.ones(200), noise, BLOCKS, "valence") == ""


def test_the_worst_class_is_named_with_what_it_is_taken_for():
    truth = np.array(["anger", "joy", "calm", "fear", "calm"] * 40, dtype=object)
    prediction = truth.copy()
    prediction[np.flatnonzero(truth == "calm")[::2]] = "joy"
    told = confusion(truth, prediction, ["anger", "joy", "calm", "fear"], BLOCKS)
    assert told.startswith("Calm is recognised worst: recall 0.50, 0.50 (95 % ")
    assert told.endswith("lower than the others on average, taken for joy in 50 %")


def test_classes_that_chance_tells_apart_are_not_told_apart(rng):
    truth = np.array(["a", "b", "c", "d"] * 50, dtype=object)
    prediction = np.where(rng.random(200) < 0.5, truth, "a")
    told = confusion(truth[truth != "a"], prediction[truth != "a"], ["b", "c", "d"], BLOCKS[truth != "a"])
    assert told.startswith("No class can be told to be recognised worse than the others: UAR 0.")
    assert confusion(["a"] * 200, ["a"] * 200, ["a", "b"], BLOCKS) == ""


def test_movements_rise_fall_or_cannot_be_told(truth, noise, rng):
    told = movement(truth, truth + 0.1 + noise, BLOCKS, "predictions of valence")
    assert told.startswith("Predictions of valence rise by 0.10 (95 % 0.09")
    assert "fall by 0.1" in movement(truth, truth - 0.1 + noise, BLOCKS)
    told = movement(truth, truth + noise - noise.mean(), BLOCKS)
    assert told.startswith("Predictions cannot be told to rise or fall on average; ")
    assert told.endswith("% move by less than 0.05")
    assert movement(truth, np.full(200, np.nan), BLOCKS) == ""


def test_spread_and_mean_of_a_distribution(truth, noise):
    told = distribution(truth, 0.3 + 0.5 * truth + noise, BLOCKS)
    assert told.startswith("Predictions spread less than labels: 0.5")
    assert distribution(truth, truth, BLOCKS) == (
        "Predictions cannot be told to spread more or less than labels; their means cannot be told apart"
    )
    assert "their mean is 0.2" in distribution(truth, truth + 0.2 + noise, BLOCKS)


def test_a_class_that_is_predicted_too_often():
    truth = np.array(["a", "b", "c", "d"] * 50, dtype=object)
    prediction = np.where(truth == "b", "a", truth)
    told = distribution(truth, prediction, BLOCKS, ["a", "b", "c", "d"])
    assert told.startswith("A is predicted too often, by 25 (95 % ")
    assert told.endswith(" points")
    assert distribution(truth, truth, BLOCKS, ["a", "b"]).startswith("No class can be told")


def test_the_group_that_lies_farthest_from_the_average(noise):
    groups = np.tile(["de", "en", "ja", "zh"], 50)
    values = 0.5 + noise + 0.1 * (groups == "ja")
    told = of_groups(values, groups, ["de", "en", "ja", "zh"], BLOCKS)
    assert told.startswith("Ja lies farthest from the average of the groups: 0.07")
    assert told.endswith(" above it")
    alike = of_groups(noise, groups, ["de", "en", "ja", "zh"], BLOCKS)
    assert alike == "No group can be told apart from the average of the groups"


def rows(*entries):
    columns = ["test", "value", "low", "high", "threshold", "evidence", "group", "gap", "gap_low", "gap_high"]
    frame = pd.DataFrame(entries, columns=columns).assign(
        model="m", corpus="demo", family="f", task="emotion", label="", blocks=40, rule=">", matters=np.nan
    )
    frame["matters"] = frame["gap"].notna().map({True: 0.1, False: np.nan})
    return frame.assign(
        adjusted=np.nan, adjusted_low=np.nan, adjusted_high=np.nan, adjusted_by="", skipped=""
    )


def test_the_value_that_fails_by_most_is_named():
    none = np.nan
    frame = rows(
        ("Recall Per Class", 0.39, 0.3, 0.48, 0.5, "clear fail", "", none, none, none),
        ("Unweighted Average Recall", 0.6, 0.5, 0.7, 0.5, "clear pass", "", none, none, none),
        ("Unweighted Average Precision", 0.45, 0.4, 0.51, 0.5, "open", "", none, none, none),
    )
    told = findings_of_rows.tests(frame)
    assert told.startswith(
        "1 of 3 values clearly fails, by most: recall per class of emotion is 0.39 (95 % 0.30 to"
    )
    for blocks, noun in (({}, "speakers"), ({"demo": "file"}, "files"), ({"other": "file"}, "speakers")):
        assert f" {noun}); it has to be" in findings_of_rows.tests(frame, blocks)
    assert findings_of_rows.tests(frame.iloc[1:]) == "None of 2 values clearly fails; 1 is open"
    assert findings_of_rows.tests(frame.iloc[:0]) == ""
    told = findings_of_rows.one(frame, "Unweighted Average Recall", "demo", "emotion")
    assert told == "Unweighted average recall 0.60 (95 % 0.50 to 0.70)"
    assert findings_of_rows.one(frame, "Unweighted Average Recall", "demo", "valence") == ""


def test_only_a_gap_whose_interval_carries_it_is_told():
    frame = rows(
        ("Recall Per Class", 0.3, 0.2, 0.4, 0.1, "clear fail", "pitch: low", -0.35, -0.5, -0.2),
        ("Recall Per Class", 0.6, 0.5, 0.7, 0.1, "open", "pitch: high", 0.2, -0.1, 0.5),
    )
    told = findings_of_rows.gaps(frame)
    assert told.startswith(
        "Recall per class of emotion of “pitch: low” is 0.35 lower than that of the others"
    )
    assert told.endswith("; 1 of 2 differences are that clear")
    assert " files; " in findings_of_rows.gaps(frame, {"demo": "file"})
    told = findings_of_rows.gaps(frame.iloc[1:])
    assert (
        told == "No group can be told to differ by what matters: of 1 difference 0 clearly do not, 1 is open"
    )


def curve(values, task="valence"):
    names = ["clean", "20 dB", "10 dB", "0 dB"]
    return pd.DataFrame(
        [("demo", task, step, v, v - 0.05, v + 0.05) for step, v in zip(names, values, strict=True)],
        columns=["corpus", "task", "step", "value", "low", "high"],
    )


def test_the_step_from_which_on_quality_is_lower():
    frame = pd.concat([curve([0.8, 0.78, 0.6, 0.4]), curve([0.6, 0.3, 0.6, 0.6], "arousal")])
    told = findings_of_curves.steps(frame, "babble: CCC")
    assert (
        told
        == "Babble: CCC: clearly lower than at first from 10 dB on (valence); for arousal this cannot be told"
    )


def test_shares_that_stay_are_compared_with_a_half():
    frame = curve([1, 0.9, 0.5, 0.3]).assign(low=lambda own: own["low"].where(own["step"].ne("clean"), 1))
    told = findings_of_curves.steps(frame, "Babble: share")
    assert told == "Babble: share: clearly fewer than half stay from 0 dB on (valence)"
    told = findings_of_curves.steps(frame.replace("0 dB", "0"), "Babble: share", "SNR in dB")
    assert told.endswith("stay from SNR 0 dB on (valence)")
    told = findings_of_curves.steps(frame.replace("0 dB", "0.5"), "Speed: share", "factor of the speed")
    assert told.endswith("stay from factor of the speed 0.5 on (valence)")
    frame = frame.assign(high=1.0)
    assert findings_of_curves.steps(frame, "Babble: share").endswith("never clearly below a half")


def test_groups_above_the_rate_of_everybody():
    frame = pd.DataFrame(
        [("spanish", 0.3, 0.25, 0.35), ("german", 0.25, 0.15, 0.35), (HOSTILE, np.nan, np.nan, np.nan)],
        columns=["group", "value", "low", "high"],
    )
    told = findings_of_curves.rates(frame, 0.2)
    assert told == "Clearly above the word error rate of everybody, 20 %: spanish (30 %, 95 % 25 to 35)"
    assert findings_of_curves.rates(frame, 0.4).startswith("No group lies clearly above")


def test_errors_of_groups_are_compared_with_those_within_any_group():
    frame = pd.DataFrame(
        [
            ("", "all trials", 0.1, 0.08, 0.12, 0.1, 0.08, 0.12),
            ("sex", "within any group", 0.2, 0.15, 0.25, 0.1, 0.05, 0.15),
            ("sex", "female", 0.25, 0.15, 0.35, 0.1, 0.05, 0.15),  # harder than all trials, as any group is
            ("sex", "male", 0.3, 0.22, 0.38, np.nan, np.nan, np.nan),
        ],
        columns=["column", "group", "far", "far_low", "far_high", "frr", "frr_low", "frr_high"],
    )
    assert findings_of_curves.error_rates(frame) == (
        "Clearly more than within any group: false acceptances male (30 %, 95 % 22 to 38); "
        "false rejections no group"
    )
    assert findings_of_curves.error_rates(frame.head(1)) == ""


def test_changes_under_which_errors_rise():
    frame = pd.DataFrame(
        [("Change Eer Babble Noise", 0.08, 0.05, 0.11), ("Change Eer White Noise", 0.01, -0.01, 0.02)],
        columns=["test", "value", "low", "high"],
    ).assign(corpus="demo")
    assert findings_of_curves.changes_of_error(frame, "demo") == (
        "The EER clearly rises under babble noise (by 8.0 points, 95 % 5.0 to 11); for 1 this cannot be told"
    )
    assert findings_of_curves.changes_of_error(frame, "other") == ""


def test_names_from_data_are_cut():
    truth = np.array([HOSTILE, "b"] * 100, dtype=object)
    told = confusion(truth, np.full(200, "b", dtype=object), [HOSTILE, "b"], BLOCKS)
    assert len(told) < 300
    assert findings_of_values.told(findings_of_values.Estimate(1, np.nan, np.nan)).endswith(
        "for an interval)"
    )
