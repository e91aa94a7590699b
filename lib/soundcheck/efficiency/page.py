"""The page of costs: a table of the models, their latencies by duration, and correctness against speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from soundcheck.common import templates
from soundcheck.common.media import EmbeddedMedia
from soundcheck.common.wording import counted
from soundcheck.efficiency.costs import GIVEN, QUANTILES
from soundcheck.report import notices, views
from soundcheck.report.formats import Cell, number, stacked
from soundcheck.report.html import Html
from soundcheck.report.standalone import standalone
from soundcheck.report.style import MARKS, PALETTE, label, look, new, show
from soundcheck.results.record import KeyFigure

Costs = Mapping[str, tuple]  # measure -> its row, of one model

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_LOST = {"failures": "failed", "time-outs": "timed out", "first calls without answer": "first calls"}
_HIGHER = ("concordance", "unweighted average recall")


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
    """Make the page of a table of costs, whose address is ``table``; figures say how good the models are."""
    whole = frame[frame["sound_seconds"].isna()]
    costs = {
        name: {row.measure: row for row in own.itertuples()}
        for name, own in whole.groupby("model", sort=False)
    }
    media = EmbeddedMedia()
    drawn = [
        show(media, _against(*one), _described(*one))
        for panel in _panels(figures, costs)
        for one in [(panel, [(about, costs[about.model]["speed"]) for about in panel])]
    ]
    about = [f"{name}: {value}" for name, value in {**machine, "measured on": day}.items()]
    body = templates.html(
        "efficiency",
        conclusion=_conclusion(costs),
        synthetic=notices.synthetic_notice(synthetic),
        summary=_summary(costs),
        notes=notices.notes(notes) if notes else Html(),
        table=table,
        durations=_durations(frame[frame["sound_seconds"].notna()]),
        figures=drawn,
        machine=notices.notes(about),
    )
    return standalone("Speed, memory and size", body)


def _value(costs: Costs, measure: str) -> float | None:
    row = costs.get(measure)
    return None if row is None or pd.isna(row.value) else float(row.value)


def _is_given(costs: Costs) -> bool:
    return "speed" in costs and costs["speed"].origin == GIVEN


def _conclusion(costs: Mapping[str, Costs]) -> str:
    """Say which model is quickest and which slowest."""
    speeds = {name: value for name, own in costs.items() if (value := _value(own, "speed")) is not None}
    if not speeds:
        return "The time of no model is known."
    order = sorted(speeds, key=speeds.__getitem__)
    ends = dict.fromkeys((order[-1], order[0]))
    parts = ", ".join(f"{name} takes a second for {_plain(speeds[name])} s of sound" for name in ends)
    lost = [name for name, own in costs.items() if any(_value(own, what) for what in _LOST)]
    calls = f"; calls of {', '.join(lost)} failed" if lost else ""
    count = f"{len(speeds)} of " if len(speeds) < len(costs) else ""
    return f"{count}{counted(len(costs), 'model')}: {parts}{calls}."


def _summary(costs: Mapping[str, Costs]) -> Html:
    latencies = {f"latency {share:.0%}, ms": _number(f"latency {share:.0%}", 1000) for share in QUANTILES}
    columns = {
        "model": lambda row: (
            stacked(row.model, "times as its file gives them") if _is_given(row.costs) else row.model
        ),
        "sound a second": _number("speed"),
        **latencies,
        "load, s": _number("load", unknown=""),
        "first call, ms": _number("first call", 1000, unknown=""),
        "peak memory": lambda row: _memory(row.costs),
        "on disk": lambda row: _size(row.costs, "size on disk", _bytes),
        "parameters": lambda row: _size(row.costs, "parameters", "{:,.0f}".format),
        "calls": lambda row: _calls(row.costs),
        "no answer": lambda row: _lost(row.costs),
    }
    caption = "Seconds of sound a second, latencies of recordings with intervals, memory and size"
    return views.table(
        [{"model": name, "costs": own} for name, own in costs.items()], columns, caption=caption
    )


def _number(measure: str, factor: float = 1.0, unknown: str = "unknown") -> Callable[[SimpleNamespace], Cell]:
    return lambda row: _cell(row.costs.get(measure), factor, unknown)


def _cell(row: tuple | None, factor: float = 1.0, unknown: str = "unknown") -> Cell:
    """Show a number above its interval."""
    if row is None or pd.isna(row.value):
        return Cell(unknown, None, "sc-number")
    value, low, high = (_plain(factor * bound) for bound in (row.value, row.low, row.high))
    bounds = f"{low} or more" if high == "∞" else f"{low} to {high}"
    return Cell(stacked(value, bounds) if low and high else value, row.value, "sc-number")


def _memory(costs: Costs) -> Cell:
    peak, more = _value(costs, "peak memory"), _value(costs, "growth of memory")
    early, remark = _value(costs, "memory after the first call"), ""
    if more is not None and more > 1e6:  # less is what garbage collectors do
        remark = f"grows by {_bytes(more)} a call"
    elif more is None and early is not None and peak > 2 * early:  # too few turns to know
        remark = f"{_bytes(early)} after the first call"
    shown = "" if peak is None else _bytes(peak)
    return Cell(stacked(shown, remark) if remark else shown, peak, "sc-number")


def _size(costs: Costs, measure: str, written: Callable[[float], str]) -> Cell:
    value = _value(costs, measure)
    unknown = "" if _is_given(costs) else "unknown"
    return Cell(written(value) if value else unknown, value, "sc-number")


def _calls(costs: Costs) -> Cell:
    calls = costs["speed"].calls if _is_given(costs) else _value(costs, "calls")
    return Cell(f"{calls:,.0f}", calls, "sc-number")


def _lost(costs: Costs) -> Cell:
    lost = {what: int(_value(costs, what) or 0) for what in _LOST}
    text = ", ".join(f"{count} {_LOST[what]}" for what, count in lost.items() if count)
    return Cell(text or ("unknown" if _is_given(costs) else "0"), sum(lost.values()), "sc-number")


def _durations(frame: pd.DataFrame) -> Html:
    if frame.empty:
        return Html()
    rows = [
        {"model": name, **{f"{row.sound_seconds:g} s": _cell(row, 1000) for row in own.itertuples()}}
        for name, own in frame.groupby("model", sort=False)
    ]
    lengths = [f"{length:g} s" for length in sorted(frame["sound_seconds"].unique())]
    rows = [{"model": row["model"]} | {one: row.get(one, _cell(None)) for one in lengths} for row in rows]
    return views.table(rows, caption="Median latency in ms, by duration of the sound")


def _panels(figures: Sequence[KeyFigure], costs: Mapping[str, Costs]) -> list[list[KeyFigure]]:
    """Group the main measures by corpus, task and measure, of models whose speed is known."""
    panels: dict[tuple, list[KeyFigure]] = {}
    for one in figures:
        if one.standing and one.value is not None and _value(costs.get(one.model, {}), "speed"):
            panels.setdefault((one.corpus, one.task, one.measure), []).append(one)
    return [panel for panel in panels.values() if len(panel) > 1]


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


def _bars(value: float, low: float | None, high: float | None) -> list[list[float]]:
    """Give the lengths of both arms of an interval; none where there is none."""
    ends = [value if end is None or not np.isfinite(end) else end for end in (low, high)]
    return [[max(0.0, value - ends[0])], [max(0.0, ends[1] - value)]]


def _described(panel: Sequence[KeyFigure], shown: Sequence[tuple[KeyFigure, tuple]]) -> str:
    values = [f"{a.model} {number(a.value)} at {_plain(speed.value)}" for a, speed in shown]
    return f"{panel[0].measure} of {panel[0].task} against seconds of sound a second: {', '.join(values)}"


def _plain(value: float | None) -> str:
    """Write three digits that count."""
    if value is None or pd.isna(value):
        return ""
    if np.isinf(value):
        return "∞"
    digits = 2 - int(np.floor(np.log10(value))) if value > 0 else 0
    return f"{round(value, digits):,.{max(0, min(3, digits))}f}"


def _bytes(count: float) -> str:
    size, unit = next((pair for pair in _UNITS if count >= pair[0]), (1, "bytes"))
    return f"{_plain(count / size)} {unit}"
