"""Cells that notebooks leave open are filled from the settled results; the answer agrees with them."""

import dataclasses
import re

import pandas as pd
import pytest

from soundcheck import results
from soundcheck.book import answers, settled
from soundcheck.report import states
from soundcheck.report.verdict_tables import anchor_of, key_of, verdict_table, without_row
from soundcheck.results import Verdict, settle
from soundcheck.results.verdict import CLEAR_PASS, HOLDS, OPEN_FAIL

HOSTILE = "<img src=x onerror=alert(1)>"
EMPTY_NOTE = '<div class="sc-note sc-limits"></div>'
OPEN = rf"<td data-key.*?</td>|{EMPTY_NOTE}"  # what a notebook leaves to the book


def group(label: str, gap: float, half: float, p: float | None, **given) -> Verdict:
    """Make a row of a group with a gap and half the width of its interval."""
    low, high = gap - half, gap + half
    evidence = "clear pass" if max(-low, high) < 0.1 else "clear fail" if min(-low, high) < -0.1 else "open"
    base = dict(
        **dict(model="m", corpus="c", family="fairness_sex", category="fairness", task="arousal"),
        **dict(test="Recall Per Class", label=label, group="sex: female", value=gap / 2, segments=40),
        **dict(blocks=5, threshold=0.1, rule="|gap| <", passed=abs(gap) < 0.1, gap=gap, gap_low=low),
        **dict(
            gap_high=high, matters=0.1, evidence=evidence, bound=max(-low, high), p_value=p, least_p=2 / 252
        ),
    )
    return Verdict(**(base | given))


def value(test: str, number: float, low: float, p: float, **given) -> Verdict:
    base = dict(
        **dict(model="m", corpus="c", family="f", category="correctness", task="arousal", test=test),
        **dict(value=number, low=low, high=number + 0.1, segments=40, blocks=30, threshold=0.5, rule=">"),
        **dict(passed=number > 0.5, gap=number - 0.5, evidence="open", bound=low, p_value=p),
    )
    return Verdict(**(base | given))


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [group("anger", -0.3, 0.1, 0.0079), group("fear", 0.02, 0.05, 0.8), group("joy", 0.15, 0.2, 0.3)]
    return settle(results.to_frame(rows))


def filled(table: pd.DataFrame, shown: str | None = None) -> str:
    among = settled.among(table)
    fill = settled.Filling(settled.settled_cells(table, among), str(settled.limits(table, among)))
    return fill(str(verdict_table(table.assign(holds=None))) if shown is None else shown)


def test_a_notebook_does_not_know_what_holds_and_the_book_fills_it_in(table):
    before = str(verdict_table(table.assign(holds=None)))
    assert str(states.mark(HOLDS)) not in before
    after = filled(table)
    assert after.count(str(states.mark(HOLDS))) == 1
    assert after.count(str(states.mark(OPEN_FAIL))) == 1 and after.count(str(states.mark(CLEAR_PASS))) == 1
    assert after.count("among 3 tests") == 2
    assert re.sub(OPEN, "", before) == re.sub(OPEN, "", after)


def test_cells_of_unknown_rows_stay_as_the_notebook_made_them(table):
    before = str(verdict_table(table.assign(model="another", holds=None)))
    assert filled(table, before) == before.replace(EMPTY_NOTE, "")


def test_filling_twice_changes_nothing(table):
    once = filled(table)
    assert filled(table, once) == once


def test_what_could_not_hold_alone_is_said_with_the_number_of_speakers():
    many = [group(f"{n}", 0.02, 0.2 if n < 9 else 0.05, 0.8) for n in range(53)]
    rows = [group("anger", -0.3, 0.1, 0.0079), *many]
    rows += [dataclasses.replace(row, group="sex: male") for row in rows]
    table = settle(results.to_frame(rows))
    after = filled(table)
    assert "20 open tests could not hold alone" in after  # clear passes need not
    assert "20 tests: 5 against 5 speakers cannot show it among 108 tests" in after and "p = 0.0079" in after
    assert "too few speakers to hold alone" in after
    lacking = table.assign(blocks=table["blocks"].where(table["label"].ne("0"), 4))  # a class that one lacks
    assert "20 tests: 5 against 5 speakers" in filled(settle(lacking))
    unlike = settle(table.assign(blocks=4))
    assert "so few speakers cannot show it among 108 tests" in filled(unlike)
    enough = table.assign(least_p=None)
    enough["least_p"] = enough["least_p"].astype(float)
    assert "could not hold" not in filled(enough)


def test_accepted_failures_keep_their_reason(table):
    place = table.index[table["label"].eq("anger")][0]
    among = settled.among(table, table["label"].eq("anger").map({True: HOSTILE, False: ""}))
    cells = settled.settled_cells(table, among)
    cell = cells[key_of(next(table.loc[[place]].itertuples()))]
    assert "accepted: &lt;img" in cell and "<img" not in cell


def test_the_answer_names_what_holds_and_how_much_may_hide(table):
    text = str(answers.answer(table, f"Is it fair? {HOSTILE}"))
    assert "Of 3 tests, 1 failure holds: " in text
    said = "recall per class of arousal, anger, of female speakers is 0.30 lower than that of the others"
    key = key_of(next(table[table["label"].eq("anger")].itertuples()))
    assert f'<a href="#{anchor_of(key)}">{said}</a> (95 % 0.20 to 0.40, 5 speakers; 0.10 matters)' in text
    assert f'id="{anchor_of(key)}"' in filled(table)
    assert "; 1 is a clear pass, 1 is open." in text
    assert "Open: a gap of up to 0.350 may hide (arousal" in text
    assert "<table" not in text and "<img" not in text


def test_the_answer_for_values_tells_how_far_beyond_the_threshold():
    table = settle(results.to_frame([value("CCC", 0.55, 0.42, 0.9), value("PCC", 0.6, 0.49, 0.95)]))
    text = str(answers.answer(table, "Good?"))
    assert (
        "no failure holds; none is a clear pass, 2 are open." in text and "Open: up to 0.080 beyond" in text
    )
    assert "(arousal · CCC)" in text


def test_open_tests_without_interval_rule_nothing_out():
    rows = [
        group("a", 0.2, 0.1, None, gap_low=None, gap_high=None, bound=None, evidence="none", least_p=None)
    ]
    text = str(answers.answer(settle(results.to_frame(rows)), "Fair?"))
    assert "1 is open.</p>" in text and "Open: it has no interval, so nothing is ruled out there." in text


def test_nothing_judged_is_said():
    rows = [group("a", 0.2, 0.1, None, passed=None, skipped="too few <b>", evidence="", bound=None)]
    text = str(answers.answer(settle(results.to_frame(rows)), "Fair?"))
    assert "None of 1 test was judged: too few &lt;b&gt;." in text


def test_pages_without_rows_are_possible(table):
    empty = table.iloc[:0]
    among = settled.among(empty)
    assert settled.settled_cells(empty, among) == {} and str(settled.limits(empty, among)) == ""
    assert "There are no tests." in str(answers.answer(empty, "Fair?", (), among))


def test_large_families_begin_with_a_table_of_what_holds():
    rows = [group("anger", -0.3, 0.1, 0.0002), *(group(f"{n}", 0.02, 0.05, 0.8) for n in range(60))]
    table = settle(results.to_frame(rows))
    text = str(answers.answer(table, "Fair?", ["hollow at x: <b>"], settled.among(table)))
    assert "What holds" in text and text.count("<tr") == 2 and "among 61 tests" in text
    assert "Hollow at x: &lt;b&gt;." in text


def test_excess_knows_the_rules():
    rows = [
        value("above", 0.45, 0.3, 0.2),
        value("below", 0.2, 0.1, 0.2, rule="<", threshold=0.1, bound=0.4, passed=False),
        value("size", -0.2, -0.4, 0.2, rule="|value| <", threshold=0.1, bound=0.4, passed=False),
        group("gap", -0.3, 0.1, 0.01),
    ]
    table = results.to_frame(rows)
    found = dict(zip(table["test"], answers.excess(table), strict=True))
    expected = {"above": 0.2, "below": 0.3, "size": 0.3, "Recall Per Class": 0.4}
    assert found == {test: pytest.approx(size) for test, size in expected.items()}


def test_values_without_threshold_are_counted_apart():
    without = {"passed": None, "threshold": None, "reference_passed": None, "certainty": None}
    without |= {"evidence": "shown", "skipped": "no threshold for style: shown without verdict"}
    without |= dict.fromkeys(
        ("gap", "gap_low", "gap_high", "bound", "p_value", "matters", "holds", "least_p")
    )
    judged = group("a", 0.01, 0.02, 0.5)
    shown = dataclasses.replace(judged, task="style", **without)
    both = str(answers.answer(settle(results.to_frame([judged, shown])), "Fair?"))
    assert "Of 1 test," in both and " 1 value shown without verdict, for want of a threshold." in both
    alone = str(answers.answer(settle(results.to_frame([shown])), "Fair?"))
    assert "There is no verdict. 1 value shown without verdict" in alone


def test_rows_without_a_place_in_a_table_have_one_for_links():
    nothing = dict.fromkeys(("value", "low", "high", "gap", "passed", "bound", "p_value"))
    nothing |= {"evidence": "", "skipped": "no labels"}
    rows = [value("MAE", 0.6, 0.5, 0.5)]
    for test, task in (("A", "valence"), ("B", "valence"), ("C", "emotion")):
        rows.append(dataclasses.replace(value(test, 0.0, 0.0, 1.0), task=task, **nothing))
    table = settle(results.to_frame(rows))
    among = settled.among(table)
    fill = settled.Filling(settled.settled_cells(table, among))
    late = table["task"].eq("emotion")
    shown = fill(2 * str(verdict_table(table[~late])))
    rest = fill(str(without_row(table[late])))
    anchors = {row.test: f'id="{anchor_of(key_of(row))}"' for row in table.itertuples()}
    assert {test: shown.count(anchor) for test, anchor in anchors.items()} == {
        "MAE": 1,
        "A": 1,
        "B": 1,
        "C": 0,
    }
    assert "valence: 2 tests skipped: no labels" in shown
    assert anchors["C"] in rest and "emotion: 1 test skipped: no labels" in rest
    assert "data-key" not in rest
