"""Tables of results: a state is a word and a sign, groups have their own values and their difference."""

import re

import pytest
from bs4 import BeautifulSoup

from soundcheck.report import failures, states
from soundcheck.report.verdict_tables import anchor_of, state_lines, verdict_table
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, STATES, decide
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

HOSTILE = '<img src=x onerror="document.documentElement.dataset.pwn=1">'
BASE = dict(
    **dict(model="m", corpus="c", family="f", category="correctness", task="arousal"),
    **dict(
        test="Concordance Correlation Coeff", value=0.61234, low=0.55, high=0.67, segments=1234, blocks=24
    ),
    **dict(threshold=0.5, rule=">", passed=True, certainty=0.987, reference=0.01, reference_passed=False),
    evidence="open",
)
GROUP = dict(
    **dict(category="fairness", group="sex: female", rule="|gap| <", threshold=0.1, matters=0.1, gap=-0.21),
    **dict(gap_low=-0.302, gap_high=-0.118, evidence="clear fail", bound=0.302, p_value=0.0004, passed=False),
)
OPEN = GROUP | dict(evidence="open", p_value=0.2)
ADJUSTED = dict(adjusted=-0.03, adjusted_low=-0.1, adjusted_high=0.04, counterpart=0.93, adjusted_by="device")


def row(**given) -> Verdict:
    return Verdict(**(BASE | given))


def shown(*rows: Verdict, **columns) -> str:
    return str(verdict_table(to_frame(rows).assign(**columns)))


def one(**given):
    columns = {name: given.pop(name) for name in ("tests", "too_few", "accepted", "state") if name in given}
    return next(to_frame([row(**given)]).assign(**{"against": "others"} | columns).itertuples())


def cells(html: str) -> list[list[str]]:
    """Give the texts of the cells of all rows."""
    return [
        [cell.get_text(" ", strip=True) for cell in row.find_all(["th", "td"])]
        for row in BeautifulSoup(html, "html.parser").find_all("tr")
    ]


def test_a_value_stands_with_its_interval_counts_threshold_and_the_random_reference():
    line = " | ".join(cells(shown(row(evidence="clear pass", p_value=0.99)))[1])
    for part in ("arousal", "0.612", "0.550 to 0.670", "1,234", "24 speakers", "> 0.5", "✓ pass", "0.010"):
        assert part in line
    assert "random passes too" not in line and "random passes too" in shown(row(reference_passed=True))


@pytest.mark.parametrize("state", STATES)
def test_states_are_signs_and_words(state):
    html = shown(row(), state=state)
    assert [str(states.mark(name)) in html for name in STATES] == [name == state for name in STATES]


def test_a_group_shows_its_own_value_its_reference_its_difference_and_its_margin():
    values = dict(group_value=0.32, others_value=0.53, against="others", ratio=1.45)
    rows = cells(shown(row(**GROUP | values)))
    line = dict(zip(rows[0], rows[1], strict=True))
    assert line["group"] == "0.320" and line["reference, margin"] == "0.530 ± 0.100"
    assert line["difference (95 %)"] == "−0.210 −0.302 to −0.118 1.4 times the reference"
    assert "0.530 us ± 0.100" in cells(shown(row(**GROUP | values | {"against": "us"})))[1]
    published = GROUP | dict(rule="|value| <", threshold=0.3, value=0.1, passed=True, state=FAIL)
    html = shown(row(**published, against="others"))
    assert "0.100 |value| < 0.3, passes" in " | ".join(cells(html)[1])
    assert "group − all, rule" not in shown(row(**GROUP))
    assert not any("difference" in head for head in cells(shown(row()))[0])


def test_an_adjusted_difference_stands_below_the_difference_with_what_it_explains():
    refused = dict(task="valence", adjusted_by=f"none: {HOSTILE} decides the group")
    html = shown(row(**GROUP | ADJUSTED), row(**GROUP | refused), row())
    text = "\n".join(cell for line in cells(html) for cell in line)
    assert "adjusted: −0.030 (−0.100 to 0.040), 93 % matched most of the difference is explained by" in text
    assert f"not adjusted: {HOSTILE} decides the group" in text and "<img" not in html
    assert (
        "if both sides had the same device" in html and "adjusted" not in shown(row(**GROUP), row()).lower()
    )


@pytest.mark.parametrize(
    ("left", "words"),
    [
        *[(left, "most of the difference is explained by the device") for left in (0.0, 0.069, -0.069)],
        *[(left, "part of the difference is explained by the device") for left in (0.071, 0.139)],
        *[(left, "the difference remains when adjusted for device") for left in (0.141, 0.3)],
        (-0.071, "the difference is reversed when adjusted for device"),
    ],
)
def test_words_of_an_adjustment_are_defined_by_what_is_left(left, words):
    for sign in (1, -1):
        plain = dict(gap=0.21 * sign, gap_low=0.21 * sign - 0.1, gap_high=0.21 * sign + 0.1)
        ends = dict(adjusted_low=left * sign - 0.01, adjusted_high=left * sign + 0.01)
        found = one(**GROUP | plain | ADJUSTED | ends | {"adjusted": left * sign})
        assert failures.adjustment(found) == words


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (dict(adjusted=0.05, adjusted_low=-0.3, adjusted_high=0.25), "is inconclusive"),
        (dict(adjusted=None, adjusted_by="none: device decides the group"), ""),
        (dict(gap_high=0.1), ""),
        (dict(gap_low=None, gap_high=None), ""),
        (dict(gap_low=None, gap_high=None, holds=True), "explained by"),
        (dict(matters=0.3), ""),
        (dict(gap=0.0, gap_low=None, gap_high=None), ""),
    ],
)
def test_of_a_difference_in_doubt_no_adjustment_is_told(given, said):
    found = failures.adjustment(one(**GROUP | ADJUSTED | given))
    assert said in found and bool(said) == bool(found)


VALUE = dict(value=0.45, low=0.4, high=0.55, passed=False, bound=0.4, p_value=0.3)
NOTHING = dict(value=None, low=None, high=None, passed=None, certainty=None, skipped="no labels", evidence="")


@pytest.mark.parametrize(
    ("given", "state", "among", "said"),
    [
        (GROUP, None, None, "p < 0.001, the whole interval is beyond the margin"),
        (GROUP, FAIL, 108, "p < 0.001 among 108 tests, the whole interval is beyond the margin"),
        (
            *(GROUP, INCONCLUSIVE, 9),
            "p < 0.001 among 9 tests, the whole interval is beyond the margin, not significant among 9 tests",
        ),
        (
            *(OPEN | dict(p_value=0.01, bound=0.3), FAIL, 9),
            "p = 0.01 among 9 tests, more than the margin; that there is a difference is significant",
        ),
        (
            *(OPEN | dict(gap=0.15), INCONCLUSIVE, 9),
            "p = 0.2 among 9 tests, more than the margin; not significant",
        ),
        (OPEN | dict(gap=0.05), INCONCLUSIVE, 9, "within the margin; 0.302 is not excluded"),
        (
            *(OPEN | dict(too_few=True), INCONCLUSIVE, 9),
            "p = 0.2 among 9 tests, more than the margin; not significant, "
            "too few speakers to be significant alone",
        ),
        (VALUE, FAIL, 9, "p = 0.3 among 9 tests, on the failing side; significantly"),
        (VALUE, INCONCLUSIVE, 9, "p = 0.3 among 9 tests, on the failing side; not significant"),
        (dict(bound=0.48), INCONCLUSIVE, 9, "on the passing side; 0.480 is not excluded"),
        (dict(evidence="clear pass", p_value=0.98), PASS, 9, ""),
        (dict(value=0.2, passed=False, evidence="clear fail"), FAIL, 9, "the whole interval fails"),
        (
            *(dict(accepted=HOSTILE, evidence="clear fail"), FAIL, 1),
            f"the whole interval fails, accepted: {HOSTILE}",
        ),
        (NOTHING, NOT_EVALUATED, 9, "no labels"),
    ],
)  # fmt: skip
def test_small_print_gives_the_reasons_of_a_state(given, state, among, said):
    final = {} if among is None else {"tests": among, "too_few": False, "accepted": ""}
    _, lines = state_lines(one(**final | given | {"state": state}))
    assert ", ".join(lines) == said


def test_failures_come_first_long_tables_and_single_bins_are_folded():
    table = to_frame([row(test=name) for name in "ABC"]).assign(state=[NOT_EVALUATED, PASS, FAIL])
    assert [line[1] for line in cells(str(verdict_table(table)))[1:]] == ["C", "B", "A"]
    html = shown(*(row(test=f"T{n}") for n in range(50)))
    assert "10 more rows" in html and html.count("<details") == 1
    bins = [row(test="Recall Per Bin", label=f"({n}, {n + 1}]", evidence="open") for n in range(3)]
    assert "single classes and parts of the scale: 3 inconclusive" in shown(*bins, row())
    assert "single classes" not in shown(*bins) and "<table" not in shown()


def test_rows_are_places_that_links_lead_to_and_their_names_are_harmless():
    pair = [row(**GROUP), row(**GROUP | {"group": "sex: male", "gap": 0.21})]
    table = decide(to_frame([*pair, row(), *(row(task="emotion", test=t, **NOTHING) for t in "AB")]))
    html = str(verdict_table(table.assign(tests=9, too_few=False, accepted="")))
    assert [html.count(f'id="{anchor_of(one)}"') for one in table.itertuples()] == [1] * 5
    assert "emotion: 2 tests not evaluated: no labels" in html
    assert re.fullmatch("row-[0-9a-f]{8}", anchor_of(one(corpus=HOSTILE)))
    assert 'id="row-' not in str(verdict_table(table))  # a notebook's table is not the final one


@pytest.mark.parametrize(("blocks", "marked"), [(3, True), (19, True), (20, False)])
def test_few_blocks_are_marked_with_the_measured_coverage(blocks, marked):
    html = shown(row(blocks=blocks))
    assert ("†" in html and "78 to 83 %" in html) == marked
    assert "†" not in shown(row(blocks=3, low=None, high=None))


def test_hostile_text_stays_text():
    names = ("task", "corpus", "test", "label", "skipped")
    html = shown(*(row(**{name: HOSTILE}) for name in names), row(**GROUP | {"group": f"sex: {HOSTILE}"}))
    assert "<img" not in html
