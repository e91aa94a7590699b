"""Scores of trials that were computed elsewhere: ``scores: file`` in a suite.

Higher scores mean more alike; with ``distances: true`` lower ones do, and their signs are turned.

They belong to the trials of the corpora that bring a list of them, one score for each trial. Layouts are
those of :mod:`soundcheck.corpora.trials.trial_files`; which side of a trial a name means says
:mod:`soundcheck.corpora.utterances`. Labels beside the scores have to be those of the list.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import files
from soundcheck.common.messages import Problems, input_error, quoted, told_apart
from soundcheck.common.tasks import EMBEDDING, REGRESSION, Task
from soundcheck.corpora.utterances import UtteranceNames
from soundcheck.models.base import LookUpModel
from soundcheck.models.tables.rows import compared, used_by
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelKeys
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    import pandas as pd

    from soundcheck.corpora.load import Corpus
    from soundcheck.corpora.trials.trial_files import Listing
    from soundcheck.corpora.trials.trial_table import TrialTable
    from soundcheck.suite.entries import ModelEntry, Suite

PAIR = ["enrol", "test"]
SCORE = Task("score", REGRESSION, low=-np.inf, high=np.inf)


class ScoreKeys(ModelKeys):
    """Keys of a file of scores; with ``distances``, lower numbers mean more alike."""

    distances: schema.Boolean = False


class ScoreModel(LookUpModel):
    """Scores from a file; ``fingerprint`` is the digest of it, and of how it is read."""

    keyword = "scores"
    keys = ScoreKeys
    only_task = EMBEDDING, "scores of trials are all that the file holds"
    changes_audio = False
    for_trials = True

    def __init__(self, entry: ModelEntry, suite: Suite) -> None:
        from soundcheck.corpora.trials.trial_files import read_scores

        self._entry, self._scores = entry, read_scores(entry.path, entry.target)
        distances, frame = entry.options.get("distances", False), self._scores.frame
        if distances:
            self._scores = dataclasses.replace(self._scores, frame=frame.assign(score=-frame["score"]))
        self.fingerprint = files.digest(f"{files.digest(entry.path)} {distances}")

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Find the file."""
        return find_place(suite_file, target, folder=False)

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Give the scores of all trials of a corpus; raises InputError if some have none."""
        if change:
            raise ValueError("scores cannot answer for changed signals")
        scores = scores_of_trials(self._scores, corpus.trials)
        return {SCORE.name: scores}, [""] * len(scores)

    def input_keys(self, corpus: Corpus) -> np.ndarray:
        """Give the keys of the trials of a corpus."""
        return corpus.trials.frame["key"].to_numpy()

    def table_tasks(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Name the column of scores."""
        return (SCORE,)

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Compare the file with the trials of all corpora that it is for.

        Raises InputError if trials have no score, no corpus has trials, or several do and the file does not
        name them.
        """
        users = [corpus for corpus in corpora if self._entry.listens_to(corpus.entry)]
        where, scores, source = f"models.{self._entry.name}", self._scores, self._entry.target
        if corpora and not users:
            remedy = "Add `trials: file` to a corpus, or a corpus with `format: trials`"
            raise input_error(where, "no corpus that it is asked about brings a list of trials", remedy)
        if len(users) > 1 and "enrol" not in scores.frame:
            what = "the file has one score a line, and several corpora have trials"
            raise input_error(where, what, f"Name the one that they are for: corpora: [{users[0].name}]")
        if not users:
            return []
        used, frame = used_by(users, lambda corpus: _uses(corpus, _find(scores, corpus.trials))), scores.frame
        extra = len(frame) - used["number"].nunique()
        belong = "score belongs" if extra == 1 else "scores belong"
        notices = [f"{extra} {belong} to no trial that is evaluated"] * bool(extra)
        if "..." in scores.form:
            notices.append(f"{source} is read as {scores.form}; other columns are not used")
        for side in PAIR if "enrol" in frame else ():
            uses, names = used.assign(file=used[side]), frame[side].tolist()
            notices += compared(
                uses, names, lambda number: scores.where(frame.index[number]), source, are_ids=True
            )
        return list(dict.fromkeys(notices))


def scores_of_trials(scores: Listing, trials: TrialTable) -> np.ndarray:
    """Give each trial its score, float64 ``(T,)``.

    Raises InputError if a trial has no score, all of them at once; if labels contradict those of the list; if
    the order of lines counts, and there are not as many scores as trials in the list.
    """
    return scores.frame["score"].to_numpy()[_find(scores, trials)]


def _find(scores: Listing, trials: TrialTable) -> np.ndarray:
    """Find the place of each trial's score, int64 ``(T,)``; see :func:`scores_of_trials`."""
    frame = scores.frame
    if "enrol" not in frame:
        if trials.listed != len(frame):
            counts = f"{len(frame)} scores without names, the list {trials.listed} trials"
            remedy = "Give one number for each trial, in the order of the list"
            raise input_error(scores.source, f"the file has {counts}", remedy)
        places = trials.numbers
    else:
        places = _find_pairs(scores, trials.frame[PAIR])
    if "target" in frame:
        problems = Problems()
        for row in np.flatnonzero(frame["target"].to_numpy()[places] != trials.frame["target"].to_numpy()):
            what = "the label beside the score is not that of the list of trials"
            remedy = "Look which of the two is right, and whether the scores are those of this list"
            problems.add(scores.where(frame.index[places[row]]), what, remedy)
        problems.raise_if_any()
    return places


def _find_pairs(scores: Listing, pairs: pd.DataFrame) -> np.ndarray:
    """Find the place of each pair's score by the names of both sides."""
    import pandas as pd  # late: whoever reads a suite imports this module

    problems = Problems()
    frame, known = scores.frame[PAIR].reset_index(drop=True), pd.DataFrame()
    for side in PAIR:
        given, wanted = frame[side].unique(), pairs[side].unique()
        first = frame[side].drop_duplicates().index

        def where(*names: int, first: pd.Index = first) -> str:
            return " and ".join(scores.where(scores.frame.index[first[name]]) for name in names)

        places = UtteranceNames(pd.DataFrame({"file": wanted})).assign(given, "name", where, problems)
        known[side] = frame[side].map(dict(zip(given[places[places >= 0]], wanted[places >= 0], strict=True)))
    problems.raise_if_any()
    known = known.dropna()
    place = pd.MultiIndex.from_frame(known).get_indexer(pd.MultiIndex.from_frame(pairs))
    missing = np.flatnonzero(place < 0)
    if len(missing) and len(missing) == len(place):
        in_file, in_list = zip(*map(told_apart, frame.iloc[0], pairs.iloc[0]), strict=True)
        both = f"the pair here is {' '.join(in_file)}, the first trial is {' '.join(in_list)}"
        what = f"no score belongs to a trial: {both}"
        raise input_error(
            scores.where(scores.frame.index[0]), what, "Write the names as the list of trials does"
        )
    for pair in pairs.iloc[missing].drop_duplicates().itertuples(index=False):
        what = f"no score for the trial {' '.join(map(quoted, pair))}"
        problems.add(scores.source, what, "Add a line with its score")
    problems.raise_if_any()
    return known.index.to_numpy()[place]


def _uses(corpus: Corpus, numbers: np.ndarray) -> pd.DataFrame:
    """List which scores the trials of a corpus use, with both names and the sounds."""
    trials, sounds = corpus.trials, corpus.segments["audio"].astype(object).reset_index(drop=True)
    enrolled = sounds[trials.members].groupby(trials.member_of).agg(" ".join)
    sound = trials.frame["enrolment"].map(enrolled) + " " + sounds[trials.frame["segment"]].to_numpy()
    return trials.frame[PAIR].assign(number=numbers, sound=sound)
