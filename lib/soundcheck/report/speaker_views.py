"""What pages about speakers show: their true and predicted averages, and the order in which these put them.

Speakers are numbered, not named: what is shown is how far a model can be trusted with any of them.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.speakers import SpeakerValues, quartile_overlap
from soundcheck.report import page, sentences
from soundcheck.report.html import Html
from soundcheck.report.style import BLUE, GREY, label, look, new
from soundcheck.report.views import listed

MOST_SPEAKERS = 200

Found = Sequence[tuple[Subset, SpeakerValues]]  # from evaluation.correctness.subsets_with_speakers


def averages(evaluation: Evaluation, subsets: Found, tests: Mapping[bool, str]) -> None:
    """Draw true and predicted average of each speaker; ``tests`` are by whether a task is of values."""
    for subset, name, truth, prediction in _each(subsets):
        test, unit = tests[subset.task.is_regression], "share of segments" if name else "average"
        title = _title(subset, name)
        finding = sentences.value(evaluation.frame(), test, subset.corpus, subset.task.name, name)
        figure = average_figure(truth, prediction, title, unit)
        page.show(evaluation, figure, f"True and predicted value of each speaker: {title}", finding)


def ranks(evaluation: Evaluation, subsets: Found) -> None:
    """Draw the rank of each speaker by prediction against the rank by truth."""
    for subset, name, truth, prediction in _each(subsets):
        title, place = _title(subset, name), (subset.corpus, subset.task.name, name)
        finding = sentences.value(evaluation.frame(), "Spearmans Rho", *place)
        figure = rank_figure(truth, prediction, title)
        page.show(evaluation, figure, f"Rank by prediction against rank by truth: {title}", finding)


def quarters(subsets: Found) -> Html:
    """Say how much of the predicted highest and lowest quarter belongs there."""
    rows = []
    for subset, name, truth, prediction in _each(subsets):
        ends = quartile_overlap(truth, prediction)
        shares = [ends[one] for one in ("top", "bottom", "confusion")]
        rows.append((subset.corpus, subset.task.name, name, len(truth), *shares))
    heads = ["corpus", "task", "class", "speakers", "top right", "bottom right", "in the opposite one"]
    return listed(rows, heads)


def _title(subset: Subset, name: str) -> str:
    return ", ".join(filter(None, (subset.corpus, subset.task.name, name)))


def _each(subsets: Found) -> Iterator[tuple[Subset, str, np.ndarray, np.ndarray]]:
    for subset, found in subsets:
        for n, name in enumerate(found.labels):
            yield subset, name, found.truth[:, n], found.prediction[:, n]


def average_figure(truth: np.ndarray, prediction: np.ndarray, title: str, unit: str = "average") -> Figure:
    """Draw the true and predicted average of each speaker, in the order of the true ones; at most 200."""
    order = np.argsort(truth, kind="stable")
    note = f" ({MOST_SPEAKERS} of {len(truth)} speakers)" if len(truth) > MOST_SPEAKERS else ""
    order = order[np.linspace(0, len(order) - 1, min(len(order), MOST_SPEAKERS)).astype(int)]
    places, points = np.arange(len(order)), {"linestyle": "none", "markersize": 5}
    with look():
        figure, (axes,) = new(min(12.0, 3.5 + 0.09 * len(order)), 3.4)
        axes.vlines(places, truth[order], prediction[order], color=BLUE, linewidth=1, alpha=0.6)
        axes.plot(places, truth[order], marker="o", color=GREY, label="truth", **points)
        axes.plot(places, prediction[order], marker="s", color=BLUE, label="prediction", **points)
        axes.set(ylim=(-0.02, 1.02), xlabel="speakers, by true value", ylabel=unit)
        axes.set_title(label(title, 50) + note, loc="left")
        figure.legend(loc="outside upper right", ncols=2, fontsize=8)
    return figure


def rank_figure(truth: np.ndarray, prediction: np.ndarray, title: str) -> Figure:
    """Draw the rank of each speaker by prediction against the rank by truth, quarters shaded."""
    count = len(truth)
    quarter = max(1, round(count / 4)) if count > 2 else 0
    ranks = [pd.Series(values).rank() - 1 for values in (truth, prediction)]
    with look():
        figure, (axes,) = new(4.4, 4.3)
        for low in (-0.5, count - quarter - 0.5) if quarter else ():
            axes.fill_between([low, low + quarter], low, low + quarter, color=BLUE, alpha=0.12, lw=0)
        axes.plot([0, max(1, count - 1)], [0, max(1, count - 1)], color=GREY, linestyle="--", linewidth=1)
        axes.plot(*ranks, linestyle="none", marker="o", color=BLUE)
        limits = (-0.7, max(1, count) - 0.3)
        axes.set(xlim=limits, ylim=limits, xlabel="rank by truth", ylabel="rank by prediction")
        axes.set_aspect("equal")
        axes.set_title(label(title, 44), loc="left")
    return figure
