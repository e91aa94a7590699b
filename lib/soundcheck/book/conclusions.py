"""The top of the first page, to be read in ten seconds: what fails, and how much was concluded."""

from __future__ import annotations

import pandas as pd

from soundcheck.common.wording import some
from soundcheck.report import key_figures
from soundcheck.report.html import Html, element, join
from soundcheck.results.accepted import accepted_reasons
from soundcheck.results.record import RunRecord
from soundcheck.results.states import FAIL
from soundcheck.results.summary import headline, tally

MOST_NOTES = 20  # tasks at which models are not better than chance
MOST_SHORT = 6  # that are named at once
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
    notes = [
        f"{model.name} is {note}"
        for model in record.models
        for note in key_figures.standing_notes(record.figures, model.name, model.tasks)
        if model.kind != "random"
    ]
    if notes:
        listed = element("ul", *(element("li", note, limit=None) for note in notes[:MOST_NOTES]))
        more = element("p", f"… and {len(notes) - MOST_NOTES} more.") if len(notes) > MOST_NOTES else Html()
        short = some([note.partition(":")[0] for note in notes], MOST_SHORT)
        lines.append(element("details", element("summary", f"{NO_MERIT}{short}", limit=None), listed, more))
    way = element("a", "Find your way", href="find_your_way.html")
    lines.append(element("p", way, " to what you want to know."))
    return element("div", join(lines), class_="sc-conclusions")
