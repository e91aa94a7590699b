"""What ``soundcheck history`` does: reads runs, writes the page and the table of all points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problem, input_error
from soundcheck.common.media import EmbeddedMedia
from soundcheck.history.page import conclusion, history_of, sections
from soundcheck.history.past_runs import read_runs
from soundcheck.history.points import TYPES, marked
from soundcheck.report import tables
from soundcheck.report.html import element, join
from soundcheck.report.standalone import standalone
from soundcheck.results.schema import frame_csv

TABLE = "history.csv"
_PAGE = "history.html"
_PAGES = (".html", ".htm")
_MOST_NAMED = 20


def write_history(paths: Sequence[Path], out: Path, models: Sequence[str] = ()) -> str:
    """Write the history of runs.

    Parameters
    ----------
    paths
        Output folders, results tables, or folders of kept runs, in their order.
    out
        A folder for ``history.html`` and ``history.csv``, or the page, with the table beside it.
    models
        Only these models; default all but random references.

    Returns
    -------
    str
        What came out, for the terminal.

    Raises
    ------
    InputError
        If a run cannot be read, was edited or shares no test with the others, if there are fewer than two, or
        if no run has a model that is asked for.
    """
    page = out if out.suffix.lower() in _PAGES else out / _PAGE
    table = page.with_name(TABLE)
    for path, folder in ((page.parent, True), (page, False), (table, False)):
        if path.exists() and path.is_dir() is not folder:
            what = "this is a file, not a folder" if folder else f"{path.name} is a folder there"
            raise input_error(f"--out {out}", what, "Name a folder, or a file that ends in .html")
    past = read_runs(paths)
    if len(past.runs) < 2:
        what = "all runs have the same results" if past.doubled else "this is a single run"
        raise input_error(" ".join(f"RUN {path}" for path in paths), what, "Name at least two that differ")
    history = history_of(past, models)
    if history.apart:
        what = "it has no test in common with the other runs"
        remedy = "Leave it out; name runs of one suite"
        raise InputError([Problem(f"RUN {run.name}", what, remedy) for run in history.apart])
    frame = history.points
    if frame["value"].isna().all():
        raise input_error(
            " ".join(f"RUN {path}" for path in paths), "no run holds a value", "Name other runs"
        )
    made = sections(history, EmbeddedMedia(), TABLE)
    parts = [element("h1", "History")]
    for section in made:
        parts += [element("h2", section.title)] if section.title else []
        parts.append(section.content)
    files.write_all({table: frame_csv(frame, TYPES), page: standalone("History", join(parts))})
    doubled = [f"{name} has the same results as {first} and counts once." for name, first in past.doubled]
    return "\n".join([conclusion(frame), *_told(frame), *doubled, f"Page: {page}", f"Table: {table}"])


def _told(frame: pd.DataFrame) -> list[str]:
    own = marked(frame)
    lines = [
        f"{row.mark} in run {row.position}: {row.model} / {row.corpus} / {row.family}: "
        f"{tables.row_name(row, row.task)}: by {abs(row.difference):.3g} ({row.pairing}; "
        f"new: {row.changed or 'nothing that is recorded'})"
        for row in own.head(_MOST_NAMED).itertuples()
    ]
    return lines + ([f"... and {len(own) - _MOST_NAMED} more."] if len(own) > _MOST_NAMED else [])
