"""The first page: what fails is first, in sentences; no model is ranked against one of another kind."""

import re

import numpy as np
import pytest

from soundcheck.book import find_your_way, findings, overview
from soundcheck.book.model_tables import family_table, kinds, model_table
from soundcheck.report import failures
from soundcheck.results.page_names import result_page
from soundcheck.results.record import KeyFigure
from soundcheck.results.standing import standings
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict

IMAGE = "<img src=x onerror=alert(1)>"


def row(**changes) -> Verdict:
    plain = {
        **{"model": "good", "corpus": "talk", "family": "fairness_accent", "category": "fairness"},
        **{"task": "arousal", "test": "Mean Value", "group": "accent: spanish", "value": 0.09},
        **{"low": 0.05, "high": 0.16, "segments": 200, "blocks": 10, "threshold": 0.075},
        **{"rule": "|value| <", "passed": False, "gap": 0.18, "gap_low": 0.11, "gap_high": 0.32},
        **{"matters": 0.075, "evidence": "clear fail", "bound": 0.32, "p_value": 1e-5, "holds": True},
        **{"group_value": 0.62, "others_value": 0.44, "against": "others", "state": "fail"},
    }
    return Verdict(**(plain | changes))


PLAIN = dict.fromkeys(("gap", "gap_low", "gap_high", "matters", "group_value", "others_value"))
PLAIN |= {"against": ""}
UNDECIDED = {"evidence": "open", "holds": False, "state": "inconclusive"}
FEW = UNDECIDED | {"state_sample": "reported", "gap_low": None, "gap_high": None, "blocks": 2, "bound": None}
FEW |= {"gap_low_sample": 0.1, "gap_high_sample": 0.26}
CORRECT = PLAIN | {
    **{"family": "correctness_regression", "category": "correctness", "group": "", "rule": ">"},
    **{"test": "Concordance Correlation Coeff", "value": 0.41, "low": 0.3, "high": 0.52, "threshold": 0.5},
    **{"reference": 0.0, "reference_passed": False},
}


def itertuple(verdict):
    return next(to_frame([verdict]).itertuples())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {},
            "arousal of spanish speakers is 0.62 against 0.44 of the others "
            "(difference 0.18, 95 % 0.11 to 0.32, 10 speakers, surely beyond the margin of 0.075)",
        ),
        (
            {"gap": -0.18, "gap_low": -0.32, "gap_high": -0.02, "label": "anger", "test": "Recall Per Class"},
            "recall per class of arousal, anger, of spanish speakers is 0.62 against 0.44 of the others "
            "(difference −0.18, 95 % −0.32 to −0.020, 10 speakers, more than the margin of 0.075; that there "
            "is a difference is significant)",
        ),
        (
            FEW | {"group": "language: fr, sentiment: negative", "against": "es", "blocks": 1},
            "arousal of “language: fr, sentiment: negative” is 0.62 against 0.44 of “language: es” "
            "(difference 0.18, 95 % 0.10 to 0.26 for these speakers, 1 speaker, margin 0.075)",
        ),
        (
            {"test": "Word Error Rate Difference", "task": "transcript", "against": "us", "state": "pass"}
            | {"gap": 0.02, "gap_low": 0.01, "gap_high": 0.03},
            "word error rate of spanish speakers is 0.62 against 0.44 of us speakers "
            "(difference 0.020, 95 % 0.010 to 0.030, 10 speakers, within the margin of 0.075)",
        ),
        (
            {"adjusted": 0.02, "counterpart": 0.9, "adjusted_by": "signal_to_noise"},
            "arousal of spanish speakers is 0.62 against 0.44 of the others (difference 0.18, 95 % 0.11 to "
            "0.32, 10 speakers, surely beyond the margin of 0.075); most of the difference goes with the "
            "signal-to-noise ratio (0.020 if both had the same)",
        ),
        (
            CORRECT,
            "concordance correlation coefficient of arousal is 0.41 (95 % 0.30 to 0.52, 10 speakers); "
            "it has to be above 0.50",
        ),
        (
            CORRECT | {"rule": "|value| <", "threshold": 0.1},
            "concordance correlation coefficient of arousal is 0.41 (95 % 0.30 to 0.52, 10 speakers); "
            "it has to be within ±0.10",
        ),
        (
            CORRECT | {"test": "Groups Served Worse", "value": 2.0, "skipped": "a × b (0.3 worse), c"},
            "2 groups are worse off than the others in arousal: a × b (0.3 worse), c",
        ),
        (
            CORRECT | {"test": "Groups Served Worse", "task": "transcript", "value": 1.0, "skipped": "c"},
            "1 group is worse off than the others: c",
        ),
    ],
)
def test_findings_are_sentences(changes, told):
    assert failures.sentence(itertuple(row(**changes))) == told


def test_what_never_has_an_interval_is_not_for_want_of_speakers(recorded):
    searched = PLAIN | {"test": "Groups Served Worse", "group": "", "rule": "<", "value": 0.0, "low": None}
    searched |= {"high": None, "threshold": 1.0, "passed": True, "holds": False, "bound": None, "blocks": 60}
    frame = to_frame([row(**(searched | UNDECIDED | {"evidence": "none", "p_value": 1.0}))])
    shown = str(findings.inconclusive_table(recorded(), frame, result_page))
    assert "for any interval" not in shown and "it has no interval" in shown


def test_findings_are_ordered_by_what_is_beyond_in_widths_of_the_interval():
    rows = [
        row(label="a"),  # (0.18 - 0.075) / 0.21
        row(label="b", gap=0.1, gap_low=0.09, gap_high=0.11),  # 0.025 / 0.02
        row(label="c", **(CORRECT | {"value": 0.2})),  # 0.3 / 0.22
        row(label="d", **(CORRECT | {"rule": "<", "value": 0.6})),  # 0.1 / 0.22
        row(label="e", gap_low=None, gap_high=None),
    ]
    ordered = failures.by_excess(to_frame(rows))
    assert ordered["label"].tolist() == ["c", "b", "a", "d", "e"]
    known = [0.3 / 0.22, 0.025 / 0.02, 0.105 / 0.21, 0.1 / 0.22]
    assert ordered["excess"].tolist()[:4] == pytest.approx(known)


def test_of_each_model_and_family_one_finding_stands_first(recorded):
    low = {"gap": -0.18, "gap_low": -0.32, "gap_high": -0.11}
    frame = to_frame(
        [
            row(group="sex: female"),
            row(group="sex: male", mirrors="sex: female", **low),  # the same test as the first
            row(task="valence", group="sex: male"),
            row(family="other", group="accent: welsh"),
        ]
    )
    shown = str(findings.failed(recorded(), frame, result_page))
    first, folded = shown.split("<details>")
    assert first.count("<li>") == 2 and folded.count("<li>") == 1
    assert "Differences between groups: 3" in first and "welsh" in first


@pytest.mark.parametrize("rule", [">", "gap"])
def test_speakers_are_planned_by_the_square_root(rule):
    """With so many speakers, and the same value, the interval just touches what decides."""
    if rule == "gap":
        frame = to_frame([row(gap=0.05, gap_low=-0.15, gap_high=0.25, blocks=10)])
        reach, margin = 0.2, 0.075 - 0.05
    else:
        frame = to_frame([row(**(CORRECT | {"value": 0.45, "low": 0.25, "high": 0.65}))])
        reach, margin = 0.2, 0.05
    (needed,) = failures.speakers_needed(frame)
    assert reach * np.sqrt(10 / needed) <= margin + 1e-9 < reach * np.sqrt(10 / (needed - 1)) + 1e-9


def figure(model="good", task="arousal", standing="proven", **changes) -> KeyFigure:
    plain = {
        **{"model": model, "corpus": "talk", "task": task, "measure": "concordance", "value": 0.6},
        **{"low": 0.5, "high": 0.7, "segments": 400, "blocks": 26, "guessing": 0.0, "standing": standing},
    }
    return KeyFigure(**(plain | changes))


def model(name, *tasks, kind="python"):
    return {
        **{"name": name, "slug": name, "kind": kind, "target": "", "tasks": list(tasks), "description": ""},
        **{"license": "", "fingerprint": "f", "inputs": 1, "failed": 0, "unusable": 0, "notes": []},
        **{"failures": [], "repeated": 0, "repeated_different": 0, "out_of_range": 0, "unknown_classes": {}},
    }


FAMILIES = {
    "fairness_accent": "Fairness accent",
    "correctness_regression": "Correctness regression",
    "asr_word_errors": "Word errors",
    "robustness_small_changes": "Small changes",
}


@pytest.fixture
def run(recorded):
    """A run of two good models of values, one that guesses, one random reference, and a recogniser."""
    models = [
        model("worse", "arousal"),
        model("good", "arousal"),
        model("constant", "arousal"),
        model("random", "arousal", kind="random"),
        model("writer", "transcript"),
    ]
    correct = CORRECT | {"evidence": "clear pass", "holds": None, "p_value": None, "state": "pass"}
    fine = {"value": 0.8, "low": 0.7, "high": 0.9, "passed": True}
    failing = {"evidence": "clear fail", "p_value": 1e-6, "holds": True, "state": "fail"}
    fair = {"gap": 0.0, "gap_low": -0.02, "gap_high": 0.02, "value": 0.0, "passed": True, "holds": False}
    fair |= {"evidence": "clear pass", "p_value": 1.0, "state": "pass"}
    silent = correct | {"family": "asr_word_errors", "task": "transcript", "test": "Word Error Rate"}
    silent |= {"passed": None, "evidence": "", "value": None, "low": None, "high": None}
    silent |= {"skipped": f"no transcripts {IMAGE}", "state": "not evaluated"}
    rows = [
        row(),
        row(**(correct | fine)),
        row(model="worse", **(correct | failing)),
        row(model="worse", **fair),
        row(model="constant", **(correct | failing)),
        row(model="constant", **fair),
        row(model="random", **(correct | failing)),
        row(model="random", **fair),
        row(model="writer", **silent),
    ]
    notebooks = [
        {"model": each["name"], "family": family, "status": "ok", "error": ""}
        for each in models
        for family in (
            ("asr_word_errors",)
            if each["name"] == "writer"
            else ("correctness_regression", "fairness_accent")
        )
    ]
    families = [
        {"name": name, "title": title, "category": "fairness", "question": "?", "digest": "d"}
        for name, title in FAMILIES.items()
    ]
    figures = [
        figure(),
        figure("worse"),
        figure("constant", standing="hollow", value=0.0, low=0.0, high=0.0),
        figure("random", standing="hollow", value=0.01, low=-0.1, high=0.1),
    ]
    record = recorded(
        title=f"Suite {IMAGE}", models=models, notebooks=notebooks, families=families, figures=figures
    )
    return record, to_frame(rows)


def text(cells) -> str:
    parts = [
        c["source"] if c["cell_type"] == "markdown" else c["outputs"][0]["data"]["text/html"] for c in cells
    ]
    return "\n".join(parts)


def test_the_title_is_that_of_the_suite_and_what_fails_is_first(run):
    cells = overview.cells(*run)
    page = text(cells)
    assert cells[0]["source"].startswith("# Suite") and IMAGE not in page
    what = "constant is no better than chance at arousal, writer is not known to be better than chance at tr"
    assert f"better than chance: {what}anscript<" in page
    first, rest = (
        page.index("3 of 5 tests fail."),
        page.index("## What fails"),
    )
    finding = page.index("<strong>spanish speakers</strong></span>: <span>arousal is 0.62 against 0.44")
    assert first < rest < finding
    assert "no better than chance at arousal: concordance of arousal 0 (95 % 0 to 0, 26 speakers)" in page
    assert 'href="find_your_way.html"' in page


def test_models_that_know_nothing_win_nothing(run):
    record, frame = run
    (values, words) = kinds(record)
    standing = standings(frame, record.figures)
    shown = str(model_table(record, frame, standing, values))
    order = re.findall(r'href="models/(\w+)\.html"', shown)
    assert order == ["good", "constant", "worse", "random"]  # correct first, then by name; random apart
    assert shown.index("Random references") > shown.index("worse")
    constant = shown[shown.index("models/constant") : shown.index("models/worse")]
    assert "no better than chance at arousal" in constant
    assert "no better than chance, not counted:" in constant
    assert "none evaluated" in constant
    assert "writer" not in shown
    assert "writer" in str(model_table(record, frame, standing, words))


def test_tests_at_chance_level_are_shown_apart(run):
    record, frame = run
    standing = standings(frame, record.figures)
    page = result_page
    shown = str(family_table(record, frame, standing, kinds(record)[0], page))
    cell = shown[shown.index("results/constant/fairness_accent") :]
    assert "no better than chance, not counted:" in cell[: cell.index("</a>")]
    good = shown[shown.index("results/good/fairness_accent") :]
    assert "chance" not in good[: good.index("</a>")]
    random = shown[shown.index("results/random/fairness_accent") :]
    assert "chance" not in random[: random.index("</a>")]


def test_families_that_evaluated_nothing_are_in_a_line(run):
    record, frame = run
    standing = standings(frame, record.figures)
    shown = str(family_table(record, frame, standing, kinds(record)[1], result_page))
    assert "<table" not in shown
    assert "Nothing could be evaluated by: Word errors (no transcripts &lt;img" in shown
    told = "Not made for these models, or not asked of them: Fairness accent, Correctness regression"
    assert told in shown


def test_a_record_of_before_greys_nothing(run, recorded):
    record, frame = run
    old = recorded(**{name: getattr(record, name) for name in ("title", "models", "notebooks", "families")})
    page = text(overview.cells(old, frame))
    assert "not counted" not in page and "better than chance" not in page
    assert "3 of 6 tests fail." in page


def test_an_accepted_failure_is_listed_with_its_reason(run, recorded):
    record, frame = run
    entry = {"model": "good", "why": f"being collected {IMAGE}", "until": "2999-01-01"}
    content = {name: getattr(record, name) for name in ("models", "notebooks", "families", "figures")}
    page = text(overview.cells(recorded(**content, accepted=[entry]), frame))
    finding = page[page.index("arousal is 0.62 against") :]
    assert "being collected &lt;img" in finding[: finding.index("</li>")]
    assert page.count("being collected") == 1 and "1 of the failures is accepted." in page


def test_when_nothing_fails_it_says_so(run):
    record, frame = run
    page = text(overview.cells(record, frame[~frame["state"].eq("fail")]))
    assert page.count("None of 2 tests fails.") == 2
    assert findings.FEW not in page  # nothing to list


def test_few_speakers_are_no_all_clear(run):
    record, _ = run
    sizes = {"spanish": 0.1, "french": 0.4, "welsh": -0.2}
    rows = [row(**FEW | {"group": f"accent: {name}", "gap": gap}) for name, gap in sizes.items()]
    rows.append(row(**FEW | {"group": "sex: male", "mirrors": "sex: female"}))
    page = text(overview.cells(record, to_frame(rows)))
    assert "Nothing could be concluded: 3 differences have too few speakers.</strong>" in page
    section = page[page.index("## Too few speakers to generalise: what these speakers show") :]
    section = section[: section.index("## How good")]
    assert re.findall(r"<em>(\w+) speakers", section) == ["french", "welsh", "spanish"]
    assert "<strong>" not in section and "for these speakers" in section


def test_more_differences_than_are_listed_lead_to_all_results_from_every_page(run):
    rows = to_frame([row(**FEW | {"group": f"accent: {n}", "gap": 0.1 + n / 100}) for n in range(40)])
    shown = str(findings.of_few_speakers(run[0], rows, result_page, "../../"))
    assert "<li>" in shown and 'href="../../all_results.html"' in shown


def test_what_is_inconclusive_says_what_is_not_excluded(run):
    record, _ = run
    wide = row(gap=0.05, gap_low=-0.15, gap_high=0.25, bound=0.25, **UNDECIDED)
    shown = str(findings.inconclusive_table(record, to_frame([wide]), result_page))
    assert "0.25" in shown and "Fairness accent" in shown
    assert "more than 10 times as many" in shown
    nearer = row(gap=0.02, gap_low=-0.06, gap_high=0.1, bound=0.1, **UNDECIDED)
    shown = str(findings.inconclusive_table(record, to_frame([nearer]), result_page))
    assert "about 22 in place of 10" in shown
    few = row(**FEW | {"evidence": "none", "blocks": 3})
    shown = str(findings.inconclusive_table(record, to_frame([few]), result_page))
    assert "5 at least, for any interval" in shown
    on_margin = row(gap=0.075, gap_low=0.0, gap_high=0.15, **UNDECIDED)
    shown = str(findings.inconclusive_table(record, to_frame([on_margin]), result_page))
    assert "more than 10 times as many" in shown


def test_both_rules_stand_in_one_line(run):
    record, _ = run
    shown = str(findings.failed(record, to_frame([row(passed=True, value=0.01)]), result_page))
    assert "margin of 0.075; passes the published rule (|value| &lt; 0.075)</small>" in shown


def test_find_your_way_leaves_out_what_the_run_does_not_have(run):
    page = text(find_your_way.cells(*run))
    assert page.startswith("# Find your way") and IMAGE not in page
    assert "whether one model is better" not in page and "from run to run" not in page
    assert "models.html#what-answers-cost" in page
    assert "what changed from run to run" in text(find_your_way.cells(*run, ["over_time"]))
    record, frame = run
    for few in (frame[~frame["state"].eq("fail")], frame.iloc[:0]):  # nothing fails, or there is no row
        assert "for which groups a model is worse" not in text(find_your_way.cells(record, few))
        assert overview.cells(record, few)


def test_find_your_way_leads_to_the_rows_of_the_worst_groups(run):
    page = text(find_your_way.cells(*run))
    line = page[page.index("for which groups a model is worse") :]
    address, name = re.search(r'href="([^"]+)">([^<]+)<', line).groups()
    assert name == "good: accent: spanish"
    assert re.fullmatch(r"results/good/fairness_accent\.html#row-[0-9a-f]{8}", address)
    assert f'href="{address}"' in text(overview.cells(*run))
