"""What may be concluded from a value, for one row of the tables each: interval, evidence, p-values.

A *group* is compared with a reference, all others together or one that the suite names, and judged by the
difference and its margin; any other judged value by its threshold; an estimate has its intervals alone. See
:mod:`soundcheck.statistics.evidence`, :mod:`soundcheck.statistics.permutation` and, for these speakers,
:mod:`soundcheck.statistics.fixed_speakers`.

- The difference of a group is its value minus that of the reference. What is published compares a group with
  everybody, itself included; of two groups of equal size that is half the difference.
- Either side needs 5 speakers for an interval and a p-value for new speakers. Speakers are permuted where
  each belongs to one group; else, and for trials, the p-value is that of Student's t.
- The adjusted gap is what is left of a gap if the others had the same noise, or the same device; no verdict
  rests on it. See :mod:`soundcheck.statistics.balance` and :mod:`soundcheck.metrics.combinators`.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from soundcheck.common.messages import counted
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics.additive import Statistic, round_significant
from soundcheck.metrics.classification import ONE_CLASS
from soundcheck.metrics.combinators import MOST_SUMS, restrict, sides, standardised_difference
from soundcheck.metrics.weighted import Weighted, weighted_sides
from soundcheck.results.rows import NOT_ADJUSTED, OTHERS, UNJUDGED, Estimate, Verdict, no_threshold
from soundcheck.results.states import NO_REFERENCE, NO_SPEAKERS, REFERENCE
from soundcheck.statistics import evidence, permutation
from soundcheck.statistics.balance import cells_of
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import FREE, LEAST_BLOCKS, Scale, certainty, interval, paired_test
from soundcheck.statistics.fixed_speakers import FixedSpeakers, ForThese, fixed_speakers
from soundcheck.statistics.rules import ABOVE, BELOW, GAP_RULES, WITHIN, of_gap, one_sided, passes
from soundcheck.suite.corpus_format import number_of
from soundcheck.suite.families import HIGHER, UNCHANGED, Margin, MeasureInfo, TestDefinition, info_of

BY_GAP = "no threshold: judged by the margin"
BY_CHANCE = "no threshold: compared with the same answers given at random"
LEAST_ERRORS = 5  # on either side, below which a ratio of error rates says nothing


def scale_of(definition: TestDefinition, resampled: Resampled) -> Scale:
    """Say where the values of a test may lie; differences may lie anywhere."""
    scale = FREE
    if definition.difference or definition.rule == WITHIN:
        return scale
    if definition.range is not None:
        scale = Scale(*definition.range)
    elif definition.rule == BELOW:
        scale = Scale(low=0.0, all_wrong=definition.all_wrong)  # an error without upper end
    return scale if resampled.lies_within(scale) else FREE


@dataclasses.dataclass(frozen=True, eq=False)
class Computed:
    """A statistic, its replicates for new speakers, and how it varies with the recordings of these."""

    statistic: Statistic | Weighted
    resampled: Resampled
    blocks: np.ndarray  # of each segment

    @functools.cached_property
    def fixed(self) -> FixedSpeakers:
        """What is known for these speakers."""
        return fixed_speakers(self.statistic, self.blocks, spread=True)

    def here(self, n: int, scale: Scale, info: MeasureInfo) -> ForThese:
        """Say what is known of value ``n`` for these speakers; that of a share rests on its recordings."""
        scale, recordings = (Scale(0.0, 1.0), int(self.resampled.segments[n])) if info.share else (scale, 0)
        return self.fixed.value(n, self.resampled.value[n], scale, recordings)

    def difference_here(self, n: int, info: MeasureInfo) -> ForThese:
        """Say what is known of difference ``n`` of two sides for these speakers."""
        both, result = [n, len(self.resampled.labels) // 3 + n], self.resampled
        recordings = result.segments[both] if info.share else (0, 0)
        limits = Scale(info.low, info.high)
        return self.fixed.difference(n, tuple(result.value[both]), limits, tuple(recordings))


def _cells(**numbers: float) -> dict[str, float | None]:
    return {name: float(round_significant(n)) if np.isfinite(n) else None for name, n in numbers.items()}


def _joined(*remarks: str) -> str:
    return "; ".join(filter(None, remarks))


# Estimates


def estimate_rows(
    about: Mapping[str, str],
    computed: Computed,
    kind: str,
    scale: Scale | None = None,
    *,
    speakers: bool = True,
) -> list[Estimate]:
    """Make a row of estimates a label, with intervals of a kind."""
    rows, info, resampled = [], info_of(about["measure"]), computed.resampled
    if scale is None:  # values beyond it, of a measure of somebody else, lie anywhere
        scale = Scale(info.low, info.high) if np.isfinite(info.low) else FREE
        scale = scale if resampled.lies_within(scale) else FREE
    bounds = resampled.interval(kind, scale=scale)
    for n, label in enumerate(resampled.labels):
        value, blocks = resampled.value[n], int(resampled.blocks[n])
        low, high = info.within(value, bounds[0][n], bounds[1][n])
        sample = info.within(value, *computed.here(n, scale, info).interval())
        if info.name == UNCHANGED and not about["condition"]:  # compared with themselves
            (low, high), sample = (value, value), (np.nan, np.nan)
        why = evidence.withheld(value, low, high, blocks, scale)
        ends = dict.fromkeys(("low", "high"), np.nan) if why else {"low": low, "high": high}
        rows.append(
            Estimate(
                **about,
                label=label,
                **_cells(value=value, **ends, low_sample=sample[0], high_sample=sample[1]),
                segments=int(resampled.segments[n]),
                speakers=blocks if speakers else 0,
                excluded=resampled.reasons[n] or resampled.withheld[n] or why,
            )
        )
    return rows


# Values and their thresholds


def concluded_value(verdict: Verdict, n: int, computed: Computed, scale: Scale, info: MeasureInfo) -> Verdict:
    """Add what may be concluded from a value and its threshold, label ``n``, to its row."""
    value, threshold, rule, resampled = verdict.value, verdict.threshold, verdict.rule, computed.resampled
    low, high = np.nan, np.nan
    if verdict.low is not None and verdict.high is not None:
        low, high = info.within(value, verdict.low, verdict.high)
        verdict = dataclasses.replace(verdict, low=low, high=high)
    if value is None or threshold is None:
        return verdict
    nearest = -threshold if rule == WITHIN and value < 0 else threshold
    p_value, here = np.nan, computed.here(n, scale, info)
    if not np.isnan(low):
        blocks, of_blocks = int(resampled.blocks[n]), resampled.block_values(n, scale)
        replicates = resampled.replicates[:, n]
        p_value = evidence.p_value(value, replicates, blocks, rule, threshold, scale, of_blocks)
        if resampled.by_chance is not None and not passes(rule, value, threshold):
            p_value = max(p_value, float(resampled.by_chance[n]))  # the interval reaches down to 0 then
    ends = np.array([low, high, *info.within(value, *here.interval())]) - nearest
    side = "less" if rule == ABOVE or nearest < threshold else "greater"
    p_here = np.nan if np.isnan(ends[2]) else here.p_value(nearest, side)
    bound = evidence.bound(rule, low, high)
    cells = _cells(gap=value - nearest, bound=bound, p_value=p_value, p_sample=p_here) | _gap_ends(*ends)
    return dataclasses.replace(verdict, **cells, evidence=evidence.evidence(rule, low, high, threshold))


def above_chance(verdict: Verdict, n: int, computed: Computed, kind: str, info: MeasureInfo) -> Verdict:
    """Judge a value without threshold, label ``n``, by what the same answers given at random would score."""
    resampled, m = computed.resampled, len(computed.resampled.labels) // 3
    place, chance = 2 * m + n, float(resampled.value[m + n])
    if verdict.evidence != UNJUDGED or resampled.reasons[place] or ONE_CLASS in verdict.skipped:
        return verdict
    gap, blocks = float(resampled.value[place]), int(resampled.blocks[place])
    replicates, low, high, p_value = resampled.replicates[:, place], np.nan, np.nan, np.nan
    if not resampled.withheld[place]:
        low, high = interval(replicates, kind, blocks=blocks, value=gap)
        p_value = evidence.p_value(gap, replicates, blocks, ABOVE, 0.0)
    here, passed = computed.difference_here(n, info), bool(passes(ABOVE, verdict.value, chance))
    cells = _cells(gap=gap, bound=low, p_value=p_value, p_sample=here.p_value(0.0, "less"))
    return dataclasses.replace(
        verdict,
        **cells | _gap_ends(low, high, *here.interval()),
        **{"threshold": chance, "rule": ABOVE, "passed": passed},
        certainty=None if np.isnan(low) else certainty(replicates, ABOVE, 0.0, passed),
        evidence=evidence.evidence(ABOVE, low, high, 0.0),
        skipped=verdict.skipped.replace(no_threshold(verdict.task), BY_CHANCE),
    )


def _gap_ends(low: float, high: float, low_here: float, high_here: float) -> dict[str, float | None]:
    return _cells(gap_low=low, gap_high=high, gap_low_sample=low_here, gap_high_sample=high_here)


def believable(verdict: Verdict, scale: Scale) -> Verdict:
    """Leave out the interval of a value that a reader would not believe; what was concluded stays."""
    if verdict.low is None or verdict.high is None:
        return verdict
    why = evidence.withheld(verdict.value, verdict.low, verdict.high, verdict.blocks, scale)
    skipped = _joined(verdict.skipped, why)
    return dataclasses.replace(verdict, low=None, high=None, skipped=skipped) if why else verdict


# Groups and their reference


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


@dataclasses.dataclass(frozen=True, eq=False)
class Gaps:
    """Differences of a group to those it is compared with, one a label, ``m`` in all."""

    computed: Computed  # 3 m values: the group, the others, their differences
    units: np.ndarray  # ``(2 m,)`` of both sides, words or segments, of which their rates are shares
    blocks: np.ndarray  # of the smaller side
    low: np.ndarray
    high: np.ndarray
    p_values: np.ndarray
    least_p: float | None  # the smallest that so many speakers can give; None without such a limit

    @property
    def resampled(self) -> Resampled:
        """The values with their replicates."""
        return self.computed.resampled

    def difference(self, n: int) -> int:
        """Give the place of a difference among the values."""
        return 2 * len(self.blocks) + n


def compared_sides(
    group: Statistic | Weighted,
    other: Statistic | Weighted,
    rows: tuple[np.ndarray, np.ndarray],
    blocks_of: np.ndarray,
    definition: TestDefinition,
    resample: Callable,
    kind: str,
    seed: int,
) -> Gaps:
    """Compute the differences of two statistics of the same segments, on some rows each."""
    statistic = sides(group, other) if isinstance(group, Statistic) else weighted_sides(group, other)
    computed, m = Computed(statistic, resample(statistic, blocks_of), blocks_of), len(group.labels)
    resampled = computed.resampled
    blocks, least_p, permuted, sums = resampled.blocks[2 * m :], None, np.full(m, np.nan), None
    if isinstance(group, Statistic):
        sums, contributing = _block_sums(group, (group, other), blocks_of)
        blocks = np.minimum(*(side.sum(axis=0) for side in contributing))
        within = [np.bincount(blocks_of[side], minlength=len(sums[0])) > 0 for side in rows]
        compared = within[0] | within[1]
        if not (within[0] & within[1]).any() and within[0].any() and within[1].any():
            drawn, members = resampled.replicates[:, 2 * m :], within[0][compared]
            spread = np.array([evidence.corrected_sd(drawn[:, n], int(k)) for n, k in enumerate(blocks)])
            everybody = (sums[0] + sums[1])[compared]
            permuted = permutation.permuted_p_values(
                group, everybody, members, spread, seed=seed, rule=definition.rule
            )
            least_p = permutation.least_p_value(len(members), int(members.sum()), definition.rule)
    low, high, p_values = np.full((3, m), np.nan)
    for n in range(m):
        place, smaller = 2 * m + n, int(blocks[n])
        replicates, value = resampled.replicates[:, place], resampled.value[place]
        if resampled.reasons[place] or resampled.withheld[place] or smaller < LEAST_BLOCKS:
            continue
        low[n], high[n] = interval(replicates, kind, blocks=smaller, value=value)
        if sums is not None and low[n] == high[n]:
            low[n], high[n] = _of_constants(group, sums, contributing, n, value, definition)
        side = "greater" if one_sided(definition.rule) else "two-sided"
        p_values[n] = permuted[n]
        if np.isnan(p_values[n]):
            p_values[n] = paired_test(replicates, value, smaller, side)[0]
    units = resampled.segments[: 2 * m]
    if sums is not None and group.units is not None:
        units = np.concatenate([group.units(side.sum(axis=0)) for side in sums])
    bounds = round_significant(low), round_significant(high)
    return Gaps(computed, units, np.asarray(blocks), *bounds, p_values, least_p)


def _block_sums(
    base: Statistic, sides: Iterable[Statistic], blocks: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Give the sums of each block of both sides, and which blocks contribute to each value."""
    sums = [side.block_sums(blocks, int(blocks.max(initial=-1)) + 1) for side in sides]
    return sums, [base.count(side) > 0 for side in sums]


def _of_constants(
    base: Statistic,
    sums_of: list[np.ndarray],
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
    scale, down, up = Scale(1.0 - width, 1.0), 0.0, 0.0
    for sums, contributes, sign in zip(sums_of, contributing, (1, -1), strict=True):
        value = float(round_significant(base.compute(sums.sum(axis=0))[n]))
        if not np.isfinite(width) or value not in (scale.low, scale.high):
            return gap, gap
        low, high = evidence.t_interval(value, np.full(2, value), int(contributes[:, n].sum()), scale)
        below, above = (value - low, high - value)[::sign]
        down, up = down + below**2, up + above**2
    return gap - np.sqrt(down), gap + np.sqrt(up)


def concluded_group(
    verdict: Verdict,
    n: int,
    compared: GroupGap,
    gaps: Gaps,
    random: float,
    margin: Margin,
    published: float | None,
    info: MeasureInfo,
    by_gap: bool = False,
    block: str = "speaker",
) -> Verdict:
    """Add what may be concluded from the difference of a group, label ``n``, to its row.

    - ``random``: the difference of the random reference.
    - ``published``: the threshold as it was published.
    - ``by_gap``: whether ``passed`` compares the difference with the margin.
    - ``block``: what is resampled; of files nothing follows for new speakers.
    """
    result, place, against = gaps.resampled, gaps.difference(n), compared.against
    if verdict.value is None:
        return verdict
    if against != OTHERS and not compared.others.any():  # the reference itself, or there is none
        group_name = verdict.group.partition(": ")[2].partition(", ")[0]
        why = REFERENCE if group_name == against else f"{NO_REFERENCE}: {against}"
        value, skipped = _cells(group_value=result.value[n]), _joined(verdict.skipped, why)
        return dataclasses.replace(verdict, **value, against=against, skipped=skipped)
    if result.reasons[place]:
        return verdict
    group, others, gap = (float(result.value[k]) for k in (n, len(gaps.blocks) + n, place))
    rule, skipped, judged = of_gap(verdict.rule), verdict.skipped, verdict.evidence != UNJUDGED
    matters, absolute = (margin.of(published, reference, info) for reference in (others, None))
    by_gap = (by_gap or not judged) and absolute is not None and rule in GAP_RULES
    by_gap = by_gap and ONE_CLASS not in skipped
    if by_gap and not judged:
        judged, skipped = True, skipped.replace(no_threshold(verdict.task), BY_GAP)
    width, here = info.high - info.low, gaps.computed.difference_here(n, info)
    ends = np.clip((gaps.low[n], gaps.high[n], *here.interval()), -width, width)
    low, high, *_ = ends
    added = _ratio(gaps, n, info) | _gap_ends(*ends) | _cells(bound=evidence.bound(rule, low, high))
    added["evidence"] = evidence.NO_INTERVAL if judged else UNJUDGED
    if judged:
        added |= _cells(p_value=gaps.p_values[n]) | {"matters": matters, "least_p": gaps.least_p}
        added |= _cells(p_sample=here.p_value(0.0, "greater" if one_sided(rule) else "two-sided"))
        if matters is not None:
            added["evidence"] = evidence.evidence(rule, low, high, matters)
            relative = info.error and margin.relative and margin.floor < matters < absolute
            if relative and (added.get("ratio_high") or 0.0) >= 1 + margin.relative:
                added["evidence"] = added["evidence"].replace(evidence.CLEAR_PASS, evidence.OPEN)
    if np.isnan(low) and verdict.low is not None:
        why, blocks = result.withheld[place], int(gaps.blocks[n])
        if blocks < LEAST_BLOCKS:
            why = f"interval withheld: {counted(blocks, block)} on the smaller side, {LEAST_BLOCKS} needed"
        skipped = _joined(skipped, why)
        added |= {"low": None, "high": None, "certainty": None}
    if block == "file":
        skipped = _joined(skipped, NO_SPEAKERS)
        added |= {"p_value": None, "least_p": None}
    if by_gap:
        passed = bool(passes(rule, gap, absolute))
        sure = None if np.isnan(low) else certainty(result.replicates[:, place], rule, absolute, passed)
        added |= {"rule": rule, "threshold": absolute, "passed": passed, "certainty": sure}
        added["reference_passed"] = None if np.isnan(random) else bool(passes(rule, random, absolute))
    added |= {"against": against, "group_value": group, "others_value": others, "gap": gap}
    return dataclasses.replace(verdict, **added, skipped=skipped)


def _ratio(gaps: Gaps, n: int, info: MeasureInfo) -> dict[str, float | None]:
    result, places = gaps.resampled, [n, len(gaps.blocks) + n]
    rates = [result.value[places], result.replicates[:, places]]
    if info.better == HIGHER:
        rates = [1 - side for side in rates]
    if not info.error or (rates[0] * gaps.units[places] < LEAST_ERRORS).any():
        return {}
    with np.errstate(divide="ignore", invalid="ignore"):
        value, replicates = (np.log(side[..., 0]) - np.log(side[..., 1]) for side in rates)
    replicates, ends = np.where(np.isfinite(replicates), replicates, np.nan), (np.nan, np.nan)
    if gaps.blocks[n] >= LEAST_BLOCKS and not result.withheld[gaps.difference(n)]:
        ends = evidence.t_interval(float(value), replicates, int(gaps.blocks[n]))
    return _cells(ratio=np.exp(value), ratio_low=np.exp(ends[0]), ratio_high=np.exp(ends[1]))


# Adjusted gaps


def adjusted_gap(
    gap: GroupGap, subset: Subset, names: Sequence[str], column: str, resample: Callable, kind: str
) -> list[dict[str, float | str | None]]:
    """Compute the gap of a group of a column as if it and the others had the same of some other columns.

    Gives cells, one a label; ``counterpart`` is the share of the group's segments that others can be compared
    with.
    """
    base, columns = gap.base(subset, subset.predictions), {}
    for name in names:
        values = subset.segments[name]
        kind_of = np.float64 if is_numeric_dtype(values) and not is_bool_dtype(values) else object
        columns[name.removesuffix(number_of(""))] = values.to_numpy(dtype=kind_of, na_value=np.nan)
    if column in columns:  # ranges of a number: where two meet, a cell would hold some of both
        return [{"adjusted_by": f"{NOT_ADJUSTED}{column} decides the group"}] * len(base.labels)
    cells = cells_of(columns, gap.group, gap.others, subset.blocks, base.rows)
    reason, counterpart = cells.reason, cells.counterpart if cells.n_cells else np.nan
    if not reason and 2 * cells.n_cells * base.size > MOST_SUMS:
        reason = f"{cells.n_cells} cells are too many for so many classes"
    rows: list[dict] = [_cells(counterpart=counterpart) for _ in base.labels]
    if reason:
        return [row | {"adjusted_by": f"{NOT_ADJUSTED}{reason}"} for row in rows]
    statistic = standardised_difference(base, gap.group, gap.others, cells.codes, cells.n_cells)
    resampled = resample(statistic, subset.blocks)
    both = (restrict(base, members & (cells.codes >= 0)) for members in (gap.group, gap.others))
    blocks = np.minimum(*(side.sum(axis=0) for side in _block_sums(base, both, subset.blocks)[1]))
    for n, (row, why) in enumerate(zip(rows, resampled.reasons, strict=True)):
        value, replicates = resampled.value[n], resampled.replicates[:, n]
        row |= _cells(adjusted=value) | {"adjusted_by": f"{NOT_ADJUSTED}{why}" if why else ", ".join(columns)}
        if not (why or resampled.withheld[n] or blocks[n] < LEAST_BLOCKS):
            low, high = interval(replicates, kind, blocks=int(blocks[n]), value=value)
            row |= _cells(adjusted_low=low, adjusted_high=high) if low < high else {}
    return rows
