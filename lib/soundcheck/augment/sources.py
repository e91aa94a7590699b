"""Sound and speech that other packages make: for suites that bring no recordings, and to listen to.

Sources are registered as entry points of the groups ``soundcheck.sounds`` and ``soundcheck.speech``. If
several can do something, the first in the order of their names does it.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from soundcheck.common import files
from soundcheck.common.resources import Registry
from soundcheck.suite.entries import CorpusEntry


class SoundSource:
    """Makes sounds of the kinds that a suite brings no recordings of."""

    keyword: ClassVar[str] = ""

    @classmethod
    def kinds(cls) -> Mapping[str, str]:
        """Map the kinds of sound that it makes to what pages say about how they are made."""

    @classmethod
    def make(cls, cache: Path, *, jobs: int, progress: bool) -> Path:
        """Make the sounds, or find them in the cache; returns a folder with a folder for each kind."""


class SpeechSource:
    """Speaks sentences around words, and has a sample of speech for the pages about methods."""

    keyword: ClassVar[str] = ""
    description: ClassVar[str]  # what pages say about corpora of sentences around words
    sample_caption: ClassVar[str]  # what pages say about the sample
    # how the sample can be recorded -> what pages say about that
    conditions: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def obstacle(cls, word: str) -> str:
        """Say why a word cannot be spoken so that recognisers can be tested with it; empty if it can."""

    @classmethod
    def sentences(
        cls,
        cache: Path,
        kinds: Mapping[str, Sequence[str]],
        count: int,
        *,
        seed: int,
        complements: Mapping[str, Sequence[str]] | None,
        jobs: int,
        progress: bool,
    ) -> Path:
        """Speak so many sentences around the words of each kind, or find them in the cache.

        - ``seed``: decides which sentences a word gets.
        - ``complements``: word -> ends of sentences that suit it.
        - Returns a table of segments in CSV, with the word of each in the column ``keyword``.
        """

    @classmethod
    def sample(cls, cache: Path, corpora: Sequence[CorpusEntry]) -> np.ndarray:
        """Give a sample of speech at 16 kHz; corpora of the run may have been made with the same voices."""

    @classmethod
    def record(cls, signal: np.ndarray, condition: str, item: str) -> np.ndarray:
        """Record a sample under one of the conditions; ``item`` decides the noise."""
        raise NotImplementedError


SOUND_SOURCES = Registry(SoundSource, "soundcheck.augment", "soundcheck.sounds")
SPEECH_SOURCES = Registry(SpeechSource, "soundcheck.augment", "soundcheck.speech")


def speech_source() -> type[SpeechSource] | None:
    """Give the source of speech; ``None`` if no installed package has one."""
    return next(iter(SPEECH_SOURCES.values()), None)


def speech_digest() -> str:
    """Digest of code and data of the package that speaks; empty if there is none."""
    speech = speech_source()
    package = sys.modules[speech.__module__.partition(".")[0]].__file__ if speech else None
    if not package:
        return ""
    sources = sorted(
        path for path in Path(package).parent.rglob("*") if path.suffix in (".py", ".csv", ".toml")
    )
    return files.digest(repr([(str(path), files.digest(path)) for path in sources]))
