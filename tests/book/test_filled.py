"""Cells that notebooks leave empty are filled from the finished results; the answer agrees with them."""

import dataclasses
import re

import pandas as pd
import pytest

from soundcheck.book import answers, filled
from soundcheck.report import states
from soundcheck.report.verdict_tables import anchor_of, key_of, verdict_table, without_row
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS, decide
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

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
        **dict(gap_high=high, matters=0.1, evidence=evidence, bound=max(-low, high), p_value=p),
        **dict(least_p=2 / 252, group_value=0.5 + gap, others_value=0.5, against="others"),
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
    return decide(to_frame(rows))


def by_book(table: pd.DataFrame, shown: str | None = None) -> str:
    among = filled.among(table)
    fill = filled.Filling(filled.finished_cells(table, among), str(filled.limits(table, among)))
    return fill(str(verdict_table(table.assign(state=""))) if shown is None else shown)


def test_a_notebook_does_not_know_the_states_and_the_book_fills_them_in(table):
    before = str(verdict_table(table.assign(state="")))
    assert "too few" not in before and "accepted" not in before
    after = by_book(table)
    for state in (FAIL, INCONCLUSIVE, PASS):
        assert after.count(str(states.mark(state))) == 1
    assert after.count("among 3 tests") == 2
    assert re.sub(OPEN, "", before) == re.sub(OPEN, "", after)


def test_cells_of_unknown_rows_stay_as_the_notebook_made_them(table):
    before = str(verdict_table(table.assign(model="another", state="")))
    assert by_book(table, before) == before.replace(EMPTY_NOTE, "")


def test_filling_twice_changes_nothing(table):
    once = by_book(table)
    assert by_book(table, once) == once


def test_what_could_not_be_significant_alone_is_said_with_the_number_of_speakers():
    many = [group(f"{n}", 0.02, 0.2 if n < 9 else 0.05, 0.8) for n in range(53)]
    rows = [group("anger", -0.3, 0.1, 0.0079), *many]
    rows += [dataclasses.replace(row, group="sex: male") for row in rows]
    table = decide(to_frame(rows))
    after = by_book(table)
    assert "10 tests could not be significant alone" in after  # passes need not
    assert "10 tests: 5 against 5 speakers cannot show it among 54 tests" in after and "p = 0.0079" in after
    assert "too few speakers to be significant alone" in after
    lacking = table.assign(blocks=table["blocks"].where(table["label"].ne("0"), 4))  # a class that one lacks
    assert "10 tests: 5 against 5 speakers" in by_book(decide(lacking))
    unlike = decide(table.assign(blocks=4))
    assert "so few speakers cannot show it among 54 tests" in by_book(unlike)
    enough = table.assign(least_p=None)
    enough["least_p"] = enough["least_p"].astype(float)
    assert "could not be significant" not in by_book(enough)


def test_accepted_failures_keep_their_reason(table):
    place = table.index[table["label"].eq("anger")][0]
    among = filled.among(table, table["label"].eq("anger").map({True: HOSTILE, False: ""}))
    cells = filled.finished_cells(table, among)
    cell = cells[key_of(next(table.loc[[place]].itertuples()))]
    assert "accepted: &lt;img" in cell and "<img" not in cell


def test_the_answer_names_what_fails_and_what_is_not_excluded(table):
    text = str(answers.answer(table, f"Is it fair? {HOSTILE}"))
    assert "1 of 3 tests fails: " in text
    said = "recall per class of arousal, anger, of female speakers is 0.20 against 0.50 of the others"
    key = key_of(next(table[table["label"].eq("anger")].itertuples()))
    rests = "difference −0.30, 95 % −0.40 to −0.20, 5 speakers, surely beyond the margin of 0.10"
    assert f'<a href="#{anchor_of(key)}">{said}</a> ({rests}). 1 pass, 1 fail, 1 inconclusive' in text
    assert f'id="{anchor_of(key)}"' in by_book(table)
    assert "Inconclusive: a difference of up to 0.350 is not excluded (arousal" in text
    assert "<table" not in text and "<img" not in text


def test_the_answer_for_values_that_are_inconclusive():
    table = decide(to_frame([value("CCC", 0.55, 0.42, 0.9), value("PCC", 0.6, 0.49, 0.95)]))
    text = str(answers.answer(table, "Good?"))
    assert "Nothing could be concluded: 2 inconclusive, 0 not evaluated." in text
    assert "Inconclusive:" not in text


def test_few_speakers_are_no_all_clear():
    few = dict(gap_low=None, gap_high=None, bound=None, evidence="none", least_p=None, blocks=2)
    few |= dict(gap_low_sample=0.1, gap_high_sample=0.3, p_sample=0.001)
    text = str(answers.answer(decide(to_frame([group("a", 0.2, 0.1, None, **few)])), "Fair?"))
    assert "Nothing could be concluded: 1 difference has too few speakers." in text
    assert "1 difference with too few speakers to generalise; 1 test without interval" in text


def test_both_rules_stand_together():
    rows = [group("anger", -0.3, 0.1, 0.0079, rule="|value| <", passed=True, threshold=0.2)]
    text = str(answers.answer(decide(to_frame(rows)), "Fair?"))
    assert "passes the published rule (|value| &lt; 0.2)" in text and "more than the margin of 0.10" in text


def test_nothing_evaluated_is_said():
    rows = [
        group("a", 0.2, 0.1, None, passed=None, value=None, skipped="too few <b>", evidence="", bound=None)
    ]
    text = str(answers.answer(decide(to_frame(rows)), "Fair?"))
    assert "1 not evaluated, 0 reported. Not evaluated: too few &lt;b&gt;." in text


def test_pages_without_rows_are_possible(table):
    empty = table.iloc[:0]
    among = filled.among(empty)
    assert filled.finished_cells(empty, among) == {} and str(filled.limits(empty, among)) == ""
    assert "There are no tests." in str(answers.answer(empty, "Fair?", (), among))


def test_large_families_begin_with_a_table_of_what_fails():
    rows = [group("anger", -0.3, 0.1, 0.0002), *(group(f"{n}", 0.02, 0.05, 0.8) for n in range(60))]
    table = decide(to_frame(rows))
    text = str(answers.answer(table, "Fair?", ["worse than chance at x: <b>"], filled.among(table)))
    assert "What fails" in text and text.count("<tr") == 2 and "among 61 tests" in text
    assert "Worse than chance at x: &lt;b&gt;." in text


def test_values_without_threshold_are_counted_apart():
    without = {"passed": None, "threshold": None, "reference_passed": None, "certainty": None}
    without |= {"evidence": "shown", "skipped": "no threshold for style: shown without verdict"}
    without |= dict.fromkeys(("gap", "gap_low", "gap_high", "bound", "p_value", "matters", "least_p"))
    judged = group("a", 0.01, 0.02, 0.5)
    reported = dataclasses.replace(judged, task="style", **without)
    both = str(answers.answer(decide(to_frame([judged, reported])), "Fair?"))
    assert "None of 1 test fails. 1 pass, 0 fail, 0 inconclusive, 0 not evaluated, 1 reported." in both
    alone = str(answers.answer(decide(to_frame([reported])), "Fair?"))
    assert "1 reported. No threshold is set, so nothing judges the values." in alone


def test_rows_without_a_place_in_a_table_have_one_for_links():
    nothing = dict.fromkeys(("value", "low", "high", "gap", "passed", "bound", "p_value"))
    nothing |= {"evidence": "", "skipped": "no labels"}
    rows = [value("MAE", 0.6, 0.5, 0.5)]
    for test, task in (("A", "valence"), ("B", "valence"), ("C", "emotion")):
        rows.append(dataclasses.replace(value(test, 0.0, 0.0, 1.0), task=task, **nothing))
    table = decide(to_frame(rows))
    among = filled.among(table)
    fill = filled.Filling(filled.finished_cells(table, among))
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
    assert "valence: 2 tests not evaluated: no labels" in shown
    assert anchors["C"] in rest and "emotion: 1 test not evaluated: no labels" in rest
    assert "data-key" not in rest
