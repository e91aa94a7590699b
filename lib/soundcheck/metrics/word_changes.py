"""Which words another recogniser corrects and which it breaks, word by word.

Conventions
-----------
- A word of the reference is right if the alignment with the transcript (:mod:`soundcheck.metrics.alignment`)
  finds it unchanged. *Corrected*: wrong in the baseline's transcript, right in the candidate's. *Broken*: the
  reverse. Words that a recogniser puts in have no place in the reference; they are counted by themselves.
- Segments without reference or without one of the transcripts are passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.metrics.additive import same_length
from soundcheck.metrics.alignment import missed_words
from soundcheck.metrics.alternatives import common_wording

COUNTS = ("corrected", "broken", "words", "put_in_baseline", "put_in_candidate")


def word_changes(
    references: Sequence[str | None], baselines: Sequence[str | None], candidates: Sequence[str | None]
) -> pd.DataFrame:
    """Count for each segment how many of its words the candidate corrects and breaks.

    - ``references, baselines, candidates``: what was said, and what two recognisers heard, ``(N,)``; missing
      ones are ``None`` or NaN.
    - Returns float64 columns :data:`COUNTS`, one row a segment: words corrected and broken, words of the
      reference, and words that each recogniser puts in; NaN where a text is missing.
    - Raises ValueError: if there are not as many of one as of another.

    >>> word_changes(["go on now"], ["no on now"], ["go on"])
       corrected  broken  words  put_in_baseline  put_in_candidate
    0        1.0     1.0    3.0              0.0               0.0
    """
    counts = np.full((len(references), len(COUNTS)), np.nan)
    for n, texts in _complete(references, baselines, candidates):
        words, first, second, put_in = _fates(*texts)
        counts[n] = [len(first - second), len(second - first), len(words), *put_in]
    return pd.DataFrame(counts, columns=COUNTS)


def changed_words(
    references: Sequence[str | None], baselines: Sequence[str | None], candidates: Sequence[str | None]
) -> pd.DataFrame:
    """Count for each word how often the candidate corrects and breaks it.

    - ``references, baselines, candidates``: see :func:`word_changes`.
    - Returns one row a word that is corrected or broken at least once: ``word``, ``said`` (how often),
      ``corrected``, ``broken``, ``wrong`` (by both). Those with the most changes come first, then
      alphabetically.

    >>> changed_words(["go on", "go up"], ["no on", "go up"], ["go on", "no up"])
      word  said  corrected  broken  wrong
    0   go     2          1       1      0
    """
    said, corrected, broken, wrong = Counter(), Counter(), Counter(), Counter()
    for _, texts in _complete(references, baselines, candidates):
        words, first, second, _ = _fates(*texts)
        said.update(words)
        for counter, which in (
            (corrected, first - second),
            (broken, second - first),
            (wrong, first & second),
        ):
            counter.update(words[n] for n in which)
    changed = sorted(
        corrected.keys() | broken.keys(), key=lambda word: (-corrected[word] - broken[word], word)
    )
    rows = [(word, said[word], corrected[word], broken[word], wrong[word]) for word in changed]
    return pd.DataFrame(rows, columns=["word", "said", "corrected", "broken", "wrong"])


def wrong_words(references: Sequence[str | None], heard: Mapping[str, Sequence[str | None]]) -> pd.DataFrame:
    """Count for each word how often some recognisers have it wrong.

    - ``references``: what was said, ``(N,)``; missing ones are ``None`` or NaN.
    - ``heard``: recogniser -> what it wrote, ``(N,)``. Segments that any of them has no answer for do not
      count.
    - Returns one row a word that anybody has wrong: ``word``, ``said`` (how often), and for each recogniser
      how often it is wrong. Those that are wrong most often, over all recognisers, come first, then
      alphabetically.

    >>> wrong_words(["go on", "go up"], {"a": ["no on", "no up"], "b": ["go on", "go on"]})
      word  said  a  b
    0   go     2  2  0
    1   up     1  0  1
    """
    said: Counter[str] = Counter()
    wrong: dict[str, Counter[str]] = {name: Counter() for name in heard}
    for _, (reference, *texts) in _complete(references, *heard.values()):
        words = common_wording(reference, texts).split()
        said.update(words)
        for counter, text in zip(wrong.values(), texts, strict=True):
            counter.update(words[n] for n in missed_words(words, text.split())[0])
    total = sum(wrong.values(), Counter())
    words = sorted(total, key=lambda word: (-total[word], word))
    rows = [(word, said[word], *(counter[word] for counter in wrong.values())) for word in words]
    return pd.DataFrame(rows, columns=["word", "said", *heard])


def _complete(*texts: Sequence[str | None]) -> list[tuple[int, tuple[str, ...]]]:
    arrays = [np.asarray(one, dtype=object) for one in texts]
    for one in arrays[1:]:
        same_length(arrays[0], one)
    there = ~np.any([pd.isna(one) for one in arrays], axis=0)
    return [(int(n), tuple(one[n] for one in arrays)) for n in np.flatnonzero(there)]


def _fates(
    reference: str, baseline: str, candidate: str
) -> tuple[list[str], set[int], set[int], tuple[int, int]]:
    """Give the words said, the places of those that each recogniser misses, and how many each puts in."""
    words = common_wording(reference, (baseline, candidate)).split()
    first, put_in_first = missed_words(words, baseline.split())
    second, put_in_second = missed_words(words, candidate.split())
    return words, set(first), set(second), (put_in_first, put_in_second)
