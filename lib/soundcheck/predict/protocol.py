"""What the engine and the processes of a model say to each other.

A *call* is one question to the model: one signal, clean or changed. Its *key* is the digest of everything
that the answer depends on. The process of a model gets units of work and sends back tuples that begin with
one of the words below. What it is about to do it writes to memory that its parent sees (:class:`Place`),
because a message for each step would take longer than many a model.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from soundcheck.models.base import Model
    from soundcheck.sounds.sound import Sounds
    from soundcheck.suite.entries import ModelEntry, Suite

READY = "ready"  # + seconds: the model is loaded
REFUSED = "refused"  # + why the model cannot be loaded
TOLD = "told"  # + results, + seconds that the last call took, 0 if there was none
DONE = "done"  # the same: nothing is left to do in the unit

STARTING, IDLE = "starting", "idle"  # steps of a process
READING, CHANGING, CALLING = "reading", "changing", "calling"  # and those in a unit
_STEPS = (IDLE, READING, CHANGING, CALLING)

BY_MODEL, BY_SIGNAL = "model", "signal"  # whose fault a missing answer is


class Place:
    """Where a process is in its unit; written by it and read by its parent.

    Parameters
    ----------
    numbers
        Memory that both see, 0 at first: since when, numbers of the first call and of the one behind the
        last, and step. The time is written first, so nobody takes an old one for that of a new step.
    """

    def __init__(self, numbers: MutableSequence[float] | memoryview) -> None:
        self._numbers = numbers

    def enter(self, step: str, first: int = 0, end: int = 0) -> None:
        """Say what begins now, and which calls of the unit are lost if it fails."""
        numbers = self._numbers
        numbers[0] = time.monotonic()  # the same clock for all processes
        numbers[1], numbers[2] = first, end
        numbers[3] = _STEPS.index(step)

    def read(self) -> tuple[str, slice, float]:
        """Give the step, its calls, and when it began."""
        since, first, end, step = self._numbers
        return _STEPS[int(step)], slice(int(first), int(end)), since


@dataclasses.dataclass(frozen=True)
class PlainChange:
    """A change of the signal, as :func:`soundcheck.augment.registry.apply` wants it.

    ``material`` is the digest of the sounds that it draws from.
    """

    name: str
    transform: str
    options: dict[str, Any]
    common: tuple[str, ...] = ()
    material: str = ""


@dataclasses.dataclass(frozen=True)
class Call:
    """One question: key and number of the change in :attr:`Setup.changes`; ``None`` = clean."""

    key: str
    change: int | None


@dataclasses.dataclass(frozen=True)
class Item:
    """A segment and what is asked about it.

    Parameters
    ----------
    path
        Audio file, absolute.
    start, end
        Seconds; ``None`` = from the beginning, to the end.
    content
        Digest of the audio, which seeds random changes.
    calls
        At least one.
    """

    path: str
    start: float | None
    end: float | None
    content: str
    calls: tuple[Call, ...]

    def asking(self, calls: Iterable[Call]) -> Item:
        """Ask other calls about the same segment."""
        return dataclasses.replace(self, calls=tuple(calls))


@dataclasses.dataclass(frozen=True)
class Unit:
    """What a worker gets at a time; ``alone`` = each signal in a call of its own, whatever the batch size."""

    items: tuple[Item, ...]
    alone: bool = False

    @property
    def keys(self) -> list[str]:
        """The keys of all calls, in their order."""
        return [call.key for item in self.items for call in item.calls]

    def only(self, keys: Collection[str]) -> Unit:
        """Give the part with some calls."""
        return self._part(lambda key: key in keys)

    def without(self, keys: Collection[str]) -> Unit:
        """Give the part without some calls."""
        return self._part(lambda key: key not in keys)

    def _part(self, wanted: Callable[[str], bool]) -> Unit:
        items = []
        for item in self.items:
            calls = tuple(call for call in item.calls if wanted(call.key))
            if calls:
                items.append(item if len(calls) == len(item.calls) else item.asking(calls))
        return dataclasses.replace(self, items=tuple(items))

    def pieces(self, size: int) -> list[Unit]:
        """Cut into units of so many calls."""
        queue, pieces = deque(self.items), []
        while queue:
            pieces.append(dataclasses.replace(self, items=take(queue, size)))
        return pieces


def take(queue: deque[Item], size: int) -> tuple[Item, ...]:
    """Take so many calls, at least one, from the front of a queue; its first item may be cut."""
    taken: list[Item] = []
    while queue and size > 0:
        item = queue.popleft()
        if len(item.calls) > size:
            queue.appendleft(item.asking(item.calls[size:]))
            item = item.asking(item.calls[:size])
        taken.append(item)
        size -= len(item.calls)
    return tuple(taken)


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a worker has to know once.

    Parameters
    ----------
    entry, suite
        The model to load.
    kind
        Its kind: who looks it up by its keyword imports all kinds.
    changes
        Numbered by their place.
    sounds
        Noises and impulse responses that changes draw from.
    ignored
        Folders of Soundcheck's own files, absolute: what a model opens there is not its own.
    rehearsed
        Whether each signal is changed twice: the first time loads what the change needs, the second is timed.
    """

    entry: ModelEntry
    suite: Suite
    kind: type[Model]
    changes: tuple[PlainChange, ...]
    sounds: Sounds
    ignored: tuple[str, ...] = ()
    rehearsed: bool = False


@dataclasses.dataclass(frozen=True)
class Result:
    """The answer to a call, or why there is none.

    Parameters
    ----------
    key
        Of the call.
    answer
        Task -> number or class; empty if there is a problem.
    drawn
        Options that were drawn for the change, and ``unchanged`` if it left the signal as it was.
    problem
        Why there is no answer; empty if there is one.
    fault
        :data:`BY_MODEL` or :data:`BY_SIGNAL`.
    opened
        What the model has opened since the last answer of the same process, as
        :meth:`soundcheck.predict.opened_files.Watch.news` tells it.
    process
        Which process of the model answered; no two have the same name.
    rest
        Why the model has no answer to any further call; empty if it may have.
    seconds
        That the model took for the call, all signals of a batch together, without reading or changing them.
    before
        Seconds that it took to change the signal; of a clean one, to read it.
    """

    key: str
    answer: dict[str, float | str] = dataclasses.field(default_factory=dict)
    drawn: dict[str, Any] = dataclasses.field(default_factory=dict)
    problem: str = ""
    fault: str = BY_MODEL
    opened: Sequence[list] = ()
    process: str = ""
    rest: str = ""
    seconds: float = 0.0
    before: float = 0.0


@dataclasses.dataclass(frozen=True)
class Loss:
    """Why a process of the model did not come to the end of a unit.

    Parameters
    ----------
    step
        What it was doing: :data:`STARTING`, :data:`READING`, :data:`CHANGING` or :data:`CALLING`.
    problem
        How it ended.
    late
        Whether it took too long, and was killed for it.
    lost
        The calls that it was about; none if it had begun nothing.
    rest
        The calls that it had not begun.
    """

    step: str
    problem: str
    late: bool
    lost: Unit
    rest: Unit


@dataclasses.dataclass(frozen=True)
class Answered:
    """What became of a unit.

    Parameters
    ----------
    loss
        What is not answered, and why; ``None`` = all is.
    seconds
        That the calls took.
    results
        What was not told before.
    """

    loss: Loss | None = None
    seconds: float = 0.0
    results: tuple[Result, ...] = ()
