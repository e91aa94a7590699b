"""The first page and pages of models: what fails is said, nothing from data is live."""

import re

import pytest
from bs4 import BeautifulSoup
from tests.support.first_pages import first_page, page_html, plain
from tests.support.rows import CORRECT, FEW, PLAIN, UNDECIDED, row

from soundcheck.book import model_pages, overview
from soundcheck.results.estimates import estimate_frame
from soundcheck.results.facts import facts_by_model
from soundcheck.results.record import KeyFigure
from soundcheck.results.table import to_frame

IMAGE = "<img src=x onerror=alert(1)>"
NOTHING = estimate_frame([])
FAMILIES = {
    "fairness_accent": ("Fairness by accent", "fairness"),
    "correctness_regression": ("Correctness of values", "correctness"),
    "asr_word_errors": ("Word errors", "correctness"),
}


def figure(model="good", task="arousal", standing="proven", **changes) -> KeyFigure:
    plain_ = {
        **{"model": model, "corpus": "talk", "task": task, "measure": "concordance", "value": 0.6},
        **{"low": 0.5, "high": 0.7, "segments": 400, "blocks": 26, "guessing": 0.0, "standing": standing},
    }
    return KeyFigure(**(plain_ | changes))


def model(name, *tasks, kind="python"):
    return {
        **{"name": name, "slug": name, "kind": kind, "target": "", "tasks": list(tasks), "description": ""},
        **{"license": "", "fingerprint": "f", "inputs": 1, "failed": 0, "unusable": 0, "notes": []},
        **{"failures": [], "repeated": 0, "repeated_different": 0, "out_of_range": 0, "unknown_classes": {}},
    }


@pytest.fixture
def run(recorded):
    """A run of two good models of values, one that guesses, one random reference, and a recogniser."""
    models = [
        model("worse", "arousal"),
        model("good", "arousal") | {"description": f"Knows {IMAGE}. And more."},
        model("constant", "arousal"),
        model("random", "arousal", kind="random"),
        model("writer", "transcript"),
    ]
    correct = CORRECT | {"evidence": "clear pass", "holds": None, "p_value": None, "state": "pass"}
    fine = {"value": 0.8, "low": 0.7, "high": 0.9, "passed": True}
    failing = {"evidence": "clear fail", "p_value": 1e-6, "holds": True, "state": "fail"}
    fair = {"gap": 0.0, "gap_low": -0.02, "gap_high": 0.02, "value": 0.0, "passed": True, "holds": False}
    fair |= {"evidence": "clear pass", "p_value": 1.0, "state": "pass"}
    silent = correct | {"family": "asr_word_errors", "task": "transcript", "test": "Word Error Rate"}
    silent |= {"passed": None, "evidence": "", "value": None, "low": None, "high": None}
    silent |= {"skipped": f"no transcripts {IMAGE}", "state": "not evaluated"}
    silent_ = {"state": "not evaluated", "value": None, "passed": None, "low": None, "high": None}
    rows = [
        row(),
        row(**(correct | fine)),
        row(model="worse", **(correct | failing)),
        row(model="worse", **fair),
        row(model="constant", **(correct | failing)),
        row(model="constant", **fair),
        row(model="random", **(correct | failing)),
        row(model="random", **fair),
        row(model="writer", **silent),
        row(model="writer", task="transcript", **PLAIN | silent_ | {"skipped": IMAGE}),
    ]
    frame = to_frame(rows)
    pairs = frame[["model", "family"]].drop_duplicates().to_dict("records")
    families = [
        {"name": name, "title": title, "category": category, "question": "?", "digest": "d"}
        for name, (title, category) in FAMILIES.items()
    ]
    figures = [
        figure(),
        figure("worse"),
        figure("constant", standing="hollow", value=0.0, low=0.0, high=0.0),
        figure("random", standing="hollow", value=0.01, low=-0.1, high=0.1),
    ]
    notebooks = [pair | {"status": "ok", "error": ""} for pair in pairs]
    content = {"models": models, "notebooks": notebooks, "families": families, "figures": figures}
    return recorded(title=f"Suite {IMAGE}", **content), frame, content


def model_page(record, frame, name):
    facts = facts_by_model(record, frame, NOTHING)[name]
    parts = [
        cell["source"] if cell["cell_type"] == "markdown" else cell["outputs"][0]["data"]["text/html"]
        for cell in model_pages.model_cells(facts)
    ]
    return "\n".join(parts)


def test_nothing_from_data_is_live(run):
    record, frame, _ = run
    for page in (page_html(record, frame, NOTHING), model_page(record, frame, "good")):
        assert IMAGE not in page and "&lt;img" in page


def test_models_in_rows_and_references_apart(run):
    record, frame, _ = run
    text, rows = first_page(record, frame)
    assert list(rows) == ["worse", "good", "constant", "writer"]
    assert "spanish speakers: differs: arousal 0.62, others 0.44" in rows["good"]
    assert "no group shown to be worse; largest difference: spanish speakers" in rows["worse"]
    assert "within the margin" in rows["worse"]
    assert "Random references: random concordance of arousal 0.010" in text
    assert rows["writer"].startswith("writer not known to be better than chance at transcript")
    assert "not evaluated: <img" in rows["writer"]


def test_tests_at_chance_level_are_not_counted(run):
    record, frame, _ = run
    _, rows = first_page(record, frame)
    assert "no better than chance at arousal" in rows["constant"]
    assert "not counted: no better than chance" in rows["constant"]
    assert "1 fail ? 0 inconclusive ✓ 0 pass" in rows["constant"]
    page = plain(BeautifulSoup(model_page(record, frame, "constant"), "html.parser"))
    assert "1 not counted: no better than chance" in page
    assert "no better than chance at arousal: concordance of arousal 0 (95 % 0 to 0, 26 speakers)" in page


def test_a_record_of_before_leaves_nothing_out(run, recorded):
    _, frame, content = run
    old = recorded(**content | {"figures": None})
    text, rows = first_page(old, frame)
    assert "not counted:" not in text and "better than chance" not in text
    assert "1 fail ? 0 inconclusive ✓ 1 pass" in rows["constant"]


def test_the_heat_map_leads_to_families_and_counts_what_fails(run):
    record, frame, _ = run
    shown = BeautifulSoup(page_html(record, frame, NOTHING), "html.parser").select_one(".sc-heat")
    heads = [head.get_text() for head in shown.select("tbody th[scope]")]
    assert heads == ["Correctness", "Values", "Fairness", "Accent", "Speech recognition", "Word errors"]
    cells = {cell["href"]: (cell.get_text(), cell.parent["class"]) for cell in shown.select("td a")}
    assert cells["results/good/fairness_accent.html"] == ("✗ 1", ["sc-fail"])
    assert cells["results/worse/fairness_accent.html"] == ("✓ ", ["sc-pass"])
    assert cells["results/constant/fairness_accent.html"][0] == "– "  # not counted
    assert cells["results/writer/asr_word_errors.html"][0] == "– "
    assert not any("random" in address for address in cells)


def test_findings_lead_to_their_rows_of_each_model_and_aspect_one_first(run):
    record, _, _ = run
    low = {"gap": -0.18, "gap_low": -0.32, "gap_high": -0.11}
    rows = [row(model="good", task=f"t{n}", group=f"accent: {n}", gap=0.2 + n / 10) for n in range(12)]
    rows += [row(model="worse", group="sex: female", gap=0.1)]
    rows += [row(model="worse", group="sex: male", mirrors="sex: female", **low)]  # the same test
    shown = BeautifulSoup(page_html(record, to_frame(rows), NOTHING), "html.parser").select_one(".sc-worries")
    items = shown.select("li")
    assert len(items) == 10 and "worse, female speakers" in plain(shown)
    assert re.fullmatch(
        r"results/\w+/fairness_accent\.html#row-[0-9a-f]{8}", items[0].select_one("a")["href"]
    )
    assert "3 more" in plain(shown.find_next("p"))


def test_an_accepted_failure_is_listed_with_its_reason(run, recorded):
    _, frame, content = run
    entry = {"model": "good", "why": f"being collected {IMAGE}", "until": "2999-01-01"}
    page = page_html(recorded(**content, accepted=[entry]), frame, NOTHING)
    assert page.count("being collected &lt;img") == 1 and "1 of 3 failures accepted." in page


def test_few_speakers_are_no_all_clear(run):
    record, _, _ = run
    sizes = {"spanish": 0.1, "french": 0.4, "welsh": -0.2}
    rows = [row(**FEW | {"group": f"accent: {name}", "gap": gap}) for name, gap in sizes.items()]
    rows.append(row(**FEW | {"group": "sex: male", "mirrors": "sex: female"}))
    page = page_html(record, to_frame(rows), NOTHING)
    assert "Nothing could be concluded: 3 differences have too few speakers." in page
    section = page[page.index(overview.FEW_TITLE) :]
    assert re.findall(r"<em>(\w+) speakers", section) == ["french", "welsh", "spanish"]
    assert "<strong>" not in section and "for these speakers" in section


def test_more_differences_than_are_listed_lead_to_all_results_from_every_page(run):
    rows = to_frame([row(**FEW | {"group": f"accent: {n}", "gap": 0.1 + n / 100}) for n in range(40)])
    shown = str(overview.of_few_speakers(run[0], rows, "../../"))
    assert shown.count("<li>") == 5 and '<a href="../../all_results.html">35 more' in shown


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"gap": 0.05, "gap_low": -0.15, "gap_high": 0.25}, "more than 10 times as many"),
        ({"gap": 0.02, "gap_low": -0.06, "gap_high": 0.1}, "about 22 in place of 10"),
        ({"gap": 0.075, "gap_low": 0.0, "gap_high": 0.15}, "more than 10 times as many"),  # on the margin
        (FEW | {"evidence": "none", "blocks": 3}, "without interval"),
    ],
)
def test_what_is_inconclusive_says_how_many_speakers_it_would_take(run, changes, told):
    text, _ = first_page(run[0], to_frame([row(**UNDECIDED | changes)]))
    assert f"good: accent: {told}" in text[text.index("What could not be concluded") :]


def test_both_rules_stand_in_one_line(run):
    page = page_html(run[0], to_frame([row(passed=True, value=0.01)]), NOTHING)
    assert "margin of 0.075; passes the published rule (|value| &lt; 0.075)</small>" in page


@pytest.mark.parametrize("rows", [[], [row(state="not evaluated", value=None, passed=None, skipped="no")]])
def test_a_run_without_anything_evaluated_has_its_page(run, rows):
    text, _ = first_page(run[0], to_frame(rows))
    assert "Nothing could be concluded" in text


def test_worse_than_chance_is_called_so(run, recorded):
    _, frame, content = run
    turned = figure("constant", standing="hollow", value=-0.98, low=-0.99, high=-0.96)
    _, rows = first_page(recorded(**content | {"figures": [turned]}), frame)
    assert rows["constant"].startswith("constant worse than chance at arousal")


def test_the_page_of_a_model_repeats_its_row_and_lists_its_values(run):
    record, frame, _ = run
    page = plain(BeautifulSoup(model_page(record, frame, "good"), "html.parser"))
    for part in ("spanish speakers: differs: arousal 0.62", "Correctness of values", "0.50 to 0.70"):
        assert part in page
    assert "Fairness by accent, spanish speakers: arousal is 0.62 against 0.44 of the others" in page
