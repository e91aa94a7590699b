r"""Two sides compared as if both were made up alike: direct standardisation.

If a group was recorded in more noise than the others, its value differs for that reason alone. Segments are
put into cells of like noise; within a cell both sides are alike. The sums :math:`S_{sc}` of side :math:`s` in
cell :math:`c` are weighted so that either side has the cells in the proportions of both together,

.. math:: S_s = \sum_c \frac{n_{1c} + n_{2c}}{n_{sc}} \, S_{sc}

where :math:`n_{sc}` counts segments, and the values of the weighted sums are subtracted. Keiding and Clayton
(2014), Standardization and control for confounding in observational studies: a historical perspective.

Conventions
-----------
- Weights are a function of sums, so each replicate has its own. A cell in which one side has no segments, in
  a replicate or altogether, counts for neither side.
- Statistics made of others, over different segments, have weights of their own for each set of segments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from soundcheck.metrics.additive import Cells, Contributions, Reasons, Statistic

MOST_SUMS = 20_000  # of all cells and both sides; more take seconds


@dataclasses.dataclass(frozen=True, eq=False)
class _ByCell(Contributions):
    """Contributions of a part, summed up for each cell of each side."""

    part: Contributions
    codes: np.ndarray  # integer ``(N,)``; side and cell of each segment, from 0, where ``rows``
    n_codes: int  # number of cells of both sides

    @property
    def size(self) -> int:
        """Number of sums."""
        return self.n_codes * self.part.size

    def exact_sums(self, blocks: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Sum each block, a cell after the other; see :meth:`Contributions.exact_sums`."""
        part = dataclasses.replace(self.part, rows=self.rows, missing_predictions=self.missing_predictions)
        high, low = part.exact_sums(blocks * self.n_codes + self.codes, n_blocks * self.n_codes)
        return high.reshape(n_blocks, self.size), low.reshape(n_blocks, self.size)


def standardised_difference(
    statistic: Statistic, group: np.ndarray, others: np.ndarray, cells: np.ndarray, n_cells: int
) -> Statistic:
    """Subtract the values of the others from those of a group, both with the same distribution of cells.

    - ``statistic``: over ``N`` segments.
    - ``group, others``: masks of the two sides, bool ``(N,)``; no segment is in both.
    - ``cells``: integer ``(N,)``; the cell of each segment from 0, or -1 for segments that are left out.
    - Returns the labels of ``statistic``; counts the group's segments that have a cell. Undefined if no cell
      has segments of both sides.
    - Raises ValueError: if the sides overlap, a cell is not in ``[-1, n_cells)``, or there are more than
      :data:`MOST_SUMS` sums.

    Two voices in noise (cell 0) and in quiet (cell 1); either is off by 0.1 in noise:

    >>> from soundcheck.metrics.additive import value
    >>> from soundcheck.metrics.regression import mean_value
    >>> answers = mean_value([0.4, 0.4, 0.4, 0.5, 0.4, 0.5, 0.5, 0.5])
    >>> one = np.arange(8) < 4
    >>> value(standardised_difference(answers, one, ~one, np.array([0, 0, 0, 1, 0, 1, 1, 1]), 2))
    0.0
    """
    cells = np.asarray(cells)
    if (group & others).any():
        raise ValueError("A segment is on both sides.")
    if len(cells) and not (cells.min() >= -1 and cells.max() < n_cells):
        raise ValueError(f"Cells from -1 to {n_cells - 1} are needed.")
    if 2 * n_cells * statistic.size > MOST_SUMS:
        raise ValueError(f"{2 * n_cells * statistic.size:,} sums are more than {MOST_SUMS:,}.")
    inside = (group | others) & (cells >= 0)
    codes = np.where(inside, cells + n_cells * others, 0).astype(np.intp)

    counted: dict[bytes, Cells] = {}  # parts over the same segments share their counts
    own: dict[Contributions, _ByCell] = {}
    for part in statistic.parts:
        kept = part.restrict(inside)
        own.setdefault(
            part, _ByCell(kept.rows, kept.missing_predictions, part=part, codes=codes, n_codes=2 * n_cells)
        )
        counted.setdefault(
            kept.rows.tobytes(), Cells(kept.rows, np.zeros_like(kept.rows), codes, 2 * n_cells)
        )
    places = [list(counted).index(own[part].rows.tobytes()) for part in statistic.parts]
    parts = (*(own[part] for part in statistic.parts), *counted.values())
    ends = np.cumsum([part.size for part in parts])[:-1]

    def by_cell(sums: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Give sums ``(..., 2, cells, size)`` of each part and counts ``(..., 2, cells)`` of each set."""
        pieces = np.split(np.asarray(sums), ends, axis=-1)
        shaped = [piece.reshape(*piece.shape[:-1], 2, n_cells, -1) for piece in pieces]
        n = len(statistic.parts)
        return shaped[:n], [counts[..., 0] for counts in shaped[n:]]

    def compute(sums: np.ndarray) -> np.ndarray:
        found, counts = by_cell(sums)
        weights = [_weights(each) for each in counts]
        weighted = [
            np.einsum("...sc,...sck->...sk", weights[place], each)
            for place, each in zip(places, found, strict=True)
        ]
        values = statistic.compute(np.concatenate(weighted, axis=-1))
        return values[..., 0, :] - values[..., 1, :]

    def of_sides(sums: np.ndarray) -> np.ndarray:
        """Give the sums of both sides without weights, ``(..., 2, k)``."""
        return np.concatenate([each.sum(axis=-2) for each in by_cell(sums)[0]], axis=-1)

    def texts(asked: Callable[[np.ndarray], tuple[str, ...]]) -> Reasons:
        def joined(sums: np.ndarray) -> tuple[str, ...]:
            found = [asked(side) for side in of_sides(sums)]
            return tuple(next(filter(None, each), "") for each in zip(*filter(None, found), strict=True))

        return joined

    return Statistic(
        parts=parts,
        compute=compute,
        count=lambda sums: statistic.count(of_sides(sums)[..., 0, :]),
        labels=statistic.labels,
        reasons=texts(statistic.reasons),
        notes=texts(statistic.notes),
    )


def _weights(counts: np.ndarray) -> np.ndarray:
    """Give the weight of each side's segments in each cell, ``(..., 2, cells)``."""
    compared = (counts > 0).all(axis=-2, keepdims=True)
    both = counts.sum(axis=-2, keepdims=True)
    return np.divide(both, counts, out=np.zeros_like(counts), where=compared)
