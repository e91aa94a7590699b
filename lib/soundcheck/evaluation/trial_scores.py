"""From embeddings to the scores of trials.

A score is the cosine of the angle between two embeddings. A speaker who is enrolled with several utterances
has the average of their directions. Scores that a model brings itself are taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.metrics.similarity import cosine_scores, mean_directions

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
        found = pd.Series(rows[SCORE].to_numpy(), index=rows["key"])
        return found.reindex(frame["key"]).to_numpy(dtype=np.float64)
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
    found = np.full((len(keys), size), np.nan, dtype=np.float32)
    for row, key in enumerate(keys):
        if key in known:
            found[row] = known[key]
    return found
