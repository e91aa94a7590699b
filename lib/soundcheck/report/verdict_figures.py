"""Figures of rows of the results table: values with intervals, thresholds and the random reference.

Conventions
-----------
- A passed test is a green circle, hollow if the random reference model passes too (the test tells little), a
  failed one a red triangle, one without verdict a grey square; a hollow grey diamond is the random model.
- Rows without value are left out. Where there are too many for a figure, failed ones stay and the figure says
  so; the tables beside it have all of them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from soundcheck.report import tables
from soundcheck.report.style import GREEN, GREY, ORANGE, RED, label, look, new

__all__ = ["group_difference", "intervals", "unchanged_overview"]

MOST_ROWS = 60
MOST_PANELS = 12
UNCHANGED = "Percentage Unchanged Predictions "
_SIDES = {
    ">": "passes right of the threshold",
    "<": "passes left of the threshold",
    "|value| <": "passes between the thresholds",
    "": "no threshold",
}
_NARROW = 0.3  # values with smaller thresholds get a scale of their own


def intervals(frame: pd.DataFrame) -> Figure:
    """Draw each value with its interval, its threshold and the random reference, one line a row.

    Tests whose rules or scales differ get panels of their own.

    Parameters
    ----------
    frame
        Rows of the results table; beyond 60 of them, failed ones first.
    """
    rows, note = _most(frame[frame["value"].notna()])
    panels = [panel for _, panel in rows.groupby(_scale(rows), sort=False)] or [rows]
    names = [_row_names(panel, frame[frame["value"].notna()]) for panel in panels]
    heights = [0.9 + 0.26 * max(1, len(panel)) for panel in panels]
    with look():
        figure, all_axes = new(_width(names), sum(heights) + 0.6, len(panels), height_ratios=heights)
        for axes, panel, texts in zip(all_axes, panels, names, strict=True):
            _lines(axes, panel, texts)
            thresholds = panel["threshold"].to_numpy()
            if len(panel) and (panel["rule"].iloc[0] == "|value| <"):
                thresholds = np.concatenate([-thresholds, thresholds])
            places = np.resize(np.arange(len(panel)), len(thresholds))
            axes.vlines(thresholds, places - 0.4, places + 0.4, color=ORANGE, linewidth=2)
            side = _SIDES.get(panel["rule"].iloc[0], "") if len(panel) else ""
            axes.set_xlabel(f"value with 95 % interval ({side})" if side else "value with 95 % interval")
        all_axes[0].set_title(note, loc="left", fontsize=9)
        _legend(figure, rows, Line2D([], [], color=ORANGE, linewidth=2, label="threshold"))
    return figure


def group_difference(frame: pd.DataFrame) -> Figure:
    """Draw how far each group is from all groups together, with the band that the threshold allows.

    Parameters
    ----------
    frame
        Rows of the results table with the rule ``|value| <``; a panel for each task. Beyond 60 rows, failed
        ones first.
    """
    judged = frame[frame["value"].notna()]
    rows, note = _most(judged)
    panels = [panel for _, panel in rows.groupby("task", sort=False)] or [rows]
    one_test = judged["test"].nunique() == 1 and (judged["group"] + judged["label"]).ne("").all()
    names = [_row_names(panel, judged, with_task=False, with_test=not one_test) for panel in panels]
    heights = [1.0 + 0.26 * max(1, len(panel)) for panel in panels]
    with look():
        figure, all_axes = new(_width(names), sum(heights) + 0.6, len(panels), height_ratios=heights)
        for axes, panel, texts in zip(all_axes, panels, names, strict=True):
            places = np.arange(len(panel))
            threshold = panel["threshold"].fillna(0).to_numpy()
            axes.barh(places, 2 * threshold, height=1, left=-threshold, color=GREEN, alpha=0.13, lw=0)
            axes.axvline(0, color=GREY, linewidth=1)
            _lines(axes, panel, texts)
            numbers = panel[["value", "low", "high", "threshold", "reference"]].abs().to_numpy()
            reach = 1.1 * np.nanmax([0.1, *numbers.flat])
            axes.set_xlim(-reach, reach)
            title = [*panel["task"].head(1), *(panel["test"].head(1) if one_test else [])]
            axes.set_title(", ".join(label(text, 60) for text in title), loc="left", fontweight="bold")
            axes.set_xlabel("group below all  ←  difference  →  group above all")
        all_axes[0].set_title(note, loc="right", fontsize=9)
        _legend(figure, rows, Patch(color=GREEN, alpha=0.2, label="allowed"))
    return figure


def unchanged_overview(frame: pd.DataFrame) -> Figure:
    """Draw the share of unchanged predictions for each change, in per cent; high shares are stretched.

    Parameters
    ----------
    frame
        Rows of the results table; only the tests ``Percentage Unchanged Predictions ...`` are drawn, a panel
        for each corpus and task (the first 12), changes in the order of the alphabet in all of them.
    """
    rows = frame[frame["value"].notna() & frame["test"].str.startswith(UNCHANGED)]
    changes = sorted(rows["test"].unique())
    place = {test: x for x, test in enumerate(changes)}
    several = rows["corpus"].nunique() > 1
    groups = list(rows.groupby(["corpus", "task"], sort=False)) or [(("", ""), rows)]
    shown = groups[:MOST_PANELS]
    with look():
        width = min(20.0, max(8.5, 1.5 + 0.5 * len(changes)))
        figure, all_axes = new(width, 2.6 * len(shown) + 2.0, len(shown), sharex=True)
        for axes, ((corpus, task), panel) in zip(all_axes, shown, strict=True):
            axes.set_yscale("function", functions=(_stretch, _unstretch))
            x = panel["test"].map(place).to_numpy(dtype=float)
            _points(axes, x, panel, vertical=True)
            axes.hlines(100 * panel["threshold"], x - 0.5, x + 0.5, color=ORANGE, linewidth=1.5)
            axes.set_ylim(-3, 101)
            axes.set_yticks([0, 50, 75, 90, 95, 100])
            axes.set_ylabel("% unchanged")
            title = " · ".join(label(part) for part in ((corpus, task) if several else (task,)))
            axes.set_title(title, loc="left", fontweight="bold")
        if len(shown) < len(groups):
            note = f"{len(shown)} of {len(groups)} corpora and tasks"
            all_axes[0].set_title(note, loc="right", fontsize=9)
        names = [label(test.removeprefix(UNCHANGED)) for test in changes]
        all_axes[-1].set_xticks(range(len(names)), names, rotation=35, ha="right")
        all_axes[-1].set_xlim(-0.6, max(1, len(names)) - 0.4)
        _legend(figure, rows, Line2D([], [], color=ORANGE, linewidth=1.5, label="threshold"))
    return figure


def _stretch(percent: np.ndarray) -> np.ndarray:
    """Spread 90..100 % over the upper 40 % of an axis."""
    return np.exp(np.clip(np.asarray(percent, dtype=float), -50, 150) / 20)


def _unstretch(height: np.ndarray) -> np.ndarray:
    return 20 * np.log(np.maximum(np.asarray(height, dtype=float), 1e-6))


def _most(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Keep as many rows as a figure can show, failed ones first, in their order; say what was left out."""
    if len(rows) <= MOST_ROWS:
        return rows.reset_index(drop=True), ""
    failed = rows["passed"].eq(False).to_numpy()
    chosen = np.sort(np.argsort(~failed, kind="stable")[:MOST_ROWS])
    note = f"{MOST_ROWS} of {len(rows)} rows, failed ones first ({failed.sum()} failed)"
    return rows.iloc[chosen].reset_index(drop=True), note


def _scale(rows: pd.DataFrame) -> pd.Series:
    """Name the panel of each row: its rule, and the sign and rough size of its threshold."""
    rule = rows["rule"].where(rows["threshold"].notna(), "")
    narrow = rows["threshold"].abs().lt(_NARROW)
    return rule.astype(object) + narrow.map({True: " narrow", False: ""}).astype(object)


def _row_names(
    rows: pd.DataFrame, frame: pd.DataFrame, with_task: bool = True, with_test: bool = True
) -> list[str]:
    """Name each row by what tells it from the others, without words that all share."""
    columns = [name for name in ("model", "corpus") if frame[name].nunique() > 1]
    columns += ["task"] * with_task + ["test"] * with_test + ["group", "label"]
    shown = rows.assign(
        test=rows["test"].str.replace(UNCHANGED, "Unchanged: ", regex=False),
        label=rows["label"].map(tables.label),
    )[columns]
    return [
        " · ".join(label(part, 45 if name in ("test", "group") else 30) for name, part in row.items() if part)
        for row in shown.to_dict("records")
    ]


def _width(names: list[list[str]]) -> float:
    """Leave room for the longest name, in inches."""
    return 5.5 + 0.08 * max((len(name) for panel in names for name in panel), default=0)


def _lines(axes: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    """Draw one line a row, first row on top."""
    _points(axes, np.arange(len(rows)), rows, vertical=False)
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_ylim(max(1, len(names)) - 0.4, -0.6)


def _points(axes: Axes, places: np.ndarray, rows: pd.DataFrame, vertical: bool) -> None:
    """Draw values, intervals and references; vertically in per cent, horizontally as they are."""
    numbers = rows[["value", "low", "high", "reference"]].to_numpy(dtype=float) * (100 if vertical else 1)
    value, low, high, reference = numbers.T
    for verdict, (color, marker, _) in _VERDICTS.items():
        own = _are(rows, verdict)
        span = axes.vlines if vertical else axes.hlines
        span(places[own], low[own], high[own], color=color, linewidth=2)
        where = (places[own], value[own]) if vertical else (value[own], places[own])
        axes.plot(*where, linestyle="none", marker=marker, color=color, markersize=6.5)
    own = _pass_too(rows)
    where = (places[own], value[own]) if vertical else (value[own], places[own])
    axes.plot(*where, **_PASS_TOO, markersize=6)
    where = (places, reference) if vertical else (reference, places)
    axes.plot(*where, linestyle="none", marker="D", color=GREY, markerfacecolor="none", markersize=5)


_PASS_TOO = {
    "linestyle": "none",
    "marker": "o",
    "color": GREEN,
    "markerfacecolor": "white",
    "markeredgewidth": 1.6,
}
_VERDICTS = {True: (GREEN, "o", "pass"), False: (RED, "^", "fail"), None: (GREY, "s", "no verdict")}


def _are(rows: pd.DataFrame, verdict: bool | None) -> np.ndarray:
    column = rows["passed"]
    return (column.isna() if verdict is None else column.eq(verdict)).to_numpy(dtype=bool)


def _pass_too(rows: pd.DataFrame) -> np.ndarray:
    return (rows["passed"].eq(True) & rows["reference_passed"].eq(True)).to_numpy(dtype=bool)


def _legend(figure: Figure, rows: pd.DataFrame, threshold: Line2D | Patch) -> None:
    """Explain the marks; a missing verdict only where there is one."""
    handles = [
        Line2D([], [], linestyle="none", marker=marker, color=color, label=name)
        for verdict, (color, marker, name) in _VERDICTS.items()
        if verdict is not None or _are(rows, None).any()
    ]
    if _pass_too(rows).any():
        handles.insert(1, Line2D([], [], **_PASS_TOO, label="pass, random too"))
    random = Line2D(
        [], [], linestyle="none", marker="D", color=GREY, markerfacecolor="none", label="random model"
    )
    handles += [threshold, random]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), fontsize=9)
