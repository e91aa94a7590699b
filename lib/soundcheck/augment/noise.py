r"""Transforms that add a sound to the signal.

Conventions
-----------
- A signal-to-noise ratio (SNR) compares the given signal, silence at its ends included, with what is added.
  Each transform says whether by peaks or by root mean squares.
- The signal itself keeps its level; the sum is neither clipped nor scaled.
- Nothing can be added to silence at a finite SNR: a silent signal comes back unchanged.

Public names: the transforms :func:`additive_tone` and :func:`white_noise`.
"""

from __future__ import annotations

import numpy as np

from soundcheck.augment.base import require, transform
from soundcheck.augment.level import SMALL_CHANGES, amplitude, peak, rms


def _require_snr(snr_db: float) -> None:
    require(-120 <= snr_db <= 120, f"snr_db is {snr_db}. It must lie between -120 and 120")


@transform(
    source=SMALL_CHANGES,
    level="The signal keeps its level and the tone comes on top; samples beyond full scale are kept.",
)
def additive_tone(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, frequency: float, snr_db: float
) -> np.ndarray:
    r"""Add a steady sine tone.

    :math:`y_n = x_n + \max|x| \cdot 10^{-\mathrm{SNR}/20} \sin(2 \pi f n / f_s)`

    The SNR is based on peaks. A tone at the same SNR based on root mean squares, as some libraries have it,
    is quieter by the difference of the crest factors of the speech and the sine, some 10 to 15 dB.

    Parameters
    ----------
    signal
        float32, shape ``(samples,)``.
    sampling_rate
        In Hz.
    rng
        Not used; the tone starts at phase 0.
    frequency
        Frequency :math:`f` in Hz, above 0 and below half the sampling rate.
    snr_db
        Signal-to-noise ratio in dB, from -120 to 120.

    Returns
    -------
    numpy.ndarray
        float32, shape ``(samples,)``, not clipped; equal to the signal if that is silent.

    Raises
    ------
    ValueError
        If an option is out of range.
    """
    require(
        0 < frequency < sampling_rate / 2,
        f"frequency is {frequency} Hz. It must lie between 0 and half the sampling rate, "
        f"{sampling_rate / 2:g} Hz",
    )
    _require_snr(snr_db)
    phase = 2 * np.pi * frequency / sampling_rate * np.arange(signal.size)
    return signal + peak(signal) * amplitude(-snr_db) * np.sin(phase)


@transform(
    source=SMALL_CHANGES,
    level="The signal keeps its level and the noise comes on top; samples beyond full scale are kept.",
)
def white_noise(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, snr_db: float
) -> np.ndarray:
    r"""Add white Gaussian noise.

    :math:`y_n = x_n + \sigma z_n` with :math:`z_n \sim \mathcal{N}(0, 1)` and
    :math:`\sigma = \mathrm{RMS}(x) \cdot 10^{-\mathrm{SNR}/20}`

    The SNR is based on root mean squares and holds in expectation: a drawn noise deviates with a standard
    deviation of :math:`6.1 / \sqrt{N}` dB, 0.03 dB for three seconds at 16 kHz.

    Parameters
    ----------
    signal
        float32, shape ``(samples,)``.
    sampling_rate
        Not used.
    rng
        Draws the noise.
    snr_db
        Signal-to-noise ratio in dB, from -120 to 120.

    Returns
    -------
    numpy.ndarray
        float32, shape ``(samples,)``, not clipped; equal to the signal if that is silent.

    Raises
    ------
    ValueError
        If the SNR is out of range.
    """
    _require_snr(snr_db)
    deviation = rms(signal) * amplitude(-snr_db)
    return signal + np.float32(deviation) * rng.standard_normal(signal.size, dtype=np.float32)
