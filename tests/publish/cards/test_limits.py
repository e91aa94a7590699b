"""What limits a model: all tests are counted, nothing is cut in silence."""

from tests.support.finished import FAILED, verdict
from tests.support.tested_models import facts_of, gap

from soundcheck.publish.cards.limits import MOST, limits_found, worst_served


def test_counts_and_the_gravest_first(tmp_path, recorded):
    rows = [
        verdict(test="Open", passed=True, evidence="open"),
        verdict(test="Near", **FAILED | {"value": 0.49, "low": 0.4, "high": 0.499}),
        verdict(test="Farther", **FAILED),
    ]
    told = limits_found(facts_of("recogniser", tmp_path, recorded, rows=rows, figures=[]))
    assert told[0].startswith("3 correctness tests: failures that hold 2, clear passes 0, open 1")
    assert told[1].startswith("farther of arousal is 0.40 (95 % 0.30 to 0.45, 20 speakers)")
    assert told[2].startswith("near of arousal")


def test_lists_say_what_they_leave_out(tmp_path, recorded):
    rows = [verdict(test=f"T{n}", **FAILED) for n in range(MOST + 3)]
    told = limits_found(facts_of("recogniser", tmp_path, recorded, rows=rows, figures=[]))
    assert told[-1] == "and 3 more, see results.csv"


def test_hollow_tasks_and_what_failed(tmp_path, recorded):
    figure = {
        **{"model": "m", "corpus": "c", "task": "arousal", "measure": "concordance", "value": 0.0},
        **{"low": -0.1, "high": 0.1, "segments": 200, "blocks": 20, "guessing": 0.0, "standing": "hollow"},
    }
    broken = {"model": "m", "family": "asr_fairness", "status": "failed", "error": "Boom"}
    facts = facts_of("fairness only", tmp_path, recorded, figures=[figure], notebooks=[broken])
    told = limits_found(facts)
    assert "not better than guessing at arousal: fairness and robustness at it mean nothing" in told
    assert "tests of asr_fairness did not come to their end" in told
    assert worst_served(facts) == []


def test_groups_of_failures_that_hold(tmp_path, recorded):
    rows = [gap("m", "accent: a", gap=0.2), gap("m", "accent: b", gap=0.29), gap("m", "accent: a", label="x")]
    found = worst_served(facts_of("fairness only", tmp_path, recorded, rows=rows))
    assert [(group, len(told)) for group, told in found] == [("accent: b", 1), ("accent: a", 2)]
