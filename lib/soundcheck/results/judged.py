"""Verdicts with their replicates, as a notebook hands them to the run that collects them.

Two files: the rows with the notebook's notes as JSON, and beside it the replicates (``.npy``), so that two
models can be compared later, on the same replicates, without computing anything again.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from soundcheck.common import files
from soundcheck.common.json_file import JsonFile
from soundcheck.results.estimates import Estimate
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
    """

    verdict: Verdict
    replicates: np.ndarray
    segments: str = ""
    blocks: str = ""
    smaller_side: int = 0

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
    estimates: tuple[Estimate, ...] = ()
    drawn: tuple[tuple[str, str, str, tuple[str, ...]], ...] = ()  # corpus, family, task and keys of segments


def save(
    judged: Sequence[Judged],
    path: str | os.PathLike,
    notes: Sequence[str] = (),
    estimates: Sequence[Estimate] = (),
    drawn: Mapping[tuple[str, str, str], Sequence[str]] = MappingProxyType({}),
) -> None:
    """Write verdicts, their replicates, notes for the reader, estimates and what was drawn."""
    replicates = max((len(entry.replicates) for entry in judged), default=0)
    table = np.full((len(judged), replicates), np.nan)
    for row, entry in zip(table, judged, strict=True):
        row[: len(entry.replicates)] = entry.replicates
    with files.replacing(Path(path).with_suffix(REPLICATES)) as part, open(part, "wb") as file:
        np.save(file, table, allow_pickle=False)
    verdicts = tuple(entry.verdict for entry in judged)
    population = tuple((entry.segments, entry.blocks) for entry in judged)
    sides = tuple(entry.smaller_side for entry in judged)
    listed = tuple((*place, tuple(keys)) for place, keys in drawn.items())
    _Rows(verdicts, population, tuple(notes), sides, tuple(estimates), listed).write(path)


def load(path: str | os.PathLike) -> list[Verdict]:
    """Read the verdicts that :func:`save` wrote."""
    return list(_Rows.read(path).rows)


def load_all(path: str | os.PathLike) -> tuple[list[Verdict], list[Estimate], list[tuple]]:
    """Read the verdicts, the estimates, and what was drawn: corpus, family, task and keys of segments."""
    found = _Rows.read(path)
    return list(found.rows), list(found.estimates), list(found.drawn)


def load_judged(path: str | os.PathLike) -> list[Judged]:
    """Read the verdicts that :func:`save` wrote, with their replicates."""
    found = _Rows.read(path)
    table = np.load(Path(path).with_suffix(REPLICATES), allow_pickle=False)
    return [
        Judged(verdict, replicates, *digests, side)
        for verdict, replicates, digests, side in zip(
            found.rows, table, found.population, found.smaller_sides or [0] * len(found.rows), strict=True
        )
    ]
