"""Figures of rows of the results table: values with intervals, thresholds and the random reference.

Conventions
-----------
- Marks and the legend are about a row's own interval: which side of the threshold or margin it lies on. The
  state, which is corrected for the number of tests, is known only when all families are together.
- Of a group the difference is drawn with its margin, where the difference is judged or groups are compared.
  The random reference, a small grey diamond, is left out then, because only its value is known.
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

from soundcheck.report import names as written
from soundcheck.report import states
from soundcheck.report.style import GREEN, GREY, ORANGE, label, look, new
from soundcheck.results.states import NOT_EVALUATED, mirrors
from soundcheck.results.verdict import SHOWN
from soundcheck.statistics.evidence import CLEAR_FAIL
from soundcheck.statistics.rules import GAP_BELOW, GAP_RULES, GAP_WITHIN, of_gap

MOST_ROWS = 60
MOST_PANELS = 12
UNCHANGED = "Percentage Unchanged Predictions "
_SIDES = {
    ">": "passes right of the threshold",
    "<": "passes left of the threshold",
    "|value| <": "passes between the thresholds",
    GAP_WITHIN: "difference; passes within the margin",
    GAP_BELOW: "difference; passes left of the margin",
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
    frame = frame[frame["value"].notna()]
    rows, note = _most(_as_gaps(frame, frame["rule"].isin(GAP_RULES)))
    panels = [panel for _, panel in rows.groupby(_scale(rows), sort=False)] or [rows]
    names = [_row_names(panel, frame) for panel in panels]
    heights = [0.9 + 0.26 * max(1, len(panel)) for panel in panels]
    with look():
        figure, all_axes = new(_width(names), sum(heights) + 0.6, len(panels), height_ratios=heights)
        for axes, panel, texts in zip(all_axes, panels, names, strict=True):
            _lines(axes, panel, texts)
            thresholds = panel["threshold"].to_numpy()
            if len(panel) and (panel["rule"].iloc[0] in _TWO_SIDED):
                thresholds = np.concatenate([-thresholds, thresholds])
            places = np.resize(np.arange(len(panel)), len(thresholds))
            axes.vlines(thresholds, places - 0.4, places + 0.4, color=ORANGE, linewidth=2)
            rule = "" if panel["threshold"].isna().all() else panel["rule"].iloc[0]
            side = _SIDES.get(rule, "") if len(panel) else ""
            axes.set_xlabel(f"value with 95 % interval ({side})" if side else "value with 95 % interval")
        all_axes[0].set_title(note, loc="left", fontsize=9)
        _legend(figure, rows, Line2D([], [], color=ORANGE, linewidth=2, label="threshold"))
    return figure


def group_difference(frame: pd.DataFrame) -> Figure:
    """Draw the difference of each group to its reference, with the band within the margin; of a pair one.

    Parameters
    ----------
    frame
        Rows of the results table that compare groups; a panel for each task. Beyond 60 rows, failed ones
        first. Without any difference, values are drawn with the band that the threshold allows.
    """
    judged = frame[frame["value"].notna() & mirrors(frame).eq("")]
    gaps = judged["gap"].notna() & (judged["matters"].notna() | judged["evidence"].eq(SHOWN))
    judged = _as_gaps(judged, gaps) if gaps.any() else judged
    others = "the others" if gaps.any() else "all"
    rows, note = _most(judged[gaps] if gaps.any() else judged)
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
            title = panel["task"].head(1).tolist()
            title += panel["test"].head(1).map(written.measure).tolist() if one_test else []
            axes.set_title(", ".join(label(text, 60) for text in title), loc="left", fontweight="bold")
            axes.set_xlabel(f"group below {others}  ←  difference  →  group above {others}")
        all_axes[0].set_title(note, loc="right", fontsize=9)
        band = "within the margin" if gaps.any() else "allowed"
        _legend(figure, rows, Patch(color=GREEN, alpha=0.2, label=band))
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
    whole = rows["evidence"].eq(CLEAR_FAIL).to_numpy()
    chosen = np.sort(np.lexsort((~whole, ~failed))[:MOST_ROWS])
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
        test=rows["test"].str.replace(UNCHANGED, "Unchanged: ", regex=False).map(written.measure),
        group=rows["group"].map(written.label),
        label=rows["label"].map(written.label),
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
    own = _states(rows)
    for name in states.STATE:
        here = own == name
        span = axes.vlines if vertical else axes.hlines
        span(places[here], low[here], high[here], color=states.STATE[name].colour, linewidth=2)
        where = (places[here], value[here]) if vertical else (value[here], places[here])
        axes.plot(*where, **_mark(name))
    where = (places, reference) if vertical else (reference, places)
    axes.plot(*where, linestyle="none", marker="D", color=GREY, markerfacecolor="none", markersize=5)


_TWO_SIDED = ("|value| <", GAP_WITHIN)


def _mark(name: str) -> dict:
    """Give the look of a mark."""
    state = states.STATE[name]
    face = state.colour if state.filled or name == NOT_EVALUATED else "white"
    look_of = {"linestyle": "none", "marker": state.marker, "color": state.colour, "markersize": 6.5}
    return look_of | {"markerfacecolor": face, "markeredgewidth": 1.4}


def _states(rows: pd.DataFrame) -> np.ndarray:
    """Give each row the state that its own interval shows, ``(N,)``."""
    return np.array([states.of_evidence(evidence).name for evidence in rows["evidence"]], dtype=object)


def _drawn(own: np.ndarray) -> list[tuple[str, states.State]]:
    return [(name, state) for name, state in states.STATE.items() if (own == name).any()]


def _as_gaps(rows: pd.DataFrame, chosen: pd.Series) -> pd.DataFrame:
    """Put the difference of the chosen rows into the place of the value, the margin into the threshold's."""
    gaps = {"value": "gap", "low": "gap_low", "high": "gap_high", "threshold": "matters"}
    moved = {name: rows[name].where(~chosen, rows[gap]) for name, gap in gaps.items()}
    moved["rule"] = rows["rule"].where(~chosen, rows["rule"].map(of_gap)).astype(object)
    return rows.assign(**moved, reference=rows["reference"].where(~chosen))


def described(frame: pd.DataFrame) -> str:
    """Say in words what the marks of a figure of rows show, for readers who do not see it."""
    own = _states(frame[frame["value"].notna()])
    counts = [f"{state.interval}: {int((own == name).sum())}" for name, state in _drawn(own)]
    return ", ".join(counts) or "no value"


def _legend(figure: Figure, rows: pd.DataFrame, threshold: Line2D | Patch) -> None:
    """Explain the marks that there are."""
    own = _states(rows)
    handles = [Line2D([], [], **_mark(name), label=state.interval) for name, state in _drawn(own)]
    handles.append(threshold)
    if rows["reference"].notna().any():
        random = Line2D([], [], linestyle="none", marker="D", color=GREY, markerfacecolor="none")
        random.set_label("random model")
        handles.append(random)
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), fontsize=9)
