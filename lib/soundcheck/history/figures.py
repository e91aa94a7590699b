"""Figures of a history: small multiples, one panel a test, its values over the runs with their intervals.

Conventions
-----------
- A line joins values that may be compared, dotted where runs in between have none, thin and grey where it
  leads to another model; where it would join other data there is none, and ``≠`` stands in between.
- *better* is a green triangle that points up, *worse* a red one that points down, with the word beside it.
- Letters below the number of a run say what else is new in it: M the model, D the data, S Soundcheck.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from soundcheck.history.points import GAP, JOINED, NEW_MODEL
from soundcheck.report import names
from soundcheck.report.style import BLUE, GREEN, GREY, RED, label, look, new
from soundcheck.results.contrast import BETTER, WORSE
from soundcheck.statistics.rules import ABOVE, GAP_RULES, GAP_WITHIN, WITHIN

MOST_PANELS = 9
SERIES = ["corpus", "task", "test", "group", "label"]  # what tells the tests of a model and family apart
_ACROSS = 3
_MOST_TICKS = 10
_MARKS = {WORSE: (RED, "v"), BETTER: (GREEN, "^")}
_BEHIND = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}  # of words on lines
_LINES = {
    JOINED: {"color": BLUE, "linewidth": 1.5},
    GAP: {"color": BLUE, "linewidth": 1.5, "linestyle": ":"},
    NEW_MODEL: {"color": GREY, "linewidth": 0.8},
}
_LETTERS = {"model": "M", "data": "D", "Soundcheck": "S"}


def family_figure(frame: pd.DataFrame, runs: int) -> Figure:
    """Draw the values of a model on the tests of a family.

    Parameters
    ----------
    frame
        Points of one model and family, see :func:`soundcheck.history.points.points`; at most 9 tests are
        drawn, those with marks first.
    runs
        How many runs the history has.
    """
    drawn = frame[frame["value"].notna()]
    marks = drawn["mark"].isin(_MARKS)
    order = (~marks).groupby([drawn[name] for name in SERIES], sort=False).min().sort_values(kind="stable")
    shown = order.index[:MOST_PANELS]
    several = [name for name in ("corpus", "task") if drawn[name].nunique() > 1]
    down = max(1, -(-len(shown) // _ACROSS))
    by_test = dict(list(drawn.groupby(SERIES, sort=False)))
    with look():
        figure, panels = new(3.9 * _ACROSS, 0.6 + 2.5 * down, down, _ACROSS)
        for axes in panels[len(shown) :]:
            axes.set_axis_off()
        for axes, key in zip(panels, shown, strict=False):
            _panel(axes, by_test[key], runs, several)
        figure.legend(handles=_legend(), loc="outside upper left", ncols=6, fontsize=8)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, runs: int, several: list[str]) -> None:
    rows = rows.sort_values("position")
    x, value = rows["position"].to_numpy(), rows["value"].to_numpy()
    low, high = (rows[name].fillna(rows["value"]).to_numpy() for name in ("low", "high"))
    for place, joined in enumerate(rows["joined"].tolist()):
        if place == 0:
            continue
        ends = [place - 1, place]
        if joined in _LINES:
            axes.plot(x[ends], value[ends], **_LINES[joined])
        else:
            middle = x[ends].mean()
            axes.axvline(middle, color=GREY, linewidth=0.8, linestyle=(0, (1, 3)))
            axes.text(
                middle, 0.01, "≠", transform=axes.get_xaxis_transform(), ha="center", fontsize=9, color=GREY
            )
    axes.vlines(x, low, high, color=BLUE, linewidth=1.2, alpha=0.7)
    axes.plot(x, value, linestyle="none", marker="o", markersize=4, color=BLUE)
    judged = rows["threshold"].notna() & ~rows["rule"].isin(GAP_RULES)  # not the gap but the value is drawn
    for row in rows[judged].itertuples():
        ends = [-row.threshold, row.threshold] if row.rule == WITHIN else [row.threshold]
        axes.hlines(ends, row.position - 0.4, row.position + 0.4, color=GREY, linewidth=1, linestyle="--")
    for mark, (color, marker) in _MARKS.items():
        own = rows["mark"].eq(mark).to_numpy()
        axes.plot(x[own], value[own], linestyle="none", marker=marker, markersize=9, color=color)
        for place in np.flatnonzero(own):
            at = (x[place], value[place])
            axes.annotate(
                mark,
                at,
                (0, 8),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=color,
                bbox=_BEHIND,
            )
    _ticks(axes, rows, runs)
    axes.tick_params(labelsize=8)
    axes.set_ylabel(_direction(rows["rule"].iloc[-1]), fontsize=8)
    axes.margins(y=0.18)
    row = rows.iloc[-1]
    first = label(names.measure(row["test"]), 42)
    second = " · ".join(
        filter(None, [*(row[name] for name in several), names.label(row["group"]), names.label(row["label"])])
    )
    axes.set_title(f"{first}\n{label(second, 46)}" if second else first, loc="left", fontsize=9)


def _ticks(axes: Axes, rows: pd.DataFrame, runs: int) -> None:
    """Show the numbers of runs, of many only some, with letters for what is new."""
    new_in = {
        row.position: "".join(letter for name, letter in _LETTERS.items() if name in row.changed.split("; "))
        for row in rows.itertuples()
    }
    step = -(-runs // _MOST_TICKS)
    places = [
        n for n in range(1, runs + 1) if (n - 1) % step == 0 or (new_in.get(n) and runs <= 3 * _MOST_TICKS)
    ]
    axes.set_xticks(places, [f"{n}\n{new_in.get(n, '')}" for n in places])
    axes.set_xlim(0.5, runs + 0.5)


def _direction(rule: str) -> str:
    if rule in (WITHIN, GAP_WITHIN):
        return "nearer 0 is better"
    return ("higher" if rule == ABOVE else "lower") + " is better" if rule else ""


def _legend() -> list[Line2D]:
    handles = [
        Line2D([], [], color=BLUE, marker="o", markersize=4, label="value, 95 % interval"),
        Line2D([], [], **_LINES[GAP], label="across runs without value"),
        Line2D([], [], **_LINES[NEW_MODEL], label="to another model"),
        Line2D([], [], color=GREY, linestyle="--", label="threshold"),
    ]
    for mark, (color, marker) in _MARKS.items():
        handles.append(Line2D([], [], linestyle="none", marker=marker, color=color, label=mark))
    letters = ", ".join(f"{letter} {name}" for name, letter in _LETTERS.items())
    handles.append(Line2D([], [], linestyle="none", label=f"new: {letters}"))
    return handles


def described(frame: pd.DataFrame) -> str:
    """Say in words what a figure shows, for those who do not see it."""
    found = [
        f"{row.test} {row.group} {row.label}".strip() + f" became {row.mark} in run {row.position}"
        for row in frame[frame["mark"].isin(_MARKS)].itertuples()
    ]
    tests = len(frame[SERIES].drop_duplicates())
    listed = "; ".join(found[:MOST_PANELS]) or "nothing became better or worse"
    return f"{tests} tests over {frame['position'].max()} runs: {listed}"
