"""Trials between segments of a corpus: which is compared with which, in memory and as a file.

- A trial compares an enrolment, one or several segments of a speaker, with one segment, the test side.
- Names mean segments as :mod:`soundcheck.corpora.utterances` says; a timed segment also has its name with
  times, ``a.wav 0 to 1.5``.
- A name that means nothing, or several segments, is an error. Trials of files that the corpus lists but
  cannot use are left out and listed.
- A trial of an utterance with itself is left out: every model accepts it.
- Labels and speakers must agree.
- Without speakers the trials tell who speaks, as also for corpora that are a list of trials.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.messages import (
    EACH,
    Problems,
    counted,
    input_error,
    nearest,
    quoted,
    told_apart,
)
from soundcheck.corpora import repeats
from soundcheck.corpora.raw_table import Excluded, RawTable
from soundcheck.corpora.trials.trial_files import Listing, read_enrolments, read_trials
from soundcheck.corpora.utterances import UtteranceNames, matched_by_less, plain_path, segment_name
from soundcheck.suite.entries import CorpusEntry

LISTED = "list"  # origin of trials that a corpus brings
_COLUMNS = ("key", "enrol", "test", "target", "enrolment", "segment", "enrol_speaker", "test_speaker")
_TEXTS = ("key", "enrol", "test", "enrol_speaker", "test_speaker")


@dataclasses.dataclass(frozen=True, eq=False)
class TrialTable:
    """Trials whose segments are known."""

    # RangeIndex, one row a trial. Columns: ``key`` (number in the list, counted from 0 with what is left out,
    # as text; unique), ``enrol``, ``test`` (names as written), ``target`` (bool), ``enrolment`` (int64; its
    # number), ``segment`` (int64; row of the test side in the segment table), ``enrol_speaker``,
    # ``test_speaker`` (text). Text is of dtype object.
    frame: pd.DataFrame
    members: np.ndarray  # rows of the segment table that enrolments are made of, int64 ``(M,)``
    # number of the enrolment of each, ascending from 0 without gap, int64 ``(M,)``; each is in a trial
    member_of: np.ndarray
    origin: str  # ``"list"`` or ``"generated"``
    notices: tuple[str, ...] = ()  # what a reader of results must know
    left_out: tuple[Excluded, ...] = ()  # trials that are not evaluated, summed up by reason
    listed: int = 0  # how many trials the list has, with those that are left out

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def numbers(self) -> np.ndarray:
        """Number of each trial in the list, int64 ``(T,)``."""
        return self.frame["key"].to_numpy().astype(np.int64)


def of_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Order the columns of a frame of trials, and make their text that of objects."""
    return frame[[*_COLUMNS]].astype(dict.fromkeys(_TEXTS, object))


def segment_names(segments: pd.DataFrame, rows: np.ndarray) -> dict[int, str]:
    """Name rows of a segment table: the file, with times if it has any."""
    table = segments[["file", "start", "end"]].iloc[rows]
    return {row: segment_name(*cells) for row, cells in zip(rows.tolist(), table.to_numpy(), strict=True)}


def write_table(path: str | os.PathLike, table: TrialTable) -> str:
    """Write trials as Parquet; the same trials give the same bytes.

    The rows of an enrolment stand in the column ``members`` of its first trial, a list that is empty in all
    others; everything else about the table is in the file's metadata.
    """
    members = np.split(table.members, np.flatnonzero(np.diff(table.member_of)) + 1)
    enrolments = table.frame["enrolment"]
    lists = [
        [] if again else members[number]
        for number, again in zip(enrolments, enrolments.duplicated(), strict=True)
    ]
    frame = table.frame.assign(members=pd.Series(lists, index=table.frame.index, dtype=object))
    frame.attrs = {name: getattr(table, name) for name in ("origin", "notices", "listed")}
    frame.attrs["left_out"] = [dataclasses.astuple(item) for item in table.left_out]
    return files.write_bytes(path, frame.to_parquet(None, index=False, compression="zstd"))


def read_table(path: str | os.PathLike) -> TrialTable:
    """Read what :func:`write_table` wrote."""
    frame = pd.read_parquet(path)
    about, frame.attrs = frame.attrs, {}
    rows = frame.pop("members")
    of_enrolment = rows[rows.map(len) > 0].groupby(frame["enrolment"]).first()
    return TrialTable(
        frame.astype(dict.fromkeys(frame.select_dtypes("str"), object)),
        np.concatenate([np.zeros(0, np.int64), *of_enrolment]),
        np.repeat(of_enrolment.index.to_numpy(np.int64), of_enrolment.map(len)),
        about["origin"],
        tuple(about["notices"]),
        tuple(Excluded(*item) for item in about["left_out"]),
        about["listed"],
    )


# Speakers, told from trials alone ---------------------------------------------------------------------------


def infer_speakers(
    enrol: Sequence[str],
    test: Sequence[str],
    target: Sequence[bool],
    together: Sequence[tuple[str, str]] = (),
    where: Callable[[int], str] = str,
    remedy: str = "",
) -> tuple[dict[str, str], str]:
    """Tell from trials alone who speaks: name -> speaker, and how they were found, a sentence for a notice.

    If the names have folders, the first one in which they differ is the speaker, as long as that fits all
    labels: the same folder in target trials, two in all others. Otherwise a speaker is what target trials
    connect, named like the first of it in the alphabet. Such speakers may be too many: nothing says that two
    recordings without target trial are of one person.

    - ``target``: whether one person speaks; ``together``: further pairs of names of one person each.
    - ``where, remedy``: say for messages where a trial stands, given its number, and what to do.
    - Raises InputError: if a trial says two speakers, and target trials connect its sides.
    """
    enrol, test = [*enrol, *(first for first, _ in together)], [*test, *(second for _, second in together)]
    target = np.array([*target, *[True] * len(together)], dtype=bool)
    codes, names = pd.factorize(np.array([*enrol, *test], dtype=object))
    first, second = codes[: len(target)], codes[len(target) :]
    if folders := _folders(names.tolist()):
        numbers = pd.factorize(np.array(folders, dtype=object))[0]
        if np.array_equal(numbers[first] == numbers[second], target):
            how = "speakers are taken from the folders of the files, which fit all labels"
            return dict(zip(names, folders, strict=True)), f"{how}: {counted(len(set(folders)), 'speaker')}"
    group = repeats.together(codes.reshape(2, -1).T[target], len(names))
    against = np.flatnonzero(~target & (group[first] == group[second]))
    if len(against):
        trial = int(against[0])
        one, other = quoted(names[first[trial]]), quoted(names[second[trial]])
        text = f"a trial says that {one} and {other} are two speakers, other trials that they are one"
        if one == other:
            text = f"a trial compares {one} with itself and says two speakers"
        raise input_error(where(trial), text, remedy)
    named = pd.Series(names).groupby(group).min()
    how = "speakers are inferred from the labels, files that target trials connect are one speaker"
    doubt = "if some are the same person, intervals are too narrow"
    speakers = dict(zip(names, named[group], strict=True))
    return speakers, f"{how}: {counted(len(named), 'speaker')}; {doubt}"


def _folders(names: Sequence[str]) -> list[str]:
    """Give the first folder of each name in which they differ; empty if not all have one."""
    paths = [plain_path(name).split("/")[:-1] for name in names]
    common = len(os.path.commonprefix([min(paths, default=[]), max(paths, default=[])]))
    return [path[common] for path in paths] if all(len(path) > common for path in paths) else []


def read_trial_corpus(entry: CorpusEntry, _: object = None) -> RawTable:
    """List the files of a trial list with their speakers.

    Raises InputError: if the list or the enrolments cannot be read, or contradict themselves.
    """
    trials = read_trials(entry.path, entry.shown_path, entry.layout)
    enrolments = read_enrolments(entry.enrolments, entry.shown_enrolments) if entry.enrolments else {}
    # An enrolled speaker stands for the first utterance; the others are of the same speaker.
    first = trials.frame["enrol"].map(lambda name: enrolments.get(name, [name])[0])
    test = trials.frame["test"]
    together = [(names[0], name) for names in enrolments.values() for name in names[1:]]
    remedy = "Correct the label, or give a CSV corpus with a column speaker and the list as `trials:`"
    speakers, how = infer_speakers(
        first, test, trials.frame["target"], together, lambda trial: trials.where(test.index[trial]), remedy
    )
    mentions = pd.concat([first, test]).sort_index(kind="stable").drop_duplicates()  # line by line
    where = {name: trials.where(line) for line, name in mentions.items()}
    for name in (name for names in enrolments.values() for name in names):
        where[name] = f"{entry.shown_enrolments}, utterance {name}"
    table = pd.DataFrame({"file": list(where), "speaker": [speakers[name] for name in where]}, dtype=object)
    root = entry.root or entry.path.parent
    return RawTable(table, list(where.values()), root, entry.shown_path, notices=(how,))


# Names ------------------------------------------------------------------------------------------------------

_STAGE = "trials"

Members = Sequence[Sequence[int]]  # rows of the segment table that each enrolment is made of


def resolve(
    trials: Listing,
    segments: pd.DataFrame,
    *,
    enrolments: Mapping[str, Sequence[str]] | None = None,
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
    problems, frame = Problems(), trials.frame.rename_axis("line").reset_index()
    utterances: dict[str, Sequence[str]] = {}  # name on the enrolment side -> names that it stands for
    places: dict[str, str] = {}  # name of an utterance -> where it stands first
    for line, name in trials.frame["enrol"].drop_duplicates().items():
        where = trials.where(line)
        utterances[name] = [name]
        if enrolments is not None:
            utterances[name] = enrolments.get(name, [])
            if name not in enrolments:
                remedy = f"Write the name of one that there is, such as {quoted(next(iter(enrolments)))}"
                problems.add(where, f"there is no enrolment {quoted(name)}", remedy)
            where = f"enrolment {quoted(name)}"
        for utterance in utterances[name]:
            places.setdefault(utterance, where)
    for line, name in trials.frame["test"].drop_duplicates().items():
        places.setdefault(name, trials.where(line))
    row_of, unusable = _find_rows(places, segments, elsewhere, left_out, problems)
    for name, enrolled in utterances.items():
        first = {}
        for utterance in enrolled:
            row = row_of[utterance]
            if first.setdefault(row, utterance) != utterance and row >= 0:
                what = f"{quoted(first[row])} and {quoted(utterance)} mean the same segment"
                remedy = "Look whether one of them means another file; else remove it"
                problems.add(f"enrolment {quoted(name)}", what, remedy)
    problems.raise_if_any()
    rows_of = {name: [row_of[utterance] for utterance in names] for name, names in utterances.items()}
    # Two spellings of one segment are one enrolment.
    first = {name: name if enrolments or rows[0] < 0 else rows[0] for name, rows in rows_of.items()}
    frame["enrolment"], _ = pd.factorize(frame["enrol"].map(first).to_numpy(dtype=object))
    members = [rows_of[name] for name in frame.drop_duplicates("enrolment")["enrol"]]
    frame["segment"] = frame["test"].map(row_of).astype(np.int64)
    usable = (frame["segment"] >= 0) & np.array([min(rows) >= 0 for rows in members])[frame["enrolment"]]
    within = usable & _shares(frame, members, np.arange(len(segments)))
    itself = within & frame["target"] & np.array([len(rows) == 1 for rows in members])[frame["enrolment"]]
    excluded = _excluded(frame[~usable], utterances, unusable)
    if itself.any():
        reason = "an utterance is compared with itself: every model accepts it"
        item = f"{counted(itself.sum(), 'trial')}, the first {trials.where(frame['line'][itself.idxmax()])}"
        excluded.append(Excluded(item, reason, _STAGE))
    frame, within = frame[usable & ~itself], within[usable & ~itself].to_numpy()
    if frame.empty:
        reasons = "; ".join(dict.fromkeys(item.reason for item in excluded))
        remedy = "Give trials of files that can be used"
        raise input_error(trials.source, f"no trial is left ({reasons})", remedy)
    numbers, used = pd.factorize(frame["enrolment"])
    members = [members[number] for number in used.tolist()]
    frame = frame.assign(key=frame.index.astype(str), enrolment=numbers).reset_index(drop=True)
    known = "speaker" in segments.columns and segments["speaker"].notna().any()
    add_speakers = _add_known_speakers if known else _add_inferred_speakers
    notices = add_speakers(trials, segments, frame, members)
    sounds = pd.factorize(segments["audio"], use_na_sentinel=False)[0]
    same_sound = _shares(frame, members, sounds) & ~within
    names = segments["file"].tolist()
    spellings = {(name, names[row]) for name, row in row_of.items() if row >= 0}
    loose = matched_by_less(spellings, trials.source, ids=True)
    return TrialTable(
        of_columns(frame),
        np.array([row for rows in members for row in rows], dtype=np.int64),
        np.repeat(np.arange(len(members), dtype=np.int64), [len(rows) for rows in members]),
        LISTED,
        (*_notices(trials, frame, within, same_sound), *notices, *loose),
        tuple(excluded),
        len(trials),
    )


def _find_rows(
    places: Mapping[str, str],
    segments: pd.DataFrame,
    elsewhere: Collection[str],
    left_out: Collection[str],
    problems: Problems,
) -> tuple[dict[str, int], dict[str, str]]:
    """Find the rows of names among the segments, files that cannot be used and those of other splits.

    - ``places``: name -> where it stands.
    - Returns name -> row, -1 if the file cannot be used or a problem is noted; and name -> such a file.
    """
    usable = segments["file"].tolist()
    unusable = sorted({*left_out} - {*usable})
    listed = [*usable, *unusable, *sorted({*elsewhere} - {*usable, *unusable})]
    columns = segments.columns.intersection(["start", "end", "speaker", "item"])
    finder = UtteranceNames(pd.DataFrame({"file": listed}, dtype=object).join(segments[columns]))
    timed: dict[str, list[int]] = {}  # names of segments with times -> their rows
    with_times = np.flatnonzero(segments[["start", "end"]].notna().any(axis=1))
    for row, name in segment_names(segments, with_times).items():
        timed.setdefault(name, []).append(row)
    row_of, files_of = dict.fromkeys(places, -1), {}
    for (name, where), rows in zip(places.items(), finder.find([*places]), strict=True):
        rows = rows or timed.get(name, [])
        if not rows:
            near = nearest(name, listed[:2000]) if len(problems) < EACH else ""  # which takes its time
            unknown, example = told_apart(name, near or listed[0])
            remedy = f"Write files as the corpus does, such as {example}"
            problems.add(where, f"no segment is called {unknown}", remedy)
        elif rows[0] < len(usable) and len(rows) > 1:
            what = f"{quoted(name)} could mean {finder.meanings(rows)}"
            remedy = f"Write the one that is meant, such as {finder.meanings(rows[:1])}"
            problems.add(where, what, f"{remedy}; names with blanks need a CSV table")
        elif rows[0] < len(usable):
            row_of[name] = rows[0]
        elif rows[-1] < len(usable) + len(unusable):
            files_of[name] = listed[rows[0]]
        else:
            what = f"{quoted(name)} is a file of another split"
            problems.add(where, what, "Set `split: all` for the corpus")
    return row_of, files_of


def _excluded(
    frame: pd.DataFrame, utterances: Mapping[str, Sequence[str]], unusable: Mapping[str, str]
) -> list[Excluded]:
    """List the files for which trials are left out."""
    counts: Counter[str] = Counter()
    for row in frame.itertuples():
        counts.update({unusable[name] for name in (*utterances[row.enrol], row.test) if name in unusable})
    reason = "left out: the corpus cannot use the file"
    return [Excluded(name, f"{counted(n, 'trial')} {reason}", _STAGE) for name, n in sorted(counts.items())]


def _add_known_speakers(
    trials: Listing, segments: pd.DataFrame, frame: pd.DataFrame, members: Members
) -> tuple[str, ...]:
    """Add the speakers of a corpus to both sides of trials, and compare them with the labels."""
    problems = Problems()
    speakers = np.array([None if pd.isna(who) else str(who) for who in segments["speaker"]], dtype=object)
    for row in _used(frame, members):
        if speakers[row] is None:
            what = f"the corpus does not say who speaks in {quoted(segments['file'].iat[row])}"
            problems.add(trials.source, what, "Fill in the column speaker, or remove the trials")
    for number, rows in enumerate(members):
        people = list(dict.fromkeys(speakers[rows]))
        if len(people) > 1:
            name = frame["enrol"].iat[int(np.argmax(frame["enrolment"] == number))]
            two = f"{quoted(people[0])} and {quoted(people[1])}"
            what = f"its utterances are of {len(people)} speakers, {two}"
            problems.add(f"enrolment {quoted(name)}", what, "Enrol each speaker separately")
    problems.raise_if_any()
    first = speakers[[rows[0] for rows in members]]
    frame["enrol_speaker"], frame["test_speaker"] = first[frame["enrolment"]], speakers[frame["segment"]]
    for row in frame[frame["target"] != (frame["enrol_speaker"] == frame["test_speaker"])].itertuples():
        label = "the same speaker" if row.target else "two speakers"
        both = f"{quoted(row.enrol_speaker)} and {quoted(row.test_speaker)}"
        what = f"the list says {label}, the corpus says {both}"
        problems.add(trials.where(row.line), what, "Correct the label, or the column speaker")
    problems.raise_if_any()
    return ()


def _add_inferred_speakers(
    trials: Listing, segments: pd.DataFrame, frame: pd.DataFrame, members: Members
) -> tuple[str, ...]:
    """Add speakers that follow from the trials alone, and say how."""
    names = segment_names(segments, _used(frame, members))
    enrol = [names[members[number][0]] for number in frame["enrolment"]]
    test = [names[row] for row in frame["segment"]]
    # All utterances of an enrolment are of the same speaker.
    together = [(names[rows[0]], names[row]) for rows in members for row in rows[1:]]
    remedy = "Correct the label, or give the corpus a column speaker"
    speakers, how = infer_speakers(
        enrol, test, frame["target"], together, lambda trial: trials.where(frame["line"][trial]), remedy
    )
    for side, written in (("enrol_speaker", enrol), ("test_speaker", test)):
        frame[side] = [speakers[name] for name in written]
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


def _notices(trials: Listing, frame: pd.DataFrame, within: np.ndarray, sound: np.ndarray) -> tuple[str, ...]:
    """Say what a reader of results must know about a list."""
    targets = int(frame["target"].sum())
    size = f"{counted(len(frame), 'trial')}, {targets} target and {len(frame) - targets} non-target"
    repeated = frame.duplicated(["enrolment", "segment"]).to_numpy()
    odd = {
        "repeated in the list, counted again": repeated,
        "with a test side out of the enrolment": within,
        "of one sound under two names": sound,
    }
    kinds = [f"{counted(which.sum(), 'trial')} {what}" for what, which in odd.items() if which.any()]
    return (f"{trials.source} is read as {trials.form}: {size}", *kinds)
