"""What the engine and its workers say to each other.

A *call* is one question to the model: one signal, clean or changed. Its *key* is the digest of everything
that the answer depends on. Workers get units of work and send back tuples that begin with one of the words
below.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from soundcheck.sounds.sound import Sounds
    from soundcheck.suite.entries import ModelEntry, Suite

READY = "ready"  # the model is loaded
REFUSED = "refused"  # + why the model cannot be loaded
DOING = "doing"  # + step, + keys that are lost if it fails
RESULTS = "results"  # + list of Result
DONE = "done"  # with a unit

READING, CHANGING, CALLING = "reading", "changing", "calling"  # steps

BY_MODEL, BY_SIGNAL = "model", "signal"  # whose fault a missing answer is


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


@dataclasses.dataclass(frozen=True)
class Unit:
    """What a worker gets at a time; ``alone`` = each signal in a call of its own, whatever the batch size."""

    items: tuple[Item, ...]
    alone: bool = False


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a worker has to know once.

    Parameters
    ----------
    entry, suite
        The model to load.
    changes
        Numbered by their place.
    sounds
        Noises and impulse responses that changes draw from.
    ignored
        Folders of Soundcheck's own files, absolute: what a model opens there is not its own.
    """

    entry: ModelEntry
    suite: Suite
    changes: tuple[PlainChange, ...]
    sounds: Sounds
    ignored: tuple[str, ...] = ()


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
        Options that were drawn for the change.
    problem
        Why there is no answer; empty if there is one.
    fault
        :data:`BY_MODEL` or :data:`BY_SIGNAL`.
    opened
        What the model has opened since the last answer of the same process, as
        :meth:`soundcheck.predict.opened_files.Watch.news` tells it.
    process
        Which process of the model answered; no two have the same name.
    """

    key: str
    answer: dict[str, float | str] = dataclasses.field(default_factory=dict)
    drawn: dict[str, Any] = dataclasses.field(default_factory=dict)
    problem: str = ""
    fault: str = BY_MODEL
    opened: Sequence[list] = ()
    process: str = ""
