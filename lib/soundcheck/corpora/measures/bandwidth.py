"""Up to which frequency a recording carries anything."""

from __future__ import annotations

import math

import numpy as np
import scipy  # scipy.ndimage is loaded when first used

from soundcheck.corpora.measures.frames import power_spectra

SPEECH = (200.0, 3400.0)  # Hz in which the strongest frequency is looked for
BELOW = 50.0  # dB below it that still count
SMOOTHED = 5  # bins of which the median is taken, so that a single tone is no band


def bandwidth(signal: np.ndarray, sampling_rate: int) -> float:
    """Find the upper edge of the mean power spectrum.

    The edge is the highest frequency at which the spectrum lies at most 50 dB below its strongest frequency
    from 200 to 3400 Hz. The long-term spectrum of speech falls by some 30 to 40 dB up to 8 kHz (Byrne et al.,
    1994, Journal of the Acoustical Society of America 96(4), 2108-2120); filters of telephones and resampling
    cut deeper.

    - ``sampling_rate``: in Hz; the edge cannot lie above half of it.
    - Returns in Hz, in steps of 31.25 Hz. NaN for silence and for signals that are shorter than 32 ms. Noise
      counts like speech.
    """
    power, frequencies = power_spectra(signal, sampling_rate)
    if not len(power):
        return math.nan
    spectrum = scipy.ndimage.median_filter(power.mean(axis=0), SMOOTHED, mode="nearest")
    strongest = spectrum[(frequencies >= SPEECH[0]) & (frequencies <= SPEECH[1])].max(initial=0)
    carried = np.flatnonzero(spectrum > strongest * 10 ** (-BELOW / 10))
    return float(frequencies[carried[-1]]) if strongest > 0 and len(carried) else math.nan
