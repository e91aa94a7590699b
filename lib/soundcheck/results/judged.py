"""Verdicts with their replicates, as a notebook hands them to the run that collects them.

Two files: the rows with the notebook's notes as JSON, and beside it the replicates (``.npy``), so that two
models can be compared later, on the same replicates, without computing anything again.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from soundcheck.common import files
from soundcheck.common.json_file import JsonFile
from soundcheck.results.verdict import Verdict

REPLICATES = ".npy"  # suffix of the file of replicates


@dataclasses.dataclass(frozen=True, eq=False)
class Judged:
    """A verdict with the replicates of its value.

    Parameters
    ----------
    verdict
        The verdict.
    replicates
        Replicates, float64 ``(replicates,)``; empty or NaN if there are none.
    segments, blocks
        Digests that say on which segments and on which blocks the value rests: replicates of two models that
        rest on the same blocks were drawn with the same weights.
    smaller_side
        Of a test that compares a group, how many blocks the group has or all others have, whatever is less;
        0 where the blocks of the verdict say it all.
    spread, freedom
        How the value varies with the recordings of these speakers, see
        :class:`soundcheck.statistics.fixed_speakers.FixedSpeakers`; empty if nobody knows.
    """

    verdict: Verdict
    replicates: np.ndarray
    segments: str = ""
    blocks: str = ""
    smaller_side: int = 0
    spread: np.ndarray = dataclasses.field(default_factory=lambda: np.empty(0))
    freedom: float = np.nan

    @property
    def drawn(self) -> bool:
        """Whether there are replicates."""
        return bool(np.isfinite(self.replicates).any())

    @property
    def contributing(self) -> int:
        """How many blocks decide how much the value could vary."""
        return self.smaller_side or self.verdict.blocks

    def of(self, model: str) -> Judged:
        """Give the same under another name of the model."""
        return dataclasses.replace(self, verdict=dataclasses.replace(self.verdict, model=model))


@dataclasses.dataclass(frozen=True)
class _Rows(JsonFile):
    """What the file of rows holds; ``population`` are the digests of :class:`Judged`."""

    rows: tuple[Verdict, ...]
    population: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    smaller_sides: tuple[int, ...] = ()  # empty: written before there were any
    replicates: int = -1  # columns of replicates, those of spreads follow; -1: written before there were any
    spreads: tuple[tuple[int, float | None], ...] = ()  # length and degrees of freedom


def save(judged: Sequence[Judged], path: str | os.PathLike, notes: Sequence[str] = ()) -> None:
    """Write verdicts, their replicates and notes for the reader."""
    columns = [max((len(one) for one in parts), default=0) for parts in _arrays(judged)]
    table = np.full((len(judged), sum(columns)), np.nan)
    for first, parts in zip((0, columns[0]), _arrays(judged), strict=True):
        for row, numbers in zip(table, parts, strict=True):
            row[first : first + len(numbers)] = numbers
    with files.replacing(Path(path).with_suffix(REPLICATES)) as part, open(part, "wb") as file:
        np.save(file, table, allow_pickle=False)
    verdicts = tuple(entry.verdict for entry in judged)
    population = tuple((entry.segments, entry.blocks) for entry in judged)
    sides = tuple(entry.smaller_side for entry in judged)
    spreads = tuple((len(entry.spread), _some(entry.freedom)) for entry in judged)
    _Rows(verdicts, population, tuple(notes), sides, columns[0], spreads).write(path)


def _some(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _arrays(judged: Sequence[Judged]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return [entry.replicates for entry in judged], [entry.spread for entry in judged]


def load(path: str | os.PathLike) -> list[Verdict]:
    """Read the verdicts that :func:`save` wrote."""
    return list(_Rows.read(path).rows)


def load_judged(path: str | os.PathLike) -> list[Judged]:
    """Read the verdicts that :func:`save` wrote, with their replicates."""
    found = _Rows.read(path)
    table = np.load(Path(path).with_suffix(REPLICATES), allow_pickle=False)
    count = len(found.rows)
    sides = found.smaller_sides or [0] * count
    lengths, freedoms = zip(*(found.spreads or [(0, None)] * count), strict=True) if count else ((), ())
    freedoms = np.array(freedoms, dtype=np.float64)
    end = table.shape[1] if found.replicates < 0 else found.replicates
    return [
        Judged(
            verdict,
            row[:end],
            *digests,
            side,
            row[end : end + length],
            float("nan" if freedom is None else freedom),
        )
        for verdict, row, digests, side, length, freedom in zip(
            found.rows, table, found.population, sides, lengths, freedoms, strict=True
        )
    ]
