"""Permutation of speakers: how large the gap of a group is if its members could be any speakers.

Which speakers make up the group is drawn anew, and the gap computed each time from the speakers' sums, the
model's predictions left as they are. A gap that few drawn groups exceed does not come from which speakers
were recorded. No independence of segments is assumed, nothing about how predictions are distributed.

Good (2005), Permutation, parametric and bootstrap tests of hypotheses. Phipson and Smyth (2010), Permutation
p-values should never be zero. Besag and Clifford (1991), Sequential Monte Carlo p-values.

Conventions
-----------
- Blocks take the place of speakers where a suite resamples something else.
- Draws depend on the seed and the number of blocks; all tests of a column share them.
- All arrangements are looked at if there are few enough of them, and then the p-value is exact.
"""

import functools
import itertools
import math
from collections.abc import Iterator

import numpy as np

from soundcheck.common import seeds
from soundcheck.metrics.additive import Statistic
from soundcheck.statistics.rules import WITHIN, one_sided

DRAWS = 2000  # arrangements that every test gets
EXACT = 20_000  # arrangements up to which all of them are looked at
MOST = 20_000  # arrangements that a test gets of which few are as extreme
ENOUGH = 20  # arrangements as extreme after which no more are drawn
_SAME = 1e-9  # relative difference below which gaps are alike: float noise


def arrangements(blocks: int, members: int, seed: int, most: int = MOST) -> Iterator[np.ndarray]:
    """Give which blocks make up the group, some arrangements at a time."""
    if math.comb(blocks, members) <= EXACT:
        chosen = np.array(list(itertools.combinations(range(blocks), members)))
        masks = np.zeros((len(chosen), blocks), dtype=bool)
        np.put_along_axis(masks, chosen, True, axis=1)
        yield masks
        return
    for piece in range(-(-most // DRAWS)):  # whoever comes first in a random order
        yield _orders(blocks, piece, seed) < members


@functools.lru_cache(maxsize=16)
def _orders(blocks: int, piece: int, seed: int) -> np.ndarray:
    rng = seeds.generator(seed, "permutation", blocks, piece)
    orders = np.tile(np.arange(blocks, dtype=np.uint32), (DRAWS, 1))
    return rng.permuted(orders, axis=1, out=orders)


def least_p_value(blocks: int, members: int, rule: str = WITHIN) -> float | None:
    """Give the smallest p-value that so many blocks can give; ``None`` if arrangements are drawn.

    >>> round(least_p_value(10, 5), 4)
    0.0079
    """
    count = math.comb(blocks, members)
    if count > EXACT:
        return None
    return (2 if 2 * members == blocks and not one_sided(rule) else 1) / count


def permuted_p_values(
    statistic: Statistic,
    sums: np.ndarray,
    group: np.ndarray,
    spread: np.ndarray,
    *,
    seed: int = 0,
    rule: str = WITHIN,
    most: int = MOST,
) -> np.ndarray:
    """Compute how often a drawn group differs from the others as much as the group does."""
    group = np.asarray(group, dtype=bool)
    total = sums.sum(axis=0)

    def gaps(members: np.ndarray) -> np.ndarray:
        of_group = members.astype(np.float64) @ sums
        gaps = statistic.compute(of_group) - statistic.compute(total - of_group)
        return gaps if one_sided(rule) else np.abs(gaps)

    observed = gaps(group[np.newaxis])[0]
    size = np.zeros(len(observed))  # how large a drawn gap must be
    counts, extremes = np.zeros((2, len(observed)))
    members = int(group.sum())
    exact = math.comb(len(group), members) <= EXACT
    for n, piece in enumerate(arrangements(len(group), members, seed, most)):
        drawn = gaps(piece)
        defined = np.isfinite(drawn)
        if not n:
            observed = np.where(defined.mean(axis=0) < 0.9, np.nan, observed)
            size = observed * np.minimum(1.0, _ratio(drawn, defined, spread, one_sided(rule)))
            size = size - _SAME * np.abs(size) - 1e-12
        looking = np.isfinite(observed) & (extremes < ENOUGH)
        if not looking.any():
            break
        with np.errstate(invalid="ignore"):
            extremes[looking] += (drawn >= size)[:, looking].sum(axis=0)
        counts[looking] += defined[:, looking].sum(axis=0)
    p = extremes / np.maximum(counts, 1) if exact else (extremes + 1) / (counts + 1)
    return np.where(np.isfinite(observed), np.minimum(p, 1.0), np.nan)


def _ratio(drawn: np.ndarray, defined: np.ndarray, spread: np.ndarray, signed: bool) -> np.ndarray:
    """Divide the standard deviation of drawn gaps by that of the gap itself."""
    # Sizes of gaps around 0 have their root mean square as standard deviation.
    squares = np.where(defined, drawn, 0.0) ** 2
    sd = np.sqrt(squares.sum(axis=0) / np.maximum(defined.sum(axis=0), 1))
    if signed:
        sd = np.std(drawn, axis=0, where=defined)
    spread = np.asarray(spread, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, sd / spread, 1.0)
