"""A corpus as notebooks see it: the segment table, predictions, labels and blocks as arrays of its rows.

Labels and predictions of regression tasks are scaled to 0..1; missing ones are NaN, missing names ``None``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.tasks import Task, scale_sentence
from soundcheck.corpora.trials.trial_table import TrialTable, read_table
from soundcheck.evaluation.description import CorpusDescription
from soundcheck.metrics.similarity import cosine_scores, mean_directions
from soundcheck.predict.tables import failed, read_predictions
from soundcheck.statistics import draws
from soundcheck.suite.entries import ERROR


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorpusView(CorpusDescription):
    """One corpus and the predictions of one model; tables stand in the place of the files that hold them."""

    segments: pd.DataFrame  # the segment table
    # table of predictions, one row a segment and change; of a model of scores one row a trial
    predictions: pd.DataFrame
    trials: TrialTable | None = None  # trials between the segments, if the family asks for them

    def labels(self, task: Task) -> np.ndarray:
        """Give the labels of a task; all missing if the corpus has none."""
        nothing = pd.Series(None, index=self.segments.index, dtype=object)
        return _array(self.segments.get(task.name, nothing), task)

    def _rows_under(self, change: str = "") -> pd.DataFrame:
        return self.predictions[self.predictions["change"] == change].set_index("key")

    def predicted(self, task: Task, change: str = "") -> np.ndarray:
        """Give the predictions of a task for the clean signals, or under a change (by its identity)."""
        rows = self._rows_under(change)
        result = _array(rows.reindex(columns=[task.name])[task.name].reindex(self.segments["key"]), task)
        if task.is_transcription and self.missing == ERROR:
            result[failed(rows).reindex(self.segments["key"], fill_value=False).to_numpy(dtype=bool)] = ""
        return task.scale(result) if task.is_regression else result

    def failures(self, change: str = "", keys: Sequence[str] | None = None) -> int:
        """Count the inputs, or those of some segments, that the model was asked about in vain."""
        rows = self._rows_under(change)
        return int(failed(rows if keys is None else rows[rows.index.isin(keys)]).sum())

    def unchanged(self, *changes: str) -> np.ndarray:
        """Say which signals all of some changes (by their identities) have left as they are."""
        same = np.full(len(self.segments), bool(changes) and "drawn" in self.predictions)
        for change in changes if same.any() else ():
            drawn = self._rows_under(change)["drawn"]
            result = drawn.index[drawn.str.contains('"unchanged": true', regex=False)]
            same &= self.segments["key"].isin(result).to_numpy()
        return same

    def stated(self, names: Sequence[str], change: str = "") -> np.ndarray:
        """Give what the model says of its answers, float64 ``(segments, names)``; NaN = nothing."""
        result = self._rows_under(change).reindex(index=self.segments["key"], columns=list(names))
        return result.to_numpy(dtype=np.float64)

    def stated_words(self, name: str) -> list[str | None]:
        """Give what the model says of the words of clean signals, one text a segment; ``None`` = nothing."""
        result = self._rows_under().reindex(index=self.segments["key"], columns=[name])[name]
        return [text or None for text in result.fillna("")]

    def scores(self, change: str = "", chosen: np.ndarray | None = None) -> np.ndarray:
        """Score the trials of the corpus for the clean signals, or with changed ones on the test side."""
        return score_trials(self.predictions, self.segments["key"].tolist(), self.trials, change, chosen)

    @property
    def block_name(self) -> str:
        """What is resampled, in the singular: ``speaker``, ``file`` or ``block``."""
        if self.blocks != ("speaker",):
            return "block"
        return "speaker" if "speaker" in self.segments else "file"

    def block_codes(self) -> np.ndarray:
        """Give the block of each segment as whole numbers from 0."""
        return draws.blocks_of(self.segments, self.blocks)


def scale_notes(views: Iterable[CorpusView], tasks: Sequence[Task]) -> list[str]:
    """Say of regression tasks with labels on another scale than 0 to 1 how they are shown, each once."""
    sentences = [
        scale_sentence(task.name, *view.ranges.get(task.name, (task.low, task.high)))
        for task in tasks
        for view in views
        if task.is_regression
    ]
    return list(dict.fromkeys(filter(None, sentences)))


def read_view(description: CorpusDescription) -> CorpusView:
    """Read the corpus and predictions that the runner describes."""
    tables = {
        "segments": pd.read_parquet(description.segments),
        "predictions": read_predictions(description.predictions),
        "trials": read_table(description.trials) if description.trials else None,
    }
    return CorpusView(**(vars(description) | tables))


def _array(column: pd.Series, task: Task) -> np.ndarray:
    if task.is_regression:
        return column.to_numpy(dtype=np.float64)
    names = np.empty(len(column), dtype=object)
    names[:] = [None if missing else str(name) for name, missing in zip(column, column.isna(), strict=True)]
    return names


SCORE = "score"  # column of the tables of models that bring scores


def score_trials(
    predictions: pd.DataFrame,
    keys: Sequence[str],
    trials: TrialTable,
    change: str = "",
    chosen: np.ndarray | None = None,
) -> np.ndarray:
    """Score trials with what a model said about the segments."""
    frame = trials.frame if chosen is None else trials.frame.iloc[chosen]
    rows = predictions[predictions["change"] == change]
    if SCORE in predictions:
        result = pd.Series(rows[SCORE].to_numpy(), index=rows["key"])
        return result.reindex(frame["key"]).to_numpy(dtype=np.float64)
    clean = embeddings(predictions[predictions["change"] == ""], keys)
    tested = embeddings(rows, keys) if change else clean
    if not clean.shape[1] or not tested.shape[1]:
        return np.full(len(frame), np.nan)
    count = int(trials.member_of.max(initial=-1)) + 1
    enrolled = mean_directions(clean, trials.members, trials.member_of, count)
    first, second = (frame[name].to_numpy(dtype=np.int64) for name in ("enrolment", "segment"))
    return cosine_scores(enrolled, tested, first, second)


def embeddings(rows: pd.DataFrame, keys: Sequence[str]) -> np.ndarray:
    """Put the embeddings of segments into one array, float32 ``(segments, d)``; NaN where there is none."""
    known = {
        key: vector for key, vector in zip(rows["key"], rows["embedding"], strict=True) if vector is not None
    }
    size = len(next(iter(known.values()))) if known else 0
    result = np.full((len(keys), size), np.nan, dtype=np.float32)
    for row, key in enumerate(keys):
        if key in known:
            result[row] = known[key]
    return result
