"""Exact sums: numbers are put on binary grids so coarse that adding them up rounds nothing.

If ``|x| < 2**e`` and at most ``2**b`` of them are added, then multiples of ``2**(e + b - 52)`` add up without
rounding in float64. What a grid cuts off goes to a second, finer one; what that cuts off is below
``2**(2 * (e + b - 52) - 1 - e)``, far under the precision of a float64 for any data that fit in memory. Exact
sums do not depend on the order of the segments, on the number of threads or on the processor.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_PIECE = 2**15  # numbers that are split at a time: they and what they are split into stay in the cache
_FINE = 2.0**-45  # of the largest number; finer parts of numbers need no layer of their own


def largest(array: np.ndarray) -> float:
    """Find the largest size of the numbers, 0 if there are none, NaN if one is; makes no array of sizes."""
    return max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))


def _anchor(size: float, bits: int) -> float:
    """Give 1.5 * 2**52 units of the grid; adding and subtracting it rounds to the nearest unit."""
    return np.ldexp(1.5, max(int(np.frexp(size)[1]), -900) + bits)


def _on_grid(values: np.ndarray, anchor: float) -> np.ndarray:
    found = values + anchor
    found -= anchor
    return found


def layers(values: np.ndarray, terms: int) -> Iterator[np.ndarray]:
    """Split numbers into up to three layers that sum to them.

    - ``values``: float64 ``(N,)``, finite.
    - ``terms``: the most of them that are added up, each as often as it is.
    - Yields ``(N,)``; sums of its numbers are exact.
    """
    size = most = largest(values)
    for _ in range(3):
        if size <= _FINE * most:
            return
        found = _on_grid(values, _anchor(size, terms.bit_length()))
        yield found
        values = values - found
        size = largest(values)


def block_layers(column: np.ndarray, blocks: np.ndarray, n_blocks: int, terms: int) -> list[np.ndarray]:
    """Split numbers into one or two layers and sum each block's, a piece at a time.

    - ``column``: float64 ``(N,)``, finite.
    - ``blocks``: integer ``(N,)``; the block of each number, from 0.
    - ``terms``: the most numbers that a replicate adds up.
    - Returns exact sums ``(n_blocks,)`` of each layer.
    """
    bits = max(1, int(terms - 1).bit_length())
    sums: list[np.ndarray] = []
    rest, size = column, largest(column)
    while len(sums) < 2 and size > 0.0:
        anchor, size = _anchor(size, bits), 0.0
        found, cut_off = np.zeros(n_blocks), np.empty(0 if sums else len(column))
        for start in range(0, len(column), _PIECE):
            piece = slice(start, start + _PIECE)
            on_grid = _on_grid(rest[piece], anchor)
            np.add.at(found, blocks[piece], on_grid)
            if not sums:
                size = max(size, largest(np.subtract(rest[piece], on_grid, out=cut_off[piece])))
        rest = cut_off
        sums.append(found)
    return sums
