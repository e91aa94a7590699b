"""The first page and pages of models: what fails is said, nothing from data is live."""

import re

import pytest
from bs4 import BeautifulSoup
from tests.support.findings import FIGURE
from tests.support.finished import finished
from tests.support.first_pages import first_page, page_html, plain
from tests.support.rows import CORRECT, FEW, PLAIN, row

from soundcheck.book import overview
from soundcheck.results.estimates import estimate_frame
from soundcheck.results.facts import facts_by_model
from soundcheck.results.finished_run import read_run
from soundcheck.suite.thresholds import read_family

IMAGE = "<img src=x onerror=alert(1)>"
NOTHING = estimate_frame([])
KINDS = {"random": "random"}
CHANCE = {"standing": "hollow", "value": 0.0, "low": 0.0, "high": 0.0}
FIGURES = [
    *(FIGURE | {"model": name, "corpus": "talk"} for name in ("good", "worse")),
    FIGURE | CHANCE | {"model": "constant", "corpus": "talk"},
    FIGURE | CHANCE | {"model": "random", "corpus": "talk", "value": 0.01, "low": -0.1, "high": 0.1},
]
CLEAR = {"evidence": "clear pass", "passed": True, "holds": False, "state": "pass"}
WRONG = CORRECT | {"p_value": 1e-6}  # fails
FAIR = CLEAR | {"gap": 0.0, "gap_low": -0.02, "gap_high": 0.02, "value": 0.0, "p_value": 1.0}
SILENT = {"state": "not evaluated", "value": None, "passed": None, "low": None, "high": None, "evidence": ""}
SILENT |= {"task": "transcript", "skipped": IMAGE}
ROWS = [
    *(row(model=name, **kind) for name in ("worse", "constant", "random") for kind in (WRONG, FAIR)),
    *(row(), row(**CORRECT | CLEAR | {"value": 0.8, "low": 0.7, "high": 0.9, "p_value": None})),
    row(model="writer", **CORRECT | SILENT | {"family": "asr_word_errors", "test": "Word Error Rate"}),
    row(model="writer", **PLAIN | SILENT),
]


@pytest.fixture
def run(tmp_path, recorded):
    """Give record and rows of a run: two good models, one that guesses, a reference, a recogniser."""

    def made(rows=ROWS, **changes):
        names = dict.fromkeys(one.family for one in rows)
        about = ("name", "title", "category", "question", "digest")
        families = [{key: getattr(read_family(name), key) for key in about} for name in names]
        pairs = dict.fromkeys((one.model, one.family) for one in rows)
        notebooks = [{"model": model, "family": name, "status": "ok", "error": ""} for model, name in pairs]
        content = {"families": families, "notebooks": notebooks, "figures": FIGURES} | changes
        finished_run = read_run(
            finished(tmp_path, recorded, rows, KINDS, **{"title": f"Suite {IMAGE}"} | content)
        )
        return finished_run.record, finished_run.frame

    return made


def model_page(record, frame, name):
    cells = overview.model_cells(facts_by_model(record, frame, NOTHING)[name])
    outputs = [output["data"]["text/html"] for cell in cells for output in cell.get("outputs", ())]
    return "\n".join([*(cell["source"] for cell in cells), *outputs])


def test_models_in_rows_and_nothing_from_data_is_live(run):
    record, frame = run()
    _, rows = first_page(record, frame)
    assert list(rows) == ["worse", "constant", "good", "writer"]
    assert "no group shown to be worse; largest difference: spanish speakers" in rows["worse"]
    assert rows["writer"].startswith("writer not known to be better than chance at transcript")
    assert "not evaluated: <img" in rows["writer"] and "1 fail ? 0 inconclusive ✓ 0 pass" in rows["constant"]
    for page in (page_html(record, frame, NOTHING), model_page(record, frame, "writer")):
        assert IMAGE not in page and "&lt;img" in page


def test_the_heat_map_leads_to_families_and_counts_what_fails(run):
    shown = BeautifulSoup(page_html(*run(), NOTHING), "html.parser").select_one(".sc-heat")
    cells = {cell["href"]: (cell.get_text(), cell.parent["class"]) for cell in shown.select("td a")}
    assert cells["results/good/fairness_accent.html"] == ("✗ 1", ["sc-fail"])
    assert cells["results/worse/fairness_accent.html"] == ("✓ ", ["sc-pass"])
    assert cells["results/constant/fairness_accent.html"][0] == "– "  # not counted
    assert cells["results/writer/asr_word_errors.html"][0] == "– "
    assert not any("random" in address for address in cells)


def test_findings_lead_to_their_rows_of_each_model_and_aspect_one_first(run):
    low = {"gap": -0.18, "gap_low": -0.32, "gap_high": -0.11}
    rows = [row(task=f"t{n}", group=f"accent: {n}", gap=0.2 + n / 10) for n in range(12)]
    rows += [row(model="worse", group="sex: female", gap=0.1)]
    rows += [row(model="worse", group="sex: male", mirrors="sex: female", **low)]  # the same test
    page = BeautifulSoup(page_html(*run(rows, figures=None), NOTHING), "html.parser")
    items = page.select(".sc-worries li")
    assert len(items) == 8 and "worse, female speakers" in plain(page.select_one(".sc-worries"))
    address = items[0].select_one("a")["href"]
    assert re.fullmatch(r"results/\w+/fairness_accent\.html#row-[0-9a-f]{8}", address)
    assert "5 more" in plain(page.select_one(".sc-worries").find_next("p"))


def test_an_accepted_failure_is_listed_with_its_reason(run):
    entry = {"model": "good", "why": f"being collected {IMAGE}", "until": "2999-01-01"}
    page = page_html(*run(accepted=[entry]), NOTHING)
    assert page.count("being collected &lt;img") == 1 and "1 of 3 failures accepted." in page


def test_few_speakers_are_listed_the_largest_first_and_a_run_without_anything_evaluated_has_its_page(run):
    rows = [row(**FEW | {"group": f"accent: {n}", "gap": 0.1 + n / 100}) for n in range(40)]
    rows.append(row(**FEW | {"group": "sex: male", "mirrors": "sex: female"}))
    shown = str(overview.of_few_speakers(*run(rows), "../../"))
    assert re.findall(r"<em>(\w+) speakers", shown) == ["39", "38", "37", "36", "35"]
    assert '<a href="../../all_results.html">35 more' in shown and "<strong>" not in shown
    record, frame = run([row(**SILENT)])
    for rows in (frame, frame.iloc[:0]):
        assert "Nothing could be concluded" in first_page(record, rows)[0]


def test_the_page_of_a_model_repeats_its_row_and_lists_its_values(run):
    page = plain(BeautifulSoup(model_page(*run(), "good"), "html.parser"))
    assert "spanish speakers: differs: arousal 0.62" in page and "0.57 to 0.66" in page
    assert "spanish speakers: arousal is 0.62 against 0.44 of the others" in page
    both = page_html(*run([row(passed=True, value=0.01)]), NOTHING)
    assert "margin of 0.075; passes the published rule (|value| &lt; 0.075)</small>" in both
