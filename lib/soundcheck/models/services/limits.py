"""When a service is not asked any more: because it fails always, or because that is all the suite allows.

Conventions
-----------
- Both may be used by several threads at a time.
- A *way* is how a request failed; requests that failed in the same way need not have the same reason.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from soundcheck.common import files, store
from soundcheck.models.processes import RUN_VARIABLE

REFUSED_AFTER = 4  # refusals in a row, which have nothing to do with the recording
FAILED_AFTER = 20  # other failures in a row
_KEPT_SECONDS = 7 * 86400.0  # after which the count of a run is removed


class Breaker:
    """Notices that a service does not answer, so that nobody waits for thousands of failures.

    Attributes
    ----------
    answered
        Whether it has ever answered.
    why
        Why it is not asked any more; empty as long as it is.
    """

    def __init__(self) -> None:
        self.answered = False
        self.why = ""
        self._lock = threading.Lock()
        self._way, self._in_a_row = "", 0

    def succeed(self) -> None:
        """Note an answer."""
        with self._lock:
            self.answered = True
            self._in_a_row = 0

    def fail(self, way: str, reason: str, *, refused: bool, recording: bool) -> None:
        """Note a failure.

        Parameters
        ----------
        way, reason
            How it failed, and in words.
        refused
            Whether the service would say the same to any recording.
        recording
            Whether the recording may be the cause: then a service that has answered others is asked on.
        """
        with self._lock:
            self._in_a_row = self._in_a_row + 1 if way == self._way else 1
            self._way = way
            limit = REFUSED_AFTER if refused else FAILED_AFTER
            if not self.why and self._in_a_row >= limit and not (recording and self.answered):
                self.why = f"not asked, because {limit} requests in a row failed, the last one with: {reason}"


class RequestCount:
    """Counts the requests of a run, those of all its processes together.

    The count is the size of a file in the cache, whose name carries the number of the run's process.

    Parameters
    ----------
    name
        Of the model.
    most
        Requests that the run may make.
    """

    def __init__(self, name: str, most: int) -> None:
        self._most = most
        self._count = 0  # where there is no cache: of this process
        self._lock = threading.Lock()
        cache, run = os.environ.get(store.CACHE_VARIABLE), os.environ.get(RUN_VARIABLE)
        self._file = Path(cache, "requests", f"{run}-{files.slug(name)}") if cache and run else None

    def take(self) -> bool:
        """Ask for one more request; says whether it may be made.

        Raises
        ------
        OSError
            If the count cannot be written; then nobody knows.
        """
        with self._lock:
            if self._file is None:
                self._count += 1
                return self._count <= self._most
            with store.lock(self._file):
                if not self._file.exists():
                    for path in self._file.parent.iterdir():
                        if time.time() - path.stat().st_mtime > _KEPT_SECONDS:
                            path.unlink(missing_ok=True)
                with open(self._file, "ab") as file:
                    return file.tell() < self._most and file.write(b".") == 1
