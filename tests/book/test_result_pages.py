"""The final table stands in the place of a notebook's own; the answer above it agrees with it."""

import dataclasses

import pandas as pd
import pytest

from soundcheck.book import result_pages
from soundcheck.report import states
from soundcheck.report.verdict_tables import among_all, anchor_of, verdict_table
from soundcheck.results.estimates import estimate_frame
from soundcheck.results.facts import facts_of
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS, decide
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

HOSTILE = "<img src=x onerror=alert(1)>"
NOTHING = dict.fromkeys(("gap", "gap_low", "gap_high", "bound", "p_value", "matters", "least_p"))


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


def value(test: str, number: float, low: float, p: float) -> Verdict:
    base = dict(
        **dict(model="m", corpus="c", family="f", category="correctness", task="arousal", test=test),
        **dict(value=number, low=low, high=number + 0.1, segments=40, blocks=30, threshold=0.5, rule=">"),
        **dict(passed=number > 0.5, gap=number - 0.5, evidence="open", bound=low, p_value=p),
    )
    return Verdict(**base)


@pytest.fixture
def rows_of(recorded):
    """Make finished rows as the book has them; headline tests are those of ``headline``."""

    def make(*rows: Verdict, headline=("Concordance *",), accepted="") -> pd.DataFrame:
        about = {"title": "", "category": "fairness", "question": "?", "digest": "d", "headline": headline}
        record = recorded(families=[{"name": "fairness_sex"} | about])
        frame = facts_of(decide(to_frame(rows)), record, estimate_frame([]))
        frame["accepted"] = frame["label"].eq("anger").map({True: accepted, False: ""})
        return among_all(frame)

    return make


@pytest.fixture
def answer(recorded):
    return lambda rows: str(result_pages.answer(recorded(), rows))


ROWS = [group("anger", -0.3, 0.1, 0.0079), group("fear", 0.02, 0.05, 0.8), group("joy", 0.15, 0.2, 0.3)]


def test_the_final_table_replaces_the_first_of_a_notebook(rows_of, recorded):
    before = str(verdict_table(to_frame(ROWS)))
    assert "too few" not in before and "among" not in before
    put = result_pages.FinalTable(recorded(), rows_of(*ROWS, accepted=HOSTILE))
    after = put(before)
    assert [after.count(str(states.mark(state))) for state in (FAIL, INCONCLUSIVE, PASS)] == [1, 1, 1]
    assert after.count("among 3 tests") == 2 and after.count("accepted: &lt;img") == 1
    assert put("<p>else</p>") == "<p>else</p>" and put(before) == "" and put.placed and "<img" not in after


def test_what_could_not_be_significant_alone_is_said(rows_of, recorded):
    many = [group(f"{n}", 0.02, 0.2 if n < 9 else 0.05, 0.8) for n in range(53)]
    rows = [group("anger", -0.3, 0.1, 0.0079), *many]
    rows += [dataclasses.replace(row, group="sex: male") for row in rows]
    html = str(result_pages.FinalTable(recorded(), rows_of(*rows)).html)
    assert "10 tests could not be significant alone" in html and "too few speakers to be significant" in html
    assert "at least p = 0.0079, too much among 54 tests." in html  # passes need not
    enough = rows_of(*(dataclasses.replace(row, least_p=None) for row in rows))
    assert "could not be significant" not in str(result_pages.limits(enough))


def test_the_answer_is_the_headline_test_with_both_values_then_the_largest_other_failure(rows_of, answer):
    concordance = {"test": "Concordance Correlation Coeff", "group_value": 0.13, "others_value": 0.57}
    rows = rows_of(*ROWS, group("", -0.2, 0.15, 0.001, **concordance))
    text = answer(rows)
    first = "Concordance of arousal of female speakers is 0.13 against 0.57 of the others"
    other = "Recall of anger of female speakers is 0.20 against 0.50 of the others"
    places = {row.label: f"#{anchor_of(row)}" for row in rows.itertuples()}
    assert f'<a href="{places[""]}"><strong>{first}</strong></a> (difference −0.20' in text
    assert f'Largest other failure: <a href="{places["anger"]}">{other}</a> (difference −0.30' in text
    assert "5 speakers, surely beyond the margin of 0.10)." in text
    assert text.index(str(states.mark(FAIL))) < text.index(first) < text.index("2 of 4 tests fail.")
    passing = answer(rows_of(*ROWS, group("", 0.01, 0.05, 0.9, **concordance)))
    assert (
        str(states.mark(PASS)) in passing and f'Largest other failure: <a href="{places["anger"]}"' in passing
    )
    assert f"<strong>{other}</strong>" in answer(rows_of(*ROWS))  # no headline test was judged


def test_the_answer_without_a_failure_is_no_all_clear(rows_of, answer):
    text = answer(rows_of(value("CCC", 0.55, 0.42, 0.9), value("PCC", 0.6, 0.49, 0.95)))
    assert "Nothing could be concluded: 2 inconclusive, 0 not evaluated." in text
    unclear = answer(rows_of(group("joy", 0.15, 0.2, 0.3)))
    assert "No group shown to be worse; largest difference, inconclusive: recall" in unclear
    few = dict(gap_low=None, gap_high=None, bound=None, evidence="none", least_p=None, blocks=2)
    few |= dict(gap_low_sample=0.1, gap_high_sample=0.3, p_sample=0.001)
    text = answer(rows_of(group("a", 0.2, 0.1, None, **few)))
    assert "Too few speakers to generalise; for these, recall" in text
    assert "Nothing could be concluded: 1 difference has too few speakers." in text


def test_pages_without_a_judged_row_say_why(rows_of, answer, recorded):
    reported = NOTHING | dict(passed=None, threshold=None, evidence="shown", skipped="no threshold")
    assert "values are reported" in answer(rows_of(dataclasses.replace(ROWS[1], task="style", **reported)))
    missing = dict.fromkeys(("passed", "value", "gap", "bound")) | {"skipped": "too few <b>", "evidence": ""}
    assert "Not evaluated: too few &lt;b&gt;" in answer(rows_of(dataclasses.replace(ROWS[2], **missing)))
    empty = rows_of(*ROWS).iloc[:0]
    assert "<table" not in result_pages.FinalTable(recorded(), empty).html
    assert "There are no tests" in answer(empty)
    rows = [group("anger", -0.3, 0.1, 0.0079, rule="|value| <", passed=True, threshold=0.2)]
    text = answer(rows_of(*rows))
    assert "By the published rule (group minus all), 0 of 1 fail; the two rules differ for 1" in text
