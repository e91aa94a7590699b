"""Figures of spectra: what changes of a signal do to its frequencies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from soundcheck.augment.level import rms
from soundcheck.report.style import GREY, PALETTE, label, look, new

LENGTH = 1024  # samples of a frame
LINES = 14  # of the spectrum that are averaged
FLOOR_DB = -128.0
LOWEST_DB = -40.0  # magnitude of a filter that is still shown
RESOLUTION = 8  # points of a response for each tap of its filter
_STYLES = ("-", "--", "-.", ":")


def spectra(signals: Mapping[str, np.ndarray], sampling_rate: int) -> Figure:
    """Draw the mean magnitude spectra of signals, brought to the same root mean square.

    Parameters
    ----------
    signals
        Name -> signal, shape ``(samples,)``; silent ones are left out.
    sampling_rate
        In Hz.
    """
    with look():
        figure, (axes,) = new(7.5, 3.4)
        for n, (name, signal) in enumerate(signals.items()):
            if rms(signal) == 0:
                continue
            hertz, level = _spectrum(np.asarray(signal, dtype=np.float64) / rms(signal), sampling_rate)
            axes.plot(
                hertz / 1000,
                level,
                color=PALETTE[n % len(PALETTE)],
                linestyle=_STYLES[n % len(_STYLES)],
                label=label(name),
            )
        axes.set(xlabel="frequency in kHz", ylabel="magnitude in dB", xlim=(0, sampling_rate / 2000))
        if axes.lines:
            axes.legend(fontsize=9)
    return figure


def magnitude_responses(filters: Mapping[str, np.ndarray], sampling_rate: int) -> Figure:
    """Draw the magnitude responses of filters in decibel.

    Parameters
    ----------
    filters
        Name -> impulse response, shape ``(taps,)``.
    sampling_rate
        In Hz.
    """
    with look():
        figure, (axes,) = new(7.5, 3.4)
        for n, (name, taps) in enumerate(filters.items()):
            count = RESOLUTION * len(taps)
            level = 20 * np.log10(np.maximum(np.abs(np.fft.rfft(taps, count)), 1e-30))
            hertz = np.fft.rfftfreq(count, 1 / sampling_rate)
            axes.plot(
                hertz / 1000,
                level,
                _STYLES[n % len(_STYLES)],
                color=PALETTE[n % len(PALETTE)],
                label=label(name),
            )
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set(xlabel="frequency in kHz", ylabel="magnitude in dB")
        axes.set(xlim=(0, sampling_rate / 2000), ylim=(LOWEST_DB, 10))
        if filters:
            axes.legend(fontsize=9)
    return figure


def _spectrum(signal: np.ndarray, sampling_rate: int) -> tuple[np.ndarray, np.ndarray]:
    """Average the power of half overlapping frames, then smooth its decibels over some lines."""
    if len(signal) < LENGTH:
        signal = np.pad(signal, (0, LENGTH - len(signal)))
    frames = np.lib.stride_tricks.sliding_window_view(signal, LENGTH)[:: LENGTH // 2]
    power = np.mean(np.abs(np.fft.rfft(frames * np.hanning(LENGTH))) ** 2, axis=0) / LENGTH**2
    level = np.maximum(10 * np.log10(np.maximum(power, 1e-30)), FLOOR_DB)
    window = np.ones(LINES) / LINES
    smooth = np.convolve(level, window, mode="valid")
    hertz = np.fft.rfftfreq(LENGTH, 1 / sampling_rate)
    return np.convolve(hertz, window, mode="valid"), smooth
