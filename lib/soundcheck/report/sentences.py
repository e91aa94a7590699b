"""Sentences above figures, made from rows of the results and of the estimates; none infers anything itself.

- A value is named with its interval, a difference with both values and its margin.
- A direction is said only where the interval has one. What is significant among all tests is not known when
  figures are drawn, so nothing here claims it, but for :func:`both_rules`.
- Sentences have no full stop: they are headings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.evaluation.subset import Subset
from soundcheck.report import failures
from soundcheck.report.formats import significant
from soundcheck.report.names import in_words, label, sentence
from soundcheck.report.style import label as shortened
from soundcheck.report.tables import rule
from soundcheck.results.contrast import BETTER, WORSE
from soundcheck.results.states import FAIL, PASS, mirrors
from soundcheck.results.verdict import SHOWN
from soundcheck.statistics.evidence import CLEAR_FAIL, CLEAR_PASS
from soundcheck.statistics.rules import GAP_RULES
from soundcheck.suite.measures import LOWER, MeasureInfo

MOST_NAMED = 3
_SPEAKERS: Mapping[str, str] = MappingProxyType({})


def estimate(value: float, low: float, high: float, *, percent: bool = False) -> str:
    """Write a number with its interval.

    Examples
    --------
    >>> none = float("nan")
    >>> estimate(0.3, 0.25, 0.351), estimate(0.3, 0.25, 0.351, percent=True), estimate(0.3, none, none)
    ('0.30 (95 % 0.25 to 0.35)', '30 % (95 % 25 to 35)', '0.30 (no interval)')
    """
    scale = 100 if percent else 1
    span = "no interval"
    if not pd.isna(low):
        span = f"95 % {significant(scale * low)} to {significant(scale * high)}"
    return f"{significant(scale * value)}{' %' if percent else ''} ({span})"


def is_rate(info: MeasureInfo) -> bool:
    """Say whether values of a measure are written in per cent: rates of errors."""
    return info.error and info.better == LOWER


def both_rules(row: object) -> str:
    """Say how the rule of the threshold and the state of a row go together, where they differ; else ``""``.

    Examples
    --------
    ``passes the published rule (|value| < 0.075); recall of female speakers differs from that of the others
    by 0.32, more than the margin of 0.175``
    """
    if not row.group or pd.isna(row.passed) or pd.isna(row.matters) or pd.isna(row.gap):
        return ""
    if (bool(row.passed), row.state) not in ((True, FAIL), (False, PASS)):
        return ""
    kind = "the rule" if row.rule in GAP_RULES else "the published rule"
    against = "the others" if row.against in ("", "others") else label(row.against)
    size = f"{significant(abs(row.gap))}, {'more than' if row.state == FAIL else 'within'} the margin of"
    differs = f"{failures.subject(row)} differs from that of {against} by {size} {significant(row.matters)}"
    return f"{'passes' if row.passed else 'fails'} {kind} ({rule(row)}); {differs}"


def values(frame: pd.DataFrame, blocks: Mapping[str, str] = _SPEAKERS) -> str:
    """Say how many values fail with their whole interval, and which one by most.

    Parameters
    ----------
    frame
        Rows of the results table.
    blocks
        Corpus -> what was resampled, in the singular, such as ``"file"``; of others it is ``"speaker"``.
    """
    rows = _judged(frame)
    if rows.empty:
        return ""
    surely = rows[rows["evidence"].eq(CLEAR_FAIL)]
    if surely.empty:
        passes = f"{rows['evidence'].eq(CLEAR_PASS).sum()} of {counted(len(rows), 'value')}"
        return f"{passes} pass with the whole interval, 0 fail"
    count = f"{len(surely)} of {counted(len(rows), 'value')} fail{'s' if len(surely) == 1 else ''}"
    return f"{count} with the whole interval, by most: {_worst(surely, blocks)}"


def differences(frame: pd.DataFrame, blocks: Mapping[str, str] = _SPEAKERS) -> str:
    """Name the difference between groups that is largest, measured by its margin.

    Parameters
    ----------
    frame
        Rows of the results table.
    blocks
        See :func:`values`.
    """
    rows = _judged(frame[mirrors(frame).eq("")])
    rows = rows[rows["group"].ne("") & rows["gap"].notna() & rows["matters"].notna()]
    if rows.empty:
        return ""
    beyond = rows[rows["gap"].abs().gt(rows["matters"]) & (rows["gap_low"] * rows["gap_high"]).gt(0)]
    if beyond.empty:
        ratio = rows["gap"].abs() / rows["matters"].where(rows["matters"].gt(0))
        largest = rows.assign(ratio=ratio).sort_values("ratio", ascending=False, kind="stable")
        told = failures.sentence(next(largest.itertuples()), blocks.get(largest["corpus"].iloc[0], "speaker"))
        none = f"None of {counted(len(rows), 'difference')} is beyond its margin with an interval without 0"
        return f"{none}; largest: {told}"
    count = f"{len(beyond)} of {counted(len(rows), 'difference')}"
    return f"{sentence(_worst(beyond, blocks))}; beyond their margin with an interval without 0: {count}"


def value(frame: pd.DataFrame, test: str, corpus: str, task: str, named: str | None = "") -> str:
    """Say the value of one row, that of a class if one is named; None names the class farthest from 0."""
    rows = frame[frame["test"].eq(test) & frame["corpus"].eq(corpus) & frame["task"].eq(task)]
    rows = rows[rows["group"].eq("") & rows["value"].notna()]
    rows = rows.sort_values("value", key=abs, ascending=False, kind="stable")
    row = next((row for row in rows.itertuples() if named in (None, row.label)), None)
    if row is None:
        return ""
    of = f" of {shortened(label(row.label), 40)}" if row.label else ""
    farthest = f", farthest from 0 of {len(rows)}" if named is None and len(rows) > 1 else ""
    return f"{sentence(in_words(test))}{of} {estimate(row.value, row.low, row.high)}{farthest}"


def classes(frame: pd.DataFrame, subset: Subset) -> str:
    """Name the class with the lowest recall, with the share of answers that name it.

    Parameters
    ----------
    frame
        Rows of the results table, with ``Recall Per Class``.
    subset
        Its task is of classes.
    """
    rows = frame[frame["test"].eq("Recall Per Class") & frame["group"].eq("") & frame["value"].notna()]
    rows = rows[rows["corpus"].eq(subset.corpus) & rows["task"].eq(subset.task.name)]
    if rows.empty:
        return ""
    worst = rows.loc[rows["value"].astype(float).idxmin()]
    answers = pd.Series(subset.predictions.clean, dtype=object).dropna()
    named = significant(100 * answers.eq(worst["label"]).mean())
    recall = estimate(*worst[["value", "low", "high"]])
    return f"Lowest recall: {shortened(worst['label'], 40)}, {recall}; {named} % of all answers name it"


def unchanged(frame: pd.DataFrame, subset: Subset) -> str:
    """Say which share of predictions stays under the change of a subset."""
    tests = frame[frame["test"].str.startswith("Percentage Unchanged Predictions ")]
    here = [tests["test"].str.endswith(f" {subset.change}"), tests["label"].eq(subset.change)]
    found = tests[here[0] | here[1]]
    found = found[found["corpus"].eq(subset.corpus) & found["task"].eq(subset.task.name)]
    found = found[found["value"].notna()]
    if found.empty:
        return ""
    row = next(found.itertuples())
    share = estimate(row.value, row.low, row.high, percent=True)
    return f"{share} of the predictions of {shortened(subset.task.name, 40)} stay"


def levels(frame: pd.DataFrame, what: str, axis: str = "") -> str:
    """Say what a value is at the first and at the last step, of the line that changes most.

    Parameters
    ----------
    frame
        Rows as for :func:`soundcheck.report.sweep_figures.curves`, steps from mild to severe.
    what, axis
        What the value is, and what the steps are, such as ``SNR in dB``.
    """
    lines = []
    several = frame["corpus"].nunique() > 1
    for (corpus, task), line in frame[frame["value"].notna()].groupby(["corpus", "task"], sort=False):
        name = f"{shortened(task, 20)} ({shortened(corpus, 20)})" if several else shortened(task, 20)
        first, last = line.iloc[0], line.iloc[-1]
        ends = [one.fillna(one["value"]) for one in (first[_ENDS], last[_ENDS])]
        apart = ends[0]["low"] > ends[1]["high"] or ends[1]["low"] > ends[0]["high"]
        lines.append((abs(last["value"] - first["value"]), name, first, last, apart))
    if not lines:
        return ""
    _, name, first, last, _ = max(lines, key=lambda line: line[0])
    steps = [f"{estimate(*one[_ENDS])} at {_place(axis, str(one['step']))}" for one in (first, last)]
    apart = sum(line[-1] for line in lines)
    ends = f"; the intervals of both ends do not overlap for {apart} of {counted(len(lines), 'line')}"
    return f"{sentence(shortened(what, 60))}, {name}: {', '.join(steps)}{ends}"


def changes_of_error(frame: pd.DataFrame, corpus: str) -> str:
    """Say under which changes of the sound the equal error rate rises most."""
    known = frame[frame["test"].str.startswith("Change Eer ") & frame["corpus"].eq(corpus)]
    known = known[known["low"].notna()].sort_values("value", ascending=False, kind="stable")
    rises = known[known["low"].gt(0)]
    if known.empty:
        return ""
    names = [
        f"{label(in_words(row.test).removeprefix('change of EER under '))}, by "
        f"{estimate(100 * row.value, 100 * row.low, 100 * row.high)} points"
        for row in (rises if len(rises) else known).head(MOST_NAMED).itertuples()
    ]
    if rises.empty:
        count = counted(len(known), "change")
        return f"The rise of the EER has no interval above 0 under {count}; largest under {names[0]}"
    count = f"{len(rises)} of {counted(len(known), 'change')}"
    return f"The EER rises under {count}, with intervals above 0; most under {'; '.join(names)}"


def improvements(frame: pd.DataFrame) -> str:
    """Say on how many tests a candidate is better or worse."""
    rows = frame[frame["difference"].notna()]
    if rows.empty:
        return ""
    better, worse = (int(rows["outcome"].eq(name).sum()) for name in (BETTER, WORSE))
    left = len(rows) - better - worse
    told = f"the candidate is better on {better} and worse on {worse}; {left} show no evidence"
    return f"Of {counted(len(rows), 'test')} {told}"


_ENDS = ["value", "low", "high"]


def _judged(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep rows with a value that something judges."""
    return frame[frame["value"].notna() & frame["evidence"].ne(SHOWN) & frame["evidence"].ne("")]


def _worst(rows: pd.DataFrame, blocks: Mapping[str, str]) -> str:
    row = next(failures.by_excess(rows).head(1).itertuples())
    return failures.sentence(row, blocks.get(row.corpus, "speaker"))


def _place(axis: str, step: str) -> str:
    """Name a step with what it measures: 0 of ``SNR in dB`` is ``SNR 0 dB``."""
    if not step.lstrip("-−").replace(".", "").isdigit():
        return shortened(step)
    what, _, unit = shortened(axis, 60).rpartition(" in ")
    words = (what, shortened(step), unit) if what else (unit, shortened(step))
    return " ".join(filter(None, words))
