"""Command lines of recognisers, as a suite names them: split into words, and their program found."""

from __future__ import annotations

import contextlib
import difflib
import os
import shlex
import shutil
from pathlib import Path

from soundcheck.common.escaping import quoted
from soundcheck.suite.paths import find_place

AUDIO = "{audio}"  # what stands for the path of the recording
TASK = "transcript"  # what a command answers if the suite does not say
_ALIKE = 0.75  # from 0 to 1: how much so a name must be to be suggested; PATH has thousands


def parse_command(target: str, stays: bool | None = False) -> tuple[list[str], str, str]:
    """Split a command into program and arguments.

    - ``stays``: whether the program stays and is told each recording, so that none is named here; ``None`` =
      nobody knows yet.
    - Returns ``arguments``: The program and its arguments; empty if there is a problem.
    - Returns ``what, remedy``: The problem and what to do, sentences without full stop; empty if there is
      none.

    >>> parse_command("my-asr --in={audio} 'a b' ;")
    (['my-asr', '--in={audio}', 'a b', ';'], '', '')
    >>> parse_command("my-asr audio.wav")[1]
    "{audio} does not occur in 'my-asr audio.wav'"
    """
    try:
        arguments = shlex.split(target)
    except ValueError as error:
        why = "it ends with a backslash" if "escape" in str(error) else "a quotation mark is not closed"
        remedy = "Close it; a ' or \" that belongs to an argument needs a backslash before it"
        return [], f"{quoted(target)} cannot be split: {why}", remedy
    example = 'for instance "my-asr"' if stays else f'for instance "my-asr {AUDIO}"'
    if not arguments or not arguments[0].strip():
        return [], f"{quoted(target)} names no program", f"Write program and arguments, {example}"
    if AUDIO in arguments[0]:
        return [], f"{AUDIO} is in the place of the program", f"Write the program first, {example}"
    named = any(AUDIO in argument for argument in arguments)
    if stays and named:
        remedy = f"Remove {AUDIO}: a program that stays reads the path of each recording from standard input"
        return [], f"{AUDIO} occurs in {quoted(target)}, and stays: true", remedy
    if stays is False and not named:
        remedy = (
            f"Write {AUDIO} where the path of the recording belongs, {example}, or stays: true if the "
            "program reads paths from standard input"
        )
        return [], f"{AUDIO} does not occur in {quoted(target)}", remedy
    return arguments, "", ""


def find_program(word: str, suite_file: Path) -> tuple[Path | None, str, str]:
    """Find the program of a command.

    - ``suite_file``: the suite.yml, absolute; its folder comes first.
    - Returns ``program``: Absolute path, links kept; ``None`` if there is a problem.
    - Returns ``what, remedy``: The problem and what to do, sentences without full stop; empty if there is
      none.
    """
    if os.sep in word or os.path.isfile(suite_file.parent / word):
        program, what, remedy = find_place(suite_file, word, folder=False)
        if program is None or os.access(program, os.X_OK):
            return program, what, remedy
        remedy = f"Make it executable with chmod +x, or name what runs it, for instance python3 {word}"
        return None, f"{quoted(word)}: the file is not executable", remedy
    found = shutil.which(word)
    if found:
        return Path(found).absolute(), "", ""
    near = difflib.get_close_matches(word, _programs(suite_file.parent), n=1, cutoff=_ALIKE)
    what = f"there is no program {quoted(word)}, neither in the suite's folder nor on PATH"
    return None, what, f"Did you mean {quoted(near[0])}?" if near else "Install it, or write its full path"


def _programs(root: Path) -> list[str]:
    """List the names of what could be meant: files in the suite's folder and on ``PATH``."""
    names: set[str] = set()
    for folder in (root, *filter(None, os.get_exec_path())):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            names.update(entry.name for entry in entries if entry.is_file())
    return sorted(names)
