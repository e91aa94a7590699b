"""Judges measures: value, replicates, threshold, random reference; and keeps a row for every test.

Every test of the family ends in a row: what a notebook did not judge is written as skipped, with the reason.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck import results
from soundcheck.common import files
from soundcheck.common.tasks import Task
from soundcheck.evaluation import conclusions, plain_measures
from soundcheck.evaluation.adjusted import with_adjusted
from soundcheck.evaluation.conclusions import GroupGap
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.evaluation.plain_measures import (
    NoPredictionError,
    PlainMeasureError,
    PlainStatistic,
    statistic_of,
)
from soundcheck.evaluation.subset import Measure, Subset
from soundcheck.evaluation.threshold_source import not_simulated, remarked
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.weighted import Weighted
from soundcheck.results.verdict import KEY
from soundcheck.statistics import bootstrap
from soundcheck.statistics.evidence import FREE, Scale
from soundcheck.statistics.fixed_speakers import fixed_speakers
from soundcheck.statistics.rules import WITHIN
from soundcheck.statistics.simulated_thresholds import simulated_threshold
from soundcheck.suite.families import Family, TestDefinition


class Judging:
    """The half of an evaluation that judges; see :class:`soundcheck.evaluation.evaluation.Evaluation`."""

    model: str
    family: Family
    tasks: list[Task]
    corpora: list[CorpusView]
    seed: int
    replicates: int
    interval: str
    thresholds: str
    matters: float
    notes: list[str]
    _seconds_left: float
    _simulated: dict[tuple, dict]
    _judged: list[results.Judged]
    _reasons: dict[tuple[str, str, str], str]
    _columns: dict[tuple[str, str, str], dict[str, str]]
    _rows_file: Path
    _population_of: pd.DataFrame | None = None
    _digest_of: Callable[[str], str]

    def curve(self, steps: Mapping[str, Subset], measure: Measure, scale: Scale = FREE) -> pd.DataFrame:
        """Compute a measure at each step of a sweep, with intervals and without verdicts.

        Parameters
        ----------
        steps
            Step -> what was heard there.
        measure
            See :meth:`judge`; a single value.
        scale
            Where its values may lie.

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
                self.note(f"{subset.corpus}, {subset.task.name}, {step}: {fault}")
                numbers = dict.fromkeys(("value", "low", "high"), np.nan)
                rows.append(row | numbers | {"segments": len(subset), "blocks": 0, "reference": np.nan})
                continue
            low, high = found.interval(self.interval, scale=scale)
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

    def skip(self, subset: Subset, reason: str, test: str = "", column: str = "") -> None:
        """Say why a test of a corpus and task is skipped if it is not judged, or why all of them are.

        With a column whose groups are not compared, the test gets a skipped row for it, whatever is judged
        for the groups of other columns.
        """
        place = (subset.corpus, subset.task.name, test)
        if column:
            self._columns.setdefault(place, {})[column] = reason
        else:
            self._reasons[place] = reason

    def resample(self, statistic: Statistic | Weighted, blocks: np.ndarray) -> bootstrap.Resampled:
        """Compute a statistic with replicates of the suite's number and seed."""
        return bootstrap.resample(statistic, blocks, self.replicates, self.seed)

    def judge(
        self,
        subset: Subset,
        test: str,
        measure: Measure,
        group: str = "",
        *,
        column: str = "",
        gap: GroupGap | Measure | None = None,
    ) -> list[results.Verdict]:
        """Compute a measure with its interval, compare it with its threshold and the random reference.

        Parameters
        ----------
        subset
            Rows to evaluate.
        test
            Name of the test in the family's threshold file.
        measure
            Function of a subset and predictions that gives a
            :class:`~soundcheck.metrics.additive.Statistic`, a number, or a mapping of label to number.
        group
            Column and group that the measure is about: ``"sex: female"``.
        column
            Column whose groups are the labels, of measures that give a value for each group.
        gap
            Of measures that compare a group: how it differs from all others, see
            :mod:`soundcheck.evaluation.conclusions`.

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
        if definition.off:
            return [self._skipped_row(subset, definition, definition.off, "")]
        try:
            statistic, found, reference = self._computed(subset, measure)
        except PlainMeasureError as fault:
            # By these words `soundcheck check` knows that something broke.
            error = "" if isinstance(fault, NoPredictionError) else "error: "
            about = _joined(subset, test, group or column)
            self.note(f"{about}: {error}{fault}")
            return [self._skipped_row(subset, definition, f"{error}{fault}", group or column)]
        for note in filter(None, dict.fromkeys(found.notes)):
            self.note(f"{_joined(subset, test, group)}: {note}")
        threshold, untestable = self._threshold(subset, definition)
        scale = conclusions.FREE if gap else conclusions.scale_of(definition, found)
        judged = results.judge(
            found,
            model=self.model,
            corpus=subset.corpus,
            family=self.family.name,
            category=self.family.category,
            task=subset.task.name,
            test=test,
            rule=definition.rule,
            threshold=threshold,
            reference=reference,
            kind=self.interval,
            group=group,
            scale=scale,
            untestable=untestable,
        )
        sides = found.blocks
        if gap is None:
            judged = [conclusions.concluded_value(v, n, found, scale) for n, v in enumerate(judged)]
        else:
            judged, sides = self._concluded_groups(subset, definition, judged, gap)
        judged = [remarked(verdict, subset, definition, self.thresholds) for verdict in judged]
        if column:
            judged = [dataclasses.replace(v, group=f"{column}: {v.label}", label="") for v in judged]
        population = self._population(subset, statistic, found)
        fixed = fixed_speakers(statistic, subset.blocks)
        for n, verdict in enumerate(judged):
            sample = fixed.spread[:, n], fixed.freedom[n]
            drawn = found.replicates[:, n]
            self._judged.append(results.Judged(verdict, drawn, *population, int(sides[n]), *sample))
        return judged

    def _concluded_groups(
        self,
        subset: Subset,
        definition: TestDefinition,
        judged: list[results.Verdict],
        gap: GroupGap | Measure,
    ) -> tuple[list[results.Verdict], np.ndarray]:
        """Add what may be concluded from the gap of a group; also gives blocks of the smaller side."""
        settings = conclusions.Settings(self.interval, self.seed, self.thresholds == "gap")
        gaps = conclusions.gaps_of(gap, subset, definition, self.resample, settings)
        threshold = definition.threshold_for(subset.task)
        usual = threshold if definition.is_own(subset.task) else self.matters or threshold
        matters = definition.matters or usual
        found = [conclusions.concluded_group(v, n, gaps, matters, settings) for n, v in enumerate(judged)]
        names = next((corpus.adjust for corpus in self.corpora if corpus.name == subset.corpus), ())
        if names and isinstance(gap, GroupGap):
            found = with_adjusted(found, gap, subset, names, self.resample, self.interval)
        return found, gaps.blocks

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

    def _skipped_row(
        self, subset: Subset, definition: TestDefinition, reason: str, group: str
    ) -> results.Verdict:
        """Keep a skipped row, unless the same test has one."""
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
            group=group,
        )
        key = [getattr(row, name) for name in KEY]
        if all([getattr(entry.verdict, name) for name in KEY] != key for entry in self._judged):
            self._judged.append(results.Judged(row, np.empty(0)))
        return row

    def _threshold(self, subset: Subset, definition: TestDefinition) -> tuple[float | None, str]:
        """Give the threshold of a test, the published one or the same stretched to the groups' sizes.

        The text says why there is none although the test has one: groups cannot differ by so much.
        """
        published = definition.threshold_for(subset.task)
        if subset.group_size is None or published is None:
            return published, ""
        found = self._stretched(subset, definition, published)
        groups = subset.group_size[0]
        if self.thresholds != "gap" and definition.rule == WITHIN and definition.range and groups > 1:
            most = definition.range[1] * (1 - 1 / groups)
            if found >= most:
                what = (
                    f"the threshold is {found:g}, and {groups} groups differ from all by at most {most:.3g}"
                )
                return None, f"too few segments to tell: {what}"
        return found, ""

    def _stretched(self, subset: Subset, definition: TestDefinition, published: float) -> float:
        if not_simulated(subset, definition):
            return published
        groups, samples = subset.group_size
        classes = len(subset.task.classes) or 4  # numbers have four bins
        found = simulated_threshold(published, definition.simulation, groups, samples, classes)
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

    def _population(
        self, subset: Subset, statistic: Statistic | Weighted, found: bootstrap.Resampled
    ) -> tuple[str, str]:
        """Say on which segments and on which blocks a statistic rests, as two digests."""
        if subset.segments is not self._population_of:  # most judgements follow one on the same segments
            self._population_of = subset.segments
            self._digest_of = files.digests_after("\n".join(subset.segments["key"].tolist()) + "\n")
        if isinstance(statistic, Weighted) and not isinstance(statistic, PlainStatistic):
            used, rows = statistic.n_blocks, found.segments.tolist()
        else:
            used = np.unique(subset.blocks[statistic.rows]).tolist()
            rows = np.flatnonzero(statistic.rows).tolist()
        return self._digest_of(f"{rows}"), self._digest_of(f"{used}")

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
                    found = dict(self._columns.get(place, {}))
                    if place not in judged and (place in self._reasons or not found):
                        found[""] = self._reasons.get(place, reason)
                    for column, why in found.items():
                        skipped = dataclasses.replace(row, skipped=why, group=column)
                        rows.append(results.Judged(skipped, np.empty(0)))
        return rows

    def note(self, note: str) -> None:
        """Tell the reader something, once."""
        if note not in self.notes:
            self.notes.append(note)

    _note = note

    def save(self) -> None:
        """Write the rows for the results table; the last thing that a notebook does."""
        results.save(self._rows(), self._rows_file, notes=self.notes)


def _joined(subset: Subset, *what: str) -> str:
    return ", ".join(filter(None, (subset.corpus, subset.task.name, *what)))
