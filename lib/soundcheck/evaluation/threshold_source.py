"""Where the threshold of a row comes from: published, simulated or set by the suite; how the row says so."""

from __future__ import annotations

import dataclasses

from soundcheck.evaluation.subset import Subset
from soundcheck.results.verdict import Verdict
from soundcheck.statistics.simulation import MOST_CLASSES
from soundcheck.suite.families import TestDefinition

__all__ = ["not_simulated", "remarked"]


def not_simulated(subset: Subset, definition: TestDefinition) -> str:
    """Say why a threshold cannot be stretched to the sizes of groups; empty if it can.

    Parameters
    ----------
    subset
        Rows with the number and size of their groups.
    definition
        The test.
    """
    groups, samples = subset.group_size
    if definition.is_own(subset.task):
        return "the suite sets it"
    if not definition.simulation:
        return "no simulation belongs to it"
    if groups < 2 or samples < 2:
        return "simulations are for 2 groups or more of at least 2 segments"
    if len(subset.task.classes) > MOST_CLASSES:
        return f"simulations are for at most {MOST_CLASSES} classes"
    return ""


def remarked(verdict: Verdict, subset: Subset, definition: TestDefinition, thresholds: str) -> Verdict:
    """Let a row say that its threshold is not the one that a reader expects.

    Parameters
    ----------
    verdict
        The row.
    subset, definition
        What it is about.
    thresholds
        Which thresholds the suite asks for.
    """
    if verdict.threshold is None:
        return verdict
    remark = definition.change_for(subset.task)
    if not remark and thresholds == "simulated" and subset.group_size is not None:
        obstacle = not_simulated(subset, definition)
        remark = obstacle and f"published threshold: {obstacle}"
    return dataclasses.replace(verdict, skipped="; ".join(filter(None, (verdict.skipped, remark))))
