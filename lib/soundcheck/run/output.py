"""The output folder: where everything generated lives, and proof that it is ours.

A marker file tells a folder that Soundcheck made from somebody's own folder; without it, a folder that is
not empty is refused, and nothing that Soundcheck did not write is ever deleted.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Self

from soundcheck import __version__
from soundcheck.common import files, manifest
from soundcheck.common.files import MARKER, TEMPORARY
from soundcheck.common.manifest import MANIFEST
from soundcheck.common.messages import InputError, input_error, quoted
from soundcheck.common.store import CACHE_VARIABLE

_STATE = ".state.json"  # of a notebook: when to execute it again, and how long it took
LOCK = ".lock"  # file in the output folder; tells who holds it


class Output:
    """Paths inside one output folder."""

    def __init__(self, folder: str | os.PathLike) -> None:
        self.display_name = str(folder)
        self.folder = Path(folder).absolute()
        self.corpora = self.folder / "corpora"
        self.predictions = self.folder / "predictions"
        self.scores = self.folder / "scores"
        self.notebooks = self.folder / "notebooks"
        self.comparisons = self.folder / "comparisons"
        self.media = self.folder / "media"
        self.sounds = self.folder / "sounds.json"
        self.logs = self.folder / "logs"
        self.html = self.folder / "html"
        self.tables = self.folder / "tables"
        self.comparison_table = self.folder / "comparisons.csv"
        self.results = self.folder / "results.csv"
        self.word_errors = self.tables / "word_errors.csv"
        self.left_out = self.folder / "left_out.csv"
        self.estimates = self.folder / "estimates.csv"
        self.drawn = self.folder / "drawn_segments.csv"
        self.record = self.folder / "run.json"
        self.log = self.folder / "log.txt"

    @property
    def cache(self) -> Path:
        """Folder of things computed once: predictions, the demo corpus, facts about audio files.

        An output folder inside another one, such as that of a comparison, shares its cache.
        """
        moved = os.environ.get(CACHE_VARIABLE)
        if moved:
            return Path(moved).absolute()
        around = self.folder.parent
        return (around if (around / MARKER).is_file() else self.folder) / "cache"

    @property
    def studies(self) -> Path:
        """Folder of executed pages that depend on nothing but the version of Soundcheck."""
        return self.cache / "studies"

    def segments(self, corpus: str) -> Path:
        """Name the file that holds the segment table of a corpus."""
        return self.corpora / f"{files.slug(corpus)}.parquet"

    def trials(self, corpus: str, family: str) -> Path:
        """Name the file that holds the trials that a family makes of a corpus."""
        return self.corpora / f"{files.slug(corpus)}.{files.slug(family)}.trials.parquet"

    def _refusal(self, what: str, remedy: str = "Choose an empty or new folder with --out") -> InputError:
        return input_error(f"--out {self.display_name}", what, remedy)

    def check(self, corpora: dict[str, Path]) -> None:
        """Refuse a place that is not ours to write to; ``corpora`` are folders that it must not lie in.

        Raises InputError: if the folder is a file, cannot be written, lies inside a corpus, or has somebody's
        files or links in it.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise self._refusal("this is a file, not a folder")
        existing = next(path for path in (self.folder, *self.folder.parents) if os.path.lexists(path))
        for link in (existing, self.folder / "cache"):
            if link.is_symlink() and not os.path.isdir(link):
                what = f"the link {quoted(link.name, 80)} leads to no folder"
                raise self._refusal(what, "Remove the link, or make the folder")
        for reason in files.why_not_written(self.folder, corpora):
            raise self._refusal(*reason)
        if not self.folder.is_dir():
            return
        if not (self.folder / MARKER).is_file():
            names = (name for name in os.listdir(self.folder) if not name.startswith(files.TEMPORARY))
            if foreign := sorted(name for name in names if name != LOCK):
                listed = ", ".join(quoted(name, 40) for name in foreign[:3])
                raise self._refusal(f"the folder holds files that Soundcheck did not write ({listed})")
        self._refuse_links()

    def _refuse_links(self) -> None:
        """Refuse links, behind which files of somebody could be lost, and pipes and devices, which block."""
        cache = self.folder / "cache"
        special = (
            Path(entry.path)
            for entry in self._entries()
            if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False))
        )
        names = [
            str(path.relative_to(self.folder))
            for path in special
            # The cache may be a link, and so may what is in it and stays in it: models keep things there.
            if path != cache
            and not (cache in path.parents and path.resolve().is_relative_to(cache.resolve()))
        ]
        if not names:
            return
        first = min(names, key=lambda name: (name.count(os.sep), name))
        if not (self.folder / first).is_symlink():
            raise self._refusal(f"{quoted(first, 80)} in it is neither a file nor a folder", "Remove it")
        more = f" (as are {len(names) - 1} more)" if len(names) > 1 else ""
        what = f"{quoted(first, 80)} in it is a symbolic link{more}, and files behind it could be lost"
        raise self._refusal(what, "Remove the link; only the folder as a whole and its cache may be links")

    def _entries(self) -> Iterator[os.DirEntry]:
        """Walk through what lies in the folder, without following links."""
        waiting = [os.fspath(self.folder)]
        while waiting:
            with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    yield entry

    def prepare(self) -> None:
        """Mark the folder as ours and remove parts of files that a stopped run has left.

        Whoever does that has the lock of the folder, but not of its cache and of output folders in it.
        """
        marker = self.folder / MARKER
        if not marker.is_file():
            files.write_text(marker, json.dumps({"written by": f"soundcheck {__version__}"}) + "\n")
        parts = [Path(entry.path) for entry in self._entries() if entry.name.startswith(files.TEMPORARY)]
        for part in parts:
            around = [path for path in part.parents if self.folder in path.parents]
            shared = any(path == self.folder / "cache" or (path / MARKER).is_file() for path in around)
            with contextlib.suppress(FileNotFoundError):  # another run has finished it
                old = time.time() - part.lstat().st_mtime > files.ABANDONED
                if part.is_file() and (old or not shared):
                    part.unlink()

    def prune_below(self, folder: Path, keep: Iterable[Path]) -> None:
        """Remove all but some files from the folders in one of our sub-folders, and empty folders."""
        keep = set(keep)
        self.prune(folder, {path.parent.name for path in keep})
        for inner in {path.parent for path in keep}:
            self.prune(inner, {path.name for path in keep if path.parent == inner})

    def prune(self, folder: Path, keep: set[str]) -> None:
        """Remove the entries of one of our sub-folders that no longer belong to the suite."""
        if not folder.is_dir() or folder.is_symlink():
            return
        for entry in os.scandir(folder):
            if entry.name in keep:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def seal(output: Output) -> str:
    """Write the list of a run that has come to its end; returns the digest of the list."""
    return manifest.write(output.folder, sealed(output))


def sealed(output: Output) -> list[str]:
    """Name the files of an output folder that belong into its list, as they are now."""
    single = [
        *(output.results, output.results.with_suffix(".parquet"), output.comparison_table),
        *(output.estimates, output.estimates.with_suffix(".parquet"), output.drawn),
        *(output.left_out, output.record, output.html / MANIFEST),
    ]
    folders = (output.notebooks, output.comparisons, output.tables, output.predictions, output.scores)
    paths = [path for path in single if path.is_file() or path.is_symlink()]
    paths += [path for folder in (*folders, output.corpora) for path in _inside(folder)]
    return sorted(path.relative_to(output.folder).as_posix() for path in paths)


def _inside(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        yield folder
        return
    for name in manifest.below(folder):
        path = folder / name
        if not name.endswith(_STATE) and not path.name.startswith(TEMPORARY):
            yield path


class FolderLock:
    """The right to write to an output folder, as a context manager that gives it back."""

    def __init__(self, folder: Path, display_name: str) -> None:
        self._path, self._display_name = folder / LOCK, display_name
        self._held: IO | None = None

    def __enter__(self) -> Self:
        """Take the folder if there has been a run; else :meth:`take` does before anything is written."""
        if self._path.exists():
            self.take()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the folder back."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def take(self) -> None:
        """Make the folder if it is not there, and take it.

        Raises InputError: if another process has it.
        """
        if self._held is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        held = open(self._path, "a+", encoding="utf-8")  # not emptied: perhaps another process has it
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            time.sleep(0.2)  # the other may have taken it just now, and not yet said who it is
            held.seek(0)
            who = held.read(200).strip()
            held.close()
            what = f"another run writes to this folder{f' ({who})' if who else ''}"
            remedy = "Wait until it has ended, or choose another folder with --out"
            raise input_error(f"--out {self._display_name}", what, remedy) from error
        held.truncate(0)
        held.write(f"process {os.getpid()}, since {time.strftime('%H:%M:%S')}")
        held.flush()
        self._held = held
