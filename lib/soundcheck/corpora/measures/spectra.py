r"""Measures on short-time power spectra: up to which frequency a recording carries anything, and its noise.

- Frames of 32 ms under a Hann window every 8 ms; of long sounds fewer, spread evenly, so that memory stays
  bounded.
- The mean of the signal is taken away before: a constant offset is no sound.
- Frames with 4 ms of equal samples are left out: padding and muted parts are no recording.
- Noise is what the quietest moments have in common. Frames are divided by an estimate of the spectrum of the
  noise; their mean over frequency is near 1 in pauses, whatever the colour of the noise, and larger where
  somebody speaks. Frames within 20 % of the quietest twentieth are the pauses, their mean spectrum is the
  next estimate, until nothing changes. Speech is all power but that of the noise.

The idea that pauses show the noise under the speech is that of minimum statistics (Martin, 2001, IEEE
Transactions on Speech and Audio Processing 9(5), 504-512).
"""

from __future__ import annotations

import math

import numpy as np
import scipy  # scipy.signal and scipy.ndimage are loaded when first used: they take a second

FRAME, STEP = 0.032, 0.008  # seconds
MOST_FRAMES = 20_000
STILL = 0.004  # seconds

SPEECH_BAND = (200.0, 3400.0)  # Hz in which the strongest frequency is looked for
CARRIED = 50.0  # dB below it that still count
SMOOTHED = 5  # bins of which the median is taken, so that a single tone is no band

FEWEST_FRAMES = 5
QUIETEST, WITHIN = 0.05, 0.2
ROUNDS = 30
LEAST_SPEECH = 0.01  # of the power of the noise; below it nothing stands out
RESOLUTION = (2**-15) ** 2 / 12  # mean square of the noise of quantising with 16 bit


def power_spectra(signal: np.ndarray, sampling_rate: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the power spectrum of each frame.

    Returns power, shape ``(frames, bins)``, whose sum over the bins is the mean square of the frame under its
    window, and the frequencies of the bins in Hz. No frames if the signal is shorter than one.
    """
    length, step = round(FRAME * sampling_rate), round(STEP * sampling_rate)
    frequencies = np.fft.rfftfreq(length, 1 / sampling_rate)
    if len(signal) < length:
        return np.zeros((0, len(frequencies))), frequencies
    step = max(step, -(-len(signal) // MOST_FRAMES))
    # In place as far as it goes: getting memory for one array after the other takes longer than the sums.
    pieces = np.lib.stride_tricks.sliding_window_view(signal, length)[::step].astype(np.float64)
    window = scipy.signal.get_window("hann", length)
    pieces -= np.mean(signal, dtype=np.float64)
    pieces *= window
    power = np.abs(np.fft.rfft(pieces, axis=1))
    np.square(power, out=power)
    power[:, 1 : (length + 1) // 2] *= 2  # what lies at negative frequencies
    power /= length * np.sum(window**2)
    muted = _muted(signal, round(STILL * sampling_rate), length)[::step]
    return power[~muted] if muted.any() else power, frequencies


def _muted(signal: np.ndarray, count: int, length: int) -> np.ndarray:
    """Say for each place whether the frame from there on has so many equal samples one after the other."""
    equal = _sums(signal[1:] == signal[:-1])
    still = _sums(equal[count - 1 :] - equal[: 1 - count] == count - 1)
    frames = length - count + 1  # places in a frame at which so many could begin
    return still[frames:] > still[:-frames]


def _sums(true: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(true)])


def bandwidth(signal: np.ndarray, sampling_rate: int) -> float:
    """Find the upper edge of the mean power spectrum, in Hz, in steps of 31.25 Hz.

    The edge is the highest frequency at which the spectrum lies at most 50 dB below its strongest frequency
    from 200 to 3400 Hz. The long-term spectrum of speech falls by some 30 to 40 dB up to 8 kHz (Byrne et al.,
    1994, Journal of the Acoustical Society of America 96(4), 2108-2120); filters of telephones and resampling
    cut deeper. NaN for silence and for signals shorter than 32 ms. Noise counts like speech.
    """
    power, frequencies = power_spectra(signal, sampling_rate)
    if not len(power):
        return math.nan
    spectrum = scipy.ndimage.median_filter(power.mean(axis=0), SMOOTHED, mode="nearest")
    low, high = SPEECH_BAND
    strongest = spectrum[(frequencies >= low) & (frequencies <= high)].max(initial=0)
    carried = np.flatnonzero(spectrum > strongest * 10 ** (-CARRIED / 10))
    return float(frequencies[carried[-1]]) if strongest > 0 and len(carried) else math.nan


def signal_to_noise(signal: np.ndarray, sampling_rate: int) -> float:
    r"""Estimate the signal-to-noise ratio without knowing either, in dB, at least -20.

    :math:`10 \log_{10} \frac{P - N}{N}`, where :math:`P` is the mean power of the segment, pauses included,
    and :math:`N` that of the noise. NaN if the signal is shorter than about 0.1 s, or if nothing stands out
    from the noise, as in silence, steady tones and steady noise. Noise that is weaker than that of 16-bit
    samples counts as strong as that.
    """
    power, _ = power_spectra(signal, sampling_rate)
    if len(power) < FEWEST_FRAMES:
        return math.nan
    total = power.sum(axis=1)
    pauses = np.argsort(total, kind="stable")[: max(FEWEST_FRAMES, len(total) // 10)]
    for _ in range(ROUNDS):
        noise = power[pauses].mean(axis=0) + 1e-14 * total.mean()  # never 0, as above the band of a telephone
        excess = power @ (1 / noise)
        quiet = np.flatnonzero(excess <= (1 + WITHIN) * np.quantile(excess, QUIETEST))
        if np.array_equal(quiet, pauses):
            break
        pauses = quiet
    noise_power = max(float(total[pauses].mean()), RESOLUTION)
    speech_power = float(total.mean()) - noise_power
    if speech_power < LEAST_SPEECH * noise_power:
        return math.nan
    return round(10 * math.log10(speech_power / noise_power), 2)
