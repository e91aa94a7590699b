"""What a model is asked, about which corpora, and where its answers go."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from soundcheck.augment.sounds import Sounds
from soundcheck.common import files
from soundcheck.predict.inputs import Wanted
from soundcheck.predict.protocol import PlainChange

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite
    from soundcheck.suite.families import Perturbation


_DIGITS = 15  # of a key, hexadecimal
_TEXT = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


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

    def log(self, part: str = "") -> Path:
        """Name the file that gets what the model prints, in one of several rounds."""
        return self.out / "logs" / ".".join(filter(None, (files.slug(self.entry.name), part, "log")))

    def plain_changes(self) -> dict[str, PlainChange]:
        """Say of each change all that its answers depend on."""
        # Late: loading all transforms takes half a second.
        from soundcheck.augment.registry import kind_of_sounds

        return {
            name: PlainChange(
                change.name,
                change.transform,
                dict(change.options),
                change.common,
                "|".join(map(self.sounds.digest, kind_of_sounds(change))),
            )
            for name, change in self.changes.items()
        }


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
