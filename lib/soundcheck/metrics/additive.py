"""Additive statistics: contributions that may be summed, and a function that computes values from sums.

A metric is a vector of contributions a segment (moments, confusion cells, counts) and a function of their
sums. So a value, a value of a group, a difference between groups, a change under noise and a difference
between two models are the same thing: sums, then ``compute``. Resampling whole blocks needs only block sums.

Conventions
-----------
- A statistic covers ``N`` segments in fixed order, has ``k`` sums and ``m`` values, one a label
  (class, bin; ``""`` if there is a single value).
- ``compute`` and ``count`` map sums of shape ``(..., k)`` to ``(..., m)`` over any leading axes, so that one
  call serves the whole data set, all blocks or all replicates.
- Only segments in ``rows`` contribute; those in ``missing_predictions`` would, had the model predicted.
- Values are rounded to 12 significant digits, below which float noise begins: a mean absolute error of
  exactly 0.1 is 0.1 and not 0.09999999999999998, and the verdict is the same for the stored value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from soundcheck.common.precision import seven_digits
from soundcheck.metrics.exact import block_layers, largest

DIGITS = 12  # significant digits of values; float64 carries 15 to 17, sums of many terms fewer
MISSING_REFUSED = 0.5  # proportion of labelled segments without prediction above which there is no value
MISSING_NOTED = 0.05  # proportion above which a note says so

_NOISE = 1e-14  # values are of the order of 1
_STEP = 1e-6  # of numerical gradients, relative to the sum of absolute contributions
_AT_A_TIME = 64  # sums that are moved at a time for a gradient
_LARGEST = 1e100  # numbers beyond are treated as not finite: their squares and sums would overflow

Finish = Callable[[np.ndarray], np.ndarray]
Reasons = Callable[[np.ndarray], tuple[str, ...]]


def _none(_: np.ndarray) -> tuple[str, ...]:
    return ()


@dataclasses.dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions of ``N`` segments to some of the sums."""

    rows: np.ndarray  # bool ``(N,)``; which segments contribute
    missing_predictions: np.ndarray  # bool ``(N,)``; which would, had the model answered

    @property
    def size(self) -> int:
        """Number of sums."""
        raise NotImplementedError

    def exact_sums(self, blocks: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum the contributions of each block.

        - ``blocks``: integer ``(N,)``; the block of each segment, from 0. Only the contributing ones are
          looked at.
        - Returns high and low layer, float64 ``(n_blocks, size)``; both exact, also when ``n_blocks`` blocks
          are drawn with replacement and summed. The sums are high plus low.
        """
        raise NotImplementedError

    def totals(self) -> np.ndarray:
        """Sum the contributions and their absolute values, not exactly, float64 ``(2, size)``."""
        raise NotImplementedError

    def project(self, gradient: np.ndarray) -> np.ndarray:
        """Multiply the contributions of each segment with a gradient ``(size, m)``: float64 ``(N, m)``."""
        found = np.zeros((gradient.shape[1], len(self.rows)))  # values of all segments side by side
        rows = self._contributing()
        found[:, rows] = self._projected(rows, gradient)
        return found.T

    def _projected(self, rows: np.ndarray | slice, gradient: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def restrict(self, mask: np.ndarray) -> Contributions:
        """Keep the segments of a mask."""
        return dataclasses.replace(
            self, rows=self.rows & mask, missing_predictions=self.missing_predictions & mask
        )

    def _contributing(self) -> np.ndarray | slice:
        """Give what selects the contributing segments from an array; no copies if all of them do."""
        return slice(None) if self.rows.all() else np.flatnonzero(self.rows)


@dataclasses.dataclass(frozen=True, eq=False)
class Columns(Contributions):
    """Contributions as dense columns; the first sum is always the number of contributing segments."""

    # float64 arrays ``(N,)``, finite where ``rows``; ``size`` is one more than their number
    columns: tuple[np.ndarray, ...] = ()

    @property
    def size(self) -> int:
        """Number of sums, the count included."""
        return 1 + len(self.columns)

    def exact_sums(self, blocks: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum each block's columns; see :meth:`Contributions.exact_sums`."""
        rows = self._contributing()
        blocks = np.asarray(blocks[rows], dtype=np.intp)  # once, instead of for each column
        counts = np.bincount(blocks, minlength=n_blocks)
        high, low = np.zeros((2, n_blocks, self.size))
        high[:, 0] = counts
        terms = n_blocks * int(counts.max(initial=0))  # the most that a replicate can add up
        for n, column in enumerate(self.columns, start=1):
            sums = block_layers(column[rows], blocks, n_blocks, terms)
            for layer, found in zip((high, low), sums, strict=False):
                layer[:, n] = found
        return high, low

    def totals(self) -> np.ndarray:
        """Sum contributions and their absolute values; see :meth:`Contributions.totals`."""
        rows = self._contributing()
        found = np.full((2, self.size), np.count_nonzero(self.rows), dtype=np.float64)
        for n, column in enumerate(self.columns, start=1):
            own = column[rows]
            found[:, n] = own.sum(), np.abs(own).sum()
        return found

    def _projected(self, rows: np.ndarray | slice, gradient: np.ndarray) -> np.ndarray:
        found = np.repeat(gradient[:1].T, np.count_nonzero(self.rows), axis=1)
        for slopes, column in zip(gradient[1:], self.columns, strict=True):
            own = column[rows]
            for values, slope in zip(found, slopes, strict=True):
                if slope:
                    values += slope * own
        return found


@dataclasses.dataclass(frozen=True, eq=False)
class Cells(Contributions):
    """Contributions as one of ``size`` cells a segment: confusion matrices, histograms, proportions."""

    # integer ``(N,)``, in ``[0, n_cells)`` where ``rows``; small integer types save memory
    cells: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, np.intp))
    n_cells: int = 0

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.n_cells

    def exact_sums(self, blocks: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Count each block's segments a cell; see :meth:`Contributions.exact_sums`."""
        rows = self._contributing()
        place = blocks[rows].astype(np.int64)
        place *= self.n_cells
        place += self.cells[rows]
        counts = np.bincount(place, minlength=n_blocks * self.n_cells)
        high = counts.reshape(n_blocks, self.n_cells).astype(np.float64)
        return high, np.zeros_like(high)

    def totals(self) -> np.ndarray:
        """Count the segments of each cell; see :meth:`Contributions.totals`."""
        return np.tile(np.bincount(self.cells[self._contributing()], minlength=self.n_cells) * 1.0, (2, 1))

    def _projected(self, rows: np.ndarray | slice, gradient: np.ndarray) -> np.ndarray:
        return gradient.T.take(self.cells[rows], axis=1)


@dataclasses.dataclass(frozen=True, eq=False)
class Tallies(Contributions):
    """Contributions as many whole numbers a segment; the first sum is the number of contributing segments."""

    # whole numbers as float64 ``(N, size - 1)``, small enough that no sum reaches 2**53
    tallies: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def size(self) -> int:
        """Number of sums, the count included."""
        return 1 + self.tallies.shape[1]

    def exact_sums(self, blocks: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum each block's numbers; see :meth:`Contributions.exact_sums`."""
        rows = np.flatnonzero(self.rows)
        high = np.zeros((n_blocks, self.size))
        order = rows[np.argsort(blocks[rows], kind="stable")]
        own, first = np.unique(blocks[order], return_index=True)
        if len(own):
            high[own, 1:] = np.add.reduceat(self.tallies[order], first, axis=0)
            high[own, 0] = np.diff([*first, len(order)])
        return high, np.zeros_like(high)

    def totals(self) -> np.ndarray:
        """Sum contributions and their absolute values; see :meth:`Contributions.totals`."""
        own = self.tallies[self.rows]
        sums = np.stack([own.sum(axis=0), np.abs(own).sum(axis=0)])
        return np.concatenate([np.full((2, 1), float(len(own))), sums], axis=1)

    def _projected(self, rows: np.ndarray | slice, gradient: np.ndarray) -> np.ndarray:
        return gradient[:1].T + gradient[1:].T @ self.tallies[rows].T


@dataclasses.dataclass(frozen=True, eq=False)
class Statistic:
    """Additive contributions of ``N`` segments and the functions of their sums."""

    # contributions; their sums, one part after the other, are the ``k`` sums
    parts: tuple[Contributions, ...]
    compute: Finish  # maps sums ``(..., k)`` to values ``(..., m)``; NaN where undefined
    count: Finish  # maps sums ``(..., k)`` to the number of segments ``(..., m)`` that each value rests on
    labels: tuple[str, ...] = ("",)  # names of the ``m`` values
    # maps the sums of all segments ``(k,)`` to ``m`` texts: why a value is undefined or must not be judged,
    # ``""`` if it is fine. An empty tuple stands for ``m`` times ``""``.
    reasons: Reasons = _none
    notes: Reasons = _none  # likewise: what a reader of the value must know, although it is fine

    def __post_init__(self) -> None:
        if len({len(part.rows) for part in self.parts}) != 1:
            raise ValueError("All parts of a statistic cover the same segments.")

    def __len__(self) -> int:
        return len(self.parts[0].rows)

    @property
    def size(self) -> int:
        """Number ``k`` of sums."""
        return sum(part.size for part in self.parts)

    @property
    def rows(self) -> np.ndarray:
        """Segments that contribute to any part, bool ``(N,)``."""
        return np.logical_or.reduce([part.rows for part in self.parts])

    def exact_sums(self, blocks: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum each block exactly, in two layers ``(n_blocks, k)``; see :meth:`Contributions.exact_sums`."""
        blocks = np.asarray(blocks)
        found = {part: part.exact_sums(blocks, n_blocks) for part in dict.fromkeys(self.parts)}
        high, low = zip(*(found[part] for part in self.parts), strict=True)
        return np.concatenate(high, axis=1), np.concatenate(low, axis=1)

    def block_sums(self, blocks: np.ndarray, n_blocks: int) -> np.ndarray:
        """Sum each block, float64 ``(n_blocks, k)``."""
        high, low = self.exact_sums(blocks, n_blocks)
        return high + low

    def sums(self) -> np.ndarray:
        """Sum all segments, float64 ``(k,)``."""
        return self.block_sums(np.zeros(len(self), dtype=np.intp), 1)[0]

    def influence(self) -> np.ndarray:
        """Give the change of each value, linearised, when one more copy of a segment is added.

        Returns float64 ``(N, m)``; 0 for segments that do not contribute, NaN where a value is undefined.
        """
        ends = np.cumsum([part.size for part in self.parts])[:-1]
        slopes = np.split(self._gradient(), ends)
        return sum(part.project(own) for part, own in zip(self.parts, slopes, strict=True))

    def _gradient(self) -> np.ndarray:
        """Differentiate the values at the sums, ``(k, m)``; 0 for sums to which no segment contributes."""
        found = {part: part.totals() for part in dict.fromkeys(self.parts)}
        sums, sizes = np.concatenate([found[part] for part in self.parts], axis=1)
        steps = _STEP * sizes
        found, value = np.zeros((len(sums), len(self.labels))), self.compute(sums)
        moving = np.flatnonzero(steps)
        for start in range(0, len(moving), _AT_A_TIME):
            chosen = moving[start : start + _AT_A_TIME]
            moved = np.zeros((len(chosen), len(sums)))
            moved[np.arange(len(chosen)), chosen] = steps[chosen]
            more, less = self.compute(sums + moved), self.compute(sums - moved)
            # A value may be defined on one side only: one segment less than two has no correlation.
            ends = np.where(np.isnan(more), value, more) - np.where(np.isnan(less), value, less)
            sides = 2.0 - np.isnan(more) - np.isnan(less)
            found[chosen] = ratio(ends, sides * steps[chosen, np.newaxis])
        return found

    def point(self, sums: np.ndarray | None = None) -> Point:
        """Compute the values from the sums of all segments.

        - ``sums``: the sums ``(k,)``, if they are known already.
        """
        if sums is None:
            sums = self.sums()
        m = len(self.labels)
        refusal, note = missing_predictions(self.parts)
        return checked_point(
            self.compute(sums),
            self.count(sums),
            [refusal or reason for reason in self.reasons(sums) or [""] * m],
            ["; ".join(filter(None, (text, note))) for text in self.notes(sums) or [""] * m],
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Point:
    """Values of a statistic without their intervals; all of length ``m``."""

    value: np.ndarray  # float64, 12 significant digits; NaN exactly where there is a reason
    segments: np.ndarray  # int64; segments that each value rests on
    reasons: tuple[str, ...]  # why there is no value, else ``""``
    notes: tuple[str, ...]  # what a reader of the value must know, else ``""``


def checked_point(
    value: np.ndarray, segments: np.ndarray, reasons: Sequence[str], notes: Sequence[str]
) -> Point:
    """Round values and make sure that each of them, and none else, is free of a reason against it."""
    value = round_significant(value)
    reasons = [
        reason or ("" if np.isfinite(v) else "undefined") for reason, v in zip(reasons, value, strict=True)
    ]
    value[[bool(reason) for reason in reasons]] = np.nan
    return Point(value, np.rint(segments).astype(np.int64), tuple(reasons), tuple(notes))


def missing_predictions(parts: Sequence[Contributions]) -> tuple[str, str]:
    """Say that too few segments have a prediction (reason), or that noticeably many have none (note)."""
    worst, text = 0.0, ""
    for part in parts:
        missing = int(np.count_nonzero(part.missing_predictions))
        wanted = missing + int(np.count_nonzero(part.rows))
        if missing and missing / wanted > worst:
            worst, text = missing / wanted, f"no prediction for {missing} of {wanted} segments"
    if worst > MISSING_REFUSED:
        return text, ""
    return "", text if worst > MISSING_NOTED else ""


class HasPoint(Protocol):
    """Anything with labels and values: additive statistics and the exceptions to them."""

    labels: tuple[str, ...]

    def point(self) -> Point:
        """Compute the values."""


def values(statistic: HasPoint) -> np.ndarray:
    """Compute the values, float64 ``(m,)``; NaN where undefined or skipped."""
    return statistic.point().value


def value(statistic: HasPoint) -> float:
    """Compute the value of a statistic that has a single one; NaN if undefined.

    >>> from soundcheck.metrics.regression import mean_absolute_error
    >>> value(mean_absolute_error([0.1, 0.5], [0.2, 0.7]))
    0.15
    """
    if len(statistic.labels) != 1:
        raise ValueError(f"The statistic has {len(statistic.labels)} values; use values().")
    return float(values(statistic)[0])


# What metrics share


def segments(count: int) -> str:
    """Write a number of segments in words that read well: ``1 segment``, ``no segments``."""
    return {0: "no segments", 1: "1 segment"}.get(count, f"{count} segments")


def numbers(array: Sequence[float] | np.ndarray) -> np.ndarray:
    """Copy to float64 ``(N,)``; missing, infinite and absurdly large numbers become NaN.

    Arrays of single precision are read with the seven digits that they carry, see
    :func:`soundcheck.common.precision.seven_digits`.
    """
    single = getattr(array, "dtype", None) == np.float32
    array = seven_digits(array) if single else np.array(array, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"One number a segment is needed, not an array of shape {array.shape}.")
    if not largest(array) <= _LARGEST:  # also if a number is NaN
        array[~(np.abs(array) <= _LARGEST)] = np.nan
    return array


def same_length(truth: np.ndarray, prediction: np.ndarray) -> None:
    """Make sure that two arrays speak about the same segments."""
    if len(truth) != len(prediction):
        raise ValueError(f"{len(truth)} labels do not fit {len(prediction)} predictions.")


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide; NaN where the denominator is not positive."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    result = np.full(numerator.shape, np.nan)
    return np.divide(numerator, denominator, out=result, where=denominator > 0)


def round_significant(array: np.ndarray) -> np.ndarray:
    """Round to 12 significant digits; infinite becomes NaN, less than 1e-14 becomes 0.

    What is left of a difference of equal values is noise near 1e-16, not a number with 12 digits.

    >>> round_significant(0.6 - 0.5).item()
    0.1
    """
    array = np.asarray(array, dtype=np.float64)
    array = np.where(np.isfinite(array), array, np.nan)
    array = np.where(np.abs(array) < _NOISE, 0.0, array)
    size = np.abs(array)
    plain = (size > 1e-10) & (size < 1e10)
    # In this range the power of ten is exact, so the quotient is the float nearest to the decimal number.
    power = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.where(plain, size, 1.0))))
    settled = np.where(plain, np.rint(array * power) / power, array)
    for place in map(tuple, np.argwhere(~plain & (size > 0))):
        settled[place] = float(f"{array[place]:.{DIGITS}g}")
    return settled
