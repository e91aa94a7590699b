r"""Transforms that add a sound to the signal, as defined by Derington et al. (2023), arXiv:2312.06270.

Conventions
-----------
- A signal-to-noise ratio (SNR) compares the given signal, silence at its ends included, with what is added,
  both without their means. Each transform says whether by peaks or by root mean squares.
- Tone and white noise come on top: the signal keeps its level, the sum is neither clipped nor scaled.
  Background noises are mixed: the sum is brought to the RMS that the signal had or, if that would leave full
  scale, to a peak of 1.
- Nothing can be added to silence at a finite SNR: a silent signal comes back unchanged.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import scipy  # scipy.fft is loaded when first used: it takes a third of a second

from soundcheck.augment.base import Decibels, Hertz, Rng, transform
from soundcheck.augment.level import amplitude, centred, limit, peak, rms
from soundcheck.augment.sounds import Sound, Sounds

EVENTS = ("coughing", "sneezing")
VOICES = (4, 7)  # of a babble, both included
VOICE_DB = (-20, -13)  # gain of each of them, whole decibels, both included
LEAST_AUDIBLE = 0.05  # seconds of an event that the end of the signal must leave
TRIES = 20  # excerpts that are drawn before sounds count as silent


@transform
def additive_tone(
    signal: np.ndarray, sampling_rate: int, *, frequency: Hertz, snr_db: Decibels
) -> np.ndarray:
    r"""Add a steady sine tone that starts at phase 0.

    :math:`y_n = x_n + \max|x - \bar x| \cdot 10^{-\mathrm{SNR}/20} \sin(2 \pi f n / f_s)`

    The SNR is based on peaks. A tone at the same SNR based on root mean squares, as some libraries have it,
    is quieter by the difference of the crest factors of the speech and the sine, some 10 to 15 dB.
    """
    phase = 2 * np.pi * frequency / sampling_rate * np.arange(signal.size)
    return signal + peak(centred(signal)) * amplitude(-snr_db) * np.sin(phase)


@transform
def white_noise(signal: np.ndarray, rng: Rng, *, snr_db: Decibels) -> np.ndarray:
    r"""Add white Gaussian noise.

    :math:`y_n = x_n + \sigma z_n` with :math:`z_n \sim \mathcal{N}(0, 1)` and
    :math:`\sigma = \mathrm{RMS}(x) \cdot 10^{-\mathrm{SNR}/20}`

    The SNR is based on root mean squares and holds in expectation: a drawn noise deviates with a standard
    deviation of :math:`6.1 / \sqrt{N}` dB, 0.03 dB for three seconds at 16 kHz.
    """
    noise = rng.standard_normal(signal.size, dtype=np.float32)
    noise *= np.float32(rms(signal) * amplitude(-snr_db))
    noise += signal
    return noise


def pink(count: int, rng: Rng) -> np.ndarray:
    r"""Draw pink noise: the power of white Gaussian noise, weighted by :math:`1/f`.

    A white spectrum is drawn, weighted by :math:`1/\sqrt{f}` without its part at 0 Hz, and transformed back.
    The result is float32 with a peak of 1.
    """
    length = scipy.fft.next_fast_len(max(2, count), real=True)
    bins = length // 2 + 1
    # Lines of a white Gaussian spectrum: Rayleigh magnitudes, uniform phases; quicker than Gaussian parts.
    chance = rng.random((2, bins), dtype=np.float32)
    weights = np.append(np.float32(0), 1 / np.sqrt(np.arange(1, bins, dtype=np.float32)))
    magnitude = np.sqrt(-2 * np.log1p(-chance[0])) * weights
    phase = np.float32(2 * np.pi) * chance[1]
    spectrum = np.empty(bins, dtype=np.complex64)
    spectrum.real, spectrum.imag = magnitude * np.cos(phase), magnitude * np.sin(phase)
    noise = scipy.fft.irfft(spectrum, length, overwrite_x=True)[:count]
    highest = peak(noise)
    return noise / np.float32(highest) if highest > 0 else noise


def mix(signal: np.ndarray, noise: np.ndarray, snr_db: float, based_on: str = "rms") -> np.ndarray:
    r"""Mix a signal with a noise and keep the level.

    :math:`y = x + g\,n` with :math:`g = \frac{L(x)}{L(n)} 10^{-\mathrm{SNR}/20}`, then scaled to the root
    mean square of :math:`x` and, only if its largest magnitude exceeds 1, scaled down as a whole. :math:`L`
    is the root mean square or the peak, over the whole length and without the mean, which :math:`x` keeps.
    Both have the shape ``(samples,)``. Returns the signal itself if either is silent.
    """
    speech, added = centred(signal), centred(noise)
    power, noise_power = np.dot(speech, speech), np.dot(added, added)
    if power <= 0 or noise_power <= 0:
        return signal
    ratio = peak(speech) / peak(added) if based_on == "peak" else np.sqrt(power / noise_power)
    gain = ratio * amplitude(-snr_db)
    both = power + 2 * gain * np.dot(speech, added) + gain**2 * noise_power  # energy of the sum
    offset = float(signal[0]) - speech[0]
    if not both > 0:  # the noise cancels the signal
        return np.full_like(speech, offset)
    level = np.sqrt(power / both)
    result = np.multiply(speech, level, out=speech)
    result += np.multiply(added, level * gain, out=added)
    result += offset
    return limit(result)


@transform(sounds="noise")
def background_noise(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    sounds: Sounds,
    *,
    noise: Literal["babble", "environmental", "music", "white"],
    snr_db: Decibels,
    based_on: Literal["rms", "peak"] = "rms",
) -> np.ndarray:
    """Mix the speech with a noise that lasts as long as the speech.

    Environmental noise and music are one random sound from a random place on, repeated if it is too short.
    Babble is the sum of 4 to 7 random voices, each from a random place on and with a random gain of -20 to
    -13 dB. White noise is Gaussian. ``based_on`` tells whether root mean squares are compared or peaks.
    """
    return mix(signal, draw_sound(noise, sounds, signal.size, sampling_rate, rng), snr_db, based_on)


@transform(sounds="event")
def sound_event(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    sounds: Sounds,
    *,
    event: Literal["coughing", "sneezing"],
    snr_db: Decibels,
    based_on: Literal["rms", "peak"] = "rms",
) -> np.ndarray:
    """Mix the speech with a single event at a random place.

    The event is one random sound. It begins anywhere in the speech, and what goes past the end is cut off; a
    twentieth of a second of it is left at least. Its energy is spread over the whole signal when the
    signal-to-noise ratio is computed, so the event itself is much louder than the ratio says.
    """
    return mix(signal, draw_sound(event, sounds, signal.size, sampling_rate, rng), snr_db, based_on)


def draw_sound(kind: str, sounds: Sounds, count: int, sampling_rate: int, rng: Rng) -> np.ndarray:
    """Draw ``count`` samples of a kind of sound, or a single event in silence, at any level.

    See :func:`background_noise` and :func:`sound_event`. Draws until something is heard: a place in a
    recording may be silent; a ValueError says that all of them were.
    """
    if kind == "white":
        return rng.standard_normal(count, dtype=np.float32)
    draw = _event if kind in EVENTS else _babble if kind == "babble" else _excerpt
    for _ in range(TRIES):
        noise = draw(sounds.of(kind), count, sampling_rate, rng)
        if noise.any():
            return noise
    raise ValueError(f"the sounds of the kind {kind} are silent wherever one was drawn")


def _babble(sounds: Sequence[Sound], count: int, sampling_rate: int, rng: Rng) -> np.ndarray:
    total = np.zeros(count)
    for _ in range(int(rng.integers(*VOICES, endpoint=True))):
        gain = amplitude(int(rng.integers(*VOICE_DB, endpoint=True)))
        total += gain * _excerpt(sounds, count, sampling_rate, rng)
    return total


def _excerpt(sounds: Sequence[Sound], count: int, sampling_rate: int, rng: Rng) -> np.ndarray:
    """Cut a random part out of a random sound."""
    sound = sounds[int(rng.integers(len(sounds)))]
    return sound.part(int(rng.integers(sound.samples(sampling_rate))), count, sampling_rate)


def _event(sounds: Sequence[Sound], count: int, sampling_rate: int, rng: Rng) -> np.ndarray:
    sound = centred(sounds[int(rng.integers(len(sounds)))].read(sampling_rate)).astype(np.float32)
    place = rng.random()
    loud = np.flatnonzero(sound)
    if not loud.size:
        return sound
    if loud[0] >= count:  # it begins with silence that is longer than the signal
        sound, loud = sound[loud[0] :], loud - loud[0]
    needed = min(count, len(sound), loud[0] + max(1, round(LEAST_AUDIBLE * sampling_rate)))
    start = int(place * (count - needed + 1))
    sound = sound[: count - start]
    return np.pad(sound, (start, count - start - len(sound)))
