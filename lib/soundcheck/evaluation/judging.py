"""Judges measures: value, replicates, threshold, random reference; and keeps a row for every test.

Every test of the family ends in a row: what a notebook did not judge is written as skipped, with the reason.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import time
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.evaluation import conclusions
from soundcheck.evaluation.conclusions import GroupGap, estimate_rows, scale_within
from soundcheck.evaluation.plain_measures import (
    NoPredictionError,
    PlainMeasureError,
    PlainStatistic,
    aligned,
    statistic_of,
)
from soundcheck.evaluation.subset import CorpusView, Measure, Subset
from soundcheck.metrics.additive import Statistic, values
from soundcheck.metrics.combinators import sides
from soundcheck.metrics.weighted import Weighted
from soundcheck.results import judged as judged_rows
from soundcheck.results import verdict as verdicts
from soundcheck.results.contrast import HEADLINES, shown_values
from soundcheck.results.estimates import ALL, Estimate, collected, estimate_frame
from soundcheck.results.judged import Judged
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import KEY, OTHERS, SHOWN, Verdict, skipped_rows
from soundcheck.statistics import bootstrap
from soundcheck.statistics.evidence import FREE, Scale
from soundcheck.statistics.fixed_speakers import FixedSpeakers, fixed_speakers
from soundcheck.statistics.rules import GAP_RULES, WITHIN
from soundcheck.statistics.simulated_thresholds import simulated_threshold
from soundcheck.statistics.simulation import MOST_CLASSES
from soundcheck.suite.families import TestDefinition
from soundcheck.suite.measures import UNCHANGED, info_of, measure_of

CLASSES = 4  # of the published simulations; numbers have four bins


@dataclasses.dataclass(frozen=True, eq=False)
class Computed:
    """A statistic of a subset with its replicates."""

    subset: Subset
    statistic: Statistic | Weighted
    resampled: bootstrap.Resampled
    fixed: FixedSpeakers | None = None  # what is known for these speakers

    def known(self, *, spread: bool = False) -> Computed:
        """Add what is known for these speakers."""
        fixed = fixed_speakers(self.statistic, self.subset.blocks, spread=spread)
        return dataclasses.replace(self, fixed=fixed)


class Judging:
    """The half of an evaluation that judges; see :class:`soundcheck.evaluation.evaluation.Evaluation`."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._judged: list[Judged] = []
        self._group_values: list[Judged] = []
        self._estimates: list[Estimate] = []
        self._drawn: dict[tuple[str, str, str], list[str]] = {}
        self._simulated: dict[tuple, dict] = {}
        # (corpus, task, test) -> column of groups -> why it is not judged; of all tests and columns: empty
        self._reasons: dict[tuple[str, str, str], dict[str, str]] = collections.defaultdict(dict)
        self._one_row: set[tuple[str, str]] = set()
        self._digested = pd.DataFrame(), files.digests_after("")  # segments of the last row, and their digest

    # What is shown without verdict

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

        ``excluded`` parts have a reason, ``biased`` measures or labels nothing, in place of the interval.
        """
        rows: list[Estimate] = []
        for (name, measure), (part, mask) in itertools.product(measures.items(), parts.items()):
            statistic = subset.measured(measure, subset.predictions, mask)
            rows += self.estimate(subset, name, statistic, part, condition, biased, excluded.get(part, ""))
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
        resampled = self.resample(statistic, subset.blocks, self._block_of(subset))
        condition = subset.change if condition is None else condition
        compared = part != ALL and info_of(measure).name in HEADLINES and not condition
        computed = Computed(subset, statistic, resampled).known(spread=compared)
        rows = self._rows(computed, measure, part, condition)
        for n, row in enumerate(rows):
            if {row.measure, row.label}.intersection(biased):
                rows[n] = _without_interval(row, "chance adds to it, so there is no interval")
            if excluded:
                rows[n] = dataclasses.replace(rows[n], low=None, high=None, excluded=excluded)
        if compared:
            reported = shown_values(rows, self.family.category)
            self._group_values += self._with_replicates(computed, reported, resampled.blocks)
        self._estimates += rows
        return rows

    def estimate_groups(
        self,
        subset: Subset,
        tests: Mapping[str, Measure],
        parts: Mapping[str, np.ndarray],
        excluded: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Estimate the measures of tests of groups; ``excluded`` groups say why they are not compared."""
        names = {test: measure_of(test, self.family.name).name for test in tests}
        remark = " (balanced)" if subset.balanced else ""
        on = {f"{names[test]}{remark}": one for test, one in tests.items() if not self.family.tests[test].off}
        try:
            self.estimates(subset, on, parts, excluded=excluded)
        except PlainMeasureError:
            return  # the judgement says why

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
            row |= dict.fromkeys(("value", "low", "high", "reference"), np.nan)
            rows.append(row | {"segments": len(subset), "blocks": 0})
            try:
                computed, reference = self._computed(subset, measure)
            except PlainMeasureError as fault:
                self.note(f"{subset.corpus}, {subset.task.name}, {step}: {fault}")
                continue
            result = computed.resampled
            if name:
                (chosen,) = self._rows(computed.known(), name, ALL, f"{series} {step}")
                if name == UNCHANGED and len(rows) == 1:  # the first step is compared with itself
                    chosen = _without_interval(chosen, "nothing can vary")
                self._estimates.append(chosen)
                bounds = np.array([[chosen.low], [chosen.high]], dtype=np.float64)
            else:
                bounds = result.interval(self.interval, scale=scale)
            (low,), (high,) = bounds
            rows[-1] |= {"value": result.value[0], "low": low, "high": high, "reference": reference[0]}
            rows[-1] |= {"segments": int(result.segments[0]), "blocks": int(result.blocks[0])}
        return pd.DataFrame(rows)

    def _rows(
        self,
        computed: Computed,
        measure: str,
        part: str,
        condition: str,
        scale: Scale | None = None,
        bounds: Sequence[np.ndarray] | None = None,
    ) -> list[Estimate]:
        subset, result = computed.subset, computed.resampled
        scale = scale or scale_within(info_of(measure), result)
        bounds = result.interval(self.interval, scale=scale) if bounds is None else bounds
        about = self._about(subset) | {"measure": measure, "part": part, "condition": condition}
        speakers = self._block_of(subset) != "file"
        return estimate_rows(about, result, computed.fixed, bounds, scale, speakers=speakers)

    def _about(self, subset: Subset) -> dict[str, str]:
        family = self.family.name
        return {"model": self.model, "corpus": subset.corpus, "family": family, "task": subset.task.name}

    def _block_of(self, subset: Subset) -> str:
        return "speaker" if subset.task.is_embedding else self.block_names.get(subset.corpus, "speaker")

    # What is judged

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
        place = ", ".join(filter(None, (subset.corpus, subset.task.name, test, group or column)))
        try:
            computed, reference = self._computed(subset, measure)
        except PlainMeasureError as fault:
            # By these words `soundcheck check` knows that something broke.
            why = f"{fault}" if isinstance(fault, NoPredictionError) else f"error: {fault}"
            self.note(f"{place}: {why}")
            return [self._skipped_row(subset, definition, why, group or column)]
        result = computed.resampled
        for note in filter(None, dict.fromkeys(result.notes)):
            self.note(f"{place}: {note}")
        threshold, untestable = self._threshold(subset, definition)
        scale = FREE if gap else conclusions.scale_of(definition, result)
        rows = verdicts.judge(
            result,
            **self._of_test(subset, definition, group),
            threshold=threshold,
            reference=reference,
            kind=self.interval,
            scale=scale,
            untestable=untestable,
        )
        if gap is None:
            computed, smaller = computed.known(spread=True), result.blocks
            info, fixed = measure_of(test, self.family.name), computed.fixed
            rows = [conclusions.concluded_value(v, n, result, scale, fixed, info) for n, v in enumerate(rows)]
            if chance is not None and threshold is None:
                above = sides(computed.statistic, chance(subset, subset.predictions))
                both = self.resample(above, subset.blocks), fixed_speakers(above, subset.blocks)
                rows = [
                    conclusions.above_chance(v, n, *both, self.interval, info) for n, v in enumerate(rows)
                ]
            if info.name and not column:
                bounds = np.array([(v.low, v.high) for v in rows], dtype=np.float64).reshape(-1, 2).T
                self._estimates += self._rows(computed, info.name, ALL, subset.change, scale, bounds)
        else:
            rows, smaller = self._concluded_groups(subset, definition, rows, gap)
        rows = [conclusions.believable(verdict, scale) for verdict in rows]
        rows = [_remarked(verdict, subset, definition, self.thresholds) for verdict in rows]
        if column:
            rows = [dataclasses.replace(v, group=f"{column}: {v.label}", label="") for v in rows]
        self._judged += self._with_replicates(computed, rows, smaller)
        return rows

    def amend(self, verdict: Verdict) -> None:
        """Put another verdict in the place of the last one."""
        self._judged[-1] = dataclasses.replace(self._judged[-1], verdict=verdict)

    def _of_test(self, subset: Subset, definition: TestDefinition, group: str) -> dict[str, str]:
        about = {"category": self.family.category, "test": definition.name, "rule": definition.rule}
        return self._about(subset) | about | {"group": group}

    def _with_replicates(
        self, computed: Computed, rows: Sequence[Verdict], smaller: np.ndarray
    ) -> list[Judged]:
        """Put rows together with their replicates and with digests of the segments and blocks behind them."""
        subset, statistic, fixed = computed.subset, computed.statistic, computed.fixed
        if subset.segments is not self._digested[0]:  # most judgements follow one on the same segments
            keys = "\n".join(subset.segments["key"].tolist()) + "\n"
            self._digested = subset.segments, files.digests_after(keys)
        if isinstance(statistic, Weighted) and not isinstance(statistic, PlainStatistic):
            used = computed.resampled.segments.tolist(), statistic.n_blocks
        else:
            used = np.flatnonzero(statistic.rows).tolist(), np.unique(subset.blocks[statistic.rows]).tolist()
        population = [self._digested[1](f"{numbers}") for numbers in used]
        judged = []
        for n, row in enumerate(rows):
            known = fixed is not None and fixed.spread.shape[1] > n
            spread = (fixed.spread[:, n], float(fixed.freedom[n])) if known else ()
            replicates = computed.resampled.replicates[:, n]
            judged.append(Judged(row, replicates, *population, int(smaller[n]), *spread))
        return judged

    def _concluded_groups(
        self, subset: Subset, definition: TestDefinition, rows: list[Verdict], gap: GroupGap
    ) -> tuple[list[Verdict], np.ndarray]:
        """Add what may be concluded from the difference of a group; also gives the smaller side's size."""
        margin = definition.margin or self.margin
        if definition.is_own(subset.task) and not definition.margin:  # its own threshold comes first
            margin = dataclasses.replace(margin, absolute=None)
        block, published = self._block_of(subset), definition.threshold_for(subset.task)
        measure, by_gap = measure_of(definition.name, self.family.name), self.thresholds == "gap"
        settings = conclusions.Settings(published, by_gap, block, margin, measure)
        both, guessed = (gap.sides(subset, one) for one in (subset.predictions, subset.reference))
        resample = functools.partial(self.resample, noun=block)
        about = subset.blocks, definition, resample, self.interval, self.seed
        gaps = conclusions.compared_sides(*both, (gap.group, gap.others), *about)
        random = dict(enumerate(np.subtract(*map(values, guessed))))
        result = [
            conclusions.concluded_group(verdict, n, gap, gaps, random.get(n, np.nan), settings)
            for n, verdict in enumerate(rows)
        ]
        names = self.view(subset).adjust
        known = any(verdict.gap is not None for verdict in result)
        if names and known and not subset.task.is_embedding:
            column = rows[0].group.partition(": ")[0]
            cells = conclusions.adjusted_gap(gap, subset, names, column, self.resample, self.interval)
            result = [
                verdict if verdict.gap is None else dataclasses.replace(verdict, **row)
                for verdict, row in zip(result, cells, strict=True)
            ]
        return result, gaps.blocks

    def _computed(self, subset: Subset, measure: Measure) -> tuple[Computed, np.ndarray]:
        start, plain = time.monotonic(), True
        try:
            statistic = statistic_of(measure, subset, subset.predictions, self._seconds_left)
            plain = isinstance(statistic, PlainStatistic)
            resampled = self.resample(statistic, subset.blocks, self._block_of(subset))
            random = aligned(statistic_of(measure, subset, subset.reference), resampled.labels)
            return Computed(subset, statistic, resampled), random
        finally:
            if plain:
                self._seconds_left = max(0.0, self._seconds_left - (time.monotonic() - start))

    # Thresholds

    def _threshold(self, subset: Subset, definition: TestDefinition) -> tuple[float | None, str]:
        """Give the threshold, perhaps stretched to the groups' sizes; the text says why there is none."""
        published = definition.threshold_for(subset.task)
        if subset.group_size is None or published is None:
            return published, ""
        result, groups = self._stretched(subset, definition, published), subset.group_size[0]
        if self.thresholds != "gap" and definition.rule == WITHIN and definition.range and groups > 1:
            most = definition.range[1] * (1 - 1 / groups)
            if result >= most:
                what = f"{groups} groups differ from all by at most {most:.3g}"
                return None, f"too few segments to tell: the threshold is {result:g}, and {what}"
        return result, ""

    def _stretched(self, subset: Subset, definition: TestDefinition, published: float) -> float:
        if _not_simulated(subset, definition):
            return published
        groups, samples = subset.group_size
        classes = len(subset.task.classes) or CLASSES
        result = simulated_threshold(published, definition.simulation, groups, samples, classes)
        row = {"corpus": subset.corpus, "task": subset.task.name, "test": definition.name}
        row |= {"groups": groups, "samples": samples, "published": published, "simulated": result.threshold}
        row |= {"stretch": result.stretch, "here": result.here, "published_size": result.published}
        self._simulated[tuple(row.values())] = row
        return result.threshold if self.thresholds == "simulated" else published

    def simulated(self) -> pd.DataFrame:
        """Give thresholds for groups of the sizes that were tested, and what they rest on."""
        return pd.DataFrame(list(self._simulated.values()))

    # What is not judged, and who is compared

    def skip(self, subset: Subset, reason: str, test: str = "", column: str = "") -> None:
        """Say why a test, or all of a corpus and task, is skipped if not judged, perhaps for a column."""
        self._reasons[subset.corpus, subset.task.name, test][column] = reason

    def not_applicable(self, subset: Subset, reason: str) -> None:
        """Say why nothing can be judged for a corpus and task: one skipped row instead of one a test."""
        self.skip(subset, reason)
        self._one_row.add((subset.corpus, subset.task.name))

    def _skipped_row(self, subset: Subset, definition: TestDefinition, reason: str, group: str) -> Verdict:
        about = self._of_test(subset, definition, group)
        row = verdicts.skip(reason, **about, threshold=definition.threshold_for(subset.task))
        key = [getattr(row, name) for name in KEY]
        if all([getattr(entry.verdict, name) for name in KEY] != key for entry in self._judged):
            self._judged.append(Judged(row, np.empty(0)))
        return row

    def drawn(self, subset: Subset, rows: np.ndarray) -> Subset:
        """Keep the rows that were drawn so that groups are alike, and list them for the run."""
        result = subset.take(rows)
        if len(result) == len(subset):
            return result
        place = (subset.corpus, self.family.name, subset.task.name)
        self._drawn[place] = result.segments["key"].tolist()
        return dataclasses.replace(result, balanced=True)

    def reference(
        self, subset: Subset, column: str, masks: Mapping[str, np.ndarray], group: str
    ) -> tuple[np.ndarray, str]:
        """Give the rows that a group is compared with, bool ``(segments,)``, perhaps none, and who it is."""
        named = self.view(subset).against.get(column, OTHERS)
        if named == OTHERS:
            return np.logical_or.reduce(list(masks.values())) & ~masks[group], OTHERS
        nobody = np.zeros(len(subset), dtype=bool)
        return (nobody if group == named else masks.get(named, nobody)), named

    def view(self, subset: Subset) -> CorpusView:
        """Give the corpus that a subset is from."""
        return next(corpus for corpus in self.corpora if corpus.name == subset.corpus)

    # Results

    def frame(self) -> pd.DataFrame:
        """Give all verdicts so far as rows of the results table, tests that were not judged as skipped."""
        return to_frame(entry.verdict for entry in self._every_row())

    def estimated(self) -> pd.DataFrame:
        """Give all values so far as rows of the table of estimates."""
        return estimate_frame(collected(self._estimates))

    def _every_row(self) -> list[Judged]:
        judged = {(row.verdict.corpus, row.verdict.task, row.verdict.test) for row in self._judged}
        rows = list(self._judged)
        for corpus, task in itertools.product(self.corpora, self.tasks):
            place, skipped = (corpus.name, task.name), []
            reason = self._reasons[*place, ""].get("", "not computed by the notebook")
            for row in skipped_rows(self.model, corpus.name, self.family, task, reason):
                columns = dict(self._reasons[*place, row.test])
                why = columns.pop("", "")
                if (*place, row.test) not in judged and (why or not columns):
                    columns[""] = why or reason
                skipped += [
                    dataclasses.replace(row, skipped=why, group=name) for name, why in columns.items()
                ]
            keep = skipped[:1] if place in self._one_row else skipped
            rows += [Judged(row, np.empty(0)) for row in keep]
        return rows

    def note(self, note: str, subset: Subset | None = None) -> None:
        """Tell the reader something, about the corpus of a subset if there is one; once."""
        note = f"{subset.corpus}: {note}" if subset else note
        if note not in self.notes:
            self.notes.append(note)

    def save(self) -> None:
        """Write the rows for the results table; the last thing that a notebook does."""
        tables = collected(self._estimates), self._drawn, self._group_values
        judged_rows.save(self._every_row(), self.rows, self.notes, *tables)


def _without_interval(row: Estimate, why: str) -> Estimate:
    nothing = dict.fromkeys(("low", "high", "low_sample", "high_sample"))
    return dataclasses.replace(row, **nothing, excluded=why)


def _not_simulated(subset: Subset, definition: TestDefinition) -> str:
    if definition.is_own(subset.task):
        return "the suite sets it"
    if not definition.simulation:
        return "no simulation belongs to it"
    if min(subset.group_size) < 2:
        return "simulations are for 2 groups or more of at least 2 segments"
    too_many = len(subset.task.classes) > MOST_CLASSES
    return f"simulations are for at most {MOST_CLASSES} classes" if too_many else ""


def _remarked(verdict: Verdict, subset: Subset, definition: TestDefinition, thresholds: str) -> Verdict:
    remark, classes = "", len(subset.task.classes)
    if verdict.evidence == SHOWN:
        remark = definition.unsuited(subset.task)
    elif verdict.threshold is not None:
        remark = definition.change_for(subset.task)
        published = not remark and subset.group_size is not None and verdict.rule not in GAP_RULES
        if published and thresholds == "simulated" and (why := _not_simulated(subset, definition)):
            remark = f"published threshold: {why}"
        if published and thresholds == "published" and definition.simulation and classes not in (0, CLASSES):
            remark = f"published threshold: simulated for {CLASSES} classes, not {classes}"
    return dataclasses.replace(verdict, skipped="; ".join(filter(None, (verdict.skipped, remark))))
