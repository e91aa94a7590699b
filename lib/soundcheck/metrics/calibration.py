r"""What scores of trials are worth when they are read as log-likelihood ratios.

Bruemmer and du Preez (2006), Application-independent evaluation of speaker detection.

Conventions
-----------
Trials, their order and their replicates are those of :mod:`soundcheck.metrics.trials`. Costs are in bits.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression

from soundcheck.metrics.additive import ratio
from soundcheck.metrics.trials import Trials, TrialStatistic, WholeCurve
from soundcheck.metrics.weighted import Weighted

_LARGEST = 1e100  # scores beyond count as this for costs, whose sums would overflow


class _LogLikelihoodCost(TrialStatistic):
    def _losses(self) -> tuple[np.ndarray, tuple[float, float]]:
        trials = self._sorted
        scores = np.clip(trials.scores, -_LARGEST, _LARGEST)
        costs = np.where(trials.target, -1.0, 1.0)
        costs *= np.repeat(scores, np.diff(trials.ends, prepend=0))
        return np.logaddexp(0.0, costs) / np.log(2), (0.5, 0.5)

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        trials = self._sorted
        costs, _ = self._losses()
        kinds = [np.flatnonzero(trials.target == kind) for kind in (True, False)]
        sums = [np.zeros((len(weights), 1)) for _ in kinds]
        for layer in trials.exact_sums(costs):
            for rows, found in zip(kinds, sums, strict=True):
                found += trials.form(weights, rows, layer[rows])
        counts = trials.sums(weights, trials.steps)
        return sum(ratio(found, count) for found, count in zip(sums, counts, strict=True)) / 2


def cllr(trials: Trials) -> Weighted:
    r"""Cost of scores as log-likelihood ratios, over all probabilities and costs in use: Cllr.

    .. math:: \frac{1}{2}\, \mathrm{mean}_\mathrm{targets}\, \log_2(1 + e^{-s})
              + \frac{1}{2}\, \mathrm{mean}_\mathrm{non-targets}\, \log_2(1 + e^{s})

    Bruemmer and du Preez (2006).

    - ``trials``: trials whose scores ``s`` are natural logarithms of likelihood ratios.
    - Returns one value in bits, 0 or more, lower is better; 1 is what a system that knows nothing and always
      says 0 reaches. Undefined without targets or without non-targets.
    """
    return _LogLikelihoodCost(trials)


class _MinLogLikelihoodCost(WholeCurve):
    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> float:
        """Pool adjacent steps until the share of targets rises; a pool has one likelihood ratio."""
        targets, both = np.diff(targets), np.diff(targets + others)
        there = np.flatnonzero(both)
        targets, both = targets[there], both[there]
        blocks = isotonic_regression(targets / both, weights=both).blocks[:-1]
        targets, both = np.add.reduceat(targets, blocks), np.add.reduceat(both, blocks)
        own, other = targets / targets.sum(), (both - targets) / (both - targets).sum()
        # exp(-s) is other / own, and what has no share costs nothing.
        parts = (kind * np.log2((own + other) / np.where(kind > 0, kind, 1.0)) for kind in (own, other))
        return float(sum(parts).sum() / 2)


def min_cllr(trials: Trials) -> Weighted:
    """Lowest Cllr that any rising map of the scores to log-likelihood ratios reaches.

    The best map has a step for each edge of the convex hull of the curve of errors, and is found by pooling
    adjacent scores. What :func:`cllr` has more is lost by bad calibration. Bruemmer and du
    Preez (2006).

    Returns one value from 0 to 1, in bits, lower is better; undefined without targets or without non-targets.
    If steps are joined, replicates are slightly too high.
    """
    return _MinLogLikelihoodCost(trials)
