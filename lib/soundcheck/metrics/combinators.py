"""Statistics made of statistics: groups, differences, changes, comparisons, averages.

All of them are additive statistics again: the sums of what they are made of, side by side, and a function of
their values. So they have intervals like any other, on the same replicates.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from soundcheck.common.wording import counted
from soundcheck.metrics.additive import HasPoint, Reasons, Statistic, ratio

Labelled = TypeVar("Labelled", bound=HasPoint)


def restrict(statistic: Statistic, mask: np.ndarray) -> Statistic:
    """Let only the segments of a mask, bool ``(N,)``, contribute: the statistic of a group.

    The group keeps its place among all ``N`` segments, so it can be compared with the others.
    """
    mask = np.asarray(mask)
    if mask.shape != (len(statistic),) or mask.dtype != bool:
        raise ValueError(
            f"A mask of {len(statistic)} True or False is needed, not {mask.dtype} of shape {mask.shape}."
        )
    return dataclasses.replace(statistic, parts=tuple(part.restrict(mask) for part in statistic.parts))


def combine(statistics: Sequence[Statistic], function: Callable[..., np.ndarray]) -> Statistic:
    """Make a statistic of the values of others over the same segments.

    - ``statistics``: at least one; all with the labels of the first.
    - ``function``: takes the values of each, arrays ``(..., m)``, and gives ``(..., m)``.
    - Returns counts segments as the first one does; a reason or note of any holds for the combination.
    """
    if len({statistic.labels for statistic in statistics}) != 1:
        raise ValueError("Only statistics with the same labels can be combined.")
    ends = np.cumsum([statistic.size for statistic in statistics]).tolist()
    places = [slice(start, end) for start, end in itertools.pairwise([0, *ends])]

    def split(sums: np.ndarray) -> list[np.ndarray]:
        return [sums[..., place] for place in places]  # np.split takes longer than many a computation

    def compute(sums: np.ndarray) -> np.ndarray:
        return function(*(s.compute(own) for s, own in zip(statistics, split(sums), strict=True)))

    def texts(name: str) -> Reasons:
        def joined(sums: np.ndarray) -> tuple[str, ...]:
            found = [getattr(s, name)(own) for s, own in zip(statistics, split(sums), strict=True)]
            found = [texts for texts in found if texts]
            return tuple(next(filter(None, each), "") for each in zip(*found, strict=True))

        return joined

    return Statistic(
        parts=tuple(part for statistic in statistics for part in statistic.parts),
        compute=compute,
        count=lambda sums: statistics[0].count(split(sums)[0]),
        labels=statistics[0].labels,
        reasons=texts("reasons"),
        notes=texts("notes"),
    )


def difference(a: Statistic, b: Statistic) -> Statistic:
    """Subtract: the values of ``a`` minus those of ``b``, over the same segments.

    ``difference(restrict(metric, group), metric)`` is the distance of a group from all.
    """
    return combine([a, b], np.subtract)


def sides(a: Statistic, b: Statistic) -> Statistic:
    """Put the values of ``a``, those of ``b`` and their differences beside each other, ``3 m`` values.

    The differences are those of :func:`difference`, and refused where either side is.
    """
    if a.labels != b.labels:
        raise ValueError("Only statistics with the same labels have two sides.")

    def split(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return sums[..., : a.size], sums[..., a.size :]

    def compute(sums: np.ndarray) -> np.ndarray:
        one, other = (s.compute(own) for s, own in zip((a, b), split(sums), strict=True))
        return np.concatenate([one, other, one - other], axis=-1)

    def count(sums: np.ndarray) -> np.ndarray:
        one, other = (s.count(own) for s, own in zip((a, b), split(sums), strict=True))
        return np.concatenate([one, other, one], axis=-1)

    def texts(name: str) -> Reasons:
        def joined(sums: np.ndarray) -> tuple[str, ...]:
            found = [getattr(s, name)(own) for s, own in zip((a, b), split(sums), strict=True)]
            one, other = (own or ("",) * len(a.labels) for own in found)
            return (*one, *other, *(x or y for x, y in zip(one, other, strict=True)))

        return joined

    labels = tuple(f"{side} {label}" for side in ("group", "others", "difference") for label in a.labels)
    return Statistic((*a.parts, *b.parts), compute, count, labels, texts("reasons"), texts("notes"))


def relative_difference(a: Statistic, b: Statistic) -> Statistic:
    """Subtract and divide: by how much the values of ``a`` differ from those of ``b``, divided by ``b``.

    Undefined where ``b`` is not positive.
    """
    found = combine([a, b], lambda first, second: ratio(first - second, second))

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        known = found.reasons(sums) or ("",) * len(found.labels)
        bases = b.compute(sums[..., a.size :])
        return tuple(
            text or ("" if base > 0 else f"a difference relative to {base:g}")
            for text, base in zip(known, bases, strict=True)
        )

    return dataclasses.replace(found, reasons=reasons)


def paired(a: Statistic, b: Statistic) -> tuple[Statistic, Statistic]:
    """Let only the segments that contribute to both contribute to either.

    Segments that only one of them can use count as missing predictions.
    """
    both = a.rows & b.rows
    wanted = a.rows | b.rows
    for part in (*a.parts, *b.parts):
        wanted = wanted | part.missing_predictions

    def restricted(statistic: Statistic) -> Statistic:
        parts = [
            dataclasses.replace(part, rows=part.rows & both, missing_predictions=wanted & ~both)
            for part in statistic.parts
        ]
        return dataclasses.replace(statistic, parts=tuple(parts))

    return restricted(a), restricted(b)


def paired_difference(a: Statistic, b: Statistic) -> Statistic:
    """Subtract over the segments that contribute to both: a change under noise, one model minus another."""
    return difference(*paired(a, b))


def average(statistics: Sequence[Statistic]) -> Statistic:
    """Average the values of statistics over the same segments, each with the same weight.

    Undefined, and so is the value in a replicate, if any of them is: an average over other groups would be
    another quantity.
    """
    mean = mean_of(statistics)
    ends = np.cumsum([statistic.size for statistic in statistics])[:-1]

    def count(sums: np.ndarray) -> np.ndarray:
        own = np.split(sums, ends, axis=-1)
        return sum(s.count(part) for s, part in zip(statistics, own, strict=True))

    return dataclasses.replace(mean, count=count)


def mean_of(statistics: Sequence[Statistic]) -> Statistic:
    """Average several values of the same segments, such as those under several changes.

    As :func:`average`, but each segment is counted once.
    """
    return combine(statistics, lambda *values: np.mean(np.stack(values), axis=0))


def stack(statistics: Mapping[str, Statistic]) -> Statistic:
    """Put statistics over the same segments beside each other, one label each.

    - ``statistics``: label -> a statistic with a single value; at least one.
    """
    items = list(statistics.values())
    if any(len(statistic.labels) != 1 for statistic in items):
        raise ValueError("Only statistics with a single value can be stacked.")
    ends = np.cumsum([statistic.size for statistic in items])[:-1]

    def side_by_side(name: str) -> Callable[[np.ndarray], np.ndarray]:
        def joined(sums: np.ndarray) -> np.ndarray:
            own = np.split(sums, ends, axis=-1)
            return np.concatenate(
                [getattr(s, name)(part) for s, part in zip(items, own, strict=True)], axis=-1
            )

        return joined

    def texts(name: str) -> Reasons:
        def joined(sums: np.ndarray) -> tuple[str, ...]:
            own = np.split(sums, ends, axis=-1)
            return tuple((getattr(s, name)(part) or ("",))[0] for s, part in zip(items, own, strict=True))

        return joined

    return Statistic(
        parts=tuple(part for statistic in items for part in statistic.parts),
        compute=side_by_side("compute"),
        count=side_by_side("count"),
        labels=tuple(statistics),
        reasons=texts("reasons"),
        notes=texts("notes"),
    )


def against_all(statistic: Statistic, mask: np.ndarray) -> Statistic:
    """Subtract: the values of a group, given by a mask, minus those of everybody, the group included."""
    return difference(restrict(statistic, mask), statistic)


def against_groups(groups: Sequence[Statistic]) -> Statistic:
    """Subtract from the values of the first group the average of all groups, itself included.

    Groups without a value, in a replicate or altogether, are left out of the average; so a small group that a
    replicate happens to leave out does not make all others undefined.

    - ``groups``: the same statistic within each group; the first one is compared.
    """

    def function(*values: np.ndarray) -> np.ndarray:
        table = np.stack(values)
        known = np.isfinite(table)
        return values[0] - ratio(np.where(known, table, 0).sum(axis=0), known.sum(axis=0))

    first = groups[0]
    found = combine(groups, function)
    return dataclasses.replace(found, reasons=lambda sums: first.reasons(sums[..., : first.size]))


def against_average(statistic: Statistic, groups: Sequence[np.ndarray], tested: int) -> Statistic:
    r"""Subtract: the values of a group minus their average over all groups, itself included.

    .. math:: M(g) - \frac1G \sum_{i=1}^G M(g_i)

    Each group weighs alike, however many segments it has. For means and proportions of groups of equal size
    this is :func:`against_all`.

    - ``statistic``: over ``N`` segments.
    - ``groups``: masks of all groups, bool ``(N,)`` each.
    - ``tested``: which of the groups is compared with the average.
    """
    own = [restrict(statistic, group) for group in groups]
    return against_groups([own[tested], *own[:tested], *own[tested + 1 :]])


def relabel(statistic: Labelled, name: Callable[[str], str]) -> Labelled:
    """Give the values of any statistic other labels.

    - ``name``: makes a new label of each old one, ``""`` if there is a single value.
    """
    renamed = copy.copy(statistic)
    object.__setattr__(renamed, "labels", tuple(map(name, statistic.labels)))  # both kinds, frozen or not
    return renamed


def require_count(
    statistic: Statistic, counts: Sequence[int] | int, least: int, noun: str = "segment"
) -> Statistic:
    """Skip values that rest on too few segments, or on too few of something else.

    - ``counts``: what to compare, ``m`` numbers or one for all; for instance the segments of each bin in all
      groups.
    - ``least``: smallest count that is judged.
    - ``noun``: what is counted; its plural ends in s.
    """
    counts = np.broadcast_to(np.asarray(counts), (len(statistic.labels),))
    few = [f"{counted(int(count), noun)}, {least} needed" if count < least else "" for count in counts]

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        own = statistic.reasons(sums) or [""] * len(few)
        return tuple(a or b for a, b in zip(few, own, strict=True))

    return dataclasses.replace(statistic, reasons=reasons)
