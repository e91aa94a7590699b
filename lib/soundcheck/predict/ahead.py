"""Threads in which models are checked while others things are read."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

from soundcheck.models.load import check_model

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite


class Ahead:
    """Checks some models at a time; leaving its block waits for those that have begun."""

    def __init__(self, jobs: int) -> None:
        self._threads = ThreadPoolExecutor(max(1, jobs))
        self._checks: dict[str, tuple[ModelEntry, Future[str]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type | None, *_: object) -> None:
        self._threads.shutdown(cancel_futures=error is not None)

    def check(self, entry: ModelEntry, suite: Suite) -> Future[str]:
        """Check a model as soon as a thread is free, unless that has begun; gives its fingerprint."""
        known, found = self._checks.get(entry.name, (None, None))
        if found is None or known != entry:
            found = self._threads.submit(check_model, entry, suite)
            self._checks[entry.name] = entry, found
        return found
