"""The results table: as a data frame, ``results.csv`` and ``results.parquet``."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet

from soundcheck.common import files
from soundcheck.results.schema import csv_text, frame_of, frame_of_rows, plain, rounded
from soundcheck.results.verdict import KEY, RESULT_COLUMNS, RESULTS, Verdict

_ARROW = {
    "str": pyarrow.string(),
    "int": pyarrow.int64(),
    "float": pyarrow.float64(),
    "bool": pyarrow.bool_(),
}
ARROW_TYPES = {name: _ARROW[kind] for name, kind in RESULTS.items()}


def to_frame(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Make the results table, sorted by what was tested; two rows about the same test are a ``ValueError``.

    Texts are ``str``, numbers float64 with NaN for missing, counts int64, truths ``object`` of True, False
    and None.
    """
    verdicts = sorted(verdicts, key=_key)
    for one, other in zip(verdicts, verdicts[1:], strict=False):
        if _key(one) == _key(other):
            raise ValueError(f"Two verdicts for {' / '.join(filter(None, _key(one)))}.")
    return rounded(frame_of_rows(RESULTS, verdicts), RESULTS)


def typed(columns: dict[str, Sequence]) -> pd.DataFrame:
    """Make a table of plain values, ``None`` for missing; see :func:`to_frame` for its types."""
    return rounded(frame_of(RESULTS, columns), RESULTS)


def to_verdicts(frame: pd.DataFrame) -> dict[tuple[str, ...], Verdict]:
    """Make the verdicts of a results table again, by what was tested (:data:`KEY`)."""
    columns = [plain(frame[name], kind) for name, kind in RESULTS.items()]
    verdicts = [Verdict(*cells) for cells in zip(*columns, strict=True)]
    return {_key(verdict): verdict for verdict in verdicts}


def _key(row: Verdict) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in KEY)


def write_results(frame: pd.DataFrame, folder: str | os.PathLike) -> str:
    """Write ``results.csv``, whose digest it gives, and ``results.parquet``, which keeps the true texts."""
    frame = frame[RESULT_COLUMNS].sort_values(list(KEY), kind="stable", ignore_index=True)
    columns = {name: plain(frame[name], kind) for name, kind in RESULTS.items()}
    table = pyarrow.Table.from_pydict(columns, schema=pyarrow.schema(ARROW_TYPES.items()))
    parquet = io.BytesIO()
    pyarrow.parquet.write_table(table, parquet, write_page_checksum=True)
    files.write_bytes(Path(folder) / "results.parquet", parquet.getvalue())
    return files.write_text(Path(folder) / "results.csv", csv_text(columns, RESULTS))
