"""Keeps the cells of pages whose sounds and figures take a while to make, for as long as nothing changes.

What is kept is believed if it is whole, was made of the very same things, and all its sounds and pictures are
there. Else it is made again.
"""

from __future__ import annotations

import collections
import contextlib
import json
import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from soundcheck.book.pages import MEDIA
from soundcheck.common import files, store
from soundcheck.run.notebook_worker import FORKS

LONGEST = 300  # seconds that are waited for pages that were begun ahead


class KeptCells:
    """The cells of some pages of a book.

    Parameters
    ----------
    folder
        Where they are kept.
    media
        Folder of the sounds and pictures.
    made_with
        Digest of the code that makes them.
    """

    def __init__(self, folder: Path, media: Path, made_with: str) -> None:
        self._folder, self._media, self._made_with = folder, media, made_with
        self._used: set[Path] = set()

    def cells(self, page: str, make: Callable[[], list[dict]], *depends: object) -> list[dict]:
        """Find the cells of a page, or make them.

        Parameters
        ----------
        page
            Name of the page, such as ``methods/fairness_sex``.
        make
            Makes the cells.
        depends
            All that they depend on besides the code; two things are the same if their ``repr`` is.
        """
        path = self._folder / f"{files.slug(page)}.json"
        self._used.add(path)
        version = files.digest(repr([page, self._made_with, depends]))
        found = store.read(path, version)
        if found is None or found["media"] != self._sizes(found["media"]):
            cells = make()
            names = MEDIA.findall(json.dumps(cells).encode())
            store.write(
                path, {"cells": cells, "media": self._sizes(name.decode() for name in names)}, version
            )
            return cells
        return found["cells"]

    def prune(self) -> None:
        """Remove the cells of pages that were not asked for."""
        for path in set(self._folder.glob("*")) - self._used:
            path.unlink()

    def _sizes(self, names: Iterable[str]) -> dict[str, int]:
        paths = {name: self._media / name for name in names}
        return {name: path.stat().st_size for name, path in paths.items() if path.is_file()}


class MadeAhead:
    """Pages that a fork of this process makes, beginning at once, and whose cells it keeps.

    Whoever asks for these pages afterwards finds them, or makes what the fork could not make: nothing is lost
    where there is none, or if it fails.

    Parameters
    ----------
    makers
        Each makes some pages, one after the other.
    jobs
        Processes to use; there is no fork if it is only one.
    """

    def __init__(self, makers: Sequence[Callable[[], Iterable[object]]], jobs: int) -> None:
        self._child = None
        if FORKS and jobs > 1:
            self._child = multiprocessing.get_context("fork").Process(
                target=_make, args=(makers,), daemon=True
            )
            self._child.start()

    def wait(self, meanwhile: Iterable[object] = ()) -> None:
        """Wait for the fork.

        Parameters
        ----------
        meanwhile
            Pages that are made here, one by one, as long as the fork is busy: its own from the other end.
        """
        if self._child is None:
            return
        pages = iter(meanwhile)
        while self._child.is_alive() and next(pages, None) is not None:
            pass
        self._child.join(LONGEST)
        self._child.kill()


def _make(makers: Sequence[Callable[[], Iterable[object]]]) -> None:
    with contextlib.suppress(Exception):  # this process meets it again, where it is told
        for make in makers:
            collections.deque(make(), maxlen=0)
