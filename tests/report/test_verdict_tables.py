"""Rows of results, and how good a model is, in words and tables: states are signs and words."""

import re
from types import SimpleNamespace

import pytest
from tests.report.given import HOSTILE, cells, subset
from tests.support.findings import CORRECT, FEW, FIGURE, GAP, row
from tests.support.finished import finished, verdict

from soundcheck.book.overview import figures_table
from soundcheck.report import failures, page
from soundcheck.report.failures import summary_lines
from soundcheck.report.verdict_tables import anchor_of, state_lines, verdict_table
from soundcheck.results.facts import facts_by_model
from soundcheck.results.finished_run import read_run
from soundcheck.results.record import KeyFigure
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, decide
from soundcheck.results.table import estimate_frame, to_frame

VALUE = CORRECT | {"value": 0.61234, "low": 0.55, "high": 0.67, "segments": 1234, "blocks": 24}
VALUE |= {"passed": True, "certainty": 0.987, "reference": 0.01}
VALUE |= {"evidence": "open", "p_value": None, "bound": None}
GROUP = {"group": "sex: female", "rule": "|gap| <", "threshold": 0.1, "matters": 0.1, "gap": -0.21}
GROUP |= {"gap_low": -0.302, "gap_high": -0.118, "bound": 0.302, "p_value": 0.0004}
OPEN = {"evidence": "open", "holds": None}
ADJUSTED = {"adjusted": -0.03, "adjusted_low": -0.1, "adjusted_high": 0.04, "counterpart": 0.93}
ADJUSTED |= {"adjusted_by": "device"}
NOTHING = dict.fromkeys(("value", "low", "high", "passed", "certainty", "p_value", "reference"))
NOTHING |= {"reference_passed": None, "skipped": "no labels", "evidence": ""}


def html_of(*rows, **columns) -> str:
    return str(verdict_table(to_frame(rows).assign(**columns)))


def one(*, final=None, **given):
    """Give a row of a frame; ``final`` are its columns among all tests."""
    return next(to_frame([row(**given)]).assign(**final or {}).itertuples())


def line(html):
    head, first = cells(html)[:2]
    return dict(zip(head, first, strict=True))


SERVED = CORRECT | {"test": "Groups Served Worse", "value": 2.0, "skipped": "a × b (0.3 worse), c"}
VIOLATED = CORRECT | {"test": "Violations Against Transcripts", "group": "sex: male", "gap": 0.1}
RATE = {"test": "Word Error Rate Difference", "task": "transcript", "against": "us", "state": "pass"}
UNCHANGED = {"test": "Percentage Unchanged Predictions Babble Noise"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "(difference 0.18, 95 % 0.11 to 0.32, 10 speakers, interval beyond the margin of 0.075)"),
        (FEW | {"group": "language: fr, sentiment: no", "against": "es"}, "0.44 of language: es (difference"),
        (RATE, "word error rate of spanish speakers is 62 % against 44 % of us speakers"),
        (ADJUSTED | {"adjusted": 0.02, "adjusted_by": "level"}, "explained by the level (adjusted: 0.020)"),
        (CORRECT, "concordance of arousal is 0.41 (95 % 0.30 to 0.52, 10 speakers); it has to be above 0.50"),
        (SERVED, "2 groups are worse off than the others in arousal: a × b (0.3 worse), c"),
        (SERVED | {"state": "inconclusive"}, "2 groups may be worse off than the others in arousal: a"),
        (SERVED | {"value": 0.0}, "no group is significantly worse off than the others in arousal: "),
        (VIOLATED, "share of violations against transcripts of arousal of male speakers is 0.41 (95 %"),
        (CORRECT | {"test": "Dropped Words", "label": "Noise"}, "share of lost words of arousal (Noise) is"),
        (CORRECT | UNCHANGED, "share of unchanged predictions of arousal under babble noise is 0.41"),
        (CORRECT | {"test": "Recall Per Bin", "label": "(0.25, 0.5]"}, "recall of arousal (0.25 to 0.5) is"),
    ],
)
def test_findings_are_sentences(changes, sentence):
    assert sentence in failures.sentence(one(**changes)).replace("\xa0", " ")


def test_a_value_stands_with_its_interval_counts_threshold_and_the_random_reference():
    html = html_of(row(**VALUE | {"evidence": "clear pass", "p_value": 0.99, "state": None}))
    text = " | ".join(cells(html)[1])
    for part in ("arousal", "0.612", "0.550 to 0.670", "1,234", "24 speakers", "> 0.5", "✓ pass", "0.010"):
        assert part in text
    assert "random passes too" not in text and "†" not in html
    few = html_of(row(**VALUE | {"reference_passed": True, "blocks": 19}))
    assert "random passes too" in few and "†" in few and "78 to 83 %" in few  # the measured coverage


def test_a_group_shows_its_own_value_its_reference_its_difference_and_its_margin():
    values = GROUP | {"group_value": 0.32, "others_value": 0.53, "ratio": 1.45}
    by_head = line(html_of(row(**values)))
    assert by_head["group"] == "0.320" and by_head["reference, margin"] == "0.530 ± 0.100"
    assert by_head["difference (95 %)"] == "−0.210 −0.302 to −0.118 1.4 times the errors of the reference"
    published = GROUP | {"rule": "|value| <", "threshold": 0.3, "value": 0.1, "passed": True}
    assert "0.100 |value| < 0.3, passes" in " | ".join(cells(html_of(row(**published)))[1])
    assert "group − all, rule" not in html_of(row(**GROUP))
    assert not any("difference" in head for head in cells(html_of(row(**VALUE)))[0])


def test_an_adjusted_difference_stands_below_the_difference_with_what_it_explains():
    refused = {"task": "valence", "adjusted_by": f"none: {HOSTILE} decides the group"}
    html = html_of(row(**GROUP | ADJUSTED), row(**GROUP | refused), row(**VALUE))
    text = "\n".join(cell for each in cells(html) for cell in each)
    assert "adjusted: −0.030 (−0.100 to 0.040), 93 % matched most of the difference is explained by" in text
    assert f"not adjusted: {HOSTILE} decides the group" in text and "<img" not in html
    assert "if both sides had the same device" in html
    assert "adjusted" not in html_of(row(**GROUP), row(**VALUE)).lower()


DOUBT = {"adjusted_low": -0.3, "adjusted_high": 0.25}


@pytest.mark.parametrize(
    ("left", "given", "words"),
    [
        *((left, {}, "most of the difference is explained by the device") for left in (0.069, -0.069)),
        (0.071, {}, "part of the difference is explained by the device"),
        (0.141, {}, "the difference remains when adjusted for device"),
        (-0.071, {}, "the difference is reversed when adjusted for device"),
        (0.05, DOUBT, "how much of the difference is explained by the device is inconclusive"),
        (0.05, {"adjusted": None, "adjusted_by": "none: device decides the group"}, ""),
    ],
)
def test_words_of_an_adjustment_are_defined_by_what_is_left(left, given, words):
    for sign in (1, -1):
        gap, left_ = 0.21 * sign, left * sign
        plain = {"gap": gap, "gap_low": gap - 0.1, "gap_high": gap + 0.1, "holds": None}
        plain |= {"adjusted": left_, "adjusted_low": left_ - 0.01, "adjusted_high": left_ + 0.01}
        adjusted = one(**GROUP | {"adjusted_by": "device"} | plain | given)
        assert failures.adjustment(adjusted) == words


LOW = VALUE | {"value": 0.45, "low": 0.4, "high": 0.55, "passed": False, "bound": 0.4, "p_value": 0.3}
WRONG = VALUE | {"value": 0.2, "passed": False, "evidence": "clear fail"}
WHOLE, MORE = "the whole interval is beyond the margin", "more than the margin; "
MAYBE = GROUP | OPEN | {"p_value": 0.2}
FEWER = "not significant after correction, too few speakers to be significant alone"


@pytest.mark.parametrize(
    ("given", "state", "among", "said"),
    [
        (GROUP, FAIL, 108, f"p < 0.001 among 108 tests, {WHOLE}"),
        (GROUP, INCONCLUSIVE, 9, f"p < 0.001 among 9 tests, {WHOLE}; not significant after correction"),
        (MAYBE, FAIL, 9, f"p = 0.2 among 9 tests, {MORE}that there is a difference is significant"),
        (MAYBE | {"too_few": True}, INCONCLUSIVE, 9, f"p = 0.2 among 9 tests, {MORE}{FEWER}"),
        (LOW, FAIL, 9, "p = 0.3 among 9 tests, on the failing side; significantly"),
        (VALUE | {"bound": 0.48}, INCONCLUSIVE, 9, "on the passing side; 0.480 is not excluded"),
        (VALUE | {"evidence": "clear pass", "p_value": 0.98}, PASS, 9, ""),
        (WRONG | {"accepted": "x"}, FAIL, 1, "the whole interval is on the failing side, accepted: x"),
        (VALUE | NOTHING, NOT_EVALUATED, 9, "no labels"),
    ],
)
def test_small_print_gives_the_reasons_of_a_state(given, state, among, said):
    final = {"tests": among, "state": state, "too_few": False, "accepted": ""}
    final |= {name: given[name] for name in ("too_few", "accepted") if name in given}
    given = {name: value for name, value in given.items() if name not in final}
    assert ", ".join(state_lines(one(final=final, **given))[1]) == said


def test_failures_come_first_long_tables_and_single_bins_are_folded():
    table = to_frame([row(**VALUE | {"test": name}) for name in "ABC"])
    lines = cells(verdict_table(table.assign(state=[NOT_EVALUATED, PASS, FAIL])))
    assert [cell[1] for cell in lines[1:]] == ["C", "B", "A"]
    html = html_of(*(row(**VALUE | {"test": f"T{n}"}) for n in range(50)))
    assert "10 more rows" in html and html.count("<details") == 1
    single = VALUE | {"test": "Recall Per Bin", "state": ""}
    bins = [row(**single | {"label": f"({n}, {n + 1}]"}) for n in range(3)]
    assert "single classes and parts of the scale: 3 inconclusive" in html_of(*bins, row(**VALUE))
    assert "<table" not in html_of()


def test_rows_are_places_that_links_lead_to_and_their_names_are_harmless():
    pair = [row(**GROUP), row(**GROUP | {"group": "sex: male", "gap": 0.21})]
    missing = [row(**VALUE | NOTHING | {"task": "emotion", "test": test}) for test in "AB"]
    table = decide(to_frame([*pair, row(**VALUE), *missing]))
    html = str(verdict_table(table.assign(tests=9, too_few=False, accepted="")))
    assert [html.count(f'id="{anchor_of(entry)}"') for entry in table.itertuples()] == [1] * 5
    assert "emotion: 2 tests not evaluated: no labels" in html
    assert re.fullmatch("row-[0-9a-f]{8}", anchor_of(one(corpus=HOSTILE)))
    assert 'id="row-' not in str(verdict_table(table))  # a notebook's table is not the final one
    hostile = [row(**VALUE | {name: HOSTILE}) for name in ("task", "corpus", "test", "label", "skipped")]
    assert "<img" not in html_of(*hostile, row(**GROUP | {"group": f"sex: {HOSTILE}"}))


TURNED = {"standing": "hollow", "value": -0.98, "low": -0.99, "high": -0.96}
NO_ENDS, NO_VALUE = {"low": None, "high": None}, {"value": None, "reason": "0 segments"}


def figure(**changes) -> KeyFigure:
    return KeyFigure(**FIGURE | changes)


def test_a_table_of_numbers_says_what_they_mean():
    rates = figure(measure="false acceptance rate", standing="", guessing=None, threshold=0.3446)
    rows = [figure(), figure(corpus="<b>", standing="hollow"), rates, figure(**TURNED)]
    html = str(figures_table(SimpleNamespace(figures=rows)))
    for part in (">better than chance<", ">no better than chance<", ">worse than chance<", "&lt;b&gt;"):
        assert part in html
    assert "at the threshold in use, 0.345" in html


@pytest.fixture
def last_lines(tmp_path):
    def lines(rows, **changes):
        run = read_run(finished(tmp_path, rows, **changes))
        return list(summary_lines(facts_by_model(run.record, run.frame, estimate_frame([]))["m"]))

    return lines


def test_the_last_lines_of_a_run(last_lines):
    passes = GAP | {"value": 0.01, "gap": 0.01, "passed": True, "evidence": "clear pass", "state": "pass"}
    unknown = {"passed": None, "value": None, "gap": None, "skipped": "no labels", "evidence": ""}
    rows = [
        verdict(**passes),
        verdict(**passes | {"test": "a", "state": "inconclusive", "evidence": "open"}),
        verdict(**GAP | {"test": "b"}),
        verdict(**GAP | {"test": "b", "gap": 0.18, "group": "accent: us", "mirrors": GAP["group"]}),
        verdict(**passes | unknown | {"test": "c", "state": "not evaluated", "task": "valence"}),
        verdict(**passes | {"task": "valence"}),
        verdict(**passes | {"task": "dominance"}),
    ]
    lines = last_lines(rows, figures=[FIGURE, FIGURE | {"task": "valence", "standing": "hollow"}])
    # Nothing counts at a task at which the model is no better than chance.
    assert lines[0] == "m: 2 pass, 1 fail, 1 inconclusive, 1 not evaluated, 0 reported"
    assert lines[2] == "  concordance of valence 0.61 (95 % 0.57 to 0.66, 20 speakers)"
    assert "  no better than chance at valence: its tests of fairness and robustness are not" in lines[3]
    assert lines[4] == "  not known to be better than chance at dominance"


def judged(*given):
    plain = {"task": "emotion", "test": "Unweighted Average Recall", "value": 0.6, "low": 0.5, "high": 0.7}
    return SimpleNamespace(frame=lambda: to_frame([verdict(**plain | each) for each in given]))


def test_a_finding_is_the_value_of_its_row():
    predicted, test = subset(None, ["a", "a", "a", "b", None], "emotion"), "Unweighted Average Recall"
    share = {"test": "Relative Difference Per Class", "low": -0.3, "high": -0.1}
    evaluation = judged({}, share | {"label": "joy", "value": -0.2}, share | {"label": "calm", "value": 0.1})
    assert page.finding(evaluation, test, predicted) == "Unweighted average recall 0.60 (95 % 0.50 to 0.70)"
    assert page.finding(evaluation, test, predicted, "joy") == ""
    farthest = "Relative difference per class of joy −0.20 (95 % −0.30 to −0.10), farthest from 0 of 2"
    assert page.finding(evaluation, share["test"], predicted, None) == farthest
    recall = {"test": "Recall Per Class", "label": HOSTILE * 99}
    lowest = recall | {"label": "b", "value": 0.24, "low": 0.1, "high": 0.4}
    lowest_recall = page.lowest_recall(judged(recall, lowest), predicted)
    assert lowest_recall == "Lowest recall: b, 0.24 (95 % 0.10 to 0.40); 25 % of all predictions"
    assert page.lowest_recall(judged({}), predicted) == ""
    assert len(page.lowest_recall(judged(recall), predicted)) < 200
