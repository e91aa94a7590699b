"""Draws of the blockwise bootstrap: which blocks there are, and how often each is in a replicate.

Conventions
-----------
- The draws depend on the seed and the number of blocks alone; more replicates continue the same draws.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds

REPLICATES = 1000

_CACHED_WEIGHTS = 2**25  # entries; larger matrices are drawn again instead of kept
_CHUNK = 2**21  # weights that are multiplied at a time, 16 MB as float64
_DRAWN_AT_ONCE = 8192  # draws whose counts stay in the processor's cache
_SUMS_AT_ONCE = 2**24  # sums of replicates that are held at a time, 128 MB


def block_codes(names: Sequence[object]) -> tuple[np.ndarray, int]:
    """Give each block a number, in the order of the sorted names; and say how many there are."""
    codes, unique = pd.factorize(pd.Series(names), use_na_sentinel=True)
    if (codes < 0).any():
        raise ValueError(f"{int((codes < 0).sum())} of {len(codes)} segments have no block.")
    rank = np.empty(len(unique), dtype=np.int64)
    rank[np.argsort(np.asarray(unique, dtype=object), kind="stable")] = np.arange(len(unique))
    return rank[codes], len(unique)


def blocks_of(table: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Give each row of a segment table its block: a combination of the values of some columns.

    >>> rows = pd.DataFrame({"meeting": ["b", "a", "b", "b"], "speaker": ["x", "x", "y", "x"]})
    >>> blocks_of(rows, ["meeting", "speaker"]).tolist()
    [1, 0, 2, 1]
    """
    codes = np.zeros(len(table), dtype=np.int64)
    for name in columns if set(columns) <= set(table.columns) else ["file"]:
        of_column, n = block_codes(table[name].to_numpy(dtype=object))
        codes, _ = block_codes(codes * n + of_column)
    return codes


def every_segment(n: int) -> np.ndarray:
    """Make each of ``n`` segments its own block: the ordinary bootstrap, for comparison."""
    return np.arange(n)


def weights(n_blocks: int, replicates: int = REPLICATES, seed: int = 0) -> np.ndarray:
    """Draw how often each block is in each replicate."""
    if replicates * n_blocks <= _CACHED_WEIGHTS:
        return _kept_weights(n_blocks, replicates, seed)
    return _draw(seeds.generator(seed, "bootstrap", n_blocks), n_blocks, replicates)


@functools.lru_cache(maxsize=8)
def _kept_weights(n_blocks: int, replicates: int, seed: int) -> np.ndarray:
    return _draw(seeds.generator(seed, "bootstrap", n_blocks), n_blocks, replicates)


def _draw(rng: np.random.Generator, n_blocks: int, replicates: int) -> np.ndarray:
    counts = np.empty((replicates, n_blocks), dtype=np.uint16)
    rows = max(1, _DRAWN_AT_ONCE // max(1, n_blocks))  # the draws do not depend on it
    place = n_blocks * np.arange(min(rows, replicates), dtype=np.int32)[:, None]
    for first in range(0, replicates, rows):
        some = counts[first : first + rows]
        drawn = rng.integers(n_blocks, size=some.shape, dtype=np.int32)
        drawn += place[: len(some)]
        some[:] = np.bincount(drawn.ravel(), minlength=some.size).reshape(some.shape)
    counts.setflags(write=False)
    return counts


def products(sums: np.ndarray, replicates: int, seed: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Multiply the weights with ``sums (n_blocks, k)`` in pieces that bound memory; ``(piece, k)`` each."""
    n_blocks, k = sums.shape
    rows = max(1, min(_CHUNK // n_blocks, _SUMS_AT_ONCE // max(1, k)))
    keep = replicates * n_blocks <= _CACHED_WEIGHTS
    rng = seeds.generator(seed, "bootstrap", n_blocks)
    for first in range(0, replicates, rows):
        piece = slice(first, min(first + rows, replicates))
        drawn = (
            weights(n_blocks, replicates, seed)[piece] if keep else _draw(rng, n_blocks, piece.stop - first)
        )
        yield piece, drawn.astype(np.float64) @ sums
