"""How alike embeddings are: cosines of pairs, and what an enrolment of several recordings is compared by.

Conventions
-----------
- Only the direction of an embedding counts, not its length. An embedding with a number that is missing or
  infinite, or without length, has no direction, and what is compared with it has no score (NaN).
- Lengths and cosines are sums in a fixed order over the dimensions of one pair. So a score does not depend on
  the other pairs, on the order of the two sides or on the processor.
"""

from __future__ import annotations

import numpy as np
import scipy  # scipy.sparse is loaded when first used

_AT_A_TIME = 2**17  # numbers that are multiplied at a time, 1 MB; they stay in the cache


def cosine_scores(
    enrolled: np.ndarray, tested: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Compute the cosine of the angle between the two embeddings of each trial.

    - ``enrolled``: embeddings of enrolments, ``(E, d)``.
    - ``tested``: embeddings of tested recordings, ``(N, d)``; may be the same array.
    - ``first, second``: for each trial the row of ``enrolled`` and that of ``tested``, whole numbers
      ``(T,)``.
    - Returns float64 ``(T,)``, from -1 to 1; NaN where a side has no direction.
    """
    enrolled, tested = np.asarray(enrolled), np.asarray(tested)
    first, second = _indices(first, enrolled), _indices(second, tested)
    if enrolled.shape[1] != tested.shape[1]:
        raise ValueError(
            f"Embeddings of {enrolled.shape[1]} dimensions do not fit those of {tested.shape[1]}."
        )
    if len(first) != len(second):
        raise ValueError(f"{len(first)} enrolments do not fit {len(second)} tests.")
    one = _directions(enrolled)
    other = one if tested is enrolled else _directions(tested)
    scores = np.empty(len(first))
    at_a_time = max(1, _AT_A_TIME // enrolled.shape[1])
    for start in range(0, len(first), at_a_time):
        part = slice(start, start + at_a_time)
        products = one.take(first[part], axis=0)
        products *= other.take(second[part], axis=0)
        scores[part] = products.sum(axis=1)
    return np.clip(scores, -1.0, 1.0, out=scores)


def mean_directions(
    embeddings: np.ndarray, members: np.ndarray, member_of: np.ndarray, count: int
) -> np.ndarray:
    """Average the embeddings of each enrolment's members, each brought to length 1 before.

    - ``embeddings``: embeddings of recordings, ``(N, d)``.
    - ``members``: rows of ``embeddings`` that belong to an enrolment, whole numbers ``(M,)``; one that is
      listed twice for an enrolment counts twice.
    - ``member_of``: number of the enrolment that each member belongs to, from 0 to ``count - 1``, ``(M,)``.
    - Returns float64 ``(count, d)``, of length 1 or less. Members without direction are passed over; NaN
      where none is left.
    """
    embeddings = np.asarray(embeddings)
    members = _indices(members, embeddings)
    member_of = _indices(member_of, np.empty((count, 0)))
    if len(members) != len(member_of):
        raise ValueError(f"{len(members)} members do not fit {len(member_of)} enrolments.")
    units = _directions(embeddings)
    usable = ~np.isnan(units).any(axis=1)
    units[~usable] = 0.0
    kept = usable[members]
    belonging = scipy.sparse.csr_array(
        (np.ones(int(kept.sum())), (member_of[kept], members[kept])), shape=(count, len(units))
    )
    counts = np.bincount(member_of[kept], minlength=count)[:, np.newaxis]
    means = np.full((count, embeddings.shape[1]), np.nan)
    return np.divide(belonging @ units, counts, out=means, where=counts > 0)


def _indices(indices: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Make sure that there are embeddings, and that indices point to them."""
    indices = np.asarray(indices)
    if rows.ndim != 2:
        raise ValueError(f"One row an embedding is needed, not an array of shape {rows.shape}.")
    if indices.ndim != 1 or (len(indices) and indices.dtype.kind not in "iu"):
        raise ValueError("Indices are whole numbers, one a trial or member.")
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(rows):
        raise ValueError(f"Indices are whole numbers from 0 to {len(rows) - 1}.")
    return indices.astype(np.intp, copy=False)


def _directions(embeddings: np.ndarray) -> np.ndarray:
    """Bring embeddings to length 1, float64; a row of NaN where there is no direction."""
    if embeddings.shape[1] == 0:
        raise ValueError("Embeddings have at least one dimension.")
    units = np.empty(embeddings.shape)
    at_a_time = max(1, _AT_A_TIME // embeddings.shape[1])
    for start in range(0, len(units), at_a_time):
        part = slice(start, start + at_a_time)
        own = embeddings[part].astype(np.float64, order="C")
        largest = np.maximum(own.max(axis=1, initial=0.0), -own.min(axis=1, initial=0.0))
        largest[~np.isfinite(largest) | (largest == 0)] = np.nan
        own /= largest[:, np.newaxis]  # so that squares neither overflow nor vanish
        own /= np.sqrt(np.square(own).sum(axis=1, keepdims=True))
        units[part] = own
    return units
