r"""From scores of trials to log-likelihood ratios: logistic regression with one slope and one offset.

Bruemmer and du Preez (2006), Application-independent evaluation of speaker detection; Platt (1999),
Probabilistic outputs for support vector machines.

Conventions
-----------
- Both kinds of trials weigh the same however many there are, so that the fitted values are natural
  logarithms of likelihood ratios and not of odds.
- Labels are those of Platt: a target counts as a non-target with a weight of 1 in its number plus 2, and the
  other way round. Scores that separate the kinds would have an infinite slope otherwise.
- Fitted on some speakers and read on others; on the same trials costs would be too low.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import optimize, special

from soundcheck.metrics.additive import same_length

_LARGEST = 1e100  # scores beyond count as this, as for costs; see soundcheck.metrics.calibration


@dataclasses.dataclass(frozen=True)
class AffineCalibration:
    """A straight line from scores to log-likelihood ratios.

    - ``slope, offset``: log-likelihood ratio per score, and that of the score 0.
    """

    slope: float
    offset: float

    def __str__(self) -> str:
        return f"log likelihood ratio = {self.slope:.4g} × score {self.offset:+.4g}".replace("-", "−")

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Give natural logarithms of likelihood ratios, float64 ``(N,)``; NaN stays NaN."""
        return self.slope * np.clip(scores, -_LARGEST, _LARGEST) + self.offset


def fit_calibration(scores: np.ndarray, target: np.ndarray) -> AffineCalibration:
    r"""Fit the line for which both kinds of trials together cost least.

    .. math:: \sum_k \frac{1}{N_k} \sum_{i \in k} y_k \ln (1 + e^{-(a s_i + b)})
              + (1 - y_k) \ln (1 + e^{a s_i + b})

    over targets with :math:`y = (N + 1) / (N + 2)` and non-targets with :math:`y = 1 / (N + 2)`.

    - ``scores``: float64 ``(N,)``; those that are NaN are left out.
    - ``target``: bool ``(N,)``; whether both recordings are of the same speaker.
    - Returns slope and offset 0 if all scores are equal, which says nothing about any trial.
    - Raises ValueError: if lengths differ, or one of the kinds has no trial with a score.
    """
    same_length(scores, target)
    there = ~np.isnan(scores)
    scores, target = np.clip(scores[there], -_LARGEST, _LARGEST), target[there]
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
    found = optimize.minimize(cost, start, jac=gradient, hess=curvature, method="trust-exact", tol=1e-10)
    slope = float(found.x[0] / scale)
    return AffineCalibration(slope, float(found.x[1] - slope * centre))


def bayes_threshold(p_target: float, c_miss: float, c_false_alarm: float) -> float:
    """Threshold of log-likelihood ratios above which accepting costs less, from a cost and nothing else."""
    return float(np.log(c_false_alarm * (1 - p_target) / (c_miss * p_target)))
