"""Values that were computed before, found by the digest of all that they depend on.

Conventions
-----------
- A file holds the values of one purpose, for one version of the code that computes them. A damaged file, or
  one of another version, holds nothing.
- What nobody asked for is forgotten, so that a file does not grow.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from soundcheck.common import files, store
from soundcheck.common.library import installed, library_digest


def made_here() -> str:
    """Digest of the library and of all installed packages: a version for :class:`Remembered`."""
    return files.digest(repr([library_digest(), installed()]))


class Remembered:
    """Values by name.

    - ``path``: file that keeps them for the next run; ``None`` = none does.
    - ``version``: what all of them depend on.
    """

    def __init__(self, path: Path | None = None, version: str = "") -> None:
        self._path, self._version = path, version
        self._known: dict[str, Any] = (store.read(path, version) or {}) if path is not None else {}
        self._used: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """Give a value; ``None`` if it is not known. It must not be changed."""
        if name not in self._used and name in self._known:
            self._used[name] = self._known[name]
        return self._used.get(name)

    def put(self, name: str, value: Any) -> None:
        """Remember a value that JSON knows, not ``None``."""
        self._used[name] = value

    def find(self, name: str, make: Callable[[], Any]) -> Any:
        """Give a value, or make and remember it."""
        found = self.get(name)
        if found is None:
            found = make()
            self.put(name, found)
        return found

    @property
    def grown(self) -> bool:
        """Whether there are values since the last :meth:`save` that were not known."""
        return not self._used.keys() <= self._known.keys()

    def save(self) -> None:
        """Keep the values that were asked for.

        Raises OutputError: if they cannot be written.
        """
        if self._path is not None and self._used != self._known:
            store.write(self._path, self._used, self._version)
            self._known = dict(self._used)
