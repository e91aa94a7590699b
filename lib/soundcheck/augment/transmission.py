r"""Transforms that send the signal through something: filters, a room, a telephone, a codec.

Filters are those of Derington et al. (2023), arXiv:2312.06270; with ``definition="released"`` the Butterworth
filters are those that the generator of AequeVox :cite:`rajan2022` has.

Conventions
-----------
- Butterworth filters run once and forward, so they are causal and delay the signal as such filters do.
  At the cutoff they attenuate by 3 dB. They start at rest, with zeros before the first sample.
- With ``definition="released"`` they run forward and backward: no delay, twice the order, 6.0 dB at the
  cutoff. With order 2, 500 Hz and a sampling rate of 16 kHz the low-pass takes away 24.9 dB an octave beyond
  instead of 12.5 dB, the high-pass 24.7 instead of 12.3 dB. Both ends are extended by their point reflection,
  9 samples for order 2.
- What a Butterworth filter takes away is not made up for. Spectral tilt is a filter of linear phase whose
  delay is removed: nothing moves in time.
- Filters run in float64; the result is float32 of the same length.
- Codecs are those of FFmpeg, inside the package PyAV. AMR narrow band has one frame of 20 ms and delays the
  signal by 5 ms, as on a telephone; MP3 and Opus are decoded as a player does it, without their delay.
- The result has as many samples as the signal: what a codec adds at the end is cut off.
- A codec that this machine does not have is never replaced by another one.
"""

import dataclasses
import functools
import io
import math
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import Decibels, Hertz, Metres, Range, Rng, transform
from soundcheck.augment.level import Definition, amplitude, centred, level_match, limit, peak, rms
from soundcheck.augment.noise import pink
from soundcheck.augment.sounds import Sounds
from soundcheck.corpora.audio import resampled

# Filters

TAPS = 1024  # length of the tilt filters
CENTRE = TAPS // 2  # the tap around which they are symmetric, and so their delay in samples
UPWARD_FLOOR = 0.013  # response of the upward tilt at 0 Hz, where the ramp itself is 0
Order = Annotated[int, Range(1, 12)]


def butterworth(kind: str, cutoff: float, order: int, sampling_rate: int) -> np.ndarray:
    """Design a ``"highpass"`` or ``"lowpass"``: second-order sections, ``(sections, 6)``."""
    return scipy.signal.butter(order, cutoff, kind, output="sos", fs=sampling_rate)


def _filter(
    kind: str, signal: np.ndarray, sampling_rate: int, cutoff: float, order: int, definition: str
) -> np.ndarray:
    sections = butterworth(kind, cutoff, order, sampling_rate)
    if definition == "released":
        extension = min(3 * (order + 1), signal.size - 1)
        return scipy.signal.sosfiltfilt(sections, signal.astype(np.float64), padlen=extension)
    return scipy.signal.sosfilt(sections, signal.astype(np.float64))


@transform
def highpass_filter(
    signal: np.ndarray,
    sampling_rate: int,
    *,
    cutoff: Hertz,
    order: Order = 1,
    definition: Definition = "text",
) -> np.ndarray:
    r"""Weaken the frequencies below a cutoff with a Butterworth filter, designed by bilinear transform.

    :math:`|H(f)|^{-2} = 1 + \left(\tan\frac{\pi f_c}{f_s} / \tan\frac{\pi f}{f_s}\right)^{2n}`
    with the cutoff :math:`f_c`, the sampling rate :math:`f_s` and the order :math:`n`, each of which adds
    6 dB an octave; by the released definition :math:`|H(f)|^2` in the place of :math:`|H(f)|`.
    """
    return _filter("highpass", signal, sampling_rate, cutoff, order, definition)


@transform
def lowpass_filter(
    signal: np.ndarray,
    sampling_rate: int,
    *,
    cutoff: Hertz,
    order: Order = 1,
    definition: Definition = "text",
) -> np.ndarray:
    r"""Weaken the frequencies above a cutoff with a Butterworth filter, designed by bilinear transform.

    :math:`|H(f)|^{-2} = 1 + \left(\tan\frac{\pi f}{f_s} / \tan\frac{\pi f_c}{f_s}\right)^{2n}`, otherwise
    as :func:`highpass_filter`.
    """
    return _filter("lowpass", signal, sampling_rate, cutoff, order, definition)


def tilt_filter(direction: str) -> np.ndarray:
    """Impulse response of a tilt filter, ``"downward"`` or ``"upward"``: ``(1024,)``.

    Its amplitude, not its level in decibel, is a ramp. With the frequency f relative to half the sampling
    rate: downward 1 - f; upward 2 f, with 0.013 at 0 Hz and a notch at the very end, as in the filters with
    which results have been published. Taps 1 to 1023 are symmetric about tap 512.
    """
    frequency = np.linspace(0, 1, CENTRE + 1)
    response = 1 - frequency
    if direction == "upward":
        response = 2 * frequency
        response[0], response[-1] = UPWARD_FLOOR, 0.0
    return np.roll(np.fft.irfft(response, TAPS), CENTRE)


@transform
def spectral_tilt(signal: np.ndarray, *, direction: Literal["downward", "upward"]) -> np.ndarray:
    """Emphasise low (downward) or high (upward) frequencies by a spectrum that falls or rises evenly.

    The signal without its mean is convolved with :func:`tilt_filter`, freed from the delay of 512 samples,
    brought to the RMS that it had and, only if its largest magnitude then exceeds 1, scaled down as a whole.
    The ramp spans 0 Hz to half the sampling rate: at 16 kHz the response is 1 - f / 8000 downward and
    2 f / 8000 upward.
    """
    full = scipy.signal.fftconvolve(centred(signal), tilt_filter(direction))
    return limit(level_match(signal, full[CENTRE : CENTRE + signal.size]))


# Rooms


@transform(sounds="responses")
def reverberation(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    sounds: Sounds,
    *,
    responses: Literal["positions", "rooms"],
    role: Literal["base", "other"],
    ratio: Annotated[float, Range(1, 100, zero=True)] = 0.0,
    times: Annotated[float, Range(0, 1000, "(]")] = 1.0,
) -> np.ndarray:
    """Let the speech sound as in a room, at a position of the microphone.

    As by Derington et al. (2023), arXiv:2312.06270, the signal without its mean is convolved with a random
    impulse response of the wanted role; the first samples, as many as the signal has, are kept and scaled to
    a peak of 1. The direct path is not moved to the beginning: the result is delayed as a recording would be.

    - ``role``: the response that others are compared with, or the others.
    - ``ratio``: others are drawn whose distance between mouth and microphone lies within this ratio of the
      wanted one: 1.5 means from two thirds to one and a half times. 0 means any distance, and so does an
      unknown distance of the base.
    - ``times``: the wanted distance as a multiple of that of the base.
    """
    suitable = sounds.responses(responses, role, ratio, times)
    response = suitable[int(rng.integers(len(suitable)))]
    speech = centred(signal)
    convolved = scipy.signal.oaconvolve(speech, response.read(sampling_rate).astype(np.float64))
    convolved = convolved[: signal.size]
    highest = peak(convolved)
    if peak(speech) == 0:
        return signal
    if highest == 0:
        raise ValueError(f"nothing is heard through the impulse response {response.name}")
    return convolved / highest


@transform
def far_field(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    *,
    metres: Metres,
    reverberation_time: Annotated[float, Range(0.05, 5)] = 0.5,
    critical_distance: Metres = 1.0,
    snr_db: Decibels = 30.0,
) -> np.ndarray:
    r"""Let the speech be heard from farther away, in a room with some noise.

    The direct sound loses 6 dB for each doubling of the distance :math:`d`; the reverberation and the noise
    of a room are equally loud everywhere. The reverberation is the signal, convolved with white Gaussian
    noise that decays by 60 dB within the reverberation time (Polack 1988), and as loud as the direct sound
    at the critical distance :math:`c`: :math:`y = x + \frac{d}{c}\, r + n`, with the energy of the tail
    :math:`r` equal to that of the direct path and :math:`\mathrm{SNR}(d) = \mathrm{SNR} - 20 \log_{10} d`
    of the direct sound. The result has the RMS of the signal or, if it would leave full scale, a peak of 1.
    Tail and noise are the same at all distances.

    - ``snr_db``: at one metre.
    """
    tail = rng.standard_normal(max(1, round(reverberation_time * sampling_rate)))
    tail *= 10 ** (-3 * np.arange(tail.size) / tail.size)
    tail *= metres / critical_distance / np.sqrt(np.sum(tail**2))
    noise = rng.standard_normal(signal.size) * rms(signal) * amplitude(20 * np.log10(metres) - snr_db)
    reverberant = signal + scipy.signal.oaconvolve(centred(signal), tail)[: signal.size] + noise
    return limit(level_match(signal, reverberant))


# Codecs and telephones

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


def coded(signal: np.ndarray, name: str, bit_rate: int = 64000) -> np.ndarray:
    """Encode and decode a signal at the rate of the codec; what exceeds full scale is clipped before.

    Raises ValueError: if the codec is missing here.
    """
    if problem := missing(name):
        raise ValueError(problem)
    chosen = CODECS[name]
    samples = np.clip(signal, -1, 1)
    if chosen.sample_format == "s16":
        samples = np.round(samples * 32767).astype(np.int16)
    else:
        samples = samples.astype(np.float32)
    decoded = _decoded(_encoded(samples, chosen, bit_rate), chosen)
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


def _transmitted(narrow: np.ndarray, name: str, bit_rate: int, sampling_rate: int, count: int) -> np.ndarray:
    """Send a signal at the rate of the codec through it; give so many samples at another rate."""
    decoded = coded(narrow, name, bit_rate)
    return _sized(resampled(decoded, CODECS[name].rate, sampling_rate), count)


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
    return _transmitted(narrow, name, bit_rate, sampling_rate, signal.size)


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
    line = _transmitted(narrow, "amr-nb", bit_rate, sampling_rate, signal.size)
    line = line / max(peak(line), 1e-12)
    hiss = amplitude(-25) * pink(signal.size, rng).astype(np.float64)
    sections = butterworth("highpass", 3000.0, 2, sampling_rate)
    return limit(level_match(signal, line + scipy.signal.sosfilt(sections, hiss)))
