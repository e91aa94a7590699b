"""Keeps a second run out of an output folder while the first one writes to it.

The system itself holds the lock and lets go of it when the process ends, however it ends: a run that was
killed leaves none behind.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import IO, Self

from soundcheck.common.errors import input_error

try:
    import fcntl
except ImportError:  # no such locks on this system: runs at once are the user's business
    fcntl = None

LOCK = ".lock"  # file in the output folder; tells who holds it


class FolderLock:
    """The right to write to an output folder, as a context manager that gives it back."""

    def __init__(self, folder: Path, shown: str) -> None:
        self._path, self._shown = folder / LOCK, shown
        self._held: IO | None = None

    def __enter__(self) -> Self:
        """Take the folder if there has been a run; else :meth:`take` does before anything is written."""
        if self._path.exists():
            self.take()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the folder back."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def take(self) -> None:
        """Make the folder if it is not there, and take it.

        Raises InputError: if another process has it.
        """
        if self._held is not None or fcntl is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        held = open(self._path, "a+", encoding="utf-8")  # not emptied: perhaps another process has it
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            time.sleep(0.2)  # the other may have taken it just now, and not yet said who it is
            held.seek(0)
            who = held.read(200).strip()
            held.close()
            what = (
                f"another run writes to this folder ({who})" if who else "another run writes to this folder"
            )
            remedy = "Wait until it has ended, or choose another folder with --out"
            raise input_error(f"--out {self._shown}", what, remedy) from error
        held.truncate(0)
        held.write(f"process {os.getpid()}, since {time.strftime('%H:%M:%S')}")
        held.flush()
        self._held = held
