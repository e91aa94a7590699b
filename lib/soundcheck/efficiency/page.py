"""The table of costs, and its page: the models, their latencies by duration, and correctness against speed.

Conventions
-----------
- The table has one row a number, with its interval and what it is computed from.
- Intervals are 95 % and about repetition on one machine, not about other inputs. Of quantiles they are the
  exact ones of order statistics; with too few calls the upper end is infinite, or there is no interval. Of
  speeds they are t intervals of the logarithms of whole turns; with fewer than three there are none.
- A call without a prediction has no latency: quantiles are of the others, and it is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace

import numpy as np
import pandas as pd
import scipy.stats
from matplotlib.figure import Figure

from soundcheck.common import templates
from soundcheck.common.media import EmbeddedMedia
from soundcheck.common.messages import counted
from soundcheck.efficiency.measuring import JOINED, RECORDED, Measured
from soundcheck.report import html, views
from soundcheck.report.formats import Cell, number, significant, stacked, value_cell
from soundcheck.report.html import Html, standalone
from soundcheck.report.style import MARKS, PALETTE, label, look, new, show
from soundcheck.results.record import KeyFigure
from soundcheck.suite.families import info_of, named

MEASURED, GIVEN = "measured", "given"  # by whom
QUANTILES = (0.5, 0.95, 0.99)
COLUMNS = ["measure", "sound_seconds", "value", "low", "high", "unit", "calls"]
ORDER = ["model", *COLUMNS, "origin"]
FEWEST_TURNS = 3  # whole ones, for an interval of speed
SPEED = "seconds of sound a second"
Row = tuple[str, float | None, float | None, float | None, float | None, str, int]


def costs(models: Sequence[Measured]) -> pd.DataFrame:
    """Make the table in ORDER; ``sound_seconds`` only where inputs had one duration, NaN = nobody knows."""
    tables = [pd.DataFrame(columns=ORDER)]
    for model in models:
        rows = _given(model) if model.given else _measured(model)
        origin = GIVEN if model.given else MEASURED
        tables.append(
            pd.DataFrame(list(rows), columns=COLUMNS, dtype=object).assign(model=model.model, origin=origin)
        )
    frame = pd.concat(tables, ignore_index=True)[ORDER]
    return frame.astype(dict.fromkeys(("sound_seconds", "value", "low", "high"), float))


def _measured(model: Measured) -> Iterator[Row]:
    calls, recorded = len(model.calls), [call for call in model.calls if call.kind == RECORDED]
    latencies = [call.seconds for call in recorded if call.seconds is not None]
    yield ("speed", None, *speed(model), SPEED, len(latencies))
    yield from (_latency(latencies, share) for share in QUANTILES)
    for length in sorted({call.duration for call in model.calls if call.kind == JOINED}):
        joined = [call for call in model.calls if call.kind == JOINED and call.duration == length]
        yield _latency([call.seconds for call in joined if call.seconds is not None], 0.5, length)
    failed = sum(call.seconds is None and not call.timed_out for call in model.calls)
    for measure, value, unit, count in (
        ("load", model.load_seconds, "s", 1),
        ("first call", model.first_seconds, "s", 1),
        ("memory after the first call", model.first_bytes or None, "bytes", 1),
        ("peak memory", model.peak_bytes or None, "bytes", calls),
        ("growth of memory", growth(model), "bytes a call", calls),
        ("size on disk", sum(model.files.values()) or None, "bytes", 0),
        ("parameters", model.parameters, "numbers", 0),
        ("calls", calls, "calls", calls),
        ("failures", failed, "calls", calls),
        ("time-outs", sum(call.timed_out for call in model.calls), "calls", calls),
        ("first calls without answer", len(model.first_problems), "calls", len(model.first_problems)),
    ):
        yield (measure, None, value, None, None, unit, count)


def _given(model: Measured) -> Iterator[Row]:
    taken, seconds = np.array(model.given).T
    value = seconds.sum() / taken.sum() if taken.sum() else None
    yield ("speed", None, value, None, None, SPEED, len(taken))
    yield from (_latency(taken.tolist(), share) for share in QUANTILES)


def _latency(seconds: Sequence[float], share: float, length: float | None = None) -> Row:
    """Give a quantile with its interval by order statistics."""
    value = low = high = None
    if seconds:
        value = float(np.quantile(seconds, share, method="inverted_cdf"))
        interval = scipy.stats.quantile_test(seconds, p=share).confidence_interval()
        if not np.isnan(interval.low):
            low, high = float(interval.low), float(np.nan_to_num(interval.high, nan=np.inf))
    return f"latency {share:.0%}", length, value, low, high, "s", len(seconds)


def speed(model: Measured) -> tuple[float | None, float | None, float | None]:
    """Give seconds of recorded sound a second: the geometric mean of whole turns, with its t interval."""
    calls = [
        (c.turn, c.duration, c.seconds) for c in model.calls if c.kind == RECORDED and c.seconds is not None
    ]
    if not calls:
        return None, None, None
    turns = pd.DataFrame(calls, columns=["turn", "sound", "took"]).groupby("turn")
    sums, counts = turns.sum(), turns.size()
    whole = np.log(sums["sound"] / sums["took"])[counts.eq(counts.max())]
    if len(whole) < FEWEST_TURNS:
        return float(sums["sound"].sum() / sums["took"].sum()), None, None
    half = scipy.stats.t.ppf(0.975, len(whole) - 1) * whole.std() / np.sqrt(len(whole))
    return tuple(float(np.exp(whole.mean() + step)) for step in (0, -half, half))


def growth(model: Measured) -> float | None:
    """Give the bytes by which a model grows with a call, from its first turn to its last."""
    if len(model.memory) < FEWEST_TURNS:
        return None
    (first, before), (last, after) = model.memory[0], model.memory[-1]
    return (after - before) / (last - first) if last > first else None


# The page ---------------------------------------------------------------------------------------------------


DIGITS = 3
BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "bytes"))
LOST = {"failures": "failed", "time-outs": "timed out", "first calls without answer": "first calls"}
GARBAGE = 1e6  # bytes a call by which memory grows without meaning anything


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
    overall = frame[frame["sound_seconds"].isna()].assign(value=lambda f: f["value"].astype(float))
    costs = {name: rows.set_index("measure") for name, rows in overall.groupby("model", sort=False)}
    speeds = overall[overall["measure"].eq("speed") & overall["value"].notna()].set_index("model")
    media = EmbeddedMedia()
    drawn = [
        show(media, _against(panel, speeds), _described(panel, speeds)) for panel in _panels(figures, speeds)
    ]
    body = templates.html(
        "efficiency",
        conclusion=_conclusion(costs, speeds["value"].sort_values(ascending=False)),
        synthetic=html.synthetic_notice(synthetic),
        summary=_summary(costs),
        notes=html.notes(notes) if notes else Html(),
        table=table,
        durations=_durations(frame[frame["sound_seconds"].notna()]),
        figures=drawn,
        machine=html.notes([f"{name}: {value}" for name, value in {**machine, "measured on": day}.items()]),
    )
    return standalone("Speed, memory and size", body)


def _conclusion(costs: Mapping[str, pd.DataFrame], speeds: pd.Series) -> str:
    """Say which model is quickest and which slowest."""
    if speeds.empty:
        return "The time of no model is known."
    ends = dict.fromkeys((speeds.index[0], speeds.index[-1]))
    parts = ", ".join(
        f"{name} takes a second for {significant(speeds[name], DIGITS)} s of sound" for name in ends
    )
    lost = [name for name, rows in costs.items() if rows["value"].reindex(list(LOST)).gt(0).any()]
    calls = f"; calls of {', '.join(lost)} failed" if lost else ""
    count = f"{len(speeds)} of " if len(speeds) < len(costs) else ""
    return f"{count}{counted(len(costs), 'model')}: {parts}{calls}."


def _summary(costs: Mapping[str, pd.DataFrame]) -> Html:
    rows = [
        {"model": name, "costs": table, "given": table["origin"].get("speed") == GIVEN}
        for name, table in costs.items()
    ]
    columns: dict[str, views.Column] = {
        "model": lambda row: stacked(row.model, "times as its file gives them" if row.given else ""),
        "sound a second": _measure("speed"),
        **{f"latency {share:.0%}, ms": _measure(f"latency {share:.0%}", 1000) for share in QUANTILES},
        "load, s": _measure("load"),
        "first call, ms": _measure("first call", 1000),
        "peak memory": _memory,
        "on disk": _measure("size on disk", write=_bytes),
        "parameters": _measure("parameters", write="{:,.0f}".format),
        "calls": lambda row: f"{row.costs.loc['speed' if row.given else 'calls', 'calls']:,.0f}",
        "no prediction": lambda row: "unknown" if row.given else _lost(row.costs),
    }
    caption = "Seconds of sound a second, latencies of recordings with intervals, memory and size"
    return views.table(rows, columns, caption=caption)


def _measure(
    measure: str, factor: float = 1.0, write: Callable[[float], str] | None = None
) -> Callable[[SimpleNamespace], Cell]:
    """Make a column of one measure, with its intervals or as it is to be written."""

    def cell(row: SimpleNamespace) -> Cell:
        value = row.costs["value"].get(measure, np.nan)
        if pd.isna(value):
            return Cell("" if row.given else "unknown", None, "sc-number")
        if write is not None:
            return Cell(write(value), value, "sc-number")
        return value_cell(*(factor * row.costs.loc[measure, ["value", "low", "high"]].astype(float)))

    return cell


def _memory(row: SimpleNamespace) -> Cell:
    names = ["peak memory", "growth of memory", "memory after the first call"]
    peak, growth, first = row.costs["value"].reindex(names)
    remark = ""
    if growth > GARBAGE:
        remark = f"grows by {_bytes(growth)} a call"
    elif pd.isna(growth) and peak > 2 * first:  # too few turns to know
        remark = f"{_bytes(first)} after the first call"
    return Cell(stacked("" if pd.isna(peak) else _bytes(peak), remark), peak, "sc-number")


def _lost(costs: pd.DataFrame) -> Cell:
    lost = costs["value"].reindex(list(LOST)).fillna(0).astype(int)
    text = ", ".join(f"{count} {LOST[name]}" for name, count in lost.items() if count)
    return Cell(text or "0", int(lost.sum()), "sc-number")


def _durations(frame: pd.DataFrame) -> Html:
    if frame.empty:
        return Html()
    times = frame.set_index(["model", "sound_seconds"])[["value", "low", "high"]].astype(float) * 1000
    columns: dict[str, views.Column] = {"model": "model"}
    for length in sorted(frame["sound_seconds"].unique()):
        columns[f"{length:g} s"] = lambda row, length=length: (
            value_cell(*times.loc[(row.model, length)]) if (row.model, length) in times.index else "unknown"
        )
    rows = frame[["model"]].drop_duplicates()
    return views.table(rows, columns, caption="Median latency in ms, by duration of the sound")


def _panels(figures: Sequence[KeyFigure], speeds: pd.DataFrame) -> list[list[KeyFigure]]:
    """Group the main measures by corpus, task and measure, of models whose speed is known."""
    panels: dict[tuple, list[KeyFigure]] = {}
    for figure in figures:
        if figure.standing and figure.value is not None and figure.model in speeds.index:
            panels.setdefault((figure.corpus, figure.task, figure.measure), []).append(figure)
    return [panel for panel in panels.values() if len(panel) > 1]


def _against(panel: Sequence[KeyFigure], speeds: pd.DataFrame) -> Figure:
    first, speeds = panel[0], speeds.loc[[about.model for about in panel]]
    with look():
        figure, (axes,) = new(5.1, 3.6 + 0.12 * len(panel))
        for place, (about, speed) in enumerate(zip(panel, speeds.itertuples(), strict=True)):
            axes.errorbar(
                *([speed.value], [about.value]),
                xerr=_arms(speed.value, speed.low, speed.high),
                yerr=_arms(about.value, about.low, about.high),
                color=PALETTE[place % len(PALETTE)],
                marker=MARKS[place % len(MARKS)],
                label=label(about.model) + (" (time as given)" if speed.origin == GIVEN else ""),
            )
        if first.guessing is not None:
            axes.axhline(first.guessing, color="0.4", linestyle=":", linewidth=1)
            axes.annotate("guessing", (0.01, first.guessing), xycoords=("axes fraction", "data"), fontsize=8)
        ends = speeds["value"].min() / 2, speeds["value"].max() * 2
        axes.set(xscale="log", xlim=ends, xlabel="seconds of sound a second: to the right is quicker")
        axes.set_ylabel(f"{first.measure}: {info_of(named(first.measure)).better} is better")
        axes.set_title(label(f"{first.task}, {first.corpus}", 60), fontsize=10, loc="left")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("{x:g}" if ends[1] < 40 * ends[0] else "")
        figure.legend(loc="outside lower left", ncols=2, fontsize=8)
    return figure


def _arms(value: float, *ends: float | None) -> list[list[float]]:
    """Give the lengths of both arms of an interval; none where there is none."""
    known = [value if end is None or not np.isfinite(end) else end for end in ends]
    return [[max(0.0, value - known[0])], [max(0.0, known[1] - value)]]


def _described(panel: Sequence[KeyFigure], speeds: pd.DataFrame) -> str:
    values = [
        f"{figure.model} {number(figure.value)} at {significant(speeds.loc[figure.model, 'value'], DIGITS)}"
        for figure in panel
    ]
    return f"{panel[0].measure} of {panel[0].task} against seconds of sound a second: {', '.join(values)}"


def _bytes(count: float) -> str:
    size, unit = next((pair for pair in BYTES if count >= pair[0]), BYTES[-1])
    return f"{significant(count / size, DIGITS)} {unit}"
