"""Recorded studies in which the truth is known, and figures of intervals, coverage, simulated differences.

The studies are benchmarks; their tables travel with the book, and a comment at the top of each says how it
was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, PercentFormatter

from soundcheck.common import resources
from soundcheck.report.style import BLUE, GREEN, GREY, ORANGE, RED, look, new
from soundcheck.statistics.intervals import LEVEL

_COLORS = (BLUE, ORANGE, GREEN, RED, "#cc79a7", "#56b4e9")  # Okabe and Ito
_MARKS = ("o", "s", "^", "v", "D", "P")


def recorded(name: str) -> tuple[pd.DataFrame, str]:
    """Read a recorded table of the book.

    Parameters
    ----------
    name
        Of the file in ``book/tables``, without ending.

    Returns
    -------
    tuple of pandas.DataFrame and str
        The table, and how it was made: the command, seed, replicates, version of NumPy and date.
    """
    path = resources.root() / "book" / "tables" / f"{name}.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    _, *made = [line.removeprefix("# ") for line in lines if line.startswith("#")]
    return pd.read_csv(path, comment="#"), "; ".join(made)


def monte_carlo_error(data_sets: int, level: float = LEVEL) -> float:
    """Give the standard error of a coverage near ``level`` that so many data sets estimate."""
    return float(np.sqrt(level * (1 - level) / data_sets))


def interval_bars(frame: pd.DataFrame, unit: str) -> Figure:
    """Draw the intervals of data sets, one panel a way, with the true value as a line.

    Parameters
    ----------
    frame
        Columns ``way``, ``data_set``, ``low``, ``high`` (NaN where withheld) and ``true``.
    unit
        What the numbers are.
    """
    with look():
        figure, panels = new(8, 5.4, frame["way"].nunique(), 1, sharex=True, sharey=True)
        for axes, (name, found) in zip(panels, frame.groupby("way", sort=False), strict=True):
            misses = (found["low"] > found["true"]) | (found["high"] < found["true"])
            for own, color, style, text in (
                (found[found["low"].notna() & ~misses], BLUE, "-", "contains the true value"),
                (found[misses], RED, ":", "misses it"),
            ):
                axes.vlines(
                    own["data_set"],
                    own["low"],
                    own["high"],
                    color=color,
                    linewidth=2.5,
                    linestyle=style,
                    label=f"{text}: {len(own)}",
                )
            axes.axhline(found["true"].iloc[0], color="black", linewidth=1)
            axes.set_title(name, loc="left")
            axes.set_ylabel(unit)
            axes.grid(visible=False, axis="x")
            axes.legend(loc="lower left", bbox_to_anchor=(0.55, 1.0), ncols=2, fontsize=9, borderaxespad=0.2)
        panels[-1].set_xlabel("data set")
    return figure


def _coverage_axes(axes: Axes, data_sets: int) -> None:
    """Draw the level with two standard errors of the study, and name the axis."""
    slack = 2 * monte_carlo_error(data_sets)
    axes.axhspan(LEVEL - slack, LEVEL + slack, color=GREY, alpha=0.2, linewidth=0)
    axes.axhline(LEVEL, color=GREY, linewidth=1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_ylabel("intervals that contain the truth")


def coverage_by_correlation(frame: pd.DataFrame) -> Figure:
    """Draw how often ordinary and blockwise intervals contain the truth, beside what is published.

    Parameters
    ----------
    frame
        Columns ``block_size``, ``correlation``, ``data_sets``, ``ordinary_coverage``, ``blockwise_coverage``
        and both with ``published_`` before them. The grey band is two standard errors to either side.
    """
    sizes = frame.groupby("block_size")
    with look():
        figure, panels = new(8, 3.6, 1, sizes.ngroups, sharey=True)
        for axes, (size, own) in zip(panels, sizes, strict=True):
            for way, color, mark in (("blockwise", BLUE, "o"), ("ordinary", RED, "s")):
                found, printed = own[f"{way}_coverage"], own[f"published_{way}_coverage"]
                axes.plot(own["correlation"], found, color=color, marker=mark, label=way)
                style = {"color": color, "marker": "x", "linestyle": "none"}
                axes.plot(own["correlation"], printed, label=f"{way}, published", **style)
            _coverage_axes(axes, own["data_sets"].min())
            axes.set_title(f"blocks of {size} utterances", loc="left", fontsize=10)
            axes.set_xlabel("correlation within a block")
        for axes in panels[1:]:
            axes.set_ylabel("")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    return figure


def coverage_by_speakers(frame: pd.DataFrame, data_sets: int) -> Figure:
    """Draw how often intervals contain the truth against the number of speakers, one panel a metric.

    Parameters
    ----------
    frame
        Columns ``metric``, ``speakers``, ``way`` and ``coverage``.
    data_sets
        Data sets of each study.
    """
    metrics = list(dict.fromkeys(frame["metric"]))
    columns = min(2, len(metrics))
    rows = -(-len(metrics) // columns)
    ways = list(dict.fromkeys(frame["way"]))
    with look():
        figure, panels = new(8, 0.6 + 2.6 * rows, rows, columns, sharey=True)
        for axes, metric in zip(panels, metrics, strict=False):
            for way, color, mark in zip(ways, _COLORS, _MARKS, strict=False):
                own = frame[frame["metric"].eq(metric) & frame["way"].eq(way)].sort_values("speakers")
                axes.plot(own["speakers"], own["coverage"], color=color, marker=mark, label=way)
            _coverage_axes(axes, data_sets)
            axes.set_xscale("log")
            speakers = sorted(set(frame["speakers"]))
            axes.set_xticks(speakers, [str(number) for number in speakers])
            axes.minorticks_off()
            axes.set_title(metric, loc="left", fontsize=10)
            axes.set_xlabel("speakers")
        for axes in panels[len(metrics) :]:
            axes.set_visible(False)
        for n, axes in enumerate(panels):
            if n % columns:
                axes.set_ylabel("")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    return figure


def certainties(counts: Mapping[str, Sequence[int]]) -> Figure:
    """Draw the proportions of passing replicates, one panel a metric; even bars are right.

    Parameters
    ----------
    counts
        Metric -> how many data sets have a proportion in each tenth from 0 to 1.
    """
    edges = np.linspace(0, 1, 11)
    with look():
        figure, panels = new(8, 2.6, 1, len(counts), sharey=True)
        for axes, (name, own) in zip(panels, counts.items(), strict=True):
            axes.hist(edges[:-1], edges, weights=own, color=BLUE, alpha=0.7)
            axes.axhline(sum(own) / 10, color="black", linewidth=1)
            axes.set_title(name, loc="left", fontsize=10)
            axes.set_xlabel("share of replicates that pass")
        panels[0].set_ylabel("data sets")
    return figure


def simulated_maxima(
    panels: Mapping[str, pd.DataFrame],
    marked: Mapping[str, Sequence[tuple[int, float, int]]],
    emphasised: int | None = None,
) -> Figure:
    """Draw the largest simulated difference against the size of the groups, one line a number of groups.

    Parameters
    ----------
    panels
        Title -> rows of :func:`soundcheck.statistics.simulated_thresholds.recorded`.
    marked
        Title -> published thresholds: segments a group, threshold, number of groups.
    emphasised
        Number of groups whose line stands out; thresholds are then lines, too.
    """
    columns = 2
    rows = -(-len(panels) // columns)
    with look():
        figure, grid = new(8, 0.5 + 2.9 * rows, rows, columns)
        for axes, (title, found) in zip(grid, panels.items(), strict=False):
            _maxima(axes, found, emphasised)
            _published(axes, marked.get(title, ()), emphasised is not None)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
            axes.set_xticks([20, 60, 200, 1000], ["20", "60", "200", "1000"])
            axes.minorticks_off()
            axes.set_title(title, loc="left", fontsize=10)
            axes.set_xlabel("segments a group")
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for n, axes in enumerate(grid):
            axes.set_ylabel("" if n % columns else "largest of 1000")
        figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    return figure


def _maxima(axes: Axes, found: pd.DataFrame, emphasised: int | None) -> None:
    """Draw one line a number of groups."""
    counts = sorted(set(found["groups"]))
    for groups, color, mark in zip(counts, _COLORS, _MARKS, strict=False):
        own = found[found["groups"].eq(groups)].sort_values("samples")
        stands_out = groups == emphasised
        faint = emphasised is not None and not stands_out
        axes.plot(
            own["samples"],
            own["maximum"],
            color=color,
            alpha=0.45 if faint else 1,
            marker=mark,
            markersize=3 if faint else 4,
            linewidth=2.6 if stands_out else 1 if faint else 1.3,
            zorder=3 if stands_out else 2,
            label=f"{groups} groups",
        )


def _published(axes: Axes, marked: Sequence[tuple[int, float, int]], lines: bool) -> None:
    """Draw published thresholds as stars at the sizes that they judge, and name them where no curve goes."""
    for samples, threshold, _ in marked:
        place = ([samples], [threshold])
        axes.plot(*place, marker="*", color="black", markersize=11, linestyle="none", zorder=4)
        if lines:
            axes.axhline(threshold, color="black", linewidth=1.3, linestyle="--", label="published threshold")
    told = "\n".join(
        f"\u2605 {threshold:g}: {groups} groups of {n:,}" for n, threshold, groups in sorted(marked)
    )
    backed = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
    axes.text(0.03, 0.04, told, transform=axes.transAxes, fontsize=8, bbox=backed, zorder=5)
