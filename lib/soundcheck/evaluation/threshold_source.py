"""Where the threshold of a row comes from: published, simulated or set by the suite; how the row says so."""

from __future__ import annotations

import dataclasses

from soundcheck.evaluation.subset import Subset
from soundcheck.results.verdict import SHOWN, Verdict
from soundcheck.statistics.rules import GAP_RULES
from soundcheck.statistics.simulation import MOST_CLASSES
from soundcheck.suite.families import TestDefinition

CLASSES = 4  # of the published simulations


def not_simulated(subset: Subset, definition: TestDefinition) -> str:
    """Say why a threshold cannot be stretched to the sizes of groups; empty if it can."""
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
    """Let a row say that its threshold is not the one that a reader expects."""
    remark = ""
    if verdict.evidence == SHOWN:
        remark = definition.unsuited(subset.task)
    elif verdict.threshold is not None:
        remark = definition.change_for(subset.task) or _as_published(verdict, subset, definition, thresholds)
    return dataclasses.replace(verdict, skipped="; ".join(filter(None, (verdict.skipped, remark))))


def _as_published(verdict: Verdict, subset: Subset, definition: TestDefinition, thresholds: str) -> str:
    """Say why a published threshold is not what a reader takes it for; empty if it is."""
    if subset.group_size is None or verdict.rule in GAP_RULES:
        return ""
    if thresholds == "simulated":
        obstacle = not_simulated(subset, definition)
        return obstacle and f"published threshold: {obstacle}"
    others = subset.task.classes and len(subset.task.classes) != CLASSES
    if thresholds == "published" and definition.simulation and others:
        return f"published threshold: simulated for {CLASSES} classes, not {len(subset.task.classes)}"
    return ""
