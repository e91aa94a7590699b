"""Figures of spectra: what changes of a signal do to its frequencies."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.augment.level import rms
from soundcheck.report import views
from soundcheck.report.style import GREY

LENGTH = 1024  # samples of a frame
LINES = 14  # of the spectrum that are averaged
FLOOR_DB = -128.0
LOWEST_DB = -40.0  # magnitude of a filter that is still shown
RESOLUTION = 8  # points of a response for each tap of its filter
LEAST = 1e-30  # power of silence


def spectra(signals: Mapping[str, np.ndarray], sampling_rate: int) -> Figure:
    """Draw the mean magnitude spectra of signals, brought to the same root mean square; silent ones not."""
    audible = {name: signal / rms(signal) for name, signal in signals.items() if rms(signal)}
    return _drawn({name: _spectrum(signal, sampling_rate) for name, signal in audible.items()}, sampling_rate)


def magnitude_responses(filters: Mapping[str, np.ndarray], sampling_rate: int) -> Figure:
    """Draw the magnitude responses of filters, given by their impulse responses, in decibel."""
    curves = {}
    for name, taps in filters.items():
        count = RESOLUTION * len(taps)
        level = 20 * np.log10(np.maximum(np.abs(np.fft.rfft(taps, count)), LEAST))
        curves[name] = np.fft.rfftfreq(count, 1 / sampling_rate), level
    figure = _drawn(curves, sampling_rate)
    figure.axes[0].axhline(0, color=GREY, linewidth=0.8)
    figure.axes[0].set_ylim(LOWEST_DB, 10)
    return figure


def _drawn(curves: Mapping[str, tuple[np.ndarray, np.ndarray]], sampling_rate: int) -> Figure:
    parts = [
        pd.DataFrame({"kHz": hertz / 1000, "value": level, "name": name})
        for name, (hertz, level) in curves.items()
    ]
    frame = pd.concat(parts) if parts else pd.DataFrame(columns=["kHz", "value", "name"], dtype=float)
    figure = views.lines(frame, "kHz", hue="name", xlabel="frequency in kHz", ylabel="magnitude in dB")
    figure.axes[0].set_xlim(0, sampling_rate / 2000)
    return figure


def _spectrum(signal: np.ndarray, sampling_rate: int) -> tuple[np.ndarray, np.ndarray]:
    """Average the power of half overlapping frames, then smooth its decibels over some lines."""
    signal = np.pad(np.asarray(signal, dtype=np.float64), (0, max(0, LENGTH - len(signal))))
    frames = np.lib.stride_tricks.sliding_window_view(signal, LENGTH)[:: LENGTH // 2]
    power = np.mean(np.abs(np.fft.rfft(frames * np.hanning(LENGTH))) ** 2, axis=0) / LENGTH**2
    level = np.maximum(10 * np.log10(np.maximum(power, LEAST)), FLOOR_DB)
    window, hertz = np.ones(LINES) / LINES, np.fft.rfftfreq(LENGTH, 1 / sampling_rate)
    return np.convolve(hertz, window, mode="valid"), np.convolve(level, window, mode="valid")
