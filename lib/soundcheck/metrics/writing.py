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
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

__all__ = ["mostly_without_blanks", "without_blanks"]

# What Unicode's names of letters of such scripts begin with
_SCRIPTS = (
    *("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO", "THAI", "LAO", "KHMER", "MYANMAR"),
    *("TIBETAN", "TAI ", "NEW TAI"),
)
_MAJORITY = 0.5  # more than this share decides


class _Kinds(dict[int, str]):
    """For ``str.translate``: letters of such scripts (u), other letters (s); asks about each only once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        letter = unicodedata.category(character)[0] == "L"
        without = letter and unicodedata.name(character, "").startswith(_SCRIPTS)
        self[code] = found = "u" if without else "s" if letter else " "
        return found


_KINDS = _Kinds()


def without_blanks(texts: Iterable[str | None]) -> np.ndarray:
    """Say of each text whether most of its letters are of scripts without blanks between words.

    Parameters
    ----------
    texts
        Texts, ``(N,)``; of missing ones (``None`` or NaN) and of those without letters the answer is no.

    Returns
    -------
    numpy.ndarray
        bool ``(N,)``.

    Examples
    --------
    >>> without_blanks(["今日はいい天気", "오늘 날씨", "go left", None]).tolist()
    [True, False, False, False]
    """
    return np.array([_without(text) for text in texts], dtype=bool)


def mostly_without_blanks(texts: Sequence[str | None]) -> bool:
    """Say whether that is so of more than half of the texts that have letters.

    Examples
    --------
    >>> mostly_without_blanks(["左转", "ok", "停", "123", None])
    True
    """
    lettered = [text for text in texts if isinstance(text, str) and any(map(str.isalpha, text))]
    return bool(lettered) and float(np.mean(without_blanks(lettered))) > _MAJORITY


def _without(text: str | None) -> bool:
    if not isinstance(text, str) or text.isascii():
        return False
    kinds = text.translate(_KINDS)
    without = kinds.count("u")
    return without > _MAJORITY * (without + kinds.count("s"))
