"""Rows of results as a run makes them; tests of results share one model, corpus, family and task."""

from soundcheck.results.rows import Verdict
from soundcheck.statistics.rules import passes

ABOUT = {"model": "m", "corpus": "c", "family": "f", "category": "correctness", "task": "arousal"}
TASK = {"kind": "regression", "classes": [], "low": 0.0, "high": 1.0}  # as records have it
BLOCKS = 20


def value(test: str = "T", number: float = 0.7, reach: float = 0.04, rule: str = ">", **more) -> Verdict:
    """A value with its interval; by itself its state is what its rule says."""
    threshold = more.get("threshold", 0.5)
    fine = None if threshold is None else bool(passes(rule, number, threshold))
    row = ABOUT | {"test": test, "value": number, "low": number - reach, "high": number + reach}
    row |= {"segments": 100, "blocks": BLOCKS, "rule": rule, "threshold": threshold, "passed": fine}
    row |= {"evidence": "open", "state": "pass" if fine else "fail"}
    return Verdict(**(row | more))


def difference(gap: float, group: str = "sex: male", state: str = "fail", **more) -> Verdict:
    """A group that differs so much from the others; its published value is half of that."""
    row = {"category": "fairness", "group": group, "rule": "|value| <", "threshold": 0.1, "state": state}
    row |= {"against": "others", "gap": gap, "gap_low": gap - 0.02, "gap_high": gap + 0.02, "matters": 0.1}
    return value(**({"number": gap / 2, "reach": 0.01} | row | more))


def skipped(why: str, test: str = "S", **more) -> Verdict:
    return Verdict(**(ABOUT | {"test": test, "skipped": why, "state": "not evaluated"} | more))


# What makes of a value one that is reported without threshold, and of any row one that nothing decides
REPORTED = {"passed": None, "threshold": None, "evidence": "shown", "state": "reported", "skipped": "why"}
OPEN = {"state": "inconclusive"}


def notebook(model: str = "m", family: str = "f", status: str = "ok") -> dict[str, str]:
    return {"model": model, "family": family, "status": status, "error": "boom"}
