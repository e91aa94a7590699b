"""The page of costs: a table of the models, their latencies by duration, and correctness against speed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from soundcheck.common.media import EmbeddedMedia
from soundcheck.common.wording import counted
from soundcheck.efficiency.costs import GIVEN, QUANTILES
from soundcheck.report import formats, notices, views
from soundcheck.report.html import Html, element, join
from soundcheck.report.standalone import standalone
from soundcheck.report.style import MARKS, PALETTE, label, look, new, show
from soundcheck.results.record import KeyFigure

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_HOW = (
    "Each model ran in a process of its own, all of them on one core, and was asked one recording at a time; "
    "the models took turns in both directions, so that a machine that gets slower does so for all. The first "
    "call is apart, and so is loading, which leaves out the start of Python. Intervals are of 95 % and "
    "about repeating this on this machine; on another one all times are others. Latencies leave out the time "
    "to read the sound, and calls without an answer."
)
_MEMORY = (
    "Peak memory is that of the model's process, Python and libraries included; programs that end with their "
    "call are not seen. Size on disk is that of files that the model was seen to read, or that the suite "
    "names: installed packages are not in it, nor what extension modules open by themselves."
)


def page(
    frame: pd.DataFrame,
    figures: Sequence[KeyFigure],
    *,
    machine: Mapping[str, str],
    day: str,
    notes: Sequence[str],
    synthetic: bool,
    table: str,
) -> str:
    """Make the page."""
    found = _Found(frame)
    parts = [
        element("h1", "What answers cost"),
        element("p", element("strong", found.conclusion(), limit=None)),
        notices.synthetic_notice(synthetic),
        element("p", _HOW, limit=None),
        found.summary(),
        element("p", _MEMORY, limit=None),
        notices.notes(notes) if notes else Html(),
        element("p", "All numbers: ", element("a", table, href=table)),
    ]
    if durations := found.durations():
        parts += [element("h2", "By duration"), element("p", _BY_DURATION, limit=None), durations]
    panels = [panel for panel in _panels(figures) if len(found.quick(panel)) > 1]
    if panels:
        parts.append(element("h2", "Correctness against speed"))
        media = EmbeddedMedia()
        drawn = [(panel, found.quick(panel)) for panel in panels]
        parts.append(element("div", *(show(media, _against(*one), _told(*one)) for one in drawn)))
    about = [f"{name}: {value}" for name, value in {**machine, "measured on": day}.items()]
    parts += [element("h2", "Machine"), notices.notes(about)]
    return standalone("What answers cost", join(parts))


_BY_DURATION = (
    "Median latency in ms with its interval, of recordings behind each other and cut to length. A model "
    "whose latency grows faster than the duration takes longer for a second of a long recording than of a "
    "short one."
)


class _Found:
    """The table of costs, by model and measure."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.models = list(dict.fromkeys(frame["model"]))
        whole = frame[frame["sound_seconds"].isna()]
        self.rows = {(row.model, row.measure): row for row in whole.itertuples()}
        self.by_duration = frame[frame["sound_seconds"].notna()]

    def value(self, model: str, measure: str) -> float | None:
        row = self.rows.get((model, measure))
        return None if row is None or pd.isna(row.value) else float(row.value)

    def conclusion(self) -> str:
        """Say which model is quickest and which slowest; names come from data and are not escaped."""
        speeds = {name: value for name in self.models if (value := self.value(name, "speed")) is not None}
        if not speeds:
            return "No model gave an answer whose time is known."
        told = [f"{name} takes a second for {_plain(speeds[name])} s of sound" for name in self._ends(speeds)]
        lost = [name for name in self.models if any(self.value(name, what) for what in _LOST)]
        calls = f"; {', '.join(lost)} did not answer every call" if lost else ""
        count = f"{len(speeds)} of " if len(speeds) < len(self.models) else ""
        return f"{count}{counted(len(self.models), 'model')}: {', '.join(told)}{calls}."

    def _ends(self, speeds: Mapping[str, float]) -> Iterable[str]:
        order = sorted(speeds, key=speeds.__getitem__)
        return dict.fromkeys((order[-1], order[0]))

    def summary(self) -> Html:
        columns = ["model", "sound a second", *(f"latency {share:.0%}, ms" for share in QUANTILES)]
        columns += ["load, s", "first call, ms", "peak memory", "on disk", "parameters", "calls", "no answer"]
        caption = "What answers cost: seconds of sound a second, and latencies of recordings, with intervals"
        return views.listed([self._row(name) for name in self.models], columns, caption=caption)

    def _row(self, model: str) -> list:
        speed = self.rows.get((model, "speed"))
        given = speed is not None and speed.origin == GIVEN
        row = [formats.two_lines(model, "times as its file gives them") if given else model]
        row.append(_cell(speed))
        row += [_cell(self.rows.get((model, f"latency {share:.0%}")), 1000) for share in QUANTILES]
        load, first = self.value(model, "load"), self.value(model, "first call")
        row += [formats.Cell(_plain(load), load, "sc-number"), _number(first, 1000)]
        peak, more = self.value(model, "peak memory"), self.value(model, "growth of memory")
        early = self.value(model, "memory after the first call")
        told = ""
        if more is not None and more > 1e6:  # less is what garbage collectors do
            told = f"grows by {_bytes(more)} a call"
        elif more is None and early is not None and peak > 2 * early:  # too few turns to know
            told = f"{_bytes(early)} after the first call"
        row.append(
            formats.Cell(formats.two_lines(_bytes(peak), told) if told else _bytes(peak), peak, "sc-number")
        )
        disk, numbers = self.value(model, "size on disk"), self.value(model, "parameters")
        row.append(formats.Cell(_bytes(disk) or "unknown" * (not given), disk, "sc-number"))
        row.append(
            formats.Cell(f"{numbers:,.0f}" if numbers else "unknown" * (not given), numbers, "sc-number")
        )
        calls = self.value(model, "calls") if not given else speed.calls
        row.append(formats.Cell(f"{calls:,.0f}", calls, "sc-number"))
        lost = {what: int(self.value(model, what) or 0) for what in _LOST}
        told = ", ".join(f"{count} {_LOST[what]}" for what, count in lost.items() if count)
        row.append(formats.Cell(told or "unknown" * given or "0", sum(lost.values()), "sc-number"))
        return row

    def durations(self) -> Html:
        lengths = sorted(set(self.by_duration["sound_seconds"]))
        if not lengths:
            return Html()
        known = {(row.model, row.sound_seconds): row for row in self.by_duration.itertuples()}
        names = [name for name in self.models if any((name, length) in known for length in lengths)]
        rows = [[name, *(_cell(known.get((name, length)), 1000) for length in lengths)] for name in names]
        caption = "Median latency in ms, by duration of the sound"
        return views.listed(rows, ["model", *(f"{length:g} s" for length in lengths)], caption=caption)

    def quick(self, panel: Sequence[KeyFigure]) -> list[tuple[KeyFigure, tuple]]:
        """Give the figures of models whose speed is known, with the row of it."""
        return [(one, self.rows[one.model, "speed"]) for one in panel if self.value(one.model, "speed")]


_LOST = {
    "failures": "failed",
    "time-outs": "timed out",
    "first calls without answer": "first calls",
}


def _panels(figures: Sequence[KeyFigure]) -> list[list[KeyFigure]]:
    """Group the main measures by corpus, task and measure."""
    panels: dict[tuple, list[KeyFigure]] = {}
    for one in figures:
        if one.standing and one.value is not None:
            panels.setdefault((one.corpus, one.task, one.measure), []).append(one)
    return list(panels.values())


def _against(panel: Sequence[KeyFigure], shown: Sequence[tuple[KeyFigure, tuple]]) -> Figure:
    one = panel[0]
    with look():
        figure, (axes,) = new(5.1, 3.6 + 0.12 * len(shown))
        for number, (about, speed) in enumerate(shown):
            color, mark = PALETTE[number % len(PALETTE)], MARKS[number % len(MARKS)]
            across = _bars(speed.value, speed.low, speed.high)
            up = _bars(about.value, about.low, about.high)
            name = label(about.model) + (" (time as given)" if speed.origin == GIVEN else "")
            axes.errorbar(
                [speed.value], [about.value], yerr=up, xerr=across, color=color, marker=mark, label=name
            )
        if one.guessing is not None:
            axes.axhline(one.guessing, color="0.4", linestyle=":", linewidth=1)
            axes.annotate("guessing", (0.01, one.guessing), xycoords=("axes fraction", "data"), fontsize=8)
        speeds = [speed.value for _, speed in shown]
        axes.set_xscale("log")
        axes.set_xlim(min(speeds) / 2, max(speeds) * 2)
        wide = max(speeds) > 10 * min(speeds)
        axes.xaxis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("seconds of sound a second: to the right is quicker")
        better = "higher" if one.measure in _HIGHER else "lower"
        axes.set_ylabel(f"{one.measure}: {better} is better")
        axes.set_title(label(f"{one.task}, {one.corpus}", 60), fontsize=10, loc="left")
        figure.legend(loc="outside lower left", ncols=2, fontsize=8)
    return figure


_HIGHER = ("concordance", "unweighted average recall")


def _bars(value: float, low: float | None, high: float | None) -> list[list[float]]:
    """Give the lengths of both arms of an interval; none where there is none."""
    ends = [value if end is None or not np.isfinite(end) else end for end in (low, high)]
    return [[max(0.0, value - ends[0])], [max(0.0, ends[1] - value)]]


def _told(panel: Sequence[KeyFigure], shown: Sequence[tuple[KeyFigure, tuple]]) -> str:
    values = [f"{a.model} {formats.number(a.value)} at {_plain(speed.value)}" for a, speed in shown]
    return f"{panel[0].measure} of {panel[0].task} against seconds of sound a second: {', '.join(values)}"


def _cell(row: tuple | None, factor: float = 1.0) -> formats.Cell:
    """Show a number above its interval."""
    if row is None or pd.isna(row.value):
        return formats.Cell("unknown", None, "sc-number")
    value, low, high = (_plain(factor * bound) for bound in (row.value, row.low, row.high))
    bounds = f"{low} or more" if high == "∞" else f"{low} to {high}"
    shown = formats.two_lines(value, bounds) if low and high else value
    return formats.Cell(shown, row.value, "sc-number")


def _number(value: float | None, factor: float) -> formats.Cell:
    return formats.Cell("" if value is None else _plain(factor * value), value, "sc-number")


def _plain(value: float | None) -> str:
    """Write three digits that count."""
    if value is None or pd.isna(value):
        return ""
    if np.isinf(value):
        return "∞"
    digits = 2 - int(np.floor(np.log10(value))) if value > 0 else 0
    return f"{round(value, digits):,.{max(0, min(3, digits))}f}"


def _bytes(count: float | None) -> str:
    if count is None:
        return ""
    size, unit = next((pair for pair in _UNITS if count >= pair[0]), (1, "bytes"))
    return f"{_plain(count / size)} {unit}"
