"""The last lines of a run: of each model how good it is, what holds, and what is open."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report.key_figures import sentence, standing_notes
from soundcheck.results import scores, tally
from soundcheck.results.record import ModelRecord, RunRecord
from soundcheck.results.standing import HOLLOW, PROVEN, UNPROVEN


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
    kept = rows if random else rows[own.eq(PROVEN)]
    total = tally(rows if random else rows[own.ne(HOLLOW)])
    shares = [
        f"{aspect} {100 * found.share:.0f} % of {found.clear} clear"
        for aspect, found in scores(kept).items()
        if found.share is not None
    ]
    held = f"{total.holds} {'failure holds' if total.holds == 1 else 'failures hold'}"
    name = f"{model.name} (random reference)" if random else model.name
    passes = "pass" if total.clear_pass == 1 else "passes"
    counts = f"{held}, {total.clear_pass} clear {passes}, {total.open} open"
    whole = tally(rows)
    counts += f", {whole.shown} shown without verdict" if whole.shown else ""
    yield f"{name}: {counts}, {whole.skipped} skipped" + (f"; {', '.join(shares)}" if shares else "")
    figures = [figure for figure in record.figures or () if figure.model == model.name]
    several = len({figure.corpus for figure in figures}) > 1
    for figure in figures:
        yield f"  {sentence(figure, corpus=several)}"
    if not random:
        for note in standing_notes(record.figures, model.name, model.tasks):
            what, task = note.partition(":")[0].split(" at ", 1)
            known = what == UNPROVEN
            judged = tally(rows[own.eq(what if known else HOLLOW) & rows["task"].eq(task)]).judged
            where = "in shares" if known else "anywhere"
            left = f": {counted(judged, 'test')} of fairness and robustness do not count {where}"
            yield f"  {what} at {task}" + (left if judged else "")
