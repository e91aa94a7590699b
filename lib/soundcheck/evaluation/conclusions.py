"""What may be concluded from a value, for one row of the results each: interval, evidence, p-values.

Two kinds of rows: a *group* is compared with a reference, all others together or one that the suite names,
and judged by the difference and its margin; any other value is judged by its threshold. See
:mod:`soundcheck.statistics.evidence`, :mod:`soundcheck.statistics.permutation` and, for what is true of these
speakers, :mod:`soundcheck.statistics.fixed_speakers`.

Conventions
-----------
- The difference of a group is its value minus that of the reference. What is published compares a group with
  everybody, itself included; of two groups of equal size that is half the difference.
- Either side needs 5 speakers; else there is no interval and no p-value for new speakers.
- Speakers are permuted where each of them belongs to one group.
  Where groups vary within speakers, and for trials, the p-value is that of Student's t.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from soundcheck.common.wording import counted
from soundcheck.evaluation.estimates import for_these
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics import additive
from soundcheck.metrics.additive import Statistic, round_significant
from soundcheck.metrics.classification import ONE_CLASS
from soundcheck.metrics.combinators import sides
from soundcheck.metrics.weighted import Weighted, weighted_sides
from soundcheck.results.states import NO_REFERENCE, NO_SPEAKERS, REFERENCE
from soundcheck.results.verdict import OTHERS, SHOWN, Verdict, no_threshold
from soundcheck.statistics import evidence, permutation
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import FREE, LEAST_BLOCKS, Scale, certainty, interval
from soundcheck.statistics.fixed_speakers import FixedSpeakers, ForThese, fixed_speakers
from soundcheck.statistics.rules import ABOVE, BELOW, GAP_RULES, WITHIN, of_gap, one_sided, passes
from soundcheck.statistics.significance import paired_p_value
from soundcheck.suite.families import TestDefinition
from soundcheck.suite.margins import Margin
from soundcheck.suite.measures import HIGHER, MeasureInfo

BY_GAP = "no threshold: judged by the margin"
BY_CHANCE = "no threshold: compared with the same answers given at random"
LEAST_ERRORS = 5  # on either side, below which a ratio of error rates says nothing

Resample = Callable[[Statistic | Weighted, np.ndarray], Resampled]


@dataclasses.dataclass(frozen=True, eq=False)
class GroupGap:
    """A group and those that it is compared with: rows, bool ``(segments,)`` each."""

    base: Measure  # of any segments; of trials it takes the rows, too
    group: np.ndarray
    others: np.ndarray
    against: str = OTHERS

    def sides(self, subset: Subset, predictions: Predictions) -> list[Statistic] | list[Weighted]:
        """Give the measure of the group and of those it is compared with."""
        return [subset.measured(self.base, predictions, rows) for rows in (self.group, self.others)]


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the differences of a suite are judged."""

    interval: str  # see soundcheck.statistics.evidence.interval
    seed: int
    by_gap: bool  # whether `passed` compares the difference with the margin
    block: str  # what is resampled; of files nothing follows for new speakers
    margin: Margin
    measure: MeasureInfo


@dataclasses.dataclass(frozen=True, eq=False)
class Gaps:
    """Differences of a group to those it is compared with, one a label, ``m`` in all."""

    resampled: Resampled  # of 3 m values: the group, the others, their differences
    blocks: np.ndarray  # of the smaller side
    low: np.ndarray
    high: np.ndarray
    p_values: np.ndarray
    least_p: float | None  # the smallest that so many speakers can give; None without such a limit
    fixed: FixedSpeakers
    against: str = OTHERS
    compared: bool = True  # whether there is anybody to compare with
    reference: np.ndarray = dataclasses.field(default_factory=lambda: np.empty(0))  # of the random reference

    def __len__(self) -> int:
        return len(self.blocks)

    def difference(self, n: int) -> int:
        """Give the place of a difference among the values."""
        return 2 * len(self) + n


def scale_of(definition: TestDefinition, found: Resampled) -> Scale:
    """Say where the values of a test may lie; differences may lie anywhere."""
    if definition.difference or definition.rule == WITHIN:
        return FREE
    if definition.range is not None:
        scale = Scale(*definition.range)
    elif definition.rule == BELOW:
        scale = Scale(low=0.0, all_wrong=definition.all_wrong)  # an error without upper end
    else:
        return FREE
    return scale if found.lies_within(scale) else FREE


def gaps_of(
    gap: GroupGap,
    subset: Subset,
    definition: TestDefinition,
    resample: Resample,
    settings: Settings,
) -> Gaps:
    """Compute the differences of a group, with intervals and p-values for new speakers and for these."""
    both, rows = gap.sides(subset, subset.predictions), (gap.group, gap.others)
    found = compared_sides(*both, rows, subset.blocks, definition, resample, settings.interval, settings.seed)
    values = [additive.values(side) for side in gap.sides(subset, subset.reference)]
    labels = both[0].labels
    known = dict(zip(labels, values[0] - values[1], strict=False))
    return dataclasses.replace(
        found,
        against=gap.against,
        compared=bool(gap.others.any()),
        reference=np.array([known.get(label, np.nan) for label in labels]),
    )


def compared_sides(
    one: Statistic | Weighted,
    other: Statistic | Weighted,
    rows: tuple[np.ndarray, np.ndarray],
    blocks_of: np.ndarray,
    definition: TestDefinition,
    resample: Resample,
    kind: str,
    seed: int,
) -> Gaps:
    """Compute the differences of two statistics of the same segments, on some rows each."""
    statistic = sides(one, other) if isinstance(one, Statistic) else weighted_sides(one, other)
    found = resample(statistic, blocks_of)
    m = len(one.labels)
    blocks, least_p, permuted, sums = found.blocks[2 * m :], None, None, None
    if isinstance(one, Statistic):
        n_blocks = int(blocks_of.max(initial=-1)) + 1
        sums = [side.block_sums(blocks_of, n_blocks) for side in (one, other)]
        contributing = [one.count(own) > 0 for own in sums]
        blocks = np.minimum(*(own.sum(axis=0) for own in contributing))
        there = [np.bincount(blocks_of[own], minlength=n_blocks) > 0 for own in rows]
        compared = there[0] | there[1]
        if not (there[0] & there[1]).any() and there[0].any() and there[1].any():
            drawn = found.replicates[:, 2 * m :]
            spread = [evidence.corrected_sd(drawn[:, n], int(k)) for n, k in enumerate(blocks)]
            members = there[0][compared]
            everybody = (sums[0] + sums[1])[compared]
            permuted = permutation.permuted_p_values(
                one, everybody, members, np.array(spread), seed=seed, rule=definition.rule
            )
            least_p = permutation.least_p_value(len(members), int(members.sum()))
    low, high, p_values = np.full((3, m), np.nan)
    for n in range(m):
        place, own = 2 * m + n, int(blocks[n])
        replicates, value = found.replicates[:, place], found.value[place]
        if found.reasons[place] or found.withheld[place] or own < LEAST_BLOCKS:
            continue
        low[n], high[n] = interval(replicates, kind, blocks=own, value=value)
        if sums is not None and low[n] == high[n]:
            low[n], high[n] = _of_constants(one, sums, contributing, n, value, definition)
        if permuted is not None:
            p_values[n] = permuted[n]
        if np.isnan(p_values[n]):
            side = "greater" if one_sided(definition.rule) else "two-sided"
            p_values[n] = paired_p_value(replicates, value, own, side)
    low, high = round_significant(low), round_significant(high)
    fixed = fixed_speakers(statistic, blocks_of)
    return Gaps(found, np.asarray(blocks), low, high, p_values, least_p, fixed)


def _of_constants(
    base: Statistic,
    sides: list[np.ndarray],
    contributing: list[np.ndarray],
    n: int,
    gap: float,
    definition: TestDefinition,
) -> tuple[float, float]:
    """Give the interval of a gap that no replicate changes.

    If both sides lie on limits of their scale, as where everything is right, so many speakers would not have
    shown it had it been otherwise for a few; then both intervals of Clopper and Pearson are put together, as
    in Newcombe (1998), Interval estimation for the difference between independent proportions.
    """
    width = definition.range[1] if definition.range is not None else np.nan
    if not np.isfinite(width):
        return gap, gap
    scale = Scale(1.0 - width, 1.0)
    down, up = 0.0, 0.0
    for sums, own, sign in zip(sides, contributing, (1, -1), strict=True):
        value = float(round_significant(base.compute(sums.sum(axis=0))[n]))
        if value not in (scale.low, scale.high):
            return gap, gap
        low, high = evidence.t_interval(value, np.full(2, value), int(own[:, n].sum()), scale)
        below, above = (value - low, high - value) if sign > 0 else (high - value, value - low)
        down, up = down + below**2, up + above**2
    return gap - np.sqrt(down), gap + np.sqrt(up)


def concluded_group(
    verdict: Verdict, n: int, gaps: Gaps, published: float | None, settings: Settings
) -> Verdict:
    """Add what may be concluded from the difference of a group, label ``n``, to its row."""
    found, place = gaps.resampled, gaps.difference(n)
    if verdict.value is None:
        return verdict
    if obstacle := _no_reference(verdict, gaps):
        why = "; ".join(filter(None, (verdict.skipped, obstacle)))
        added = _cells(group_value=found.value[n])
        return dataclasses.replace(verdict, **added, against=gaps.against, skipped=why)
    if found.reasons[place]:
        return verdict
    group, others, gap = (float(found.value[k]) for k in (n, len(gaps) + n, place))
    low, high = gaps.low[n], gaps.high[n]
    rule, shown = of_gap(verdict.rule), verdict.evidence == SHOWN
    margin = settings.margin.of(published, others, settings.measure)
    absolute = settings.margin.of(published, None, settings.measure)
    by_gap = (settings.by_gap or shown) and absolute is not None and rule in GAP_RULES
    by_gap &= ONE_CLASS not in verdict.skipped
    if shown and by_gap:
        why = verdict.skipped.replace(no_threshold(verdict.task), BY_GAP)
        verdict, shown = dataclasses.replace(verdict, skipped=why), False
    width = settings.measure.high - settings.measure.low
    low, high = np.clip((low, high), -width, width)
    known = difference_for_these(found, gaps.fixed, n, settings.measure)
    here = np.clip(known.interval(), -width, width)
    p_here = known.p_value(0.0, "greater" if one_sided(rule) else "two-sided")
    added = {"against": gaps.against, "evidence": SHOWN if shown else evidence.NO_INTERVAL}
    added |= {"group_value": group, "others_value": others, "gap": gap}
    added |= _cells(gap_low=low, gap_high=high, gap_low_sample=here[0], gap_high_sample=here[1])
    if not shown:
        added |= {"matters": margin, "least_p": gaps.least_p, "p_value": _some(gaps.p_values[n])}
        added |= _cells(p_sample=p_here)
    added |= _ratio(gaps, n, settings)
    if margin is not None and not shown:
        added["evidence"] = evidence.evidence(rule, low, high, margin)
        relative = settings.margin.relative
        in_force = settings.measure.error and relative and settings.margin.floor < margin < absolute
        if in_force and (added.get("ratio_high") or 0.0) >= 1 + relative:
            added["evidence"] = added["evidence"].replace(evidence.CLEAR_PASS, evidence.OPEN)
    added |= _cells(bound=evidence.bound(rule, low, high))
    remarks = [verdict.skipped]
    if np.isnan(low) and verdict.low is not None:
        few = counted(int(gaps.blocks[n]), settings.block)
        why = found.withheld[place]
        if gaps.blocks[n] < LEAST_BLOCKS:
            why = f"interval withheld: {few} on the smaller side, {LEAST_BLOCKS} needed"
        remarks.append(why)
        added |= {"low": None, "high": None, "certainty": None}
    if settings.block == "file":
        remarks.append(NO_SPEAKERS)
        added |= {"p_value": None, "least_p": None}
    if by_gap:
        passed, random = bool(passes(rule, gap, absolute)), gaps.reference[n]
        sure = None if np.isnan(low) else certainty(found.replicates[:, place], rule, absolute, passed)
        added |= {"rule": rule, "threshold": absolute, "passed": passed, "certainty": sure}
        added["reference_passed"] = None if np.isnan(random) else bool(passes(rule, random, absolute))
    return dataclasses.replace(verdict, **added, skipped="; ".join(filter(None, remarks)))


def difference_for_these(found: Resampled, fixed: FixedSpeakers, n: int, info: MeasureInfo) -> ForThese:
    """Say what is known of difference ``n`` of two sides for these speakers."""
    sides = [n, len(found.labels) // 3 + n]
    recordings = found.segments[sides] if info.share else (0, 0)
    return fixed.difference(n, tuple(found.value[sides]), Scale(info.low, info.high), tuple(recordings))


def _no_reference(verdict: Verdict, gaps: Gaps) -> str:
    """Say why a group is compared with nobody although the suite names a reference; empty if it is not so."""
    if gaps.against == OTHERS or gaps.compared:
        return ""
    if verdict.group.partition(": ")[2].partition(", ")[0] == gaps.against:
        return REFERENCE
    return f"{NO_REFERENCE}: {gaps.against}"


def _ratio(gaps: Gaps, n: int, settings: Settings) -> dict[str, float | None]:
    """Divide the error rates of both sides, with the interval on a logarithmic scale."""
    if not settings.measure.error:
        return {}
    found, places = gaps.resampled, (n, len(gaps) + n)
    rates = [found.value[list(places)], found.replicates[:, list(places)]]
    if settings.measure.better == HIGHER:
        rates = [1 - own for own in rates]
    if (rates[0] * found.segments[list(places)] < LEAST_ERRORS).any():
        return {}
    with np.errstate(divide="ignore", invalid="ignore"):
        value, replicates = (np.log(own[..., 0]) - np.log(own[..., 1]) for own in rates)
    replicates = np.where(np.isfinite(replicates), replicates, np.nan)
    low = high = np.nan
    if gaps.blocks[n] >= LEAST_BLOCKS and not found.withheld[gaps.difference(n)]:
        low, high = evidence.t_interval(float(value), replicates, int(gaps.blocks[n]))
    return _cells(ratio=np.exp(value), ratio_low=np.exp(low), ratio_high=np.exp(high))


def believable(verdict: Verdict, scale: Scale) -> Verdict:
    """Leave out the interval of a value that a reader would not believe; what was concluded stays."""
    if verdict.low is None or verdict.high is None:
        return verdict
    why = evidence.withheld(verdict.value, verdict.low, verdict.high, verdict.blocks, scale)
    if not why:
        return verdict
    return dataclasses.replace(
        verdict, low=None, high=None, skipped="; ".join(filter(None, (verdict.skipped, why)))
    )


def concluded_value(
    verdict: Verdict, n: int, found: Resampled, scale: Scale, fixed: FixedSpeakers, info: MeasureInfo
) -> Verdict:
    """Add what may be concluded from a value and its threshold, label ``n``, to its row."""
    if verdict.low is not None and verdict.high is not None:
        low, high = info.within(verdict.value, verdict.low, verdict.high)
        verdict = dataclasses.replace(verdict, low=low, high=high)
    value, threshold, rule = verdict.value, verdict.threshold, verdict.rule
    if value is None or threshold is None:
        return verdict
    nearest = -threshold if rule == WITHIN and value < 0 else threshold
    added = _cells(gap=value - nearest) | {"evidence": evidence.NO_INTERVAL}
    if verdict.low is not None and verdict.high is not None:
        replicates, blocks = found.replicates[:, n], int(found.blocks[n])
        p_value = evidence.p_value(
            value, replicates, blocks, rule, threshold, scale, found.block_values(n, scale)
        )
        if found.by_chance is not None and not passes(rule, value, threshold):
            p_value = max(p_value, float(found.by_chance[n]))  # as the interval, which reaches down to 0 then
        ends = verdict.low, verdict.high
        added |= {
            **_cells(gap_low=ends[0] - nearest, gap_high=ends[1] - nearest),
            "evidence": evidence.evidence(rule, *ends, threshold),
            "bound": evidence.bound(rule, *ends),
            "p_value": _some(p_value),
        }
    known = for_these(found, fixed, n, scale, info)
    low, high = info.within(value, *known.interval())
    if not np.isnan(low):
        side = "less" if rule == ABOVE or (rule == WITHIN and value < 0) else "greater"
        p_here = known.p_value(nearest, side)
        added |= _cells(gap_low_sample=low - nearest, gap_high_sample=high - nearest, p_sample=p_here)
    return dataclasses.replace(verdict, **added)


def above_chance(
    verdict: Verdict, n: int, found: Resampled, fixed: FixedSpeakers, kind: str, info: MeasureInfo
) -> Verdict:
    """Judge a value without threshold, label ``n``, by what the same answers given at random would score."""
    m = len(found.labels) // 3
    place, chance = 2 * m + n, found.value[m + n]
    if verdict.evidence != SHOWN or found.reasons[place] or ONE_CLASS in verdict.skipped:
        return verdict
    gap, replicates, blocks = float(found.value[place]), found.replicates[:, place], int(found.blocks[place])
    low = high = p_value = np.nan
    if not found.withheld[place]:
        low, high = interval(replicates, kind, blocks=blocks, value=gap)
        p_value = evidence.p_value(gap, replicates, blocks, ABOVE, 0.0)
    known = difference_for_these(found, fixed, n, info)
    here, p_here = known.interval(), known.p_value(0.0, "less")
    passed = bool(passes(ABOVE, verdict.value, chance))
    why = verdict.skipped.replace(no_threshold(verdict.task), BY_CHANCE)
    return dataclasses.replace(
        verdict,
        threshold=float(chance),
        rule=ABOVE,
        passed=passed,
        certainty=None if np.isnan(low) else certainty(replicates, ABOVE, 0.0, passed),
        evidence=evidence.evidence(ABOVE, low, high, 0.0),
        skipped=why,
        p_value=_some(p_value),
        **_cells(gap=gap, gap_low=low, gap_high=high, bound=low),
        **_cells(gap_low_sample=here[0], gap_high_sample=here[1], p_sample=p_here),
    )


def _cells(**numbers: float) -> dict[str, float | None]:
    """Make numbers cells of a row: 12 digits, ``None`` for NaN."""
    return {name: None if np.isnan(n) else float(round_significant(n)) for name, n in numbers.items()}


def _some(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
