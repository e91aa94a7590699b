"""Designs: ways to draw data sets whose true value is known.

Conventions
-----------
- Every speaker has 20 segments, and speakers are the blocks. A share of the variance of truth and of error,
  and of what makes a class or a change, belongs to the speaker, the rest to the segment. The share does not
  move the true value.
- True values follow from the parameters by a formula; nothing is estimated.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.change import unchanged
from soundcheck.metrics.classification import recall_per_class, unweighted_average_recall
from soundcheck.metrics.combinators import difference, paired_difference, restrict
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, pearson_cc
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics.bootstrap import KINDS, REPLICATES, every_segment
from soundcheck.studies.intervals import Calibration, Intervals, calibration, coverage

__all__ = ["DESIGNS", "Design"]

EACH = 20  # segments a speaker
CLASSES = ("anger", "happiness", "neutral", "sadness")

_TRUTH, _ERROR, _CHANGE = 0.15, 0.1, 0.05  # standard deviations
_SHARE = 0.93  # of unchanged predictions
_FREQUENCY = (0.2, 0.3, 0.4, 0.1)  # of the classes
_RECALL = (0.7, 0.6, 0.8, 0.5)  # of the classes
_GROUPS = (0.12, 0.1)  # standard deviations of the error in the two groups
_MODELS = (0.06, 0.04)  # standard deviations of the error that two models do not have in common
_SEPARATION = 2.0  # of targets and non-targets, in standard deviations of either
_COMMON = 0.08  # and of the one that they have
_MEAN_SIZE = np.sqrt(2 / np.pi)  # of a standard normal number


@dataclasses.dataclass(frozen=True)
class Design:
    """A way to draw data sets whose true value is known.

    Parameters
    ----------
    title
        What is measured, in words.
    true
        The true value, the same for any share.
    draw
        ``draw(rng, speakers, share)`` draws a data set and gives its statistic, which covers 20 segments of
        each speaker, speaker by speaker.
    label
        Which of the statistic's values is meant.
    sides
        2 if the data set has two samples of ``speakers`` speakers each.
    """

    title: str
    true: float
    draw: Callable[[np.random.Generator, int, float], Statistic | Weighted]
    label: int = 0
    sides: int = 1

    def coverage(
        self,
        speakers: int,
        share: float,
        data_sets: int,
        kinds: Sequence[str] = KINDS,
        replicates: int = REPLICATES,
        seed: int = 0,
        *,
        each_segment: bool = False,
    ) -> dict[str, Intervals]:
        """Study the intervals; see :func:`coverage`.

        Parameters
        ----------
        speakers
            Number of speakers, which are the blocks.
        share
            Share of the variance that belongs to the speaker, from 0 to 1.
        data_sets, kinds, replicates, seed
            See :func:`coverage`.
        each_segment
            Draw segments instead of speakers, as if segments of a speaker were independent.
        """
        blocks = self.blocks(speakers)
        return coverage(
            functools.partial(self.draw, speakers=speakers, share=share),
            self.true,
            every_segment(len(blocks)) if each_segment else blocks,
            data_sets,
            label=self.label,
            kinds=kinds,
            replicates=replicates,
            seed=seed,
            purpose=[self.title, speakers, share],
        )

    def calibration(self, speakers: int, share: float, data_sets: int, seed: int = 0) -> Calibration:
        """Study verdicts with the true value on the threshold; see :func:`calibration`."""
        return calibration(
            functools.partial(self.draw, speakers=speakers, share=share),
            self.true,
            self.blocks(speakers),
            data_sets,
            label=self.label,
            seed=seed,
            purpose=[self.title, speakers, share],
        )

    def blocks(self, speakers: int) -> np.ndarray:
        """Give the speaker of each segment."""
        return np.repeat(np.arange(self.sides * speakers), EACH)


def _correlated(rng: np.random.Generator, speakers: int, share: float) -> np.ndarray:
    """Draw standard normal numbers of which a share of the variance belongs to the speaker."""
    own = np.repeat(rng.normal(size=speakers), EACH)
    return np.sqrt(share) * own + np.sqrt(1 - share) * rng.normal(size=speakers * EACH)


def _numbers(rng: np.random.Generator, speakers: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    truth = 0.5 + _TRUTH * _correlated(rng, speakers, share)
    return truth, truth + _ERROR * _correlated(rng, speakers, share)


def _names(rng: np.random.Generator, speakers: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes and answers; a speaker has classes and mistakes of their own."""
    places = stats.norm.cdf(_correlated(rng, speakers, share))
    truth = np.searchsorted(np.cumsum(_FREQUENCY)[:-1], places)
    right = stats.norm.cdf(_correlated(rng, speakers, share)) < np.asarray(_RECALL)[truth]
    other = (truth + rng.integers(1, len(CLASSES), size=len(truth))) % len(CLASSES)
    names = np.array(CLASSES, dtype=object)
    return names[truth], names[np.where(right, truth, other)]


def _draw_ccc(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    return concordance_cc(*_numbers(rng, speakers, share))


def _draw_pearson(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    return pearson_cc(*_numbers(rng, speakers, share))


def _draw_mae(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    return mean_absolute_error(*_numbers(rng, speakers, share))


def _draw_uar(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    return unweighted_average_recall(*_names(rng, speakers, share), CLASSES)


def _draw_recall(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    return recall_per_class(*_names(rng, speakers, share), CLASSES)


def _draw_unchanged(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    changed = _correlated(rng, speakers, share) > stats.norm.ppf(_SHARE)
    return unchanged(np.zeros(len(changed)), changed.astype(np.float64))


def _draw_group(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    """Draw two groups of speakers, about as many in each, of which the first is predicted worse."""
    first = np.repeat(rng.random(speakers) < 0.5, EACH)
    truth = 0.5 + _TRUTH * _correlated(rng, speakers, share)
    error = np.where(first, *_GROUPS) * _correlated(rng, speakers, share)
    metric = mean_absolute_error(truth, truth + error)
    return difference(restrict(metric, first), metric)


def _draw_change(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    truth, clean = _numbers(rng, speakers, share)
    changed = clean + _CHANGE * _correlated(rng, speakers, share)
    return paired_difference(concordance_cc(truth, changed), concordance_cc(truth, clean))


def _models(rng: np.random.Generator, speakers: int, share: float) -> tuple[np.ndarray, ...]:
    """Draw the truth and the predictions of two models that err alike in part."""
    truth = 0.5 + _TRUTH * _correlated(rng, speakers, share)
    common = _COMMON * _correlated(rng, speakers, share)
    return truth, *(truth + common + size * _correlated(rng, speakers, share) for size in _MODELS)


def _draw_paired(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    truth, a, b = _models(rng, speakers, share)
    return paired_difference(mean_absolute_error(truth, a), mean_absolute_error(truth, b))


def _draw_unpaired(rng: np.random.Generator, speakers: int, share: float) -> Statistic:
    """Draw the same, with the predictions of the models beside each other as if of different speakers."""
    truth, a, b = _models(rng, speakers, share)
    both = mean_absolute_error(np.tile(truth, 2), np.concatenate([a, b]))
    first = np.arange(2 * len(truth)) < len(truth)
    return difference(restrict(both, first), restrict(both, ~first))


def _trials(rng: np.random.Generator, speakers: int, share: float) -> Trials:
    """Draw as many trials of a speaker as of two; both have unit variance around their means.

    A share of the variance belongs to the speaker, or half of it to either of the two.
    """
    own = np.repeat(np.arange(speakers), EACH)
    other = (own + rng.integers(1, speakers, size=own.size)) % speakers
    alike, apart = rng.normal(size=(2, speakers))
    noise = np.sqrt(1 - share) * rng.normal(size=(2, own.size))
    targets = _SEPARATION + np.sqrt(share) * alike[own] + noise[0]
    others = np.sqrt(share / 2) * (apart[own] + apart[other]) + noise[1]
    return Trials(
        np.concatenate([targets, others]),
        np.arange(2 * own.size) < own.size,
        np.concatenate([own, own]),
        np.concatenate([own, other]),
        speakers,
    )


def _draw_eer(rng: np.random.Generator, speakers: int, share: float) -> Weighted:
    return equal_error_rate(_trials(rng, speakers, share))


def _draw_eer_by_trial(rng: np.random.Generator, speakers: int, share: float) -> Weighted:
    """Draw the same, as if each trial had a speaker of its own."""
    trials = _trials(rng, speakers, share)
    each = np.arange(len(trials))
    return equal_error_rate(dataclasses.replace(trials, first=each, second=each, speakers=len(trials)))


def _ccc(error_variance: float) -> float:
    return 2 * _TRUTH**2 / (2 * _TRUTH**2 + error_variance)


_TRUE_MODELS = _MEAN_SIZE * float(np.subtract(*(np.hypot(_COMMON, size) for size in _MODELS)))

DESIGNS = {
    "ccc": Design("concordance correlation coefficient", _ccc(_ERROR**2), _draw_ccc),
    "uar": Design("unweighted average recall", float(np.mean(_RECALL)), _draw_uar),
    "unchanged": Design("share of unchanged predictions", _SHARE, _draw_unchanged),
    "pearson": Design("Pearson correlation coefficient", _TRUTH / np.hypot(_TRUTH, _ERROR), _draw_pearson),
    "mae": Design("mean absolute error", _ERROR * _MEAN_SIZE, _draw_mae),
    "recall": Design("recall of a class of 10 %", _RECALL[3], _draw_recall, label=3),
    "group": Design("mean absolute error, group - all", -np.diff(_GROUPS)[0] / 2 * _MEAN_SIZE, _draw_group),
    "change": Design(
        "concordance correlation coefficient, changed - clean",
        _ccc(_ERROR**2 + _CHANGE**2) - _ccc(_ERROR**2),
        _draw_change,
    ),
    "paired": Design("mean absolute error, model - model", _TRUE_MODELS, _draw_paired),
    "eer": Design("equal error rate", float(stats.norm.cdf(-_SEPARATION / 2)), _draw_eer),
    "eer by trial": Design(
        "equal error rate, trials drawn", float(stats.norm.cdf(-_SEPARATION / 2)), _draw_eer_by_trial
    ),
    "unpaired": Design("the same, not paired", _TRUE_MODELS, _draw_unpaired, sides=2),
}
