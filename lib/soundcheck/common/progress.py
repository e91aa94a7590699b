"""Tells how far a step is: a bar on a terminal, a line every half minute in logs.

A step that ends sooner leaves no line in a log.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Self, TypeVar

from tqdm import tqdm

from soundcheck.common.messages import duration, terminal

EVERY = 30.0  # seconds between two lines of a log

T = TypeVar("T")


class Progress:
    """How far a step is, as a context manager.

    - ``step, things``: what is done and what is counted, such as ``predictions``, ``inputs of emotion``.
    """

    def __init__(self, step: str, things: str, total: int, *, visible: bool = True) -> None:
        self._step, self._things = step, things
        self._begin = self._last = time.monotonic()
        on_terminal = sys.stderr.isatty()
        self._in_log = visible and not on_terminal
        name = terminal(f"{step}: {things}")
        self._bar = tqdm(total=total, desc=name, unit="", disable=not (visible and on_terminal))
        self._done, self._total = 0, total

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def update(self, count: int = 1) -> None:
        """Count what has been done since the last time."""
        self._done += count
        self._bar.update(count)
        now = time.monotonic()
        if self._in_log and now - self._last >= EVERY:
            self._last = now
            line = f"{self._step}: {self._done} of {self._total} {self._things}"
            seconds = (now - self._begin) / self._done * max(0, self._total - self._done) if self._done else 0
            left = f", about {duration(seconds)} left" if seconds else ""
            print(terminal(line + left), file=sys.stderr, flush=True)

    @classmethod
    def over(
        cls, items: Iterable[T], step: str, things: str, total: int, *, visible: bool = True
    ) -> Iterator[T]:
        """Pass items on, and tell how many have come."""
        with cls(step, things, total, visible=visible) as progress:
            for item in items:
                yield item
                progress.update()
