"""Builds the book of a run: writes its sources, has them built, checks the site and puts it into place.

Nothing changes in ``html`` before the new site is complete: it is laid out beside and moved. A run after
which nothing has changed writes no page.
"""

import dataclasses
import datetime
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.augment.sources import speech_digest
from soundcheck.book import pages, site
from soundcheck.book.pages import Sources, digest, media_in
from soundcheck.book.site import inspect, into_place, lay_out, run_sphinx, run_style, signature
from soundcheck.common import files, manifest, resources, store
from soundcheck.common.day import given_day, today
from soundcheck.common.media import NONE
from soundcheck.common.messages import Problem
from soundcheck.common.resources import installed, library_digest
from soundcheck.results.record import PROVENANCE, ModelRecord, Provenance, RunRecord
from soundcheck.run.material import Material
from soundcheck.run.output import Output
from soundcheck.suite.families import Family

HISTORY = "history.csv"  # all points of the page about kept runs


def build(material: Material, record: RunRecord, results: pd.DataFrame, *, jobs: int = 1) -> list[Problem]:
    """Build the book of a run; gives the reasons why there is none."""
    output, suite = material.output, material.suite
    depends = _inputs(output, record, suite.root, material.families, suite.history)
    if (known := store.read(_state(output))) and known["made"] == [depends, signature(output.html)]:
        return []
    from soundcheck.book import assembly  # late: what draws figures takes a second to load

    sources = open_sources(output, record)
    about = {"sources": sources, "record": record, "results": results, "suite_root": suite.root}
    store.made_of(assembly.Book, material, suite, **about, jobs=jobs).assemble()
    tables = [*_tables(output), output.folder / HISTORY]
    problems = finish(sources, output, record, tables, depends=depends, jobs=jobs)
    # Notebooks are not executed again to make their sounds and pictures anew.
    notebooks = [*output.notebooks.rglob("*.ipynb"), *output.comparisons.glob("*.ipynb")]
    used = {name for path in notebooks for name in media_in(path.read_bytes())}
    output.prune(output.media, {path.name for path in sources.media} | used)
    return problems


def open_sources(output: Output, record: RunRecord) -> Sources:
    """Open the folder of what Sphinx reads."""
    media = (output.media, output.studies / "media")
    absent = pages.missing([entry.name for entry in record.studies])
    handbook = (record.suite.get("handbook") or "").rstrip("/")
    version = digest(made_with(), _machine(output), record.voices)
    return Sources(output.folder / "book-src", media, version, absent, handbook)


def finish(
    sources: Sources,
    output: Output,
    record: RunRecord,
    tables: Iterable[Path],
    *,
    depends: str = "",
    jobs: int = 1,
) -> list[Problem]:
    """Have the sources built, and put the site into place if it is complete; gives what is wrong if not."""
    sources.write(jobs)
    work, new = output.folder / "book-build", output.folder / "html-new"
    problem = run_sphinx(sources.folder, work, output.log, jobs, made_with())
    if problem is not None:
        return [problem]
    # A book that is built again of the same results keeps the day of the run that made them.
    known = store.read(_state(output)) or {}
    same = known.get("results") == record.results
    day = given_day() or (datetime.date.fromisoformat(known["day"]) if same else today())
    beside = [(table.name, table) for table in tables if table.is_file()]
    beside += [(name, sources.folder / name) for name in sources.beside]
    lay_out(work / "html", new, style=run_style(record, day), media=sources.media, beside=beside)
    if depends:  # else it is no book of a run
        Provenance.of(record).write(new / PROVENANCE)
    manifest.write(new)  # the last file of the site: it names all others
    problems = inspect(new, sources.pages, output.folder, sounds=record.voices != NONE)
    if problems:
        shutil.rmtree(new)
        return problems
    into_place(new, output.html)
    made = [depends, signature(output.html)]
    store.write(_state(output), {"made": made, "results": record.results, "day": day.isoformat()})
    return []


def _tables(output: Output) -> list[Path]:
    return [output.results, output.estimates, output.left_out, output.comparison_table, output.word_errors]


def history_files(history: Path | None) -> list[Path]:
    """List the tables and records of kept runs, on which their page depends."""
    return [] if history is None else [*history.glob("*/*.csv"), *history.glob("*/*.json")]


def made_with() -> str:
    """Digest the code that makes pages, their style, all packages, and the one that speaks."""
    look = [files.digest(path) for path in sorted(resources.root().glob("book/_*/**/*")) if path.is_file()]
    return digest(library_digest(), installed(), speech_digest(), look)


def _machine(output: Output) -> tuple[object, ...]:
    """Give what of this machine must not appear in pages."""
    return str(output.folder), site.places(), site.user_name()


def pages_part(model: ModelRecord) -> ModelRecord:
    """Reduce a record to what pages show: nothing that differs after a run which found all answers."""
    confirmed = model.confirmed if model.confirmed_different else 0
    return dataclasses.replace(model, asked=0, days=model.answered(today()), confirmed=confirmed)


def _inputs(
    output: Output, record: RunRecord, suite_root: Path, families: Sequence[Family], history: Path | None
) -> str:
    """Digest all that the pages of a book depend on."""
    # No page shows how long a run took, whether it has a book, and which answers it did not have to ask for.
    seen = dataclasses.replace(record, seconds={}, book=False, models=tuple(map(pages_part, record.models)))
    share = resources.root()
    made = [
        *(share / "_config.yml", *(share / "book").rglob("*")),
        *(resources.find(f"book/methods/{family.name}.md", suite_root) for family in families),
        *(*output.notebooks.rglob("*"), *output.comparisons.rglob("*")),
        *(*output.studies.glob("*"), *output.corpora.glob("*")),
        *(_tables(output) + history_files(history)),
    ]
    contents = sorted((str(path), files.digest(path)) for path in made if path is not None and path.is_file())
    return digest(
        *(made_with(), seen, [entry.past(today()) for entry in record.accepted], contents),
        *(_machine(output), given_day()),  # which the style sheet names
    )


def _state(output: Output) -> Path:
    return output.folder / "book.json"
