"""The page *History* of a book: what the kept runs of the suite gave, if there are at least two of them.

It depends on nothing but the kept runs, so that the same suite with the same history gives the same page.
"""

from __future__ import annotations

from pathlib import Path

from soundcheck.book import pages
from soundcheck.common import files
from soundcheck.common.media import MediaStore
from soundcheck.history.kept_runs import ABOUT, folders_in
from soundcheck.run.output import Output

NAME = "over_time"
_FILES = ("results.csv", "run.json", ABOUT)


def state(folder: Path | None) -> list[tuple[str, ...]]:
    """Name the kept runs with digests of what they hold; empty if the suite keeps none."""
    if folder is None or not folder.is_dir():
        return []
    return [
        (run.name, *(files.digest(run / name) if (run / name).is_file() else "" for name in _FILES))
        for run in folders_in(folder)
    ]


def table_of(output: Output) -> Path:
    """Name the file of all points that the page offers."""
    return output.folder / "history.csv"


def write(sources: pages.Sources, output: Output, folder: Path | None) -> None:
    """Write the page if there are two kept runs or more; else there is none.

    Parameters
    ----------
    sources
        The sources of the book.
    output
        The output folder, for figures and the table of all points.
    folder
        Folder of kept runs; ``None`` if the suite keeps none.
    """
    known = state(folder)
    if folder is None or len(known) < 2:
        table_of(output).unlink(missing_ok=True)
        return
    cells = _cells(folder, output)
    if cells:
        sources.page(NAME, lambda: cells)


def _cells(folder: Path, output: Output) -> list[dict]:
    # Late: what draws figures takes a second to load, and most books have no such page.
    from soundcheck.history.page import history_of, sections
    from soundcheck.history.past_runs import read_kept
    from soundcheck.history.points import TYPES
    from soundcheck.results.schema import frame_csv

    history = history_of(read_kept(folder))
    if len(history.past.runs) < 2 or history.points["value"].isna().all():
        return []
    table = table_of(output)
    files.write_bytes(table, frame_csv(history.points, TYPES))
    cells = [pages.markdown("# History")]
    for section in sections(history, MediaStore(output.media), table.name):
        cells += [pages.markdown(f"## {section.title}")] if section.title else []
        cells.append(pages.output(section.content))
    return cells
