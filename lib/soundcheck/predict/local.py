"""The workers of this machine: threads, each with a supervised process of the model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from soundcheck.models.processes import Child
from soundcheck.predict.protocol import Answered, Result, Setup, Unit
from soundcheck.predict.supervised import Idle, Log, Supervised


class LocalWorkers:
    """Answers units on this machine.

    Leaving its block ends all processes: by themselves after the work, at once after an error.

    Parameters
    ----------
    setup
        For the processes.
    jobs
        Units that are answered at a time.
    cache
        Folder where models may keep things.
    log
        File for what the model prints; the number of the process is put before its suffix.
    ended
        Tells whether somebody else wants what :meth:`stop` does.
    ready
        A process that has checked the model.
    """

    def __init__(
        self,
        setup: Setup,
        jobs: int,
        cache: Path,
        log: Path,
        ended: Callable[[], bool] = lambda: False,
        ready: Child | None = None,
    ) -> None:
        self.count = max(1, jobs)
        self._setup, self._cache, self._log = setup, cache, log
        self._logs: list[Log] = []
        self._stopped, self._ended, self._ready = threading.Event(), ended, ready
        self._idle = Idle(self._supervised)
        self._threads = ThreadPoolExecutor(self.count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type | None, *_: object) -> None:
        if error is not None:
            self.stop()
            self._threads.shutdown(cancel_futures=True)
        self._idle.dismiss()  # while the threads live: a process ends with the thread that started it
        self._threads.shutdown()
        for log in self._logs:
            log.close()

    def submit(self, unit: Unit, tell: Callable[[list[Result]], None]) -> Future[Answered]:
        """Answer a unit; results are told by its thread at once."""
        return self._threads.submit(self._answer, unit, tell)

    def stop(self) -> None:
        """Kill all processes soon, and start no others."""
        self._stopped.set()

    def _answer(self, unit: Unit, tell: Callable[[list[Result]], None]) -> Answered:
        with self._idle.one() as model:
            return model.answer(unit, tell)

    def _supervised(self, number: int) -> Supervised:
        path = self._log.with_suffix(f".{number + 1}{self._log.suffix}")
        self._logs.append(Log.file(path))
        ready = self._ready if number == 0 else None
        return Supervised(self._setup, self._cache, self._logs[-1].write, self._is_stopped, ready)

    def _is_stopped(self) -> bool:
        return self._stopped.is_set() or self._ended()
