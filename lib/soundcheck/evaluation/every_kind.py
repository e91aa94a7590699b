"""One evaluation for every kind of task of a model: values, classes, transcripts and embeddings.

Transcripts are normalised before anything is computed, and embeddings are compared in trials, so each has an
evaluation of its own: :class:`~soundcheck.evaluation.recognition.Recognition` and
:class:`~soundcheck.evaluation.verification.Verification`. Here they stand beside each other and keep their
rows in one place::

    evaluation = EveryKind.load(run)
    for subset in evaluation.subsets():
        judge_groups(evaluation.of(subset), subset, "sex", ["female", "male"], tests)
    evaluation.save()
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from soundcheck import results
from soundcheck.common.tasks import EMBEDDING, TRANSCRIPTION
from soundcheck.evaluation.description import EvaluationDescription
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.recognition import Recognition
from soundcheck.evaluation.subset import Subset
from soundcheck.evaluation.verification import Verification

_OWN = {TRANSCRIPTION: Recognition, EMBEDDING: Verification}
_SHARED = (  # what is told and judged
    *("notes", "_judged", "_reasons", "_columns", "_simulated"),
    *("_estimates", "_drawn", "_group_values"),
)


class EveryKind(Evaluation):
    """An evaluation of all tasks of a model, whatever their kind.

    Parameters
    ----------
    description
        What the run tells the notebook.
    """

    def __init__(self, description: EvaluationDescription) -> None:
        super().__init__(description)
        tasks: dict[type[Evaluation], list] = {}
        for task in description.tasks:
            tasks.setdefault(_OWN.get(task.kind, Evaluation), []).append(task)
        self._parts: dict[str, Evaluation] = {}
        self._one_row: set[tuple[str, str]] = set()
        for kind, own in tasks.items():
            part = kind(dataclasses.replace(description, tasks=tuple(own)))
            for name in _SHARED:
                setattr(part, name, getattr(self, name))
            self._parts |= {task.name: part for task in own}

    def not_applicable(self, subset: Subset, reason: str) -> None:
        """Say why nothing can be judged for a corpus and task: one skipped row instead of one a test."""
        self.skip(subset, reason)
        self._one_row.add((subset.corpus, subset.task.name))

    def _rows(self) -> list[results.Judged]:
        kept, told = [], set()
        for row in super()._rows():
            place = row.verdict.corpus, row.verdict.task
            if place not in told:
                kept.append(row)
            if place in self._one_row:
                told.add(place)
        return kept

    def of(self, subset: Subset) -> Evaluation:
        """Give the evaluation that knows a subset's kind of task; what it judges is kept here."""
        return self._parts[subset.task.name]

    def subsets(self, change: str = "", base: str = "") -> Iterator[Subset]:
        """Give segments, of embeddings trials, of each corpus and task; see :meth:`Evaluation.subsets`."""
        for part in dict.fromkeys(self._parts.values()):
            yield from part.subsets(change, base)
