"""Runs Jupyter Book in a process of its own, on the environment of the last build where that is good.

Sphinx keeps its environment as pickles, and reading a pickle runs what is in it. So the folder is used only
if every file in it is the very one that an earlier build here has left, by the number that the file system
gave it and the time at which it noted its last change. Nobody can choose these: a folder that was copied,
unpacked or edited, or that belongs to somebody else, is removed unread, and so is one whose build was
interrupted.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from soundcheck.book.check_site import SECRET
from soundcheck.common import files
from soundcheck.common.errors import Problem
from soundcheck.common.library import installed
from soundcheck.common.progress import Progress

__all__ = ["LIMIT", "run_jupyter_book"]

LIMIT = 1800  # seconds that Jupyter Book may take
LOOK_SECONDS = 1.0  # between two looks at how many pages there are
WHOLE = ("_config.yml", "_toc.yml", "references.bib", "_static")  # a change of these changes all pages
OWN = ("accessible.py", "incremental.py", "jupyter_book.py")  # and so do changes of these


def run_jupyter_book(
    source: Path, work: Path, log: Path, *, jobs: int = 1, meanwhile: Callable[[], object] = lambda: None
) -> Problem | None:
    """Build the sources; output goes to the log.

    Parameters
    ----------
    source
        Folder of the sources.
    work
        Folder of the site (``html``) and of the environment; what is there is used if it is ours.
    log
        File that output is added to.
    jobs
        Processes to use.
    meanwhile
        Called once while Jupyter Book reads the sources, with one process.

    Returns
    -------
    Problem or None
        Why there is no site.
    """
    note, key = work / "environment.json", _key(source)
    if not _is_ours(work, note, key):
        if work.is_symlink():
            work.unlink()
        shutil.rmtree(work, ignore_errors=True)
    note.unlink(missing_ok=True)  # until this build has come to its end, nobody knows what is in the folder
    problem = _run(source, work, jobs, log, meanwhile)
    if problem is None and not (work / "html" / "index.html").is_file():
        problem = Problem("book", "Jupyter Book wrote no first page", f"See {log.name}")
    if problem is None:
        files.write_text(note, json.dumps({"key": key, "files": _marks(work)}))
    return problem


def _run(source: Path, work: Path, jobs: int, log: Path, meanwhile: Callable[[], object]) -> Problem | None:
    environment = {name: value for name, value in os.environ.items() if not SECRET.search(name.upper())}
    environment |= {"JUPYTER_PLATFORM_DIRS": "1", "PYTHONHASHSEED": "0", "TZ": "UTC"}
    begin, written = time.time(), 0
    pages = sum(path.suffix in (".md", ".ipynb") for path in source.rglob("*"))
    with open(log, "ab") as output, Progress("book", "pages", pages) as told:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "soundcheck.book.incremental", str(source), str(work), str(jobs)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
        )
        try:
            meanwhile()
            while child.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(LOOK_SECONDS)
                if time.time() > begin + LIMIT:
                    return Problem("book", f"Jupyter Book did not end within {LIMIT} s")
                count = min(pages, _written_since(begin, work))  # not the index
                before, written = (
                    written,
                    max(written, count),
                )  # a page that is written again is gone for a moment
                told.update(written - before)
        finally:
            child.kill()  # if it has not ended
            child.wait()
    code = child.returncode
    return Problem("book", f"Jupyter Book ended with exit code {code}", f"See {log.name}") if code else None


def _written_since(begin: float, work: Path) -> int:
    """Count the pages that Sphinx has written."""
    count = 0
    for folder, _, names in os.walk(work / "html"):  # which passes over folders that vanish meanwhile
        for name in names:
            if name.endswith(".html"):
                with contextlib.suppress(OSError):
                    count += os.stat(os.path.join(folder, name)).st_mtime >= begin
    return count


def _key(source: Path) -> str:
    """Digest of what concerns all pages: configuration, contents, style, versions and the place."""
    chosen = [path for name in WHOLE for path in [source / name, *source.joinpath(name).rglob("*")]]
    contents = [f"{path.relative_to(source)} {files.digest(path)}" for path in chosen if path.is_file()]
    own = [files.digest(Path(__file__).with_name(name)) for name in OWN]
    return files.digest("\n".join([str(source), *sorted(contents), *own, *installed()]))


def _is_ours(work: Path, note: Path, key: str) -> bool:
    """Whether a folder is as the last build of a book like this one has left it."""
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        mine = not hasattr(os, "getuid") or work.lstat().st_uid == note.lstat().st_uid == os.getuid()
        return bool(mine and known["key"] == key and known["files"] == _marks(work))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _marks(work: Path) -> dict[str, list[int]]:
    """Say of each file who owns it and which one it is; links are files of their own."""
    marks = {}
    for folder, _, names in os.walk(work):
        for path in (Path(folder, name) for name in names if name != "environment.json"):
            seen = path.lstat()
            marks[path.relative_to(work).as_posix()] = [
                *(seen.st_uid, seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
            ]
    return marks
