"""What follows from tables and notebooks that are as they were is not computed again.

Key figures, the words that are spoken, word errors, scores of trials and the results table follow from files
of the output folder and from the suite. So what came out is remembered under the digest of all that it
depends on: contents of files, never their names or times. A table that was written is left as it is if it
still has the digest that it was written with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from soundcheck.common import files
from soundcheck.common.resources import made_here
from soundcheck.common.store import JsonCache
from soundcheck.predict.report import PredictionReport
from soundcheck.run.output import Output

if TYPE_CHECKING:
    from soundcheck.run.material import Material
    from soundcheck.run.notebooks import Job, Outcome


class Derived:
    """What earlier runs into an output folder have computed; what it depends on is compared by its repr."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._known = JsonCache(output.folder / "derived.json", made_here())

    def save(self) -> None:
        """Keep what this run has used or computed."""
        self._known.save()

    def find(self, name: str, depends: object, make: Callable[[], Any]) -> Any:
        """Give a value that JSON knows, not ``None``, or make it."""
        return self._known.find(_name(name, depends), make)

    def write(self, name: str, depends: object, paths: Callable[[], Iterable[Path]]) -> list[Path]:
        """Write files, unless they are as they were written when they depended on the same."""
        entry, root = _name(name, depends), self._output.folder
        known = self._known.get(entry)
        if known is None or any(_content(root / place) != digest for place, digest in known.items()):
            known = {path.relative_to(root).as_posix(): files.digest(path) for path in paths()}
            self._known.put(entry, known)
        return [root / place for place in known]

    def tables(self, material: Material, reports: Mapping[str, PredictionReport]) -> list[object]:
        """List what follows from the tables that models were asked about, and from their answers, depends on.

        Segments and trials count as they were written for notebooks. Tests and thresholds of families do not
        count: they judge answers, and nobody is asked anything else because of them.
        """
        output, suite = self._output, material.suite
        segments = [
            (corpus.name, repr(corpus.entry), corpus.synthetic, files.digest(output.segments(corpus.name)))
            for corpus in material.corpora
        ]
        trials = [(place, files.digest(output.trials(*place))) for place in material.lists]
        answers = [
            (model, corpus, files.digest(path))
            for model, report in reports.items()
            for corpus, path in report.tables.items()
        ]
        settings = [getattr(suite, field.name) for field in dataclasses.fields(suite)]
        asking = [dataclasses.replace(family, tests={}, digest="") for family in material.families]
        return [settings, asking, segments, trials, answers]


def _name(name: str, depends: object) -> str:
    return f"{name} {files.digest(repr(depends))}"


def _content(path: Path) -> str:
    return files.digest(path) if path.is_file() and not path.is_symlink() else ""


def of_notebooks(jobs: Iterable[Job]) -> list[tuple[str, str, str]]:
    """Say what follows from the descriptions of notebooks depends on."""
    return [(job.model, job.family, job.fingerprint) for job in jobs]


def of_rows(outcomes: Iterable[Outcome]) -> list[tuple[str, ...]]:
    """Say what follows from how notebooks ended, and from the rows that they saved, depends on."""
    return [
        (one.job.model, one.job.family, one.status, one.error, _content(one.job.rows)) for one in outcomes
    ]
