r"""What scores of trials are worth when they are read as log-likelihood ratios, and how they become such.

Bruemmer and du Preez (2006), Application-independent evaluation of speaker detection.

Conventions
-----------
- Trials, their order and their replicates are those of :mod:`soundcheck.metrics.trials`. Costs are in bits.
- A calibration is fitted on some speakers and applied to others; on the same trials costs would be too low.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import optimize, special

from soundcheck.metrics.additive import ratio, same_length
from soundcheck.metrics.trials import Trials, TrialStatistic, WholeCurve
from soundcheck.metrics.weighted import Weighted

_LARGEST = 1e100  # scores beyond count as this, whose sums would overflow


class _LogLikelihoodCost(TrialStatistic):
    def _losses(self) -> tuple[np.ndarray, tuple[float, float]]:
        trials = self._trials
        scores = np.clip(trials.scores, -_LARGEST, _LARGEST)
        costs = np.where(trials.target, -1.0, 1.0)
        costs *= np.repeat(scores, np.diff(trials.ends, prepend=0))
        return np.logaddexp(0.0, costs) / np.log(2), (0.5, 0.5)

    def _evaluate(self, weights: np.ndarray) -> np.ndarray:
        trials, (costs, _) = self._trials, self._losses()
        kinds = [np.flatnonzero(trials.target == kind) for kind in (True, False)]
        sums = [np.zeros((len(weights), 1)) for _ in kinds]
        for layer in trials.exact_layers(costs):
            for rows, total in zip(kinds, sums, strict=True):
                total += trials.form(weights, rows, layer[rows])
        counts = trials.sums(weights, trials.steps)
        return sum(ratio(total, count) for total, count in zip(sums, counts, strict=True)) / 2


def cllr(trials: Trials) -> Weighted:
    r"""Cost of scores as log-likelihood ratios, over all probabilities and costs in use: Cllr.

    .. math:: \frac{1}{2}\, \mathrm{mean}_\mathrm{targets}\, \log_2(1 + e^{-s})
              + \frac{1}{2}\, \mathrm{mean}_\mathrm{non-targets}\, \log_2(1 + e^{s})

    for scores :math:`s` that are natural logarithms of likelihood ratios. Bruemmer and du Preez (2006).
    Returns one value in bits, 0 or more, lower is better; 1 is what a system that always says 0 reaches.

    >>> cllr(Trials.of([0.0, 0.0], [True, False], ["a", "a"], ["a", "b"]))
    Statistic(1.0)
    """
    return _LogLikelihoodCost(trials)


class _MinLogLikelihoodCost(WholeCurve):
    def _of_steps(self, targets: np.ndarray, others: np.ndarray) -> float:
        """Pool adjacent steps until the share of targets rises; a pool has one likelihood ratio."""
        targets, both = np.diff(targets), np.diff(targets + others)
        drawn = np.flatnonzero(both)
        targets, both = targets[drawn], both[drawn]
        pools = optimize.isotonic_regression(targets / both, weights=both).blocks[:-1]
        targets, both = np.add.reduceat(targets, pools), np.add.reduceat(both, pools)
        of_targets, of_others = targets / targets.sum(), (both - targets) / (both - targets).sum()
        # exp(-s) is the ratio of these, and what has no share costs nothing.
        parts = (
            share * np.log2((of_targets + of_others) / np.where(share > 0, share, 1.0))
            for share in (of_targets, of_others)
        )
        return float(sum(parts).sum() / 2)


def min_cllr(trials: Trials) -> Weighted:
    """Lowest Cllr that any rising map of the scores to log-likelihood ratios reaches, from 0 to 1.

    The best map has a step for each edge of the convex hull of the curve of errors, and is found by pooling
    adjacent scores. What :func:`cllr` has more is lost by bad calibration. Bruemmer and du Preez (2006).
    If steps are joined, replicates are slightly too high.

    >>> min_cllr(Trials.of([0.9, 0.6], [True, False], ["a", "a"], ["a", "b"]))
    Statistic(0.0)
    """
    return _MinLogLikelihoodCost(trials)


@dataclasses.dataclass(frozen=True)
class AffineCalibration:
    """A straight line from scores to log-likelihood ratios."""

    slope: float  # log-likelihood ratio per score
    offset: float  # that of the score 0

    def __str__(self) -> str:
        return f"log likelihood ratio = {self.slope:.4g} × score {self.offset:+.4g}".replace("-", "−")

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Give natural logarithms of likelihood ratios, float64 ``(N,)``; NaN stays NaN."""
        return self.slope * np.clip(scores, -_LARGEST, _LARGEST) + self.offset


def fit_calibration(scores: np.ndarray, target: np.ndarray) -> AffineCalibration:
    r"""Fit the line for which both kinds of trials together cost least: logistic regression.

    .. math:: \sum_k \frac{1}{N_k} \sum_{i \in k} y_k \ln (1 + e^{-(a s_i + b)})
              + (1 - y_k) \ln (1 + e^{a s_i + b})

    over targets with :math:`y = (N + 1) / (N + 2)` and non-targets with :math:`y = 1 / (N + 2)`, the labels
    of Platt (1999), Probabilistic outputs for support vector machines: scores that separate the kinds would
    have an infinite slope otherwise. Both kinds weigh the same however many there are, so that fitted values
    are natural logarithms of likelihood ratios and not of odds.

    - ``scores, target``: float64 and bool ``(N,)``; scores that are NaN are left out.
    - Returns slope and offset 0 if all scores are equal, which says nothing about any trial.
    - Raises ValueError: if one of the kinds has no trial with a score.

    >>> str(fit_calibration(np.array([2.0, 1.0, 0.0, -1.0]), np.array([True, True, False, False])))
    'log likelihood ratio = 0.9082 × score −0.4541'
    """
    same_length(scores, target)
    known = ~np.isnan(scores)
    scores, target = np.clip(scores[known], -_LARGEST, _LARGEST), target[known]
    counts = np.array([np.sum(~target), np.sum(target)], dtype=np.float64)
    if not counts.all():
        raise ValueError("A calibration is fitted on trials of both kinds.")
    centre, scale = scores.mean(), scores.std()
    if scale <= 1e-12 * np.abs(scores).max():
        return AffineCalibration(0.0, 0.0)
    kinds = target.astype(np.intp)
    labels = (np.array([1.0, counts[1] + 1]) / (counts + 2))[kinds]
    shares = (1 / counts)[kinds]
    rows = np.stack([(scores - centre) / scale, np.ones(len(scores))])

    def cost(line: np.ndarray) -> float:
        value = line @ rows
        return float(shares @ (labels * np.logaddexp(0, -value) + (1 - labels) * np.logaddexp(0, value)))

    def gradient(line: np.ndarray) -> np.ndarray:
        return rows @ (shares * (special.expit(line @ rows) - labels))

    def curvature(line: np.ndarray) -> np.ndarray:
        likely = special.expit(line @ rows)
        return (rows * (shares * likely * (1 - likely))) @ rows.T

    start = np.zeros(2)
    line = optimize.minimize(cost, start, jac=gradient, hess=curvature, method="trust-exact", tol=1e-10).x
    slope = float(line[0] / scale)
    return AffineCalibration(slope, float(line[1] - slope * centre))


def bayes_threshold(p_target: float, c_miss: float, c_false_alarm: float) -> float:
    """Threshold of log-likelihood ratios above which accepting costs less, from a cost and nothing else.

    >>> bayes_threshold(0.5, 1.0, 1.0)
    0.0
    """
    return float(np.log(c_false_alarm * (1 - p_target) / (c_miss * p_target)))
