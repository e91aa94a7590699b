"""The final table stands in the place of a notebook's own; the answer above it agrees with it."""

import dataclasses
import json

import pytest
from tests.support.rows import CORRECT, FEW, row

from soundcheck.book import executed
from soundcheck.report.formats import state_mark
from soundcheck.report.verdict_tables import among_all, anchor_of, verdict_table
from soundcheck.results.estimates import estimate_frame
from soundcheck.results.facts import facts_of
from soundcheck.results.record import StudyRecord
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS, decide
from soundcheck.results.table import to_frame

HOSTILE = "<img src=x onerror=alert(1)>"


def group(label, gap, half, p, **given):
    """Make a row of a group with a difference and half the width of its interval."""
    low, high = gap - half, gap + half
    evidence = "clear pass" if max(-low, high) < 0.1 else "clear fail" if min(-low, high) < -0.1 else "open"
    base = {"model": "m", "family": "fairness_sex", "test": "Recall Per Class", "label": label, "blocks": 5}
    base |= {"group": "sex: female", "rule": "|gap| <", "threshold": 0.1, "matters": 0.1, "state": ""}
    base |= {"passed": abs(gap) < 0.1, "gap": gap, "gap_low": low, "gap_high": high, "evidence": evidence}
    base |= {"bound": max(-low, high), "p_value": p, "holds": None, "least_p": 2 / 252}
    return row(**base | {"group_value": 0.5 + gap, "others_value": 0.5} | given)


def value(test, number, low, p):
    base = CORRECT | {"test": test, "value": number, "low": low, "high": number + 0.1, "blocks": 30}
    base |= {"passed": number > 0.5, "gap": number - 0.5, "evidence": "open", "bound": low, "p_value": p}
    return row(**base | {"model": "m", "state": "", "holds": None})


@pytest.fixture
def record(recorded):
    family = dict.fromkeys(("title", "question", "digest"), "") | {"headline": ("Concordance *",)}
    return recorded(families=[family | {"name": "fairness_sex", "category": "fairness"}])


@pytest.fixture
def rows_of(record):
    """Make finished rows as the book has them."""

    def make(*rows, accepted=""):
        frame = facts_of(decide(to_frame(rows)), record, estimate_frame([]))
        frame["accepted"] = frame["label"].eq("anger").map({True: accepted, False: ""})
        return among_all(frame)

    return make


@pytest.fixture
def answer(record, rows_of):
    return lambda *rows: str(executed.answer(record, rows_of(*rows)))


ROWS = [group("anger", -0.3, 0.1, 0.0079), group("fear", 0.02, 0.05, 0.8), group("joy", 0.15, 0.2, 0.3)]


def test_the_final_table_replaces_the_first_of_a_notebook(rows_of, record, tmp_path):
    before = str(verdict_table(to_frame(ROWS)))
    assert "too few" not in before and "among" not in before
    after = executed.final_table(record, rows_of(*ROWS, accepted=HOSTILE))
    assert [after.count(str(state_mark(state))) for state in (FAIL, INCONCLUSIVE, PASS)] == [1, 1, 1]
    assert after.count("among 3 tests") == 2 and after.count("accepted: &lt;img") == 1 and "<img" not in after
    outcome, text = StudyRecord(name="f", status="ok", error=""), "<p>x</p>"
    for shown, wanted in (([before, text, before], [after, text, ""]), ([text], [text, after])):
        outputs = [{"output_type": "display_data", "data": {"text/html": html}} for html in shown]
        cell = {"cell_type": "code", "source": "1", "outputs": outputs}
        (tmp_path / "n.ipynb").write_text(json.dumps({"cells": [cell]}))
        _, _, *cells = executed.cells(tmp_path / "n.ipynb", "m: F", outcome, tmp_path, after)
        assert [one["data"]["text/html"] for cell in cells for one in cell["outputs"]] == wanted


def test_what_could_not_be_significant_alone_is_said(rows_of, record):
    def rows(**given):
        many = [group(f"{n}", 0.02, 0.2 if n < 9 else 0.05, 0.8, **given) for n in range(53)]
        return rows_of(group("anger", -0.3, 0.1, 0.0079, **given), *many)

    html = str(executed.final_table(record, rows()))
    assert "10 tests could not be significant alone" in html and "too few speakers to be significant" in html
    assert "at least p = 0.0079, too much among 54 tests." in html  # passes need not
    assert "could not be significant" not in str(executed.limits(rows(least_p=None)))


def test_the_answer_is_the_headline_test_with_both_values_then_the_largest_other_failure(rows_of, answer):
    headline = {"test": "Concordance Correlation Coeff", "group_value": 0.13, "others_value": 0.57}
    rows = *ROWS, group("", -0.2, 0.15, 0.001, **headline)
    text, places = answer(*rows), {one.label: f"#{anchor_of(one)}" for one in rows_of(*rows).itertuples()}
    first = "Concordance of arousal of female speakers is 0.13 against 0.57 of the others"
    other = "Recall of anger of female speakers is 0.20 against 0.50 of the others"
    assert f'<a href="{places[""]}"><strong>{first}</strong></a> (difference −0.20' in text
    assert f'Largest other failure: <a href="{places["anger"]}">{other}</a> (difference −0.30' in text
    assert text.index(str(state_mark(FAIL))) < text.index(first) < text.index("2 of 4 tests fail.")
    passing = answer(*ROWS, group("", 0.01, 0.05, 0.9, **headline))
    assert str(state_mark(PASS)) in passing and 'Largest other failure: <a href="#row-' in passing
    unknown = answer(*ROWS, group("", 0.15, 0.2, 0.3, **headline))
    assert "The headline measure shows no group to be worse; its largest difference: " in unknown
    assert f"<strong>{other}</strong>" in answer(*ROWS)  # no headline test was judged


UNKNOWN = FEW | {"state": "", "state_sample": "", "evidence": "none", "p_value": None, "p_sample": 0.001}
MISSING = dict.fromkeys(("passed", "value", "gap", "bound", "holds"))
MISSING |= {"skipped": "too few <b>", "evidence": ""}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([value("CCC", 0.55, 0.42, 0.9)], "Nothing could be concluded: 1 inconclusive, 0 not evaluated."),
        ([row(**UNKNOWN)], "Nothing could be concluded: 1 difference has too few speakers."),
        ([dataclasses.replace(ROWS[1], **MISSING)], "Not evaluated: too few &lt;b&gt;"),
        (
            [group("anger", -0.3, 0.1, 0.0079, rule="|value| <", passed=True, threshold=0.2)],
            "By the published rule (group minus all), 0 of 1 fail; the two rules differ for 1",
        ),
    ],
)
def test_the_answer_without_a_failure_is_no_all_clear(answer, rows, said):
    assert said in answer(*rows)


def test_pages_without_a_row_say_so(rows_of, record):
    empty = rows_of(*ROWS).iloc[:0]
    assert "<table" not in executed.final_table(record, empty)
    assert "There are no tests" in str(executed.answer(record, empty))
