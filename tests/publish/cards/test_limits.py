"""What limits a model: all tests are counted, nothing is cut in silence."""

from tests.support.findings import FEW
from tests.support.finished import FAILED, verdict
from tests.support.tested_models import facts_of, gap

from soundcheck.publish.cards.limits import MOST, limits_found, worse_off


def test_counts_and_the_largest_first(tmp_path, recorded):
    rows = [
        verdict(test="Undecided", state="inconclusive"),
        verdict(test="Near", **FAILED | {"value": 0.49, "low": 0.4, "high": 0.499}),
        verdict(test="Farther", **FAILED),
    ]
    told = limits_found(facts_of("recogniser", tmp_path, recorded, rows=rows, figures=[]))
    assert told[0].startswith("3 correctness tests: 0 pass, 2 fail, 1 inconclusive")
    assert told[1].startswith("farther of arousal is 0.40 (95 % 0.30 to 0.45, 20 speakers)")
    assert told[2].startswith("near of arousal")


def test_lists_say_what_they_leave_out(tmp_path, recorded):
    rows = [verdict(test=f"T{n}", **FAILED) for n in range(MOST + 3)]
    told = limits_found(facts_of("recogniser", tmp_path, recorded, rows=rows, figures=[]))
    assert told[-1] == "and 3 more, see results.csv"


def test_tasks_without_merit_and_what_failed(tmp_path, recorded):
    figure = {
        **{"model": "m", "corpus": "c", "task": "arousal", "measure": "concordance", "value": 0.0},
        **{"low": -0.1, "high": 0.1, "segments": 200, "blocks": 20, "guessing": 0.0, "standing": "hollow"},
    }
    broken = {"model": "m", "family": "asr_fairness", "status": "failed", "error": "Boom"}
    facts = facts_of("fairness only", tmp_path, recorded, figures=[figure], notebooks=[broken])
    told = limits_found(facts)
    assert "no better than chance at arousal: fairness and robustness at it mean nothing" in told
    assert "tests of asr_fairness did not come to their end" in told
    assert worse_off(facts) == []


def test_groups_of_failures(tmp_path, recorded):
    rows = [gap("m", "accent: a", gap=0.2), gap("m", "accent: b", gap=0.29), gap("m", "accent: a", label="x")]
    found = worse_off(facts_of("fairness only", tmp_path, recorded, rows=rows))
    assert [(group, len(told)) for group, told in found] == [("accent: b", 1), ("accent: a", 2)]


def test_few_speakers_are_described_and_put_no_group_at_risk(tmp_path, recorded):
    rows = [gap("m", "accent: a", **FEW)]
    facts = facts_of("fairness only", tmp_path, recorded, rows=rows)
    told = limits_found(facts)
    assert "1 difference with too few speakers to generalise" in told
    assert any("for these speakers" in text for text in told) and worse_off(facts) == []
