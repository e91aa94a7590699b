"""The sounds that transforms may draw from, by kind.

Conventions
-----------
- Noises are mono, the mean of their channels; of an impulse response the first channel is used.
- A sound is known by its content: the order of a kind is that of the sounds' names, its digest that of their
  contents.
- Reading gives float32 ``(samples,)`` at the wanted rate, never normalised.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pydantic

from soundcheck.common import files
from soundcheck.corpora import audio
from soundcheck.suite.entries import NOISE_KINDS, RESPONSE_KINDS, SPEECH_KINDS

KINDS = (*NOISE_KINDS, *RESPONSE_KINDS, *SPEECH_KINDS)
BASE, OTHER = "base", "other"  # roles of impulse responses: what is compared with what

ROUNDING = 1e-9  # share by which a distance may exceed its bounds: 2.25 m is within 1.5 times 1.5 m
WHOLE = 30.0  # seconds; longer sounds are not kept in memory, only what is needed of them is read
CACHED = 48  # sounds that a process keeps in memory


@dataclasses.dataclass(frozen=True)
class Sound:
    """One sound: a file or a part of it."""

    name: str  # what it is called, relative to its folder
    path: Path = Path()
    duration: float = 0.0  # in seconds
    digest: str = ""
    start: float = 0.0  # where it begins in its file, in seconds
    channel: int | None = None  # number of the channel; ``None`` = mean of all
    role: str = ""  # impulse responses: ``"base"``, ``"other"``, or empty for those that are not used
    label: str = ""  # impulse responses: the room or position
    distance: float = 0.0  # impulse responses: metres between mouth and microphone; 0 if unknown

    def read(self, sampling_rate: int) -> np.ndarray:
        """Read all of it; a ValueError says that the file vanished or changed meanwhile."""
        return _read(self.path, self.start, self.start + self.duration, self.channel, sampling_rate)

    def samples(self, sampling_rate: int) -> int:
        """Count its samples at a rate."""
        if self.duration <= WHOLE:
            return len(self.read(sampling_rate))
        return max(1, int(self.duration * sampling_rate))

    def part(self, first: int, count: int, sampling_rate: int) -> np.ndarray:
        """Read ``count`` samples from sample ``first`` on; after its end it begins again."""
        if self.duration <= WHOLE:
            return np.take(self.read(sampling_rate), np.arange(first, first + count), mode="wrap")
        total = self.samples(sampling_rate)
        pieces = []
        while count > 0:
            first %= total
            size = min(count, total - first)
            start = self.start + first / sampling_rate
            piece = _load(self.path, start, start + size / sampling_rate, self.channel, sampling_rate)
            pieces.append(np.pad(piece[:size], (0, size - len(piece[:size]))))
            first, count = first + size, count - size
        return np.concatenate(pieces)


def _load(path: Path, start: float, end: float, channel: int | None, sampling_rate: int) -> np.ndarray:
    try:
        return audio.read(path, start, end, sampling_rate, channel=channel)
    except (OSError, RuntimeError) as error:
        raise ValueError(f"the sound {path.name} can no longer be read") from error


@functools.lru_cache(maxsize=CACHED)
def _read(path: Path, start: float, end: float, channel: int | None, sampling_rate: int) -> np.ndarray:
    signal = _load(path, start, end, channel, sampling_rate)
    signal.flags.writeable = False  # shared by all callers
    return signal


@dataclasses.dataclass(frozen=True)
class SoundSet:
    """All sounds of a kind."""

    kind: str  # one of :data:`KINDS`
    sounds: tuple[Sound, ...]  # at least one, in the order of their names
    source: str = ""  # where they come from, a sentence for the book
    synthetic: bool = False  # whether they are made by computation
    left_out: tuple[tuple[str, str], ...] = ()  # name and reason of each file that cannot be used

    @property
    def digest(self) -> str:
        """Digest of what can be drawn."""
        return files.digest(json.dumps([[s.digest, s.role, s.distance] for s in self.sounds]))

    @property
    def duration(self) -> float:
        """Duration of all sounds together, in seconds."""
        return sum(sound.duration for sound in self.sounds)


@dataclasses.dataclass(frozen=True)
class Sounds:
    """The sound material of a suite."""

    sets: Mapping[str, SoundSet] = dataclasses.field(default_factory=dict)

    def __contains__(self, kind: str) -> bool:
        return kind in self.sets

    def of(self, kind: str, role: str = "") -> tuple[Sound, ...]:
        """Give the sounds of a kind, of impulse responses those with a role; ValueError if there are none."""
        sounds = self.sets[kind].sounds if kind in self.sets else ()
        sounds = tuple(sound for sound in sounds if not role or sound.role == role)
        if not sounds:
            raise ValueError(f"there are no sounds of the kind {' '.join(filter(None, (role, kind)))}")
        return sounds

    def responses(self, kind: str, role: str, ratio: float = 0.0, times: float = 1.0) -> tuple[Sound, ...]:
        """Give the impulse responses of a kind with a role, of the others perhaps only those at a distance.

        - ``ratio``: how far the distance may be from the wanted one, as a ratio from 1 on; 0 = any distance.
          It does not count for the base, nor if the distance of the base is unknown.
        - ``times``: the wanted distance as a multiple of that of the base.
        - Raises ValueError: if there are none.
        """
        responses = self.of(kind, role)
        base = self.of(kind, BASE)[0]
        if role == BASE or not ratio or not base.distance:
            return responses
        wanted, within = times * base.distance, ratio * (1 + ROUNDING)
        near = tuple(sound for sound in responses if 1 / within <= sound.distance / wanted <= within)
        if not near:
            raise ValueError(
                f"of {kind}, nothing but {base.label or base.name} was measured at a distance within a ratio "
                f"of {ratio:g} of {wanted:.3g} m"
            )
        return near

    def digest(self, kind: str) -> str:
        """Digest of what can be drawn of a kind; empty if it is none of ours."""
        return self.sets[kind].digest if kind in self.sets else ""

    def write(self, path: Path) -> None:
        """Write a list of the sounds, from which :meth:`load` makes them again."""
        files.write_text(path, _SETS.dump_json([*self.sets.values()]).decode())

    @classmethod
    def load(cls, path: Path) -> Sounds:
        """Read what :meth:`write` wrote."""
        return cls({each.kind: each for each in _SETS.validate_json(path.read_bytes())})


_SETS = pydantic.TypeAdapter(list[SoundSet])
