"""Players: a waveform to see and a sound to hear, at its true level."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import audplot
import matplotlib.pyplot as plt
import numpy as np

from soundcheck.augment.level import decibel, peak, rms
from soundcheck.common.media import MediaStore
from soundcheck.corpora.audio import SAMPLING_RATE, encode_flac
from soundcheck.report.html import Html, element, join
from soundcheck.report.pictures import smaller_png

COLORS = {"original": "#e13b41", "changed": "#3277b4"}
_SIZE, _DPI = (4.0, 1.4), 90
_WIDTH, _HEIGHT = round(_SIZE[0] * _DPI), round(_SIZE[1] * _DPI)
_UNITS = {"frequency": "Hz", "cutoff": "Hz", "bit_rate": "bit/s"}


def player(
    media: MediaStore,
    signal: np.ndarray,
    sampling_rate: int,
    label: str,
    *,
    caption: str = "",
    color: str = "original",
) -> Html:
    """Show a waveform and let the signal be heard; nothing is normalised, since level is tested too.

    Parameters
    ----------
    media
        Where sound and picture go.
    signal
        float32 ``(samples,)``.
    sampling_rate
        In Hz.
    label, caption
        What it is; both may come from data.
    color
        ``"original"`` or ``"changed"``.
    """
    signal = np.asarray(signal, dtype=np.float32)
    if not len(signal):
        words = [caption, element("br")] if caption else []
        nothing = element("figcaption", *words, "no samples: there is nothing to hear")
        return element("figure", element("strong", label), nothing, class_="sc-player")
    seconds = len(signal) / sampling_rate
    sound = media.add(encode_flac(signal, sampling_rate), ".flac")
    picture = media.add(_waveform(signal, COLORS[color]), ".png")
    level = f"{seconds:.2f} s, peak {decibel(peak(signal)):.1f} dBFS, level {decibel(rms(signal)):.1f} dBFS"
    level = level.replace("-", "−")
    if peak(signal) > 1:
        level += ", clipped by the file format"
    return element(
        "figure",
        element("strong", label),
        element(
            "img",
            class_="sc-picture",
            src=picture,
            alt=f"Waveform of {label}, {seconds:.2f} seconds",
            width=_WIDTH,
            height=_HEIGHT,
            loading="lazy",
        ),
        element("audio", controls=True, preload="none", src=sound, aria_label=label),
        element("figcaption", *([caption, element("br")] if caption else []), level),
        class_="sc-player",
    )


def settings(drawn: Mapping[str, object], sampling_rate: int = SAMPLING_RATE) -> str:
    """Write the options that a change drew, with their units.

    Examples
    --------
    >>> settings({"frequency": 6539, "snr_db": 40})
    'frequency 6539 Hz, SNR 40 dB'
    >>> settings({"samples": 1000})
    '1000 samples (62.5 ms)'
    """
    parts = []
    for name, value in drawn.items():
        words = name.replace("_", " ")
        if not isinstance(value, int | float):
            parts.append(f"{words} {value}")
        elif name == "samples":
            parts.append(f"{value} samples ({1000 * value / sampling_rate:g} ms)")
        elif name.endswith("_db"):
            what = words.removesuffix(" db")
            sign = "+" if what == "gain" and value > 0 else ""
            parts.append(f"{what.upper() if what == 'snr' else what} {sign}{value:g} dB".replace("-", "−"))
        elif name in _UNITS:
            parts.append(f"{words} {value:g} {_UNITS[name]}")
        else:
            parts.append(f"{words} {value:g}")
    return ", ".join(parts)


def row(players: Sequence[Html], title: str = "") -> Html:
    """Put players side by side."""
    head = [element("p", title, class_="sc-players-title")] if title else []
    return join([*head, element("div", *players, class_="sc-players")])


def _waveform(signal: np.ndarray, color: str) -> bytes:
    """Draw a waveform as PNG; the same signal gives the same bytes.

    All share one scale down to half of full scale, so that louder looks louder and quiet speech still shows.
    """
    figure = plt.figure(figsize=_SIZE, dpi=_DPI)  # audplot draws on the current figure
    try:
        axes = figure.add_axes((0, 0, 1, 1))
        if len(signal) < 2:
            axes.set_axis_off()
        else:
            reach = max(0.5, float(peak(signal)))
            audplot.waveform(signal, color=color, ax=axes, ylim=(-reach, reach), linewidth=0.7)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": None})
    finally:
        plt.close(figure)
    return smaller_png(buffer.getvalue())
