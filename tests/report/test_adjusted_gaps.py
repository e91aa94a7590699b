"""What becomes of a gap if both sides had the same, in words that numbers define."""

from __future__ import annotations

import pytest

from soundcheck.report import adjusted_gaps
from soundcheck.report.adjusted_gaps import adjusted_columns, in_short, notes_below
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

HOSTILE = "<script>alert(1)</script>"


def verdict(**given) -> Verdict:
    base = dict(
        **dict(model="m", corpus="c", family="f", category="fairness", task="arousal", test="Mean Value"),
        **dict(
            value=0.1, segments=100, blocks=20, threshold=0.075, rule="|gap| <", passed=False, matters=0.075
        ),
        **dict(group="accent: irish", gap=0.21, gap_low=0.1, gap_high=0.32, evidence="clear fail"),
        **dict(adjusted=0.03, adjusted_low=-0.04, adjusted_high=0.1, counterpart=0.931),
        adjusted_by="signal_to_noise",
    )
    return Verdict(**(base | given))


def one(**given):
    return next(to_frame([verdict(**given)]).itertuples())


@pytest.mark.parametrize(
    ("adjusted", "words"),
    [
        (0.0, "most of the difference goes with the device"),
        (0.069, "most of the difference goes with the device"),
        (-0.069, "most of the difference goes with the device"),
        (0.071, "part of the difference goes with the device"),
        (0.139, "part of the difference goes with the device"),
        (0.141, "with the device alike the difference stays"),
        (0.3, "with the device alike the difference stays"),
        (-0.071, "with the device alike the difference turns round"),
    ],
)
def test_words_are_defined_by_what_is_left(adjusted, words):
    interval = dict(adjusted_low=adjusted - 0.01, adjusted_high=adjusted + 0.01)
    assert in_short(one(adjusted=adjusted, **interval, adjusted_by="device")) == words
    mirrored = dict(gap=-0.21, gap_low=-0.32, gap_high=-0.1, adjusted=-adjusted)
    interval = dict(adjusted_low=-adjusted - 0.01, adjusted_high=-adjusted + 0.01)
    assert in_short(one(**mirrored, **interval, adjusted_by="device")) == words


def test_an_interval_of_nothing_to_everything_is_open():
    wide = dict(adjusted=0.05, adjusted_low=-0.1, adjusted_high=0.25)
    assert (
        in_short(one(**wide))
        == "how much of the difference goes with the signal-to-noise ratio is inconclusive"
    )


@pytest.mark.parametrize(
    "given",
    [
        dict(
            adjusted=None, adjusted_low=None, adjusted_high=None, adjusted_by="none: device decides the group"
        ),
        dict(gap_low=-0.1),
        dict(gap_low=None, gap_high=None),
        dict(matters=0.3),
        dict(gap=0.0, gap_low=None, gap_high=None),
    ],
)
def test_nothing_is_said_of_gaps_in_doubt(given):
    assert in_short(one(**given)) == ""


def test_a_gap_that_holds_is_spoken_of():
    assert in_short(one(gap_low=None, gap_high=None, p_value=0.001, holds=True))


def test_two_columns_are_named_in_words():
    assert adjusted_columns("signal_to_noise, my_device") == "signal-to-noise ratio and my device"
    assert adjusted_columns("") == adjusted_columns("none: x is the same for all") == ""


def test_the_cell_says_what_becomes_of_a_difference_and_a_note_what_that_is():
    shown = str(adjusted_gaps.adjusted_cell(one(adjusted_by=HOSTILE)).content)
    for part in (
        "0.030",
        "−0.040 to 0.100",
        "93 % matched",
        "most of the difference goes with the &lt;script",
    ):
        assert part in shown
    assert HOSTILE not in shown
    assert "goes with" not in str(adjusted_gaps.adjusted_cell(one(gap_low=-0.1)).content)
    note = str(notes_below(to_frame([verdict(adjusted_by=HOSTILE), verdict(corpus="d")])))
    assert "had the same &lt;script&gt;" in note and "or signal-to-noise ratio" in note
    assert "states do not depend on it" in note


def test_tables_without_adjusted_gaps_say_nothing():
    empty = dict.fromkeys(("adjusted", "adjusted_low", "adjusted_high", "counterpart"))
    assert not adjusted_gaps.has_adjusted(to_frame([verdict(**empty, adjusted_by="")]))
    assert adjusted_gaps.adjusted_cell(one(**empty, adjusted_by="")).content == ""
