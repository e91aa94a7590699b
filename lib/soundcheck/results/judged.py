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
    """What the file of rows holds; lists of facts of :class:`Judged` go on with those of ``parts``."""

    rows: tuple[Verdict, ...]
    population: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    smaller_sides: tuple[int, ...] = ()  # empty: written before there were any
    estimates: tuple[Estimate, ...] = ()
    drawn: tuple[tuple[str, str, str, tuple[str, ...]], ...] = ()  # corpus, family, task and keys of segments
    parts: tuple[Verdict, ...] = ()  # values of groups, which are compared with those of another model
    # Lengths of replicates and spread, degrees of freedom; empty: a table of replicates, written before
    numbers: tuple[tuple[int, int, float | None], ...] = ()


def save(
    judged: Sequence[Judged],
    path: str | os.PathLike,
    notes: Sequence[str] = (),
    estimates: Sequence[Estimate] = (),
    drawn: Mapping[tuple[str, str, str], Sequence[str]] = MappingProxyType({}),
    parts: Sequence[Judged] = (),
) -> None:
    """Write verdicts, their replicates, notes for the reader, estimates, what was drawn, values of groups."""
    entries = [*judged, *parts]
    numbers = [array for entry in entries for array in (entry.replicates, entry.spread)]
    with files.replacing(Path(path).with_suffix(REPLICATES)) as part, open(part, "wb") as file:
        np.save(file, np.concatenate([np.empty(0), *numbers]), allow_pickle=False)
    _Rows(
        rows=tuple(entry.verdict for entry in judged),
        population=tuple((entry.segments, entry.blocks) for entry in entries),
        notes=tuple(notes),
        smaller_sides=tuple(entry.smaller_side for entry in entries),
        estimates=tuple(estimates),
        drawn=tuple((*place, tuple(keys)) for place, keys in drawn.items()),
        parts=tuple(entry.verdict for entry in parts),
        numbers=tuple(
            (len(e.replicates), len(e.spread), None if np.isnan(e.freedom) else float(e.freedom))
            for e in entries
        ),
    ).write(path)


def load(path: str | os.PathLike) -> list[Verdict]:
    """Read the verdicts that :func:`save` wrote."""
    return list(_Rows.read(path).rows)


def load_all(path: str | os.PathLike) -> tuple[list[Verdict], list[Estimate], list[tuple]]:
    """Read the verdicts, the estimates, and what was drawn: corpus, family, task and keys of segments."""
    found = _Rows.read(path)
    return list(found.rows), list(found.estimates), list(found.drawn)


def load_judged(path: str | os.PathLike, *, parts: bool = False) -> list[Judged]:
    """Read the verdicts that :func:`save` wrote, with their replicates; values of groups if wanted."""
    found = _Rows.read(path)
    array = np.load(Path(path).with_suffix(REPLICATES), allow_pickle=False)
    rows = [*found.rows, *found.parts]
    sides = found.smaller_sides or [0] * len(rows)
    if array.ndim == 2:
        parts_of = [(one, np.empty(0), np.nan) for one in array]
    else:
        lengths = [length for *both, _ in found.numbers for length in both]
        pieces = iter(np.split(array, np.cumsum(lengths)))
        parts_of = [(next(pieces), next(pieces), float(freedom or np.nan)) for *_, freedom in found.numbers]
    entries = [
        Judged(verdict, replicates, *digests, side, *spread)
        for verdict, digests, side, (replicates, *spread) in zip(
            rows, found.population, sides, parts_of, strict=True
        )
    ]
    return entries if parts else entries[: len(found.rows)]
