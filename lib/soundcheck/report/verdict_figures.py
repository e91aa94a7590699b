"""Figures of rows of the results: values with intervals and thresholds.

Marks are about a row's own interval: which side of the threshold or margin it lies on. The state, which is
corrected for the number of tests, is known only when all families are together.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from soundcheck.report import names, states, views
from soundcheck.report.style import label
from soundcheck.statistics.rules import ABOVE, BELOW, GAP_BELOW, GAP_RULES, GAP_WITHIN, WITHIN
from soundcheck.suite.measures import measure_of

MOST_ROWS = 60  # of a panel; beyond, failed ones
UNCHANGED = "Percentage Unchanged Predictions "
_SIDES = {
    ABOVE: "passes right of the threshold",
    BELOW: "passes left of the threshold",
    WITHIN: "passes within the thresholds",
    GAP_WITHIN: "difference; passes within the margin",
    GAP_BELOW: "difference; passes left of the margin",
    "": "no threshold",
}
_NARROW = 0.3  # values with smaller thresholds get a scale of their own


def intervals(frame: pd.DataFrame) -> Figure:
    """Draw each value with its interval and threshold; rules and scales that differ have panels of their own.

    Of a rule that judges the difference of a group, that is drawn with its margin.
    """
    rows = frame[frame["value"].notna()]
    gaps = {"value": "gap", "low": "gap_low", "high": "gap_high", "threshold": "matters"}
    of_gap = rows["rule"].isin(GAP_RULES)
    rows = rows.assign(**{name: rows[name].where(~of_gap, rows[gap]) for name, gap in gaps.items()})
    rule = rows["rule"].where(rows["threshold"].notna(), "")
    two_sided = rule.isin((WITHIN, GAP_WITHIN))
    narrow = rows["threshold"].abs().lt(_NARROW).map({True: " (small scale)", False: ""})
    rows = _marked(rows).assign(
        name=_names(rows, frame),
        panel=rule.map(_SIDES).fillna("").astype(str) + narrow.astype(str),
        reference=rows["threshold"].where(~two_sided, 0.0),
        margin=rows["threshold"].where(two_sided),
    )
    if len(rows) > MOST_ROWS:
        rows = rows.sort_values("passed", key=lambda passed: passed.ne(False), kind="stable")
    unit = "value with 95 % interval; grey: threshold"
    return views.forest(rows, panels="panel", unit=unit, cut=MOST_ROWS)


def unchanged_overview(frame: pd.DataFrame) -> Figure:
    """Draw the share of unchanged predictions for each change, a panel a corpus and task."""
    rows = frame[frame["value"].notna() & frame["test"].str.startswith(UNCHANGED)].sort_values("test")
    rows = _marked(rows).assign(
        name=rows["test"].str.removeprefix(UNCHANGED),
        panel=rows["corpus"] + ", " + rows["task"],
        reference=rows["threshold"],
    )
    unit = "share of unchanged predictions with 95 % interval; grey: threshold"
    return views.forest(rows, panels="panel", unit=unit, cut=MOST_ROWS)


def described(frame: pd.DataFrame) -> str:
    """Say in words what the marks of a figure of rows show, for readers who do not see it."""
    own = [states.of_evidence(evidence) for evidence in frame.loc[frame["value"].notna(), "evidence"]]
    counts = [f"{state.interval}: {own.count(state)}" for state in states.STATE.values() if state in own]
    return ", ".join(counts) or "no value"


def _marked(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the state that the interval of each row shows, and words for it."""
    own = [states.of_evidence(evidence) for evidence in rows["evidence"]]
    words = [f"{state.sign} {state.interval}" for state in own]
    return rows.assign(state=[state.name for state in own], words=words)


def _names(rows: pd.DataFrame, frame: pd.DataFrame) -> list[str]:
    """Name each row by what tells it from the others, without words that all share."""
    columns = [name for name in ("model", "corpus", "task") if frame[name].nunique() > 1]
    shown = rows.assign(
        test=[_measured(*pair) for pair in zip(rows["test"], rows["family"], strict=True)],
        group=rows["group"].map(names.label),
        label=rows["label"].map(names.label),
    )[[*columns, "test", "group", "label"]]
    return [" · ".join(label(part, 30) for part in row.values() if part) for row in shown.to_dict("records")]


def _measured(test: str, family: str) -> str:
    if test.startswith(UNCHANGED):
        return f"unchanged: {test.removeprefix(UNCHANGED)}"
    return measure_of(test, family).title or names.in_words(test)
