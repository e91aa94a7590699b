"""Titles and names as a suite has them: whole, harmless, never the same twice; every link leads somewhere."""

import html
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.support.links import dead_links

pytestmark = pytest.mark.slow

TITLE = "<script>alert(1)</script> R&D {{ 7*7 }} $x$ `b` [a](http://b.org) {doc}`index` "
TITLE += '-- "q" C++ 50 % Größe #'
MODELS = [
    "模型一",
    "模型二",
    "<script>alert(2)</script> {{ 7*7 }}",
    "# *x* [a](b) {doc}`index` | &amp; \\",
    "a  b",
    "a b",
    "\u05e9 \u202erev\u200f",
]
CORPUS = "<b>größe</b> $y$"
COMPARISON = "模型 & <i>n</i> {{ 1 }}"


@pytest.fixture(scope="module")
def site(tmp_path_factory, command) -> Path:
    """Build a book with such names, two families of one title, and a notebook that fails."""
    folder = tmp_path_factory.mktemp("titles")
    rng = np.random.default_rng(0)
    labels = [(f"{n:02}.wav", f"s{n % 6}", round(float(rng.random()), 3)) for n in range(36)]
    (folder / "labels.csv").write_text(
        "file,speaker,arousal\n" + "".join(f"{a},{b},{c}\n" for a, b, c in labels)
    )
    said = "".join(f"{a},{min(1, c + 0.05 * (n % 3)):.3f}\n" for n, (a, _, c) in enumerate(labels))
    (folder / "answers.csv").write_text(f"file,arousal\n{said}")
    for name in ("whole", "broken"):
        command("init", "--family", name, cwd=folder)
        thresholds = folder / "thresholds" / f"{name}.yml"
        thresholds.write_text(
            re.sub("^title: .*", "title: R&D $z$", thresholds.read_text(), flags=re.MULTILINE)
        )
    notebook = folder / "notebooks" / "broken.ipynb"
    cells = json.loads(notebook.read_text())
    cells["cells"][-1]["source"] = ["1 / 0"]
    notebook.write_text(json.dumps(cells))
    suite = {
        "title": TITLE,
        "corpora": {CORPUS: {"format": "csv", "path": "labels.csv", "audio": False}},
        "models": {name: {"predictions": "answers.csv", "tasks": ["arousal"]} for name in MODELS},
        "comparisons": {COMPARISON: {"baseline": MODELS[0], "candidate": MODELS[1]}},
        "families": ["whole", "broken", "correctness_temporal_behaviour"],
        "studies": False,
    }
    (folder / "suite.yml").write_text(yaml.safe_dump(suite, allow_unicode=True), encoding="utf-8")
    done = command("run", "suite.yml", "--out", "out", cwd=folder)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "ZeroDivisionError" in done.stdout
    return folder / "out" / "html"


HEADING = re.compile(r"<h1>([^<]*)<a class=\"headerlink\"")


def headings(site: Path) -> dict[str, str]:
    """Give the heading of each page as its HTML has it."""
    found = {
        path.relative_to(site).as_posix(): HEADING.findall(path.read_text()) for path in site.rglob("*.html")
    }
    return {name: texts[0] for name, texts in found.items() if texts}


def test_headings_are_the_names(site):
    found = headings(site)
    assert html.unescape(found["index.html"]) == TITLE
    shown = [*MODELS[:4], "a \xa0b", "a b", "\u05e9 " + r"\u202erev\u200f"]
    told = {html.unescape(text) for text in found.values()}
    for name in shown:
        assert {f"Model {name}", f"{name}: R&D $z$ (whole)", f"{name}: R&D $z$ (broken)"} <= told
    assert {f"Corpus {CORPUS}", f"Comparison {COMPARISON}", "R&D $z$ (whole)", "R&D $z$ (broken)"} <= told


def test_no_two_pages_have_the_same_heading_or_file(site):
    (name, count), *_ = Counter(headings(site).values()).most_common(1)
    assert count == 1, name
    assert len({path.name for path in (site / "models").iterdir()}) == len(MODELS)


def test_titles_of_windows_and_the_menu_have_the_names(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    assert html.unescape(re.search("<title>(.*?)</title>", page)[1]) == f"{TITLE} \u2014 {TITLE}"
    menu = page[page.index('id="pst-primary-sidebar"') :]
    for name in ("模型一", "模型二", html.escape(MODELS[2], quote=False)):
        assert f">{name}</a>" in menu


class Live(HTMLParser):
    """Finds elements that a name became."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.script = False

    def handle_starttag(self, tag, attributes):
        self.script = tag == "script"
        if tag in ("b", "i") and not attributes or "b.org" in (dict(attributes).get("href") or ""):
            self.found.append(tag)

    def handle_data(self, data):
        if self.script and "alert(" in data:
            self.found.append(data)


def test_no_name_becomes_markup(site):
    for path in site.rglob("*.html"):
        live = Live()
        live.feed(path.read_text(encoding="utf-8"))
        assert not live.found, (path, live.found)


def test_the_search_shows_headings_as_text(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(2)" in index and "<script" not in index


def test_every_link_leads_somewhere(site):
    assert dead_links(site) == []


def test_cards_and_reports_of_checks_are_whole(site, command, tmp_path):
    run = site.parent
    command("check", run, "--junit", tmp_path / "junit.xml", cwd=tmp_path)
    told = ElementTree.parse(tmp_path / "junit.xml").getroot().iter("testsuite")
    assert any(MODELS[2] in str(suite.attrib) for suite in told)
    done = command("card", run, "--model", MODELS[2], "--out", tmp_path / "card", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    card = (tmp_path / "card" / "README.md").read_text(encoding="utf-8")
    (heading,) = re.findall("^# (.*)", card, re.MULTILINE)
    assert html.unescape(heading) == MODELS[2] and "<script" not in card.split("---")[2]
