"""What a model says of its own answers: probabilities of classes, bounds of values, a confidence.

All of it is optional, and stands in or beside the answer::

    {"emotion": {"anger": 0.7, "joy": 0.3}}               # probabilities; the likeliest class is the answer
    {"arousal": {"value": 0.4, "low": 0.2, "high": 0.6}}  # an interval for a value
    {"emotion": "anger", "confidence": 0.7}               # of any answer: how surely it is right
    {"transcript": "go", "words": [...]}                  # of each word, see soundcheck.models.stated_words

Conventions
-----------
- Kept answers and tables have a number for each: ``emotion.anger``, ``arousal.low``, ``arousal.high``,
  ``confidence``; and a text, ``transcript.words``. Where nothing is said there is none.
- Probabilities are 0 or more and add up to 1; those of classes that are not named are 0. They are not mended:
  what adds up to something else is no answer.
- A confidence is the probability that the answer is right, from 0 to 1.
- Bounds are on the scale of the value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from soundcheck.common.errors import did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.models.stated_words import WORDS, read_words

CONFIDENCE = "confidence"
BOUNDS = ("low", "high")
TOLERANCE = 1e-3  # by which probabilities may fail to add up to 1: they may have been rounded
_NOISE = 1e-9  # float noise of the sum itself


def stated_names(tasks: Sequence[Task]) -> list[str]:
    """Name all that a model of some tasks may say of its answers, as kept answers and tables do.

    Examples
    --------
    >>> stated_names([Task("arousal", "regression"), Task("emotion", "classification", ("anger", "joy"))])
    ['arousal.low', 'arousal.high', 'emotion.anger', 'emotion.joy', 'confidence']
    """
    names = [f"{task.name}.{part}" for task in tasks for part in (task.classes or _bounds(task))]
    taken = {task.name for task in tasks}
    return [name for name in (*names, *word_names(tasks), CONFIDENCE) if name not in taken]


def word_names(tasks: Sequence[Task]) -> list[str]:
    """Name what is said of words: of all that is said, what is a text and no number.

    Examples
    --------
    >>> word_names([Task("transcript", "transcription")])
    ['transcript.words']
    """
    return [f"{task.name}.{WORDS}" for task in tasks if task.is_transcription]


def _bounds(task: Task) -> tuple[str, ...]:
    return BOUNDS if task.is_regression else ()


def likeliest(probabilities: Mapping[str, float], task: Task) -> str:
    """Name the class with the highest probability, of equal ones the first of the task."""
    return max(task.classes, key=lambda name: probabilities.get(name, 0.0))


def unknown_class(names: Sequence[object], task: Task) -> str:
    """Say that probabilities are of a class that the task does not have; empty if all are known."""
    unknown = next((name for name in names if name not in task.classes), None)
    if unknown is None:
        return ""
    return f"probabilities of an unknown class {quoted(str(unknown), 40)}{_hint(str(unknown), task)}"


def _hint(name: str, task: Task) -> str:
    near = did_you_mean(name, task.classes)
    return f" ({near.split('?')[0]}?)" if "?" in near else ""


def probability_problem(numbers: Sequence[float]) -> str:
    """Say why numbers are no probabilities of all classes; empty if they are."""
    if any(map(math.isnan, numbers)):
        return "probabilities with nan among them"
    lowest = min(numbers, default=0.0)
    if lowest < 0:
        return f"probabilities with {lowest:.4g} among them, which is negative"
    total = math.fsum(numbers)
    if not abs(total - 1) <= TOLERANCE + _NOISE:
        return f"probabilities that add up to {total:.6g} instead of 1"
    return ""


def bounds_problem(low: float, high: float) -> str:
    """Say why two numbers are no interval; empty if they are."""
    return f"an interval from {low:.4g} to {high:.4g}, whose low lies above its high" if low > high else ""


def confidence_problem(number: float) -> str:
    """Say why a number is no confidence; empty if it is."""
    return "" if 0 <= number <= 1 else f"{number:.4g}, not a number from 0 to 1"


def distance(one: Mapping[str, object], other: Mapping[str, object], tasks: Sequence[Task]) -> float:
    """Measure how far two answers are apart in what they say of themselves.

    Returns
    -------
    float
        The largest difference of two numbers, those of bounds as a share of the task's range; infinite if one
        of the answers says what the other does not, or has other words.
    """
    spans = {f"{task.name}.{end}": abs(task.high - task.low) for task in tasks for end in _bounds(task)}
    largest, texts = 0.0, word_names(tasks)
    for name in stated_names(tasks):
        if (name in one) != (name in other):
            return math.inf
        if name in one and name in texts:
            pairs = [read_words(answer[name]) or [] for answer in (one, other)]
            if [word for word, _ in pairs[0]] != [word for word, _ in pairs[1]]:
                return math.inf
            gaps = (abs(mine - theirs) for (_, mine), (_, theirs) in zip(*pairs, strict=True))
            largest = max(largest, *gaps, 0.0)
        elif name in one:
            largest = max(largest, abs(one[name] - other[name]) / spans.get(name, 1.0))
    return largest
