"""What figures of rows of the results table show, in a sentence each.

Conventions
-----------
- *Clear* is what a row's own interval settles; what holds among all tests is not known when figures are
  drawn.
- A sentence names the row that is farthest on the wrong side, and how many others there are; it never says
  why. Sentences have no full stop: they are headings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report import failures
from soundcheck.report.key_figures import significant
from soundcheck.report.names import in_words, label, sentence
from soundcheck.results import BETTER, WORSE
from soundcheck.results.verdict import SHOWN
from soundcheck.statistics.evidence import CLEAR_FAIL, CLEAR_PASS, OPEN


def tests(frame: pd.DataFrame, blocks: Mapping[str, str] = MappingProxyType({})) -> str:
    """Say how many values clearly miss their thresholds, and which one by most.

    Parameters
    ----------
    frame
        Rows of the results table, as :func:`soundcheck.report.figures.intervals` draws them.
    blocks
        Corpus -> what was resampled, in the singular, such as ``"file"``; of others it is ``"speaker"``.
    """
    rows = _judged(frame)
    if rows.empty:
        return ""
    clear, left = rows[rows["evidence"].eq(CLEAR_FAIL)], rows["evidence"].eq(OPEN).sum()
    if clear.empty:
        return f"None of {counted(len(rows), 'value')} clearly fails; {_open(left)}"
    worst = _worst(clear)
    of = f"{len(clear)} of {counted(len(rows), 'value')} clearly fail" + ("s" if len(clear) == 1 else "")
    return f"{of}, by most: {failures.sentence(worst, blocks.get(worst.corpus, 'speaker'))}"


def gaps(frame: pd.DataFrame, blocks: Mapping[str, str] = MappingProxyType({})) -> str:
    """Say which group differs most from the others, if the interval shows that it matters.

    Parameters
    ----------
    frame
        Rows of the results table, as :func:`soundcheck.report.figures.group_difference` draws them.
    blocks
        See :func:`tests`.
    """
    rows = _judged(frame)
    rows = rows[rows["group"].ne("")]
    if rows.empty:
        return ""
    clear, left = rows[rows["evidence"].eq(CLEAR_FAIL)], int(rows["evidence"].eq(OPEN).sum())
    if clear.empty:
        passes = int(rows["evidence"].eq(CLEAR_PASS).sum())
        none = f"No group can be told to differ by what matters: of {counted(len(rows), 'difference')}"
        return f"{none} {passes} clearly do not, {_open(left)}"
    worst = _worst(clear)
    worst = failures.finding(worst, blocks.get(worst.corpus, "speaker"))._replace(more="")
    return f"{sentence(str(worst))}; {len(clear)} of {len(rows)} differences are that clear"


def unchanged(frame: pd.DataFrame, blocks: Mapping[str, str] = MappingProxyType({})) -> str:
    """Say under which change clearly too few predictions stay.

    Parameters
    ----------
    frame
        Rows of the results table, as :func:`soundcheck.report.figures.unchanged_overview` draws them.
    blocks
        See :func:`tests`.
    """
    return tests(frame[frame["test"].str.startswith("Percentage Unchanged Predictions ")], blocks)


def one(frame: pd.DataFrame, test: str, corpus: str, task: str, named: str = "") -> str:
    """Say the value of one row with its interval, such as the rank correlation beside the figure of ranks.

    Parameters
    ----------
    frame
        Rows of the results table.
    test, corpus, task, named
        Which row: its test, corpus, task and label.
    """
    places = {"test": test, "corpus": corpus, "task": task, "label": named}
    found = frame[frame["value"].notna()]
    for column, value in places.items():
        found = found[found[column].eq(value)]
    if "group" in found:
        found = found[found["group"].eq("")]
    if found.empty:
        return ""
    row = next(found.itertuples())
    span = "no interval" if pd.isna(row.low) else f"95 % {significant(row.low)} to {significant(row.high)}"
    of = f" of {label(named)}" if named else ""
    return f"{sentence(in_words(test))}{of} {significant(row.value)} ({span})"


def improvements(frame: pd.DataFrame) -> str:
    """Say on how many tests a candidate is better or worse.

    Parameters
    ----------
    frame
        Contrasts of two models, as :func:`soundcheck.report.comparison_figures.improvements` draws them.
    """
    rows = frame[frame["difference"].notna()]
    if rows.empty:
        return ""
    better, worse = (int(rows["outcome"].eq(name).sum()) for name in (BETTER, WORSE))
    if not better + worse:
        return f"The models cannot be told apart on any of {counted(len(rows), 'test')}"
    left = len(rows) - better - worse
    told = f"the candidate is better on {better} and worse on {worse}; {left} show no evidence"
    return f"Of {counted(len(rows), 'test')} {told}"


def _open(count: int) -> str:
    return f"{count or 'none'} {'are' if count > 1 else 'is'} open"


def _judged(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep rows with a value that something judges."""
    return frame[frame["value"].notna() & frame["evidence"].ne(SHOWN) & frame["evidence"].ne("")]


def _worst(rows: pd.DataFrame) -> object:
    return next(failures.by_excess(rows).head(1).itertuples())
