"""Verifies a book: what was changed since it was built, with which inputs it was made, what comes out again.

Tests that are computed again are drawn by a seed, from those that have a value. The notebooks that they come
from are executed in a temporary folder with a cache of its own: models are asked anew, corpora are read anew,
nothing of the run is used but its results table, to compare with. All tests of these notebooks are compared,
not only those drawn. States are not: they depend on all tests of a model, and are computed again anyway.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pandas as pd

from soundcheck.common import files, manifest
from soundcheck.common.files import irregularity
from soundcheck.common.manifest import MANIFEST
from soundcheck.common.messages import (
    EXIT_OK,
    EXIT_TEST_FAILED,
    InputError,
    Outcome,
    counted,
    input_error,
    quoted,
)
from soundcheck.common.progress import Progress
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.results.facts import counts
from soundcheck.results.record import PROVENANCE, Provenance, RunRecord
from soundcheck.results.rows import KEY
from soundcheck.results.states import STATES, decide
from soundcheck.results.table import RESULTS, columns_of, read_results
from soundcheck.run.output import Output, sealed
from soundcheck.suite.entries import Suite
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

COMPARED = [*columns_of(RESULTS, "float", "int"), "passed", "reference_passed"]
CLOSE = 1e-9  # relative: what the same computation gives with other versions of libraries at most
MOST_LISTED = 20  # tests that differ, the furthest apart first
NAMED = ("value", "low", "high", "segments", "blocks", "passed")  # named first of a test that differs


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
        try:
            return Provenance.read(files.require_regular(self.html / PROVENANCE, PROVENANCE))
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
    lines = [problem if problem.endswith(".") else f"{problem}." for problem in problems] + notes
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
            for difference in manifest.differences(folder, listed.digests, names, progress.update):
                why = f" ({difference.why})" if difference.why else ""
                problems.append(f"{difference.what}: {quoted(f'{before}{difference.name}', 500)}{why}")
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
    for model, rows in frame.groupby("model", sort=True):
        said, found = inputs.verdicts.get(model, {}), counts(rows)
        if said and said.keys() <= found.keys() and found != dict.fromkeys(found, 0) | said:
            yield f"{results.name}: of {quoted(model)} there are {found}, which is not what the record says"


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
        for part in getattr(inputs, name):
            kind = f" ({part.kind})" if part.kind else ""
            yield f"{noun} {quoted(part.name)}{kind}: {counted(part.size, unit)}, digest {part.digest[:16]}"
    yield f"Families: {', '.join(f'{family.name} {family.digest[:8]}' for family in inputs.families)}"
    if inputs.library:
        yield f"Code of Soundcheck: digest {inputs.library[:16]}"
    if not {state for counts in inputs.verdicts.values() for state in counts} <= {*STATES}:
        yield "The states are those of an earlier version, and were not counted again."
    yield f"Made with {', '.join(f'{name} {version}' for name, version in inputs.versions.items())}"
    for model, said in inputs.verdicts.items():
        yield f"Tests of {quoted(model)}: {', '.join(f'{n} {state}' for state, n in said.items() if n)}"


# Computing again --------------------------------------------------------------------------------------------


def again(
    path: Path, suite_file: Path, *, tests: int = 20, seed: int = 0, jobs: int = 1, no_code: bool = False
) -> Outcome:
    """Compute some tests of a book again, with the suite that it was made of; nothing is written to it.

    Refused if book or suite cannot be used, or have no test in common.
    """
    from soundcheck import pipeline  # late: most books are verified without
    from soundcheck.run.selection import RunOptions

    book = find(path)
    before = _inputs(book)
    frame, suite = read_results(book.results), read_suite(suite_file)
    known = frame["model"].isin(list(suite.models)) & frame["family"].isin(list(suite.families))
    drawn = draw(frame[known & frame["value"].notna()], tests, seed)
    if drawn.empty:
        what = "the suite has no model and family of which the book holds a value"
        raise input_error(suite.file.name, what, "Give the suite that the book was made of")
    pairs = drawn[["model", "family"]].drop_duplicates()
    with (
        tempfile.TemporaryDirectory(prefix="soundcheck-") as name,
        mock.patch.dict(os.environ, {CACHE_VARIABLE: str(Path(name) / "cache")}),
    ):
        new, records, notes = [], [], []
        for number, (models, families) in enumerate(_runs(pairs, frame, suite)):
            out = Path(name) / f"run {number}"
            part = {"models": tuple(models), "families": tuple(families), "book": False, "keep": False}
            done = pipeline.run(RunOptions(suite=suite_file, out=out, jobs=jobs, no_code=no_code, **part))
            if done.exit_code != EXIT_OK:
                notes += [line for line in done.summary.splitlines() if "failed" in line or "gave no" in line]
            new.append(read_results(out / "results.csv"))
            records.append(RunRecord.read(out / "run.json"))
    repeated = pd.concat(new, ignore_index=True).merge(pairs).drop_duplicates(list(KEY))
    compared = frame.merge(pairs)
    differing = unlike(compared, repeated)
    lines = [f"{len(drawn)} tests drawn, {counted(len(compared), 'test')} of their notebooks computed again."]
    lines += [f"differs: {test}" for test in differing[:MOST_LISTED]]
    if len(differing) > MOST_LISTED:
        lines.append(f"... and {len(differing) - MOST_LISTED} more that differ.")
    if before.suite != suite.describe()["digest"]:
        notes.append("The suite is not the one that the book was made of, by its digest.")
    changed = {line for record in records for line in _changed(before, Provenance.of(record))}
    lines += [*notes, *sorted(changed)]
    if left := int((~known & frame["value"].notna()).sum()):
        lines.append(f"{counted(left, 'test')} could not be drawn: the suite has not their model or family.")
    if not differing:
        return Outcome(EXIT_OK, "\n".join([*lines, "All came out the same."]))
    last = f"{counted(len(differing), 'test')} came out differently."
    return Outcome(EXIT_TEST_FAILED, "\n".join([*lines, last]))


def draw(frame: pd.DataFrame, tests: int, seed: int) -> pd.DataFrame:
    """Draw rows of a results table by what they are about, whatever the order of the table."""
    keys = frame[list(KEY)].itertuples(index=False, name=None)
    order = pd.Series([files.digest(repr((seed, *key))) for key in keys], index=frame.index, dtype=object)
    return frame.loc[order.sort_values().index[:tests]]


def unlike(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """Say which tests are not the same in two results tables, the furthest apart first."""
    both = before.merge(after, "outer", on=list(KEY), suffixes=("", " now"), indicator="table")
    lines: list[tuple[float, str]] = []
    for row in both.to_dict("records"):
        where = quoted(" / ".join(filter(None, (row[name] for name in KEY))), 200)[1:-1]
        if row["table"] != "both":
            gone = "is not there now" if row["table"] == "left_only" else "is new"
            lines.append((math.inf, f"{where}: {gone}"))
            continue
        pairs = {name: (row[name], row[f"{name} now"]) for name in COMPARED}
        differ = [name for name, pair in pairs.items() if not _same(*pair)]
        if differ:
            named = [name for name in differ if name in NAMED] or differ[:1]
            changes = ", ".join(_change(name, *pairs[name]) for name in named)
            old, new = pairs["value"]
            reason = f" ({quoted(row['skipped now'])})" if pd.isna(new) else ""
            size = 0.0 if pd.isna([old, new]).all() else abs(old - new)
            lines.append((math.inf if pd.isna(size) else size, f"{where}: {changes}{reason}"))
    return [line for _, line in sorted(lines, key=lambda item: -item[0])]


def _same(old: object, new: object) -> bool:
    if pd.isna(old) or pd.isna(new):
        return bool(pd.isna(old) and pd.isna(new))
    return math.isclose(old, new, rel_tol=CLOSE, abs_tol=CLOSE)


def _change(name: str, old: object, new: object) -> str:
    number = RESULTS[name] != "bool"
    texts = ["none" if pd.isna(x) else f"{x:.9g}" if number else str(x) for x in (old, new)]
    by = f" (by {abs(old - new):.2g})" if number and "none" not in texts else ""
    return f"{name} {texts[0]}, now {texts[1]}{by}"


def _runs(pairs: pd.DataFrame, frame: pd.DataFrame, suite: Suite) -> Iterator[tuple[list[str], list[str]]]:
    """Give models and families of the runs that hold all pairs of them, and little else."""
    among = [name for name in pairs["family"].unique() if read_family(name, suite.root).others]
    alone = pairs[~pairs["family"].isin(among)]
    yield from (([model], rows["family"].tolist()) for model, rows in alone.groupby("model", sort=False))
    if among:  # their results depend on the other models that were tested
        tested = set(frame.loc[frame["family"].isin(among), "model"])
        yield [name for name in suite.models if name in tested], among


def _inputs(book: Book) -> Provenance:
    record = book.record()
    inputs = Provenance.of(record) if record is not None else book.inputs()
    if inputs is None:
        what = "the pages compare two runs, so there is nothing to compute"
        raise input_error(quoted(book.display_name), what)
    return inputs


def _changed(before: Provenance, after: Provenance) -> Iterator[str]:
    """Say what is not as it was when the book was made."""
    for name in before.versions.keys() | after.versions.keys():
        old, new = before.versions.get(name, "none"), after.versions.get(name, "none")
        if old != new:
            yield f"Version of {name}: {old}, now {new}."
    if before.library != after.library:
        yield "The code of Soundcheck is not that of the book, by its digest."
    nouns = {"corpora": "corpus", "models": "model", "sounds": "sounds", "families": "threshold file of"}
    for things, noun in nouns.items():
        known = {entry.name: entry.digest for entry in getattr(before, things)}
        for entry in getattr(after, things):
            if known.get(entry.name, entry.digest) != entry.digest:
                yield f"The {noun} {quoted(entry.name)} changed, by its digest."
