"""Short-time power spectra, on which measures of noise and bandwidth rest.

Conventions
-----------
- Frames of 32 ms under a Hann window every 8 ms; of long sounds fewer, spread evenly, so that memory stays
  bounded.
- The mean of the signal is taken away before: a constant offset is no sound.
- Frames with 4 ms of equal samples are left out: padding and muted parts are no recording.
"""

from __future__ import annotations

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

FRAME, STEP = 0.032, 0.008  # seconds
MOST = 20_000  # frames
STILL = 0.004  # seconds


def power_spectra(signal: np.ndarray, sampling_rate: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the power spectrum of each frame.

    Returns power, shape ``(frames, bins)``, whose sum over the bins is the mean square of the frame under its
    window, and the frequencies of the bins in Hz. No frames if the signal is shorter than one.
    """
    length, step = round(FRAME * sampling_rate), round(STEP * sampling_rate)
    frequencies = np.fft.rfftfreq(length, 1 / sampling_rate)
    if len(signal) < length:
        return np.zeros((0, len(frequencies))), frequencies
    step = max(step, -(-len(signal) // MOST))
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
