"""Scripts that are written without blanks between words, in which words cannot be told apart.

Chinese, Japanese, Thai, Lao, Khmer, Burmese and Tibetan put blanks between sentences or parts of them, if
anywhere. Splitting at blanks then makes a word of a sentence, and a word error rate of a sentence error rate.
So the field counts character errors, without blanks.

Conventions
-----------
- The script decides, not what a corpus says about its language: words may have been separated beforehand, but
  nobody knows how, and recognisers do it in another way.
- Korean and Vietnamese are written with blanks.
- Only letters are looked at; digits, marks and punctuation are shared by scripts.
- Each reference has a unit of its own, that of which it has more: characters of such scripts, or words of the
  others. Where a corpus has both, or references of words with more than 5 % of such characters, its unit is
  *mixed*, as in the mixed error rate of speech that switches between two languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import numpy as np

CHARACTER, MIXED, WORD = "character", "mixed", "word"  # units of error

# What Unicode's names of letters of such scripts begin with
_SCRIPTS = (
    *("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO", "THAI", "LAO", "KHMER", "MYANMAR"),
    *("TIBETAN", "TAI ", "NEW TAI"),
)
_SWITCHED = 0.05  # share of such characters from which on speech switches between two kinds of scripts


class Translation(dict[int, str]):
    """A table for ``str.translate`` that asks a function about each character once."""

    def __init__(self, entry: Callable[[str], str]) -> None:
        super().__init__()
        self._entry = entry

    def __missing__(self, code: int) -> str:
        self[code] = entry = self._entry(chr(code))
        return entry


def _kind(character: str) -> str:
    """Tell letters of such scripts (u) and their marks (m) from other letters (s)."""
    kind = unicodedata.category(character)[0]
    without = kind in "LM" and unicodedata.name(character, "").startswith(_SCRIPTS)
    return ("u" if without else "s") if kind == "L" else "m" if without else " "


_KINDS = Translation(_kind)
_ASCII_WORD = re.compile(r"[A-Za-z]\S*")  # from the first letter of what stands between blanks


def without_blanks(texts: Iterable[str | None]) -> np.ndarray:
    """Say of each text whether it has more characters of scripts without blanks than words of others.

    Missing texts (``None`` or NaN) and those without letters have not.

    >>> without_blanks(["今日はいい天気", "오늘 날씨", "go left", None]).tolist()
    [True, False, False, False]
    """
    counts = (_counts(text) if isinstance(text, str) else (0, 0) for text in texts)
    return np.array([signs > words for signs, words in counts], dtype=bool)


def unit_of(references: Sequence[str | None]) -> str:
    """Say what is counted where these are the references: :data:`CHARACTER`, :data:`WORD` or :data:`MIXED`.

    >>> unit_of(["左转", "ok", None]), unit_of(["左转", "123"]), unit_of([])
    ('mixed', 'character', 'word')
    """
    texts = [text for text in references if isinstance(text, str)]
    if all(map(str.isascii, texts)):
        return WORD
    counts = [_counts(text) for text in texts]
    kinds = {signs > words for signs, words in counts if signs or words}
    if kinds == {False} and sum(signs for signs, _ in counts) > _SWITCHED * sum(map(sum, counts)):
        return MIXED
    return MIXED if len(kinds) > 1 else CHARACTER if True in kinds else WORD


def units(unit: str) -> str:
    """Name several units in words."""
    return "words or characters" if unit == MIXED else f"{unit}s"


def characters_apart(text: str) -> str:
    """Put blanks around the characters of such scripts, so that each is a word.

    >>> characters_apart("我要去 new york")
    '我 要 去 new york'
    """
    kinds = "" if text.isascii() else text.translate(_KINDS)
    if "u" not in kinds and "m" not in kinds:
        return text
    parts = (text[part.start() : part.end()] for part in re.finditer("[um]|[^um]+", kinds))
    return " ".join(" ".join(parts).split())


def closed_up(text: str) -> str:
    """Take out blanks beside the characters of such scripts, which writers do not put there.

    >>> closed_up("我 要 去 new york")
    '我要去new york'
    """
    text = " ".join(text.split())
    kinds = f" {text.translate(_KINDS)} "
    beside = (not {kinds[n], kinds[n + 2]}.isdisjoint("um") for n in range(len(text)))
    return "".join(sign for sign, close in zip(text, beside, strict=True) if sign != " " or not close)


def _counts(text: str) -> tuple[int, int]:
    """Count letters of such scripts, and words of others."""
    if text.isascii():
        return 0, len(_ASCII_WORD.findall(text))
    kinds = text.translate(_KINDS)
    return kinds.count("u"), len(re.findall("s+", kinds))
