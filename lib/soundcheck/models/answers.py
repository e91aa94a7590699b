"""What a model predicts: the check of it, what it says of its own predictions, and how both are kept.

All that a model says of its predictions is optional, and stands in or beside the prediction::

    {"emotion": {"anger": 0.7, "joy": 0.3}}               # probabilities; the likeliest class counts
    {"arousal": {"value": 0.4, "low": 0.2, "high": 0.6}}  # an interval for a value
    {"emotion": "anger", "confidence": 0.7}               # of any prediction: how surely it is right
    {"transcript": "go on", "words": [{"word": "go", "confidence": 0.9}, {"word": "on", "confidence": 0.4}]}

Conventions
-----------
- A *prediction* is a mapping from task name to a number (regression, in the task's nominal range), to the
  name of a class, to a transcript or to an embedding. Values outside the nominal range and unknown classes
  are predictions, too; they are kept and reported. An empty transcript is a prediction: nothing was
  recognised.
- An *embedding* is a vector of finite numbers, kept as float32 in base64, so that caches and messages hold
  plain JSON. One without length has no direction and is no prediction.
- A *problem* is a phrase without full stop that says why something is no prediction; empty means fine. It
  begins with :data:`NOT_ASKED` where the model never got the input.
- Kept predictions and tables have a number for each thing that is said: ``emotion.anger``, ``arousal.low``,
  ``arousal.high``, ``confidence``; and a text, ``transcript.words``. Where nothing is said there is none.
- Probabilities are 0 or more and add up to 1; those of classes that are not named are 0. They are not mended:
  what adds up to something else is no prediction. Bounds are on the scale of the value.
- A confidence is the probability that the prediction, or a word, is right, from 0 to 1. That of a word stands
  under one of :data:`KEYS`: ours and that of Kaldi's descendants and of cloud services, Whisper's, Vosk's.
  Words join to the transcript: the letters and digits of all of them, one after the other, are its own. Words
  of which none has a confidence say nothing, and may be of any form.
- Numbers are kept as the model gave them; they are mapped to the task's nominal range when tables are made. A
  model or table of which more than half of the numbers lie outside, or a dozen far outside, is refused: they
  would be wrong without looking wrong. A few outside are kept and counted.
"""

from __future__ import annotations

import base64
import json
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from soundcheck.common.messages import input_error, nearest, quoted, shorten
from soundcheck.common.tasks import (
    CLASSIFICATION,
    EMBEDDING,
    REGRESSION,
    TRANSCRIPTION,
    Task,
    another_scale,
    half_precision,
    outside,
    range_advice,
    scaled,
    usual_scales,
)
from soundcheck.suite.entries import ModelEntry, Suite

NAMED = 5  # values that a message shows
CLASS_LIMIT = 200  # characters of a class name that are kept
TEXT_LIMIT = 100_000  # characters of a transcript, nearly two hours of speech; a longer one is no prediction
NOT_ASKED = "not asked"  # what a problem begins with if the model could not predict: it never got the input
VECTOR_LIMIT = 65_536  # numbers of an embedding; a longer one is no prediction
WORDS = "words"  # key of a prediction, and what the column's name ends with
KEYS = ("confidence", "probability", "conf")
Words = list[tuple[str, float]]
CONFIDENCE = "confidence"
BOUNDS = ("low", "high")
TOLERANCE = 1e-3  # by which probabilities may fail to add up to 1: they may have been rounded
_NOISE = 1e-9  # float noise of the sum itself


class NoAnswer(NamedTuple):
    """What a model gives for one of several signals instead of a prediction."""

    problem: str  # why there is none; goes into tables and pages as it is
    rest: str = ""  # why it has none for anything else either, so that nobody need ask


def example(tasks: Sequence[Task]) -> dict[str, float | str | list[float]]:
    """Make up a prediction.

    >>> example([Task("arousal", "regression"), Task("emotion", "classification", ("anger", "joy"))])
    {'arousal': 0.5, 'emotion': 'anger'}
    """
    answers: dict[str, float | str | list[float]] = {}
    for task in tasks:
        answers[task.name] = "turn left" if task.is_transcription else [0.1, -0.2, 0.3]
        if task.is_regression:
            answers[task.name] = (task.low + task.high) / 2
        elif task.classes:
            answers[task.name] = task.classes[0]
    return answers


def check_output(output: object, tasks: Sequence[Task]) -> tuple[dict[str, float | str], str]:
    """Turn what a model returned into plain values for some tasks; gives the prediction and the problem.

    A mapping with a key for each task is a prediction; further keys but ``confidence`` and ``words`` are
    ignored. Numbers may be Python's, NumPy's, or arrays and tensors without dimensions; they must be finite,
    and ``True``, a list or an array of one number are none. An embedding may have further axes of length 1.

    The prediction is task -> float or str, an embedding as packed text; and what the model says of its
    predictions, as in :func:`stated_names`. It is empty if there is a problem with any
    task. :class:`NoAnswer` brings a problem of its own.

    >>> check_output({"arousal": np.float32(0.5)}, [Task("arousal", "regression")])
    ({'arousal': 0.5}, '')
    >>> check_output({"arousal": float("nan")}, [Task("arousal", "regression")])
    ({}, 'arousal is nan, not a number')
    >>> check_output({"arousal": {"value": 0.5, "low": 0.4, "high": 0.7}}, [Task("arousal", "regression")])
    ({'arousal': 0.5, 'arousal.low': 0.4, 'arousal.high': 0.7}, '')
    """
    if isinstance(output, NoAnswer):
        return {}, output.problem
    wanted = f"expected is a dict such as {example(tasks)!r}"
    if not isinstance(output, Mapping):
        return {}, f"the model returned {_describe(output)}; {wanted}"
    missing = [task.name for task in tasks if task.name not in output]
    if missing:
        keys = ", ".join(quoted(key, 40) for key in list(output)[:5]) or "none"
        near = nearest(missing[0], [str(key) for key in list(output)[:20]])
        hint = f" (Did you mean '{near}' instead of '{missing[0]}'?)" if near else ""
        names = ", ".join(quoted(name) for name in missing)
        return {}, f"the model's prediction has no key {names}; its keys: {keys}{hint}; {wanted}"
    task_names = {task.name for task in tasks}
    answer: dict[str, float | str] = {}
    stated: dict[str, float | str] = {}
    problems = []
    for task in tasks:
        value, stating, problem = _READERS[task.kind](output[task.name], task)
        if problem:
            problems.append(f"{task.name} is {problem}")
        else:
            answer[task.name] = value
            stated |= stating
        if task.is_transcription and not problem and WORDS not in task_names:
            words, problem = words_text(output.get(WORDS), value)
            problems += [f"the prediction has {problem}"] if problem else []
            stated |= {f"{task.name}.{WORDS}": words} if words else {}
    if CONFIDENCE in output and CONFIDENCE not in task_names:
        number, problem = _number(output[CONFIDENCE])
        problem = problem or confidence_problem(number)
        problems += [f"{CONFIDENCE} is {problem}"] if problem else []
        stated[CONFIDENCE] = number
    return ({}, "; ".join(problems)) if problems else (answer | stated, "")


Read = tuple[Any, dict[str, float], str]  # the prediction, what the model says of it, and what is wrong


def _read_class(output: object, task: Task) -> Read:
    """Read the name of a class, or probabilities of classes, of which the likeliest is the prediction."""
    if not isinstance(output, Mapping):
        name = _scalar(output)
        if not isinstance(name, str):
            return "", {}, f"{_describe(name)}, not the name of a class"
        return shorten(_plain(name), CLASS_LIMIT), {}, ""
    read = {name: _number(value) for name, value in output.items()}
    wrong = next((f"{name}: {what}" for name, (_, what) in read.items() if what), "")
    problem = unknown_class(list(read), task)
    problem = problem or (wrong and f"probabilities of which one is none ({wrong})")
    if problem:
        return "", {}, problem
    known = {name: read[name][0] if name in read else 0.0 for name in task.classes}
    probabilities = {f"{task.name}.{name}": number for name, number in known.items()}
    return likeliest(known, task), probabilities, probability_problem(list(known.values()))


def _read_value(output: object, task: Task) -> Read:
    """Read a number, or one with bounds."""
    if not isinstance(output, Mapping):
        number, problem = _number(output)
        return number, {}, problem
    for name in ("value", *BOUNDS):
        if name not in output:
            return 0.0, {}, f"a mapping without {quoted(name)}; expected is value, low and high"
    bounds = {}
    for name in BOUNDS:
        bounds[f"{task.name}.{name}"], problem = _number(output[name])
        if problem:
            return 0.0, {}, f"an interval whose {name} is {problem}"
    number, problem = _number(output["value"])
    return number, bounds, bounds_problem([*bounds.values()]) or problem


def _read_text(output: object, task: Task) -> Read:
    text = _scalar(output)
    if not isinstance(text, str):
        return "", {}, f"{_describe(text)}, not a text"
    long = f"a text of {len(text)} characters; at most {TEXT_LIMIT} are a transcript"
    return _plain(text), {}, long if len(text) > TEXT_LIMIT else ""


def _read_embedding(output: object, task: Task) -> Read:
    vector = _vector(output)
    if vector is None:
        return "", {}, f"{_describe(output)}, not a vector of numbers"
    with np.errstate(over="ignore"):
        single = vector.astype(np.float32)
    nans, infinite = int(np.isnan(vector).sum()), int(np.isinf(single).sum())
    problem = ""
    if not len(vector):
        problem = "an empty vector"
    elif len(vector) > VECTOR_LIMIT:
        problem = f"a vector of {len(vector)} numbers; at most {VECTOR_LIMIT} are an embedding"
    elif nans or infinite:
        which = f"{nans} nan" if nans else f"{infinite} infinite"
        problem = f"a vector with {which} among {len(vector)} numbers"
    elif not single.any():
        problem = "a vector of zeros, which has no direction"
    return ("", {}, problem) if problem else (pack(vector), {}, "")


_READERS = {
    REGRESSION: _read_value,
    CLASSIFICATION: _read_class,
    TRANSCRIPTION: _read_text,
    EMBEDDING: _read_embedding,
}
_PLAIN = (float, int, str, bool, type(None))  # what is as it should be, or never will


def _plain(text: str) -> str:
    return str(text).encode("utf-8", "backslashreplace").decode()


def _scalar(value: object) -> object:
    """Unpack arrays and tensors without dimensions; numbers of half precision as their shortest decimal."""
    if type(value) in _PLAIN:
        return value
    kind = getattr(value, "dtype", None)
    # The name of a type of NumPy takes longer than all the rest.
    half = kind == np.float16 if isinstance(kind, np.dtype) else str(kind).removeprefix("torch.") == "float16"
    if half and getattr(value, "shape", None) == ():
        return half_precision(value)
    if isinstance(value, np.generic) or getattr(value, "shape", None) == ():
        item = getattr(value, "item", None)
        return item() if callable(item) else value
    return value


def _number(output: object) -> tuple[float, str]:
    """Read a finite number; gives it and what is wrong."""
    value = _scalar(output)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return math.nan, f"{_describe(value)}, not a number"
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isfinite(number):
        return number, ""
    return number, "nan, not a number" if math.isnan(number) else "infinite, not a number"


def _vector(value: object) -> np.ndarray | None:
    """Give the numbers of a vector, float64 ``(d,)``; ``None`` if it is something else."""
    if isinstance(value, str | bytes | Mapping | bool | numbers.Number) or value is None:
        return None
    detach = getattr(value, "detach", None)  # of a tensor that could still be trained
    try:
        array = np.asarray(detach().cpu() if callable(detach) else value)
    except Exception:  # whatever a foreign class raises: it is no vector
        return None
    if array.dtype.kind not in "fiu" or array.ndim == 0 or max(array.shape) != array.size:
        return None
    return array.astype(np.float64).ravel()


def _describe(value: object) -> str:
    """Say what something is, in a few words."""
    if isinstance(value, str):
        return f"the text {quoted(value, 40)}"
    if value is None or isinstance(value, bool | numbers.Number):
        return repr(value)[:40]
    kind = "array" if isinstance(value, np.ndarray) else type(value).__name__
    article = "an" if kind[0].lower() in "aeiou" else "a"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{article} {kind} of shape {tuple(int(size) for size in shape)}"
    if isinstance(value, list | tuple | set | dict | bytes):
        return f"{article} {kind} of length {len(value)}"
    return f"{article} {kind}"


# What a model says of its predictions ----------------------------------------------------------------------


def stated_names(tasks: Sequence[Task]) -> list[str]:
    """Name all that a model of some tasks may say of its predictions, as kept predictions and tables do.

    >>> stated_names([Task("arousal", "regression"), Task("emotion", "classification", ("anger", "joy"))])
    ['arousal.low', 'arousal.high', 'emotion.anger', 'emotion.joy', 'confidence']
    """
    names = [name for task in tasks for name in share_names(task)]
    taken = {task.name for task in tasks}
    return [name for name in (*names, *word_names(tasks), CONFIDENCE) if name not in taken]


def word_names(tasks: Sequence[Task]) -> list[str]:
    """Name what is said of words: of all that is said, what is a text and no number.

    >>> word_names([Task("transcript", "transcription")])
    ['transcript.words']
    """
    return [f"{task.name}.{WORDS}" for task in tasks if task.is_transcription]


def share_names(task: Task) -> list[str]:
    """Name the probabilities of a task's classes, or the bounds of its values."""
    return [f"{task.name}.{part}" for part in task.classes or (BOUNDS if task.is_regression else ())]


def likeliest(probabilities: Mapping[str, float], task: Task) -> str:
    """Name the class with the highest probability, of equal ones the first of the task."""
    return max(task.classes, key=lambda name: probabilities.get(name, 0.0))


def unknown_class(names: Sequence[object], task: Task) -> str:
    """Say that probabilities are of a class that the task does not have; empty if all are known."""
    unknown = next((name for name in names if name not in task.classes), None)
    if unknown is None:
        return ""
    near = nearest(str(unknown), task.classes)
    hint = f" (Did you mean '{near}'?)" if near else ""
    return f"probabilities of an unknown class {quoted(str(unknown), 40)}{hint}"


def probability_problem(numbers: Sequence[float]) -> str:
    """Say why numbers are no probabilities of all classes; empty if they are."""
    lowest = min(numbers, default=0.0)
    if lowest < 0:
        return f"probabilities with {lowest:.4g} among them, which is negative"
    total = math.fsum(numbers)
    if not abs(total - 1) <= TOLERANCE + _NOISE:  # of NaN, too
        return f"probabilities that add up to {total:.6g} instead of 1"
    return ""


def bounds_problem(numbers: Sequence[float]) -> str:
    """Say why two numbers are no interval; empty if they are."""
    low, high = numbers
    if math.isnan(low) or math.isnan(high):
        return "one bound without the other"
    return f"an interval from {low:.4g} to {high:.4g}, whose low lies above its high" if low > high else ""


def confidence_problem(number: float) -> str:
    """Say why a number is no confidence; empty if it is."""
    return "" if 0 <= number <= 1 else f"{number:.4g}, not a number from 0 to 1"


def distance(one: Mapping[str, object], other: Mapping[str, object], tasks: Sequence[Task]) -> float:
    """Measure how far two predictions are apart in what they say of themselves: the largest difference.

    That of bounds is a share of the task's range; it is infinite if one says what the other does not, or has
    other words.
    """
    values = [task for task in tasks if task.is_regression]
    spans = {name: abs(task.high - task.low) for task in values for name in share_names(task)}
    largest, texts = 0.0, word_names(tasks)
    for name in stated_names(tasks):
        if (name in one) != (name in other):
            return math.inf
        if name in one and name in texts:
            pairs = [read_words(side[name]) or [] for side in (one, other)]
            if [word for word, _ in pairs[0]] != [word for word, _ in pairs[1]]:
                return math.inf
            gaps = (abs(first - second) for (_, first), (_, second) in zip(*pairs, strict=True))
            largest = max(largest, *gaps, 0.0)
        elif name in one:
            largest = max(largest, abs(one[name] - other[name]) / spans.get(name, 1.0))
    return largest


# What a recogniser says of each word ------------------------------------------------------------------------


def words_text(output: object, transcript: str) -> tuple[str, str]:
    """Turn what a model says of its words into JSON, which is kept; gives that and the problem.

    Both are empty if nothing is said.

    >>> words_text([{"word": "Go", "confidence": 0.9}, {"word": "on", "confidence": 0.5}], "Go on.")
    ('[["Go", 0.9], ["on", 0.5]]', '')
    >>> words_text([{"word": "go", "confidence": 1.5}], "go")
    ('', "the word 'go' with the confidence 1.5, not a number from 0 to 1")
    """
    items = output if isinstance(output, Sequence) else ()
    if not any(isinstance(item, Mapping) and _key(item) for item in items):
        return "", ""
    words: Words = []
    for item in items:
        word = item.get("word") if isinstance(item, Mapping) else None
        if not isinstance(word, str):
            return "", f"{WORDS} of which one has no text under 'word'"
        key = _key(item)
        if not key:
            return "", f"the word {quoted(word, 40)} without a confidence, beside others that have one"
        number, what = _number(item[key])
        if what:
            return "", f"the word {quoted(word, 40)} with a confidence that is {what}"
        words.append((_plain(word), number))
    problem = words_problem(words, transcript)
    return ("", problem) if problem else (json.dumps(words, ensure_ascii=False), "")


def _key(word: Mapping) -> str:
    return next((key for key in KEYS if word.get(key) is not None), "")


def words_problem(words: Words, transcript: str) -> str:
    """Say why words and their confidences are not those of a transcript; empty if they are."""
    for word, number in words:
        if not 0 <= number <= 1:  # of NaN, too
            return f"the word {quoted(word, 40)} with the confidence {number:.4g}, not a number from 0 to 1"
    joined_letters, letters = _letters("".join(word for word, _ in words)), _letters(transcript)
    if joined_letters == letters:
        return ""
    joined = quoted(" ".join(word for word, _ in words), 60)
    return f"{WORDS} that do not join to the transcript: {joined} instead of {quoted(transcript, 60)}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def read_words(text: str | None) -> Words | None:
    """Read what is kept; ``None`` if nothing is said. ValueError if it is nothing of the kind, as in a table.

    >>> read_words('[["go", 0.9]]'), read_words("")
    ([('go', 0.9)], None)
    """
    if not text or (isinstance(text, float) and math.isnan(text)):
        return None
    try:
        return [(str(word), float(number)) for word, number in json.loads(text)]
    except (TypeError, ValueError, RecursionError):
        raise ValueError('no list such as [["go", 0.9], ["on", 0.5]]') from None


# Embeddings as text -----------------------------------------------------------------------------------------


def pack(vector: np.ndarray) -> str:
    """Write a vector as text: base64 of float32 numbers, little endian.

    >>> pack(np.array([1.0, 0.0]))
    'AACAPwAAAAA='
    """
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")


def unpack(text: str) -> np.ndarray:
    """Read what :func:`pack` wrote, float32 ``(d,)``.

    >>> unpack("AACAPwAAAAA=").tolist()
    [1.0, 0.0]
    """
    return np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float32)


# The scale of numbers --------------------------------------------------------------------------------------


def nominal(values: np.ndarray, task: Task, bounds: tuple[float, float]) -> np.ndarray:
    """Map predictions on a scale to the nominal range of a task; those outside of the scale stay outside.

    >>> nominal(np.array([1.0, 4.6, 7.0]), Task("arousal", "regression"), (1, 7)).tolist()
    [0.0, 0.6, 1.0]
    """
    if bounds == (task.low, task.high):
        return values
    return task.low + scaled(values, *bounds) * (task.high - task.low)


def check_scale(values: Sequence[float], task: Task, entry: ModelEntry, suite: Suite, which: str) -> None:
    """Refuse predictions on another scale than the suite says; ``which`` is for messages."""
    values = np.asarray(values, dtype=np.float64)
    values = values[np.isfinite(values)]
    scale = entry.range_of(task)
    stated = task.name in entry.ranges
    if not another_scale(values, scale, stated=stated):
        return
    low, high = scale
    beyond = values[outside(values, scale)]
    examples = ", ".join(f"{value:.4g}" for value in beyond[:NAMED])
    more = ", ..." if len(beyond) > NAMED else ""
    count = "all" if len(beyond) == len(values) else f"{len(beyond)}"
    reach = f"all lie from {values.min():.4g} to {values.max():.4g}"
    what = f"{task.name}: {count} of the {which} are not in {low:g} to {high:g} ({examples}{more}); {reach}"
    labels = [corpus.ranges[task.name] for corpus in suite.corpora.values() if task.name in corpus.ranges]
    guesses = usual_scales(values, [*labels, (task.low, task.high)])
    several = sum(suite.tasks[name].is_regression for name in entry.tasks) > 1
    remedy = f"Say on which scale the model predicts, {range_advice(guesses, task.name if several else '')}"
    if not stated and len(beyond) <= len(values) / 2:
        remedy += f", or `range: [{low:g}, {high:g}]` if it leaves that scale by mistake"
    raise input_error(f"{suite.file.name}, models.{entry.name}", what, remedy)
