"""Rows of the results in words: what a row says, in which order, and how many speakers would decide it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from soundcheck.report.adjusted_gaps import in_short
from soundcheck.report.formats import significant
from soundcheck.report.names import in_words, label
from soundcheck.results.record import RunRecord
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED
from soundcheck.statistics.rules import ABOVE, BELOW, one_sided

PEOPLE = ("sex", "accent")  # columns whose values go before "speakers"
SINGLE = ("transcript", "embedding")  # tasks whose measures need no name of a task
SEARCHED = "Groups Served Worse"  # the test whose value counts groups, which its remark names


def excess(frame: pd.DataFrame) -> pd.Series:
    """Say by how much rows miss what they have to meet, in widths of their intervals; NaN without interval.

    Of a difference what is beyond the margin, of any other value what is beyond the threshold.
    """
    of_groups = frame["matters"].notna() & frame["gap"].notna()
    size = frame["gap"].where(of_groups, frame["value"]).abs()
    limit = frame["matters"].where(of_groups, frame["threshold"])
    beyond = (size - limit).where(frame["rule"].ne(ABOVE) | of_groups, limit - frame["value"])
    beyond = beyond.where(of_groups | frame["rule"].ne(BELOW), frame["value"] - limit)
    width = (frame["gap_high"] - frame["gap_low"]).where(of_groups, frame["high"] - frame["low"])
    return (beyond / width).replace(np.inf, 1e9)


def by_excess(frame: pd.DataFrame) -> pd.DataFrame:
    """Put rows in the order of their excess, the largest first."""
    keys = ["excess", "model", "corpus", "family", "task", "test", "group", "label"]
    ordered = frame.assign(excess=excess(frame))
    return ordered.sort_values(keys, ascending=[False] + [True] * 7, kind="stable")


def speakers_needed(frame: pd.DataFrame) -> pd.Series:
    """Plan how many blocks it would take to decide inconclusive rows, float; infinite on the threshold.

    Half the width of an interval shrinks with the square root of the blocks. It has to fit between the value
    and what decides; where the value will lie then nobody knows, so this is for planning only.
    """
    needed = frame["blocks"] * (0.5 / excess(frame).abs()).pow(2)
    return np.ceil(needed.clip(lower=frame["blocks"] + 1).round(6))


class Finding(NamedTuple):
    """What a row says, in parts: ``{measured} of {who} is {says} ({rests}){more}``."""

    who: str
    measured: str
    says: str
    rests: str
    more: str = ""

    def __str__(self) -> str:
        if not self.rests:
            return self.says
        about = f" of {self.who}" if self.who else ""
        return f"{self.measured}{about} is {self.says} ({self.rests}){self.more}"


def sentence(row: object, blocks: str = "speaker") -> str:
    """Write what a row says.

    Parameters
    ----------
    row
        A row of the results table.
    blocks
        What was resampled, in the singular.

    Examples
    --------
    ``word error rate of german speakers is 0.23 against 0.040 of the others (difference 0.19, 95 % 0.13 to
    0.25, surely beyond the margin of 0.050, 12 speakers)``
    """
    return str(finding(row, blocks))


def finding(row: object, blocks: str = "speaker") -> Finding:
    """Say in parts what a row says; parameters as of :func:`sentence`."""
    if row.test == SEARCHED and row.skipped:
        found = "1 group is" if row.value == 1 else f"{row.value:g} groups are"
        task = "" if row.task in SINGLE else f" in {row.task}"
        return Finding("", "", f"{found} worse off than the others{task}: {row.skipped}", "")
    measured = _subject(row)
    if row.label:
        measured += f", {label(row.label)},"
    count = f"{row.blocks} {blocks}" if row.blocks == 1 else f"{row.blocks} {blocks}s"
    if row.group and not pd.isna(row.gap):
        bounds = (row.gap_low_sample, row.gap_high_sample) if few(row) else (row.gap_low, row.gap_high)
        whose = " for these recordings" if blocks == "file" else " for these speakers"
        span = _span(*bounds) + (whose if few(row) and not pd.isna(bounds[0]) else "")
        parts = [f"difference {significant(row.gap)}", span, count, _margin(row, *bounds)]
        others = "the others" if row.against in ("", "others") else _people(_other(row))
        says = f"{significant(row.group_value)} against {significant(row.others_value)} of {others}"
        if pd.isna(row.group_value):  # of a version that kept no values of groups
            says = f"not that of {others}"
        rests = ", ".join(filter(None, parts))
        return Finding(_people(row.group), measured, says, rests, _adjusted(row))
    side = {ABOVE: "above ", BELOW: "below "}.get(row.rule, "within ±")
    has_to = "" if pd.isna(row.threshold) else f"; it has to be {side}{significant(row.threshold)}"
    who = _people(row.group) if row.group else ""
    return Finding(who, measured, significant(row.value), f"{_span(row.low, row.high)}, {count}", has_to)


def few(row: object) -> bool:
    """Say whether a difference has too few speakers to generalise, or unknown ones; it is said of these."""
    return row.state == NOT_EVALUATED or (row.state == INCONCLUSIVE and row.state_sample == REPORTED)


def subject(row: object) -> str:
    """Name what a row is about, as its sentence does: ``arousal of Spanish speakers``."""
    about = f" of {_people(row.group)}" if row.group else ""
    return ", ".join(filter(None, (f"{_subject(row)}{about}", label(row.label))))


def _span(low: float, high: float) -> str:
    return "no interval" if pd.isna(low) else f"95 % {significant(low)} to {significant(high)}"


def _margin(row: object, low: float, high: float) -> str:
    """Say where a difference lies beside its margin: surely beyond it only where the whole interval does."""
    if pd.isna(row.matters):
        return ""
    size, margin = row.gap if one_sided(row.rule) else abs(row.gap), significant(row.matters)
    if size < row.matters or few(row):
        return f"within the margin of {margin}" if row.state == PASS else f"margin {margin}"
    nearest = 0.0 if pd.isna(low) or low * high <= 0 else min(abs(low), abs(high))
    if nearest > row.matters:
        return f"surely beyond the margin of {margin}"
    significant_ = "; that there is a difference is significant" if row.state == FAIL else ""
    return f"more than the margin of {margin}{significant_}"


def _other(row: object) -> str:
    """Name the reference group with its column, as groups are named."""
    return f"{row.group.partition(': ')[0]}: {row.against}"


def _adjusted(row: object) -> str:
    """Add what becomes of a difference if both had the same noise, device or whatever it is adjusted by."""
    short = in_short(row)
    return f"; {short} ({significant(row.adjusted)} if both had the same)" if short else ""


def _subject(row: object) -> str:
    """Name what was measured; a difference of groups says by itself that it is one."""
    if row.test == "Mean Value":
        return row.task
    name = in_words(row.test)
    name = name.removesuffix(" difference") if row.group else name
    if row.task in SINGLE:
        return name
    what, under, change = name.partition(" under ")
    return f"{what} of {row.task}{under}{change}"


def _people(group: str) -> str:
    column, _, name = label(group).partition(": ")
    return f"{name} speakers" if column in PEOPLE and name and ": " not in name else f"“{label(group)}”"


def blocks_of(record: RunRecord, corpus: str) -> str:
    """Name what is resampled of a corpus, in the singular: ``speaker``, ``file`` or ``block``."""
    return record.block_of(corpus)


def counted_in(record: RunRecord, results: pd.DataFrame) -> pd.Series:
    """Say which rows are of models under test, bool; those of random references are not."""
    random = [model.name for model in record.models if model.kind == "random"]
    return ~results["model"].isin(random)
