"""Shapes of distributions: histograms, smooth densities and counts in two directions.

Conventions
-----------
- A density has Gaussian kernels of Scott's width, and is drawn from the lowest to the highest value.
- Every histogram is one shape and not a bar for each bin: a page has thousands of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

POINTS = 200  # of a density
FLAT = 1e-9  # standard deviation below which values are constant


def density(
    values: Sequence[float], weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Estimate a smooth density.

    Parameters
    ----------
    values
        Numbers, ``(N,)``; missing ones are left out, those outside 0..1 put at its edge.
    weights
        Of the values, ``(N,)``; default: all alike.

    Returns
    -------
    tuple of numpy.ndarray, or None
        Places from the lowest to the highest value, and the density there, ``(200,)`` each; a single place
        and no density for constant values, ``None`` without any.
    """
    values = np.asarray(values, dtype=float)
    known = np.isfinite(values)
    values, weights = np.clip(values[known], 0, 1), None if weights is None else weights[known]
    if len(values) == 0:
        return None
    return _smooth(values, weights) if np.std(values) >= FLAT else (values[:1], np.empty(0))


def _smooth(values: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    shares = np.full(len(values), 1 / len(values)) if weights is None else weights / weights.sum()
    # As scipy.stats.gaussian_kde, which takes four times as long for a few values.
    width = np.sum(shares**2) ** 0.2 * np.sqrt(np.cov(values, aweights=shares))
    places = np.linspace(values.min(), values.max(), POINTS)
    heights = [shares @ np.exp(-0.5 * ((place - values) / width) ** 2) for place in places]
    return places, np.array(heights) / (width * np.sqrt(2 * np.pi))


def draw_density(axes: Axes, outline: tuple[np.ndarray, np.ndarray] | None, color: str, filled: bool) -> None:
    """Draw a density; constant values as a line where they are."""
    if outline is None:
        return
    places, heights = outline
    if not len(heights):
        axes.axvline(places[0], color=color, linewidth=2)
    elif filled:
        colors = {"facecolor": to_rgba(color, 0.35), "edgecolor": to_rgba(color)}
        axes.fill_between(places, 0, heights, linewidth=1, **colors)
    else:
        axes.plot(places, heights, color=color, linewidth=2)


def histogram(
    axes: Axes,
    values: np.ndarray,
    edges: np.ndarray,
    stat: str,
    color: str,
    line: str = "-",
    **options: object,
) -> None:
    """Draw a histogram with a smooth density (Scott's rule); of constant values the bar alone.

    Parameters
    ----------
    axes
        Where.
    values
        Finite numbers, ``(N,)``.
    edges
        Of the bins, all of one width.
    stat
        What heights are: ``count``, ``percent`` or ``density``.
    color, line
        Colour, and style of the density's line.
    options
        Of :meth:`matplotlib.axes.Axes.stairs`.
    """
    if not len(values):
        return
    counts, _ = np.histogram(values, edges)
    width = edges[1] - edges[0]
    total = counts.sum()
    one = {"count": 1.0, "percent": 100 / max(1, total), "density": 1 / max(1e-300, width * total)}[stat]
    axes.stairs(one * counts, edges, fill=True, **{"color": color, "alpha": 0.3, "linewidth": 0} | options)
    if np.std(values) > FLAT:
        places, heights = _smooth(values)
        axes.plot(places, one * total * width * heights, color=color, linestyle=line, linewidth=1.5)


def counts_map(
    axes: Axes, x: np.ndarray, y: np.ndarray, edges: Sequence[np.ndarray], cbar: bool = False
) -> None:
    """Draw how many segments lie where, empty bins white.

    Parameters
    ----------
    axes
        Where.
    x, y
        Finite numbers, ``(N,)``.
    edges
        Of the bins, for both directions.
    cbar
        Whether to draw the scale of the colours.
    """
    if not len(x):
        return
    counts = np.histogram2d(x, y, bins=edges)[0].T
    shown = np.ma.masked_equal(counts, 0)
    mesh = axes.pcolormesh(*edges, shown, vmin=0, vmax=counts.max(), cmap="viridis_r", rasterized=True)
    if cbar:
        axes.figure.colorbar(mesh, ax=axes, label="segments")
