"""Which segments a name means that stands in a file of others: a transcript's id, an utterance of a trial.

Conventions
-----------
A name means the segments whose file is written like it. These forms are tried in turn, all exactly, then all
without regard to case: the file; without extension; so with ``-``, then ``_``, for ``/``; the file's name
without folder and extension; so after the speaker and ``-``, then ``_``; last the ``item`` of the segment if
it has that for itself, as in formats that name utterances. The first that fits counts.

A path, as lists of another machine have them, means a file that ends like it. These are tried in turn, again
exactly and then without regard to case: a file that the path ends with, also without extension; files that
have the longest end in common with it, also without extension; then the forms of names. At least the file's
own name has to fit.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["UtteranceNames", "plain_path"]

_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")  # of audio files; `rec.1` has none


def plain_path(name: str) -> str:
    r"""Write a path with ``/``, without ``.`` and empty parts.

    Examples
    --------
    >>> plain_path(r"C:\data\.\a.wav"), plain_path("./x//a.wav"), plain_path("a.wav")
    ('C:/data/a.wav', 'x/a.wav', 'a.wav')
    """
    if "\\" not in name and "//" not in name and "./" not in name and not name.startswith("/"):
        return name
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))


class UtteranceNames:
    """Finds the segments that names mean.

    Parameters
    ----------
    segments
        Segment table with a column ``file``, perhaps ``speaker`` and ``item``.

    Examples
    --------
    >>> import pandas as pd
    >>> names = UtteranceNames(pd.DataFrame({"file": ["s1/a.wav", "s2/b.wav"]}))
    >>> names.find("s2-b"), names.find("A"), names.find("c")
    ([1], [0], [])
    """

    def __init__(self, segments: pd.DataFrame) -> None:
        self._files = segments["file"].tolist()
        self._forms: list[Callable[[], list[str]]] = [
            lambda: self._files,
            self._bare,
            lambda: self._flat("-"),
            lambda: self._flat("_"),
            self._base,
        ]
        if "speaker" in segments.columns:
            speakers = segments["speaker"].tolist()
            self._forms += [lambda: self._spoken(speakers, "-"), lambda: self._spoken(speakers, "_")]
        if "item" in segments.columns:
            items = segments["item"]
            own = items.where(items.notna() & ~items.duplicated(keep=False), "")  # others name no one segment
            self._forms.append(own.tolist)
        self._tables: dict[tuple[int, bool], dict[str, list[int]]] = {}

    def find(self, name: str) -> Sequence[int]:
        """Find the rows that a name means: all that its first fitting form gives, in order; empty if none."""
        for folded in (False, True) if name else ():
            wanted = name.casefold() if folded else name
            for form in range(len(self._forms)):
                rows = self._rows(form, folded).get(wanted)
                if rows:
                    return rows
        return []

    def find_paths(self, names: Sequence[str]) -> list[Sequence[int]]:
        """Find the rows that each of some paths means.

        Parameters
        ----------
        names
            Paths or names, with or without the folders in which the files lie elsewhere.

        Returns
        -------
        list
            For each name the rows that fit equally well; empty if none does.

        Examples
        --------
        >>> import pandas as pd
        >>> names = UtteranceNames(pd.DataFrame({"file": ["s1/a.wav", "s2/a.wav", "b.wav"]}))
        >>> names.find_paths(["/data/s2/a.wav", "a.flac", "b", "/c/d"])
        [[1], [0, 1], [2], []]
        """
        found: list[Sequence[int]] = [[]] * len(names)
        plain = [plain_path(name) for name in names]
        left = list(range(len(names)))
        for folded in (False, True):
            for table, bare in self._path_tables(folded):
                missed = []
                for number in left:
                    name = plain[number].casefold() if folded else plain[number]
                    name = _EXTENSION.sub("", name) if bare else name
                    found[number] = _longest_tail(name, table)
                    if not found[number]:
                        missed.append(number)
                left = missed
                if not left:
                    return found
        return found

    def _path_tables(self, folded: bool) -> Iterator[tuple[dict[str, list[int]], bool]]:
        """Give what paths may end with, and whether it is without extension; made when it is asked for."""
        yield self._rows(0, folded), False
        yield self._rows(1, folded), True
        yield self._tails(self._files, folded), False
        yield self._tails(self._bare(), folded), True
        for form in range(2, len(self._forms)):
            yield self._rows(form, folded), True

    @staticmethod
    def _tails(names: Sequence[str], folded: bool) -> dict[str, list[int]]:
        """Tell which rows end with each end of a path."""
        table: dict[str, list[int]] = {}
        for row, name in enumerate(names):
            for tail in _tails(name.casefold() if folded else name):
                table.setdefault(tail, []).append(row)
        return table

    def _rows(self, form: int, folded: bool) -> dict[str, list[int]]:
        """Tell where each name of a form stands; made when it is first asked for."""
        if (form, folded) not in self._tables:
            table: dict[str, list[int]] = {}
            for row, name in enumerate(self._forms[form]()):
                table.setdefault(name.casefold() if folded else name, []).append(row)
            self._tables[form, folded] = table
        return self._tables[form, folded]

    def _bare(self) -> list[str]:
        return [os.path.splitext(name)[0] for name in self._files]

    def _flat(self, joint: str) -> list[str]:
        return [name.replace("/", joint) for name in self._bare()]

    def _base(self) -> list[str]:
        return [posixpath.basename(name) for name in self._bare()]

    def _spoken(self, speakers: Sequence[object], joint: str) -> list[str]:
        import pandas as pd  # late: whoever reads a suite imports this module

        pairs = zip(speakers, self._base(), strict=True)
        return ["" if pd.isna(who) else f"{who}{joint}{name}" for who, name in pairs]


def _tails(name: str) -> Iterator[str]:
    """Give the ends of a path, the longest first: ``x/y/z``, ``y/z``, ``z``."""
    while name:
        yield name
        name = name.partition("/")[2]


def _longest_tail(name: str, table: dict[str, list[int]]) -> list[int]:
    """Look up the longest end of a path that a table has; empty if it has none."""
    while name:
        rows = table.get(name)
        if rows is not None:
            return rows
        name = name.partition("/")[2]
    return []
