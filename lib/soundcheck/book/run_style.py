"""The style sheet that says of which run a book is: below each page, and on each sheet of paper.

The title of the suite, the day of the run and the digest of its results stand in this one file of a site, so
that a page that says the same after the next run stays as it is, byte for byte.
"""

from __future__ import annotations

import datetime

from soundcheck.common.escaping import css_string
from soundcheck.results.record import RunRecord

_PRINTED = 70  # characters of a title that fit into the margin of a sheet


def run_style(record: RunRecord, day: datetime.date) -> str:
    """Write the style sheet; ``day`` is when the run ended, in UTC."""
    about = f"run of {day.isoformat()}, results {record.run}"
    shown = css_string(f", {record.title}, {about}", 300)
    left = css_string(record.title, _PRINTED)
    right = css_string(f"{about}, Soundcheck {record.version}, page ")
    font = "font: 7pt sans-serif; color: #555;"
    return (
        f".sc-footer::after {{ content: {shown}; }}\n"
        "@page {\n"
        f"  @bottom-left {{ content: {left}; {font} }}\n"
        f'  @bottom-right {{ content: {right} counter(page) " / " counter(pages); {font} }}\n'
        "}\n"
    )
