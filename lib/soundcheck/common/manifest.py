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
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath

from soundcheck.common import files

MANIFEST = "manifest.sha256"
CHANGED, MISSING, ADDED = "changed", "missing", "added"
_LINE = re.compile(r"([0-9a-f]{64}) [ *]([^\0]+)")


@dataclasses.dataclass(frozen=True)
class Manifest:
    """A list that was read."""

    digests: dict[str, str]  # name of a file -> its SHA-256 digest, 64 hexadecimal digits
    # numbers of the lines that are none of such a list, or name a file outside of its folder or twice
    malformed_lines: tuple[int, ...] = ()


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
    every = (path for path in root.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(path.relative_to(root).as_posix() for path in every)


def write(root: Path, names: Iterable[str] | None = None) -> str:
    """Write the list of a folder; left as it is if it would say the same. Returns its SHA-256 digest.

    - ``names``: files to list; default all below it.
    """
    listed = sorted(set(below(root) if names is None else names) - {MANIFEST})
    data = "".join(f"{sha256(root / name)}  {name}\n" for name in listed).encode("utf-8", "surrogateescape")
    files.write_bytes(root / MANIFEST, data)
    return hashlib.sha256(data).hexdigest()


def read(root: Path) -> Manifest:
    """Read the list of a folder; nothing that it says is trusted but the digests of files inside.

    Raises InputError: if there is none that may be opened.
    """
    text = files.require_regular(root / MANIFEST).read_bytes().decode("utf-8", "surrogateescape")
    digests: dict[str, str] = {}
    malformed = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        match = _LINE.fullmatch(line)
        path = PurePosixPath(match[2] if match else "/")
        name = path.as_posix()
        inside = match and name == match[2] and not path.is_absolute() and ".." not in path.parts
        if inside and name not in digests:
            digests[name] = match[1]
        else:
            malformed.append(number)
    return Manifest(digests, tuple(malformed))


def differences(
    root: Path,
    known: Mapping[str, str],
    present: Iterable[str] | None = None,
    report: Callable[[], object] = lambda: None,
) -> list[Difference]:
    """Compare a folder with its list.

    - ``known``: file -> SHA-256 digest.
    - ``present``: files that ought to be listed; default all below the folder.
    - ``report``: called after each file, for a progress bar.
    """
    names = set(below(root) if present is None else present) - {MANIFEST}
    changes = [Difference(ADDED, name) for name in names - known.keys()]
    for name, digest in known.items():
        difference = _difference(root, name, digest)
        changes += [difference] if difference else []
        report()
    return sorted(changes, key=lambda difference: difference.name)


def _difference(root: Path, name: str, digest: str) -> Difference | None:
    path = root / name
    linked = any((root / part).is_symlink() for part in (name, *PurePosixPath(name).parents[:-1]))
    reason = "it is a link now, or lies in one" if linked else files.irregularity(path)
    if not os.path.lexists(path):
        return Difference(MISSING, name)
    return Difference(CHANGED, name, reason) if reason or sha256(path) != digest else None
