"""Verifies a book and sums up: what was changed since it was built, and with which inputs it was made."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import EXIT_OK, EXIT_TEST_FAILED, InputError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted
from soundcheck.results.record import Input, Provenance
from soundcheck.results.states import STATES, decide
from soundcheck.results.table import is_older, read_results
from soundcheck.verify.listed import Book, Found, compare, find


@dataclasses.dataclass(frozen=True)
class Verified:
    """How a verification ended."""

    exit_code: int
    summary: str


def verify(path: Path, digest: str = "") -> Verified:
    """Verify a book.

    Parameters
    ----------
    path
        The output folder of a run, its ``html``, or a copy of that.
    digest
        SHA-256 digest of the book as it was noted elsewhere; ``""`` = nobody has. The whole of it: books
        that begin alike can be made.

    Raises
    ------
    InputError
        If there is no book with a list of its files, or no digest could be meant.
    """
    wanted = digest.lower().removeprefix("sha256:")
    if digest and not re.fullmatch("[0-9a-f]{64}", wanted):
        what = f"{quoted(digest)} is no SHA-256 digest"
        raise input_error("--digest", what, "Give all 64 digits of what the run printed")
    book = find(path)
    if digest and book.html is None:
        raise input_error("--digest", "the run has no book", "Name a folder with pages")
    found = compare(book)
    problems = list(found.problems)
    if wanted and found.digest != wanted:
        problems.append(f"The book is another one: its digest is {found.digest or 'unknown'}.")
    made_of, notes = _made_of(book, found, problems)
    if made_of is not None:
        problems += _of_table(book.results, made_of)
    lines = [f"{one}." if not one.endswith(".") else one for one in problems]
    lines += notes
    lines += [one.replace("\n", "\\n") for one in _about(book, found, made_of)]
    if problems:
        last = f"{counted(len(problems), 'problem')}. If a run was interrupted, run it again to go on."
        return Verified(EXIT_TEST_FAILED, "\n".join([*lines, last]))
    return Verified(EXIT_OK, "\n".join([*lines, "Nothing was changed, added or removed."]))


def _made_of(book: Book, found: Found, problems: list[str]) -> tuple[Provenance | None, list[str]]:
    """Read what run and pages say that they rest on, and compare the two."""
    read = []
    for source in (book.record, book.made_of):
        try:
            read.append(source())
        except InputError as error:
            problems += str(error).splitlines()
            read.append(None)
    record, pages = read
    if record is None:
        return pages, []
    of_run = Provenance.of(record)
    if not record.book:
        return of_run, ["The pages are those of an earlier run."] if book.html is not None else []
    if pages is not None and pages != of_run:
        problems.append("run.json: the record is not that of the run whose results the pages show")
    if found.digest and found.digest != record.book_digest:
        problems.append("run.json: the record names another book, by the digest of its list")
    return of_run, []


def _of_table(results: Path, made_of: Provenance) -> list[str]:
    """Say where the results table is not the one of the record, or contradicts itself."""
    try:
        frame = read_results(results)
    except InputError as error:
        return str(error).splitlines()
    problems = []
    if files.digest(results) != made_of.results:
        problems.append(f"{results.name}: the table is not the one that the record names")
    if is_older(frame):  # of another rule
        return problems
    there, again = (table.assign(holds=table["holds"].eq(True)) for table in (frame, decide(frame)))
    for column in ("holds", "state", "state_sample", "mirrors"):
        if differ := int(there[column].ne(again[column]).sum()):
            count = counted(differ, "cell")
            problems.append(f"{results.name}: {count} of {column} not as its numbers give it")
    return problems


def _about(book: Book, found: Found, made_of: Provenance | None) -> list[str]:
    """Say what was looked at, and what it was made of."""
    beside = f", {counted(found.others, 'file')} of the run" if book.output is not None else ""
    lines = [f"{book.shown}: {counted(found.pages, 'file')} of the book{beside}"]
    lines += [f"Digest of the book: {found.digest}"] if found.digest else []
    if made_of is None:
        return [*lines, "What it was made of is not known: the pages compare two runs, or are incomplete."]
    lines.append(
        f"Run {made_of.run} of {quoted(made_of.title)}: suite {made_of.suite[:16]}, seed {made_of.seed}, "
        f"{made_of.replicates} replicates, {made_of.interval} intervals"
    )
    for noun, things, unit in (
        ("Corpus", made_of.corpora, "segment"),
        ("Model", made_of.models, "input"),
        ("Sounds", made_of.sounds, "sound"),
    ):
        lines += [f"{noun} {_input(one, unit)}" for one in things]
    lines.append(f"Families: {_listed(f'{one.name} {one.digest[:8]}' for one in made_of.families)}")
    lines += [f"Code of Soundcheck: digest {made_of.library[:16]}"] if made_of.library else []
    if not {state for counts in made_of.verdicts.values() for state in counts} <= {*STATES}:
        lines.append("The states are those of an earlier version, and were not counted again.")
    lines.append(f"Made with {_listed(f'{name} {version}' for name, version in made_of.versions.items())}")
    for model, counts in made_of.verdicts.items():
        lines.append(
            f"Tests of {quoted(model)}: {_listed(f'{n} {state}' for state, n in counts.items() if n)}"
        )
    return lines


def _input(one: Input, unit: str) -> str:
    kind = f" ({one.kind})" if one.kind else ""
    return f"{quoted(one.name)}{kind}: {counted(one.size, unit)}, digest {one.digest[:16]}"


def _listed(things: Iterable[str]) -> str:
    return ", ".join(things)
