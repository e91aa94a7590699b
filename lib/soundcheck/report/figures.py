"""Figures that families share: pure functions of arrays and of rows of the results table.

Every function returns a :class:`matplotlib.figure.Figure` for :func:`show`; missing values are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from soundcheck.metrics.change import TOLERANCE
from soundcheck.report.style import BLUE, GREEN, GREY, ORANGE, RED, label, look, new, show

__all__ = [
    "confusion_matrix",
    "group_difference",
    "intervals",
    "label_distribution",
    "shift",
    "show",
    "truth_and_prediction",
    "unchanged_overview",
]

MOST_ROWS = 60
UNCHANGED = "Percentage Unchanged Predictions "
PASS = Line2D([], [], marker="o", color=GREEN, linestyle="none", label="pass")
FAIL = Line2D([], [], marker="^", color=RED, linestyle="none", label="fail")
RANDOM = Line2D(
    [], [], marker="D", color=GREY, markerfacecolor="none", linestyle="none", label="random model"
)


def intervals(frame: pd.DataFrame) -> Figure:
    """Draw each value with its interval, its threshold and the random reference, one row a test."""
    rows = _judged(frame)
    left_out = max(0, len(rows) - MOST_ROWS)
    if left_out:
        rows = rows.assign(failed=rows["passed"].eq(False)).sort_values(
            "failed", ascending=False, kind="stable"
        )
        rows = rows.head(MOST_ROWS).sort_index()
    with look():
        figure, (axes,) = new(8.5, 1.2 + 0.26 * max(1, len(rows)))
        _rows(axes, rows, [_row_name(row, frame) for row in rows.itertuples()])
        for y, row in enumerate(rows.itertuples()):
            for side in (-1, 1) if "|" in row.rule else (1,):
                axes.plot([side * row.threshold] * 2, [y - 0.4, y + 0.4], color=ORANGE, linewidth=2)
        title = f"The {MOST_ROWS} of {MOST_ROWS + left_out} tests, failed ones first" if left_out else ""
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_xlabel("value with 95 % interval")
        handles = [PASS, FAIL, Line2D([], [], color=ORANGE, linewidth=2, label="threshold"), RANDOM]
        figure.legend(handles=handles, loc="outside upper right", ncols=4, fontsize=9)
    return figure


def group_difference(frame: pd.DataFrame) -> Figure:
    """Draw the difference of each group from all, with the band that the threshold allows."""
    rows = _judged(frame)
    tasks = list(dict.fromkeys(rows["task"])) or [""]
    heights = [0.9 + 0.26 * max(1, int((rows["task"] == task).sum())) for task in tasks]
    with look():
        figure, panels = new(8.5, sum(heights) + 0.5, len(tasks), height_ratios=heights)
        for axes, task in zip(panels, tasks, strict=True):
            own = rows[rows["task"] == task]
            names = [_row_name(row, frame, task=False) for row in own.itertuples()]
            for y, row in enumerate(own.itertuples()):
                axes.fill_betweenx(
                    [y - 0.5, y + 0.5], -row.threshold, row.threshold, color=GREEN, alpha=0.12, lw=0
                )
            axes.axvline(0, color=GREY, linewidth=1)
            _rows(axes, own, names)
            reach = 1.1 * np.nanmax(np.abs([*axes.get_xlim(), 0.1]))
            axes.set_xlim(-reach, reach)
            axes.set_title(label(task), loc="left", fontweight="bold")
            axes.set_xlabel("group below all  ←  difference  →  group above all")
        band = Patch(color=GREEN, alpha=0.2, label="allowed")
        figure.legend(handles=[PASS, FAIL, band, RANDOM], loc="outside upper right", ncols=4, fontsize=9)
    return figure


def unchanged_overview(frame: pd.DataFrame) -> Figure:
    """Draw the share of unchanged predictions for each change, a panel a task; high shares are stretched."""
    rows = _judged(frame)
    rows = rows[rows["test"].str.startswith(UNCHANGED)]
    tasks = list(dict.fromkeys(rows["task"])) or [""]
    with look():
        figure, panels = new(8.5, 2.6 * len(tasks) + 1.2, len(tasks), sharex=True)
        for axes, task in zip(panels, tasks, strict=True):
            own = rows[rows["task"] == task].sort_values(["test", "corpus"])
            names = [label(test.removeprefix(UNCHANGED)) for test in own["test"]]
            axes.set_yscale("function", functions=(_stretch, _unstretch))
            for x, row in enumerate(own.itertuples()):
                color, marker = (GREEN, "o") if row.passed else (RED, "^")
                axes.plot([x, x], [100 * row.low, 100 * row.high], color=color, linewidth=2)
                axes.plot(x, 100 * row.value, marker=marker, color=color, markersize=7)
                axes.plot(x, 100 * row.reference, marker="D", markerfacecolor="none", color=GREY)
            for threshold in own["threshold"].unique():
                axes.axhline(100 * threshold, color=ORANGE, linewidth=1.5)
            axes.set_ylim(0, 100.5)
            axes.set_yticks([0, 50, 75, 90, 95, 100])
            axes.set_ylabel("% unchanged")
            axes.set_title(label(task), loc="left", fontweight="bold")
            axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
        handles = [PASS, FAIL, Line2D([], [], color=ORANGE, linewidth=1.5, label="threshold"), RANDOM]
        figure.legend(handles=handles, loc="outside upper right", ncols=4, fontsize=9)
    return figure


def _stretch(percent: np.ndarray) -> np.ndarray:
    return np.exp(np.clip(np.asarray(percent, dtype=float), -50, 150) / 30)


def _unstretch(height: np.ndarray) -> np.ndarray:
    return 30 * np.log(np.maximum(np.asarray(height, dtype=float), 1e-6))


def _judged(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["value"].notna() & frame["threshold"].notna()].reset_index(drop=True)


def _row_name(row: object, frame: pd.DataFrame, task: bool = True) -> str:
    parts = [row.corpus] if frame["corpus"].nunique() > 1 else []
    parts += ([row.task] if task else []) + [row.test, row.label]
    return " · ".join(label(part, 45) for part in parts if part)


def _rows(axes: Axes, rows: pd.DataFrame, names: Sequence[str]) -> None:
    """Draw values, intervals and references, first row on top."""
    for y, row in enumerate(rows.itertuples()):
        color, marker = (GREEN, "o") if row.passed else (RED, "^")
        if not pd.isna(row.low):
            axes.plot([row.low, row.high], [y, y], color=color, linewidth=2)
        axes.plot(row.value, y, marker=marker, color=color, markersize=6)
        if not pd.isna(row.reference):
            axes.plot(row.reference, y, marker="D", markerfacecolor="none", color=GREY, markersize=5)
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_ylim(len(names) - 0.4, -0.6)


def truth_and_prediction(truth: np.ndarray, prediction: np.ndarray, title: str = "") -> Figure:
    """Draw predicted against true values with the least-squares line and the line of perfect agreement."""
    truth, prediction = _numbers(truth, prediction)
    with look():
        figure, (axes,) = new(4.6, 4.4)
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
        axes.scatter(truth, prediction, s=10, color=BLUE, alpha=0.5, linewidths=0)
        if len(truth) > 1 and np.ptp(truth) > 0:
            slope, offset = np.polyfit(truth, prediction, 1)
            ends = np.array([truth.min(), truth.max()])
            axes.plot(ends, slope * ends + offset, color=RED, linewidth=2)
        axes.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), xlabel="truth", ylabel="prediction")
        axes.set_title(label(title, 60), loc="left")
        axes.set_aspect("equal")
    return figure


def confusion_matrix(
    truth: Sequence[object],
    prediction: Sequence[object],
    labels: Sequence[str],
    xlabel: str = "prediction",
    ylabel: str = "truth",
) -> Figure:
    """Draw how often each class is taken for each other: row percentages, counts in brackets."""
    known = list(labels)
    pairs = [(t, p) for t, p in zip(truth, prediction, strict=True) if t in known and not pd.isna(p)]
    columns = known + (["other"] if any(p not in known for _, p in pairs) else [])
    counts = np.zeros((len(known), len(columns)), dtype=int)
    for t, p in pairs:
        counts[known.index(t), columns.index(p) if p in known else -1] += 1
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    with look():
        figure, (axes,) = new(1.8 + 1.0 * len(columns), 1.2 + 0.8 * len(known))
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for y, x in np.ndindex(*counts.shape):
            color = "white" if shares[y, x] > 0.55 else "black"
            text = f"{100 * shares[y, x]:.0f} %\n({counts[y, x]})" if totals[y, 0] else "–"
            axes.text(x, y, text, ha="center", va="center", color=color)
        axes.set_xticks(range(len(columns)), [label(name) for name in columns])
        axes.set_yticks(range(len(known)), [label(name) for name in known])
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.grid(visible=False)
    return figure


def shift(clean: np.ndarray, changed: np.ndarray, title: str = "") -> Figure:
    """Draw how far predictions move under a change, and the distributions before and after.

    Above: changed minus clean against clean, bins of 0.03 by 0.02, with the band that counts as unchanged;
    movements beyond 0.35 are drawn at the edge. Below: both predictions, bins of 0.03.
    """
    clean, changed = _numbers(clean, changed)
    difference = np.clip(changed - clean, -0.3499, 0.3499)
    beyond = int((np.abs(changed - clean) > 0.35).sum())
    edges = np.arange(0, 1.031, 0.03)
    with look():
        figure, (upper, lower) = new(6.2, 5.2, 2, sharex=True, height_ratios=[3, 2])
        rows = np.arange(-0.35, 0.351, 0.02)
        counts, _, _ = np.histogram2d(np.clip(clean, 0, 1), difference, bins=[edges, rows])
        counts = np.where(counts > 0, counts, np.nan)
        upper.axhspan(-TOLERANCE, TOLERANCE, color=GREEN, alpha=0.15, lw=0)
        mesh = upper.pcolormesh(edges, rows, counts.T, cmap="viridis_r", rasterized=True)
        figure.colorbar(mesh, ax=upper, label="segments")
        upper.axhline(0, color=GREY, linestyle="--", linewidth=1)
        upper.set(ylim=(-0.35, 0.35), ylabel="changed − clean")
        note = f" ({beyond} beyond the edge)" if beyond else ""
        upper.set_title(label(title, 60) + note, loc="left")
        lower.hist(np.clip(clean, 0, 1), bins=edges, color=RED, alpha=0.5, label="clean")
        lower.hist(
            np.clip(changed, 0, 1), bins=edges, histtype="step", linewidth=2, color=BLUE, label="changed"
        )
        lower.set(
            xlim=(0, 1.02), xlabel="prediction for the clean signal; below: predictions", ylabel="segments"
        )
        lower.legend(fontsize=9)
    return figure


def label_distribution(columns: Mapping[str, pd.Series], classes: Mapping[str, Sequence[str]]) -> Figure:
    """Draw the labels of a corpus: a histogram for each dimension, bars for classes.

    Parameters
    ----------
    columns
        Task -> labels, numbers in 0..1 or class names.
    classes
        Task -> its classes, for classification tasks.
    """
    names = list(columns)
    with look():
        figure, panels = new(2.6 * max(1, len(names)), 2.4, 1, max(1, len(names)))
        for axes, name in zip(panels, names, strict=False):
            given = columns[name].dropna()
            if name in classes:
                counts = [int((given == one).sum()) for one in classes[name]]
                axes.bar(range(len(counts)), counts, color=BLUE)
                axes.set_xticks(
                    range(len(counts)), [label(one, 12) for one in classes[name]], rotation=35, ha="right"
                )
            else:
                axes.hist(np.clip(given.to_numpy(dtype=float), 0, 1), bins=np.linspace(0, 1, 21), color=BLUE)
            axes.set_title(label(name), loc="left")
            axes.set_ylabel("segments")
    return figure


def _numbers(*arrays: Sequence[float]) -> list[np.ndarray]:
    """Keep the places where all arrays have a finite number."""
    columns = np.array([np.asarray(array, dtype=np.float64) for array in arrays])
    return list(columns[:, np.isfinite(columns).all(axis=0)])
