"""Pages as sources of Sphinx: trusted words as Markdown, everything that comes from data as escaped HTML.

Sphinx parses Markdown, so text from data must never get there: a label could include files or run code.
Outputs are shown as they are, and :mod:`soundcheck.report.html` escapes what goes into them. The footer of a
page does not name the run: a page that says the same after the next run stays as it is.

In the written pages of reports and of the handbook a line ``<!-- recorded: NAME -->`` becomes the table of a
recorded study, ``<!-- measures -->`` the list of ready-made measures: what the functions of
:mod:`soundcheck.metrics` say about themselves.
"""

import functools
import importlib
import inspect
import json
import multiprocessing
import os
import pkgutil
import posixpath
import re
import textwrap
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pandas as pd
import yaml

from soundcheck import __version__, metrics
from soundcheck.book.site import CONFIGURATION
from soundcheck.common import files, resources, store
from soundcheck.common.media import UNHEARD
from soundcheck.common.messages import one_line
from soundcheck.common.progress import Progress
from soundcheck.report.html import Html, element
from soundcheck.run.notebook_server import FORKS

REPORT = ("reading", "columns", "statistics", "bibliography")  # pages of a report; others: the handbook
STUDIES = {"confidence_intervals": "Confidence intervals", "fairness_thresholds": "Fairness thresholds"}
METHODS = "<!-- methods -->"  # the line that is replaced by the list of families
MEASURES = "<!-- measures -->"  # and by that of measures
FIRST_ROWS = 20  # rows of a recorded table before the others are folded
_STATISTIC = re.compile(r"\b(Statistic|Weighted|Labelled|SpeakerValues|Counts)\b")  # types that are returned
_ROLE = re.compile(r":(math|func|class|meth|mod|data):`~?([^`]*)`")
_FORMULA = re.compile(r"^\.\. math:: (.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
_EXAMPLE = re.compile(r"^>{3} .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
_RECORDED = re.compile(r"^<!-- recorded: (\w+) -->$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\(([\w./]+)\.(?:md|ipynb)(#[\w-]+)?\)")
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
NO_VOICES = (
    "Sounds and pictures of single recordings are left out of this book: --voices none, or voices: none in "
    "its suite."
)
_MEDIA = re.compile(rb"media/([0-9a-f]{20}\.[a-z0-9]+)")


def markdown(text: str) -> dict:
    """Make a cell of our own words; never of text from data."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def display(html: Html, kind: str = "text/html") -> dict:
    """Make an output of a cell."""
    data = {kind: str(html)} | ({"text/plain": ""} if kind == "text/html" else {})
    return {"output_type": "display_data", "data": data, "metadata": {}}


def output(html: Html) -> dict:
    """Make a cell that shows HTML and no code."""
    # The source is never shown; MyST-NB drops a cell without source, outputs and all.
    return code("show", "remove-input", [display(html)])


def sections(parts: Mapping[str, Html]) -> list[dict]:
    """Make a heading and an output of each part that is not empty."""
    return [cell for title, part in parts.items() for cell in (markdown(f"## {title}"), output(part)) if part]


def code(source: str, tag: str, outputs: Sequence[dict], count: int | None = 1) -> dict:
    """Make a cell of code."""
    cell = {"cell_type": "code", "execution_count": count, "metadata": {"tags": [tag]}}
    return {**cell, "source": source, "outputs": list(outputs)}


def chapter(name: str, title: str = "", below: Sequence[dict] = ()) -> dict:
    """Make an entry of the menu: a page, called by its own title if none is given, and those below it."""
    titled = {"title": one_line(title)} if title else {}
    return {"file": name} | titled | ({"sections": list(below)} if below else {})


def raw(html: Html) -> str:
    """Write HTML as a block of a Markdown page, behind a fence that is longer than any in it."""
    longest = max(map(len, re.findall("`+", str(html))), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{{raw}} html\n{html}\n{fence}" if html else ""


def footer() -> Html:
    """Make the last line of a page; the style sheet of the site adds the run."""
    return element("footer", f"Soundcheck {__version__}", class_="sc-footer")


def notebook(cells: Sequence[dict]) -> str:
    """Write the cells of a page, with its footer; below the title why nobody hears its recordings."""
    unheard = UNHEARD in json.dumps([cell.get("outputs", []) for cell in cells])
    notice = [output(element("p", NO_VOICES, class_="sc-notice"))] if unheard else []
    every = [*cells[:1], *notice, *cells[1:], output(footer())]
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(every)]
    content = {"cells": numbered, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def media_in(data: bytes) -> set[str]:
    """Name the sounds and pictures that a page or a notebook refers to."""
    return {match.decode() for match in _MEDIA.findall(data)}


def digest(*parts: object) -> str:
    """Digest whatever a page depends on: files and tables by their content, all else by its ``repr``."""

    def content(part: object) -> object:
        if isinstance(part, pd.DataFrame):
            return part.to_json(orient="split", double_precision=15)
        if isinstance(part, Path):
            return files.digest(part) if part.is_file() else ""
        return part

    return files.digest(repr([*map(content, parts)]))


class _Task(NamedTuple):
    """A file that is to be written."""

    name: str
    make: Callable[[], str]
    depends: str  # digest; empty: it is always made


class Sources:
    """The folder of a book's sources, written in place: a file that says the same is not touched.

    Pages are registered first, and :meth:`write` makes those that depend on something else than before, see
    :func:`digest`; what depends on nothing is always made. Those that register say whether it has to be made.
    """

    def __init__(
        self,
        folder: Path,
        media: Sequence[Path] = (),
        made_with: str = "",
        absent: Collection[str] = (),
        handbook: str = "",
    ) -> None:
        """Open a folder.

        ``media`` are folders of sounds and pictures, ``made_with`` is a digest of what all pages depend on.
        Links to ``absent`` pages lead to the ``handbook``, if it has an address.
        """
        self.folder = folder
        self.handbook = handbook
        self.pages: set[str] = set()  # names, such as models/prosody
        self.media: set[Path] = set()  # sounds and pictures that files refer to
        self.beside: list[str] = []  # files that Sphinx does not read: finished pages and data
        self._linked = functools.partial(linked, absent=absent, handbook=handbook)
        self._media = media
        self._tasks: list[_Task] = []
        self._last: list[tuple[str, Callable[[], str]]] = []
        self._written: set[Path] = set()
        self._digests = folder.with_name("book-pages.json"), digest(made_with, sorted(absent), handbook)
        self._known = store.read(*self._digests) or {}
        self._now: dict[str, list[str]] = {}

    def page(self, name: str, make: Callable[[], Sequence[dict]], *depends: object) -> bool:
        """Register a page of cells."""
        self.pages.add(name)

        def written() -> str:
            cells = make()
            for cell in cells:
                if cell["cell_type"] == "markdown":
                    cell["source"] = self._linked(cell["source"], name)
            return notebook(cells)

        return self._add(f"{name}.ipynb", written, depends)

    def words(self, name: str, make: Callable[[], str], *depends: object) -> bool:
        """Register a page of our own words, which are Markdown and never text from data."""
        self.pages.add(name)

        def written() -> str:
            return f"{self._linked(make(), name)}\n\n{raw(footer())}\n"

        return self._add(f"{name}.md", written, depends)

    def data(self, name: str, make: Callable[[], str], *, last: bool = False) -> None:
        """Register a file that is put beside the pages as it is; the ``last`` are made of finished pages."""
        self.beside.append(name)
        if last:
            self._last.append((name, make))
        else:
            self._add(name, make, ())

    def configure(self, title: str, menu: Mapping[str, Sequence[dict]]) -> None:
        """Write configuration, bibliography and menu: captions with their chapters, see :func:`chapter`."""
        share = resources.root()
        configuration = yaml.safe_load((share / "_config.yml").read_text(encoding="utf-8"))
        configuration |= {"title": one_line(title, "Soundcheck"), "bibtex_bibfiles": ["references.bib"]}
        parts = [{"caption": caption, "chapters": chapters} for caption, chapters in menu.items() if chapters]
        contents = {"format": "jb-book", "root": "index", "parts": parts}
        self.file("_config.yml", yaml.safe_dump(configuration, sort_keys=False))
        self.file("_toc.yml", yaml.safe_dump(contents, sort_keys=False))
        self.file("references.bib", (share / "book" / "references.bib").read_text(encoding="utf-8"))

    def file(self, name: str, text: str) -> None:
        """Write a file at once."""
        path = self.folder / name
        data = text.encode("utf-8", "backslashreplace")
        if not path.is_file() or path.is_symlink() or path.read_bytes() != data:
            files.write_bytes(path, data)
        self._written.add(path)
        self.media |= self._places(data) - {None}

    def write(self, jobs: int = 1) -> None:
        """Make what was registered, by several processes, and remove all other files."""
        tasks = [task for task in self._tasks if self.folder / task.name not in self._written]
        with Progress("book", "pages", len(tasks)) as progress:
            for task, text in zip(tasks, _made(tasks, jobs), strict=True):
                self.file(task.name, text)
                if task.depends:
                    self._now[task.name] = [task.depends, files.digest(self.folder / task.name)]
                progress.update()
        for name, make in self._last:
            self.file(name, make())
        for path in self.folder.rglob("*"):
            if path not in self._written and path.name != CONFIGURATION and not path.is_dir():
                path.unlink()
        path, version = self._digests
        store.write(path, self._now, version)

    def _add(self, name: str, make: Callable[[], str], depends: Sequence[object]) -> bool:
        key, path, known = digest(*depends) if depends else "", self.folder / name, self._known.get(name)
        self._tasks.append(_Task(name, make, key))
        data = path.read_bytes() if key and path.is_file() and not path.is_symlink() else b""
        places = self._places(data)
        if not data or known != [key, files.digest(data)] or None in places:
            return True
        self._written.add(path)
        self.media |= places
        self._now[name] = known
        return False

    def _places(self, data: bytes) -> set[Path | None]:
        """Find the sounds and pictures that a file refers to; ``None`` is one that is missing."""
        places = ([folder / name for folder in self._media] for name in media_in(data))
        return {next(filter(Path.is_file, folders), None) for folders in places}


def _made(tasks: Sequence[_Task], jobs: int) -> Iterator[str]:
    if not FORKS or jobs == 1 or len(tasks) < 2:
        yield from (task.make() for task in tasks)
        return
    context = multiprocessing.get_context("fork")  # whose children know the tasks
    with ProcessPoolExecutor(jobs, context, _begin, (tasks,)) as pool:
        yield from pool.map(_make, range(len(tasks)))


_tasks: list[_Task] = []


def _begin(tasks: Sequence[_Task]) -> None:
    """Know the tasks, and end with the run: else a killed one would leave its folder locked."""
    _tasks.extend(tasks)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)


def _make(number: int) -> str:
    return _tasks[number].make()


def written_page(name: str) -> str:
    """Read a written page with its recorded tables and lists."""
    text = (resources.root() / "book" / f"{name}.md").read_text(encoding="utf-8")
    return filled(text).replace(MEASURES, _list_of_measures()) if MEASURES in text else filled(text)


def filled(text: str) -> str:
    """Put recorded tables into the words of a page."""
    return _RECORDED.sub(lambda line: f"```{{raw}} html\n{_recorded_table(line[1])}\n```", text)


def missing(studies: Collection[str] = ()) -> set[str]:
    """Name the pages that a report does not have: the manual, and studies that the suite leaves out."""
    manual = {path.stem for path in (resources.root() / "book").glob("*.md")} - {*REPORT, "methods"}
    return manual | (set(STUDIES) - set(studies))


def linked(text: str, name: str, absent: Collection[str], handbook: str = "") -> str:
    """Let links from a page to pages that its book does not have lead to the handbook.

    Without its address, and where the handbook has no such page, they become plain words.
    """

    def link(match: re.Match[str]) -> str:
        words, path, anchor = match.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        if target not in absent:
            return match[0]
        if handbook and target not in STUDIES:
            return f"[{words}]({handbook}/book/{target}.html{anchor or ''})"
        return words

    return _LINK.sub(link, text)


def _recorded_table(name: str) -> Html:
    """Show each column of a table under its name; a value with its interval, groups a line each."""
    from soundcheck.book.corpus_page import group_table
    from soundcheck.report import formats, views  # late: they load what draws
    from soundcheck.report.method_views import recorded

    frame, made = recorded(name)
    caption = f"Recorded with {made}."
    if "measured" in frame:
        return group_table(frame, caption)
    joined = ("low", "high") if "value" in frame else ()
    names = [column for column in frame if column not in joined]
    columns: dict[str, views.Column] = {column.replace("_", " "): column for column in names}
    columns |= {"value": formats.values()} if {"value", "low"} <= set(frame) else {}
    return views.table(frame, columns, caption=caption, first=FIRST_ROWS)


def measures() -> dict[ModuleType, dict[str, Callable]]:
    """List by module the functions, and methods behind their class, that give or make up statistics."""
    names = (f"{metrics.__name__}.{info.name}" for info in pkgutil.iter_modules(metrics.__path__))
    statistics = {module: dict(_statistics(module)) for module in map(importlib.import_module, names)}
    return {module: members for module, members in statistics.items() if members}


def _list_of_measures() -> str:
    parts = []
    for module, functions in measures().items():
        parts += [f"### {module.__name__}", _documented(module).partition("\n")[0]]
        for name, function in functions.items():
            given = ", ".join(name for name in inspect.signature(function).parameters if name != "self")
            parts.append(f"- `{name}({given})`: {_documented(function)}")
    return "\n\n".join(parts)


def _statistics(module: ModuleType) -> Iterator[tuple[str, Callable]]:
    for name, member in vars(module).items():
        members = vars(member).items() if inspect.isclass(member) else ()
        for full, each in ((name, member), *((f"{name}.{key}", method) for key, method in members)):
            public = getattr(member, "__module__", "") == module.__name__ and not re.search(r"\b_", full)
            if public and inspect.isfunction(each):
                if _STATISTIC.search(str(each.__annotations__.get("return"))):
                    yield full, each


def _documented(what: object) -> str:
    """Give a docstring as Markdown within an item of a list."""
    text = _FORMULA.sub(lambda match: f"$$\n{' '.join(match[1].split())}\n$$", inspect.getdoc(what) or "")
    text = _EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}\n```", text)
    text = re.sub(r"(?<!`)``(?!`)", "`", textwrap.indent(text, "  ").strip())  # code within a line
    return _ROLE.sub(lambda role: f"${role[2]}$" if role[1] == "math" else f"`{role[2]}`", text)
