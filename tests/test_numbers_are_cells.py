"""Every number of the first page, cards and the sheet is a cell of one row of a table, or a count of rows.

A unit is an item of a list, a row of a table or a paragraph. All of its numbers have to come from *one* row
of ``results.csv``, ``estimates.csv`` or ``comparisons.csv``, of the model that the unit is about, or be
counts. Sections about the data and how to make the results again name what no table has.
"""

import itertools
import json
import re

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from runs import Run, run
from small_world import make

from soundcheck.report.formats import number, significant
from soundcheck.report.names import label
from soundcheck.results.estimates import read_estimates
from soundcheck.results.facts import counts, few_speakers
from soundcheck.results.states import ASPECTS, aspects, counted

pytestmark = pytest.mark.slow

NUMBER = re.compile(r"(?<![\w.])[−-]?\d[\d,]*(?:\.\d+)?(?![\w.]*\.(?:csv|wav))")
CONSTANTS = re.compile(
    r"95\s%|discovery rate 5\s%|fewer than 5 |Hochberg, 1995|p < 0\.001|2024/1689, points 2\(g\), 3 and 4"
    r"|about [\d,]+ in place of \d+|more than 10 times as many|5 at least, for any interval"
)
ANSWERED = re.compile(  # inputs, lengths and digests: of left_out.csv and run.json
    r"\d+ (?:times: no row in|(?:of \d+ )?inputs )|^\w+ \(\d+ segments, | \d+ min \d+ s "
    r"| of this page |SHA-256|, run `?[0-9a-f]{12}"
)
DATA = re.compile(
    "what is missing|limits of these tests|how to reproduce|what it is for|where this comes from|testing data"
    "|test logs and reports|what people have to add|how to verify",
    re.IGNORECASE,
)
MODELS = ("ours", "other", "words")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    folder = make(tmp_path_factory.mktemp("numbers") / "project")
    found = run(undrawn, folder)
    for name in MODELS:
        done = undrawn("card", "out", "--model", name, "--out", f"cards/{name}", cwd=folder)
        assert done.returncode == 0, done.stderr
    return found


def plain(text):
    return text.replace("−", "-").replace(",", "").replace("\xa0", "").replace("%", "").strip()


class Tables:
    """The tables of a run: which row explains numbers, and which counts there are."""

    def __init__(self, whole):
        self.results, self.comparisons = whole.results, pd.read_csv(whole.out / "comparisons.csv")
        self.rows = [
            (row.get("model", row.get("candidate")), row, self.written(row))
            for frame in (self.results, read_estimates(whole.out), self.comparisons)
            for row in frame.to_dict("records")
        ]
        self.counts = {name: set(self.counted(name)) for name in ("", *MODELS)}

    @staticmethod
    def written(row):
        """Give what the cells of a row look like, and the numbers in its words."""
        words = " ".join(label(str(value)) for value in row.values() if isinstance(value, str))
        cells = {plain(found) for found in NUMBER.findall(words)}
        for value in row.values():
            if isinstance(value, bool) or not isinstance(value, int | float) or pd.isna(value):
                continue
            for shown in (value, -value, 100 * value, -100 * value):
                texts = [significant(shown), significant(shown, 3), f"{shown:g}", f"{shown:.4g}"]
                texts += [number(shown, digits) for digits in range(5)] + [repr(float(f"{shown:.4g}"))]
                cells |= {plain(text) for text in texts}
        return cells

    def counted(self, model):
        """Give numbers of rows, states and families of a model or of all under test."""
        own = self.results[self.results["model"].eq(model) if model else self.results["model"].isin(MODELS)]
        parts = [own, counted(own), few_speakers(own), *(own[aspects(own).eq(one)] for one in ASPECTS)]
        for column in ("family", "corpus", "group", "task", "skipped"):
            parts += [rows for _, rows in own.groupby(column)]
        yield from (len(rows) for _, rows in self.comparisons.groupby("outcome") if not model)
        for rows in parts:
            found, judged = counts(rows), counted(rows)
            fails = counted(rows[rows["state"].eq("fail")])
            yield from (len(rows), found.judged, *(n for _, n in found.items()))
            yield from (len(some) for _, some in fails.groupby(aspects(fails)))
            yield int((judged["blocks"] < 5).sum())
            yield from (int((some["blocks"] < 5).sum()) for _, some in judged.groupby("family"))
            for some in (fails, rows):  # those that are folded
                yield len(fails) - len(some.drop_duplicates(["model", "family"]))
        yield len(own["family"].unique())

    def explained(self, text, model):
        """Say whether the numbers of a unit come from one row, or are all counts."""
        numbers = {plain(found) for found in NUMBER.findall(CONSTANTS.sub("", text))}
        if any(numbers <= cells for own, _, cells in self.rows if not model or own == model):
            return True
        return numbers <= {str(count) for count in self.counts[model] | self.counts[""]}


@pytest.fixture(scope="module")
def tables(whole):
    return Tables(whole)


def page_units(path):
    """Give the units of an HTML page: section, text, cells."""
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    page = soup.find("article") or soup.find("main")
    for nothing in page.find_all(["script", "style", "img", "audio", "code", "button", "h1", "figcaption"]):
        nothing.decompose()
    section = ""
    for node in page.find_all(["h2", "li", "tr", "p", "dt", "dd"]):
        if node.name == "h2":
            section = node.get_text(" ")
        elif not node.find(["li", "tr", "p"]) and not node.find_parent(["li", "td"]):
            cells, text = node.find_all("td"), node.get_text(" ")
            if node.name != "tr" or cells:
                lines = [line.extract() for cell in cells for line in cell.select(".sc-line")]
                parts = [re.split("; |, (?=[a-z])", part.get_text(" ")) for part in (*lines, *cells)]
                yield section, text, list(itertools.chain(*parts))


def card_units(path):
    """Give the units of a card in Markdown: section, text, cells."""
    section = ""
    lines = f"\n{path.read_text(encoding='utf-8')}".partition("\n# ")[2].splitlines()
    for line, below in itertools.pairwise([*lines, ""]):
        if line.startswith("#"):
            section = line
        elif line.strip() and not line.startswith(("<!--", "| ---")) and not below.startswith("| ---"):
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")] if line.startswith("|") else []
            yield section, re.sub(r"\]\([^)]*\)|&#\d+;", " ", line), cells


SENTENCES = re.compile(  # lines about a model hold one a row
    r"(?<=\));? |: of |generalise: |, (?=\w+ of \w+ on )|\. |; |, (?=\w[\w ]+ of \w+ [\d.]+ \()"
)


def unexplained(units, tables, model="", at_least=0):
    """List units with a number from nowhere; a row of a table may have a place for each of its cells."""
    left, seen = [], 0
    for section, whole_text, cells in units:
        for text in [whole_text] if cells else SENTENCES.split(whole_text):
            seen += 1
            if DATA.search(section) or ANSWERED.search(text):
                continue
            about = model or next((name for name in MODELS if re.search(rf"\b{name}\b", text)), "")
            parts = [part for one in cells for part in re.split(r"(?<=\)) ", one)]
            if not tables.explained(text, about):
                if not parts or not all(tables.explained(one, about) for one in parts):
                    left.append((section.strip(), " ".join(text.split())[:300]))
    assert seen > at_least
    return left


def test_the_first_page_and_sheets(whole, tables):
    page = whole.out / "html" / "index.html"
    assert unexplained(page_units(page), tables, at_least=20) == []
    assert any("indian speakers" in text for _, text, _ in page_units(page))
    for model in MODELS:
        units = page_units(whole.out / "html" / "sheets" / f"{model}.html")
        assert unexplained(units, tables, model, at_least=15) == []


@pytest.mark.parametrize("model", MODELS)
def test_cards(whole, tables, model):
    for name in ("README.md", "evidence_annex_iv.md"):
        units = card_units(whole.out.parent / "cards" / model / name)
        assert unexplained(units, tables, model, at_least=20) == []


def test_a_bill_of_materials(whole, tables):
    content = json.loads((whole.out.parent / "cards" / "ours" / "bom.cdx.json").read_text())
    metrics = content["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    known = {repr(cell) for own, row, _ in tables.rows if own == "ours" for cell in row.values()}
    for metric in metrics:
        assert {metric["value"], *metric.get("confidenceInterval", {}).values()} <= known, metric


def test_a_number_from_nowhere_is_found(tables):
    told = "arousal of indian speakers is 0.123 against 0.456 of the others (difference 0.99)"
    assert unexplained([("", told, [])], tables, "ours")
