"""A row of verdicts shows what it rests on; its state is a word and a sign, and the book may fill it in."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from soundcheck.report import states, verdict_tables
from soundcheck.report.verdict_tables import Among, key_of, state_cell, state_lines, verdict_table
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, STATES
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

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
        evidence="open",
    )
    return Verdict(**(base | given))


def shown(*rows: Verdict) -> str:
    return str(verdict_table(to_frame(rows)))


def one(state=None, against="others", **given):
    """Give a row of the table as pages see it; with its state, as the book sees it."""
    return next(to_frame([row(**given)]).assign(state=state, against=against).itertuples())


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
    company = ("arousal", "0.612", "0.550 to 0.670", "1,234", "24 speakers", "> 0.5", "✓ pass", "0.010")
    assert all(part in line for part in company)
    assert "certain" not in html  # a share of replicates is no evidence


@pytest.mark.parametrize("state", STATES)
def test_states_are_signs_and_words(state):
    html = str(state_cell(one(state)).content)
    assert str(states.mark(state)) in html
    assert not any(str(states.mark(name)) in html for name in STATES if name != state)


def test_a_group_shows_its_difference_and_its_margin():
    published = GROUP | dict(test="Another", rule="|value| <", threshold=0.7, passed=True)
    rows = Cells(shown(row(**GROUP), row(**published), row())).rows
    place = rows[0].index("difference and 95 % interval")
    difference = "−0.210 −0.302 to −0.118"
    assert {line[place] for line in rows[1:]} == {"", difference, f"{difference} margin 0.1"}
    assert not any("difference" in head for head in Cells(shown(row())).rows[0])


def test_an_adjusted_gap_stands_beside_the_gap_where_there_is_one():
    known = dict(
        adjusted=-0.03, adjusted_low=-0.1, adjusted_high=0.04, counterpart=0.93, adjusted_by="device"
    )
    refused = dict(task="valence", adjusted_by=f"none: {HOSTILE} decides the group")
    html = shown(row(**GROUP | known), row(**GROUP | refused), row())
    rows = Cells(html).rows
    place = rows[0].index("adjusted difference and 95 % interval")
    assert rows[0].index("difference and 95 % interval") == place - 1
    cells = {line[0]: line[place] for line in rows[1:]}
    assert "−0.030 −0.100 to 0.040 93 % with counterpart" in {line[place] for line in rows[1:]}
    assert cells["valence"] == f"– {HOSTILE} decides the group" and "<img" not in html
    assert "if both sides had the same device; no verdict rests on it" in html
    assert html.count("most of the difference goes with the device") == 1
    assert "adjusted" not in shown(row(**GROUP), row())


VALUE = dict(value=0.45, low=0.4, high=0.55, passed=False, bound=0.4, p_value=0.3)
REPORTS = dict(value=None, low=None, high=None, passed=None, certainty=None, skipped="no labels")


@pytest.mark.parametrize(
    ("given", "state", "among", "said"),
    [
        (GROUP, None, None, "p < 0.001, surely beyond the margin"),
        (GROUP, FAIL, Among(108), "p < 0.001 among 108 tests, surely beyond the margin"),
        (
            GROUP | dict(evidence="open", p_value=0.01, bound=0.3),
            *(FAIL, Among(9)),
            "p = 0.01 among 9 tests, more than the margin; that there is a difference is significant",
        ),
        (
            GROUP | dict(evidence="open", p_value=0.2, gap=0.15),
            *(INCONCLUSIVE, Among(9), "p = 0.2 among 9 tests, more than the margin; not significant"),
        ),
        (
            GROUP | dict(evidence="open", p_value=0.2, gap=0.05),
            *(INCONCLUSIVE, Among(9), "within the margin; 0.302 is not excluded"),
        ),
        (
            GROUP | dict(evidence="open", p_value=0.2),
            *(INCONCLUSIVE, Among(9, True)),
            "p = 0.2 among 9 tests, more than the margin; not significant, "
            "too few speakers to be significant alone",
        ),
        (VALUE, FAIL, Among(9), "p = 0.3 among 9 tests, on the failing side; significantly"),
        (VALUE, INCONCLUSIVE, Among(9), "p = 0.3 among 9 tests, on the failing side; not significant"),
        (dict(bound=0.48), INCONCLUSIVE, Among(9), "on the passing side; 0.480 is not excluded"),
        (dict(evidence="clear pass", p_value=0.98), PASS, Among(9), ""),
        (dict(value=0.2, passed=False, evidence="clear fail"), FAIL, Among(9), "the whole interval fails"),
        (
            *(GROUP, FAIL, Among(1, accepted=HOSTILE)),
            f"p < 0.001 among 1 test, surely beyond the margin, accepted: {HOSTILE}",
        ),
        (REPORTS, NOT_EVALUATED, Among(9), "no labels"),
    ],
)  # fmt: skip
def test_small_print_says_what_a_state_rests_on(given, state, among, said):
    _, lines = state_lines(one(state, **given), among)
    assert ", ".join(lines) == said
    assert "<img" not in str(state_cell(one(state, **given), among).content)


def test_the_published_rule_and_the_margin_stand_together_where_they_differ():
    published = GROUP | dict(rule="|value| <", threshold=0.3, value=0.1, passed=True)
    _, lines = state_lines(one(FAIL, **published), Among(9))
    assert lines[-1] == (
        "passes the published rule (|value| < 0.3); concordance correlation coefficient of arousal of female "
        "speakers differs from that of the others by 0.21, more than the margin of 0.10"
    )


def test_failures_are_sorted_first_and_what_was_not_evaluated_last():
    rows = [
        one(FAIL, **GROUP),
        one(FAIL, **GROUP | dict(p_value=0.01)),
        one(INCONCLUSIVE, **GROUP | dict(p_value=0.2)),
        one(PASS, p_value=0.99, evidence="clear pass"),
        one(REPORTED, **SHOWN),
        one(NOT_EVALUATED, **REPORTS),
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
    rows = [
        row(test="A"),
        *(row(corpus="other", test=t, skipped=reason, evidence="", **nothing) for t in "BC"),
    ]
    html = shown(*rows)
    assert html.count("<tr") == 2 and html.count("– not evaluated") == 0
    assert "2 tests not evaluated: the corpus has no column &lt;b&gt;" in html
    assert shown(*rows[1:]).count("– not evaluated") == 2


def test_the_random_model_that_passes_too_is_marked():
    assert verdict_tables.REFERENCE in shown(row(reference=0.9, reference_passed=True))
    assert verdict_tables.REFERENCE not in shown(row())
    assert verdict_tables.REFERENCE not in shown(row(reference=None, reference_passed=None))


@pytest.mark.parametrize("blocks, marked", [(19, True), (20, False)])
def test_few_blocks_are_marked_with_the_measured_coverage(blocks, marked):
    html = shown(row(blocks=blocks))
    assert (f"{blocks} speakers †" in html) == marked
    assert "19 files †" in str(verdict_table(to_frame([row(blocks=19)]), blocks={"c": "file"}))
    assert ("contain the true value in 78 to 83 %" in html) == marked


def test_no_interval_no_mark():
    html = shown(row(blocks=1, low=None, high=None, certainty=None, skipped="interval withheld: 1 block"))
    assert "†" not in html
    assert "1 speaker<" in html
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
    frame = to_frame([row(), row(test="Other")])
    first, second = Cells(str(verdict_table(frame, decimals={"Other": 1}))).rows[1:]
    assert "0.612 0.550 to 0.670" in first[3]
    assert "0.6 0.6 to 0.7" in second[3]


def test_single_bins_are_behind_a_line_that_says_how_they_are():
    bins = [
        row(test="Recall Per Bin", label=name, evidence="open") for name in ("(-inf, 0.25]", "(0.75, inf]")
    ]
    table = shown(row(), *bins)
    before, _, inside = table.partition("<details")
    assert "<summary>2 bins (interval on both sides, or none: 2)</summary>" in inside
    assert "up to 0.25" in inside and "up to 0.25" not in before
    assert "Concordance" in before
    pairs = (("anger", "open"), ("joy", "clear fail"))
    classes = [row(test="Recall Per Class", label=name, evidence=found) for name, found in pairs]
    told = "2 classes (interval on both sides, or none: 1, whole interval fails: 1)"
    assert f"<summary>{told}</summary>" in shown(row(), *classes)
    assert "<details" not in shown(*bins)  # nothing is left to see first


def test_an_empty_frame_is_an_empty_table():
    assert len(Cells(shown()).rows) == 1


def test_columns_of_a_file_give_the_same_table(tmp_path):
    """Tables read back from a file hold other types than those of a notebook."""
    frame = to_frame([row(reference_passed=True, reference=0.9), row(**GROUP)])
    frame.to_parquet(tmp_path / "x.parquet")
    again = pd.read_parquet(tmp_path / "x.parquet")
    assert str(verdict_table(again)) == str(verdict_table(frame))


SHOWN = {
    **{"passed": None, "threshold": None, "certainty": None, "reference_passed": None, "evidence": "shown"},
    "skipped": "no threshold for style: shown without verdict",
}


def test_a_value_without_threshold_is_shown_as_such():
    text = shown(row(**SHOWN))
    assert "○ reported" in text and "no threshold for style" in text and "0.612" in text
    assert "not evaluated" not in text and "difference and 95" not in text


def test_a_group_without_threshold_shows_its_difference():
    group = {**SHOWN, "group": "sex: female", "gap": -0.21, "gap_low": -0.302, "gap_high": -0.118}
    text = shown(row(**group))
    assert "difference and 95 % interval" in text and "−0.210" in text and "margin" not in text.split("<p")[0]
