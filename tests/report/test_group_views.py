"""Figures of groups show their own values, and say in words what the interval of the difference says."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.evaluation.groups import GroupCount, compared
from soundcheck.evaluation.measure_sets import TAKEN_FOR
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import values as values_of
from soundcheck.metrics.combinators import restrict
from soundcheck.report import group_views, views
from soundcheck.report.group_views import described, drawn, finding, group_values
from soundcheck.report.style import look
from soundcheck.results.estimates import Estimate, estimate_frame

pytestmark = pytest.mark.filterwarnings("error:constrained_layout not applied", "error:posx")

TESTS = {
    "word_error_rate": "Word Error Rate Difference",
    "concordance_cc": "Concordance Correlation Coeff",
    "mean_value": "Mean Value",
    "recall": "Recall Per Class",
    "predicted_share": "Relative Difference Per Class",
}


def estimates(measure, values, column="age", **given):
    place = dict(model="m", corpus="c", family="f", task="t", measure=measure) | given
    ends = dict(segments=30, speakers=6)
    return estimate_frame(
        Estimate(**place, **ends, part=f"{column}: {group}", value=value, low=value - 0.1, high=value + 0.1)
        for group, value in values.items()
    )


def rows(measure, evidence, gaps, column="age"):
    place = dict(model="m", corpus="c", family="f", task="t", test=TESTS[measure], label="", against="others")
    return pd.DataFrame(
        [
            place
            | dict(group=f"{column}: {group}", gap=gap, evidence=evidence[n], others_value=0.2, matters=0.05)
            | dict(gap_low=gap - 0.1, gap_high=gap + 0.1, rule="<", threshold=0.05)
            | dict(value=gap, low=gap, high=gap, ratio=np.nan, state="", state_sample="")
            for n, (group, gap) in enumerate(gaps.items())
        ]
    )


def untested(measure):
    known = measure if measure in TESTS else "mean_value"
    return rows(known, [""], {"": np.nan}).assign(against="")


def three(measure="word_error_rate"):
    values = {"young": 0.1, "old": 0.5, "middle": 0.2}
    found = rows(measure, ["clear pass", "clear fail", "open"], {"young": -0.01, "old": 0.3, "middle": 0.02})
    return drawn(group_values(estimates(measure, values), found))


def test_the_worst_group_comes_first_with_its_own_value_reference_and_margin():
    frame = three()
    assert frame["name"].tolist() == ["old (30)", "middle (30)", "young (30)"]
    assert frame["words"].tolist() == [
        "✗ worse, beyond the margin",
        "? interval crosses the margin",
        "✓ within the margin",
    ]
    assert set(frame["panel"]) == {"word error rate of t (lower is better)"}
    assert frame["value"].tolist() == [0.5, 0.2, 0.1]
    assert set(frame["reference"]) == {0.2} and set(frame["margin"]) == {0.05}
    assert finding(frame) == (
        "Word error rate of t: worst old, 50 % (95 % 40 to 60); best young, 10 % (95 % 0 to 20)"
    )
    assert "old 50 % (95 % 40 to 60) (✗ worse, beyond the margin)" in described(frame)


def test_where_more_is_better_less_is_worse():
    frame = three("concordance_cc")
    assert frame["group"].iloc[0] == "young" and frame["words"].iloc[-1] == "✗ better, beyond the margin"
    assert finding(frame).startswith("Concordance of t: worst young, 0.10 (95 % 0 to 0.20); best")


def test_of_two_groups_one_is_tested_and_the_other_is_its_reference():
    found = rows("word_error_rate", ["clear fail"] * 2, {"young": -0.4, "old": 0.4})
    frame = drawn(group_values(estimates("word_error_rate", {"young": 0.1, "old": 0.5}), found))
    assert frame["words"].tolist() == ["✗ worse, beyond the margin", "the reference"]
    assert frame["reference"].tolist() == [0.2, 0.1]


def test_what_is_furthest_beyond_its_margin_comes_first():
    found = pd.concat(
        [rows("word_error_rate", ["open"], {"a": 0.01}), rows("concordance_cc", ["open"], {"a": 0.3})]
    )
    both = pd.concat([estimates(measure, {"a": 0.4}) for measure in list(TESTS)[:2]])
    assert drawn(group_values(both, found))["measure"].tolist() == ["concordance_cc", "word_error_rate"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (dict(measure="recall", label="anger"), 0),  # too many for a figure; the table of verdicts has them
        (dict(measure="predicted_share", label="anger"), 2),
        (dict(measure="predicted_share", label="(0.75, inf]"), 0),
        (dict(measure="concordance_cc (balanced)"), 2),
        (dict(measure="concordance_cc", condition="Babble Noise"), 0),
        (dict(measure="substitution_rate"), 0),  # of no test
    ],
)
def test_what_is_drawn(given, kept):
    measure = given.pop("measure")
    of = measure.removesuffix(" (balanced)")
    frame = group_values(estimates(measure, {"a": 0.4, "b": 0.5}, **given), untested(of))
    assert len(frame) == kept
    assert not frame["measure"].str.contains("balanced").any()


def test_many_groups_and_hostile_names_fit():
    many = {f"<b>{n}" + "x" * 100: n / 100 for n in range(40)}
    found = rows("word_error_rate", ["open"] * 40, dict.fromkeys(many, 0.1))
    frame = drawn(group_values(estimates("word_error_rate", many), found))
    figure = views.forest(frame, panels="panel", cut=group_views.MOST_GROUPS)
    with look():
        figure.draw_without_rendering()
    assert len(figure.axes[0].get_yticks()) == group_views.MOST_GROUPS
    assert "24 of 40" in figure.axes[0].get_xlabel()


def classes(rng) -> Subset:
    """Two groups of emotions; half of <b> is taken for neutral, one segment has no prediction."""
    table = pd.DataFrame({"device": np.repeat(["<b>", "room"], 40)})
    truth = rng.choice(["anger", "joy"], 80).astype(object)
    predicted = truth.copy()
    predicted[:20] = "neutral"
    predicted[79] = None
    task = Task("emotion", "classification", ("anger", "joy", "neutral"))
    nothing = Predictions(predicted)
    return Subset("c", task, table, truth, nothing, nothing, np.arange(80) % 8)


def test_what_segments_are_taken_for_is_counted_by_hand(rng):
    subset = classes(rng)
    (measure,) = TAKEN_FOR.values()
    statistic = measure(subset, subset.predictions)
    assert values_of(restrict(statistic, subset.mask("device", "<b>"))).tolist() == [0, 0, 0.5]
    assert values_of(restrict(statistic, subset.mask("device", "room"))).tolist() == [0, 0, 0]


def test_groups_that_are_worse_have_their_error_profile(rng, tmp_path):
    found = [compared(classes(rng), "device", ["<b>", "room"])]
    frame = pd.DataFrame(
        [
            dict(
                corpus="c",
                task="emotion",
                group="device: <b>",
                gap=-0.5,
                matters=0.1,
                gap_low=-0.6,
                gap_high=-0.4,
            )
        ]
    )

    def estimated(subset, measures, parts):
        place = dict(model="m", corpus="c", family="f", task="emotion", measure="taken_for", segments=40)
        return estimate_frame(
            Estimate(**place, label=name, part=part, value=value, low=0.0, high=0.7)
            for part, shares in zip(parts, ([0, 0, 0.5], [0, 0, 0]), strict=True)
            for name, value in zip(subset.task.classes, shares, strict=True)
        )

    media = MediaStore(tmp_path / "media", "media/")
    evaluation = SimpleNamespace(frame=lambda: frame, estimates=estimated, media=media)
    shown = str(group_views.error_profile(evaluation, found))
    assert "wrongly taken for neutral: device: &lt;b&gt; 50 % (95 % 0 to 70); device: room 0 %" in shown
    fair = SimpleNamespace(
        frame=lambda: frame.assign(gap_low=-1.0, gap_high=1.0), estimates=None, media=media
    )
    assert str(group_views.error_profile(fair, found)) == ""


def test_sizes_say_why_groups_are_not_compared(rng):
    subset = classes(rng)
    counts = [GroupCount("<b>", 40, 2), GroupCount("room", 40, 1, "1 speaker, 2 needed"), GroupCount("", 3)]
    shown = str(group_views.sizes([compared(subset, "device", ["<b>"], counts)]))
    assert "&lt;b&gt;" in shown and "1 speaker, 2 needed" in shown and "(none)" in shown
    assert "no group to compare" in str(group_views.sizes([compared(subset, "device", [])]))


def test_labels_of_each_group_in_per_cent(rng):
    subset = classes(rng)
    shown = str(group_views.label_shares([compared(subset, "device", ["<b>", "room"])]))
    share = 100 * np.mean(subset.truth[:40] == "anger")
    assert f">{share:.1f}<" in shown and ">anger<" in shown
