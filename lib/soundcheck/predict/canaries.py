"""Compares a few kept answers with new ones, to find out whether the model still answers so.

What Soundcheck knows of a model is not everything that its answers rest on: a program, an extension module or
a server may read weights that nobody sees. So at each run some inputs are asked again. If an answer differs,
all of the model's answers are forgotten.

Conventions
-----------
- Texts and classes must be equal; numbers may differ by a small share of their range, embeddings by a small
  distance of their directions. What a model says of its answers counts as they do.
- Not every model answers alike twice. Pairs of answers that the same model gave to the same input say by how
  much: numbers and embeddings may then differ by several times the largest difference seen, and tasks whose
  texts or classes differed are not compared.
- A few inputs are a sample: a model that changed little may pass.
"""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from soundcheck.common.tasks import Task
from soundcheck.models import answers
from soundcheck.models.answers import unpack
from soundcheck.predict.store import Entry
from soundcheck.suite.model_kind import ModelKind

CANARIES = 5  # kept answers that are asked again
CLEAN = 3  # of them clean, as far as there are enough of both
SAME = 1e-6  # share of the nominal range by which two answers may differ and still be the same
SPREAD = 10.0  # times the largest difference of two answers of the same model


def choose(clean: Iterable[str], changed: Iterable[str]) -> list[str]:
    """Choose keys, some of clean and some of changed signals; the same each time.

    >>> choose("hgfedcba", "zyx")
    ['a', 'b', 'c', 'x', 'y']
    >>> choose("ba", "")
    ['a', 'b']
    """
    clean, changed = (heapq.nsmallest(CANARIES, keys) for keys in (clean, changed))  # digests: a fair sample
    chosen = clean[: max(CLEAN, CANARIES - len(changed))]
    return chosen + changed[: CANARIES - len(chosen)]


@dataclasses.dataclass(frozen=True)
class Confirmation:
    """What asking again has shown."""

    asked: int = 0  # inputs whose kept answers were compared with new ones
    different: int = 0  # how many of them got another answer; the model's kept answers are forgotten then
    unanswered: int = 0  # inputs that the model gave no answer for this time
    problem: str = ""  # why not, of one of them
    # whether the model does not answer alike twice, so that only large differences are noticed
    loose: bool = False
    unseen: str = ModelKind.unseen  # what may have changed, or what to do, if answers differ

    def alarms(self) -> list[str]:
        """Say in sentences why kept answers were not, or could not be, confirmed."""
        alarms = []
        if self.different:
            alarms.append(
                f"{self.different} of {self.asked} cached predictions were different when they were computed "
                "again, so all were dropped and every input was predicted again; what has changed was not "
                f"seen: {self.unseen}"
            )
        if self.unanswered:
            tried = self.asked + self.unanswered
            what = f"{self.unanswered} of {tried} cached predictions could not be confirmed"
            alarms.append(f"{what}: {self.problem}")
        return alarms

    def notes(self) -> list[str]:
        """Say in sentences what a reader should know."""
        loose = (
            "the model does not predict the same twice, so only large differences would show that cached "
            "predictions are those of another model"
        )
        return [*self.alarms(), *([loose] if self.loose and self.asked else [])]


class Comparison:
    """Compares answers of one model.

    - ``pairs``: answers that the same model gave to the same input.
    - ``loose``: whether any pair differs, so that only larger differences are noticed.
    """

    def __init__(self, tasks: Sequence[Task], pairs: Iterable[tuple[Entry, Entry]] = ()) -> None:
        self._tasks, pairs = list(tasks), list(pairs)
        self._allowed: dict[str, float] = {}
        self.loose = False
        for task in tasks:
            width = abs(task.high - task.low)
            same = SAME * width if task.is_regression else SAME if task.is_embedding else 0.0
            seen = max((_difference(task, *pair) for pair in pairs), default=0.0)
            self.loose |= seen > same
            self._allowed[task.name] = SPREAD * seen if seen > same else same
        seen = max((self._apart(*pair) for pair in pairs), default=0.0)
        self._said_allowed = SPREAD * seen if seen > SAME else SAME

    def differ(self, one: Entry, other: Entry) -> bool:
        """Say whether two answers differ by more than they may."""
        said = self._apart(one, other) > self._said_allowed
        return said or any(_difference(task, one, other) > self._allowed[task.name] for task in self._tasks)

    def _apart(self, one: Entry, other: Entry) -> float:
        return answers.distance(one.answer, other.answer, self._tasks)

    def different(self, cached: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[str]:
        """List the keys whose new answer is another one."""
        return [key for key, entry in new.items() if self.differ(cached[key], entry)]


def _difference(task: Task, one: Entry, other: Entry) -> float:
    """Measure how far two answers are apart: in the task's unit, by direction, or 0 and 1."""
    first, second = one.answer[task.name], other.answer[task.name]
    if task.is_regression:
        return abs(first - second)
    return _distance(unpack(first), unpack(second)) if task.is_embedding else float(first != second)


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    """Measure the distance between the directions of two embeddings, from 0 to 2; of other lengths 2."""
    if len(one) != len(other):
        return 2.0
    one, other = (vector / np.linalg.norm(vector) for vector in (one.astype(float), other.astype(float)))
    return float(np.linalg.norm(one - other))
