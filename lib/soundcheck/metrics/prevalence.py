"""Precision as it would be if labels were distributed otherwise: what groups can be compared by.

Precision depends on how frequent a class is: of a model that guesses it is the share of the class. Two groups
with different labels differ in precision even if the model treats them alike. So the confusion counts of each
are weighed to the same shares of labels, which recall does not depend on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from soundcheck.metrics.additive import Statistic, ratio


def with_label_shares(statistic: Statistic, counts: Sequence[int]) -> Statistic:
    r"""Compute precision as if labels had given shares.

    With the shares :math:`r_{kc}` of the segments of label :math:`k` that are called :math:`c`, and the given
    shares :math:`\pi_k` of labels, the precision of class :math:`c` is

    .. math:: \frac{\pi_c r_{cc}}{\sum_k \pi_k r_{kc}}

    - ``statistic``: from :func:`soundcheck.metrics.classification.precision_per_class` or
      :func:`soundcheck.metrics.regression.precision_per_bin`.
    - ``counts``: how often each class or bin is to be the label, ``(m,)``; only their proportions matter.
    - Returns the same where labels have these shares. Classes that do not occur among the labels are left
      out.
    - Raises ValueError: if the statistic has not as many classes.
    """
    wanted = np.asarray(counts, dtype=np.float64)[:, np.newaxis]
    n = len(wanted)
    if statistic.size != n * (n + 1):
        raise ValueError(f"A statistic of {n} classes is needed, with their confusion counts.")

    def compute(sums: np.ndarray) -> np.ndarray:
        matrix = sums.reshape(*sums.shape[:-1], n, n + 1)
        labelled = matrix.sum(axis=-1, keepdims=True)
        weighed = np.where(labelled > 0, ratio(matrix, labelled), 0.0) * wanted
        return statistic.compute(weighed.reshape(sums.shape))

    return dataclasses.replace(statistic, compute=compute)
