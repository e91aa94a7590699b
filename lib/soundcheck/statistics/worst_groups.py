r"""Groups that nobody named: looks at every value of every column, and at every two of two columns.

What is looked at are *candidates*: the segments with one value of a column, and those with one value each of
two columns. The gap of a candidate is how badly the model works for it minus how badly it works for the
others. With the standard deviation of its replicates and the blocks :math:`K` of the smaller side,

.. math:: t = \frac{\text{gap}}{\sqrt{K/(K-1)}\; \mathrm{sd}(\text{gap}^*)}

is compared with Student's distribution with :math:`K-1` degrees of freedom, on the side of being worse. Among
hundreds of candidates some have a small p-value by chance; *named* are those that remain at a false discovery
rate of 5 % over all of them.

Benjamini and Hochberg (1995), Controlling the false discovery rate. Benjamini and Yekutieli (2005), False
discovery rate-adjusted multiple confidence intervals for selected parameters, for the intervals: the worst of
many looks worse than it is, so theirs are wider the fewer are named.

Conventions
-----------
- All blocks are used at once to find groups and to judge them: halves would find fewer.
- A gap below the size that matters has a p-value of 1. So does an undefined one.
- Segments without a value in a column are on neither side of its candidates.
- Candidates of the same segments are one; it has the name that came first, and single columns come first.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.metrics.additive import Statistic, round_significant
from soundcheck.metrics.combinators import difference, restrict
from soundcheck.statistics.bootstrap import REPLICATES, Resampled, resample_all
from soundcheck.statistics.evidence import LEAST_BLOCKS, adjusted_p_values, paired_test, standard_error

LEAST_SEGMENTS = 25  # of either side
FALSE_DISCOVERY_RATE = 0.05
PLANNED_SHARE, PLANNED_POWER = 1 / 8, 0.8  # of the segments; of a group that is planned for

_AT_ONCE = 20  # candidates whose sums and replicates are in memory together
_SHARED = 0.5  # of the segments of a group, from which on it repeats the group that it shares them with

Sides = tuple[tuple[str, ...], np.ndarray, np.ndarray]  # values of columns, masks of the group and the others
Worse = Callable[[np.ndarray, np.ndarray], bool]  # whether the segments of one mask are worse off


@dataclasses.dataclass(frozen=True, eq=False)
class Subgroup:
    """A group that was looked at; the fields from ``value`` on are those of groups that are worse off."""

    words: tuple[str, ...]  # the value of each column that makes it, one or two
    gap: float  # how badly the model works for it minus how badly for the others; NaN if undefined
    error: float  # standard error of the gap; NaN if undefined
    p_value: float  # of being no worse off, from 0 to 1
    segments: np.ndarray  # numbers of its segments, ascending
    blocks: int
    smaller: int  # blocks of the smaller side
    rest: np.ndarray  # numbers of the segments that it is compared with; empty if the p-value is above 5 %
    replicates: np.ndarray  # of the gap, float64 `(replicates,)`; empty if the p-value is above 5 %
    value: float = np.nan  # how badly the model works for it, and for the others
    others: float = np.nan
    low: float = np.nan  # interval of the gap; its level allows for the choice among all candidates
    high: float = np.nan
    adjusted: float = np.nan  # the p-value, adjusted for all candidates
    folded: tuple[Subgroup, ...] = ()  # groups that are worse off, too, and repeat it

    @property
    def name(self) -> str:
        """The group in words."""
        return " × ".join(self.words)


@dataclasses.dataclass(frozen=True, eq=False)
class Search:
    """What was looked at, and what was found."""

    candidates: tuple[Subgroup, ...]  # all groups that were looked at
    adjusted: np.ndarray  # their p-values, adjusted for all of them, float64 `(candidates,)`
    named: tuple[Subgroup, ...]  # groups that are worse off, by the size of their gap
    level: float  # probability of their intervals; NaN if there are none
    segments: int  # segments that take part
    matters: float  # the gap that matters

    @property
    def p_value(self) -> float:
        """The smallest adjusted p-value: of no group being worse off. NaN without candidates."""
        return float(self.adjusted.min(initial=1.0)) if len(self.adjusted) else np.nan

    def planned_gap(self) -> float:
        """Plan which gap of a group of an eighth of the segments would be named in 80 of 100 cases.

        The spread is that of the candidates of a similar size, from half to twice as large, had they that
        size; the p-value would have to pass among all candidates without the help of another one.
        """
        size, sizes = PLANNED_SHARE * self.segments, []
        for group in self.candidates:
            if size / 2 <= len(group.segments) <= 2 * size and np.isfinite(group.error):
                error = group.error * np.sqrt(len(group.segments) / size)
                least = FALSE_DISCOVERY_RATE / len(self.candidates)
                needed, reached = error * scipy.special.stdtrit(group.smaller - 1, [1 - least, PLANNED_POWER])
                sizes.append(max(needed, self.matters) + reached)
        return float(np.median(sizes)) if sizes else np.nan


def search(
    columns: Mapping[str, Sequence[str | None]],
    statistic: Statistic,
    blocks: np.ndarray,
    matters: float,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Search:
    """Look for groups for which the model works worse than for the others.

    ``columns`` have a word a segment, ``None`` or NaN where it is missing; groups are named after words.
    ``statistic`` says how badly the model works for segments, ``matters`` which gap matters.
    """
    blocks, rows = np.asarray(blocks), statistic.rows
    eligible = np.logical_or.reduce([rows, *(part.missing_predictions for part in statistic.parts)])
    sides, candidates = _sides(columns, rows, eligible, blocks), []

    def measured(pieces: Sequence[Sides]) -> list[Subgroup]:
        gaps = [
            difference(restrict(statistic, group), restrict(statistic, rest)) for _, group, rest in pieces
        ]
        drawn = resample_all(gaps, blocks, replicates, seed)
        return [
            _candidate((words, group & rows, rest & rows), resampled, blocks, matters)
            for (words, group, rest), resampled in zip(pieces, drawn, strict=True)
        ]

    while pieces := list(itertools.islice(sides, _AT_ONCE)):
        candidates += measured(pieces)
    adjusted = round_significant(adjusted_p_values([group.p_value for group in candidates]))
    chosen = np.flatnonzero(adjusted <= FALSE_DISCOVERY_RATE)
    level = 1 - FALSE_DISCOVERY_RATE * len(chosen) / len(candidates) if len(chosen) else np.nan
    named = [_named(candidates[n], float(adjusted[n]), level, statistic) for n in chosen]
    named.sort(key=lambda group: (-group.gap, len(group.words), group.name))

    def worse(group: np.ndarray, rest: np.ndarray) -> bool:
        (candidate,) = measured([((), group, rest)])
        return candidate.p_value <= FALSE_DISCOVERY_RATE

    masks = [(_mask(group.segments, rows), _mask(group.rest, rows)) for group in named]
    leaders = tuple(
        dataclasses.replace(named[top], folded=tuple(named[place] for place in below))
        for top, below in repeated_groups(masks, worse).items()
    )
    return Search(tuple(candidates), adjusted, leaders, level, int(rows.sum()), matters)


def _sides(
    columns: Mapping[str, Sequence[str | None]], rows: np.ndarray, eligible: np.ndarray, blocks: np.ndarray
) -> Iterator[Sides]:
    """Give words, segments and the others' segments, bool ``(N,)``, of each candidate once.

    Those without prediction are among them, so that what has too few predictions is not judged; they do not
    make a side large.
    """
    seen: set[bytes] = set()
    words_of = {name: np.asarray(words, dtype=object) for name, words in columns.items()}
    table = pd.DataFrame(words_of, index=range(len(rows)))
    table.loc[~eligible] = None
    table = table.apply(lambda words: words.map(str, na_action="ignore"))
    table = table.astype("category")
    for names in (*((name,) for name in columns), *itertools.combinations(columns, 2)):
        known = table[list(names)].notna().all(axis=1).to_numpy()
        for words, members in table.groupby(list(names), observed=True).indices.items():
            size = int(rows[members].sum())
            if min(size, int((known & rows).sum()) - size) < LEAST_SEGMENTS:
                continue
            group = np.zeros_like(known)
            group[members] = True
            key, rest = np.packbits(group).tobytes(), known & ~group
            if key in seen or min(_count(blocks[side & rows]) for side in (group, rest)) < LEAST_BLOCKS:
                continue
            seen.add(key)
            yield words if isinstance(words, tuple) else (words,), group, rest


def _count(blocks: np.ndarray) -> int:
    return int(np.count_nonzero(np.bincount(blocks)))


def _candidate(sides: Sides, resampled: Resampled, blocks: np.ndarray, matters: float) -> Subgroup:
    words, group, rest = sides
    gap, replicates = float(resampled.value[0]), resampled.replicates[:, 0]
    counts = [_count(blocks[side]) for side in (group, rest)]
    smaller, p_value = min(counts), 1.0
    if gap >= matters:
        p_value = float(np.nan_to_num(paired_test(replicates, gap, smaller, "greater")[0], nan=1.0))
    significant = p_value <= FALSE_DISCOVERY_RATE
    return Subgroup(
        words=words,
        gap=gap,
        error=standard_error(replicates, smaller),
        p_value=p_value,
        segments=np.flatnonzero(group).astype(np.int32),
        blocks=counts[0],
        smaller=smaller,
        rest=np.flatnonzero(rest if significant else []).astype(np.int32),
        replicates=replicates.copy() if significant else np.empty(0),
    )


def _named(group: Subgroup, adjusted: float, level: float, statistic: Statistic) -> Subgroup:
    low, high = paired_test(group.replicates, group.gap, group.smaller, level=level)[1:]
    value = float(restrict(statistic, _mask(group.segments, statistic.rows)).point().value[0])
    others = float(round_significant(np.array(value - group.gap)))
    return dataclasses.replace(group, value=value, others=others, low=low, high=high, adjusted=adjusted)


def _mask(segments: np.ndarray, rows: np.ndarray) -> np.ndarray:
    mask = np.zeros_like(rows)
    mask[segments] = True
    return mask


def repeated_groups(sides: Sequence[tuple[np.ndarray, np.ndarray]], worse: Worse) -> dict[int, list[int]]:
    """Sort groups, masks of them and of the others, under those that they repeat: place -> places below.

    A model that fails women over a telephone is worse for women, over the telephone, and for women over the
    telephone in noise. One of these groups stands for all:

    - A group within another one, and no worse than the rest of that one, repeats it. The smaller a part, the
      larger its gap by chance, so it would often precede the group that explains all.
    - A group that shares half of its segments or more with one of a larger gap repeats that one.
    - A group that shares some repeats it if it is no worse than the others without the segments of all groups
      before it, on either side.

    >>> whole, half = np.array([True, True, False]), np.array([True, False, False])
    >>> repeated_groups([(half, ~half), (whole, ~whole)], lambda group, rest: False)
    {1: [0]}
    """
    wider = _wider([group for group, _ in sides], worse)
    below: dict[int, list[int]] = {}
    above = np.zeros_like(sides[0][0]) if sides else np.empty(0, dtype=bool)
    for place in (place for place in range(len(sides)) if place not in wider):
        group, rest = sides[place]
        shared = {top: (group & sides[top][0]).sum() / group.sum() for top in below}
        most = max(shared, key=shared.__getitem__, default=None)
        if most is not None and shared[most] > 0:
            if shared[most] >= _SHARED or not worse(group & ~above, rest & ~above):
                below[most].append(place)
                continue
        below[place] = []
        above |= group
    for top, places in below.items():
        candidates = {top, *places}
        places.extend(place for place, home in wider.items() if home in candidates)
        places.sort()
    return below


def _wider(groups: Sequence[np.ndarray], worse: Worse) -> dict[int, int]:
    """Find groups within another one that are no worse than its rest; place -> place of the other one.

    The other one lies within none in this way.
    """
    homes: dict[int, int] = {}
    by_size = sorted(range(len(groups)), key=lambda place: (-groups[place].sum(), place))
    for rank, place in enumerate(by_size):
        for other in (other for other in by_size[:rank] if other not in homes):
            if (groups[place] & ~groups[other]).any():
                continue
            if not worse(groups[place], groups[other] & ~groups[place]):
                homes[place] = other
                break
    return homes
