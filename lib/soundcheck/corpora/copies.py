"""Recordings that are there twice: the same sound at another gain, in another format, or cut at its ends.

Conventions
-----------
- Fingerprints (:mod:`soundcheck.corpora.measures.fingerprint`) that share parts of codes at the same distance
  in time are candidates; nothing else is compared. Of many that share a part each is compared with the next,
  so that the work grows with the number of codes and not with its square, whatever is copied how often.
- Two sounds are copies if at most 15 % of the bits differ where they overlap, and they overlap by 80 % of the
  shorter one and by at least 20 codes (0.32 s) that tell something. Different recordings differ in half of
  their bits; the closest that were seen differ in 32 %.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # scipy.sparse is loaded when first used

FEWEST = 20  # codes that tell something, of a sound that can be compared
DIFFERENT = 0.15  # of the bits, at most
OVERLAP = 0.8  # of the codes of the shorter one
PARTS = (0, 5, 10)  # first bits of the parts of a code that are looked up
PART = 22  # bits of a part
VOTES = 2  # parts in common that make a candidate


def copies(sounds: Sequence[np.ndarray]) -> np.ndarray:
    """Find pairs of sounds that are the same recording.

    - ``sounds``: codes of each sound, uint32 ``(moments,)``; see
      :func:`soundcheck.corpora.measures.fingerprint.codes`.
    - Returns int64 ``(pairs, 2)``, numbers of two sounds, the smaller first. Copies of copies are connected,
      but not every pair of them need be there: see :func:`together`.
    """
    lengths = np.array([len(own) for own in sounds], dtype=np.int64)
    if lengths.sum() == 0:
        return np.empty((0, 2), dtype=np.int64)
    every = np.concatenate(list(sounds)).astype(np.uint64)
    sound = np.repeat(np.arange(len(sounds)), lengths)
    moment = np.arange(len(every)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    telling = np.flatnonzero(every)
    span = 2 * int(lengths.max()) + 1  # distances in time that two sounds can have
    votes = []
    for bit in PARTS:
        part = (every[telling] >> np.uint64(bit)) & np.uint64(2**PART - 1)
        order = np.lexsort((telling, part))
        part, at = part[order], telling[order]
        near = (part[1:] == part[:-1]) & (sound[at[1:]] != sound[at[:-1]])
        first, second = at[:-1][near], at[1:][near]
        distance = moment[second] - moment[first] + span // 2
        votes.append((sound[first] * len(sounds) + sound[second]) * span + distance)
    candidates, counts = np.unique(np.concatenate(votes), return_counts=True)
    candidates = candidates[counts >= VOTES]
    pairs, distances = candidates // span, candidates % span - span // 2
    found = {
        (int(pair // len(sounds)), int(pair % len(sounds)))
        for pair, distance in zip(pairs, distances, strict=True)
        if _same(sounds[pair // len(sounds)], sounds[pair % len(sounds)], int(distance))
    }
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _same(first: np.ndarray, second: np.ndarray, distance: int) -> bool:
    """Say whether two sounds are the same recording, the second shifted by some codes against the first."""
    begin, length = max(0, -distance), min(len(first), len(second) - distance) - max(0, -distance)
    if length < OVERLAP * min(len(first), len(second)):
        return False
    one, other = first[begin : begin + length], second[begin + distance : begin + distance + length]
    telling = (one != 0) & (other != 0)
    if telling.sum() < FEWEST:
        return False
    return bool(np.bitwise_count(one[telling] ^ other[telling]).mean() <= 32 * DIFFERENT)


def together(pairs: np.ndarray, count: int) -> np.ndarray:
    """Give the number of each sound's recording, int ``(count,)``: what pairs connect is one."""
    ones = np.ones(len(pairs), dtype=bool)
    links = scipy.sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return scipy.sparse.csgraph.connected_components(links, directed=False)[1]
