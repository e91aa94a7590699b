"""Pages as notebooks: trusted words as Markdown, everything that comes from data as escaped HTML output.

Jupyter Book parses Markdown, so text from data must never get there: a label could include files or run code.
Outputs are shown as they are, and :mod:`soundcheck.report.html` escapes what goes into them. Every page ends
in a mark that names the page and the digest of its source, written pages included; the finished site is
searched for it. A mark does not name the run: a page that says the same after the next run stays as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.common.media import UNHEARD
from soundcheck.common.remembered import Remembered
from soundcheck.report.html import Html, element

MARK = "sc-page"
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
NO_VOICES = (
    "Sounds and pictures of single recordings are left out of this book: --voices none, or voices: none in "
    "its suite."
)
MEDIA = re.compile(rb"media/([0-9a-f]{20}\.[a-z0-9]+)")


def markdown(text: str) -> dict:
    """Make a cell of our own words; never of text from data."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def output(html: Html) -> dict:
    """Make a cell that shows HTML and no code."""
    data = {"text/html": str(html), "text/plain": ""}
    shown = {"output_type": "display_data", "data": data, "metadata": {}}
    # The source is never shown; MyST-NB drops a cell without source, outputs and all.
    return code("show", "remove-input", [shown])


def code(source: str, tag: str, outputs: Sequence[dict], count: int | None = 1) -> dict:
    """Make a cell of code; like all cells it is checked with its page, when that is written."""
    cell = {"cell_type": "code", "execution_count": count, "metadata": {"tags": [tag]}}
    return {**cell, "source": source, "outputs": list(outputs)}


def mark(name: str, content: str) -> Html:
    """Make the last line of a page: the mark by which the finished page is known."""
    text = f"Soundcheck {__version__}"  # the style sheet of the site adds the run
    return element("footer", text, class_=f"{MARK} sc-footer", data_page=name, data_content=content)


class Sources:
    """The folder of a book's sources, written in place: a file that says the same is not touched.

    Parameters
    ----------
    folder
        The folder.
    kept
        Remembers of which things pages were made; ``None`` = nobody does.

    Attributes
    ----------
    pages
        Name of each page written so far, such as ``models/prosody`` -> content that its mark names.
    media
        Names of the sounds and pictures that these pages refer to.
    finished
        Name of each page that is HTML already -> its file; these are pages, too.
    beside
        Files that stand beside the pages as they are.
    """

    def __init__(self, folder: Path, kept: Remembered | None = None) -> None:
        self.folder = folder
        self._kept = kept or Remembered()
        self.pages: dict[str, str] = {}
        self.media: set[str] = set()
        self.finished: dict[str, Path] = {}
        self.beside: list[Path] = []
        self._written: set[Path] = set()
        self._waiting: list[Callable[[], object]] = []  # to be written by complete()

    def words(self, name: str, text: str) -> None:
        """Write a page of our own words, never of text from data."""
        content = self._content(name, text)
        self.file(f"{name}.md", f"{text}\n\n```{{raw}} html\n{mark(name, content)}\n```\n")

    def page(self, name: str, cells: Sequence[dict]) -> None:
        """Write a page of cells.

        Parameters
        ----------
        name
            Name of the page without suffix.
        cells
            From :func:`markdown` and :func:`output`, or of an executed notebook.
        """
        import nbformat  # late: it takes a while, and most runs write few pages

        cells = _said_once(cells)
        numbered = [nbformat.from_dict({**cell, "id": f"cell-{n}"}) for n, cell in enumerate(cells)]
        notebook = nbformat.v4.new_notebook(cells=numbered, metadata=KERNEL)
        content = self._content(name, nbformat.v4.writes_json(notebook))
        last = {**output(mark(name, content)), "id": f"cell-{len(cells)}"}
        notebook.cells.append(nbformat.from_dict(last))
        self.file(f"{name}.ipynb", nbformat.writes(notebook))

    def made(self, name: str, make: Callable[[], Sequence[dict]], *depends: object) -> None:
        """Write a page of cells, unless it is as it was written when it depended on the same.

        Parameters
        ----------
        name
            Name of the page without suffix.
        make
            Makes the cells, see :meth:`page`.
        depends
            All that the cells depend on besides the code; two things are the same if their ``repr`` is.
        """
        path, digest = self.folder / f"{name}.ipynb", files.digest(repr(depends))
        known = self._kept.get(name)
        if known is not None and known["depends"] == digest and _holds(path, known["file"]):
            self.pages[name] = known["content"]
            self.media |= set(known["media"])
            self._written.add(path)
            return
        self.page(name, make())
        media = sorted(_media(path.read_bytes()))
        about = {"depends": digest, "file": files.digest(path), "content": self.pages[name], "media": media}
        self._kept.put(name, about)

    def html(self, name: str, make: Callable[[Html], str]) -> None:
        """Have a page written by :meth:`complete` that is put into the book as it is.

        Parameters
        ----------
        name
            Name of the page without suffix.
        make
            Makes the page with its mark somewhere in it.
        """

        def write() -> None:
            content = self._content(name, make(Html()))
            self.file(f"{name}.html", make(mark(name, content)))

        self.pages[name] = ""  # until it is written
        self.finished[name] = self._later(f"{name}.html", write)

    def data(self, name: str, make: Callable[[], str]) -> None:
        """Have a file written by :meth:`complete` that is put beside the pages of the top folder as it is."""
        self.beside.append(self._later(name, lambda: self.file(name, make())))

    def _later(self, name: str, write: Callable[[], object]) -> Path:
        path = self.folder / name
        self._written.add(path)
        self._waiting.append(write)
        return path

    def complete(self) -> None:
        """Write what Jupyter Book does not read; it may be at work meanwhile."""
        for write in self._waiting:
            write()
        self._waiting.clear()

    def file(self, name: str, text: str) -> None:
        """Write any other file."""
        path = self.folder / name
        data = text.encode("utf-8", "backslashreplace")
        self._written.add(path)
        self.media |= _media(data)
        if not path.is_file() or path.is_symlink() or path.read_bytes() != data:
            files.write_bytes(path, data)

    def prune(self) -> None:
        """Remove all files that are there but were not written, and remember the others."""
        for folder, _, names in os.walk(self.folder):
            for path in (Path(folder, name) for name in names):
                if path not in self._written:
                    path.unlink()
        self._kept.save()

    def _content(self, name: str, text: str) -> str:
        self.pages[name] = files.digest(text)[:20]
        return self.pages[name]


def _said_once(cells: Sequence[dict]) -> Sequence[dict]:
    """Say above the first recording of a page that cannot be heard why nobody hears it."""
    for number, cell in enumerate(cells):
        shown = ("".join(one.get("data", {}).get("text/html", "")) for one in cell.get("outputs", ()))
        if any(UNHEARD in html for html in shown):
            return [*cells[:number], output(element("p", NO_VOICES, class_="sc-notice")), *cells[number:]]
    return cells


def _holds(path: Path, digest: str) -> bool:
    return path.is_file() and not path.is_symlink() and files.digest(path) == digest


def _media(data: bytes) -> set[str]:
    return {found.decode() for found in MEDIA.findall(data)}
