"""Folders of files that are made once, kept in the cache, and believed only if they are whole.

A folder appears complete or not at all. A mark in it tells the sizes of its files and the digests of those
that are no audio; a folder that does not fit its mark (cut or missing files) is made again.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from soundcheck.common.files import TEMPORARY, OutputError, digest, write_text
from soundcheck.common.lock import exclusive

__all__ = ["CACHE_VARIABLE", "made"]

CACHE_VARIABLE = "SOUNDCHECK_CACHE"  # moves the cache elsewhere; models and children find it by this

MARK = "complete.json"
AUDIO = (".wav", ".flac")


def made(folder: Path, make: Callable[[Path], None], what: str) -> Path:
    """Find a folder in the cache, or make it.

    Parameters
    ----------
    folder
        Where it is; its name should carry a fingerprint of everything that decides its content.
    make
        Fills an empty folder.
    what
        What the folder holds, for messages.

    Returns
    -------
    pathlib.Path
        ``folder``.

    Raises
    ------
    OutputError
        If the cache cannot be written.
    """
    try:
        if not _complete(folder):
            with exclusive(folder) as alone:
                if not _complete(folder):
                    if alone:
                        _sweep(folder)
                    _make(folder, make)
    except OSError as error:
        raise OutputError(
            f"Cannot write {what} to {folder.parent.name}: {error.strerror or error}. "
            "Make space or choose another --out, then run again to go on."
        ) from error
    return folder


def _make(folder: Path, make: Callable[[Path], None]) -> None:
    draft = Path(tempfile.mkdtemp(prefix=_part_prefix(folder), dir=folder.parent))
    try:
        make(draft)
        paths = sorted(path for path in draft.rglob("*") if path.is_file())
        mark = {
            "bytes": {path.relative_to(draft).as_posix(): path.stat().st_size for path in paths},
            "digests": {
                path.relative_to(draft).as_posix(): digest(path) for path in paths if path.suffix not in AUDIO
            },
        }
        write_text(draft / MARK, json.dumps(mark))
        draft.chmod(0o755)
        if folder.is_dir() and not folder.is_symlink():  # incomplete, somebody cut or removed files
            shutil.rmtree(folder)
        elif folder.exists() or folder.is_symlink():
            folder.unlink()
        os.replace(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _part_prefix(folder: Path) -> str:
    return f"{TEMPORARY}{folder.name}-"


def _sweep(folder: Path) -> None:
    """Remove what was left by processes that were killed while they made this folder."""
    for part in folder.parent.glob(f"{_part_prefix(folder)}*"):
        shutil.rmtree(part, ignore_errors=True)


def _complete(folder: Path) -> bool:
    """Tell whether all files are there with their sizes, and texts unchanged."""
    try:
        mark = json.loads((folder / MARK).read_text("utf-8"))
        sizes_fit = all(os.stat(folder / name).st_size == size for name, size in mark["bytes"].items())
        return sizes_fit and all(digest(folder / name) == known for name, known in mark["digests"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
