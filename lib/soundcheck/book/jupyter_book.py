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
from typing import Self

from soundcheck.book.check_site import SECRET
from soundcheck.common import files
from soundcheck.common.errors import Problem
from soundcheck.common.library import installed
from soundcheck.common.progress import Progress

LIMIT = 1800  # seconds that Jupyter Book may take
GO = b"build\n"
LOOK_SECONDS = 1.0  # between two looks at how many pages there are
WHOLE = ("_config.yml", "_toc.yml", "references.bib", "_static")  # a change of these changes all pages
OWN = ("accessible.py", "incremental.py", "jupyter_book.py")  # and so do changes of these


class JupyterBook:
    """A process that imports Jupyter Book, waits for the sources of a book and builds it.

    Leaving its block ends the process.

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
    """

    def __init__(self, source: Path, work: Path, log: Path, jobs: int = 1) -> None:
        self.source, self.work, self.log, self.jobs = source, work, log, jobs

    def __enter__(self) -> Self:
        environment = {name: value for name, value in os.environ.items() if not SECRET.search(name.upper())}
        environment |= {"JUPYTER_PLATFORM_DIRS": "1", "PYTHONHASHSEED": "0", "TZ": "UTC"}
        arguments = map(str, (self.source, self.work, self.jobs))
        with open(self.log, "ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "soundcheck.book.incremental", *arguments],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=environment,
            )
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.kill()  # if it has not ended
        self._process.wait()

    def build(self, meanwhile: Callable[[], object] = lambda: None) -> Problem | None:
        """Build the sources, once.

        Parameters
        ----------
        meanwhile
            Called once while Jupyter Book reads the sources, with one process.

        Returns
        -------
        Problem or None
            Why there is no site.
        """
        note, key = self.work / "environment.json", _key(self.source)
        if not _is_ours(self.work, note, key):
            shutil.rmtree(self.work, ignore_errors=True)
        # Until this build has come to its end, nobody knows what is in the folder.
        note.unlink(missing_ok=True)
        problem = self._run(meanwhile)
        if problem is None and not (self.work / "html" / "index.html").is_file():
            problem = Problem("book", "Jupyter Book wrote no first page", f"See {self.log.name}")
        if problem is None:
            files.write_text(note, json.dumps({"key": key, "files": _marks(self.work)}))
        return problem

    def _run(self, meanwhile: Callable[[], object]) -> Problem | None:
        begin, written = time.time(), 0
        pages = sum(path.suffix in (".md", ".ipynb") for path in self.source.rglob("*"))
        with Progress("book", "pages", pages) as told:
            with contextlib.suppress(OSError):  # it has died, which its exit code tells
                self._process.stdin.write(GO)
                self._process.stdin.close()
            meanwhile()
            while self._process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(LOOK_SECONDS)
                if time.time() > begin + LIMIT:
                    return Problem("book", f"Jupyter Book did not end within {LIMIT} s")
                count = min(pages, _written_since(begin, self.work))  # not the index
                # A page that is written again is gone for a moment.
                before, written = written, max(written, count)
                told.update(written - before)
        code = self._process.returncode
        if not code:
            return None
        return Problem("book", f"Jupyter Book ended with exit code {code}", f"See {self.log.name}")


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
