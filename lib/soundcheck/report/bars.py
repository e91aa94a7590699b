"""One bar of three parts: how many tests pass, are inconclusive, and fail."""

from __future__ import annotations

from collections.abc import Mapping

from soundcheck.report.html import Html, element, join
from soundcheck.report.states import JUDGED, STATE
from soundcheck.results.states import FAIL, PASS, REPORTED


def state_bar(counts: Mapping[str, int]) -> Html:
    """Show how many tests are in which state: the bar, and the passes and failures in words below it.

    Parameters
    ----------
    counts
        From :func:`soundcheck.results.counts.counts`.
    """
    evaluated = sum(counts[name] for name in JUDGED)
    reported = f"{STATE[REPORTED].sign} {counts[REPORTED]} reported" if counts[REPORTED] else ""
    if not evaluated:
        return element("span", reported or "none evaluated", class_="sc-states sc-none")
    parts = [
        element("span", class_=f"sc-part {STATE[name].css}", style=f"flex-grow: {counts[name]}")
        for name in JUDGED
        if counts[name]
    ]
    said = ", ".join(f"{counts[name]} {name}" for name in JUDGED)
    bar = element("span", *parts, class_="sc-states-bar", role="img", aria_label=said, title=said)
    words = [element("span", f"{STATE[n].sign} {counts[n]} {n}", class_="sc-count") for n in (PASS, FAIL)]
    words.append(element("span", f"of {evaluated}", class_="sc-count"))
    title = STATE[REPORTED].explained
    words += [element("span", reported, class_="sc-count", title=title)] if reported else []
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
