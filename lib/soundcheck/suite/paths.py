"""Finds the files, folders and programs that a suite names.

What cannot be found is returned as a problem, ``what`` and ``remedy``: sentences without full stop, empty if
there is none.
"""

from __future__ import annotations

import functools
import glob
import importlib.util
import itertools
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePath

from soundcheck.common.files import MARKER, inside, irregularity, nearest_name
from soundcheck.common.messages import InputError, quoted

PACKAGE = "package:"  # begins the place of a file that came with an installed package
MANY_FILES = 100_000  # more than one entry may name
PASSED = (".git", "__pycache__")  # folders that are not looked into
AUDIO = "{audio}"  # in a command, the path of the recording
TASK = "transcript"  # what a command predicts if the suite does not say


def find_place(file: Path, text: str, *, folder: bool) -> tuple[Path | None, str, str]:
    """Find a file or folder; returns its place (``None`` = none), what is wrong, and the remedy.

    - ``file``: the suite.yml, whose folder paths are relative to.
    - ``text``: the path as written; ``~`` is expanded, environment variables are not.
      ``package:name/inner/path`` is a place in an installed package; nothing of it is imported.
    """
    kind = "folder" if folder else "file"
    if not text:
        return None, "the key is missing", f"Name the {kind}, relative to {file.name}"
    if text.startswith(PACKAGE):
        return _in_package(text, kind)
    home = os.path.expanduser(text)
    place = file.parent / home
    what = irregularity(place) or "this is a file, not a folder" * folder
    if folder and os.path.isdir(place):
        what = "" if os.access(place, os.R_OK | os.X_OK) else "permission denied"
    if not what:
        return place, "", ""
    remedy = f"Check the path, or name a {kind} that can be read"
    if "not exist" in what:
        relative = "" if os.path.isabs(home) else f" (taken relative to the folder of {file.name})"
        what = f"the {kind} does not exist{relative}"
        remedy = "Check the path" + "; variables are not expanded" * ("$" in text)
        remedy = (folder and _audb_call(text)) or nearest_name(place) or remedy
    return None, f"{quoted(text)}: {what}", remedy


def _in_package(text: str, kind: str) -> tuple[Path | None, str, str]:
    """Find a file or folder that came with an installed package; see :func:`find_place`."""
    name, _, inner = text.removeprefix(PACKAGE).partition("/")
    if not name.isidentifier() or not inner:
        return None, f"{quoted(text)} is no place in a package", f"Write {PACKAGE}name/folder/file"
    spec = importlib.util.find_spec(name)  # of a package that lies in no other one: imports nothing
    roots = [Path(root) for root in (spec and spec.submodule_search_locations) or ()]
    if not roots:
        return None, f"{quoted(text)}: the package {name} is not installed", f"Install it: pip install {name}"
    try:
        places = [inside(root, inner) for root in roots]
    except InputError:
        return None, f"{quoted(text)} leads out of the package", f"Name a {kind} in it"
    for place in places:
        if place.is_dir() if kind == "folder" else place.is_file():
            return place, "", ""
    remedy = nearest_name(places[0]) or "Check the path and the version of the package"
    return None, f"{quoted(text)}: the package {name} has no such {kind}", remedy


def _audb_call(text: str) -> str:
    """Say how audb fetches what a folder ``name/version`` stands for; empty if it is another name."""
    name, version = ("", *PurePath(text).parts)[-2:]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version) or not re.fullmatch(r"[\w.-]+", name):
        return ""
    return f"If it is a database that audb knows: audb.load_to({text!r}, {name!r}, version={version!r})"


def find_files(file: Path, text: str) -> tuple[list[Path], str, str]:
    """Find the files that a file, a folder or a pattern means; returns them, what is wrong, the remedy.

    - ``file``: the suite.yml, whose folder paths are relative to.
    - ``text``: a file; a folder, with all files below it; or a pattern of :mod:`glob`, ``**`` for any depth.
      Folders that Soundcheck wrote, ``.git`` and ``__pycache__`` are passed over, and whatever is no file.
    """
    place = file.parent / os.path.expanduser(text)
    if os.path.isdir(place):
        places = [place]
    elif glob.has_magic(text) and not os.path.lexists(place):
        matches = glob.iglob(os.path.expanduser(text), root_dir=file.parent, recursive=True)
        places = [file.parent / match for match in matches]
    else:
        single, what, remedy = find_place(file, text, folder=False)
        return ([] if single is None else [single]), what, remedy
    below = itertools.chain.from_iterable(_files_below(each, file.parent) for each in places)
    matches = sorted({*itertools.islice(below, MANY_FILES + 1)})
    if len(matches) > MANY_FILES:
        what = f"{quoted(text)} means more than {MANY_FILES} files"
        return [], what, "Name those that the predictions depend on"
    if not matches:
        return [], f"{quoted(text)} means no file", nearest_name(place) or "Check the path"
    for path in matches:
        if reason := irregularity(path):
            return [], f"{quoted(text)}: {quoted(path.name)}: {reason}", "Make it readable, or do not name it"
    return matches, "", ""


def _files_below(place: Path, root: Path) -> Iterator[Path]:
    """Give a file, or the files below a folder, but for those in folders that are passed over."""

    @functools.cache
    def is_passed(folder: Path) -> bool:
        return folder.name in PASSED or (folder / MARKER).exists()

    for path in itertools.chain([place], place.rglob("*")):
        folders = itertools.takewhile(lambda folder: folder != root, path.parents)
        if path.is_file() and not any(map(is_passed, folders)):
            yield path


def parse_command(target: str, stays: bool | None = False) -> tuple[list[str], str, str]:
    """Split a command into program and arguments; returns them, what is wrong, and the remedy.

    - ``stays``: whether the program stays and reads the path of each recording, so that none is named here;
      ``None`` = nobody knows yet.

    >>> parse_command("my-asr --in={audio} 'a b' ;")
    (['my-asr', '--in={audio}', 'a b', ';'], '', '')
    >>> parse_command("my-asr audio.wav")[1]
    "{audio} does not occur in 'my-asr audio.wav'"
    """
    example = f'"my-asr {AUDIO}", where {AUDIO} is the path of the recording'
    remedy = f'Write {example}; or "my-asr" and stays: true for one that reads paths from standard input'
    try:
        arguments = shlex.split(target)
    except ValueError as error:
        return [], f"{quoted(target)} cannot be split: {str(error).lower()}", remedy
    if not arguments or not arguments[0].strip() or AUDIO in arguments[0]:
        return [], f"{quoted(target)} does not begin with a program", remedy
    if stays and AUDIO in target:
        return [], f"{AUDIO} occurs in {quoted(target)}, and stays: true", remedy
    if stays is False and AUDIO not in target:
        return [], f"{AUDIO} does not occur in {quoted(target)}", remedy
    return arguments, "", ""


def find_program(word: str, suite_file: Path) -> tuple[Path | None, str, str]:
    """Find the program of a command; returns its path with links kept, what is wrong, and the remedy.

    - ``suite_file``: the suite.yml, absolute; its folder comes first.
    """
    if os.sep in word or os.path.isfile(suite_file.parent / word):
        program, what, remedy = find_place(suite_file, word, folder=False)
        if program is None or os.access(program, os.X_OK):
            return program, what, remedy
        remedy = f"Make it executable with chmod +x, or name what runs it, for instance python3 {word}"
        return None, f"{quoted(word)}: the file is not executable", remedy
    if program := shutil.which(word):
        return Path(program).absolute(), "", ""
    what = f"there is no program {quoted(word)}, neither in the suite's folder nor on PATH"
    return None, what, "Install it, or write its full path"
