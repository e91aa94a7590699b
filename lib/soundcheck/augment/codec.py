r"""Transforms that send the signal over a telephone or through a codec.

Conventions
-----------
- Codecs are those of FFmpeg, inside the package PyAV. AMR narrow band has one frame of 20 ms and delays the
  signal by 5 ms, as on a telephone; MP3 and Opus are decoded as a player does it, without their delay.
- The result has as many samples as the signal: what a codec adds at the end is cut off.
- A codec that this machine does not have is never replaced by another one.
"""

from __future__ import annotations

import dataclasses
import functools
import io
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import Rng, transform
from soundcheck.augment.filters import butterworth
from soundcheck.augment.level import amplitude, level_match, limit, peak
from soundcheck.augment.noise import pink
from soundcheck.corpora.audio import resampled

NARROW = 8000  # Hz, sampling rate of a telephone
BLOCK = 1600  # samples that are given to codecs without frames at a time


@dataclasses.dataclass(frozen=True)
class Codec:
    """A codec of FFmpeg."""

    encoder: str
    rate: int  # sampling rate in Hz at which it works here
    container: str  # file format
    sample_format: str = "s16"  # as the encoder wants them
    bit_rates: Sequence[int] = (64000,)  # bits a second that may be asked for
    decoder: str = ""  # empty = the one that FFmpeg prefers


AMR_RATES = (4750, 5150, 5900, 6700, 7400, 7950, 10200, 12200)
AMR = "libopencore_amrnb"
CODECS = {
    "amr-nb": Codec(AMR, NARROW, "amr", bit_rates=AMR_RATES, decoder=AMR),
    "g711-a": Codec("pcm_alaw", NARROW, "wav"),
    "g711-mu": Codec("pcm_mulaw", NARROW, "wav"),
    "mp3": Codec("libmp3lame", 16000, "mp3", "fltp", range(8000, 160001)),
    "opus": Codec("libopus", 16000, "ogg", "flt", range(6000, 128001)),
}


@functools.cache
def missing(*names: str) -> str:
    """Say which codecs, by default of all, this machine does not have; empty if it has all."""
    try:
        import av  # late: it loads all of FFmpeg
    except Exception as error:  # a broken library counts as none
        return f"the codec library PyAV cannot be loaded ({type(error).__name__}); install the package av"
    for name in names or CODECS:
        for library, mode in ((CODECS[name].encoder, "w"), (CODECS[name].decoder, "r")):
            try:
                if library:
                    av.codec.Codec(library, mode)
            except Exception:
                return f"PyAV comes without {library} here, which the codec {name} needs"
    return ""


def coded(signal: np.ndarray, name: str, bit_rate: int | None = None) -> np.ndarray:
    """Encode and decode a signal at the rate of the codec; what exceeds full scale is clipped before.

    - ``bit_rate``: bits a second; ``None`` = the only one that there is.
    - Raises ValueError: if the codec is missing here.
    """
    if problem := missing(name):
        raise ValueError(problem)
    chosen = CODECS[name]
    samples = np.clip(signal, -1, 1)
    if chosen.sample_format == "s16":
        samples = np.round(samples * 32767).astype(np.int16)
    else:
        samples = samples.astype(np.float32)
    decoded = _decoded(_encoded(samples, chosen, bit_rate or chosen.bit_rates[0]), chosen)
    return _sized(decoded, len(signal)).astype(np.float32)


def _encoded(samples: np.ndarray, codec: Codec, bit_rate: int) -> io.BytesIO:
    """Write a file in memory; players know from it what to leave out."""
    import av

    file = io.BytesIO()
    with av.open(file, "w", format=codec.container) as container:
        stream = container.add_stream(codec.encoder, rate=codec.rate)
        stream.bit_rate, stream.layout, stream.format = bit_rate, "mono", codec.sample_format
        stream.codec_context.open()
        block = stream.codec_context.frame_size or BLOCK
        for start in range(0, len(samples), block):
            frame = av.AudioFrame.from_ndarray(
                samples[None, start : start + block], format=codec.sample_format, layout="mono"
            )
            frame.sample_rate, frame.pts = codec.rate, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    file.seek(0)
    return file


def _decoded(file: io.BytesIO, codec: Codec) -> np.ndarray:
    import av

    with av.open(file) as container:
        rate = container.streams.audio[0].rate
        frames = container.decode(audio=0)
        if codec.decoder:
            decoder = av.CodecContext.create(codec.decoder, "r")
            frames = (frame for packet in container.demux(audio=0) for frame in decoder.decode(packet))
        signal = np.concatenate([frame.to_ndarray()[0] for frame in frames])
    if signal.dtype == np.int16:
        signal = signal.astype(np.float32) / 32767
    return resampled(signal.astype(np.float32), rate, codec.rate)


def _sized(signal: np.ndarray, count: int) -> np.ndarray:
    return np.pad(signal[:count], (0, max(0, count - len(signal))))


def _transmitted(signal: np.ndarray, sampling_rate: int, name: str, bit_rate: int) -> np.ndarray:
    """Send a signal at the rate of the codec through it and bring it back to its own."""
    decoded = coded(signal, name, bit_rate)
    return resampled(decoded, CODECS[name].rate, sampling_rate)


def _check(name: str, bit_rate: int = 64000, **options: object) -> str:
    rates = CODECS[name].bit_rates
    if bit_rate in rates:
        return ""
    is_range = isinstance(rates, range)
    allowed = f"from {rates[0]} to {rates[-1]}" if is_range else f"one of {', '.join(map(str, rates))}"
    return f"bit_rate is {bit_rate}. For {name} it must be {allowed}"


@transform(missing=missing, check=_check)
def codec(
    signal: np.ndarray,
    sampling_rate: int,
    *,
    name: Literal["amr-nb", "g711-a", "g711-mu", "mp3", "opus"],
    bit_rate: int = 64000,
) -> np.ndarray:
    """Encode the signal, clipped at full scale, and decode it again; the level is as the codec leaves it.

    AMR narrow band (3GPP TS 26.071) and G.711 (ITU-T) work at 8 kHz, so that nothing above 4 kHz is left;
    Opus (RFC 6716) and MP3 (ISO/IEC 11172-3) at 16 kHz.

    - ``bit_rate``: bits a second: one of eight from 4750 to 12200 for AMR narrow band, 64000 for G.711, 6000
      to 128000 for Opus, 8000 to 160000 for MP3. MP3 takes the nearest of its own.
    """
    if peak(signal) == 0:
        return signal
    narrow = resampled(signal, sampling_rate, CODECS[name].rate)
    return _sized(_transmitted(narrow, sampling_rate, name, bit_rate), signal.size)


# Of the compander: the corner and half the width of its knee in dB of input, the slope above it, and time
# constants in seconds.
THRESHOLD_DB, KNEE_DB, RATIO, ATTACK, RELEASE = -20, 4, 0.8, 0.01, 0.02


def compress(signal: np.ndarray, sampling_rate: int) -> np.ndarray:
    r"""Compress the dynamic range as the compander of SoX does it; float64 ``(samples,)``, clipped at ±1.

    The output level is a function of the input level: from the point at which the input is the threshold
    :math:`T` and the output :math:`r T`, a line goes to (0, 0) dB, so its slope is the ratio :math:`r`; below
    the threshold the slope is 1 and the gain constant, :math:`(r - 1) T`, which is +4 dB for :math:`T = -20`
    dB and :math:`r = 0.8`. A quadratic curve rounds the corner, from the knee before it to the knee behind
    it. The input level is that of an envelope that follows the magnitude of the signal, with one time
    constant where it rises and another one where it falls, and begins at full scale.
    """
    rise = 1 - math.exp(-1 / (sampling_rate * ATTACK))
    fall = 1 - math.exp(-1 / (sampling_rate * RELEASE))
    envelope = 1.0
    followed = []
    for magnitude in np.abs(signal).astype(np.float64).tolist():  # each step needs the one before it
        step = magnitude - envelope
        envelope += step * (rise if step > 0 else fall)
        followed.append(envelope)
    level = 20 * np.log10(np.maximum(followed, 1e-10))
    return np.clip(signal * 10 ** ((_output_level(level) - level) / 20), -1, 1)


def _output_level(level: np.ndarray) -> np.ndarray:
    """Give the output level in dB for an input level in dB."""
    corner = RATIO * THRESHOLD_DB
    below = level - THRESHOLD_DB + corner
    above = RATIO * level
    # The curve meets both lines at its ends and goes through the centre of the triangle of ends and corner.
    first, last = THRESHOLD_DB - KNEE_DB, THRESHOLD_DB + KNEE_DB
    low, high = first - THRESHOLD_DB + corner, RATIO * last
    middle, centre = (first + THRESHOLD_DB + last) / 3, (low + corner + high) / 3
    slope = (centre - low) / (middle - first)
    bend = ((high - low) / (last - first) - slope) / (last - middle)
    way = level - first
    curve = low + way * (slope + bend * (level - middle))
    return np.where(level < first, below, np.where(level > last, above, curve))


@transform(missing=functools.partial(missing, "amr-nb"))
def low_quality_phone(
    signal: np.ndarray, sampling_rate: int, rng: Rng, *, bit_rate: Literal[AMR_RATES] = 7400
) -> np.ndarray:
    """Let the speech sound as over a poor telephone line, as Derington et al. (2023) define it.

    In this order: 8 kHz; peak to full scale; compression of the dynamic range (:func:`compress`: threshold
    -20 dB, ratio 0.8, attack 10 ms, release 20 ms, knee 4 dB); AMR narrow band, encoded and decoded; back to
    the sampling rate, which must be above 6 kHz; peak to full scale; pink noise added, whose peak was brought
    to -25 dB before a Butterworth filter of order 2 took away what lies below 3 kHz; RMS of the signal or, if
    that would leave full scale, a peak of 1.
    """
    if peak(signal) == 0:
        return signal
    narrow = resampled(signal, sampling_rate, NARROW)
    narrow = compress(narrow / max(peak(narrow), 1e-12), NARROW)
    line = _sized(_transmitted(narrow, sampling_rate, "amr-nb", bit_rate), signal.size)
    line = line / max(peak(line), 1e-12)
    hiss = amplitude(-25) * pink(signal.size, rng).astype(np.float64)
    sections = butterworth("highpass", 3000.0, 2, sampling_rate)
    return limit(level_match(signal, line + scipy.signal.sosfilt(sections, hiss)))
