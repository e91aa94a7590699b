"""Figures about recognisers: rates of groups, replicates of a difference, distances, violations, ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from soundcheck.metrics.writing import units
from soundcheck.report.style import BLUE, GREY, MARKS, PALETTE, label, look, name_ticks, new, seaborn

MOST_GROUPS = 40
MOST_LINES = 16  # lines of a panel; beyond, the groups that are worst


def rates_by_speech(frame: pd.DataFrame, overall: float) -> Figure:
    """Draw error rates with 95 % intervals by length and by speaking rate, a panel each.

    Parameters
    ----------
    frame
        From :func:`soundcheck.evaluation.words.speech_rates`; at least one row.
    overall
        The rate of everything, as a line.
    """
    unit, columns = frame["unit"].iloc[0], list(dict.fromkeys(frame["column"]))
    measured = {"length": f"{units(unit)} said", "speaking rate": f"{units(unit)} a second"}
    with look():
        figure, panels = new(7.5, 2.9, 1, len(columns), sharey=True)
        for axes, column in zip(panels, columns, strict=True):
            own = frame[frame["column"] == column]
            values, places = own["value"].to_numpy(dtype=float), np.arange(len(own))
            spans = np.nan_to_num(np.abs(own[["low", "high"]].to_numpy(dtype=float).T - values))
            axes.axhline(overall, color=GREY, linewidth=1, linestyle="--", label="all")
            axes.errorbar(places, values, yerr=spans, fmt="o-", color=BLUE, markersize=5, capsize=2)
            axes.set_xticks(places, [f"{row.bin}\n({row.segments})" for row in own.itertuples()], fontsize=8)
            axes.set_xlim(-0.5, len(own) - 0.5)
            axes.set_xlabel(f"{measured[column]} (segments in brackets)")
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel(f"{unit} error rate")
        panels[0].legend(fontsize=9)
    return figure


def replicates_of_difference(samples: Mapping[str, np.ndarray], value: float, xlabel: str) -> Figure:
    """Draw the replicates of a difference, one way of resampling over the other.

    Parameters
    ----------
    samples
        Way of resampling -> replicates, ``(replicates,)``; NaN is passed over.
    value
        The difference itself.
    xlabel
        What it is.
    """
    known = {name: drawn[np.isfinite(drawn)] for name, drawn in samples.items()}
    everything = np.concatenate([*known.values(), np.empty(0)])
    with look():
        figure, (axes,) = new(7.5, 3.0)
        edges = np.histogram_bin_edges(everything, 40) if len(everything) else np.linspace(-1, 1, 2)
        for n, (name, drawn) in enumerate(known.items()):
            look_of_bars = {"color": PALETTE[n], "alpha": 0.3, "label": label(name, 60)}
            seaborn.histplot(x=drawn, bins=list(edges), element="step", ax=axes, **look_of_bars)
        axes.axvline(0, color=GREY, linewidth=1)
        axes.axvline(value, color="black", linewidth=1.5, label="measured")
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_xlabel(label(xlabel, 80))
        axes.set_ylabel("replicates")
        axes.legend(fontsize=9)
    return figure


def degradation_curves(frame: pd.DataFrame, ylabel: str) -> Figure:
    """Draw how a value of each group changes from mild to severe, a panel a transformation.

    Parameters
    ----------
    frame
        Rows with ``transformation, level, group, value``, levels from mild to severe.
    ylabel
        What the value is.
    """
    panels_of = list(dict.fromkeys(frame["transformation"]))
    ranked = frame.groupby("group")["value"].mean().sort_values(ascending=False, kind="stable").index
    groups = [group for group in dict.fromkeys(frame["group"]) if group in set(ranked[:MOST_LINES])]
    rows = -(-len(panels_of) // 2)
    with look():
        figure, panels = new(9, 0.7 + 2.3 * rows, rows, 2, sharey=True)
        for axes, name in zip(panels, panels_of, strict=False):
            own = frame[frame["transformation"] == name]
            levels = list(dict.fromkeys(own["level"]))
            for n, group in enumerate(groups):
                line = own[own["group"] == group].set_index("level")["value"].reindex(levels)
                style = "-" if n < len(PALETTE) else "--"
                look_of_line = {"color": PALETTE[n % len(PALETTE)], "marker": MARKS[n % len(MARKS)]}
                places = range(len(levels))
                axes.plot(places, line, style, **look_of_line, markersize=4, label=label(group, 20))
            name_ticks(axes, levels, 10, longest=10)
            axes.set_title(label(name), loc="left", fontweight="bold", fontsize=10)
        for axes in panels[len(panels_of) :]:
            axes.set_axis_off()
        for axes in panels[::2]:
            axes.set_ylabel(label(ylabel, 30), fontsize=9)
        handles, names = panels[0].get_legend_handles_labels()
        title = "worst groups" if len(groups) < len(ranked) else None
        figure.legend(handles, names, loc="outside right upper", fontsize=8, title=title)
    return figure


def violation_bars(counts: Sequence[tuple[str, pd.DataFrame]]) -> Figure:
    """Draw counts of violations by group, a panel for each table, its rows side by side.

    Parameters
    ----------
    counts
        Title and table, rows as described and one column a group; beyond 40 those with the most violations.
    """
    with look():
        figure, panels = new(9, 0.3 + 2.5 * len(counts), len(counts), 1)
        for axes, (title, table) in zip(panels, counts, strict=True):
            groups = table.columns
            if len(groups) > MOST_GROUPS:
                most = table.sum().sort_values(ascending=False, kind="stable").index[:MOST_GROUPS]
                table = table[[name for name in groups if name in set(most)]]
                most = f"the {MOST_GROUPS} of {len(groups)} groups with the most violations"
                axes.set_title(most, loc="right", fontsize=9)
            places, width = np.arange(len(table.columns)), 0.8 / max(1, len(table))
            for n, name in enumerate(table.index):
                shift = (n - (len(table) - 1) / 2) * width
                color = PALETTE[n % len(PALETTE)]
                axes.bar(places + shift, table.loc[name], width, color=color, label=label(name, 40))
            name_ticks(axes, table.columns, 14)
            axes.set_ylabel("violations")
            axes.set_title(label(title, 60), loc="left", fontweight="bold", fontsize=10)
            if len(table) > 1:
                axes.legend(fontsize=8, ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def rating_curves(ratings: Mapping[str, Mapping[str, float]], least: float) -> Figure:
    """Draw how comprehensible people found each level, one line a transformation, with the limit dashed.

    Parameters
    ----------
    ratings
        Transformation -> level -> mean rating, from mild to severe.
    least
        Rating that a setting needs to count as comprehensible.
    """
    with look():
        figure, (axes,) = new(7.5, 3.6)
        for n, (name, levels) in enumerate(ratings.items()):
            look_of_line = {"color": PALETTE[n % len(PALETTE)], "marker": MARKS[n % len(MARKS)]}
            axes.plot(range(len(levels)), list(levels.values()), **look_of_line, label=label(name))
        axes.axhline(least, color="black", linestyle="--", linewidth=1, label=f"limit {least:g}")
        longest = max(len(levels) for levels in ratings.values())
        name_ticks(axes, range(1, longest + 1), longest=9)
        axes.set_xlabel("level, mild → severe")
        axes.set_ylabel("mean rating, 1 to 10")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)
    return figure
