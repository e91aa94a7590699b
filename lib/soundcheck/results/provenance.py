"""What a book rests on, as it lies beside its pages in ``provenance.json``: inputs, versions, counts.

It is the part of the record of a run that does not change from run to run and that a reader of the pages
alone needs in order to check them; how long a run took or which entry of a suite it was is not in it.
"""

from __future__ import annotations

import dataclasses
from typing import Self

from soundcheck.common.json_file import JsonFile
from soundcheck.results.record import RunRecord

PROVENANCE = "provenance.json"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Input:
    """Something that results depend on: a corpus, a model, sounds of a kind or a family of tests.

    Parameters
    ----------
    name
        Its name in the suite.
    kind
        Format of the corpus, kind of the model; ``""`` of what has none.
    digest
        Of all its sounds, of its weights and code, or of its thresholds.
    size
        How much there is: segments, sounds, inputs of a model; 0 of a family.
    """

    name: str
    digest: str
    kind: str = ""
    size: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Provenance(JsonFile):
    """What a book rests on.

    Parameters
    ----------
    title, run, results, seed, replicates, interval, versions, library, verdicts, voices
        See :class:`soundcheck.results.record.RunRecord`.
    suite
        Digest of the suite.
    corpora, models, sounds, families
        What was tested, and with what.
    comparisons
        Baseline, candidate -> tests by what came of them.
    """

    title: str
    run: str
    results: str
    suite: str
    seed: int
    replicates: int
    interval: str
    versions: dict[str, str]
    library: str
    corpora: tuple[Input, ...]
    models: tuple[Input, ...]
    sounds: tuple[Input, ...]
    families: tuple[Input, ...]
    verdicts: dict[str, dict[str, int]]
    comparisons: tuple[tuple[str, str, dict[str, int]], ...]
    voices: str = "all"

    @classmethod
    def of(cls, record: RunRecord) -> Self:
        """Take it out of the record of a run."""
        return cls(
            title=record.title,
            run=record.run,
            results=record.results,
            suite=record.suite["digest"],
            seed=record.seed,
            replicates=record.replicates,
            interval=record.interval,
            versions=record.versions,
            library=record.library,
            corpora=tuple(
                Input(name=one.name, digest=one.digest, kind=one.format, size=one.segments)
                for one in record.corpora
            ),
            models=tuple(
                Input(name=one.name, digest=one.fingerprint, kind=one.kind, size=one.inputs)
                for one in record.models
            ),
            sounds=tuple(Input(name=one.kind, digest=one.digest, size=one.sounds) for one in record.sounds),
            families=tuple(Input(name=one.name, digest=one.digest) for one in record.families),
            verdicts=record.verdicts,
            voices=record.voices,
            comparisons=tuple((one.baseline, one.candidate, one.outcomes) for one in record.comparisons),
        )
