"""A row of verdicts shows what it rests on; its state is a word and a sign, and the book may fill it in."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from soundcheck import results
from soundcheck.report import states, verdict_tables
from soundcheck.report.verdict_tables import Among, key_of, state_cell, verdict_table
from soundcheck.results import Verdict
from soundcheck.results.verdict import CLEAR_PASS, HOLDS, OPEN_FAIL, OPEN_PASS, STATES

HOSTILE = '<img src=x onerror="document.documentElement.dataset.pwn=1">'
GROUP = dict(
    category="fairness",
    group="sex: female",
    rule="|gap| <",
    threshold=0.1,
    matters=0.1,
    gap=-0.21,
    gap_low=-0.302,
    gap_high=-0.118,
    evidence="clear fail",
    bound=0.302,
    p_value=0.0004,
    passed=False,
)


def row(**given) -> Verdict:
    base = dict(
        model="m",
        corpus="c",
        family="f",
        category="correctness",
        task="arousal",
        test="Concordance Correlation Coeff",
        value=0.61234,
        low=0.55,
        high=0.67,
        segments=1234,
        blocks=24,
        threshold=0.5,
        rule=">",
        passed=True,
        certainty=0.987,
        reference=0.01,
        reference_passed=False,
    )
    return Verdict(**(base | given))


def shown(*rows: Verdict) -> str:
    return str(verdict_table(results.to_frame(rows)))


def one(**given):
    """Give a row of the table as pages see it."""
    return next(results.to_frame([row(**given)]).itertuples())


class Cells(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self._open = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._open = True
        elif self._open and self.rows[-1][-1]:
            self.rows[-1][-1] += " "

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._open = False

    def handle_data(self, data):
        if self._open:
            self.rows[-1][-1] += data


def test_a_number_keeps_its_company():
    html = shown(row(evidence="clear pass", p_value=0.99))
    line = " | ".join(Cells(html).rows[1])
    company = ("arousal", "0.612", "0.550 to 0.670", "1,234", "24 blocks", "> 0.5", "✓ clear pass", "0.010")
    assert all(part in line for part in company)
    assert "certain" not in html  # a share of replicates is no evidence


@pytest.mark.parametrize(
    ("given", "state"),
    [
        (dict(evidence="clear pass"), CLEAR_PASS),
        (dict(evidence="open"), OPEN_PASS),
        (dict(evidence="none"), OPEN_PASS),
        (dict(passed=False, value=0.2, evidence="clear fail", p_value=0.01), OPEN_FAIL),
        (dict(passed=False, value=0.2, evidence="open", p_value=0.01, holds=False), OPEN_FAIL),
        (dict(passed=False, value=0.2, evidence="open", p_value=0.01, holds=True), HOLDS),
    ],
)
def test_states_are_signs_and_words(given, state):
    html = shown(row(**given))
    assert str(states.mark(state)) in html
    others = [str(states.mark(name)) for name in STATES if name != state]
    assert not any(other in html for other in others)


def test_a_group_shows_its_gap_and_what_matters():
    published = GROUP | dict(test="Another", rule="|value| <", threshold=0.7, passed=True)
    rows = Cells(shown(row(**GROUP), row(**published), row())).rows
    place = rows[0].index("gap and 95 % interval")
    gap = "−0.210 −0.302 to −0.118"
    assert {line[place] for line in rows[1:]} == {"", gap, f"{gap} 0.1 matters"}
    assert not any("gap" in head for head in Cells(shown(row())).rows[0])


def test_an_adjusted_gap_stands_beside_the_gap_where_there_is_one():
    known = dict(
        adjusted=-0.03, adjusted_low=-0.1, adjusted_high=0.04, counterpart=0.93, adjusted_by="device"
    )
    refused = dict(task="valence", adjusted_by=f"none: {HOSTILE} decides the group")
    html = shown(row(**GROUP | known), row(**GROUP | refused), row())
    rows = Cells(html).rows
    place = rows[0].index("adjusted gap and 95 % interval")
    assert rows[0].index("gap and 95 % interval") == place - 1
    cells = {line[0]: line[place] for line in rows[1:]}
    assert "−0.030 −0.100 to 0.040 93 % with counterpart" in {line[place] for line in rows[1:]}
    assert cells["valence"] == f"– {HOSTILE} decides the group" and "<img" not in html
    assert "if both sides had the same device; no verdict rests on it" in html
    assert html.count("most of the gap goes with the device") == 1
    assert "adjusted" not in shown(row(**GROUP), row())


def test_what_a_state_rests_on_stands_below_it():
    alone = str(state_cell(one(**GROUP)).content)
    assert "p &lt; 0.001<" in alone and "even the smallest gap matters" in alone
    among = str(state_cell(one(**GROUP | dict(holds=True)), Among(108)).content)
    assert "p &lt; 0.001 among 108 tests" in among and "even the smallest gap matters" in among
    value = dict(value=0.2, passed=False, evidence="clear fail", p_value=0.2)
    assert "the whole interval fails" in str(state_cell(one(**value)).content)
    assert "p =" not in str(state_cell(one(evidence="clear pass", p_value=0.98), Among(108)).content)
    few = str(state_cell(one(**GROUP | dict(evidence="open")), Among(108, cannot_hold=True)).content)
    assert "too few speakers to hold alone" in few
    accepted = str(state_cell(one(**GROUP), Among(1, accepted=HOSTILE)).content)
    assert "accepted: &lt;img" in accepted and "<img" not in accepted


def test_failures_that_hold_are_sorted_first_and_skipped_rows_last():
    rows = [
        one(**GROUP | dict(holds=True)),
        one(**GROUP | dict(holds=False, p_value=0.01)),
        one(**GROUP | dict(holds=False, p_value=0.2)),
        one(evidence="open", p_value=0.6),
        one(evidence="clear pass", p_value=0.99),
        one(value=None, low=None, high=None, passed=None, certainty=None, skipped="no labels"),
    ]
    order = [state_cell(found).sort for found in rows]
    assert order == sorted(order) and len(set(order)) == len(order)


def test_the_key_of_a_row_is_its_own_and_harmless():
    keys = {key_of(one(label=label, group=group)) for label in ("a", "b") for group in ("", "b", HOSTILE)}
    assert len(keys) == 6 and all(re.fullmatch("[0-9a-f]{20}", key) for key in keys)
    assert f'<td data-key="{key_of(one())}" class="sc-state"' in shown(row())


def test_long_tables_are_folded():
    rows = [row(label=f"{n}") for n in range(verdict_tables.MOST_OPEN + 1)]
    assert "<details" not in shown(*rows[:-1])
    assert f"<summary>All {len(rows)} rows</summary>" in shown(*rows)


def test_what_is_skipped_as_a_whole_is_said_in_a_line():
    nothing = dict(value=None, passed=None, certainty=None, low=None, high=None, segments=0, blocks=0)
    reason = "the corpus has no column <b>"
    rows = [row(test="A"), *(row(corpus="other", test=t, skipped=reason, **nothing) for t in "BC")]
    html = shown(*rows)
    assert html.count("<tr") == 2 and html.count("– skipped") == 0
    assert "2 tests skipped: the corpus has no column &lt;b&gt;" in html
    assert shown(*rows[1:]).count("– skipped") == 2


def test_the_random_model_that_passes_too_is_marked():
    assert verdict_tables.REFERENCE in shown(row(reference=0.9, reference_passed=True))
    assert verdict_tables.REFERENCE not in shown(row())
    assert verdict_tables.REFERENCE not in shown(row(reference=None, reference_passed=None))


@pytest.mark.parametrize("blocks, marked", [(19, True), (20, False)])
def test_few_blocks_are_marked_with_the_measured_coverage(blocks, marked):
    html = shown(row(blocks=blocks))
    assert (f"{blocks} blocks †" in html) == marked
    assert ("hold the true value in 78 to 83 %" in html) == marked


def test_no_interval_no_mark():
    html = shown(row(blocks=1, low=None, high=None, certainty=None, skipped="interval withheld: 1 block"))
    assert "†" not in html
    assert "1 block<" in html
    assert "interval withheld: 1 block" in html


def test_labels_of_several_rows_and_corpora_are_told_apart():
    rows = Cells(shown(row(label="anger"), row(corpus="d", label="(-inf, 0.25]"))).rows
    assert rows[0][0].strip() == "corpus"
    assert "anger" in rows[1][2]
    assert "up to 0.25" in rows[2][2]


def test_hostile_text_stays_text():
    hostile = dict(model=HOSTILE, corpus=HOSTILE, task=HOSTILE, test=HOSTILE, label=HOSTILE, skipped=HOSTILE)
    html = shown(row(**hostile), row(), row(**GROUP | dict(group=HOSTILE)))
    assert "<img" not in html
    assert "img" not in Cells(html).tags


def test_decimals_of_a_test_are_kept():
    frame = results.to_frame([row(), row(test="Other")])
    first, second = Cells(str(verdict_table(frame, decimals={"Other": 1}))).rows[1:]
    assert "0.612 0.550 to 0.670" in first[3]
    assert "0.6 0.6 to 0.7" in second[3]


def test_single_bins_are_behind_a_line_that_says_how_they_are():
    bins = [
        row(test="Recall Per Bin", label=name, evidence="open") for name in ("(-inf, 0.25]", "(0.75, inf]")
    ]
    table = shown(row(), *bins)
    before, _, inside = table.partition("<details")
    assert "<summary>2 bins, by their own intervals all open</summary>" in inside
    assert "up to 0.25" in inside and "up to 0.25" not in before
    assert "Concordance" in before
    pairs = (("anger", "open"), ("joy", "clear fail"))
    classes = [row(test="Recall Per Class", label=name, evidence=found) for name, found in pairs]
    assert "<summary>2 classes, by their own intervals 1 open, 1 clear fail</summary>" in shown(
        row(), *classes
    )
    assert "<details" not in shown(*bins)  # nothing is left to see first


def test_an_empty_frame_is_an_empty_table():
    assert len(Cells(shown()).rows) == 1


def test_columns_of_a_file_give_the_same_table(tmp_path):
    """Tables read back from a file hold other types than those of a notebook."""
    frame = results.to_frame([row(reference_passed=True, reference=0.9), row(**GROUP | dict(holds=True))])
    frame.to_parquet(tmp_path / "x.parquet")
    again = pd.read_parquet(tmp_path / "x.parquet")
    assert str(verdict_table(again)) == str(verdict_table(frame))


SHOWN = {
    **{"passed": None, "threshold": None, "certainty": None, "reference_passed": None, "evidence": "shown"},
    "skipped": "no threshold for style: shown without verdict",
}


def test_a_value_without_threshold_is_shown_as_such():
    text = shown(row(**SHOWN))
    assert "○ shown" in text and "no threshold for style" in text and "0.612" in text
    assert "skipped" not in text and "gap and 95" not in text


def test_a_group_without_threshold_shows_its_gap():
    group = {**SHOWN, "group": "sex: female", "gap": -0.21, "gap_low": -0.302, "gap_high": -0.118}
    text = shown(row(**group))
    assert "gap and 95 % interval" in text and "−0.210" in text and "matters</small>" not in text


def test_shown_rows_stand_between_the_judged_and_the_skipped():
    order = [
        state_cell(one(**given)).sort
        for given in ({}, SHOWN, {**SHOWN, "value": None, "evidence": "", "skipped": "1 class"})
    ]
    assert order == sorted(order)
