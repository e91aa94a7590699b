"""What the engine and the processes of a model say to each other.

A *call* is one question to the model: one signal, clean or changed. Its *key* is the digest of everything
that the answer depends on. A process gets units of calls and sends back tuples that begin with one of the
words below. What it is about to do it writes to memory that its parent sees, because a message for each step
would take longer than many a model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from soundcheck.common.store import Signature

if TYPE_CHECKING:
    from soundcheck.augment.sounds import Sounds
    from soundcheck.models.base import Model
    from soundcheck.suite.entries import ModelEntry, Suite
    from soundcheck.suite.families import Perturbation

READY = "ready"  # the model is loaded; + no results, + seconds that it took
REFUSED = "refused"  # + why the model cannot be loaded, + 0
RESULTS = "results"  # + results, + seconds of the last call, 0 if there was none
DONE = "done"  # the same: nothing is left to do in the unit

IDLE, READING, CHANGING, CALLING = range(4)  # steps of a process; STARTING until it has loaded the model
STARTING = -1

BY_MODEL, BY_SIGNAL = "model", "signal"  # whose fault a missing answer is


class Excerpt(NamedTuple):
    """What is heard of an audio file."""

    path: str  # absolute
    start: float | None  # seconds; None = from the beginning, to the end
    end: float | None
    content: str  # digest of the audio, which seeds random changes


class Call(NamedTuple):
    """One question: its key, and the number of the change in :attr:`Setup.changes`; ``None`` = clean."""

    key: str
    change: int | None
    excerpt: Excerpt


@dataclasses.dataclass(frozen=True)
class Unit:
    """What a process gets at a time; ``one_by_one`` = the model gets each signal alone."""

    calls: tuple[Call, ...]
    one_by_one: bool = False

    @property
    def keys(self) -> list[str]:
        """The keys of all calls, in their order."""
        return [call.key for call in self.calls]

    def only(self, keys: Collection[str]) -> Unit:
        """Give the part with some calls."""
        return dataclasses.replace(self, calls=tuple(call for call in self.calls if call.key in keys))

    def pieces(self, size: int) -> list[Unit]:
        """Cut into units of so many calls."""
        starts = range(0, len(self.calls), size)
        return [dataclasses.replace(self, calls=self.calls[start : start + size]) for start in starts]


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a process has to know once."""

    entry: ModelEntry  # the model to load
    suite: Suite
    kind: type[Model]  # whoever looks it up by its keyword imports all kinds
    changes: tuple[Perturbation, ...]  # numbered by their place
    sounds: Sounds  # noises and impulse responses that changes draw from
    ignored: tuple[
        str, ...
    ] = ()  # folders of Soundcheck's own files: what a model opens there is not its own
    warm_up: bool = False  # whether each signal is changed twice: the first time loads, the second is timed


class Opened(NamedTuple):
    """A file that a model has opened: how, see :mod:`soundcheck.predict.same_model`, and what it was then."""

    kind: str
    name: str
    status: Signature | None = None


@dataclasses.dataclass(frozen=True)
class Result:
    """The answer to a call, or why there is none."""

    key: str
    answer: dict[str, float | str] = dataclasses.field(default_factory=dict)  # empty if there is a problem
    drawn: dict[str, Any] = dataclasses.field(default_factory=dict)  # options that were drawn for the change
    problem: str = ""  # why there is no answer
    fault: str = BY_MODEL
    opened: Sequence[Opened] = ()  # files since the last answer of the process
    refusal: str = ""  # why the model has no answer to any further call
    seconds: float = 0.0  # of the model's call, all signals of a batch together
    before: float = 0.0  # seconds that it took to change the signal; of a clean one, to read it


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a unit; without a problem all of it is answered."""

    seconds: float = 0.0  # that it took, without loading the model
    problem: str = ""  # how the process ended, or why it did not begin
    step: int = CALLING  # what it was doing then
    timed_out: bool = False  # whether it took too long, and was killed for it
    lost: tuple[str, ...] = ()  # keys of the calls that it was about
