"""Figures of speakers: their true and predicted averages, and the order in which these put them.

Speakers are numbered, not named: what is shown is how far a model can be trusted with any of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from soundcheck.report.style import BLUE, GREEN, GREY, RED, label, look, new

CLOSE = 0.2  # a predicted average within this distance is drawn as close; looser than the test
MOST = 200  # speakers of a figure
QUARTER = 0.25


def averages(
    truth: Sequence[float], prediction: Sequence[float], title: str = "", unit: str = "average"
) -> Figure:
    """Draw the true and predicted average of each speaker, in the order of the true ones.

    Parameters
    ----------
    truth, prediction
        Averages or shares from 0 to 1, ``(speakers,)``; beyond 200 evenly chosen ones are drawn.
    title
        What is shown.
    unit
        Name of the vertical axis.
    """
    truth, prediction = np.asarray(truth, dtype=float), np.asarray(prediction, dtype=float)
    order = np.argsort(truth, kind="stable")
    note = ""
    if len(order) > MOST:
        order = order[np.linspace(0, len(order) - 1, MOST).astype(int)]
        note = f" ({MOST} of {len(truth)} speakers)"
    truth, prediction = truth[order], prediction[order]
    close = np.abs(truth - prediction) < CLOSE
    with look():
        figure, (axes,) = new(min(12.0, 3.5 + 0.09 * len(order)), 3.4)
        places = np.arange(len(order))
        for own, color, marker in ((close, GREEN, "x"), (~close, RED, "v")):
            axes.vlines(places[own], truth[own], prediction[own], color=color, linewidth=1, alpha=0.6)
            axes.plot(
                places[own], prediction[own], linestyle="none", marker=marker, color=color, markersize=6
            )
        axes.plot(places, truth, linestyle="none", marker="o", color=GREY, markersize=5)
        axes.set(ylim=(-0.02, 1.02), xlabel="speakers, by true value", ylabel=unit)
        axes.set_title(label(title, 50) + note, loc="left")
        handles = [
            Line2D([], [], linestyle="none", marker="o", color=GREY, label="truth"),
            Line2D([], [], linestyle="none", marker="x", color=GREEN, label=f"prediction, within {CLOSE}"),
            Line2D([], [], linestyle="none", marker="v", color=RED, label="prediction, farther"),
        ]
        figure.legend(handles=handles, loc="outside upper right", ncols=3, fontsize=8)
    return figure


def ranks(truth: Sequence[float], prediction: Sequence[float], title: str = "") -> Figure:
    """Draw the rank of each speaker by prediction against the rank by truth, with top and bottom quarter.

    Parameters
    ----------
    truth, prediction
        Averages of each speaker, ``(speakers,)``.
    title
        What is shown.
    """
    truth, prediction = np.asarray(truth, dtype=float), np.asarray(prediction, dtype=float)
    n = len(truth)
    true_rank, rank = (pd.Series(values).rank().to_numpy() - 1 for values in (truth, prediction))
    quarter = max(1, round(QUARTER * n)) if n > 2 else 0
    true_end, end = (_ends(values, quarter) for values in (truth, prediction))
    kinds = {
        "in its quarter": ((true_end != 0) & (true_end == end), GREEN, "o"),
        "wrongly in a quarter": ((true_end == 0) & (end != 0), RED, "^"),
        "in the opposite quarter": ((true_end != 0) & (end == -true_end), RED, "s"),
        "missed": ((true_end != 0) & (end == 0), GREY, "^"),
        "in between": ((true_end == 0) & (end == 0), GREY, "o"),
    }
    with look():
        figure, (axes,) = new(5.6, 4.3)
        if quarter:
            for low in (-0.5, n - quarter - 0.5):
                axes.fill_between([low, low + quarter], low, low + quarter, color=BLUE, alpha=0.12, lw=0)
        axes.plot([0, max(1, n - 1)], [0, max(1, n - 1)], color=GREY, linestyle="--", linewidth=1)
        for name, (own, color, marker) in kinds.items():
            if own.any():
                axes.plot(
                    true_rank[own],
                    rank[own],
                    linestyle="none",
                    marker=marker,
                    color=color,
                    label=f"{name} ({own.sum()})",
                )
        axes.set(xlim=(-0.7, max(1, n) - 0.3), ylim=(-0.7, max(1, n) - 0.3))
        axes.set(xlabel="rank by truth", ylabel="rank by prediction")
        axes.set_aspect("equal")
        axes.set_title(label(title, 44), loc="left")
        if n:
            figure.legend(loc="outside right upper", fontsize=8)
    return figure


def _ends(values: np.ndarray, quarter: int) -> np.ndarray:
    """Say which speakers are in the bottom (-1) or top (1) quarter; ties in the order of the speakers."""
    ends = np.zeros(len(values), dtype=int)
    if quarter:
        order = np.argsort(values, kind="stable")
        ends[order[:quarter]] = -1
        ends[order[-quarter:]] = 1
    return ends
