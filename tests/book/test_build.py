"""Real builds: complete, quiet, the same bytes again, and harmless with hostile names in every place."""

import html
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from tests.support.findings import GAP
from tests.support.finished import FAILED, finished, verdict
from tests.support.links import dead_links, raw_text

from soundcheck.augment.sounds import Sounds
from soundcheck.book import build, pages, site
from soundcheck.common import files
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora import audio
from soundcheck.corpora.load import Corpus
from soundcheck.corpora.raw_table import Excluded
from soundcheck.report import players, style, views
from soundcheck.report.verdict_tables import verdict_table
from soundcheck.results.finished_run import read_run
from soundcheck.results.states import decide
from soundcheck.results.table import estimate_frame, write_estimates
from soundcheck.run.output import Output
from soundcheck.suite.entries import CorpusEntry
from soundcheck.suite.thresholds import read_family

pytestmark = pytest.mark.slow

PWN = "document.documentElement.dataset.pwn=1"
HOSTILE = [
    f'<img src=x onerror="{PWN}">',
    f"</table><script>{PWN}</script>",
    "{{ cycler.__init__.__globals__.os.popen('touch pwned').read() }}",
    "![x](../../../../../../../etc/passwd)",
    "```{raw} html\n:file: /etc/passwd\n```",
    f'"><svg onload={PWN}> $\\foo$ `code` [l](javascript:{PWN})',
]
MODEL, BROKEN, CORPUS = HOSTILE[0], HOSTILE[1], HOSTILE[5]
FAMILY = "correctness_regression"
TITLE = "<script>alert(1)</script> R&D {{ 7*7 }} $x$ `b` [a](http://b.org) {doc}`index` "
TITLE += '-- "q" C++ 50 % Größe #'
NAMES = ["模型一", "# *x* [a](b) {doc}`index` | &amp; \\", "a  b", "a b", "\u05e9 \u202erev\u200f"]


class Book:
    """A finished run of one family on two segments, with every name hostile."""

    def __init__(self, folder):
        self.output = Output(folder / "out")
        self.output.prepare()
        self.families, self.corpora = [read_family(FAMILY)], [self._corpus(folder / "data")]
        finished(self.output.folder, self._rows(), **self._record())
        self._add_details()
        write_estimates(estimate_frame([]), self.output.folder)
        self.output.left_out.write_text("stage,model,corpus,item,reason\n")
        run = read_run(self.output.folder)
        self.results, self.record = decide(run.frame), run.record
        for name in (MODEL, BROKEN, *NAMES):
            self._notebook(name)

    def _corpus(self, root):
        root.mkdir()
        for name in ("a.wav", "b.wav"):
            audio.write(root / name, np.linspace(-0.1, 0.1, 1600, dtype=np.float32), 16000)
        segments = pd.DataFrame({"file": ["a.wav", "b.wav"], "audio": ["x", "y"], "arousal": [0.1, 0.9]})
        segments = segments.assign(start=np.nan, end=np.nan, duration=0.1, key=["a.wav||", "b.wav||"])
        segments = segments.assign(speaker=HOSTILE[:2], sex=["female", CORPUS], transcript=HOSTILE[2:4])
        entry = CorpusEntry(name=CORPUS, format="csv", title=HOSTILE[0], description=HOSTILE[3])
        left_out = tuple(Excluded(text, text) for text in HOSTILE)
        return Corpus(CORPUS, entry, root, segments, left_out, tuple(HOSTILE))

    def _rows(self):
        fails = FAILED | {"corpus": CORPUS, "label": HOSTILE[0], "segments": 2, "blocks": 2}
        group = GAP | {"corpus": CORPUS, "group": f"sex: {CORPUS}", "family": FAMILY}
        for model in (MODEL, BROKEN):
            yield from (verdict(model, test, **fails) for test in self.families[0].tests)
            yield verdict(model, **group)
        yield from (verdict(name, **fails) for name in NAMES)

    def _record(self):
        about = ("name", "title", "category", "question", "digest")
        figure = {"corpus": CORPUS, "task": "arousal", "measure": "concordance", "value": 0.1, "low": -0.1}
        figure |= {"high": 0.3, "segments": 2, "blocks": 2, "guessing": 0.0, "reason": HOSTILE[4]}
        none = {"model": BROKEN, "standing": "hollow", "value": None, "low": None, "high": None}
        good = {"family": FAMILY, "status": "ok", "error": ""}
        broken = {"model": BROKEN, "family": FAMILY, "status": "failed", "error": "\n".join(HOSTILE)}
        return {
            "title": TITLE,
            "families": [{name: getattr(self.families[0], name) for name in about}],
            "figures": [figure | {"model": MODEL, "standing": "proven"}, figure | none],
            "accepted": [{"model": MODEL, "why": HOSTILE[1], "until": "2999-01-01"}],
            "notebooks": [*(good | {"model": name} for name in (MODEL, *NAMES)), broken],
        }

    def _add_details(self):
        """Add what people and models say of themselves, and addresses of pages."""
        failures = [dict.fromkeys(("corpus", "item", "change", "reason"), text) for text in HOSTILE]
        details = {"target": HOSTILE[3], "description": HOSTILE[4], "license": HOSTILE[5], "notes": HOSTILE}
        content = json.loads((self.output.folder / "run.json").read_text(encoding="utf-8"))
        for model in content["models"]:
            model |= details | {"slug": files.slug(model["name"]), "failed": 1, "failures": failures}
        left_out = [{"item": text, "reason": text, "stage": "corpus"} for text in HOSTILE]
        for corpus in content["corpora"]:
            corpus |= {"slug": files.slug(CORPUS), "title": HOSTILE[0], "description": HOSTILE[3]}
            corpus |= {"synthetic": True, "segments": 2, "left_out": left_out, "notices": HOSTILE}
        (self.output.folder / "run.json").write_text(json.dumps(content), encoding="utf-8")

    def _notebook(self, name):
        media = MediaStore(self.output.media, "../../media/")
        rows, silence = self.results[self.results["model"] == MODEL], np.zeros(1600, dtype=np.float32)
        figure = style.show(media, views.forest(rows, name="test"), HOSTILE[0])
        sound = players.player(media, silence, 16000, HOSTILE[0], caption=HOSTILE[5])
        contents = verdict_table(rows.assign(state="")), figure, sound
        outputs = [{"output_type": "display_data", "data": {"text/html": str(each)}} for each in contents]
        outputs.append({"output_type": "stream", "name": "stdout", "text": "\n".join(HOSTILE)})
        cell = {"cell_type": "code", "source": "show()", "outputs": outputs}
        path = self.output.notebooks / files.slug(name) / f"{FAMILY}.ipynb"
        files.write_text(path, json.dumps({"cells": [cell]}))

    def build(self, anew=True):
        """Build the book; gives what is wrong with it."""
        if anew:
            (self.output.folder / "book.json").unlink(missing_ok=True)
        suite = SimpleNamespace(root=self.output.folder, tasks=BUILTIN, history=None)
        about = {"output": self.output, "families": self.families, "corpora": self.corpora}
        material = SimpleNamespace(**about, suite=suite, sounds=Sounds())
        return [str(problem) for problem in build.build(material, self.record, self.results, jobs=1)]

    def text(self, name):
        return (self.output.html / name).read_text(encoding="utf-8")

    def pages(self):
        return [path.relative_to(self.output.html).as_posix() for path in self.output.html.rglob("*.html")]

    def contents(self):
        return {path: path.read_bytes() for path in self.output.html.rglob("*") if path.is_file()}

    def written(self):
        """Give when Sphinx wrote each page."""
        folder = self.output.folder / "book-build" / "html"
        pages = (path for path in folder.rglob("*.html") if "_static" not in path.parts)
        return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in pages}


@pytest.fixture(scope="module")
def book(tmp_path_factory, forked_sphinx):
    made = Book(tmp_path_factory.mktemp("book"))
    made.problems = made.build()
    return made


RESULT = f"results/{files.slug(MODEL)}/{FAMILY}.html"


def test_the_build_is_complete_and_quiet_and_every_link_leads_somewhere(book):
    assert book.problems == [] == dead_links(book.output.html) == raw_text(book.output.html)
    names = ("index", "all_results", "failures", "provenance", "reading", "statistics", "bibliography")
    assert {f"{name}.html" for name in names} <= {*book.pages()}
    assert not (book.output.html / "_sources").exists() and "Last updated" not in book.text("index.html")
    page = book.text(f"methods/{FAMILY}.html")  # formulas are shown by what is on the disk
    assert "cdn.jsdelivr" not in page and "mathjax" in page
    page = book.text(RESULT)
    assert page.index("<h1") < page.index('class="sc-answer"') < page.index('id="row-')
    assert files.slug(BROKEN) in book.text("failures.html")
    assert "This notebook failed" in book.text(f"results/{files.slug(BROKEN)}/{FAMILY}.html")


def live(text):
    """Give the elements that a name became."""
    page = BeautifulSoup(text, "html.parser")
    links = page.find_all(href=re.compile(r"b\.org|^javascript:"))
    return links + page.find_all("script", string=re.compile(r"alert\(|dataset\.pwn"))


def test_nothing_from_data_is_live_and_data_is_shown_as_it_is(book):
    assert len(book.pages()) > 10
    assert not list(book.output.folder.rglob("pwned")) and not list(book.output.html.rglob("passwd*"))
    for name in book.pages():
        text = book.text(name)
        for part in ("<img src=x", "<svg onload", f"<script>{PWN}", "root:x:0", "_sources/"):
            assert part not in text, (name, part)
        assert live(text) == [], name
    page = book.text(f"corpora/{files.slug(CORPUS)}.html")
    assert "cycler.__init__.__globals__" in page and "![x](../../../../../../../etc/passwd)" in page


def test_headings_are_the_names_and_no_two_pages_have_the_same(book):
    heading = re.compile(r"<h1>([^<]*)<a class=\"headerlink\"")
    headings = [html.unescape(text) for name in book.pages() for text in heading.findall(book.text(name))]
    names = ["模型一", NAMES[1], "a \xa0b", "a b", "\u05e9 " + r"\u202erev\u200f"]
    assert {TITLE, f"Corpus {CORPUS}"} | {f"Model {name}" for name in names} <= set(headings)
    assert len(headings) == len({*headings}) > len(NAMES)
    page = book.text("index.html")
    assert html.unescape(re.search("<title>(.*?)</title>", page)[1]) == f"{TITLE} \u2014 {TITLE}"
    index = book.text("searchindex.js")
    titles = json.loads(index[index.index("{") : index.rindex("}") + 1])
    text = json.dumps([titles["alltitles"], titles["titles"]])
    assert "<" not in text and "onerror" in html.unescape(text)  # its letters stay


def test_text_from_data_is_never_markdown(book):
    source = book.output.folder / "book-src"
    notebooks = [json.loads(path.read_text(encoding="utf-8")) for path in source.rglob("*.ipynb")]
    cells = [cell for notebook in notebooks for cell in notebook["cells"]]
    words = [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    assert len(words) > 20 and not any(text in cell for cell in words for text in HOSTILE)
    configuration = yaml.safe_load((source / "_config.yml").read_text())
    assert not {"substitution", "linkify"} & set(configuration["parse"]["myst_enable_extensions"])
    assert configuration["execute"]["execute_notebooks"] == "off"


def test_unchanged_sources_are_not_built_again_and_the_same_run_gives_the_same_bytes(book):
    before = book.contents()
    assert book.build() == [] and book.contents() == before
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "run_sphinx", lambda *_: pytest.fail("built again"))
        assert book.build(anew=False) == []
    (book.output.html / "index.html").write_text("edited")
    assert book.build(anew=False) == [] and book.contents() == before


def test_a_page_that_says_something_else_is_written_alone(book):
    before, results = book.written(), book.results
    book.results = results.assign(value=results["value"].mask(results["model"].eq(MODEL), 0.31))
    assert book.build() == []
    changed = {name for name, time in book.written().items() if before[name] != time}
    assert RESULT in changed and not any(re.match("methods/|corpora/|statistics", name) for name in changed)
    book.results = results


def test_a_page_that_is_lost_leaves_the_old_site_in_place(book, monkeypatch):
    before, real = book.text("index.html"), build.lay_out

    def lossy(built, new, **options):
        real(built, new, **options)
        (new / "provenance.html").unlink()

    monkeypatch.setattr(build, "lay_out", lossy)
    monkeypatch.setattr(build, "run_sphinx", lambda *_: None)  # it has built these pages
    assert any("provenance.html: the page is missing" in text for text in book.build())
    assert book.text("index.html") == before


def test_a_book_that_cannot_be_built_is_a_problem_with_a_place_to_look(book, monkeypatch):
    real, broken = pages.written_page, {"reading": "\n[a](nowhere.md)\n"}
    monkeypatch.setattr(pages, "written_page", lambda name: real(name) + broken.get(name, ""))
    assert any("Sphinx ended with exit code" in text and "log.txt" in text for text in book.build())


@pytest.mark.parametrize("fault", ["", "interrupted", "other code", "other title"])
def test_doctrees_of_another_build_are_not_used(tmp_path, monkeypatch, fault):
    source, work = tmp_path / "src", tmp_path / "work"
    source.mkdir()
    (source / "a.md").write_text("# A\n")
    done = SimpleNamespace(wait=lambda *_: 0, kill=lambda: None)
    process = SimpleNamespace(Popen=lambda *_, **__: done, DEVNULL=None)
    monkeypatch.setattr(site, "subprocess", process)
    assert site.run_sphinx(source, work, tmp_path / "log.txt", 1, "code") is None
    (work / "doctrees").touch()
    if fault == "interrupted":
        (work / "key").unlink()
    elif fault == "other title":
        (source / "a.md").write_text("# B\n")
    code = "other" if fault == "other code" else "code"
    assert site.run_sphinx(source, work, tmp_path / "log.txt", 1, code) is None
    assert (work / "doctrees").exists() == (not fault)


def test_other_packages_are_other_code(monkeypatch):
    before = build.made_with()
    monkeypatch.setattr(build, "installed", lambda: ["another-1.0.dist-info"])
    assert build.made_with() != before
