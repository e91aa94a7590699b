r"""Blockwise bootstrap: intervals of additive statistics that respect who speaks.

Segments of one speaker are not independent, so whole blocks (speakers, conversations, files) are drawn with
replacement. A replicate needs no data, only how often each block was drawn: all replicates of a statistic are
one matrix product, weights ``(replicates, blocks)`` times block sums ``(blocks, k)``, and one call of
``compute``.

Efron (1979), Bootstrap methods: another look at the jackknife. Bisani and Ney (2004), Bootstrap estimates for
confidence intervals in ASR performance evaluation. Hesterberg (2015), What teachers should know about the
bootstrap, for the expanded percentile interval.

Conventions
-----------
- Only blocks with contributing segments are drawn; others change nothing.
- The draws depend on the seed and the number of blocks, so statistics over the same blocks share them:
  models, groups and changes are compared within the same replicates. More replicates continue the same draws.
- Exact sums (see :mod:`soundcheck.metrics.exact`) stay exact in the product, because weights are whole
  numbers. So the bytes of a result do not depend on BLAS either.
- An interval is withheld (NaN) for fewer than 5 blocks, and if a value is undefined in more than 10 % of the
  replicates; below 20 blocks percentile intervals are too narrow and :attr:`Resampled.few_blocks` says so.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri, stdtrit

from soundcheck.common import seeds
from soundcheck.metrics.additive import Point, Statistic, round_significant
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics.evidence import FREE, LEAST_BLOCKS, Scale, t_interval
from soundcheck.statistics.rules import INTERVALS, passes

__all__ = [
    "FEW_BLOCKS",
    "LEVEL",
    "REPLICATES",
    "Resampled",
    "block_codes",
    "blocks_of",
    "certainty",
    "every_segment",
    "interval",
    "resample",
    "resample_all",
    "weights",
]


REPLICATES = 1000
LEVEL = 0.95
FEW_BLOCKS = 20  # below, percentile intervals of CCC cover 80 to 90 % instead of 95 %
MISSING_WITHHELD = 0.1  # proportion of replicates without a value above which there is no interval

_CACHED_WEIGHTS = 2**25  # entries; larger matrices are drawn again instead of kept
_CHUNK = 2**21  # weights that are multiplied at a time, 16 MB as float64
_DRAWN_AT_ONCE = 8192  # draws whose counts stay in the processor's cache
_SUMS_AT_ONCE = 2**24  # sums of replicates that are held at a time, 128 MB


def block_codes(names: Sequence[object]) -> tuple[np.ndarray, int]:
    """Give each block a number, in the order of the sorted names.

    Parameters
    ----------
    names
        Name of each segment's block, ``(N,)``, texts or numbers.

    Returns
    -------
    tuple of numpy.ndarray and int
        Block of each segment from 0, int64 ``(N,)``; number of blocks.

    Raises
    ------
    ValueError
        If a segment has no block. Who prepares the segments decides whether it is left out.
    """
    codes, found = pd.factorize(pd.Series(names), use_na_sentinel=True)
    if (codes < 0).any():
        raise ValueError(f"{int((codes < 0).sum())} of {len(codes)} segments have no block.")
    rank = np.empty(len(found), dtype=np.int64)
    rank[np.argsort(np.asarray(found, dtype=object), kind="stable")] = np.arange(len(found))
    return rank[codes], len(found)


def blocks_of(table: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Give each row of a segment table its block: a combination of the values of some columns.

    Parameters
    ----------
    table
        The segment table.
    columns
        Columns whose values are resampled together. Where one of them is not there, each file is a block.

    Returns
    -------
    numpy.ndarray
        Numbers from 0, int64 ``(N,)``, in the order of the names, those of the first column first.

    Raises
    ------
    ValueError
        If a row has no value in one of the columns.

    Examples
    --------
    >>> rows = pd.DataFrame({"meeting": ["b", "a", "b", "b"], "speaker": ["x", "x", "y", "x"]})
    >>> blocks_of(rows, ["meeting", "speaker"]).tolist()
    [1, 0, 2, 1]
    """
    codes = np.zeros(len(table), dtype=np.int64)
    for name in columns if set(columns) <= set(table.columns) else ["file"]:
        own, n = block_codes(table[name].to_numpy(dtype=object))
        codes, _ = block_codes(codes * n + own)
    return codes


def every_segment(n: int) -> np.ndarray:
    """Make each of ``n`` segments its own block: the ordinary bootstrap, for comparison."""
    return np.arange(n)


def weights(n_blocks: int, replicates: int = REPLICATES, seed: int = 0) -> np.ndarray:
    """Draw how often each block is in each replicate.

    Parameters
    ----------
    n_blocks
        Number of blocks.
    replicates
        Number of replicates.
    seed
        The suite's seed.

    Returns
    -------
    numpy.ndarray
        uint16 ``(replicates, n_blocks)``, read-only; rows are multinomial and sum to ``n_blocks``.
    """
    if replicates * n_blocks <= _CACHED_WEIGHTS:
        return _kept_weights(n_blocks, replicates, seed)
    return _draw(_draws(n_blocks, seed), n_blocks, replicates)


@functools.lru_cache(maxsize=8)
def _kept_weights(n_blocks: int, replicates: int, seed: int) -> np.ndarray:
    return _draw(_draws(n_blocks, seed), n_blocks, replicates)


def _draws(n_blocks: int, seed: int) -> np.random.Generator:
    return seeds.generator(seed, "bootstrap", n_blocks)


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


def _products(sums: np.ndarray, replicates: int, seed: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Multiply the weights with ``sums (n_blocks, k)`` in pieces that bound memory; ``(piece, k)`` each."""
    n_blocks, k = sums.shape
    rows = max(1, _CHUNK // n_blocks)
    at_once = max(1, min(replicates, _SUMS_AT_ONCE // max(1, k)))
    keep = replicates * n_blocks <= _CACHED_WEIGHTS
    kept = weights(n_blocks, replicates, seed) if keep else None
    rng = _draws(n_blocks, seed)
    floats = np.empty((min(rows, at_once), n_blocks))
    for first in range(0, replicates, at_once):
        last = min(first + at_once, replicates)
        product = np.empty((last - first, k))
        for start in range(first, last, rows):
            end = min(start + rows, last)
            piece = _draw(rng, n_blocks, end - start) if kept is None else kept[start:end]
            floats[: end - start] = piece
            np.matmul(floats[: end - start], sums, out=product[start - first : end - first])
        yield slice(first, last), product


@dataclasses.dataclass(frozen=True, eq=False)
class Resampled:
    """Values of a statistic with their replicates; arrays and tuples have one entry a label, ``m`` in all.

    Parameters
    ----------
    labels
        Names of the values.
    value
        float64; settled to 12 digits, NaN exactly where ``reasons`` has a text.
    replicates
        float64 ``(replicates, m)``, settled; NaN where undefined. No rows if there is a single block.
    segments
        int64; segments that each value rests on.
    blocks
        int64; blocks with such segments.
    reasons
        Why there is no value, else ``""``.
    notes
        What a reader of the value must know, else ``""``.
    withheld
        Why there is no interval although there is a value, else ``""``.
    of_blocks
        Computes the value of each block by itself, float64 ``(blocks, m)``; ``None`` if that has no meaning.
    """

    labels: tuple[str, ...]
    value: np.ndarray
    replicates: np.ndarray
    segments: np.ndarray
    blocks: np.ndarray
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    withheld: tuple[str, ...]
    of_blocks: Callable[[], np.ndarray] | None = None

    @property
    def few_blocks(self) -> np.ndarray:
        """Whether fewer than 20 blocks make the interval too narrow, bool ``(m,)``."""
        return self.blocks < FEW_BLOCKS

    def interval(
        self, kind: str = "percentile", level: float = LEVEL, scale: Scale = FREE
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the bounds of each value, two float64 ``(m,)``; NaN where there is none.

        Parameters
        ----------
        kind
            See :func:`interval`.
        level
            Probability, 0.95 for a 95 % interval.
        scale
            Where values may lie; matters for ``"t"`` only.
        """
        bounds = np.full((2, len(self.labels)), np.nan)
        for n in range(len(self.labels)):
            if not (self.reasons[n] or self.withheld[n]):
                bounds[:, n] = interval(
                    self.replicates[:, n],
                    kind,
                    blocks=int(self.blocks[n]),
                    level=level,
                    value=self.value[n],
                    scale=scale,
                    of_blocks=self.block_values(n, scale) if kind == "t" else None,
                )
        return bounds[0], bounds[1]

    def block_values(self, n: int, scale: Scale) -> np.ndarray | None:
        """Give value ``n`` of each block by itself if replicates lie on a limit, when it is of use."""
        if self.of_blocks is None or scale.limit_of(self.replicates[:, n]) is None:
            return None
        return self.of_blocks()[:, n]

    @property
    def standard_error(self) -> np.ndarray:
        """Standard deviation of the replicates, divisor one less than their number, float64 ``(m,)``."""
        if len(self.replicates) < 2:
            return np.full(len(self.labels), np.nan)
        found = np.full(len(self.labels), np.nan)
        for n in range(len(self.labels)):
            defined = self.replicates[~np.isnan(self.replicates[:, n]), n]
            if len(defined) > 1 and not (self.reasons[n] or self.withheld[n]):
                found[n] = np.std(defined, ddof=1)
        return round_significant(found)

    def certainty(self, n: int, rule: str, threshold: float, passed: bool) -> float:
        """Say how sure the verdict on value ``n`` is; NaN where the interval is withheld."""
        if self.reasons[n] or self.withheld[n]:
            return np.nan
        return certainty(self.replicates[:, n], rule, threshold, passed)


def resample(
    statistic: Statistic | Weighted,
    blocks: np.ndarray,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Resampled:
    """Compute a statistic and its bootstrap replicates.

    Parameters
    ----------
    statistic
        The statistic, over ``N`` segments.
    blocks
        Block of each segment, whole numbers from 0, ``(N,)``; see :func:`block_codes`. Statistics of ranks
        and trials bring their own blocks, and this is not looked at.
    replicates
        Number of replicates.
    seed
        The suite's seed.

    Returns
    -------
    Resampled
        Values, replicates, counts, and the reasons for what is missing.
    """
    return resample_all([statistic], blocks, replicates, seed)[0]


def resample_all(
    statistics: Sequence[Statistic | Weighted],
    blocks: np.ndarray,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> list[Resampled]:
    """Compute several statistics over the same segments, with the results that :func:`resample` gives each.

    Weights are drawn once, sums that statistics share (:func:`soundcheck.metrics.regression.correlations`,
    a group against all) are added up once, and all replicates come from one matrix product.

    Parameters
    ----------
    statistics
        The statistics, each over ``N`` segments.
    blocks, replicates, seed
        See :func:`resample`.

    Returns
    -------
    list of Resampled
        One for each statistic.
    """
    found: dict[int, Resampled] = {}
    additive: dict[int, Statistic] = {}
    for n, statistic in enumerate(statistics):
        if isinstance(statistic, Weighted):
            drawn = np.empty((0, len(statistic.labels)))
            if statistic.n_blocks > 1:
                drawn = round_significant(statistic.evaluate(weights(statistic.n_blocks, replicates, seed)))
            found[n] = _resampled(statistic.labels, statistic.point(), drawn, statistic.blocks())
        else:
            additive[n] = statistic
    if additive:
        blocks = np.asarray(blocks)
        for statistic in additive.values():
            if blocks.shape != (len(statistic),) or blocks.dtype.kind not in "iu" or (blocks < 0).any():
                raise ValueError(f"A block number from 0 is needed for each of {len(statistic)} segments.")
        blocks = blocks.astype(np.intp, copy=False)
    alike: dict[bytes, list[int]] = {}  # statistics over the same blocks share their weights
    for n, statistic in additive.items():
        alike.setdefault(_used(statistic, blocks).tobytes(), []).append(n)
    for used, members in alike.items():
        results = _resample_alike(
            [additive[n] for n in members], blocks, np.frombuffer(used, dtype=bool), replicates, seed
        )
        found.update(zip(members, results, strict=True))
    return [found[n] for n in range(len(statistics))]


def _used(statistic: Statistic, blocks: np.ndarray) -> np.ndarray:
    """Say which block numbers have contributing segments, bool, from 0 to the largest number."""
    used = np.zeros(int(blocks.max(initial=-1)) + 1, dtype=bool)
    rows = statistic.rows
    used[blocks if rows.all() else blocks[rows]] = True
    return used


def _resample_alike(
    statistics: Sequence[Statistic], blocks: np.ndarray, used: np.ndarray, replicates: int, seed: int
) -> list[Resampled]:
    """Compute statistics that all have contributing segments in the ``used`` blocks and no others."""
    n_blocks = int(used.sum())
    if n_blocks < len(used):
        # Blocks without contributing segments get no number, and what they get instead is not looked at.
        numbered = np.zeros(len(used), dtype=np.intp)
        numbered[used] = np.arange(n_blocks)
        blocks = numbered[blocks]
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
        for piece, product in _products(np.concatenate([high, low[:, fine]], axis=1), replicates, seed):
            sums = product[:, :k] + 0.0  # never -0.0
            sums[:, fine] += product[:, k:]
            for statistic, own, drawn in zip(statistics, places, replicated, strict=True):
                drawn[piece] = round_significant(statistic.compute(sums.take(own, axis=1)))
    both, results = high + low, []
    for statistic, own, drawn in zip(statistics, places, replicated, strict=True):
        there = (statistic.count(high.take(own, axis=1)) > 0).sum(axis=0)
        of_blocks = functools.partial(_of_blocks, statistic, both.take(own, axis=1))
        results.append(_resampled(statistic.labels, statistic.point(total[own]), drawn, there, of_blocks))
    return results


def _of_blocks(statistic: Statistic, sums: np.ndarray) -> np.ndarray:
    return round_significant(statistic.compute(sums))


def _resampled(
    labels: tuple[str, ...],
    found: Point,
    drawn: np.ndarray,
    blocks: np.ndarray,
    of_blocks: Callable[[], np.ndarray] | None = None,
) -> Resampled:
    """Say for each value whether it has an interval, and if not, why."""
    withheld, notes = [], []
    for n, (reason, note) in enumerate(zip(found.reasons, found.notes, strict=True)):
        missing = float(np.isnan(drawn[:, n]).mean()) if len(drawn) else 0.0
        share = f"undefined in {100 * missing:.1f} % of the replicates"
        withheld.append("")
        if not reason and blocks[n] < LEAST_BLOCKS:
            own = "1 block" if blocks[n] == 1 else f"{blocks[n]} blocks"
            withheld[n] = f"interval withheld: {own}, {LEAST_BLOCKS} needed"
        elif not reason and missing > MISSING_WITHHELD:
            withheld[n] = f"interval withheld: {share}"
        elif not reason and missing:
            note = "; ".join(text for text in (note, share) if text)
        notes.append(note)
    return Resampled(
        labels,
        found.value,
        drawn,
        found.segments,
        np.asarray(blocks, dtype=np.int64),
        found.reasons,
        tuple(notes),
        tuple(withheld),
        of_blocks,
    )


def interval(
    replicates: np.ndarray,
    kind: str = "percentile",
    *,
    blocks: int = 0,
    level: float = LEVEL,
    value: float = np.nan,
    scale: Scale = FREE,
    of_blocks: np.ndarray | None = None,
) -> tuple[float, float]:
    r"""Compute the confidence interval of a value from its replicates.

    Parameters
    ----------
    replicates
        Replicates, ``(replicates,)``; undefined ones (NaN) are left out.
    kind
        ``"percentile"``: quantiles, linearly interpolated. ``"expanded"``: quantiles at
        :math:`\Phi(\mp\sqrt{K/(K-1)}\, t_{K-1})`, which makes up for the narrowness of the percentile
        interval with few blocks. ``"gaussian"``: value plus and minus 1.96 standard deviations of the
        replicates. ``"t"``: see :func:`soundcheck.statistics.evidence.t_interval`.
    blocks
        Number ``K`` of blocks; needed for ``"expanded"`` and ``"t"``.
    level
        Probability, 0.95 for a 95 % interval.
    value
        The value; needed for ``"gaussian"`` and ``"t"``.
    scale, of_blocks
        Where values may lie, and the value of each block; used by ``"t"``.

    Returns
    -------
    tuple of float
        Low and high, settled; NaN with fewer than two defined replicates or, expanded and t, two blocks.
    """
    if kind not in INTERVALS:
        raise ValueError(f"An interval is one of {', '.join(INTERVALS)}, not {kind!r}.")
    replicates = np.asarray(replicates, dtype=np.float64)
    replicates = replicates[~np.isnan(replicates)]
    tail = (1 - level) / 2
    if len(replicates) < 2 or (kind in ("expanded", "t") and blocks < 2):
        return np.nan, np.nan
    if kind == "t":
        bounds = np.array(t_interval(value, replicates, blocks, scale, of_blocks, level))
    elif kind == "gaussian":
        reach = ndtri(1 - tail) * np.std(replicates, ddof=1)
        bounds = np.array([value - reach, value + reach])
    else:
        if kind == "expanded":
            quantile = stdtrit(blocks - 1, 1 - tail)
            tail = ndtr(-np.sqrt(blocks / (blocks - 1)) * quantile)
        bounds = np.quantile(replicates, [tail, 1 - tail])
    low, high = round_significant(bounds).tolist()
    return low, high


def certainty(replicates: np.ndarray, rule: str, threshold: float, passed: bool) -> float:
    """Compute how sure a verdict is: the proportion of defined replicates on its side of the threshold.

    Parameters
    ----------
    replicates
        Replicates, ``(replicates,)``.
    rule, threshold
        See :func:`soundcheck.statistics.rules.passes`.
    passed
        The verdict.

    Returns
    -------
    float
        From 0 to 1; NaN if no replicate is defined.
    """
    replicates = np.asarray(replicates, dtype=np.float64)
    replicates = replicates[~np.isnan(replicates)]
    if not len(replicates):
        return np.nan
    share = np.mean(passes(rule, replicates, threshold))
    return float(round_significant(share if passed else 1 - share))
