"""Says which stage a run is in, and how many seconds each stage took."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from soundcheck.common.wording import duration


class Stages:
    """The stages of one run, one after the other.

    Where nobody looks at a terminal, the beginning of each stage is a line of the log.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first = self._begin = clock()
        self._name = ""
        self.seconds: dict[str, float] = {}

    def begin(self, name: str) -> None:
        """Begin a stage, which ends the one before; a name may come again."""
        self.end()
        self._name, self._begin = name, self._clock()
        if not sys.stderr.isatty():
            print(f"[{duration(self._begin - self._first)}] {name}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the present stage, if there is one."""
        if self._name:
            took = self._clock() - self._begin
            self.seconds[self._name] = round(self.seconds.get(self._name, 0.0) + took, 1)
        self._name = ""

    @property
    def account(self) -> str:
        """All stages that took a second or more, in a sentence."""
        parts = [f"{name} {duration(took)}" for name, took in self.seconds.items() if took >= 1]
        total = f"Time: {duration(sum(self.seconds.values()))}"
        return f"{total} ({', '.join(parts)})" if parts else total
