r"""Scores of trials: cosines of embeddings, and scores measured against those of other speakers, the cohort.

Conventions
-----------
- Only the direction of an embedding counts, not its length. An embedding with a number that is missing or
  infinite, or without length, has no direction, and what is compared with it has no score (NaN).
- Lengths and cosines are sums in a fixed order over the dimensions of one pair. So a score does not depend on
  the other pairs, on the order of the two sides or on the processor.
- Embeddings are float ``(rows, d)``; trials and members name their rows by whole numbers.
"""

from __future__ import annotations

import numpy as np
import scipy  # scipy.sparse is loaded when first used

NORMS = ("z-norm", "t-norm", "s-norm", "adaptive s-norm")

_AT_A_TIME = 2**17  # numbers that are multiplied at a time, 1 MB; they stay in the cache
_SAME = 1e-12  # relative; deviations below are those of equal numbers


def cosine_scores(
    enrolled: np.ndarray, tested: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Cosine of the angle between the two embeddings of each trial, float64 ``(T,)``.

    - ``enrolled, tested``: embeddings; may be the same array.
    - ``first, second``: for each trial the row of ``enrolled`` and that of ``tested``.

    >>> cosine_scores(np.eye(2), np.array([[3.0, 4.0]]), np.array([0, 1]), np.array([0, 0])).tolist()
    [0.6, 0.8]
    """
    if enrolled.shape[1] != tested.shape[1]:
        raise ValueError(
            f"Embeddings of {enrolled.shape[1]} dimensions do not fit those of {tested.shape[1]}."
        )
    one = _directions(enrolled)
    other = one if tested is enrolled else _directions(tested)
    scores = np.empty(len(first))
    for part in _parts(len(first), enrolled.shape[1]):
        products = one.take(first[part], axis=0)
        products *= other.take(second[part], axis=0)
        scores[part] = products.sum(axis=1)
    return np.clip(scores, -1.0, 1.0, out=scores)


def mean_directions(
    embeddings: np.ndarray, members: np.ndarray, member_of: np.ndarray, count: int
) -> np.ndarray:
    """Average the embeddings of each enrolment's members, each brought to length 1 before.

    - ``members``: rows that belong to an enrolment; one that is listed twice for it counts twice.
    - ``member_of``: number of the enrolment that each member belongs to, from 0 to ``count - 1``.
    - Returns float64 ``(count, d)``, of length 1 or less. Members without direction are passed over; NaN
      where none is left.

    >>> mean_directions(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([0, 1]), np.array([0, 0]), 1).tolist()
    [[0.5, 0.5]]
    """
    units = _directions(embeddings)
    usable = ~np.isnan(units).any(axis=1)
    units[~usable] = 0.0
    members, member_of = (each[usable[members]] for each in (members, member_of))
    belonging = scipy.sparse.csr_array(
        (np.ones(len(members)), (member_of, members)), shape=(count, len(units))
    )
    counts = np.bincount(member_of, minlength=count)[:, np.newaxis]
    means = np.full((count, embeddings.shape[1]), np.nan)
    return np.divide(belonging @ units, counts, out=means, where=counts > 0)


def _parts(rows: int, dimensions: int) -> list[slice]:
    at_a_time = max(1, _AT_A_TIME // max(1, dimensions))
    return [slice(start, start + at_a_time) for start in range(0, rows, at_a_time)]


def _directions(embeddings: np.ndarray) -> np.ndarray:
    """Bring embeddings to length 1, float64; a row of NaN where there is no direction."""
    units = np.empty(embeddings.shape)
    for part in _parts(*embeddings.shape):
        rows = embeddings[part].astype(np.float64, order="C")
        largest = np.maximum(rows.max(axis=1, initial=0.0), -rows.min(axis=1, initial=0.0))
        largest[~np.isfinite(largest) | (largest == 0)] = np.nan
        rows /= largest[:, np.newaxis]  # so that squares neither overflow nor vanish
        rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
        units[part] = rows
    return units


def normalised_scores(
    scores: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    enrolled: np.ndarray,
    tested: np.ndarray,
    top: int,
) -> dict[str, np.ndarray]:
    r"""Normalise the scores of trials in all ways, name of :data:`NORMS` -> float64 ``(N,)``.

    With the mean and the standard deviation (divisor the number of scores) of what a side scores against the
    cohort, :math:`z = (s - \mu_e) / \sigma_e` of the enrolled side, and :math:`t` likewise of the tested
    side: ``z-norm`` is :math:`z`, ``t-norm`` is :math:`t`, ``s-norm`` is :math:`(z + t) / 2`, and ``adaptive
    s-norm`` is the same with the highest scores of each side only. Auckenthaler, Carey and Lloyd-Thomas
    (2000), Score normalization for text-independent speaker verification systems; Kenny (2010), Bayesian
    speaker verification with heavy-tailed priors; Matejka et al. (2017), Analysis of score normalization in
    multilingual speaker recognition.

    - ``first, second``: rows of ``enrolled`` and of ``tested`` that a trial compares.
    - ``enrolled, tested``: scores of each side against the cohort, float64 ``(rows, cohort)``.
    - ``top``: how many of the highest scores the adaptive way looks at, at least 2; all if the cohort is
      smaller.
    - Returns NaN where a side scores the same against all of the cohort, or has no score against it.

    >>> cohort, row = np.array([[0.0, 0.2]]), np.array([0])
    >>> normalised_scores(np.array([0.4]), row, row, cohort, cohort, 2)["s-norm"].round(9).tolist()
    [3.0]
    """
    if min(enrolled.shape[1], tested.shape[1], top) < 2:
        raise ValueError("A cohort has at least 2 speakers.")
    z, t = _against(scores, first, enrolled), _against(scores, second, tested)
    highest = [np.sort(cohort, axis=1)[:, -top:] for cohort in (enrolled, tested)]
    adaptive = _against(scores, first, highest[0]), _against(scores, second, highest[1])
    return dict(zip(NORMS, (z, t, (z + t) / 2, sum(adaptive) / 2), strict=True))


def _against(scores: np.ndarray, rows: np.ndarray, cohort: np.ndarray) -> np.ndarray:
    """Say by how many standard deviations scores lie above those of one side, float64 ``(N,)``."""
    mean, deviation = cohort.mean(axis=1), cohort.std(axis=1)
    deviation[deviation <= _SAME * np.abs(mean)] = np.nan
    return (scores - mean[rows]) / deviation[rows]
