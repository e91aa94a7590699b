"""Figures of a corpus: how long and how loud segments are, and who speaks how much.

Conventions
-----------
- Each panel names its count; what is not known is left out of the picture and counted in the words beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from soundcheck.corpora.measures import MEASURES
from soundcheck.corpora.sound_sample import Measured
from soundcheck.report.style import BLUE, grid, label, look
from soundcheck.suite.groups import number_of, numbers_of

BINS = 30
WIDE = 50  # times the shortest that the longest may be on a linear axis
MOST = 12  # bars of a panel
MOST_PANELS = 8  # of columns; the table below the figure has all
_AGE = "age"


def recordings(segments: pd.DataFrame, sounds: Mapping[str, Measured]) -> tuple[Figure, str] | None:
    """Draw histograms: durations, segments a speaker, and what was measured.

    Parameters
    ----------
    segments
        Segment table.
    sounds
        From :func:`soundcheck.corpora.sound_sample.measured_sounds`.

    Returns
    -------
    tuple
        The figure, and what it shows; ``None`` if nothing is known.
    """
    panels: list[tuple[str, str, np.ndarray, str]] = []
    length = numbers_of(segments, "duration")
    panels.append(("duration", "s", length, "segments"))
    if "speaker" in segments:
        each = segments["speaker"].value_counts().to_numpy(dtype=np.float64)
        panels.append(("segments a speaker", "", each, "speakers"))
    for name, found in sounds.items():
        panels.append((MEASURES[name].title, MEASURES[name].unit, found.values, "segments"))
    panels = [(*rest, values[np.isfinite(values)], of) for *rest, values, of in panels]
    panels = [panel for panel in panels if len(panel[2])]
    if not panels:
        return None
    with look():
        figure, axes = grid(len(panels), 3, 3.1, 2.4)
        for one, (title, unit, values, of) in zip(axes, panels, strict=False):
            _histogram(one, values)
            one.set_title(f"{title}, {len(values):,} {of}", loc="left", fontsize=9)
            one.set(xlabel=unit, ylabel=of)
    return figure, f"Histograms: {', '.join(f'{title} of {len(v):,} {of}' for title, _, v, of in panels)}"


def _histogram(axes: Axes, values: np.ndarray) -> None:
    low, high = float(values.min()), float(values.max())
    axes.ticklabel_format(useOffset=False)
    if high == low:
        width = max(0.5, 0.05 * abs(low))
        edges = np.array([low - width, low + width])
    elif np.array_equal(values, values.round()) and high - low < 100 * BINS:
        step = max(1.0, np.ceil((high - low + 1) / BINS))  # whole numbers: bins hold equally many of them
        edges = np.arange(low - 0.5, high + step, step)
    elif low > 0 and high / low > WIDE:
        edges = np.geomspace(low, high, BINS + 1)
        axes.set_xscale("log")
    else:
        edges = np.linspace(low, high, BINS + 1)
    counts, _ = np.histogram(values, edges)
    axes.stairs(counts, edges, fill=True, color=BLUE)
    axes.yaxis.get_major_locator().set_params(integer=True)


def speakers(segments: pd.DataFrame, columns: Sequence[str]) -> tuple[Figure, str] | None:
    """Draw bars: how many speakers, or segments where none are known, each value of a column has.

    Parameters
    ----------
    segments
        Segment table.
    columns
        Columns of words; those without two values are passed over. Numbers of years in a column
        age are drawn as a histogram.

    Returns
    -------
    tuple
        The figure, and what it shows; ``None`` if there is no such column.
    """
    known = "speaker" in segments and segments["speaker"].notna().any()
    of = "speakers" if known else "segments"
    panels: list[tuple[str, pd.Series]] = []
    for column in dict.fromkeys(columns):
        if column in segments and column != "speaker" and segments[column].nunique() > 1:
            groups = segments.groupby(column)
            counts = groups["speaker"].nunique() if known else groups.size()
            ranked = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
            panels.append((column, pd.Series(dict(ranked), dtype="int64")))
    left, panels = len(panels) - MOST_PANELS, panels[:MOST_PANELS]
    ages = _ages(segments, known)
    if not panels and not len(ages):
        return None
    most = max((min(MOST, len(counts)) for _, counts in panels), default=5)
    with look():
        figure, axes = grid(len(panels) + bool(len(ages)), 3, 3.1, 0.9 + 0.2 * max(5, most))
        for one, (column, counts) in zip(axes, panels, strict=False):
            drawn = counts.iloc[:MOST]
            one.barh(range(len(drawn)), drawn.to_numpy(), color=BLUE, height=0.7)
            one.set_yticks(range(len(drawn)), [label(name, 18) for name in drawn.index], fontsize=8)
            one.set_ylim(max(5, most) - 0.4, -0.6)
            one.xaxis.get_major_locator().set_params(integer=True)
            cut = f", {MOST} of {len(counts):,}" if len(counts) > MOST else ""
            one.set_title(f"{label(column, 20)}{cut}", loc="left", fontsize=9)
            one.set_xlabel(of)
        if len(ages):
            _histogram(axes[len(panels)], ages)
            axes[len(panels)].set_title(f"{_AGE}, {len(ages):,} {of}", loc="left", fontsize=9)
            axes[len(panels)].set(xlabel="years", ylabel=of)
    words = [column + (f" ({MOST} of {len(c):,} values)" if len(c) > MOST else "") for column, c in panels]
    words += [_AGE] if len(ages) else []
    words += [f"{left} more columns in the table below"] if left > 0 else []
    return figure, f"How many {of} there are, by {', '.join(words)}"


def _ages(segments: pd.DataFrame, known: bool) -> np.ndarray:
    """Give the age of each speaker, or of each segment where speakers are not known."""
    for column in (number_of(_AGE), _AGE):
        if column in segments and pd.api.types.is_numeric_dtype(segments[column]):
            rows = segments.drop_duplicates("speaker") if known else segments
            values = rows[column].to_numpy(dtype=np.float64)
            return values[np.isfinite(values)]
    return np.array([])
