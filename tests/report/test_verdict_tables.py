"""Tables of results: a state is a word and a sign, groups have their own values and their difference."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from soundcheck.report import states
from soundcheck.report.verdict_tables import Among, anchor_of, state_lines, verdict_table
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, STATES, decide
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


def test_a_value_stands_with_its_interval_counts_threshold_and_the_random_reference():
    html = shown(row(evidence="clear pass", p_value=0.99))
    line = " | ".join(Cells(html).rows[1])
    for part in ("arousal", "0.612", "0.550 to 0.670", "1,234", "24 speakers", "> 0.5", "✓ pass", "0.010"):
        assert part in line


@pytest.mark.parametrize("state", STATES)
def test_states_are_signs_and_words(state):
    html = str(verdict_table(to_frame([row()]).assign(state=state)))
    assert str(states.mark(state)) in html
    assert not any(str(states.mark(name)) in html for name in STATES if name != state)


def test_a_group_shows_its_own_value_its_reference_its_difference_and_its_margin():
    values = dict(group_value=0.32, others_value=0.53, against="others", ratio=1.45)
    rows = Cells(shown(row(**GROUP | values))).rows
    line = dict(zip(rows[0], rows[1], strict=True))
    assert line["group"] == "0.320" and line["reference"] == "0.530" and line["margin"] == "0.100"
    assert line["difference (95 %)"] == "−0.210 −0.302 to −0.118 1.4 times the reference"
    named = Cells(shown(row(**GROUP | values | {"against": "us"}))).rows[1]
    assert "0.530 us" in named
    assert not any("difference" in head for head in Cells(shown(row())).rows[0])


def test_the_published_rule_has_a_column_of_its_own_where_it_is_another():
    published = GROUP | dict(rule="|value| <", threshold=0.3, value=0.1, passed=True, state=FAIL)
    html = str(verdict_table(to_frame([row(**published, against="others")])))
    assert "0.100 |value| < 0.3, passes" in " | ".join(Cells(html).rows[1])
    assert "rule on group − all" not in shown(row(**GROUP))


def test_an_adjusted_difference_stands_beside_the_difference_where_there_is_one():
    known = dict(
        adjusted=-0.03, adjusted_low=-0.1, adjusted_high=0.04, counterpart=0.93, adjusted_by="device"
    )
    refused = dict(task="valence", adjusted_by=f"none: {HOSTILE} decides the group")
    html = shown(row(**GROUP | known), row(**GROUP | refused), row())
    rows = Cells(html).rows
    place = rows[0].index("adjusted difference")
    words = "−0.030 −0.100 to 0.040 93 % matched most of the difference goes with the device"
    assert words in {line[place] for line in rows[1:3]}
    assert f"– {HOSTILE} decides the group" in {line[place] for line in rows[1:3]} and "<img" not in html
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
def test_small_print_gives_the_reasons_of_a_state(given, state, among, said):
    _, lines = state_lines(one(state, **given), among)
    assert ", ".join(lines) == said


def test_failures_come_first_and_what_was_not_evaluated_last():
    table = to_frame([row(test=name) for name in "ABC"]).assign(state=[NOT_EVALUATED, PASS, FAIL])
    assert [line[1] for line in Cells(str(verdict_table(table))).rows[1:]] == ["C", "B", "A"]


def test_rows_are_places_that_links_lead_to_and_their_names_are_harmless():
    nothing = dict.fromkeys(("value", "low", "high", "passed")) | {"skipped": "no labels", "evidence": ""}
    pair = [row(**GROUP), row(**GROUP | {"group": "sex: male", "gap": 0.21})]
    table = decide(to_frame([*pair, row(), *(row(task="emotion", test=t, **nothing) for t in "AB")]))
    among = pd.Series([Among(9)] * len(table), index=table.index, dtype=object)
    html = str(verdict_table(table, among))
    assert [html.count(f'id="{anchor_of(one)}"') for one in table.itertuples()] == [1] * 5
    assert "emotion: 2 tests not evaluated: no labels" in html
    assert re.fullmatch("row-[0-9a-f]{8}", anchor_of(one(corpus=HOSTILE)))
    assert 'id="row-' not in str(verdict_table(table))  # a notebook's table is not the final one


def test_long_tables_are_folded():
    html = shown(*(row(test=f"T{n}") for n in range(50)))
    assert "10 more rows" in html and html.count("<details") == 1


@pytest.mark.parametrize(("blocks", "marked"), [(3, True), (19, True), (20, False)])
def test_few_blocks_are_marked_with_the_measured_coverage(blocks, marked):
    html = shown(row(blocks=blocks))
    assert ("†" in html and "78 to 83 %" in html) == marked
    assert "†" not in shown(row(blocks=3, low=None, high=None))


def test_a_random_model_that_passes_too_is_marked():
    assert "random passes too" in shown(row(reference_passed=True))
    assert "random passes too" not in shown(row())


def test_hostile_text_stays_text():
    names = ("task", "corpus", "test", "label", "skipped")
    html = shown(*(row(**{name: HOSTILE}) for name in names), row(**GROUP | {"group": f"sex: {HOSTILE}"}))
    assert "<img" not in html and "img" not in Cells(html).tags


def test_single_bins_are_folded_with_their_counts():
    bins = [row(test="Recall Per Bin", label=f"({n}, {n + 1}]", evidence="open") for n in range(3)]
    html = shown(*bins, row())
    assert "single classes and parts of the scale: 3 inconclusive" in html
    assert "single classes" not in shown(*bins)


def test_an_empty_frame_is_an_empty_table():
    assert "<table" not in str(verdict_table(to_frame([])))
