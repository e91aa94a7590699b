"""What the demo registers: a format of corpora, sounds, and speech; see the entry points in pyproject.toml.

Its models need no registration: suites name their functions behind ``python:``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from soundcheck.augment.sources import SoundSource, SpeechSource
from soundcheck.common.tasks import Task
from soundcheck.corpora.formats.tables import CsvFormat
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import CorpusEntry, CorpusFormat, CorpusKeys

if TYPE_CHECKING:
    import numpy as np

    from soundcheck.corpora.raw_table import RawTable


class DemoKeys(CorpusKeys):
    """Keys of a demo corpus."""

    size: schema.choice("small", "full") = "full"
    part: schema.choice("speech", "texts", "recordings", "commands", "monologues") = "speech"


class DemoFormat(CorpusFormat):
    """Synthetic speech with known labels, made on first use."""

    keyword = "demo"
    keys = DemoKeys

    @classmethod
    def complete(cls, entry: CorpusEntry) -> CorpusEntry:
        """Say that the speech is synthetic."""
        return dataclasses.replace(entry, synthetic=True)

    @classmethod
    def make(cls, entry: CorpusEntry, cache: Path, *, jobs: int, progress: bool) -> CorpusEntry:
        """Synthesise the corpus, or find it in the cache."""
        from soundcheck_demo.speech import corpus

        folder = corpus.build(cache, **entry.options, jobs=jobs, progress=progress)
        description = entry.description or corpus.describe(**entry.options)
        return dataclasses.replace(entry, path=folder / corpus.TABLE, root=folder, description=description)

    @classmethod
    def read(cls, entry: CorpusEntry, tasks: Mapping[str, Task]) -> RawTable:
        """Read its table."""
        return CsvFormat.read(entry, tasks)


class DemoSounds(SoundSource):
    """Noises and impulse responses: computed, not recorded."""

    keyword = "demo"

    @classmethod
    def kinds(cls) -> Mapping[str, str]:
        """Say of each kind how it is made."""
        from soundcheck_demo.sounds import build

        return build.SOURCES

    @classmethod
    def make(cls, cache: Path, *, jobs: int, progress: bool) -> Path:
        """Compute the sounds, or find them in the cache."""
        from soundcheck_demo.sounds import build

        return build.build(cache, jobs=jobs, progress=progress)


class DemoSpeech(SpeechSource):
    """Praat's synthesiser."""

    keyword = "demo"
    description = (
        "All speech of this corpus is synthetic. Praat's built-in synthesiser reads sentences around words "
        "that one recogniser of this suite keeps under noise, and around words that it loses, with American "
        "and British voices of women and men. They show whether it loses the words in other "
        "sentences as well."
    )
    sample_caption = "synthetic speech of the demo corpus"
    conditions = {
        "headset": "what was said, with little noise",
        "boundary": "on a table: the room, fewer high frequencies, noise",
        "mobile": "a narrower band, loud parts compressed, hiss",
    }

    @classmethod
    def obstacle(cls, word: str) -> str:
        """Say why a word cannot be tested in spoken sentences."""
        from soundcheck_demo.speech import sentences

        return sentences.obstacle(word)

    @classmethod
    def sentences(
        cls, cache: Path, kinds: Mapping[str, Sequence[str]], count: int, **options: object
    ) -> Path:
        """Speak sentences, or find them in the cache."""
        from soundcheck_demo.speech import corpus, sentences

        return sentences.build(cache, kinds, count, **options) / corpus.TABLE

    @classmethod
    def sample(cls, cache: Path, corpora: Sequence[CorpusEntry]) -> np.ndarray:
        """Give the first segment of the demo corpus, whether that is tested or not."""
        from soundcheck.corpora import audio
        from soundcheck_demo.speech import corpus

        return audio.read(corpus.first(cache))

    @classmethod
    def record(cls, signal: np.ndarray, condition: str, item: str) -> np.ndarray:
        """Record the sample with one of the three microphones."""
        from soundcheck_demo.speech.corpus import record

        return record(signal, condition, item, item)
