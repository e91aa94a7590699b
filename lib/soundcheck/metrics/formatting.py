r"""Errors of punctuation and capitals in transcripts that are written for people to read.

Conventions
-----------
- Words are what white space and marks separate. Signs between digits (3.5, 10:30) and periods and colons
  between letters (U.S, EU:n) are no marks. The last period of U.S. is one: nobody can tell it from a full
  stop.
- Marks are those of :data:`MARKS`, whatever the script; the same one several times in a row is one, three
  periods are an ellipsis. Quotation marks, brackets and symbols are no marks, and no words.
- Words are aligned with as few errors as possible, case aside. Marks between two aligned words are compared
  with the marks between the words they are aligned with, whatever else is there.
- A mark that is replaced or left out counts for the mark of the reference, one that is inserted for itself.
  So the errors of all marks add up.
- Capitals are compared where a word is right but for its case; a word that is wrong says nothing about them.
"""

import dataclasses
import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable

import numpy as np
from rapidfuzz.distance import Levenshtein

from soundcheck.metrics.additive import Texts
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

_OF = {character: place for place, characters in enumerate(MARKS.values()) for character in characters}
# Apostrophes of all kinds are one; what only allows a break or joins letters is none
_ALIKE = str.maketrans(dict.fromkeys(APOSTROPHES, "'") | dict.fromkeys("\u00ad\u200c\u200d\u2060"))
_MARK = re.compile(  # but between digits (3.5, 10:30), and periods and colons between letters (U.S, EU:n)
    r"(?<!\S)-{1,2}(?!\S)|(?!(?<=\d)[.,:](?=\d))(?!(?<=[^\W\d_])[.:](?=[^\W\d_]))"
    rf"[{re.escape(''.join(_OF))}]"
)


def split_marks(text: str) -> tuple[list[str], list[tuple[int, ...]]]:
    """Part words from the marks before each of them and behind the last one, as places in :data:`MARKS`.

    >>> split_marks("Well, it's 3.5... Right?")
    (['Well', "it's", '3.5', 'Right'], [(), (1,), (), (6,), (2,)])
    """
    text = re.sub(r"\.{3,}", "…", text.translate(_ALIKE))
    words: list[str] = []
    marks: list[list[int]] = [[]]
    place = 0
    for match in [*_MARK.finditer(text), None]:
        for piece in text[place : match.start() if match else None].split():
            if word := _bare(piece):
                words.append(word)
                marks.append([])
        if match:
            mark = _OF.get(match[0], _OF["—"])
            if marks[-1][-1:] != [mark]:
                marks[-1].append(mark)
            place = match.end()
    return words, list(map(tuple, marks))


def _bare(piece: str) -> str:
    """Take quotation marks and brackets from around a word; empty if there is no word.

    Letters, digits and marks make a word, and the sign of a currency or per cent beside one.
    """
    if piece.isalnum():
        return piece
    categories = [unicodedata.category(sign) for sign in piece]
    inside = [n for n, category in enumerate(categories) if category[0] in "LNM"]
    if not inside:
        return ""
    first, last = inside[0], inside[-1] + 1
    while first and categories[first - 1] == "Sc":
        first -= 1
    while last < len(piece) and (piece[last] == "%" or categories[last] == "Sc"):
        last += 1
    return piece[first:last]


@dataclasses.dataclass(frozen=True, eq=False)
class FormatErrors:
    """Errors of ``N`` segments, float64; NaN where there is no reference or no hypothesis."""

    # ``(N, marks, 4)``, in the order of :data:`MARKS` and :data:`KINDS`: marks of the reference, then those
    # replaced, left out and inserted
    marks: np.ndarray
    capitals: np.ndarray  # words of the reference with a capital that were recognised, ``(N,)``
    capital_errors: np.ndarray  # words that were recognised with other capitals, ``(N,)``

    @property
    def mark_errors(self) -> np.ndarray:
        """Errors of each mark, ``(N, marks)``."""
        return self.marks[:, :, 1:].sum(axis=2)


def format_errors(references: Texts, hypotheses: Texts) -> FormatErrors:
    """Count errors of punctuation and capitals in texts as they were written; missing ones are ``None``.

    >>> errors = format_errors(["Go on, Anna."], ["go on Anna?"])
    >>> float(errors.mark_errors.sum()), errors.capitals, errors.capital_errors
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
    (left, left_marks), (right, right_marks) = split_marks(reference), split_marks(hypothesis)
    counts = np.zeros((len(MARKS), len(KINDS)))
    capitals = wrong = before = after = 0
    for tag, start, end, from_, to in Levenshtein.opcodes(
        *(list(map(fold_case, side)) for side in (left, right))
    ):
        if tag not in ("equal", "replace"):
            continue
        for source, target in zip(range(start, end), range(from_, to), strict=True):
            _compare(left_marks[before : source + 1], right_marks[after : target + 1], counts)
            before, after = source + 1, target + 1
            if tag == "equal":
                capitals += _has_capital(left[source])
                wrong += left[source] != right[target]
    _compare(left_marks[before:], right_marks[after:], counts)
    counts.setflags(write=False)
    return counts, (capitals, wrong)


def _compare(left: Iterable[tuple[int, ...]], right: Iterable[tuple[int, ...]], counts: np.ndarray) -> None:
    """Add the marks of one gap between aligned words to the counts."""
    left, right = (list(itertools.chain(*gaps)) for gaps in (left, right))
    for mark in left:
        counts[mark, 0] += 1
    for tag, source, target in Levenshtein.editops(left, right):
        mark = right[target] if tag == "insert" else left[source]
        counts[mark, ("replace", "delete", "insert").index(tag) + 1] += 1


def _has_capital(word: str) -> bool:
    return any(map(str.isupper, word))


def has_marks(text: str) -> bool:
    """Say whether a text has any mark."""
    return any(split_marks(text)[1])


def has_capitals(text: str) -> bool:
    """Say whether a text tells capitals from other letters: it has some of both."""
    return _has_capital(text) and any(map(str.islower, text))
