"""What a model predicts: dimensions between 0 and 1, one of a few classes, words, or whose voice it is.

The four tasks of speech emotion come with thresholds from the literature, ``transcript`` and ``embedding``
with families of their own; a suite may declare further regression and classification tasks under ``tasks:``.

Neural networks predict in float32, where 0.6 is 0.60000002. Read digit by digit, such a value lies outside
of a range that ends at 0.6, in the bin above an edge at 0.6, and 0.55 and 0.6 are less than 0.05 apart. So
labels and predictions are taken to single precision and then to the seven significant digits that it
carries, before anything is computed: a model has the same results whether it predicts in float32, float64 or
as Python numbers.

- A scale is ``(low, high)``; it may fall: on ``(5, 1)`` the number 1 means most.
- *Far* outside is a number beyond an end by more than a fifth of the width. Right models overshoot by less.
- Words for classes: synonyms and abbreviations of emotions, other spellings of any class.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from soundcheck.common.messages import flow

# Numbers and scales -----------------------------------------------------------------------------------------

DECIMAL = 1e-9  # what binary numbers make of a decimal one is less: 0.5 - 0.45 is 0.05 by this
DIGITS = 7  # a decimal number of so many digits survives single precision, from 1e-3 to 1e3 without exception
_LARGEST = 1e18  # beyond it powers of ten are not exact; such numbers are no ratings and stay as they are
_SMALLEST = 1e-12

Scale = tuple[float, float]

USUAL: tuple[Scale, ...] = (  # of ratings, the narrowest first
    *((0, 1), (-1, 1), (1, 5), (0, 5), (1, 7), (-3, 3), (1, 9), (0, 10), (1, 10)),
    *((-5, 5), (-10, 10), (0, 100), (-100, 100)),
)
FAR = 0.2  # of the width
MANY, MANY_SHARE = 12, 0.001  # numbers far outside that are another scale, of few and of very many numbers
FEW, FEW_SHARE = 3, 0.05  # likewise of small tables
FITS = 1 / 3  # of the width of a scale that numbers cover at least
NAMED = 3  # scales that a message names


def seven_digits(values: np.ndarray) -> np.ndarray:
    """Take numbers to single precision and round them to seven significant digits.

    - ``values``: numbers of any shape; NaN and infinite ones are kept.
    - Returns float64, the nearest ones to the decimal numbers; magnitudes below 1e-12 become 0.

    >>> seven_digits(np.array([0.6, 0.123456789], dtype=np.float32)).tolist()
    [0.6, 0.1234568]
    >>> seven_digits(np.array([0.6, 0.123456789])).tolist()
    [0.6, 0.1234568]
    """
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        size = np.abs(values.astype(np.float32))  # 1e-12 is as small in double as in single precision
    usual = (size >= np.float32(_SMALLEST)) & (size <= np.float32(_LARGEST))
    single = np.where(usual, values, 1.0).astype(np.float32).astype(np.float64)
    places = DIGITS - 1 - np.floor(np.log10(np.abs(single))).astype(np.int64)
    up, down = 10.0 ** np.clip(places, 0, None), 10.0 ** np.clip(-places, 0, None)
    rounded = np.rint(single * up / down) * down / up
    return np.where(usual, rounded, np.where(size < np.float32(_SMALLEST), 0.0, values))


def half_precision(value: object) -> float:
    """Give the shortest decimal number that half precision stores as a number: 0.6 for 0.60009766.

    Half precision carries three digits. Predictions are read as those, since seven would tell 0.6 from what
    the model could predict at most.

    >>> half_precision(np.float16(0.6))
    0.6
    """
    return float(np.format_float_scientific(np.float16(value), unique=True))


def outside(values: np.ndarray, scale: Scale, by: float = 0.0) -> np.ndarray:
    """Say which numbers lie outside of a scale by more than a share of its width, bool; NaN does not."""
    margin = by * abs(scale[1] - scale[0])
    return (values < min(scale) - margin) | (values > max(scale) + margin)


def another_scale(values: np.ndarray, scale: Scale, *, stated: bool = False) -> bool:
    """Say whether numbers lie on another scale than they are said to.

    - ``scale``: on which they are said to lie.
    - ``stated``: whether the suite says so of just these numbers: then a dozen of very many far outside are
      no proof.

    >>> another_scale(np.array([-0.05, 0.4, 0.9, 1.08]), (0, 1))
    False
    >>> another_scale(np.array([-0.9, -0.4, -0.3, *np.linspace(0, 1, 50)]), (0, 1))
    True
    """
    beyond, far = int(outside(values, scale).sum()), int(outside(values, scale, FAR).sum())
    many = not stated and far >= max(MANY, MANY_SHARE * len(values))
    return beyond > max(1, len(values) / 2) or far >= max(FEW, FEW_SHARE * len(values)) or many


def usual_scales(values: np.ndarray, first: Iterable[Scale] = ()) -> list[Scale]:
    """Name scales that numbers may lie on, the likeliest first.

    - ``values``: finite numbers, at least one.
    - ``first``: scales that are in use beside them; if one of them fits, no other is named.

    >>> usual_scales(np.array([1.86, 5.8]))
    [(1, 7), (1, 9), (0, 10)]
    >>> usual_scales(np.array([1, 2, 5])), usual_scales(np.array([-730, 12]))
    ([(1, 5)], [])
    """
    low, high = float(values.min()), float(values.max())
    for scales in (first, USUAL):
        fit = [scale for scale in dict.fromkeys(scales) if min(scale) <= low and high <= max(scale)]
        exact = [scale for scale in fit if sorted(scale) == [low, high]]
        close = [scale for scale in fit if high - low >= FITS * abs(scale[1] - scale[0])]
        if exact or close:
            return exact[:1] or close[:NAMED]
    return []


def range_advice(scales: Sequence[Scale], name: str = "") -> str:
    """Write what ``range:`` may say, with the scales that were found; ``name`` = of this task alone."""
    texts = [f"[{low:g}, {high:g}]" for low, high in scales] or ["[lowest, highest]"]
    given = f"{{{name}: {texts[0]}}}" if name else texts[0]
    return " or ".join([f"`range: {given}`", *texts[1:]])


# Tasks ------------------------------------------------------------------------------------------------------

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
    shown = f"{name}: labels from {low:g} to {high:g} are shown from 0 to 1"
    return f"{shown}, where 0.1 is {abs(high - low) / 10:g} of their scale"


def scaled(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Map labels or predictions to 0..1, where all thresholds live.

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


# Classes ----------------------------------------------------------------------------------------------------

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
