"""Tables about speaker verification: trials, error rates with what they rest on, scores to take along."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import quoted
from soundcheck.corpora.trials.trial_files import score_text
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.verification import KINDS, threshold_in_use
from soundcheck.report.html import Html, element
from soundcheck.report.recognition_tables import percent_cell
from soundcheck.report.tables import Cell, number, table, two_lines
from soundcheck.statistics.bootstrap import Resampled

MOST_LINKED = 100_000  # trials whose scores a book takes along


def trial_table(evaluation: Evaluation, subsets: Iterable[Subset]) -> Html:
    """Say what is compared: how many trials of each kind, of how many speakers and recordings."""
    rows = []
    for subset in subsets:
        origin = evaluation.trial_table(subset).origin
        for kind in KINDS:
            own = subset.segments[subset.segments["kind"].eq(kind)]
            if len(own):
                speakers = pd.concat([own["enrol_speaker"], own["test_speaker"]]).nunique()
                scored = int(np.isfinite(subset.predictions.clean[own.index]).sum())
                sides = [own[side].nunique() for side in ("enrolment", "segment")]
                rows.append([subset.corpus, origin, kind, len(own), scored, speakers, *sides])
    columns = ["corpus", "trials from", "of", "trials", "with a score", "speakers", "enrolled", "tested"]
    return table(rows, columns, sortable=False)


def overview_table(rows: Sequence[tuple[str, str, Resampled]], interval: str, caption: str = "") -> Html:
    """Show values with the trials and speakers that they rest on.

    Parameters
    ----------
    rows
        From :func:`soundcheck.evaluation.trials.overview`.
    interval
        Kind of interval.
    caption
        What the table shows.
    """
    shown = []
    for name, unit, found in rows:
        counts = int(found.segments[0]), int(found.blocks[0])
        shown.append([name, _value_cell(found, unit, interval), *counts])
    columns = ["", "value, 95 % interval", "trials", "speakers"]
    return table(shown, columns, caption=caption, sortable=False)


def _value_cell(found: Resampled, unit: str, interval: str) -> Cell | str:
    """Show a value with its interval below it, or why there is none."""
    low, high = found.interval(interval)
    if found.reasons[0]:
        return found.reasons[0]
    if unit == "%":
        return percent_cell(found.value[0], low[0], high[0])
    span = "" if np.isnan(low[0]) else f"{number(low[0], 4)} to {number(high[0], 4)}".replace(" ", "\xa0")
    return Cell(two_lines(number(found.value[0], 4), span), float(found.value[0]), "sc-number")


def errors_table(
    rows: Mapping[str, Sequence[Resampled]], columns: Mapping[str, str], interval: str, caption: str = ""
) -> Html:
    """Show several errors of each way to decide or to score, with their intervals.

    Parameters
    ----------
    rows
        What was done -> one value a column.
    columns
        Head of the first column, with any unit, then of each value with its unit, ``"%"`` or empty.
    interval
        Kind of interval.
    caption
        What the table shows.
    """
    units = list(columns.values())[1:]
    shown = [
        [name, *(_value_cell(found, unit, interval) for found, unit in zip(values, units, strict=True))]
        for name, values in rows.items()
    ]
    return table(shown, list(columns), caption=caption, sortable=False)


def threshold_line(evaluation: Evaluation, corpus: str, marks: Mapping[str, float]) -> Html:
    """Say where the thresholds lie, and which one is in use."""
    told = ", ".join(f"{name} {number(value, 4)}" for name, value in marks.items())
    wanted = evaluation.option("threshold")
    used = f"the number {wanted:g}" if isinstance(wanted, int | float) else f"that of the {wanted}"
    text = f"{corpus}: thresholds of the {told}. In use is {used}; scores above it are accepted."
    if not isinstance(wanted, int | float):
        text += " It was chosen on these very trials, so it is better than one that is fixed before."
    return element("p", text, class_="sc-note", limit=None)


def score_file(evaluation: Evaluation, subset: Subset) -> Html:
    """Offer scores and decisions of all trials, one a line in the order of the list, as packed text."""
    scores = subset.predictions.clean
    there = np.isfinite(scores)
    where = f"{subset.corpus}: {int(there.sum()):,} scores"
    if there.sum() > MOST_LINKED:
        return element("p", f"{where}; the folder scores of the output has them.")
    names = (subset.segments.loc[there, side].tolist() for side in ("enrol", "test"))
    threshold = threshold_in_use(evaluation.family, evaluation.model, scores, subset.truth)
    text, suffix = score_text(*names, scores[there], threshold)
    address = evaluation.media.add(gzip.compress(text, mtime=0), ".gz")  # a third of the size
    link = element("a", f"scores of {quoted(subset.corpus)}", href=address, download=f"scores{suffix}.gz")
    return element("p", f"{where}: ", link, ", packed with gzip")
