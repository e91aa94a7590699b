"""Speaker verification: trials, their thresholds and errors, also under other conditions of use.

A subset of trials is like a subset of segments: its ``segments`` are the trials, ``truth`` says which of them
are targets, predictions are scores. A trial belongs to a group if both of its speakers do. Speakers are
resampled; a non-target trial counts as often as the product of how often each was drawn. The tested side is
changed, the enrolled one stays as it is.

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
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.augment import registry
from soundcheck.common import seeds
from soundcheck.common.messages import counted
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.evaluation.changed_segments import swept_rows
from soundcheck.evaluation.judging import Judging
from soundcheck.evaluation.subset import SCORE, CorpusView, Predictions, Subset, embeddings, once
from soundcheck.metrics import verification
from soundcheck.metrics.combinators import relabel
from soundcheck.metrics.trials import NORMS, Trials, cosine_scores, mean_directions, normalised_scores
from soundcheck.metrics.weighted import Weighted, weighted_difference
from soundcheck.models.reference import reference_scores
from soundcheck.results.rows import Estimate
from soundcheck.suite.families import Family

NO_CHANGES = "scores and embeddings of a table cannot answer for changed signals"
EQUAL_ERROR_RATE = "equal error rate"
MINIMUM_COST = "minimum cost"
EQUAL_COSTS = {"c_miss": 1.0, "c_false_alarm": 1.0}  # of a rejected target, and of an accepted non-target
SIDES = ["enrol_speaker", "test_speaker"]
NO_BLOCKS = np.zeros(0, dtype=np.intp)  # trials bring their own
# The last if sexes are not known.
KINDS = ("target", "non-target, same sex", "non-target, other sex", "non-target")

# Of a table of trials; see soundcheck.corpora.trials.trial_table, and with_groups.
TRIAL_COLUMNS = frozenset(
    ("key", "enrol", "test", "target", "enrolment", "segment", "enrol_speaker", "test_speaker")
    + ("first", "second", "enrolled", "kind")
)


def threshold_in_use(family: Family, model: str, scores: np.ndarray, target: np.ndarray) -> float:
    """Give the threshold above which a trial is accepted: a number, or chosen on the trials themselves."""
    wanted = family.option("threshold", model)
    nobody = np.zeros(len(scores), dtype=np.intp)  # who speaks makes no difference
    trials = Trials(scores, target, nobody, nobody, 1)
    if wanted == EQUAL_ERROR_RATE:
        return verification.equal_error_threshold(trials)
    if wanted == MINIMUM_COST:
        return verification.min_dcf_threshold(trials, **family.options["cost"])
    return float(wanted)


def own_trials(subset: Subset, scores: np.ndarray) -> Trials:
    """Put trials together as if there were no other speakers: only theirs are drawn."""
    result = Trials.of(scores, subset.truth, *(subset.segments[side] for side in SIDES))
    return result.of_recordings(subset.segments["enrolled"], subset.segments["segment"])


def scores_under(clean: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Give scores under a change for the trials that have one as they are, float64 ``(trials,)``.

    >>> scores_under(np.array([0.9, 0.2, np.nan]), np.array([0.5, np.nan, 0.1])).tolist()
    [0.5, -0.9, nan]
    """
    lowest = np.nanmin(scores) - 1 if np.isfinite(scores).any() else 0.0
    return np.where(np.isnan(clean), np.nan, np.where(np.isnan(scores), lowest, scores))


class TrialTasks(Judging):
    """What an evaluation knows of trials: their scores, thresholds and groups."""

    @property
    def cost(self) -> dict[str, float]:
        """Share of targets in use and costs of both errors, by which the main tests weigh errors."""
        return EQUAL_COSTS | self.family.options["cost"]

    @property
    def costs(self) -> dict[str, dict[str, float]]:
        """Further settings of the cost by name."""
        return {name: EQUAL_COSTS | cost for name, cost in self.family.options["costs"].items()}

    def why_unscored(self, change: str) -> str:
        """Say why there are no scores under a change; empty if there are."""
        if change and not self.predicts_changes:
            return NO_CHANGES
        return registry.missing(self.family.changes[change]) if change else ""

    def trials(self, subset: Subset, scores: np.ndarray) -> Trials:
        """Put the trials of a subset and scores for them together, for metrics."""
        first, second = (subset.segments[name].to_numpy() for name in ("first", "second"))
        speakers = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
        result = Trials(scores, subset.truth, first, second, speakers)
        return result.of_recordings(subset.segments["enrolled"], subset.segments["segment"])

    def threshold(self, subset: Subset, scores: np.ndarray) -> float:
        """Give the threshold in use; minus infinity with trials of one kind only, which have no rates."""
        result = threshold_in_use(self.family, self.model, scores, subset.truth)
        return -np.inf if np.isnan(result) else result

    def kinds(self, subset: Subset) -> dict[str, np.ndarray]:
        """Mask all trials, then targets with each kind of non-target, unless one has too few of these."""
        masks = {kind: subset.segments["kind"].eq(kind).to_numpy() for kind in KINDS[1:3]}
        few = any(mask.sum() < self.family.options["minimum_trials"] for mask in masks.values())
        kinds = {} if few else {kind: mask | subset.truth for kind, mask in masks.items()}
        return {"all trials": np.ones(len(subset), dtype=bool)} | kinds


def enrolled_recordings(table: TrialTable) -> np.ndarray:
    """Give the recording that each trial is enrolled with; of several the first stands for all."""
    enrolled = np.zeros(int(table.member_of.max(initial=-1)) + 1, dtype=np.int64)
    enrolled[table.member_of[::-1]] = table.members[::-1]
    return enrolled[table.frame["enrolment"].to_numpy()]


def with_groups(table: TrialTable, segments: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Add numbers of the speakers, the groups that both sides belong to, and the kind of each trial."""
    first, second = enrolled_recordings(table), table.frame["segment"].to_numpy()
    codes, _ = pd.factorize(pd.concat([table.frame[side] for side in SIDES]), sort=True)
    added = {"first": codes[: len(first)], "second": codes[len(first) :], "enrolled": first}
    target = table.frame["target"].to_numpy(dtype=bool)
    added["kind"] = np.where(target, KINDS[0], KINDS[3]).astype(object)
    for column in sorted({*columns, "sex"} - TRIAL_COLUMNS - {*table.frame}):  # a list may bring its own
        unknown = pd.Series(None, index=segments.index, dtype=object)
        values = segments.get(column, unknown).to_numpy(dtype=object)
        enrolled, tested = values[first], values[second]
        same = enrolled == tested
        added[column] = np.where(pd.notna(enrolled) & same, enrolled, None)
        if column == "sex":
            others = pd.notna(enrolled) & pd.notna(tested) & ~target
            added["kind"][others] = np.where(same[others], KINDS[1], KINDS[2])
    return table.frame.assign(**added)


# What is judged and estimated

RATES = 41  # false acceptance rates at which a band of the curve is computed
Error = Callable[[Trials], Weighted]
Rate = Callable[[Trials, float], Weighted]
Curves = dict[str, dict[str, object]]  # name -> both errors, their points, and perhaps a band
WithinMeasure = Callable[[Subset, Predictions, np.ndarray], Weighted]


def judge_errors(evaluation: TrialTasks, subset: Subset) -> None:
    """Judge equal error rate, detection costs and the log likelihood cost of all trials of a corpus."""
    cost = evaluation.cost

    def in_use(trials: Trials) -> Weighted:
        return verification.actual_dcf(
            trials, evaluation.threshold(subset, trials.scores), **cost, normalised=True
        )

    def named(name: str, trials: Trials) -> Weighted:
        return relabel(
            verification.min_dcf(trials, **evaluation.costs[name], normalised=True), lambda _: name
        )

    tests: list[tuple[str, Error]] = [
        ("Equal Error Rate", verification.equal_error_rate),
        ("Minimum Detection Cost", lambda trials: verification.min_dcf(trials, **cost)),
        *(("Normalised Minimum Detection Cost", functools.partial(named, name)) for name in evaluation.costs),
        ("Actual Detection Cost", in_use),
        ("Log Likelihood Cost", verification.cllr),
    ]
    for test, measure in tests:
        evaluation.judge(subset, test, lambda s, p, measure=measure: measure(evaluation.trials(s, p.clean)))


def judge_changed_trials(
    evaluation: TrialTasks, subsets: Sequence[Subset], changed: Sequence[Subset]
) -> None:
    """Judge the equal error rate of changed minus that of clean recordings, over the same trials."""

    def change(subset: Subset, predictions: Predictions) -> Weighted:
        both = np.isfinite(predictions.clean) & np.isfinite(predictions.changed)
        sides = (np.where(both, side, np.nan) for side in (predictions.changed, predictions.clean))
        return weighted_difference(
            *(verification.equal_error_rate(evaluation.trials(subset, side)) for side in sides)
        )

    for name in evaluation.family.changes:
        for subset in subsets:
            evaluation.skip(subset, evaluation.why_unscored(name), f"Change Eer {name}")
    for subset in changed:
        evaluation.judge(subset, f"Change Eer {subset.change}", change)


def overview(evaluation: TrialTasks, subset: Subset) -> list[Estimate]:
    """Estimate all that is said about the scores of a corpus; the kind of non-targets is the condition."""
    trials = evaluation.trials(subset, subset.predictions.clean)
    threshold = evaluation.threshold(subset, subset.predictions.clean)
    result: dict[str, dict[str, Weighted]] = {}
    for kind, mask in evaluation.kinds(subset).items():
        result["" if mask.all() else kind] = {
            "equal_error_rate": verification.equal_error_rate(trials.only(mask))
        }
    for name, cost in {"": evaluation.cost, **evaluation.costs}.items():
        of = f" (cost {name})" if name else ""
        result[""][f"min_dcf{of}"] = verification.min_dcf(trials, **cost)
        result[""][f"min_dcf_normalised{of}"] = verification.min_dcf(trials, **cost, normalised=True)
    result[""] |= rates_at(trials, threshold)
    result[""]["actual_dcf (not normalised)"] = verification.actual_dcf(trials, threshold, **evaluation.cost)
    result[""] |= {"cllr": verification.cllr(trials), "min_cllr": verification.min_cllr(trials)}
    return estimates_of(evaluation, subset, result)


def rates_at(trials: Trials, threshold: float) -> dict[str, Weighted]:
    """Give both error rates at a threshold, by measure."""
    rates = (verification.false_acceptance_rate, verification.false_rejection_rate)
    return {rate.__name__: rate(trials, threshold) for rate in rates}


def estimates_of(
    evaluation: TrialTasks, subset: Subset, measured: Mapping[str, Mapping[str, Weighted]]
) -> list[Estimate]:
    """Estimate measures under each condition; the unnamed condition is all trials as they are."""
    return [
        evaluation.estimate(subset, measure, statistic, condition=condition)[0]
        for condition, measures in measured.items()
        for measure, statistic in measures.items()
    ]


def det_curves(evaluation: TrialTasks, named: Mapping[str, Trials], *, bands: bool = True) -> Curves:
    """Compute curves of both errors with their bands and their points."""
    curves: Curves = {}
    for name, trials in named.items():
        equal = verification.equal_error_rate(trials).point().value[0]
        if np.isnan(equal):
            continue
        thresholds, far, frr = verification.det_curve(trials)
        best = verification.min_dcf_threshold(trials, **evaluation.cost)
        place = max(0, int(np.searchsorted(thresholds, best, side="right")) - 1)
        curves[name] = {"far": far, "frr": frr, "equal": float(equal), "minimum": (far[place], frr[place])}
        if bands:
            others = int((~trials.target & ~np.isnan(trials.scores)).sum())
            deviates = scipy.special.ndtri([min(0.01, max(1 / others, 1e-5)), 0.7])
            rates = scipy.special.ndtr(np.linspace(*deviates, RATES))
            resampled = evaluation.resample(verification.frr_at_far(trials, rates), NO_BLOCKS)
            low, high = resampled.interval(evaluation.interval)
            curves[name] |= {"rates": rates, "low": low, "high": high}
    return curves


def curves_of_kinds(evaluation: TrialTasks, subset: Subset) -> Curves:
    """Compute curves of all trials, and of those with each kind of non-targets."""
    trials = evaluation.trials(subset, subset.predictions.clean)
    kinds = evaluation.kinds(subset).items()
    return det_curves(evaluation, {name: trials.only(mask) for name, mask in kinds})


def curves_of_changes(evaluation: TrialTasks, changed: Sequence[Subset]) -> dict[str, Curves]:
    """Compute curves of each corpus as it is and under each change, without bands."""
    named: dict[str, dict[str, Trials]] = {}
    for subset in changed:
        clean = evaluation.trials(subset, subset.predictions.clean)
        trials = named.setdefault(subset.corpus, {"clean": clean})
        trials[subset.change] = evaluation.trials(subset, subset.predictions.changed)
    return {corpus: det_curves(evaluation, trials, bands=False) for corpus, trials in named.items()}


def thresholds_of(evaluation: TrialTasks, subset: Subset) -> dict[str, float]:
    """Give the thresholds that a page marks: of equal errors, of the lowest cost, and the one in use."""
    scores = subset.predictions.clean
    result = best_thresholds(evaluation, evaluation.trials(subset, scores))
    used = evaluation.threshold(subset, scores)
    result |= {} if used in result.values() else {"in use": used}
    return {name: value for name, value in result.items() if np.isfinite(value)}


def best_thresholds(evaluation: TrialTasks, trials: Trials) -> dict[str, float]:
    """Give the thresholds of equal errors and of the lowest cost."""
    lowest = verification.min_dcf_threshold(trials, **evaluation.cost)
    return {"equal error rate": verification.equal_error_threshold(trials), "lowest cost": lowest}


def rates_in_use(evaluation: TrialTasks, tests: Mapping[str, Rate]) -> dict[str, WithinMeasure]:
    """Make measures of error rates at the threshold in use."""

    @once
    def decided(subset: Subset, predictions: Predictions) -> tuple[Trials, float]:
        scores = predictions.clean
        return evaluation.trials(subset, scores), evaluation.threshold(subset, scores)

    def measure(rate: Rate, subset: Subset, predictions: Predictions, mask: np.ndarray) -> Weighted:
        trials, threshold = decided(subset, predictions)
        return rate(trials.only(mask), threshold)

    return {test: functools.partial(measure, rate) for test, rate in tests.items()}


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
        fitting, tested = (subset.take(np.flatnonzero(inside.all(axis=1))) for inside in (sides, ~sides))
        between = f"{len(subset) - len(fitting) - len(tested):,} trials between them are left out"
        about = f"fitted on {_count(fitting)}, tested on {_count(tested)}; {between}"
    elif other is not None:
        shared = {*speakers} & {*_speakers(other)}
        apart = ~other.segments[SIDES].isin(shared).any(axis=1).to_numpy()
        fitting, tested = other.take(np.flatnonzero(apart)), subset
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
        return verification.actual_dcf(
            carried.calibrated, verification.bayes_threshold(**cost), **cost, normalised=True
        )

    def measured(measure: Callable[[CarriedOver], Weighted], _: Subset, predictions: Predictions) -> Weighted:
        return measure(carry_over(evaluation, split, predictions))

    tests = {
        "Carried Detection Cost": decided,
        "Cost Of Carrying Over": lambda carried: weighted_difference(
            decided(carried), verification.min_dcf(carried.trials, **cost, normalised=True)
        ),
        "Calibrated Log Likelihood Cost": lambda carried: verification.cllr(carried.calibrated),
    }
    for test, measure in tests.items():
        if split.reason:
            evaluation.skip(split.tested, split.reason, test)
        else:
            evaluation.judge(split.tested, test, functools.partial(measured, measure))


def carried_errors(evaluation: TrialTasks, split: Split, carried: CarriedOver) -> list[Estimate]:
    """Estimate acceptances, rejections and costs of the tested trials, by the condition that decides."""
    cost, trials = evaluation.cost, carried.trials
    used = {f"threshold of the {name}": (trials, at) for name, at in carried.thresholds.items()}
    used["threshold of the cost, calibrated scores"] = (
        carried.calibrated,
        verification.bayes_threshold(**cost),
    )
    result = {
        f"tested half, {name}": rates_at(scored, at)
        | {"actual_dcf": verification.actual_dcf(scored, at, **cost, normalised=True)}
        for name, (scored, at) in used.items()
    }
    result["tested half, best threshold"] = dict.fromkeys(
        ("false_acceptance_rate", "false_rejection_rate"), verification.equal_error_rate(trials)
    ) | {"actual_dcf": verification.min_dcf(trials, **cost, normalised=True)}
    calibrated = {"cllr (transferred calibration)": verification.cllr(carried.calibrated)}
    result["tested half"] = (
        {"cllr": verification.cllr(trials)} | calibrated | {"min_cllr": verification.min_cllr(trials)}
    )
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
    about, top = cohort.about.replace("fitted on", "a cohort of"), _top(evaluation)
    if len(_cohort(evaluation, cohort)) <= top:
        few = f"The cohort has no more than {top} speakers"
        about = f"{about} {few}, so that the adaptive way is the same as the s-norm."
    return normalised_trials(evaluation, cohort, cohort.tested.predictions), about


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
    result = normalised_scores(predictions.clean, *places, *against, _top(evaluation))
    result = {AS_THEY_ARE: predictions.clean} | {name: result[name] for name in NORMS}
    present = np.isfinite(list(result.values())).all(axis=0)
    return {name: own_trials(tested, np.where(present, side, np.nan)) for name, side in result.items()}


def _top(evaluation: TrialTasks) -> int:
    return evaluation.family.options.get("cohort_top", 2)


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
    if not steps:
        return {}, f"{subset.corpus}: no lengths to cut tested recordings to"
    if not (evaluation.predicts_changes and view.audio):
        return {}, f"{subset.corpus}: {NO_CHANGES if view.audio else 'no audio that could be cut'}"
    rows = swept_rows(family, evaluation.tasks, view.segments, view.blocks, evaluation.seed, view.trials)
    segment = subset.segments["segment"].to_numpy()
    cut = np.flatnonzero(rows[segment])
    seconds, target = view.segments["duration"].to_numpy()[segment[cut]], subset.truth[cut]
    lengths = [length for length in sorted(steps) if half_has(seconds >= length, target)]
    if not lengths:
        return {}, f"{subset.corpus}: most tested recordings are shorter than {min(steps):g} s"
    place = cut[seconds >= lengths[-1]]
    tested, result = subset.take(place), {}
    clean = tested.predictions.clean
    for length in lengths:
        result[f"{length:g} s"] = own_trials(
            tested, scores_under(clean, view.scores(steps[length].identity, place))
        )
    result[WHOLE] = own_trials(tested, clean)
    about = f"{subset.corpus}: {len(place):,} trials, of {len(cut):,} with one of {rows.sum():,} recordings"
    about += f" that were cut; the tested recordings of the others are shorter than {lengths[-1]:g} s."
    left = [f"{length:g} s" for length in sorted(steps) if length not in lengths]
    return result, about + (f" Most are shorter than {' and '.join(left)}." if left else "")
