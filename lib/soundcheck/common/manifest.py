"""Lists of files with their SHA-256 digests, in the format that ``sha256sum`` writes and checks.

Conventions
-----------
- A list lies in the folder that it is about, as ``manifest.sha256``, and names all files but itself, relative
  to the folder with ``/``, in the order of their names. The same files give the same bytes.
- SHA-256, unlike the digests that Soundcheck knows its own work by, because everybody has a program for it.
- Links are not followed: what is listed is a regular file of the folder, and a link in its place is a change.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath

from soundcheck.common import files

MANIFEST = "manifest.sha256"
CHANGED, MISSING, ADDED = "changed", "missing", "added"

_LINE = re.compile(r"(\\?)([0-9a-f]{64}) [ *](.+)")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES.values())))


@dataclasses.dataclass(frozen=True)
class Manifest:
    """A list that was read."""

    digests: dict[str, str]  # name of a file -> its SHA-256 digest, 64 hexadecimal digits
    # numbers of the lines that are none of such a list, or name a file outside of its folder or twice
    odd: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Difference:
    """A file that is not as it was listed."""

    what: str  # ``"changed"``, ``"missing"`` or ``"added"``
    name: str  # the file, relative to the folder
    why: str = ""  # what is there in its place, or why it cannot be read; ``""`` if its content differs


def sha256(path: str | os.PathLike) -> str:
    """Hash the content of a file to 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def below(root: Path) -> list[str]:
    """Name everything below a folder that is no folder, relative to it and sorted; links are not followed."""
    found = []
    for folder, folders, names in os.walk(root):
        linked = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        inner = os.path.relpath(folder, root)
        found += [os.path.normpath(os.path.join(inner, name)) for name in (*names, *linked)]
    return sorted(name.replace(os.sep, "/") for name in found)


def write(root: Path, names: Iterable[str] | None = None) -> str:
    """Write the list of a folder; left as it is if it would say the same.

    - ``names``: files to list; default all below it.
    - Returns SHA-256 digest of the list.
    """
    listed = sorted(set(below(root) if names is None else names) - {MANIFEST})
    lines = [_line(name, sha256(root / name)) for name in listed]
    data = "".join(lines).encode("utf-8", "surrogateescape")
    files.write_bytes(root / MANIFEST, data)
    return hashlib.sha256(data).hexdigest()


def read(root: Path) -> Manifest:
    """Read the list of a folder; nothing that it says is trusted but the digests of files inside.

    Raises InputError: if there is none that may be opened.
    """
    path = files.require_regular(root / MANIFEST)
    digests: dict[str, str] = {}
    odd = []
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        found = _LINE.fullmatch(line)
        name = _unescaped(found[3]) if found and found[1] else found[3] if found else ""
        if found is None or name in digests or not _is_inside(name):
            odd.append(number)
            continue
        digests[name] = found[2]
    return Manifest(digests, tuple(odd))


def differences(
    root: Path,
    known: Mapping[str, str],
    there: Iterable[str] | None = None,
    told: Callable[[], object] = lambda: None,
) -> list[Difference]:
    """Compare a folder with its list.

    - ``known``: file -> SHA-256 digest.
    - ``there``: files that are there, of those that ought to be listed; default all below the folder.
    - ``told``: called after each file, for a progress bar.
    """
    present = set(below(root) if there is None else there) - {MANIFEST}
    found = [Difference(ADDED, name) for name in present - known.keys()]
    for name, digest in known.items():
        difference = _difference(root, name, digest)
        if difference is not None:
            found.append(difference)
        told()
    return sorted(found, key=lambda difference: difference.name)


def _difference(root: Path, name: str, digest: str) -> Difference | None:
    path = root / name
    try:
        around = next((part for part in _folders(name) if os.path.islink(root / part)), None)
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return Difference(MISSING, name)
    except OSError as error:
        return Difference(CHANGED, name, f"it cannot be read: {error.strerror}")
    if around is not None:
        return Difference(CHANGED, name, "its folder is a link now")
    if stat.S_ISLNK(mode):
        return Difference(CHANGED, name, "it is a link now")
    if not stat.S_ISREG(mode):  # a named pipe would never end
        return Difference(CHANGED, name, "it is not a regular file any more")
    try:
        return None if sha256(path) == digest else Difference(CHANGED, name)
    except OSError as error:
        return Difference(CHANGED, name, f"it cannot be read: {error.strerror}")


def _folders(name: str) -> list[PurePosixPath]:
    return list(PurePosixPath(name).parents)[:-1]


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    plain = name == path.as_posix() and "\0" not in name
    return plain and not path.is_absolute() and not {"..", "."} & set(path.parts)


def _line(name: str, digest: str) -> str:
    escaped = re.sub(r"[\\\n\r]", lambda found: _ESCAPES[found.group()], name)
    mark = "\\" if escaped != name else ""  # as sha256sum says that a name is escaped
    return f"{mark}{digest}  {escaped}\n"


def _unescaped(name: str) -> str:
    back = {escaped: plain for plain, escaped in _ESCAPES.items()}
    return _ESCAPED.sub(lambda found: back[found.group()], name)
