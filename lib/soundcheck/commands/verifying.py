"""Verifies a book: what was changed since it was built, and with which inputs it was made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from soundcheck.common import files, manifest
from soundcheck.common.errors import EXIT_OK, EXIT_TEST_FAILED, InputError, Outcome, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import irregularity
from soundcheck.common.manifest import MANIFEST
from soundcheck.common.progress import Progress
from soundcheck.common.wording import counted
from soundcheck.results.record import PROVENANCE, Provenance, RunRecord
from soundcheck.results.states import STATES, decide
from soundcheck.results.table import read_results
from soundcheck.run.output import Output, sealed


class Book(NamedTuple):
    """What there is to verify."""

    display_name: str  # the folder as the user named it
    output: Output | None  # of a run; None if there are only pages
    html: Path | None  # None if the run built none

    @property
    def results(self) -> Path:
        """The results table of the run, or that of the pages alone."""
        return self.html / "results.csv" if self.output is None else self.output.results

    def record(self) -> RunRecord | None:
        """Read the record of the run, ``None`` if there are only pages; refused if it cannot be read."""
        return None if self.output is None else RunRecord.read(self.output.record)

    def inputs(self) -> Provenance | None:
        """Read what the pages were made of, ``None`` if nothing says it; refused if it cannot be read."""
        if self.html is None or not (self.html / PROVENANCE).exists():
            return None
        if why := irregularity(self.html / PROVENANCE):
            raise input_error(PROVENANCE, why)
        try:
            return Provenance.read(self.html / PROVENANCE)
        except (OSError, ValueError) as error:
            raise input_error(PROVENANCE, "it cannot be read") from error


def find(path: Path) -> Book:
    """Find what there is to verify in a folder: an output folder, its ``html``, or a copy of that.

    Refused if it is no folder, or no book that has a list of its files.
    """
    remedy = "Name an output folder, or the pages of a book"
    if not path.is_dir():
        raise input_error(quoted(path), "there is no such folder", remedy)
    output = Output(path)
    html = output.html if output.html.is_dir() else None
    if (path / MANIFEST).exists() or (path / MANIFEST).is_symlink():
        of_run = {output.record.name, output.results.name} <= manifest.read(path).digests.keys()
        pages = not (of_run or output.record.is_file() or html)
        return Book(str(path), None, path) if pages else Book(str(path), output, html)
    of_run = output.record.exists() or output.results.exists()  # then its own list is missing
    if html is not None and (html / MANIFEST).exists():
        return Book(str(path), output if of_run else None, html)
    if html is not None or output.results.exists() or (path / "index.html").exists():
        what = f"there is no {MANIFEST}: an older version of Soundcheck wrote this, or the file was removed"
        raise input_error(quoted(path), what, "Run the suite again")
    raise input_error(quoted(path), "there is no book", remedy)


def verify(path: Path, digest: str = "") -> Outcome:
    """Verify a book; ``digest`` is the SHA-256 digest that somebody noted elsewhere, if anybody did.

    Refused if there is no book with a list of its files, or the digest is not whole: books that begin alike
    can be made.
    """
    wanted = digest.lower().removeprefix("sha256:")
    if digest and not re.fullmatch("[0-9a-f]{64}", wanted):
        what = f"{quoted(digest)} is no SHA-256 digest"
        raise input_error("--digest", what, "Give all 64 digits of what the run printed")
    book = find(path)
    if digest and book.html is None:
        raise input_error("--digest", "the run has no book", "Name a folder with pages")
    problems, sizes, of_book = _changed_files(book, path)
    if wanted and of_book != wanted:
        problems.append(f"The book is another one: its digest is {of_book or 'unknown'}.")
    read = []
    for source in (book.record, book.inputs):
        try:
            read.append(source())
        except InputError as error:
            problems += str(error).splitlines()
            read.append(None)
    record, inputs = read
    notes = []
    if record is not None:
        of_pages, inputs = inputs, Provenance.of(record)
        if not record.book:
            notes += ["The pages are those of an earlier run."] if book.html else []
        elif of_pages not in (None, inputs):
            problems.append("run.json: the record is not that of the run whose results the pages show")
        if record.book and of_book not in ("", record.book_digest):
            problems.append("run.json: the record names another book, by the digest of its list")
    if inputs is not None:
        problems += _of_table(book.results, inputs)
    lines = [one if one.endswith(".") else f"{one}." for one in problems] + notes
    beside = f", {counted(sizes[book.output.folder], 'file')} of the run" if book.output else ""
    lines.append(f"{book.display_name}: {counted(sizes.get(book.html, 0), 'file')} of the book{beside}")
    lines += [f"Digest of the book: {of_book}"] if of_book else []
    lines += [line.replace("\n", "\\n") for line in _about(inputs)]
    if not problems:
        return Outcome(EXIT_OK, "\n".join([*lines, "Nothing was changed, added or removed."]))
    last = f"{counted(len(problems), 'problem')}. If a run was interrupted, run it again to go on."
    return Outcome(EXIT_TEST_FAILED, "\n".join([*lines, last]))


def _changed_files(book: Book, path: Path) -> tuple[list[str], dict[Path, int], str]:
    """Compare files with the lists of their folders: problems, number of files, digest of the book's list."""
    problems, sizes, of_book = [], {}, ""
    folders = [(book.output.folder, sealed(book.output), "")] if book.output else []
    if book.html is not None:
        folders.append((book.html, None, "" if book.html == path else "html/"))
    for folder, names, before in folders:
        if irregularity(folder / MANIFEST):
            sizes[folder] = 0
            problems.append(f"missing: {before}{MANIFEST}, so that its files cannot be verified")
            continue
        listed = manifest.read(folder)
        sizes[folder] = len(listed.digests)
        problems += [
            f"changed: {before}{MANIFEST}, line {number} is none of a list"
            for number in listed.malformed_lines
        ]
        with Progress("verify", "files", len(listed.digests)) as progress:
            for one in manifest.differences(folder, listed.digests, names, progress.update):
                why = f" ({one.why})" if one.why else ""
                problems.append(f"{one.what}: {quoted(f'{before}{one.name}', 500)}{why}")
        of_book = manifest.sha256(folder / MANIFEST) if folder == book.html else of_book
    return problems, sizes, of_book


def _of_table(results: Path, inputs: Provenance) -> Iterator[str]:
    """Say where the results table is not the one of the record, or contradicts itself."""
    try:
        frame = read_results(results)
    except InputError as error:
        yield from str(error).splitlines()
        return
    if files.digest(results) != inputs.results:
        yield f"{results.name}: the table is not the one that the record names"
    known, again = (table.assign(holds=table["holds"].eq(True)) for table in (frame, decide(frame)))
    for column in ("holds", "state", "state_sample", "mirrors"):
        if differ := int(known[column].ne(again[column]).sum()):
            yield f"{results.name}: {counted(differ, 'cell')} of {column} not as its numbers give it"


def _about(inputs: Provenance | None) -> Iterator[str]:
    """Say with which inputs the book was made."""
    if inputs is None:
        yield "What it was made of is not known: the pages compare two runs, or are incomplete."
        return
    yield (
        f"Run {inputs.run} of {quoted(inputs.title)}: suite {inputs.suite[:16]}, seed {inputs.seed}, "
        f"{inputs.replicates} replicates, {inputs.interval} intervals"
    )
    kinds = (("Corpus", "corpora", "segment"), ("Model", "models", "input"), ("Sounds", "sounds", "sound"))
    for noun, name, unit in kinds:
        for one in getattr(inputs, name):
            kind = f" ({one.kind})" if one.kind else ""
            yield f"{noun} {quoted(one.name)}{kind}: {counted(one.size, unit)}, digest {one.digest[:16]}"
    yield f"Families: {', '.join(f'{one.name} {one.digest[:8]}' for one in inputs.families)}"
    if inputs.library:
        yield f"Code of Soundcheck: digest {inputs.library[:16]}"
    if not {state for counts in inputs.verdicts.values() for state in counts} <= {*STATES}:
        yield "The states are those of an earlier version, and were not counted again."
    yield f"Made with {', '.join(f'{name} {version}' for name, version in inputs.versions.items())}"
    for model, counts in inputs.verdicts.items():
        yield f"Tests of {quoted(model)}: {', '.join(f'{n} {state}' for state, n in counts.items() if n)}"
