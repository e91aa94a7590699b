"""The last lines of a run say what counts and what does not."""

import pytest

from soundcheck.report.run_summary import summary_lines
from soundcheck.results.estimates import estimate_frame
from soundcheck.results.facts import facts_by_model
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict


def row(**changes) -> Verdict:
    plain = {
        **{"model": "m", "corpus": "talk", "family": "fairness_sex", "category": "fairness"},
        **{"task": "arousal", "test": "Mean Value", "group": "sex: female", "value": 0.01},
        **{"threshold": 0.1, "rule": "|value| <", "passed": True, "evidence": "clear pass", "state": "pass"},
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


def lines_of(record, frame):
    return list(summary_lines(facts_by_model(record, frame, estimate_frame([]))["m"]))


@pytest.mark.parametrize("kind", ["python", "random"])
def test_last_lines(recorded, kind):
    frame = to_frame(
        [
            row(),
            row(test="a", state="inconclusive"),
            row(test="b", value=0.3, passed=False, p_value=0.001, state="fail"),
            row(test="b", value=-0.3, passed=False, group="sex: male", state="fail", mirrors="sex: female"),
            row(test="c", passed=None, value=None, state="not evaluated", skipped="no labels"),
            row(task="valence"),
            row(test="d", passed=None, threshold=None, state="reported", skipped="no threshold"),
            row(task="dominance"),
        ]
    )
    figures = [figure("arousal", "proven"), figure("valence", "hollow")]
    record = recorded(models=[model(kind)], figures=figures)
    lines = lines_of(record, frame)
    if kind == "random":
        counts = "3 pass, 1 fail, 1 inconclusive, 1 not evaluated, 1 reported"
        assert lines[0] == f"m (random reference): {counts}" and len(lines) == 3
        return
    # Nothing counts at a task at which the model is no better than chance.
    assert lines == [
        "m: 2 pass, 1 fail, 1 inconclusive, 1 not evaluated, 1 reported",
        "  concordance of arousal 0.60 (95 % 0.50 to 0.70, 26 speakers)",
        "  concordance of valence 0.60 (95 % 0.50 to 0.70, 26 speakers)",
        "  no better than chance at valence: its tests of fairness and robustness are not counted "
        "(1 pass, 0 fail, 0 inconclusive, 0 not evaluated, 0 reported)",
        "  not known to be better than chance at dominance",
    ]


def test_few_speakers_are_no_all_clear(recorded):
    few = {"state": "inconclusive", "state_sample": "reported", "evidence": "none", "passed": False}
    few |= {"gap": 0.3, "matters": 0.1, "gap_low_sample": 0.2, "gap_high_sample": 0.4, "against": "others"}
    few |= {"group_value": 0.5, "others_value": 0.2, "value": 0.3, "blocks": 2, "test": "Mean Value"}
    sizes = (0.15, 0.3, 0.25, 0.2, -0.4)
    frame = to_frame([row(**few | {"gap": size, "group": f"accent: {n}"}) for n, size in enumerate(sizes)])
    record = recorded(models=[model("python")], figures=None)
    first, said, title, *lines, more = lines_of(record, frame)
    assert said == "  Nothing could be concluded: 5 differences have too few speakers"
    assert title == "  Too few speakers to generalise; what these speakers show:"
    assert [line.split()[2] for line in lines] == ["4", "1", "2"]  # the largest first
    assert lines[1].endswith(
        "arousal of 1 speakers is 0.50 against 0.20 of the others (difference 0.30, 95 % 0.20 to 0.40 for "
        "these speakers, 2 speakers, margin 0.10)"
    )
    assert more == "    and 2 more differences"
