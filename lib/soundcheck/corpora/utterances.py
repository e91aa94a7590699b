"""Which segments a name means that stands in a file of others: a transcript's id, an utterance of a trial.

Conventions
-----------
A name means the segments whose file is written like it. These forms are tried in turn, all exactly, then all
without regard to case: the file; without extension; so with ``-``, then ``_``, for ``/``; the file's name
without folder and extension; so after the speaker and ``-``, then ``_``. The first that fits counts.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["UtteranceNames"]


class UtteranceNames:
    """Finds the segments that names mean.

    Parameters
    ----------
    segments
        Segment table with a column ``file``, perhaps ``speaker``.

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
        self._tables: dict[tuple[int, bool], dict[str, list[int]]] = {}

    def find(self, name: str) -> Sequence[int]:
        """Find the rows that a name means: all that its first fitting form gives, in order; empty if none."""
        for folded in (False, True):
            wanted = name.casefold() if folded else name
            for form in range(len(self._forms)):
                rows = self._rows(form, folded).get(wanted)
                if rows:
                    return rows
        return []

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
