"""The table of costs: one row a number, with its interval and what it rests on.

Conventions
-----------
- Intervals are 95 % and about repetition on one machine, not about other inputs. Of quantiles they are the
  exact ones of order statistics; with too few calls the upper end is infinite, or there is no interval. Of
  speeds they are t intervals of the logarithms of whole turns; with fewer than three there are none.
- A call without an answer has no latency: quantiles are of the answered ones, and the others are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import scipy.stats

from soundcheck.efficiency.measuring import JOINED, RECORDED, Measured

MEASURED, GIVEN = "measured", "given"  # by whom
QUANTILES = (0.5, 0.95, 0.99)
COLUMNS = ["model", "measure", "sound_seconds", "value", "low", "high", "unit", "calls", "origin"]
_TURNS = 3  # whole ones, for an interval of speed


def costs(models: Sequence[Measured]) -> pd.DataFrame:
    """Make the table of COLUMNS; ``sound_seconds`` only where inputs had one duration, NaN = nobody knows."""
    rows = [row for model in models for row in (_given(model) if model.given else _measured(model))]
    return pd.DataFrame(rows, columns=COLUMNS)


def _measured(model: Measured) -> Iterator[tuple]:
    def row(
        measure: str, value: float | None, unit: str, calls: int = 0, *bounds: float, sound=None
    ) -> tuple:
        low, high = bounds or (None, None)
        return (model.model, measure, sound, value, low, high, unit, calls, MEASURED)

    recorded = [c.seconds for c in model.calls if c.kind == RECORDED and c.seconds is not None]
    value, low, high = speed(model)
    yield row("speed", value, "seconds of sound a second", len(recorded), low, high)
    for share in QUANTILES:
        yield row(f"latency {share:.0%}", *_with_unit(recorded, share))
    for length in sorted({call.duration for call in model.calls if call.kind == JOINED}):
        own = [c.seconds for c in model.calls if c.kind == JOINED and c.duration == length]
        yield row("latency 50%", *_with_unit([s for s in own if s is not None], 0.5), sound=length)
    yield row("load", model.load_seconds, "s", 1)
    yield row("first call", model.first_seconds, "s", 1)
    yield row("memory after the first call", model.first_bytes or None, "bytes", 1)
    yield row("peak memory", model.peak_bytes or None, "bytes", len(model.calls))
    yield row("growth of memory", growth(model), "bytes a call", len(model.calls))
    yield row("size on disk", sum(model.files.values()) or None, "bytes")
    yield row("parameters", model.parameters, "numbers")
    yield row("calls", len(model.calls), "calls", len(model.calls))
    failed = sum(call.seconds is None and not call.timed_out for call in model.calls)
    yield row("failures", failed, "calls", len(model.calls))
    yield row("time-outs", sum(call.timed_out for call in model.calls), "calls", len(model.calls))
    yield row("first calls without answer", len(model.first_problems), "calls", len(model.first_problems))


def _given(model: Measured) -> Iterator[tuple]:
    taken, seconds = np.array(model.given).T
    unit, count = "seconds of sound a second", len(taken)
    value = seconds.sum() / taken.sum() if taken.sum() else None
    yield (model.model, "speed", None, value, None, None, unit, count, GIVEN)
    for share in QUANTILES:
        value, unit, count, low, high = _with_unit(taken.tolist(), share)
        yield (model.model, f"latency {share:.0%}", None, value, low, high, unit, count, GIVEN)


def _with_unit(seconds: Sequence[float], share: float) -> tuple:
    return (*_quantile(seconds, share)[:1], "s", len(seconds), *_quantile(seconds, share)[1:])


def _quantile(values: Sequence[float], share: float) -> tuple[float | None, float | None, float | None]:
    """Give a quantile with its interval by order statistics."""
    if not values:
        return None, None, None
    found = scipy.stats.quantile_test(values, p=share).confidence_interval()
    value = float(np.quantile(values, share, method="inverted_cdf"))
    if np.isnan(found.low):
        return value, None, None
    return value, float(found.low), float(np.nan_to_num(found.high, nan=np.inf))


def speed(model: Measured) -> tuple[float | None, float | None, float | None]:
    """Give seconds of recorded sound a second: the geometric mean of whole turns, with its t interval."""
    turns: dict[int, list] = {}
    for call in model.calls:
        if call.kind == RECORDED and call.seconds is not None:
            turns.setdefault(call.turn, []).append((call.duration, call.seconds))
    if not turns:
        return None, None, None
    sums = {turn: np.sum(own, axis=0) for turn, own in turns.items()}
    sound, took = np.sum(list(sums.values()), axis=0)
    most = max(map(len, turns.values()))
    whole = [np.log(sums[turn][0] / sums[turn][1]) for turn, own in turns.items() if len(own) == most]
    if len(whole) < _TURNS:
        return float(sound / took), None, None
    half = scipy.stats.t.ppf(0.975, len(whole) - 1) * np.std(whole, ddof=1) / np.sqrt(len(whole))
    middle = np.mean(whole)
    return tuple(float(np.exp(middle + step)) for step in (0, -half, half))


def growth(model: Measured) -> float | None:
    """Give the bytes by which a model grows with a call, from its first turn to its last."""
    if len(model.memory) < _TURNS:
        return None
    (first, before), (last, after) = model.memory[0], model.memory[-1]
    return (after - before) / (last - first) if last > first else None
