"""At which level of something that grows a quantity reaches a limit, with an interval.

Conventions
-----------
- The *excess* is the quantity minus its limit at each level, from mild to severe: below 0 as long as the
  limit is not reached. Between two levels it is interpolated linearly.
- Levels are places: 0 is the mildest, 1.5 lies in the middle between the second and the third one. What
  happens before the mildest level is not known.
- The crossing is the first place at which the excess reaches 0, whatever follows: minus infinity if it does
  so at the mildest level already, infinity if it does so nowhere.
- The interval turns a test around: it begins where the upper bound of the excess reaches 0, so that from
  there on the limit may have been reached, and ends where the lower bound does, so that it surely has. This
  is how Fieller treats ratios; unlike quantiles of replicated crossings it is honest with few blocks.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import interval

FINENESS = 8  # places between two levels at which bounds are computed


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Where a limit is reached, as places of levels; see the conventions of this module."""

    place: float  # the crossing; NaN if it is unknown
    low: float  # its 95 % interval, the milder end first; NaN if it is withheld
    high: float


def first_reached(excess: np.ndarray, places: np.ndarray) -> float:
    """Find the first place at which an excess reaches 0, linearly interpolated.

    >>> places = np.arange(3.0)
    >>> [first_reached(np.array(e), places) for e in ([-3, -1, 1], [-3, -2, -1], [0, -1, 1])]
    [1.5, inf, -inf]
    """
    if np.isnan(excess).any():
        return np.nan
    reached = np.flatnonzero(excess >= 0)
    if not len(reached):
        return np.inf
    n = int(reached[0])
    if not n:
        return -np.inf
    before, after = excess[n - 1], excess[n]
    return float(places[n - 1] + (places[n] - places[n - 1]) * before / (before - after))


def crossing(excess: Resampled, kind: str = "t") -> Crossing:
    """Find where an excess, one value a level, reaches 0."""
    levels = np.arange(len(excess.value), dtype=np.float64)
    place = first_reached(excess.value, levels)
    if np.isnan(place) or any(excess.withheld) or not len(excess.replicates):
        return Crossing(place, np.nan, np.nan)
    fine = np.linspace(0, levels[-1], FINENESS * (len(levels) - 1) + 1)
    left = np.minimum(fine.astype(int), max(0, len(levels) - 2))
    share, right = fine - left, np.minimum(left + 1, len(levels) - 1)
    values, replicates = (
        rows[..., left] * (1 - share) + rows[..., right] * share for rows in (excess.value, excess.replicates)
    )
    blocks = int(excess.blocks.min())
    pairs = zip(replicates.T, values, strict=True)
    low, high = np.array([interval(drawn, kind, blocks=blocks, value=value) for drawn, value in pairs]).T
    return Crossing(place, first_reached(high, fine), first_reached(low, fine))
