"""What the comparison notebook holds in its hand: two models on the same segments.

Tests are not computed again: the families' notebooks keep the replicates of what they judge, and those of two
models on the same blocks are paired (see :mod:`soundcheck.results.contrast`).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.evaluation.recognition import HYPOTHESIS, REFERENCE, TranscriptReader
from soundcheck.evaluation.subset import (
    Corpora,
    CorpusDescription,
    CorpusView,
    ModelDescription,
    Predictions,
    Subset,
    read_view,
)
from soundcheck.predict.tables import differ
from soundcheck.results.contrast import ContrastsFile, contrast_frame, contrasts
from soundcheck.results.rows import Judged, load_judged
from soundcheck.suite.entries import ERROR


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonDescription(ModelDescription):
    """Two models, for :class:`Comparison`."""

    comparison: str  # its name in the suite
    baseline: str  # names of the models; of two runs with the run that they are from
    candidate: str
    titles: dict[str, str]  # family -> its title
    # each corpus twice, with the predictions of the baseline and of the candidate
    corpora: tuple[tuple[CorpusDescription, CorpusDescription], ...]
    # files with the rows of the baseline and of the candidate, a pair a family; ``None`` where one has none
    pairs: tuple[tuple[Path | None, Path | None], ...]
    normaliser: str
    # the same on the segments that both answered, of families that one of them answered more for
    common: tuple[tuple[Path, Path], ...] = ()
    # whether replicates on the same blocks were drawn with the same weights: not those of other seeds
    same_draws: bool = True
    unlike: tuple[str, ...] = ()  # tasks that were measured in other ways, and are not compared
    alternatives: bool = False
    synonyms: tuple[tuple[str, str], ...] = ()


class Comparison(Corpora):
    """Two models, every test that both were judged on, and their predictions."""

    guesses = False  # whether a model hears nothing

    def __init__(self, description: ComparisonDescription) -> None:
        names_of = ("baseline", "candidate", "titles", "tasks", "seed", "replicates", "interval", "rows")
        vars(self).update({name: getattr(description, name) for name in names_of})
        self.name = description.comparison
        self.media = MediaStore.of(description)
        self._pairs = [tuple(map(read_view, pair)) for pair in description.corpora]
        self.corpora = [first for first, _ in self._pairs]
        self._texts = TranscriptReader(description.normaliser, description.alternatives, description.synonyms)
        names = (description.baseline, description.candidate)

        def read(pairs: Sequence[tuple[Path | None, Path | None]], side: int) -> list[Judged]:
            paths = filter(None, (pair[side] for pair in pairs))
            entries = (entry for path in paths for entry in load_judged(path, parts=True))
            return [row.of(names[side]) for row in entries if row.verdict.task not in description.unlike]

        judged, common = (
            [read(entries, n) for n in (0, 1)] for entries in (description.pairs, description.common)
        )
        apart = {
            first.name
            for first, other in description.corpora
            if differ(first.predictions, other.predictions, (first.missing == ERROR, other.missing == ERROR))
        }
        self.contrasts = contrasts(*judged, description.same_draws, tuple(common), apart, names)

    @classmethod
    def load(cls, run: str) -> Comparison:
        """Load the comparison that the runner described in a JSON file."""
        return cls(ComparisonDescription.read(run))

    def frame(self) -> pd.DataFrame:
        """Give all contrasts as a table."""
        return contrast_frame(self.contrasts)

    def answered(self) -> pd.DataFrame:
        """List who answered each segment of each corpus: ``corpus, task, file, baseline, candidate``."""
        result = []
        for views, task in itertools.product(self._pairs, self.tasks):
            sides = [pd.notna(view.predicted(task)) for view in views]
            about = {"corpus": views[0].name, "task": task.name, "file": views[0].segments["file"]}
            result.append(pd.DataFrame(about | dict(zip(("baseline", "candidate"), sides, strict=True))))
        return pd.concat(result) if result else pd.DataFrame()

    def pairs(self) -> Iterator[Subset]:
        """Give the predictions of both models for each corpus and each task with labels that both predict.

        ``clean`` are the predictions of the baseline, ``changed`` those of the candidate; labels that are
        missing, and classes that the task does not have, are NaN or ``None``.
        """
        for views, task in itertools.product(self._pairs, self.tasks):
            if task.is_labelled:
                truth = views[0].labels(task)
                if not task.is_regression:
                    truth = np.where(np.isin(truth.astype(str), task.classes), truth, None)
                yield _both(views[0], task, truth, *(view.predicted(task) for view in views))

    def transcripts(self) -> Iterator[Subset]:
        """Give what was said and what both recognisers heard, for each corpus with transcripts."""
        for (first, second), task in itertools.product(self._pairs, self.tasks):
            if task.is_transcription and not first.probes_of:
                apart = self._texts.apart(first, task)
                sides = [(first.labels(task), REFERENCE)]
                sides += [(view.predicted(task), HYPOTHESIS) for view in (first, second)]
                texts = [self._texts.read(raw, side, first.segments, apart) for raw, side in sides]
                pair = _both(first, task, *texts)
                if pair.labelled:
                    yield pair

    def save(self) -> None:
        """Write the contrasts for the run that collects them; the last thing that the notebook does."""
        ContrastsFile(tuple(self.contrasts)).write(self.rows)


def _both(view: CorpusView, task: Task, truth: np.ndarray, *predicted: np.ndarray) -> Subset:
    both = Predictions(*predicted)
    return Subset(view.name, task, view.segments, truth, both, both, view.block_codes(), root=view.root)
