"""Builds the book of a run: writes its sources, has them built, checks the site and puts it into place.

Nothing changes in ``html`` before the new site is complete: it is laid out beside and moved. What would
come out as it is there already is not made again: a run after which nothing has changed writes no page, and
after a small change only the pages that say something else are built and looked at.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.book import history_page, inputs
from soundcheck.book.check_site import inspect, sounds_in
from soundcheck.book.jupyter_book import JupyterBook
from soundcheck.book.pages import MEDIA, Sources
from soundcheck.book.run_style import run_style
from soundcheck.book.site import into_place, lay_out, signature
from soundcheck.common import manifest
from soundcheck.common.day import given_day, today
from soundcheck.common.errors import Problem
from soundcheck.common.json_file import JsonFile
from soundcheck.common.media import NONE
from soundcheck.common.remembered import Remembered
from soundcheck.common.tasks import Task
from soundcheck.corpora.corpus import Corpus
from soundcheck.publish.sheet.writing import MOST_BYTES
from soundcheck.results.record import PROVENANCE, Provenance, RunRecord
from soundcheck.run.output import Output
from soundcheck.sounds.sound import Sounds
from soundcheck.suite.families import Family

SOURCES = "book-src"  # folder of what Jupyter Book reads, in that of the output


@dataclasses.dataclass(frozen=True, kw_only=True)
class State(JsonFile):
    """What the book in ``html`` was made of.

    Parameters
    ----------
    inputs
        Digest of all that its pages depend on.
    site
        Signature of ``html``, see :func:`soundcheck.book.site.signature`.
    inspected
        File of the site -> digest of its content, of those without a problem.
    results, day
        Digest of the results that it shows, and the day of the run that made them; ``None`` if older versions
        built the book.
    """

    inputs: str
    site: str
    inspected: dict[str, str]
    results: str = ""
    day: datetime.date | None = None


def build(
    output: Output,
    record: RunRecord,
    results: pd.DataFrame,
    *,
    suite_root: Path,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    tasks: Mapping[str, Task],
    sounds: Sounds,
    jobs: int = 1,
    history: Path | None = None,
    book: JupyterBook | None = None,
) -> list[Problem]:
    """Build the book of a run.

    Parameters
    ----------
    output
        The output folder, with executed notebooks and media.
    record
        The run's record.
    results
        The results table.
    suite_root
        Folder of the suite, which may hold pages of its own families.
    families, corpora, tasks, sounds
        What was tested, and with which noises and impulse responses.
    jobs
        Processes to use.
    history
        Folder of kept runs, for the page about them; ``None`` = there is none.
    book
        What :func:`builder` gave, if it has been started already.

    Returns
    -------
    list of Problem
        Why there is no complete book; empty if there is.
    """
    arguments = {"suite_root": suite_root, "families": families, "history": history}
    depends = inputs.digest(output, record, **arguments)
    state = _read(output)
    if state is not None and (state.inputs, state.site) == (depends, signature(output.html)):
        return []
    sources = Sources(
        output.folder / SOURCES, Remembered(output.folder / "book-pages.json", inputs.made_with())
    )
    arguments |= {"corpora": corpora, "tasks": tasks, "sounds": sounds, "jobs": jobs}
    with contextlib.nullcontext(book) if book is not None else builder(output, jobs) as book:
        from soundcheck.book.assembly import assemble  # late: what draws figures takes a second to load

        assemble(sources, output, record, results, **arguments)
        tables = [
            *(output.results, output.estimates, output.left_out, output.comparison_table, output.word_errors)
        ]
        if history_page.NAME in sources.pages:
            tables.append(history_page.table_of(output))
        problems = finish(book, sources, output, record, tables, about=Provenance.of(record), depends=depends)
    output.prune(output.media, sources.media | _kept_by_notebooks(output))
    return problems


def builder(output: Output, jobs: int = 1) -> JupyterBook:
    """Give what builds the sources, for the time of a block in which they are written."""
    return JupyterBook(output.folder / SOURCES, output.folder / "book-build", output.log, jobs)


def finish(
    book: JupyterBook,
    sources: Sources,
    output: Output,
    record: RunRecord,
    tables: Sequence[Path],
    *,
    about: Provenance | None = None,
    depends: str = "",
) -> list[Problem]:
    """Have the sources built, and put the site into place if it is complete.

    Parameters
    ----------
    book
        What builds them, see :func:`builder`.
    sources
        All sources.
    output
        The output folder.
    record
        The run's record.
    tables
        Tables that pages offer, as far as they are there.
    about
        What the book rests on.
    depends
        Digest of all that the pages depend on.

    Returns
    -------
    list of Problem
        Why the site stays as it was.
    """
    new = output.folder / "html-new"
    problem = book.build(sources.complete)
    if problem:
        return [problem]
    state = _read(output)
    day = _day(state, record)
    lay_out(
        book.work / "html",
        new,
        style=run_style(record, day),
        media=_media(sources.media, output),
        tables=[*(table for table in tables if table.is_file()), *sources.beside],
        finished=sources.finished,
    )
    if about is not None:
        about.write(new / PROVENANCE)
    manifest.write(new)  # the last file of the site: it names all others
    problems, inspected = inspect(
        new,
        sources.pages,
        output.folder,
        state.inspected if state is not None else {},
        dict.fromkeys(sources.finished, MOST_BYTES),
    )
    if record.voices == NONE:
        problems += sounds_in(new)
    if problems:
        shutil.rmtree(new)
        return problems
    into_place(new, output.html)
    about_site = {"site": signature(output.html), "inspected": inspected}
    State(inputs=depends, **about_site, results=record.results, day=day).write(_state(output))
    return []


def _day(state: State | None, record: RunRecord) -> datetime.date:
    """Give the day of the run that made the results; a book that is built again of the same keeps it."""
    known = state.day if state is not None and state.results == record.results else None
    return given_day() or known or today()


def _state(output: Output) -> Path:
    return output.folder / "book.json"


def _read(output: Output) -> State | None:
    try:
        return State.read(_state(output))
    except (OSError, ValueError):
        return None


def _media(names: set[str], output: Output) -> list[Path]:
    """Find sounds and pictures that pages refer to."""
    places = (output.media, output.studies / "media")
    found = (next((p / name for p in places if (p / name).is_file()), None) for name in sorted(names))
    return [path for path in found if path is not None]


def _kept_by_notebooks(output: Output) -> set[str]:
    """Name the media that executed notebooks refer to; they are not executed again to make them anew."""
    notebooks = (*output.notebooks.rglob("*.ipynb"), *output.comparisons.glob("*.ipynb"))
    return {name.decode() for path in notebooks for name in MEDIA.findall(path.read_bytes())}
