"""Trials under other conditions of use: carried-over thresholds, cohorts, more enrolled, shorter recordings.

- A threshold or calibration is fitted on other speakers than it is tested on: on one half of them, drawn by
  the seed of the suite, or on another corpus without the speakers that both have.
- The fitting side is the *cohort* as well, against which scores are normalised. Each of its speakers is one
  embedding, the mean direction of the recordings in its trials.
- A speaker is enrolled with the first recording of the trial's own, then with its others and recordings of
  the speaker in other trials, drawn by the seed, but never the tested one.
- All numbers of a condition are about the same trials: those with recordings enough, or long enough, for all
  its values; a value that half of the trials of a kind are too short for is left out.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.messages import counted
from soundcheck.evaluation.changed_segments import swept_rows
from soundcheck.evaluation.subset import SCORE, CorpusView, Predictions, Subset, embeddings, once
from soundcheck.evaluation.trials import (
    NO_CHANGES,
    SIDES,
    Error,
    TrialTasks,
    best_thresholds,
    estimates_of,
    own_trials,
    rates_at,
    scores_under,
)
from soundcheck.metrics import verification
from soundcheck.metrics.combinators import relabel
from soundcheck.metrics.trials import NORMS, Trials, cosine_scores, mean_directions, normalised_scores
from soundcheck.metrics.weighted import Weighted, weighted_difference
from soundcheck.models.reference import reference_scores
from soundcheck.results.rows import Estimate

HALF = "half of the speakers"
AS_THEY_ARE = "as they are"
WHOLE = "whole recordings"
CUT = "central_part"


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """Trials that a threshold is fitted on, and others that it is tested on."""

    fitting: Subset  # trials that share no speaker
    tested: Subset
    about: str  # what was split how, and what was left out
    reason: str = ""  # why nothing can be carried over; else ``""``


@dataclasses.dataclass(frozen=True, eq=False)
class CarriedOver:
    """Tested trials, and what was fitted on the others."""

    trials: Trials  # the tested trials with their scores, and with log-likelihood ratios
    calibrated: Trials
    thresholds: dict[str, float]  # which threshold of the scores -> its value among the trials that fit
    calibration: verification.AffineCalibration  # the line between scores and log-likelihood ratios


def split_speakers(
    evaluation: TrialTasks, subset: Subset, subsets: Sequence[Subset], option: str = "calibration"
) -> Split:
    """Choose the trials that fit and those that are tested, as an option of the family says."""
    options, speakers = evaluation.family.options, _speakers(subset)
    wanted, left = options.get(option, HALF), ""
    other = next((each for each in subsets if each.corpus == wanted), None)
    if isinstance(wanted, int | float) or wanted in (HALF, subset.corpus):
        draws = seeds.uniform(evaluation.seed, "calibration", keys=speakers)
        share = 0.5 if isinstance(wanted, str) else wanted
        chosen = {speakers[n] for n in np.argsort(draws)[: int(share * len(speakers))]}
        sides = subset.segments[SIDES].isin(chosen).to_numpy()
        fitting, tested = (subset.take(inside.all(axis=1)) for inside in (sides, ~sides))
        between = f"{len(subset) - len(fitting) - len(tested):,} trials between them are left out"
        about = f"fitted on {_count(fitting)}, tested on {_count(tested)}; {between}"
    elif other is not None:
        shared = {*speakers} & {*_speakers(other)}
        apart = ~other.segments[SIDES].isin(shared).any(axis=1).to_numpy()
        fitting, tested = other.take(apart), subset
        if shared:
            left = f"; speakers in both corpora: {len(shared)}, and the {len(other) - len(fitting):,} trials "
            left += f"of {wanted} with them are left out"
        about = f"fitted on {_count(fitting)} of {wanted}, tested on {_count(subset)}{left}"
    else:
        reason = f"no trials of the corpus {wanted!r}, which the option {option} names"
        return Split(subset.take(np.zeros(0, dtype=np.intp)), subset, "", reason)
    least, reason = int(options["minimum_trials"]), "" if len(tested) else "no trials to test on"
    scored = fitting.truth[np.isfinite(fitting.predictions.clean)]
    if min(scored.sum(), (~scored).sum()) < least:
        reason = f"fewer than {least} trials of each kind with a score to fit on{left}"
    return Split(fitting, tested, f"{tested.corpus}: {about}.", reason)


def _speakers(subset: Subset) -> list[str]:
    return sorted(pd.unique(subset.segments[SIDES].to_numpy().ravel()))


def _count(subset: Subset) -> str:
    return f"{counted(len(_speakers(subset)), 'speaker')} ({len(subset):,} trials)"


def carry_over(evaluation: TrialTasks, split: Split, predictions: Predictions) -> CarriedOver:
    """Fit thresholds and calibration on one side of a split, and apply them to the other."""
    source = split.fitting.reference if predictions.random else split.fitting.predictions
    fitting, tested = own_trials(split.fitting, source.clean), own_trials(split.tested, predictions.clean)
    calibration = verification.fit_calibration(fitting.scores, fitting.target)
    calibrated = dataclasses.replace(tested, scores=calibration.apply(tested.scores))
    return CarriedOver(tested, calibrated, best_thresholds(evaluation, fitting), calibration)


def judge_carried_over(evaluation: TrialTasks, split: Split) -> None:
    """Judge what decisions with carried-over thresholds cost, and what calibrated scores are worth."""
    cost = evaluation.cost

    def decided(carried: CarriedOver) -> Weighted:
        at = verification.bayes_threshold(**cost)
        return verification.actual_dcf(carried.calibrated, at, **cost, normalised=True)

    def added(carried: CarriedOver) -> Weighted:
        lowest = verification.min_dcf(carried.trials, **cost, normalised=True)
        return weighted_difference(decided(carried), lowest)

    def judge(test: str, measure: Callable[[CarriedOver], Weighted]) -> None:
        if split.reason:
            evaluation.skip(split.tested, split.reason, test)
        else:
            evaluation.judge(split.tested, test, lambda _, p: measure(carry_over(evaluation, split, p)))

    judge("Carried Detection Cost", decided)
    judge("Cost Of Carrying Over", added)
    judge("Calibrated Log Likelihood Cost", lambda carried: verification.cllr(carried.calibrated))


def carried_errors(evaluation: TrialTasks, split: Split, carried: CarriedOver) -> list[Estimate]:
    """Estimate acceptances, rejections and costs of the tested trials, by the condition that decides."""
    cost, trials = evaluation.cost, carried.trials
    used = {f"threshold of the {name}": (trials, at) for name, at in carried.thresholds.items()}
    best = verification.bayes_threshold(**cost)
    used["threshold of the cost, calibrated scores"] = carried.calibrated, best
    result = {
        f"tested half, {name}": rates_at(scored, at)
        | {"actual_dcf": verification.actual_dcf(scored, at, **cost, normalised=True)}
        for name, (scored, at) in used.items()
    }
    lowest = np.nan_to_num(verification.min_dcf_threshold(trials, **cost), nan=-np.inf)  # of one kind only
    rates = rates_at(trials, lowest) | {"actual_dcf": verification.min_dcf(trials, **cost, normalised=True)}
    costs = {"equal_error_rate": verification.equal_error_rate(trials), "cllr": verification.cllr(trials)}
    costs["cllr (transferred calibration)"] = verification.cllr(carried.calibrated)
    costs["min_cllr"] = verification.min_cllr(trials)
    result |= {"tested half, best threshold": rates, "tested half": costs}
    return estimates_of(evaluation, split.tested, result)


def cohort_obstacle(evaluation: TrialTasks, split: Split) -> str:
    """Say why the fitting side of a split is no cohort for the tested one; empty if it is."""
    if not len(split.fitting):
        return split.reason or "no speakers are left for a cohort"
    if any(SCORE in evaluation.view(side).predictions for side in (split.fitting, split.tested)):
        return "scores of a table cannot be compared with a cohort: there are no embeddings"
    if not len(split.tested):
        return "no trials are left to test on"
    fewest = int(evaluation.family.options["minimum_speakers"])
    cohort = _cohort(evaluation, split)
    if not cohort.shape[1]:
        return "no speaker of the cohort has an embedding"
    present = np.isfinite(cohort).all(axis=1).sum()
    few = f"the cohort has {present} speakers with embeddings, fewer than {fewest}"
    return few if present < fewest else ""


def judge_gains(evaluation: TrialTasks, cohort: Split) -> None:
    """Judge by how much scores that are normalised against a cohort make fewer errors."""
    obstacle = cohort_obstacle(evaluation, cohort)
    ways = once(functools.partial(normalised_trials, evaluation, cohort))

    def gain(measure: Error, norm: str, _: Subset, predictions: Predictions) -> Weighted:
        before, after = (measure(ways(predictions)[name]) for name in (AS_THEY_ARE, norm))
        return relabel(weighted_difference(before, after), lambda _: norm)

    gains = {
        "Eer Gain By Cohort": verification.equal_error_rate,
        "Cost Gain By Cohort": functools.partial(verification.min_dcf, **evaluation.cost, normalised=True),
    }
    for test, measure in gains.items():
        evaluation.skip(cohort.tested, obstacle, test)
        for norm in () if obstacle else NORMS:
            evaluation.judge(cohort.tested, test, functools.partial(gain, measure, norm))


def normalised_with(evaluation: TrialTasks, cohort: Split) -> tuple[dict[str, Trials], str]:
    """Normalise the scores of trials in each way; says who the cohort is, or why there is none."""
    if obstacle := cohort_obstacle(evaluation, cohort):
        return {}, f"{cohort.tested.corpus}: scores are not normalised, {obstacle}"
    ways = normalised_trials(evaluation, cohort, cohort.tested.predictions)
    return ways, cohort.about.replace("fitted on", "a cohort of")


def normalised_trials(evaluation: TrialTasks, split: Split, predictions: Predictions) -> dict[str, Trials]:
    """Normalise the scores of the tested side of a split against the speakers of the other side."""
    tested, cohort, view = split.tested, _cohort(evaluation, split), evaluation.view(split.tested)
    vectors, table = clean_embeddings(view), view.trials
    known = cohort[np.isfinite(cohort).all(axis=1)]
    enrolled = mean_directions(vectors, table.members, table.member_of, int(table.member_of.max()) + 1)
    places, against = [], []
    for side, embedded in (("enrolment", enrolled), ("segment", vectors)):
        rows, place = np.unique(tested.segments[side], return_inverse=True)
        places.append(place)
        if predictions.random:
            keys = [f"{tested.corpus}|{side} {row}|cohort {n}" for row in rows for n in range(len(cohort))]
            scores = reference_scores(evaluation.seed, keys)
        else:
            first, second = np.indices((len(rows), len(known))).reshape(2, -1)
            scores = cosine_scores(embedded, known, rows[first], second)
        against.append(scores.reshape(len(rows), -1))
    top = evaluation.family.options.get("cohort_top", 2)
    result = normalised_scores(predictions.clean, *places, *against, top)
    result = {AS_THEY_ARE: predictions.clean} | {name: result[name] for name in NORMS}
    present = np.isfinite(list(result.values())).all(axis=0)
    return {name: own_trials(tested, np.where(present, side, np.nan)) for name, side in result.items()}


def _cohort(evaluation: TrialTasks, split: Split) -> np.ndarray:
    """Average the recordings of each fitting speaker, ``(speakers, d)``; NaN where there are none."""
    view = evaluation.view(split.fitting)
    rows, speakers = recordings_of(view, split.fitting)
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


def enrolled_with(evaluation: TrialTasks, subset: Subset) -> tuple[dict[int, Trials], str]:
    """Score trials again with each number of enrolled recordings that the option ``enrolled`` lists."""
    view, options = evaluation.view(subset), evaluation.family.options
    if SCORE in view.predictions:
        return {}, f"{subset.corpus}: a table of scores has no embeddings to enrol anybody with"
    vectors = clean_embeddings(view)
    draws = seeds.uniform(evaluation.seed, "enrolled", keys=subset.segments["key"].tolist())
    drawn = subset.take(np.argsort(draws)[: int(options.get("enrolled_trials", len(subset)))])
    pools = _pools(evaluation, subset, drawn, np.isfinite(vectors).all(axis=1))
    present = np.array([len(pool) for pool in pools])
    wanted = sorted(options.get("enrolled", []))
    numbers = [n for n in wanted if n <= 1 or half_has(present >= n, drawn.truth)]
    if len(numbers) < 2 or not vectors.shape[1]:
        return {}, f"{subset.corpus}: most speakers have too few recordings to be enrolled with more than one"
    chosen = np.flatnonzero(present >= numbers[-1])
    tested, result = drawn.take(chosen), {}
    for n in numbers:
        members = np.concatenate([pools[row][:n] for row in chosen])
        enrolled = mean_directions(vectors, members, np.repeat(np.arange(len(chosen)), n), len(chosen))
        second = tested.segments["segment"].to_numpy()
        result[n] = own_trials(tested, cosine_scores(enrolled, vectors, np.arange(len(chosen)), second))
    about = f"{subset.corpus}: {len(chosen):,} trials, of {len(drawn):,} that were drawn from {len(subset):,}"
    return result, f"{about}; the others have fewer than {numbers[-1]} recordings of the speaker to enrol."


def half_has(present: np.ndarray, target: np.ndarray) -> bool:
    """Say whether half of the trials of each kind are there: a target cannot enrol what it tests."""
    return all(kind.size and kind.mean() >= 0.5 for kind in (present[target], present[~target]))


def _pools(evaluation: TrialTasks, subset: Subset, drawn: Subset, usable: np.ndarray) -> list[list[int]]:
    """List the recordings that each drawn trial may enrol, in the order in which they are added."""
    view = evaluation.view(subset)
    rows, names = recordings_of(view, subset)
    rows, names = rows[usable[rows]], names[usable[rows]]
    draws = seeds.uniform(evaluation.seed, "enrolled", keys=view.segments["key"].iloc[rows].tolist())
    order = np.argsort(draws)
    of_speaker = pd.Series(rows[order]).groupby(names[order], sort=False).apply(list).to_dict()
    members = pd.Series(view.trials.members).groupby(view.trials.member_of).apply(list)
    pools = []
    for trial in drawn.segments.itertuples():
        first = [row for row in members[trial.enrolment] if usable[row]]
        pool = dict.fromkeys([*first, *of_speaker.get(trial.enrol_speaker, [])])
        pool.pop(trial.segment, None)
        pools.append(list(pool))
    return pools


def cut_to(evaluation: TrialTasks, subset: Subset) -> tuple[dict[str, Trials], str]:
    """Score trials again with tested recordings of each length that the family's sweep lists."""
    view, family = evaluation.view(subset), evaluation.family
    every = [change for series in family.sweeps.values() for change in series.steps.values()]
    steps = {float(change.options["seconds"]): change for change in every if change.transform == CUT}
    if not (evaluation.predicts_changes and view.audio):
        return {}, f"{subset.corpus}: {NO_CHANGES if view.audio else 'no audio that could be cut'}"
    rows = swept_rows(family, evaluation.tasks, view.segments, view.blocks, evaluation.seed, view.trials)
    segment = subset.segments["segment"].to_numpy()
    cut = np.flatnonzero(rows[segment])
    seconds, target = view.segments["duration"].to_numpy()[segment[cut]], subset.truth[cut]
    lengths = [length for length in sorted(steps) if half_has(seconds >= length, target)]
    if not lengths:
        return {}, f"{subset.corpus}: no length to which most tested recordings could be cut"
    place = cut[seconds >= lengths[-1]]
    tested = subset.take(place)
    clean, result = tested.predictions.clean, {}
    for length in lengths:
        scores = view.scores(steps[length].identity, place)
        result[f"{length:g} s"] = own_trials(tested, scores_under(clean, scores))
    result[WHOLE] = own_trials(tested, clean)
    about = f"{subset.corpus}: {len(place):,} trials, of {len(cut):,} with one of {rows.sum():,} recordings"
    about += f" that were cut; the tested recordings of the others are shorter than {lengths[-1]:g} s."
    left = [f"{length:g} s" for length in sorted(steps) if length not in lengths]
    return result, about + (f" Most are shorter than {' and '.join(left)}." if left else "")


def errors_of(
    evaluation: TrialTasks, subset: Subset, ways: Mapping[object, Trials], what: str
) -> list[Estimate]:
    """Estimate equal error rate and lowest normalised cost under several conditions: ``scores: s-norm``."""
    lowest = functools.partial(verification.min_dcf, **evaluation.cost, normalised=True)
    measures = {"equal_error_rate": verification.equal_error_rate, "min_dcf_normalised": lowest}
    result = {
        f"{what}: {way}": {name: measure(trials) for name, measure in measures.items()}
        for way, trials in ways.items()
    }
    return estimates_of(evaluation, subset, result)
