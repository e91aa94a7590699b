"""Lists what a run leaves beside its book, with digests: results, record, and what they were computed from.

The list of the pages lies in ``html`` and is itself a line of this one. What is kept only to save time (the
cache, sources of the book, logs) is not listed, nor is what other commands write into the folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from soundcheck.common import manifest
from soundcheck.common.files import TEMPORARY
from soundcheck.common.manifest import MANIFEST
from soundcheck.run.output import Output

_STATE = ".state.json"  # of a notebook: when to execute it again, and how long it took


def seal(output: Output) -> str:
    """Write the list of a run that has come to its end; returns the digest of the list."""
    return manifest.write(output.folder, sealed(output))


def sealed(output: Output) -> list[str]:
    """Name the files of an output folder that belong into its list, as they are now."""
    single = [
        *(output.results, output.results.with_suffix(".parquet"), output.comparison_table),
        *(output.estimates, output.estimates.with_suffix(".parquet"), output.drawn),
        *(output.left_out, output.record, output.html / MANIFEST),
    ]
    folders = (output.notebooks, output.comparisons, output.tables, output.predictions, output.scores)
    found = [path for path in single if path.is_file() or path.is_symlink()]
    found += [path for folder in (*folders, output.corpora) for path in _inside(folder)]
    return sorted(path.relative_to(output.folder).as_posix() for path in found)


def _inside(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        yield folder
        return
    for name in manifest.below(folder):
        path = folder / name
        if not name.endswith(_STATE) and not path.name.startswith(TEMPORARY):
            yield path
