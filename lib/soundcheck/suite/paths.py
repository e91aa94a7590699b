"""Finds the files and folders that a suite names."""

from __future__ import annotations

import glob
import importlib.util
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from soundcheck.common.errors import InputError
from soundcheck.common.escaping import quoted
from soundcheck.common.files import MARKER, inside, irregularity, nearest_name

PACKAGE = "package:"  # begins the place of a file that came with an installed package
MANY_FILES = 100_000  # more than one entry may name
PASSED = (".git", "__pycache__")  # folders that are not looked into


def find_place(file: Path, text: str, *, folder: bool) -> tuple[Path | None, str, str]:
    """Find a file or folder.

    - ``file``: the suite.yml, whose folder paths are relative to.
    - ``text``: the path as written; ``~`` is expanded, environment variables are not.
      ``package:name/inner/path`` is a place in an installed package; nothing of it is imported.
    - ``folder``: whether a folder is wanted.
    - Returns ``place``: Where it is; ``None`` if there is a problem.
    - Returns ``what, remedy``: The problem and what to do, sentences without full stop; empty if there is
      none.
    """
    kind = "folder" if folder else "file"
    if not text:
        return None, "the key is missing", f"Name the {kind}, relative to {file.name}"
    if text.startswith(PACKAGE):
        return _in_package(text, folder)
    place = file.parent / os.path.expanduser(text)
    if re.search(r"\$\w|\$\{|%\w+%", text) and not os.path.lexists(place):
        remedy = "Write the path itself; ~ stands for your home folder"
        return None, f"{quoted(text)}: environment variables are not expanded", remedy
    if folder and os.path.isdir(place):
        return place, "", ""
    reason = "this is a file, not a folder" if folder and os.path.isfile(place) else irregularity(place)
    if not reason:
        return place, "", ""
    if "not exist" in reason:
        relative = (
            ""
            if os.path.isabs(os.path.expanduser(text))
            else f" (taken relative to the folder of {file.name})"
        )
        remedy = (folder and _audb_call(text)) or nearest_name(place) or "Check the path"
        return None, f"{quoted(text)}: the {kind} does not exist{relative}", remedy
    return None, f"{quoted(text)}: {reason}", _right_kind(place, folder)


def _in_package(text: str, folder: bool) -> tuple[Path | None, str, str]:
    """Find a file or folder that came with an installed package; see :func:`find_place`."""
    name, _, inner = text.removeprefix(PACKAGE).partition("/")
    if not name.isidentifier() or not inner:
        return None, f"{quoted(text)} is no place in a package", f"Write {PACKAGE}name/folder/file"
    found = importlib.util.find_spec(name)  # of a package that lies in no other one: imports nothing
    roots = [Path(root) for root in (found and found.submodule_search_locations) or ()]
    if not roots:
        return None, f"{quoted(text)}: the package {name} is not installed", f"Install it: pip install {name}"
    kind = "folder" if folder else "file"
    for root in roots:
        try:
            place = inside(root, inner)
        except InputError:
            return None, f"{quoted(text)} leads out of the package", f"Name a {kind} in it"
        if place.is_dir() if folder else place.is_file():
            return place, "", ""
    remedy = nearest_name(roots[0] / inner) or "Check the path and the version of the package"
    return None, f"{quoted(text)}: the package {name} has no such {kind}", remedy


def _audb_call(text: str) -> str:
    """Say how audb fetches what a folder ``name/version`` stands for; empty if it is another name."""
    name, version = PurePath(text).parts[-2:] if len(PurePath(text).parts) > 1 else ("", "")
    if not re.fullmatch(r"\d+\.\d+\.\d+", version) or not re.fullmatch(r"[\w.-]+", name):
        return ""
    return f"If it is a database that audb knows: audb.load_to({text!r}, {name!r}, version={version!r})"


def find_files(file: Path, text: str) -> tuple[list[Path], str, str]:
    """Find the files that a file, a folder or a pattern means.

    - ``file``: the suite.yml, whose folder paths are relative to.
    - ``text``: a file; a folder, with all files below it; or a pattern of :mod:`glob`, ``**`` for any depth.
      Folders that Soundcheck wrote, ``.git`` and ``__pycache__`` are passed over, and whatever is no file.
    - Returns ``found``: Regular files, absolute, sorted, each once; empty if there is a problem.
    - Returns ``what, remedy``: The problem and what to do, sentences without full stop; empty if there is
      none.
    """
    place = file.parent / os.path.expanduser(text)
    if os.path.isdir(place):
        places = [place]
    elif glob.has_magic(text) and not os.path.lexists(place):
        places = [Path(found) for found in glob.iglob(str(place), recursive=True)]
    else:
        found, what, remedy = find_place(file, text, folder=False)
        return ([] if found is None else [found]), what, remedy
    walked = itertools.chain.from_iterable(map(_files_below, places))
    known: dict[Path, bool] = {file.parent: False}
    own = (path for path in walked if not _is_passed(path.parent, known))
    found = sorted({*itertools.islice(own, MANY_FILES + 1)})
    if len(found) > MANY_FILES:
        what = f"{quoted(text)} means more than {MANY_FILES} files"
        return [], what, "Name those that the answers rest on"
    if not found:
        return [], f"{quoted(text)} means no file", nearest_name(place) or "Check the path"
    for one in found:
        reason = irregularity(one)
        if reason:
            return [], f"{quoted(text)}: {quoted(one.name)}: {reason}", "Make it readable, or do not name it"
    return found, "", ""


def _files_below(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    for folder, inner, names in os.walk(place):
        inner[:] = [name for name in inner if name not in PASSED]
        if MARKER in names:
            inner.clear()
        else:
            yield from (path for name in names if (path := Path(folder, name)).is_file())


def _is_passed(folder: Path, known: dict[Path, bool]) -> bool:
    """Say whether a folder lies in one that is passed over; ``known`` are those where the question ends."""
    if folder not in known:
        own = folder.name in PASSED or (folder / MARKER).exists()
        known[folder] = own or (folder.parent != folder and _is_passed(folder.parent, known))
    return known[folder]


def _right_kind(place: Path, folder: bool) -> str:
    """Say what to name instead of the wrong kind of thing."""
    if folder:
        return "Name the folder that holds it"
    if (place / "db.yaml").is_file():
        return "It holds an audformat database: write format: audformat"
    return "Name the file in it"
