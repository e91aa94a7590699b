"""Trials between segments of a corpus: which is compared with which, and whether the same speaker speaks.

- A trial compares an enrolment, one or several segments of a speaker, with one segment, the test side.
- Names mean segments as :mod:`soundcheck.corpora.utterances` says; a timed segment also has its name with
  times, ``a.wav 0 to 1.5``.
- A name that means nothing, or several segments, is an error. Trials of files that the corpus lists but
  cannot use are left out and listed.
- A trial of an utterance with itself is left out: every model accepts it.
- Labels and speakers must agree.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.errors import Problems, input_error, nearest
from soundcheck.common.escaping import quoted, told_apart
from soundcheck.common.wording import counted
from soundcheck.corpora.raw_table import Excluded
from soundcheck.corpora.trials.speakers import ContradictionError, infer_speakers
from soundcheck.corpora.trials.trial_files import Listing
from soundcheck.corpora.trials.trial_table import LISTED, TrialTable, segment_names
from soundcheck.corpora.utterances import UtteranceNames, matched_by_less

_STAGE = "trials"

Enrolments = Mapping[str, Sequence[str]]  # names of utterances that each name stands for
Members = Sequence[Sequence[int]]  # rows of the segment table that each enrolment is made of


def resolve(
    trials: Listing,
    segments: pd.DataFrame,
    *,
    enrolments: Enrolments | None = None,
    elsewhere: Collection[str] = (),
    left_out: Collection[str] = (),
) -> TrialTable:
    """Find the segments of a list of trials; the result is in the order of the list.

    - ``trials``: see :func:`soundcheck.corpora.trials.trial_files.read_trials`.
    - ``segments``: segment table with columns ``file``, ``start``, ``end``, ``audio``, perhaps ``speaker``;
      without speakers they are inferred.
    - ``enrolments``: names of the utterances that each name on the enrolment side stands for; by default
      itself.
    - ``elsewhere``: files of other splits. ``left_out``: files that the corpus lists and that cannot be used.
    - Raises InputError: if a name means no segment, one of another split or several; if an enrolment is not
      known or has several speakers or one segment twice; if a label contradicts the speakers; if no trial is
      left.
    """
    resolver = _Resolver(trials, segments, elsewhere, left_out)
    problems, frame = resolver.problems, trials.frame.rename_axis("line").reset_index()
    utterances = {name: [name] for name in frame["enrol"].unique()} if enrolments is None else enrolments
    rows_of = resolver.find_all(utterances, enrolments is not None)
    problems.raise_if_any()
    names = frame["enrol"]
    if enrolments is None:  # two spellings of one segment are one enrolment
        first: dict[int, str] = {}
        same = {n: first.setdefault(rows[0], n) if rows[0] >= 0 else n for n, rows in rows_of.items()}
        names = names.map(same)
    frame["enrolment"], called = pd.factorize(names.to_numpy(dtype=object))
    frame["segment"] = frame["test"].map(resolver.rows).astype(np.int64)
    members = [rows_of[name] for name in called]
    usable = (frame["segment"] >= 0) & np.array([min(rows) >= 0 for rows in members])[frame["enrolment"]]
    within = usable & _shares(frame, members, np.arange(len(segments)))
    itself = within & np.array([len(rows) == 1 for rows in members])[frame["enrolment"]]
    excluded = resolver.excluded(frame, utterances, usable, itself)
    for row in frame[itself & ~frame["target"]].itertuples():
        what = f"the trial compares {quoted(row.test)} with itself and says two speakers"
        problems.add(trials.where(row.line), what, "Correct the label or remove the line")
    frame, within = frame[usable & ~itself], within[usable & ~itself]
    if not len(problems) and frame.empty:
        reasons = "; ".join(dict.fromkeys(item.reason for item in excluded))
        remedy = "Give trials of files that can be used"
        raise input_error(trials.source, f"no trial is left ({reasons})", remedy)
    numbers, used = pd.factorize(frame["enrolment"])
    members = [members[number] for number in used.tolist()]
    frame = frame.assign(key=frame.index.astype(str), enrolment=numbers).reset_index(drop=True)
    known = "speaker" in segments.columns and segments["speaker"].notna().any()
    notices = (resolver.add_speakers if known else resolver.infer_speakers)(frame, members)
    problems.raise_if_any()
    sounds = pd.factorize(segments["audio"], use_na_sentinel=False)[0]
    same_sound = _shares(frame, members, sounds) & ~within.to_numpy()
    texts = ["key", "enrol", "test", "enrol_speaker", "test_speaker"]
    columns = [*texts[:3], "target", "enrolment", "segment", *texts[3:]]
    return TrialTable(
        frame[columns].astype(dict.fromkeys(texts, object)),
        np.array([row for rows in members for row in rows], dtype=np.int64),
        np.repeat(np.arange(len(members), dtype=np.int64), [len(rows) for rows in members]),
        LISTED,
        (*_notices(trials, frame, within, same_sound), *notices, *resolver.loose_names()),
        tuple(excluded),
        len(trials),
    )


class _Resolver:
    """Finds the rows of names among the segments, files that cannot be used and those of other splits."""

    def __init__(
        self, trials: Listing, segments: pd.DataFrame, elsewhere: Collection[str], left_out: Collection[str]
    ) -> None:
        self.trials, self.segments, self.problems = trials, segments, Problems()
        usable = segments["file"].tolist()
        unusable = sorted(set(left_out).difference(usable))
        others = sorted(set(elsewhere).difference(usable, unusable))
        self._files = [*usable, *unusable, *others]
        self._usable, self._known = len(usable), len(usable) + len(unusable)
        columns = segments.columns.intersection(["start", "end", "speaker", "item"])
        everything = pd.DataFrame({"file": pd.Series(self._files, dtype=object)}).join(segments[columns])
        self._names = UtteranceNames(everything)
        self.rows: dict[str, int] = {}
        self.unusable: dict[str, str] = {}  # name -> file that cannot be used

    def find(self, name: str, where: str) -> int:
        """Find a row, once; -1 if its file cannot be used or a problem is noted."""
        if name not in self.rows:
            self.rows[name] = self._find(name, where)
        return self.rows[name]

    def _find(self, name: str, where: str) -> int:
        rows = self._names.find([name])[0] or self._timed.get(name, [])
        if not rows:
            unknown, example = told_apart(name, nearest(name, self._files[:2000]) or self._files[0])
            remedy = f"Write files as the corpus does, such as {example}"
            self.problems.add(where, f"no segment is called {unknown}", remedy)
        elif rows[0] < self._usable and len(rows) == 1:
            return rows[0]
        elif rows[0] < self._usable:
            what = f"{quoted(name)} could mean {self._names.meanings(rows)}"
            remedy = f"Write the one that is meant, such as {self._names.meanings(rows[:1])}"
            self.problems.add(where, what, f"{remedy}; names with blanks need a CSV table")
        elif rows[-1] < self._known:
            self.unusable[name] = self._files[rows[0]]
        else:
            what = f"{quoted(name)} is a file of another split"
            self.problems.add(where, what, "Set `split: all` for the corpus")
        return -1

    @functools.cached_property
    def _timed(self) -> dict[str, list[int]]:
        """Names of segments with times -> their rows."""
        rows: dict[str, list[int]] = {}
        timed = np.flatnonzero(self.segments[["start", "end"]].notna().any(axis=1))
        for row, name in segment_names(self.segments, timed).items():
            rows.setdefault(name, []).append(row)
        return rows

    def loose_names(self) -> list[str]:
        """Say which names are found by less than the whole path of their file."""
        pairs = {(name, self._files[row]) for name, row in self.rows.items() if row >= 0}
        return matched_by_less(pairs, self.trials.source, ids=True)

    def find_all(self, utterances: Enrolments, are_enrolled: bool) -> dict[str, list[int]]:
        """Find what all names mean, line by line; gives the rows of each name that is enrolled."""
        rows: dict[str, list[int]] = {}
        names = [self.trials.frame[side].drop_duplicates() for side in ("enrol", "test")]
        for (line, name), is_test in sorted(
            [(item, side == 1) for side in (0, 1) for item in names[side].items()], key=lambda one: one[0][0]
        ):
            where = self.trials.where(line)
            if is_test:
                self.find(name, where)
            elif name not in utterances:
                what = f"there is no enrolment {quoted(name)}"
                example = f", such as {quoted(next(iter(utterances)))}" if utterances else ""
                remedy = f"Give its utterances, or write the name of one that there is{example}"
                self.problems.add(where, what, remedy)
            else:
                where = f"enrolment {quoted(name)}" if are_enrolled else where
                rows[name] = [self.find(utterance, where) for utterance in utterances[name]]
                first: dict[int, str] = {}
                for utterance, row in zip(utterances[name], rows[name], strict=True):
                    if first.setdefault(row, utterance) != utterance and row >= 0:
                        what = f"{quoted(first[row])} and {quoted(utterance)} mean the same segment"
                        remedy = "Look whether one of them means another file; else remove it"
                        self.problems.add(where, what, remedy)
        return rows

    def excluded(
        self, frame: pd.DataFrame, utterances: Enrolments, usable: pd.Series, itself: pd.Series
    ) -> list[Excluded]:
        """List the trials that are left out by their reason."""
        counts: Counter[str] = Counter()
        for row in frame[~usable].itertuples():
            names = self.unusable.keys() & {*utterances[row.enrol], row.test}
            counts.update({self.unusable[name] for name in names})
        reason = "left out: the corpus cannot use the file"
        listed = sorted(counts.items())
        excluded = [Excluded(name, f"{counted(n, 'trial')} {reason}", _STAGE) for name, n in listed]
        if itself.any():
            reason = "an utterance is compared with itself: every model accepts it"
            first = self.trials.where(frame["line"][itself.idxmax()])
            excluded.append(Excluded(f"{counted(itself.sum(), 'trial')}, the first {first}", reason, _STAGE))
        return excluded

    def add_speakers(self, frame: pd.DataFrame, members: Members) -> tuple[str, ...]:
        """Add the speakers of a corpus to both sides of trials, and compare them with the labels."""
        known = [None if pd.isna(who) else str(who) for who in self.segments["speaker"]]
        speakers = np.array(known, dtype=object)
        for row in _used(frame, members):
            if speakers[row] is None:
                what = f"the corpus does not say who speaks in {quoted(self.segments['file'].iat[row])}"
                self.problems.add(
                    self.trials.source, what, "Fill in the column speaker, or remove the trials"
                )
        for number, rows in enumerate(members):
            people = list(dict.fromkeys(speakers[rows]))
            if len(people) > 1:
                name = frame["enrol"].iat[int(np.argmax(frame["enrolment"] == number))]
                two = f"{quoted(people[0])} and {quoted(people[1])}"
                what = f"its utterances are of {len(people)} speakers, {two}"
                self.problems.add(f"enrolment {quoted(name)}", what, "Enrol each speaker separately")
        first = speakers[[rows[0] for rows in members]]
        frame["enrol_speaker"], frame["test_speaker"] = first[frame["enrolment"]], speakers[frame["segment"]]
        if len(self.problems):  # without speakers there is nothing to compare
            return ()
        for row in frame[frame["target"] != (frame["enrol_speaker"] == frame["test_speaker"])].itertuples():
            what = f"the list says two speakers, the corpus says {quoted(row.enrol_speaker)} for both"
            if row.target:
                both = f"{quoted(row.enrol_speaker)} and {quoted(row.test_speaker)}"
                what = f"the list says the same speaker, the corpus says {both}"
            self.problems.add(self.trials.where(row.line), what, "Correct the label, or the column speaker")
        return ()

    def infer_speakers(self, frame: pd.DataFrame, members: Members) -> tuple[str, ...]:
        """Add speakers that follow from the trials alone, and say how."""
        names = segment_names(self.segments, _used(frame, members))
        enrol = [names[members[number][0]] for number in frame["enrolment"]]
        test = [names[row] for row in frame["segment"]]
        # All utterances of an enrolment are of the same speaker.
        together = [(names[rows[0]], names[row]) for rows in members for row in rows[1:]]
        try:
            speakers, how = infer_speakers(enrol, test, frame["target"].tolist(), together)
        except ContradictionError as error:
            remedy = "Correct the label, or give the corpus a column speaker"
            self.problems.add(self.trials.where(frame["line"][error.trial]), str(error), remedy)
            return ()
        frame["enrol_speaker"] = [speakers[name] for name in enrol]
        frame["test_speaker"] = [speakers[name] for name in test]
        return (how,)


def _shares(frame: pd.DataFrame, members: Members, kind: np.ndarray) -> np.ndarray:
    """Tell which trials have something of the test side in their enrolment, bool ``(T,)``.

    ``kind``: number of what each row of the segment table has, int64.
    """
    pairs = [(number, row) for number, rows in enumerate(members) for row in rows]
    numbers, rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    tested = frame["enrolment"].to_numpy() * len(kind) + kind[frame["segment"]]
    return np.isin(tested, numbers * len(kind) + kind[rows])


def _used(frame: pd.DataFrame, members: Members) -> np.ndarray:
    """List the rows of the segment table that trials need."""
    return np.unique([*frame["segment"].unique(), *(row for rows in members for row in rows)])


def _notices(trials: Listing, frame: pd.DataFrame, within: pd.Series, sound: np.ndarray) -> tuple[str, ...]:
    """Say what a reader of results must know about a list."""
    targets = int(frame["target"].sum())
    size = f"{counted(len(frame), 'trial')}, {targets} target and {len(frame) - targets} non-target"
    notices = [f"{trials.source} is read as {trials.form}: {size}"]
    repeated = frame.duplicated(["enrolment", "segment"]).to_numpy()
    for which, one, many in (
        (repeated, "repeats an earlier one and counts again", "repeat earlier ones and count again"),
        (within, "tests an utterance of its own enrolment", "test an utterance of their own enrolment"),
        (sound, "compares the same sound under two names", "compare the same sound under two names"),
    ):
        if which.any():
            notices.append(f"{counted(which.sum(), 'trial')} {one if which.sum() == 1 else many}")
    return tuple(notices)
