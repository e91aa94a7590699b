"""Lets several processes that need the same thing in the cache make it only once.

The first one works while the others wait and then find it finished. The lock belongs to the open file, so
it ends with its process, however that ends; where locks do not exist, everybody works and the last rename
counts, which is slower and just as right.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a Unix system
    fcntl = None


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[bool]:
    """Hold the lock of a path, ``<path>.lock``, as long as the block runs; wait for it if need be.

    Yields
    ------
    bool
        Whether there is a lock, so that nobody else works on the same path.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "ab") as file:
        locked = False
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
                locked = True
        yield locked
