"""Answers that a model gave on several machines: those of one share, and all put together."""

from __future__ import annotations

import dataclasses
import os
import time
from pathlib import Path

from soundcheck.predict.entries import Entry
from soundcheck.predict.prediction import Prediction
from soundcheck.predict.protocol import Result
from soundcheck.predict.questions import Questions
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.shares import Share
from soundcheck.predict.sources import SourceCheck, Sources
from soundcheck.predict.store import Store, writing


def answer_share(questions: Questions, share: Share, *, jobs: int) -> tuple[PredictionReport, list[Result]]:
    """Ask a model that listens about a share of its inputs; only the cache keeps what it answers.

    Parameters
    ----------
    questions, jobs
        See :func:`soundcheck.predict.engine.begin_model`.
    share
        Which.

    Returns
    -------
    tuple of PredictionReport and list of Result
        What became of the inputs of the share; those without an answer.

    Raises
    ------
    InputError, OutputError
        See :func:`soundcheck.predict.engine.begin_model`.
    """
    start = time.monotonic()
    prediction = Prediction(questions, log=questions.log(), share=share)
    prediction.run(questions.entry.about, jobs=jobs, progress=True)
    report = prediction.report()
    inputs = report.computed + report.reused + report.failed + report.unusable
    seconds = round(time.monotonic() - start, 3)
    failures = sorted(prediction.failures, key=lambda result: result.key)
    return dataclasses.replace(report, inputs=inputs, seconds=seconds), failures


def asked_keys(questions: Questions) -> set[str]:
    """Give the keys of all inputs that a model is asked about."""
    return Prediction(questions, log=questions.log()).keys()


@dataclasses.dataclass(frozen=True)
class Elsewhere:
    """What the cache of another run knows of a model.

    Parameters
    ----------
    entries
        Answers by key.
    sources
        Files that they rest on.
    outdated
        Names of files that are others here; the answers that rest on them are not among the entries.
    """

    entries: dict[str, Entry] = dataclasses.field(default_factory=dict)
    sources: Sources = dataclasses.field(default_factory=Sources)
    outdated: tuple[str, ...] = ()

    def joined(self, other: Elsewhere) -> Elsewhere:
        """Put two together."""
        return Elsewhere(
            self.entries | other.entries,
            self.sources.joined(other.sources),
            tuple(sorted({*self.outdated, *other.outdated})),
        )


class _Others(SourceCheck):
    """Lets files be missing: those of a model that another machine has asked."""

    def changed(self, sources: Sources) -> list[str]:
        return [name for name in super().changed(sources) if os.path.lexists(self._root / name)]


def read_elsewhere(cache: Path, fingerprint: str, root: Path) -> Elsewhere:
    """Read what the cache of another run knows of a model.

    Parameters
    ----------
    cache
        Its folder.
    fingerprint
        Of the model.
    root
        Folder of the suite.
    """
    store = Store(cache, fingerprint, _Others(root))
    entries = store.load()
    store.close()
    return Elsewhere(
        entries, store.sources, tuple(sorted({name for names in store.outdated.values() for name in names}))
    )


def take_over(found: Elsewhere, cache: Path, fingerprint: str, root: Path) -> int:
    """Keep answers that another run's cache knows; returns how many are new.

    Raises
    ------
    OutputError
        If they cannot be written.
    """
    store = Store(cache, fingerprint, _Others(root))
    known = store.load()
    new = {key: entry for key, entry in found.entries.items() if key not in known}
    if new:
        here = {name: digest for name, digest in found.sources.files.items() if os.path.lexists(root / name)}
        gone = found.sources.gone | {
            name: digest for name, digest in found.sources.files.items() if name not in here
        }
        with writing():
            store.add(new, dataclasses.replace(found.sources, files=here, gone=gone))
    store.close()
    return len(new)
