"""What a notebook about speaker verification holds in its hand: trials, their scores, and thresholds.

A subset of trials is like a subset of segments: its ``segments`` are the trials, ``truth`` says which of
them are targets, predictions are scores. So tests of trials are judged like all others.

Conventions
-----------
- A trial belongs to a group if both of its speakers do: a group's false acceptances are those among its own
  members, which are the hardest ones.
- Speakers are resampled; a non-target trial counts as often as the product of how often each was drawn.
- Where signals are changed, the tested side is; the enrolled side stays as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from soundcheck.augment import registry
from soundcheck.common.tasks import Task
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.evaluation.description import EvaluationDescription
from soundcheck.evaluation.evaluation import Evaluation, changed_segments
from soundcheck.evaluation.subset import CLEAN, Predictions, Subset, TransformedPredictions
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_threshold, min_dcf_threshold
from soundcheck.models.reference import reference_scores
from soundcheck.suite.families import Family, Perturbation

NO_CHANGES = "scores and embeddings of a table cannot answer for changed signals"
EQUAL_ERROR_RATE = "equal error rate"
MINIMUM_COST = "minimum cost"
# The last if sexes are not known.
KINDS = ("target", "non-target, same sex", "non-target, other sex", "non-target")

# Of a table of trials; see soundcheck.corpora.trials.trial_table, and _with_groups.
TRIAL_COLUMNS = frozenset(
    ("key", "enrol", "test", "target", "enrolment", "segment", "enrol_speaker", "test_speaker")
    + ("first", "second", "enrolled", "kind")
)


@dataclasses.dataclass(frozen=True)
class Cost:
    """What errors cost.

    Parameters
    ----------
    p_target
        Probability that a trial is a target, in use.
    c_miss, c_false_alarm
        Cost of a rejected target and of an accepted non-target.
    """

    p_target: float
    c_miss: float = 1.0
    c_false_alarm: float = 1.0

    @property
    def plain(self) -> dict[str, float]:
        """The numbers as arguments of detection costs."""
        return dataclasses.asdict(self)


def threshold_in_use(family: Family, model: str, scores: np.ndarray, target: np.ndarray) -> float:
    """Give the threshold in use, above which a trial is accepted.

    Parameters
    ----------
    family
        Its option ``threshold`` is a number, or says which threshold is taken from the trials themselves.
    model
        Name of the model, which may have a threshold of its own.
    scores
        float64 ``(trials,)``; NaN if missing.
    target
        Whether one person speaks, bool ``(trials,)``.

    Returns
    -------
    float
        NaN if it is to be taken from trials of one kind only.
    """
    wanted = family.option("threshold", model)
    nobody = np.zeros(len(scores), dtype=np.intp)  # who speaks makes no difference
    trials = Trials(scores, target, nobody, nobody, 1)
    if wanted == EQUAL_ERROR_RATE:
        return equal_error_threshold(trials)
    if wanted == MINIMUM_COST:
        return min_dcf_threshold(trials, **Cost(**family.options["cost"]).plain)
    return float(wanted)


class Verification(Evaluation):
    """An evaluation of a model of speakers.

    Parameters
    ----------
    description
        What the run tells the notebook.
    """

    def __init__(self, description: EvaluationDescription) -> None:
        super().__init__(description)
        self._views = {view.name: view for view in self.corpora}

    @property
    def cost(self) -> Cost:
        """The cost that the main tests use."""
        return Cost(**self.family.options["cost"])

    @property
    def costs(self) -> dict[str, Cost]:
        """Further settings of the cost by name."""
        return {name: Cost(**numbers) for name, numbers in self.family.options["costs"].items()}

    def trial_table(self, subset: Subset) -> TrialTable:
        """Give the trials of a subset's corpus, all of them."""
        return self._views[subset.corpus].trials

    def corpus(self, subset: Subset) -> CorpusView:
        """Give the corpus that the trials of a subset point to."""
        return self._views[subset.corpus]

    def _obstacle(self, corpus: CorpusView, task: Task) -> str:
        if corpus.trials is None:
            return "the corpus has neither a list of trials nor two speakers to make one of"
        return ""  # changes are looked at one by one: clean trials need none of them

    def subsets(self, change: str = "", base: str = "") -> Iterator[Subset]:
        """Give the trials of each corpus, with scores for clean recordings or under a change as well."""
        if not self._missing(change):
            yield from super().subsets(change, base)

    def transformed(self) -> Iterator[Subset]:
        """Give for each corpus the trials whose tested side was transformed.

        Their predictions and those of the reference are
        :class:`~soundcheck.evaluation.subset.TransformedPredictions`: scores of the same trials as they are
        and under all settings. Corpora that cannot be tested are passed over, with the reason.
        """
        for corpus, task in self._applicable():
            if lack := self._unchangeable(corpus):
                self._reasons[corpus.name, task.name, ""] = lack
                continue
            rows = changed_segments.swept_rows(
                self.family, self.tasks, corpus.segments, corpus.blocks, self.seed, corpus.trials
            )
            series = self.family.transformations
            steps = [step for found in series.values() for step in found.steps.values()]
            rows = self.changed(corpus, rows, ", ".join(series), steps)
            tested = rows[corpus.trials.frame["segment"].to_numpy()]
            if not tested.all():
                told = f"{corpus.name}: {int(rows.sum())} tested recordings were changed"
                self.note(f"{told}; {int(tested.sum())} of {len(tested)} trials test one of them")
            subset, place = self._subset(corpus, task, rows=tested), np.flatnonzero(tested)
            settings, guesses = {CLEAN: subset.predictions.clean}, {CLEAN: subset.reference.clean}
            keys = [f"{corpus.name}|trial {key}" for key in subset.segments["key"]]
            for name, found in series.items():
                for step, change in found.steps.items():
                    settings[name, step] = corpus.scores(change.identity, place)
                    guesses[name, step] = reference_scores(self.seed, keys, change.identity)
            yield dataclasses.replace(
                subset,
                predictions=TransformedPredictions(settings[CLEAN], settings=settings),
                reference=TransformedPredictions(guesses[CLEAN], random=True, settings=guesses),
            )

    def _unchangeable(self, corpus: CorpusView) -> str:
        if not self.predicts_changes:
            return NO_CHANGES
        return "" if corpus.audio else "the corpus has no audio that could be changed"

    def _missing(self, change: str) -> str:
        """Say why there are no scores under a change; empty if there are."""
        if change and not self.predicts_changes:
            return NO_CHANGES
        return registry.missing(self.family.changes[change]) if change else ""

    def _subset(
        self,
        corpus: CorpusView,
        task: Task,
        change: Perturbation | None = None,
        base: Perturbation | None = None,
        rows: np.ndarray | None = None,
        *,
        unchanged: bool = False,
    ) -> Subset:
        """Give the trials of a corpus with their scores.

        Under a change those trials remain whose tested side was changed.
        """
        table = corpus.trials
        frame = _with_groups(table, corpus.segments, self.family.options.get("groups", ()))
        keys = [f"{corpus.name}|trial {key}" for key in frame["key"]]
        predictions = Predictions(corpus.scores())
        random = Predictions(reference_scores(self.seed, keys), random=True)
        chosen = np.ones(len(frame), dtype=bool)
        if change is not None:
            changed = changed_segments.changed_rows(self.family, self.tasks, corpus.segments, self.seed)
            if not unchanged:
                changed = self.changed(corpus, changed, change.name, [change])
            chosen = changed[frame["segment"].to_numpy()]
            if not chosen.all():
                self._note(f"{corpus.name}: of {len(chosen)} trials {int(chosen.sum())} were changed")
            predictions = dataclasses.replace(predictions, changed=corpus.scores(change.identity))
            random = dataclasses.replace(random, changed=reference_scores(self.seed, keys, change.identity))
        everything = Subset(
            corpus.name,
            task,
            frame,
            frame["target"].to_numpy(dtype=bool),
            predictions,
            random,
            np.zeros(len(frame), dtype=np.intp),  # trials bring their own blocks
            change.name if change else "",
            corpus.root,
        )
        return everything.take(np.flatnonzero(chosen & (True if rows is None else rows)))

    def trials(self, subset: Subset, scores: np.ndarray) -> Trials:
        """Put the trials of a subset and scores for them together, for metrics.

        Parameters
        ----------
        subset
            From :meth:`subsets`.
        scores
            float64 ``(trials,)``; NaN if missing.
        """
        first, second = (subset.segments[name].to_numpy() for name in ("first", "second"))
        speakers = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
        found = Trials(scores, subset.truth, first, second, speakers)
        return found.of_recordings(subset.segments["enrolled"], subset.segments["segment"])

    def own_trials(self, subset: Subset, mask: np.ndarray) -> Trials:
        """Put the trials of a group together as if there were no others: only its speakers are drawn."""
        own = subset.take(np.flatnonzero(mask))
        both = own.segments[["first", "second"]].to_numpy()
        names, codes = np.unique(both, return_inverse=True)
        codes = codes.reshape(both.shape)
        found = Trials(own.predictions.clean, own.truth, codes[:, 0], codes[:, 1], len(names))
        return found.of_recordings(own.segments["enrolled"], own.segments["segment"])

    def threshold(self, subset: Subset, scores: np.ndarray) -> float:
        """Give the threshold in use, above which a trial is accepted.

        The family's option ``threshold`` is a number, or says which threshold is taken from the trials
        themselves: that of the equal error rate, or that of the lowest cost. With trials of one kind only,
        for which all rates are undefined, it is minus infinity.
        """
        found = threshold_in_use(self.family, self.model, scores, subset.truth)
        return -np.inf if np.isnan(found) else found

    def scored_twice(self, predictions: Predictions) -> Predictions:
        """Keep the scores of trials that are scored before and after a change, and no others."""
        both = np.isfinite(predictions.clean) & np.isfinite(predictions.changed)
        return Predictions(
            np.where(both, predictions.clean, np.nan), np.where(both, predictions.changed, np.nan)
        )

    def give_reasons(self, subsets: Iterable[Subset]) -> None:
        """Say why tests of groups and of changes are skipped where they are not judged."""
        for subset in subsets:
            for column in self.family.options["groups"]:
                if not self.groups(subset, column):
                    for rate in ("Acceptance", "Rejection"):
                        self.skip(subset, self.too_small(column), f"False {rate} Rate Difference", column)
            for change in self.family.changes:
                self.skip(subset, self._missing(change), f"Change Eer {change}")

    def too_small(self, column: str) -> str:
        """Say why the groups of a column are not compared."""
        fewest = self.family.options["minimum_speakers"]
        return f"fewer than 2 groups of {column} with {self._least} trials of each kind and {fewest} speakers"

    def groups(self, subset: Subset, column: str, *, judged: bool = True) -> list[str]:
        """List the groups of a column with enough trials of both kinds; empty if there are not two.

        Parameters
        ----------
        subset
            Trials.
        column
            Column of the segment table.
        judged
            Whether groups need enough speakers, too: of few speakers too often not even two are drawn.
        """
        trials = subset.segments
        counts = pd.crosstab(trials[column], trials["target"])
        enough = (counts.reindex(columns=[False, True], fill_value=0) >= self._least).all(axis=1)
        found = sorted(counts.index[enough])
        if judged:
            speakers = {group: self._speakers(trials[subset.mask(column, group)]) for group in found}
            fewest = self.family.options["minimum_speakers"]
            found = [group for group in found if speakers[group] >= fewest]
        return found if len(found) > 1 else []

    @staticmethod
    def _speakers(trials: pd.DataFrame) -> int:
        return len(np.union1d(trials["first"], trials["second"]))

    def within_groups(self, subset: Subset, column: str, *, judged: bool = True) -> np.ndarray:
        """Say which trials lie within any group that :meth:`groups` lists, bool ``(trials,)``."""
        return subset.segments[column].isin(self.groups(subset, column, judged=judged)).to_numpy(dtype=bool)

    def kinds(self, subset: Subset) -> dict[str, np.ndarray]:
        """Say which trials belong to a kind of non-target, bool ``(trials,)``; all trials first.

        Every kind has all targets. There are none if one has too few non-targets.
        """
        target = subset.truth
        found = {"all trials": np.ones(len(target), dtype=bool)}
        for kind in KINDS[1:3]:
            own = subset.segments["kind"].eq(kind).to_numpy()
            if own.sum() < self._least:
                return {"all trials": found["all trials"]}
            found[kind] = own | target
        return found

    @property
    def _least(self) -> int:
        return int(self.family.options["minimum_trials"])


def _with_groups(table: TrialTable, segments: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Add numbers of the speakers, the groups of both sides and the kind of each trial.

    A column that is called like one of the trials themselves is passed over.
    """
    enrolled = np.zeros(int(table.member_of.max(initial=-1)) + 1, dtype=np.int64)
    enrolled[table.member_of[::-1]] = table.members[::-1]  # the first utterance stands for all
    first, second = enrolled[table.frame["enrolment"].to_numpy()], table.frame["segment"].to_numpy()
    both = pd.concat([table.frame["enrol_speaker"], table.frame["test_speaker"]])
    codes = pd.factorize(both, sort=True)[0]
    added: dict[str, object] = {
        "first": codes[: len(first)],
        "second": codes[len(first) :],
        "enrolled": first,
    }
    sides = {}
    for column in {*columns, "sex"} - TRIAL_COLUMNS:
        if column in segments.columns:
            values = segments[column].to_numpy(dtype=object)
            sides[column] = values[first], values[second]
            one, other = sides[column]
            added[column] = np.where(pd.notna(one) & (one == other), one, None)
        else:
            added[column] = np.full(len(first), None, dtype=object)
    kind = np.where(table.frame["target"], KINDS[0], KINDS[3]).astype(object)
    if "sex" in sides:
        one, other = sides["sex"]
        others = pd.notna(one) & pd.notna(other) & ~table.frame["target"].to_numpy(dtype=bool)
        kind[others] = np.where((one == other)[others], KINDS[1], KINDS[2])
    return table.frame.assign(**added, kind=kind)
