r"""How much a context moves predictions, and whether it moves those of all groups alike.

The context is the sentiment of a text, the groups are languages: the shift of a language is its prediction in
the context minus its prediction in all contexts, and it is compared with the average shift of all languages.

Conventions
-----------
- Works on statistics that need no truth: :func:`~soundcheck.metrics.regression.mean_value`,
  :func:`~soundcheck.metrics.distribution.bin_proportions` and
  :func:`~soundcheck.metrics.distribution.class_proportions`.
- The average shift weighs every group alike, the tested one included. It is undefined, and so is the
  difference, if any group has no segments in the context.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import average, difference, restrict


def shift(statistic: Statistic, group: np.ndarray, context: np.ndarray) -> Statistic:
    """Subtract: the values of a group in a context minus those of the group in all contexts.

    - ``statistic``: over ``N`` segments.
    - ``group, context``: masks, bool ``(N,)``.
    - Returns the labels of ``statistic``; counts the group's segments in the context.
    """
    return difference(restrict(statistic, group & context), restrict(statistic, group))


def shift_difference(
    statistic: Statistic, groups: Sequence[np.ndarray], tested: int, context: np.ndarray
) -> Statistic:
    r"""Subtract: the shift of a group minus the average shift of all groups.

    .. math:: \mathrm{shift}(g, c) - \frac1G \sum_{i=1}^G \mathrm{shift}(g_i, c)

    - ``statistic``: over ``N`` segments.
    - ``groups``: masks of all groups, bool ``(N,)`` each.
    - ``tested``: which of the groups is compared with the average.
    - ``context``: mask of the context, bool ``(N,)``.
    - Returns the labels of ``statistic``; counts the group's segments in the context.
    """
    shifts = [shift(statistic, group, context) for group in groups]
    return difference(shifts[tested], average(shifts))
