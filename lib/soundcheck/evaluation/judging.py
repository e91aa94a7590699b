"""Judges measures: value, replicates, threshold, random reference; and keeps a row for every test.

Every test of the family ends in a row: what a notebook did not judge is written as skipped, with the reason.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.evaluation import conclusions, plain_measures
from soundcheck.evaluation.adjusted import with_adjusted
from soundcheck.evaluation.conclusions import GroupGap
from soundcheck.evaluation.corpus_view import CorpusView
from soundcheck.evaluation.estimates import estimate_rows, scale_within, without_interval
from soundcheck.evaluation.plain_measures import (
    NoPredictionError,
    PlainMeasureError,
    PlainStatistic,
    statistic_of,
)
from soundcheck.evaluation.subset import Measure, Subset
from soundcheck.evaluation.threshold_source import not_simulated, remarked
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.combinators import sides
from soundcheck.metrics.weighted import Weighted
from soundcheck.results import judged as judged_rows
from soundcheck.results import verdict as verdicts
from soundcheck.results.contrast import HEADLINES, shown_values
from soundcheck.results.estimates import ALL, Estimate, collected, estimate_frame
from soundcheck.results.judged import Judged
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import KEY, OTHERS, Verdict, skipped_rows
from soundcheck.statistics import bootstrap
from soundcheck.statistics.evidence import FREE, Scale
from soundcheck.statistics.fixed_speakers import FixedSpeakers, fixed_speakers
from soundcheck.statistics.rules import WITHIN
from soundcheck.statistics.simulated_thresholds import simulated_threshold
from soundcheck.suite.families import TestDefinition
from soundcheck.suite.measures import UNCHANGED, info_of, measure_of


class Judging:
    """The half of an evaluation that judges; see :class:`soundcheck.evaluation.evaluation.Evaluation`."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._judged: list[Judged] = []
        self._estimates: list[Estimate] = []
        self._group_values: list[Judged] = []
        self._drawn: dict[tuple[str, str, str], list[str]] = {}
        self._simulated: dict[tuple, dict] = {}
        self._reasons: dict[tuple[str, str, str], str] = {}  # by corpus, task and test
        self._columns: dict[tuple[str, str, str], dict[str, str]] = {}
        self._one_row: set[tuple[str, str]] = set()
        self._population_of: pd.DataFrame | None = None
        self._digest_of: Callable[[str], str] = str

    def curve(
        self,
        steps: Mapping[str, Subset],
        measure: Measure,
        scale: Scale = FREE,
        name: str = "",
        series: str = "",
    ) -> pd.DataFrame:
        """Compute a measure at each step of a sweep; kept as estimates if it has a name among these."""
        rows = []
        for step, subset in steps.items():
            row = {"corpus": subset.corpus, "task": subset.task.name, "step": step}
            try:
                statistic, found, reference = self._computed(subset, measure)
            except PlainMeasureError as fault:
                self.note(f"{subset.corpus}, {subset.task.name}, {step}: {fault}")
                nothing = dict.fromkeys(("value", "low", "high", "reference"), np.nan)
                rows.append(row | nothing | {"segments": len(subset), "blocks": 0})
                continue
            scale = scale_within(info_of(name), found) if name else scale
            low, high = (ends[0] for ends in found.interval(self.interval, scale=scale))
            if name:
                about = self._about(subset, name, ALL, f"{series} {step}")
                fixed = fixed_speakers(statistic, subset.blocks)
                kept = self._rows_of(subset, about, found, fixed, ([low], [high]), scale)
                if name == UNCHANGED and not rows:  # the first step is compared with itself
                    kept = [without_interval(one, "nothing can vary") for one in kept]
                self._estimates += kept
                low, high = (np.nan if end is None else end for end in (kept[0].low, kept[0].high))
            row |= {"value": found.value[0], "low": low, "high": high, "reference": reference[0]}
            rows.append(row | {"segments": int(found.segments[0]), "blocks": int(found.blocks[0])})
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

    def not_applicable(self, subset: Subset, reason: str) -> None:
        """Say why nothing can be judged for a corpus and task: one skipped row instead of one a test."""
        self.skip(subset, reason)
        self._one_row.add((subset.corpus, subset.task.name))

    def amend(self, verdict: Verdict) -> None:
        """Put another verdict in the place of the last one."""
        self._judged[-1] = dataclasses.replace(self._judged[-1], verdict=verdict)

    def resample(
        self, statistic: Statistic | Weighted, blocks: np.ndarray, noun: str = "speaker"
    ) -> bootstrap.Resampled:
        """Compute a statistic with replicates of the suite's number and seed."""
        return bootstrap.resample(statistic, blocks, self.replicates, self.seed, noun)

    def estimates(
        self,
        subset: Subset,
        measures: Mapping[str, Measure],
        parts: Mapping[str, np.ndarray | None] = MappingProxyType({ALL: None}),
        *,
        condition: str | None = None,
        excluded: Mapping[str, str] = MappingProxyType({}),
        biased: Collection[str] = (),
    ) -> pd.DataFrame:
        """Estimate measures on parts of a subset, and keep the rows for the run.

        ``excluded`` parts have a reason in place of the interval for new speakers; ``biased`` measures or
        labels have no interval.
        """
        rows: list[Estimate] = []
        for name, measure in measures.items():
            for part, mask in parts.items():
                statistic = subset.measured(measure, subset.predictions, mask)
                why = excluded.get(part, "")
                rows += self.estimate(subset, name, statistic, part, condition, biased, why)
        return estimate_frame(rows)

    def estimate(
        self,
        subset: Subset,
        measure: str,
        statistic: Statistic | Weighted,
        part: str = ALL,
        condition: str | None = None,
        biased: Collection[str] = (),
        excluded: str = "",
    ) -> list[Estimate]:
        """Estimate a statistic of a subset, and keep its rows, one a label, for the run."""
        about, info = self._about(subset, measure, part, condition), info_of(measure)
        found = self.resample(statistic, subset.blocks, self._block_of(subset))
        scale = scale_within(info, found)
        bounds = found.interval(self.interval, scale=scale)
        compared = part != ALL and info.name in HEADLINES and not about["condition"]
        fixed = fixed_speakers(statistic, subset.blocks, spread=compared)
        rows = self._rows_of(subset, about, found, fixed, bounds, scale)
        for n, row in enumerate(rows):
            if {row.measure, row.label}.intersection(biased):
                rows[n] = without_interval(row, "chance adds to it, so there is no interval")
            if excluded:
                rows[n] = dataclasses.replace(rows[n], low=None, high=None, excluded=excluded)
        if compared:
            shown = shown_values(rows, self.family.category)
            self._group_values += self._with_replicates(subset, shown, statistic, found, found.blocks, fixed)
        self._estimates += rows
        return rows

    def estimate_groups(
        self,
        subset: Subset,
        tests: Mapping[str, Measure],
        parts: Mapping[str, np.ndarray],
        excluded: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Estimate the measures of tests of groups; ``excluded`` groups say why they are not compared.

        Of a subset whose groups were drawn to be alike the measure says so.
        """
        measures = {}
        for test, measure in tests.items():
            info = measure_of(test, self.family.name)
            if not self.family.tests[test].off:
                measures[f"{info.name} (balanced)" if subset.balanced else info.name] = measure
        try:
            self.estimates(subset, measures, parts, excluded=excluded)
        except PlainMeasureError:
            return  # the judgement says why

    def drawn(self, subset: Subset, rows: np.ndarray) -> Subset:
        """Keep the rows that were drawn so that groups are alike, and list them for the run."""
        found = subset.take(rows)
        if len(found) == len(subset):
            return found
        place = (subset.corpus, self.family.name, subset.task.name)
        self._drawn[place] = found.segments["key"].tolist()
        return dataclasses.replace(found, balanced=True)

    def reference(
        self, subset: Subset, column: str, masks: Mapping[str, np.ndarray], group: str
    ) -> tuple[np.ndarray, str]:
        """Give the rows that a group is compared with, bool ``(segments,)``, and who they are.

        Nobody, without rows, if the group is the reference itself or the reference is not among the groups.
        """
        named = self.view(subset).against.get(column, OTHERS)
        if named == OTHERS:
            everybody = np.logical_or.reduce(list(masks.values()))
            return everybody & ~masks[group], OTHERS
        nobody = np.zeros(len(subset), dtype=bool)
        return (nobody if group == named else masks.get(named, nobody)), named

    def _rows_of(self, subset: Subset, *of: object) -> list[Estimate]:
        return estimate_rows(*of, speakers=self._block_of(subset) != "file")

    def _about(self, subset: Subset, measure: str, part: str, condition: str | None) -> dict[str, str]:
        return {
            "model": self.model,
            "corpus": subset.corpus,
            "family": self.family.name,
            "task": subset.task.name,
            "measure": measure,
            "part": part,
            "condition": subset.change if condition is None else condition,
        }

    def _of_test(self, subset: Subset, definition: TestDefinition, group: str) -> dict[str, str]:
        return {
            "model": self.model,
            "corpus": subset.corpus,
            "family": self.family.name,
            "category": self.family.category,
            "task": subset.task.name,
            "test": definition.name,
            "rule": definition.rule,
            "group": group,
        }

    def _block_of(self, subset: Subset) -> str:
        """Name what is resampled of a subset, in the singular."""
        return "speaker" if subset.task.is_embedding else self.block_names.get(subset.corpus, "speaker")

    def judge(
        self,
        subset: Subset,
        test: str,
        measure: Measure,
        group: str = "",
        *,
        column: str = "",
        gap: GroupGap | None = None,
        chance: Measure | None = None,
    ) -> list[Verdict]:
        """Compute a measure with its interval, compare it with its threshold and the random reference."""
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
        judged = verdicts.judge(
            found,
            **self._of_test(subset, definition, group),
            threshold=threshold,
            reference=reference,
            kind=self.interval,
            scale=scale,
            untestable=untestable,
        )
        smaller, fixed = found.blocks, None
        if gap is None:
            fixed = fixed_speakers(statistic, subset.blocks, spread=True)
            info = measure_of(test, self.family.name)
            judged = [
                conclusions.concluded_value(v, n, found, scale, fixed, info) for n, v in enumerate(judged)
            ]
            if chance is not None and threshold is None:
                above = sides(statistic, chance(subset, subset.predictions))
                resampled = self.resample(above, subset.blocks), fixed_speakers(above, subset.blocks)
                judged = [
                    conclusions.above_chance(v, n, *resampled, self.interval, info)
                    for n, v in enumerate(judged)
                ]
            self._keep_values(subset, definition, judged, found, fixed, scale, column)
        else:
            judged, smaller = self._concluded_groups(subset, definition, judged, gap)
        judged = [
            remarked(conclusions.believable(verdict, scale), subset, definition, self.thresholds)
            for verdict in judged
        ]
        if column:
            judged = [dataclasses.replace(v, group=f"{column}: {v.label}", label="") for v in judged]
        self._judged += self._with_replicates(subset, judged, statistic, found, smaller, fixed)
        return judged

    def _with_replicates(
        self,
        subset: Subset,
        rows: Sequence[Verdict],
        statistic: Statistic | Weighted,
        found: bootstrap.Resampled,
        smaller: np.ndarray,
        fixed: FixedSpeakers | None,
    ) -> Iterator[Judged]:
        population = self._population(subset, statistic, found)
        for n, row in enumerate(rows):
            known = fixed is not None and fixed.spread.shape[1] > n
            spread = (fixed.spread[:, n], float(fixed.freedom[n])) if known else ()
            yield Judged(row, found.replicates[:, n], *population, int(smaller[n]), *spread)

    def _keep_values(
        self,
        subset: Subset,
        definition: TestDefinition,
        judged: Sequence[Verdict],
        found: bootstrap.Resampled,
        fixed: FixedSpeakers,
        scale: Scale,
        column: str,
    ) -> None:
        """Keep the values of a test among the estimates."""
        info = measure_of(definition.name, self.family.name)
        if not info.name or column:
            return
        about = self._about(subset, info.name, ALL, None)
        bounds = np.array([(row.low, row.high) for row in judged], dtype=np.float64).reshape(-1, 2).T
        self._estimates += self._rows_of(subset, about, found, fixed, bounds, scale)

    def _concluded_groups(
        self,
        subset: Subset,
        definition: TestDefinition,
        judged: list[Verdict],
        gap: GroupGap,
    ) -> tuple[list[Verdict], np.ndarray]:
        """Add what may be concluded from the difference of a group; also gives the smaller side's size."""
        margin = definition.margin or self.margin
        if definition.is_own(subset.task) and not definition.margin:  # its own threshold comes first
            margin = dataclasses.replace(margin, absolute=None)
        settings = conclusions.Settings(
            self.interval,
            self.seed,
            self.thresholds == "gap",
            self._block_of(subset),
            margin,
            measure_of(definition.name, self.family.name),
        )
        resample = functools.partial(self.resample, noun=settings.block)
        gaps = conclusions.gaps_of(gap, subset, definition, resample, settings)
        published = definition.threshold_for(subset.task)
        found = [conclusions.concluded_group(v, n, gaps, published, settings) for n, v in enumerate(judged)]
        names = self.view(subset).adjust
        if names and not subset.task.is_embedding:
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
            found = self.resample(statistic, subset.blocks, self._block_of(subset))
            of_reference = statistic_of(measure, subset, subset.reference)
            return statistic, found, plain_measures.aligned(of_reference, found.labels)
        finally:
            if plain:
                took = time.monotonic() - start
                self._seconds_left = max(0.0, self._seconds_left - took)
                told = f"{subset.corpus}, {subset.task.name}: the measure was called for {took:.1f} s"
                print(told, file=sys.stderr)  # kept with the notebook; pages do not show times

    def _skipped_row(self, subset: Subset, definition: TestDefinition, reason: str, group: str) -> Verdict:
        """Keep a skipped row, unless the same test has one."""
        threshold = definition.threshold_for(subset.task)
        row = verdicts.skip(reason, **self._of_test(subset, definition, group), threshold=threshold)
        key = [getattr(row, name) for name in KEY]
        if all([getattr(entry.verdict, name) for name in KEY] != key for entry in self._judged):
            self._judged.append(Judged(row, np.empty(0)))
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
        """Give thresholds for groups of the sizes that were tested, and what they rest on."""
        return pd.DataFrame(list(self._simulated.values()))

    def view(self, subset: Subset) -> CorpusView:
        """Give the corpus that a subset is from."""
        return next(corpus for corpus in self.corpora if corpus.name == subset.corpus)

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
        return to_frame(entry.verdict for entry in self._rows())

    def estimated(self) -> pd.DataFrame:
        """Give all values so far as rows of the table of estimates."""
        return estimate_frame(collected(self._estimates))

    def _rows(self) -> list[Judged]:
        judged = {(row.verdict.corpus, row.verdict.task, row.verdict.test) for row in self._judged}
        rows = list(self._judged)
        for corpus, task in itertools.product(self.corpora, self.tasks):
            place = corpus.name, task.name
            reason = self._reasons.get((*place, ""), "not computed by the notebook")
            skipped = []
            for row in skipped_rows(self.model, corpus.name, self.family, task, reason):
                test = (*place, row.test)
                reasons = dict(self._columns.get(test, {}))
                if test not in judged and (test in self._reasons or not reasons):
                    reasons[""] = self._reasons.get(test, reason)
                skipped += [
                    Judged(dataclasses.replace(row, skipped=why, group=column), np.empty(0))
                    for column, why in reasons.items()
                ]
            rows += skipped[:1] if place in self._one_row else skipped
        return rows

    def note(self, note: str) -> None:
        """Tell the reader something, once."""
        if note not in self.notes:
            self.notes.append(note)

    def save(self) -> None:
        """Write the rows for the results table; the last thing that a notebook does."""
        estimates = collected(self._estimates)
        judged_rows.save(
            self._rows(), self._rows_file, self.notes, estimates, self._drawn, self._group_values
        )


def _joined(subset: Subset, *what: str) -> str:
    return ", ".join(filter(None, (subset.corpus, subset.task.name, *what)))
