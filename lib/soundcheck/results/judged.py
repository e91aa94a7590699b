"""Verdicts with their replicates, as a notebook hands them to the run, and as a finished run keeps them.

- A notebook writes two files: the rows with its notes as JSON, and beside it the replicates (``.npy``), so
  that two models can be compared later, on the same replicates, without computing anything again.
- A kept run has the replicates of all tests with an interval in one file. A replicate is its distance to
  the value in thousandths of the standard deviation of all, a whole number: 1.7 kB for a thousand of them.
  What is lost adds less than a millionth to a variance, and nothing where two runs have the same replicates.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow
import pyarrow.parquet

from soundcheck.common import files
from soundcheck.common.json_file import JsonFile
from soundcheck.results.estimates import Estimate
from soundcheck.results.verdict import KEY, Verdict

REPLICATES = ".npy"  # suffix of the file of replicates of a notebook
KEPT_REPLICATES = "replicates.parquet"  # beside results.csv of a kept run
_SCHEMA = pyarrow.schema(
    [
        *((name, pyarrow.string()) for name in (*KEY, "segments", "blocks")),
        ("smaller_side", pyarrow.int64()),
        ("value", pyarrow.float64()),
        ("step", pyarrow.float64()),
        ("replicates", pyarrow.list_(pyarrow.int16())),
    ]
)
_STEPS = 1000  # of a standard deviation
_UNDEFINED, _FURTHEST = -(2**15), 2**15 - 1


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
        numbers = [(one, np.empty(0), np.nan) for one in array]
    else:
        lengths = [length for *both, _ in found.numbers for length in both]
        pieces = iter(np.split(array, np.cumsum(lengths)))
        numbers = [(next(pieces), next(pieces), float(freedom or np.nan)) for *_, freedom in found.numbers]
    facts = zip(rows, found.population, sides, numbers, strict=True)
    entries = [
        Judged(verdict, replicates, *digests, side, *spread)
        for verdict, digests, side, (replicates, *spread) in facts
    ]
    return entries if parts else entries[: len(found.rows)]


def save_replicates(judged: Mapping[tuple[str, ...], Judged], path: str | os.PathLike) -> None:
    """Write the replicates of tests, by what was tested (values of ``KEY``)."""
    rows = []
    for key, entry in sorted(judged.items()):
        if not len(entry.replicates) or entry.verdict.value is None or entry.verdict.low is None:
            continue
        step, replicates = _packed(entry)
        about = {name: getattr(entry, name) for name in ("segments", "blocks", "smaller_side")}
        about |= {"value": entry.verdict.value, "step": step, "replicates": replicates}
        rows.append(dict(zip(KEY, key, strict=True)) | about)
    table = pyarrow.Table.from_pylist(rows, schema=_SCHEMA)
    options = {"compression": "zstd", "write_page_checksum": True, "write_statistics": False}
    with files.replacing(path) as part:
        pyarrow.parquet.write_table(table, part, **options)


def _packed(entry: Judged) -> tuple[float, np.ndarray]:
    """Give the size of a step, and how many steps each replicate is from the value, int16."""
    distance = entry.replicates - entry.verdict.value
    defined = distance[np.isfinite(distance)]
    if not len(defined):
        return 0.0, np.full(len(distance), _UNDEFINED, dtype=np.int16)
    # No replicate of many is further than this from a value in their midst; a value may be elsewhere.
    step = max(float(np.std(defined)) / _STEPS, float(np.abs(defined).max()) / _FURTHEST)
    steps = np.rint(distance / step) if step else np.zeros(len(distance))
    return step, np.where(np.isfinite(distance), steps, _UNDEFINED).astype(np.int16)


def load_replicates(
    path: str | os.PathLike, verdicts: Mapping[tuple[str, ...], Verdict]
) -> dict[tuple[str, ...], Judged]:
    """Read the replicates that :func:`save_replicates` wrote; ``ValueError`` if the file holds anything else.

    ``verdicts`` are the rows of the results table beside it; replicates of other values are not used.
    """
    try:
        table = pyarrow.parquet.read_table(path, page_checksum_verification=True)
    except pyarrow.ArrowException as error:
        raise ValueError(f"not a whole Parquet file: {error}") from error
    if table.schema.names != _SCHEMA.names or table.schema.types != _SCHEMA.types:
        raise ValueError("the columns are not those of replicates")
    found = {}
    rows = table.drop_columns(["replicates"]).to_pylist()
    for row, packed in zip(rows, table["replicates"], strict=True):
        key = tuple(row[name] for name in KEY)
        verdict = verdicts.get(key)
        if verdict is None or verdict.value is None:
            continue
        if math.isclose(verdict.value, row["value"], rel_tol=1e-9, abs_tol=1e-9):
            steps = packed.values.to_numpy()
            own = row["value"] + np.where(steps == _UNDEFINED, np.nan, steps * row["step"])
            found[key] = Judged(verdict, own, row["segments"], row["blocks"], row["smaller_side"])
    return found
