"""The rows of the table of estimates: values of measures on parts of the segments, for all families.

Conventions
-----------
- A part is resampled by itself, with the blocks that are in it: its interval does not depend on other parts.
- Intervals are of the suite's kind, on the scale of the measure.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from soundcheck.metrics.additive import round_significant
from soundcheck.results.estimates import Estimate
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import FREE, Scale
from soundcheck.statistics.fixed_speakers import FixedSpeakers, sample_interval
from soundcheck.suite.measures import MeasureInfo


def scale_within(info: MeasureInfo, found: Resampled) -> Scale:
    """Give the scale of a measure; values that lie beyond it, of a measure of somebody else, lie anywhere."""
    if not np.isfinite(info.low):
        return FREE
    known = np.append(found.replicates.ravel(), found.value)
    known = known[np.isfinite(known)]
    inside = bool(((known >= info.low) & (known <= info.high)).all())
    return Scale(info.low, info.high) if inside else FREE


def estimate_rows(
    about: Mapping[str, str],
    found: Resampled,
    fixed: FixedSpeakers,
    bounds: tuple[np.ndarray, np.ndarray],
    scale: Scale,
    *,
    speakers: bool = True,
) -> list[Estimate]:
    """Make a row a label.

    Parameters
    ----------
    about
        Model, corpus, family, task, measure, part and condition.
    found, bounds
        The values with their replicates, and their intervals for new speakers.
    fixed, scale
        Standard errors for these speakers, and where values may lie.
    speakers
        Whether blocks are speakers; else their number is not known.
    """
    rows = []
    for n, label in enumerate(found.labels):
        here = sample_interval(found.value[n], fixed.error[n], fixed.freedom[n], scale)
        numbers = (found.value[n], bounds[0][n], bounds[1][n], *round_significant(np.array(here)))
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
                excluded=found.reasons[n] or found.withheld[n],
            )
        )
    return rows


def _some(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
