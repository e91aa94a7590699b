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
from tests.support.small_world import make

from soundcheck.report.formats import number, significant
from soundcheck.report.names import label
from soundcheck.results.estimates import read_estimates
from soundcheck.results.facts import counts, few_speakers
from soundcheck.results.states import ASPECTS, aspects, counted
from soundcheck.results.table import read_results

pytestmark = pytest.mark.slow

NUMBER = re.compile(r"(?<![\w.])[−-]?\d[\d,]*(?:\.\d+)?(?![\w.]*\.(?:csv|wav))")
CONSTANTS = re.compile(
    r"95\s%|discovery rate 5\s%|fewer than 5 |Hochberg, 1995|p < 0\.001|2024/1689, points 2\(g\), 3 and 4"
)
ANSWERED = re.compile(  # inputs, lengths and digests: of left_out.csv and run.json
    r"\d+ (?:times: no row in|(?:of \d+ )?inputs )|^\w+ \(\d+ segments, | \d+ min \d+ s "
    r"| of this page |SHA-256|, run `?[0-9a-f]{12}"
)
PLANNED = re.compile(r"about [\d,]+ in place of \d+|more than 10 times as many|5 at least, for any interval")
DATA = (
    "what is missing",
    "limits of these tests",
    "how to reproduce",
    "what it is for",
    "where this comes from",
)
DATA += ("testing data", "test logs and reports", "what people have to add", "how to verify")
MODELS = ("ours", "other", "words")


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    folder = make(tmp_path_factory.mktemp("numbers") / "project")
    done = undrawn("run", "suite.yml", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in MODELS:
        done = undrawn("card", "out", "--model", name, "--out", f"cards/{name}", cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


class Tables:
    """The tables of a run: which row explains numbers, and which counts there are."""

    def __init__(self, out):
        self.results = read_results(out / "results.csv")
        self.frames = {
            "results.csv": self.results,
            "estimates.csv": read_estimates(out),
            "comparisons.csv": pd.read_csv(out / "comparisons.csv"),
        }
        self.rows = [
            (table, row.get("model", row.get("candidate")), row, *self.written(row))
            for table, frame in self.frames.items()
            for row in frame.to_dict("records")
        ]
        self.counts = {name: dict(self.counted(name)) for name in ("", *MODELS)}

    @staticmethod
    def written(row):
        """Give what the cells of a row look like -> its column; and the numbers in its words."""
        cells, words = {}, " ".join(label(str(value)) for value in row.values() if isinstance(value, str))
        for column, value in row.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or pd.isna(value):
                continue
            for shown, sign in itertools.product((value, 100 * value), (1, -1)):
                texts = [significant(sign * shown), significant(sign * shown, 3), f"{sign * shown:g}"]
                texts += [number(sign * shown, digits) for digits in range(5)]
                texts += [f"{sign * shown:.4g}", repr(float(f"{sign * shown:.4g}"))]
                cells |= {plain(text): column for text in texts if text not in cells}
        return cells, {plain(found) for found in NUMBER.findall(words)}

    def counted(self, model):
        """Give number -> what it counts, of a model or of all under test."""
        own = self.results[self.results["model"].eq(model) if model else self.results["model"].isin(MODELS)]
        parts = {"all": own, "counted": counted(own), "few speakers": few_speakers(own)}
        parts |= {f"about {one}": own[aspects(own).eq(one)] for one in ASPECTS}
        for column in ("family", "corpus", "group", "task", "skipped"):
            parts |= {f"{column} {name}": rows for name, rows in own.groupby(column)}
        compared = self.frames["comparisons.csv"]
        parts |= {f"outcome {name}": rows for name, rows in compared.groupby("outcome")} if not model else {}
        for name, rows in parts.items():
            yield str(len(rows)), f"rows, {name}"
            if "state" in rows:
                found = counts(rows)
                yield from ((str(n), f"{state}, {name}") for state, n in found.items())
                yield str(found.judged), f"evaluated, {name}"
                fails = counted(rows[rows["state"].eq("fail")])
                yield from (
                    (str(len(some)), f"fail about {one}") for one, some in fails.groupby(aspects(fails))
                )
                yield str(int((counted(rows)["blocks"] < 5).sum())), f"without speakers, {name}"
                for (family,), some in counted(rows).groupby(["family"]):
                    yield str(int((some["blocks"] < 5).sum())), f"without speakers, {family}"
                shown = [len(some.drop_duplicates(["model", "family"])) for some in (fails, rows)]
                yield from ((str(len(fails) - n), "fails that are folded") for n in shown)
        yield str(len(own["family"].unique())), "families"

    def explained(self, text, model):
        """Name where the numbers of a unit come from; None if there is no single place."""
        text = PLANNED.sub("", CONSTANTS.sub("", text))
        numbers = [plain(found) for found in NUMBER.findall(text)]
        for table, own, _, cells, words in self.rows:
            if model and own != model:
                continue
            if all(one in cells or one in words for one in numbers):
                return [(table, cells.get(one, "its words")) for one in numbers]
        known = self.counts[model] | self.counts[""] if model else self.counts[""]
        if all(one in known for one in numbers):
            return [("count", known[one]) for one in numbers]
        return None


def plain(text):
    return text.replace("−", "-").replace(",", "").replace("\xa0", "").replace("%", "").strip()


@pytest.fixture(scope="module")
def tables(project):
    return Tables(project / "out")


def page_units(path):
    """Give the units of an HTML page: section, text."""
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    page = soup.find("article") or soup.find("main")
    for nothing in page.find_all(["script", "style", "img", "audio", "code", "button", "h1", "figcaption"]):
        nothing.decompose()
    section = ""
    for node in page.find_all(["h2", "li", "tr", "p", "dt", "dd"]):
        if node.name == "h2":
            section = node.get_text(" ")
        elif not node.find(["li", "tr", "p"]) and not node.find_parent(["li", "td"]):
            cells = node.find_all("td")
            if node.name == "tr" and not cells:
                continue
            text = node.get_text(" ")
            lines = [line.extract() for cell in cells for line in cell.select(".sc-line")]
            texts = [part.get_text(" ") for part in (*lines, *cells)]
            yield section, text, [part for one in texts for part in re.split("; |, (?=[a-z])", one)]


def card_units(path):
    """Give the units of a card in Markdown: section, text."""
    section = ""
    lines = f"\n{path.read_text(encoding='utf-8')}".partition("\n# ")[2].splitlines()
    for line, below in itertools.pairwise([*lines, ""]):
        if line.startswith("#"):
            section = line
        elif line.strip() and not line.startswith(("<!--", "| ---")) and not below.startswith("| ---"):
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")] if line.startswith("|") else []
            yield section, re.sub(r"\]\([^)]*\)|&#\d+;", " ", line), cells


def unexplained(units, tables, model=""):
    """List units with a number from nowhere; a row of a table may have a place for each of its cells."""
    left = []
    for section, text, cells in units:
        if any(name in section.lower() for name in DATA) or ANSWERED.search(text):
            continue
        about = model or next((name for name in MODELS if re.search(rf"\b{name}\b", text)), "")
        parts = [part for one in cells for part in re.split(r"(?<=\)) ", one)]
        if tables.explained(text, about) is not None:
            continue
        if parts and all(tables.explained(one, about) is not None for one in parts):
            continue
        left.append((section.strip(), " ".join(text.split())[:300]))
    return left


def sentences(units):
    """Take sentences about several rows apart: lines about a model hold one a row."""
    for section, text, cells in units:
        parts = re.split(
            r"(?<=\));? |: of |generalise: |, (?=\w+ of \w+ on )|\. |; |, (?=\w[\w ]+ of \w+ [\d.]+ \()", text
        )
        yield from ((section, part, []) for part in parts) if not cells else [(section, text, cells)]


def test_the_first_page(project, tables):
    units = [*sentences(page_units(project / "out" / "html" / "index.html"))]
    assert len(units) > 20 and any("indian speakers" in text for _, text, _ in units)
    assert unexplained(units, tables) == []


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["README.md", "evidence_annex_iv.md"])
def test_cards(project, tables, model, name):
    units = [*sentences(card_units(project / "cards" / model / name))]
    assert len(units) > 20 and unexplained(units, tables, model) == []


def test_a_bill_of_materials(project, tables):
    content = json.loads((project / "cards" / "ours" / "bom.cdx.json").read_text())
    metrics = content["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    known = {repr(cell) for _, own, row, *_ in tables.rows if own == "ours" for cell in row.values()}
    for metric in metrics:
        bounds = metric.get("confidenceInterval", {}).values()
        assert {metric["value"], *bounds} <= known, metric


@pytest.mark.parametrize("model", MODELS)
def test_the_sheet(project, tables, model):
    units = [*sentences(page_units(project / "out" / "html" / "sheets" / f"{model}.html"))]
    assert len(units) > 15 and unexplained(units, tables, model) == []


def test_a_number_from_nowhere_is_found(tables):
    told = "arousal of indian speakers is 0.123 against 0.456 of the others (difference 0.99)"
    assert unexplained([("", told, [])], tables, "ours")
