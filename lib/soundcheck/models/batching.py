"""Which signals go into one call, so that no answer depends on what stands beside a signal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def each_length(signals: Sequence[np.ndarray], call: Callable[[np.ndarray], Sequence[T]]) -> list[T]:
    """Call once for all signals that are equally long.

    Parameters
    ----------
    signals
        Each float32 ``(samples,)``.
    call
        Gets signals ``(signals, samples)`` and gives one answer for each.

    Returns
    -------
    list
        One answer a signal, in their order.

    Examples
    --------
    >>> each_length([np.ones(2), np.ones(3), np.ones(2)], lambda batch: [batch.shape] * len(batch))
    [(2, 2), (1, 3), (2, 2)]
    """
    places: dict[int, list[int]] = {}
    for place, signal in enumerate(signals):
        places.setdefault(len(signal), []).append(place)
    answers: dict[int, T] = {}
    for alike in places.values():
        given = call(np.stack([signals[place] for place in alike]))
        answers |= zip(alike, given, strict=True)
    return [answers[place] for place in range(len(signals))]


def padded(signals: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Put zeros behind signals, as many as the longest has more.

    Returns
    -------
    batch
        float32 ``(signals, samples)``.
    lengths
        Samples of each, int64 ``(signals,)``.
    """
    lengths = np.array([len(signal) for signal in signals], dtype=np.int64)
    batch = np.zeros((len(signals), lengths.max()), dtype=np.float32)
    for row, signal in zip(batch, signals, strict=True):
        row[: len(signal)] = signal
    return batch, lengths
