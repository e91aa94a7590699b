"""What a model is asked: segments of corpora under changes, keys of its answers, and where these go."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from soundcheck.augment.sounds import Sounds
from soundcheck.common import files, resources
from soundcheck.common.tasks import Task
from soundcheck.corpora.load import Corpus
from soundcheck.models.base import LookUpModel
from soundcheck.predict.workers import Excerpt, Result
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.families import Perturbation

VERSION = 3  # of keys
# the library's code that reads signals, and that changes them: what it does to them changes answers
READING, CHANGING = "corpora/audio.py", "augment/**/*.py"
_DIGITS = 15  # of a key, hexadecimal
_TEXT = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
Wanted = Callable[["Corpus"], Mapping[str, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class PredictionRequest:
    """All that one model is asked in a run.

    - ``entry, suite``: the model; imported in child processes only.
    """

    entry: ModelEntry
    suite: Suite
    corpora: Sequence[Corpus]
    # id in the column ``change`` -> what is done to the signals. Models that cannot answer for changed
    # signals are asked about clean ones only.
    changes: Mapping[str, Perturbation]
    # output folder: tables go to ``predictions/<model>/<corpus>.parquet``, what workers print to ``logs``
    out: Path
    cache: Path  # folder of everything that is computed once
    # as returned by :func:`soundcheck.models.base.check_model`; empty if the model has not been checked
    fingerprint: str = ""
    # gives for a corpus, and each change, which segments anybody wants answers for under this change, bool
    # ``(segments,)``; default all
    wanted: Wanted | None = None
    # noises and impulse responses that changes draw from
    sounds: Sounds = dataclasses.field(default_factory=Sounds)
    fresh: bool = False  # whether to forget what the model answered before
    confirm: bool = True  # whether to predict some inputs again before kept answers are believed
    failed: Sequence[Result] = ()  # inputs that are known to have no answer, and are not predicted again
    part: str = ""  # of the name of the log, for models that predict in several rounds
    model: LookUpModel | None = None  # one that does not listen, if it was loaded when it was checked

    @property
    def log(self) -> Path:
        """The file that gets what the model prints."""
        return self.out / "logs" / ".".join(filter(None, (files.slug(self.entry.name), self.part, "log")))


# Segments ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Segment:
    """What the engine needs to know of a segment: ``label`` is for people, ``changes`` those wanted."""

    key: str
    excerpt: Excerpt
    label: str
    changes: tuple[str, ...]


def list_segments(corpus: Corpus, changes: Sequence[str], wanted: Wanted | None) -> Iterator[Segment]:
    """List the segments of a corpus, each with the changes that answers are wanted for, clean first."""
    table = corpus.segments
    paths = {file: str(corpus.root / file) for file in table["file"].unique()}

    @functools.cache  # most segments are heard under the same changes as others: these are listed once
    def listed(mask: bytes) -> tuple[str, ...]:
        return ("", *itertools.compress(changes, mask))

    masks = [row.tobytes() for row in asked_changes(corpus, changes, wanted).T]
    texts = (table[name].tolist() for name in ("key", "audio", "file"))
    times = (_seconds(table[name]) for name in ("start", "end"))
    for key, content, file, start, end, mask in zip(*texts, *times, masks, strict=True):
        excerpt = Excerpt(paths[file], start, end, content)
        yield Segment(key, excerpt, segment_label(file, start, end), listed(mask))


def _seconds(column: pd.Series) -> list[float | None]:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isnan(values), None, values.astype(object)).tolist()


def asked_changes(corpus: Corpus, changes: Sequence[str], wanted: Wanted | None) -> np.ndarray:
    """Say under which changes answers are wanted for which segments, bool ``(changes, segments)``."""
    masks = wanted(corpus) if wanted else {}
    everywhere = np.ones(len(corpus.segments), dtype=bool)
    columns = [masks.get(change, everywhere) for change in changes]
    return np.stack(columns) if columns else np.zeros((0, len(everywhere)), dtype=bool)


def segment_label(file: str, start: float | None, end: float | None) -> str:
    """Call a segment as people do; times in seconds, ``None`` or NaN = bound of the file."""
    start, end = (None if time is None or time != time else time for time in (start, end))
    if start is None and end is None:
        return str(file)
    return f"{file} from {start or 0:.10g} s" + ("" if end is None else f" to {end:.10g} s")


# Keys of answers: digests of everything that an answer depends on -------------------------------------------


class Keys:
    """Makes the keys of calls."""

    def __init__(
        self,
        fingerprint: str,
        tasks: Sequence[Task],
        changes: Iterable[Perturbation],
        seed: int,  # of the suite; counts for changed signals only, as do ...
        sounds: Sounds,  # ... noises and impulse responses that they draw from
    ) -> None:
        from soundcheck.augment.registry import kind_of_sounds  # late: loading all takes half a second

        kinds = sorted((task.name, task.kind) for task in tasks)
        common = [VERSION, fingerprint, kinds, code_digest(READING)]
        self._clean = self._base(common)
        self._changed = [
            self._base(
                [
                    *(*common, change.transform, change.options, list(change.common)),
                    *("|".join(map(sounds.digest, kind_of_sounds(change))), seed, code_digest(CHANGING)),
                ]
            )
            for change in changes
        ]

    @staticmethod
    def _base(parts: list) -> str:
        return files.digest(json.dumps(parts, sort_keys=True, default=str))

    def key(self, content: str, change: int | None) -> str:
        """Make the key of a call.

        - ``change``: number of the change; ``None`` = clean.
        """
        base = self._clean if change is None else self._changed[change]
        return files.digest(f"{base} {content}")


def repeated_key(key: str) -> str:
    """Make the key under which the second answer to the same question is kept."""
    return files.digest(f"again {key}")


@functools.cache
def code_digest(pattern: str) -> str:
    """Digest of those files of the library that match a pattern."""
    paths = sorted(resources.PACKAGE.glob(pattern))
    return files.digest(json.dumps([files.digest(path) for path in paths]))


@dataclasses.dataclass(frozen=True, order=True)
class Share:
    """One of some equal shares, counted from 1.

    >>> half = Share.parse("2/2")
    >>> str(half), "00000000000000f" in half, "00000000000000e" in half
    ('2/2', True, False)
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a share as people write it.

        Raises ValueError: if it is none, with the reason.
        """
        match = _TEXT.fullmatch(text)
        if not match:
            raise ValueError("it is not of the form K/N, such as 2/3")
        number, of = map(int, match.groups())
        if not 1 <= number <= of:
            raise ValueError(f"K must be from 1 to N, such as 1/{max(of, 1)}")
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def __contains__(self, key: str) -> bool:
        """Say whether a question belongs to the share."""
        return int(key[:_DIGITS], 16) % self.of == self.number - 1
