"""The last lines of a run say what counts and what does not."""

import pytest

from soundcheck.report.run_summary import summary_lines
from soundcheck.results import Verdict, to_frame
from soundcheck.results.standing import standings


def row(**changes) -> Verdict:
    plain = {
        **{"model": "m", "corpus": "talk", "family": "fairness_sex", "category": "fairness"},
        **{"task": "arousal", "test": "Mean Value", "group": "sex: female", "value": 0.01},
        **{"threshold": 0.1, "rule": "|value| <", "passed": True, "evidence": "clear pass"},
    }
    return Verdict(**(plain | changes))


def figure(task, standing):
    return {
        **{"model": "m", "corpus": "talk", "task": task, "measure": "concordance", "value": 0.6, "low": 0.5},
        **{"high": 0.7, "segments": 400, "blocks": 26, "guessing": 0.0, "standing": standing},
    }


def model(kind):
    return {
        **{
            "name": "m",
            "slug": "m",
            "kind": kind,
            "target": "",
            "tasks": ["arousal", "valence", "dominance"],
        },
        **{"description": "", "license": "", "fingerprint": "f", "inputs": 1, "failed": 0, "unusable": 0},
        **{"notes": [], "failures": [], "repeated": 0, "repeated_different": 0, "out_of_range": 0},
        "unknown_classes": {},
    }


@pytest.mark.parametrize("kind", ["python", "random"])
def test_last_lines(recorded, kind):
    frame = to_frame(
        [
            row(),
            row(test="a", evidence="open"),
            row(test="b", value=0.3, passed=False, evidence="clear fail", p_value=0.001, holds=True),
            row(test="c", passed=None, value=None, evidence="", skipped="no labels"),
            row(task="valence"),
            row(test="d", passed=None, threshold=None, evidence="shown", skipped="no threshold"),
            row(task="dominance"),
        ]
    )
    figures = [figure("arousal", "proven"), figure("valence", "hollow")]
    record = recorded(models=[model(kind)], figures=figures)
    lines = list(summary_lines(record.models[0], record, frame, standings(frame, record.figures)))
    if kind == "random":
        assert lines[0].startswith("m (random reference): 1 failure holds, 3 clear passes, 1 open, ")
        assert ", 1 shown without verdict, 1 skipped" in lines[0]
        assert len(lines) == 3
        return
    # What is hollow counts nowhere, what is unproven in no share.
    assert lines == [
        "m: 1 failure holds, 2 clear passes, 1 open, 1 shown without verdict, 1 skipped; "
        "fairness 50 % of 2 clear",
        "  concordance of arousal 0.60 (95 % 0.50 to 0.70, 26 speakers)",
        "  concordance of valence 0.60 (95 % 0.50 to 0.70, 26 speakers)",
        "  hollow at valence: 1 test of fairness and robustness do not count anywhere",
        "  unproven at dominance: 1 test of fairness and robustness do not count in shares",
    ]
