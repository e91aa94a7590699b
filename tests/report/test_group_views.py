"""Figures of groups show their own values, and say in words what the interval of the difference says."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.report.given import cells, subset

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.evaluation.groups import GroupCount, compared
from soundcheck.evaluation.measure_sets import TAKEN_FOR
from soundcheck.metrics.additive import values as values_of
from soundcheck.metrics.combinators import restrict
from soundcheck.report import group_views
from soundcheck.report.group_views import described, drawn, finding, group_values
from soundcheck.results.estimates import Estimate, estimate_frame

pytestmark = pytest.mark.filterwarnings("error:constrained_layout not applied", "error:posx")

TESTS = {
    **{"word_error_rate": "Word Error Rate Difference", "concordance_cc": "Concordance Correlation Coeff"},
    **{"mean_value": "Mean Value", "recall": "Recall Per Class"},
    "predicted_share": "Relative Difference Per Class",
}
PLACE = {"model": "m", "corpus": "c", "family": "f", "task": "t"}


def estimates(measure, values, **given):
    about = PLACE | {"measure": measure, "segments": 30, "speakers": 6} | given
    return estimate_frame(
        Estimate(**about, part=f"age: {group}", value=value, low=value - 0.1, high=value + 0.1)
        for group, value in values.items()
    )


def rows(measure, evidence, gaps):
    about = PLACE | {"test": TESTS[measure], "against": "others", "others_value": 0.2, "matters": 0.05}
    about |= {"rule": "<", "threshold": 0.05, "ratio": np.nan}
    about |= dict.fromkeys(("label", "state", "state_sample"), "")
    names = ("gap", "value"), ("gap_low", "low"), ("gap_high", "high")
    return pd.DataFrame(
        about
        | {"group": f"age: {group}", "evidence": known}
        | {name: gap + off for off, both in zip((0, -0.1, 0.1), names, strict=True) for name in both}
        for (group, gap), known in zip(gaps.items(), evidence, strict=True)
    )


def figure_of(measure, values, evidence, gaps):
    return drawn(group_values(estimates(measure, values), rows(measure, evidence, gaps)))


THREE = {"young": 0.1, "old": 0.5, "middle": 0.2}, ["clear pass", "clear fail", "open"]


def test_the_worst_group_comes_first_with_its_own_value_reference_and_margin():
    frame = figure_of("word_error_rate", *THREE, {"young": -0.01, "old": 0.3, "middle": 0.02})
    assert frame["name"].tolist() == ["old (30)", "middle (30)", "young (30)"]
    assert [text[0] for text in frame["words"]] == ["✗", "?", "✓"]
    assert set(frame["panel"]) == {"word error rate of t (lower is better)"}
    assert set(frame["reference"]) == {0.2} and set(frame["margin"]) == {0.05}
    worst = "worst old, 50 % (95 % 40 to 60); best young, 10 % (95 % 0 to 20)"
    assert finding(frame) == f"Word error rate of t: {worst}"
    assert "old 50 % (95 % 40 to 60) (✗ worse, beyond the margin)" in described(frame)


def test_where_more_is_better_less_is_worse():
    frame = figure_of("concordance_cc", *THREE, {"young": -0.01, "old": 0.3, "middle": 0.02})
    assert frame["group"].iloc[0] == "young" and frame["words"].iloc[-1] == "✗ better, beyond the margin"
    assert finding(frame).startswith("Concordance of t: worst young, 0.10 (95 % 0 to 0.20); best")


def test_of_two_groups_one_is_tested_and_the_other_is_its_reference():
    values, gaps = {"young": 0.1, "old": 0.5}, {"young": -0.4, "old": 0.4}
    frame = figure_of("word_error_rate", values, ["clear fail"] * 2, gaps)
    assert frame["words"].tolist() == ["✗ worse, beyond the margin", "the reference"]
    assert frame["reference"].tolist() == [0.2, 0.1]


def test_what_is_furthest_beyond_its_margin_comes_first():
    sizes = {"word_error_rate": 0.01, "concordance_cc": 0.3}
    found = pd.concat([rows(measure, ["open"], {"a": size}) for measure, size in sizes.items()])
    both = pd.concat([estimates(measure, {"a": 0.4}) for measure in sizes])
    assert drawn(group_values(both, found))["measure"].tolist() == ["concordance_cc", "word_error_rate"]


@pytest.mark.parametrize(
    ("measure", "given", "kept"),
    [
        ("recall", {"label": "anger"}, 0),  # too many for a figure; the table of verdicts has them
        ("predicted_share", {"label": "anger"}, 2),
        ("predicted_share", {"label": "(0.75, inf]"}, 0),
        ("concordance_cc (balanced)", {}, 2),
        ("concordance_cc", {"condition": "Babble Noise"}, 0),
    ],
)
def test_what_is_drawn(measure, given, kept):
    untested = rows(measure.removesuffix(" (balanced)"), [""], {"": np.nan}).assign(against="")
    frame = group_values(estimates(measure, {"a": 0.4, "b": 0.5}, **given), untested)
    assert len(frame) == kept and not frame["measure"].str.contains("balanced").any()


@pytest.fixture
def devices(rng):
    """Two groups of emotions; half of <b> is taken for neutral, one segment has no prediction."""
    truth = rng.choice(["anger", "joy"], 80).astype(object)
    predicted = truth.copy()
    predicted[:20], predicted[79] = "neutral", None
    task = Task("emotion", "classification", ("anger", "joy", "neutral"))
    return subset(truth, predicted, task, device=np.repeat(["<b>", "room"], 40), blocks=np.arange(80) % 8)


def test_what_segments_are_taken_for_is_counted_by_hand(devices):
    (measure,) = TAKEN_FOR.values()
    statistic = measure(devices, devices.predictions)
    for group, shares in {"<b>": [0, 0, 0.5], "room": [0, 0, 0]}.items():
        assert values_of(restrict(statistic, devices.mask("device", group))).tolist() == shares


def test_groups_that_are_worse_have_their_error_profile(devices, tmp_path):
    about = {"corpus": "c", "task": "emotion", "group": "device: <b>", "gap": -0.5, "matters": 0.1}
    frame = pd.DataFrame([about | {"gap_low": -0.6, "gap_high": -0.4}])

    def estimated(subset, measures, parts):
        place = PLACE | {"task": "emotion", "measure": "taken_for", "segments": 40}
        return estimate_frame(
            Estimate(**place, label=name, part=part, value=value, low=0.0, high=0.7)
            for part, shares in zip(parts, ([0, 0, 0.5], [0, 0, 0]), strict=True)
            for name, value in zip(subset.task.classes, shares, strict=True)
        )

    media = MediaStore(tmp_path / "media", "media/")
    evaluation = SimpleNamespace(frame=lambda: frame, estimates=estimated, media=media)
    both = [compared(devices, "device", ["<b>", "room"])]
    said = "wrongly taken for neutral: device: &lt;b&gt; 50 % (95 % 0 to 70); device: room 0 %"
    assert said in str(group_views.error_profile(evaluation, both))
    frame["gap_high"] = 1.0  # nobody is shown to be worse
    assert str(group_views.error_profile(evaluation, both)) == ""


def test_sizes_say_why_groups_are_not_compared_and_labels_are_shares(devices):
    counts = [GroupCount("<b>", 40, 2), GroupCount("room", 40, 1, "1 speaker, 2 needed"), GroupCount("", 3)]
    shown = str(group_views.sizes([compared(devices, "device", ["<b>"], counts)]))
    assert "&lt;b&gt;" in shown and "1 speaker, 2 needed" in shown and "(none)" in shown
    assert "no group to compare" in str(group_views.sizes([compared(devices, "device", [])]))
    shares = cells(group_views.label_shares([compared(devices, "device", ["<b>", "room"])]))
    assert f"{100 * np.mean(devices.truth[:40] == 'anger'):.1f}" in " ".join(map(" ".join, shares))
