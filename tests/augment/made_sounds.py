"""Sounds of given samples, without files."""

import dataclasses
from collections.abc import Iterable

import audresample
import numpy as np

from soundcheck.augment.sounds import Sound, Sounds, SoundSet
from soundcheck.common import files

RATE = 16000


@dataclasses.dataclass(frozen=True)
class Made(Sound):
    """A sound in memory."""

    signal: np.ndarray | None = dataclasses.field(default=None, compare=False, repr=False)

    def read(self, sampling_rate: int) -> np.ndarray:
        if sampling_rate == RATE:
            return self.signal
        return audresample.resample(self.signal, RATE, sampling_rate)[0]


def sound(name: str, signal: np.ndarray, **more: object) -> Made:
    """Make a sound of samples."""
    signal = np.ascontiguousarray(signal, dtype=np.float32)
    about = {"duration": len(signal) / RATE, "digest": files.digest(signal.tobytes())}
    return Made(name, signal=signal, **about, **more)


def sounds(**kinds: Iterable[Sound | np.ndarray]) -> Sounds:
    """Make material of sounds, or of samples, by kind."""
    made = {
        kind: [raw if isinstance(raw, Sound) else sound(f"{kind} {n}", raw) for n, raw in enumerate(group)]
        for kind, group in kinds.items()
    }
    return Sounds({kind: SoundSet(kind, tuple(group)) for kind, group in made.items()})
