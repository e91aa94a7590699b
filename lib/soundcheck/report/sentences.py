"""Sentences above figures, made from rows of results and estimates; none infers anything itself.

A value is named with its interval. What is significant among all tests is not known when figures are drawn,
so nothing here claims it. Sentences have no full stop: they are headings.
"""

import pandas as pd

from soundcheck.evaluation.subset import Subset
from soundcheck.report.formats import estimate, significant
from soundcheck.report.names import in_words, label, sentence
from soundcheck.report.style import label as shortened

_ENDS = ["value", "low", "high"]


def value(frame: pd.DataFrame, test: str, corpus: str, task: str, named: str | None = "") -> str:
    """Say the value of one row, that of a class if one is named; None names the class farthest from 0."""
    rows = _rows_of(frame, corpus, task)
    rows = rows[rows["test"].eq(test)].sort_values("value", key=abs, ascending=False, kind="stable")
    row = next((row for row in rows.itertuples() if named in (None, row.label)), None)
    if row is None:
        return ""
    of = f" of {shortened(label(row.label), 40)}" if row.label else ""
    farthest = f", farthest from 0 of {len(rows)}" if named is None and len(rows) > 1 else ""
    return f"{sentence(in_words(test))}{of} {estimate(row.value, row.low, row.high)}{farthest}"


def classes(frame: pd.DataFrame, subset: Subset) -> str:
    """Name the class with the lowest recall, with the share of predictions that name it."""
    rows = _rows_of(frame, subset.corpus, subset.task.name)
    rows = rows[rows["test"].eq("Recall Per Class")]
    if rows.empty:
        return ""
    worst = rows.loc[rows["value"].astype(float).idxmin()]
    predicted = pd.Series(subset.predictions.clean, dtype=object).dropna()
    share = significant(100 * predicted.eq(worst["label"]).mean())
    recall = estimate(*worst[_ENDS])
    return f"Lowest recall: {shortened(worst['label'], 40)}, {recall}; {share} % of all predictions"


def _rows_of(frame: pd.DataFrame, corpus: str, task: str) -> pd.DataFrame:
    """Keep the rows of a corpus and task that have a value, of no group."""
    here = frame["corpus"].eq(corpus) & frame["task"].eq(task)
    return frame[here & frame["group"].eq("") & frame["value"].notna()]
