r"""Whether recognisers know which of their words are right.

Siu, Gish and Richardson (1997), Improved estimation, evaluation and applications of confidence measures for
speech recognition; as NIST scores confidences of words since.

Conventions
-----------
- A word that was recognised is right if the alignment with the transcript has it equal, see
  :mod:`soundcheck.metrics.alignment`; substituted and inserted words are wrong. Deleted words were not
  recognised, so nobody said how sure they were.
- Confidences and what is correct are those of :mod:`soundcheck.metrics.confidence`, one a word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soundcheck.metrics.additive import Columns, Statistic, numbers, ratio, same_length
from soundcheck.metrics.alignment import AlignedWord, align

CERTAIN = 1e-7  # by how much a confidence stays away from 0 and 1, whose logarithms are infinite


def recognised_words(reference: str, hypothesis: str) -> list[AlignedWord]:
    """Give the words of a hypothesis in their order, each with what the alignment says of it.

    >>> [word.kind for word in recognised_words("the cat sat", "a cat sat down")]
    ['substitute', 'equal', 'equal', 'insert']
    """
    return [word for word in align(reference, hypothesis) if word.kind != "delete"]


def normalised_cross_entropy(confidence: Sequence[float], correct: Sequence[float]) -> Statistic:
    r"""Compute which share of the uncertainty about words their confidences take away.

    .. math:: \frac{H + \sum_{\text{right}} \log_2 c_i + \sum_{\text{wrong}} \log_2 (1 - c_i)}{H}, \qquad
              H = -n \log_2 \frac nN - (N - n) \log_2 \left(1 - \frac nN\right)

    of :math:`N` words of which :math:`n` are right. Siu et al. (1997).

    - ``confidence, correct``: float64 ``(words,)``; NaN in either leaves the word out. Confidences are kept
      :data:`CERTAIN` away from 0 and 1, so that one wrong word does not decide everything.
    - Returns one value, 1 at best; 0 is what one confidence for all words reaches, their share of right ones;
      less is worse than that. Undefined where all words are right, or none.

    >>> from soundcheck.metrics.additive import value
    >>> value(normalised_cross_entropy([0.5, 0.5], [1, 0])), value(normalised_cross_entropy([1, 0], [1, 0]))
    (0.0, 0.99999985573)
    """
    same_length(correct, confidence)
    confidence, correct = numbers(confidence), numbers(correct)
    rows = ~np.isnan(confidence + correct)
    sure = np.clip(np.where(rows, confidence, 0.5), CERTAIN, 1 - CERTAIN)
    right = np.where(rows, correct, 0.0)
    bits = np.log2(np.where(right == 1, sure, 1 - sure))

    def compute(sums: np.ndarray) -> np.ndarray:
        count, good, found = (sums[..., place : place + 1] for place in range(3))
        share = ratio(good, count)
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = -good * np.log2(share) - (count - good) * np.log2(1 - share)
        return 1.0 + ratio(found, whole)

    return Statistic(
        parts=(Columns(rows, ~rows, (right, np.where(rows, bits, 0.0))),),
        compute=compute,
        count=lambda sums: sums[..., :1],
        reasons=lambda sums: (
            ("all words are right, or none",) if sums[0] and sums[1] in (0, sums[0]) else ("",)
        ),
    )
