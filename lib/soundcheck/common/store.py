"""Keeps what is made once: values as JSON, and folders of files. Both are believed only if they are whole.

Conventions
-----------
- The name of a path, or a version, carries everything that decides the content: what is found is not old.
- A file of values holds their digest. A folder appears complete or not at all; a mark in it tells the sizes
  of its files and the digests of those that are no audio. What is cut, edited or missing is made again.
- Of several processes that need the same thing, one works while the others wait and then find it finished.
  The lock belongs to an open file, so it ends with its process, however that ends; where locks do not exist,
  everybody works and the last rename counts, which is slower and just as right.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from soundcheck.common.files import TEMPORARY, OutputError, digest, write_text

try:
    import fcntl
except ImportError:  # not a Unix system
    fcntl = None

CACHE_VARIABLE = "SOUNDCHECK_CACHE"  # moves the cache elsewhere; models and children find it by this
MARK = "complete.json"
AUDIO = (".wav", ".flac")


def read(path: Path, version: str = "") -> dict[str, Any] | None:
    """Read what :func:`write` kept; ``None`` if there is nothing, or anything odd, or another version."""
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
    found = read(path)
    if found is None:
        with lock(path):
            found = read(path)
            if found is None:
                found = make()
                write(path, found)
    return found


def folder(path: Path, make: Callable[[Path], None], what: str) -> Path:
    """Find a folder, or make it.

    - ``what``: what the folder holds, for messages.
    - Returns ``path``.
    """
    try:
        if not _complete(path):
            with lock(path) as alone:
                if not _complete(path):
                    _make(path, make, alone)
    except OSError as error:
        raise OutputError(
            f"Cannot write {what} to {path.parent.name}: {error.strerror or error}. "
            "Make space or choose another --out, then run again to go on."
        ) from error
    return path


def _make(path: Path, make: Callable[[Path], None], alone: bool) -> None:
    prefix = f"{TEMPORARY}{path.name}-"
    for part in path.parent.glob(f"{prefix}*") if alone else ():  # of processes that were killed meanwhile
        shutil.rmtree(part, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=prefix, dir=path.parent))
    try:
        make(draft)
        made = {
            file.relative_to(draft).as_posix(): file for file in sorted(draft.rglob("*")) if file.is_file()
        }
        mark = {
            "bytes": {name: file.stat().st_size for name, file in made.items()},
            "digests": {name: digest(file) for name, file in made.items() if file.suffix not in AUDIO},
        }
        write_text(draft / MARK, json.dumps(mark))
        draft.chmod(0o755)
        _remove_folder(path)
        if path.exists() or path.is_symlink():
            path.unlink()
        os.replace(draft, path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _complete(path: Path) -> bool:
    """Tell whether all files are there with their sizes, and texts unchanged."""
    try:
        mark = json.loads((path / MARK).read_text("utf-8"))
        sizes_fit = all(os.stat(path / name).st_size == size for name, size in mark["bytes"].items())
        return sizes_fit and all(digest(path / name) == known for name, known in mark["digests"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _remove_folder(path: Path) -> None:
    """Make place where an incomplete folder, or one by mistake, stands."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)


@contextlib.contextmanager
def lock(path: Path) -> Iterator[bool]:
    """Hold the lock of a path, ``<path>.lock``, as long as the block runs; wait for it if need be.

    Yields whether there is a lock, so that nobody else works on the same path.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "ab") as file:
        locked = False
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
                locked = True
        yield locked
