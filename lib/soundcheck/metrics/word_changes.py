"""Which words another ASR model corrects and which it breaks, word by word.

Conventions
-----------
- A word of the reference is right if it is equal in the alignment (:mod:`soundcheck.metrics.alignment`).
  *Corrected*: wrong in the baseline's transcript, right in the candidate's. *Broken*: the reverse. Words that
  a model inserts have no place in the reference; they are counted by themselves.
- Segments without reference or without one of the transcripts (``None`` or NaN) are passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from soundcheck.metrics.additive import Texts
from soundcheck.metrics.alignment import complete, missed_words
from soundcheck.metrics.alternatives import common_wording

COUNTS = ("corrected", "broken", "words", "put_in_baseline", "put_in_candidate")


def word_changes(references: Texts, baselines: Texts, candidates: Texts) -> pd.DataFrame:
    """Count for each segment how many of its words the candidate corrects and breaks.

    Returns float64 columns :data:`COUNTS`, one row a segment: words corrected and broken, words of the
    reference, and words that each model inserts; NaN where a text is missing.

    >>> word_changes(["go on now"], ["no on now"], ["go on"])
       corrected  broken  words  put_in_baseline  put_in_candidate
    0        1.0     1.0    3.0              0.0               0.0
    """
    counts = np.full((len(references), len(COUNTS)), np.nan)
    for n, texts in complete(references, baselines, candidates):
        words, (before, after), inserted = _missed(*texts)
        counts[n] = [len(before - after), len(after - before), len(words), *inserted]
    return pd.DataFrame(counts, columns=COUNTS)


def changed_words(references: Texts, baselines: Texts, candidates: Texts) -> pd.DataFrame:
    """Count for each word how often the candidate corrects and breaks it.

    Returns one row a word that is corrected or broken at least once: ``word``, ``said`` (how often),
    ``corrected``, ``broken``, ``wrong`` (by both). Those with the most changes come first, then
    alphabetically.

    >>> changed_words(["go on", "go up"], ["no on", "go up"], ["go on", "no up"])
      word  said  corrected  broken  wrong
    0   go     2          1       1      0
    """
    reference_words, corrected, broken, wrong = Counter(), Counter(), Counter(), Counter()
    for _, texts in complete(references, baselines, candidates):
        words, (before, after), _ = _missed(*texts)
        reference_words.update(words)
        for counter, places in (
            (corrected, before - after),
            (broken, after - before),
            (wrong, before & after),
        ):
            counter.update(words[n] for n in places)
    counters = {"said": reference_words, "corrected": corrected, "broken": broken, "wrong": wrong}
    return _table(corrected + broken, counters)


def wrong_words(references: Texts, hypotheses: Mapping[str, Texts]) -> pd.DataFrame:
    """Count for each word how often some ASR models, name -> transcripts, have it wrong.

    Segments that any of them has no prediction for do not count. Returns one row a word that any has wrong:
    ``word``, ``said`` (how often), and for each model how often it is wrong. Those that are wrong most often,
    over all models, come first, then alphabetically.

    >>> wrong_words(["go on", "go up"], {"a": ["no on", "no up"], "b": ["go on", "go on"]})
      word  said  a  b
    0   go     2  2  0
    1   up     1  0  1
    """
    reference_words: Counter[str] = Counter()
    wrong: dict[str, Counter[str]] = {name: Counter() for name in hypotheses}
    for _, texts in complete(references, *hypotheses.values()):
        words, missed, _ = _missed(*texts)
        reference_words.update(words)
        for counter, places in zip(wrong.values(), missed, strict=True):
            counter.update(words[n] for n in places)
    return _table(sum(wrong.values(), Counter()), {"said": reference_words, **wrong})


def _missed(reference: str, *hypotheses: str) -> tuple[list[str], list[set[int]], list[int]]:
    """Give the reference's words, the places of those that each model misses, and how many each inserts."""
    words = common_wording(reference, hypotheses).split()
    missed, inserted = zip(*(missed_words(words, text.split()) for text in hypotheses), strict=True)
    return words, list(map(set, missed)), list(inserted)


def _table(changes: Iterable[str], counters: Mapping[str, Counter[str]]) -> pd.DataFrame:
    """List words with counts, those with the most changes first, then alphabetically."""
    words = sorted(changes, key=lambda word: (-changes[word], word))
    rows = [(word, *(counter[word] for counter in counters.values())) for word in words]
    return pd.DataFrame(rows, columns=["word", *counters])
