"""The rows of the table of estimates: values of measures on parts of the segments, for all families.

Conventions
-----------
- A part is resampled by itself, with the blocks that are in it: its interval does not depend on other parts.
- Intervals are of the suite's kind, on the scale of the measure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from soundcheck.metrics.additive import round_significant
from soundcheck.results.estimates import Estimate
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import FREE, Scale, withheld
from soundcheck.statistics.fixed_speakers import FixedSpeakers, ForThese
from soundcheck.suite.measures import UNCHANGED, MeasureInfo, info_of

_SHARE = Scale(0.0, 1.0)


def scale_within(info: MeasureInfo, found: Resampled) -> Scale:
    """Give the scale of a measure; values that lie beyond it, of a measure of somebody else, lie anywhere."""
    if not np.isfinite(info.low):
        return FREE
    scale = Scale(info.low, info.high)
    return scale if found.lies_within(scale) else FREE


def for_these(found: Resampled, fixed: FixedSpeakers, n: int, scale: Scale, info: MeasureInfo) -> ForThese:
    """Say what is known of a value for these speakers; that of a share rests on its recordings."""
    scale, recordings = (_SHARE, int(found.segments[n])) if info.share else (scale, 0)
    return fixed.value(n, found.value[n], scale, recordings)


def estimate_rows(
    about: Mapping[str, str],
    found: Resampled,
    fixed: FixedSpeakers,
    bounds: tuple[np.ndarray, np.ndarray],
    scale: Scale,
    *,
    speakers: bool = True,
) -> list[Estimate]:
    """Make a row a label."""
    rows, info = [], info_of(about["measure"])
    for n, label in enumerate(found.labels):
        ends = info.within(found.value[n], bounds[0][n], bounds[1][n])
        here = info.within(found.value[n], *for_these(found, fixed, n, scale, info).interval())
        if info.name == UNCHANGED and not about["condition"]:  # compared with themselves
            ends, here = (found.value[n],) * 2, (np.nan, np.nan)
        why = withheld(found.value[n], *ends, int(found.blocks[n]), scale)
        numbers = (found.value[n], *((np.nan, np.nan) if why else ends), *round_significant(np.array(here)))
        value, low, high, low_sample, high_sample = map(_some, numbers)
        rows.append(
            Estimate(
                **about,
                label=label,
                value=value,
                low=low,
                high=high,
                low_sample=low_sample,
                high_sample=high_sample,
                segments=int(found.segments[n]),
                speakers=int(found.blocks[n]) if speakers else 0,
                excluded=found.reasons[n] or found.withheld[n] or why,
            )
        )
    return rows


def without_interval(row: Estimate, why: str) -> Estimate:
    """Leave out the interval of a value that has none."""
    nothing = dict.fromkeys(("low", "high", "low_sample", "high_sample"))
    return dataclasses.replace(row, **nothing, excluded=why)


def _some(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
