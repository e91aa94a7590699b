"""Findings that pages about a model are made of: a number, a difference that fails, inconclusive ones."""

from tests.support.finished import FAILED

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
FEW = {"state": "inconclusive", "state_sample": "reported", "gap_low_sample": -0.25, "gap_high_sample": -0.12}
FEW |= {"passed": False, "holds": False, "evidence": "none", "gap_low": None, "gap_high": None, "blocks": 2}
