"""Which signals go into one call, so that no answer depends on what stands beside a signal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def each_length(
    signals: Sequence[np.ndarray], call: Callable[[np.ndarray], Sequence[T]], most: int | None = None
) -> list[T]:
    """Call once for all signals that are equally long, or ``most`` of them; one answer a signal.

    ``call`` gets signals ``(signals, samples)`` and gives one answer for each.

    >>> each_length([np.ones(2), np.ones(3), np.ones(2)], lambda batch: [batch.shape] * len(batch))
    [(2, 2), (1, 3), (2, 2)]
    """
    places: dict[int, list[int]] = {}
    for place, signal in enumerate(signals):
        places.setdefault(len(signal), []).append(place)
    answers: dict[int, T] = {}
    for alike in places.values():
        for first in range(0, len(alike), most or len(alike)):
            own = alike[first : first + (most or len(alike))]
            answers |= zip(own, call(np.stack([signals[place] for place in own])), strict=True)
    return [answers[place] for place in range(len(signals))]
