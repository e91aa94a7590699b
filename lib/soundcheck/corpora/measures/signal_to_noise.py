r"""How far speech stands above the noise that is heard in its pauses.

Method
------
Noise is what the quietest moments have in common. Frames are divided by an estimate of the spectrum of the
noise; their mean over frequency is near 1 in pauses, whatever the colour of the noise, and larger where
somebody speaks. Frames within 20 % of the quietest twentieth are the pauses, their mean spectrum is the next
estimate, until nothing changes. Speech is all power but that of the noise.

The idea that pauses show the noise under the speech is that of minimum statistics (Martin, 2001, IEEE
Transactions on Speech and Audio Processing 9(5), 504-512).
"""

from __future__ import annotations

import math

import numpy as np

from soundcheck.corpora.measures.frames import power_spectra

FEWEST = 5  # frames
QUIETEST, WITHIN = 0.05, 0.2
ROUNDS = 30
LEAST_SPEECH = 0.01  # of the power of the noise; below it nothing stands out
RESOLUTION = (2**-15) ** 2 / 12  # mean square of the noise of quantising with 16 bit


def signal_to_noise(signal: np.ndarray, sampling_rate: int) -> float:
    r"""Estimate the signal-to-noise ratio without knowing either.

    :math:`10 \log_{10} \frac{P - N}{N}`, where :math:`P` is the mean power of the segment, pauses included,
    and :math:`N` that of the noise.

    Returns in dB, at least -20. NaN if the signal is shorter than about 0.1 s, or if nothing stands out from
    the noise, as in silence, steady tones and steady noise. Noise that is weaker than that of 16-bit samples
    counts as strong as that.
    """
    power, _ = power_spectra(signal, sampling_rate)
    if len(power) < FEWEST:
        return math.nan
    total = power.sum(axis=1)
    pauses = np.argsort(total, kind="stable")[: max(FEWEST, len(total) // 10)]
    for _ in range(ROUNDS):
        noise = power[pauses].mean(axis=0) + 1e-14 * total.mean()  # never 0, as above the band of a telephone
        excess = power @ (1 / noise)
        found = np.flatnonzero(excess <= (1 + WITHIN) * np.quantile(excess, QUIETEST))
        if np.array_equal(found, pauses):
            break
        pauses = found
    noise_power = max(float(total[pauses].mean()), RESOLUTION)
    speech_power = float(total.mean()) - noise_power
    if speech_power < LEAST_SPEECH * noise_power:
        return math.nan
    return round(10 * math.log10(speech_power / noise_power), 2)
