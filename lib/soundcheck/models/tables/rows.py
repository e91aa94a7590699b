"""Which row of a table of predictions belongs to which segment.

Conventions
-----------
- A row names a corpus (or none, for all), a file, and perhaps start and end in seconds. A row without start
  begins with its file. Which file a name means says :mod:`soundcheck.corpora.utterances`.
- A single row of a file without any times fits its only segment, whatever the times of that are.
- Times that differ by at most :data:`TOLERANCE` are the same. Of several rows that fit a segment, the one
  with the nearest times is taken, then the one that begins first.
- All segments are matched at once, by sorting: time grows with segments and rows, however many of them lie in
  one file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import TextTable
from soundcheck.corpora.utterances import UtteranceNames
from soundcheck.models.tables.index import TWICE, Index, found_once, misfit_of_names
from soundcheck.suite.groups import numbers_of

if TYPE_CHECKING:
    import pandas as pd

    from soundcheck.corpora.corpus import Corpus

TOLERANCE = 0.01  # seconds that times may differ by
SAME_SECONDS = 0.001  # two rows whose times differ by at most this are duplicates


@dataclasses.dataclass(frozen=True)
class Rows(Index):
    """The rows of a table, sorted by corpus and file, start, end and number.

    Parameters
    ----------
    cells
        The table, these rows and others.
    files
        ``(corpus or "", file)`` -> its number.
    file
        Number of each row's file, int64 ``(rows,)``, ascending.
    start, end
        Seconds, float64 ``(rows,)``; a row without start has 0, one without end infinity.
    number
        Which row of the table it is, int64 ``(rows,)``.
    whole
        Whether a file has one row only that fits its only segment, whatever the times of that are, bool
        ``(files,)``.
    """

    cells: TextTable
    files: dict[tuple[str, str], int]
    file: np.ndarray
    start: np.ndarray
    end: np.ndarray
    number: np.ndarray
    whole: np.ndarray

    noun = "row"
    name_noun = "name"  # what messages call the file of a row
    without_times = "the table gives no times", "Add the columns start and end, in seconds"

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def names(self) -> Sequence[str]:
        """Give the file of each row."""
        return self.cells.columns["file"]

    def where(self, *numbers: int) -> str:
        """Say where rows stand."""
        return self.cells.where_all(numbers, "file")

    @found_once
    def find(self, corpus: Corpus) -> np.ndarray:
        """Find the row of each segment, int64 ``(segments,)``, -1 if there is none.

        Raises
        ------
        InputError
            If several segments of a file are meant, but the table gives no times; if a name could mean
            several files, or several names the same.
        """
        import pandas as pd  # late: a suite is read without it

        segments = corpus.segments
        found = np.full(len(segments), -1, dtype=np.int64)

        which, names = pd.factorize(segments["file"])
        known = self._files_of(corpus)
        file = known[which]
        whole = np.zeros(len(segments), dtype=bool)
        whole[file >= 0] = self.whole[file[file >= 0]]
        place = np.searchsorted(self.file, file)
        several = whole & (np.bincount(which, minlength=len(names))[which] > 1)
        rows = np.flatnonzero(several)
        unclear = rows[np.isinf(self.end[place[rows]])]
        if len(unclear):
            what, remedy = self.without_times
            what = f"the corpus has several segments of {quoted(segments['file'].iloc[unclear[0]])}, {what}"
            raise input_error(self.where(int(self.number[place[unclear[0]]])), what, remedy)
        whole &= ~several
        found[whole] = self.number[place[whole]]
        timed = np.flatnonzero((file >= 0) & ~whole)
        start, end = (segments[name].to_numpy(dtype=np.float64)[timed] for name in ("start", "end"))
        duration = numbers_of(segments, "duration")[timed]
        place = self._match(file[timed], np.nan_to_num(start), end, duration)
        found[timed] = np.where(place >= 0, self.number[place], -1)
        return found

    def _files_of(self, corpus: Corpus) -> np.ndarray:
        """Give the number of each different file of a corpus here, int64 ``(files,)``; -1 = none."""
        problems = Problems()
        own = corpus.segments.drop_duplicates("file").drop(columns="item", errors="ignore")
        known = np.full(len(own), -1, dtype=np.int64)
        names = UtteranceNames(own)
        first = np.searchsorted(self.file, np.arange(len(self.files)))  # the place of one of its rows
        for one in dict.fromkeys(("", files.slug(corpus.name), corpus.name)):  # the last one counts
            there = np.array(
                [number for (name, _), number in self.files.items() if name == one], dtype=np.int64
            )
            written = [file for name, file in self.files if name == one]

            def where(*numbers: int, there: np.ndarray = there) -> str:
                return self.where(*self.number[first[there[list(numbers)]]])

            found = names.assign(written, self.name_noun, where, problems)
            known = np.where(found >= 0, there[found] if len(there) else -1, known)
        problems.raise_if_any()
        return known

    def misfit(self, corpora: Sequence[Corpus]) -> InputError:
        """Make the error if no row fits the corpora: the files do not, or the times do not."""
        for corpus in corpora:
            known = self._files_of(corpus)
            if (known >= 0).any():
                return self._misfit_of_times(
                    corpus.segments, int(np.argmax(known >= 0)), known[known >= 0][0]
                )
        remedy = "Write the names as in the corpus, relative to its folder"
        return misfit_of_names(self, corpora, remedy)

    def _misfit_of_times(self, segments: pd.DataFrame, position: int, file: int) -> InputError:
        """Show the times of a segment whose file is known, and the nearest ones here."""
        table = segments.drop_duplicates("file").iloc[position]
        begin, end = np.nan_to_num(float(table["start"])), float(table["end"])
        own = np.flatnonzero(self.file == file)
        place = own[
            np.argmin(np.abs(self.start[own] - begin) + np.nan_to_num(np.abs(self.end[own] - end), nan=0))
        ]
        here, there = (
            f"{low!r} to {high!r} s" if np.isfinite(high) else f"{low!r} s to the end"
            for low, high in ((float(self.start[place]), float(self.end[place])), (float(begin), end))
        )
        what = (
            f"no {self.noun} belongs to a segment: the files are known, the times are not those of the corpus"
        )
        name = quoted(self.names[self.number[place]])
        what += f"; of {name} there is {here} here and {there} in the corpus, {TOLERANCE:g} s may differ"
        return input_error(
            self.where(int(self.number[place])), what, "Give start and end in seconds, as in the corpus"
        )

    def _match(
        self, file: np.ndarray, begin: np.ndarray, end: np.ndarray, duration: np.ndarray
    ) -> np.ndarray:
        """Find the place of the row with the times of each segment, -1 if there is none."""
        target = np.where(np.isnan(end), begin + duration, end)
        ended = np.flatnonzero(np.isfinite(self.end))
        owner, place = self._near(ended, file, begin, target)
        late, away = np.abs(self.start[place] - begin[owner]), np.abs(self.end[place] - target[owner])
        fits = (away <= TOLERANCE) & (late <= TOLERANCE)
        away += late
        # Without an end, both reach to the end of the file; the first such row has the smallest start.
        endless, open_ = np.flatnonzero(np.isinf(self.end)), np.flatnonzero(np.isnan(end))
        first = count_before(
            self.file[endless], self.start[endless], file[open_], begin[open_] - TOLERANCE, "left"
        )
        open_, first = open_[first < len(endless)], endless[first[first < len(endless)]]
        same = (self.file[first] == file[open_]) & (self.start[first] <= begin[open_] + TOLERANCE)
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
            wide = 2 * TOLERANCE  # what is rounded is looked at by the caller
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
    cells: TextTable,
    numbers: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    problems: Problems,
    answers: Sequence[str] = (),
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
    answers
        Columns of answers, which duplicates are shown with.
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
    rows = Rows(cells, known, file[order], start[order], end[order], numbers[order], whole)
    _note_duplicates(rows, cells, answers, problems)
    return rows


def _note_duplicates(rows: Rows, cells: TextTable, answers: Sequence[str], problems: Problems) -> None:
    endless = np.isinf(rows.end)
    ends = np.where(endless, 0, rows.end)
    same = np.diff(rows.file) == 0
    same &= np.abs(np.diff(rows.start)) <= SAME_SECONDS
    same &= (endless[:-1] == endless[1:]) & (np.abs(np.diff(ends)) <= SAME_SECONDS)
    for place in np.flatnonzero(same):
        pair = sorted(rows.number[[place, place + 1]].tolist())
        what = f"the segment {quoted(cells.columns['file'][pair[0]])} is a duplicate"
        for name in answers:
            one, other = (str(cells.columns[name][number]) for number in pair)
            what += f", its {name} {quoted(one, 40)} and {quoted(other, 40)}" if one != other else ""
        problems.add(cells.where_all(pair), what, TWICE)
