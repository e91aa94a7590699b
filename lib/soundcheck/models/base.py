"""The one interface of models, and the check of what they answer.

Conventions
-----------
- A *signal* is float32, shape ``(samples,)``, mono; ``sampling_rate`` is in Hz.
- An *answer* is a mapping from task name to a number (regression, in the task's nominal range), to the name
  of a class, to a transcript or to an embedding. Values outside the nominal range and unknown classes are
  answers, too; they are kept and told. An empty transcript is an answer: nothing was recognised.
- An answer may say how sure it is: a mapping of class to probability, a value with bounds, a confidence; see
  :mod:`soundcheck.models.stated`.
- An *embedding* is a vector of finite numbers, kept as float32 (see :mod:`soundcheck.models.packing`). One
  without length has no direction and is no answer.
- A *problem* is a phrase without full stop that says why something is no answer; empty means fine. It begins
  with :data:`NOT_ASKED` where the model never got the input.
"""

from __future__ import annotations

import abc
import math
import numbers
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from soundcheck.common.errors import did_you_mean
from soundcheck.common.escaping import quoted, shorten
from soundcheck.common.precision import half_precision
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, EMBEDDING, REGRESSION, TRANSCRIPTION, Task
from soundcheck.models import stated
from soundcheck.models.packing import pack
from soundcheck.models.stated_words import WORDS, words_text
from soundcheck.suite.model_kind import ModelKind
from soundcheck.suite.paths import find_files

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

REASON_LIMIT = 300  # characters of a model's own error message that are kept
CLASS_LIMIT = 200  # characters of a class name that are kept
TEXT_LIMIT = 100_000  # characters of a transcript, nearly two hours of speech; a longer one is no answer
NOT_ASKED = "not asked"  # what a problem begins with if the model could not answer: it never got the input
TRANSCRIPT = BUILTIN["transcript"].name
VECTOR_LIMIT = 65_536  # numbers of an embedding; a longer one is no answer


class Model(ModelKind, abc.ABC):
    """Something that is given signals and says what it hears: ``name`` in the suite, ``tasks`` it answers.

    What suites may say about it, and what holds for all models of its kind, are attributes and methods of
    :class:`~soundcheck.suite.model_kind.ModelKind`. One that is given no signals is a :class:`LookUpModel`.
    Errors are :class:`~soundcheck.common.errors.InputError`.
    """

    name: str
    tasks: tuple[str, ...]

    @property
    @abc.abstractmethod
    def fingerprint(self) -> str:
        """Digest of all that its answers depend on besides the signal; cached answers are found by it."""

    @classmethod
    @abc.abstractmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> Model:
        """Load the model of a suite's entry."""

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Make sure that the model can be loaded, without running its code in this process.

        Gives its fingerprint. ``corpora`` are what it will be asked about, as far as they are loaded.
        """
        return cls.load(entry, suite).fingerprint

    @classmethod
    def prepare(
        cls, entry: ModelEntry, suite: Suite, *, cache: str | os.PathLike, jobs: int, progress: bool
    ) -> None:
        """Do once what the model needs before several processes load it; here nothing."""
        return

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List the files that its answers rest on, absolute, as far as the suite names them."""
        return sorted({path for text in entry.files for path in find_files(suite.file, text)[0]})

    @abc.abstractmethod
    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Give one unchecked answer for each signal, for :func:`check_output`; or :class:`NoAnswer`.

        There is at least one signal, each float32 ``(samples,)``; they are never changed.
        """


class NoAnswer(NamedTuple):
    """What a model gives for one of several signals instead of an answer."""

    problem: str  # why there is none; goes into tables and pages as it is
    rest: str = ""  # why it has no answer to anything else either, so that nobody need ask


class Asked(NamedTuple):
    """Something that a model answers for: its key, its name for people, and the changes that are wanted."""

    key: str
    shown: str
    changes: tuple[str, ...] = ("",)


class LookUpModel(Model):
    """A model that answers without hearing: from a table, or at random."""

    needs_audio = False
    runs_code = False

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Refuse: there is nothing that listens."""
        raise TypeError(f"{self.name} answers for segments, not for signals")

    @abc.abstractmethod
    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for all segments of a loaded corpus whose signals were changed; empty = not.

        Gives for each task one value a segment, float64 (NaN = none) or object (``None`` = none), and one
        problem a segment, empty if it has an answer for every task.
        """

    def drawn(self, corpus: Corpus, change: str) -> np.ndarray:
        """Give what was drawn for the change of each segment, as in prediction tables; here nothing."""
        return np.full(len(corpus.segments), "", dtype=object)

    def asked(self, corpus: Corpus) -> list[Asked] | None:
        """List what it answers for, in the order of :meth:`look_up`; ``None`` = the corpus' segments."""
        return None

    def table_tasks(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Give the tasks that its prediction tables have columns for."""
        return tasks

    def computing_times(self) -> np.ndarray:
        """Give the seconds that answers took and those of their sounds, as given, float64 ``(2, n)``."""
        return np.zeros((2, 0))

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Say what a reader should know about how the model fits the corpora."""
        return []


class Recogniser(ModelKind):
    """A kind of model that recognises words, and answers transcripts and nothing else."""

    @classmethod
    def default_tasks(cls, target: str) -> tuple[str, ...]:
        """Answer transcripts."""
        return (TRANSCRIPT,)

    @classmethod
    def check_tasks(cls, target: str, tasks: Sequence[Task]) -> list[tuple[str, str]]:
        """Refuse other tasks."""
        if all(task.name == TRANSCRIPT for task in tasks):
            return []
        remedy = f"Write tasks: [{TRANSCRIPT}], or leave the key out"
        return [(f"a recogniser answers a {TRANSCRIPT}", remedy)]


def example(tasks: Sequence[Task]) -> dict[str, float | str | list[float]]:
    """Make up an answer.

    Examples
    --------
    >>> example([Task("arousal", "regression"), Task("emotion", "classification", ("anger", "joy"))])
    {'arousal': 0.5, 'emotion': 'anger'}
    """

    def value(task: Task) -> float | str | list[float]:
        if task.is_regression:
            return (task.low + task.high) / 2
        if task.is_embedding:
            return [0.1, -0.2, 0.3]
        return "turn left" if task.is_transcription else task.classes[0]

    return {task.name: value(task) for task in tasks}


def check_output(output: object, tasks: Sequence[Task]) -> tuple[dict[str, float | str], str]:
    """Turn what a model returned into plain values for some tasks; gives the answer and the problem.

    A mapping with a key for each task is an answer; further keys but ``confidence`` and ``words`` are
    ignored. Numbers may be Python's, NumPy's, or arrays and tensors without dimensions; they must be finite,
    and ``True``, a list or an array of one number are none. An embedding may have further axes of length 1.

    The answer is task -> float or str, an embedding as packed text; and what the model says of its answers,
    as in :func:`soundcheck.models.stated.stated_names`. It is empty if there is a problem with any task.
    :class:`NoAnswer` brings a problem of its own.

    Examples
    --------
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
        near = did_you_mean(missing[0], [str(key) for key in list(output)[:20]])
        hint = f" ({near.split('?')[0]} instead of '{missing[0]}'?)" if "?" in near else ""
        names = ", ".join(quoted(name) for name in missing)
        return {}, f"the model's answer has no key {names}; its keys: {keys}{hint}; {wanted}"
    own = {task.name for task in tasks}
    answer: dict[str, float | str] = {}
    said: dict[str, float | str] = {}
    problems = []
    for task in tasks:
        value, stating, problem = _READERS[task.kind](output[task.name], task)
        if problem:
            problems.append(f"{task.name} is {problem}")
        else:
            answer[task.name] = value
            said |= stating
        if task.is_transcription and not problem and WORDS not in own:
            words, problem = words_text(output.get(WORDS), value)
            problems += [f"the answer has {problem}"] if problem else []
            said |= {f"{task.name}.{WORDS}": words} if words else {}
    if stated.CONFIDENCE in output and stated.CONFIDENCE not in own:
        number, problem = _number(output[stated.CONFIDENCE])
        problem = problem or stated.confidence_problem(number)
        problems += [f"{stated.CONFIDENCE} is {problem}"] if problem else []
        said[stated.CONFIDENCE] = number
    return ({}, "; ".join(problems)) if problems else (answer | said, "")


Read = tuple[Any, dict[str, float], str]  # the answer, what the model says of it, and what is wrong


def _read_class(given: object, task: Task) -> Read:
    """Read the name of a class, or probabilities of classes, of which the likeliest is the answer."""
    if not isinstance(given, Mapping):
        name = _scalar(given)
        if not isinstance(name, str):
            return "", {}, f"{_describe(name)}, not the name of a class"
        return shorten(_plain(name), CLASS_LIMIT), {}, ""
    read = {name: _number(value) for name, value in given.items()}
    wrong = next((f"{name}: {what}" for name, (_, what) in read.items() if what), "")
    problem = stated.unknown_class(list(read), task)
    problem = problem or (wrong and f"probabilities of which one is none ({wrong})")
    if problem:
        return "", {}, problem
    known = {name: read[name][0] if name in read else 0.0 for name in task.classes}
    own = {f"{task.name}.{name}": number for name, number in known.items()}
    return stated.likeliest(known, task), own, stated.probability_problem(list(known.values()))


def _read_value(given: object, task: Task) -> Read:
    """Read a number, or one with bounds."""
    if not isinstance(given, Mapping):
        number, problem = _number(given)
        return number, {}, problem
    for name in ("value", *stated.BOUNDS):
        if name not in given:
            return 0.0, {}, f"a mapping without {quoted(name)}; expected is value, low and high"
    own = {}
    for name in stated.BOUNDS:
        own[f"{task.name}.{name}"], problem = _number(given[name])
        if problem:
            return 0.0, {}, f"an interval whose {name} is {problem}"
    number, problem = _number(given["value"])
    return number, own, stated.bounds_problem(*own.values()) or problem


def _read_text(given: object, task: Task) -> Read:
    text = _scalar(given)
    if not isinstance(text, str):
        return "", {}, f"{_describe(text)}, not a text"
    long = f"a text of {len(text)} characters; at most {TEXT_LIMIT} are a transcript"
    return _plain(text), {}, long if len(text) > TEXT_LIMIT else ""


def _read_embedding(given: object, task: Task) -> Read:
    vector = _vector(given)
    if vector is None:
        return "", {}, f"{_describe(given)}, not a vector of numbers"
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


def _number(given: object) -> tuple[float, str]:
    """Read a finite number; gives it and what is wrong."""
    value = _scalar(given)
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


def reason(error: BaseException, *folders: str | os.PathLike) -> str:
    """Put an exception of a model on one line that may be published: short, without folders.

    Those given are cut off from paths, as are the working directory, the home and whatever looks like one.

    Examples
    --------
    >>> reason(FileNotFoundError("no /home/me/suite/weights.npz"), "/home/me/suite")
    'FileNotFoundError: no weights.npz'
    """
    try:
        text = str(error)
    except Exception:  # a broken __str__ of the model's own
        text = ""
    known = {str(folder) for folder in folders} | {os.getcwd(), os.path.expanduser("~")}
    for folder in sorted(known, key=len, reverse=True):
        if len(folder) > 1:
            text = text.replace(folder + os.sep, "").replace(folder, ".")
    text = re.sub(r"(?<![\w./\\])(?:/[^/\s'\"<>:,;()]+)+/(?=[^/\s'\"<>:,;()])", "", text)
    text = " ".join(text.split())
    name = type(error).__name__
    line = f"{name}: {text}" if text else name
    return shorten(line.encode("utf-8", "backslashreplace").decode(), REASON_LIMIT)
