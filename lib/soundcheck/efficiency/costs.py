"""The table of costs: one row a number, with its interval and what it is computed from.

Conventions
-----------
- Intervals are 95 % and about repetition on one machine, not about other inputs. Of quantiles they are the
  exact ones of order statistics; with too few calls the upper end is infinite, or there is no interval. Of
  speeds they are t intervals of the logarithms of whole turns; with fewer than three there are none.
- A call without a prediction has no latency: quantiles are of the others, and it is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import scipy.stats

from soundcheck.efficiency.measuring import JOINED, RECORDED, Measured

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
