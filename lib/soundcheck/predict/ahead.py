"""Threads in which models are asked for a few of their kept answers again before it is their turn.

A process that loads a model and answers five inputs is mostly waited for, so those of several models run at
the same time. Nothing is told and nothing kept from here: what came out is judged when it is their turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Self, TypeVar

__all__ = ["Ahead"]

T = TypeVar("T")


class Ahead:
    """Asks some models at a time; leaving its block after an error ends them at once.

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type | None, *_: object) -> None:
        if error is not None:
            self.stopped.set()
        self._threads.shutdown(cancel_futures=error is not None)

    def begin(self, ask: Callable[[], T]) -> Future[T]:
        """Ask in a thread, as soon as one is free."""
        self._begun.append(self._threads.submit(ask))
        return self._begun[-1]

    def wait(self) -> None:
        """Wait until all are done: others want to start as many processes as there may be."""
        wait(self._begun)
        self._begun.clear()
