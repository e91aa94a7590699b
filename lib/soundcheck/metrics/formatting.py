r"""Errors of punctuation and capitals in transcripts that are written for people to read.

Conventions
-----------
- Words are what white space and marks separate. Signs between digits (3.5, 10:30) and periods and colons
  between letters (U.S, EU:n) are no marks. The last period of U.S. is one: nobody can tell it from a full
  stop.
- Marks are those of :data:`MARKS`, whatever the script; the same one several times in a row is one, three
  periods are an ellipsis. Quotation marks, brackets and symbols are no marks, and no words.
- Words are aligned with as few errors as possible, case aside. Marks between two aligned words are compared
  with the marks between the words they are aligned with, whatever else stands there.
- A mark that is replaced or left out counts for the mark of the reference, one that is put in for itself. So
  the errors of all marks add up.
- Capitals are compared where a word is right but for its case; a word that is wrong says nothing about them.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import unicodedata
from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from soundcheck.metrics.normalisation import APOSTROPHES, fold_case

MARKS = {  # name -> characters
    "full stop": ".。।۔।",
    "comma": ",，،、",
    "question mark": "?？؟",
    "exclamation mark": "!！",
    "colon": ":：",
    "semicolon": ";；؛",
    "ellipsis": "…",
    "dash": "–—",
}
KINDS = ("marks", "substitutions", "deletions", "insertions")

_OF = {character: place for place, own in enumerate(MARKS.values()) for character in own}
_SIGNS = "".join(_OF)
# Apostrophes of all kinds are one; what only allows a break or joins letters is none
_ALIKE = str.maketrans(dict.fromkeys(APOSTROPHES, "'") | dict.fromkeys("\u00ad\u200c\u200d\u2060"))
_MARK = re.compile(  # but between digits (3.5, 10:30), and periods and colons between letters (U.S, EU:n)
    rf"(?<!\S)-{{1,2}}(?!\S)|(?!(?<=\d)[.,:](?=\d))(?!(?<=[^\W\d_])[.:](?=[^\W\d_]))[{re.escape(_SIGNS)}]"
)
_KEPT = "LNM"  # categories of characters that make a word; and the sign of a currency or per cent beside one


def split_marks(text: str) -> tuple[list[str], list[tuple[int, ...]]]:
    """Part words from the marks between them.

    Returns the words; and the marks before each of them and behind the last one, as places in :data:`MARKS`.

    >>> split_marks("Well, it's 3.5... Right?")
    (['Well', "it's", '3.5', 'Right'], [(), (1,), (), (6,), (2,)])
    """
    text = re.sub(r"\.{3,}", "…", text.translate(_ALIKE))
    words: list[str] = []
    marks: list[list[int]] = [[]]
    place = 0
    for found in [*_MARK.finditer(text), None]:
        for piece in text[place : found.start() if found else None].split():
            if word := _bare(piece):
                words.append(word)
                marks.append([])
        if found:
            mark = _OF.get(found[0], _OF["—"])
            if marks[-1][-1:] != [mark]:
                marks[-1].append(mark)
            place = found.end()
    return words, [tuple(own) for own in marks]


def _bare(piece: str) -> str:
    """Take quotation marks and brackets from around a word; empty if there is no word."""
    if piece.isalnum():
        return piece
    kept = [n for n, sign in enumerate(piece) if unicodedata.category(sign)[0] in _KEPT]
    if not kept:
        return ""
    first, last = kept[0], kept[-1] + 1
    while first and unicodedata.category(piece[first - 1]) == "Sc":
        first -= 1
    while piece[last : last + 1] == "%" or unicodedata.category(piece[last : last + 1] or " ") == "Sc":
        last += 1
    return piece[first:last]


@dataclasses.dataclass(frozen=True, eq=False)
class FormatErrors:
    """Errors of ``N`` segments, float64; NaN where there is no reference or no hypothesis."""

    # ``(N, marks, 4)``, in the order of :data:`MARKS` and :data:`KINDS`: marks of the reference, then those
    # replaced, left out and put in
    marks: np.ndarray
    capitals: np.ndarray  # words of the reference with a capital that were recognised, ``(N,)``
    capital_errors: np.ndarray  # words that were recognised with other capitals, ``(N,)``

    @property
    def mark_errors(self) -> np.ndarray:
        """Errors of each mark, ``(N, marks)``."""
        return self.marks[:, :, 1:].sum(axis=2)


def format_errors(references: Sequence[str | None], hypotheses: Sequence[str | None]) -> FormatErrors:
    """Count errors of punctuation and capitals.

    - ``references, hypotheses``: texts as they were written, ``(N,)``; missing ones are ``None``.

    >>> found = format_errors(["Go on, Anna."], ["go on Anna?"])
    >>> float(found.mark_errors.sum()), found.capitals, found.capital_errors
    (2.0, array([2.]), array([1.]))
    """
    marks = np.full((len(references), len(MARKS), len(KINDS)), np.nan)
    capitals = np.full((len(references), 2), np.nan)
    for n, (reference, hypothesis) in enumerate(zip(references, hypotheses, strict=True)):
        if reference is not None and hypothesis is not None:
            marks[n], capitals[n] = _errors(str(reference), hypothesis)
    return FormatErrors(marks, *capitals.T)


@functools.lru_cache(maxsize=2**14)  # short commands come again and again
def _errors(reference: str, hypothesis: str) -> tuple[np.ndarray, tuple[int, int]]:
    (said, here), (heard, there) = split_marks(reference), split_marks(hypothesis)
    counts = np.zeros((len(MARKS), len(KINDS)))
    capitals = wrong = before = after = 0
    folded = list(map(fold_case, said)), list(map(fold_case, heard))
    for tag, start, end, from_, to in Levenshtein.opcodes(*folded):
        if tag not in ("equal", "replace"):
            continue
        for one, other in zip(range(start, end), range(from_, to), strict=True):
            _compare(_joined(here[before : one + 1]), _joined(there[after : other + 1]), counts)
            before, after = one + 1, other + 1
            if tag == "equal":
                capitals += _capital(said[one])
                wrong += said[one] != heard[other]
    _compare(_joined(here[before:]), _joined(there[after:]), counts)
    counts.setflags(write=False)
    return counts, (capitals, wrong)


def _joined(gaps: Sequence[tuple[int, ...]]) -> list[int]:
    return [mark for gap in gaps for mark in gap]


def _compare(said: list[int], written: list[int], counts: np.ndarray) -> None:
    """Add the marks of one gap between words to the counts."""
    for mark in said:
        counts[mark, 0] += 1
    if said == written:
        return
    for tag, here, there in Levenshtein.editops(said, written):
        if tag == "insert":
            counts[written[there], 3] += 1
        else:
            counts[said[here], 1 if tag == "replace" else 2] += 1


def _capital(word: str) -> bool:
    return any(map(str.isupper, word))


def has_marks(text: str) -> bool:
    """Say whether a text has any mark."""
    return any(split_marks(text)[1])


def has_capitals(text: str) -> bool:
    """Say whether a text tells capitals from other letters: it has some of both."""
    return _capital(text) and any(map(str.islower, text))
