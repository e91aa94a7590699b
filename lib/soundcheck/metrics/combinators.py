"""Statistics made of statistics: groups, differences, changes, comparisons, averages.

All of them are additive statistics again: the sums of what they are made of, side by side, and a function of
their values. So they have intervals like any other, on the same replicates.
"""

import copy
import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from soundcheck.common.messages import counted
from soundcheck.metrics import additive
from soundcheck.metrics.additive import Cells, Contributions, HasPoint, Statistic, SumsToTexts, ratio

Labelled = TypeVar("Labelled", bound=HasPoint)
Texts = tuple[str, ...]

MOST_SUMS = 20_000  # of all strata and both sides of a standardised difference; more take seconds


def restrict(statistic: Statistic, mask: np.ndarray) -> Statistic:
    """Let only the segments of a mask, bool ``(N,)``, contribute: the statistic of a group.

    The group keeps its place among all ``N`` segments, so it can be compared with the others.

    >>> from soundcheck.metrics.regression import mean_value
    >>> restrict(mean_value([0.1, 0.2, 0.6]), np.array([True, True, False]))
    Statistic(0.15)
    """
    if not isinstance(statistic, Statistic):
        kind = type(statistic).__name__
        raise TypeError(f"groups are compared by statistics of soundcheck.metrics; the measure gives {kind}")
    mask = np.asarray(mask)
    if mask.shape != (len(statistic),) or mask.dtype != bool:
        raise ValueError(
            f"A mask of {len(statistic)} True or False is needed, not {mask.dtype} of shape {mask.shape}."
        )
    return dataclasses.replace(statistic, parts=tuple(part.restrict(mask) for part in statistic.parts))


def _joined(
    statistics: Sequence[Statistic],
    labels: Sequence[str],
    compute: Callable[[list[np.ndarray]], np.ndarray],
    count: Callable[[list[np.ndarray]], np.ndarray],
    texts: Callable[[list[Texts]], Texts],
) -> Statistic:
    """Make a statistic of others; functions take what each of these gives for its own sums."""
    ends = np.cumsum([statistic.size for statistic in statistics]).tolist()
    places = [slice(start, end) for start, end in itertools.pairwise([0, *ends])]

    def each(name: str, sums: np.ndarray) -> list:  # slices, as np.split takes longer than many a computation
        return [getattr(s, name)(sums[..., place]) for s, place in zip(statistics, places, strict=True)]

    def texts_of(name: str) -> SumsToTexts:
        def joined(sums: np.ndarray) -> Texts:
            given = zip(each(name, sums), statistics, strict=True)
            return texts([text or ("",) * len(s.labels) for text, s in given])

        return joined

    return Statistic(
        parts=tuple(part for statistic in statistics for part in statistic.parts),
        compute=lambda sums: compute(each("compute", sums)),
        count=lambda sums: count(each("count", sums)),
        labels=tuple(labels),
        reasons=texts_of("reasons"),
        notes=texts_of("notes"),
    )


def _first(texts: Sequence[Texts]) -> Texts:
    """Give the first text of each label."""
    return tuple(next(filter(None, each), "") for each in zip(*texts, strict=True))


def _same_labels(statistics: Sequence[HasPoint]) -> tuple[str, ...]:
    if len({statistic.labels for statistic in statistics}) != 1:
        raise ValueError("Only statistics with the same labels can be combined.")
    return statistics[0].labels


def combine(statistics: Sequence[Statistic], function: Callable[..., np.ndarray]) -> Statistic:
    """Make a statistic of the values ``(..., m)`` of others over the same segments, with the same labels.

    It counts segments as the first one does; a reason or note of any holds for the combination.

    >>> from soundcheck.metrics.regression import mean_value
    >>> combine([mean_value([0.2]), mean_value([0.6])], np.maximum)
    Statistic(0.6)
    """
    labels = _same_labels(statistics)
    return _joined(statistics, labels, lambda values: function(*values), lambda counts: counts[0], _first)


def difference(a: Statistic, b: Statistic) -> Statistic:
    """Subtract: the values of ``a`` minus those of ``b``, over the same segments.

    >>> from soundcheck.metrics.regression import mean_value
    >>> difference(mean_value([0.6]), mean_value([0.2]))
    Statistic(0.4)
    """
    return combine([a, b], np.subtract)


def sides(a: Statistic, b: Statistic) -> Statistic:
    """Put the values of ``a``, those of ``b`` and their differences beside each other, ``3 m`` values.

    The differences are those of :func:`difference`, and refused where either side is.

    >>> from soundcheck.metrics.regression import mean_value
    >>> sides(mean_value([0.6]), mean_value([0.2]))
    Statistic({'group ': 0.6, 'others ': 0.2, 'difference ': 0.4})
    """
    labels = _same_labels([a, b])
    return _joined(
        [a, b],
        [f"{side} {label}" for side in ("group", "others", "difference") for label in labels],
        lambda values: np.concatenate([*values, values[0] - values[1]], axis=-1),
        lambda counts: np.concatenate([*counts, counts[0]], axis=-1),
        lambda texts: (*texts[0], *texts[1], *_first(texts)),
    )


def relative_difference(a: Statistic, b: Statistic) -> Statistic:
    """Subtract and divide: by how much the values of ``a`` differ from those of ``b``, divided by ``b``.

    Undefined where ``b`` is not positive.

    >>> from soundcheck.metrics.regression import mean_value
    >>> relative_difference(mean_value([0.6]), mean_value([0.4]))
    Statistic(0.5)
    """
    statistic = combine([a, b], lambda first, second: ratio(first - second, second))

    def reasons(sums: np.ndarray) -> Texts:
        bases = b.compute(sums[..., a.size :])
        of_base = tuple("" if base > 0 else f"a difference relative to {base:g}" for base in bases)
        return _first([statistic.reasons(sums), of_base])

    return dataclasses.replace(statistic, reasons=reasons)


def paired(a: Statistic, b: Statistic) -> tuple[Statistic, Statistic]:
    """Let only the segments that contribute to both contribute to either.

    Segments that only one of them can use count as missing predictions.

    >>> from soundcheck.metrics.regression import mean_value
    >>> paired(mean_value([0.1, 0.3]), mean_value([0.5, np.nan]))
    (Statistic(0.1), Statistic(0.5))
    """
    both = a.rows & b.rows
    missing = a.rows | b.rows
    for part in (*a.parts, *b.parts):
        missing = missing | part.missing_predictions
    missing = missing & ~both

    def restricted(statistic: Statistic) -> Statistic:
        parts = (
            dataclasses.replace(part, rows=part.rows & both, missing_predictions=missing)
            for part in statistic.parts
        )
        return dataclasses.replace(statistic, parts=tuple(parts))

    return restricted(a), restricted(b)


def paired_difference(a: Statistic, b: Statistic) -> Statistic:
    """Subtract over the segments that contribute to both: a change under noise, one model minus another.

    >>> from soundcheck.metrics.regression import mean_absolute_error
    >>> clean, changed = mean_absolute_error([0.5], [0.5]), mean_absolute_error([0.5], [0.3])
    >>> paired_difference(changed, clean)
    Statistic(0.2)
    """
    return difference(*paired(a, b))


def average(statistics: Sequence[Statistic]) -> Statistic:
    """Average the values of statistics over the same segments, each with the same weight.

    Undefined, and so is the value in a replicate, if any of them is: an average over other groups would be
    another quantity.

    >>> from soundcheck.metrics.regression import mean_value
    >>> everyone, group = mean_value([0.2, 0.2, 0.8]), np.array([True, True, False])
    >>> average([restrict(everyone, group), restrict(everyone, ~group)])
    Statistic(0.5)
    """
    return _joined(statistics, _same_labels(statistics), functools.partial(np.mean, axis=0), sum, _first)


def mean_of(statistics: Sequence[Statistic]) -> Statistic:
    """Average several values of the same segments, such as those under several changes, counted once.

    >>> from soundcheck.metrics.regression import mean_value
    >>> mean_of([mean_value([0.2]), mean_value([0.6])])
    Statistic(0.4)
    """
    return combine(statistics, lambda *values: np.mean(values, axis=0))


def stack(statistics: Mapping[str, Statistic]) -> Statistic:
    """Put statistics with a single value, over the same segments, beside each other, one label each.

    >>> from soundcheck.metrics.regression import mean_value
    >>> stack({"clean": mean_value([0.2]), "noise": mean_value([0.6])})
    Statistic({'clean': 0.2, 'noise': 0.6})
    """
    items = list(statistics.values())
    if any(len(statistic.labels) != 1 for statistic in items):
        raise ValueError("Only statistics with a single value can be stacked.")
    beside = functools.partial(np.concatenate, axis=-1)
    return _joined(items, statistics, beside, beside, lambda texts: tuple(itertools.chain(*texts)))


def against_all(statistic: Statistic, mask: np.ndarray) -> Statistic:
    """Subtract: the values of a group, given by a mask, minus those of everybody, the group included.

    >>> from soundcheck.metrics.regression import mean_value
    >>> against_all(mean_value([0.2, 0.6]), np.array([True, False]))
    Statistic(-0.2)
    """
    return difference(restrict(statistic, mask), statistic)


def against_average(statistic: Statistic, groups: Sequence[np.ndarray], tested: int) -> Statistic:
    r"""Subtract: the values of a group minus their average over all groups, itself included.

    .. math:: M(g) - \frac1G \sum_{i=1}^G M(g_i)

    Each group weighs alike, however many segments it has. For means and proportions of groups of equal size
    this is :func:`against_all`. Groups without a value, in a replicate or altogether, are left out of the
    average: a small group that a replicate leaves out, or one hardly predicted, makes no others undefined.

    - ``groups``: masks of all groups, bool ``(N,)`` each; ``tested`` is the number of one of them.

    >>> from soundcheck.metrics.regression import mean_value
    >>> group = np.array([True, False, False])
    >>> against_average(mean_value([0.2, 0.6, 0.6]), [group, ~group], 0)
    Statistic(-0.2)
    """
    restricted = [restrict(statistic, group) for group in groups]
    first = restricted[tested]
    others = [each for each in _predicted(restricted, tested) if each is not first]

    def function(*values: np.ndarray) -> np.ndarray:
        table = np.stack(values)
        known = np.isfinite(table)
        return values[0] - ratio(np.where(known, table, 0).sum(axis=0), known.sum(axis=0))

    compared = combine([first, *others], function)
    return dataclasses.replace(compared, reasons=lambda sums: first.reasons(sums[..., : first.size]))


def _predicted(groups: list[Statistic], tested: int) -> list[Statistic]:
    """Give the tested group and those with predictions enough for a value; all if it were alone."""
    kept = [s for s in groups if s is groups[tested] or not additive.missing_predictions(s.parts)[0]]
    return kept if len(kept) > 1 else groups


def relabel(statistic: Labelled, name: Callable[[str], str]) -> Labelled:
    """Give the values of any statistic other labels, each made of the old one.

    >>> from soundcheck.metrics.regression import mean_value
    >>> relabel(mean_value([0.2]), lambda label: "mean" + label).labels
    ('mean',)
    """
    renamed = copy.copy(statistic)
    object.__setattr__(renamed, "labels", tuple(map(name, statistic.labels)))  # both kinds, frozen or not
    return renamed


def require_count(
    statistic: Statistic, counts: Sequence[int] | int, least: int, noun: str = "segment"
) -> Statistic:
    """Skip values of too few segments, or of too few of something else.

    - ``counts``: what is compared with ``least``, ``m`` numbers or one for all: the segments of each bin in
      all groups.
    - ``noun``: what is counted; its plural ends in s.

    >>> from soundcheck.metrics.regression import mean_value
    >>> require_count(mean_value([0.2]), 1, 10).point().reasons
    ('1 segment, 10 needed',)
    """
    counts = np.broadcast_to(np.asarray(counts), (len(statistic.labels),))
    few = [f"{counted(int(count), noun)}, {least} needed" if count < least else "" for count in counts]

    def reasons(sums: np.ndarray) -> Texts:
        return _first([few, statistic.reasons(sums) or [""] * len(few)])

    return dataclasses.replace(statistic, reasons=reasons)


# Groups in a context, such as languages in texts of one sentiment


def shift(statistic: Statistic, group: np.ndarray, context: np.ndarray) -> Statistic:
    """Subtract: the values of a group in a context minus those of the group in all contexts.

    For statistics that need no truth. Counts the group's segments in the context, both masks ``(N,)``.

    >>> from soundcheck.metrics.regression import mean_value
    >>> shift(mean_value([0.2, 0.6]), np.array([True, True]), np.array([False, True]))
    Statistic(0.2)
    """
    return difference(restrict(statistic, group & context), restrict(statistic, group))


def shift_difference(
    statistic: Statistic, groups: Sequence[np.ndarray], tested: int, context: np.ndarray
) -> Statistic:
    r"""Subtract: the shift of a group minus the average shift of all groups.

    .. math:: \mathrm{shift}(g, c) - \frac1G \sum_{i=1}^G \mathrm{shift}(g_i, c)

    Every group weighs alike, but those hardly predicted; undefined if any has no segments in the context.

    >>> from soundcheck.metrics.regression import mean_value
    >>> group, context = np.array([True, True, False, False]), np.array([True, False, True, False])
    >>> shift_difference(mean_value([0.6, 0.2, 0.4, 0.4]), [group, ~group], 0, context)
    Statistic(0.1)
    """
    shifts = [shift(statistic, group, context) for group in groups]
    return difference(shifts[tested], average(_predicted(shifts, tested)))


# Both sides made up alike


@dataclasses.dataclass(frozen=True, eq=False)
class _ByStratum(Contributions):
    """Contributions of a part, summed up for each stratum of each side."""

    part: Contributions
    codes: np.ndarray  # integer ``(N,)``; side and stratum of each segment, from 0, where ``rows``
    n_codes: int  # number of strata of both sides

    @property
    def size(self) -> int:
        """Number of sums."""
        return self.n_codes * self.part.size

    def exact_sums(self, blocks: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum each block, a stratum after the other."""
        part = dataclasses.replace(self.part, rows=self.rows, missing_predictions=self.missing_predictions)
        high, low = part.exact_sums(blocks * self.n_codes + self.codes, n_blocks * self.n_codes)
        return high.reshape(n_blocks, self.size), low.reshape(n_blocks, self.size)


def standardised_difference(
    statistic: Statistic, group: np.ndarray, others: np.ndarray, strata: np.ndarray, n_strata: int
) -> Statistic:
    r"""Subtract the values of the others from those of a group, both made up alike: direct standardisation.

    If a group was recorded in more noise than the others, its value differs for that reason alone. Segments
    are put into strata of like noise. The sums :math:`S_{sc}` of side :math:`s` in stratum :math:`c` are
    weighted so that either side has the strata in the proportions of both together,

    .. math:: S_s = \sum_c \frac{n_{1c} + n_{2c}}{n_{sc}} \, S_{sc}

    where :math:`n_{sc}` counts segments, and the values of the weighted sums are subtracted. Keiding and
    Clayton (2014), Standardization and control for confounding in observational studies.

    Weights are a function of sums, so each replicate has its own. A stratum in which one side has no
    segments, in a replicate or altogether, counts for neither. Statistics made of others, over different
    segments, have weights of their own for each set of segments.

    - ``group, others``: masks of the two sides, bool ``(N,)``; no segment is in both.
    - ``strata``: integer ``(N,)`` from 0, or -1 for segments that are left out.
    - Returns the labels of ``statistic``; counts the group's segments that have a stratum.

    Two voices in noise (stratum 0) and in quiet (stratum 1); either is off by 0.1 in noise:

    >>> from soundcheck.metrics.regression import mean_value
    >>> predictions = mean_value([0.4, 0.4, 0.4, 0.5, 0.4, 0.5, 0.5, 0.5])
    >>> one = np.arange(8) < 4
    >>> standardised_difference(predictions, one, ~one, np.array([0, 0, 0, 1, 0, 1, 1, 1]), 2)
    Statistic(0.0)
    """
    strata = np.asarray(strata)
    inside = (group | others) & (strata >= 0)
    codes = np.where(inside, strata + n_strata * others, 0).astype(np.intp)

    stratified: dict[Contributions, tuple[_ByStratum, Cells]] = {}  # sums of each part, and its counts
    for part in dict.fromkeys(statistic.parts):
        rows, missing = part.rows & inside, part.missing_predictions & inside
        sums = _ByStratum(rows, missing, part=part, codes=codes, n_codes=2 * n_strata)
        stratified[part] = sums, Cells(rows, np.zeros_like(rows), codes, 2 * n_strata)
    parts = tuple(each for part in statistic.parts for each in stratified[part])
    ends = np.cumsum([part.size for part in parts])[:-1]

    def split(sums: np.ndarray) -> list[np.ndarray]:
        """Give sums ``(..., 2, strata, size)`` and counts ``(..., 2, strata, 1)`` of each part in turn."""
        pieces = np.split(np.asarray(sums), ends, axis=-1)
        return [piece.reshape(*piece.shape[:-1], 2, n_strata, -1) for piece in pieces]

    def compute(sums: np.ndarray) -> np.ndarray:
        pieces = split(sums)
        weighted = [
            np.einsum("...sc,...sck->...sk", _weights(counts[..., 0]), of_part)
            for of_part, counts in zip(pieces[::2], pieces[1::2], strict=True)
        ]
        values = statistic.compute(np.concatenate(weighted, axis=-1))
        return values[..., 0, :] - values[..., 1, :]

    def of_sides(sums: np.ndarray) -> np.ndarray:
        """Give the sums of both sides without weights, ``(..., 2, k)``."""
        return np.concatenate([each.sum(axis=-2) for each in split(sums)[::2]], axis=-1)

    def texts(function: SumsToTexts) -> SumsToTexts:
        return lambda sums: _first([texts for texts in map(function, of_sides(sums)) if texts])

    return Statistic(
        parts=parts,
        compute=compute,
        count=lambda sums: statistic.count(of_sides(sums)[..., 0, :]),
        labels=statistic.labels,
        reasons=texts(statistic.reasons),
        notes=texts(statistic.notes),
    )


def _weights(counts: np.ndarray) -> np.ndarray:
    """Give the weight of each side's segments in each stratum, ``(..., 2, strata)``."""
    compared = (counts > 0).all(axis=-2, keepdims=True)
    both = counts.sum(axis=-2, keepdims=True)
    return np.divide(both, counts, out=np.zeros_like(counts), where=compared)
