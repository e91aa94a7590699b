"""Rows of a run: verdicts and estimates, and verdicts with their replicates, as a notebook hands them to it.

A notebook writes its rows as JSON and beside it the replicates (``.npy``), so that two models can be compared
later, on the same replicates, without computing anything again. A run in a history has those of all tests
with an interval in one Parquet file, as float32: less is lost than the last digit that a page shows.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.store import JsonFile
from soundcheck.common.tasks import Task
from soundcheck.metrics.additive import round_significant
from soundcheck.metrics.classification import ONE_CLASS
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import CLEAR_FAIL, CLEAR_PASS, FREE, NO_INTERVAL, OPEN, Scale
from soundcheck.statistics.rules import passes
from soundcheck.suite.families import Family

NOT_ADJUSTED = "none: "  # before the reason why there is no adjusted gap

UNJUDGED = "shown"  # evidence of a value that nothing judges
EVIDENCE = (CLEAR_PASS, CLEAR_FAIL, OPEN, UNJUDGED, NO_INTERVAL)
OTHERS = "others"  # what a group is compared with: the segments of all other groups together
KEY = ("model", "corpus", "family", "task", "test", "group", "label")  # no two rows agree in all of these
ALL = "all"  # the part of everything
CHANCE = "chance"  # the condition of guesses
REPLICATES = ".npy"  # suffix of the file of replicates of a notebook
KEPT_REPLICATES = "replicates.parquet"  # beside results.csv of a run in a history
_FACTS = ("segments", "blocks", "smaller_side")


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One row of the results table."""

    model: str
    corpus: str
    family: str
    category: str
    task: str
    test: str
    label: str = ""  # class or bin; empty if the test has one value
    value: float | None = None
    low: float | None = None  # its 95 % interval for new speakers
    high: float | None = None
    segments: int = 0  # that the value rests on
    blocks: int = 0  # that it rests on, usually speakers
    threshold: float | None = None
    rule: str = ""  # how the value is compared with the threshold: ">", "<" or "|value| <"
    passed: bool | None = None  # None if skipped
    certainty: float | None = None  # share of replicates on the value's side of the threshold
    reference: float | None = None  # value of the random reference model
    reference_passed: bool | None = None
    # Why there is no verdict, no interval or no information, that the threshold is not the one that a reader
    # expects, or what a search named.
    skipped: str = ""
    group: str = ""  # "sex: female"; the column alone if none of its groups was judged
    # Of a test that compares a group: group_value - others_value. Of any other test: value - threshold, under
    # "|value| <" with the threshold on the value's side.
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    evidence: str = ""  # what the interval says, one of EVIDENCE; empty without value
    # The worst that the interval does not exclude: the end of the gap's interval that is larger in size, or
    # the end of the value's interval on the failing side.
    bound: float | None = None
    p_value: float | None = None  # of such a gap if speakers could be of any group, or if the value passes
    holds: bool | None = None  # whether state is fail; None before all rows are together or without p_value
    matters: float | None = None  # margin of a group's gap
    least_p: float | None = None  # smallest p_value that so many speakers can give, where there is a limit
    adjusted: float | None = None  # the gap if both sides had the same of what adjusted_by names
    adjusted_low: float | None = None
    adjusted_high: float | None = None
    counterpart: float | None = None  # share of the group's segments that others can be compared with for it
    adjusted_by: str = ""  # "signal_to_noise"; "none: " and the reason if there is no adjusted gap
    group_value: float | None = None
    others_value: float | None = None
    against: str = ""  # whom a group is compared with: OTHERS or a group
    ratio: float | None = None  # group_value / others_value, of error rates with 5 errors a side or more
    ratio_low: float | None = None
    ratio_high: float | None = None
    state: str = ""  # for new speakers, see results.states; empty before all rows of a run are together
    state_sample: str = ""  # for these speakers
    gap_low_sample: float | None = None  # interval and p-value for these speakers
    gap_high_sample: float | None = None
    p_sample: float | None = None
    mirrors: str = ""  # of two groups that are one test: the group whose row counts, if it is not this one


@dataclasses.dataclass(frozen=True)
class Estimate:
    """One row of the table of estimates: a value of a measure with its intervals."""

    model: str
    corpus: str
    family: str
    task: str
    measure: str
    label: str = ""
    part: str = ALL
    condition: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    low_sample: float | None = None
    high_sample: float | None = None
    segments: int = 0
    speakers: int = 0
    excluded: str = ""


def no_threshold(task: str) -> str:
    """Say why a value is shown without verdict."""
    return f"no threshold for {task}: shown without verdict"


def judge(
    result: Resampled,
    *,
    task: str,
    rule: str,
    threshold: float | None,
    reference: Sequence[float] | None = None,
    kind: str = "percentile",
    scale: Scale = FREE,
    untestable: str = "",
    **about: str,
) -> list[Verdict]:
    """Compare values with a threshold; without one they are shown without verdict. One verdict a label.

    ``reference`` are values of the random reference model, NaN where undefined; ``untestable`` says why there
    is no threshold although the test has one; ``about`` are other fields of :class:`Verdict`.
    """
    low, high = result.interval(kind, scale=scale)
    reference = np.full(len(result.labels), np.nan) if reference is None else round_significant(reference)
    verdicts = []
    for n, label in enumerate(result.labels):
        value, random = cell(result.value[n]), cell(reference[n])
        one_class = result.notes[n].startswith(ONE_CLASS)
        limit = None if one_class else threshold
        passed, reference_passed = (
            None if None in (limit, number) else passes(rule, number, limit) for number in (value, random)
        )
        reported = limit is None and value is not None and not untestable
        without = result.notes[n] if one_class else no_threshold(task)
        remarks = [result.reasons[n] or (without if reported else untestable), result.withheld[n]]
        verdict = Verdict(
            **about,
            task=task,
            label=label,
            value=value,
            low=cell(low[n]),
            high=cell(high[n]),
            segments=int(result.segments[n]),
            blocks=int(result.blocks[n]),
            threshold=limit,
            rule=rule,
            passed=passed,
            certainty=None if passed is None else cell(result.certainty(n, rule, limit, passed)),
            reference=random,
            reference_passed=reference_passed,
            skipped="; ".join(filter(None, remarks)),
            evidence=UNJUDGED if reported else "",
        )
        verdicts.append(verdict)
    return verdicts


def cell(number: float) -> float | None:
    """Give the cell of a number; ``None`` where it is missing."""
    return None if np.isnan(number) else float(number)


def skipped_rows(model: str, corpus: str, family: Family, task: Task, reason: str) -> list[Verdict]:
    """Make the rows of all tests that a family has for a task, skipped for the same reason."""
    about = {"model": model, "corpus": corpus, "family": family.name, "category": family.category}
    rows = []
    for test in family.tests.values():
        if test.fits(task):
            limit = {"rule": test.rule, "threshold": test.threshold_for(task)}
            rows.append(Verdict(**about, task=task.name, test=test.name, skipped=test.off or reason, **limit))
    return rows


# With replicates


@dataclasses.dataclass(frozen=True, eq=False)
class Judged:
    """A verdict with the replicates of its value."""

    verdict: Verdict
    replicates: np.ndarray  # float64 (replicates,); empty or NaN if there are none
    segments: str = ""  # digest of the segments that the value rests on
    blocks: str = ""  # digest of the blocks; two models with the same were resampled with the same weights
    smaller_side: int = 0  # fewer blocks of a group or its others; 0 where the verdict's blocks say it all
    # How the value varies with the recordings of these speakers, see statistics.fixed_speakers.
    spread: np.ndarray = dataclasses.field(default_factory=lambda: np.empty(0))
    freedom: float = np.nan

    @property
    def drawn(self) -> bool:
        """Whether there are replicates."""
        return bool(np.isfinite(self.replicates).any())

    @property
    def contributing(self) -> int:
        """How many blocks decide how much the value could vary."""
        return self.smaller_side or self.verdict.blocks

    def of(self, model: str) -> Judged:
        """Give the same under another name of the model."""
        return dataclasses.replace(self, verdict=dataclasses.replace(self.verdict, model=model))


@dataclasses.dataclass(frozen=True)
class SavedRows(JsonFile):
    """What a notebook has saved; ``population``, ``smaller_sides`` and ``numbers`` go on with ``parts``."""

    rows: tuple[Verdict, ...]
    population: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    smaller_sides: tuple[int, ...]
    estimates: tuple[Estimate, ...]
    drawn: tuple[tuple[str, str, str, tuple[str, ...]], ...]  # corpus, family, task and keys of segments
    parts: tuple[Verdict, ...]  # values of groups, which are compared with those of another model
    numbers: tuple[tuple[int, int, float | None], ...]  # lengths of replicates and spread, degrees of freedom


def save(
    judged: Sequence[Judged],
    path: str | os.PathLike,
    notes: Sequence[str] = (),
    estimates: Sequence[Estimate] = (),
    drawn: Mapping[tuple[str, str, str], Sequence[str]] = MappingProxyType({}),
    parts: Sequence[Judged] = (),
) -> None:
    """Write verdicts, their replicates, notes for the reader, estimates, what was drawn, values of groups."""
    entries = [*judged, *parts]
    arrays = [array for entry in entries for array in (entry.replicates, entry.spread)]
    with files.replacing(Path(path).with_suffix(REPLICATES)) as part, open(part, "wb") as file:
        np.save(file, np.concatenate([np.empty(0), *arrays]), allow_pickle=False)
    SavedRows(
        rows=tuple(entry.verdict for entry in judged),
        population=tuple((entry.segments, entry.blocks) for entry in entries),
        notes=tuple(notes),
        smaller_sides=tuple(entry.smaller_side for entry in entries),
        estimates=tuple(estimates),
        drawn=tuple((*place, tuple(keys)) for place, keys in drawn.items()),
        parts=tuple(entry.verdict for entry in parts),
        numbers=tuple((len(one.replicates), len(one.spread), cell(one.freedom)) for one in entries),
    ).write(path)


def load_judged(path: str | os.PathLike, *, parts: bool = False) -> list[Judged]:
    """Read the verdicts that :func:`save` wrote, with their replicates; values of groups if wanted.

    Raises ValueError: naming the file, if it or that of the replicates cannot be read.
    """
    try:
        file = SavedRows.read(path)
        numbers = np.load(Path(path).with_suffix(REPLICATES), allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{path} or its replicates cannot be read ({type(error).__name__})") from error
    lengths = [length for *both, _ in file.numbers for length in both]
    pieces = iter(np.split(numbers, np.cumsum(lengths)))
    facts = zip([*file.rows, *file.parts], file.population, file.smaller_sides, file.numbers, strict=True)
    entries = [
        Judged(verdict, next(pieces), *digests, side, next(pieces), float(freedom or np.nan))
        for verdict, digests, side, (*_, freedom) in facts
    ]
    return entries if parts else entries[: len(file.rows)]


def save_replicates(judged: Mapping[tuple[str, ...], Judged], path: str | os.PathLike) -> None:
    """Write the replicates of tests, by what was tested (values of ``KEY``)."""
    rows = [
        (*key, *(getattr(entry, name) for name in _FACTS), entry.verdict.value, entry.replicates)
        for key, entry in sorted(judged.items())
        if len(entry.replicates) and entry.verdict.value is not None and entry.verdict.low is not None
    ]
    frame = pd.DataFrame(rows, columns=[*KEY, *_FACTS, "value", "replicates"])
    frame["replicates"] = [replicates.astype(np.float32) for replicates in frame["replicates"]]
    with files.replacing(path) as part:
        frame.to_parquet(part, index=False, compression="zstd")


def load_replicates(path: str | os.PathLike, verdicts: Mapping[tuple[str, ...], Verdict]) -> list[Judged]:
    """Read the replicates of some verdicts that :func:`save_replicates` wrote, here or in the version before.

    Their values are those that the replicates are of.
    """
    frame = pd.read_parquet(path)
    if "step" in frame:  # before: whole steps from the value, the smallest number where there is none
        steps = frame.pop("replicates").map(lambda numbers: np.where(numbers == -(2**15), np.nan, numbers))
        frame["replicates"] = frame["value"] + steps * frame.pop("step")
    frame = frame[pd.MultiIndex.from_frame(frame[list(KEY)]).isin(verdicts)]
    return [
        Judged(
            dataclasses.replace(verdicts[tuple(row[: len(KEY)])], value=value),
            replicates.astype(np.float64),
            *row[len(KEY) :],
        )
        for *row, value, replicates in frame.itertuples(index=False, name=None)
    ]
