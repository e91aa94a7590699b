"""Figures of groups show their own values, and say in words what the interval of the difference says."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.report import group_figures
from soundcheck.report.group_figures import described, finding, group_values, own_values
from soundcheck.report.style import look
from soundcheck.results.estimates import Estimate, estimate_frame
from soundcheck.results.table import to_frame

pytestmark = pytest.mark.filterwarnings("error:constrained_layout not applied", "error:posx")

NOTHING = to_frame([])
TESTS = {"word_error_rate": "Word Error Rate Difference", "concordance_cc": "Concordance Correlation Coeff"}


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
            place | dict(group=f"{column}: {group}", gap=gap, evidence=evidence[n], others_value=0.2)
            for n, (group, gap) in enumerate(gaps.items())
        ]
    )


def texts(figure):
    found = [text.get_text() for axes in figure.axes for text in axes.texts]
    for axes in figure.axes:
        found += [axes.get_xlabel(), *(tick.get_text() for tick in axes.get_yticklabels())]
    return found


def three(measure="word_error_rate"):
    values = {"young": 0.1, "old": 0.5, "middle": 0.2}
    found = rows(measure, ["clear pass", "clear fail", "open"], {"young": -0.01, "old": 0.3, "middle": 0.02})
    return group_values(estimates(measure, values), found)


def test_the_worst_group_comes_first_with_its_own_value():
    (axes,) = own_values(three()).axes
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["old (30)", "middle (30)", "young (30)"]
    assert [text.get_text() for text in axes.texts] == [
        "✗ worse, beyond the margin",
        "? interval on both sides",
        "✓ within the margin",
    ]
    assert axes.get_xlabel().startswith("better  ←  word error rate  →  worse")
    points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert points == [0.5, 0.2, 0.1]
    assert finding(three()) == (
        "Word error rate: worst old, 50 % (95 % 40 to 60); best young, 10 % (95 % 0 to 20)"
    )
    assert "old 50 % (95 % 40 to 60) (worse, beyond the margin)" in described(three())


def test_where_more_is_better_less_is_worse():
    (axes,) = own_values(three("concordance_cc")).axes
    assert axes.get_yticklabels()[0].get_text() == "young (30)"
    assert axes.texts[-1].get_text() == "✗ better, beyond the margin"
    assert finding(three("concordance_cc")).startswith(
        "Concordance: worst young, 0.10 (95 % 0 to 0.20); best"
    )


def test_of_two_groups_one_is_tested():
    found = rows("word_error_rate", ["clear fail"] * 2, {"young": -0.4, "old": 0.4})
    frame = group_values(estimates("word_error_rate", {"young": 0.1, "old": 0.5}), found)
    (axes,) = own_values(frame).axes
    assert [text.get_text() for text in axes.texts] == ["✗ worse, beyond the margin"]


def test_groups_without_comparison_are_drawn_all_the_same():
    frame = group_values(estimates("mean_value", {"a": 0.4, "b": 0.5}), NOTHING)
    (axes,) = own_values(frame).axes
    assert {text.get_text() for text in axes.texts} == {"– not compared"}
    assert axes.get_xlabel() == "lower  ←  mean value  →  higher"
    assert finding(frame).startswith("Mean value: lowest a, 0.40") and "highest b, 0.50" in finding(frame)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (dict(measure="recall", label="anger"), 0),  # too many for a figure; the table of verdicts has them
        (dict(measure="predicted_share", label="anger"), 2),
        (dict(measure="predicted_share", label="(0.75, inf]"), 0),
        (dict(measure="concordance_cc (balanced)"), 2),
        (dict(measure="concordance_cc", condition="Babble Noise"), 0),
    ],
)
def test_what_is_drawn(given, kept):
    measure = given.pop("measure")
    frame = group_values(estimates(measure, {"a": 0.4, "b": 0.5}, **given), NOTHING)
    assert len(frame) == kept
    assert not frame["measure"].str.contains("balanced").any()


def test_many_groups_and_hostile_names_fit():
    many = {f"<b>{n}" + "x" * 100: n / 100 for n in range(40)}
    found = rows("word_error_rate", ["open"] * 40, dict.fromkeys(many, np.nan))
    figure = own_values(group_values(estimates("word_error_rate", many), found))
    with look():
        figure.draw_without_rendering()
    assert len(figure.axes[0].get_yticks()) == group_figures.MOST_GROUPS
    assert "the worst 24 of 40 groups" in figure.axes[0].get_xlabel()
    assert max(map(len, texts(figure))) < 150


def test_nothing_to_draw_is_no_finding():
    nothing = three().assign(value=np.nan)
    assert finding(nothing) == "" == described(nothing)
