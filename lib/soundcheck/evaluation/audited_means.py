"""Means of what was measured on the sounds and of labels, for all segments and by group, with intervals.

Conventions
-----------
- Speakers are resampled, as everywhere; shares have intervals between 0 and 1.
- Below :data:`soundcheck.statistics.evidence.LEAST_BLOCKS` speakers there is no interval.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.regression import mean_value
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import FREE, Scale

ASKED = ("speech_share", "predicted_quality")  # measured where a suite asks for it
RECORDED = ("signal_to_noise", "bandwidth", "level", "clipping", "silence", "duration", *ASKED)
SHARE = "share"


@dataclasses.dataclass(frozen=True)
class Quantity:
    """Something that segments of groups may differ in."""

    name: str  # of the measure, or of the task, with the class behind a colon
    title: str  # as shown
    unit: str
    noticeable: float  # smallest difference worth a word
    values: np.ndarray  # float64 ``(segments,)``, NaN where it is not known

    def mean(self) -> Statistic:
        """Give the mean of what is known; the rest is no missing answer of a model, so it is not counted."""
        return restrict(mean_value(self.values), np.isfinite(self.values))


@dataclasses.dataclass(frozen=True)
class MeanOf:
    """The mean of a group in one quantity."""

    column: str  # the group; both empty for all segments
    group: str
    name: str  # of the quantity
    title: str
    unit: str
    value: float  # mean and its 95 % interval, NaN where there are too few speakers
    low: float
    high: float
    segments: int  # that it rests on
    speakers: int

    @property
    def recorded(self) -> bool:
        """Whether it was measured on the recordings, and is no label."""
        return self.name in RECORDED


def unchanging(one: Quantity) -> bool:
    """Say whether a quantity is the same wherever it is known."""
    known = one.values[np.isfinite(one.values)]
    return bool(len(known)) and known.min() == known.max()


def means_of(
    quantities: Sequence[Quantity],
    groups: Mapping[str, Mapping[str, np.ndarray]],
    blocks: np.ndarray,
    draw: Callable[[Statistic, np.ndarray], Resampled],
    interval: str,
) -> Iterator[MeanOf]:
    """Compute the means of all segments and of each group."""
    every = np.ones(len(blocks), dtype=bool)
    parts = [("", "", every), *((c, g, own[0]) for c, found in groups.items() for g, own in found.items())]
    for one in quantities:
        base, scale = one.mean(), Scale(0.0, 1.0) if one.unit == SHARE else FREE
        for column, group, rows in parts:
            found = draw(restrict(base, rows), blocks)
            if found.reasons[0]:
                continue
            low, high = (float(end[0]) for end in found.interval(interval, scale=scale))
            about = (column, str(group), one.name, one.title, one.unit)
            yield MeanOf(
                *about, float(found.value[0]), low, high, int(found.segments[0]), int(found.blocks[0])
            )
