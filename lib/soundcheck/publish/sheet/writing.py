"""Writes the one-page summary of a model or a comparison of a finished run, as HTML and PDF."""

import dataclasses
import datetime
import json
import os
import re
from pathlib import Path

import matplotlib

from soundcheck.common import files, templates
from soundcheck.common.day import day_of, given_day
from soundcheck.common.errors import Problems
from soundcheck.common.escaping import xml_text
from soundcheck.common.packages import import_extra
from soundcheck.publish.facts import as_markdown, plain
from soundcheck.publish.sheet.content import Sheet, comparison_sheet, model_sheet
from soundcheck.report.html import Html, standalone
from soundcheck.results.facts import ModelFacts, read_recorded
from soundcheck.results.finished_run import FinishedRun, read_run

MOST_BYTES = 2_000_000  # of the HTML file, sounds included
LONGEST = 1000  # characters of a text of a PDF
LONGEST_WORD = 70  # characters of a PDF that are not broken: a SHA-256 stays whole
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
    """Write the page of a model or of a comparison of a run; returns its lines, and what was written.

    The page is ``out``, by default ``sheets/NAME.html`` beside the results, the PDF is put beside it, and
    ``text`` is a Markdown file for the lines; ``baseline`` is the run of the last release. Raises an
    ``InputError`` if anything cannot be used or written, or Typst is not installed; nothing is written then.
    """
    problems = Problems()  # names by which another file could be overwritten that nobody meant
    for option, path, allowed in (("--out", out, _PAGES), ("--text", text, _TEXTS)):
        if path is not None and path.suffix.lower() not in allowed:
            problems.add(f"{option} {path}", f"the name does not end in {' or '.join(allowed)}", "Rename it")
    problems.raise_if_any()
    if pdf:
        import_extra("typst", "pdf", "--pdf")
    if comparison is None:
        facts = ModelFacts.read(results, model)
        earlier = read_run(baseline, f"--baseline {baseline}") if baseline is not None else None
        made = model_sheet(facts, _day(facts.run), earlier)
        name = facts.model.sheet
    else:
        run = read_recorded(results)
        entry = run.comparison(comparison)
        frame = run.contrasts(entry)
        facts = ModelFacts(run, entry.candidate)
        made = comparison_sheet(facts, entry, frame, _day(run))
        name = entry.sheet
    target = facts.run.path.parent / f"{name}.html" if out is None else out
    contents: dict[Path, str | bytes] = {target: page(made, _book(facts, made, target))}
    if pdf:
        contents[target.with_suffix(".pdf")] = typeset(made)
    if text is not None:
        contents[text] = as_markdown(made.lines, made.title)
    files.write_all(contents)
    lines = [f"{head}: {line}" for head, line in made.lines]
    return "\n".join([*lines, *(f"Written: {path}" for path in contents)])


def page(sheet: Sheet, book: str = "", mark: Html | None = None) -> str:
    """Write the page as one HTML file, which loads nothing from anywhere.

    ``book`` is the way to its page in the book, if there is one; by ``mark`` the book knows the page. It has
    at most :data:`MOST_BYTES` in UTF-8, without sounds that have no room.
    """
    style = (templates.FOLDER / "sheet.css").read_text(encoding="utf-8")
    body = templates.html("sheet", sheet=sheet, book=book, mark=mark or "")
    made = standalone(f"{sheet.title}: summary of tests", body, style)
    if sheet.scenes and len(made.encode()) > MOST_BYTES:
        return page(dataclasses.replace(sheet, scenes=sheet.scenes[:-1]), book, mark)
    return made


def typeset(sheet: Sheet) -> bytes:
    """Typeset the page as PDF; of sounds only what they are is said.

    Text from data never becomes Typst's markup: the template is fixed, and reads all texts from JSON as
    strings, which Typst shows as they are. The bytes are the same for the same content, fonts and version of
    Typst: the file names no day but that of the environment variable ``SOURCE_DATE_EPOCH``.
    """
    typst = import_extra("typst", "pdf", "--pdf")
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"  # those of the figures
    content = _fit(dataclasses.asdict(sheet)) | {"pictures": [vars(one) for one in sheet.pictures]}
    content["date"] = [day.year, day.month, day.day] if (day := given_day()) else None
    return typst.compile(
        (templates.FOLDER / "sheet.typ").read_bytes(),
        format="pdf",
        font_paths=[str(fonts)],
        sys_inputs={"sheet": json.dumps(content, default=lambda _: None)},
    )


def _fit(value: object) -> object:
    """Make all texts fit for a document: of characters that it can hold, neither long nor without breaks."""
    if isinstance(value, str):
        return re.sub(rf"(\S{{{LONGEST_WORD}}})(?=\S)", "\\1\u200b", xml_text(plain(value, LONGEST)))
    if isinstance(value, dict):
        return {name: _fit(one) for name, one in value.items()}
    return [_fit(one) for one in value] if isinstance(value, list | tuple) else value


def _day(run: FinishedRun) -> datetime.date:
    """Give the day of the run, which its record does not name: that of the file."""
    return given_day() or day_of(run.path.with_name("run.json").stat().st_mtime)


def _book(facts: ModelFacts, made: Sheet, target: Path) -> str:
    """Give the way from the page to the book of this run, if that lies beside it."""
    folder = facts.run.path.parent.resolve()
    page = folder / "html" / made.page
    beside = target.parent.resolve().is_relative_to(folder)
    if not (facts.record.book and beside and page.is_file()):
        return ""
    return os.path.relpath(page, target.parent.resolve()).replace(os.sep, "/")
