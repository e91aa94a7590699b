"""Results of recognisers as JSON Lines: those of NeMo, and of the Open ASR Leaderboard.

A line names a file and what was recognised in it: ``audio_filepath``, ``pred_text``, perhaps ``offset``,
``duration`` and ``time``. The file is a path of the machine that recognised.

Conventions
-----------
- ``offset`` (or ``start``) and ``duration`` (or ``end``) are seconds; a line without offset begins with its
  file. Times that differ by at most :data:`~soundcheck.models.tables.time_spans.TOLERANCE` are the same. The
  only line of a file that has one segment fits it if it begins with the file, whatever its duration.
- A path means the file that ends like it, see :mod:`soundcheck.corpora.utterances`. Of several paths that
  mean one file, the one with the longest end in common counts, the others belong to no segment. A path that
  fits several files equally well is refused.
- ``pred_text: null`` is a missing answer, an empty text is one: nothing was recognised.
- ``time`` is what the recogniser says that it took, in seconds; it is told, not judged. ``text`` is not
  looked at: references are those of the corpus.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common.errors import InputError, Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_lines import NUMBER, TEXT, JsonLines, json_object, read_json_lines
from soundcheck.common.text_table import TextTable, decode_text
from soundcheck.corpora.utterances import UtteranceNames, plain_path
from soundcheck.models.tables.index import Index, found_once
from soundcheck.models.tables.rows import sort_rows
from soundcheck.models.tables.time_spans import TOLERANCE
from soundcheck.models.tables.transcripts import refuse_two_sounds

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus

__all__ = ["ResultLines", "read_results"]

FIELDS = {
    **{"audio_filepath": TEXT, "pred_text": TEXT},
    **dict.fromkeys(("offset", "start", "end", "duration", "time"), NUMBER),
}
_NUMBERED = re.compile(r"sample_\d+")  # what the leaderboard writes if it knows no file


@dataclasses.dataclass(frozen=True)
class ResultLines(Index):
    """The lines of a file of results, and the segments that they belong to.

    Parameters
    ----------
    cells
        Where each line stands.
    paths
        File of each line, object ``(lines,)``.
    texts
        What was recognised, object ``(lines,)``; ``None`` = no answer.
    start, end
        Seconds, float64 ``(lines,)``; NaN = bound of the file.
    seconds, taken
        Duration of the sound and time that it took, float64 ``(lines,)``; NaN = not given.
    """

    cells: JsonLines
    paths: np.ndarray
    texts: np.ndarray
    start: np.ndarray
    end: np.ndarray
    seconds: np.ndarray
    taken: np.ndarray

    noun = "line"

    def __len__(self) -> int:
        return len(self.cells)

    @functools.cached_property
    def _factorised(self) -> tuple[np.ndarray, np.ndarray]:
        """Number each path, int64 ``(lines,)``, and list the paths."""
        import pandas as pd  # late: a suite is read without it

        return pd.factorize(self.paths)

    @found_once
    def find(self, corpus: Corpus) -> np.ndarray:
        """Find the line of each segment, int64 ``(segments,)``, -1 if there is none.

        Raises
        ------
        InputError
            If a path could mean several files, two lines the same segment, or a line without times several
            segments.
        """
        problems = Problems()
        segments = corpus.segments
        own = segments.drop_duplicates("file").drop(columns="item", errors="ignore")  # names of files only
        names = own["file"].to_numpy(dtype=object)
        which, paths = self._factorised
        of_path = self._files(UtteranceNames(own), names, problems)
        problems.raise_if_any()
        file = of_path[which]  # of each line
        numbers = np.flatnonzero(file >= 0)
        if not len(numbers):
            return np.full(len(segments), -1, dtype=np.int64)
        parts = segments["file"].value_counts().reindex(names).to_numpy()[file[numbers]]
        lines = np.bincount(file[numbers], minlength=len(names))[file[numbers]]
        start, end = self.start.copy(), self.end.copy()
        alone = numbers[(lines == 1) & (parts == 1) & ~(start[numbers] > 0)]
        start[alone] = end[alone] = np.nan
        unclear = numbers[(lines == 1) & (parts > 1) & np.isnan(start[numbers]) & np.isnan(end[numbers])]
        for number in unclear:
            what = f"the corpus has several segments of {quoted(names[file[number]])}, the line has no times"
            problems.add(self.cells.where(number), what, "Give offset and duration in seconds")
        problems.raise_if_any()
        written = np.full(len(self), "", dtype=object)
        written[numbers] = names[file[numbers]]
        table = TextTable({"file": written}, self.cells.lines, "line", self.cells.shown)
        rows = sort_rows(table, numbers, start, end, problems)
        problems.raise_if_any()
        return dataclasses.replace(rows, tolerance=TOLERANCE).find(corpus)

    def find_everywhere(self, corpora: Sequence[Corpus]) -> list[np.ndarray]:
        """Find the lines for all corpora.

        Raises
        ------
        InputError
            Also if a line means different sounds in two corpora.
        """
        everywhere = super().find_everywhere(corpora)
        refuse_two_sounds(corpora, everywhere, self.cells.shown, self.paths, self.cells.lines)
        return everywhere

    def computing_times(self) -> np.ndarray:
        """Give them of the lines that tell both."""
        both = np.stack([self.taken, self.seconds])
        return both[:, ~np.isnan(both).any(axis=0)]

    def remarks(self) -> list[str]:
        """Say how quick the recogniser says it was."""
        times = self.computing_times()
        taken, seconds = map(float, times.sum(axis=1))
        if not taken or not seconds:
            return []
        some = "" if times.shape[1] == len(self) else f" ({times.shape[1]} of {len(self)} lines)"
        what = f"{taken:.4g} s for {seconds:.4g} s of sound{some}: {seconds / taken:.3g} times real time"
        return [f"{self.cells.shown} tells of computing times, {what}, as given"]

    def misfit(self, file: str) -> InputError:
        """Make the error if nothing fits the corpora; ``file`` is one of theirs."""
        name = self.paths[0]
        remedy = "Write the files as in the corpus; offset and duration in seconds"
        if _NUMBERED.fullmatch(name):
            remedy = (
                "It only numbers the utterances. Let audio_filepath be the files, in the order of the lines"
            )
        what = (
            f"no line belongs to a segment: the file here is {quoted(name)}, one of the corpus {quoted(file)}"
        )
        return input_error(self.cells.where(0), what, remedy)

    def _files(self, known: UtteranceNames, names: np.ndarray, problems: Problems) -> np.ndarray:
        """Find the file of each path, int64 ``(paths,)``; -1 = none."""
        which, paths = self._factorised
        fitting = known.find_paths(paths)
        found = np.full(len(paths), -1, dtype=np.int64)
        best: dict[int, int] = {}  # file -> the path that is most like it
        for number, rows in enumerate(fitting):
            if len(rows) > 1:
                more = f" and {len(rows) - 2} more" if len(rows) > 2 else ""
                both = f"{quoted(names[rows[0]])} and {quoted(names[rows[1]])}{more}"
                what = f"the path {quoted(paths[number])} could mean {both}"
                remedy = "Write more of the path, as in the corpus"
                problems.add(self.cells.where(self._first_lines[number], "audio_filepath"), what, remedy)
            elif rows:
                row = rows[0]
                before = best.setdefault(row, number)
                if before == number:
                    continue
                alike = [_alike(paths[path], names[row]) for path in (before, number)]
                if alike[0] == alike[1]:
                    self._note_both(before, number, names[row], problems)
                elif alike[1] > alike[0]:
                    best[row] = number
        for row, number in best.items():
            found[number] = row
        return found

    def _note_both(self, one: int, other: int, file: str, problems: Problems) -> None:
        paths = self._factorised[1]
        lines = sorted(self.cells.lines[self._first_lines[path]] for path in (one, other))
        where = f"{self.cells.shown} lines {lines[0]} and {lines[1]}, field audio_filepath"
        what = f"{quoted(paths[one])} and {quoted(paths[other])} both mean {quoted(file)}"
        problems.add(where, what, "Write the file as in the corpus")

    @functools.cached_property
    def _first_lines(self) -> np.ndarray:
        """Give the first line of each path, int64 ``(paths,)``."""
        return np.unique(self._factorised[0], return_index=True)[1]


def _alike(path: str, file: str) -> int:
    """Count what two paths have in common at their ends: two for a folder or name, one for an extension.

    Examples
    --------
    >>> _alike("/data/s1/a.flac", "s1/a.flac"), _alike("s2/a.wav", "s1/a.flac"), _alike("A", "a")
    (5, 2, 0)
    """
    one, other = plain_path(path).split("/")[::-1], plain_path(file).split("/")[::-1]
    alike = int(one[0] == other[0])
    one[0], other[0] = (name.rpartition(".")[0] or name for name in (one[0], other[0]))
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        alike += 2
    return alike


def read_results(content: bytes, shown: str) -> ResultLines:
    """Read the bytes of a file of results.

    Parameters
    ----------
    content
        All bytes of the file.
    shown
        How messages call it.

    Raises
    ------
    InputError
        If it is no UTF-8 text or no JSON, if fields are missing, doubled or of another type, or times are
        negative or reversed. All problems of the lines at once.
    """
    cells = read_json_lines(content, shown, FIELDS)
    columns, problems = cells.columns, Problems()
    for name in ("audio_filepath", "pred_text"):
        if all(value is None for value in columns[name]):
            raise _missing(name, content, cells)
    paths = columns["audio_filepath"]
    for row in np.flatnonzero([not path for path in paths]):
        problems.add(cells.where(row, "audio_filepath"), "the field is missing or empty", "Name the file")
    for name in ("offset", "start", "end", "duration", "time"):
        for row in np.flatnonzero(columns[name] < 0):
            what = f"{columns[name][row]:g} s is negative"
            problems.add(cells.where(row, name), what, "Give seconds from 0 on")
    start = np.where(np.isnan(columns["offset"]), columns["start"], columns["offset"])
    both = ~np.isnan(columns["offset"]) & ~np.isnan(columns["start"])
    for row in np.flatnonzero(both & (columns["offset"] != columns["start"])):
        problems.add(cells.where(row), "offset and start differ", "Keep one of them")
    end = columns["end"]
    end = np.where(np.isnan(end) & ~np.isnan(start), start + columns["duration"], end)
    seconds = np.where(np.isnan(columns["duration"]), end - np.nan_to_num(start), columns["duration"])
    for row in np.flatnonzero(~(np.nan_to_num(start) < end) & ~np.isnan(end)):
        what = f"the end, {end[row]:g} s, is not after the start, {np.nan_to_num(start[row]):g} s"
        problems.add(cells.where(row), what, "Give a duration above 0")
    problems.raise_if_any()
    texts = np.array([None if text is None else text.strip() for text in columns["pred_text"]], dtype=object)
    return ResultLines(cells, paths, texts, start, end, seconds, columns["time"])


def _missing(name: str, content: bytes, cells: JsonLines) -> InputError:
    """Say that no line has a field, and what the first one has."""
    text = decode_text(content, cells.shown)
    keys = list(json_object(text.lstrip().split("\n", 1)[0], cells.where(0)))
    remedy = did_you_mean(name, keys).replace("Allowed: ", "There are: ")
    if name == "pred_text" and "text" in keys and "audio_filepath" in keys:
        remedy = "text is the reference of a manifest; pred_text is what was recognised. Give the results"
    elif {"session_id", "words"} <= {*keys}:
        remedy = "This looks like SegLST: give one JSON list of all objects"
    return input_error(cells.where(0, name), "no line has the field", remedy)
