"""Three lines say what the results say, for the right reason, and no name in them becomes markup."""

import functools

import pytest
from markdown_it import MarkdownIt
from tests.support.findings import FEW, FIGURE, GAP, NOTHING, OPEN
from tests.support.finished import FAILED, finished, verdict

from soundcheck.publish.facts import ModelFacts, as_markdown, verdict_lines


@pytest.fixture
def lines(tmp_path, recorded):
    def told(rows, model="m", kinds=None, **changes):
        folder = finished(tmp_path, recorded, rows, kinds, **changes)
        return verdict_lines(ModelFacts.read(folder, model))

    return told


def test_a_failure_and_an_inconclusive_test(lines):
    open_ = GAP | OPEN | {"group": "accent: french", "gap": 0.05, "gap_low": -0.1, "gap_high": 0.21}
    rows = [verdict(), verdict(**GAP), verdict(**open_ | {"bound": 0.21})]
    good, fails, left = lines(rows, figures=[FIGURE])
    assert good == (
        "How good: m is better than chance: concordance of arousal 0.61 "
        "(95 % 0.57 to 0.66, 20 speakers; chance 0)."
    )
    assert fails == (
        "What fails: 1 of 3 tests fails; the largest about fairness: arousal of german "
        "speakers is 0.30 against 0.48 of the others (difference −0.18, 95 % −0.32 to −0.11, 10 speakers, "
        "surely beyond the margin of 0.075). "
        "1 pass, 1 fail, 1 inconclusive, 0 not evaluated, 0 reported."
    )
    assert left == (
        "What could not be concluded: 1 test is inconclusive: a difference of up to 0.21 is not excluded "
        "(arousal of french speakers)."
    )


def test_one_bias_hides_no_other(lines):
    _, fails, _ = lines([verdict(**FAILED), verdict(**GAP)], figures=[FIGURE])
    assert "2 of 2 tests fail; the largest about correctness: " in fails
    assert "; the largest about fairness: arousal of german" in fails


def test_few_speakers_are_no_failure_and_no_all_clear(lines):
    _, fails, left = lines([verdict(**GAP | FEW)], figures=[FIGURE])
    assert fails.startswith(
        "What fails: Nothing could be concluded: 1 difference has too few speakers. 0 pass"
    )
    assert "1 difference with too few speakers to generalise: arousal of german " in left
    assert "95 % −0.25 to −0.12 for these speakers, 2 speakers, margin 0.075" in left


def test_fairness_of_a_model_that_only_guesses_counts_for_nothing(lines):
    guesses = FIGURE | {"value": 0.0, "low": -0.1, "high": 0.1, "standing": "hollow", "blocks": 40}
    good, fails, _ = lines([verdict(), verdict(**GAP)], figures=[guesses])
    assert "m is no better than chance: concordance of arousal 0 " in good
    assert "None of 1 test fails" in fails
    assert fails.endswith("Not counted, no better than chance at arousal: 1 test.")


def test_nothing_labelled_nothing_evaluated_and_notebooks_that_failed(lines):
    failed = [{"model": "m", "family": "correctness_regression", "status": "failed", "error": "x"}]
    good, fails, left = lines([verdict(**NOTHING)], figures=[], notebooks=failed)
    assert good == "How good: of m that cannot be said: no corpus has labels for its tasks."
    assert fails.startswith("What fails: Nothing could be concluded: 0 inconclusive, 1 not evaluated.")
    assert left.endswith(": 1 test not evaluated; the tests of correctness_regression failed to run.")


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
    text = as_markdown(["What fails: @team #12 !3 https://a.example www.b.example 0.5"])
    for live in ("@t", "#1", "!3", "://", "www."):
        assert live not in text
    assert "0.5" in text
