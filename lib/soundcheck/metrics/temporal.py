r"""How values change from one segment of a file to the next: of the truth, and of the predictions.

Conventions
-----------
- The change of a file is the mean of :math:`|y_{t+1} - y_t|` over its neighbours in the order of time, or for
  classes the share of segments whose class differs from the one before. Neighbours are never of two files.
- Neighbours of which one has no prediction are left out of both, truth and prediction, and the segment is
  counted; if more than half of the segments have none, there is no value.
- ``largest`` is the change that counts as the largest possible: 0.3 for values, 1 for classes. Changes beyond
  it are not cut, except in histograms.
- What is resampled are blocks; a file belongs to the block of its first segment.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.metrics import distribution, regression
from soundcheck.metrics.additive import Numbers, Statistic, numbers, of_columns, ratio, same_length
from soundcheck.metrics.combinators import combine, require_count, restrict

QUARTER = 4  # every fourth file: those with the largest, or the smallest true change


@dataclasses.dataclass(frozen=True, eq=False)
class Neighbours:
    """Segments that follow each other in the files that have enough of them."""

    names: tuple[str, ...]  # names of the ``K`` files, sorted
    first: np.ndarray  # row of each file's first segment, ``(K,)``
    before: np.ndarray  # rows of the ``P`` pairs
    after: np.ndarray
    pair_file: np.ndarray  # file of each pair, ``(P,)`` from 0 to ``K - 1``
    file: np.ndarray  # file of each of all ``N`` segments, -1 if it is in none of these
    # where a segment is in its file, ``(N,)`` from 0, the first, to 1, the last; NaN in no file
    place: np.ndarray

    def __len__(self) -> int:
        return len(self.names)


def _renumbered(selected: np.ndarray) -> np.ndarray:
    """Give what is selected numbers from 0, everything else -1; the number behind the last, or -1, is -1."""
    return np.append(np.where(selected, np.cumsum(selected) - 1, -1), -1)


def neighbours(files: Sequence[object], start: Numbers, end: Numbers, minimum: int = 4) -> Neighbours:
    """Put the segments of each file in the order of time, whatever order they are given in.

    - ``files``: file of each segment, ``(N,)``; missing ones take no part.
    - ``start, end``: seconds, ``(N,)``; NaN = begin or end of the file.
    - ``minimum``: segments that a file needs, at least 2.

    >>> pairs = neighbours(["b", "a", "a", "a"], [0, 2, 9, 1], [1, 3, 10, 2], minimum=3)
    >>> pairs.names, pairs.before.tolist(), pairs.after.tolist(), pairs.place.tolist()
    (('a',), [3, 1], [1, 2], [nan, 0.5, 1.0, 0.0])
    """
    codes, names = pd.factorize(pd.Series(files, dtype=object), sort=True)
    enough = np.bincount(codes[codes >= 0], minlength=len(names)) >= max(2, minimum)
    file = _renumbered(enough)[codes]
    start, end = (np.asarray(seconds, dtype=np.float64) for seconds in (start, end))
    order = np.lexsort((np.nan_to_num(end, nan=np.inf), np.nan_to_num(start), file))
    order = order[file[order] >= 0]
    together = file[order][1:] == file[order][:-1]
    first = order[np.append(True, ~together)[: len(order)]]
    counts = np.bincount(file[order], minlength=len(first))
    begins = np.cumsum(counts) - counts
    place = np.full(len(file), np.nan)
    place[order] = (np.arange(len(order)) - begins[file[order]]) / (counts[file[order]] - 1)
    before, after = order[:-1][together], order[1:][together]
    names = tuple(map(str, np.asarray(names, dtype=object)[enough]))
    return Neighbours(names, first, before, after, file[before], file, place)


@dataclasses.dataclass(frozen=True, eq=False)
class FileChanges:
    """True and predicted change of each file."""

    names: tuple[str, ...]  # names of the ``K`` files that have a value, sorted
    truth: np.ndarray  # mean change of each, float64 ``(K,)`` of at least 0
    prediction: np.ndarray
    first: np.ndarray  # row of each file's first segment, ``(K,)``
    file: np.ndarray  # file of each of all ``N`` segments, -1 if it is in none of these
    missing: np.ndarray  # segments of files with enough segments that lack one of the two, bool ``(N,)``
    largest: float  # the change that counts as the largest possible

    def __len__(self) -> int:
        return len(self.names)

    def mean_absolute_error(self) -> Statistic:
        r"""Mean distance of predicted and true change of a file, :math:`\frac1K \sum |\hat d - d|`.

        >>> pairs = neighbours(["a", "a", "a"], [0, 1, 2], [1, 2, 3], minimum=3)
        >>> file_changes([0.2, 0.4, 0.2], [0.2, 0.3, 0.2], pairs).mean_absolute_error()
        Statistic(0.1)
        """
        return self._of_segments(regression.mean_absolute_error(*self._columns(self.truth, self.prediction)))

    def mean_error(self) -> Statistic:
        r"""Mean of predicted minus true change of a file; positive if predictions change too much.

        >>> pairs = neighbours(["a", "a", "a"], [0, 1, 2], [1, 2, 3], minimum=3)
        >>> file_changes([0.2, 0.4, 0.2], [0.2, 0.3, 0.2], pairs).mean_error()
        Statistic(-0.1)
        """
        return self._of_segments(regression.mean_error(*self._columns(self.truth, self.prediction)))

    def jensen_shannon_distance(self) -> Statistic:
        """Distance of the histograms of true and predicted changes, 10 bins up to the largest change.

        >>> pairs = neighbours(["a", "a", "a"], [0, 1, 2], [1, 2, 3], minimum=3)
        >>> file_changes([0.2, 0.4, 0.2], [0.2, 0.3, 0.2], pairs).jensen_shannon_distance()
        Statistic(1.0)
        """
        columns = self._columns(self.truth / self.largest, self.prediction / self.largest)
        return self._of_segments(distribution.jensen_shannon_distance(*columns))

    def reactivity(self) -> Statistic:
        r"""Whether predictions change where the truth changes most.

        .. math:: 2 \left(\min\left(1, \overline{\frac{\hat d / m + 1}{d / m + 1}}\right) - 0.5\right)

        over the quarter of the files with the largest true change :math:`d`, with ``largest`` as :math:`m`.

        Returns one value, 1 if predictions change as much as the truth or more; undefined below 4 files.

        >>> pairs = neighbours([*"aabbccdd"], [0, 1] * 4, [1, 2] * 4, minimum=2)
        >>> file_changes([0, 0.3, 0, 0, 0, 0, 0, 0], [0.1] * 8, pairs).reactivity()
        Statistic(0.0)
        """
        return self._of_quarter(np.argsort(-self.truth, kind="stable"), self.prediction, self.truth)

    def stability(self) -> Statistic:
        """Whether predictions stay where the truth changes least: the inverse ratio, least quarter.

        Returns one value, 1 if predictions change as little as the truth or less; undefined below 4 files.

        >>> pairs = neighbours([*"aabbccdd"], [0, 1] * 4, [1, 2] * 4, minimum=2)
        >>> file_changes([0, 0, 0, 0.3, 0, 0.3, 0, 0.3], [0.1] * 8, pairs).stability()
        Statistic(1.0)
        """
        return self._of_quarter(np.argsort(self.truth, kind="stable"), self.truth, self.prediction)

    def _of_quarter(self, order: np.ndarray, above: np.ndarray, below: np.ndarray) -> Statistic:
        chosen = order[: len(self) // QUARTER]
        ratios = np.full(len(self), np.nan)
        ratios[chosen] = ((above / self.largest + 1) / (below / self.largest + 1))[chosen]
        mean = regression.mean_error(*self._columns(np.where(np.isnan(ratios), np.nan, 0.0), ratios))
        score = combine([mean], lambda value: 2 * (np.minimum(1.0, value) - 0.5))
        of_segments = self._of_segments(score, np.isin(self.file, chosen) & (self.file >= 0))
        return require_count(of_segments, len(self), QUARTER, "file")

    def _columns(self, *values: np.ndarray) -> list[np.ndarray]:
        """Put values of the files into the rows of their first segments, NaN elsewhere."""
        columns = np.full((len(values), len(self.file)), np.nan)
        columns[:, self.first] = values
        return list(columns)

    def _of_segments(self, statistic: Statistic, mask: np.ndarray | None = None) -> Statistic:
        """Count the segments of the files, and those without prediction."""
        counted = of_columns((self.file >= 0) & ~self.missing, self.missing, (), lambda sums: sums[..., :1])
        if mask is not None:
            counted = restrict(counted, mask)
        return combine([counted, statistic], lambda _, value: value)


def file_changes(
    truth: Numbers, prediction: Numbers, pairs: Neighbours, largest: float = 0.3, classes: bool = False
) -> FileChanges:
    """Compute the true and the predicted change of each file, from numbers or numbers of classes.

    With ``classes`` what differs counts as 1, however far apart the numbers are.
    """
    truth, prediction = numbers(truth), numbers(prediction)
    same_length(truth, prediction)
    steps = [np.abs(values[pairs.after] - values[pairs.before]) for values in (truth, prediction)]
    if classes:
        steps = [np.minimum(1.0, np.ceil(step)) for step in steps]
    known = np.isfinite(steps[0] + steps[1])
    file_of, k = pairs.pair_file[known], len(pairs)
    counts = np.bincount(file_of, minlength=k)
    used = counts > 0
    means = [ratio(np.bincount(file_of, step[known], minlength=k), counts)[used] for step in steps]
    return FileChanges(
        tuple(np.array(pairs.names, dtype=object)[used]),
        *means,
        pairs.first[used],
        _renumbered(used)[pairs.file],
        (pairs.file >= 0) & np.isnan(truth + prediction),
        largest,
    )


def drift(before: Numbers, after: Numbers, pairs: Neighbours) -> Statistic:
    r"""How far a change that grows within each file carries the predictions away, on average over files.

    The slope of the least-squares line through :math:`\hat y'_t - \hat y_t`, the prediction for the changed
    minus that for the unchanged segment, over the place in the file from 0 to 1.

    - ``before, after``: predictions for the unchanged and the changed segments, ``(N,)``; NaN = missing.
    - Returns one value in the unit of the predictions, between the first and the last segment; files without
      two neighbours that have both predictions do not count.

    >>> pairs = neighbours(["a", "a", "a"], [0, 1, 2], [1, 2, 3], minimum=3)
    >>> drift([0.5, 0.5, 0.5], [0.5, 0.6, 0.7], pairs)
    Statistic(0.2)
    """
    changes = file_changes(before, after, pairs)
    moved = numbers(after) - numbers(before)
    rows = np.flatnonzero((changes.file >= 0) & np.isfinite(moved))
    file_of, k = changes.file[rows], len(changes)
    x = pairs.place[rows]
    x = x - ratio(np.bincount(file_of, x, minlength=k), np.bincount(file_of, minlength=k))[file_of]
    sums = np.bincount(file_of, x * moved[rows], minlength=k)
    slope = ratio(sums, np.bincount(file_of, x * x, minlength=k))
    return dataclasses.replace(changes, truth=np.zeros(k), prediction=slope).mean_error()
