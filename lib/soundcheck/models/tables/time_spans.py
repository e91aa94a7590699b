"""Segments as spans of time: which one holds a word, and which ones a line reaches into.

All items are looked up at once, by sorting; only those in several segments that overlap are looked at singly.
"""

from __future__ import annotations

import numpy as np

from soundcheck.models.tables.rows import TOLERANCE, count_before

__all__ = ["NONE", "SEVERAL", "TOLERANCE", "Spans"]

NONE, SEVERAL = -1, -2  # instead of a segment


class Spans:
    """Segments as spans of time, to be asked what they hold.

    Parameters
    ----------
    group
        Number of the file of each segment, or of file and speaker, int64 ``(segments,)``.
    start, end
        Seconds, float64 ``(segments,)``; the end may be infinite.
    """

    def __init__(self, group: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        self.group, self.start, self.end = group, start, end
        self._by_start = np.lexsort((end, start, group))
        self._by_end = np.lexsort((end, group))
        self._groups: dict[int, tuple[int, np.ndarray, float]] = {}
        # The segment that ends last among those of its group that begin before a time, or with it.
        rank = np.empty(len(group), dtype=np.int64)
        rank[self._by_end] = np.arange(len(group))
        self._last = self._by_end[np.maximum.accumulate(rank[self._by_start])] if len(group) else rank

    def holders(self, group: np.ndarray, start: np.ndarray, end: np.ndarray, words: bool) -> np.ndarray:
        """Find the segment that holds each item.

        Parameters
        ----------
        group, start, end
            Of the items, each ``(items,)``.
        words
            Whether an item is one word, which may reach beyond its segment.

        Returns
        -------
        numpy.ndarray
            Numbers of segments, int64 ``(items,)``; -1 = none, -2 = several.
        """
        middle = (start + end) / 2
        begun = count_before(self.group[self._by_start], self.start[self._by_start], group, middle, "right")
        ended = count_before(self.group[self._by_end], self.end[self._by_end], group, middle, "right")
        count = begun - ended
        found = np.full(len(group), NONE, dtype=np.int64)
        one = count == 1
        found[one] = self._last[begun[one] - 1]
        fits = (self.start[found] <= start + TOLERANCE) & (self.end[found] >= end - TOLERANCE)
        found[one & ~fits & (not words)] = NONE
        for item in np.flatnonzero(count > 1).tolist():
            first, starts, longest = self._of_group(int(group[item]))
            first += int(np.searchsorted(starts, middle[item] - longest))
            among = self._by_start[first : begun[item]]
            found[item] = self._among(among[self.end[among] > middle[item]], start[item], end[item], words)
        return found

    def touched(self, group: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Say which segments some items reach into by more than the tolerance, bool ``(segments,)``."""
        by_start, by_end = np.lexsort((start, group)), np.lexsort((end, group))
        begun = count_before(group[by_start], start[by_start], self.group, self.end - TOLERANCE, "left")
        ended = count_before(group[by_end], end[by_end], self.group, self.start + TOLERANCE, "right")
        return begun > ended

    def _of_group(self, group: int) -> tuple[int, np.ndarray, float]:
        """Give where a group begins in the order of starts, its starts, and the seconds of its longest."""
        if group not in self._groups:
            own = self.group[self._by_start]
            first, last = np.searchsorted(own, [group, group + 1])
            members = self._by_start[first:last]
            longest = float((self.end - self.start)[members].max())
            self._groups[group] = (int(first), self.start[members], longest)
        return self._groups[group]

    def _among(self, segments: np.ndarray, start: float, end: float, words: bool) -> int:
        """Choose between segments that overlap."""
        if words:  # segments may overlap by what is rounded
            middle = (start + end) / 2
            long = segments[self.end[segments] > middle + TOLERANCE]
            return int(long[0]) if len(long) == 1 else SEVERAL
        starts, ends = np.abs(self.start[segments] - start), np.abs(self.end[segments] - end)
        same = segments[(starts <= TOLERANCE) & (ends <= TOLERANCE)]
        if len(same) == 1:
            return int(same[0])
        fits = (self.start[segments] <= start + TOLERANCE) & (self.end[segments] >= end - TOLERANCE)
        if fits.sum() == 1:
            return int(segments[fits][0])
        return SEVERAL if fits.any() else NONE
