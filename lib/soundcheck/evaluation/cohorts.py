"""Scores of trials normalised against speakers who are in none of them.

Conventions
-----------
- Each speaker of the cohort is one embedding, the mean direction of the recordings in the cohort's trials, so
  that nobody counts more than others.
- The random reference draws its scores against the cohort like all others.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from soundcheck.evaluation.carried_over import Split, own_trials
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.trial_scores import SCORE, embeddings
from soundcheck.evaluation.verification import Verification
from soundcheck.metrics.score_normalisation import NORMS, normalised_scores
from soundcheck.metrics.similarity import cosine_scores, mean_directions
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate, min_dcf
from soundcheck.models.reference import reference_scores
from soundcheck.statistics.bootstrap import Resampled

AS_THEY_ARE = "as they are"
ERRORS = {"equal error rate": "%", "lowest normalised detection cost": ""}  # of errors_of

Way = TypeVar("Way")


def cohort_obstacle(evaluation: Verification, split: Split) -> str:
    """Say why the fitting side of a split is no cohort for the tested one; empty if it is."""
    if not len(split.fitting):
        return split.reason or "no speakers are left for a cohort"
    if any(SCORE in evaluation.corpus(side).predictions for side in (split.fitting, split.tested)):
        return "scores of a table cannot be compared with a cohort: there are no embeddings"
    if not len(split.tested):
        return "no trials are left to test on"
    if not clean_embeddings(evaluation.corpus(split.fitting)).shape[1]:
        return "no speaker of the cohort has an embedding"
    fewest = int(evaluation.family.options["minimum_speakers"])
    there = np.isfinite(_cohort(evaluation.corpus(split.fitting), split.fitting)).all(axis=1).sum()
    return f"the cohort has {there} speakers with embeddings, fewer than {fewest}" if there < fewest else ""


def cohort_told(evaluation: Verification, split: Split) -> str:
    """Say who is the cohort of a split, and what was left out."""
    told = split.told.replace("fitted on", "a cohort of")
    if len(_cohort(evaluation.corpus(split.fitting), split.fitting)) > (top := _top(evaluation)):
        return told
    few = f"The cohort has no more than {top} speakers"
    return f"{told} {few}, so that the adaptive way is the same as the s-norm."


def normalised_trials(evaluation: Verification, split: Split, predictions: Predictions) -> dict[str, Trials]:
    """Normalise the scores of the tested side of a split against the speakers of the other side."""
    frame = split.tested.segments
    sides = [np.unique(frame[name], return_inverse=True) for name in ("enrolment", "segment")]
    against = _drawn if predictions.random else _cosines
    enrolled, tested = against(evaluation, split, *(rows for rows, _ in sides))
    first, second = (places for _, places in sides)
    scores = predictions.clean
    found = normalised_scores(scores, first, second, enrolled, tested, _top(evaluation))
    found = {AS_THEY_ARE: scores} | {name: found[name] for name in NORMS}
    there = np.isfinite(list(found.values())).all(axis=0)
    return {name: own_trials(split.tested, np.where(there, own, np.nan)) for name, own in found.items()}


def errors_of(evaluation: Verification, ways: Mapping[Way, Trials]) -> dict[Way, list[Resampled]]:
    """Compute equal error rate and lowest normalised cost of scores in several ways, with replicates."""
    cost = evaluation.cost.plain
    return {
        way: [
            evaluation.resample(value, np.zeros(0, dtype=np.intp))  # trials bring their own blocks
            for value in (equal_error_rate(trials), min_dcf(trials, **cost, normalised=True))
        ]
        for way, trials in ways.items()
    }


def _top(evaluation: Verification) -> int:
    return max(2, int(evaluation.family.options.get("cohort_top", 2)))


def _cosines(
    evaluation: Verification, split: Split, enrolments: np.ndarray, segments: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    cohort = _cohort(evaluation.corpus(split.fitting), split.fitting)
    cohort = cohort[np.isfinite(cohort).all(axis=1)]
    view = evaluation.corpus(split.tested)
    own = clean_embeddings(view)
    count = int(view.trials.member_of.max()) + 1
    enrolled = mean_directions(own, view.trials.members, view.trials.member_of, count)
    return tuple(
        cosine_scores(
            side, cohort, np.repeat(rows, len(cohort)), np.tile(np.arange(len(cohort)), len(rows))
        ).reshape(len(rows), len(cohort))
        for side, rows in ((enrolled, enrolments), (own, segments))
    )


def _drawn(
    evaluation: Verification, split: Split, enrolments: np.ndarray, segments: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    speakers = range(len(_cohort(evaluation.corpus(split.fitting), split.fitting)))
    found = []
    for side, rows in (("enrolment", enrolments), ("segment", segments)):
        keys = [
            f"{split.tested.corpus}|{side} {row}|cohort {n}" for row, n in itertools.product(rows, speakers)
        ]
        found.append(reference_scores(evaluation.seed, keys).reshape(len(rows), len(speakers)))
    return tuple(found)


def _cohort(view: CorpusView, fitting: Subset) -> np.ndarray:
    """Average the recordings of each speaker of some trials, ``(speakers, d)``; NaN where there are none."""
    rows, speakers = recordings_of(view, fitting)
    names, codes = np.unique(speakers, return_inverse=True)
    return mean_directions(clean_embeddings(view), rows, codes, len(names))


def recordings_of(view: CorpusView, subset: Subset) -> tuple[np.ndarray, np.ndarray]:
    """Name the speaker of each recording that some trials of a corpus test or enrol."""
    frame, table = subset.segments, view.trials
    speaker_of = dict(zip(frame["segment"], frame["test_speaker"], strict=True))
    enrolled = dict(zip(frame["enrolment"], frame["enrol_speaker"], strict=True))
    for member, enrolment in zip(table.members.tolist(), table.member_of.tolist(), strict=True):
        if enrolment in enrolled:
            speaker_of[member] = enrolled[enrolment]
    return np.array(list(speaker_of), dtype=np.int64), np.array(list(speaker_of.values()), dtype=object)


def clean_embeddings(view: CorpusView) -> np.ndarray:
    """Give the embeddings of a corpus, float32 ``(segments, d)``; NaN where there is none."""
    predictions = view.predictions
    return embeddings(predictions[predictions["change"] == ""], view.segments["key"].tolist())
