"""Which segments stand behind a number: those with the largest error, typical ones, and the best.

Conventions
-----------
- Scores are float64 ``(segments,)``, NaN where nothing is known; the larger, the worse.
- *Typical* are the segments whose score is closest to the median of those that are chosen from.
- Of equal scores the smallest key comes first, so the order of a table never decides.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.word_errors import word_errors

WORST, TYPICAL, BEST = "worst", "typical", "best"


class Chosen(NamedTuple):
    """A segment: its row in the subset, and why it was chosen."""

    row: int
    why: str


def segment_errors(subset: Subset) -> np.ndarray:
    """Say how wrong the answer for each segment is, float64 ``(segments,)``; NaN where nothing is known.

    The absolute error of values, whether a class is wrong, or the word errors divided by the words.
    """
    truth, predicted = subset.truth, subset.predictions.clean
    if truth is None:
        return np.full(len(subset), np.nan)
    if subset.task.is_transcription:
        counts = word_errors(truth, predicted)
        return np.where(counts.words > 0, counts.errors / np.maximum(counts.words, 1), np.nan)
    if subset.task.is_regression:
        return np.abs(predicted - truth)
    known = pd.notna(truth) & pd.notna(predicted)
    return np.where(known, truth != predicted, np.nan)


def smallest(scores: np.ndarray, keys: np.ndarray, rows: np.ndarray, count: int) -> list[int]:
    """Give the rows with the smallest scores, of equal ones those with the smallest keys."""
    if count <= 0 or not len(rows):
        return []
    if len(rows) > count:  # only those that may be among them are compared one by one
        rows = rows[scores[rows] <= np.partition(scores[rows], count - 1)[count - 1]]
    return [int(n) for n in heapq.nsmallest(count, rows, key=lambda n: (scores[n], keys[n]))]


def choose(
    scores: np.ndarray,
    keys: np.ndarray,
    mask: np.ndarray | None = None,
    *,
    worst: int = 0,
    typical: int = 0,
    best: int = 0,
) -> list[Chosen]:
    """Choose segments with the largest scores, typical ones and those with the smallest; each once.

    Parameters
    ----------
    scores
        How bad each segment is, ``(segments,)``; those without a score are not chosen.
    keys
        Key of each segment.
    mask
        Segments to choose from, bool ``(segments,)``; default: all.
    worst, typical, best
        How many of each; fewer where there are not so many.

    Examples
    --------
    >>> choose(np.array([0.0, 0.9, 0.4, 0.9]), np.array(["a", "d", "c", "b"]), worst=1, typical=1, best=1)
    [Chosen(row=3, why='worst'), Chosen(row=2, why='typical'), Chosen(row=0, why='best')]
    """
    known = np.isfinite(scores) if mask is None else np.isfinite(scores) & mask
    rows = np.flatnonzero(known)
    if not len(rows):
        return []
    wanted = {WORST: worst, TYPICAL: typical, BEST: best}
    orders = {WORST: -scores, TYPICAL: np.abs(scores - np.median(scores[rows])), BEST: scores}
    every = sum(wanted.values())
    queues = {why: iter(smallest(orders[why], keys, rows, every)) for why in wanted}
    taken: dict[int, str] = {}
    for turn in range(max(wanted.values())):  # in turn, so that a few segments are not all of one kind
        for why, queue in queues.items():
            row = next((n for n in queue if n not in taken), None) if turn < wanted[why] else None
            if row is not None:
                taken[row] = why
    return [Chosen(row, why) for why in wanted for row, own in taken.items() if own == why]


def gaps(scores: np.ndarray, masks: Mapping[str, np.ndarray]) -> list[tuple[float, str]]:
    """Say how far the mean score of each group is from that of the other groups, the largest gap first.

    Parameters
    ----------
    scores
        Scores of the segments, ``(segments,)``.
    masks
        Group -> its segments.

    Returns
    -------
    list of tuple of float and str
        Gap and group; of equal gaps in the order of names. Groups that have no score, or nobody to be
        compared with, are left out.
    """
    found = []
    known = np.isfinite(scores)
    everybody = np.logical_or.reduce(list(masks.values())) if masks else known
    for group, mask in masks.items():
        own, others = known & mask, known & everybody & ~mask
        if own.any() and others.any():
            found.append((float(scores[own].mean() - scores[others].mean()), group))
    return sorted(found, key=lambda entry: (-abs(entry[0]), entry[1]))
