"""The last lines of a run: of each model how many tests are in which state, and how good it is."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report.failures import blocks_of, sentence
from soundcheck.report.key_figures import sentence as figure_in_words
from soundcheck.report.key_figures import standing_notes
from soundcheck.results.record import ModelRecord, RunRecord
from soundcheck.results.standing import HOLLOW
from soundcheck.results.states import FAIL, PASS
from soundcheck.results.summary import few_speakers, headline, tally

MOST_FEW = 3  # differences with too few speakers that are named


def summary_lines(
    model: ModelRecord, record: RunRecord, rows: pd.DataFrame, standing: pd.Series
) -> Iterator[str]:
    """Sum up the results of a model.

    Parameters
    ----------
    model, record
        The model and the run.
    rows
        Its rows of the results table.
    standing
        How models stand at the tasks of their rows, see :func:`soundcheck.results.standing.standings`.
    """
    random = model.kind == "random"
    own = standing[rows.index]
    kept = rows if random else rows[own.ne(HOLLOW)]
    found = tally(kept)
    name = f"{model.name} (random reference)" if random else model.name
    yield f"{name}: {found}"
    figures = [figure for figure in record.figures or () if figure.model == model.name]
    several = len({figure.corpus for figure in figures}) > 1
    for figure in figures:
        yield f"  {figure_in_words(figure, corpus=several)}"
    if random:
        return
    for note in standing_notes(record.figures, model.name, model.tasks):
        what = note.partition(":")[0]
        task = what.partition(" at ")[2]
        left = rows[own.eq(HOLLOW) & rows["task"].eq(task)]
        uncounted = f": its tests of fairness and robustness are not counted ({tally(left)})"
        yield f"  {what}" + (uncounted if len(left) else "")
    if not found[PASS] + found[FAIL]:
        yield f"  {headline(kept)}"
    shown = few_speakers(kept)
    if len(shown):
        yield "  Too few speakers to generalise; what these speakers show:"
    for row in shown.head(MOST_FEW).itertuples():
        where = f"{row.corpus}: " if several else ""
        yield f"    {where}{sentence(row, blocks_of(record, row.corpus))}"
    if len(shown) > MOST_FEW:
        yield f"    and {counted(len(shown) - MOST_FEW, 'more difference')}"
