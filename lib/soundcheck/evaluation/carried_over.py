"""Thresholds and calibrations that are fitted on some speakers and tested on others.

In use a threshold is fixed before anybody is tested. One that is chosen on the tested trials is too well
chosen. So speakers are dealt into halves by the seed of the suite: one half fits, the other is tested, and
trials between the halves are left out. Or another corpus fits, without the speakers that both have.

Conventions
-----------
- The fit is one number or one line for all replicates: intervals are about the tested speakers, with what was
  carried over as it is.
- Only speakers of the tested half are drawn.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.wording import counted
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.verification import Verification
from soundcheck.metrics.calibration import cllr, min_cllr
from soundcheck.metrics.logistic_calibration import AffineCalibration, bayes_threshold, fit_calibration
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
from soundcheck.statistics.bootstrap import Resampled

HALF = "half of the speakers"
_SIDES = ["enrol_speaker", "test_speaker"]
_NO_BLOCKS = np.zeros(0, dtype=np.intp)  # trials bring their own
CARRIED_ERRORS = {
    "decided by": "",
    "false acceptance rate": "%",
    "false rejection rate": "%",
    "normalised detection cost": "",
}


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """Trials that a threshold is fitted on, and others that it is tested on.

    Parameters
    ----------
    fitting, tested
        Trials that share no speaker.
    told
        What was split how, and what was left out.
    reason
        Why nothing can be carried over; else ``""``.
    """

    fitting: Subset
    tested: Subset
    told: str
    reason: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class CarriedOver:
    """Tested trials, and what was fitted on the others.

    Parameters
    ----------
    trials, calibrated
        The tested trials with their scores, and with log-likelihood ratios.
    thresholds
        Which threshold of the scores -> its value among the trials that fit.
    calibration
        The line between scores and log-likelihood ratios.
    """

    trials: Trials
    calibrated: Trials
    thresholds: dict[str, float]
    calibration: AffineCalibration


def split_speakers(
    evaluation: Verification, subset: Subset, subsets: Sequence[Subset], option: str = "calibration"
) -> Split:
    """Choose the trials that fit and those that are tested, as an option of the family says.

    Parameters
    ----------
    evaluation
        For its seed and options.
    subset
        Trials of the corpus to test.
    subsets
        Those of all corpora; the option may name one of them. A corpus that is named itself has halves.
    option
        Name of the option: ``"half of the speakers"``, a share of them, or a corpus. Equal shares are equal
        speakers.
    """
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
    apart = ~other.segments[_SIDES].isin(shared).any(axis=1).to_numpy()
    fitting = other.take(np.flatnonzero(apart))
    told, left = f"fitted on {_count(fitting)} of {wanted}, tested on {_count(subset)}", ""
    if shared:
        left = (
            f"; speakers in both corpora: {len(shared)}, and the {len(other) - len(fitting):,} trials of "
            f"{wanted} with them are left out"
        )
    return _checked(evaluation, fitting, subset, told + left, left)


def _dealt(evaluation: Verification, subset: Subset, share: float) -> tuple[Subset, Subset, str]:
    names = _speakers(subset)
    draws = seeds.uniform(evaluation.seed, "calibration", keys=names)
    chosen = {names[n] for n in np.argsort(draws)[: int(share * len(names))]}
    sides = subset.segments[_SIDES].isin(chosen).to_numpy()
    fitting, tested = (subset.take(np.flatnonzero(own.all(axis=1))) for own in (sides, ~sides))
    between = len(subset) - len(fitting) - len(tested)
    told = (
        f"fitted on {_count(fitting)}, tested on {_count(tested)}; {between:,} trials between them are left "
        "out"
    )
    return fitting, tested, told


def _checked(evaluation: Verification, fitting: Subset, tested: Subset, told: str, left: str = "") -> Split:
    """Say why what is to be carried over cannot be fitted, and what was left out before."""
    least = int(evaluation.family.options["minimum_trials"])
    scored = fitting.truth[np.isfinite(fitting.predictions.clean)]
    few = min(int(scored.sum()), int((~scored).sum())) < least
    reason = f"fewer than {least} trials of each kind with a score to fit on{left}" if few else ""
    if not reason and not len(tested):
        reason = "no trials to test on"
    return Split(fitting, tested, f"{tested.corpus}: {told}.", reason)


def _speakers(subset: Subset) -> list[str]:
    return sorted(pd.unique(subset.segments[_SIDES].to_numpy().ravel()))


def _count(subset: Subset) -> str:
    return f"{counted(len(_speakers(subset)), 'speaker')} ({len(subset):,} trials)"


def carry_over(evaluation: Verification, split: Split, predictions: Predictions) -> CarriedOver:
    """Fit thresholds and calibration on one side of a split, and apply them to the other.

    Parameters
    ----------
    evaluation
        For its cost.
    split
        From :func:`split_speakers`, one that has no reason.
    predictions
        For the tested trials: those of the model, or of the random reference, which is fitted on its own.
    """
    source = split.fitting.reference if predictions.random else split.fitting.predictions
    fitting, tested = own_trials(split.fitting, source.clean), own_trials(split.tested, predictions.clean)
    thresholds = {
        "equal error rate": equal_error_threshold(fitting),
        "lowest cost": min_dcf_threshold(fitting, **evaluation.cost.plain),
    }
    calibration = fit_calibration(fitting.scores, fitting.target)
    calibrated = dataclasses.replace(tested, scores=calibration.apply(tested.scores))
    return CarriedOver(tested, calibrated, thresholds, calibration)


def own_trials(subset: Subset, scores: np.ndarray) -> Trials:
    """Put trials together as if there were no other speakers."""
    found = Trials.of(scores, subset.truth, *(subset.segments[side] for side in _SIDES))
    return found.of_recordings(subset.segments["enrolled"], subset.segments["segment"])


def carried_errors(evaluation: Verification, carried: CarriedOver) -> dict[str, list[Resampled]]:
    """Compute what decisions cost the tested trials.

    Returns
    -------
    dict
        How decisions are made -> false acceptance rate, false rejection rate and normalised detection cost,
        with replicates; last what a choice on these very trials gives: equal error rate and lowest cost.
    """
    cost = evaluation.cost.plain
    used = [(f"threshold of the {name}", carried.trials, at) for name, at in carried.thresholds.items()]
    used.append(("threshold of the cost, calibrated scores", carried.calibrated, bayes_threshold(**cost)))
    found = {
        f"{name}: {at:.4g}": [
            false_acceptance_rate(trials, at),
            false_rejection_rate(trials, at),
            actual_dcf(trials, at, **cost, normalised=True),
        ]
        for name, trials, at in used
    }
    equal, lowest = equal_error_rate(carried.trials), min_dcf(carried.trials, **cost, normalised=True)
    found["best threshold for each column, chosen on these very trials"] = [equal, equal, lowest]
    return {
        name: [evaluation.resample(value, _NO_BLOCKS) for value in values] for name, values in found.items()
    }


def cost_of_scores(evaluation: Verification, carried: CarriedOver) -> list[tuple[str, str, Resampled]]:
    """Compute log likelihood costs of the tested trials: name, no unit, value with replicates."""
    rows = {
        "log likelihood cost of the scores as they are": cllr(carried.trials),
        "the same of calibrated scores": cllr(carried.calibrated),
        "the same after the best calibration on these very trials": min_cllr(carried.trials),
    }
    return [(name, "", evaluation.resample(value, _NO_BLOCKS)) for name, value in rows.items()]
