r"""Scores of trials measured against scores of other speakers, the cohort.

Auckenthaler, Carey and Lloyd-Thomas (2000), Score normalization for text-independent speaker verification
systems; Kenny (2010), Bayesian speaker verification with heavy-tailed priors, for the symmetric one; Matejka
et al. (2017), Analysis of score normalization in multilingual speaker recognition, for the adaptive one.

Conventions
-----------
With the mean and the standard deviation (divisor the number of scores) of what a side scores against the
cohort, :math:`z = (s - \mu_e) / \sigma_e` of the enrolled side, and :math:`t` likewise of the tested side:

- ``z-norm`` is :math:`z`, ``t-norm`` is :math:`t`;
- ``s-norm`` is :math:`(z + t) / 2`;
- ``adaptive s-norm`` is the same with the highest scores of each side only.
"""

from __future__ import annotations

import numpy as np

_SAME = 1e-12  # relative; deviations below are those of equal numbers
NORMS = ("z-norm", "t-norm", "s-norm", "adaptive s-norm")


def normalised_scores(
    scores: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    enrolled: np.ndarray,
    tested: np.ndarray,
    top: int,
) -> dict[str, np.ndarray]:
    """Normalise the scores of trials in all ways.

    - ``scores``: float64 ``(N,)``; NaN if missing.
    - ``first, second``: rows of ``enrolled`` and of ``tested`` that a trial compares, whole numbers ``(N,)``.
    - ``enrolled, tested``: scores of each side against the cohort, float64 ``(E, cohort)`` and ``(T,
      cohort)``.
    - ``top``: how many of the highest scores the adaptive way looks at, at least 2; all if the cohort is
      smaller.
    - Returns name, of :data:`NORMS` -> float64 ``(N,)``; NaN where a side scores the same against all of the
      cohort, or has no score against it.
    - Raises ValueError: if the cohort or ``top`` has fewer than 2.
    """
    if min(enrolled.shape[1], tested.shape[1], top) < 2:
        raise ValueError("A cohort has at least 2 speakers.")
    z, t = _against(scores, first, enrolled), _against(scores, second, tested)
    above = _against(scores, first, _highest(enrolled, top)), _against(scores, second, _highest(tested, top))
    return dict(zip(NORMS, (z, t, (z + t) / 2, sum(above) / 2), strict=True))


def _against(scores: np.ndarray, rows: np.ndarray, cohort: np.ndarray) -> np.ndarray:
    """Say by how many standard deviations scores lie above those of one side, float64 ``(N,)``."""
    mean, deviation = cohort.mean(axis=1), cohort.std(axis=1)
    deviation[deviation <= _SAME * np.abs(mean)] = np.nan
    return (scores - mean[rows]) / deviation[rows]


def _highest(cohort: np.ndarray, top: int) -> np.ndarray:
    return np.sort(cohort, axis=1)[:, -top:]
