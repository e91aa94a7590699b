"""One bar of three parts: how many tests pass, are inconclusive and fail."""

from __future__ import annotations

from soundcheck.report.html import Html, element, join
from soundcheck.report.states import JUDGED, STATE
from soundcheck.results.facts import Counts
from soundcheck.results.states import REPORTED


def state_bar(tally: Counts) -> Html:
    """Show how many tests are in which state: the bar, and the counts below it."""
    reported = f"{STATE[REPORTED].sign} {tally[REPORTED]} {REPORTED}" if tally[REPORTED] else ""
    if not tally.judged:
        return element("span", reported or "none evaluated", class_="sc-states sc-none")
    parts = [
        element("span", class_=f"sc-part {STATE[name].css}", style=f"flex-grow: {tally[name]}")
        for name in JUDGED
        if tally[name]
    ]
    said = ", ".join(f"{tally[name]} {name}" for name in JUDGED)
    bar = element("span", *parts, class_="sc-states-bar", role="img", aria_label=said, title=said)
    words = [
        element("span", f"{STATE[name].sign} {tally[name]} {name}", class_="sc-count") for name in JUDGED
    ]
    if reported:
        words.append(element("span", reported, class_="sc-count", title=STATE[REPORTED].explained))
    return element("span", bar, element("small", *words), class_="sc-states")


def legend() -> Html:
    """Say what the parts of a bar are, in their order."""
    entries = [
        element(
            "span",
            element("span", class_=f"sc-part {STATE[name].css}"),
            f" {STATE[name].sign} {name}: {STATE[name].explained}",
            class_="sc-legend-entry",
        )
        for name in JUDGED
    ]
    return element("p", join(entries), class_="sc-note sc-legend", limit=None)
