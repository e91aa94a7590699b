"""Files of speaker verification: lists of trials, their scores, and utterances of enrolled speakers.

Conventions
-----------
- What lines, words and tables are is said in :mod:`soundcheck.corpora.trials.layouts`.
- Trials: ``1 enrol test`` as in VoxCeleb, with or without a header; ``enrol test target`` as in Kaldi.
- Scores: ``0.107 enrol test`` or ``enrol test 0.107``, with or without a header; or one number a line, in
  the order of the trials.
- Enrolments: ``model utterance utterance ...``, as Kaldi's ``spk2utt``.
- Each of them also as a table with a header: columns separated by blanks or tabs, as NIST writes them
  (``modelid segmentid targettype``), CSV or Parquet. Columns are found by their names.
- The content tells the layout. Labels are 1 or ``target`` for one speaker, 0 or ``nontarget`` for two.
- A trial is a pair in its order: ``a b`` is not ``b a``.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import parse_number
from soundcheck.corpora.trials.layouts import HEADER_WORDS, Cells, read_cells, three_words

__all__ = [
    "Pairs",
    "ScoreList",
    "TrialList",
    "parse_scores",
    "parse_trials",
    "read_enrolments",
    "read_scores",
    "read_trials",
    "score_text",
    "write_scores",
    "write_trials",
]

_BITS = {"1": True, "0": False}
_WORDS = {"target": True, "nontarget": False}
_TRUTHS = {"True": True, "False": False}  # what tables make of a column of booleans
_TRIALS = (
    "Give lines such as `1 enrol.wav test.wav` or `enrol test target`, "
    "or a CSV table with the columns enrol, test and label"
)
_SCORES = (
    "Give lines such as `0.107 enrol.wav test.wav` or `enrol test 0.107`, one number a line, "
    "or a CSV table with the columns enrol, test and score"
)
_ENROLMENTS = (
    "Give lines such as `model utterance1 utterance2`, or a CSV table with the columns model and utterance"
)

DECISIONS = {True: "accept", False: "reject"}

_PLAIN = frozenset("0123456789+-.eE")  # characters of numbers
_SPACE = re.compile(r"\s")


class Pairs(Protocol):
    """What scores are joined to: trials, all of a list or those that are left of it.

    Attributes
    ----------
    enrol, test
        Names of both sides as the list writes them, ``(T,)``.
    numbers
        Number of each trial in the list, from 0, int64 ``(T,)``.
    listed
        How many trials the list has.
    """

    enrol: Sequence[str]
    test: Sequence[str]
    numbers: np.ndarray
    listed: int


@dataclasses.dataclass(frozen=True, eq=False)
class TrialList:
    """The trials of a file.

    Parameters
    ----------
    shown
        How messages call the file.
    form
        How it was read, such as ``lines `1 enrol test```.
    enrol, test
        Names of both sides as written, ``(T,)``.
    target
        bool ``(T,)``: whether one person speaks; ``None`` = the list does not say.
    scores
        float64 ``(T,)``, if the file has scores; else ``None``.
    places
        Line (or row) of each trial.
    unit
        ``"line"`` or ``"row"``: what ``places`` counts.
    repeated
        Number of trials that repeat an earlier one.
    """

    shown: str
    form: str
    enrol: list[str]
    test: list[str]
    target: np.ndarray | None
    scores: np.ndarray | None
    places: Sequence[int]
    unit: str = "line"
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.enrol)

    @property
    def numbers(self) -> np.ndarray:
        """Number of each trial."""
        return np.arange(len(self))

    @property
    def listed(self) -> int:
        """How many trials there are."""
        return len(self)

    def where(self, trial: int) -> str:
        """Say where a trial stands: ``trials.txt line 5``."""
        return f"{self.shown} {self.unit} {self.places[trial]}"


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreList:
    """The scores of a file.

    Parameters
    ----------
    shown
        How messages call the file.
    form
        How it was read, such as ``one number a line``.
    enrol, test
        Names of both sides as written, ``(S,)``, each pair once; ``None`` if the order of lines counts.
    scores
        float64 ``(S,)``, finite.
    places
        Line (or row) of each score.
    unit
        ``"line"`` or ``"row"``: what ``places`` counts.
    """

    shown: str
    form: str
    enrol: list[str] | None
    test: list[str] | None
    scores: np.ndarray
    places: Sequence[int]
    unit: str = "line"

    def __len__(self) -> int:
        return len(self.scores)

    def join(self, trials: Pairs) -> np.ndarray:
        """Give each trial its score.

        Parameters
        ----------
        trials
            A :class:`TrialList`, or those of its trials that are left.

        Returns
        -------
        numpy.ndarray
            float64 ``(T,)``, in the order of the trials.

        Raises
        ------
        InputError
            If a trial has no score, all of them at once; if the order of lines counts, and there are not as
            many scores as trials in the list.
        """
        if self.enrol is None:
            if trials.listed != len(self.scores):
                counts = f"{len(self.scores)} scores without names, the list {trials.listed} trials"
                remedy = "Give one number for each trial, in the order of the list"
                raise input_error(self.shown, f"the file has {counts}", remedy)
            return self.scores[trials.numbers]
        found, wanted = self._find(trials)
        enrol, test = list(trials.enrol), list(trials.test)
        missing = np.flatnonzero(found < 0)
        if len(missing) == len(found) and len(found):
            own, first = _pair(self.enrol[0], self.test[0]), _pair(enrol[0], test[0])
            what = f"no score belongs to a trial: the pair here is {own}, the first trial is {first}"
            where = f"{self.shown} {self.unit} {self.places[0]}"
            raise input_error(where, what, "Write the names as the list of trials does")
        problems, remedy = Problems(), "Add a line with its score"
        for trial in missing[np.unique(wanted[missing], return_index=True)[1]].tolist():
            problems.add(self.shown, f"no score for the trial {_pair(enrol[trial], test[trial])}", remedy)
        problems.raise_if_any()
        return self.scores[found]

    def extra(self, trials: Pairs) -> int:
        """Count the scores that belong to no trial; see :meth:`join`."""
        if self.enrol is None:
            return len(self) - len(trials.numbers)
        found, _ = self._find(trials)
        return len(self) - len(np.unique(found[found >= 0]))

    def _find(self, trials: Pairs) -> tuple[np.ndarray, np.ndarray]:
        """Find the score of each trial, -1 = none, and a number for each different pair, ``(T,)`` each."""
        there, wanted = _numbered((self.enrol, self.test), (trials.enrol, trials.test))
        return pd.Index(there).get_indexer(wanted), wanted


def _pair(enrol: str, test: str) -> str:
    return f"{quoted(enrol)} {quoted(test)}"


# Trials -----------------------------------------------------------------------------------------------------


def read_trials(path: str | os.PathLike, shown: str) -> TrialList:
    """Read a list of trials.

    Parameters
    ----------
    path
        The file.
    shown
        How messages call it.

    Raises
    ------
    InputError
        If it is missing, no regular file or in no known layout; if a line has too few or too many words, a
        label that is none or an empty name; if a pair has both labels. All problems of the lines at once.
    """
    files.require_regular(path, shown)
    return parse_trials(Path(path).read_bytes(), shown)


def parse_trials(content: bytes, shown: str) -> TrialList:
    """Read the bytes of a list of trials; see :func:`read_trials`."""
    cells = read_cells(content, shown, ("enrol", "test", "label"), _trial_lines, _TRIALS)
    problems = cells.problems
    allowed = {0: _BITS, 2: _WORDS}.get(cells.word, _BITS | _WORDS | _TRUTHS)
    target = [allowed.get(text.strip()) for text in cells.columns["label"]]
    for row, value in enumerate(target):
        if value is None:
            text = cells.columns["label"][row]
            names = [name for name in allowed if name not in _TRUTHS]
            what = f"{quoted(text)} is no label of a trial"
            problems.add(cells.where(row, "label"), what, did_you_mean(text.strip(), names))
    scores = _scores(cells) if "score" in cells.columns else None
    cells.check_names()
    problems.raise_if_any()
    target = np.array(target, dtype=bool)
    enrol, test = list(cells.columns["enrol"]), list(cells.columns["test"])
    earlier = _earlier(_numbered((enrol, test))[0])
    for row in np.flatnonzero(target != target[earlier]).tolist():
        what = f"the trial {_pair(enrol[row], test[row])} is there with both labels"
        problems.add(cells.both(earlier[row], row), what, "Keep one of the lines")
    problems.raise_if_any()
    repeated = int((earlier != np.arange(len(earlier))).sum())
    return TrialList(shown, cells.form, enrol, test, target, scores, cells.places, cells.unit, repeated)


def _trial_lines(rows: list[list[str]], places: list[int], shown: str) -> Cells:
    """Tell where lines without known header have their labels."""
    three = [row for row in rows if len(row) == 3]
    bits = sum(row[0] in _BITS for row in three)
    words = sum(row[2] in _WORDS for row in three)
    if not bits and not words:
        what = f"the trials have no labels that are known; the line is {quoted(' '.join(rows[0]))}"
        raise input_error(f"{shown} line {places[0]}", what, _TRIALS)
    if words >= bits:  # words are the rarer names
        return three_words(rows, places, shown, 2, "label", "lines `enrol test target`")
    header = _is_headed(rows, lambda row: row[0] in _BITS)
    return three_words(rows, places, shown, 0, "label", "lines `1 enrol test`", header)


def _is_headed(rows: list[list[str]], fits: Callable[[list[str]], bool]) -> bool:
    """Tell whether the second line fits, but the first does not."""
    return len(rows) > 1 and len(rows[0]) == len(rows[1]) == 3 and fits(rows[1]) and not fits(rows[0])


# Scores -----------------------------------------------------------------------------------------------------


def read_scores(path: str | os.PathLike, shown: str) -> ScoreList:
    """Read scores of trials.

    A pair that stands there twice with the same score counts once. Of the first and the last of three words
    that one is the score which is a number in more lines, the first if both are.

    Parameters
    ----------
    path
        The file.
    shown
        How messages call it.

    Raises
    ------
    InputError
        If it is missing, no regular file or in no known layout; if a line has too few or too many words, no
        finite number or an empty name; if a pair has two scores. All problems of the lines at once.
    """
    files.require_regular(path, shown)
    return parse_scores(Path(path).read_bytes(), shown)


def parse_scores(content: bytes, shown: str) -> ScoreList:
    """Read the bytes of a file of scores; see :func:`read_scores`."""
    cells = read_cells(content, shown, ("enrol", "test", "score"), _score_lines, _SCORES)
    scores = _scores(cells)
    if "enrol" not in cells.columns:
        cells.problems.raise_if_any()
        return ScoreList(shown, cells.form, None, None, scores, cells.places)
    cells.check_names()
    cells.problems.raise_if_any()
    enrol, test = cells.columns["enrol"], cells.columns["test"]
    earlier = _earlier(_numbered((enrol, test))[0])
    for row in np.flatnonzero(scores != scores[earlier]).tolist():
        both = f"{float(scores[earlier[row]])!r} and {float(scores[row])!r}"
        what = f"the trial {_pair(enrol[row], test[row])} has two scores, {both}"
        cells.problems.add(cells.both(earlier[row], row), what, "Keep one of the lines")
    cells.problems.raise_if_any()
    once = np.flatnonzero(earlier == np.arange(len(earlier))).tolist()
    enrol, test, places = ([column[row] for row in once] for column in (enrol, test, cells.places))
    return ScoreList(shown, cells.form, enrol, test, scores[once], places, cells.unit)


def _score_lines(rows: list[list[str]], places: list[int], shown: str) -> Cells:
    """Tell where lines without known header have their scores."""
    if sum(len(row) == 1 for row in rows) > len(rows) / 2:
        return _one_a_line(rows, places, shown)
    three = [row for row in rows if len(row) == 3]
    first = sum(_is_float(row[0]) for row in three)
    last = sum(_is_float(row[2]) for row in three) if first < len(three) else 0
    if not first and not last:
        what = f"the lines have no scores; the line is {quoted(' '.join(rows[0]))}"
        raise input_error(f"{shown} line {places[0]}", what, _SCORES)
    column, form = (0, "lines `0.107 enrol test`") if first >= last else (2, "lines `enrol test 0.107`")
    header = _is_headed(rows, lambda row: _is_float(row[column]))
    return three_words(rows, places, shown, column, "score", form, header)


def _one_a_line(rows: list[list[str]], places: list[int], shown: str) -> Cells:
    problems = Problems()
    if len(rows) > 1 and rows[0][0].casefold() in HEADER_WORDS["score"]:
        rows, places = rows[1:], places[1:]
    for row, place in zip(rows, places, strict=True):
        if len(row) != 1:
            what = f"the line has {len(row)} words, the others one number"
            problems.add(f"{shown} line {place}", what, "Give one number a line")
    scores = [row[0] for row in rows]
    return Cells(shown, {"score": scores}, places, "one number a line", problems=problems)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _scores(cells: Cells) -> np.ndarray:
    """Read the column of scores, float64; what is no finite number is noted as a problem."""
    texts = cells.columns["score"]
    if _PLAIN.issuperset("".join(texts)):  # all at once; what fails is looked at one by one
        with contextlib.suppress(ValueError):
            scores = np.array(texts, dtype=np.float64)
            if np.isfinite(scores).all():
                return scores
    scores = np.zeros(len(texts))
    for row, text in enumerate(texts):
        try:
            scores[row] = parse_number(text.strip())
        except ValueError as error:
            cells.problems.add(cells.where(row, "score"), str(error), "Give each trial a finite number")
    return scores


# Enrolments -------------------------------------------------------------------------------------------------


def read_enrolments(path: str | os.PathLike, shown: str) -> dict[str, list[str]]:
    """Read which utterances each speaker is enrolled with.

    Parameters
    ----------
    path
        The file.
    shown
        How messages call it.

    Returns
    -------
    dict
        Name of a model -> its utterances, at least one, both in the order of the file.

    Raises
    ------
    InputError
        If it is missing, no regular file or no such list; if a model has no utterance or one of them twice;
        if two lines ``model utterance ...`` are of one model. All problems at once.
    """
    files.require_regular(path, shown)
    cells = read_cells(Path(path).read_bytes(), shown, ("model", "utterance"), _enrolment_lines, _ENROLMENTS)
    cells.check_names()
    enrolments: dict[str, list[str]] = {}
    first: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(zip(cells.columns["model"], cells.columns["utterance"], strict=True)):
        earlier = first.setdefault(pair, row)
        if earlier == row:
            enrolments.setdefault(pair[0], []).append(pair[1])
        else:
            what = f"the model {quoted(pair[0])} has the utterance {quoted(pair[1])} twice"
            cells.problems.add(cells.both(earlier, row), what, "Keep it once")
    cells.problems.raise_if_any()
    return enrolments


def _enrolment_lines(rows: list[list[str]], places: list[int], shown: str) -> Cells:
    """Give each utterance of a line a row of its own."""
    problems = Problems()
    lines: dict[str, int] = {}
    for (model, *utterances), place in zip(rows, places, strict=True):
        earlier = lines.setdefault(model, place)
        if earlier != place:
            what = f"the model {quoted(model)} is there twice"
            problems.add(f"{shown} lines {earlier} and {place}", what, "Write all its utterances in one line")
        if not utterances:
            what = f"the model {quoted(model)} has no utterance"
            problems.add(f"{shown} line {place}", what, "Write its utterances behind its name")
    problems.raise_if_any()
    columns = {
        "model": [row[0] for row in rows for _ in row[1:]],
        "utterance": [utterance for row in rows for utterance in row[1:]],
    }
    places = [place for row, place in zip(rows, places, strict=True) for _ in row[1:]]
    return Cells(shown, columns, places, "lines `model utterance ...`")


# Writing ----------------------------------------------------------------------------------------------------


def write_trials(
    path: str | os.PathLike, enrol: Sequence[str], test: Sequence[str], target: Sequence[bool]
) -> str:
    """Write a list of trials, ``1 enrol test``; as CSV if names would not be read back.

    Parameters
    ----------
    path
        The file.
    enrol, test
        Names of both sides, ``(T,)``, none empty.
    target
        Whether one person speaks, ``(T,)``.

    Returns
    -------
    str
        Digest of the file.

    Raises
    ------
    ValueError
        If lengths differ, or a name is empty or has a NUL character.
    OutputError
        If it cannot be written.
    """
    labels = np.asarray(target, dtype=bool).astype(int).tolist()
    return files.write_bytes(path, _written("label", labels, enrol, test)[0])


def write_scores(
    path: str | os.PathLike,
    enrol: Sequence[str],
    test: Sequence[str],
    scores: Sequence[float],
    threshold: float = np.nan,
) -> str:
    """Write scores of trials as :func:`score_text` does; returns the digest of the file.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    return files.write_bytes(path, score_text(enrol, test, scores, threshold)[0])


def score_text(
    enrol: Sequence[str], test: Sequence[str], scores: Sequence[float], threshold: float = np.nan
) -> tuple[bytes, str]:
    """Write scores of trials, ``0.107 enrol test`` a line; as CSV if names would not be read back.

    With a threshold there is a header and two columns more, ``0.107 enrol test reject 0.4``: what is decided
    and the threshold, above which a trial is accepted. :func:`parse_scores` reads such a file as well.

    Parameters
    ----------
    enrol, test
        Names of both sides, ``(T,)``, none empty.
    scores
        Finite, ``(T,)``; written in as few digits as give the same float64 back.
    threshold
        The threshold in use, may be infinite; NaN if nothing is decided.

    Returns
    -------
    bytes
        The text, in UTF-8.
    str
        The extension that suits it, ``.txt`` or ``.csv``.

    Raises
    ------
    ValueError
        If lengths differ, a name is empty or has a NUL character, or a score is not finite.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError(f"{int((~np.isfinite(scores)).sum())} scores are not finite.")
    if np.isnan(threshold):
        return _written("score", scores.tolist(), enrol, test)
    decided = [(DECISIONS[accepted], float(threshold)) for accepted in (scores > threshold).tolist()]
    return _written("score", scores.tolist(), enrol, test, ("decision", "threshold"), decided)


def _written(
    heading: str,
    values: Sequence[float],
    enrol: Sequence[str],
    test: Sequence[str],
    further: tuple[str, ...] = (),
    told: Sequence[tuple[str, float]] = (),
) -> tuple[bytes, str]:
    """Write a value a trial, and further columns with what is told in them."""
    rows = list(zip(enrol, test, values, strict=True))
    names = {name for *both, _ in rows for name in both}
    if any(not name or "\0" in name for name in names):
        raise ValueError("A name is empty or has a NUL character.")
    behind = told if further else [()] * len(rows)
    if not any(name in _WORDS or _SPACE.search(name) for name in names):
        lines = [" ".join((heading, "enrol", "test", *further))] if further else []
        for (one, other, value), more in zip(rows, behind, strict=True):
            lines.append(" ".join((repr(value), one, other, *map(str, more))))
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"), ".txt"
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["enrol", "test", heading, *further])
    writer.writerows((*row, *more) for row, more in zip(rows, behind, strict=True))
    return text.getvalue().encode("utf-8", "backslashreplace"), ".csv"


# Pairs ------------------------------------------------------------------------------------------------------


def _numbered(*pairs: tuple[Sequence[str], Sequence[str]]) -> list[np.ndarray]:
    """Give equal pairs of names the same number, int64, across all that are given."""
    names = np.array([name for both in pairs for side in both for name in side], dtype=object)
    codes, different = pd.factorize(names)
    numbers = []
    begin = 0
    for enrol, _ in pairs:
        middle, end = begin + len(enrol), begin + 2 * len(enrol)
        numbers.append(codes[begin:middle].astype(np.int64) * len(different) + codes[middle:end])
        begin = end
    return numbers


def _earlier(numbers: np.ndarray) -> np.ndarray:
    """Tell where each number stands for the first time, ``(N,)``."""
    _, first, again = np.unique(numbers, return_index=True, return_inverse=True)
    return first[again]
