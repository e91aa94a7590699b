"""What pages about speakers show: their true and predicted averages, and the order in which these put them.

Speakers are numbered, not named: what is shown is how far a model can be trusted with any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.ranking import quartile_overlap
from soundcheck.metrics.speakers import SpeakerValues
from soundcheck.report import page, sentences
from soundcheck.report.html import Html
from soundcheck.report.style import BLUE, GREEN, GREY, RED, label, look, new
from soundcheck.report.views import table

CLOSE = 0.2  # a predicted average within this distance is drawn as close; looser than the test
MOST_SPEAKERS = 200

Found = Sequence[tuple[Subset, SpeakerValues]]  # from evaluation.speakers.subsets_with_speakers


def averages(evaluation: Evaluation, subsets: Found, tests: Mapping[bool, str]) -> None:
    """Draw true and predicted average of each speaker; ``tests`` are by whether a task is of values."""
    for subset, name, truth, prediction in _each(subsets):
        of_values = subset.task.is_regression
        title = ", ".join(filter(None, (subset.corpus, subset.task.name, name)))
        unit = "average" if of_values else "share of segments"
        figure = average_figure(truth, prediction, title, unit)
        place = (tests[of_values], subset.corpus, subset.task.name, name)
        finding = sentences.value(evaluation.frame(), *place)
        page.show(evaluation, figure, f"True and predicted value of each speaker: {title}", finding)


def ranks(evaluation: Evaluation, subsets: Found) -> None:
    """Draw the rank of each speaker by prediction against the rank by truth."""
    for subset, name, truth, prediction in _each(subsets):
        title = ", ".join(filter(None, (subset.corpus, subset.task.name, name)))
        place = ("Spearmans Rho", subset.corpus, subset.task.name, name)
        finding = sentences.value(evaluation.frame(), *place)
        figure = rank_figure(truth, prediction, title)
        page.show(evaluation, figure, f"Rank by prediction against rank by truth: {title}", finding)


def quarters(subsets: Found) -> Html:
    """Say how much of the predicted highest and lowest quarter belongs there."""
    rows = [
        {"corpus": subset.corpus, "task": subset.task.name, "class": name, "speakers": len(truth)}
        | quartile_overlap(truth, prediction)
        for subset, name, truth, prediction in _each(subsets)
    ]
    names = {"top": "top right", "bottom": "bottom right", "confusion": "in the opposite one"}
    about = ("corpus", "task", "class", "speakers")
    return table(pd.DataFrame(rows), {name: name for name in about} | {names[one]: one for one in names})


def _each(subsets: Found) -> Iterator[tuple[Subset, str, np.ndarray, np.ndarray]]:
    for subset, found in subsets:
        for n, name in enumerate(found.labels):
            yield subset, name, found.truth[:, n], found.prediction[:, n]


def average_figure(
    truth: Sequence[float], prediction: Sequence[float], title: str = "", unit: str = "average"
) -> Figure:
    """Draw the true and predicted average of each speaker, in the order of the true ones; at most 200."""
    truth, prediction = np.asarray(truth, dtype=float), np.asarray(prediction, dtype=float)
    order = np.argsort(truth, kind="stable")
    note = f" ({MOST_SPEAKERS} of {len(truth)} speakers)" if len(truth) > MOST_SPEAKERS else ""
    order = order[np.linspace(0, len(order) - 1, min(len(order), MOST_SPEAKERS)).astype(int)]
    truth, prediction, places = truth[order], prediction[order], np.arange(len(order))
    close = np.abs(truth - prediction) < CLOSE
    with look():
        figure, (axes,) = new(min(12.0, 3.5 + 0.09 * len(order)), 3.4)
        points = {"linestyle": "none", "markersize": 5}
        axes.plot(places, truth, marker="o", color=GREY, label="truth", **points)
        for own, color, mark, name in (
            (close, GREEN, "x", f"prediction, within {CLOSE}"),
            (~close, RED, "v", "prediction, farther"),
        ):
            axes.vlines(places[own], truth[own], prediction[own], color=color, linewidth=1, alpha=0.6)
            axes.plot(places[own], prediction[own], marker=mark, color=color, label=name, **points)
        axes.set(ylim=(-0.02, 1.02), xlabel="speakers, by true value", ylabel=unit)
        axes.set_title(label(title, 50) + note, loc="left")
        figure.legend(loc="outside upper right", ncols=3, fontsize=8)
    return figure


def rank_figure(truth: Sequence[float], prediction: Sequence[float], title: str = "") -> Figure:
    """Draw the rank of each speaker by prediction against the rank by truth, with top and bottom quarter."""
    truth, prediction = np.asarray(truth, dtype=float), np.asarray(prediction, dtype=float)
    count = len(truth)
    quarter = max(1, round(count / 4)) if count > 2 else 0
    true_end, end = (_ends(values, quarter) for values in (truth, prediction))
    kinds = {
        "in its quarter": ((true_end != 0) & (true_end == end), GREEN, "o"),
        "wrongly in a quarter": ((true_end == 0) & (end != 0), RED, "^"),
        "in the opposite quarter": ((true_end != 0) & (end == -true_end), RED, "s"),
        "missed": ((true_end != 0) & (end == 0), GREY, "^"),
        "in between": ((true_end == 0) & (end == 0), GREY, "o"),
    }
    true_rank, rank = (pd.Series(values).rank().to_numpy() - 1 for values in (truth, prediction))
    with look():
        figure, (axes,) = new(5.6, 4.3)
        for low in (-0.5, count - quarter - 0.5) if quarter else ():
            axes.fill_between([low, low + quarter], low, low + quarter, color=BLUE, alpha=0.12, lw=0)
        axes.plot([0, max(1, count - 1)], [0, max(1, count - 1)], color=GREY, linestyle="--", linewidth=1)
        for name, (own, color, mark) in kinds.items():
            if own.any():
                style = {"marker": mark, "color": color, "linestyle": "none"}
                axes.plot(true_rank[own], rank[own], label=f"{name} ({own.sum()})", **style)
        limits = (-0.7, max(1, count) - 0.3)
        axes.set(xlim=limits, ylim=limits, xlabel="rank by truth", ylabel="rank by prediction")
        axes.set_aspect("equal")
        axes.set_title(label(title, 44), loc="left")
        if count:
            figure.legend(loc="outside right upper", fontsize=8)
    return figure


def _ends(values: np.ndarray, quarter: int) -> np.ndarray:
    """Say which speakers are in the bottom (-1) or top (1) quarter; ties in the order of the speakers."""
    ends = np.zeros(len(values), dtype=int)
    order = np.argsort(values, kind="stable")
    ends[order[:quarter]], ends[order[len(order) - quarter :]] = -1, 1
    return ends
