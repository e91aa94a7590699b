"""Players: a picture to see and a sound to hear, at its true level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from soundcheck.augment.level import decibel, peak, rms
from soundcheck.common.escaping import shorten
from soundcheck.common.media import UNHEARD, MediaStore
from soundcheck.corpora.audio import SAMPLING_RATE, encode_flac
from soundcheck.report.html import Html, element, join
from soundcheck.report.sound_pictures import HEIGHT, WIDTH, picture

LONGEST = 30.0  # seconds of a sound that a page carries
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
    """Show a sound and let it be heard; nothing is normalised, since level is tested too.

    Of a long sound the first :data:`LONGEST` seconds are drawn and played, and the words say so.

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
        return silent(label, *([caption] if caption else []), "no samples: there is nothing to hear")
    seconds = len(signal) / sampling_rate
    said = f"{seconds:.2f} s, peak {decibel(peak(signal)):.1f} dBFS, level {decibel(rms(signal)):.1f} dBFS"
    said = said.replace("-", "−")
    if peak(signal) > 1:
        said += ", clipped by the file format"
    if not media.heard:
        return unheard(label, *([caption] if caption else []), said)
    if seconds > LONGEST:
        said += f"; drawn and played are the first {LONGEST:g} s"
        signal = signal[: round(LONGEST * sampling_rate)]
    drawn = element(
        "img",
        class_="sc-picture",
        src=media.add(picture(signal, sampling_rate, color), ".png"),
        alt=f"Waveform and spectrogram of {shorten(label, 80)}: {said}",
        width=WIDTH,
        height=HEIGHT,
        loading="lazy",
    )
    sound = media.add(encode_flac(signal, sampling_rate), ".flac")
    heard = element("audio", controls=True, preload="none", src=sound, aria_label=label)
    words = element("figcaption", *([caption, element("br")] if caption else []), said)
    played = f"{len(signal) / sampling_rate:.3f}"  # the width of the picture
    name = element("strong", label)
    return element("figure", name, drawn, heard, words, class_="sc-player", data_seconds=played)


def silent(label: str, *lines: str, kind: str = "") -> Html:
    """Stand for a player where there is nothing to hear, and say why."""
    words = [part for line in lines for part in (element("br"), line)][1:]
    said = element("figcaption", *words)
    return element("figure", element("strong", label), said, class_=f"sc-player {kind}".strip())


def unheard(label: str, *lines: str) -> Html:
    """Stand for a player in a book without voices: what it is, without a sound or a picture of it."""
    return silent(label, *lines, kind=UNHEARD)


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


def row(players: Sequence[Html], title: str = "", *, kind: str = "") -> Html:
    """Put players side by side; ``kind`` is a further class of the row, for what the script makes of it."""
    head = [element("p", title, class_="sc-players-title")] if title else []
    return join([*head, element("div", *players, class_=f"sc-players {kind}".strip())])
