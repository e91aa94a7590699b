"""Finds what was changed in a book since it was built: compares its files with the lists that lie in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from soundcheck.common import manifest
from soundcheck.common.errors import InputError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import irregularity
from soundcheck.common.manifest import MANIFEST, Difference
from soundcheck.common.progress import Progress
from soundcheck.results.record import PROVENANCE, Provenance, RunRecord
from soundcheck.run.output import Output
from soundcheck.run.sealing import sealed


@dataclasses.dataclass(frozen=True)
class Book:
    """What there is to verify.

    Parameters
    ----------
    shown
        The folder as the user named it.
    output
        The output folder of a run; ``None`` if there are only pages.
    html
        The folder of the pages; ``None`` if the run built none.
    """

    shown: str
    output: Output | None
    html: Path | None

    @property
    def results(self) -> Path:
        """The results table of the run, or that of the pages alone."""
        return self.output.results if self.output is not None else self.html / "results.csv"

    def record(self) -> RunRecord | None:
        """Read the record of the run; ``None`` if there are only pages.

        Raises
        ------
        InputError
            If it cannot be read.
        """
        return RunRecord.read(self.output.record) if self.output is not None else None

    def made_of(self) -> Provenance | None:
        """Read what the pages rest on; ``None`` without pages, or if they are those of a comparison.

        Raises
        ------
        InputError
            If it cannot be read.
        """
        if self.html is None or not (self.html / PROVENANCE).exists():
            return None
        if why := irregularity(self.html / PROVENANCE):
            raise input_error(PROVENANCE, why)
        try:
            return Provenance.read(self.html / PROVENANCE)
        except (OSError, ValueError) as error:
            raise input_error(PROVENANCE, "it cannot be read") from error


@dataclasses.dataclass(frozen=True)
class Found:
    """What a comparison with the lists found.

    Parameters
    ----------
    pages, others
        Number of files that are listed: of the book, and beside it.
    problems
        What was changed, a line each.
    digest
        SHA-256 digest of the list of the book; ``""`` if there is none.
    """

    pages: int
    others: int
    problems: tuple[str, ...]
    digest: str


def find(path: Path) -> Book:
    """Find what there is to verify in a folder: an output folder, its ``html``, or a copy of that.

    Raises
    ------
    InputError
        If it is no folder, or no book that has a list.
    """
    if not path.is_dir():
        raise input_error(
            quoted(path), "there is no such folder", "Name an output folder, or the pages of a book"
        )
    output = Output(path)
    html = output.html if output.html.is_dir() else None
    if (path / MANIFEST).exists() or (path / MANIFEST).is_symlink():
        listed = manifest.read(path).digests
        is_run = {output.record.name, output.results.name} <= listed.keys()
        if is_run or output.record.is_file() or html is not None:
            return Book(str(path), output, html)
        return Book(str(path), None, path)
    if html is not None and (html / MANIFEST).exists():
        of_run = output.record.exists() or output.results.exists()  # then its own list is missing
        return Book(str(path), output if of_run else None, html)
    if html is not None or output.results.exists() or (path / "index.html").exists():
        what = f"there is no {MANIFEST}: an older version of Soundcheck wrote this, or the file was removed"
        raise input_error(quoted(path), what, "Run the suite again")
    raise input_error(quoted(path), "there is no book", "Name an output folder, or the pages of a book")


def compare(book: Book) -> Found:
    """Compare all files with the lists, and the lists with each other.

    Raises
    ------
    InputError
        If a list may not be opened.
    """
    problems: list[str] = []
    pages = others = 0
    digest = ""
    if book.output is not None:
        root = book.output.folder
        others, told = _folder(root, sealed(book.output), "")
        problems += told
        if not _is_there(root):
            problems.append(f"missing: {MANIFEST}")
    if book.html is not None:
        before = "" if book.html == Path(book.shown) else "html/"
        if _is_there(book.html):
            pages, told = _folder(book.html, None, before)
            problems += told
            digest = manifest.sha256(book.html / MANIFEST)
        else:
            problems.append(f"missing: {before}{MANIFEST}, so that the pages cannot be verified")
    return Found(pages, others, tuple(problems), digest)


def _is_there(root: Path) -> bool:
    return not irregularity(root / MANIFEST)


def _folder(root: Path, there: Sequence[str] | None, before: str) -> tuple[int, list[str]]:
    """Compare a folder with its list; gives the number of listed files and what is wrong."""
    try:
        listed = manifest.read(root)
    except InputError:
        return 0, []
    told = [f"changed: {before}{MANIFEST}, line {number} is none of a list" for number in listed.odd]
    with Progress("verify", "files", len(listed.digests)) as progress:
        found = manifest.differences(root, listed.digests, there, progress.update)
    return len(listed.digests), [*told, *(_told(one, before) for one in found)]


def _told(difference: Difference, before: str) -> str:
    name = quoted(f"{before}{difference.name}", 500)
    return f"{difference.what}: {name}" + (f" ({difference.why})" if difference.why else "")
