"""Rows of results as pages show them: a difference that fails, one of few speakers, a value."""

from soundcheck.results.verdict import Verdict


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
