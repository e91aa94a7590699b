"""Players: a waveform to see and a sound to hear, at its true level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from PIL import ImageColor

from soundcheck.augment.level import decibel, peak, rms
from soundcheck.common.media import UNHEARD, MediaStore
from soundcheck.corpora.audio import SAMPLING_RATE, encode_flac
from soundcheck.report.html import Html, element, join
from soundcheck.report.pictures import png

COLORS = {"original": "#e13b41", "changed": "#3277b4"}
_WIDTH, _HEIGHT = 360, 126
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
    level = f"{seconds:.2f} s, peak {decibel(peak(signal)):.1f} dBFS, level {decibel(rms(signal)):.1f} dBFS"
    level = level.replace("-", "−")
    if not media.heard:
        return unheard(label, *([caption] if caption else []), level)
    sound = media.add(encode_flac(signal, sampling_rate), ".flac")
    picture = media.add(_waveform(signal, COLORS[color]), ".png")
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


def unheard(label: str, *lines: str) -> Html:
    """Stand for a player in a book without voices: what it is, without a sound or a picture of it."""
    words = [part for line in lines for part in (element("br"), line)][1:]
    return element(
        "figure", element("strong", label), element("figcaption", *words), class_=f"sc-player {UNHEARD}"
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
    """Draw a waveform as PNG: of each column of pixels all that the signal passes through.

    All share one scale down to half of full scale, so that louder looks louder and quiet speech still shows.
    """
    width, height = 2 * _WIDTH, 2 * _HEIGHT  # for sharp screens
    pixels = np.full((height, width, 3), 255, dtype=np.uint8)
    if len(signal) > 1:
        reach = max(0.5, float(peak(signal)))
        # A column begins with the last sample of the one before: the line is not broken.
        edges = np.linspace(0, len(signal) - 1, width + 1)
        first, last = np.floor(edges[:-1]).astype(int), np.ceil(edges[1:]).astype(int)
        starts = np.stack([first, last + 1], axis=1).ravel()
        padded = np.append(signal, signal[-1])
        lowest, highest = (way.reduceat(padded, starts)[::2] for way in (np.minimum, np.maximum))
        rows = np.arange(height)[:, None]
        top, bottom = ((1 - value / reach) * (height - 1) / 2 for value in (highest, lowest))
        inside = (rows >= np.floor(top)) & (rows <= np.ceil(bottom))
        pixels[inside] = ImageColor.getrgb(color)
    return png(pixels)
