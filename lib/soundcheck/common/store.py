"""Keeps what is made once: values and dataclasses as JSON, folders of files, digests of files.

All of it is believed only if it is whole.

Conventions
-----------
- The name of a path, or a version, carries everything that decides the content: what is there is not old.
- A file of values holds their digest. A folder appears complete or not at all; a mark in it tells the sizes
  of its files and the digests of those that are no audio. What is cut, edited or missing is made again.
- Of several processes that need the same thing, one works while the others wait and then find it finished.
  The lock belongs to an open file, so it ends with its process, however that ends.
- A file's *signature* is its size, the times of its last changes, and its inode. It changes with the content,
  but also without need, for instance when a file is copied.
- Dataclasses are read and checked by pydantic: a :class:`JsonFile` that does not fit is an error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

from soundcheck.common import files
from soundcheck.common.files import TEMPORARY, digest, write_text

if TYPE_CHECKING:
    from pydantic import ConfigDict, TypeAdapter


T = TypeVar("T")

CACHE_VARIABLE = "SOUNDCHECK_CACHE"  # moves the cache elsewhere; models and children find it by this
MARK = "complete.json"
AUDIO = (".wav", ".flac")
# A file written a moment ago may be written again within the same tick of the clock.
MTIME_GRACE_SECONDS = 2.0


def read(path: Path, version: str = "") -> dict[str, Any] | None:
    """Read what :func:`write` wrote; ``None`` if there is nothing, or it is damaged or of another version."""
    try:
        content = json.loads(path.read_text("utf-8"))
        values = content["values"]
        whole = content["version"] == version and content["digest"] == digest(json.dumps(values))
        return values if whole and isinstance(values, dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(path: Path, values: Mapping[str, Any], version: str = "") -> None:
    """Keep values that JSON knows, by name; ``version`` is what they depend on."""
    content = {"version": version, "digest": digest(json.dumps(values)), "values": values}
    _remove_folder(path)
    write_text(path, json.dumps(content))


def find(path: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Read values, or make and keep them."""
    values = read(path)
    if values is None:
        with lock(path):
            values = read(path)
            if values is None:
                values = make()
                write(path, values)
    return values


class JsonCache:
    """Values that JSON knows, by name; those that a run did not use are forgotten.

    - ``path``: file that keeps them for the next run; ``None`` = none does.
    - ``version``: what all of them depend on.
    """

    def __init__(self, path: Path | None = None, version: str = "") -> None:
        self._path, self._version = path, version
        self._known: dict[str, Any] = (read(path, version) or {}) if path is not None else {}
        self.used: dict[str, Any] = {}  # those that a run asked for, or remembered

    def get(self, name: str) -> Any:
        """Give a value, which must not be changed; ``None`` if it is not known."""
        if name not in self.used and name in self._known:
            self.used[name] = self._known[name]
        return self.used.get(name)

    def put(self, name: str, value: Any) -> None:
        """Remember a value, not ``None``."""
        self.used[name] = value

    def find(self, name: str, make: Callable[[], Any]) -> Any:
        """Give a value, or make and remember it."""
        if self.get(name) is None:
            self.put(name, make())
        return self.used[name]

    def save(self) -> None:
        """Keep the values that were used.

        Raises OutputError: if they cannot be written.
        """
        values = self._lasting()
        if self._path is not None and values != self._known:
            write(self._path, values, self._version)
            self._known = values

    def _lasting(self) -> dict[str, Any]:
        return dict(self.used)


class Signature(NamedTuple):
    """What tells that a file may have changed: bytes, two times in nanoseconds, and the inode."""

    size: int
    modified: int
    changed: int
    inode: int


def signature(path: str | os.PathLike) -> Signature | None:
    """Look at a file; ``None`` if it is no regular file, such as a pipe, whose reading would never end."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return Signature(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class FileDigests(JsonCache):
    """Digests of the contents of files, which are read again only if their signature changed."""

    def digest(self, path: str | os.PathLike) -> str:
        """Hash a file, or remember its hash; empty if it is no regular file or cannot be read."""
        now = signature(path)
        if now is None:
            return ""
        name = os.path.abspath(path)
        entry = self.get(name)
        if not entry or tuple(entry[:-1]) != now:
            try:
                entry = [*now, files.digest(Path(path))]
            except OSError:
                return ""
            if signature(path) != now:  # it changes while it is read
                return ""
            self.put(name, entry)
        return entry[-1]

    def _lasting(self) -> dict[str, Any]:
        newest_trusted = time.time_ns() - int(MTIME_GRACE_SECONDS * 1e9)
        lasting = {name: entry for name, entry in self.used.items() if max(entry[1:3]) < newest_trusted}
        return lasting or self._known


def folder(path: Path, make: Callable[[Path], None], what: str) -> Path:
    """Find a folder, or make it; ``what`` says what it holds, for messages."""
    try:
        if not _complete(path):
            with lock(path):
                if not _complete(path):
                    _make(path, make)
    except OSError as error:
        raise files.not_written(f"{what} to {path.parent.name}", error) from error
    return path


def _make(path: Path, make: Callable[[Path], None]) -> None:
    prefix = f"{TEMPORARY}{path.name}-"
    for part in path.parent.glob(f"{prefix}*"):  # of processes that were killed meanwhile
        shutil.rmtree(part, ignore_errors=True)
    draft = path.with_name(f"{prefix}part")
    draft.mkdir()
    try:
        make(draft)
        made = [file for file in sorted(draft.rglob("*")) if file.is_file()]
        names = {file: file.relative_to(draft).as_posix() for file in made}
        mark = {
            "bytes": {names[file]: file.stat().st_size for file in made},
            "digests": {names[file]: digest(file) for file in made if file.suffix not in AUDIO},
        }
        write_text(draft / MARK, json.dumps(mark))
        _remove_folder(path)
        path.unlink(missing_ok=True)  # a file or a link by mistake
        os.replace(draft, path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _complete(path: Path) -> bool:
    """Tell whether all files are there with their sizes, and texts unchanged."""
    try:
        mark = json.loads((path / MARK).read_text("utf-8"))
        sizes = mark["bytes"].items()
        sizes_fit = all(os.stat(os.path.join(path, name)).st_size == size for name, size in sizes)
        return sizes_fit and all(digest(path / name) == known for name, known in mark["digests"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _remove_folder(path: Path) -> None:
    """Make place where an incomplete folder, or one by mistake, stands."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold the lock of a path, ``<path>.lock``, as long as the block runs; wait for it if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class JsonFile:
    """Base of a dataclass that can be written and read; one with other fields is not read."""

    __pydantic_config__: ClassVar[ConfigDict] = {"extra": "forbid"}

    @classmethod
    def read(cls, path: str | os.PathLike) -> Self:
        """Read what :meth:`write` wrote.

        Raises OSError: if the file cannot be read. Raises ValueError: if it is not JSON, or its fields are
        not those of the class (pydantic's ``ValidationError``).
        """
        return adapter(cls).validate_python(json.loads(Path(path).read_text(encoding="utf-8")))

    def write(self, path: str | os.PathLike) -> str:
        """Write all fields, as ASCII so that any text survives; returns the digest of the file.

        Raises ValueError: if a number is NaN or infinite.
        """
        content = adapter(type(self)).dump_python(self, mode="json")
        return files.write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


@functools.cache
def adapter(kind: type) -> TypeAdapter:
    """Make what checks the fields of a class; that takes longer than to read a file."""
    from pydantic import TypeAdapter  # late: a model's process knows such classes, but reads none

    return TypeAdapter(kind)


def made_of(kind: type[T], *sources: object, **more: object) -> T:
    """Make a dataclass of what is given, and of attributes of the same names of the first source with one.

    Fields that nothing has keep their defaults.
    """
    for field in dataclasses.fields(kind):
        if field.name not in more:
            source = next((source for source in sources if hasattr(source, field.name)), None)
            if source is not None:
                more[field.name] = getattr(source, field.name)
    return kind(**more)
