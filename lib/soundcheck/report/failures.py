"""Failures in words: what a row says, which is the gravest, how many speakers would settle an open one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from soundcheck.report.adjusted_gaps import in_short
from soundcheck.report.key_figures import significant
from soundcheck.report.names import in_words, label
from soundcheck.results.record import RunRecord
from soundcheck.statistics.rules import ABOVE, BELOW

PEOPLE = ("sex", "accent")  # columns whose values go before "speakers"
SINGLE = ("transcript", "embedding")  # tasks whose measures need no name of a task
SEARCHED = "Groups Served Worse"  # the test whose value counts groups, which its remark names


def excess(frame: pd.DataFrame) -> pd.Series:
    """Say by how much rows miss what they have to meet, in widths of their intervals; NaN without interval.

    Of a gap what is beyond the gap that matters, of any other value what is beyond the threshold.
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
    """Plan how many blocks it would take to settle open rows, float; infinite on the threshold.

    Half the width of an interval shrinks with the square root of the blocks. It has to fit between the value
    and what decides; where the value will lie then nobody knows, so this is for planning only.
    """
    needed = frame["blocks"] * (0.5 / excess(frame).abs()).pow(2)
    return np.ceil(needed.clip(lower=frame["blocks"] + 1).round(6))


class Finding(NamedTuple):
    """What a failure says, in parts: ``{measured} of {who} is {says} ({rests}){more}``."""

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
    """Write what a failure says.

    Parameters
    ----------
    row
        A row of the results table.
    blocks
        What was resampled, in the singular.

    Examples
    --------
    ``arousal of Spanish speakers is 0.18 higher than that of the others (95 % 0.11 to 0.32, 10 speakers;
    0.075 matters)``
    """
    return str(finding(row, blocks))


def finding(row: object, blocks: str = "speaker") -> Finding:
    """Say in parts what a failure says; parameters as of :func:`sentence`."""
    if row.test == SEARCHED and row.skipped:
        found = "1 group is" if row.value == 1 else f"{row.value:g} groups are"
        task = "" if row.task in SINGLE else f" in {row.task}"
        return Finding("", "", f"{found} served worse than the others{task}: {row.skipped}", "")
    measured = _subject(row)
    if row.label:
        measured += f", {label(row.label)},"
    who = _people(row.group) if row.group else ""
    count = f"{row.blocks} {blocks}" if row.blocks == 1 else f"{row.blocks} {blocks}s"
    if row.group and not pd.isna(row.gap):
        low, high = (row.gap_low, row.gap_high) if row.gap > 0 else (-row.gap_high, -row.gap_low)
        span = "no interval" if pd.isna(low) else f"95 % {significant(low)} to {significant(high)}"
        matters = "" if pd.isna(row.matters) else f"; {significant(row.matters)} matters"
        way = "higher" if row.gap > 0 else "lower"
        says = f"{significant(abs(row.gap))} {way} than that of the others"
        return Finding(who, measured, says, f"{span}, {count}{matters}", _adjusted(row))
    span = "no interval" if pd.isna(row.low) else f"95 % {significant(row.low)} to {significant(row.high)}"
    side = {ABOVE: "above", BELOW: "below"}.get(row.rule, "within ±")
    limit = significant(row.threshold)
    has_to = f"it has to be {side} {limit}" if side[-1] != "±" else f"it has to be {side}{limit}"
    return Finding(who, measured, significant(row.value), f"{span}, {count}", f"; {has_to}")


def subject(row: object) -> str:
    """Name what a row is about, as its sentence does: ``arousal of Spanish speakers``."""
    about = f" of {_people(row.group)}" if row.group else ""
    return ", ".join(filter(None, (f"{_subject(row)}{about}", label(row.label))))


def _adjusted(row: object) -> str:
    """Add what becomes of a gap if the others had the same noise, device or whatever it is adjusted by."""
    short = in_short(row)
    left = significant(row.adjusted if row.gap > 0 else -row.adjusted)
    return f"; {short} ({left} if both had the same)" if short else ""


def _subject(row: object) -> str:
    """Name what was measured; the gap of a group says by itself that it is a difference."""
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


def mirrored(rows: pd.DataFrame) -> pd.Series:
    """Say which rows repeat an earlier one: of two groups, one is above the other as far as that is below."""
    place = rows[["model", "corpus", "family", "task", "test", "label"]]
    gap = rows["gap"].abs().round(9).fillna(pd.Series(range(len(rows)), index=rows.index) + 1e6)
    return place.assign(column=rows["group"].str.split(":").str[0], gap=gap).duplicated()
