"""What a model predicts: dimensions between 0 and 1, one of a few classes, words, or whose voice it is.

The four tasks of speech emotion come with thresholds from the literature, ``transcript`` and ``embedding``
with families of their own; a suite may declare further regression and classification tasks under ``tasks:``.

Words for classes: synonyms and abbreviations of emotions, other spellings of any class.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from soundcheck.common.scales import seven_digits
from soundcheck.common.wording import flow

EMOTION = ("anger", "happiness", "neutral", "sadness")
REGRESSION = "regression"
CLASSIFICATION = "classification"
TRANSCRIPTION = "transcription"
EMBEDDING = "embedding"
# Of the numbers of a model that does not listen, before they are cut off at 0 and 1.
RANDOM_MEAN, RANDOM_DEVIATION = 0.5, 1 / 6
KINDS = (REGRESSION, CLASSIFICATION, TRANSCRIPTION, EMBEDDING)


@dataclasses.dataclass(frozen=True)
class Task:
    """One thing that models predict and corpora label.

    - ``low, high``: regression: nominal range of labels and predictions; it may fall.
    """

    name: str  # name of the label column and of the key in a model's prediction
    kind: str  # ``"regression"``, ``"classification"``, ``"transcription"`` or ``"embedding"``
    classes: tuple[str, ...] = ()  # classification: all classes, in the order in which they are shown
    low: float = 0.0
    high: float = 1.0

    @property
    def is_regression(self) -> bool:
        """Whether the prediction is a number."""
        return self.kind == REGRESSION

    @property
    def is_transcription(self) -> bool:
        """Whether the prediction is a text: the words that are said."""
        return self.kind == TRANSCRIPTION

    @property
    def is_embedding(self) -> bool:
        """Whether the prediction is a vector whose direction stands for the speaker."""
        return self.kind == EMBEDDING

    @property
    def is_labelled(self) -> bool:
        """Whether corpora label segments for it, with numbers or classes."""
        return self.kind in (REGRESSION, CLASSIFICATION)

    def scale(self, values: np.ndarray) -> np.ndarray:
        """Map values from the nominal range to 0..1, see :func:`scaled`."""
        return scaled(values, self.low, self.high)


def scale_sentence(name: str, low: float, high: float) -> str:
    """Say how numbers on another scale are shown; empty for those from 0 to 1.

    >>> scale_sentence("arousal", 1, 7)
    'arousal: labels from 1 to 7 are shown from 0 to 1, where 0.1 is 0.6 of their scale'
    """
    if (low, high) == (0, 1):
        return ""
    return (
        f"{name}: labels from {low:g} to {high:g} are shown from 0 to 1, "
        f"where 0.1 is {abs(high - low) / 10:g} of their scale"
    )


def scaled(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Map labels or predictions to 0..1, where all thresholds live.

    They are read with the seven digits that single precision carries (see
    :mod:`soundcheck.common.scales`), so that edges of bins and ranges mean the same for all types of
    numbers and all scales.

    - ``values``: numbers; those outside the range are kept outside, not clipped; NaN = missing.
    - ``low, high``: ends of the range that they are given in; on one that falls, from 5 to 1, a 5 becomes 0.
    - Returns float64, rounded to 12 decimals: 4.6 on a scale from 1 to 7 is exactly 0.6.
    """
    return np.round((seven_digits(values) - low) / (high - low), 12)


BUILTIN: dict[str, Task] = {
    "arousal": Task("arousal", REGRESSION),
    "dominance": Task("dominance", REGRESSION),
    "valence": Task("valence", REGRESSION),
    "emotion": Task("emotion", CLASSIFICATION, EMOTION),
    "transcript": Task("transcript", TRANSCRIPTION),
    "embedding": Task("embedding", EMBEDDING),
}


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
