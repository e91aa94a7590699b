"""Problems with what a user gave, collected and shown at once; and what makes numbers doubtful.

Conventions
-----------
A *problem* says where it is (file, line, column or key), what stands there and what to do about it.
Readers collect all problems of a file in :class:`Problems` and raise them together as one
:class:`InputError`; the command line prints its text and ends with exit code 2, without a traceback.

Exit codes
----------
========  ===========================================================
0         fine; the book is complete
1         a test failed, something got worse or was changed
2         bad input; nothing was run, or a model's scale was wrong
3         the book is built, but a notebook or a model failed
130, 143  interrupted, terminated; run again to go on
========  ===========================================================
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import re
from collections.abc import Collection, Iterable, Iterator

from soundcheck.common.escaping import quoted, terminal
from soundcheck.common.wording import some

EXIT_OK = 0
EXIT_TEST_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INCOMPLETE = 3
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

MOST_LISTED = 20  # problems that a message lists before it only counts
EACH = 3  # problems of a kind that are examples of more

_PARTICULAR = re.compile(r"'[^']*'|\d+(?:[.:]\d+)*")  # in what problems of a kind differ


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    exit_code: int
    summary: str
    worse: int = 0  # tests on which a candidate is worse than its baseline


class SoundcheckError(Exception):
    """Root of all errors that are meant for a user; its text is the whole message."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an input."""

    where: str  # file with line, column or key, relative to what the user named
    what: str  # what stands there and why it cannot be used, a sentence without full stop
    remedy: str = ""  # what is allowed or what to do, a sentence without full stop

    def __str__(self) -> str:
        remedy = f" {_sentence(self.remedy)}" if self.remedy else ""
        text = f"{self.where}: {_sentence(self.what)}{remedy}"
        return terminal(text.replace("\n", "\\n"))  # one problem, one line


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


class InputError(SoundcheckError):
    """Something that a user gave cannot be used.

    - ``problems``: at least one :class:`Problem`; the text shows 20 and counts the rest, and of many that
      differ in names and numbers only one, with two other places.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)  # passed on, so that the error can be pickled

    def __str__(self) -> str:
        kinds: dict[str, list[Problem]] = {}
        for problem in self.problems:
            kinds.setdefault(_PARTICULAR.sub("", f"{problem.where}:{problem.what}"), []).append(problem)
        blocks: list[tuple[str, int]] = []
        for alike in kinds.values():
            if len(alike) <= EACH:
                blocks += [(str(problem), 1) for problem in alike]
            else:
                first, *more = alike[:EACH]
                others = [other.where + f", {other.what}" * (other.what != first.what) for other in more]
                also = terminal("; ".join(others))
                blocks.append((f"{first} There are {len(alike)} of this kind, also {also}.", len(alike)))
        lines = [text for text, _ in blocks[:MOST_LISTED]]
        if rest := sum(count for _, count in blocks[MOST_LISTED:]):
            lines.append(f"... and {rest} more.")
        return "\n".join(lines)


def input_error(where: str, what: str, remedy: str = "") -> InputError:
    """Make the error of a single problem, to be raised by the caller."""
    return InputError([Problem(where, what, remedy)])


class Problems:
    """Collects problems, so that a user sees all of them at once.

    >>> problems = Problems()
    >>> problems.add("segments.csv line 5, column arousal", "'high' is not a number")
    >>> len(problems)
    1
    """

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}  # in the order in which they were noted

    def add(self, where: str, what: str, remedy: str = "") -> None:
        """Note one problem; the same one counts once."""
        self._problems[Problem(where, what, remedy)] = None

    def extend(self, error: InputError) -> None:
        """Take over the problems of an error."""
        self._problems |= dict.fromkeys(error.problems)

    @contextlib.contextmanager
    def collected(self) -> Iterator[None]:
        """Take over the problems of an error that is raised inside of a block."""
        try:
            yield
        except InputError as error:
            self.extend(error)

    def __len__(self) -> int:
        return len(self._problems)

    def raise_if_any(self) -> None:
        """Raise all problems noted so far as one :class:`InputError`."""
        if self._problems:
            raise InputError(self._problems)


def nearest(value: str, allowed: Iterable[str]) -> str:
    """Return the allowed name that is most like a text, upper and lower case alike; empty if none is.

    >>> nearest("audio", ["audio_seconds", "model_seconds"])
    'audio_seconds'
    """
    names = {name.lower(): name for name in reversed(list(allowed))}
    text = value.lower()
    near = difflib.get_close_matches(text, names, n=1, cutoff=0.6)
    if not near and len(text) > 2:
        near = [name for name in sorted(names) if name.startswith(text)]
    return names[near[0]] if near else ""


def did_you_mean(value: str, allowed: Iterable[str]) -> str:
    """Suggest the nearest allowed names, each once; never the very name that is not allowed.

    >>> did_you_mean("familis", ["families", "models"])
    "Did you mean 'families'? Allowed: families, models"
    """
    allowed = [name for name in dict.fromkeys(map(str, allowed)) if name != str(value)]
    near = nearest(str(value), allowed)
    hint = f"Did you mean '{near}'? " if near else ""
    return f"{hint}Allowed: {some(allowed, MOST_LISTED)}" if allowed else ""


def refuse_unknown(wanted: Iterable[tuple[str, str, Collection[str]]], what: str) -> None:
    """Refuse names that are not among those that are known: ``wanted`` are where they stand, name, and these.

    Raises InputError: naming all of them; ``{}`` in ``what`` is the name.
    """
    problems = Problems()
    for where, name, known in wanted:
        if name not in known:
            problems.add(where, what.format(quoted(name)), did_you_mean(name, known))
    problems.raise_if_any()


@dataclasses.dataclass(frozen=True)
class Caveat:
    """Something that a reader must know before believing a number.

    - ``model, corpus, task``: whose numbers are meant; empty = all.
    """

    text: str  # what it is and what follows from it, then what to do: sentences without the last full stop
    model: str = ""
    corpus: str = ""
    task: str = ""

    def __str__(self) -> str:
        subject = ", ".join(name for name in (self.model, self.corpus, self.task) if name)
        return f"{subject}: {self.text}" if subject else self.text

    def concerns(self, models: Collection[str], corpora: Collection[str], tasks: Collection[str]) -> bool:
        """Say whether numbers of any of these models, corpora and tasks are meant."""
        pairs = ((self.model, models), (self.corpus, corpora), (self.task, tasks))
        return all(not name or name in names for name, names in pairs)
