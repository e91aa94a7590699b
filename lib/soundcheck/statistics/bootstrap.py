r"""Blockwise bootstrap: intervals of additive statistics that respect who speaks.

Segments of one speaker are not independent, so whole blocks (speakers, conversations, files) are drawn with
replacement. A replicate needs no data, only how often each block was drawn: all replicates of a statistic are
one matrix product, weights ``(replicates, blocks)`` times block sums ``(blocks, k)``, and one call of
``compute``.

Efron (1979), Bootstrap methods: another look at the jackknife. Bisani and Ney (2004), Bootstrap estimates for
confidence intervals in ASR performance evaluation.

Conventions
-----------
- Only blocks with contributing segments are drawn; others change nothing.
- The draws depend on the seed and the number of blocks, so statistics over the same blocks share them:
  models, groups and changes are compared within the same replicates. More replicates continue the same draws.
- Exact sums (see :mod:`soundcheck.metrics.additive`) stay exact in the product, because weights are whole
  numbers. So the bytes of a result do not depend on BLAS either.
- An interval is withheld (NaN) for fewer than 5 blocks, and if a value is undefined in more than 10 % of the
  replicates; below 20 blocks percentile intervals are too narrow.
- The *excess* is the quantity minus its limit at each level, from mild to severe: below 0 as long as the
  limit is not reached. Between two levels it is interpolated linearly.
- Levels are places: 0 is the mildest, 1.5 lies in the middle between the second and the third one. What
  happens before the mildest level is not known.
- The crossing is the first place at which the excess reaches 0, whatever follows: minus infinity if it does
  so at the mildest level already, infinity if it does so nowhere.
- The interval turns a test around: it begins where the upper bound of the excess reaches 0, so that from
  there on the limit may have been reached, and ends where the lower bound does, so that it surely has. This
  is how Fieller treats ratios; unlike quantiles of replicated crossings it is honest with few blocks.
"""

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.messages import counted
from soundcheck.metrics.additive import Point, Statistic, round_significant
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics.evidence import FREE, LEAST_BLOCKS, LEVEL, Scale, certainty, interval

REPLICATES = 1000

_CACHED_WEIGHTS = 2**25  # entries; larger matrices are drawn again instead of kept
_CHUNK = 2**21  # weights that are multiplied at a time, 16 MB as float64
_DRAWN_AT_ONCE = 8192  # draws whose counts stay in the processor's cache
_SUMS_AT_ONCE = 2**24  # sums of replicates that are held at a time, 128 MB


# Blocks, and how often each of them is in a replicate


def block_codes(names: Sequence[object]) -> tuple[np.ndarray, int]:
    """Give each block a number, in the order of the sorted names; and say how many there are."""
    codes, unique = pd.factorize(pd.Series(names), use_na_sentinel=True)
    if (codes < 0).any():
        raise ValueError(f"{int((codes < 0).sum())} of {len(codes)} segments have no block.")
    rank = np.empty(len(unique), dtype=np.int64)
    rank[np.argsort(np.asarray(unique, dtype=object), kind="stable")] = np.arange(len(unique))
    return rank[codes], len(unique)


def blocks_of(table: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Give each row of a segment table its block: a combination of the values of some columns.

    >>> rows = pd.DataFrame({"meeting": ["b", "a", "b", "b"], "speaker": ["x", "x", "y", "x"]})
    >>> blocks_of(rows, ["meeting", "speaker"]).tolist()
    [1, 0, 2, 1]
    """
    codes = np.zeros(len(table), dtype=np.int64)
    for name in columns if set(columns) <= set(table.columns) else ["file"]:
        of_column, n = block_codes(table[name].to_numpy(dtype=object))
        codes, _ = block_codes(codes * n + of_column)
    return codes


def block_name(columns: Sequence[str], known: Collection[str]) -> str:
    """Name a block of :func:`blocks_of` in the singular, of a table with ``known`` columns."""
    if not set(columns) <= set(known):
        return "file"
    return "speaker" if tuple(columns) == ("speaker",) else "block"


def weights(n_blocks: int, replicates: int = REPLICATES, seed: int = 0) -> np.ndarray:
    """Draw how often each block is in each replicate."""
    if replicates * n_blocks <= _CACHED_WEIGHTS:
        return _cached_weights(n_blocks, replicates, seed)
    return _draw(seeds.generator(seed, "bootstrap", n_blocks), n_blocks, replicates)


@functools.lru_cache(maxsize=8)
def _cached_weights(n_blocks: int, replicates: int, seed: int) -> np.ndarray:
    return _draw(seeds.generator(seed, "bootstrap", n_blocks), n_blocks, replicates)


def _draw(rng: np.random.Generator, n_blocks: int, replicates: int) -> np.ndarray:
    counts = np.empty((replicates, n_blocks), dtype=np.uint16)
    rows = max(1, _DRAWN_AT_ONCE // max(1, n_blocks))  # the draws do not depend on it
    place = n_blocks * np.arange(min(rows, replicates), dtype=np.int32)[:, None]
    for first in range(0, replicates, rows):
        some = counts[first : first + rows]
        drawn = rng.integers(n_blocks, size=some.shape, dtype=np.int32)
        drawn += place[: len(some)]
        some[:] = np.bincount(drawn.ravel(), minlength=some.size).reshape(some.shape)
    counts.setflags(write=False)
    return counts


def products(sums: np.ndarray, replicates: int, seed: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Multiply the weights with ``sums (n_blocks, k)`` in pieces that bound memory; ``(piece, k)`` each."""
    n_blocks, k = sums.shape
    rows = max(1, min(_CHUNK // n_blocks, _SUMS_AT_ONCE // max(1, k)))
    keep = replicates * n_blocks <= _CACHED_WEIGHTS
    rng = seeds.generator(seed, "bootstrap", n_blocks)
    for first in range(0, replicates, rows):
        piece = slice(first, min(first + rows, replicates))
        drawn = (
            weights(n_blocks, replicates, seed)[piece] if keep else _draw(rng, n_blocks, piece.stop - first)
        )
        yield piece, drawn.astype(np.float64) @ sums


# Values and their replicates

FEW_BLOCKS = 20  # below, percentile intervals of CCC cover 80 to 90 % instead of 95 %
MISSING_WITHHELD = 0.1  # proportion of replicates without a value above which there is no interval


@dataclasses.dataclass(frozen=True, eq=False)
class Resampled(Point):
    """Values of a statistic with their replicates; arrays and tuples have one entry a label, ``m`` in all."""

    labels: tuple[str, ...]  # names of the values
    # float64 `(replicates, m)`, rounded; NaN where undefined. No rows if there is a single block
    replicates: np.ndarray
    blocks: np.ndarray  # int64; blocks with contributing segments
    withheld: tuple[str, ...]  # why there is no interval although there is a value, else `""`
    # computes the value of each block by itself, float64 `(blocks, m)`; `None` if that has no meaning
    of_blocks: Callable[[], np.ndarray] | None = None
    # how often values of at least 0 would be as large if nothing were wrong, see
    # :meth:`soundcheck.metrics.weighted.Weighted.by_chance`; `None` if values are not of this kind
    by_chance: np.ndarray | None = None

    def interval(
        self, kind: str = "percentile", level: float = LEVEL, scale: Scale = FREE
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the bounds of each value, two float64 ``(m,)``; NaN where there is none."""
        bounds = np.full((2, len(self.labels)), np.nan)
        for n in self._with_interval():
            bounds[:, n] = interval(
                self.replicates[:, n],
                kind,
                blocks=int(self.blocks[n]),
                level=level,
                value=self.value[n],
                scale=scale,
                of_blocks=self.block_values(n, scale) if kind == "t" else None,
            )
        if self.by_chance is not None:
            low = np.where(self.by_chance > (1 - level) / 2, 0.0, np.maximum(bounds[0], 0.0))
            bounds[0] = np.where(np.isnan(bounds[0]), np.nan, low)
        return bounds[0], bounds[1]

    def row(self, kind: str = "percentile", scale: Scale = FREE) -> dict[str, float]:
        """Give the first value with its bounds, and the segments and blocks that it rests on."""
        (low, *_), (high, *_) = self.interval(kind, scale=scale)
        row = {"value": float(self.value[0]), "low": float(low), "high": float(high)}
        return row | {"segments": int(self.segments[0]), "blocks": int(self.blocks[0])}

    def _with_interval(self) -> list[int]:
        """Give the numbers of the values that have one."""
        return [n for n in range(len(self.labels)) if not (self.reasons[n] or self.withheld[n])]

    def lies_within(self, scale: Scale) -> bool:
        """Say whether all values and replicates lie within a scale."""
        everything = np.append(self.replicates.ravel(), self.value)
        return not ((everything < scale.low) | (everything > scale.high)).any()

    def block_values(self, n: int, scale: Scale) -> np.ndarray | None:
        """Give value ``n`` of each block by itself if replicates lie on a limit, when it is of use."""
        if self.of_blocks is None or scale.limit_of(self.replicates[:, n]) is None:
            return None
        return self.of_blocks()[:, n]

    @property
    def standard_error(self) -> np.ndarray:
        """Standard deviation of the replicates, divisor one less than their number, float64 ``(m,)``."""
        errors = np.full(len(self.labels), np.nan)
        for n in self._with_interval():
            defined = self.replicates[~np.isnan(self.replicates[:, n]), n]
            if len(defined) > 1:
                errors[n] = np.std(defined, ddof=1)
        return round_significant(errors)

    def certainty(self, n: int, rule: str, threshold: float, passed: bool) -> float:
        """Say how sure the verdict on value ``n`` is; NaN where the interval is withheld."""
        if n not in self._with_interval():
            return np.nan
        return certainty(self.replicates[:, n], rule, threshold, passed)


def resample(
    statistic: Statistic | Weighted,
    blocks: np.ndarray,
    replicates: int = REPLICATES,
    seed: int = 0,
    noun: str = "block",
) -> Resampled:
    """Compute a statistic and its bootstrap replicates."""
    return resample_all([statistic], blocks, replicates, seed, noun)[0]


def resample_all(
    statistics: Sequence[Statistic | Weighted],
    blocks: np.ndarray,
    replicates: int = REPLICATES,
    seed: int = 0,
    noun: str = "block",
) -> list[Resampled]:
    """Compute several statistics over the same segments, with the results that :func:`resample` gives each.

    Weights are drawn once, sums that statistics share (:func:`soundcheck.metrics.regression.correlations`,
    a group against all) are added up once, and all replicates come from one matrix product.
    """
    results: dict[int, Resampled] = {}
    alike: dict[bytes, list[int]] = {}  # used blocks -> additive statistics over them: they share weights
    blocks = np.asarray(blocks)
    for n, statistic in enumerate(statistics):
        if isinstance(statistic, Weighted):
            drawn, by_chance = np.empty((0, len(statistic.labels))), None
            if statistic.n_blocks > 1:
                times = weights(statistic.n_blocks, replicates, seed)
                drawn, by_chance = round_significant(statistic.evaluate(times)), statistic.by_chance(times)
            resampled = _resampled(statistic, statistic.point(), drawn, statistic.blocks(), noun)
            results[n] = dataclasses.replace(resampled, by_chance=by_chance)
        elif blocks.shape != (len(statistic),) or blocks.dtype.kind not in "iu" or (blocks < 0).any():
            raise ValueError(f"A block number from 0 is needed for each of {len(statistic)} segments.")
        else:
            used = np.zeros(int(blocks.max(initial=-1)) + 1, dtype=bool)
            rows = statistic.rows
            used[blocks if rows.all() else blocks[rows]] = True
            alike.setdefault(used.tobytes(), []).append(n)
    for used, members in alike.items():
        numbers = np.cumsum(np.frombuffer(used, dtype=bool)) - 1  # those of unused blocks do not matter
        numbered = numbers[blocks], used.count(1)
        resampled = _resample_alike([statistics[n] for n in members], *numbered, replicates, seed, noun)
        results.update(zip(members, resampled, strict=True))
    return [results[n] for n in range(len(statistics))]


def _resample_alike(
    statistics: Sequence[Statistic],
    blocks: np.ndarray,
    n_blocks: int,
    replicates: int,
    seed: int,
    noun: str,
) -> list[Resampled]:
    """Compute statistics that all have contributing segments in all blocks."""
    parts = dict.fromkeys(part for statistic in statistics for part in statistic.parts)
    everything = dataclasses.replace(statistics[0], parts=tuple(parts))
    high, low = everything.exact_sums(blocks, n_blocks)
    k, total = everything.size, high.sum(axis=0) + low.sum(axis=0)
    ends = np.cumsum([part.size for part in parts])
    place = {part: np.arange(end - part.size, end) for part, end in zip(parts, ends, strict=True)}
    places = [np.concatenate([place[part] for part in statistic.parts]) for statistic in statistics]
    replicated = [np.empty((replicates if n_blocks > 1 else 0, len(each.labels))) for each in statistics]
    if n_blocks > 1:
        fine = np.flatnonzero(low.any(axis=0))  # whole numbers have nothing in the low layer
        for piece, product in products(np.concatenate([high, low[:, fine]], axis=1), replicates, seed):
            sums = product[:, :k] + 0.0  # never -0.0
            sums[:, fine] += product[:, k:]
            for statistic, columns, drawn in zip(statistics, places, replicated, strict=True):
                drawn[piece] = round_significant(statistic.compute(sums.take(columns, axis=1)))
    both, results = high + low, []
    for statistic, columns, drawn in zip(statistics, places, replicated, strict=True):
        contributing = (statistic.count(high.take(columns, axis=1)) > 0).sum(axis=0)
        of_block = both.take(columns, axis=1)

        def of_blocks(statistic: Statistic = statistic, sums: np.ndarray = of_block) -> np.ndarray:
            return round_significant(statistic.compute(sums))

        results.append(
            _resampled(statistic, statistic.point(total[columns]), drawn, contributing, noun, of_blocks)
        )
    return results


def _resampled(
    statistic: Statistic | Weighted,
    point: Point,
    drawn: np.ndarray,
    blocks: np.ndarray,
    noun: str,
    of_blocks: Callable[[], np.ndarray] | None = None,
) -> Resampled:
    """Say for each value whether it has an interval, and if not, why."""
    withheld, notes = [], []
    for n, (reason, note) in enumerate(zip(point.reasons, point.notes, strict=True)):
        missing = float(np.isnan(drawn[:, n]).mean()) if len(drawn) else 0.0
        share = f"undefined in {100 * missing:.1f} % of the replicates"
        withheld.append("")
        if not reason and blocks[n] < LEAST_BLOCKS:
            few = counted(int(blocks[n]), noun)
            withheld[n] = f"interval withheld: {few}, {LEAST_BLOCKS} needed"
        elif not reason and missing > MISSING_WITHHELD:
            withheld[n] = f"interval withheld: {share}"
        elif not reason and missing:
            note = "; ".join(filter(None, (note, share)))
        notes.append(note)
    blocks = np.asarray(blocks, dtype=np.int64)
    values = point.value, point.segments, point.reasons, tuple(notes)
    return Resampled(*values, statistic.labels, drawn, blocks, tuple(withheld), of_blocks)


# At which level of something that grows a quantity reaches a limit

FINENESS = 8  # places between two levels at which bounds are computed


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Where a limit is reached, as places of levels; see the conventions of this module."""

    place: float  # the crossing; NaN if it is unknown
    low: float  # its 95 % interval, the milder end first; NaN if it is withheld
    high: float


def first_reached(excess: np.ndarray, places: np.ndarray) -> float:
    """Find the first place at which an excess reaches 0, linearly interpolated.

    >>> places = np.arange(3.0)
    >>> [first_reached(np.array(e), places) for e in ([-3, -1, 1], [-3, -2, -1], [0, -1, 1])]
    [1.5, inf, -inf]
    """
    if np.isnan(excess).any():
        return np.nan
    reached = np.flatnonzero(excess >= 0)
    if not len(reached):
        return np.inf
    n = int(reached[0])
    if not n:
        return -np.inf
    before, after = excess[n - 1], excess[n]
    return float(places[n - 1] + (places[n] - places[n - 1]) * before / (before - after))


def crossing(excess: Resampled, kind: str = "t") -> Crossing:
    """Find where an excess, one value a level, reaches 0."""
    levels = np.arange(len(excess.value), dtype=np.float64)
    place = first_reached(excess.value, levels)
    if np.isnan(place) or any(excess.withheld) or not len(excess.replicates):
        return Crossing(place, np.nan, np.nan)
    fine = np.linspace(0, levels[-1], FINENESS * (len(levels) - 1) + 1)
    left = np.minimum(fine.astype(int), max(0, len(levels) - 2))
    share, right = fine - left, np.minimum(left + 1, len(levels) - 1)
    values, replicates = (
        rows[..., left] * (1 - share) + rows[..., right] * share for rows in (excess.value, excess.replicates)
    )
    blocks = int(excess.blocks.min())
    pairs = zip(replicates.T, values, strict=True)
    low, high = np.array([interval(drawn, kind, blocks=blocks, value=value) for drawn, value in pairs]).T
    return Crossing(place, first_reached(high, fine), first_reached(low, fine))
