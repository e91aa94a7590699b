"""What the first page and pages of models and results say first: what fails; nothing from data is live."""

import dataclasses
import json
import re

import pytest
from bs4 import BeautifulSoup
from tests.support.findings import CORRECT, FEW, FIGURE, PLAIN, row
from tests.support.finished import finished, record
from tests.support.first_pages import first_page, page_html, plain

from soundcheck.book import executed, overview
from soundcheck.report.formats import state_mark
from soundcheck.report.verdict_tables import among_all, anchor_of, verdict_table
from soundcheck.results.facts import facts_by_model, facts_of
from soundcheck.results.finished_run import read_run
from soundcheck.results.record import StudyRecord
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS, decide
from soundcheck.results.table import estimate_frame, to_frame
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
def run(tmp_path):
    """Give record and rows of a run: two good models, one that guesses, a reference, a recogniser."""

    def made(rows=ROWS, **changes):
        names = dict.fromkeys(row.family for row in rows)
        about = ("name", "title", "category", "question", "digest")
        families = [{key: getattr(read_family(name), key) for key in about} for name in names]
        pairs = dict.fromkeys((row.model, row.family) for row in rows)
        notebooks = [{"model": model, "family": name, "status": "ok", "error": ""} for model, name in pairs]
        content = {"families": families, "notebooks": notebooks, "figures": FIGURES} | changes
        made = read_run(finished(tmp_path, rows, KINDS, title=f"Suite {IMAGE}", **content))
        return made.record, made.frame

    return made


def model_page(record, frame, name):
    cells = overview.model_cells(facts_by_model(record, frame, NOTHING)[name])
    outputs = [output["data"]["text/html"] for cell in cells for output in cell.get("outputs", ())]
    return "\n".join([*(cell["source"] for cell in cells), *outputs])


def test_models_in_rows_and_nothing_from_data_is_live(run):
    record, frame = run()
    _, rows = first_page(record, frame)
    assert list(rows) == ["worse", "constant", "good", "writer"]
    assert "worse beyond the margin; largest difference: spanish speakers" in rows["worse"]
    assert rows["writer"].startswith("writer not known to be better than chance at transcript")
    assert "not evaluated: <img" in rows["writer"] and "1 fail ? 0 inconclusive ✓ 0 pass" in rows["constant"]
    for page in (page_html(record, frame, NOTHING), model_page(record, frame, "writer")):
        assert IMAGE not in page and "&lt;img" in page


def test_the_heat_map_leads_to_families_and_counts_what_fails(run):
    heat_map = BeautifulSoup(page_html(*run(), NOTHING), "html.parser").select_one(".sc-heat")
    cells = {cell["href"]: (cell.get_text(), cell.parent["class"]) for cell in heat_map.select("td a")}
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
    bar = {"thresholds": {"arousal": 0.5}, "hard": True, "why": f"agreed {IMAGE}"}
    bars = {"correctness_regression": {"Concordance Correlation Coeff": bar}, "gone": {"Never Run": bar}}
    page = page_html(*run(accepted=[entry], own_tests=bars), NOTHING)
    assert page.count("being collected &lt;img") == 1 and "1 of 3 failures accepted." in page
    assert "Coeff: agreed &lt;img" in page and "gone / Never Run did not run." in page
    assert IMAGE not in page and page.count("0.41 is not &gt; 0.5") == 2  # the good model has 0.8


def test_few_speakers_are_listed_the_largest_first_and_a_run_without_anything_evaluated_has_its_page(run):
    rows = [row(**FEW | {"group": f"accent: {n}", "gap": 0.1 + n / 100}) for n in range(40)]
    rows.append(row(**FEW | {"group": "sex: male", "mirrors": "sex: female"}))
    listed = str(overview.of_few_speakers(*run(rows), "../../"))
    assert re.findall(r"<em>(\w+) speakers", listed) == ["39", "38", "37", "36", "35"]
    assert '<a href="../../all_results.html">35 more' in listed and "<strong>" not in listed
    record, frame = run([row(**SILENT)])
    for rows in (frame, frame.iloc[:0]):
        assert "Nothing could be concluded" in first_page(record, rows)[0]


def test_the_page_of_a_model_repeats_its_row_and_lists_its_values(run):
    page = plain(BeautifulSoup(model_page(*run(), "good"), "html.parser"))
    assert "spanish speakers: differs: arousal 0.62" in page and "0.57 to 0.66" in page
    assert "spanish speakers: arousal is 0.62 against 0.44 of the others" in page
    both = page_html(*run([row(passed=True, value=0.01)]), NOTHING)
    assert "margin of 0.075; passes the published rule (|value| &lt; 0.075)</small>" in both


def group(label, gap, half, p, **given):
    """Make a row of a group with a difference and half the width of its interval."""
    low, high = gap - half, gap + half
    evidence = "clear pass" if max(-low, high) < 0.1 else "clear fail" if min(-low, high) < -0.1 else "open"
    base = {"model": "m", "family": "fairness_sex", "test": "Recall Per Class", "label": label, "blocks": 5}
    base |= {"group": "sex: female", "rule": "|gap| <", "threshold": 0.1, "matters": 0.1, "state": ""}
    base |= {"passed": abs(gap) < 0.1, "gap": gap, "gap_low": low, "gap_high": high, "evidence": evidence}
    base |= {"bound": max(-low, high), "p_value": p, "holds": None, "least_p": 2 / 252}
    return row(**base | {"group_value": 0.5 + gap, "others_value": 0.5} | given)


ABOUT = dict.fromkeys(("title", "question", "digest"), "") | {"headline": ("Concordance *",)}
SEX = record(families=[ABOUT | {"name": "fairness_sex", "category": "fairness"}])


def rows_of(*rows, accepted=""):
    """Make finished rows as the book has them."""
    frame = facts_of(decide(to_frame(rows)), SEX, NOTHING)
    frame["accepted"] = frame["label"].eq("anger").map({True: accepted, False: ""})
    return among_all(frame)


def answer(*rows):
    return str(executed.answer(SEX, rows_of(*rows)))


GROUPS = [group("anger", -0.3, 0.1, 0.0079), group("fear", 0.02, 0.05, 0.8), group("joy", 0.15, 0.2, 0.3)]


def test_the_final_table_replaces_the_first_of_a_notebook(tmp_path):
    before = str(verdict_table(to_frame(GROUPS)))
    assert "too few" not in before and "among" not in before
    after = executed.final_table(SEX, rows_of(*GROUPS, accepted=IMAGE))
    assert [after.count(str(state_mark(state))) for state in (FAIL, INCONCLUSIVE, PASS)] == [1, 1, 1]
    assert after.count("among 3 tests") == 2 and after.count("accepted: &lt;img") == 1 and "<img" not in after
    outcome, text = StudyRecord(name="f", status="ok", error=""), "<p>x</p>"
    for tables, wanted in (([before, text, before], [after, text, ""]), ([text], [text, after])):
        outputs = [{"output_type": "display_data", "data": {"text/html": html}} for html in tables]
        cell = {"cell_type": "code", "source": "1", "outputs": outputs}
        (tmp_path / "n.ipynb").write_text(json.dumps({"cells": [cell]}))
        _, _, *cells = executed.cells(tmp_path / "n.ipynb", "m: F", outcome, tmp_path, after)
        assert [output["data"]["text/html"] for cell in cells for output in cell["outputs"]] == wanted


def test_what_could_not_be_significant_alone_is_said():
    def rows(**given):
        many = [group(f"{n}", 0.02, 0.2 if n < 9 else 0.05, 0.8, **given) for n in range(53)]
        return rows_of(group("anger", -0.3, 0.1, 0.0079, **given), *many)

    html = str(executed.final_table(SEX, rows()))
    assert "10 tests could not be significant alone" in html and "too few speakers to be significant" in html
    assert "at least p = 0.0079, too much among 54 tests." in html  # passes need not
    assert "could not be significant" not in str(executed.limits(rows(least_p=None)))


def test_the_answer_is_the_headline_test_with_both_values_then_the_largest_other_failure():
    headline = {"test": "Concordance Correlation Coeff", "group_value": 0.13, "others_value": 0.57}
    rows = *GROUPS, group("", -0.2, 0.15, 0.001, **headline)
    text, places = answer(*rows), {row.label: f"#{anchor_of(row)}" for row in rows_of(*rows).itertuples()}
    first = "Concordance of arousal of female speakers is 0.13 against 0.57 of the others"
    other = "Recall of anger of female speakers is 0.20 against 0.50 of the others"
    assert f'<a href="{places[""]}"><strong>{first}</strong></a> (difference −0.20' in text
    assert f'Largest other failure: <a href="{places["anger"]}">{other}</a> (difference −0.30' in text
    assert text.index(str(state_mark(FAIL))) < text.index(first) < text.index("2 of 4 tests fail.")
    passing = answer(*GROUPS, group("", 0.01, 0.05, 0.9, **headline))
    assert str(state_mark(PASS)) in passing and 'Largest other failure: <a href="#row-' in passing
    unknown = answer(*GROUPS, group("", 0.15, 0.2, 0.3, **headline))
    assert "No group fails the headline test; largest difference: " in unknown
    assert f"<strong>{other}</strong>" in answer(*GROUPS)  # no headline test was judged


UNKNOWN = FEW | {"state": "", "state_sample": "", "evidence": "none", "p_value": None, "p_sample": 0.001}
MISSING = dict.fromkeys(("passed", "value", "gap", "bound", "holds"))
MISSING |= {"skipped": "too few <b>", "evidence": ""}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(**UNKNOWN)], "Nothing could be concluded: 1 difference has too few speakers."),
        ([dataclasses.replace(GROUPS[1], **MISSING)], "Not evaluated: too few &lt;b&gt;"),
        (
            [group("anger", -0.3, 0.1, 0.0079, rule="|value| <", passed=True, threshold=0.2)],
            "By the published rule (group minus all), 0 of 1 fail; the two rules differ for 1",
        ),
    ],
)
def test_the_answer_without_a_failure_is_no_all_clear(rows, said):
    assert said in answer(*rows)
