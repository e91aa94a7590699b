"""What a model predicts: dimensions between 0 and 1, one of a few classes, words, or whose voice it is.

The four tasks of speech emotion come with thresholds from the literature, ``transcript`` and ``embedding``
with families of their own; a suite may declare further regression and classification tasks under ``tasks:``.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from soundcheck.common.scales import seven_digits

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
