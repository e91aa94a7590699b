"""What a notebook works with: one model, one family and the corpora that fit.

A notebook loads an :class:`Evaluation`, takes a :class:`Subset` for each corpus and task, computes a
statistic and has it judged::

    evaluation = Evaluation.load(run)
    for subset in evaluation.subsets():
        evaluation.judge(
            subset,
            "Mean Absolute Error",
            lambda subset, predictions: mean_absolute_error(subset.truth, predictions.clean),
        )
    evaluation.save()

A *measure* is a function of a subset and predictions. It returns a statistic of :mod:`soundcheck.metrics`, a
number, or a mapping of label to number (see :mod:`soundcheck.evaluation.plain_measures`). It is called with
the predictions of the model and with those of the random reference model, so that no verdict stands without
its reference. :mod:`soundcheck.evaluation.judging` judges, :mod:`soundcheck.evaluation.groups` draws groups
and compares them.

Conventions
-----------
- Labels and predictions of regression tasks are scaled to 0..1 (see :class:`soundcheck.common.tasks.Task`).
- A subset has every labelled segment, also those that the model gave no prediction for (NaN or ``None``):
  metrics leave them out and count them, and all models are tested on the same segments.
- Texts are normalised, see :mod:`soundcheck.evaluation.recognition`; tasks with embeddings have trials in the
  place of segments, and scores as predictions, see :mod:`soundcheck.evaluation.verification`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from soundcheck.augment import registry
from soundcheck.augment.sounds import Sounds
from soundcheck.common import seeds
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.common.wording import counted
from soundcheck.evaluation import changed_segments, corpus_view, recording_pairs
from soundcheck.evaluation.description import EvaluationDescription
from soundcheck.evaluation.eligibility import lacks, obstacle
from soundcheck.evaluation.recognition import TextTasks
from soundcheck.evaluation.subset import CLEAN as AS_IS
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.verification import TrialTasks
from soundcheck.metrics.differential import Setting
from soundcheck.models.reference import reference_predictions
from soundcheck.suite.entries import ERROR
from soundcheck.suite.families import Family, Perturbation, PerturbationSeries
from soundcheck.suite.groups import with_suite_groups
from soundcheck.suite.own_rules import with_own_tests
from soundcheck.suite.thresholds import read_family

CLEAN = "clean"  # the first step of a sweep
NO_TRIALS = "the corpus has neither a list of trials nor two speakers to make one of"
PLAIN_SHARE = 0.8  # of the time limit of a notebook that all calls of plain functions may take


class Evaluation(TextTasks, TrialTasks):
    """One model and one family, with everything that the notebook needs."""

    def __init__(self, description: EvaluationDescription) -> None:
        super().__init__()
        self.model = description.model
        known = read_family(description.family, description.suite_root)
        family = known.limited(
            description.sweeps,
            description.transformed_segments,
            description.segments_per_change,
            description.levels,
            description.transformations,
        )
        self.tasks = list(description.tasks)
        self.seed = description.seed
        self.replicates = description.replicates
        self.interval = description.interval
        self.thresholds = description.thresholds
        self.margin = description.margin
        self.balance_samples = description.balance_samples
        self.predicts_changes = description.predicts_changes
        self.guesses = description.guesses
        self.languages = description.languages
        self._seconds_left = PLAIN_SHARE * description.seconds
        self.sounds = Sounds.load(description.sounds)
        self.media = MediaStore.of(description)
        found = [corpus_view.read_view(corpus) for corpus in description.corpora]
        if "missing" in family.options:  # where no words are the right answer, no answer is none
            found = [dataclasses.replace(corpus, missing=family.options["missing"]) for corpus in found]
        family = with_suite_groups(family, (name for corpus in found for name in corpus.groups))
        self.family: Family = with_own_tests(family, description.tests)
        self.corpora = [corpus for corpus in found if not corpus.probes_of]
        self.probes = {corpus.probes_of: corpus for corpus in found if corpus.probes_of}
        wanted = description.transformations.get(known.name, known.series)
        if left_out := [name for name in known.series if name not in wanted]:
            self.note(f"changes that the suite leaves out: {', '.join(left_out)}")
        self._rows_file = description.rows
        self._start_reading(description, found)

    @classmethod
    def load(cls, run: str) -> Evaluation:
        """Load the evaluation that the runner described in a JSON file."""
        return cls(EvaluationDescription.read(run))

    @property
    def synthetic(self) -> bool:
        """Whether any of the corpora is synthetic."""
        return any(corpus.synthetic for corpus in self.corpora)

    @property
    def block_names(self) -> dict[str, str]:
        """What is resampled of each corpus, in the singular: ``speaker``, ``file`` or ``block``."""
        return {corpus.name: corpus.block_name for corpus in self.corpora}

    @property
    def scales(self) -> list[str]:
        """How labels on another scale than 0 to 1 are shown, in sentences."""
        return corpus_view.scale_notes(self.corpora, self.tasks)

    def change(self, name: str) -> Perturbation:
        """Return one of the family's changes."""
        return self.family.changes[name]

    def option(self, name: str) -> Any:
        """Give an option of the family that may be one value, or one for each model with a ``default``."""
        return self.family.option(name, self.model)

    def subsets(
        self, change: str = "", base: str = "", *, unchanged: bool = False, as_written: bool = False
    ) -> Iterator[Subset]:
        """Give the evaluable rows of each corpus and task, clean or with the predictions under a change.

        ``base`` names the change that takes the place of the clean signals; ``unchanged`` counts signals that
        the change leaves as they are; texts are normalised unless they are wanted ``as_written``. Tests of
        corpora and tasks that the family cannot be applied to become skipped rows with the reason.
        """
        changed = self.family.changes[change] if change else None
        before = self.family.changes[base] if base else None
        missing = registry.missing(changed, self.sounds) if changed else ""
        for corpus, task in self._applicable():
            if task.is_embedding and self.why_unscored(change):
                continue  # tests of clean trials need no changes
            if missing:
                self._reasons[corpus.name, task.name, ""] = missing
                continue
            yield self._subset(corpus, task, changed, before, unchanged=unchanged, as_written=as_written)

    samples = subsets  # the name in notebooks of users

    def _applicable(self) -> Iterator[tuple[corpus_view.CorpusView, Task]]:
        """Give the corpora and tasks that the family can be applied to; note why others are passed over."""
        for corpus in self.corpora:
            for task in self.tasks:
                reason = self._obstacle(corpus, task)
                if reason:
                    self._reasons[corpus.name, task.name, ""] = reason
                else:
                    yield corpus, task

    def swept(self, sweep: PerturbationSeries, base: str = "") -> Iterator[dict[str, Subset]]:
        """Give for each corpus and task a subset a step of a sweep, all of the same segments.

        The first one, ``"clean"`` or the name of the base, has the answers for the clean signals, or those of
        the base, on both sides. Steps that the machine or the sound material cannot make are passed over;
        a single one that is left shows nothing.
        """
        possible = {}
        for step, change in sweep.steps.items():
            if missing := registry.missing(change, self.sounds):
                self.note(f"{sweep.name}, {step}: {missing}")
            else:
                possible[step] = change
        if len(possible) < 2:
            self.note(f"{sweep.name}: not shown, because fewer than two steps are left")
            return
        before = self.family.changes[base] if base else None
        for corpus, task in self._applicable():
            rows = changed_segments.swept_rows(
                self.family, self.tasks, corpus.segments, corpus.blocks, self.seed
            )
            rows = self.changed(corpus, rows, sweep.name, possible.values())
            if not rows.any():
                continue
            steps = {
                step: self._subset(corpus, task, change, before, rows) for step, change in possible.items()
            }
            first = next(iter(steps.values()))
            clean = dataclasses.replace(
                first, predictions=first.predictions.unchanged(), reference=first.reference.unchanged()
            )
            if len(first):
                yield {base or CLEAN: clean} | steps

    def changed(
        self, corpus: corpus_view.CorpusView, rows: np.ndarray, series: str, steps: Iterable[Perturbation]
    ) -> np.ndarray:
        """Leave out the segments that no step of a series changes, as silence under a gain; say so."""
        same = rows & corpus.unchanged(*(step.identity for step in steps))
        if same.any():
            told = f"{corpus.name}, {series}: {same.sum()} of {rows.sum()} segments are the same at all steps"
            self.note(f"{told}, sample by sample, and do not count")
        return rows & ~same

    def pairs(self) -> Iterator[Subset]:
        """Give for each corpus, task and pair of conditions the recordings of the same words.

        ``predictions.clean`` are those for the base condition, ``predictions.changed`` for the other one; see
        :mod:`soundcheck.evaluation.recording_pairs`. Of more pairs than the family's option ``pairs`` so many
        are drawn.
        """
        for corpus, task in self._applicable():
            segments, clean = corpus.segments, corpus.predicted(task)
            found = recording_pairs.pairings(segments, corpus.base_condition)
            keys = [f"{corpus.name}|{key}" for key in segments["key"]]
            random = reference_predictions(task, self.seed, keys, "")
            for pairing in found:
                for note in pairing.notes:
                    self.note(f"{corpus.name}: {note}")
                drawn = self._drawn_pairs(corpus, pairing)
                first, second = pairing.base_rows[drawn], pairing.other_rows[drawn]
                if not len(first):
                    continue
                everything = Subset(
                    corpus.name,
                    task,
                    segments.iloc[first].reset_index(drop=True),
                    None,
                    Predictions(clean[first], clean[second]),
                    Predictions(random[first], random[second], random=True),
                    corpus.block_codes()[first],
                    f"{pairing.base} to {pairing.other}",
                    corpus.root,
                    partner=segments.iloc[second].reset_index(drop=True),
                )
                yield everything.take(np.arange(len(first)))
            if not any(len(pairing.base_rows) for pairing in found):
                what = "no item was recorded under two conditions"
                self._reasons[corpus.name, task.name, ""] = what

    def _drawn_pairs(self, corpus: corpus_view.CorpusView, pairing: recording_pairs.Pairing) -> np.ndarray:
        """Draw pairs if there are more than the family's option allows, bool ``(pairs,)``."""
        everything = np.ones(len(pairing.base_rows), dtype=bool)
        most = self.family.options.get("pairs")
        if most is None or len(everything) <= most:
            return everything
        about = f"{corpus.name}, {pairing.base} to {pairing.other}"
        self.note(f"{about}: {most} of {len(everything)} pairs were drawn")
        keys = corpus.segments["key"].iloc[pairing.base_rows].tolist()
        draws = seeds.uniform(self.seed, "pairs", self.family.name, pairing.other, keys=keys)
        return changed_segments.smallest(draws, everything, most)

    def groups(self, subset: Subset, column: str) -> list[str]:
        """List the groups of a column that are large enough; empty if there are not two of them."""
        found = [name for name, lack in lacks(self, subset, column).items() if not lack]
        return found if len(found) > 1 else []

    def transformed(self) -> Iterator[Subset]:
        """Give for each corpus the segments, or trials, under all settings of the family's transformations.

        Segments are taken in turn from all blocks. Predictions and those of the reference are
        :class:`~soundcheck.evaluation.subset.TransformedPredictions`.
        """
        series = self.family.transformations
        steps = [change for change in self.settings.values() if change is not None]
        for corpus, task in self._applicable():
            if task.is_embedding and (lack := self.why_unchangeable(corpus)):
                self._reasons[corpus.name, task.name, ""] = lack
                continue
            rows = changed_segments.swept_rows(
                *(self.family, self.tasks, corpus.segments, corpus.blocks, self.seed, corpus.trials)
            )
            rows = self.changed(corpus, rows, ", ".join(series), steps)
            if task.is_embedding:
                yield self._transformed_trials(corpus, task, rows)
            else:
                yield self._transformed_texts(corpus, task, rows)

    @property
    def settings(self) -> dict[Setting, Perturbation | None]:
        """All settings of the family's transformations, the signals as they are first."""
        found: dict[Setting, Perturbation | None] = {AS_IS: None}
        for name, series in self.family.transformations.items():
            found |= {(name, step): change for step, change in series.steps.items()}
        return found

    def _obstacle(self, corpus: corpus_view.CorpusView, task: Task) -> str:
        """Say why the family cannot be applied to a corpus and task; empty if it can."""
        if task.is_embedding:  # its changes are looked at one by one: clean trials need none of them
            return "" if corpus.trials is not None else NO_TRIALS
        return obstacle(
            self.family, task, corpus.segments, audio=corpus.audio, predicts_changes=self.predicts_changes
        )

    def _subset(
        self,
        corpus: corpus_view.CorpusView,
        task: Task,
        change: Perturbation | None = None,
        base: Perturbation | None = None,
        rows: np.ndarray | None = None,
        *,
        unchanged: bool = False,
        as_written: bool = False,
    ) -> Subset:
        if task.is_embedding:
            return self._trial_subset(corpus, task, change, rows, unchanged=unchanged)
        segments = corpus.segments
        truth, chosen = None, np.ones(len(segments), dtype=bool)
        if task.name in segments.columns and segments[task.name].notna().any():
            truth = corpus.labels(task)
        if truth is not None and (self.family.label or task.is_transcription and self.family.changes):
            chosen = pd.notna(truth)
            missing = int((~chosen).sum())
            if missing:
                self.note(
                    f"{corpus.name}: {missing} of {len(segments)} segments have no label for {task.name}"
                )
        if change is not None:
            evaluated_corpora = changed_segments.changed_rows(self.family, self.tasks, segments, self.seed)
            surplus = int((chosen & ~evaluated_corpora).sum())
            if surplus:
                self.note(f"{corpus.name}: {surplus} of {chosen.sum()} segments were not drawn")
            chosen = chosen & evaluated_corpora
        if rows is not None:
            chosen = chosen & rows
        elif change is not None and not unchanged:
            same = chosen & corpus.unchanged(*(one.identity for one in (change, base) if one is not None))
            if same.any():
                what = "are the same after it, sample by sample, and do not count"
                self.note(f"{corpus.name}, {change.name}: {same.sum()} of {chosen.sum()} segments {what}")
            chosen = chosen & ~same
        keys = [f"{corpus.name}|{key}" for key in segments["key"].tolist()]

        def reference(under: str) -> np.ndarray:
            texts = truth if task.is_transcription and truth is not None else ()
            return reference_predictions(task, self.seed, keys, under, texts)

        if task.is_transcription and corpus.missing == ERROR:
            for one in (None, change):
                if count := corpus.failures(one.identity if one else ""):
                    where = f"{corpus.name}, {one.name}" if one else corpus.name
                    self.note(
                        f"{where}: {counted(count, 'input')} without an answer: all words count as missed"
                    )
        before = base.identity if base else ""
        predictions = Predictions(corpus.predicted(task, before))
        random = Predictions(reference(before), random=True)
        if change is not None:
            predictions = dataclasses.replace(predictions, changed=corpus.predicted(task, change.identity))
            random = dataclasses.replace(random, changed=reference(change.identity))
        everything = Subset(
            corpus.name,
            task,
            segments,
            truth,
            predictions,
            random,
            corpus.block_codes(),
            change.name if change else "",
            corpus.root,
            base=base.name if base else "",
        )
        subset = everything.take(np.flatnonzero(chosen))
        return self._normalised(subset) if task.is_transcription and not as_written else subset
