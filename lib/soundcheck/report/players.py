"""Players: a picture to see and a sound to hear, at its true level; several of them to be heard in turn.

A page without its script shows as many players as there are sounds, side by side. The script makes one of
those that belong together: a key leads from one sound to another at the same position (``players.js``).
"""

import dataclasses
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import soundfile
from matplotlib import colormaps
from PIL import Image, ImageColor

from soundcheck.augment.level import decibel, peak, rms
from soundcheck.augment.registry import apply, missing
from soundcheck.common import templates
from soundcheck.common.media import UNHEARD, MediaStore
from soundcheck.common.messages import shorten
from soundcheck.corpora.audio import SAMPLING_RATE, encode_flac, read
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import CorpusView, Subset
from soundcheck.report.html import Html
from soundcheck.suite.families import Perturbation

COLORS = {"original": "#e13b41", "changed": "#3277b4"}
LOWEST_DB, HIGHEST_DB = -85, -15
HIGHEST_HZ = 8000
COLUMNS, BANDS = 160, 48  # of a spectrogram
_ENLARGED = 2  # pixels of a column and of a band
_STRIP = 44  # pixels that the waveform is high
WIDTH, HEIGHT = _ENLARGED * COLUMNS, _STRIP + _ENLARGED * BANDS  # pixels
_WINDOW = 0.025  # seconds
_SHADES = 14  # with white and the colour of the waveform 16, of which two share a byte
_FLOOR = 1e-15  # power that is not told from silence


def picture(signal: np.ndarray, sampling_rate: int, color: str = "original") -> bytes:
    """Draw a waveform over a spectrogram: PNG of :data:`WIDTH` by :data:`HEIGHT` pixels.

    ``signal`` is float ``(samples,)``, at least one, full scale being ±1; ``color`` is that of the waveform,
    ``"original"`` or ``"changed"``.
    """
    levels = band_levels(signal, sampling_rate)
    share = (levels - LOWEST_DB) / (HIGHEST_DB - LOWEST_DB)
    shades = np.clip(share * _SHADES, 0, _SHADES - 1).astype(np.uint8)
    spectrogram = shades.repeat(_ENLARGED, axis=0).repeat(_ENLARGED, axis=1)
    strip = np.where(_waveform(signal), _SHADES + 1, _SHADES).astype(np.uint8)
    image = Image.fromarray(np.concatenate([strip, spectrogram]), mode="P")
    palette = np.rint(255 * colormaps["magma"](np.linspace(0, 1, _SHADES))[:, :3]).astype(np.uint8)
    image.putpalette(palette.tobytes() + bytes((255, 255, 255, *ImageColor.getrgb(COLORS[color]))))
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=7)  # 9 takes twice the time for 3 % less
    return buffer.getvalue()


def band_levels(signal: np.ndarray, sampling_rate: int) -> np.ndarray:
    """Measure the level of each band over time, in dB relative to a sine of full scale.

    Gives float ``(BANDS, COLUMNS)``, the highest band first; -150 dB at least, also above half of the rate.
    """
    length = round(_WINDOW * sampling_rate)
    taps = np.hanning(length + 2)[1:-1].astype(np.float32)
    # At least half overlapping, and of a short sound as many as there are columns.
    count = max(COLUMNS, -(-2 * len(signal) // length))
    first = (np.arange(count) + 0.5) * len(signal) / count
    padded = np.pad(np.asarray(signal, dtype=np.float32), (length // 2, length))
    frames = np.lib.stride_tricks.sliding_window_view(padded, length)[first.astype(int)]
    lines = 1 << (length - 1).bit_length()
    power = np.abs(np.fft.rfft(frames * taps, lines)) ** 2 * (4 / (lines * np.sum(taps**2)))
    columns = np.arange(COLUMNS + 1) * count // COLUMNS
    power = np.add.reduceat(power, columns[:-1]) / np.diff(columns)[:, None]
    bands = np.rint(np.linspace(0, HIGHEST_HZ, BANDS + 1) * lines / sampling_rate).astype(int)
    power = np.pad(power, ((0, 0), (0, max(0, bands[-1] - power.shape[1]))))[:, : bands[-1]]
    power = np.add.reduceat(power, bands[:-1], axis=1)
    return 10 * np.log10(np.maximum(power.T[::-1], _FLOOR))


def _waveform(signal: np.ndarray) -> np.ndarray:
    """Say which pixels a waveform covers, bool ``(height, width)``: of a column all that it passes through.

    All share one scale down to half of full scale, so that louder looks louder and quiet speech still shows.
    """
    if len(signal) < 2:
        return np.zeros((_STRIP, WIDTH), dtype=bool)
    reach = max(0.5, float(peak(signal)))
    # A column begins with the last sample of the one before: the line is not broken.
    edges = np.linspace(0, len(signal) - 1, WIDTH + 1)
    first, last = np.floor(edges[:-1]).astype(int), np.ceil(edges[1:]).astype(int)
    starts = np.stack([first, last + 1], axis=1).ravel()
    padded = np.append(signal, signal[-1])
    lowest, highest = (way.reduceat(padded, starts)[::2] for way in (np.minimum, np.maximum))
    rows = np.arange(_STRIP)[:, None]
    top, bottom = ((1 - value / reach) * (_STRIP - 1) / 2 for value in (highest, lowest))
    return (rows >= np.floor(top)) & (rows <= np.ceil(bottom))


LONGEST = 30.0  # seconds of a sound that a page carries
_UNITS = {"frequency": "Hz", "cutoff": "Hz", "bit_rate": "bit/s"}
_MODES = ("definition", "full_scale", "role")  # how a change is computed, which the method page says


class Player(Html):
    """A player, or words in its place; ``content`` has label, lines, sound and picture (names of media)."""

    content: Mapping[str, object]


def player(
    media: MediaStore,
    signal: np.ndarray,
    sampling_rate: int,
    label: str,
    *,
    caption: str = "",
    color: str = "original",
) -> Player:
    """Show a sound and let it be heard; nothing is normalised, since level is tested too.

    Of a long sound the first :data:`LONGEST` seconds are drawn and played, and the words say so. The colour
    is ``"original"`` or ``"changed"``; label and caption may come from data.
    """
    signal, lines = np.asarray(signal, dtype=np.float32), [caption] if caption else []
    if not len(signal):
        return silent(label, *lines, "no samples: there is nothing to hear")
    highest, seconds = peak(signal), len(signal) / sampling_rate
    facts = f"{seconds:.2f} s, peak {decibel(highest):.1f} dBFS, level {decibel(rms(signal)):.1f} dBFS"
    facts = facts.replace("-", "−") + (", clipped by the file format" if highest > 1 else "")
    if not media.heard:
        return silent(label, *lines, facts, kind=UNHEARD)
    if seconds > LONGEST:
        facts += f"; drawn and played are the first {LONGEST:g} s"
        signal = signal[: round(LONGEST * sampling_rate)]
    return _made(
        label,
        [*lines, facts],
        picture=media.add(picture(signal, sampling_rate, color), ".png"),
        sound=media.add(encode_flac(signal, sampling_rate), ".flac"),
        alt=f"Waveform and spectrogram of {shorten(label, 80)}: {facts}",
        seconds=f"{len(signal) / sampling_rate:.3f}",  # the width of the picture
    )


def silent(label: str, *lines: str, kind: str = "") -> Player:
    """Stand for a player where there is nothing to hear, and say why."""
    return _made(label, lines, kind=f" {kind}".rstrip())


def _made(label: str, lines: Sequence[str], **heard: str) -> Player:
    about = {"sound": "", "picture": "", "kind": "", "label": label, "lines": list(lines)} | heard
    made = Player(templates.html("player", **about, width=WIDTH, height=HEIGHT))
    names = {name: Path(about[name]).name for name in ("sound", "picture")}
    made.content = {"label": label, "caption": "; ".join(lines)} | names
    return made


def row(players: Sequence[Html], title: str = "", *, kind: str = "") -> Html:
    """Put players side by side; ``kind`` is a further class of the row, for what the script makes of it."""
    return templates.html("players", players=players, title=title, kind=f" {kind}".rstrip())


@dataclasses.dataclass(frozen=True)
class Side:
    """One of several sounds."""

    signal: np.ndarray | None  # float32 ``(samples,)``; ``None`` if there is none, then the caption says why
    name: str  # what it is, and what is said about it; both may come from data
    caption: str = ""


def players_of(media: MediaStore, sides: Sequence[Side]) -> list[Player]:
    """Make a player of each sound; all but the first are changed ones."""
    players: list[Player] = []
    for side in sides:
        if side.signal is None:
            players.append(silent(side.name, side.caption))
        else:
            color = "changed" if players else "original"
            made = player(media, side.signal, SAMPLING_RATE, side.name, caption=side.caption, color=color)
            players.append(made)
    return players


def switched(media: MediaStore, sides: Sequence[Side], title: str = "") -> Html:
    """Let sounds be compared with the first one, with a switch between them."""
    return row(players_of(media, sides), title, kind="sc-pair")


def sweep(media: MediaStore, steps: Sequence[Side], title: str = "") -> Html:
    """Let a change be heard from mild to severe, the original first, with a slider."""
    return row(players_of(media, steps), title, kind="sc-pair sc-sweep")


def signal_of(root: Path, segment: pd.Series) -> np.ndarray:
    """Read a row of a segment table, float32 ``(samples,)``."""
    return read(root / segment["file"], segment["start"], segment["end"])


def segment_name(segment: pd.Series) -> str:
    """Name a segment by its file, and its times in seconds if it is a part of it; a trial by both sides."""
    if "enrol" in segment:
        return f"{segment['enrol']} with {segment['test']}"
    start, end = segment.get("start"), segment.get("end")
    if pd.isna(end) and (pd.isna(start) or not start):
        return str(segment["file"])
    return f"{segment['file']} {0 if pd.isna(start) else start:g}–{'' if pd.isna(end) else f'{end:g}'} s"


def segment_player(
    media: MediaStore, root: Path | None, segment: pd.Series, caption: str, color: str
) -> Player:
    """Let a row of a segment table be heard; its name stands where there is no sound, or none to be read."""
    name = segment_name(segment)
    if root is None:
        return silent(name, caption)
    try:
        signal = signal_of(root, segment)
    except (OSError, soundfile.LibsndfileError):  # the folder of the corpus may have changed since
        return silent(name, *filter(None, [caption]), "the sound cannot be read")
    return player(media, signal, SAMPLING_RATE, name, caption=caption, color=color)


def settings(drawn: Mapping[str, object]) -> str:
    """Write the options that a change drew, with their units.

    >>> settings({"frequency": 6539, "snr_db": 40})
    'frequency 6539 Hz, SNR 40 dB'
    """
    parts = []
    for name, value in drawn.items():
        if name in _MODES:
            continue
        words, unit = name.replace("_", " "), _UNITS.get(name, "")
        if name.endswith("_db"):
            words, unit = words.removesuffix(" db").replace("snr", "SNR"), "dB"
        is_number = isinstance(value, int | float)
        text = f"{value:g}".replace("-", "−") if is_number else str(value).replace("_", " ")
        parts.append(f"{words} {text} {unit}".rstrip())
    return ", ".join(parts)


def side(
    evaluation: Evaluation,
    where: Subset | CorpusView,
    segment: pd.Series,
    change: Perturbation | None,
    name: str,
    caption: str = "",
) -> Side:
    """Give a segment as it is, or changed with what is drawn for it."""
    signal = signal_of(where.root, segment)
    if change is None:
        return Side(signal, name, caption)
    options = {"seed": evaluation.seed, "content": segment["audio"], "sounds": evaluation.sounds}
    return changed(signal, change, name, caption, **options)


def changed(signal: np.ndarray, change: Perturbation, name: str, caption: str = "", **how: object) -> Side:
    """Change a sound as ``seed, content, sounds`` draw it; there is none if a material is missing."""
    if why := missing(change, how["sounds"]):
        return Side(None, name, why)
    signal, drawn = apply(change, signal, SAMPLING_RATE, **how)
    return Side(signal, name, "; ".join(filter(None, (caption, settings(drawn)))))
