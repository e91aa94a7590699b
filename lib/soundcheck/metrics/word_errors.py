r"""Word and character errors of transcripts: substitutions, deletions, insertions and their rates.

Conventions
-----------
- Words are what white space separates; lower case, punctuation and numerals are the caller's to settle, for
  instance with :mod:`soundcheck.metrics.normalisation`.
- Characters are those of the words, joined by one blank each; these blanks count, as they do for jiwer, but
  where the caller says that they do not.
- White space around the text and more of it between words do not, only the former of which jiwer drops.
- The alignment has as few errors as possible; where several have, the split into kinds is RapidFuzz's.
- Rates divide sums by sums: errors of all segments by words of all references. They may exceed 1.
- Words inserted where the reference is empty are errors, without adding words; a note counts such references.
  Without a single reference word there is no rate.
- An empty hypothesis is an answer: all words are deleted.
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
import pandas as pd
from rapidfuzz.distance import Levenshtein

from soundcheck.common.wording import counted
from soundcheck.metrics.additive import Columns, Statistic, numbers, ratio, same_length, segments
from soundcheck.metrics.alternatives import cheapest
from soundcheck.metrics.writing import closed_up

RATES = ("word error rate", "insertions", "deletions", "substitutions")
NO_WORDS = "no reference words"


@dataclasses.dataclass(frozen=True)
class WordErrors:
    """Errors of one transcript.

    - ``substitutions, deletions, insertions``: numbers of errors of each kind.
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

    >>> count_errors("the cat sat down", "the mat sat")
    WordErrors(words=4, substitutions=1, deletions=1, insertions=0)
    """
    return WordErrors(*_count(reference.split(), hypothesis.split()))


@dataclasses.dataclass(frozen=True, eq=False)
class Counts:
    """Errors of ``N`` segments, float64 ``(N,)`` each; NaN if unknown.

    - ``substitutions, deletions, insertions``: errors of each kind; NaN if there is no reference or no
      hypothesis.
    """

    words: np.ndarray  # words of the references, or their characters; NaN if there is no reference
    substitutions: np.ndarray
    deletions: np.ndarray
    insertions: np.ndarray
    unit: str = "word"  # what is counted: ``word`` or ``character``

    @property
    def errors(self) -> np.ndarray:
        """Errors of all kinds."""
        return self.substitutions + self.deletions + self.insertions

    def take(self, rows: np.ndarray) -> Counts:
        """Keep some segments, by their numbers."""
        kinds = (self.words, self.substitutions, self.deletions, self.insertions)
        return Counts(*(counts[rows] for counts in kinds), unit=self.unit)


def word_errors(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> Counts:
    """Count the word errors of segments.

    - ``references, hypotheses``: texts, ``(N,)``; missing ones are ``None`` or NaN.
    - Returns what :func:`error_rates` takes.
    - Raises ValueError: if there are not as many references as hypotheses.
    """
    return _errors(references, hypotheses, str.split, "word")


def character_errors(
    references: Sequence[str | None], hypotheses: Sequence[str | None], *, blanks: bool | None = True
) -> Counts:
    """Count the character errors of segments, blanks between words included.

    - ``references, hypotheses``: texts, ``(N,)``; missing ones are ``None`` or NaN. A character is a code
      point: a letter and a combining mark are two unless they are composed.
    - ``blanks``: whether blanks between words are characters; where a language is written without, they are
      not, see :mod:`soundcheck.metrics.writing`. ``None`` = only those of other scripts are.
    - Returns what :func:`error_rates` takes; ``words`` are the characters of the references.
    - Raises ValueError: if there are not as many references as hypotheses.

    >>> character_errors(["go  on"], ["go an"]).substitutions
    array([1.])
    """
    units = closed_up if blanks is None else _characters if blanks else _joined
    return _errors(references, hypotheses, units, "character")


def _characters(text: str) -> str:
    return " ".join(text.split())


def _joined(text: str) -> str:
    return "".join(text.split())


def _errors(
    references: Sequence[str | None],
    hypotheses: Sequence[str | None],
    units: Callable[[str], Sequence[str]],
    unit: str,
) -> Counts:
    """Count the errors of segments in what a text is made of: a list of words or a string of characters."""
    references, hypotheses = (np.asarray(texts, dtype=object) for texts in (references, hypotheses))
    same_length(references, hypotheses)
    # A page asks for the errors of the same texts many times, and comparing texts takes no time beside that.
    return _counted(tuple(references.tolist()), tuple(hypotheses.tolist()), units, unit)


@functools.lru_cache(maxsize=8)
def _counted(
    references: tuple[str | None, ...],
    hypotheses: tuple[str | None, ...],
    units: Callable[[str], Sequence[str]],
    unit: str,
) -> Counts:
    references, hypotheses = (_objects(texts) for texts in (references, hypotheses))
    there, answered = ~pd.isna(references), ~pd.isna(hypotheses)
    found: dict[tuple[str, str], tuple[int, int, int, int]] = {}  # short commands come again and again
    both = np.flatnonzero(there & answered)
    rows = array.array("q")
    for pair in zip(references[both], hypotheses[both], strict=True):
        counts = found.get(pair)
        if counts is None:
            reference, hypothesis = cheapest(*pair), pair[1]
            counts = found[pair] = _count(units(reference), units(hypothesis))
        rows.extend(counts)
    table = np.full((4, len(references)), np.nan)
    table[:, both] = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    for n in np.flatnonzero(there & ~answered):
        table[0, n] = len(units(references[n]))
    table.setflags(write=False)  # several callers have it
    return Counts(*table, unit=unit)


def _objects(texts: tuple[str | None, ...]) -> np.ndarray:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def _count(reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[int, int, int, int]:
    """Count units of the reference, substitutions, deletions and insertions."""
    if reference == hypothesis:
        return len(reference), 0, 0, 0
    edits = Levenshtein.editops(reference, hypothesis)
    more = len(hypothesis) - len(reference)
    # With one error more than the lengths differ by, or none, these tell the kinds.
    if len(edits) - abs(more) <= 1:
        return len(reference), len(edits) - abs(more), max(-more, 0), max(more, 0)
    kinds = [edit.tag for edit in edits]
    return len(reference), kinds.count("replace"), kinds.count("delete"), kinds.count("insert")


def word_error_rate(words: Sequence[float], errors: Sequence[float]) -> Statistic:
    r"""Word error rate, :math:`\sum e_i / \sum m_i`.

    - ``words``: words of each reference, ``(N,)``; NaN leaves a segment out.
    - ``errors``: errors of each segment, ``(N,)``; NaN where there is no hypothesis.
    - Returns one value of at least 0, counting segments; undefined without words in the references.
    """
    return _rates(words, [errors], ("",), "word")


def error_rates(counts: Counts) -> Statistic:
    """Word error rate and its parts, each in errors a word of the reference; the same for characters.

    - ``counts``: from :func:`word_errors` or :func:`character_errors`.
    - Returns four values, labels :data:`RATES`, or those of characters; the last three add up to the first.
    """
    columns = [counts.errors, counts.insertions, counts.deletions, counts.substitutions]
    return _rates(counts.words, columns, (f"{counts.unit} error rate", *RATES[1:]), counts.unit)


def _rates(
    words: Sequence[float], columns: Sequence[Sequence[float]], labels: tuple[str, ...], unit: str
) -> Statistic:
    words, *columns = (numbers(column) for column in (words, *columns))
    for column in columns:
        same_length(words, column)
    known = ~np.isnan(words)
    answered = ~np.isnan(columns[0])
    rows = known & answered
    m = len(labels)

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        text = segments(0) if sums[0] == 0 else f"{NO_WORDS.replace('word', unit)}, {sums[2]:.0f} insertions"
        return ("" if sums[1] > 0 else text,) * m

    def notes(sums: np.ndarray) -> tuple[str, ...]:
        empty = round(float(sums[-1]))
        return (counted(empty, "empty reference") if empty else "",) * m

    everything = rows.all()
    empty = (words == 0).astype(np.float64)
    kept = tuple(c if everything else np.where(rows, c, 0.0) for c in (words, *columns, empty))
    return Statistic(
        parts=(Columns(rows, known & ~answered, kept),),
        compute=lambda sums: ratio(sums[..., 2:-1], sums[..., 1:2]),
        count=lambda sums: np.broadcast_to(sums[..., :1], (*sums.shape[:-1], m)),
        labels=labels,
        reasons=reasons,
        notes=notes,
    )
