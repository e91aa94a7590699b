"""The replicates of a run in one compressed file: what a later comparison needs when the notebooks are gone.

Conventions
-----------
- A replicate is kept as its distance to the value in thousandths of the standard deviation of all, a whole
  number: 1.7 kB for a thousand of them. What is lost adds less than a millionth to a variance, and nothing
  where two runs have the same replicates.
- Tests without an interval are left out; nothing can be compared with them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

import numpy as np
import pyarrow
import pyarrow.parquet

from soundcheck.common import files
from soundcheck.results.judged import Judged
from soundcheck.results.verdict import KEY, Verdict

NAME = "replicates.parquet"  # beside results.csv
_TEXTS = (*KEY, "segments", "blocks")
_SCHEMA = pyarrow.schema(
    [
        *((name, pyarrow.string()) for name in _TEXTS),
        ("smaller_side", pyarrow.int64()),
        ("value", pyarrow.float64()),
        ("step", pyarrow.float64()),
        ("replicates", pyarrow.list_(pyarrow.int16())),
    ]
)
_STEPS = 1000  # of a standard deviation
_UNDEFINED, _FURTHEST = -(2**15), 2**15 - 1


def save_replicates(judged: Mapping[tuple[str, ...], Judged], path: str | os.PathLike) -> None:
    """Write the replicates of tests, by what was tested.

    Parameters
    ----------
    judged
        Values of :data:`soundcheck.results.verdict.KEY` -> the test.
    path
        The file.
    """
    kept = {
        key: entry
        for key, entry in sorted(judged.items())
        if len(entry.replicates) and entry.verdict.value is not None and entry.verdict.low is not None
    }
    columns = dict(zip(KEY, zip(*kept, strict=True), strict=True)) if kept else dict.fromkeys(KEY, ())
    entries = list(kept.values())
    columns |= {name: [getattr(entry, name) for entry in entries] for name in ("segments", "blocks")}
    columns |= {"smaller_side": [entry.smaller_side for entry in entries]}
    columns |= {"value": [entry.verdict.value for entry in entries]}
    steps, numbers = zip(*map(_packed, entries), strict=True) if entries else ((), ())
    columns |= {"step": steps, "replicates": numbers}
    with files.replacing(path) as part:
        pyarrow.parquet.write_table(
            pyarrow.table(columns, schema=_SCHEMA),
            part,
            compression="zstd",
            write_page_checksum=True,
            write_statistics=False,
        )


def _packed(entry: Judged) -> tuple[float, np.ndarray]:
    """Give the size of a step, and how many steps each replicate is from the value, int16."""
    distance = entry.replicates - entry.verdict.value
    defined = distance[np.isfinite(distance)]
    # No replicate of many is further than this from a value in their midst; a value may be elsewhere.
    step = (
        max(float(np.std(defined)) / _STEPS, float(np.abs(defined).max()) / _FURTHEST)
        if len(defined)
        else 0.0
    )
    steps = np.divide(distance, step, out=np.zeros(len(distance)), where=np.full(len(distance), step > 0))
    return step, np.where(np.isfinite(distance), np.rint(steps), _UNDEFINED).astype(np.int16)


def load_replicates(
    path: str | os.PathLike, verdicts: Mapping[tuple[str, ...], Verdict]
) -> dict[tuple[str, ...], Judged]:
    """Read the replicates that :func:`save_replicates` wrote.

    Parameters
    ----------
    path
        The file.
    verdicts
        The rows of the results table beside it, by what was tested; replicates of another value, or of a
        test that is not there, are not used.

    Raises
    ------
    OSError, ValueError
        If the file cannot be read, or holds something else.
    """
    try:
        table = pyarrow.parquet.read_table(path, page_checksum_verification=True)
    except pyarrow.ArrowException as error:
        raise ValueError(f"not a whole Parquet file: {error}") from error
    if table.schema.names != _SCHEMA.names or table.schema.types != _SCHEMA.types:
        raise ValueError("the columns are not those of replicates")
    numbers = table.column("replicates").combine_chunks()
    offsets, flat = numbers.offsets.to_numpy(), numbers.values.to_numpy(zero_copy_only=False)
    rows = table.drop_columns(["replicates"]).to_pylist()
    found = {}
    for row, start, end in zip(rows, offsets[:-1], offsets[1:], strict=True):
        key = tuple(row[name] for name in KEY)
        verdict = verdicts.get(key)
        if verdict is None or verdict.value is None:
            continue
        if math.isclose(verdict.value, row["value"], rel_tol=1e-9, abs_tol=1e-9):
            own = row["value"] + np.where(
                flat[start:end] == _UNDEFINED, np.nan, flat[start:end] * row["step"]
            )
            found[key] = Judged(verdict, own, row["segments"], row["blocks"], row["smaller_side"])
    return found
