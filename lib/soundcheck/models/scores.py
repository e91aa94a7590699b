"""Scores of trials that were computed elsewhere: ``scores: file`` in a suite.

Higher scores mean more alike; with ``distances: true`` lower ones do, and their signs are turned.

They belong to the trials of the corpora that bring a list of them, one score for each trial. Layouts are
those of :mod:`soundcheck.corpora.trials.trial_files`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.tasks import EMBEDDING, REGRESSION, Task
from soundcheck.models.base import Asked, LookUpModel
from soundcheck.suite import schema
from soundcheck.suite.model_kind import ModelKeys
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.corpora.trials.trial_files import ScoreList
    from soundcheck.suite.entries import ModelEntry, Suite

SCORE = Task("score", REGRESSION, low=-np.inf, high=np.inf)


class ScoreKeys(ModelKeys):
    """Keys of a file of scores; with ``distances``, lower numbers mean more alike."""

    distances: schema.Boolean = False


class ScoreModel(LookUpModel):
    """Scores from a file.

    Parameters
    ----------
    entry
        The suite's entry.
    fingerprint
        Digest of the file, and of how it is read.
    scores
        What it holds.
    """

    keyword = "scores"
    keys = ScoreKeys
    changes_audio = False
    for_trials = True

    def __init__(self, entry: ModelEntry, fingerprint: str, scores: ScoreList) -> None:
        self.name, self.tasks = entry.name, entry.tasks
        self._entry, self._fingerprint, self._scores = entry, fingerprint, scores

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Find the file."""
        return find_place(suite_file, target, folder=False)

    @classmethod
    def default_tasks(cls, target: str) -> tuple[str, ...]:
        """Take scores for what embeddings would give."""
        return (EMBEDDING,)

    @classmethod
    def check_tasks(cls, target: str, tasks: Sequence[Task]) -> list[tuple[str, str]]:
        """Refuse other tasks."""
        if all(task.is_embedding for task in tasks):
            return []
        remedy = f"Write tasks: [{EMBEDDING}], or leave the key out"
        return [("scores of trials are all that the file holds", remedy)]

    @property
    def fingerprint(self) -> str:
        """Digest of the file, and of how it is read."""
        return self._fingerprint

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> ScoreModel:
        """Read and check the file.

        Raises
        ------
        InputError
            If it holds no scores, or something that is not finite.
        """
        from soundcheck.corpora.trials.trial_files import read_scores

        path = Path(entry.path if entry.path is not None else suite.root / entry.target)
        scores = read_scores(path, entry.target)
        distances = entry.options.get("distances", False)
        if distances:
            scores = dataclasses.replace(scores, scores=-scores.scores)
        return cls(entry, files.digest(f"{files.digest(path)} {distances}"), scores)

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Read the file and make sure that it has a score for each trial of the corpora."""
        model = cls.load(entry, suite)
        model.notices(corpora)
        return model.fingerprint

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Give the scores of all trials of a corpus.

        Raises
        ------
        ValueError
            If asked about changed signals.
        InputError
            If trials have no score.
        """
        if change:
            raise ValueError("scores cannot answer for changed signals")
        found = self._join(corpus)
        return {SCORE.name: found}, [""] * len(found)

    def asked(self, corpus: Corpus) -> list[Asked]:
        """List the trials of a corpus."""
        frame = corpus.trials.frame
        return [
            Asked(key, f"{enrol} with {test}")
            for key, enrol, test in zip(frame["key"], frame["enrol"], frame["test"], strict=True)
        ]

    def table_tasks(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Name the column of scores."""
        return (SCORE,)

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Compare the file with the trials of all corpora that it is for.

        Raises
        ------
        InputError
            If trials have no score, no corpus has trials, or several do and the file does not name them.
        """
        own = [corpus for corpus in corpora if self._entry.listens_to(corpus.entry)]
        where = f"models.{self.name}"
        if corpora and not own:
            remedy = "Add `trials: file` to a corpus, or a corpus with `format: trials`"
            raise input_error(where, "no corpus that it is asked about brings a list of trials", remedy)
        if len(own) > 1 and self._scores.enrol is None:
            what = "the file has one score a line, and several corpora have trials"
            raise input_error(where, what, f"Name the one that they are for: corpora: [{own[0].name}]")
        problems = Problems()
        for corpus in own:
            try:
                self._join(corpus)
            except InputError as error:
                problems.extend(error)
        problems.raise_if_any()
        count = len(self._scores)
        extra = count - sum(count - self._scores.extra(corpus.trials) for corpus in own)
        return [f"{extra} scores belong to no trial that is evaluated"] if own and extra > 0 else []

    def _join(self, corpus: Corpus) -> np.ndarray:
        return self._scores.join(corpus.trials)
