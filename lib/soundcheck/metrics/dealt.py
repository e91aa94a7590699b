"""Is a recogniser better than guessing? Its own transcripts, dealt out to other segments, are the guess.

A recogniser that does not listen may still write likely words, or always the same. So what it wrote is dealt
out: each segment gets the transcript of another one. A transcript of what was said has fewer errors than one
of something else; one that has nothing to do with the sound has as many. So no constant answer can win, and
no answer without a single word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from soundcheck.metrics.additive import Statistic, same_length
from soundcheck.metrics.combinators import difference
from soundcheck.metrics.word_errors import Counts, word_error_rate, word_errors


def dealt_out(texts: Sequence[str | None], draws: Sequence[float]) -> np.ndarray:
    """Give each segment the text of another one; no segment keeps its own.

    - ``texts``: texts, ``(N,)``; missing ones (``None`` or NaN) are neither dealt out nor replaced.
    - ``draws``: numbers that decide who gets whose text, ``(N,)``, such as of
      :func:`soundcheck.common.seeds.uniform`.
    - Returns object ``(N,)``, ``None`` where there is no text; all ``None`` if there is only one.

    >>> dealt_out(["a", None, "b", "c"], [0.3, 0.1, 0.2, 0.9]).tolist()
    ['b', None, 'c', 'a']
    """
    texts = np.asarray(texts, dtype=object)
    same_length(texts, np.asarray(draws))
    there = np.flatnonzero(~pd.isna(texts))
    dealt = np.full(len(texts), None, dtype=object)
    if len(there) > 1:
        order = there[np.argsort(np.asarray(draws)[there], kind="stable")]
        dealt[order] = texts[np.roll(order, 1)]
    return dealt


def dealt_word_error_rates(
    references: Sequence[str | None],
    hypotheses: Sequence[str | None],
    draws: Sequence[float],
    count: Callable[..., Counts] = word_errors,
) -> tuple[Statistic, Statistic, Statistic]:
    """Compare the word error rate of transcripts with that of the same ones dealt out.

    - ``references, hypotheses``: texts, ``(N,)``; missing ones are ``None`` or NaN.
    - ``draws``: see :func:`dealt_out`.
    - ``count``: counts words or characters, see :mod:`soundcheck.metrics.word_errors`.
    - Returns error rate, that of the transcripts dealt out, and the first minus the second, over the same
      segments.
    """
    references = np.asarray(references, dtype=object)
    known = ~(pd.isna(references) | pd.isna(np.asarray(hypotheses, dtype=object)))
    dealt = dealt_out(np.where(known, hypotheses, None), draws)
    own, other = (
        word_error_rate(counts.words, counts.errors)
        for counts in (count(references, hypotheses), count(references, dealt))
    )
    return own, other, difference(own, other)
