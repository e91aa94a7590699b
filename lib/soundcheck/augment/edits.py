"""Transforms that take samples away or add zeros, without touching the others.

Conventions
-----------
Lengths are counts of samples, at whatever sampling rate: 100, 500 and 1000 samples are 6, 31 and 63 ms at the
16 kHz for which they were chosen, and half of that at 32 kHz. Only that of a central part is in seconds.
"""

from __future__ import annotations

import numpy as np

from soundcheck.augment.base import require, transform
from soundcheck.augment.level import SMALL_CHANGES

MOST_SAMPLES = 10_000_000  # an option beyond that is a slip of the pen and would fill the memory


def _require_count(samples: int) -> None:
    require(0 <= samples <= MOST_SAMPLES, f"samples is {samples}. It must lie between 0 and {MOST_SAMPLES}")


@transform(source=SMALL_CHANGES, level="The samples stay as they are.")
def append_zeros(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, samples: int
) -> np.ndarray:
    """Add zeros at the end.

    - ``samples``: number of zeros, at least 0.
    - Returns float32, shape ``(N + samples,)``.
    """
    _require_count(samples)
    return np.pad(signal, (0, samples))


@transform(source=SMALL_CHANGES, level="The samples stay as they are.")
def prepend_zeros(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, samples: int
) -> np.ndarray:
    """Add zeros at the beginning.

    - ``samples``: number of zeros, at least 0.
    - Returns float32, shape ``(samples + N,)``.
    """
    _require_count(samples)
    return np.pad(signal, (samples, 0))


@transform(source=SMALL_CHANGES, level="The samples stay as they are.")
def crop_beginning(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, samples: int
) -> np.ndarray:
    """Remove samples from the beginning.

    - ``samples``: number of samples to remove, at least 0; at most :math:`N-1` are removed, so that one is
      left.
    - Returns float32, shape ``(max(1, N - samples),)``.
    """
    _require_count(samples)
    return signal[min(samples, signal.size - 1) :]


@transform(source=SMALL_CHANGES, level="The samples stay as they are.")
def crop_end(signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, samples: int) -> np.ndarray:
    """Remove samples from the end.

    - ``samples``: number of samples to remove, at least 0; at most :math:`N-1` are removed, so that one is
      left.
    - Returns float32, shape ``(max(1, N - samples),)``.
    """
    _require_count(samples)
    return signal[: max(1, signal.size - samples)]


@transform(source="chosen for this suite", level="The samples stay as they are.")
def central_part(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, seconds: float
) -> np.ndarray:
    """Keep the middle of a recording.

    - ``seconds``: length of what is kept, above 0. A shorter recording stays whole.
    - Returns float32, at least one sample.
    - Raises ValueError: if the length is not above 0.
    """
    require(seconds > 0, f"seconds is {seconds}. It must be above 0")
    length = max(1, round(min(seconds * sampling_rate, signal.size)))
    start = (signal.size - length) // 2
    return signal[start : start + length]
