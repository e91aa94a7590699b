"""Recorded studies in which the truth is known, and figures of intervals, coverage, simulated differences.

The studies are benchmarks; their tables travel with the book, and a comment at the top of each says how it
was made.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.signal is loaded when first used: it takes a second
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator

from soundcheck.augment.level import rms
from soundcheck.common import resources
from soundcheck.report import formats, views
from soundcheck.report.formats import Cell
from soundcheck.report.style import BLUE, GREY, RED, look, new
from soundcheck.statistics.evidence import LEVEL

LENGTH = 256  # samples of a frame
LOWEST_DB = -40.0  # magnitude of a filter that is still shown
RESOLUTION = 8  # points of a response for each tap of its filter
LEAST = 1e-30  # power of silence


def spectra(signals: Mapping[str, np.ndarray], sampling_rate: int) -> Figure:
    """Draw the mean magnitude spectra of signals, brought to the same root mean square; silent ones not."""
    audible = {name: signal / rms(signal) for name, signal in signals.items() if rms(signal)}
    return _drawn({name: _spectrum(signal) for name, signal in audible.items()}, sampling_rate)


def magnitude_responses(filters: Mapping[str, np.ndarray], sampling_rate: int) -> Figure:
    """Draw the magnitude responses of filters, given by their impulse responses, in decibel."""
    curves = {}
    for name, taps in filters.items():
        hertz, response = scipy.signal.freqz(taps, worN=RESOLUTION * len(taps), fs=1, include_nyquist=True)
        curves[name] = hertz, 20 * np.log10(np.maximum(np.abs(response), LEAST))
    figure = _drawn(curves, sampling_rate)
    figure.axes[0].axhline(0, color=GREY, linewidth=0.8)
    figure.axes[0].set_ylim(LOWEST_DB, 10)
    return figure


def _drawn(curves: Mapping[str, tuple[np.ndarray, np.ndarray]], sampling_rate: int) -> Figure:
    """Draw levels in dB against frequencies as shares of the sampling rate."""
    rows = [
        (share * sampling_rate / 1000, level, name)
        for name, curve in curves.items()
        for share, level in zip(*curve, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["kHz", "value", "name"]).astype({"kHz": float, "value": float})
    figure = views.lines(frame, "kHz", hue="name", xlabel="frequency in kHz", ylabel="magnitude in dB")
    figure.axes[0].set_xlim(0, sampling_rate / 2000)
    return figure


def _spectrum(signal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average the power of half overlapping frames, in decibel."""
    signal = np.pad(np.asarray(signal, dtype=np.float64), (0, max(0, LENGTH - len(signal))))
    shares, power = scipy.signal.welch(signal, nperseg=LENGTH, detrend=False, scaling="spectrum")
    return shares, 10 * np.log10(np.maximum(power, LEAST))


COVERED = "intervals that contain the truth"
SIZES = (20, 60, 200, 1000)  # segments a group that are named


def recorded(name: str) -> tuple[pd.DataFrame, str]:
    """Read a table of ``book/tables``, and how it was made: command, seed, replicates, versions, date."""
    path = resources.root() / "book" / "tables" / f"{name}.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    _, *made = [line.removeprefix("# ") for line in lines if line.startswith("#")]
    return pd.read_csv(path, comment="#"), "; ".join(made)


def monte_carlo_error(data_sets: int, level: float = LEVEL) -> float:
    """Give the standard error of a coverage near ``level`` that so many data sets estimate."""
    return float(np.sqrt(level * (1 - level) / data_sets))


def percent(column: str, digits: int = 1) -> views.Column:
    """Make a column of shares in per cent; empty where there are none."""
    return lambda row: Cell(formats.percent(getattr(row, column), digits), getattr(row, column), "sc-number")


def interval_bars(frame: pd.DataFrame, unit: str) -> Figure:
    """Draw the intervals of data sets, one panel a way, with the true value as a line.

    ``frame`` has the columns ``way, data_set, low, high`` (NaN where withheld) and ``true``.
    """
    with look():
        figure, panels = new(8, 5.4, frame["way"].nunique(), 1, sharex=True, sharey=True)
        for axes, (name, sets) in zip(panels, frame.groupby("way", sort=False), strict=True):
            misses = (sets["low"] > sets["true"]) | (sets["high"] < sets["true"])
            covers = sets["low"].notna() & ~misses
            for part, text, color, line in (
                (sets[covers], "contains the true value", BLUE, "-"),
                (sets[misses], "misses it", RED, ":"),
            ):
                bars = {"color": color, "linestyle": line, "label": f"{text}: {len(part)}"}
                axes.vlines(part["data_set"], part["low"], part["high"], linewidth=2.5, **bars)
            axes.axhline(sets["true"].iloc[0], color="black", linewidth=1)
            axes.set_title(name, loc="left")
            axes.set(ylabel=unit, xlabel="data set")
            axes.legend(loc="lower left", bbox_to_anchor=(0.55, 1.0), ncols=2, fontsize=9)
    return figure


def coverage_by_correlation(frame: pd.DataFrame) -> Figure:
    """Draw how often ordinary and blockwise intervals contain the truth, beside what is published."""
    ways = ("blockwise", ""), ("blockwise", "published_"), ("ordinary", ""), ("ordinary", "published_")
    rows = [
        frame.assign(way=f"{way}, published" if by else way, coverage=frame[f"{by}{way}_coverage"])
        for way, by in ways
    ]
    drawn = pd.concat(rows).sort_values("correlation", kind="stable")
    drawn["panel"] = "blocks of " + drawn["block_size"].astype(str) + " utterances"
    about = {"xlabel": "correlation within a block", "ylabel": COVERED, "threshold": LEVEL}
    return views.lines(drawn, "correlation", y="coverage", hue="way", panels="panel", **about)


def coverage_by_speakers(frame: pd.DataFrame) -> Figure:
    """Draw how often intervals contain the truth against the number of speakers, one panel a metric.

    ``frame`` has the columns ``metric, speakers, way`` and ``coverage``.
    """
    drawn = frame.sort_values("speakers", kind="stable").astype({"speakers": str})
    about = {"xlabel": "speakers", "ylabel": COVERED, "threshold": LEVEL}
    return views.lines(drawn, "speakers", y="coverage", hue="way", panels="metric", **about)


def certainties(counts: Mapping[str, Sequence[int]]) -> Figure:
    """Draw how many data sets have a share of passing replicates in each tenth; even lines are right."""
    tenths = [f"{n / 10:g} to {(n + 1) / 10:g}" for n in range(10)]
    frame = pd.DataFrame(counts, index=tenths)
    shares = (frame / frame.sum().clip(lower=1)).rename_axis("tenth").reset_index()
    drawn = shares.melt("tenth", var_name="metric", value_name="share")
    about = {"xlabel": "share of replicates that pass", "ylabel": "share of data sets", "threshold": 0.1}
    return views.lines(drawn, "tenth", y="share", hue="metric", **about)


def simulated_maxima(
    panels: Mapping[str, pd.DataFrame], marked: Mapping[str, Sequence[tuple[int, float, int]]]
) -> Figure:
    """Draw the largest simulated difference against the size of the groups, one line a number of groups.

    ``panels`` are titles -> rows of :func:`soundcheck.statistics.simulation.recorded`; ``marked``
    titles -> published thresholds: segments a group, threshold, number of groups. They are stars and named.
    """
    frame = pd.concat([rows.assign(panel=title) for title, rows in panels.items()])
    frame = frame.sort_values(["groups", "samples"], kind="stable")
    frame["line"] = frame["groups"].astype(str) + " groups"
    frame["panel"] = pd.Categorical(frame["panel"], list(panels))
    about = {"xlabel": "segments a group", "ylabel": "largest of 1000"}
    figure = views.lines(frame, "samples", y="maximum", hue="line", panels="panel", **about)
    for axes, title in zip(figure.axes, panels, strict=False):
        stars = sorted(marked.get(title, ()))
        for samples, threshold, _ in stars:
            axes.plot(samples, threshold, marker="*", color="black", markersize=11, zorder=4)
        named = [f"★ {threshold:g}: {groups} groups of {n:,}" for n, threshold, groups in stars]
        ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
        axes.text(0.03, 0.04, "\n".join(named), transform=axes.transAxes, fontsize=8, bbox=ground, zorder=5)
        axes.set(xscale="log", yscale="log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
        axes.set_xticks(SIZES, [str(size) for size in SIZES])
        axes.minorticks_off()
    return figure
