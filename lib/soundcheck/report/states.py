"""How the states of a row look: one sign and colour each, on pages, in figures and in the style sheet.

Signs and words carry the meaning, colours only support it; they are of the palette of Okabe and Ito, which
colour-blind readers can distinguish.
"""

import csv
import dataclasses
from collections.abc import Mapping
from pathlib import Path

from soundcheck.common import templates
from soundcheck.report.html import Html, element
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED
from soundcheck.results.verdict import SHOWN
from soundcheck.statistics.evidence import CLEAR_FAIL, CLEAR_PASS


@dataclasses.dataclass(frozen=True)
class State:
    """The look of a state in figures; that on pages is in ``verdicts.css``."""

    name: str
    sign: str
    css: str
    colour: str
    marker: str
    filled: bool
    explained: str


with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
    _ROWS = [State(**row | {"filled": row["filled"] == "yes"}) for row in csv.DictReader(file)]
STATE = {state.name: state for state in _ROWS}
JUDGED = (PASS, INCONCLUSIVE, FAIL)  # from the best to the worst, the order of a bar's parts


def mark(name: str) -> Html:
    """Show a state as a badge: its sign and its name."""
    state = STATE[name]
    return element("span", f"{state.sign} {name}", class_=f"sc-badge {state.css}", title=state.explained)


def bar(counts: Mapping[str, int]) -> Html:
    """Show how many tests are in which state: one bar, failures first, and the counts below it."""
    judged = [(STATE[name], counts[name]) for name in reversed(JUDGED)]
    some = any(number for _, number in judged)
    reported = [(STATE[REPORTED], counts[REPORTED])] * bool(counts[REPORTED])
    said = ", ".join(f"{number} {state.name}" for state, number in judged) if some else ""
    return templates.html("bar", parts=judged, counts=judged * some + reported, said=said)


def of_evidence(evidence: str) -> State:
    """Give the look of an interval: on the passing side, on the failing side, or on both."""
    known = {CLEAR_PASS: PASS, CLEAR_FAIL: FAIL, SHOWN: REPORTED, "": NOT_EVALUATED}
    return STATE[known.get(evidence, INCONCLUSIVE)]
