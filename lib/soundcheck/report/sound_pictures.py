r"""Pictures of sounds: a waveform over a spectrogram, in one small PNG.

- Nothing is normalised: level is tested, so two pictures may be compared. A colour stands for the same level
  everywhere, from :data:`LOWEST_DB` to :data:`HIGHEST_DB` relative to full scale, where a sine of full scale
  is 0 dB. What is beyond has the colour of the end. Waveforms share one scale down to half of full scale.
- Time runs over the whole width of both parts; frequency from 0 at the bottom to :data:`HIGHEST_HZ`.
- The level of a band is that of the power in its lines of a short-time Fourier transform, with a Hann window
  of 25 ms. Frames that share a column are averaged, so that nothing of a long sound is passed over.
"""

import io

import numpy as np
from matplotlib import colormaps
from PIL import Image, ImageColor

from soundcheck.augment.level import peak

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
    shown = np.rint(255 * colormaps["magma"](np.linspace(0, 1, _SHADES))[:, :3]).astype(np.uint8)
    image.putpalette(shown.tobytes() + bytes((255, 255, 255, *ImageColor.getrgb(COLORS[color]))))
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
