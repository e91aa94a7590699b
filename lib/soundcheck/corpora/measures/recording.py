r"""Measures of the recording: level, clipping, silence, and by short-time spectra bandwidth and noise.

- Spectra are of frames of 32 ms under a Hann window every 8 ms; of long sounds fewer, spread evenly, so that
  memory stays bounded.
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

# Samples ----------------------------------------------------------------------------------------------------

FULL_SCALE = 1 - 2**-15  # the largest sample of 16 bit
RUN, RUNS = 3, 2  # equal samples one after the other, and how often, that make a limit of the largest sample
DROP = 4  # steps of quantising by which a sample beside such a run lies lower, or it is but a round top

PIECE = 0.02  # seconds
LOUD, QUIET = 0.95, 0.05  # quantiles of the frames' levels that stand for speech and for what is behind it
BELOW = 30.0  # dB below speech from which on nothing is audible beside it
ABOVE = 3.0  # dB above what is behind the speech that still belong to it
LEAST = 6.0  # dB by which speech stands out


def level(signal: np.ndarray, sampling_rate: int) -> float:
    r"""Compute the level of the segment in dB, :math:`10 \log_{10} \frac{1}{N} \sum_n (x_n - \bar x)^2`.

    0 is a square wave between -1 and 1, -3.01 a sine of that peak. Pauses count: half a segment of silence
    lowers it by 3 dB. A constant offset does not count. NaN for silence and without samples.
    """
    power = float(np.var(signal, dtype=np.float64)) if len(signal) else 0.0
    return round(10 * math.log10(power), 2) if power > 0 else math.nan


def duration(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the length in seconds; segment tables have it already, so no sound is read for it."""
    return len(signal) / sampling_rate


def clipping(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the share of samples at a limit, at the rate of the file: resampling bends what is flat.

    A limit is full scale, or the largest or smallest sample of the segment if the signal stays there for 3
    samples or more, at least twice, and leaves it steeply: what was clipped and made softer afterwards shows
    that. Both sides may have limits of their own. NaN without samples.
    """
    values = np.asarray(signal, dtype=np.float64)
    if not len(values):
        return math.nan
    limited = np.abs(values) >= FULL_SCALE
    for side in (values, -values):
        if side.max() > 0 and _is_limit(side):
            limited |= side == side.max()
    return float(limited.mean())


def _is_limit(values: np.ndarray) -> bool:
    """Say whether the largest sample is one at which the signal was cut off."""
    largest = np.concatenate([[False], values == values.max(), [False]]).astype(np.int8)
    begin, end = np.flatnonzero(np.diff(largest) == 1), np.flatnonzero(np.diff(largest) == -1)
    if np.sum(end - begin >= RUN) < RUNS:
        return False
    beside = np.concatenate([values[begin[begin > 0] - 1], values[end[end < len(values)]]])
    steps = np.diff(np.unique(values))  # the smallest is one step of a file with few bits
    return bool(np.median(values.max() - beside) > DROP * (steps.min() if len(steps) else 0.0))


def silence(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the share of frames in which nothing is audible but what is behind the speech.

    Frames of 20 ms whose level lies 30 dB or more below that of the loud ones (95th percentile), or at most
    3 dB above that of the quietest (5th percentile) where these are louder than that. 1 for a signal of
    zeros. NaN below 0.1 s, and where nothing stands out by 6 dB, as of steady noise. Without pauses up to a
    tenth of the softest sounds count as silence.
    """
    length = round(PIECE * sampling_rate)
    frames = len(signal) // length
    if frames < 5:
        return math.nan
    pieces = np.asarray(signal[: frames * length], dtype=np.float64).reshape(frames, length)
    pieces = pieces - pieces.mean(axis=1, keepdims=True)
    power = np.einsum("ij,ij->i", pieces, pieces) / length
    if not power.any():
        return 1.0
    loud, quiet = np.quantile(power, (LOUD, QUIET))
    if loud < quiet * 10 ** (LEAST / 10):
        return math.nan
    edge = max(loud * 10 ** (-BELOW / 10), quiet * 10 ** (ABOVE / 10))
    return round(float(np.mean(power <= edge)), 4)


# Spectra ----------------------------------------------------------------------------------------------------

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
