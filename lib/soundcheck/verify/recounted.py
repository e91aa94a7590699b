"""Decides the states of a table from its own numbers again, and counts what the record says about it."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.common.escaping import quoted
from soundcheck.common.wording import counted
from soundcheck.results import Tally, read_results, tally
from soundcheck.results.provenance import Provenance
from soundcheck.results.reading import is_older
from soundcheck.results.states import STATES, decide


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
    if is_older(frame):  # the states of the record are those of another version
        return problems
    for model in sorted({*frame["model"], *made_of.verdicts}):
        found = tally(frame[frame["model"].eq(model)])
        said = Tally(dict.fromkeys(STATES, 0) | made_of.verdicts.get(model, {}))
        if found != said:
            problems.append(f"{results.name}: of {quoted(model)} {found}; the record says {said}")
    there, again = (table.assign(holds=table["holds"].eq(True)) for table in (frame, decide(frame)))
    for column in ("holds", "state", "state_sample", "mirrors"):
        if differ := int(there[column].ne(again[column]).sum()):
            count = counted(differ, "cell")
            problems.append(f"{results.name}: {count} of {column} not as its numbers give it")
    return [*problems, *_compared(results.parent / "comparisons.csv", made_of)]


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
