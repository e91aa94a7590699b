"""The top of the first page, to be read in ten seconds: what fails, and how much was concluded."""

from __future__ import annotations

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report import key_figures
from soundcheck.report.html import Html, element, join
from soundcheck.results.accepted import accepted_reasons
from soundcheck.results.record import RunRecord
from soundcheck.results.states import FAIL
from soundcheck.results.summary import headline, tally

MOST_NOTES = 20  # tasks at which models are not better than chance
MOST_MODELS = 6  # that are named at once
NO_MERIT = "That a model is robust and fair means little where it is not better than chance: "


def conclusions(record: RunRecord, rows: pd.DataFrame) -> Html:
    """Say what fails, the number of tests by state, and which models are not better than chance.

    Parameters
    ----------
    record
        The run's record.
    rows
        Rows that count, see :mod:`soundcheck.results.standing`.
    """
    then = f" {tally(rows)}."
    excused = int(accepted_reasons(rows[rows["state"].eq(FAIL)], record.accepted).ne("").sum())
    if excused:
        then += f" {excused:,} of the failures {'is' if excused == 1 else 'are'} accepted."
    told = element("strong", f"{headline(rows)}.", limit=None)
    lines = [element("p", told, element("span", then), limit=None)]
    notes, short = _without_merit(record)
    if notes:
        listed = element("ul", *(element("li", note, limit=None) for note in notes[:MOST_NOTES]))
        more = element("p", f"… and {len(notes) - MOST_NOTES} more.") if len(notes) > MOST_NOTES else Html()
        if left := len(short[MOST_MODELS:]):
            short[MOST_MODELS:] = [counted(left, "more model")]
        head = element("summary", f"{NO_MERIT}{'; '.join(short)}", limit=None)
        lines.append(element("details", head, listed, more))
    way = element("a", "Find your way", href="find_your_way.html")
    lines.append(element("p", way, " to what you want to know."))
    return element("div", join(lines), class_="sc-conclusions")


def _without_merit(record: RunRecord) -> tuple[list[str], list[str]]:
    """Say which models are not better than chance at which tasks: in full, and in short."""
    notes, short = [], []
    for model in record.models:
        own = key_figures.standing_notes(record.figures, model.name, model.tasks)
        if own and model.kind != "random":
            notes += [f"{model.name} is {note}" for note in own]
            tasks = ", ".join(note.partition(":")[0].partition(" at ")[2] for note in own)
            short.append(f"{model.name} at {tasks}")
    return notes, short
