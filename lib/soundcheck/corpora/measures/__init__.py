"""What can be measured on a sound: the list of all measures, by what they look at a module each.

- A measure takes a mono signal, float ``(samples,)`` with full scale 1, and its sampling rate in Hz, and
  gives a number; NaN where there is nothing to measure. It never draws at random.
- Signals come at 16 kHz, as models get them; only measures with ``own_rate`` get the file as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from soundcheck.corpora.measures.networks import predicted_quality, speech_share
from soundcheck.corpora.measures.recording import (
    bandwidth,
    clipping,
    duration,
    level,
    signal_to_noise,
    silence,
)
from soundcheck.corpora.measures.voice import mean_pitch, speaking_rate
from soundcheck.corpora.repeats import fingerprint


@dataclasses.dataclass(frozen=True)
class Measure:
    """A measure; call it with a signal and its sampling rate."""

    function: Callable[[np.ndarray, int], float | str]
    title: str  # what it is called on pages
    unit: str
    noticeable: float  # smallest difference between groups that is worth a word
    own_rate: bool = False  # whether it wants the sampling rate of the file
    libraries: tuple[str, ...] = ()  # packages whose versions decide the number
    package: str = ""  # with the weights of its network; empty for other measures
    extra: str = ""  # that brings this package

    def __call__(self, signal: np.ndarray, sampling_rate: int) -> float | str:
        """Measure a signal."""
        return self.function(signal, sampling_rate)


MEASURES: dict[str, Measure] = {
    "signal_to_noise": Measure(signal_to_noise, "signal-to-noise ratio", "dB", 3.0),
    "level": Measure(level, "level", "dB", 3.0),
    "duration": Measure(duration, "duration", "s", 0.5),
    "bandwidth": Measure(bandwidth, "bandwidth", "Hz", 500.0),
    "clipping": Measure(clipping, "clipped samples", "share", 0.001, own_rate=True),
    "silence": Measure(silence, "silence", "share", 0.1),
    "pitch": Measure(mean_pitch, "pitch", "Hz", 20.0, libraries=("praat-parselmouth",)),
    "speaking_rate": Measure(
        speaking_rate, "speaking rate", "syllables a second", 0.5, libraries=("praat-parselmouth",)
    ),
    # Runtimes differ by less than what is rounded away, and have two names: the weights decide.
    "speech_share": Measure(
        *(speech_share, "speech", "share", 0.1),
        libraries=("silero-vad",),
        package="silero_vad",
        extra="silero",
    ),
    "predicted_quality": Measure(
        *(predicted_quality, "predicted quality", "1 to 5", 0.3),
        libraries=("speechmos",),
        package="speechmos",
        extra="dnsmos",
    ),
}

FINGERPRINT = "fingerprint"  # kept like a measure, and no column: it is a text
CACHED = MEASURES | {FINGERPRINT: Measure(fingerprint, "fingerprint", "", 0.0, libraries=("scipy",))}
