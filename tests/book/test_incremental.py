"""A book that grew page by page equals one that was built at once, and nothing is read that is not ours."""

import json
import os
import pickle
import re
import shutil
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from soundcheck.book import assembly, jupyter_book
from soundcheck.book.pages import Sources, markdown
from soundcheck.common import progress, resources

pytestmark = pytest.mark.slow

PAGES = {
    "index": "# First\n\nSee [](one.md) and [there](two.ipynb).",
    "one": "# One\n\nOf what {cite:t}`efron1979` says, $x^2$.\n\n(here)=\n## Part\n\nWords.",
    "two": "# Two\n\nAs {ref}`here` tells.",
    "list": "# Bibliography\n\n```{bibliography}\n```",
}


def build(*arguments):
    with jupyter_book.JupyterBook(*arguments) as builder:
        return builder.build()


class Book:
    """A few pages that take titles, labels and citations from each other."""

    def __init__(self, folder: Path, recorded) -> None:
        self.folder, self.pages, self.record = folder, dict(PAGES), recorded()
        self.is_of: dict[str, str] | None = None  # pages of which the book in "out" is

    def build(self, name: str = "out") -> dict[str, bytes]:
        out = self.folder / name
        sources = Sources(out / "src")
        for page, text in self.pages.items():
            if page == "two":
                sources.page(page, [markdown(text)])
            else:
                sources.words(page, text)
        chapters = [{"file": page} for page in self.pages if page != "index"]
        sources.file("_toc.yml", yaml.safe_dump({"format": "jb-book", "root": "index", "chapters": chapters}))
        assembly.configure(sources, resources.root(), self.record)
        sources.prune()
        assert build(sources.folder, out / "work", out / "log.txt") is None, (out / "log.txt").read_text()
        self.is_of = dict(self.pages) if name == "out" else self.is_of
        return self.files(name)

    def files(self, name: str) -> dict[str, bytes]:
        html = self.folder / name / "work" / "html"
        files = {path.relative_to(html).as_posix(): path for path in html.rglob("*") if path.is_file()}
        return {path: where.read_bytes() for path, where in files.items() if path != ".buildinfo"}

    def times(self) -> dict[str, int]:
        html = self.folder / "out" / "work" / "html"
        return {path.stem: path.stat().st_mtime_ns for path in html.glob("*.html")}

    def read(self) -> set[str]:
        """Pages that the last build read."""
        return {path.stem for path in self._trees() if self._seen.get(path.name) != path.stat().st_mtime_ns}

    def look(self) -> None:
        self._seen = {path.name: path.stat().st_mtime_ns for path in self._trees()}

    def _trees(self):
        return (self.folder / "out" / "work" / "doctrees").glob("*.doctree")


@pytest.fixture
def book(built, tmp_path):
    """A book that was built, in a folder that the test may change; the folder must keep its place."""
    if built.is_of != PAGES:
        built.pages = dict(PAGES)
        built.build()
    built.look()
    return built


@pytest.fixture(scope="module")
def built(tmp_path_factory, recorded, forked_sphinx):
    (folder := tmp_path_factory.mktemp("books") / "book").mkdir()
    return Book(folder, recorded)


def full(book) -> dict[str, bytes]:
    """The same pages, built at once in another folder."""
    shutil.rmtree(book.folder / "full", ignore_errors=True)
    return book.build("full")


def differences(found, expected) -> set[str]:
    return {name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)}


def test_nothing_is_read_or_written_again_for_nothing(book):
    before = book.times()
    book.build()
    assert book.read() == set() and book.times() == before


def test_a_page_that_says_something_else_is_read_and_written_alone(book):
    before = book.times()
    book.pages["two"] += "\n\nMore words of interest."
    grown = book.build()
    assert book.read() == {"two"}
    written = {page for page, time in book.times().items() if time != before[page]}
    assert written == {"two", "index", "genindex", "search"}  # Sphinx writes its first page always
    assert differences(grown, full(book)) == set()


@pytest.mark.parametrize(
    ("page", "old", "new"),
    [
        ("one", "# One", "# Another title"),
        ("one", "## Part", "## Another part"),
        ("two", "As", "As {cite:t}`lin1989` and"),
        ("one", "{cite:t}`efron1979`", "nobody"),
    ],
    ids=["title", "label", "citation", "no citation"],
)
def test_what_pages_take_from_others_is_written_everywhere(book, page, old, new):
    assert old in book.pages[page]
    book.pages[page] = book.pages[page].replace(old, new)
    grown = book.build()
    assert book.read() == {page}
    assert differences(grown, full(book)) == set()


def test_pages_come_and_go(book):
    del book.pages["list"]
    book.pages["one"] = "# One\n\n(here)=\n## Part"
    book.pages["three"] = "# Three"
    grown = book.build()
    assert {"list.html"}.isdisjoint(grown) and "three.html" in grown
    assert differences(grown, full(book)) == set()


def _flip(work: Path) -> None:
    path = work / "doctrees" / "environment.pickle"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)


def _cut(work: Path) -> None:
    path = work / "doctrees" / "one.doctree"
    path.write_bytes(path.read_bytes()[:100])


def _page(work: Path) -> None:
    (work / "html" / "one.html").write_text("edited")


def _lose(work: Path) -> None:
    (work / "html" / "_static" / "soundcheck.css").unlink()


def _note(work: Path) -> None:
    (work / "environment.json").write_text('{"key": 1')


def _interrupt(work: Path) -> None:
    """What a build that was killed leaves: pages half written, and no word of its end."""
    (work / "environment.json").unlink()
    (work / "html" / "two.html").write_text("<html>")


def _copy(work: Path) -> None:
    """What unpacking or copying makes of a folder: the same bytes and times in other files."""
    shutil.copytree(work, work.with_name("copy"))
    shutil.rmtree(work)
    work.with_name("copy").rename(work)


@pytest.mark.parametrize("fault", [_flip, _cut, _page, _lose, _note, _interrupt, _copy])
def test_what_is_not_as_the_last_build_left_it_is_removed(book, fault, tmp_path, monkeypatch):
    begun_with = []

    def build_by_copying(made, _):
        begun_with.append(made.work.exists())
        shutil.copytree(book.folder / "out" / "work", made.work, dirs_exist_ok=True)

    monkeypatch.setattr(jupyter_book.JupyterBook, "_run", build_by_copying)
    work = tmp_path / "work"
    for damage in (lambda _: None, lambda _: None, fault):
        damage(work)
        assert build(book.folder / "out" / "src", work, tmp_path / "log") is None
    assert begun_with == [False, True, False]


def test_what_is_damaged_is_built_anew(book):
    expected = book.files("out")
    _interrupt(book.folder / "out" / "work")
    found = book.build()
    assert book.read() == set(PAGES)
    assert differences(found, expected) == set()


def test_no_pickle_of_anybody_else_is_read(book, tmp_path):
    """Who prepares an environment can write a note that fits but for what the file system alone decides."""

    class Harm:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "harmed"),)

    work = book.folder / "out" / "work"
    pickled = work / "doctrees" / "environment.pickle"
    pickled.write_bytes(pickle.dumps(Harm()))
    note = json.loads((work / "environment.json").read_text())
    marks = jupyter_book._marks(work)
    theirs = note["files"]["doctrees/environment.pickle"]
    seen = marks["doctrees/environment.pickle"]
    theirs[3:5] = seen[3:5]  # its size and the time of its content can be chosen
    (work / "environment.json").write_text(json.dumps(note))
    book.build()
    assert book.read() == set(PAGES)
    assert not (tmp_path / "harmed").exists()


def test_another_version_of_any_package_builds_anew(book, monkeypatch):
    monkeypatch.setattr(jupyter_book, "installed", lambda: ["sphinx-99.dist-info"])
    book.build()
    assert book.read() == set(PAGES)
    book.is_of = None


def test_processes_do_not_change_a_book(book):
    expected = book.files("out")
    source = book.folder / "out" / "src"
    shutil.copytree(source, book.folder / "two" / "src")
    work, log = book.folder / "two" / "work", book.folder / "two" / "log.txt"
    assert build(book.folder / "two" / "src", work, log, 2) is None
    assert differences(book.files("two"), expected) == set()
    assert "WARNING" not in log.read_text()


def test_logs_say_how_many_pages_are_written(book, monkeypatch, capsys):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(jupyter_book, "LOOK_SECONDS", 0.01)
    book.build("told")
    told = [
        re.fullmatch(r"book: (\d+) of 4 pages(, .*)?", line) for line in capsys.readouterr().err.splitlines()
    ]
    counts = [int(line[1]) for line in told]
    assert counts[0] == 0 and counts == sorted(counts) and counts[-1] <= 4


def test_a_build_that_takes_too_long_is_ended(book, monkeypatch):
    monkeypatch.setattr(jupyter_book, "LIMIT", -1)
    source, out = book.folder / "out" / "src", book.folder / "late"
    problem = build(source, out / "work", book.folder / "late.txt")
    assert "did not end within" in str(problem)


def test_a_builder_that_is_not_told_to_build_ends_and_leaves_all_as_it_is(tmp_path):
    with jupyter_book.JupyterBook(tmp_path / "src", tmp_path / "work", tmp_path / "log.txt") as builder:
        process = builder._process
        process.stdin.close()  # as if whoever started it were gone
        assert process.wait(timeout=60) == 0
    with jupyter_book.JupyterBook(tmp_path / "src", tmp_path / "work", tmp_path / "log.txt") as builder:
        pass
    assert builder._process.returncode is not None
    assert [path.name for path in tmp_path.iterdir()] == ["log.txt"]


def test_a_builder_that_died_is_told(tmp_path):
    (tmp_path / "src").mkdir()
    with jupyter_book.JupyterBook(tmp_path / "src", tmp_path / "work", tmp_path / "log.txt") as builder:
        builder._process.kill()
        builder._process.wait()
        assert "exit code -9" in str(builder.build())


@pytest.mark.parametrize("collapsed", [False, True])
@pytest.mark.parametrize("ancestors", [(), ("a",), ("c", "a")])
def test_menus_of_titles_are_those_that_sphinx_makes(monkeypatch, collapsed, ancestors):
    """Of pages with headings, and with pages below them that have some, too."""
    from docutils import nodes
    from sphinx import addnodes
    from sphinx.environment.adapters import toctree
    from sphinx.util.tags import Tags

    from soundcheck.book import incremental

    def item(page: str, anchor: str, *below: nodes.Node) -> nodes.list_item:
        link = nodes.reference("", page + anchor, internal=True, refuri=page, anchorname=anchor)
        paragraph = addnodes.compact_paragraph("", "", link)
        return nodes.list_item("", paragraph, *([nodes.bullet_list("", *below)] if below else []))

    def menu(*pages: str) -> addnodes.toctree:
        return addnodes.toctree("", entries=[(None, page) for page in pages], hidden=True, maxdepth=-1)

    tocs = {
        "a": [item("a", "", item("a", "#1", item("a", "#2")), menu("c", "b"))],
        "b": [item("b", ""), item("b", "#1", item("b", "#2"))],
        "c": [item("c", "", item("c", "#1"), item("c", "#2"), menu("d"))],
        "d": [item("d", "", item("d", "#1"))],
    }
    tocs = {page: nodes.bullet_list("", *items) for page, items in tocs.items()}
    env = SimpleNamespace(tocs=tocs, metadata={page: {} for page in tocs})

    def made() -> list[str]:
        given = (env, True, True, collapsed, True, Tags(), dict.fromkeys(ancestors).keys(), None, None)
        return [one.pformat() for one in toctree._entries_from_toctree(*given, menu("a", "b", "d"), [])]

    expected = made()
    monkeypatch.setattr(incremental, "_menu", {})
    original = toctree._toctree_standard_entry
    monkeypatch.setattr(toctree, "_toctree_standard_entry", partial(incremental._titled, original))
    assert made() == made() == expected
    shown = "".join(expected)
    assert "a#1" not in shown and (collapsed or "c#1" not in shown and "c\n" in shown)
    assert {"a", "b", "d"} <= incremental._menu.keys()
