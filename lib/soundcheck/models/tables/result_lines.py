"""Results of recognisers as JSON Lines: those of NeMo, and of the Open ASR Leaderboard.

A line names a file and what was recognised in it: ``audio_filepath``, ``pred_text``, perhaps ``offset``,
``duration`` and ``time``. The file is a path of the machine that recognised.

Conventions
-----------
- ``offset`` (or ``start``) and ``duration`` (or ``end``) are seconds; a line without offset begins with its
  file. Times that differ by at most :data:`~soundcheck.models.tables.time_spans.TOLERANCE` are the same. The
  only line of a file that has one segment fits it if it begins with the file, whatever its duration.
- Which file a path means says :mod:`soundcheck.corpora.utterances`.
- ``pred_text: null`` is a missing answer, an empty text is one: nothing was recognised.
- ``time`` is what the recogniser says that it took, in seconds; it is told, not judged. ``text`` is not
  looked at: references are those of the corpus.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common.errors import InputError, Problems, did_you_mean, input_error
from soundcheck.common.json_lines import NUMBER, TEXT, JsonLines, json_object, read_json_lines
from soundcheck.common.text_table import TextTable, decode_text
from soundcheck.models.tables.index import misfit_of_names
from soundcheck.models.tables.rows import Rows, sort_rows

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus

FIELDS = {
    **{"audio_filepath": TEXT, "pred_text": TEXT},
    **dict.fromkeys(("offset", "start", "end", "duration", "time"), NUMBER),
}
_NUMBERED = re.compile(r"sample_\d+")  # what the leaderboard writes if it knows no file


@dataclasses.dataclass(frozen=True)
class ResultLines(Rows):
    """The lines of a file of results, and the segments that they belong to.

    Parameters
    ----------
    lines
        Where each line stands.
    texts
        What was recognised, object ``(lines,)``; ``None`` = no answer.
    seconds, taken
        Duration of the sound and time that it took, float64 ``(lines,)``; NaN = not given.
    """

    lines: JsonLines
    texts: np.ndarray
    seconds: np.ndarray
    taken: np.ndarray

    noun = "line"
    name_noun = "path"
    without_times = "the line has no times", "Give offset and duration in seconds"

    def where(self, *numbers: int) -> str:
        """Say where lines stand."""
        return self.lines.where_all(numbers, "audio_filepath")

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

    def misfit(self, corpora: Sequence[Corpus]) -> InputError:
        """Make the error if nothing fits the corpora."""
        if not _NUMBERED.fullmatch(self.names[0]):
            return super().misfit(corpora)
        remedy = "It only numbers the utterances. Let audio_filepath be the files, in the order of the lines"
        return misfit_of_names(self, corpora, remedy)


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
    table = TextTable({"file": paths, "transcript": texts}, cells.lines, "line", shown)
    rows = sort_rows(table, np.arange(len(paths)), start, end, problems, ("transcript",))
    problems.raise_if_any()
    first = np.searchsorted(rows.file, np.arange(len(rows.files)))
    alone = np.bincount(rows.file) == 1
    rows = dataclasses.replace(rows, whole=alone & (rows.start[first] == 0))
    return ResultLines(**vars(rows), lines=cells, texts=texts, seconds=seconds, taken=columns["time"])


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
