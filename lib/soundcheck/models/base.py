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
from soundcheck.common.tasks import CLASSIFICATION, EMBEDDING, REGRESSION, TRANSCRIPTION, Task
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
VECTOR_LIMIT = 65_536  # numbers of an embedding; a longer one is no answer


class Model(ModelKind, abc.ABC):
    """Something that is given signals and says what it hears.

    What suites may say about it, and what holds for all models of its kind, are attributes and methods of
    :class:`~soundcheck.suite.model_kind.ModelKind`. One that is given no signals is a :class:`LookUpModel`.

    Attributes
    ----------
    name
        Name in the suite.
    tasks
        Names of the tasks that it answers.
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
        """Load the model of a suite's entry.

        Raises
        ------
        InputError
            If it cannot be loaded.
        """

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Make sure that the model can be loaded, without running its code in this process.

        Parameters
        ----------
        entry, suite
            The model.
        corpora
            What it will be asked about, as far as they are loaded.

        Returns
        -------
        str
            Its fingerprint.

        Raises
        ------
        InputError
            If it cannot be loaded.
        """
        return cls.load(entry, suite).fingerprint

    @classmethod
    def prepare(
        cls, entry: ModelEntry, suite: Suite, *, cache: str | os.PathLike, jobs: int, progress: bool
    ) -> None:
        """Do once what the model needs before several processes load it; here nothing.

        Raises
        ------
        InputError
            If it fails.
        """
        return

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List the files that its answers rest on, absolute, as far as the suite names them."""
        return sorted({path for text in entry.files for path in find_files(suite.file, text)[0]})

    @abc.abstractmethod
    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Answer for some signals.

        Parameters
        ----------
        signals
            At least one, each float32, shape ``(samples,)``; never changed.
        sampling_rate
            In Hz, the same for all.

        Returns
        -------
        list
            One unchecked answer for each signal, for :func:`check_output`; or :class:`NoAnswer`.
        """


class NoAnswer(NamedTuple):
    """What a model gives for one of several signals instead of an answer.

    Parameters
    ----------
    problem
        Why there is none; goes into tables and pages as it is.
    rest
        Why it has no answer to anything else either, so that nobody need ask; empty if it may have.
    """

    problem: str
    rest: str = ""


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
        """Answer for all segments of a corpus.

        Parameters
        ----------
        corpus
            Loaded corpus.
        change
            What was done to the signals; empty = nothing.

        Returns
        -------
        answers
            Task -> one value a segment, in the order of the segment table: float64 (NaN = none) or object
            (``None`` = none).
        problems
            One text a segment; empty if it has an answer for every task.
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


def expected(tasks: Sequence[Task]) -> str:
    """Show what an answer looks like, as Python code.

    Examples
    --------
    >>> expected([Task("arousal", "regression"), Task("emotion", "classification", ("anger", "joy"))])
    "{'arousal': 0.5, 'emotion': 'anger'}"
    """
    return repr(example(tasks))


def example(tasks: Sequence[Task]) -> dict[str, float | str | list[float]]:
    """Make up an answer."""
    return {task.name: _example(task) for task in tasks}


def _example(task: Task) -> float | str | list[float]:
    if task.is_embedding:
        return [0.1, -0.2, 0.3]
    if task.is_regression:
        return (task.low + task.high) / 2
    return "turn left" if task.is_transcription else task.classes[0]


def check_output(output: object, tasks: Sequence[Task]) -> tuple[dict[str, float | str], str]:
    """Turn what a model returned into plain values.

    Parameters
    ----------
    output
        Anything. A mapping with a key for each task is an answer; further keys but ``confidence`` and
        ``words`` are ignored. Numbers may be Python's, NumPy's, or arrays and tensors without dimensions.
    tasks
        Tasks that must be answered.

    Returns
    -------
    answer
        Task -> float or str, an embedding as packed text; and what the model says of its answers, as in
        :func:`soundcheck.models.stated.stated_names`. Empty if there is a problem with any task.
    problem
        Why this is no answer, empty if it is one. Numbers must be finite; ``True`` is not a number; a list or
        array of one number is not a number either. An embedding may have further axes of length 1.
        :class:`NoAnswer` brings its own.

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
    if not isinstance(output, Mapping):
        return {}, f"the model returned {_describe(output)}; expected is a dict such as {expected(tasks)}"
    missing = [task.name for task in tasks if task.name not in output]
    if missing:
        keys = ", ".join(quoted(key, 40) for key in list(output)[:5]) or "none"
        near = did_you_mean(missing[0], [str(key) for key in list(output)[:20]])
        hint = f" ({near.split('?')[0]} instead of '{missing[0]}'?)" if "?" in near else ""
        names = ", ".join(quoted(name) for name in missing)
        what = f"the model's answer has no key {names}; its keys: {keys}{hint}"
        return {}, f"{what}; expected is a dict such as {expected(tasks)}"
    answer: dict[str, float | str] = {}
    problems = []
    said: dict[str, float | str] = {}
    for task in tasks:
        value = output[task.name] if task.is_embedding else _scalar(output[task.name])
        problem = ""
        if task.is_labelled and isinstance(value, Mapping):
            value, own, problem = _STATED[task.kind](value, task)
            said |= own
        problem = problem or _PROBLEMS[task.kind](value)
        if problem:
            problems.append(f"{task.name} is {problem}")
        elif task.is_embedding:
            answer[task.name] = pack(_vector(value))
        elif task.is_regression:
            answer[task.name] = float(value)
        else:
            text = str(value).encode("utf-8", "backslashreplace").decode()
            answer[task.name] = text if task.is_transcription else shorten(text, CLASS_LIMIT)
            if task.is_transcription and all(other.name != WORDS for other in tasks):
                words, problem = words_text(output.get(WORDS), text)
                problems += [f"the answer has {problem}"] if problem else []
                said |= {f"{task.name}.{WORDS}": words} if words else {}
    if stated.CONFIDENCE in output and all(task.name != stated.CONFIDENCE for task in tasks):
        value = _scalar(output[stated.CONFIDENCE])
        problem = _number_problem(value) or stated.confidence_problem(float(value))
        if problem:
            problems.append(f"{stated.CONFIDENCE} is {problem}")
        else:
            said[stated.CONFIDENCE] = float(value)
    return ({}, "; ".join(problems)) if problems else (answer | said, "")


def _with_probabilities(given: Mapping, task: Task) -> tuple[str, dict[str, float], str]:
    """Read probabilities of classes: the likeliest class, a number for each class, and what is wrong."""
    numbers = {name: _scalar(value) for name, value in given.items()}
    problem = stated.unknown_class(list(numbers), task)
    wrong = next((f"{name}: {what}" for name, n in numbers.items() if (what := _number_problem(n))), "")
    if problem or wrong:
        return "", {}, problem or f"probabilities of which one is none ({wrong})"
    known = {name: float(numbers.get(name, 0.0)) for name in task.classes}
    own = {f"{task.name}.{name}": number for name, number in known.items()}
    return stated.likeliest(known, task), own, stated.probability_problem(list(known.values()))


def _with_bounds(given: Mapping, task: Task) -> tuple[object, dict[str, float], str]:
    """Read a value with bounds: the value, a number for each bound, and what is wrong."""
    missing = next((name for name in ("value", *stated.BOUNDS) if name not in given), None)
    if missing is not None:
        return "", {}, f"a mapping without {quoted(missing)}; expected is value, low and high"
    bounds = [_scalar(given[name]) for name in stated.BOUNDS]
    wrong = next(
        (
            f"{name} is {what}"
            for name, n in zip(stated.BOUNDS, bounds, strict=True)
            if (what := _number_problem(n))
        ),
        "",
    )
    if wrong:
        return "", {}, f"an interval whose {wrong}"
    own = {f"{task.name}.{name}": float(n) for name, n in zip(stated.BOUNDS, bounds, strict=True)}
    return _scalar(given["value"]), own, stated.bounds_problem(*own.values())


_STATED = {CLASSIFICATION: _with_probabilities, REGRESSION: _with_bounds}


_PLAIN = (float, int, str, bool, type(None))  # what is as it should be, or never will


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


def _number_problem(value: object) -> str:
    if type(value) is float and math.isfinite(value):  # most often
        return ""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return f"{_describe(value)}, not a number"
    try:
        number = float(value)
    except OverflowError:
        return "infinite, not a number"
    if math.isnan(number):
        return "nan, not a number"
    return "" if math.isfinite(number) else "infinite, not a number"


def _class_problem(value: object) -> str:
    return "" if isinstance(value, str) else f"{_describe(value)}, not the name of a class"


def _text_problem(value: object) -> str:
    if not isinstance(value, str):
        return f"{_describe(value)}, not a text"
    long = len(value) > TEXT_LIMIT
    return f"a text of {len(value)} characters; at most {TEXT_LIMIT} are a transcript" if long else ""


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


def _vector_problem(value: object) -> str:
    vector = _vector(value)
    if vector is None:
        return f"{_describe(value)}, not a vector of numbers"
    if not len(vector):
        return "an empty vector"
    if len(vector) > VECTOR_LIMIT:
        return f"a vector of {len(vector)} numbers; at most {VECTOR_LIMIT} are an embedding"
    with np.errstate(over="ignore"):
        single = vector.astype(np.float32)
    if np.isnan(vector).any():
        return f"a vector with {int(np.isnan(vector).sum())} nan among {len(vector)} numbers"
    if np.isinf(single).any():
        return f"a vector with {int(np.isinf(single).sum())} infinite among {len(vector)} numbers"
    return "" if single.any() else "a vector of zeros, which has no direction"


_PROBLEMS = {
    REGRESSION: _number_problem,
    CLASSIFICATION: _class_problem,
    TRANSCRIPTION: _text_problem,
    EMBEDDING: _vector_problem,
}


def _describe(value: object) -> str:
    """Say what something is, in a few words."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text {quoted(value, 40)}"
    if isinstance(value, bool | numbers.Number):
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

    Parameters
    ----------
    error
        What the model raised.
    folders
        Cut off from paths, as are the working directory, the home and whatever else looks like a folder.

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
