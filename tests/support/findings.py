"""Findings that pages about a model are made of: a number, a difference that fails, inconclusive ones."""

from tests.support.finished import FAILED

from soundcheck.results.rows import Verdict

HOSTILE = '<img src=x onerror=alert(1)>"\'{{ 7*7 }} #read("/etc/passwd") $x$ \u202e\x07' + "é" * 300
FIGURE = {
    **{"model": "m", "corpus": "c", "task": "arousal", "measure": "concordance", "value": 0.61},
    **{"low": 0.57, "high": 0.66, "segments": 200, "blocks": 20, "guessing": 0.0, "standing": "proven"},
}
GAP = FAILED | {
    **{"family": "fairness_accent", "category": "fairness", "test": "Mean Value", "group": "accent: german"},
    **{"value": 0.3, "gap": -0.18, "gap_low": -0.32, "gap_high": -0.11, "matters": 0.075, "blocks": 10},
    **{"rule": "|gap| <", "threshold": 0.075, "bound": 0.32},
    **{"group_value": 0.3, "others_value": 0.48, "against": "others"},
}
OPEN = {"passed": True, "evidence": "open", "holds": False, "p_value": 0.4, "state": "inconclusive"}
NOTHING = dict.fromkeys(("passed", "value", "low", "high", "certainty", "reference", "reference_passed"))
NOTHING |= {"evidence": "", "skipped": "no labels", "state": "not evaluated"}


def row(**changes) -> Verdict:
    """Make a difference that fails."""
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
