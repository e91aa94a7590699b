"""Verdicts with their replicates, as a notebook hands them to the run, and as a run in a history has them.

A notebook writes its rows as JSON and beside it the replicates (``.npy``), so that two models can be compared
later, on the same replicates, without computing anything again. A run in a history has those of all tests
with an interval in one Parquet file, as float32: less is lost than the last digit that a page shows.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.store import JsonFile
from soundcheck.results.estimates import Estimate
from soundcheck.results.verdict import KEY, Verdict

REPLICATES = ".npy"  # suffix of the file of replicates of a notebook
KEPT_REPLICATES = "replicates.parquet"  # beside results.csv of a run in a history
_FACTS = ("segments", "blocks", "smaller_side")


@dataclasses.dataclass(frozen=True, eq=False)
class Judged:
    """A verdict with the replicates of its value."""

    verdict: Verdict
    replicates: np.ndarray  # float64 (replicates,); empty or NaN if there are none
    segments: str = ""  # digest of the segments that the value rests on
    blocks: str = ""  # digest of the blocks; two models with the same were resampled with the same weights
    smaller_side: int = 0  # fewer blocks of a group or its others; 0 where the verdict's blocks say it all
    # How the value varies with the recordings of these speakers, see statistics.fixed_speakers.
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
    """What the file of rows holds; ``population``, ``smaller_sides`` and ``numbers`` go on with ``parts``."""

    rows: tuple[Verdict, ...]
    population: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    smaller_sides: tuple[int, ...]
    estimates: tuple[Estimate, ...]
    drawn: tuple[tuple[str, str, str, tuple[str, ...]], ...]  # corpus, family, task and keys of segments
    parts: tuple[Verdict, ...]  # values of groups, which are compared with those of another model
    numbers: tuple[tuple[int, int, float | None], ...]  # lengths of replicates and spread, degrees of freedom


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
    arrays = [array for entry in entries for array in (entry.replicates, entry.spread)]
    with files.replacing(Path(path).with_suffix(REPLICATES)) as part, open(part, "wb") as file:
        np.save(file, np.concatenate([np.empty(0), *arrays]), allow_pickle=False)
    freedoms = [None if np.isnan(entry.freedom) else float(entry.freedom) for entry in entries]
    lengths = [(len(entry.replicates), len(entry.spread)) for entry in entries]
    _Rows(
        rows=tuple(entry.verdict for entry in judged),
        population=tuple((entry.segments, entry.blocks) for entry in entries),
        notes=tuple(notes),
        smaller_sides=tuple(entry.smaller_side for entry in entries),
        estimates=tuple(estimates),
        drawn=tuple((*place, tuple(keys)) for place, keys in drawn.items()),
        parts=tuple(entry.verdict for entry in parts),
        numbers=tuple((*both, freedom) for both, freedom in zip(lengths, freedoms, strict=True)),
    ).write(path)


def load_all(path: str | os.PathLike) -> tuple[list[Verdict], list[Estimate], list[tuple]]:
    """Read the verdicts, the estimates, and what was drawn: corpus, family, task and keys of segments."""
    file = _Rows.read(path)
    return list(file.rows), list(file.estimates), list(file.drawn)


def load_judged(path: str | os.PathLike, *, parts: bool = False) -> list[Judged]:
    """Read the verdicts that :func:`save` wrote, with their replicates; values of groups if wanted."""
    file = _Rows.read(path)
    numbers = np.load(Path(path).with_suffix(REPLICATES), allow_pickle=False)
    lengths = [length for *both, _ in file.numbers for length in both]
    pieces = iter(np.split(numbers, np.cumsum(lengths)))
    facts = zip([*file.rows, *file.parts], file.population, file.smaller_sides, file.numbers, strict=True)
    entries = [
        Judged(verdict, next(pieces), *digests, side, next(pieces), float(freedom or np.nan))
        for verdict, digests, side, (*_, freedom) in facts
    ]
    return entries if parts else entries[: len(file.rows)]


def save_replicates(judged: Mapping[tuple[str, ...], Judged], path: str | os.PathLike) -> None:
    """Write the replicates of tests, by what was tested (values of ``KEY``)."""
    rows = [
        (*key, *(getattr(entry, name) for name in _FACTS), entry.verdict.value, entry.replicates)
        for key, entry in sorted(judged.items())
        if len(entry.replicates) and entry.verdict.value is not None and entry.verdict.low is not None
    ]
    frame = pd.DataFrame(rows, columns=[*KEY, *_FACTS, "value", "replicates"])
    frame["replicates"] = [replicates.astype(np.float32) for replicates in frame["replicates"]]
    with files.replacing(path) as part:
        frame.to_parquet(part, index=False, compression="zstd")


def load_replicates(path: str | os.PathLike, verdicts: Mapping[tuple[str, ...], Verdict]) -> list[Judged]:
    """Read the replicates of some verdicts that :func:`save_replicates` wrote, here or in the version before.

    Their values are those that the replicates are of.
    """
    frame = pd.read_parquet(path)
    if "step" in frame:  # before: whole steps from the value, the smallest number where there is none
        steps = frame.pop("replicates").map(lambda numbers: np.where(numbers == -(2**15), np.nan, numbers))
        frame["replicates"] = frame["value"] + steps * frame.pop("step")
    frame = frame[pd.MultiIndex.from_frame(frame[list(KEY)]).isin(verdicts)]
    return [
        Judged(
            dataclasses.replace(verdicts[tuple(row[: len(KEY)])], value=value),
            replicates.astype(np.float64),
            *row[len(KEY) :],
        )
        for *row, value, replicates in frame.itertuples(index=False, name=None)
    ]
