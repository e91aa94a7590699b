"""Tells whether two runs had the same data: sounds and labels of each corpus, as one digest."""

from __future__ import annotations

import functools
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.suite.groups import MEASURED_COLUMNS

# What Soundcheck measures is no label; a later version may measure otherwise.
_MEASURED = {*MEASURED_COLUMNS} | {f"{name} (number)" for name in MEASURED_COLUMNS}


def digest_of_table(path: Path) -> str:
    """Digest what people said of the segments of a corpus; empty if the table cannot be read.

    Parameters
    ----------
    path
        Segment table of a run; the digest is of its content, whatever version wrote the file.
    """
    try:
        status = path.stat()
        return _digest(path, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError):
        return ""


@functools.lru_cache(256)
def _digest(path: Path, *_: int) -> str:
    table = pd.read_parquet(path)
    return files.digest(table[sorted(set(table.columns) - _MEASURED)].to_csv(index=False))


def tables_of(output: Path, corpora: list[str]) -> dict[str, str]:
    """Digest the segment tables in the output folder of a run.

    Parameters
    ----------
    output
        The output folder.
    corpora
        Names of the corpora.

    Returns
    -------
    dict
        Corpus -> digest; corpora without a table are left out.
    """
    found = {name: digest_of_table(output / "corpora" / f"{files.slug(name)}.parquet") for name in corpora}
    return {name: digest for name, digest in found.items() if digest}
