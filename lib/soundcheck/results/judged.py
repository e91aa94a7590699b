"""Verdicts with their replicates, as a notebook hands them to the run that collects them.

Two files: the rows with the notebook's notes as JSON, and beside it the replicates (``.npy``), so that two
models can be compared later, on the same replicates, without computing anything again.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from soundcheck.common import files
from soundcheck.results.verdict import Verdict

__all__ = ["Judged", "REPLICATES", "load", "load_judged", "save"]

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
    """

    verdict: Verdict
    replicates: np.ndarray
    segments: str = ""
    blocks: str = ""


def save(judged: Sequence[Judged], path: str | os.PathLike, notes: Sequence[str] = ()) -> None:
    """Write verdicts, their replicates and notes for the reader."""
    replicates = max((len(entry.replicates) for entry in judged), default=0)
    table = np.full((len(judged), replicates), np.nan)
    for row, entry in zip(table, judged, strict=True):
        row[: len(entry.replicates)] = entry.replicates
    with files.replacing(Path(path).with_suffix(REPLICATES)) as part, open(part, "wb") as file:
        np.save(file, table, allow_pickle=False)
    content = {
        "rows": [dataclasses.asdict(entry.verdict) for entry in judged],
        "population": [[entry.segments, entry.blocks] for entry in judged],
        "notes": list(notes),
    }
    files.write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def load(path: str | os.PathLike) -> list[Verdict]:
    """Read the verdicts that :func:`save` wrote."""
    return [Verdict(**row) for row in json.loads(Path(path).read_text(encoding="utf-8"))["rows"]]


def load_judged(path: str | os.PathLike) -> list[Judged]:
    """Read the verdicts that :func:`save` wrote, with their replicates."""
    population = json.loads(Path(path).read_text(encoding="utf-8"))["population"]
    table = np.load(Path(path).with_suffix(REPLICATES), allow_pickle=False)
    return [
        Judged(verdict, replicates, *digests)
        for verdict, replicates, digests in zip(load(path), table, population, strict=True)
    ]
