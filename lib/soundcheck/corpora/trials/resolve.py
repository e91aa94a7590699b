"""Trials between segments of a corpus: which is compared with which, and whether one person speaks.

Conventions
-----------
- A trial compares an enrolment, one or several segments of a speaker, with one segment, the test side.
- Names mean segments as :mod:`soundcheck.corpora.utterances` says; a timed segment also has its name with
  times, ``a.wav 0 to 1.5``.
- Joining is strict: a name that means nothing, or several segments, is refused. Trials of files that the
  corpus lists but cannot use are left out and listed.
- A trial of an utterance with itself is left out: every model accepts it.
- Labels and speakers must agree.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.corpora.segments import Excluded, segment_name
from soundcheck.corpora.trials.infer_speakers import ContradictionError, infer_speakers
from soundcheck.corpora.trials.trial_files import TrialList
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.corpora.utterances import UtteranceNames

__all__ = ["resolve"]

_STAGE = "trials"


def resolve(
    trials: TrialList,
    segments: pd.DataFrame,
    *,
    enrolments: Mapping[str, Sequence[str]] | None = None,
    elsewhere: Collection[str] = (),
    left_out: Collection[str] = (),
) -> TrialTable:
    """Find the segments of a list of trials.

    Parameters
    ----------
    trials
        The list; has labels.
    segments
        Segment table of the corpus with columns ``file``, ``start``, ``end``, ``audio``, perhaps ``speaker``.
    enrolments
        Names of the utterances that each name on the enrolment side stands for; by default itself.
    elsewhere
        Files of other splits.
    left_out
        Files that the corpus lists and that cannot be used. An enrolment with one of them cannot either.

    Returns
    -------
    TrialTable
        In the order of the list. Without speakers in the segment table they are inferred by
        :func:`soundcheck.corpora.trials.infer_speakers.infer_speakers`.

    Raises
    ------
    InputError
        If a name means no segment, one of another split or several; if an enrolment is not known or has
        several speakers or one segment twice; if a label contradicts the speakers; if no trial is left.
    """
    sides = _find(trials, segments, enrolments, elsewhere, left_out)
    listed = _unusable(sides)
    kept = (sides.tests >= 0) & sides.usable[sides.models]
    problems = Problems()
    single = np.array([len(rows) == 1 for rows in sides.members], dtype=bool)
    within = _shares(sides, np.arange(len(segments))) & kept
    itself = within & single[sides.models]
    for trial in np.flatnonzero(itself & ~trials.target).tolist():
        what = f"the trial compares {quoted(trials.test[trial])} with itself and says two speakers"
        problems.add(trials.where(trial), what, "Correct the label or remove the line")
    kept &= ~itself
    if itself.any():
        reason = "an utterance is compared with itself: every model accepts it"
        first = int(np.flatnonzero(itself)[0])
        item = f"{_count(itself, 'trial')}, the first {trials.where(first)}"
        listed.append(Excluded(item, reason, _STAGE))
    speakers = _speakers(trials, segments, sides, kept, problems)
    problems.raise_if_any()
    if not kept.any():
        reasons = "; ".join(dict.fromkeys(item.reason for item in listed))
        raise input_error(
            trials.shown, f"no trial is left ({reasons})", "Give trials of files that can be used"
        )
    enrol_speaker, test_speaker, notices = speakers
    rows = np.flatnonzero(kept)
    enrolment, used = pd.factorize(sides.models[rows])
    members = [sides.members[model] for model in used.tolist()]
    frame = pd.DataFrame(
        {
            "key": pd.Series([str(row) for row in rows.tolist()], dtype=object),
            "enrol": pd.Series([trials.enrol[row] for row in rows.tolist()], dtype=object),
            "test": pd.Series([trials.test[row] for row in rows.tolist()], dtype=object),
            "target": trials.target[rows],
            "enrolment": enrolment.astype(np.int64),
            "segment": sides.tests[rows].astype(np.int64),
            "enrol_speaker": pd.Series(enrol_speaker, dtype=object),
            "test_speaker": pd.Series(test_speaker, dtype=object),
        }
    )
    sounds = pd.factorize(segments["audio"], use_na_sentinel=False)[0]
    told = _note(trials, frame, within[rows], _shares(sides, sounds)[rows] & ~within[rows])
    return TrialTable(
        frame,
        np.array([row for rows in members for row in rows], dtype=np.int64),
        np.repeat(np.arange(len(members), dtype=np.int64), [len(rows) for rows in members]),
        "list",
        (*told, *notices),
        tuple(listed),
        len(trials),
    )


# Names ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Sides:
    """Both sides of the trials of a list.

    ``models``: number of the enrolment of each trial. ``members``: rows of each enrolment, -1 = unusable.
    ``tests``: row of the test side of each trial, -1 = unusable. ``usable``: whether all of an enrolment is.
    ``blocked``: the files of each enrolment that are unusable. ``test_files``: of each trial, or empty.
    """

    models: np.ndarray
    members: list[list[int]]
    tests: np.ndarray
    usable: np.ndarray
    blocked: list[list[str]]
    test_files: list[str]


class _Finder:
    """Finds the row of a name among the segments, files that cannot be used and those of other splits."""

    def __init__(self, segments: pd.DataFrame, elsewhere: Collection[str], left_out: Collection[str]) -> None:
        there = segments["file"].tolist()
        unusable = sorted(set(left_out).difference(there))
        others = sorted(set(elsewhere).difference(there, unusable))
        self._files = [*there, *unusable, *others]
        self._segments = segments
        self._usable = len(there)
        self._known = len(there) + len(unusable)
        everything = pd.DataFrame({"file": pd.Series(self._files, dtype=object)})
        if "speaker" in segments.columns:
            padding = [None] * (len(self._files) - len(there))
            everything["speaker"] = pd.Series([*segments["speaker"].tolist(), *padding], dtype=object)
        self._names = UtteranceNames(everything)
        self._timed: dict[str, list[int]] | None = None
        self.unusable: dict[str, str] = {}

    def find(self, name: str, where: str, problems: Problems) -> int:
        """Find a row; -1 if its file cannot be used (see ``unusable``) or a problem is noted."""
        rows = self._names.find(name) or self._named(name)
        if not rows:
            remedy = f"Write files as the corpus does, such as {quoted(self._files[0])}"
            problems.add(where, f"no segment is called {quoted(name)}", remedy)
        elif rows[0] < self._usable and len(rows) == 1:
            return rows[0]
        elif rows[0] < self._usable:
            self._note_ambiguous(name, rows, where, problems)
        elif rows[-1] < self._known:
            self.unusable[name] = self._files[rows[0]]
        else:
            what = f"{quoted(name)} is a file of another split"
            problems.add(where, what, "Set `split: all` for the corpus")
        return -1

    def _named(self, name: str) -> list[int]:
        """Find segments by their name with times."""
        if self._timed is None:
            self._timed = {}
            table = self._segments[["file", "start", "end"]]
            timed = np.flatnonzero(table[["start", "end"]].notna().any(axis=1))
            for row, cells in zip(timed.tolist(), table.iloc[timed].itertuples(index=False), strict=True):
                self._timed.setdefault(segment_name(*cells), []).append(row)
        return self._timed.get(name, [])

    def _note_ambiguous(self, name: str, rows: Sequence[int], where: str, problems: Problems) -> None:
        both = [self._files[row] for row in rows[:2]]
        if len({self._files[row] for row in rows}) == len(rows):
            more = f" and {len(rows) - 2} more" if len(rows) > 2 else ""
            what = f"{quoted(name)} could mean {quoted(both[0])} and {quoted(both[1])}{more}"
            remedy = f"Write the file, such as {quoted(both[0])}"
        else:
            cells = self._segments[["file", "start", "end"]].iloc[rows[0]]
            what = f"the corpus has several segments of {quoted(name)}"
            remedy = f"Write the name of one, such as {quoted(segment_name(*cells))}, in a CSV table"
        problems.add(where, what, remedy)


def _find(
    trials: TrialList,
    segments: pd.DataFrame,
    enrolments: Mapping[str, Sequence[str]] | None,
    elsewhere: Collection[str],
    left_out: Collection[str],
) -> _Sides:
    """Find what all names mean.

    Raises
    ------
    InputError
        All names at once that mean nothing or too much.
    """
    problems = Problems()
    finder = _Finder(segments, elsewhere, left_out)
    rows: dict[str, int] = {}

    def row(name: str, where: str) -> int:
        if name not in rows:
            rows[name] = finder.find(name, where, problems)
        return rows[name]

    # Both sides in turn, so that names are found, and missed, in the order of the lines.
    both = np.empty(2 * len(trials), dtype=object)
    both[0::2], both[1::2] = trials.enrol, trials.test
    if enrolments is None:
        codes, names = pd.factorize(both)
        first = np.unique(codes, return_index=True)[1] // 2
        found = np.array([row(n, trials.where(t)) for n, t in zip(names, first.tolist(), strict=True)])
        problems.raise_if_any()
        members = [[place] for place in found.tolist()]
        blocked = [[finder.unusable[name]] if name in finder.unusable else [] for name in names]
        # Two spellings of one segment are one enrolment.
        once = {place: code for code, place in reversed(list(enumerate(found.tolist()))) if place >= 0}
        same = np.array([once.get(place, code) for code, place in enumerate(found.tolist())])
        models, tests = same[codes[0::2]], codes[1::2]
    else:
        models, model_names = pd.factorize(both[0::2])
        first = np.unique(models, return_index=True)[1]
        members, blocked = [], []
        for name, trial in zip(model_names, first.tolist(), strict=True):
            members.append(_members(name, trials.where(trial), enrolments, row, problems))
            own = enrolments.get(name, ())
            blocked.append(list(dict.fromkeys(finder.unusable[n] for n in own if n in finder.unusable)))
        tests, names = pd.factorize(both[1::2])
        first = np.unique(tests, return_index=True)[1]
        found = np.array([row(n, trials.where(t)) for n, t in zip(names, first.tolist(), strict=True)])
        problems.raise_if_any()
    usable = np.array([not files for files in blocked], dtype=bool)
    test_files = [finder.unusable.get(names[code], "") for code in tests.tolist()]
    return _Sides(models, members, found[tests], usable, blocked, test_files)


def _members(
    model: str,
    where: str,
    enrolments: Mapping[str, Sequence[str]],
    row: Callable[[str, str], int],
    problems: Problems,
) -> list[int]:
    """Find the segments of an enrolment."""
    if model not in enrolments:
        what = f"there is no enrolment {quoted(model)}"
        example = f", such as {quoted(next(iter(enrolments)))}" if enrolments else ""
        problems.add(where, what, f"Give its utterances, or write the name of one that there is{example}")
        return []
    place = f"enrolment {quoted(model)}"
    known: dict[int, str] = {}
    rows = []
    for name in enrolments[model]:
        found = row(name, place)
        if found >= 0 and found in known:
            what = f"{quoted(known[found])} and {quoted(name)} mean the same segment"
            problems.add(place, what, "Keep one of them")
        known[found] = name
        rows.append(found)
    return rows


def _unusable(sides: _Sides) -> list[Excluded]:
    """List the files for which trials are left out, each with their number."""
    counts: Counter[str] = Counter()
    for trial in np.flatnonzero((sides.tests < 0) | ~sides.usable[sides.models]).tolist():
        own = {*sides.blocked[sides.models[trial]], sides.test_files[trial]}
        counts.update(own - {""})
    return [
        Excluded(name, f"{count} trial{'s' * (count > 1)} left out: the corpus cannot use the file", _STAGE)
        for name, count in sorted(counts.items())
    ]


def _shares(sides: _Sides, kind: np.ndarray) -> np.ndarray:
    """Tell which trials have something of the test side in their enrolment, bool ``(T,)``.

    ``kind`` is the number of what each row of the segment table has, int64.
    """
    own = [(model, row) for model, rows in enumerate(sides.members) for row in rows if row >= 0]
    models, rows = np.array(own, dtype=np.int64).reshape(-1, 2).T
    size = len(kind) + 1
    tests = np.where(sides.tests >= 0, kind[sides.tests], size - 1)
    return np.isin(sides.models.astype(np.int64) * size + tests, models * size + kind[rows])


# Speakers ---------------------------------------------------------------------------------------------------


def _speakers(
    trials: TrialList, segments: pd.DataFrame, sides: _Sides, kept: np.ndarray, problems: Problems
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Name the speakers of both sides of the trials that are kept, with notices."""
    rows = np.flatnonzero(kept)
    used = np.unique(sides.models[rows])
    if "speaker" not in segments.columns or segments["speaker"].isna().all():
        return _inferred(trials, segments, sides, rows, used)
    speakers = [None if pd.isna(speaker) else str(speaker) for speaker in segments["speaker"]]
    needed = {*sides.tests[rows].tolist(), *(row for model in used for row in sides.members[model])}
    for row in sorted(row for row in needed if speakers[row] is None):
        what = f"the corpus does not say who speaks in {quoted(segments['file'].iat[row])}"
        problems.add(trials.shown, what, "Fill in the column speaker, or remove the trials")
    of_model = {}
    for model in used.tolist():
        own = list(dict.fromkeys(speakers[row] for row in sides.members[model]))
        of_model[model] = own[0]
        if len(own) > 1:
            name = trials.enrol[int(np.argmax(sides.models == model))]
            what = f"its utterances are of {len(own)} speakers, {quoted(own[0])} and {quoted(own[1])}"
            problems.add(f"enrolment {quoted(name)}", what, "Enrol each speaker on her own")
    if len(problems):  # without speakers there is nothing to compare
        return [], [], ()
    enrol = [of_model[model] for model in sides.models[rows].tolist()]
    test = [speakers[row] for row in sides.tests[rows].tolist()]
    wrong = [
        n
        for n, (one, other, target) in enumerate(zip(enrol, test, trials.target[rows].tolist(), strict=True))
        if (one == other) != target
    ]
    for n in wrong:
        if trials.target[rows[n]]:
            what = f"the list says the same speaker, the corpus says {quoted(enrol[n])} and {quoted(test[n])}"
        else:
            what = f"the list says two speakers, the corpus says {quoted(enrol[n])} for both"
        problems.add(trials.where(int(rows[n])), what, "Correct the label, or the column speaker")
    return enrol, test, ()


def _inferred(
    trials: TrialList, segments: pd.DataFrame, sides: _Sides, rows: np.ndarray, used: np.ndarray
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Name the speakers of a corpus that names none."""
    table = segments[["file", "start", "end"]]
    untimed = table[["start", "end"]].isna().all(axis=1).tolist()
    names: dict[int, str] = {}
    for row in {*sides.tests[rows].tolist(), *(row for model in used for row in sides.members[model])}:
        names[row] = table["file"].iat[row] if untimed[row] else segment_name(*table.iloc[row])
    enrol = [names[sides.members[model][0]] for model in sides.models[rows].tolist()]
    test = [names[row] for row in sides.tests[rows].tolist()]
    # All utterances of an enrolment are of one speaker.
    own = [(sides.members[model][0], row) for model in used for row in sides.members[model][1:]]
    try:
        speakers, how = infer_speakers(
            [*enrol, *(names[one] for one, _ in own)],
            [*test, *(names[other] for _, other in own)],
            [*trials.target[rows].tolist(), *[True] * len(own)],
        )
    except ContradictionError as error:
        where = trials.where(int(rows[error.trial]))
        raise input_error(
            where, str(error), "Correct the label, or give the corpus a column speaker"
        ) from error
    return [speakers[name] for name in enrol], [speakers[name] for name in test], (how,)


# Notices ----------------------------------------------------------------------------------------------------


def _note(trials: TrialList, frame: pd.DataFrame, within: np.ndarray, sound: np.ndarray) -> tuple[str, ...]:
    """Say what a reader of results must know about a list."""
    targets = int(frame["target"].sum())
    size = f"{_many(len(frame), 'trial')}, {targets} of one speaker"
    notices = [f"{trials.shown} is read as {trials.form}: {size}"]
    repeated = frame.duplicated(["enrolment", "segment"]).to_numpy()
    for which, one, many in (
        (repeated, "repeats an earlier one and counts again", "repeat earlier ones and count again"),
        (within, "tests an utterance of its own enrolment", "test an utterance of their own enrolment"),
        (sound, "compares the same sound under two names", "compare the same sound under two names"),
    ):
        if which.any():
            notices.append(f"{_count(which, 'trial')} {one if which.sum() == 1 else many}")
    return tuple(notices)


def _count(which: np.ndarray, noun: str) -> str:
    return _many(int(which.sum()), noun)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
