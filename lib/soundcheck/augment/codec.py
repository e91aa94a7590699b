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
from typing import Literal

import audresample
import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import require, transform
from soundcheck.augment.filters import butterworth
from soundcheck.augment.level import amplitude, level_match, limit, peak
from soundcheck.augment.noise import pink

NARROW = 8000  # Hz, sampling rate of a telephone
BLOCK = 1600  # samples that are given to codecs without frames at a time


@dataclasses.dataclass(frozen=True)
class Codec:
    """A codec."""

    encoder: str
    decoder: str
    rate: int  # sampling rate in Hz at which it works here
    container: str = ""  # file format; empty if bare packets are passed on
    sample_format: str = "s16"  # as the encoder wants them
    # bits a second that may be asked for, lowest and highest if ``free``
    bit_rates: tuple[int, ...] = (64000,)
    free: bool = False  # whether everything between the lowest and the highest is allowed


AMR_RATES = (4750, 5150, 5900, 6700, 7400, 7950, 10200, 12200)
CODECS = {
    "amr-nb": Codec("libopencore_amrnb", "libopencore_amrnb", NARROW, bit_rates=AMR_RATES),
    "g711-a": Codec("pcm_alaw", "pcm_alaw", NARROW),
    "g711-mu": Codec("pcm_mulaw", "pcm_mulaw", NARROW),
    "mp3": Codec("libmp3lame", "mp3float", 16000, "mp3", "fltp", (8000, 160000), free=True),
    "opus": Codec("libopus", "libopus", 16000, "ogg", "flt", (6000, 128000), free=True),
}


def missing(*names: str) -> str:
    """Say which codecs this machine does not have; empty if it has all."""
    for name in names or CODECS:
        if problem := _missing(name):
            return problem
    return ""


@functools.cache
def _missing(name: str) -> str:
    try:
        import av  # late: it loads all of FFmpeg
    except Exception as error:  # a broken library counts as none
        return f"the codec library PyAV cannot be loaded ({type(error).__name__}); install the package av"
    found = CODECS[name]
    for library, mode in ((found.encoder, "w"), (found.decoder, "r")):
        try:
            av.codec.Codec(library, mode)
        except Exception:
            return f"PyAV comes without {library} here, which the codec {name} needs"
    return ""


def coded(signal: np.ndarray, name: str, bit_rate: int | None = None) -> np.ndarray:
    """Encode and decode a signal.

    - ``signal``: shape ``(samples,)``, at the rate of the codec; what exceeds full scale is clipped.
    - ``name``: one of :data:`CODECS`.
    - ``bit_rate``: bits a second; ``None`` = the only one that there is.
    - Raises ValueError: if the codec is missing here.
    """
    problem = missing(name)
    if problem:
        raise ValueError(problem)
    found = CODECS[name]
    samples = np.clip(signal, -1, 1)
    if found.sample_format == "s16":
        samples = np.round(samples * 32767).astype(np.int16)
    else:
        samples = samples.astype(np.float32)
    run = _packets if not found.container else _file
    result = run(samples, found, bit_rate or found.bit_rates[0])
    if result.dtype == np.int16:
        result = result.astype(np.float32) / 32767
    return np.pad(result[: len(signal)], (0, max(0, len(signal) - len(result)))).astype(np.float32)


def _packets(samples: np.ndarray, codec: Codec, bit_rate: int) -> np.ndarray:
    """Pass the packets of an encoder to the decoder."""
    import av

    encoder = av.CodecContext.create(codec.encoder, "w")
    decoder = av.CodecContext.create(codec.decoder, "r")
    for context in (encoder, decoder):
        context.sample_rate, context.layout, context.format = codec.rate, "mono", codec.sample_format
    encoder.bit_rate = bit_rate
    encoder.open()
    block = encoder.frame_size or BLOCK
    samples = np.pad(samples, (0, -len(samples) % block))
    pieces = []
    for start in [*range(0, len(samples), block), None]:
        frame = None
        if start is not None:
            frame = av.AudioFrame.from_ndarray(
                samples[None, start : start + block], format=codec.sample_format, layout="mono"
            )
            frame.sample_rate, frame.pts = codec.rate, start
        for packet in encoder.encode(frame):
            pieces += [piece.to_ndarray()[0] for piece in decoder.decode(packet)]
    pieces += [piece.to_ndarray()[0] for piece in decoder.decode(None)]
    return np.concatenate(pieces)


def _file(samples: np.ndarray, codec: Codec, bit_rate: int) -> np.ndarray:
    """Write a file in memory and read it again; players know from it what to leave out."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format=codec.container) as container:
        stream = container.add_stream(codec.encoder, rate=codec.rate)
        stream.bit_rate, stream.layout, stream.format = bit_rate, "mono", codec.sample_format
        stream.codec_context.open()
        block = stream.codec_context.frame_size
        for start in range(0, len(samples), block):
            frame = av.AudioFrame.from_ndarray(
                samples[None, start : start + block], format=codec.sample_format, layout="mono"
            )
            frame.sample_rate, frame.pts = codec.rate, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    buffer.seek(0)
    with av.open(buffer) as container:
        rate = container.streams.audio[0].rate
        decoded = np.concatenate([piece.to_ndarray()[0] for piece in container.decode(audio=0)])
    return decoded if rate == codec.rate else _resample(decoded, rate, codec.rate)


def _resample(signal: np.ndarray, rate: int, wanted: int) -> np.ndarray:
    if rate == wanted:
        return np.asarray(signal, dtype=np.float32)
    return audresample.resample(np.asarray(signal, dtype=np.float32), rate, wanted)[0]


def _sized(signal: np.ndarray, count: int) -> np.ndarray:
    return np.pad(signal[:count], (0, max(0, count - len(signal))))


@transform(
    source="3GPP TS 26.071 (AMR), ITU-T G.711, RFC 6716 (Opus), ISO/IEC 11172-3 (MP3); codecs of FFmpeg",
    level="As the codec leaves it; before, the signal is clipped at full scale.",
    missing=missing,
)
def codec(
    signal: np.ndarray,
    sampling_rate: int,
    rng: np.random.Generator,
    *,
    name: Literal["amr-nb", "g711-a", "g711-mu", "mp3", "opus"],
    bit_rate: int = 64000,
) -> np.ndarray:
    """Encode the signal and decode it again.

    AMR narrow band and G.711 work at 8 kHz, so that nothing above 4 kHz is left; Opus and MP3 at 16 kHz.

    - ``bit_rate``: bits a second: one of eight from 4750 to 12200 for AMR narrow band, 64000 for G.711, 6000
      to 128000 for Opus, 8000 to 160000 for MP3. MP3 takes the nearest of its own.
    - Returns float32, shape ``(samples,)``; silent if the signal is.
    - Raises ValueError: if the bit rate is none of the codec, or the codec is missing here.
    """
    found = CODECS[name]
    low, high = found.bit_rates[0], found.bit_rates[-1]
    allowed = f"from {low} to {high}" if found.free else f"one of {', '.join(map(str, found.bit_rates))}"
    known = low <= bit_rate <= high if found.free else bit_rate in found.bit_rates
    require(known, f"bit_rate is {bit_rate}. For {name} it must be {allowed}")
    if peak(signal) == 0:
        return signal
    narrow = _resample(signal, sampling_rate, found.rate)
    return _sized(_resample(coded(narrow, name, bit_rate), found.rate, sampling_rate), signal.size)


def compress(
    signal: np.ndarray,
    sampling_rate: int,
    *,
    threshold_db: float,
    ratio: float,
    attack: float,
    release: float,
    knee_db: float,
) -> np.ndarray:
    r"""Compress the dynamic range as the compander of SoX does it.

    The output level is a function of the input level: from the point at which the input is the threshold
    :math:`T` and the output :math:`r T`, a line goes to (0, 0) dB, so its slope is the ratio :math:`r`; below
    the threshold the slope is 1 and the gain constant, :math:`(r - 1) T`, which is +4 dB for :math:`T = -20`
    dB and :math:`r = 0.8`. A quadratic curve rounds the corner, from the knee before it to the knee behind
    it. The input level is that of an envelope that follows the magnitude of the signal, with one time
    constant where it rises and another one where it falls, and begins at full scale.

    - ``threshold_db, ratio``: :math:`T` in dB and :math:`r`.
    - ``attack, release``: time constants in seconds.
    - ``knee_db``: half the width of the rounded corner in dB of input.
    - Returns float64, shape ``(samples,)``, clipped at ±1.
    """
    rise = 1 - math.exp(-1 / (sampling_rate * attack))
    fall = 1 - math.exp(-1 / (sampling_rate * release))
    envelope = 1.0
    followed = []
    for magnitude in np.abs(signal).astype(np.float64).tolist():  # each step needs the one before it
        step = magnitude - envelope
        envelope += step * (rise if step > 0 else fall)
        followed.append(envelope)
    level = 20 * np.log10(np.maximum(followed, 1e-10))
    gain = _transfer(level, threshold_db, ratio, knee_db) - level
    return np.clip(signal * 10 ** (gain / 20), -1, 1)


def _transfer(level: np.ndarray, threshold_db: float, ratio: float, knee_db: float) -> np.ndarray:
    """Give the output level in dB for an input level in dB."""
    corner = ratio * threshold_db
    below = level - threshold_db + corner
    above = ratio * level
    if knee_db <= 0:
        return np.where(level < threshold_db, below, above)
    # The curve meets both lines at its ends and goes through the centre of the triangle of ends and corner.
    first, last = threshold_db - knee_db, min(0.0, threshold_db + knee_db)
    low, high = first - threshold_db + corner, ratio * last
    middle, centre = (first + threshold_db + last) / 3, (low + corner + high) / 3
    slope = (centre - low) / (middle - first)
    bend = ((high - low) / (last - first) - slope) / (last - middle)
    way = level - first
    curve = low + way * (slope + bend * (level - middle))
    return np.where(level < first, below, np.where(level > last, above, curve))


@transform(
    source="Derington et al. (2023), arXiv:2312.06270, robustness against low quality phones",
    level="Brought back to the RMS of the signal; if that would leave full scale, to a peak of 1.",
    missing=functools.partial(missing, "amr-nb"),
)
def low_quality_phone(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, bit_rate: int = 7400
) -> np.ndarray:
    """Let the speech sound as over a poor telephone line.

    In this order: 8 kHz; peak to full scale; compression of the dynamic range (:func:`compress`: threshold
    -20 dB, ratio 0.8, attack 10 ms, release 20 ms, knee 4 dB); AMR narrow band, encoded and decoded; back to
    the sampling rate; peak to full scale; pink noise added, whose peak was brought to -25 dB before a
    Butterworth filter of order 2 took away what lies below 3 kHz; level of the signal.

    - ``sampling_rate``: in Hz, above 6 kHz.
    - ``bit_rate``: of the codec, in bits a second.
    - Returns float32, shape ``(samples,)``, within ±1; silent if the signal is.
    - Raises ValueError: if the bit rate is none of the codec, or the codec is missing here.
    """
    require(bit_rate in AMR_RATES, f"bit_rate is {bit_rate}. It must be one of {AMR_RATES}")
    if peak(signal) == 0:
        return signal
    narrow = _resample(signal, sampling_rate, NARROW)
    narrow = compress(
        narrow / max(peak(narrow), 1e-12),
        NARROW,
        threshold_db=-20,
        ratio=0.8,
        attack=0.01,
        release=0.02,
        knee_db=4,
    )
    heard = _sized(_resample(coded(narrow, "amr-nb", bit_rate), NARROW, sampling_rate), signal.size)
    heard = heard / max(peak(heard), 1e-12)
    hiss = amplitude(-25) * pink(signal.size, rng).astype(np.float64)
    sections = butterworth("highpass", 3000.0, 2, int(sampling_rate)).copy()
    return limit(level_match(signal, heard + scipy.signal.sosfilt(sections, hiss)))
