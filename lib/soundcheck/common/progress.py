"""Tells how far a step is: a bar on a terminal, a line every half minute in logs.

A step that ends sooner leaves no line in a log.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Self, TypeVar

from tqdm import tqdm

from soundcheck.common.escaping import terminal
from soundcheck.common.wording import duration

EVERY = 30.0  # seconds between two lines of a log

T = TypeVar("T")


class Progress:
    """How far a step is, as a context manager.

    - ``step``: what is done, such as ``predictions``.
    - ``things``: what is counted, such as ``inputs of emotion``.
    - ``clock``: gives seconds that only grow.
    """

    def __init__(
        self,
        step: str,
        things: str,
        total: int,
        *,
        shown: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._step, self._things, self._total = step, things, total
        self._clock = clock
        self._begin = self._told = clock()
        self._done = 0
        seen = sys.stderr.isatty()
        self._lines = shown and not seen
        name = terminal(f"{step}: {things}")
        self._bar = tqdm(total=total, desc=name, unit="", disable=not (shown and seen))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def update(self, count: int = 1) -> None:
        """Count what has been done since the last time."""
        self._done += count
        self._bar.update(count)
        now = self._clock()
        if self._lines and now - self._told >= EVERY:
            self._told = now
            print(terminal(self._line(now - self._begin)), file=sys.stderr, flush=True)

    def _line(self, taken: float) -> str:
        line = f"{self._step}: {self._done} of {self._total} {self._things}"
        left = taken / self._done * max(0, self._total - self._done) if self._done else 0.0
        return f"{line}, about {duration(left)} left" if left else line

    @classmethod
    def over(
        cls, items: Iterable[T], step: str, things: str, total: int, *, shown: bool = True
    ) -> Iterator[T]:
        """Pass items on, and tell how many have come."""
        with cls(step, things, total, shown=shown) as progress:
            for item in items:
                yield item
                progress.update()
