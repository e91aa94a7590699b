"""What sizes of groups decide: least numbers of bins, and the equal sizes that unequal ones equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

FEWEST = 4  # of a bin, however small the groups are


def least_per_bin(published: Mapping[str, int], size: float) -> int:
    """Give the fewest segments that a bin needs in all groups together to be judged.

    >>> [least_per_bin({"count": 67, "segments": 2000}, size) for size in (4000, 2000, 1000, 10)]
    [67, 67, 34, 4]
    """
    count = published["count"]
    if size >= published["segments"]:
        return count
    return min(count, max(FEWEST, round(count * size / published["segments"])))


def least_predictions(published: Mapping[str, int], size: float) -> int:
    """Give the fewest predictions of a bin or class, in all groups together, whose precision is judged.

    Of groups of the published size labels alone decide, as published; smaller groups need as many predictions
    as :func:`least_per_bin` asks of labels.

    >>> [least_predictions({"count": 67, "segments": 1000}, size) for size in (1000, 500, 10)]
    [0, 34, 4]
    """
    return 0 if size >= published["segments"] else least_per_bin(published, size)


def equal_size(sizes: Sequence[int], tested: int) -> int:
    r"""Give the size of equal groups whose differences by chance are as large as those of unequal groups.

    A mean over :math:`n` independent segments has a variance in proportion to :math:`1/n`. So the mean of
    group :math:`g` minus the average over the means of all :math:`G` groups varies as much as with groups of

    .. math:: \frac{1 - 1/G}{(1 - 1/G)^2 / n_g + \sum_{j \neq g} 1 / (G^2 n_j)}

    segments each.

    >>> equal_size([60, 60, 60], 0), equal_size([800, 90, 90], 0), equal_size([800, 90, 90], 1)
    (60, 220, 106)
    """
    counts = np.asarray(sizes, dtype=np.float64)
    if len(counts) < 2 or counts.min() < 1:
        raise ValueError("Two groups or more with at least one segment each are needed.")
    own = 1 - 1 / len(counts)
    weights = np.full(len(counts), 1 / len(counts))
    weights[tested] = own
    return round(own / float((weights**2 / counts).sum()))
