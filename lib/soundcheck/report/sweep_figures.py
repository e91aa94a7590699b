"""Figures and tables of a change from mild to severe."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.common.wording import counted
from soundcheck.report.html import Html
from soundcheck.report.style import GREY, MARKS, PALETTE, label, look, name_ticks, new
from soundcheck.report.tables import Cell, number, table, two_lines

MOST_PANELS = 6
ABREAST = 3  # small panels in a row


def curves(
    frame: pd.DataFrame,
    xlabel: str,
    ylabel: str,
    limits: tuple[float, float] = (0, 1),
    reference: str = "random model",
) -> Figure:
    """Draw a value against the severity of a change, a line with its 95 % band for each task.

    Parameters
    ----------
    frame
        Rows with ``corpus, task, step, value, low, high, reference``, steps from mild to severe; a panel for
        each corpus (the first 6).
    xlabel, ylabel
        What the steps are, and what the value is.
    limits
        Of the values; the axis reaches farther if they do.
    reference
        What the thin dotted lines are.
    """
    everywhere = list(dict.fromkeys(frame["corpus"]))
    corpora = everywhere[:MOST_PANELS]
    with look():
        figure, panels = new(7.5, 0.5 + 3.0 * max(1, len(corpora)), max(1, len(corpora)), sharex=True)
        for axes, corpus in zip(panels, corpora, strict=False):
            own = frame[frame["corpus"] == corpus]
            steps = list(dict.fromkeys(own["step"]))
            place = {step: n for n, step in enumerate(steps)}
            for n, (task, line) in enumerate(own.groupby("task", sort=False)):
                color, x = PALETTE[n % len(PALETTE)], line["step"].map(place)
                axes.fill_between(x, line["low"], line["high"], color=color, alpha=0.2, lw=0)
                axes.plot(x, line["value"], color=color, marker=MARKS[n % len(MARKS)], label=label(task, 20))
                axes.plot(x, line["reference"], color=color, linestyle=":", linewidth=1)
            name_ticks(axes, steps, 20, longest=5)
            drawn = own[["low", "high", "value"]].to_numpy(dtype=float)  # few speakers have no interval
            axes.set_ylim(
                np.nanmin([limits[0], *drawn.flat]) - 0.03, np.nanmax([limits[1], *drawn.flat]) + 0.03
            )
            axes.set_ylabel(label(ylabel, 40))
            if len(corpora) > 1:
                axes.set_title(label(corpus), loc="left", fontweight="bold")
        if len(corpora) < len(everywhere):
            panels[0].set_title(f"{len(corpora)} of {len(everywhere)} corpora", loc="right", fontsize=9)
        panels[-1].set_xlabel(f"{label(xlabel, 60)}  (mild → severe)")
        panels[0].plot([], [], color=GREY, linestyle=":", linewidth=1, label=reference)
        panels[0].legend(loc="best", fontsize=9)
    return figure


def small_curves(
    frame: pd.DataFrame, lines: Mapping[str, float], axes_of: Mapping[str, str], ylabel: str
) -> Figure:
    """Draw a value against the severity of several changes, a small panel with a 95 % band for each.

    Parameters
    ----------
    frame
        Rows with ``transformation, level, value, low, high``, levels from mild to severe; rows with an empty
        transformation are the value without any change, which begins each line.
    lines
        Name -> a value that is drawn as a horizontal line.
    axes_of
        Change -> what its levels are.
    ylabel
        What the value is.
    """
    start, rest = frame[frame["transformation"] == ""], frame[frame["transformation"] != ""]
    names = list(dict.fromkeys(rest["transformation"]))
    rows = -(-max(1, len(names)) // ABREAST)
    with look():
        figure, panels = new(9, 0.7 + 2.1 * rows, rows, ABREAST, sharey=True)
        for axes, name in zip(panels, names, strict=False):
            own = pd.concat([start, rest[rest["transformation"] == name]])
            places = range(len(own))
            axes.fill_between(places, own["low"], own["high"], color=PALETTE[0], alpha=0.2, lw=0)
            axes.plot(places, own["value"], color=PALETTE[0], marker=MARKS[0], markersize=4)
            for n, (told, height) in enumerate(lines.items()):
                style = ("--", ":")[n % 2]
                axes.axhline(height, color=GREY, linestyle=style, linewidth=1, label=label(told, 40))
            name_ticks(axes, ["clean", *own["level"].iloc[len(start) :]], 11, longest=6)
            axes.set_title(label(name, 30), loc="left", fontweight="bold", fontsize=10)
            axes.set_xlabel(label(axes_of[name], 40), fontsize=8)
        panels[0].set_ylim(0, 1.05 * np.nanmax([*lines.values(), frame["high"].max(), frame["value"].max()]))
        for axes in panels[len(names) :]:
            axes.set_axis_off()
        for axes in panels[::ABREAST]:
            axes.set_ylabel(label(ylabel, 30), fontsize=9)
        if names and lines:
            figure.legend(
                *panels[0].get_legend_handles_labels(), loc="outside lower right", fontsize=8, ncols=2
            )
    return figure


def curve_table(frame: pd.DataFrame, step: str, blocks: Mapping[str, str] = MappingProxyType({})) -> Html:
    """Give the numbers of a curve: a row a step, a column a task, each with its interval.

    Parameters
    ----------
    frame
        As for :func:`curves`.
    step
        What the steps are.
    blocks
        Corpus -> what was resampled, in the singular, such as ``"file"``; of others it is ``"speaker"``.
    """
    tasks = list(dict.fromkeys(frame["task"]))
    several = frame["corpus"].nunique() > 1
    rows = []
    for (corpus, value), own in frame.groupby(["corpus", "step"], sort=False):
        cells = {row.task: _cell(row) for row in own.itertuples()}
        counts = (
            f"{own['segments'].max()} in {counted(int(own['blocks'].max()), blocks.get(corpus, 'speaker'))}"
        )
        shown = [*([corpus] if several else []), Cell(value), *(cells.get(task, "") for task in tasks)]
        rows.append([*shown, counts])
    columns = [*(["Corpus"] if several else []), step, *tasks, "Segments"]
    return table(rows, columns, sortable=False)


def _cell(row: object) -> Html | str:
    if pd.isna(row.low):
        return number(row.value)
    return two_lines(number(row.value), f"{number(row.low)} to {number(row.high)}")
