"""Tells whether a book would come out as it did before: one digest of all that its pages depend on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from soundcheck.book import executed, history_page
from soundcheck.common import files, resources
from soundcheck.common.day import given_day, today
from soundcheck.common.library import installed, library_digest
from soundcheck.results.record import ModelRecord, RunRecord
from soundcheck.run.output import Output
from soundcheck.sounds.sources import speech_digest
from soundcheck.suite.families import Family


def digest(
    output: Output,
    record: RunRecord,
    *,
    suite_root: Path,
    families: Sequence[Family],
    history: Path | None = None,
) -> str:
    """Digest what a book is made of; see :func:`soundcheck.book.build.build` for the parameters."""
    # No page shows how long a run took, whether it has a book, and which answers it did not have to ask for.
    models = tuple(map(shown, record.models))
    seen = dataclasses.replace(record, seconds={}, book=False, models=models)
    share = resources.root()
    written = [share / "_config.yml", share / "_toc.yml", *(share / "book").rglob("*")]
    methods = [resources.find(f"book/methods/{family.name}.md", suite_root) for family in families]
    made = [
        *output.notebooks.rglob("*"),
        *output.comparisons.rglob("*"),
        *output.studies.glob("*"),
        *output.corpora.glob("*"),
        *(output.results, output.estimates, output.left_out, output.comparison_table, output.word_errors),
    ]
    parts = [
        *(made_with(), seen, [entry.past(today()) for entry in record.accepted]),
        *(executed.places(), executed.user_name(), str(output.folder)),
        *(_contents(paths) for paths in (written, methods, made)),
        history_page.state(history),
        given_day(),  # which the style sheet names
    ]
    return files.digest(repr(parts))


def made_with() -> str:
    """Digest the code that makes pages: the library, all packages, and the one that speaks."""
    return files.digest(repr([library_digest(), installed(), speech_digest()]))


def shown(model: ModelRecord) -> ModelRecord:
    """Reduce a record to what pages show: nothing that differs after a run which found all answers."""
    confirmed = model.confirmed if model.confirmed_different else 0
    days = model.answered(today())
    return dataclasses.replace(model, asked=0, days=days, confirmed=confirmed)


def _contents(paths: Iterable[Path | None]) -> list[tuple[str, str]]:
    return sorted((str(path), files.digest(path)) for path in paths if path is not None and path.is_file())
