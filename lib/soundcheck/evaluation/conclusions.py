"""What may be concluded from a value: its gap, evidence, bound and p-value, for one row of the results each.

Two kinds of rows: a *group* is compared with all others, and judged by its gap and a difference that matters;
any other value is judged by its threshold. See :mod:`soundcheck.statistics.evidence` and
:mod:`soundcheck.statistics.permutation`.

Conventions
-----------
- The gap of a group is its value minus that of the segments of all other groups together. What is published
  compares a group with everybody, itself included; of two groups of equal size that is half the gap.
- A group and the others need 5 blocks each; else there is no interval, of the value either.
- Speakers are permuted where each of them belongs to one group, and there are two or more on either side.
  Where groups vary within speakers, and for
  trials, the p-value is that of Student's t.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics.additive import Statistic, round_significant, values
from soundcheck.metrics.classification import ONE_CLASS
from soundcheck.metrics.combinators import difference, restrict
from soundcheck.metrics.weighted import Weighted
from soundcheck.results.verdict import SHOWN, Verdict, no_threshold
from soundcheck.statistics import evidence, permutation
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import FREE, LEAST_BLOCKS, Scale
from soundcheck.statistics.intervals import certainty, interval
from soundcheck.statistics.paired import paired_p_value
from soundcheck.statistics.rules import BELOW, GAP_RULES, WITHIN, of_gap, one_sided, passes
from soundcheck.suite.families import TestDefinition

BY_GAP = "no threshold: judged by the gap that matters"
FEWEST_PERMUTED = 2  # blocks on either side; of one speaker nobody knows how much speakers differ

Resample = Callable[[Statistic | Weighted, np.ndarray], Resampled]


@dataclasses.dataclass(frozen=True, eq=False)
class GroupGap:
    """A group and those that it is compared with.

    Parameters
    ----------
    base
        Measure of any segments, called with a subset and predictions.
    group, others
        Rows of the group, and of all other groups, bool ``(segments,)``.
    """

    base: Measure
    group: np.ndarray
    others: np.ndarray

    def __call__(self, subset: Subset, predictions: Predictions) -> Statistic:
        """Give the value of the group minus that of the others."""
        base = self.base(subset, predictions)
        return difference(restrict(base, self.group), restrict(base, self.others))


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the gaps of a suite are judged.

    Parameters
    ----------
    interval
        Kind of interval, see :func:`soundcheck.statistics.intervals.interval`.
    seed
        The suite's seed.
    by_gap
        Whether verdicts compare the gap with what matters; so they do where that is all there is to judge by.
    """

    interval: str
    seed: int
    by_gap: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Gaps:
    """Gaps of a group, one a label.

    Parameters
    ----------
    resampled
        The gaps with their replicates.
    blocks
        Blocks of the smaller side, int64 ``(m,)``.
    low, high
        Bounds of the intervals, NaN where there is none.
    p_values
        float64 ``(m,)``, NaN where there is none.
    least_p
        The smallest p-value that so many speakers can give, ``None`` without such a limit.
    reference
        Gaps of the random reference, float64 ``(m,)``.
    """

    resampled: Resampled
    blocks: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_values: np.ndarray
    least_p: float | None
    reference: np.ndarray


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
    known = np.append(found.replicates.ravel(), found.value)
    known = known[np.isfinite(known)]
    inside = bool(((known >= scale.low) & (known <= scale.high)).all())
    return scale if inside else FREE


def gaps_of(
    gap: GroupGap | Measure,
    subset: Subset,
    definition: TestDefinition,
    resample: Resample,
    settings: Settings,
) -> Gaps:
    """Compute the gaps of a group, with intervals and p-values.

    Parameters
    ----------
    gap
        The group and those that it is compared with; or, of trials, a measure that gives the gap.
    subset
        Rows of all groups.
    definition
        The test.
    resample
        Computes a statistic with replicates.
    settings
        How gaps are judged.
    """
    statistic = gap(subset, subset.predictions)
    found = resample(statistic, subset.blocks)
    blocks, least_p = found.blocks, None
    permuted = None
    sides = None
    if isinstance(gap, GroupGap):
        base = gap.base(subset, subset.predictions)
        n_blocks = int(subset.blocks.max(initial=-1)) + 1
        sides = [restrict(base, rows).block_sums(subset.blocks, n_blocks) for rows in (gap.group, gap.others)]
        contributing = [base.count(sums) > 0 for sums in sides]
        blocks = np.minimum(*(own.sum(axis=0) for own in contributing))
        there = [np.bincount(subset.blocks[rows], minlength=n_blocks) > 0 for rows in (gap.group, gap.others)]
        compared = there[0] | there[1]
        if not (there[0] & there[1]).any() and there[0].any() and there[1].any():
            spread = [evidence.corrected_sd(found.replicates[:, n], int(k)) for n, k in enumerate(blocks)]
            members = there[0][compared]
            permuted = permutation.permuted_p_values(
                base,
                (sides[0] + sides[1])[compared],
                members,
                np.array(spread),
                seed=settings.seed,
                rule=definition.rule,
            )
            least_p = permutation.least_p_value(len(members), int(members.sum()))
    low, high, p_values = np.full((3, len(found.labels)), np.nan)
    for n in range(len(found.labels)):
        replicates, own = found.replicates[:, n], int(blocks[n])
        if permuted is not None and not found.reasons[n] and own >= FEWEST_PERMUTED:
            p_values[n] = permuted[n]
        if found.reasons[n] or found.withheld[n] or own < LEAST_BLOCKS:
            continue
        low[n], high[n] = interval(replicates, settings.interval, blocks=own, value=found.value[n])
        if sides is not None and low[n] == high[n]:
            low[n], high[n] = _of_constants(base, sides, contributing, n, found.value[n], definition)
        if np.isnan(p_values[n]):
            side = "greater" if one_sided(definition.rule) else "two-sided"
            p_values[n] = paired_p_value(replicates, found.value[n], own, side)
    reference = gap(subset, subset.reference)
    known = dict(zip(reference.labels, values(reference), strict=True))
    return Gaps(
        found,
        np.asarray(blocks),
        round_significant(low),
        round_significant(high),
        p_values,
        least_p,
        np.array([known.get(label, np.nan) for label in found.labels]),
    )


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
    verdict: Verdict, n: int, gaps: Gaps, matters: float | None, settings: Settings
) -> Verdict:
    """Add what may be concluded from the gap of a group, label ``n``, to its row.

    Without threshold and without a gap that matters there is nothing to hold: the row gets its gap with the
    interval, and no p-value, so that it counts among no tests.
    """
    found = gaps.resampled
    if found.reasons[n] or verdict.value is None:
        return verdict
    gap, low, high = float(found.value[n]), gaps.low[n], gaps.high[n]
    rule, shown = of_gap(verdict.rule), verdict.evidence == SHOWN
    by_gap = (settings.by_gap or shown) and matters is not None and rule in GAP_RULES
    by_gap &= ONE_CLASS not in verdict.skipped
    if shown and by_gap:
        why = verdict.skipped.replace(no_threshold(verdict.task), BY_GAP)
        verdict, shown = dataclasses.replace(verdict, skipped=why), False
    added = {
        "gap": gap,
        "gap_low": _some(low),
        "gap_high": _some(high),
        "p_value": None if shown else _some(gaps.p_values[n]),
        "matters": None if shown else matters,
        "least_p": None if shown else gaps.least_p,
        "evidence": SHOWN if shown else evidence.NO_INTERVAL,
    }
    if matters is not None and not shown:
        added["evidence"] = evidence.evidence(rule, low, high, matters)
    added["bound"] = _some(evidence.bound(rule, low, high))
    if np.isnan(low) and verdict.low is not None:
        few = "1 block" if gaps.blocks[n] == 1 else f"{gaps.blocks[n]} blocks"
        why = found.withheld[n]
        if gaps.blocks[n] < LEAST_BLOCKS:
            why = f"interval withheld: {few} on the smaller side, {LEAST_BLOCKS} needed"
        why = "; ".join(filter(None, (verdict.skipped, why)))
        added |= {"low": None, "high": None, "certainty": None, "skipped": why}
    if by_gap:
        passed, random = bool(passes(rule, gap, matters)), gaps.reference[n]
        sure = None if np.isnan(low) else certainty(found.replicates[:, n], rule, matters, passed)
        added |= {"rule": rule, "threshold": matters, "passed": passed, "certainty": sure}
        added["reference_passed"] = None if np.isnan(random) else bool(passes(rule, random, matters))
    return dataclasses.replace(verdict, **added)


def concluded_value(verdict: Verdict, n: int, found: Resampled, scale: Scale) -> Verdict:
    """Add what may be concluded from a value and its threshold, label ``n``, to its row."""
    value, threshold, rule = verdict.value, verdict.threshold, verdict.rule
    if value is None or threshold is None:
        return verdict
    nearest = -threshold if rule == WITHIN and value < 0 else threshold
    added = {"gap": value - nearest, "evidence": evidence.NO_INTERVAL}
    if verdict.low is not None and verdict.high is not None:
        replicates, blocks = found.replicates[:, n], int(found.blocks[n])
        p_value = evidence.p_value(
            value, replicates, blocks, rule, threshold, scale, found.block_values(n, scale)
        )
        if found.by_chance is not None and not passes(rule, value, threshold):
            p_value = max(p_value, float(found.by_chance[n]))  # as the interval, which reaches down to 0 then
        added |= {
            "gap_low": verdict.low - nearest,
            "gap_high": verdict.high - nearest,
            "evidence": evidence.evidence(rule, verdict.low, verdict.high, threshold),
            "bound": evidence.bound(rule, verdict.low, verdict.high),
            "p_value": _some(p_value),
        }
    for name in ("gap", "gap_low", "gap_high"):
        if name in added:
            added[name] = float(round_significant(added[name]))
    return dataclasses.replace(verdict, **added)


def _some(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
