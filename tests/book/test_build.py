"""Real builds: complete, quiet, the same bytes again, and harmless with hostile names in every place."""

import hashlib
import html
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.support.browser import LIMITS, SETTLED
from tests.support.links import dead_links, raw_text

from soundcheck.augment.sounds import Sounds
from soundcheck.book import build, written
from soundcheck.common import files
from soundcheck.common.media import MediaStore
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora import audio
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.segments import Excluded
from soundcheck.report import figures, players, views
from soundcheck.report.verdict_tables import verdict_table
from soundcheck.results.estimates import estimate_frame, write_estimates
from soundcheck.results.facts import counts
from soundcheck.results.states import decide
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import Verdict
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
MODEL, BROKEN = HOSTILE[0], HOSTILE[1]
FOUND = "/finished|did not match/.test(document.querySelector('.search-summary')?.textContent)"
LOADED = "[...document.images].every(one => one.complete || one.loading === 'lazy')"


class Book:
    """A finished run of one family on two segments, with every name hostile."""

    def __init__(self, folder, recorded):
        self.output = Output(folder / "out")
        self.output.prepare()
        self.families = [read_family("correctness_regression")]
        self.corpora = [self._corpus(folder / "data")]
        self.results = decide(to_frame(self._rows()))
        digest = write_results(self.results, self.output.folder)
        write_estimates(estimate_frame([]), self.output.folder)
        self.output.left_out.write_text("stage,model,corpus,item,reason\n")
        self.record = recorded(**self._record(digest))
        self._notebooks()

    def _corpus(self, root):
        root.mkdir()
        rng = np.random.default_rng(0)
        for name in ("a.wav", "b.wav"):
            audio.write(root / name, 0.1 * rng.standard_normal(1600).astype(np.float32), 16000)
        segments = pd.DataFrame({"file": ["a.wav", "b.wav"], "audio": ["x", "y"], "arousal": [0.1, 0.9]})
        segments = segments.assign(start=np.nan, end=np.nan, duration=0.1, key=["a.wav||", "b.wav||"])
        segments = segments.assign(speaker=HOSTILE[:2], sex=["female", HOSTILE[5]], transcript=HOSTILE[2:4])
        entry = CorpusEntry(name=HOSTILE[5], format="csv", title=HOSTILE[0], description=HOSTILE[3])
        left_out = tuple(Excluded(text, text) for text in HOSTILE)
        about = {"left_out": left_out, "notices": tuple(HOSTILE), "synthetic": True}
        return Corpus(HOSTILE[5], entry, root, segments, **about, description=HOSTILE[4])

    def _rows(self):
        place = {"corpus": HOSTILE[5], "family": "correctness_regression", "category": "correctness"}
        place |= {"task": "arousal", "value": 0.3, "segments": 2, "blocks": 2, "passed": False}
        failing = {
            "label": HOSTILE[0],
            "low": 0.2,
            "high": 0.4,
            "threshold": 0.5,
            "rule": ">",
            "certainty": 0.9,
        }
        failing |= {"reference": 0.1, "reference_passed": False, "evidence": "clear fail", "p_value": 0.001}
        group = {"test": "Mean Value", "group": f"sex: {HOSTILE[5]}", "threshold": 0.1, "rule": "|gap| <"}
        group |= {"gap": 0.6, "gap_low": 0.4, "gap_high": 0.8, "matters": 0.1, "evidence": "open"}
        group |= {"group_value": 0.8, "others_value": 0.2, "against": "others"}
        for model in (MODEL, BROKEN):
            yield from (Verdict(model, test=name, **place, **failing) for name in self.families[0].tests)
            yield Verdict(model, **place, **group)

    def _record(self, digest):
        def model(name):
            return {
                **{"name": name, "slug": files.slug(name), "kind": "python", "target": HOSTILE[3]},
                **{"tasks": ["arousal"], "description": HOSTILE[4], "license": HOSTILE[5], "inputs": 2},
                **{"fingerprint": "f" * 40, "failed": 1, "unusable": 0, "notes": HOSTILE, "repeated": 2},
                **{"repeated_different": 0, "out_of_range": 0, "unknown_classes": {}},
                "failures": [{"corpus": t, "item": t, "change": t, "reason": t} for t in HOSTILE],
            }

        (corpus,), (family,) = self.corpora, self.families
        left_out = [{"item": item.item, "reason": item.reason, "stage": "corpus"} for item in corpus.left_out]
        about = ("name", "title", "category", "question", "digest")
        figure = {
            **{"corpus": HOSTILE[2], "task": "arousal", "measure": "concordance", "value": 0.1, "low": -0.1},
            **{"high": 0.3, "segments": 2, "blocks": 2, "guessing": 0.0, "reason": HOSTILE[4]},
        }
        nothing = {"model": BROKEN, "standing": "hollow", "value": None, "low": None, "high": None}
        return {
            **{"title": HOSTILE[0], "run": digest[:12], "results": digest},
            "figures": [figure | {"model": MODEL, "standing": "proven"}, figure | nothing],
            "accepted": [{"model": MODEL, "why": HOSTILE[1], "until": "2999-01-01"}],
            "families": [{name: getattr(family, name) for name in about}],
            "models": [model(MODEL), model(BROKEN)],
            "corpora": [
                {
                    **{"name": corpus.name, "slug": files.slug(corpus.name), "format": "csv"},
                    **{"title": HOSTILE[0], "description": HOSTILE[3], "synthetic": True, "segments": 2},
                    **{"speakers": 2, "seconds": 0.2, "left_out": left_out, "notices": HOSTILE},
                    "digest": "d" * 40,
                }
            ],
            "notebooks": [
                {"model": MODEL, "family": family.name, "status": "ok", "error": ""},
                {"model": BROKEN, "family": family.name, "status": "failed", "error": "\n".join(HOSTILE)},
            ],
        }

    def _notebooks(self):
        media = MediaStore(self.output.media, "../../media/")
        own = self.results[self.results["model"] == MODEL]
        outputs = [
            verdict_table(own.assign(state="")),
            figures.show(media, views.forest(own, name="test"), HOSTILE[0]),
            players.player(media, np.zeros(1600, dtype=np.float32), 16000, HOSTILE[0], caption=HOSTILE[5]),
        ]
        shown = [
            {"output_type": "display_data", "metadata": {}, "data": {"text/html": str(html)}}
            for html in outputs
        ]
        shown.append({"output_type": "stream", "name": "stdout", "text": "\n".join(HOSTILE)})
        cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "show()"}
        cell["outputs"] = shown
        title = {"cell_type": "markdown", "metadata": {}, "source": "# Correctness"}
        for name in (MODEL, BROKEN):
            notebook = {"cells": [title, cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
            path = self.output.notebooks / files.slug(name) / "correctness_regression.ipynb"
            files.write_text(path, json.dumps(notebook))

    def build(self, jobs=1):
        about = {"suite_root": self.output.folder, "families": self.families, "corpora": self.corpora}
        about |= {"tasks": BUILTIN, "sounds": Sounds(), "jobs": jobs}
        return build.build(self.output, self.record, self.results, **about)


@pytest.fixture(scope="module")
def book(tmp_path_factory, recorded, forked_sphinx):
    made = Book(tmp_path_factory.mktemp("book"), recorded)
    made.problems = made.build()
    return made


def site(book):
    return {str(path.relative_to(book.output.html)): path for path in book.output.html.rglob("*.html")}


def test_the_build_is_complete_and_quiet(book):
    assert [str(problem) for problem in book.problems] == []
    for name in ("index", "all_results", "failures", "provenance", "reading", "statistics", "bibliography"):
        assert f"{name}.html" in site(book)


def test_result_pages_begin_with_the_answer_and_say_what_fails(book):
    page = site(book)[f"results/{files.slug(MODEL)}/correctness_regression.html"].read_text(encoding="utf-8")
    own = book.results[book.results["model"].eq(MODEL)]
    found = counts(own)
    answer, verdicts = page.index('class="sc-answer"'), page.index('id="row-')
    assert page.index("<h1") < answer < verdicts
    assert page.count('class="sc-badge sc-fail"') >= found["fail"] > 0


def test_nothing_from_data_is_live(book):
    assert len(site(book)) > 10
    assert not list(book.output.folder.rglob("pwned"))
    for name, path in site(book).items():
        text = path.read_text(encoding="utf-8")
        assert "<img src=x" not in text, name
        assert "<svg onload" not in text, name
        assert f"<script>{PWN}" not in text, name
        assert 'href="javascript:' not in text, name
        assert "root:x:0" not in text, name
    assert not list(book.output.html.rglob("passwd*"))


def test_data_is_shown_as_it_is(book):
    page = (book.output.html / "corpora" / f"{files.slug(HOSTILE[5])}.html").read_text()
    assert "cycler.__init__.__globals__" in page
    assert "![x](../../../../../../../etc/passwd)" in page


def test_text_from_data_is_never_markdown_and_a_second_core_makes_the_same_pages(book):
    source = book.output.folder / "book-src"
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    words = [
        cell["source"]
        for path in source.rglob("*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "markdown"
    ]
    assert len(words) > 20 and not any(text in one for one in words for text in HOSTILE)
    shutil.rmtree(source)
    (book.output.folder / "book.json").unlink()
    assert book.build(jobs=2) == []
    again = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    assert again == before


def test_headings_hold_nothing_live(book):
    index = (book.output.html / "searchindex.js").read_text()
    titles = json.loads(index[index.index("{") : index.rindex("}") + 1])
    for group in ("alltitles", "titles"):
        text = json.dumps(titles[group])
        assert "<" not in text
        assert "onerror" in html.unescape(text)  # its letters stay


def test_the_built_configuration_evaluates_no_text(book):
    configuration = yaml.safe_load((book.output.folder / "book-src" / "_config.yml").read_text())
    extensions = configuration["parse"]["myst_enable_extensions"]
    assert "substitution" not in extensions
    assert "linkify" not in extensions
    assert configuration["execute"]["execute_notebooks"] == "off"


def test_no_sources_and_no_dates(book):
    assert not (book.output.html / "_sources").exists()
    assert "Last updated" not in (book.output.html / "index.html").read_text()


def test_failed_notebook_is_told_where_one_looks(book):
    failures = (book.output.html / "failures.html").read_text()
    assert files.slug(BROKEN) in failures
    page = (book.output.html / "results" / files.slug(BROKEN) / "correctness_regression.html").read_text()
    assert "This notebook failed" in page


def test_formulas_are_local(book):
    page = (book.output.html / "methods" / "correctness_regression.html").read_text()
    assert "cdn.jsdelivr" not in page
    assert "mathjax" in page


def test_unchanged_sources_are_not_built_again(book, monkeypatch):
    monkeypatch.setattr(build, "run_sphinx", lambda *_: pytest.fail("built again"))
    assert book.build() == []


def test_same_run_same_bytes(book, tmp_path):
    def digests():
        return {
            str(path.relative_to(book.output.html)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(book.output.html.rglob("*"))
            if path.is_file()
        }

    first = digests()
    (book.output.folder / "book.json").unlink()
    assert book.build() == []
    again = digests()
    assert {name for name in first if first[name] != again.get(name)} == set()


def test_a_page_that_is_lost_leaves_the_old_site_in_place(book, monkeypatch):
    before = (book.output.html / "index.html").read_bytes()
    real = build.lay_out

    def lossy(built, new, **options):
        real(built, new, **options)
        (new / "provenance.html").unlink()

    monkeypatch.setattr(build, "lay_out", lossy)
    (book.output.folder / "book.json").unlink()
    problems = [str(problem) for problem in book.build()]
    assert any("provenance.html: the page is missing" in text for text in problems)
    assert (book.output.html / "index.html").read_bytes() == before
    monkeypatch.undo()
    assert book.build() == []


def test_a_book_that_cannot_be_built_is_a_problem_with_a_place_to_look(book, monkeypatch):
    monkeypatch.setattr(written, "page", lambda name: "# Page\n\n[a](nowhere.md)")
    (book.output.folder / "book.json").unlink()
    problems = [str(problem) for problem in book.build()]
    assert any("Sphinx ended with exit code" in text and "log.txt" in text for text in problems)
    monkeypatch.undo()
    assert book.build() == []


def test_every_link_and_anchor_leads_somewhere(book):
    assert dead_links(book.output.html) == []


def test_nothing_raw_is_shown(book):
    assert raw_text(book.output.html) == []


def pages_written(book):
    html = book.output.folder / "book-build" / "html"
    return {
        path.relative_to(html).as_posix(): path.stat().st_mtime_ns
        for path in html.rglob("*.html")
        if "_static" not in path.parts
    }


def test_a_page_that_says_something_else_is_written_alone_and_grown_books_equal_new_ones(book):
    before, results = pages_written(book), book.results
    book.results = results.assign(value=results["value"].mask(results["model"].eq(MODEL), 0.31))
    (book.output.folder / "book.json").unlink()
    assert book.build() == []
    written = {name for name, time in pages_written(book).items() if before[name] != time}
    assert f"results/{files.slug(MODEL)}/correctness_regression.html" in written
    assert not {name for name in written if name.startswith(("methods/", "corpora/", "statistics"))}
    grown = {path: path.read_bytes() for path in book.output.html.rglob("*") if path.is_file()}
    shutil.rmtree(book.output.folder / "book-build")
    (book.output.folder / "book.json").unlink()
    assert book.build() == []
    assert {path for path in grown if grown[path] != path.read_bytes()} == set()
    book.results = results


@pytest.mark.parametrize("fault", ["interrupted", "other code"])
def test_doctrees_of_another_build_are_not_used(book, monkeypatch, fault):
    before = pages_written(book)
    if fault == "interrupted":
        (book.output.folder / "book-build" / "key").unlink()
    else:
        monkeypatch.setattr(build, "installed", lambda: ["another-1.0.dist-info"])
    (book.output.folder / "book.json").unlink()
    assert book.build() == []
    after = pages_written(book)
    assert before.keys() == after.keys() and all(after[name] != before[name] for name in before)


def test_nothing_runs_in_a_browser(book, browser):
    """Pages and the search page, which puts titles into the document as HTML."""
    pages = [
        name for name in site(book) if name.startswith(("index", "results", "corpora", "models", "all_"))
    ]
    assert len(pages) >= 6
    for address in (*pages, "search.html?q=Model", "search.html?q=img"):
        page = browser.open(f"file://{book.output.html}/{address}")
        if address.startswith("search"):
            page.wait_for_function(FOUND, **LIMITS)
        page.evaluate(SETTLED)
        page.wait_for_function(LOADED, **LIMITS)
        assert not page.evaluate("'pwn' in document.documentElement.dataset"), address
        browser.close(page)
