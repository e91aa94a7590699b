"""Threads in which models are checked, and asked for a few of their kept answers again, before their turn.

A process that loads a model and answers five inputs is mostly waited for, so those of several models run at
the same time. Nothing is told and nothing kept from here: what came out is judged when it is their turn. To
load a model is most of the work, so the process that has checked it stays until it is asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Self, TypeVar

import psutil

from soundcheck.models.load import check_model
from soundcheck.models.processes import Child

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

ROOM = 1e9  # bytes of memory that processes which wait for their turn may use, all together

T = TypeVar("T")


class Ahead:
    """Checks and asks some models at a time; leaving its block ends all, after an error at once.

    Parameters
    ----------
    jobs
        Models at a time, each with one process.

    Attributes
    ----------
    stopped
        Set when models are to be ended.
    """

    def __init__(self, jobs: int) -> None:
        self.stopped = threading.Event()
        self._threads = ThreadPoolExecutor(max(1, jobs))
        self._begun: list[Future] = []
        self._lock = threading.Lock()
        self._children: dict[str, Child] = {}  # that check a model, or wait to be asked about it
        self._sizes: dict[str, float] = {}  # of those that wait
        self._checks: dict[str, tuple[ModelEntry, Future[str]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type | None, *_: object) -> None:
        if error is not None:
            self.stopped.set()
            with self._lock:
                for child in self._children.values():
                    child.interrupt()
        self._threads.shutdown(cancel_futures=error is not None)
        self.dismiss()

    def begin(self, ask: Callable[[], T]) -> Future[T]:
        """Ask in a thread, as soon as one is free."""
        self._begun.append(self._threads.submit(ask))
        return self._begun[-1]

    def check(self, entry: ModelEntry, suite: Suite) -> Future[str]:
        """Check a model as soon as a thread is free, unless that has begun; gives its fingerprint.

        The process stays for :meth:`take`, if there is room for it.
        """
        known, found = self._checks.get(entry.name, (None, None))
        if found is None or known != entry:
            found = self.begin(lambda: self._check(entry, suite))
            self._checks[entry.name] = entry, found
        return found

    def _check(self, entry: ModelEntry, suite: Suite) -> str:
        return check_model(entry, suite)

    def take(self, model: str) -> Child | None:
        """Give the process that has checked a model, if it has stayed; who takes it ends it."""
        with self._lock:
            self._sizes.pop(model, None)
            return self._children.pop(model, None)

    def dismiss(self) -> None:
        """End all that wait; none is being checked any more."""
        for model in list(self._children):
            self._drop(model)

    def _drop(self, model: str) -> None:
        child = self.take(model)
        if child is not None:
            child.kill()

    def wait(self) -> None:
        """Wait until all are done: others want to start as many processes as there may be."""
        wait(self._begun)
        self._begun.clear()


def _memory(child: Child) -> float:
    """Give the bytes that a process uses; infinity if it has ended."""
    try:
        return float(psutil.Process(child.process.pid).memory_info().rss)
    except psutil.Error:
        return float("inf")
