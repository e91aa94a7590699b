"""Cards, first page and sheet of a small world through the real command: who reads them, and their numbers.

Each number of the first page, cards and sheets that is no whole one is a cell of a row of a table of the run,
of the model that a card or a sheet is about.
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
from soundcheck.results.estimates import read_estimates
from soundcheck.results.facts import counts
from soundcheck.results.record import RunRecord

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
    (results,) = {one for one in re.findall(r"\b[0-9a-f]{64}\b", record) if one in evidence}
    assert results in text
    assert all(page.startswith("https://example.org/b/") for page in re.findall(r"\]\(([^)]*)\)", text))


# Numbers ----------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.])[−-]?(?:\d[\d,]*\.\d+|\d+(?=\s%))(?![\w.])")
CONSTANTS = re.compile(r"(?:95|5|100)\s%|p < 0\.001|Apache-2\.0")


def plain(text):
    return text.replace("−", "-").replace(",", "")


def cells_of(row):
    """Give what the numbers of a row look like on pages, and those in its words."""
    for value in row.values():
        if isinstance(value, str):
            yield from map(plain, NUMBER.findall(label(value)))
        elif isinstance(value, int | float) and not pd.isna(value):
            for shown in (value, -value, 100 * value, -100 * value):
                texts = [significant(shown), significant(shown, 3), f"{shown:g}", f"{shown:.4g}"]
                texts += [number(shown, digits) for digits in range(5)] + [repr(float(f"{shown:.4g}"))]
                yield from map(plain, texts)


@pytest.fixture(scope="module")
def rows(whole):
    """Rows of all tables with their models."""
    tables = (whole.results, read_estimates(whole.out), pd.read_csv(whole.out / "comparisons.csv"))
    of_tables = itertools.chain(*(frame.to_dict("records") for frame in tables))
    return [(row.get("model", row.get("candidate")), row) for row in of_tables]


def unexplained(text, rows, models=MODELS, at_least=0):
    """List numbers of a page, HTML or Markdown, that are no cell of a row of these models."""
    page = BeautifulSoup(MarkdownIt("gfm-like", {"linkify": False}).render(text), "html.parser")
    for nothing in page.find_all(["script", "style", "img", "audio", "code", "button"]):
        nothing.decompose()
    shown = {plain(found) for found in NUMBER.findall(CONSTANTS.sub("", page.get_text(" ")))}
    assert len(shown) > at_least
    return shown - {cell for model, row in rows if model in models for cell in cells_of(row)}


def test_numbers_of_the_first_page_and_sheets(whole, rows, undrawn):
    record = RunRecord.read(whole.out / "run.json")
    page = page_html(record, whole.results, read_estimates(whole.out))
    assert unexplained(page, rows, at_least=20) == set() and "indian speakers" in page
    for model in MODELS:
        done = undrawn("sheet", "out", "--model", model, cwd=whole.out.parent)
        assert done.returncode == 0, done.stderr
        sheet = (whole.out / "sheets" / f"{model}.html").read_text("utf-8")
        assert unexplained(sheet, rows, [model], at_least=10) == set()


def test_numbers_of_cards(cards, rows):
    for model, name in itertools.product(MODELS, ("README.md", EVIDENCE)):
        text = f"\n{(cards / model / name).read_text('utf-8')}".partition("\n# ")[2]  # behind the metadata
        assert unexplained(text, rows, [model], at_least=10) == set()


def test_numbers_of_a_bill_of_materials(cards, rows):
    content = json.loads((cards / "ours" / "bom.cdx.json").read_text())
    metrics = content["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    known = {repr(cell) for model, row in rows if model == "ours" for cell in row.values()}
    for metric in metrics:
        assert {metric["value"], *metric.get("confidenceInterval", {}).values()} <= known, metric


def test_a_number_from_nowhere_is_found(rows):
    assert unexplained("arousal of indian speakers is 0.12345", rows, ["ours"]) == {"0.12345"}
