"""Figures of how well groups are served say in words who is worse."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.report.served_figures import (
    HIGHER,
    LOWER,
    MOST_GROUPS,
    Shown,
    clear_groups,
    described_groups,
    served_groups,
    with_verdicts,
)
from soundcheck.report.style import look

pytestmark = pytest.mark.filterwarnings("error:constrained_layout not applied", "error:posx")

SHOWN = {"Agreement": Shown("agreement", HIGHER, (0, 1)), "Errors": Shown("errors", LOWER, (0, 1))}
PLACE = {"corpus": "c", "task": "t"}


def values(test, numbers, everybody=0.5):
    return pd.DataFrame(
        [
            {
                **PLACE,
                **{"column": "age", "group": group, "test": test, "label": ""},
                **{"value": value, "low": value - 0.1, "high": value + 0.1, "everybody": everybody},
                "size": "30 segments",
            }
            for group, value in numbers.items()
        ]
    )


def verdicts(test, gaps):
    return pd.DataFrame(
        [
            {
                **PLACE,
                **{"test": test, "group": f"age: {group}", "label": "", "gap": gap},
                **{"passed": passed, "evidence": evidence},
            }
            for group, (gap, passed, evidence) in gaps.items()
        ]
    )


def texts(figure):
    found = []
    for axes in figure.axes:
        found += [text.get_text() for text in axes.texts]
        found += [axes.get_xlabel(), *(tick.get_text() for tick in axes.get_yticklabels())]
    return found


@pytest.mark.parametrize(
    ("test", "gap", "verdict", "words"),
    [
        ("Agreement", -0.2, (False, "clear fail"), "✗ clearly worse"),
        ("Agreement", 0.2, (False, "clear fail"), "✗ clearly better"),
        ("Errors", 0.2, (False, "open"), "(✗) perhaps worse"),
        ("Errors", -0.2, (True, "clear pass"), "✓ no difference that matters"),
        ("Agreement", 0.01, (True, "open"), "(✓) open, no failure"),
        ("Agreement", 0.01, (None, "shown"), "○ no threshold"),
        ("Agreement", np.nan, (None, ""), "not judged"),
    ],
)
def test_words_say_what_is_settled_and_which_way(test, gap, verdict, words):
    frame = with_verdicts(values(test, {"old": 0.5}), verdicts(test, {"old": (gap, *verdict)}))
    assert words in texts(served_groups(frame, SHOWN))
    assert described_groups(frame, SHOWN).endswith(f"old 0.500 ({words}), everybody 0.500")


def test_the_axis_says_which_side_is_worse():
    assert SHOWN["Agreement"].axis == "worse  ←  agreement  →  better"
    assert SHOWN["Errors"].axis == "better  ←  errors  →  worse"
    assert Shown("mean", "").axis == "lower  ←  mean  →  higher"


def test_the_worst_groups_come_first_and_are_kept():
    many = {f"g{n:02d}": n / 100 for n in range(MOST_GROUPS + 5)}
    for test, first, last in (("Agreement", "g00", "g23"), ("Errors", "g28", "g05")):
        frame = with_verdicts(values(test, many), verdicts(test, dict.fromkeys(many, (0.0, True, "open"))))
        (axes,) = served_groups(frame, SHOWN).axes
        names = [tick.get_text() for tick in axes.get_yticklabels()]
        assert (names[0], names[-1]) == (f"{first} (30 segments)", f"{last} (30 segments)")


@pytest.mark.parametrize("name", ["$\\foo$", "<b>", "名前", "a\nb", "x" * 300, "__"])
def test_any_name_can_be_drawn(name, tmp_path):
    frame = with_verdicts(values("Errors", {name: 0.5}), verdicts("Errors", {name: (0.1, False, "open")}))
    with look():
        served_groups(frame, SHOWN).savefig(tmp_path / "figure.svg")


def test_groups_without_value_or_verdict_and_everybody_without_value():
    frame = values("Errors", {"old": 0.5, "young": np.nan}, everybody=np.nan)
    frame = with_verdicts(frame, verdicts("Errors", {"else": (0.1, True, "open")}))
    figure = served_groups(frame, SHOWN)
    figure.savefig("/dev/null", format="svg")
    assert "everybody" not in texts(figure) and "not judged" in texts(figure)
    assert served_groups(frame.head(0), SHOWN).axes


def test_a_figure_of_the_worst_groups_says_of_how_many():
    many = {f"group {n}": n / 300 for n in range(300)}
    frame = values("Agreement", many).assign(gap=np.nan, passed=None, evidence="")
    assert f"the worst {MOST_GROUPS} of 300 groups" in served_groups(frame, SHOWN).axes[0].get_xlabel()
    few = frame.head(3)
    assert "worst" not in served_groups(few, SHOWN).axes[0].get_xlabel()


def test_the_finding_names_only_groups_that_clearly_differ():
    frame = with_verdicts(
        values("Errors", {"old": 0.7, "young": 0.4}),
        verdicts("Errors", {"old": (0.3, False, "clear fail"), "young": (-0.3, False, "open")}),
    )
    assert clear_groups(frame, SHOWN) == "Clearly different from the others: errors: old 0.700 (worse)"
    frame = frame.assign(evidence="open")
    assert clear_groups(frame, SHOWN) == "No group can be told to differ from the others by what matters"
    assert clear_groups(frame.head(0), SHOWN) == ""
