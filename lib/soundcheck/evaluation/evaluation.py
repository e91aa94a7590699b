"""What a notebook holds in its hand: one model, one family and the corpora that fit.

A notebook loads an :class:`Evaluation`, takes a :class:`Subset` for each corpus and task, computes a
statistic and has it judged::

    evaluation = Evaluation.load(run)
    for subset in evaluation.subsets():
        evaluation.judge(
            sample,
            "Mean Absolute Error",
            lambda sample, answers: mean_absolute_error(sample.truth, answers.clean),
        )
    evaluation.save()

A *measure* is a function of a sample and the answers of one answerer. It returns a statistic of
:mod:`soundcheck.metrics`, a number, or a mapping of label to number (see
:mod:`soundcheck.evaluation.plain_measures`). It is called with the answers of the model and with those of the
random reference model, so that no verdict stands without its reference.

Conventions
-----------
- Labels and predictions of regression tasks are scaled to 0..1 (see :class:`soundcheck.common.tasks.Task`).
- A sample holds every labelled segment, also those that the model gave no answer for (NaN or ``None``):
  metrics leave them out and count them, and all models are tested on the same segments.
- Every test of the family ends in a row: what a notebook did not judge is written as skipped, with the
  reason.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from soundcheck import results
from soundcheck.augment import registry
from soundcheck.common import files, seeds
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import Task
from soundcheck.evaluation import changed_segments, corpus_view, plain_measures, recording_pairs
from soundcheck.evaluation.plain_measures import (
    NothingAnsweredError,
    PlainMeasureError,
    PlainStatistic,
    statistic_of,
)
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.weighted import Weighted
from soundcheck.models.reference import reference_answers
from soundcheck.results.verdict import KEY
from soundcheck.sounds.sound import Sounds
from soundcheck.statistics import bootstrap
from soundcheck.statistics.balance import at_most, balance, draw_speakers
from soundcheck.statistics.group_sizes import least_per_bin
from soundcheck.statistics.simulated_thresholds import simulated_threshold
from soundcheck.suite.families import Family, Perturbation, PerturbationSeries, TestDefinition
from soundcheck.suite.thresholds import read_family

CLEAN = "clean"  # the first step of a sweep
PLAIN_SHARE = 0.8  # of the time limit of a notebook that all calls of plain functions may take


class Evaluation:
    """One model and one family, with everything that the notebook needs.

    Parameters
    ----------
    description
        What the runner writes: see :func:`describe`.
    """

    def __init__(self, description: Mapping) -> None:
        self.model: str = description["model"]
        self.family: Family = read_family(description["family"], Path(description["own"]))
        self.tasks = [corpus_view.read_task(task) for task in description["tasks"]]
        self.seed: int = description["seed"]
        self.replicates: int = description["replicates"]
        self.interval: str = description["interval"]
        self.thresholds: str = description["thresholds"]
        self.balance_samples: int = description["balance_samples"]
        self.answers_changes: bool = description["answers_changes"]
        limit = description.get("seconds", plain_measures.SECONDS / PLAIN_SHARE)
        self._seconds_left = PLAIN_SHARE * limit
        self.sounds = Sounds.load(Path(description["sounds"]))
        if not description["sweeps"]:
            self.family = dataclasses.replace(self.family, sweeps={})
        self.media = MediaStore(Path(description["media"]), description["prefix"])
        found = [corpus_view.read_view(corpus) for corpus in description["corpora"]]
        self.corpora = [corpus for corpus in found if not corpus.probes_of]
        self.probes = {corpus.probes_of: corpus for corpus in found if corpus.probes_of}
        self._simulated: dict[tuple, dict] = {}
        self._judged: list[results.Judged] = []
        self.notes: list[str] = []
        self._reasons: dict[tuple[str, str, str], str] = {}
        self._rows_file = Path(description["rows"])

    @classmethod
    def load(cls, run: str) -> Evaluation:
        """Load the evaluation that the runner described in a JSON file."""
        if not run:
            raise ValueError("This notebook is run by `soundcheck run`, which fills in the parameter 'run'.")
        return cls(json.loads(Path(run).read_text(encoding="utf-8")))

    @property
    def synthetic(self) -> bool:
        """Whether any of the corpora is synthetic."""
        return any(corpus.synthetic for corpus in self.corpora)

    def change(self, name: str) -> Perturbation:
        """Return one of the family's changes."""
        return self.family.changes[name]

    def option(self, name: str) -> Any:
        """Give an option of the family that may be one value, or one for each model with a ``default``."""
        return self.family.option(name, self.model)

    def subsets(self, change: str = "", base: str = "") -> Iterator[Subset]:
        """Give the evaluable rows of each corpus and task, clean or with the answers under a change.

        Corpora and tasks that the family cannot be applied to are passed over; their tests become skipped
        rows with the reason.

        Parameters
        ----------
        change
            Name of the change; empty for clean signals only.
        base
            Name of the change that takes the place of the clean signals.
        """
        changed = self.family.changes[change] if change else None
        before = self.family.changes[base] if base else None
        missing = registry.missing(changed, self.sounds) if changed else ""
        for corpus, task in self._applicable():
            if missing:
                self._reasons[corpus.name, task.name, ""] = missing
            else:
                yield self._sample(corpus, task, changed, before)

    def samples(self, change: str = "", base: str = "") -> Iterator[Subset]:
        """Give :meth:`subsets` under the name that earlier notebooks know."""
        return self.subsets(change, base)

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
        """Give for each corpus and task a sample a step of a sweep, all of the same segments.

        The first one, ``"clean"`` or the name of the base, has the answers for the clean signals, or those of
        the base, on both sides. Steps that the machine or the sound material cannot make are passed over;
        a single one that is left shows nothing.

        Parameters
        ----------
        sweep
            The sweep.
        base
            Name of the change that takes the place of the clean signals.
        """
        possible = {}
        for step, change in sweep.steps.items():
            if missing := registry.missing(change, self.sounds):
                self._note(f"{sweep.name}, {step}: {missing}")
            else:
                possible[step] = change
        if len(possible) < 2:
            self._note(f"{sweep.name}: not shown, because fewer than two steps are left")
            return
        before = self.family.changes[base] if base else None
        for corpus, task in self._applicable():
            rows = changed_segments.swept_rows(
                self.family, self.tasks, corpus.segments, corpus.blocks, self.seed
            )
            steps = {
                step: self._sample(corpus, task, change, before, rows) for step, change in possible.items()
            }
            first = next(iter(steps.values()))
            clean = dataclasses.replace(
                first, predictions=first.predictions.unchanged(), reference=first.reference.unchanged()
            )
            if len(first):
                yield {base or CLEAN: clean} | steps

    def curve(self, steps: Mapping[str, Subset], measure: Measure) -> pd.DataFrame:
        """Compute a measure at each step of a sweep, with intervals and without verdicts.

        Returns
        -------
        pandas.DataFrame
            One row a step: ``corpus, task, step, value, low, high, segments, blocks, reference``; the last is
            what the random reference model scores.
        """
        rows = []
        for step, subset in steps.items():
            row = {"corpus": subset.corpus, "task": subset.task.name, "step": step}
            try:
                _, found, reference = self._computed(subset, measure)
            except PlainMeasureError as fault:
                self._note(f"{subset.corpus}, {subset.task.name}, {step}: {fault}")
                numbers = dict.fromkeys(("value", "low", "high"), np.nan)
                rows.append(row | numbers | {"segments": len(subset), "blocks": 0, "reference": np.nan})
                continue
            low, high = found.interval(self.interval)
            rows.append(
                row
                | {
                    "value": found.value[0],
                    "low": low[0],
                    "high": high[0],
                    "segments": int(found.segments[0]),
                    "blocks": int(found.blocks[0]),
                    "reference": reference[0],
                }
            )
        return pd.DataFrame(rows)

    def pairs(self) -> Iterator[Subset]:
        """Give for each corpus, task and pair of conditions the recordings of the same words.

        ``answers.clean`` are those for the base condition, ``answers.changed`` for the other one; see
        :mod:`soundcheck.evaluation.recording_pairs`. Of more pairs than the family's option ``pairs`` so many
        are drawn.
        """
        for corpus, task in self._applicable():
            clean, found = (
                corpus.predicted(task),
                recording_pairs.pairings(corpus.segments, corpus.base_condition),
            )
            keys = [f"{corpus.name}|{key}" for key in corpus.segments["key"]]
            random = reference_answers(task, self.seed, keys, "")
            for pairing in found:
                for note in pairing.notes:
                    self._note(f"{corpus.name}: {note}")
                first, second = self._drawn_pairs(corpus, pairing)
                if not len(first):
                    continue
                everything = Subset(
                    corpus.name,
                    task,
                    corpus.segments.iloc[first].reset_index(drop=True),
                    None,
                    Predictions(clean[first], clean[second]),
                    Predictions(random[first], random[second]),
                    corpus.block_codes()[first],
                    f"{pairing.base} to {pairing.other}",
                    corpus.root,
                    partner=corpus.segments.iloc[second].reset_index(drop=True),
                )
                yield everything.take(np.arange(len(first)))
            if not any(len(pairing.base_rows) for pairing in found):
                what = "no item was recorded under two conditions"
                self._reasons[corpus.name, task.name, ""] = what

    def _drawn_pairs(
        self, corpus: corpus_view.CorpusView, pairing: recording_pairs.Pairing
    ) -> tuple[np.ndarray, np.ndarray]:
        most = self.family.options.get("pairs")
        count = len(pairing.base_rows)
        if most is None or count <= most:
            return pairing.base_rows, pairing.other_rows
        self._note(f"{corpus.name}, {pairing.base} to {pairing.other}: {most} of {count} pairs were drawn")
        keys = corpus.segments["key"].iloc[pairing.base_rows].tolist()
        draws = seeds.uniform(self.seed, "pairs", self.family.name, pairing.other, keys=keys)
        chosen = changed_segments.smallest(draws, np.ones(count, dtype=bool), most)
        return pairing.base_rows[chosen], pairing.other_rows[chosen]

    def _obstacle(self, corpus: corpus_view.CorpusView, task: Task) -> str:
        """Say why the family cannot be applied to a corpus and task; empty if it can."""
        for column in self.family.columns:
            if column not in corpus.segments.columns or corpus.segments[column].isna().all():
                return f"the corpus has no column {'emotion' if column == 'category' else column}"
        if self.family.label:
            if task.name not in corpus.segments.columns:
                return f"the corpus has no column {task.name}"
            if corpus.segments[task.name].isna().all():
                return f"no segment has a label for {task.name}"
        needed = [*self.family.changes.values(), *self.family.transformed]
        if needed and not self.answers_changes:
            return "a table of predictions cannot answer for changed signals"
        return next(filter(None, map(registry.missing, needed)), "")

    def _sample(
        self,
        corpus: corpus_view.CorpusView,
        task: Task,
        change: Perturbation | None = None,
        base: Perturbation | None = None,
        rows: np.ndarray | None = None,
    ) -> Subset:
        segments = corpus.segments
        truth, chosen = None, np.ones(len(segments), dtype=bool)
        if task.name in segments.columns and segments[task.name].notna().any():
            truth = corpus.labels(task)
        if truth is not None and (self.family.label or task.is_transcription and self.family.changes):
            chosen = pd.notna(truth)
            missing = int((~chosen).sum())
            if missing:
                self._note(
                    f"{corpus.name}: {missing} of {len(segments)} segments have no label for {task.name}"
                )
        if change is not None:
            evaluated_corpora = changed_segments.changed_rows(self.family, self.tasks, segments, self.seed)
            surplus = int((chosen & ~evaluated_corpora).sum())
            if surplus:
                self._note(f"{corpus.name}: {surplus} of {chosen.sum()} segments were not drawn")
            chosen = chosen & evaluated_corpora
        if rows is not None:
            chosen = chosen & rows
        keys = [f"{corpus.name}|{key}" for key in segments["key"]]

        def reference(under: str) -> np.ndarray:
            texts = truth if task.is_transcription and truth is not None else ()
            return reference_answers(task, self.seed, keys, under, texts)

        before = base.identity if base else ""
        predictions, random = Predictions(corpus.predicted(task, before)), Predictions(reference(before))
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
        return everything.take(np.flatnonzero(chosen))

    def balanced(self, subset: Subset, column: str) -> tuple[Subset, str]:
        """Draw equally large groups with the same distribution of labels.

        See :mod:`soundcheck.statistics.balance`.

        Parameters
        ----------
        sample
            Labelled rows.
        column
            Column of the segment table that holds the group; the family's option ``groups`` lists its values.
            Groups without segments are passed over.

        Returns
        -------
        tuple of Sample and str
            The drawn rows, and why there are fewer than wanted, else ``""``.
        """
        groups = subset.segments[column].where(subset.segments[column].isin(self.family.options["groups"]))
        rng = seeds.generator(self.seed, "balance", self.family.name, subset.corpus, subset.task.name)
        drawn = balance(
            subset.truth,
            groups.to_numpy(dtype=object),
            self.balance_samples,
            rng,
            subset.task.kind,
            subset.segments["key"].to_numpy(dtype=object),
        )
        if drawn.note:
            self._note(f"{subset.corpus}, {subset.task.name}: {drawn.note}")
        found = subset.take(drawn.rows)
        return found.sized(found.segments[column].nunique(), drawn.segments_per_group), drawn.note

    def at_most(self, subset: Subset, column: str, samples: int) -> Subset:
        """Keep so many random segments of each group, and tell how many were left out.

        Parameters
        ----------
        sample
            Rows to draw from; those without group are left out.
        column
            Column of the segment table that holds the group.
        samples
            Segments to keep of each group.
        """
        groups = subset.segments[column].to_numpy(dtype=object)
        rng = seeds.generator(self.seed, "at most", self.family.name, subset.corpus)
        rows = at_most(groups, samples, rng, subset.segments["key"].to_numpy(dtype=object))
        surplus = int(pd.notna(groups).sum()) - len(rows)
        if surplus:
            self._note(
                f"{subset.corpus}: {surplus} segments of groups with more than {samples} were not drawn"
            )
        return subset.take(rows)

    def drawn_speakers(self, subset: Subset, column: str) -> tuple[Subset, dict[str, tuple[str, str]]]:
        """Keep the segments of so many speakers of each sex in each group.

        The family's option ``speakers`` says how many: ``{female: 5, male: 5}``; without it all segments are
        kept. If the corpus does not know the sex of its speakers, as many are drawn whatever their sex; if it
        does not know the speakers, all segments are kept. Notes say so.

        Parameters
        ----------
        sample
            Rows to draw from; those without group are left out.
        column
            Column of the segment table that holds the group.

        Returns
        -------
        tuple of Sample and dict
            The rows of the speakers drawn; group -> who was drawn, in words, and which speakers it lacks,
            ``""`` if none.
        """
        subset = subset.take(np.flatnonzero(subset.segments[column].notna()))
        segments, wanted, corpus = subset.segments, self.family.options.get("speakers"), subset.corpus
        known = {name for name in ("speaker", "sex") if name in segments and segments[name].notna().any()}
        if not wanted or "speaker" not in known:
            if wanted:
                self._note(f"{corpus}: speakers are not known, so all segments of each {column} are used")
            return subset, dict.fromkeys(sorted(segments[column].unique()), ("all", ""))
        sexes = segments["sex"] if "sex" in known else pd.Series("", index=segments.index)
        if "sex" not in known:
            wanted = {"": sum(wanted.values())}
            self._note(
                f"{corpus}: the sex of speakers is not known, so {wanted['']} speakers of each {column} are "
                "drawn whatever their sex"
            )
        drawn = draw_speakers(
            *(values.to_numpy(dtype=object) for values in (segments[column], segments["speaker"], sexes)),
            wanted,
            lambda keys: seeds.uniform(self.seed, "speakers", self.family.name, corpus, keys=keys),
        )
        if drawn.unknown:
            what = "speaker" if "" in wanted else f"speaker, or not of {' or '.join(wanted)} sex"
            self._note(
                f"{corpus}: {drawn.unknown} of {len(subset)} segments with {column} are without {what}"
            )
        told = {}
        for group, found in drawn.counts.items():
            shares = [f"{n} of {there} {sex}".strip() for sex, (n, there) in found.items()]
            lacks = [
                f"{n} of {wanted[sex]} {sex}".strip() for sex, (n, _) in found.items() if n < wanted[sex]
            ]
            told[group] = ", ".join(shares), f"{' and '.join(lacks)} speakers" if lacks else ""
        return subset.take(drawn.rows), told

    def least_per_bin(self, size: float) -> int:
        """Give the fewest segments that a bin needs in all groups together to be judged.

        Parameters
        ----------
        size
            Average size of the groups; the family's option ``bin_minimum`` holds the published number and
            size, see :func:`soundcheck.statistics.group_sizes.least_per_bin`.
        """
        return least_per_bin(self.family.options["bin_minimum"], size)

    def skip(self, subset: Subset, reason: str, test: str = "") -> None:
        """Say why a test of a corpus and task is skipped if it is not judged, or why all of them are."""
        self._reasons[subset.corpus, subset.task.name, test] = reason

    def resample(self, statistic: Statistic | Weighted, blocks: np.ndarray) -> bootstrap.Resampled:
        """Compute a statistic with replicates of the suite's number and seed."""
        return bootstrap.resample(statistic, blocks, self.replicates, self.seed)

    def judge(self, subset: Subset, test: str, measure: Measure) -> list[results.Verdict]:
        """Compute a measure with its interval, compare it with its threshold and the random reference.

        Parameters
        ----------
        sample
            Rows to evaluate.
        test
            Name of the test in the family's threshold file.
        measure
            Function of a sample and answers that gives a :class:`~soundcheck.metrics.additive.Statistic`, a
            number, or a mapping of label to number.

        Returns
        -------
        list of Verdict
            One for each label of the statistic, or one that is skipped if the measure cannot be used; also
            kept for :meth:`save`.

        Raises
        ------
        KeyError
            If the family's threshold file has no such test.
        """
        definition = self.family.tests[test]
        try:
            statistic, found, reference = self._computed(subset, measure)
        except PlainMeasureError as fault:
            # By these words `soundcheck check` knows that something broke.
            error = "" if isinstance(fault, NothingAnsweredError) else "error: "
            return [self._refused(subset, definition, f"{error}{fault}")]
        for note in filter(None, dict.fromkeys(found.notes)):
            self._note(f"{subset.corpus}, {subset.task.name}, {test}: {note}")
        judged = results.judge(
            found,
            model=self.model,
            corpus=subset.corpus,
            family=self.family.name,
            category=self.family.category,
            task=subset.task.name,
            test=test,
            rule=definition.rule,
            threshold=self._threshold(subset, definition),
            reference=reference,
            kind=self.interval,
        )
        population = _population(subset, statistic, found)
        for n, verdict in enumerate(judged):
            self._judged.append(results.Judged(verdict, found.replicates[:, n], *population))
        return judged

    def _computed(
        self, subset: Subset, measure: Measure
    ) -> tuple[Statistic | Weighted, bootstrap.Resampled, np.ndarray]:
        """Compute a measure with its replicates, and its values for the random reference."""
        start = time.monotonic()
        plain = True
        try:
            statistic = statistic_of(measure, subset, subset.predictions, self._seconds_left)
            plain = isinstance(statistic, PlainStatistic)
            found = self.resample(statistic, subset.blocks)
            of_reference = statistic_of(measure, subset, subset.reference)
            return statistic, found, plain_measures.aligned(of_reference, found.labels)
        finally:
            if plain:
                took = time.monotonic() - start
                self._seconds_left = max(0.0, self._seconds_left - took)
                told = f"{subset.corpus}, {subset.task.name}: the measure was called for {took:.1f} s"
                print(told, file=sys.stderr)  # kept with the notebook; pages do not show times

    def _refused(self, subset: Subset, definition: TestDefinition, reason: str) -> results.Verdict:
        """Note a skipped row for a measure that cannot be used."""
        self._note(f"{subset.corpus}, {subset.task.name}, {definition.name}: {reason}")
        row = results.skip(
            reason,
            model=self.model,
            corpus=subset.corpus,
            family=self.family.name,
            category=self.family.category,
            task=subset.task.name,
            test=definition.name,
            rule=definition.rule,
            threshold=definition.threshold_for(subset.task),
        )
        key = [getattr(row, name) for name in KEY]
        if all([getattr(entry.verdict, name) for name in KEY] != key for entry in self._judged):
            self._judged.append(results.Judged(row, np.empty(0)))
        return row

    def _threshold(self, subset: Subset, definition: TestDefinition) -> float | None:
        """Give the threshold of a test: the published one, or the same stretched to the groups' sizes."""
        published = definition.threshold_for(subset.task)
        if subset.group_size is None or not definition.simulation or published is None:
            return published
        groups, samples = subset.group_size
        four_classes = subset.task.is_regression or len(subset.task.classes) == 4
        if groups < 2 or samples < 2 or not four_classes:
            self._note(
                f"{subset.corpus}, {subset.task.name}: the published thresholds hold, because simulations "
                "are for 2 groups or more of at least 2 segments and for 4 classes"
            )
            return published
        found = simulated_threshold(published, definition.simulation, groups, samples)
        row = {
            "corpus": subset.corpus,
            "task": subset.task.name,
            "test": definition.name,
            "groups": groups,
            "samples": samples,
            "published": published,
            "simulated": found.threshold,
            "stretch": found.stretch,
            "here": found.here,
            "published_size": found.published,
        }
        self._simulated[tuple(row.values())] = row
        return found.threshold if self.thresholds == "simulated" else published

    def simulated(self) -> pd.DataFrame:
        """Give thresholds for groups of the sizes that were tested, and what they rest on.

        Returns
        -------
        pandas.DataFrame
            One row a corpus, task, test and size of groups: ``published`` threshold; the threshold
            ``simulated`` for groups of this size, by which factor ``stretch`` it is wider, and the absolute
            scores that 99.9 % of unbiased random models stay below ``here`` and in groups of the
            ``published_size``. See :mod:`soundcheck.statistics.simulated_thresholds`.
        """
        return pd.DataFrame(list(self._simulated.values()))

    def frame(self) -> pd.DataFrame:
        """Give all verdicts so far as rows of the results table, tests that were not judged as skipped."""
        return results.to_frame(entry.verdict for entry in self._rows())

    def _rows(self) -> list[results.Judged]:
        judged = {(row.verdict.corpus, row.verdict.task, row.verdict.test) for row in self._judged}
        rows = list(self._judged)
        for corpus in self.corpora:
            for task in self.tasks:
                reason = self._reasons.get((corpus.name, task.name, ""), "not computed by the notebook")
                for row in results.skipped_rows(self.model, corpus.name, self.family, task, reason):
                    place = (row.corpus, row.task, row.test)
                    if place not in judged:
                        row = dataclasses.replace(row, skipped=self._reasons.get(place, reason))
                        rows.append(results.Judged(row, np.empty(0)))
        return rows

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def save(self) -> None:
        """Write the rows for the results table; the last thing that a notebook does."""
        results.save(self._rows(), self._rows_file, notes=self.notes)


def _population(
    subset: Subset, statistic: Statistic | Weighted, found: bootstrap.Resampled
) -> tuple[str, str]:
    """Say on which segments and on which blocks a statistic rests, as two digests."""
    everybody = "\n".join(subset.segments["key"])
    if isinstance(statistic, Weighted) and not isinstance(statistic, PlainStatistic):
        used, rows = statistic.n_blocks, found.segments.tolist()
    else:
        used = np.unique(subset.blocks[statistic.rows]).tolist()
        rows = np.flatnonzero(statistic.rows).tolist()
    return files.digest(f"{everybody}\n{rows}"), files.digest(f"{everybody}\n{used}")
