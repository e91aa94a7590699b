"""Trials under other conditions: carried-over thresholds, cohorts, more enrolled or shorter recordings.

Conventions
-----------
- In use a threshold is fixed before anybody is tested; one that is chosen on the tested trials is too well
  chosen. So one half of the speakers, dealt by the seed of the suite, fits, the other is tested, and trials
  between the halves are left out; or another corpus fits, without the speakers that both have. The fit is the
  same for all replicates, and only tested speakers are drawn.
- The fitting side is the *cohort* as well, against which scores are normalised. Each of its speakers is one
  embedding, the mean direction of the recordings in its trials.
- With one recording a speaker is enrolled with the first of the trial's own; then the trial's others and
  recordings of the speaker in other trials follow, drawn by the seed, but never the tested one.
- All numbers of a condition are about the same trials: those with recordings enough, or long enough, for all
  its values; a value that half of the trials of a kind are too short for is left out.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.wording import counted
from soundcheck.evaluation.changed_segments import swept_rows
from soundcheck.evaluation.corpus_view import SCORE, CorpusView, embeddings
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.robustness import scores_under
from soundcheck.evaluation.subset import Predictions, Subset, TransformedPredictions
from soundcheck.evaluation.verification import NO_CHANGES, SIDES, own_trials
from soundcheck.metrics.calibration import cllr, min_cllr
from soundcheck.metrics.logistic_calibration import AffineCalibration, bayes_threshold, fit_calibration
from soundcheck.metrics.score_normalisation import NORMS, normalised_scores
from soundcheck.metrics.similarity import cosine_scores, mean_directions
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import (
    actual_dcf,
    equal_error_rate,
    equal_error_threshold,
    false_acceptance_rate,
    false_rejection_rate,
    min_dcf,
    min_dcf_threshold,
)
from soundcheck.metrics.weighted import Weighted
from soundcheck.models.reference import reference_scores
from soundcheck.results.estimates import Estimate

HALF = "half of the speakers"
# Title -> measure
CARRIED_ERRORS = {
    "false acceptance rate": "false_acceptance_rate",
    "false rejection rate": "false_rejection_rate",
    "normalised detection cost": "actual_dcf",
}
ERRORS = {"equal error rate": "equal_error_rate", "lowest normalised detection cost": "min_dcf_normalised"}

Way = TypeVar("Way")
Errors = dict[Way, list[Estimate]]  # condition -> an estimate of each error


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """Trials that a threshold is fitted on, and others that it is tested on."""

    fitting: Subset  # trials that share no speaker
    tested: Subset
    told: str  # what was split how, and what was left out
    reason: str = ""  # why nothing can be carried over; else ``""``


@dataclasses.dataclass(frozen=True, eq=False)
class CarriedOver:
    """Tested trials, and what was fitted on the others."""

    trials: Trials  # the tested trials with their scores, and with log-likelihood ratios
    calibrated: Trials
    thresholds: dict[str, float]  # which threshold of the scores -> its value among the trials that fit
    calibration: AffineCalibration  # the line between scores and log-likelihood ratios


def split_speakers(
    evaluation: Evaluation, subset: Subset, subsets: Sequence[Subset], option: str = "calibration"
) -> Split:
    """Choose the trials that fit and those that are tested, as an option of the family says."""
    wanted = evaluation.family.options.get(option, HALF)
    if isinstance(wanted, int | float) or wanted in (HALF, subset.corpus):
        share = wanted if isinstance(wanted, int | float) else 0.5
        return _checked(evaluation, *_dealt(evaluation, subset, share))
    other = next((own for own in subsets if own.corpus == wanted), None)
    if other is None:
        nothing = subset.take(np.zeros(0, dtype=np.intp))
        reason = f"no trials of the corpus {wanted!r}, which the option {option} names"
        return Split(nothing, subset, "", reason)
    shared = set(_speakers(subset)) & set(_speakers(other))
    apart = ~other.segments[SIDES].isin(shared).any(axis=1).to_numpy()
    fitting = other.take(np.flatnonzero(apart))
    told, left = f"fitted on {_count(fitting)} of {wanted}, tested on {_count(subset)}", ""
    if shared:
        left = (
            f"; speakers in both corpora: {len(shared)}, and the {len(other) - len(fitting):,} trials of "
            f"{wanted} with them are left out"
        )
    return _checked(evaluation, fitting, subset, told + left, left)


def _dealt(evaluation: Evaluation, subset: Subset, share: float) -> tuple[Subset, Subset, str]:
    names = _speakers(subset)
    draws = seeds.uniform(evaluation.seed, "calibration", keys=names)
    chosen = {names[n] for n in np.argsort(draws)[: int(share * len(names))]}
    sides = subset.segments[SIDES].isin(chosen).to_numpy()
    fitting, tested = (subset.take(np.flatnonzero(own.all(axis=1))) for own in (sides, ~sides))
    between = len(subset) - len(fitting) - len(tested)
    told = (
        f"fitted on {_count(fitting)}, tested on {_count(tested)}; {between:,} trials between them are left "
        "out"
    )
    return fitting, tested, told


def _checked(evaluation: Evaluation, fitting: Subset, tested: Subset, told: str, left: str = "") -> Split:
    """Say why what is to be carried over cannot be fitted, and what was left out before."""
    least = int(evaluation.family.options["minimum_trials"])
    scored = fitting.truth[np.isfinite(fitting.predictions.clean)]
    few = min(int(scored.sum()), int((~scored).sum())) < least
    reason = f"fewer than {least} trials of each kind with a score to fit on{left}" if few else ""
    if not reason and not len(tested):
        reason = "no trials to test on"
    return Split(fitting, tested, f"{tested.corpus}: {told}.", reason)


def _speakers(subset: Subset) -> list[str]:
    return sorted(pd.unique(subset.segments[SIDES].to_numpy().ravel()))


def _count(subset: Subset) -> str:
    return f"{counted(len(_speakers(subset)), 'speaker')} ({len(subset):,} trials)"


def carry_over(evaluation: Evaluation, split: Split, predictions: Predictions) -> CarriedOver:
    """Fit thresholds and calibration on one side of a split, and apply them to the other."""
    source = split.fitting.reference if predictions.random else split.fitting.predictions
    fitting, tested = own_trials(split.fitting, source.clean), own_trials(split.tested, predictions.clean)
    thresholds = {
        "equal error rate": equal_error_threshold(fitting),
        "lowest cost": min_dcf_threshold(fitting, **evaluation.cost.plain),
    }
    calibration = fit_calibration(fitting.scores, fitting.target)
    calibrated = dataclasses.replace(tested, scores=calibration.apply(tested.scores))
    return CarriedOver(tested, calibrated, thresholds, calibration)


def carried_errors(evaluation: Evaluation, split: Split, carried: CarriedOver) -> Errors:
    """Estimate what decisions cost the tested trials: acceptances, rejections, and normalised cost."""
    cost = evaluation.cost.plain
    used = [(f"threshold of the {name}", carried.trials, at) for name, at in carried.thresholds.items()]
    used.append(("threshold of the cost, calibrated scores", carried.calibrated, bayes_threshold(**cost)))
    found: Errors = {}

    def estimate(name: str, condition: str, *statistics: Weighted) -> None:
        found[name] = [
            evaluation.estimate(split.tested, measure, own, condition=f"tested half, {condition}")[0]
            for measure, own in zip(CARRIED_ERRORS.values(), statistics, strict=True)
        ]

    for name, trials, at in used:
        acceptance, rejection = false_acceptance_rate(trials, at), false_rejection_rate(trials, at)
        estimate(
            f"{name}: {at:.4g}", name, acceptance, rejection, actual_dcf(trials, at, **cost, normalised=True)
        )
    equal, lowest = equal_error_rate(carried.trials), min_dcf(carried.trials, **cost, normalised=True)
    estimate(
        "best threshold for each column, chosen on these very trials", "best threshold", equal, equal, lowest
    )
    return found


def cost_of_scores(evaluation: Evaluation, split: Split, carried: CarriedOver) -> dict[str, Estimate]:
    """Estimate log likelihood costs of the tested trials."""
    rows = {
        "log likelihood cost of the scores as they are": ("cllr", cllr(carried.trials)),
        "the same of calibrated scores": ("cllr (transferred calibration)", cllr(carried.calibrated)),
        "the same after the best calibration on these very trials": ("min_cllr", min_cllr(carried.trials)),
    }
    return {
        name: evaluation.estimate(split.tested, measure, statistic, condition="tested half")[0]
        for name, (measure, statistic) in rows.items()
    }


AS_THEY_ARE = "as they are"


def cohort_obstacle(evaluation: Evaluation, split: Split) -> str:
    """Say why the fitting side of a split is no cohort for the tested one; empty if it is."""
    if not len(split.fitting):
        return split.reason or "no speakers are left for a cohort"
    if any(SCORE in evaluation.view(side).predictions for side in (split.fitting, split.tested)):
        return "scores of a table cannot be compared with a cohort: there are no embeddings"
    if not len(split.tested):
        return "no trials are left to test on"
    if not clean_embeddings(evaluation.view(split.fitting)).shape[1]:
        return "no speaker of the cohort has an embedding"
    fewest = int(evaluation.family.options["minimum_speakers"])
    there = np.isfinite(_cohort(evaluation.view(split.fitting), split.fitting)).all(axis=1).sum()
    return f"the cohort has {there} speakers with embeddings, fewer than {fewest}" if there < fewest else ""


def cohort_told(evaluation: Evaluation, split: Split) -> str:
    """Say who is the cohort of a split, and what was left out."""
    told = split.told.replace("fitted on", "a cohort of")
    if len(_cohort(evaluation.view(split.fitting), split.fitting)) > (top := _top(evaluation)):
        return told
    few = f"The cohort has no more than {top} speakers"
    return f"{told} {few}, so that the adaptive way is the same as the s-norm."


def normalised_trials(evaluation: Evaluation, split: Split, predictions: Predictions) -> dict[str, Trials]:
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


def errors_of(evaluation: Evaluation, subset: Subset, ways: Mapping[Way, Trials], what: str) -> Errors:
    """Estimate equal error rate and lowest normalised cost under several conditions: ``scores: s-norm``."""
    cost, found = evaluation.cost.plain, {}
    for way, trials in ways.items():
        statistics = equal_error_rate(trials), min_dcf(trials, **cost, normalised=True)
        found[way] = [
            evaluation.estimate(subset, measure, statistic, condition=f"{what}: {way}")[0]
            for measure, statistic in zip(ERRORS.values(), statistics, strict=True)
        ]
    return found


def _top(evaluation: Evaluation) -> int:
    return max(2, int(evaluation.family.options.get("cohort_top", 2)))


def _cosines(
    evaluation: Evaluation, split: Split, enrolments: np.ndarray, segments: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    cohort = _cohort(evaluation.view(split.fitting), split.fitting)
    cohort = cohort[np.isfinite(cohort).all(axis=1)]
    view = evaluation.view(split.tested)
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
    evaluation: Evaluation, split: Split, enrolments: np.ndarray, segments: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    speakers = range(len(_cohort(evaluation.view(split.fitting), split.fitting)))
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


def enrolled_with(evaluation: Evaluation, subset: Subset) -> tuple[dict[int, Trials], str]:
    """Score trials again with each number of enrolled recordings that the option ``enrolled`` lists."""
    view, wanted = evaluation.view(subset), evaluation.family.options.get("enrolled", [])
    if SCORE in view.predictions:
        return {}, f"{subset.corpus}: a table of scores has no embeddings to enrol anybody with"
    vectors = clean_embeddings(view)
    drawn = _drawn_trials(evaluation, subset)
    pools = _pools(evaluation, subset, drawn, np.isfinite(vectors).all(axis=1))
    there = np.array([len(pool) for pool in pools])
    numbers = [n for n in sorted(wanted) if n <= 1 or half_has(there >= n, drawn.truth)]
    if len(numbers) < 2 or not vectors.shape[1]:
        return {}, f"{subset.corpus}: most speakers have too few recordings to be enrolled with more than one"
    kept = np.flatnonzero(there >= numbers[-1])
    tested = drawn.take(kept)
    second = tested.segments["segment"].to_numpy()
    found = {}
    for n in numbers:
        members = np.array([pools[row][:n] for row in kept])
        enrolled = mean_directions(vectors, members.ravel(), np.repeat(np.arange(len(kept)), n), len(kept))
        scores = cosine_scores(enrolled, vectors, np.arange(len(kept)), second)
        found[n] = own_trials(tested, scores)
    told = f"{subset.corpus}: {len(kept):,} trials, of {len(drawn):,} that were drawn from {len(subset):,}"
    return found, f"{told}; the others have fewer than {numbers[-1]} recordings of the speaker to enrol."


def half_has(there: np.ndarray, target: np.ndarray) -> bool:
    """Say whether half of the trials of each kind are there: a target cannot enrol what it tests."""
    return all(own.size and own.mean() >= 0.5 for own in (there[target], there[~target]))


def _drawn_trials(evaluation: Evaluation, subset: Subset) -> Subset:
    most = int(evaluation.family.options.get("enrolled_trials", len(subset)))
    draws = seeds.uniform(evaluation.seed, "enrolled", keys=subset.segments["key"].tolist())
    return subset.take(np.argsort(draws)[:most])


def _pools(evaluation: Evaluation, subset: Subset, drawn: Subset, usable: np.ndarray) -> list[list[int]]:
    """List the recordings that each drawn trial may enrol, in the order in which they are added."""
    view = evaluation.view(subset)
    rows, names = recordings_of(view, subset)
    rows, names = rows[usable[rows]], names[usable[rows]]
    draws = seeds.uniform(evaluation.seed, "enrolled", keys=view.segments["key"].iloc[rows].tolist())
    order = np.argsort(draws)
    own = pd.Series(rows[order]).groupby(names[order], sort=False).apply(list).to_dict()
    table = view.trials
    members = pd.Series(table.members).groupby(table.member_of).apply(list)
    frame, pools = drawn.segments, []
    sides = (frame[name].tolist() for name in ("enrolment", "enrol_speaker", "segment"))
    for enrolment, speaker, segment in zip(*sides, strict=True):
        first = [row for row in members[enrolment] if usable[row]]
        pool = dict.fromkeys([*first, *own.get(speaker, [])])
        pool.pop(segment, None)
        pools.append(list(pool))
    return pools


WHOLE = "whole recordings"
CUT = "central_part"


def cut_to(evaluation: Evaluation, subset: Subset) -> tuple[dict[str, Trials], str]:
    """Score trials again with tested recordings of each length that the family's sweep lists."""
    view, family = evaluation.view(subset), evaluation.family
    steps = {
        float(change.options["seconds"]): change
        for series in family.sweeps.values()
        for change in series.steps.values()
        if change.transform == CUT
    }
    if not steps:
        return {}, f"{subset.corpus}: no lengths to cut tested recordings to"
    if not (evaluation.predicts_changes and view.audio):
        return {}, f"{subset.corpus}: {NO_CHANGES if view.audio else 'no audio that could be cut'}"
    rows = swept_rows(family, evaluation.tasks, view.segments, view.blocks, evaluation.seed, view.trials)
    segment = subset.segments["segment"].to_numpy()
    heard = np.flatnonzero(rows[segment])
    seconds, target = view.segments["duration"].to_numpy()[segment[heard]], subset.truth[heard]
    lengths = [one for one in sorted(steps) if half_has(seconds >= one, target)]
    if not lengths:
        return {}, f"{subset.corpus}: most tested recordings are shorter than {min(steps):g} s"
    place = heard[seconds >= lengths[-1]]
    tested = subset.take(place)
    found = {}
    for one in lengths:
        scores = {(CUT, f"{one:g} s"): view.scores(steps[one].identity, place)}
        predictions = TransformedPredictions(tested.predictions.clean, settings=scores)
        found[f"{one:g} s"] = own_trials(tested, scores_under(predictions, next(iter(scores))))
    found[WHOLE] = own_trials(tested, tested.predictions.clean)
    about = f"{subset.corpus}: {len(place):,} trials, of {len(heard):,} with one of {rows.sum():,} recordings"
    left = [f"{one:g} s" for one in sorted(steps) if one not in lengths]
    more = f" Most are shorter than {' and '.join(left)}." if left else ""
    told = f"{about} that were cut; the tested recordings of the others are shorter than {lengths[-1]:g} s."
    return found, told + more
