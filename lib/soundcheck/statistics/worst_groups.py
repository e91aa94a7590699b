r"""Groups that nobody named: looks at every value of every column, and at every two of two columns.

What is looked at are *candidates*: the segments with one value of a column, and those with one value each of
two columns. The gap of a candidate is how badly it is served minus how badly the others are. With the
standard deviation of its replicates and the blocks :math:`K` of the smaller side,

.. math:: t = \frac{\text{gap}}{\sqrt{K/(K-1)}\; \mathrm{sd}(\text{gap}^*)}

is compared with Student's distribution with :math:`K-1` degrees of freedom, on the side of being served
worse. Among hundreds of candidates some have a small p-value by chance; *named* are those that remain at a
false discovery rate of 5 % over all of them.

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
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.metrics.additive import Statistic, round_significant
from soundcheck.metrics.combinators import difference, restrict
from soundcheck.statistics.bootstrap import Resampled, resample_all
from soundcheck.statistics.draws import REPLICATES
from soundcheck.statistics.evidence import LEAST_BLOCKS
from soundcheck.statistics.false_discovery import adjusted_p_values
from soundcheck.statistics.paired import paired_interval, paired_p_value, standard_error
from soundcheck.statistics.repeated_groups import repeated_groups

LEAST_SEGMENTS = 25  # of either side
FALSE_DISCOVERY_RATE = 0.05
PLANNED_SHARE, PLANNED_POWER = 1 / 8, 0.8  # of the segments; of a group that is planned for

_AT_ONCE = 20  # candidates whose sums and replicates are in memory together
_Sides = tuple[tuple[str, ...], np.ndarray, np.ndarray]


@dataclasses.dataclass(frozen=True, eq=False)
class Subgroup:
    """A group that was looked at; the fields from ``value`` on are those of groups that are worse off."""

    words: tuple[str, ...]  # the value of each column that makes it, one or two
    gap: float  # how badly it is served minus how badly the others are; NaN if undefined
    error: float  # standard error of the gap; NaN if undefined
    p_value: float  # of being served no worse, from 0 to 1
    segments: np.ndarray  # numbers of its segments, ascending
    blocks: int
    smaller: int  # blocks of the smaller side
    rest: np.ndarray  # numbers of the segments that it is compared with; empty if the p-value is above 5 %
    replicates: np.ndarray  # of the gap, float64 `(replicates,)`; empty if the p-value is above 5 %
    value: float = np.nan  # how badly it is served, and how badly the others are
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
        """The smallest adjusted p-value: of no group being served worse. NaN without candidates."""
        return float(self.adjusted.min(initial=1.0)) if len(self.adjusted) else np.nan

    def planned_gap(self) -> float:
        """Plan which gap of a group of an eighth of the segments would be named in 80 of 100 cases.

        The spread is that of the candidates of a similar size, from half to twice as large, had they that
        size; the p-value would have to pass among all candidates without the help of another one.
        """
        wanted = PLANNED_SHARE * self.segments
        sizes = []
        for one in self.candidates:
            if wanted / 2 <= len(one.segments) <= 2 * wanted and np.isfinite(one.error):
                error = one.error * np.sqrt(len(one.segments) / wanted)
                least = FALSE_DISCOVERY_RATE / len(self.candidates)
                needed, reached = error * scipy.special.stdtrit(one.smaller - 1, [1 - least, PLANNED_POWER])
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
    """Look for groups that are served worse than the others.

    ``columns`` have a word a segment, ``None`` or NaN where it is missing; groups are named after words.
    ``statistic`` says how badly segments are served, ``matters`` which gap matters.
    """
    blocks, rows = np.asarray(blocks), statistic.rows
    columns = {name: np.asarray(words, dtype=object) for name, words in columns.items()}
    wanted = np.logical_or.reduce([rows, *(part.missing_predictions for part in statistic.parts)])
    sides, found = _sides(columns, rows, wanted, blocks), []

    def looked_at(pieces: Sequence[_Sides]) -> list[Subgroup]:
        gaps = [difference(restrict(statistic, own), restrict(statistic, rest)) for _, own, rest in pieces]
        drawn = resample_all(gaps, blocks, replicates, seed)
        there = [(words, own & rows, rest & rows) for words, own, rest in pieces]
        return [_candidate(piece, one, blocks, matters) for piece, one in zip(there, drawn, strict=True)]

    while pieces := list(itertools.islice(sides, _AT_ONCE)):
        found += looked_at(pieces)
    adjusted = np.empty(0)
    if found:
        adjusted = round_significant(adjusted_p_values([one.p_value for one in found]))
    chosen = np.flatnonzero(adjusted <= FALSE_DISCOVERY_RATE)
    level = 1 - FALSE_DISCOVERY_RATE * len(chosen) / len(found) if len(chosen) else np.nan
    named = [_named(found[n], float(adjusted[n]), level, statistic) for n in chosen]
    named.sort(key=lambda one: (-one.gap, len(one.words), one.name))

    def worse(own: np.ndarray, rest: np.ndarray) -> bool:
        (one,) = looked_at([((), own, rest)])
        return one.p_value <= FALSE_DISCOVERY_RATE

    groups = [(_mask(one.segments, rows), _mask(one.rest, rows)) for one in named]
    kept = tuple(
        dataclasses.replace(named[top], folded=tuple(named[place] for place in below))
        for top, below in repeated_groups(groups, worse).items()
    )
    return Search(tuple(found), adjusted, kept, level, int(rows.sum()), matters)


def _sides(
    columns: Mapping[str, np.ndarray], rows: np.ndarray, wanted: np.ndarray, blocks: np.ndarray
) -> Iterator[_Sides]:
    """Give words, segments and the others' segments, bool ``(N,)``, of each candidate once.

    Those without prediction are among them, so that what has too few predictions is not judged; they do not
    make a side large.
    """
    seen: set[bytes] = set()
    numbered = {name: _numbered(words, wanted) for name, words in columns.items()}
    for names in (*((name,) for name in columns), *itertools.combinations(columns, 2)):
        known, code, values = _coded([numbered[name] for name in names])
        sizes = np.bincount(code[known & rows], minlength=len(values))
        large = (sizes >= LEAST_SEGMENTS) & (sizes.sum() - sizes >= LEAST_SEGMENTS)
        for value in np.flatnonzero(large):
            own = known & (code == value)
            key = np.packbits(own).tobytes()
            rest = known & ~own
            if key in seen or min(_count(blocks[side & rows]) for side in (own, rest)) < LEAST_BLOCKS:
                continue
            seen.add(key)
            yield values[value], own, rest


def _numbered(words: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Give segments numbers in the order of their words, -1 without one, and name the numbers."""
    known = rows & ~_missing(words)
    numbers = np.full(len(rows), -1)
    names, numbers[known] = np.unique(words[known].astype(str), return_inverse=True)
    return numbers, names.tolist()


def _coded(
    columns: Sequence[tuple[np.ndarray, list[str]]],
) -> tuple[np.ndarray, np.ndarray, list[tuple[str, ...]]]:
    """Say which segments have words in all columns, number these by their words, and name the numbers."""
    known = np.logical_and.reduce([numbers >= 0 for numbers, _ in columns])
    shape = tuple(max(1, len(names)) for _, names in columns)
    joint = np.ravel_multi_index([numbers[known] for numbers, _ in columns], shape)
    code = np.full(len(known), -1)
    found, code[known] = np.unique(joint, return_inverse=True)
    places = zip(*(each.tolist() for each in np.unravel_index(found, shape)), strict=True)
    values = [tuple(names[n] for n, (_, names) in zip(place, columns, strict=True)) for place in places]
    return known, code, values


def _missing(words: np.ndarray) -> np.ndarray:
    return np.array([word is None or word != word for word in words], dtype=bool)  # NaN is not itself


def _count(blocks: np.ndarray) -> int:
    return int(np.count_nonzero(np.bincount(blocks)))


def _candidate(piece: _Sides, found: Resampled, blocks: np.ndarray, matters: float) -> Subgroup:
    words, own, rest = piece
    gap, replicates = float(found.value[0]), found.replicates[:, 0]
    counts = [_count(blocks[side]) for side in (own, rest)]
    smaller, p_value = min(counts), 1.0
    if gap >= matters:
        p_value = float(np.nan_to_num(paired_p_value(replicates, gap, smaller, "greater"), nan=1.0))
    significant = p_value <= FALSE_DISCOVERY_RATE
    return Subgroup(
        words=words,
        gap=gap,
        error=standard_error(replicates, smaller),
        p_value=p_value,
        segments=np.flatnonzero(own).astype(np.int32),
        blocks=counts[0],
        smaller=smaller,
        rest=np.flatnonzero(rest if significant else []).astype(np.int32),
        replicates=replicates.copy() if significant else np.empty(0),
    )


def _named(group: Subgroup, adjusted: float, level: float, statistic: Statistic) -> Subgroup:
    low, high = paired_interval(group.replicates, group.gap, group.smaller, level)
    value = float(restrict(statistic, _mask(group.segments, statistic.rows)).point().value[0])
    others = float(round_significant(np.array(value - group.gap)))
    return dataclasses.replace(group, value=value, others=others, low=low, high=high, adjusted=adjusted)


def _mask(segments: np.ndarray, rows: np.ndarray) -> np.ndarray:
    mask = np.zeros_like(rows)
    mask[segments] = True
    return mask
