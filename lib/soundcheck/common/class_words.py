"""What words for classes mean: synonyms and abbreviations of emotions, other spellings of any class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from soundcheck.common.wording import flow

NOTHING = ("", "?", "-", "na", "n/a", "nan", "none", "null", "unknown", "xxx")  # say that there is no label
_SAME = [  # words for one emotion; abbreviations begin like them
    words.split()
    for words in (
        "anger angry/happiness happy joy joyful/neutral neutrality/sadness sad/fear fearful afraid/"
        "disgust disgusted/surprise surprised/frustration frustrated/excitement excited/boredom bored"
    ).split("/")
]
_LETTERS = {"a": "anger", "h": "happiness", "n": "neutral", "s": "sadness", "sa": "sadness"}
_LETTERS |= {"f": "fear", "d": "disgust", "u": "surprise", "su": "surprise", "c": "contempt"}
_OTHERS = ("o", "x")  # letters that stand beside them and mean none
_PREFIX = 3  # letters of an abbreviation


def meanings(labels: Iterable[str], classes: Sequence[str]) -> dict[str, str]:
    """Find classes that labels mean although they are written otherwise.

    - ``labels``: all labels of a column, classes among them. Single letters mean something only if all short
      labels are among the usual ones: an ``A`` beside a ``W`` is German.

    >>> meanings(["angry", "HAP", "neutral", "fru"], ["anger", "happiness", "neutral", "sadness"])
    {'angry': 'anger', 'HAP': 'happiness'}
    >>> meanings(["A", "H", "W"], ["anger", "happiness"]), meanings(["Turn Left"], ["turn_left"])
    ({}, {'Turn Left': 'turn_left'})
    """
    words = {label: _plain(label) for label in labels}
    short = {word for word in words.values() if len(word) <= 2}
    letters = _LETTERS if "h" in short and short <= {*_LETTERS, *_OTHERS} else {}
    means = {label: _meaning(letters.get(word, word), classes) for label, word in words.items()}
    return {label: name for label, name in means.items() if name and label not in classes}


def _meaning(word: str, classes: Sequence[str]) -> str:
    """Find the only class that a plain word may mean; empty if there is none."""
    plain = {name: _plain(name) for name in classes}
    same = next((words for words in _SAME if word in words), (word,))
    alike = [name for name, text in plain.items() if text in same]
    begun = [name for name, text in plain.items() if len(word) >= _PREFIX and text.startswith(word)]
    matches = alike or begun
    return matches[0] if len(matches) == 1 else ""


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def as_values(column: str, meant: Mapping[str, str]) -> str:
    """Write under which key a suite says what words of a column mean, as YAML on one line."""
    return f"values: {flow({column: dict(meant)})}"
