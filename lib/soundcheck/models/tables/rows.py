"""Which row of a table of predictions belongs to which segment.

Conventions
-----------
- A row names a corpus (or none, for all), a file, and perhaps start and end in seconds. A row without start
  begins with its file.
- A single row of a file without any times fits its only segment, whatever the times of that are.
- Times that differ by at most :data:`SAME_SECONDS` are the same, unless rows have another tolerance. Of
  several rows that fit a segment, the one with the nearest end is taken, then the one that begins first.
- All segments are matched at once, by sorting: time grows with segments and rows, however many of them lie in
  one file.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import TextTable
from soundcheck.models.tables.index import Index
from soundcheck.suite.groups import numbers_of

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus

__all__ = ["SAME_SECONDS", "Rows", "count_before", "sort_rows"]

SAME_SECONDS = 0.001  # times that differ by at most this are the same


@dataclasses.dataclass(frozen=True)
class Rows(Index):
    """The rows of a table, sorted by corpus and file, start, end and number.

    Parameters
    ----------
    shown
        How messages call the table.
    count
        How many rows the table has, these and others.
    files
        ``(corpus or "", file)`` -> its number.
    file
        Number of each row's file, int64 ``(rows,)``, ascending.
    start, end
        Seconds, float64 ``(rows,)``; a row without start has 0, one without end infinity.
    number
        Which row of the table it is, int64 ``(rows,)``.
    whole
        Whether a file has one row only, without times, bool ``(files,)``.
    tolerance
        Times that differ by at most this are the same, seconds.
    """

    shown: str
    count: int
    files: dict[tuple[str, str], int]
    file: np.ndarray
    start: np.ndarray
    end: np.ndarray
    number: np.ndarray
    whole: np.ndarray
    tolerance: float = SAME_SECONDS

    noun = "row"

    def __len__(self) -> int:
        return self.count

    @functools.cached_property
    def corpora(self) -> set[str]:
        """Names of corpora in the table."""
        return {corpus for corpus, _ in self.files}

    def find(self, corpus: Corpus) -> np.ndarray:
        """Find the row of each segment, int64 ``(segments,)``, -1 if there is none.

        Raises
        ------
        InputError
            If several segments of a file are meant, but the table gives no times.
        """
        import pandas as pd  # late: a suite is read without it

        segments = corpus.segments
        found = np.full(len(segments), -1, dtype=np.int64)

        which, names = pd.factorize(segments["file"])
        own = [name for name in (corpus.name, files.slug(corpus.name), "") if name in self.corpora]
        known = np.full(len(names), -1, dtype=np.int64)
        for one in reversed(own):  # the first that has a file comes last and counts
            there = [self.files.get((one, name), -1) for name in names.tolist()]
            known = np.where(np.array(there, dtype=np.int64) >= 0, there, known)
        file = known[which]
        whole = np.zeros(len(segments), dtype=bool)
        whole[file >= 0] = self.whole[file[file >= 0]]
        unclear = np.flatnonzero(whole & (np.bincount(which, minlength=len(names))[which] > 1))
        if len(unclear):
            raise input_error(
                f"{self.shown}, file {quoted(segments['file'].iloc[unclear[0]])}",
                "the corpus has several segments of this file, the table gives no times",
                "Add the columns start and end, in seconds",
            )
        found[whole] = self.number[np.searchsorted(self.file, file[whole])]
        timed = np.flatnonzero((file >= 0) & ~whole)
        start, end = (segments[name].to_numpy(dtype=np.float64)[timed] for name in ("start", "end"))
        duration = numbers_of(segments, "duration")[timed]
        place = self._match(file[timed], np.nan_to_num(start), end, duration)
        found[timed] = np.where(place >= 0, self.number[place], -1)
        return found

    def misfit(self, file: str) -> InputError:
        """Make the error if no row fits the corpora; ``file`` is one of theirs."""
        theirs = next(iter(self.files))[1]
        return input_error(
            f"{self.shown}, column file",
            f"no row belongs to a segment: the table has {quoted(theirs)}, the corpus {quoted(file)}",
            "Write the names as in the corpus, relative to its folder; start and end in seconds",
        )

    def _match(
        self, file: np.ndarray, begin: np.ndarray, end: np.ndarray, duration: np.ndarray
    ) -> np.ndarray:
        """Find the place of the row with the times of each segment, -1 if there is none."""
        target = np.where(np.isnan(end), begin + duration, end)
        ended = np.flatnonzero(np.isfinite(self.end))
        owner, place = self._near(ended, file, begin, target)
        away = np.abs(self.end[place] - target[owner])
        fits = (away <= self.tolerance) & (self.start[place] >= begin[owner] - self.tolerance)
        fits &= self.start[place] <= begin[owner] + self.tolerance
        # Without an end, both reach to the end of the file; the first such row has the smallest start.
        endless, open_ = np.flatnonzero(np.isinf(self.end)), np.flatnonzero(np.isnan(end))
        first = count_before(
            self.file[endless], self.start[endless], file[open_], begin[open_] - self.tolerance, "left"
        )
        open_, first = open_[first < len(endless)], endless[first[first < len(endless)]]
        same = (self.file[first] == file[open_]) & (self.start[first] <= begin[open_] + self.tolerance)
        owner = np.concatenate([owner[fits], open_[same]])
        place = np.concatenate([place[fits], first[same]])
        away = np.concatenate([away[fits], np.zeros(same.sum())])
        order = np.lexsort((place, away, owner))
        owner, nearest = np.unique(owner[order], return_index=True)
        best = np.full(len(file), -1, dtype=np.int64)
        best[owner] = place[order][nearest]
        return best

    def _near(
        self, rows: np.ndarray, file: np.ndarray, begin: np.ndarray, target: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """List pairs of a segment and the place of a row that begins, or ends, about where it does.

        Many rows may begin at the same time, and many may end at the same time, but both together only if
        they are duplicates: so the shorter list of the two is always short.
        """
        by_end = rows[np.lexsort((self.end[rows], self.file[rows]))]
        lists = []
        for places, times, wanted in ((rows, self.start, begin), (by_end, self.end, target)):
            wide = 2 * self.tolerance  # what is rounded is looked at by the caller
            first, last = (
                count_before(self.file[places], times[places], file, wanted + sign * wide, side)
                for sign, side in ((-1, "left"), (1, "right"))
            )
            lists.append((places, first, last - first))
        (by_start, first, many), (_, first_by_end, many_by_end) = lists
        few = many <= many_by_end
        pairs = [
            _spread(by_start, first, np.where(few, many, 0)),
            _spread(by_end, first_by_end, np.where(few, 0, many_by_end)),
        ]
        owner, place = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        return owner, place


def count_before(
    file: np.ndarray, time: np.ndarray, asked_file: np.ndarray, asked_time: np.ndarray, side: str
) -> np.ndarray:
    """Count the rows, sorted by file and time, that stand before what is asked for; "right": or are equal.

    As :func:`numpy.searchsorted` for pairs of numbers. What is asked for at no time (NaN) stands behind all
    rows of its file.
    """
    asked_last = side == "right"
    later = np.concatenate([np.full(len(file), not asked_last), np.full(len(asked_file), asked_last)])
    times, numbers = np.concatenate([time, asked_time]), np.concatenate([file, asked_file])
    order = np.lexsort((later, times, numbers))
    is_row = order < len(file)
    before = np.empty(len(asked_file), dtype=np.int64)
    before[order[~is_row] - len(file)] = np.cumsum(is_row)[~is_row]
    return before


def _spread(places: np.ndarray, first: np.ndarray, many: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List which of some places belong to whom: ``many`` from ``first`` on."""
    owner = np.repeat(np.arange(len(many)), many)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)
    return owner, places[first[owner] + step]


def sort_rows(
    cells: TextTable, numbers: np.ndarray, start: np.ndarray, end: np.ndarray, problems: Problems
) -> Rows:
    """Sort some rows of a table under their files, and note duplicates and rows without file.

    Parameters
    ----------
    cells
        The table, with a column ``file`` and perhaps ``corpus``.
    numbers
        Which rows.
    start, end
        Times of all rows in seconds, NaN = not given.
    """
    import pandas as pd  # late: a suite is read without it

    names = np.array(cells.columns["file"], dtype=object)[numbers]
    corpora = np.full(len(names), "", dtype=object)
    if "corpus" in cells.columns:
        corpora = np.array([name.strip() for name in cells.columns["corpus"]], dtype=object)[numbers]
    for number in numbers[names == ""]:
        problems.add(cells.where(number, "file"), "the cell is empty")

    in_corpus, _ = pd.factorize(corpora)
    of_name, different = pd.factorize(names)
    file, _ = pd.factorize(in_corpus * max(1, len(different)) + of_name)  # in the order of the table
    first = np.unique(file, return_index=True)[1]
    known = {(corpora[row], names[row]): place for place, row in enumerate(first)}
    start, end = start[numbers], end[numbers]
    whole = (np.bincount(file, minlength=len(first)) == 1) & (np.isnan(start) & np.isnan(end))[first]
    start, end = np.nan_to_num(start), np.where(np.isnan(end), np.inf, end)
    order = np.lexsort((numbers, end, start, file))
    rows = Rows(cells.shown, len(cells), known, file[order], start[order], end[order], numbers[order], whole)
    _note_duplicates(rows, cells, problems)
    return rows


def _note_duplicates(rows: Rows, cells: TextTable, problems: Problems) -> None:
    endless = np.isinf(rows.end)
    ends = np.where(endless, 0, rows.end)
    same = np.diff(rows.file) == 0
    same &= np.abs(np.diff(rows.start)) <= SAME_SECONDS
    same &= (endless[:-1] == endless[1:]) & (np.abs(np.diff(ends)) <= SAME_SECONDS)
    for place in np.flatnonzero(same):
        pair = rows.number[[place, place + 1]]
        first, second = sorted(cells.places[number] for number in pair)
        problems.add(
            f"{cells.shown} {cells.unit}s {first} and {second}",
            f"the segment {quoted(cells.columns['file'][pair[0]])} is a duplicate",
            "Keep one of the rows",
        )
