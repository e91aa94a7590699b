r"""How much a recogniser writes where nobody speaks: empty answers, words a minute, words that repeat.

Conventions
-----------
- Texts are normalised transcripts, ``(segments,)``; ``None`` if there is no answer. Words are what white
  space separates; characters are those of the words, joined by one blank each.
- Rates divide sums by sums: words of all answers by minutes of all signals. A long signal counts more.
- A sequence of words is *repeated* k times if it stands k times in a row, with nothing in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from soundcheck.metrics.additive import Statistic, numbers
from soundcheck.metrics.regression import mean_value
from soundcheck.metrics.word_rates import ratio_of_sums

Texts = Sequence[str | None]


def word_counts(texts: Texts) -> np.ndarray:
    """Count the words of each answer, float64 ``(segments,)``; NaN without an answer."""
    return np.array([np.nan if text is None else len(text.split()) for text in texts], dtype=np.float64)


def character_counts(texts: Texts) -> np.ndarray:
    """Count the characters of each answer, float64 ``(segments,)``; NaN without an answer."""
    found = [np.nan if text is None else len(" ".join(text.split())) for text in texts]
    return np.array(found, dtype=np.float64)


def empty_answers(texts: Texts, *, missing: float = np.nan) -> Statistic:
    """Share of answers without any word.

    - ``missing``: what no answer counts as: NaN leaves it out, 0 counts it as an answer with words.
    """
    counts = word_counts(texts)
    return mean_value(np.where(np.isnan(counts), missing, counts == 0))


def per_minute(counts: Sequence[float], seconds: Sequence[float]) -> Statistic:
    """Divide what was written by the time that there was to write it.

    - ``counts``: words, characters or insertions of each answer, ``(segments,)``; NaN without an answer.
    - ``seconds``: length of each signal, ``(segments,)``.
    - Returns one value, at least 0, a minute; undefined without any time.
    """
    return ratio_of_sums(counts, numbers(seconds) / 60)


def most_repeated(text: str, most_words: int) -> int:
    """Count how often in a row the sequence of words is repeated that is repeated most.

    - ``most_words``: longest sequence that is looked for, at least 1.

    >>> most_repeated("thank you thank you thank you for watching", 5)
    3
    >>> most_repeated("thank you thank you thank you for watching", 1)
    1
    """
    words = text.split()
    found = min(1, len(words))
    for size in range(1, min(most_words, len(words) // 2) + 1):
        same = 0
        for before, word in zip(words, words[size:], strict=False):
            same = same + 1 if word == before else 0
            found = max(found, same // size + 1)
    return found


def repeating_answers(texts: Texts, most_words: int, times: int) -> Statistic:
    """Share of answers in which a sequence of at most so many words stands so many times in a row."""
    found = [np.nan if text is None else float(most_repeated(text, most_words) >= times) for text in texts]
    return mean_value(found)


def words_made_up(texts: Texts, count: int) -> list[tuple[str, int]]:
    """List the words that were written most often, with how often; of equals in alphabetical order."""
    counted = Counter(word for text in texts if text is not None for word in text.split())
    return sorted(counted.items(), key=lambda found: (-found[1], found[0]))[:count]
