"""How good a model is in one line: on pages, in findings of figures and in the last lines of a run."""

from types import SimpleNamespace

import pytest
from tests.report.given import HOSTILE, subset
from tests.support.findings import FIGURE, GAP
from tests.support.finished import finished, verdict
from tests.support.rows import FEW, row

from soundcheck.book.overview import figures_table
from soundcheck.report import page
from soundcheck.report.failures import summary_lines
from soundcheck.report.key_figures import sentence, standing_notes
from soundcheck.results.estimates import estimate_frame
from soundcheck.results.facts import facts_by_model
from soundcheck.results.finished_run import read_run
from soundcheck.results.record import KeyFigure
from soundcheck.results.table import to_frame

RATE = {"measure": "word error rate", "task": "transcript", "value": 0.1234, "low": 0.1, "high": 1.02}
TURNED = {"standing": "hollow", "value": -0.98, "low": -0.99, "high": -0.96}
NO_ENDS, NO_VALUE = {"low": None, "high": None}, {"value": None, "reason": "0 segments"}


def figure(**changes) -> KeyFigure:
    return KeyFigure(**FIGURE | changes)


@pytest.mark.parametrize(
    ("given", "corpus", "told"),
    [
        ({}, False, "concordance of arousal 0.61 (95 % 0.57 to 0.66, 20 speakers)"),
        (RATE, True, "word error rate on c 12.3 % (95 % 10.0 to 102 %, 20 speakers)"),
        (NO_ENDS, False, "concordance of arousal 0.61 (no interval for new speakers, 20 speakers)"),
        ({"value": None, "reason": "0 segments"}, False, "concordance of arousal: none, 0 segments"),
    ],
)
def test_a_number_in_one_line(given, corpus, told):
    assert sentence(figure(**given), corpus=corpus).replace("\xa0", " ") == told


def test_a_table_of_numbers_says_what_they_mean():
    rates = figure(measure="false acceptance rate", standing="", guessing=None, threshold=0.3446)
    rows = [figure(), figure(corpus="<b>", standing="hollow"), rates, figure(**TURNED)]
    shown = str(figures_table(SimpleNamespace(figures=rows)))
    for part in (">better than chance<", ">no better than chance<", ">worse than chance<", "&lt;b&gt;"):
        assert part in shown
    assert "at the threshold in use, 0.345" in shown


def test_notes_name_the_number_or_why_there_is_none():
    hollow = figure(standing="hollow", value=0.02, low=-0.03, high=0.06)
    assert standing_notes([hollow], "m", ["arousal", "valence"]) == [
        "no better than chance at arousal: concordance of arousal 0.020 (95 % −0.030 to 0.060, 20 speakers)",
        "not known to be better than chance at valence: no corpus has labels for it",
    ]
    assert standing_notes([figure()], "m", ["arousal"]) == standing_notes(None, "m", ["arousal"]) == []
    assert standing_notes([figure(**TURNED)], "m", ["arousal"])[0].startswith("worse than chance at arousal:")


@pytest.fixture
def last_lines(tmp_path, recorded):
    def lines(rows, **changes):
        run = read_run(finished(tmp_path, recorded, rows, **changes))
        return list(summary_lines(facts_by_model(run.record, run.frame, estimate_frame([]))["m"]))

    return lines


def test_the_last_lines_of_a_run(last_lines):
    passes = GAP | {"value": 0.01, "gap": 0.01, "passed": True, "evidence": "clear pass", "state": "pass"}
    unknown = {"passed": None, "value": None, "skipped": "no labels", "evidence": ""}
    rows = [
        verdict(**passes),
        verdict(**passes | {"test": "a", "state": "inconclusive", "evidence": "open"}),
        verdict(**GAP | {"test": "b"}),
        verdict(**GAP | {"test": "b", "gap": 0.18, "group": "accent: us", "mirrors": GAP["group"]}),
        verdict(**passes | unknown | {"test": "c", "state": "not evaluated"}),
        verdict(**passes | {"task": "valence"}),
        verdict(**passes | {"task": "dominance"}),
    ]
    lines = last_lines(rows, figures=[FIGURE, FIGURE | {"task": "valence", "standing": "hollow"}])
    # Nothing counts at a task at which the model is no better than chance.
    assert lines[0] == "m: 2 pass, 1 fail, 1 inconclusive, 1 not evaluated, 0 reported"
    assert lines[2] == "  concordance of valence 0.61 (95 % 0.57 to 0.66, 20 speakers)"
    assert "  no better than chance at valence: its tests of fairness and robustness are not" in lines[3]
    assert lines[4] == "  not known to be better than chance at dominance"


def test_few_speakers_are_no_all_clear(last_lines):
    sizes = (0.15, 0.3, 0.25, 0.2, -0.4)
    rows = [row(**FEW | {"model": "m", "gap": size, "group": f"accent: {n}"}) for n, size in enumerate(sizes)]
    _, said, title, *lines, more = last_lines(rows, figures=None)
    assert said == "  Nothing could be concluded: 5 differences have too few speakers"
    assert title.startswith("  Too few speakers to generalise") and more == "    and 2 more differences"
    assert [line.split()[2] for line in lines] == ["4", "1", "2"]  # the largest first


def judged(*given):
    plain = {"task": "emotion", "test": "Unweighted Average Recall", "value": 0.6, "low": 0.5, "high": 0.7}
    return SimpleNamespace(frame=lambda: to_frame([verdict(**plain | each) for each in given]))


def test_a_finding_is_the_value_of_its_row():
    predicted, test = subset(None, ["a", "a", "a", "b", None], "emotion"), "Unweighted Average Recall"
    share = {"test": "Relative Difference Per Class", "low": -0.3, "high": -0.1}
    found = judged({}, share | {"label": "joy", "value": -0.2}, share | {"label": "calm", "value": 0.1})
    assert page.finding(found, test, predicted) == "Unweighted average recall 0.60 (95 % 0.50 to 0.70)"
    assert page.finding(found, test, subset(None, [0.5], "valence")) == ""
    assert page.finding(found, test, predicted, "joy") == ""
    assert page.finding(found, share["test"], predicted, None) == (
        "Relative difference per class of joy −0.20 (95 % −0.30 to −0.10), farthest from 0 of 2"
    )
    recall = {"test": "Recall Per Class", "label": HOSTILE * 99}
    lowest = recall | {"label": "b", "value": 0.24, "low": 0.1, "high": 0.4}
    told = page.lowest_recall(judged(recall, lowest), predicted)
    assert told == "Lowest recall: b, 0.24 (95 % 0.10 to 0.40); 25 % of all predictions"
    assert page.lowest_recall(judged({}), predicted) == ""
    assert len(page.lowest_recall(judged(recall), predicted)) < 200
