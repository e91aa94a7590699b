r"""Word and character errors of transcripts: substitutions, deletions, insertions and their rates.

Conventions
-----------
- Words are what white space separates; lower case, punctuation and numerals are the caller's to settle, for
  instance with :mod:`soundcheck.metrics.normalisation`. Missing texts are ``None`` or NaN.
- Characters are those of the words, joined by one blank each; these blanks count, as they do for jiwer, but
  where the caller says that they do not.
- White space around the text and more of it between words do not, only the former of which jiwer drops.
- The alignment has as few errors as possible; where several have, the split into kinds is RapidFuzz's.
- Rates divide sums by sums: errors of all segments by words of all references. They may exceed 1.
- Words inserted where the reference is empty are errors, without adding words; a note counts such references.
  Without a single reference word there is no rate.
- An empty hypothesis is a prediction: all words are deleted.
- References may allow several wordings, see :mod:`soundcheck.metrics.alternatives`: the one with the fewest
  word errors counts, and where there is no hypothesis, the first.
- Very long transcripts take long; how long says :mod:`soundcheck.metrics.alignment`, which has the words.
"""

from __future__ import annotations

import array
import dataclasses
import functools
from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from soundcheck.common.wording import counted
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
from soundcheck.metrics.alternatives import cheapest
from soundcheck.metrics.writing import closed_up

RATES = ("word error rate", "insertions", "deletions", "substitutions")
NO_WORDS = "no reference words"

_UNKNOWN = (np.nan,) * 3


@dataclasses.dataclass(frozen=True, eq=False)
class Counts:
    """Errors of ``N`` segments, float64 ``(N,)`` each; NaN if unknown."""

    words: np.ndarray  # words of the references, or their characters; NaN if there is no reference
    substitutions: np.ndarray  # errors of each kind; NaN if there is no reference or no hypothesis
    deletions: np.ndarray
    insertions: np.ndarray
    unit: str = "word"  # what is counted: ``word`` or ``character``

    @property
    def errors(self) -> np.ndarray:
        """Errors of all kinds."""
        return self.substitutions + self.deletions + self.insertions

    def take(self, rows: np.ndarray) -> Counts:
        """Keep some segments, by their numbers.

        >>> word_errors(["go on", "stop"], ["go", "stop"]).take([1]).words
        array([1.])
        """
        kinds = (self.words, self.substitutions, self.deletions, self.insertions)
        return Counts(*(counts[rows] for counts in kinds), unit=self.unit)


def word_errors(references: Texts, hypotheses: Texts) -> Counts:
    """Count the word errors of segments, for :func:`error_rates`.

    >>> found = word_errors(["the cat sat down"], ["the mat sat"])
    >>> found.words, found.substitutions, found.deletions, found.insertions
    (array([4.]), array([1.]), array([1.]), array([0.]))
    """
    return _errors(references, hypotheses, str.split, "word")


def character_errors(references: Texts, hypotheses: Texts, *, blanks: bool | None = True) -> Counts:
    """Count the character errors of segments, blanks between words included, for :func:`error_rates`.

    A character is a code point: a letter and a combining mark are two unless they are composed.

    - ``blanks``: whether blanks between words are characters; where a language is written without, they are
      not, see :mod:`soundcheck.metrics.writing`. ``None`` = only those of other scripts are.

    >>> character_errors(["go  on"], ["go an"]).substitutions
    array([1.])
    """
    units = closed_up if blanks is None else _characters if blanks else _joined
    return _errors(references, hypotheses, units, "character")


def _characters(text: str) -> str:
    return " ".join(text.split())


def _joined(text: str) -> str:
    return "".join(text.split())


def _errors(references: Texts, hypotheses: Texts, units: Callable[[str], Sequence[str]], unit: str) -> Counts:
    """Count the errors of segments in what a text is made of: a list of words or a string of characters."""
    references, hypotheses = (np.asarray(texts, dtype=object) for texts in (references, hypotheses))
    same_length(references, hypotheses)
    # A page needs the errors of the same texts many times, and comparing texts takes no time beside that.
    return _counted(tuple(references.tolist()), tuple(hypotheses.tolist()), units, unit)


@functools.lru_cache(maxsize=8)
def _counted(
    references: tuple[str | None, ...],
    hypotheses: tuple[str | None, ...],
    units: Callable[[str], Sequence[str]],
    unit: str,
) -> Counts:
    rows = array.array("d")
    pairs: dict[tuple[str, str], tuple[int, ...]] = {}  # short commands come again and again
    for reference, hypothesis in zip(references, hypotheses, strict=True):
        if not isinstance(reference, str):
            rows.extend((np.nan, *_UNKNOWN))
        elif not isinstance(hypothesis, str):
            rows.extend((len(units(reference)), *_UNKNOWN))
        else:
            pair = reference, hypothesis
            if pair not in pairs:
                pairs[pair] = _count(units(cheapest(*pair)), units(hypothesis))
            rows.extend(pairs[pair])
    table = np.array(rows).reshape(-1, 4).T.copy()
    table.setflags(write=False)  # several callers have it
    return Counts(*table, unit=unit)


def _count(reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[int, int, int, int]:
    """Count units of the reference, substitutions, deletions and insertions."""
    kinds = [edit.tag for edit in Levenshtein.editops(reference, hypothesis)]
    return len(reference), kinds.count("replace"), kinds.count("delete"), kinds.count("insert")


def word_error_rate(words: Numbers, errors: Numbers) -> Statistic:
    r"""Word error rate, :math:`\sum e_i / \sum m_i`, counting segments.

    - ``words``: words :math:`m_i` of each reference, ``(N,)``; NaN leaves a segment out.
    - ``errors``: errors :math:`e_i` of each segment, ``(N,)``; NaN where there is no hypothesis.

    >>> word_error_rate([4, 1], [1, 1])
    Statistic(0.4)
    """
    return _rates(words, [errors], ("",), "word")


def error_rates(counts: Counts) -> Statistic:
    r"""Word error rate and its parts, each in errors a word of the reference; the same for characters.

    .. math:: \mathrm{WER} = \frac{I}{N} + \frac{D}{N} + \frac{S}{N}

    with insertions, deletions, substitutions and :math:`N` words of the references. Returns four values,
    labels :data:`RATES`, or those of characters.

    >>> error_rates(word_errors(["the cat sat down"], ["the mat sat"]))
    Statistic({'word error rate': 0.5, 'insertions': 0.0, 'deletions': 0.25, 'substitutions': 0.25})
    """
    columns = [counts.errors, counts.insertions, counts.deletions, counts.substitutions]
    return _rates(counts.words, columns, (f"{counts.unit} error rate", *RATES[1:]), counts.unit)


def _rates(words: Numbers, columns: Sequence[Numbers], labels: tuple[str, ...], unit: str) -> Statistic:
    words, *columns = (numbers(column) for column in (words, *columns))
    for column in columns:
        same_length(words, column)
    known, predicted = ~np.isnan(words), ~np.isnan(columns[0])

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        text = segments(0) if sums[0] == 0 else f"{NO_WORDS.replace('word', unit)}, {sums[2]:.0f} insertions"
        return ("" if sums[1] > 0 else text,) * len(labels)

    def notes(sums: np.ndarray) -> tuple[str, ...]:
        empty = round(float(sums[-1]))
        return (counted(empty, "empty reference") if empty else "",) * len(labels)

    return of_columns(
        known & predicted,
        known & ~predicted,
        (words, *columns, (words == 0).astype(np.float64)),
        lambda sums: ratio(sums[..., 2:-1], sums[..., 1:2]),
        labels,
        reasons=reasons,
        notes=notes,
    )
