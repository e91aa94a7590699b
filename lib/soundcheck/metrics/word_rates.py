r"""Rates of transcripts that the field reports beside the word error rate.

Conventions
-----------
- :math:`H` words are right, :math:`S` stand for another one, :math:`D` are left out and :math:`I` put in.
  So the references have :math:`H + S + D` words and the hypotheses :math:`H + S + I`.
- Sums over all segments are divided by sums, as in :func:`soundcheck.metrics.word_errors.word_error_rate`.
- Where several alignments have as few errors, RapidFuzz's decides about the kinds, as it does for jiwer. The
  word error rate is the same for all of them, the match error rate and the word information lost are not.
- A missing hypothesis (``None`` or NaN) leaves its segment out, as NIST's sclite leaves out utterances that a
  file of hypotheses does not name. Where hypotheses are found by their times, sclite takes a missing one for
  an empty one, and so does :func:`error_rate_with_missing`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.metrics.additive import Columns, Statistic, numbers, ratio, same_length, segments
from soundcheck.metrics.word_errors import NO_WORDS, Counts, character_errors, word_error_rate, word_errors
from soundcheck.metrics.writing import CHARACTER, MIXED, unit_of


def wer(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Statistic:
    """Word error rate of normalised transcripts, ``(segments,)`` each; ``None`` if missing."""
    counts = word_errors(references, hypotheses)
    return word_error_rate(counts.words, counts.errors)


def cer(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Statistic:
    """Character error rate of normalised transcripts, ``(segments,)`` each; ``None`` if missing.

    Blanks are no characters where references are in scripts without blanks between words.
    """
    counts = characters_of(references, hypotheses)
    return word_error_rate(counts.words, counts.errors)


def group_error_rate(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Statistic:
    """Error rate by which groups are compared: of words, or of characters if their scripts may differ."""
    return (cer if unit_of(references) == MIXED else wer)(references, hypotheses)


def characters_of(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Counts:
    """Count character errors as :func:`cer` does."""
    unit = unit_of(references)
    return character_errors(references, hypotheses, blanks=None if unit == MIXED else unit != CHARACTER)


def ratio_of_sums(counts: Sequence[float], parts: Sequence[float], nothing: str = "") -> Statistic:
    """Divide the sum of what was counted by the sum of what it is a part of, such as words or minutes.

    - ``counts``: what was counted in each answer, ``(segments,)``; NaN without an answer.
    - ``parts``: what there was of each segment, ``(segments,)``.
    - ``nothing``: why there is no value where there was nothing; else the number of segments is told.

    >>> from soundcheck.metrics.additive import value
    >>> value(ratio_of_sums([1, 0, np.nan], [1, 3, 5]))
    0.25
    """
    counts, parts = numbers(counts), numbers(parts)
    same_length(counts, parts)
    rows = ~np.isnan(counts)
    kept = tuple(np.where(rows, column, 0.0) for column in (counts, parts))

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums[2] > 0 else nothing if sums[0] and nothing else segments(0),)

    return Statistic(
        parts=(Columns(rows, ~rows, kept),),
        compute=lambda sums: ratio(sums[..., 1:2], sums[..., 2:3]),
        count=lambda sums: sums[..., :1],
        reasons=reasons,
    )


def missing_as_empty(hypotheses: Sequence[str | None]) -> np.ndarray:
    """Take missing hypotheses for empty ones.

    - ``hypotheses``: texts, ``(N,)``; missing ones are ``None`` or NaN.
    - Returns object ``(N,)``, all of them texts.

    >>> missing_as_empty(["go", None]).tolist()
    ['go', '']
    """
    return np.array([*("" if pd.isna(text) else text for text in hypotheses), None], dtype=object)[:-1]


def error_rate_with_missing(
    references: Sequence[str | None],
    hypotheses: Sequence[str | None],
    count: Callable[..., Counts] = word_errors,
) -> Statistic:
    """Error rate in which a missing hypothesis leaves out all words of its reference.

    A recogniser cannot gain by giving no answer where it is hard. However many are missing, there is a rate;
    a note says how many.

    - ``references, hypotheses``: texts, ``(N,)``; missing ones are ``None`` or NaN. Missing references leave
      a segment out.
    - ``count``: counts words or characters, see :mod:`soundcheck.metrics.word_errors`.
    - Returns one value of at least 0, counting segments with a reference.
    - Raises ValueError: if there are not as many references as hypotheses.

    >>> from soundcheck.metrics.additive import value
    >>> value(error_rate_with_missing(["go left", "stop now"], ["go left", None]))
    0.5
    """
    counts = count(references, missing_as_empty(hypotheses))
    statistic = word_error_rate(counts.words, counts.errors)
    silent = pd.isna(np.asarray(hypotheses, dtype=object)) & ~np.isnan(counts.words)
    if not silent.any():
        return statistic
    lost = counted(int(counts.words[silent].sum()), counts.unit)
    told = f"no answer for {int(silent.sum())} of {segments(int((~np.isnan(counts.words)).sum()))}"
    told += f", {lost} counted as left out"

    def notes(sums: np.ndarray) -> tuple[str, ...]:
        return tuple("; ".join(filter(None, (told, note))) for note in statistic.notes(sums))

    return dataclasses.replace(statistic, notes=notes)


def sentence_error_rate(counts: Counts) -> Statistic:
    """Share of segments with at least one error.

    - ``counts``: from :func:`soundcheck.metrics.word_errors.word_errors`.
    - Returns one value from 0 to 1, counting segments.

    >>> from soundcheck.metrics.additive import value
    >>> value(sentence_error_rate(word_errors(["go left", "stop"], ["go", "stop"])))
    0.5
    """
    one = np.where(np.isnan(counts.words), np.nan, 1.0)
    return word_error_rate(one, np.where(np.isnan(counts.errors), np.nan, counts.errors > 0))


def match_error_rate(counts: Counts) -> Statistic:
    r"""Share of aligned places that are wrong, :math:`(S + D + I) / (H + S + D + I)`.

    Morris, Maier and Green (2004), From WER and RIL to MER and WIL.

    - ``counts``: from :func:`soundcheck.metrics.word_errors.word_errors`.
    - Returns one value from 0 to 1, counting segments; undefined where there is no word on either side.

    >>> from soundcheck.metrics.additive import value
    >>> value(match_error_rate(word_errors(["go left"], ["go left now please"])))
    0.5
    """
    insertions = np.where(np.isnan(counts.insertions), 0.0, counts.insertions)
    return word_error_rate(counts.words + insertions, counts.errors)


def word_information_lost(counts: Counts) -> Statistic:
    r"""Word information lost, :math:`1 - \frac{H}{H + S + D} \cdot \frac{H}{H + S + I}`.

    What it is an approximation of, and where it comes from: see :func:`match_error_rate`. Where nothing was
    recognised it is 1.

    - ``counts``: from :func:`soundcheck.metrics.word_errors.word_errors`.
    - Returns one value from 0 to 1, counting segments; undefined without words in the references.

    >>> from soundcheck.metrics.additive import value
    >>> value(word_information_lost(word_errors(["go left"], ["go right"])))
    0.75
    """
    words, errors = numbers(counts.words), numbers(counts.errors)
    known, answered = ~np.isnan(words), ~np.isnan(errors)
    rows = known & answered
    hits = words - counts.substitutions - counts.deletions
    heard = hits + counts.substitutions + counts.insertions
    kept = tuple(np.where(rows, column, 0.0) for column in (words, heard, hits))

    def compute(sums: np.ndarray) -> np.ndarray:
        said, heard, hits = (sums[..., place : place + 1] for place in (1, 2, 3))
        # Without words in the hypotheses nothing is preserved; 0/1 says so.
        return 1 - ratio(hits, said) * ratio(hits, np.maximum(heard, 1.0))

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums[1] > 0 else segments(0) if sums[0] == 0 else NO_WORDS,)

    return Statistic(
        parts=(Columns(rows, known & ~answered, kept),),
        compute=compute,
        count=lambda sums: sums[..., :1],
        reasons=reasons,
    )
