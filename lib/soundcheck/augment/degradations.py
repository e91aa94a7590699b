r"""Transforms that degrade speech step by step, as in fairness tests of speech recognition.

Noise, low-pass and high-pass filters of these tests are :func:`soundcheck.augment.noise.white_noise` and the
Butterworth filters of :mod:`soundcheck.augment.filters` with order 2.

Where the paper and the generator that its authors released differ, ``definition`` chooses: ``"text"`` or
``"released"``. People rated how comprehensible signals are that the released generator had made.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import require, transform
from soundcheck.augment.level import RELEASED, TEXT, centred, peak

AEQUEVOX = "Rajan, Udeshi and Chattopadhyay (2022), AequeVox, arXiv:2110.09843, transformations"
RELEASED_DIVISOR = 1.414  # of all signals that the released generator wrote
FINEST = 1000  # largest denominator of a factor of speed


@transform(
    source=AEQUEVOX,
    level="Changed by the factor; samples beyond full scale are kept, an integer file clips them.",
)
def scaled_amplitude(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, factor: float
) -> np.ndarray:
    r"""Multiply the samples: :math:`y_n = \theta x_n`.

    - ``factor``: :math:`\theta`, above 0 and at most 1000.
    - Returns float32, shape ``(samples,)``, not clipped.
    """
    require(0 < factor <= 1000, f"factor is {factor}. It must be above 0 and at most 1000")
    return signal * np.float32(factor)


@transform(
    source=AEQUEVOX,
    level="The peak is kept: what is left is scaled up to it; not so by the released definition.",
)
def clipped_at(
    signal: np.ndarray,
    sampling_rate: int,
    rng: np.random.Generator,
    *,
    limit: float,
    definition: Literal["text", "released"] = TEXT,
) -> np.ndarray:
    r"""Clip the signal at a share of its peak and scale it back to that peak.

    With the peak :math:`p`: :math:`y_n = \frac{p}{\theta} \min(\max(x_n / p, -\theta), \theta)`, both of the
    signal without its mean, which is added again.

    By the released definition full scale takes the place of the peak, and nothing is scaled back:
    :math:`y_n = \min(\max(x_n / 1.414, -\theta), \theta)`. So more of loud speech is clipped, and the
    result is quiet. At a limit of 0.05 and of speech with a peak of 1, 0.3 and 0.1 (demo corpus),
    26, 7 and 0.2 % of the samples are clipped instead of 33 % at any level.

    - ``limit``: :math:`\theta`, above 0 and at most 1.
    - ``definition``: ``"text"`` or ``"released"``, see above.
    - Returns float32, shape ``(samples,)``, with the peak of the signal, or at most the limit by the released
      definition; silent if the signal is.
    """
    require(0 < limit <= 1, f"limit is {limit}. It must be above 0 and at most 1")
    if definition == RELEASED:
        return np.clip(signal.astype(np.float64) / RELEASED_DIVISOR, -limit, limit)
    sound = centred(signal)
    highest = peak(sound)
    if highest == 0:
        return signal
    return np.clip(sound / highest, -limit, limit) / limit * highest + (signal[0] - sound[0])


@transform(source=AEQUEVOX, level="The samples that are left stay as they are.")
def dropped_chunks(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, percent: float, milliseconds: float
) -> np.ndarray:
    r"""Silence random chunks, never two neighbours.

    The signal is divided into :math:`P` pairs of chunks; of :math:`\lfloor 2 P \theta / 100 \rfloor` random
    pairs the first chunk becomes zero. What is left behind the last pair stays.

    - ``rng``: draws the pairs, without replacement.
    - ``percent``: :math:`\theta`: share of the chunks that become zero, from 0 to 50 per cent.
    - ``milliseconds``: duration of a chunk, from 1 to 1000.
    """
    require(0 <= percent <= 50, f"percent is {percent}. It must lie between 0 and 50")
    require(1 <= milliseconds <= 1000, f"milliseconds is {milliseconds}. It must lie between 1 and 1000")
    length = max(1, round(milliseconds * sampling_rate / 1000))
    pairs = len(signal) // (2 * length)
    count = int(Fraction(str(float(percent))) * 2 * pairs / 100)
    result = signal.copy()
    for pair in rng.choice(pairs, size=count, replace=False) if count else ():
        result[2 * length * pair : 2 * length * pair + length] = 0
    return result


@transform(source=AEQUEVOX, level="The samples of the curve stay as they are; it is only read more slowly.")
def slowed_down(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, factor: float
) -> np.ndarray:
    r"""Play the signal more slowly, which lowers the pitch: :math:`y(t) = x(\theta t)`.

    - ``factor``: :math:`\theta`, from 0.1 to 10; below 1 the signal becomes longer by its inverse.
    - Returns float32, shape ``(ceil(N / factor),)``.
    """
    require(0.1 <= factor <= 10, f"factor is {factor}. It must lie between 0.1 and 10")
    share = Fraction(str(float(factor))).limit_denominator(FINEST)
    return scipy.signal.resample_poly(signal.astype(np.float64), share.denominator, share.numerator)
