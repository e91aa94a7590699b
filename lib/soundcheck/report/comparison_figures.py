"""Figures of a comparison: where the candidate is better, and what happened to the segments.

Conventions
-----------
- Right of 0 the candidate is better, whatever the rule of the test.
- *better* is a green triangle that points up, *worse* a red one that points down, *no evidence* a grey
  circle.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from soundcheck.evaluation.comparison import Pair
from soundcheck.metrics.impact import EVENTS, impact_codes
from soundcheck.report import names as written
from soundcheck.report.figures import counts_map, heat_map
from soundcheck.report.style import GREEN, GREY, ORANGE, RED, label, look, name_ticks, new
from soundcheck.results.contrast import BETTER, NO_EVIDENCE, WORSE
from soundcheck.statistics.rules import ABOVE

MOST_ROWS = 60
_MARKS = {WORSE: (RED, "v"), BETTER: (GREEN, "^"), NO_EVIDENCE: (GREY, "o")}
_EVENT_COLORS = dict(zip(EVENTS, (RED, ORANGE, GREEN), strict=True))
_SPARSE = 0.03  # bins of predictions
_REACH = 0.4  # differences beyond are drawn at the edge


def improvements(frame: pd.DataFrame) -> Figure:
    """Draw by how much the candidate is better on each test, with the paired interval.

    Parameters
    ----------
    frame
        Contrasts of two models; beyond 60 of them, worse and better ones first. Those without a difference
        are left out.
    """
    rows = frame[frame["difference"].notna()]
    total = len(rows)
    rank = rows["outcome"].map({name: place for place, name in enumerate(_MARKS)})
    kept = rank.sort_values(kind="stable").index[:MOST_ROWS]
    rows = rows.loc[kept]
    sign = np.where(rows["rule"].eq(ABOVE), 1.0, -1.0)
    value = sign * rows["difference"].to_numpy()
    low, high = np.sort([sign * rows["low"].to_numpy(), sign * rows["high"].to_numpy()], axis=0)
    names = [_name(row, rows["corpus"].nunique() > 1) for row in rows.to_dict("records")]
    with look():
        width = 5.5 + 0.08 * max(map(len, names), default=0)
        figure, (axes,) = new(width, 1.2 + 0.26 * max(1, len(rows)))
        places = np.arange(len(rows))
        axes.axvline(0, color=GREY, linewidth=1)
        for outcome, (color, marker) in _MARKS.items():
            own = rows["outcome"].eq(outcome).to_numpy()
            axes.hlines(places[own], low[own], high[own], color=color, linewidth=2)
            axes.plot(value[own], places[own], linestyle="none", marker=marker, color=color, markersize=6.5)
        axes.set_yticks(places, names, fontsize=9)
        axes.set_ylim(max(1, len(rows)) - 0.4, -0.6)
        axes.set_xlabel("candidate worse  ←  0  →  candidate better (95 % interval of the difference)")
        if len(rows) < total:
            axes.set_title(f"{len(rows)} of {total} tests", loc="left", fontsize=9)
        handles = [
            Line2D([], [], linestyle="none", marker=marker, color=color, label=name)
            for name, (color, marker) in _MARKS.items()
        ]
        figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), fontsize=9)
    return figure


def _name(row: dict, several: bool) -> str:
    parts = [label(row["corpus"], 20)] if several else []
    parts += [row["task"], label(written.measure(row["test"]), 48)]
    parts += [label(written.label(row["group"]), 45), label(written.label(row["label"]), 30)]
    return " · ".join(filter(None, parts))


def impact_figure(pair: Pair) -> Figure:
    """Draw added errors, changed errors and corrections, and the true labels of each.

    Regression: candidate minus baseline against the baseline, in bins. Classes: how often each answer of the
    baseline became each answer of the candidate.

    Parameters
    ----------
    pair
        Two models on labelled segments.
    """
    codes = impact_codes(pair.truth, pair.baseline, pair.candidate)
    with look():
        figure, panels = new(9.6, 6.6, 2, 2)
        for n, (name, axes) in enumerate(zip(EVENTS, panels, strict=False)):
            own = codes == n
            axes.set_title(f"{name}: {own.sum()} of {(codes >= 0).sum()}", loc="left", fontsize=10)
            draw = _movements if pair.task.is_regression else _transitions
            draw(axes, pair, own)
        _truths(panels[-1], pair, codes)
    return figure


def _movements(axes: Axes, pair: Pair, own: np.ndarray) -> None:
    before = np.clip(pair.baseline[own].astype(float), 0, 1)
    moved = np.clip(pair.candidate[own].astype(float) - pair.baseline[own].astype(float), -_REACH, _REACH)
    edges, heights = np.arange(0, 1 + 2 * _SPARSE, _SPARSE), np.linspace(-_REACH, _REACH, 41)
    counts_map(axes, before, moved, [edges, heights])
    axes.axhline(0, color=GREY, linestyle="--", linewidth=1)
    axes.set(xlim=(0, 1), ylim=(-_REACH, _REACH), xlabel="baseline", ylabel="candidate − baseline")


def _transitions(axes: Axes, pair: Pair, own: np.ndarray) -> None:
    classes = list(pair.task.classes)
    place = {name: n for n, name in enumerate(classes)}
    counts = np.zeros((len(classes) + 1,) * 2, dtype=int)
    for before, after in zip(pair.baseline[own], pair.candidate[own], strict=True):
        counts[place.get(before, len(classes)), place.get(after, len(classes))] += 1
    names = [*classes, "other"]
    if not counts[-1].any() and not counts[:, -1].any():
        counts, names = counts[:-1, :-1], names[:-1]
    texts = [[str(count) if count else "" for count in row] for row in counts]
    heat_map(axes, counts, [names, names], texts, highest=max(1, counts.max()))
    axes.set(xlabel="candidate", ylabel="baseline")


def _truths(axes: Axes, pair: Pair, codes: np.ndarray) -> None:
    """Stack the true labels of the three kinds of events."""
    groups = [pair.truth[codes == n] for n in range(len(EVENTS))]
    colors = [_EVENT_COLORS[name] for name in EVENTS]
    if pair.task.is_regression:
        values = [np.clip(group.astype(float), 0, 1) for group in groups]
        axes.hist(values, bins=np.linspace(0, 1, 21), stacked=True, color=colors, label=list(EVENTS))
        axes.set(xlim=(0, 1), xlabel="truth")
    else:
        base = np.zeros(len(pair.task.classes))
        for group, color, name in zip(groups, colors, EVENTS, strict=True):
            heights = np.array([(group == one).sum() for one in pair.task.classes])
            axes.bar(range(len(base)), heights, bottom=base, color=color, label=name)
            base += heights
        name_ticks(axes, pair.task.classes)
        axes.set_xlabel("truth")
    axes.set_ylabel("segments")
    axes.set_title("true labels of these segments", loc="left", fontsize=10)
    axes.legend(fontsize=8)
