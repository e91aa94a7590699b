"""The random reference models: what a test is worth if somebody who does not listen passes it.

Four kinds of draws; the first two as in the published emotion-model test suites:

- regression: a normal distribution with mean 1/2 and standard deviation 1/6, cut at 0 and 1 (±3 standard
  deviations); the standard deviation after the cut is 0.16443
- classification: each class with the same probability
- transcription: the transcript of any segment of the corpus, each with the same probability
- speaker verification: a score for each trial, uniform from 0 to 1, instead of embeddings

Draws belong to (suite seed, task, change, corpus and segment). So clean and changed signals are independent,
and neither order nor other segments matter. The models ``random: gaussian`` and ``random: categorical`` of a
suite draw the very same predictions as the reference beside every verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import seeds
from soundcheck.common.files import digest
from soundcheck.common.messages import did_you_mean, quoted
from soundcheck.common.tasks import (
    BUILTIN,
    CLASSIFICATION,
    RANDOM_DEVIATION,
    RANDOM_MEAN,
    REGRESSION,
    Task,
    seven_digits,
)
from soundcheck.models.base import LookUpModel

if TYPE_CHECKING:
    from soundcheck.corpora.load import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

KINDS = {"gaussian": REGRESSION, "categorical": CLASSIFICATION}  # of task that each predicts


def reference_predictions(
    task: Task, seed: int, keys: Sequence[str], change: str = "", texts: Sequence[str | None] = ()
) -> np.ndarray:
    """Draw the predictions of the random reference model, one for each of ``keys``: ``"<corpus>|<key>"``.

    Regression: float64 in (0, 1) with seven digits, as all predictions, on the scale of the thresholds
    whatever the task's nominal range is. Classification: names of classes. Transcription: one of ``texts``
    that are not missing; ``None`` if there are none.
    """
    draws = seeds.uniform(seed, "reference", task.name, change, keys=keys)
    if task.is_transcription:
        known = [text for text in texts if text is not None]
        return np.array([known[int(draw * len(known))] if known else None for draw in draws], dtype=object)
    if not task.is_regression:
        classes = np.array(task.classes, dtype=object)
        return classes[np.minimum((draws * len(classes)).astype(np.int64), len(classes) - 1)]
    from scipy.special import ndtr, ndtri  # late: most readers of this module draw nothing

    # The quantile function of the truncated normal distribution, as in scipy.stats.truncnorm.
    low, high = ndtr((0 - RANDOM_MEAN) / RANDOM_DEVIATION), ndtr((1 - RANDOM_MEAN) / RANDOM_DEVIATION)
    return seven_digits(RANDOM_MEAN + RANDOM_DEVIATION * ndtri(low + draws * (high - low)))


def reference_scores(seed: int, keys: Sequence[str], change: str = "") -> np.ndarray:
    """Draw the scores that the random reference model gives to trials, uniform from 0 to 1."""
    return seeds.uniform(seed, "reference", "scores", change, keys=keys)


class RandomModel(LookUpModel):
    """A reference model as a model of the suite: ``random: gaussian`` or ``random: categorical``."""

    keyword = "random"
    has_scale = False
    answers_declared = True

    def __init__(self, entry: ModelEntry, suite: Suite) -> None:
        self._tasks, self._seed = tuple(suite.tasks_of(entry)), suite.seed
        self.fingerprint = digest(repr(("random", suite.seed, self._tasks)))

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[None, str, str]:
        """Refuse other kinds of draws."""
        if target in KINDS:
            return None, "", ""
        return None, f"unknown random model {quoted(target)}", did_you_mean(target, KINDS)

    @classmethod
    def default_tasks(cls, target: str) -> tuple[str, ...]:
        """Name all built-in tasks that it can draw for."""
        return tuple(name for name, task in BUILTIN.items() if task.kind == KINDS.get(target))

    @classmethod
    def check_tasks(cls, target: str, tasks: Sequence[Task]) -> list[tuple[str, str]]:
        """Refuse tasks of another kind."""
        remedy = "gaussian is for regression, categorical for classification"
        wrong = [task.name for task in tasks if task.kind != KINDS.get(target, task.kind)]
        return [(f"random: {target} does not predict {quoted(name)}", remedy) for name in wrong]

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Draw a prediction for every segment; regression in the task's nominal range."""
        keys = [f"{corpus.name}|{key}" for key in corpus.segments["key"]]
        values = {}
        for task in self._tasks:
            drawn = reference_predictions(task, self._seed, keys, change)
            values[task.name] = task.low + drawn * (task.high - task.low) if task.is_regression else drawn
        return values, [""] * len(keys)
