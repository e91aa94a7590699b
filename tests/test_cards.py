"""Cards, first page and sheet of a small world through the real command: who reads them, and their numbers.

Every number of the first page, cards and sheet is a cell of one row of a table, or a count of rows. A
unit is an item of a list, a row of a table or a paragraph. All of its numbers have to come from *one* row of
``results.csv``, ``estimates.csv`` or ``comparisons.csv``, of the model that the unit is about, or be counts.
Sections about the data and how to make the results again name what no table has.
"""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from first_pages import page_html
from markdown_it import MarkdownIt
from runs import Run, run, write
from tests.golden import worlds

from soundcheck.report.formats import label, number, significant
from soundcheck.results.facts import counts, few_speakers
from soundcheck.results.record import RunRecord
from soundcheck.results.states import ASPECTS, aspects, counted
from soundcheck.results.table import read_estimates

pytestmark = pytest.mark.slow

MODELS = ("ours", "other", "words")
SUITE = """\
title: Small world
card: {owner: Speech team, license: Apache-2.0, limitations: Noise}
corpora:
  talk: {format: csv, path: talk.csv, audio: false}
  digits: {format: csv, path: digits.csv, audio: false}
models:
  ours: {predictions: ours.csv, tasks: [arousal, emotion]}
  other: {predictions: other.csv, tasks: [arousal, emotion]}
  words: {predictions: words.csv, tasks: [transcript], card: {languages: [en, de], license: Our own}}
comparisons:
  both: {baseline: other, candidate: ours}
families: [correctness_regression, correctness_classification, fairness_accent, asr_word_errors]
replicates: 100
studies: false
sweeps: false
"""
EVIDENCE = "evidence_annex_iv.md"
TEST_DAY = "1790000000"  # 2026-09-21


@pytest.fixture(scope="module")
def whole(tmp_path_factory, undrawn) -> Run:
    """Ours is wrong about values of Indian speakers; of six speakers of digits two are misunderstood."""
    folder, rng = tmp_path_factory.mktemp("cards") / "project", np.random.default_rng(1)
    talk = worlds.labelled(rng)
    indian = talk["speaker"].ge("s12")
    talk["accent"] = np.where(indian, "indian", "us")
    ours, other = (worlds.answered(talk, rng).drop(columns="transcript") for _ in range(2))
    ours["arousal"] = (talk["arousal"] + 0.2 * indian + rng.normal(0, 0.05, len(talk))).clip(0, 1).round(4)
    other["emotion"] = rng.permutation(other["emotion"])
    digits = talk[talk["speaker"].lt("s06")].drop(columns=["arousal", "emotion"])
    digits["file"] = "digit" + digits["file"]
    digits["accent"] = np.repeat(["german", "us", "french"], len(digits) // 3)
    wrong = rng.uniform(size=len(digits)) < np.where(digits["accent"].eq("german"), 0.7, 0.1)
    words = digits[["file"]].assign(transcript=digits["transcript"].where(~wrong, "go go"))
    talk = talk.drop(columns="transcript")
    tables = {"talk": talk, "digits": digits, "ours": ours, "other": other, "words": words}
    write(folder, {f"{name}.csv": table for name, table in tables.items()})
    return run(undrawn, write(folder, {"suite.yml": SUITE}), "--no-book")


@pytest.fixture(scope="module")
def cards(whole, undrawn) -> Path:
    """Cards of all models; those of ``words`` are written twice, and are the same."""
    for name in (*MODELS, "words"):
        before = {path: path.read_bytes() for path in (whole.out.parent / "cards").rglob("*.[jmy]*")}
        words = ("--model", name, "--book-url", "https://example.org/b/", "--out", f"cards/{name}")
        done = undrawn("card", "out", *words, cwd=whole.out.parent, SOURCE_DATE_EPOCH=TEST_DAY)
        assert done.returncode == 0 and "missing: intended use, training data" in done.stdout, done.stderr
        assert before == {path: path.read_bytes() for path in before}
    return whole.out.parent / "cards"


# Cards, and who reads them ----------------------------------------------------------------------------------


def test_the_card_says_what_came_out_and_leads_to_the_book(whole, cards):
    text = (cards / "words" / "README.md").read_text("utf-8")
    assert f"Tests: {counts(whole.rows(model='words'))}." in text
    assert "no one else has verified" in text and "2026-09-21" in text
    assert "Speech team" in text and "Not stated: intended use, training data" in text
    record, evidence = ((cards / "words" / name).read_text() for name in ("every_eval_ever.json", EVIDENCE))
    (results,) = {digest for digest in re.findall(r"\b[0-9a-f]{64}\b", record) if digest in evidence}
    assert results in text
    assert all(page.startswith("https://example.org/b/") for page in re.findall(r"\]\(([^)]*)\)", text))


# Numbers ----------------------------------------------------------------------------------------------------

MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})
NUMBER = re.compile(r"(?<![\w.])[−-]?\d[\d,]*(?:\.\d+)?(?![\w.]*\.(?:csv|wav))")
CONSTANTS = re.compile(
    r"95\s%|discovery rate 5\s%|fewer than 5 |Hochberg, 1995|p < 0\.001|2024/1689, points 2\(g\), 3 and 4"
    r"|Apache-2\.0|Soundcheck [\d.]+|\d+ replicates|seed \d+"
    r"|about [\d,]+ in place of \d+|more than 10 times as many|5 at least, for any interval"
)
ANSWERED = re.compile(  # inputs, lengths and digests: of left_out.csv and run.json
    r"\d+ (?:times: no row in|(?:of \d+ )?inputs )|^\w+ \(\d+ segments, | \d+ min \d+ s "
    r"| of this page |SHA-256|\bno audio\b|(?:, run|ingerprint.*) `?[0-9a-f]{12}|^\s*Version "
)
DATA = re.compile(
    "what is missing|limits of these tests|how to reproduce|what it is for|where this comes from|testing data"
    "|test logs and reports|what people have to add|how to verify",
    re.IGNORECASE,
)


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
        words = " ".join(label(value) for value in row.values() if isinstance(value, str))
        cells = {plain(number) for number in NUMBER.findall(words)}
        for value in row.values():
            if isinstance(value, bool) or not isinstance(value, int | float) or pd.isna(value):
                continue
            for variant in (value, -value, 100 * value, -100 * value):
                texts = [significant(variant), significant(variant, 3), f"{variant:g}", f"{variant:.4g}"]
                texts += [number(variant, digits) for digits in range(5)] + [repr(float(f"{variant:.4g}"))]
                cells |= {plain(text) for text in texts}
        return cells

    def counted(self, model):
        """Give numbers of rows, states and families of a model or of all under test."""
        mine = self.results[self.results["model"].eq(model) if model else self.results["model"].isin(MODELS)]
        parts = [mine, counted(mine), few_speakers(mine), *(mine[aspects(mine).eq(name)] for name in ASPECTS)]
        for column in ("family", "corpus", "group", "task", "skipped"):
            parts += [rows for _, rows in mine.groupby(column)]
        yield from (len(rows) for _, rows in self.comparisons.groupby("outcome") if not model)
        for rows in parts:
            judged_counts, judged = counts(rows), counted(rows)
            fails = counted(rows[rows["state"].eq("fail")])
            yield from (len(rows), judged_counts.judged, *(n for _, n in judged_counts.items()))
            yield from (len(some) for _, some in fails.groupby(aspects(fails)))
            yield int((judged["blocks"] < 5).sum())
            yield from (int((some["blocks"] < 5).sum()) for _, some in judged.groupby("family"))
            for some in (fails, rows):  # those that are folded
                yield len(fails) - len(some.drop_duplicates(["model", "family"]))
        yield len(mine["family"].unique())

    def explained(self, text, model):
        """Say whether the numbers of a unit come from one row, or are all counts."""
        numbers = {plain(number) for number in NUMBER.findall(CONSTANTS.sub("", text))}
        if any(numbers <= cells for about, _, cells in self.rows if not model or about == model):
            return True
        return numbers <= {str(count) for count in self.counts[model] | self.counts[""]}


@pytest.fixture(scope="module")
def tables(whole):
    return Tables(whole)


def units_of(text):
    """Give the units of a page, HTML or Markdown: section, text, cells."""
    page = BeautifulSoup(MARKDOWN.render(text), "html.parser")
    for nothing in page.find_all(["script", "style", "img", "audio", "code", "button", "h1", "figcaption"]):
        nothing.decompose()
    section = ""
    for node in page.find_all(["h2", "h3", "li", "tr", "p", "dt", "dd"]):
        if node.name in ("h2", "h3"):
            section = node.get_text(" ")
        elif not node.find(["li", "tr", "p"]) and not node.find_parent(["li", "td"]):
            cells, text = node.find_all("td"), node.get_text(" ")
            if node.name != "tr" or cells:
                lines = [line.extract() for cell in cells for line in cell.select(".sc-line")]
                parts = [re.split("; |, (?=[a-z])", part.get_text(" ")) for part in (*lines, *cells)]
                yield section, text, list(itertools.chain(*parts))


SENTENCES = re.compile(  # lines about a model hold one a row
    r"(?<=\));? |: of |(?<=inconclusive): |generalise: "
    r"|, (?=\w+ of \w+ on )|\. |; |, (?=\w[\w ]+ of \w+ [\d.]+ \()"
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
            parts = [part for cell in cells for part in re.split(r"(?<=\)) ", cell)]
            if not tables.explained(text, about):
                if not parts or not all(tables.explained(part, about) for part in parts):
                    left.append((section.strip(), " ".join(text.split())[:300]))
    assert seen > at_least
    return left


def test_numbers_of_the_first_page_and_sheets(whole, tables, undrawn):
    record = RunRecord.read(whole.out / "run.json")
    source = page_html(record, whole.results, read_estimates(whole.out))
    page = [*units_of(source)]
    assert unexplained(page, tables, at_least=20) == []
    assert any("indian speakers" in text for _, text, _ in page)
    for model in MODELS:
        done = undrawn("sheet", "out", "--model", model, cwd=whole.out.parent)
        assert done.returncode == 0, done.stderr
        units = units_of((whole.out / "sheets" / f"{model}.html").read_text("utf-8"))
        assert unexplained(units, tables, model, at_least=15) == []


def test_numbers_of_cards(cards, tables):
    for model, name in itertools.product(MODELS, ("README.md", EVIDENCE)):
        text = f"\n{(cards / model / name).read_text('utf-8')}".partition("\n# ")[2]  # behind the metadata
        assert unexplained(units_of(text), tables, model, at_least=20) == []


def test_numbers_of_a_bill_of_materials(cards, tables):
    content = json.loads((cards / "ours" / "bom.cdx.json").read_text())
    metrics = content["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    known = {repr(cell) for model, row, _ in tables.rows if model == "ours" for cell in row.values()}
    for metric in metrics:
        assert {metric["value"], *metric.get("confidenceInterval", {}).values()} <= known, metric


def test_a_number_from_nowhere_is_found(tables):
    message = "arousal of indian speakers is 0.123 against 0.456 of the others (difference 0.99)"
    assert unexplained([("", message, [])], tables, "ours")
