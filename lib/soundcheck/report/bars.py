"""One bar of four parts: how many tests are clear passes, open passes, open fails, and fails that hold."""

from __future__ import annotations

from soundcheck.report.html import Html, element, join
from soundcheck.report.states import JUDGED, STATE
from soundcheck.results import Score, Tally
from soundcheck.results.verdict import CLEAR_PASS, HOLDS, SHOWN


def state_bar(tally: Tally) -> Html:
    """Show how many tests are in which state: the bar, and both clear counts in words below it."""
    counts = {name: tally.counts[name] for name in JUDGED}
    shown = f"{STATE[SHOWN].sign} {tally.shown} shown" if tally.shown else ""
    if not tally.judged:
        return element("span", shown or "none judged", class_="sc-states sc-none")
    parts = [
        element("span", class_=f"sc-part {STATE[name].css}", style=f"flex-grow: {count}")
        for name, count in counts.items()
        if count
    ]
    said = ", ".join(f"{count} {STATE[name].label}" for name, count in counts.items())
    bar = element("span", *parts, class_="sc-states-bar", role="img", aria_label=said, title=said)
    words = [
        element("span", f"{STATE[name].sign} {counts[name]} {word}", class_="sc-count")
        for name, word in ((CLEAR_PASS, "clear"), (HOLDS, "hold" if counts[HOLDS] != 1 else "holds"))
    ]
    words.append(element("span", f"of {tally.judged}", class_="sc-count"))
    words += [element("span", shown, class_="sc-count", title=STATE[SHOWN].explained)] if shown else []
    return element("span", bar, element("small", *words), class_="sc-states")


def score_cell(score: Score, tally: Tally) -> Html:
    """Show the share of clear passes among clear tests, and the bar of all tests."""
    if score.share is None:
        shown = element("strong", "–")
        told = "no clear test that tells something" if tally.judged else "not tested"
    else:
        shown = element("strong", f"{100 * score.share:.0f} %")
        told = f"of the clear: {score.clear_pass} of {score.clear}"
        told += f"; {tally.open} open" if tally.open else ""
    first = element("span", shown, " ", element("small", told), class_="sc-line")
    return first + state_bar(tally) if tally.judged else first


def legend() -> Html:
    """Say what the parts of a bar are, in their order."""
    entries = [
        element(
            "span",
            element("span", class_=f"sc-part {STATE[name].css}"),
            f" {STATE[name].sign} {STATE[name].label}: {STATE[name].explained}",
            class_="sc-legend-entry",
        )
        for name in JUDGED
    ]
    return element("p", join(entries), class_="sc-note sc-legend", limit=None)
