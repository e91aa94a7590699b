"""The final table stands in the place of a notebook's own; the answer above it agrees with it."""

import dataclasses

import pandas as pd
import pytest

from soundcheck.book import result_pages
from soundcheck.report import states
from soundcheck.report.verdict_tables import anchor_of, verdict_table
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS, decide
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

HOSTILE = "<img src=x onerror=alert(1)>"


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


def final(table: pd.DataFrame, accepted: pd.Series | None = None) -> result_pages.FinalTable:
    return result_pages.FinalTable(table, result_pages.among(table, accepted), {})


def answer(table: pd.DataFrame, *notes: str) -> str:
    return str(result_pages.answer(table, notes, lambda _: "speaker"))


def test_the_final_table_replaces_the_first_of_a_notebook(table):
    before = str(verdict_table(table.assign(state="")))
    assert "too few" not in before and "among" not in before
    put = final(table)
    after = put(before)
    for state in (FAIL, INCONCLUSIVE, PASS):
        assert after.count(str(states.mark(state))) == 1
    assert after.count("among 3 tests") == 2
    assert put("<p>else</p>") == "<p>else</p>" and put(before) == "" and put.placed


def test_what_could_not_be_significant_alone_is_said_with_the_number_of_speakers():
    many = [group(f"{n}", 0.02, 0.2 if n < 9 else 0.05, 0.8) for n in range(53)]
    rows = [group("anger", -0.3, 0.1, 0.0079), *many]
    rows += [dataclasses.replace(row, group="sex: male") for row in rows]
    table = decide(to_frame(rows))
    after = str(final(table).html)
    assert "10 tests could not be significant alone" in after  # passes need not
    assert (
        "10 tests: 5 against 5 speakers cannot show it among 54 tests" in after and "give is 0.0079" in after
    )
    assert "too few speakers to be significant alone" in after
    lacking = table.assign(blocks=table["blocks"].where(table["label"].ne("0"), 4))  # a class that one lacks
    assert "10 tests: 5 against 5 speakers" in str(final(decide(lacking)).html)
    assert "so few speakers cannot show it among 54 tests" in str(final(decide(table.assign(blocks=4))).html)
    enough = table.assign(least_p=None)
    enough["least_p"] = enough["least_p"].astype(float)
    assert "could not be significant" not in str(final(enough).html)


def test_accepted_failures_keep_their_reason(table):
    html = str(final(table, table["label"].eq("anger").map({True: HOSTILE, False: ""})).html)
    assert html.count("accepted: &lt;img") == 1 and "<img" not in html


def test_the_answer_is_the_worst_fact_with_both_values(table):
    text = answer(table)
    said = "Recall of anger of female speakers is 0.20 against 0.50 of the others"
    place = anchor_of(next(table[table["label"].eq("anger")].itertuples()))
    rests = "difference −0.30, 95 % −0.40 to −0.20, 5 speakers, surely beyond the margin of 0.10"
    assert f'<a href="#{place}"><strong>{said}</strong></a> ({rests}).' in text
    assert f'id="{place}"' in final(table).html
    assert text.index(str(states.mark(FAIL))) < text.index(said) < text.index("1 of 3 tests fails.")


def test_the_answer_without_a_failure_is_no_all_clear():
    table = decide(to_frame([value("CCC", 0.55, 0.42, 0.9), value("PCC", 0.6, 0.49, 0.95)]))
    assert "Nothing could be concluded: 2 inconclusive, 0 not evaluated." in answer(table)
    unclear = decide(to_frame([group("joy", 0.15, 0.2, 0.3)]))
    assert "No group shown to be worse; largest difference, inconclusive: recall" in answer(unclear)
    few = dict(gap_low=None, gap_high=None, bound=None, evidence="none", least_p=None, blocks=2)
    few |= dict(gap_low_sample=0.1, gap_high_sample=0.3, p_sample=0.001)
    text = answer(decide(to_frame([group("a", 0.2, 0.1, None, **few)])))
    assert "Too few speakers to generalise; for these, recall" in text
    assert "Nothing could be concluded: 1 difference has too few speakers." in text


def test_both_rules_are_counted_and_told_apart():
    rows = [group("anger", -0.3, 0.1, 0.0079, rule="|value| <", passed=True, threshold=0.2)]
    text = answer(decide(to_frame(rows)))
    assert "By the rule on group minus all, 0 of 1 fail; for 1 the two rules differ" in text


def test_nothing_evaluated_is_said():
    nothing = dict.fromkeys(("passed", "value", "gap", "bound")) | {"skipped": "too few <b>", "evidence": ""}
    table = decide(to_frame([dataclasses.replace(group("a", 0.2, 0.1, None), **nothing)]))
    assert "Not evaluated: too few &lt;b&gt;" in answer(table)


def test_pages_without_rows_are_possible(table):
    empty = table.iloc[:0]
    assert "<table" not in final(empty).html
    assert "There are no tests" in answer(empty, "worse than chance at x: <b>")
    assert "Worse than chance at x: &lt;b&gt;." in answer(table, "worse than chance at x: <b>")


def test_values_without_threshold_are_reported():
    without = {"passed": None, "threshold": None, "reference_passed": None, "certainty": None}
    without |= {"evidence": "shown", "skipped": "no threshold for style: reported"}
    without |= dict.fromkeys(("gap", "gap_low", "gap_high", "bound", "p_value", "matters", "least_p"))
    reported = dataclasses.replace(group("a", 0.01, 0.02, 0.5), task="style", **without)
    assert "No threshold is set: values are reported" in answer(decide(to_frame([reported])))
