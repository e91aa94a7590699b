r"""Rates of transcripts beside the word error rate, and what is written where nobody speaks.

Conventions
-----------
- :math:`H` words are right, :math:`S` stand for another one, :math:`D` are deleted and :math:`I` inserted.
  So the references have :math:`H + S + D` words and the hypotheses :math:`H + S + I`.
- Sums over all segments are divided by sums, as in :func:`soundcheck.metrics.word_errors.word_error_rate`.
- Where several alignments have as few errors, RapidFuzz's decides about the kinds, as it does for jiwer. The
  word error rate is the same for all of them, the match error rate and the word information lost are not.
- Texts are normalised transcripts, ``(segments,)``. A missing hypothesis (``None`` or NaN) leaves its segment
  out, as NIST's sclite leaves out utterances that a file of hypotheses does not name. Where hypotheses are
  found by their times, sclite takes a missing one for an empty one, and so does
  :func:`error_rate_with_missing`.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

from soundcheck.common.messages import counted
from soundcheck.metrics.additive import (
    Numbers,
    Statistic,
    Texts,
    numbers,
    of_columns,
    ratio,
    same_length,
    segments,
)
from soundcheck.metrics.combinators import difference
from soundcheck.metrics.regression import mean_value
from soundcheck.metrics.word_errors import (
    CHARACTER,
    MIXED,
    NO_WORDS,
    Counts,
    character_errors,
    characters_apart,
    closed_up,
    unit_of,
    word_error_rate,
    word_errors,
)


def wer(references: Texts, hypotheses: Texts) -> Statistic:
    r"""Word error rate, :math:`(S + D + I) / (H + S + D)`.

    >>> wer(["go left now please"], ["go right now"])
    Statistic(0.5)
    """
    counts = word_errors(references, hypotheses)
    return word_error_rate(counts.words, counts.errors)


def cer(references: Texts, hypotheses: Texts) -> Statistic:
    """Character error rate; blanks are no characters where scripts are written without them.

    >>> cer(["left"], ["lift"])
    Statistic(0.25)
    """
    counts = characters_of(references, hypotheses)
    return word_error_rate(counts.words, counts.errors)


def group_error_rate(references: Texts, hypotheses: Texts) -> Statistic:
    """Error rate by which groups are compared: of words, or of characters if any script has no blanks.

    >>> group_error_rate(["左转", "go"], ["左右", "go"])
    Statistic(0.25)
    """
    return (cer if unit_of(references) in (CHARACTER, MIXED) else wer)(references, hypotheses)


def characters_of(references: Texts, hypotheses: Texts) -> Counts:
    """Count character errors as :func:`cer` does.

    >>> characters_of(["左 转"], ["左右"]).words
    array([2.])
    """
    unit = unit_of(references)
    return character_errors(references, hypotheses, blanks=None if unit == MIXED else unit != CHARACTER)


def ratio_of_sums(counts: Numbers, parts: Numbers, nothing: str = "") -> Statistic:
    """Divide the sum of what was counted by the sum of what it is a part of, such as words or minutes.

    It rests on the segments that have any of it: of dates, on those in which somebody says a date.

    - ``counts``: what was counted in each prediction, ``(segments,)``; NaN without a prediction.
    - ``parts``: what there was of each segment, ``(segments,)``; anything without a prediction.
    - ``nothing``: why there is no value where there was nothing; else the number of segments is given.

    >>> ratio_of_sums([1, 0, np.nan], [1, 3, 5])
    Statistic(0.25)
    """
    counts, parts = numbers(counts), numbers(parts)
    same_length(counts, parts)
    rows, some = ~np.isnan(counts), (counts > 0) | (parts > 0)

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums[2] > 0 else nothing if sums[0] and nothing else segments(0),)

    columns = [counts, parts, some.astype(np.float64)]
    functions = {"count": lambda sums: sums[..., 3:], "reasons": reasons}
    return of_columns(rows, ~rows, columns, lambda sums: ratio(sums[..., 1:2], sums[..., 2:3]), **functions)


def missing_as_empty(hypotheses: Texts) -> np.ndarray:
    """Take missing hypotheses for empty ones, object ``(N,)``.

    >>> missing_as_empty(["go", None]).tolist()
    ['go', '']
    """
    return np.array([*("" if pd.isna(text) else text for text in hypotheses), None], dtype=object)[:-1]


def error_rate_with_missing(
    references: Texts, hypotheses: Texts, count: Callable[..., Counts] = word_errors
) -> Statistic:
    """Error rate in which a missing hypothesis deletes all words of its reference.

    An ASR model cannot gain by giving no prediction where it is hard. However many are missing, there is a
    rate; a note says how many. ``count`` is one of :mod:`soundcheck.metrics.word_errors`.

    >>> error_rate_with_missing(["go left", "stop now"], ["go left", None])
    Statistic(0.5)
    """
    counts = count(references, missing_as_empty(hypotheses))
    statistic = word_error_rate(counts.words, counts.errors)
    silent = pd.isna(np.asarray(hypotheses, dtype=object)) & ~np.isnan(counts.words)
    if not silent.any():
        return statistic
    lost = counted(int(counts.words[silent].sum()), counts.unit)
    labelled = segments(int((~np.isnan(counts.words)).sum()))
    text = f"no answer for {int(silent.sum())} of {labelled}, {lost} counted as left out"

    def notes(sums: np.ndarray) -> tuple[str, ...]:
        return tuple("; ".join(filter(None, (text, note))) for note in statistic.notes(sums))

    return dataclasses.replace(statistic, notes=notes)


def sentence_error_rate(counts: Counts) -> Statistic:
    """Share of segments with at least one error.

    >>> sentence_error_rate(word_errors(["go left", "stop"], ["go", "stop"]))
    Statistic(0.5)
    """
    single = np.where(np.isnan(counts.words), np.nan, 1.0)
    return word_error_rate(single, np.where(np.isnan(counts.errors), np.nan, counts.errors > 0))


def match_error_rate(counts: Counts) -> Statistic:
    r"""Share of aligned places that are wrong, :math:`(S + D + I) / (H + S + D + I)`.

    Morris, Maier and Green (2004), From WER and RIL to MER and WIL. Undefined where there is no word on
    either side.

    >>> match_error_rate(word_errors(["go left"], ["go left now please"]))
    Statistic(0.5)
    """
    insertions = np.where(np.isnan(counts.insertions), 0.0, counts.insertions)
    return word_error_rate(counts.words + insertions, counts.errors)


def word_information_lost(counts: Counts) -> Statistic:
    r"""Word information lost, :math:`1 - \frac{H}{H + S + D} \cdot \frac{H}{H + S + I}`.

    What it is an approximation of, and where it comes from: see :func:`match_error_rate`. Where nothing was
    recognised it is 1; undefined without words in the references.

    >>> word_information_lost(word_errors(["go left"], ["go right"]))
    Statistic(0.75)
    """
    words, errors = numbers(counts.words), numbers(counts.errors)
    known, predicted = ~np.isnan(words), ~np.isnan(errors)
    hits = words - counts.substitutions - counts.deletions
    hypothesis_words = hits + counts.substitutions + counts.insertions

    def compute(sums: np.ndarray) -> np.ndarray:
        reference, hypothesis, hits = (sums[..., place : place + 1] for place in (1, 2, 3))
        # Without words in the hypotheses nothing is preserved; 0/1 says so.
        return 1 - ratio(hits, reference) * ratio(hits, np.maximum(hypothesis, 1.0))

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums[1] > 0 else segments(0) if sums[0] == 0 else NO_WORDS,)

    columns = [words, hypothesis_words, hits]
    return of_columns(known & predicted, known & ~predicted, columns, compute, reasons=reasons)


# Is an ASR model better than guessing? Its own transcripts, of other segments, are the guess.


def permuted_hypotheses(texts: Texts, draws: Numbers) -> np.ndarray:
    """Give each segment the text of another one, object ``(N,)``; no segment keeps its own.

    Missing texts are neither given nor replaced; all are ``None`` if there is only one. ``draws`` decide who
    gets whose text, ``(N,)``, such as of :func:`soundcheck.common.seeds.uniform`.

    >>> permuted_hypotheses(["a", None, "b", "c"], [0.3, 0.1, 0.2, 0.9]).tolist()
    ['b', None, 'c', 'a']
    """
    texts = np.asarray(texts, dtype=object)
    same_length(texts, draws)
    known = np.flatnonzero(~pd.isna(texts))
    permuted = np.full(len(texts), None, dtype=object)
    if len(known) > 1:
        order = known[np.argsort(np.asarray(draws)[known], kind="stable")]
        permuted[order] = texts[np.roll(order, 1)]
    return permuted


def permuted_word_error_rates(
    references: Texts, hypotheses: Texts, draws: Numbers, count: Callable[..., Counts] = word_errors
) -> tuple[Statistic, Statistic, Statistic]:
    """Compare the word error rate of transcripts with that of the same ones for other segments.

    A transcript of what was said has fewer errors than one of something else; one that has nothing to do with
    the sound has as many. So no constant prediction can win, and none without a single word.

    - ``draws``: see :func:`permuted_hypotheses`; ``count``: one of :mod:`soundcheck.metrics.word_errors`.
    - Returns error rate, that of the permuted transcripts, and the first minus the second, over the same
      segments.

    >>> permuted_word_error_rates(["go", "stop"], ["go", "stop"], [0.1, 0.2])
    (Statistic(0.0), Statistic(1.0), Statistic(-1.0))
    """
    references = np.asarray(references, dtype=object)
    known = ~(pd.isna(references) | pd.isna(np.asarray(hypotheses, dtype=object)))
    permuted = permuted_hypotheses(np.where(known, hypotheses, None), draws)
    both = [count(references, texts) for texts in (hypotheses, permuted)]
    of_model, of_permuted = (word_error_rate(counts.words, counts.errors) for counts in both)
    return of_model, of_permuted, difference(of_model, of_permuted)


# What is written where nobody speaks


def word_counts(texts: Texts) -> np.ndarray:
    """Count words, and characters of scripts without blanks, of each prediction, float64; NaN without one."""
    counts = [np.nan if text is None else len(characters_apart(text).split()) for text in texts]
    return np.array(counts, dtype=np.float64)


def character_counts(texts: Texts) -> np.ndarray:
    """Count the characters of each prediction, float64 ``(segments,)``; NaN without one."""
    return np.array([np.nan if text is None else len(closed_up(text)) for text in texts], dtype=np.float64)


def empty_answers(texts: Texts, *, missing: float = np.nan) -> Statistic:
    """Share of predictions without any word.

    - ``missing``: what no prediction counts as: NaN leaves it out, 0 counts it as one with words.

    >>> empty_answers(["", "thank you", None])
    Statistic(0.5)
    """
    counts = word_counts(texts)
    return mean_value(np.where(np.isnan(counts), missing, counts == 0))


def per_minute(counts: Numbers, seconds: Numbers) -> Statistic:
    """Words, characters or insertions of all predictions by minutes of all signals.

    - ``counts``: of each prediction, ``(segments,)``; NaN without one.
    - ``seconds``: length of each signal, ``(segments,)``.

    >>> per_minute([2, 0], [20, 40])
    Statistic(2.0)
    """
    return ratio_of_sums(counts, numbers(seconds) / 60)


def most_repeated(text: str, most_words: int) -> int:
    """Count how often in a row the sequence of at most so many words is repeated that is repeated most.

    >>> most_repeated("thank you thank you thank you for watching", 5)
    3
    >>> most_repeated("thank you thank you thank you for watching", 1)
    1
    """
    words = characters_apart(text).split()
    most = min(1, len(words))
    for size in range(1, min(most_words, len(words) // 2) + 1):
        same = 0
        for before, word in zip(words, words[size:], strict=False):
            same = same + 1 if word == before else 0
            most = max(most, same // size + 1)
    return most


def repeating_answers(texts: Texts, most_words: int, times: int) -> Statistic:
    """Share of predictions in which a sequence of at most so many words stands so many times in a row.

    >>> repeating_answers(["you you you", "thank you"], 5, 3)
    Statistic(0.5)
    """
    repeating = [np.nan if text is None else most_repeated(text, most_words) >= times for text in texts]
    return mean_value(repeating)


def words_made_up(texts: Texts, count: int) -> list[tuple[str, int]]:
    """List the words that were written most often, with how often; of equals in alphabetical order."""
    counts = Counter(word for text in texts if text is not None for word in text.split())
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:count]
