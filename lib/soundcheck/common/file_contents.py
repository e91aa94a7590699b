"""Tells whether files are what they were, without reading them each time.

Conventions
-----------
- A *signature* is what the file system says of a file: size, times of the last changes, inode. It changes
  with the content, but also without need, for instance when a file is copied.
- The digest of a content is kept under the signature that it was read with. A file that was written a moment
  ago may be written again within the same tick of the clock, so its digest is not kept.
- Nothing but regular files is opened: opening a named pipe would wait for ever.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import NamedTuple

from soundcheck.common import files, store

SETTLED_SECONDS = 2.0  # since the last change of a file; the coarsest file systems count in these


class Signature(NamedTuple):
    """What tells that a file may have changed: bytes, two times in nanoseconds, and the inode."""

    size: int
    modified: int
    changed: int
    inode: int


def signature(path: str | os.PathLike) -> Signature | None:
    """Look at a file; ``None`` if there is none, or it is no regular file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return Signature(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class Contents:
    """Digests of the contents of files.

    - ``kept``: file that keeps them for the next run; ``None`` = none does.
    """

    def __init__(self, kept: Path | None = None) -> None:
        self._kept = kept
        self._known = (store.read(kept) or {}) if kept is not None else {}
        self._used: dict[str, list] = {}

    def digest(self, path: str | os.PathLike) -> str:
        """Hash a file, or remember its hash; empty if it is no regular file or cannot be read."""
        now = signature(path)
        place = os.path.abspath(path)
        if now is None:
            return ""
        found = self._used.get(place) or self._known.get(place)
        if not found or tuple(found[:-1]) != now:
            try:
                found = [*now, files.digest(Path(path))]
            except OSError:
                return ""
            if signature(path) != now:  # it changes while it is read
                return ""
        self._used[place] = found
        return found[-1]

    def save(self) -> None:
        """Keep the digests of the files that were asked for.

        Raises OutputError: if they cannot be written.
        """
        settled = time.time_ns() - int(SETTLED_SECONDS * 1e9)
        lasting = {
            place: found
            for place, found in self._used.items()
            if max(Signature(*found[:-1]).modified, Signature(*found[:-1]).changed) < settled
        }
        if self._kept is not None and lasting and lasting != self._known:
            store.write(self._kept, lasting)
            self._known = lasting
