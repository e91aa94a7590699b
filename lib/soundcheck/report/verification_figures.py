"""Figures about speaker verification: both errors against each other, scores, errors of groups.

Conventions
-----------
- Rates are shares from 0 to 1 and drawn in percent; FAR is the false acceptance rate, FRR the false rejection
  rate.
- Missing scores and rates are left out; without any the axes are empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.special import ndtri

from soundcheck.report.palettes import for_words
from soundcheck.report.style import BLUE, GREY, PALETTE, RED, label, look, new, seaborn
from soundcheck.results.estimates import Estimate

MOST_CURVES = 8  # of a figure; beyond, the first ones
BINS = 60

_LINES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 3)), (0, (1, 3)))
_LONG = 36  # letters of a legend from which its columns do not fit side by side
_POINTS = 1500  # of all curves of a figure; more would be stored as pixels
_TICKS = np.array(
    [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 98, 99, 99.5, 99.9]
)
_MARKS = {"equal": ("o", "equal errors"), "minimum": ("v", "lowest cost"), "operating": ("s", "in use")}
_APART = 0.055  # share of an axis between two ticks, at least
_LETTER, _LINE, _GAP = 0.016, 0.03, 0.015  # width and height of bold letters, and around them, shares of axes


def det_figure(curves: Mapping[str, Mapping[str, object]], *, bands: bool = True) -> Figure:
    """Draw detection error trade-offs: false rejections against false acceptances.

    Axes are quantiles of the normal distribution, on which normally distributed scores give straight lines.
    Martin et al. (1997), The DET curve in assessment of detection task performance.

    Parameters
    ----------
    curves
        Name -> ``far`` and ``frr``, the curve as :func:`soundcheck.metrics.verification.det_curve` gives it,
        ``(T,)`` each; and, if known, ``equal``, the equal error rate; ``minimum`` and ``operating``, pairs of
        FAR and FRR where the cost is lowest and where the system is used; ``rates, low, high``, the 95 %
        interval of the FRR at some FAR, ``(R,)`` each. The first 8 are drawn.
    bands
        Whether to draw the intervals; of many curves they are hard to read.
    """
    shown = dict(list(curves.items())[:MOST_CURVES])
    low, high = _limits(shown)
    with look():
        figure, (axes,) = new(6.6, 6.0)
        axes.plot([low, high], [low, high], ":", color=GREY, linewidth=1)
        kinds: set[str] = set()
        handles, lines = [], {}
        for n, (name, entry) in enumerate(shown.items()):
            color = PALETTE[n]
            if bands and "rates" in entry:
                _band(axes, entry, color)
            lines[name] = _thin(entry, low, high, _POINTS // len(shown))
            axes.plot(*lines[name], linestyle=_LINES[n], color=color, linewidth=1.6)
            for kind, (marker, _) in _MARKS.items():
                if kind in entry and np.isfinite(entry[kind]).all():
                    at = np.broadcast_to(np.asarray(entry[kind], dtype=float), 2)
                    axes.plot(
                        *np.clip(_probit(at), low, high)[:, np.newaxis],
                        marker,
                        color=color,
                        markersize=7,
                        markeredgecolor="white",
                        clip_on=False,
                        zorder=4,
                    )
                    kinds.add(kind)
            handles.append(Line2D([], [], color=color, linestyle=_LINES[n], label=_with_rate(name, entry)))
        handles += [
            Line2D([], [], color=GREY, marker=marker, linestyle="", label=text)
            for kind, (marker, text) in _MARKS.items()
            if kind in kinds
        ]
        if bands and any("rates" in entry for entry in shown.values()):
            handles.append(Patch(color=GREY, alpha=0.3, linewidth=0, label="95 % interval"))
        _quantile_axes(axes, low, high)
        if len(shown) > 1:
            _name_at_curves(axes, shown, lines, low, high)
        if handles:
            columns = 2 if max(len(handle.get_label()) for handle in handles) < _LONG else 1
            figure.set_figheight(5.8 + 0.17 * -(-len(handles) // columns))
            figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=9)
        if len(shown) < len(curves):
            axes.set_title(f"the first {len(shown)} of {len(curves)}", loc="right", fontsize=9)
    return figure


def _probit(rates: np.ndarray) -> np.ndarray:
    """Map shares to normal quantiles; 0 and 1 lie beyond any axis."""
    return ndtri(np.clip(np.asarray(rates, dtype=np.float64), 1e-9, 1 - 1e-9))


def _limits(curves: Mapping[str, Mapping[str, object]]) -> tuple[float, float]:
    """Choose ticks that both axes begin and end at, as quantiles."""
    rates = [np.asarray(entry[axis], dtype=float) for entry in curves.values() for axis in ("far", "frr")]
    equal = [entry.get("equal", np.nan) for entry in curves.values()]
    others = [np.ravel(entry[kind]) for entry in curves.values() for kind in _MARKS if kind in entry]
    marked = 100 * np.concatenate([*others, 1.25 * np.array(equal), np.empty(0)])
    marked = marked[(marked > 0) & (marked < 90)]  # points where nobody is accepted lie at the edge
    smallest = [100 * rate[rate > 0].min() for rate in rates if (rate > 0).any()]
    finest = min(smallest, default=0.1)
    low = min(1.0, max(finest, min(0.1, marked.min(initial=100) / 2)))
    high = min(98.0, max(40.0, 1.2 * marked.max(initial=0)))
    start = _TICKS[max(0, int(np.searchsorted(_TICKS, low * 1.0001)) - 1)]
    end = _TICKS[int(np.searchsorted(_TICKS, high * 0.9999))]
    return float(_probit(start / 100)), float(_probit(end / 100))


def _thin(entry: Mapping[str, object], low: float, high: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Keep points of a curve that are evenly spread along what is seen of it."""
    far, frr = (np.asarray(entry[axis], dtype=np.float64) for axis in ("far", "frr"))
    there = np.isfinite(far) & np.isfinite(frr)
    if not there.any():
        return np.empty(0), np.empty(0)
    # Rates are interpolated linearly, and a line between rates is no line between quantiles.
    index, between = np.arange(there.sum()), max(1, 4 * most // int(there.sum()))
    places = np.linspace(0, index[-1], index[-1] * between + 1)
    x, y = (_probit(np.interp(places, index, rates[there])) for rates in (far, frr))
    if len(x) <= most:
        return x, y
    seen = [np.clip(part, low, high) for part in (x, y)]
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(seen[0])) + np.abs(np.diff(seen[1])))])
    kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], most - 1)))
    kept = np.union1d(kept, [len(x) - 1])
    return x[kept], y[kept]


def _band(axes: Axes, entry: Mapping[str, object], color: str) -> None:
    rates, low, high = (np.asarray(entry[name], dtype=float) for name in ("rates", "low", "high"))
    there = np.isfinite(low) & np.isfinite(high)
    x, order = _probit(rates[there]), np.argsort(rates[there])
    edges = [_probit(edge[there][order]) for edge in (low, high)]
    axes.fill_between(x[order], *edges, color=color, alpha=0.18, linewidth=0)


def _with_rate(name: str, entry: Mapping[str, object]) -> str:
    text = label(name)
    if np.isfinite(entry.get("equal", np.nan)):
        text += f", EER {100 * float(entry['equal']):.3g} %"
    return text


def _name_at_curves(
    axes: Axes,
    curves: Mapping[str, Mapping[str, object]],
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]],
    low: float,
    high: float,
) -> None:
    """Write names beside the points of equal errors, where they cover no curve and no other name."""
    drawn = np.concatenate([_dense(*line, low, high) for line in lines.values()], axis=1)
    for n, (name, entry) in enumerate(curves.items()):
        place = (float(_probit(entry.get("equal", np.nan))) - low) / (high - low)
        text = label(name, 24)
        width = _LETTER * len(text)
        right = place + 0.02, place + _GAP
        left = place - 0.02 - width, place - _LINE - _GAP
        free = [spot for spot in (right, left) if _is_free(drawn, *spot, width)]
        if not free:
            continue
        x, y = free[0]
        written = axes.text(
            *((x, y) if free[0] == right else (x + width, y)),
            text,
            ha="left" if free[0] == right else "right",
            transform=axes.transAxes,
            fontsize=9,
            fontweight="bold",
            color=for_words(PALETTE[n]),
            zorder=5,
        )
        written.set_path_effects([patheffects.withStroke(linewidth=2.5, foreground="white")])
        corners = np.meshgrid(np.linspace(x, x + width, 50), np.linspace(y, y + _LINE, 5))
        drawn = np.concatenate([drawn, np.reshape(corners, (2, -1))], axis=1)


def _is_free(drawn: np.ndarray, x: float, y: float, width: float) -> bool:
    """Say whether a line of text would lie within the axes and clear of all that is drawn."""
    beside = (drawn[0] > x - _GAP) & (drawn[0] < x + width + _GAP)
    covered = beside & (drawn[1] > y - _GAP) & (drawn[1] < y + _LINE + _GAP)
    return bool(x > 0 and y > 0 and x + width < 1 and y + _LINE < 1 and not covered.any())


def _dense(x: np.ndarray, y: np.ndarray, low: float, high: float) -> np.ndarray:
    """Place many points on a line, shares of the axes, ``(2, 2000)``."""
    shares = [(np.clip(part, low, high) - low) / (high - low) for part in (x, y)]
    if not len(x):
        return np.empty((2, 0))
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*(np.diff(part) for part in shares)))])
    return np.array([np.interp(np.linspace(0, way[-1], 2000), way, part) for part in shares])


def _quantile_axes(axes: Axes, low: float, high: float) -> None:
    places = _probit(_TICKS / 100)
    kept: list[int] = []
    for n in np.flatnonzero((places >= low - 1e-9) & (places <= high + 1e-9)):
        if not kept or places[n] - places[kept[-1]] >= _APART * (high - low):
            kept.append(int(n))
    names = [f"{_TICKS[n]:g}" for n in kept]
    axes.set_xticks(places[kept], names)
    axes.set_yticks(places[kept], names)
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    axes.set_xlabel("false acceptance rate (%)")
    axes.set_ylabel("false rejection rate (%)")


def score_histograms(
    scores: Sequence[float], target: Sequence[bool], marks: Mapping[str, float], title: str = ""
) -> Figure:
    """Draw the densities of the scores of targets and of non-targets, with thresholds as lines.

    Parameters
    ----------
    scores
        Score of each trial, ``(N,)``; NaN is left out. The lowest and highest thousandth are drawn at the
        edge, so that few extreme scores do not hide the others.
    target
        Whether both recordings are of the same speaker, ``(N,)``.
    marks
        Name -> threshold.
    title
        What is shown.
    """
    scores, target = np.asarray(scores, dtype=np.float64), np.asarray(target, dtype=bool)
    there = np.isfinite(scores)
    scores, target = scores[there], target[there]
    marked = sorted((value, name) for name, value in marks.items() if np.isfinite(value))
    with look():
        figure, (axes,) = new(7.5, 3.7 + 0.2 * len(marked))
        outer = np.quantile(scores, [0.001, 0.999]) if len(scores) else [0.0, 1.0]
        ends = [*outer, *(value for value, _ in marked)]
        edges = np.linspace(*_padded(min(ends), max(ends)), BINS + 1)
        for own, color, line, name in (
            (~target, RED, "--", "non-target"),
            (target, BLUE, "-", "target"),
        ):
            drawn = np.clip(scores[own], edges[0], edges[-1])
            bars = {
                "bins": list(edges),
                "stat": "density",
                "element": "step",
                "alpha": 0.25,
                "linewidth": 1.5,
            }
            text = f"{name} ({len(drawn):,} trials)"
            seaborn.histplot(x=drawn, color=color, linestyle=line, label=text, ax=axes, **bars)
        axes.set_xlim(edges[0], edges[-1])
        rows = 0.2 * len(marked) / (2.9 + 0.2 * len(marked))
        axes.set_ylim(0, 1.05 * (max(0.0, axes.dataLim.y1) or 1.0) / (1 - rows))
        axes.set(xlabel="score", ylabel="density")
        axes.set_title(label(title, 70), loc="left", fontsize=11)
        _named_lines(axes, marked, rows / max(1, len(marked)))
        if len(scores):
            figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def _padded(low: float, high: float) -> tuple[float, float]:
    reach = 0.02 * (high - low) or 0.5
    return low - reach, high + reach


def _named_lines(axes: Axes, marked: Sequence[tuple[float, str]], row: float) -> None:
    """Draw thresholds up to a row of text each, so that no name meets another name or its line.

    Names stand at the right of their line; a line further right ends lower. Those that do not fit there stand
    at the left, above all others.
    """
    left, right = axes.get_xlim()
    texts = [f"{label(name)}: {value:.4g}" for value, name in marked]
    room = [(right - value) / (right - left) for value, _ in marked]
    fits = [0.012 * len(text) < space for text, space in zip(texts, room, strict=True)]
    order = sorted(range(len(marked)), key=lambda n: (fits[n], n if fits[n] else -n))
    for place, n in enumerate(order):
        value, top = marked[n][0], 1 - (place + 0.5) * row
        axes.axvline(value, 0, top, color="black", linewidth=1, linestyle=_LINES[n % len(_LINES)])
        axes.annotate(
            texts[n],
            (value, top),
            xycoords=axes.get_xaxis_transform(),
            xytext=(4 if fits[n] else -4, 0),
            textcoords="offset points",
            ha="left" if fits[n] else "right",
            va="center",
            fontsize=9,
        )


def equal_error_curve(found: Mapping[int | str, Estimate], across: str) -> Figure:
    """Draw the equal error rate against the number of recordings, or their length, with its 95 % band.

    Parameters
    ----------
    found
        Number, or length in words, ascending -> the rate; what is undefined is left out.
    across
        What differs from left to right.
    """
    points = [(rate.value, rate.low, rate.high) for rate in found.values()]
    with look():
        figure, (axes,) = new(4.2, 3.2)  # narrow: telephones show all of it
        value, low, high = 100 * np.array(points, dtype=np.float64).reshape(-1, 3).T
        places = np.arange(len(found))
        axes.fill_between(places, low, high, color=BLUE, alpha=0.2, linewidth=0, label="95 % interval")
        axes.plot(places, value, color=BLUE, marker="o", label="equal error rate")
        axes.set_xticks(places, [f"{number}" for number in found])
        axes.set_ylim(0, max(1.0, 1.1 * np.nanmax(np.concatenate([high, value, [0.0]]))))
        axes.set(xlabel=across, ylabel="equal error rate (%)")
        axes.legend(loc="lower left", fontsize=9)
    return figure
