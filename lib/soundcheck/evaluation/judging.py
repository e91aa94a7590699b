"""Judges measures: value, replicates, threshold, random reference; and keeps a row for every test.

Every test of the family ends in a row: what a notebook did not judge is written as skipped, with the reason.
"""

import collections
import dataclasses
import functools
import itertools
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.evaluation import conclusions
from soundcheck.evaluation.conclusions import Computed, GroupGap, estimate_rows
from soundcheck.evaluation.subset import (
    Corpora,
    Measure,
    NoPredictionError,
    PlainMeasureError,
    PlainStatistic,
    Subset,
    aligned,
    statistic_of,
)
from soundcheck.metrics.additive import Statistic, values
from soundcheck.metrics.combinators import sides
from soundcheck.metrics.weighted import Weighted
from soundcheck.results import rows as result_rows
from soundcheck.results.contrast import HEADLINES, shown_values
from soundcheck.results.rows import ALL, OTHERS, UNJUDGED, Estimate, Judged, Verdict, skipped_rows
from soundcheck.results.table import collected, estimate_frame, key_of, to_frame
from soundcheck.statistics.evidence import FREE, Scale
from soundcheck.statistics.rules import GAP_RULES, WITHIN
from soundcheck.statistics.simulation import MOST_CLASSES, simulated_threshold
from soundcheck.suite.families import UNCHANGED, TestDefinition, info_of, measure_of

_OF_STEPS = ("corpus", "task", "value", "low", "high", "segments")  # of estimates, in the frame of a curve
BIASED = (  # measures and labels to whose values chance adds
    *(("calibration_error_as_computed", ""), ("brier_parts", "reliability")),
    *(("brier_parts", "resolution"), ("brier_parts", "within bins")),
)
CLASSES = 4  # of the published simulations; numbers have four bins


class Judging(Corpora):
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

    def estimates(
        self,
        subset: Subset,
        measures: Mapping[str, Measure],
        parts: Mapping[str, np.ndarray | None] = MappingProxyType({ALL: None}),
        *,
        condition: str | None = None,
        excluded: Mapping[str, str] = MappingProxyType({}),
    ) -> pd.DataFrame:
        """Estimate measures on parts of a subset, and keep the rows for the run.

        ``excluded`` parts have a reason in place of the interval.
        """
        rows = []
        for (name, measure), (part, mask) in itertools.product(measures.items(), parts.items()):
            statistic = subset.measured(measure, subset.predictions, mask)
            rows += self.estimate(subset, name, statistic, part, condition, excluded.get(part, ""))
        return estimate_frame(rows)

    def estimate(
        self,
        subset: Subset,
        measure: str,
        statistic: Statistic | Weighted,
        part: str = ALL,
        condition: str | None = None,
        excluded: str = "",
    ) -> list[Estimate]:
        """Estimate a statistic of a subset, and keep its rows, one a label, for the run."""
        condition = subset.change if condition is None else condition
        compared = part != ALL and info_of(measure).name in HEADLINES and not condition
        computed = self._resampled(subset, statistic)
        rows = self._rows(subset, computed, None, measure=measure, part=part, condition=condition)
        for n, row in enumerate(rows):
            if (row.measure, row.label) in BIASED:
                row = _without_interval(row, "chance adds to it, so there is no interval")
            rows[n] = dataclasses.replace(row, low=None, high=None, excluded=excluded) if excluded else row
        if compared:
            reported, blocks = shown_values(rows, self.family.category), computed.resampled.blocks
            self._group_values += self._with_replicates(reported, subset, computed, blocks)
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
        remark = " (balanced)" if subset.balanced else ""
        measures = {
            f"{measure_of(test, self.family.name).name}{remark}": measure
            for test, measure in tests.items()
            if not self.family.tests[test].off
        }
        self.estimates(subset, measures, parts, excluded=excluded)

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
            computed, reference = self._computed(subset, measure)
            about = {"measure": name, "part": ALL, "condition": f"{series} {step}"}
            (estimate,) = self._rows(subset, computed, None if name else scale, **about)
            if name == UNCHANGED and not rows:  # the first step is compared with itself
                estimate = _without_interval(estimate, "nothing can vary")
            self._estimates += [estimate] if name else []
            row = {name: getattr(estimate, name) for name in _OF_STEPS} | {"step": step}
            rows.append(row | {"blocks": computed.resampled.blocks[0], "reference": reference[0]})
        return pd.DataFrame(rows).astype(dict.fromkeys(("value", "low", "high"), np.float64))

    def _rows(self, subset: Subset, computed: Computed, scale: Scale | None, **about: str) -> list[Estimate]:
        about, speakers = self._about(subset) | about, self._block_of(subset) != "file"
        return estimate_rows(about, computed, self.interval, scale, speakers=speakers)

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
            computed, random = self._computed(subset, measure)
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
        rows = result_rows.judge(
            result,
            **self._of_test(subset, definition, group),
            threshold=threshold,
            reference=random,
            kind=self.interval,
            scale=scale,
            untestable=untestable,
        )
        if gap is None:
            info, smaller = measure_of(test, self.family.name), result.blocks
            rows = [conclusions.concluded_value(v, n, computed, scale, info) for n, v in enumerate(rows)]
            if chance is not None and threshold is None:
                both = sides(computed.statistic, chance(subset, subset.predictions))
                above = self._resampled(subset, both), self.interval, info
                rows = [conclusions.above_chance(v, n, *above) for n, v in enumerate(rows)]
            if info.name and not column:
                about = {"measure": info.name, "part": ALL, "condition": subset.change}
                self._estimates += self._rows(subset, computed, scale, **about)
        else:
            rows, smaller = self._concluded_groups(subset, definition, rows, gap)
        rows = [conclusions.believable(verdict, scale) for verdict in rows]
        rows = [_remarked(verdict, subset, definition, self.thresholds) for verdict in rows]
        if column:
            rows = [dataclasses.replace(v, group=f"{column}: {v.label}", label="") for v in rows]
        self._judged += self._with_replicates(rows, subset, computed, smaller, spread=gap is None)
        return rows

    def amend(self, verdict: Verdict) -> None:
        """Put another verdict in the place of the last one."""
        self._judged[-1] = dataclasses.replace(self._judged[-1], verdict=verdict)

    def _of_test(self, subset: Subset, definition: TestDefinition, group: str) -> dict[str, str]:
        about = {"category": self.family.category, "test": definition.name, "rule": definition.rule}
        return self._about(subset) | about | {"group": group}

    def _with_replicates(
        self,
        rows: Sequence[Verdict],
        subset: Subset,
        computed: Computed,
        smaller: np.ndarray,
        *,
        spread: bool = True,
    ) -> list[Judged]:
        """Put rows together with their replicates and with digests of the segments and blocks behind them."""
        if subset.segments is not self._digested[0]:  # most judgements follow one on the same segments
            keys = "\n".join(subset.segments["key"].tolist()) + "\n"
            self._digested = subset.segments, files.digests_after(keys)
        statistic, resampled = computed.statistic, computed.resampled
        if isinstance(statistic, Weighted) and not isinstance(statistic, PlainStatistic):
            used = resampled.segments.tolist(), statistic.n_blocks
        else:
            used = np.flatnonzero(statistic.rows).tolist(), np.unique(subset.blocks[statistic.rows]).tolist()
        population, judged = [self._digested[1](f"{numbers}") for numbers in used], []
        known = computed.fixed.spread.shape[1] if spread else 0
        for n, row in enumerate(rows):
            here = (computed.fixed.spread[:, n], float(computed.fixed.freedom[n])) if n < known else ()
            judged.append(Judged(row, resampled.replicates[:, n], *population, int(smaller[n]), *here))
        return judged

    def _concluded_groups(
        self, subset: Subset, definition: TestDefinition, rows: list[Verdict], gap: GroupGap
    ) -> tuple[list[Verdict], np.ndarray]:
        """Add what may be concluded from the difference of a group; also gives the smaller side's size."""
        margin = definition.margin or self.margin
        if definition.is_own(subset.task) and not definition.margin:  # its own threshold comes first
            margin = dataclasses.replace(margin, absolute=None)
        block, published = self._block_of(subset), definition.threshold_for(subset.task)
        of_model, of_random = (gap.sides(subset, said) for said in (subset.predictions, subset.reference))
        about = subset.blocks, definition, functools.partial(self.resample, noun=block), self.interval
        gaps = conclusions.compared_sides(*of_model, (gap.group, gap.others), *about, self.seed)
        judged_by = margin, published, measure_of(definition.name, self.family.name)
        by_gap, random = self.thresholds == "gap", np.subtract(*map(values, of_random))
        rows = [
            conclusions.concluded_group(verdict, n, gap, gaps, random[n], *judged_by, by_gap, block)
            for n, verdict in enumerate(rows)
        ]
        names = self.view(subset).adjust
        if names and not subset.task.is_embedding and any(verdict.gap is not None for verdict in rows):
            column = rows[0].group.partition(": ")[0]
            cells = conclusions.adjusted_gap(gap, subset, names, column, self.resample, self.interval)
            rows = [
                dataclasses.replace(verdict, **({} if verdict.gap is None else row))
                for verdict, row in zip(rows, cells, strict=True)
            ]
        return rows, gaps.blocks

    def _resampled(self, subset: Subset, statistic: Statistic | Weighted) -> Computed:
        resampled = self.resample(statistic, subset.blocks, self._block_of(subset))
        return Computed(statistic, resampled, subset.blocks)

    def _computed(self, subset: Subset, measure: Measure) -> tuple[Computed, np.ndarray]:
        """Compute a measure with its replicates, and its values for the random reference."""
        start, plain = time.monotonic(), True
        try:
            statistic = statistic_of(measure, subset, subset.predictions, self._seconds_left)
            plain = isinstance(statistic, PlainStatistic)
            computed = self._resampled(subset, statistic)
            return computed, aligned(statistic_of(measure, subset, subset.reference), statistic)
        finally:
            if plain:
                self._seconds_left = max(0.0, self._seconds_left - (time.monotonic() - start))

    # Thresholds

    def _threshold(self, subset: Subset, definition: TestDefinition) -> tuple[float | None, str]:
        """Give the threshold, perhaps stretched to the groups' sizes; the text says why there is none."""
        result = published = definition.threshold_for(subset.task)
        if subset.group_size is None or published is None:
            return published, ""
        groups, samples = subset.group_size
        if not _not_simulated(subset, definition):
            about = published, definition.simulation, groups, samples, len(subset.task.classes) or CLASSES
            simulated = simulated_threshold(*about)
            row = {"corpus": subset.corpus, "task": subset.task.name, "test": definition.name}
            row |= {"groups": groups, "samples": samples, "published": published}
            row |= {"simulated": simulated.threshold, "stretch": simulated.stretch}
            row |= {"here": simulated.here, "published_size": simulated.published}
            self._simulated[tuple(row.values())] = row
            result = simulated.threshold if self.thresholds == "simulated" else published
        if self.thresholds != "gap" and definition.rule == WITHIN and definition.range and groups > 1:
            most = definition.range[1] * (1 - 1 / groups)
            if result >= most:
                what = f"{groups} groups differ from all by at most {most:.3g}"
                return None, f"too few segments to tell: the threshold is {result:g}, and {what}"
        return result, ""

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
        row = Verdict(**about, skipped=reason, threshold=definition.threshold_for(subset.task))
        if all(key_of(entry.verdict) != key_of(row) for entry in self._judged):
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

    def note_share(self, where: str, rows: np.ndarray, what: str) -> None:
        """Note how many of some rows, bool, something is true of, if it is of any."""
        if np.any(rows):
            self.note(f"{where}: {np.sum(rows)} of {len(rows)} {what}")

    def save(self) -> None:
        """Write the rows for the results table; the last thing that a notebook does."""
        tables = collected(self._estimates), self._drawn, self._group_values
        result_rows.save(self._every_row(), self.rows, self.notes, *tables)


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
    if verdict.evidence == UNJUDGED:
        remark = definition.unsuited(subset.task)
    elif verdict.threshold is not None:
        remark = definition.change_for(subset.task)
        published = not remark and subset.group_size is not None and verdict.rule not in GAP_RULES
        if published and thresholds == "simulated" and (why := _not_simulated(subset, definition)):
            remark = f"published threshold: {why}"
        if published and thresholds == "published" and definition.simulation and classes not in (0, CLASSES):
            remark = f"published threshold: simulated for {CLASSES} classes, not {classes}"
    return dataclasses.replace(verdict, skipped="; ".join(filter(None, (verdict.skipped, remark))))
