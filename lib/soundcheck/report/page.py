"""What the notebooks of several families show: verdicts, figures, intervals, speakers.

Every function displays at once what it makes, so that a notebook needs one line for it.
"""

from collections.abc import Sequence

import pandas as pd
from IPython.display import display
from matplotlib.figure import Figure

from soundcheck.evaluation.evaluation import Comparison, Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.speakers import SpeakerValues
from soundcheck.report import style, views
from soundcheck.report.formats import estimate, in_words, label, measure, remark, sentence, significant
from soundcheck.report.html import notes, synthetic_notice
from soundcheck.report.verdict_tables import verdict_table


def opening(evaluation: Evaluation | Comparison) -> None:
    """Say if the data are synthetic and how scales are shown; the first thing on a page."""
    display(synthetic_notice(evaluation.synthetic))
    if evaluation.scales:
        display(notes(evaluation.scales))


def verdicts(evaluation: Evaluation) -> None:
    """Show all verdicts so far, and what is to be known of the data they rest on."""
    display(verdict_table(evaluation.frame(), evaluation.block_names))
    display(notes([remark(note) for note in evaluation.notes]))


def show(evaluation: Evaluation | Comparison, figure: Figure, alt: str, finding: str = "") -> None:
    """Show a figure below its finding; ``alt`` says what it shows, for readers who do not see it."""
    display(style.show(evaluation.media, figure, alt, finding=finding))


def intervals(evaluation: Evaluation) -> None:
    """Draw all values with their intervals, a panel a measure."""
    frame = evaluation.frame()
    frame = frame[frame["value"].notna()].drop(columns="state")  # known when all families are
    several = [name for name in ("corpus", "task", "group", "label") if frame[name].nunique() > 1] or ["task"]
    frame["name"] = [", ".join(filter(None, row)) for row in frame[several].itertuples(index=False)]
    frame["measure"], frame["words"] = frame["test"].map(measure), frame["value"].map(significant)
    frame["reference"] = frame["threshold"]
    figure = views.forest(frame, panels="measure", unit="value with 95 % interval; grey mark: threshold")
    if len(frame):
        show(evaluation, figure, f"Values with 95 % intervals: {', '.join(frame['measure'].unique())}")


def speakers(subsets: Sequence[tuple[Subset, SpeakerValues]]) -> None:
    """Say how many speakers take part; from :func:`evaluation.correctness.subsets_with_speakers`."""
    rows = [
        (s.corpus, s.task.name, len(averages), s.segments["speaker"].nunique(), averages.counts.sum())
        for s, averages in subsets
    ]
    display(views.listed(rows, ["corpus", "task", "speakers that take part", "of", "segments"]))


def finding(evaluation: Evaluation, test: str, subset: Subset, named: str | None = "") -> str:
    """Say the value of a test, that of a class if one is named; None names the class farthest from 0.

    It is the heading of a figure. What is significant among all tests is not known when figures are drawn, so
    nothing here claims it.
    """
    rows = _rows_of(evaluation, test, subset).sort_values("value", key=abs, ascending=False, kind="stable")
    row = next((row for row in rows.itertuples() if named in (None, row.label)), None)
    if row is None:
        return ""
    of = f" of {style.label(label(row.label), 40)}" if row.label else ""
    farthest = f", farthest from 0 of {len(rows)}" if named is None and len(rows) > 1 else ""
    return f"{sentence(in_words(test))}{of} {estimate(row.value, row.low, row.high)}{farthest}"


def lowest_recall(evaluation: Evaluation, subset: Subset) -> str:
    """Name the class with the lowest recall, with the share of predictions that name it."""
    rows = _rows_of(evaluation, "Recall Per Class", subset)
    if rows.empty:
        return ""
    worst = rows.loc[rows["value"].astype(float).idxmin()]
    predicted = pd.Series(subset.predictions.clean, dtype=object).dropna()
    share = significant(100 * predicted.eq(worst["label"]).mean())
    recall = estimate(*worst[["value", "low", "high"]])
    return f"Lowest recall: {style.label(worst['label'], 40)}, {recall}; {share} % of all predictions"


def _rows_of(evaluation: Evaluation, test: str, subset: Subset) -> pd.DataFrame:
    """Keep the rows of a test of a corpus and task that have a value, of no group."""
    rows = evaluation.frame()
    here = rows["test"].eq(test) & rows["corpus"].eq(subset.corpus) & rows["task"].eq(subset.task.name)
    return rows[here & rows["group"].eq("") & rows["value"].notna()]
