"""Which segments a name of another file means: that of a prediction, an id, a side of a trial.

- A name means the file that is written exactly so. Otherwise paths are compared from their ends: all folders
  that both sides give have to agree, those that one side alone has do not count. Files that the name ends
  with come first, the longest of them, then files that end with the name.
- These are tried in turn: with the extension; without it, as far as it is one of sounds or of what is made
  from them; with ``-``, then ``_``, for ``/``; the file's name after the speaker and ``-``, then ``_``; the
  ``item`` of the segment if it has that for itself. All of them exactly, then all without regard to case,
  blanks around names, Unicode's composed and decomposed letters and ``%20`` for a blank.
- The first that fits counts; what it gives may be several segments.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from soundcheck.common.messages import Problems, counted, quoted, told_apart

if TYPE_CHECKING:
    import pandas as pd

_EXTENSION = re.compile(  # of sounds, films, and what is made from sounds; `rec.1` and `rec.v2` have none
    r"\.(wave?|flac|og[ga]|opus|mp[234]|aif[cf]?|aiff|sph|nist|w64|wv|caf|au|snd|m4a|aac|wma|amr|3gp|webm|mkv"
    r"|mov|avi|mpe?g|raw|pcm|txt|lab|json|np[yz]|pt|pkl)$",
    re.IGNORECASE,
)


def segment_name(file: str, start: float, end: float) -> str:
    """Name a segment: its file, and its times in seconds if it has any."""
    times = " to ".join(f"{time:.10g}" for time in (start, end) if not math.isnan(time))
    return f"{file} {times}" if times else file


def plain_path(name: str) -> str:
    r"""Write a path with ``/``, without ``.`` and empty parts.

    >>> plain_path(r"C:\data\.\a.wav"), plain_path("./x//a.wav"), plain_path("a.wav")
    ('C:/data/a.wav', 'x/a.wav', 'a.wav')
    """
    if "\\" not in name and "//" not in name and "./" not in name and not name.startswith("/"):
        return name
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))


def bare_name(name: str) -> str:
    """Leave out the extension of a sound."""
    return _EXTENSION.sub("", name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unquote(name)).strip().casefold()


class UtteranceNames:
    """Finds the segments that names mean.

    - ``segments``: segment table with a column ``file``, perhaps ``start``, ``end``, ``speaker`` and
      ``item``.

    >>> import pandas as pd
    >>> names = UtteranceNames(pd.DataFrame({"file": ["s1/a.wav", "s2/a.wav", "b.wav"]}))
    >>> names.find(["/data/s2/a.wav", "a.flac", "s3/a.wav", "b", "S1-a"])
    [[1], [0, 1], [], [2], [0]]
    """

    def __init__(self, segments: pd.DataFrame) -> None:
        self._segments = segments
        self._files = segments["file"].tolist()
        self._forms = ["path", "bare", "-", "_"]
        self._forms += ["speaker-", "speaker_"] if "speaker" in segments.columns else []
        self._forms += ["item"] if "item" in segments.columns else []
        self._rows = functools.cache(self._find_rows)  # when they are first needed

    def find(self, names: Sequence[str]) -> list[Sequence[int]]:
        """Find the rows that each name means: all that fit equally well, in order; empty if none does."""
        return [self._find(name) if name else [] for name in names]

    def _find(self, name: str) -> Sequence[int]:
        path = plain_path(name)
        looked_up = (
            self._look_up(_folded(path) if folded else path, form, folded)
            for folded in (False, True)
            for form in self._forms
        )
        return self._rows("file").get(name) or next(filter(None, looked_up), [])

    def _look_up(self, name: str, form: str, folded: bool) -> Sequence[int]:
        table = self._rows(form, folded)
        if form not in ("path", "bare"):
            return table.get(bare_name(name)) or table.get(name, [])
        name = bare_name(name) if form == "bare" else name
        longest = next((end for end in _ends(name) if end in table), None)
        return table[longest] if longest else self._rows(form, folded, ends=True).get(name, [])

    def _find_rows(self, form: str, folded: bool = False, ends: bool = False) -> dict[str, list[int]]:
        """Tell where each name of a form, or each end of one, stands."""
        table: dict[str, list[int]] = {}
        for row, name in enumerate(self._names(form)):
            name = _folded(name) if folded else name
            for end in _ends(name) if ends else (name,):
                table.setdefault(end, []).append(row)
        table.pop("", None)
        return table

    def _names(self, form: str) -> list[str]:
        """Write all segments in a form, ``""`` = it has none."""
        if form == "file":
            return self._files
        if form == "item":
            items = self._segments["item"]  # those of several segments name none
            return items.where(items.notna() & ~items.duplicated(keep=False), "").tolist()
        paths = list(map(plain_path, self._files))
        if form == "path":
            return paths
        bare, joint = list(map(bare_name, paths)), form[-1]
        if form.startswith("speaker"):
            speakers = self._segments["speaker"]
            pairs = zip(speakers.notna(), speakers, bare, strict=True)
            return [f"{who}{joint}{name.rpartition('/')[2]}" if known else "" for known, who, name in pairs]
        return bare if form == "bare" else [name.replace("/", joint) for name in bare]

    def assign(
        self, names: Sequence[str], noun: str, where: Callable[..., str], problems: Problems
    ) -> np.ndarray:
        """Find the one name of each segment, int64 ``(segments,)``; -1 = none.

        Of several names of a segment the one that is written like its file counts, or the only one that gives
        its whole path; otherwise they are a problem, and so is a name that means several segments.

        - ``noun``: what messages call a name.
        - ``where``: says where names stand, given their numbers.
        """
        place = {name: number for number, name in enumerate(names)}
        owner = np.array([place.get(file, -1) for file in self._files], dtype=np.int64)
        if len(place) and (owner >= 0).all() and len({*self._files}) == len(self._files):
            return owner  # most often; other names cannot fit better
        owner[:] = -1
        rivals: dict[int, int] = {}  # segment -> a name that fits it as well as its owner
        for number, rows in enumerate(self.find(names)):
            if len(rows) > 1:
                what = f"the {noun} {quoted(names[number])} could mean {self.meanings(rows)}"
                problems.add(where(number), what, self.remedy(rows))
            elif rows:
                row, before = rows[0], int(owner[rows[0]])
                ranks = [self._rank(names[rival], row) if rival >= 0 else 3 for rival in (number, before)]
                if ranks[0] < ranks[1]:
                    owner[row] = number
                    rivals.pop(row, None)
                elif ranks[0] == ranks[1]:
                    rivals[row] = number
        for row, number in rivals.items():
            both = " and ".join(told_apart(names[owner[row]], names[number]))
            what = f"the {noun}s {both} mean the same segment {quoted(self._files[row])}"
            remedy = "Write the one that is meant as in the corpus"
            question = f"{remedy}; are these predictions for two sets of recordings?"
            problems.add(where(owner[row], number), what, question)
        return owner

    def meanings(self, rows: Sequence[int]) -> str:
        """Name the segments that a name could mean."""
        names = [self._files[row] for row in rows]
        if self._files.count(names[0]) > 1:
            table = self._segments.reindex(columns=["file", "start", "end"]).iloc[list(rows[:2])]
            names = [segment_name(*row) for row in table.itertuples(index=False)]
        more = f" and {len(rows) - 2} more" if len(rows) > 2 else ""
        return f"{' and '.join(map(quoted, names[:2]))}{more}"

    def remedy(self, rows: Sequence[int]) -> str:
        """Say what to do about a name that could mean several segments."""
        names = [self._files[row] for row in rows]
        if len({*names}) < len(names):
            return "Give a CSV table with the columns file, start and end"
        return f"Write the file as the corpus does, such as {quoted(names[0])}"

    def _rank(self, name: str, row: int) -> int:
        """Rank how a name is written: 0 = as the file, 1 = with its whole path, 2 = otherwise."""
        file = self._files[row]
        return 0 if name == file else 1 + (not _ends_with(plain_path(name), plain_path(file)))


def _ends(name: str) -> Iterator[str]:
    """Give the ends of a path, the longest first: ``x/y/z``, ``y/z``, ``z``."""
    while name:
        yield name
        name = name.partition("/")[2]


def _ends_with(name: str, end: str) -> bool:
    return f"/{name}".endswith(f"/{end}")


def matched_by_less(pairs: Collection[tuple[str, str]], source: str, ids: bool = False) -> list[str]:
    """Say which names mean a file without being written as it is; empty if there is none.

    ``ids`` says whether names are ids, which have no extension.

    >>> matched_by_less({("a.wav", "s1/a.wav"), ("/d/b.wav", "b.wav")}, "t.csv")
    ["1 name in t.csv is not written like its file ('a.wav' is taken for 's1/a.wav')"]
    """
    loose = [pair for pair in sorted(pairs) if _is_less(*map(plain_path, pair), ids)]
    if not loose:
        return []
    are = "is not written like its file" if len(loose) == 1 else "are not written like their files"
    name, file = told_apart(*loose[0])
    return [f"{counted(len(loose), 'name')} in {source} {are} ({name} is taken for {file})"]


def _is_less(name: str, file: str, ids: bool) -> bool:
    """Say whether a name lacks something of the path of its file; forms of ids are forms of their own."""
    stem, base = bare_name(name), bare_name(file)
    extension = name.removeprefix(stem)
    is_whole = _ends_with(stem, base) and (extension == file.removeprefix(base) or (ids and not extension))
    stem, base = _folded(stem), _folded(base)
    return not is_whole and (_ends_with(stem, base) or _ends_with(base, stem))
