"""Writes the page for a meeting about a model or a comparison of a finished run, and its three lines."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.day import day_of, given_day
from soundcheck.common.errors import Problems
from soundcheck.publish.facts import ModelFacts, read_facts, read_recorded
from soundcheck.publish.sheet.content import Sheet, comparison_sheet, model_sheet
from soundcheck.publish.sheet.earlier import against
from soundcheck.publish.sheet.page import page
from soundcheck.publish.sheet.pdf import needed as typst_needed
from soundcheck.publish.sheet.pdf import pdf as typeset
from soundcheck.publish.verdict_lines import as_markdown
from soundcheck.results import page_names
from soundcheck.results.compared import comparison_of, read_comparison
from soundcheck.results.finished_run import FinishedRun, read_baseline

_PAGES, _TEXTS = (".html", ".htm"), (".md", ".txt")


def write(
    results: Path,
    out: Path | None = None,
    *,
    model: str | None = None,
    comparison: str | None = None,
    baseline: Path | None = None,
    pdf: bool = False,
    text: Path | None = None,
) -> str:
    """Write the page of a model or of a comparison.

    Parameters
    ----------
    results
        Output folder of a run, or ``results.csv`` in it.
    out
        HTML file; default: ``sheets/NAME.html`` beside the results.
    model
        Its name; ``None`` if there is only one beside the random references.
    comparison
        Name of a comparison of the run, instead of a model.
    baseline
        The run of the last release, to compare the model with.
    pdf
        Whether to write a PDF beside the page.
    text
        Markdown file for the three lines; default none.

    Returns
    -------
    str
        The three lines, and what was written.

    Raises
    ------
    InputError
        If the results or the earlier run cannot be used, if there is no such model or comparison, if a file
        cannot be what it is called, or if Typst is not installed. Nothing is written then.
    """
    _check(out, text)
    if pdf:
        typst_needed()
    if comparison is None:
        facts = read_facts(results, model)
        since = against(facts, read_baseline(baseline) if baseline is not None else None)
        made = model_sheet(facts, since, _day(facts.run))
        name = page_names.model_sheet(facts.model.slug)
    else:
        run = read_recorded(results)
        entry = comparison_of(run, comparison)
        frame = read_comparison(run, entry)
        facts = ModelFacts(run, entry.candidate)
        made = comparison_sheet(facts, entry, frame, _day(run))
        name = page_names.comparison_sheet(entry.slug)
    folder = facts.run.path.parent
    target = folder / f"{name}.html" if out is None else out
    contents: dict[Path, str | bytes] = {target: page(made, _book(facts, made, target))}
    if pdf:
        contents[target.with_suffix(".pdf")] = typeset(made)
    if text is not None:
        contents[text] = as_markdown(made.verdict, made.title)
    files.write_all(contents)
    return "\n".join([*made.verdict, *(f"Written: {path}" for path in contents)])


def _check(out: Path | None, text: Path | None) -> None:
    """Refuse names by which another file could be overwritten that nobody meant."""
    problems = Problems()
    for option, path, allowed in (("--out", out, _PAGES), ("--text", text, _TEXTS)):
        if path is None:
            continue
        if path.is_dir():
            problems.add(
                f"{option} {path}", "this is a folder, not a file", f"Name a file in it, *{allowed[0]}"
            )
        elif path.suffix.lower() not in allowed:
            problems.add(f"{option} {path}", f"the name does not end in {' or '.join(allowed)}", "Rename it")
    problems.raise_if_any()


def _day(run: FinishedRun) -> datetime.date:
    """Give the day of the run, which its record does not name: that of the file."""
    return given_day() or day_of(run.path.with_name("run.json").stat().st_mtime)


def _book(facts: ModelFacts, made: Sheet, target: Path) -> str:
    """Give the way from the page to the book of this run, if that lies beside it."""
    folder = facts.run.path.parent.resolve()
    there = folder / "html" / made.page
    beside = target.parent.resolve().is_relative_to(folder)
    if not (facts.record.book and beside and there.is_file()):
        return ""
    return os.path.relpath(there, target.parent.resolve()).replace(os.sep, "/")
