"""Counts again what the record of a run says about its tables, and judges again which failures hold."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted
from soundcheck.results import read_results, settle, tally
from soundcheck.results.provenance import Provenance


def recount(results: Path, made_of: Provenance) -> list[str]:
    """Compare the results table with what is said of it.

    Every verdict is compared with its value, threshold and rule, which reading the table does.

    Parameters
    ----------
    results
        ``results.csv``; ``comparisons.csv`` lies beside it.
    made_of
        What is said.

    Returns
    -------
    list of str
        What does not agree.
    """
    try:
        frame = read_results(results)
    except InputError as error:
        return str(error).splitlines()
    problems = []
    if files.digest(results) != made_of.results:
        problems.append(f"{results.name}: the table is not the one that the record names")
    found = {model: tally(own).counts for model, own in frame.groupby("model", sort=True)}
    for model in sorted(found.keys() | made_of.verdicts.keys()):
        said, there = made_of.verdicts.get(model, {}), found.get(model, {})
        for state in sorted(said.keys() | there.keys()):
            if said.get(state, 0) != there.get(state, 0):
                problems.append(
                    f"{results.name}: {counted(there.get(state, 0), 'test')} of {quoted(model)} "
                    f"{state!r}, the record says {said.get(state, 0)}"
                )
    return [*problems, *_held(frame, results.name), *_compared(results.parent / "comparisons.csv", made_of)]


def _held(frame: pd.DataFrame, name: str) -> list[str]:
    """Say how many rows hold, or do not, against what follows from all p-values."""
    again = settle(frame)["holds"]
    differ = [bool(one) != bool(other) for one, other in zip(frame["holds"], again, strict=True)]
    return [f"{name}: {counted(sum(differ), 'verdict')} in the column holds do not follow"] * any(differ)


def _compared(path: Path, made_of: Provenance) -> list[str]:
    if not made_of.comparisons:
        return []
    try:
        with open(files.require_regular(path), encoding="utf-8", newline="") as file:
            rows = [(row["baseline"], row["candidate"], row["outcome"]) for row in csv.DictReader(file)]
    except (InputError, OSError, UnicodeDecodeError, csv.Error, KeyError):
        return [f"{path.name}: the table cannot be read"]
    there = Counter(rows)
    return [
        f"{path.name}: {there[baseline, candidate, outcome]} {outcome} of {quoted(candidate)} against "
        f"{quoted(baseline)}, the record says {count}"
        for baseline, candidate, counts in made_of.comparisons
        for outcome, count in counts.items()
        if there[baseline, candidate, outcome] != count
    ]
