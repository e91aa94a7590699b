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
- Sums are exact: numbers are put on binary grids so coarse that adding them up rounds nothing. If
  ``|x| < 2**e`` and at most ``2**b`` of them are added, multiples of ``2**(e + b - 52)`` add up without
  rounding in float64; what a grid cuts off goes to a second, finer one (the *layers*). So sums do not depend
  on the order of the segments, on the number of threads or on the processor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from soundcheck.common.tasks import seven_digits

DIGITS = 12  # significant digits of values; float64 carries 15 to 17, sums of many terms fewer
MISSING_REFUSED = 0.5  # proportion of labelled segments without prediction above which there is no value
MISSING_NOTED = 0.05  # proportion above which a note says so

_NOISE = 1e-14  # values are of the order of 1
_STEP = 1e-6  # of numerical gradients, relative to the sum of absolute contributions
_GRADIENT_NOISE = 1e-8  # of the share of a segment in a value
_AT_A_TIME = 64  # sums that are moved at a time for a gradient
_LARGEST = 1e100  # numbers beyond are treated as not finite: their squares and sums would overflow

Numbers = Sequence[float] | np.ndarray
Texts = Sequence[str | None] | np.ndarray
SumsToValues = Callable[[np.ndarray], np.ndarray]
SumsToTexts = Callable[[np.ndarray], tuple[str, ...]]


def _no_texts(_: np.ndarray) -> tuple[str, ...]:
    return ()


@dataclasses.dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions of ``N`` segments to some of the sums."""

    rows: np.ndarray  # bool ``(N,)``; which segments contribute
    missing_predictions: np.ndarray  # bool ``(N,)``; which would, had the model predicted

    @property
    def size(self) -> int:
        """Number of sums."""
        raise NotImplementedError

    def exact_sums(self, blocks: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum the contributions of each block, exactly: two layers ``(n_blocks, size)``, high and low.

        Both stay exact when ``n_blocks`` blocks are drawn with replacement and summed.
        """
        raise NotImplementedError

    def totals(self) -> np.ndarray:
        """Sum the contributions and their absolute values, not exactly, float64 ``(2, size)``."""
        raise NotImplementedError

    def project(self, gradient: np.ndarray) -> np.ndarray:
        """Multiply the contributions of each segment with a gradient ``(size, m)``: float64 ``(N, m)``."""
        projected = np.zeros((gradient.shape[1], len(self.rows)))  # values of all segments side by side
        rows = self._contributing()
        projected[:, rows] = self._projected(rows, gradient)
        return projected.T

    def _projected(self, rows: np.ndarray | slice, gradient: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def restrict(self, mask: np.ndarray) -> Contributions:
        """Keep the segments of a mask."""
        missing = self.missing_predictions & mask
        return dataclasses.replace(self, rows=self.rows & mask, missing_predictions=missing)

    def _contributing(self) -> np.ndarray | slice:
        """Select the contributing segments; no copies if all of them contribute."""
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
        """Sum each block's columns."""
        rows = self._contributing()
        blocks = np.asarray(blocks[rows], dtype=np.intp)  # once, instead of for each column
        counts = np.bincount(blocks, minlength=n_blocks)
        high, low = np.zeros((2, n_blocks, self.size))
        high[:, 0] = counts
        terms = n_blocks * int(counts.max(initial=0))  # the most that a replicate can add up
        for n, column in enumerate(self.columns, start=1):
            for sums, layer in zip((high, low), layers(column[rows], terms, 2), strict=False):
                sums[:, n] = np.bincount(blocks, layer, n_blocks)
        return high, low

    def totals(self) -> np.ndarray:
        """Sum contributions and their absolute values."""
        rows = self._contributing()
        totals = np.full((2, self.size), np.count_nonzero(self.rows), dtype=np.float64)
        for n, column in enumerate(self.columns, start=1):
            values = column[rows]
            totals[:, n] = values.sum(), np.abs(values).sum()
        return totals

    def _projected(self, rows: np.ndarray | slice, gradient: np.ndarray) -> np.ndarray:
        projected = np.repeat(gradient[:1].T, np.count_nonzero(self.rows), axis=1)
        for slopes, column in zip(gradient[1:], self.columns, strict=True):
            values = column[rows]
            for row, slope in zip(projected, slopes, strict=True):
                if slope:
                    row += slope * values
        return projected


@dataclasses.dataclass(frozen=True, eq=False)
class Cells(Contributions):
    """Contributions as one of ``size`` cells a segment: confusion matrices, histograms, proportions."""

    # integer ``(N,)``, in ``[0, size)`` where ``rows``; small integer types save memory
    cells: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, np.intp))
    size: int = 0

    def exact_sums(self, blocks: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Count each block's segments a cell."""
        rows = self._contributing()
        place = blocks[rows].astype(np.int64)
        place *= self.size
        place += self.cells[rows]
        counts = np.bincount(place, minlength=n_blocks * self.size)
        high = counts.reshape(n_blocks, self.size).astype(np.float64)
        return high, np.zeros_like(high)

    def totals(self) -> np.ndarray:
        """Count the segments of each cell."""
        return np.tile(np.bincount(self.cells[self._contributing()], minlength=self.size) * 1.0, (2, 1))

    def _projected(self, rows: np.ndarray | slice, gradient: np.ndarray) -> np.ndarray:
        return gradient.T.take(self.cells[rows], axis=1)


class HasPoint:
    """Anything with labels and values: additive statistics and the exceptions to them."""

    labels: tuple[str, ...]

    def point(self) -> Point:
        """Compute the values."""
        raise NotImplementedError

    def __repr__(self) -> str:
        by_label = dict(zip(self.labels, self.point().value.tolist(), strict=True))
        return f"Statistic({by_label[''] if self.labels == ('',) else by_label})"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Statistic(HasPoint):
    """Additive contributions of ``N`` segments and the functions of their sums."""

    # contributions; their sums, one part after the other, are the ``k`` sums
    parts: tuple[Contributions, ...]
    compute: SumsToValues  # sums ``(..., k)`` to values ``(..., m)``; NaN where undefined
    count: SumsToValues  # sums ``(..., k)`` to the number of segments ``(..., m)`` of each value
    labels: tuple[str, ...] = ("",)  # names of the ``m`` values
    # sums of all segments ``(k,)`` to ``m`` texts: why a value is undefined or must not be judged,
    # ``""`` if it is fine. An empty tuple stands for ``m`` times ``""``.
    reasons: SumsToTexts = _no_texts
    notes: SumsToTexts = _no_texts  # likewise: what a reader of the value must know, although it is fine
    # sums to the number of what is right or wrong ``(..., m)``, such as words; ``None`` if segments are
    units: SumsToValues | None = None

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
        sums = {part: part.exact_sums(blocks, n_blocks) for part in dict.fromkeys(self.parts)}
        high, low = zip(*(sums[part] for part in self.parts), strict=True)
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
        gradient, value = self._gradient()
        slopes = np.split(gradient, np.cumsum([part.size for part in self.parts])[:-1])
        influence = sum(part.project(slope) for part, slope in zip(self.parts, slopes, strict=True))
        noise = _GRADIENT_NOISE * np.abs(value) / max(1, np.count_nonzero(self.rows))
        influence[:, np.abs(influence).max(axis=0, initial=0.0) < noise] = 0.0  # all segments are alike
        return influence

    def _gradient(self) -> tuple[np.ndarray, np.ndarray]:
        """Differentiate the values at the sums, ``(k, m)``, 0 for sums without segments; gives these, too."""
        totals = {part: part.totals() for part in dict.fromkeys(self.parts)}
        # Rounded, as a step makes a last digit that depends on the processor a million times as large.
        sums, sizes = round_significant(np.concatenate([totals[part] for part in self.parts], axis=1))
        steps = _STEP * sizes
        gradient, value = np.zeros((len(sums), len(self.labels))), self.compute(sums)
        moving = np.flatnonzero(steps)
        for start in range(0, len(moving), _AT_A_TIME):
            chosen = moving[start : start + _AT_A_TIME]
            moved = np.zeros((len(chosen), len(sums)))
            moved[np.arange(len(chosen)), chosen] = steps[chosen]
            more, less = self.compute(sums + moved), self.compute(sums - moved)
            # A value may be defined on one side only: one segment less than two has no correlation.
            ends = np.where(np.isnan(more), value, more) - np.where(np.isnan(less), value, less)
            sides = 2.0 - np.isnan(more) - np.isnan(less)
            gradient[chosen] = ratio(ends, sides * steps[chosen, np.newaxis])
        return gradient, value

    def point(self, sums: np.ndarray | None = None) -> Point:
        """Compute the values from the sums of all segments ``(k,)``, which may be given."""
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
    segments: np.ndarray  # int64; segments of each value
    reasons: tuple[str, ...]  # why there is no value, else ``""``
    notes: tuple[str, ...]  # what a reader of the value must know, else ``""``


def checked_point(
    value: np.ndarray, segments: np.ndarray, reasons: Sequence[str], notes: Sequence[str]
) -> Point:
    """Round values, and make sure that a value is NaN exactly if there is a reason against it."""
    value = round_significant(value)
    reasons = [
        reason or ("" if np.isfinite(v) else "undefined") for reason, v in zip(reasons, value, strict=True)
    ]
    value[[bool(reason) for reason in reasons]] = np.nan
    return Point(value, np.rint(segments).astype(np.int64), tuple(reasons), tuple(notes))


def missing_predictions(parts: Sequence[Contributions]) -> tuple[str, str]:
    """Say that too few segments have a prediction (reason), or that noticeably many have none (note)."""
    counts = [(int(part.missing_predictions.sum()), int(np.count_nonzero(part.rows))) for part in parts]
    missing, predicted = max(counts, key=lambda pair: pair[0] / max(1, sum(pair)), default=(0, 0))
    return missing_texts(missing, missing + predicted)


def missing_texts(
    missing: int, total: int, what: str = "prediction", of: str = "segments"
) -> tuple[str, str]:
    """Give a text as a reason if most of the total are missing, as a note if noticeably many are."""
    text = f"no {what} for {missing} of {total} {of}"
    if missing > MISSING_REFUSED * total:
        return text, ""
    return "", text if missing > MISSING_NOTED * total else ""


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


# Constructors of what most metrics are


def of_columns(
    rows: np.ndarray,
    missing: np.ndarray,
    columns: Sequence[np.ndarray],
    compute: SumsToValues,
    labels: Sequence[str] = ("",),
    **functions: Callable,
) -> Statistic:
    """Make a statistic of columns; every value counts all contributing segments.

    Columns may hold anything outside of ``rows``. ``functions`` are ``reasons``, ``notes`` or another
    ``count``.

    >>> of_columns(np.ones(2, bool), np.zeros(2, bool), [np.array([0.2, 0.4])], lambda sums: sums[..., 1:])
    Statistic(0.6)
    """
    columns = tuple(column if rows.all() else np.where(rows, column, 0.0) for column in columns)
    usual = {"count": lambda sums: np.repeat(sums[..., :1], len(labels), axis=-1)}
    part = Columns(rows, missing, columns)
    return Statistic((part,), compute, labels=tuple(labels), **(usual | functions))


def of_cells(
    codes: np.ndarray,
    n_cells: int,
    missing: np.ndarray,
    compute: SumsToValues,
    labels: Sequence[str] = ("",),
    **functions: Callable,
) -> Statistic:
    """Make a statistic of counts; codes below 0 do not contribute, every value counts all others.

    ``functions`` are as those of :func:`of_columns`.

    >>> of_cells(np.array([0, 1, 1]), 2, np.zeros(3, bool), lambda sums: sums[..., 1:])
    Statistic(2.0)
    """
    m, rows = len(labels), codes >= 0
    usual = {
        "count": lambda sums: np.repeat(total(sums), m, axis=-1),
        "reasons": lambda sums: ("" if sums.sum() > 0 else segments(0),) * m,
    }
    part = Cells(rows, missing, np.where(rows, codes, 0).astype(np.int32), n_cells)
    return Statistic((part,), compute, labels=tuple(labels), **(usual | functions))


def mean_column(column: np.ndarray, rows: np.ndarray, missing: np.ndarray, **texts: SumsToTexts) -> Statistic:
    """Average a column over the contributing segments.

    >>> mean_column(np.array([0.2, 0.4]), np.ones(2, bool), np.zeros(2, bool))
    Statistic(0.3)
    """
    return of_columns(rows, missing, [column], lambda sums: ratio(sums[..., 1:], sums[..., :1]), **texts)


def no_segments(sums: np.ndarray) -> tuple[str]:
    """Give the reason against a single value that counts segments first."""
    return ("" if sums[0] > 0 else segments(0),)


# What metrics share


def total(sums: np.ndarray) -> np.ndarray:
    """Count the segments of all cells, ``(..., 1)``."""
    return sums.sum(axis=-1, keepdims=True)


def segments(count: int) -> str:
    """Write a number of segments in words that read well: ``1 segment``, ``no segments``."""
    return {0: "no segments", 1: "1 segment"}.get(count, f"{count} segments")


def numbers(array: Numbers) -> np.ndarray:
    """Copy to float64 ``(N,)``; missing, infinite and absurdly large numbers become NaN.

    Arrays of single precision are read with the seven digits that they carry, see
    :func:`soundcheck.common.tasks.seven_digits`.
    """
    single = getattr(array, "dtype", None) == np.float32
    array = seven_digits(array) if single else np.array(array, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"One number a segment is needed, not an array of shape {array.shape}.")
    if not largest(array) <= _LARGEST:  # also if a number is NaN
        array[~(np.abs(array) <= _LARGEST)] = np.nan
    return array


def same_length(truth: Sequence, prediction: Sequence) -> None:
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
    rounded = np.where(plain, np.rint(array * power) / power, array)
    for place in map(tuple, np.argwhere(~plain & (size > 0))):
        rounded[place] = float(f"{array[place]:.{DIGITS}g}")
    return rounded


# Exact sums


def largest(array: np.ndarray) -> float:
    """Find the largest size of the numbers, 0 if there are none, NaN if one is; makes no array of sizes."""
    return max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))


def layers(values: np.ndarray, terms: int, most: int, fine: float = 0.0) -> Iterator[np.ndarray]:
    """Split finite numbers ``(N,)`` into layers of which at most ``terms`` are added exactly.

    There are at most so many; what is finer than ``fine`` times the largest number needs none.
    """
    layer = biggest = 0.0
    for _ in range(most):
        values = values - layer
        size = largest(values)
        biggest = biggest or size
        if size <= fine * biggest:
            return
        bits = max(1, int(terms - 1).bit_length())
        # 1.5 * 2**52 units of the grid; adding and subtracting them rounds to the nearest unit.
        anchor = np.ldexp(1.5, max(int(np.frexp(size)[1]), -900) + bits)
        layer = values + anchor
        layer -= anchor
        yield layer
