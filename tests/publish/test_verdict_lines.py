"""Three lines say what the results say, for the right reason, and no name in them becomes markup."""

import functools
import json

import pytest
from markdown_it import MarkdownIt
from tests.support.findings import FIGURE, GAP, NOTHING, OPEN
from tests.support.finished import FAILED, finished, verdict

from soundcheck.publish.facts import read_facts
from soundcheck.publish.verdict_lines import as_markdown, verdict_lines


@pytest.fixture
def lines(tmp_path, recorded):
    def told(rows, model="m", kinds=None, **changes):
        folder = finished(tmp_path, recorded, rows, kinds, **changes)
        return verdict_lines(read_facts(folder, model))

    return told


def test_a_failure_that_holds_and_an_open_test(lines):
    opened = GAP | OPEN | {"group": "accent: french", "gap": 0.05, "gap_low": -0.1, "gap_high": 0.21}
    rows = [verdict(), verdict(**GAP), verdict(**opened | {"bound": 0.21})]
    good, holds, left = lines(rows, figures=[FIGURE])
    assert good == (
        "How good: m is better than guessing: concordance of arousal 0.61 "
        "(95 % 0.57 to 0.66, 20 speakers; guessing 0)."
    )
    assert holds == (
        "What holds: 1 failure holds among 3 tests, the gravest: arousal of german speakers is 0.18 lower "
        "than that of the others (95 % 0.11 to 0.32, 10 speakers; 0.075 matters). Of all, 1 is a clear pass."
    )
    assert left == (
        "What is open: 1 of 3 tests is open, the data do not settle them: a difference of up to 0.21 may "
        "hide (arousal · Mean Value · accent: french)."
    )


def test_the_gravest_is_the_one_furthest_beyond_what_matters(lines):
    small = GAP | {"gap": -0.1, "gap_low": -0.2, "gap_high": -0.09, "group": "accent: french"}
    _, holds, _ = lines([verdict(**small), verdict(**GAP)], figures=[FIGURE])
    assert "2 failures hold" in holds and "german" in holds and "french" not in holds


def test_one_bias_hides_no_other(lines):
    _, holds, _ = lines([verdict(**FAILED), verdict(**GAP)], figures=[FIGURE])
    assert "2 failures hold among 2 tests, of 1 about " in holds
    assert (
        "about correctness, the gravest: " in holds
        and "about fairness, the gravest: arousal of german" in holds
    )


def test_synthetic_speech_is_said(lines, tmp_path):
    assert "synthetic" not in lines([verdict()], figures=[FIGURE])[0]
    content = json.loads(tmp_path.joinpath("run.json").read_text())
    synthetic = [corpus | {"synthetic": True} for corpus in content["corpora"]]
    assert lines([verdict()], figures=[FIGURE], corpora=synthetic)[0].endswith(
        "Some of the speech is synthetic, made by a machine."
    )


def test_nothing_holds_and_nothing_is_open(lines):
    assert lines([verdict()], figures=[FIGURE])[1:] == [
        "What holds: no failure among 1 test; 1 is a clear pass.",
        "What is open: nothing: each test is a clear pass or a failure that holds.",
    ]


def test_accepted_failures_are_counted_as_such(lines):
    entry = {"model": "m", "family": "fairness_accent", "why": "known"}
    _, holds, _ = lines([verdict(**GAP)], figures=[FIGURE], accepted=[entry])
    assert "1 failure holds among 1 test (1 accepted)" in holds


def test_fairness_of_a_model_that_only_guesses_counts_for_nothing(lines):
    hollow = FIGURE | {"value": 0.0, "low": -0.1, "high": 0.1, "standing": "hollow", "blocks": 40}
    good, holds, _ = lines([verdict(), verdict(**GAP)], figures=[hollow])
    assert "m is not better than guessing: concordance of arousal 0 " in good
    assert "no failure among 1 test" in holds
    assert holds.endswith("1 test of fairness at arousal not counted: it only guesses there.")


def test_nothing_labelled_nothing_judged_and_notebooks_that_failed(lines):
    failed = [{"model": "m", "family": "correctness_regression", "status": "failed", "error": "x"}]
    good, holds, left = lines([verdict(**NOTHING)], figures=[], notebooks=failed)
    assert good == "How good: of m that cannot be said: no corpus has labels for its tasks."
    assert holds == "What holds: no test could be judged."
    assert left == (
        "What is open: 1 test could not be judged at all; correctness_regression: its notebook failed to run."
    )


def test_a_random_reference_is_no_model(lines):
    good = lines([verdict(), verdict("r")], "r", {"r": "random"})[0]
    assert good == "How good: r is a random reference: it guesses, and is there to be compared with."


def test_many_figures_are_counted(lines):
    figures = [FIGURE | {"task": f"task{n}"} for n in range(9)]
    assert "task3 0.61" in (good := lines([verdict()], figures=figures)[0])
    assert "task4" not in good and good.endswith("5 more.")


@pytest.mark.parametrize(
    "name",
    ["<img src=x onerror=alert(1)>", "[a](javascript:b)", "`x` *y* _z_", "# h\n- i\n\n> j", "| a | b |"],
)
def test_names_become_no_markup(lines, name):
    text = as_markdown(lines([verdict(name)], name), name)
    html = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    plain = " ".join(name.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert plain.replace('"', "&quot;") in html.replace("\u2060", "")
    tags = {part.split(">")[0].strip("/") for part in html.split("<")[1:]}
    assert tags <= {"p", "strong", "ul", "li"}
    assert functools.reduce(lambda count, line: count + line.startswith("- "), text.splitlines(), 0) == 3


def test_names_call_nobody_and_lead_nowhere():
    text = as_markdown(["What holds: @team #12 !3 https://a.example www.b.example 0.5"])
    for live in ("@t", "#1", "!3", "://", "www."):
        assert live not in text
    assert "0.5" in text
