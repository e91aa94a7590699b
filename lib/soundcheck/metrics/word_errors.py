r"""Word errors of transcripts: substitutions, deletions, insertions and the word error rate.

Conventions
-----------
- Words are what white space separates; lower case, punctuation and numerals are the caller's to settle.
- The alignment has as few errors as possible; where several have, the split into kinds is RapidFuzz's.
- Rates divide sums by sums: errors of all segments by words of all references. They may exceed 1.
- Words inserted where the reference is empty are errors, without adding words; a note counts such references.
  Without a single reference word there is no rate.
- Segments without reference are left out, those with a reference but without a hypothesis are unanswered
  (see :mod:`soundcheck.metrics.additive`). An empty hypothesis is an answer: all words are deleted.

Public: :func:`count_errors`, :class:`WordErrors`, :func:`word_errors`, :class:`Counts`,
:func:`word_error_rate`, :func:`error_rates`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein

from soundcheck.metrics.additive import Columns, Statistic, numbers, ratio, same_length, segments

RATES = ("word error rate", "insertions", "deletions", "substitutions")
NO_WORDS = "no reference words"


@dataclasses.dataclass(frozen=True)
class WordErrors:
    """Errors of one transcript.

    Parameters
    ----------
    words
        Words of the reference.
    substitutions, deletions, insertions
        Numbers of errors of each kind.
    """

    words: int
    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0

    @property
    def errors(self) -> int:
        """Errors of all kinds."""
        return self.substitutions + self.deletions + self.insertions


def count_errors(reference: str, hypothesis: str) -> WordErrors:
    """Align two transcripts with as few errors as possible and count them.

    Examples
    --------
    >>> count_errors("the cat sat down", "the mat sat")
    WordErrors(words=4, substitutions=1, deletions=1, insertions=0)
    """
    words = reference.split()
    kinds = [edit.tag for edit in Levenshtein.editops(words, hypothesis.split())]
    return WordErrors(len(words), kinds.count("replace"), kinds.count("delete"), kinds.count("insert"))


@dataclasses.dataclass(frozen=True, eq=False)
class Counts:
    """Word errors of ``N`` segments, float64 ``(N,)`` each; NaN if unknown.

    Parameters
    ----------
    words
        Words of the references; NaN if there is no reference.
    substitutions, deletions, insertions
        Errors of each kind; NaN if there is no reference or no hypothesis.
    """

    words: np.ndarray
    substitutions: np.ndarray
    deletions: np.ndarray
    insertions: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """Errors of all kinds."""
        return self.substitutions + self.deletions + self.insertions


def word_errors(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Counts:
    """Count the word errors of segments.

    Parameters
    ----------
    references, hypotheses
        Texts, ``(N,)``; missing ones are ``None`` or NaN.

    Returns
    -------
    Counts
        What :func:`error_rates` takes.
    """
    references = np.asarray(references, dtype=object)
    hypotheses = np.asarray(hypotheses, dtype=object)
    same_length(references, hypotheses)
    there, answered = ~pd.isna(references), ~pd.isna(hypotheses)
    table = np.full((4, len(references)), np.nan)
    for n in np.flatnonzero(there):
        if answered[n]:
            found = count_errors(references[n], hypotheses[n])
            table[:, n] = found.words, found.substitutions, found.deletions, found.insertions
        else:
            table[0, n] = len(references[n].split())
    return Counts(*table)


def word_error_rate(words: Sequence[float], errors: Sequence[float]) -> Statistic:
    r"""Word error rate, :math:`\sum e_i / \sum m_i`.

    Parameters
    ----------
    words
        Words of each reference, ``(N,)``; NaN leaves a segment out.
    errors
        Errors of each segment, ``(N,)``; NaN where there is no hypothesis.

    Returns
    -------
    Statistic
        One value of at least 0, counting segments; undefined without words in the references.
    """
    return _rates(words, [errors], ("",))


def error_rates(counts: Counts) -> Statistic:
    """Word error rate and its parts, each in errors a word of the reference.

    Parameters
    ----------
    counts
        From :func:`word_errors`.

    Returns
    -------
    Statistic
        Four values, labels :data:`RATES`; the last three add up to the first.
    """
    columns = [counts.errors, counts.insertions, counts.deletions, counts.substitutions]
    return _rates(counts.words, columns, RATES)


def _rates(words: Sequence[float], columns: Sequence[Sequence[float]], labels: tuple[str, ...]) -> Statistic:
    words, *columns = (numbers(column) for column in (words, *columns))
    for column in columns:
        same_length(words, column)
    known = ~np.isnan(words)
    answered = ~np.isnan(columns[0])
    rows = known & answered
    m = len(labels)

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        text = segments(0) if sums[0] == 0 else f"{NO_WORDS}, {sums[2]:.0f} insertions"
        return ("" if sums[1] > 0 else text,) * m

    def notes(sums: np.ndarray) -> tuple[str, ...]:
        empty = round(float(sums[-1]))
        return (f"{empty} empty reference{'' if empty == 1 else 's'}" if empty else "",) * m

    everything = rows.all()
    empty = (words == 0).astype(np.float64)
    kept = tuple(c if everything else np.where(rows, c, 0.0) for c in (words, *columns, empty))
    return Statistic(
        parts=(Columns(rows, known & ~answered, kept),),
        finish=lambda sums: ratio(sums[..., 2:-1], sums[..., 1:2]),
        count=lambda sums: np.broadcast_to(sums[..., :1], (*sums.shape[:-1], m)),
        labels=labels,
        reasons=reasons,
        notes=notes,
    )
