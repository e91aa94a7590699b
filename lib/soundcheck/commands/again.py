"""Computes some tests of a finished run again and compares what comes out.

Tests are drawn by a seed, from those that have a value. The notebooks that they come from are executed in a
temporary folder with a cache of its own: models are asked anew, corpora are read anew, nothing of the run is
used but its results table, to compare with. All tests of these notebooks are compared, not only those drawn.
States are not: they depend on all tests of a model, and are computed again anyway.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pandas as pd

from soundcheck import pipeline
from soundcheck.commands.verifying import Book, find
from soundcheck.common import files
from soundcheck.common.errors import EXIT_OK, EXIT_TEST_FAILED, Outcome, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.common.wording import counted
from soundcheck.results.record import Provenance, RunRecord
from soundcheck.results.rows import KEY
from soundcheck.results.table import RESULTS, columns_of, read_results
from soundcheck.run.selection import RunOptions
from soundcheck.suite.entries import Suite
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

COMPARED = [*columns_of(RESULTS, "float", "int"), "passed", "reference_passed"]
CLOSE = 1e-9  # relative: what the same computation gives with other versions of libraries at most
MOST_LISTED = 20  # tests that differ, the furthest apart first
NAMED = ("value", "low", "high", "segments", "blocks", "passed")  # named first of a test that differs


def again(
    path: Path, suite_file: Path, *, tests: int = 20, seed: int = 0, jobs: int = 1, no_code: bool = False
) -> Outcome:
    """Compute some tests of a book again, with the suite that it was made of; nothing is written to it.

    Refused if book or suite cannot be used, or have no test in common.
    """
    book = find(path)
    before = _inputs(book)
    frame, suite = read_results(book.results), read_suite(suite_file)
    known = frame["model"].isin(list(suite.models)) & frame["family"].isin(list(suite.families))
    drawn = draw(frame[known & frame["value"].notna()], tests, seed)
    if drawn.empty:
        what = "the suite has no model and family of which the book holds a value"
        raise input_error(suite.file.name, what, "Give the suite that the book was made of")
    pairs = drawn[["model", "family"]].drop_duplicates()
    with (
        tempfile.TemporaryDirectory(prefix="soundcheck-") as name,
        mock.patch.dict(os.environ, {CACHE_VARIABLE: str(Path(name) / "cache")}),
    ):
        new, records, notes = [], [], []
        for number, (models, families) in enumerate(_runs(pairs, frame, suite)):
            out = Path(name) / f"run {number}"
            part = {"models": tuple(models), "families": tuple(families), "book": False, "keep": False}
            done = pipeline.run(RunOptions(suite=suite_file, out=out, jobs=jobs, no_code=no_code, **part))
            if done.exit_code != EXIT_OK:
                notes += [line for line in done.summary.splitlines() if "failed" in line or "gave no" in line]
            new.append(read_results(out / "results.csv"))
            records.append(RunRecord.read(out / "run.json"))
    repeated = pd.concat(new, ignore_index=True).merge(pairs).drop_duplicates(list(KEY))
    compared = frame.merge(pairs)
    differing = unlike(compared, repeated)
    lines = [f"{len(drawn)} tests drawn, {counted(len(compared), 'test')} of their notebooks computed again."]
    lines += [f"differs: {one}" for one in differing[:MOST_LISTED]]
    if len(differing) > MOST_LISTED:
        lines.append(f"... and {len(differing) - MOST_LISTED} more that differ.")
    if before.suite != suite.describe()["digest"]:
        notes.append("The suite is not the one that the book was made of, by its digest.")
    lines += [*notes, *sorted({line for one in records for line in _changed(before, Provenance.of(one))})]
    if left := int((~known & frame["value"].notna()).sum()):
        lines.append(f"{counted(left, 'test')} could not be drawn: the suite has not their model or family.")
    if not differing:
        return Outcome(EXIT_OK, "\n".join([*lines, "All came out the same."]))
    last = f"{counted(len(differing), 'test')} came out differently."
    return Outcome(EXIT_TEST_FAILED, "\n".join([*lines, last]))


def draw(frame: pd.DataFrame, tests: int, seed: int) -> pd.DataFrame:
    """Draw rows of a results table by what they are about, whatever the order of the table."""
    keys = frame[list(KEY)].itertuples(index=False, name=None)
    order = pd.Series([files.digest(repr((seed, *key))) for key in keys], index=frame.index, dtype=object)
    return frame.loc[order.sort_values().index[:tests]]


def unlike(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """Say which tests are not the same in two results tables, the furthest apart first."""
    both = before.merge(after, "outer", on=list(KEY), suffixes=("", " now"), indicator="table")
    lines: list[tuple[float, str]] = []
    for row in both.to_dict("records"):
        where = quoted(" / ".join(filter(None, (row[name] for name in KEY))), 200)[1:-1]
        if row["table"] != "both":
            gone = "is not there now" if row["table"] == "left_only" else "is new"
            lines.append((math.inf, f"{where}: {gone}"))
            continue
        pairs = {name: (row[name], row[f"{name} now"]) for name in COMPARED}
        differ = [name for name, pair in pairs.items() if not _same(*pair)]
        if differ:
            named = [name for name in differ if name in NAMED] or differ[:1]
            changes = ", ".join(_change(name, *pairs[name]) for name in named)
            old, new = pairs["value"]
            reason = f" ({quoted(row['skipped now'])})" if pd.isna(new) else ""
            size = 0.0 if pd.isna([old, new]).all() else abs(old - new)
            lines.append((math.inf if pd.isna(size) else size, f"{where}: {changes}{reason}"))
    return [line for _, line in sorted(lines, key=lambda item: -item[0])]


def _same(one: object, other: object) -> bool:
    if pd.isna(one) or pd.isna(other):
        return bool(pd.isna(one) and pd.isna(other))
    return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)


def _change(name: str, one: object, other: object) -> str:
    number = RESULTS[name] != "bool"
    texts = ["none" if pd.isna(x) else f"{x:.9g}" if number else str(x) for x in (one, other)]
    by = f" (by {abs(one - other):.2g})" if number and "none" not in texts else ""
    return f"{name} {texts[0]}, now {texts[1]}{by}"


def _runs(pairs: pd.DataFrame, frame: pd.DataFrame, suite: Suite) -> Iterator[tuple[list[str], list[str]]]:
    """Give models and families of the runs that hold all pairs of them, and little else."""
    among = [name for name in pairs["family"].unique() if read_family(name, suite.root).others]
    alone = pairs[~pairs["family"].isin(among)]
    yield from (([model], rows["family"].tolist()) for model, rows in alone.groupby("model", sort=False))
    if among:  # their results depend on the other models that were tested
        tested = set(frame.loc[frame["family"].isin(among), "model"])
        yield [name for name in suite.models if name in tested], among


def _inputs(book: Book) -> Provenance:
    record = book.record()
    inputs = Provenance.of(record) if record is not None else book.inputs()
    if inputs is None:
        raise input_error(
            quoted(book.display_name), "the pages compare two runs, so there is nothing to compute"
        )
    return inputs


def _changed(before: Provenance, after: Provenance) -> Iterator[str]:
    """Say what is not as it was when the book was made."""
    for name in before.versions.keys() | after.versions.keys():
        old, new = before.versions.get(name, "none"), after.versions.get(name, "none")
        if old != new:
            yield f"Version of {name}: {old}, now {new}."
    if before.library != after.library:
        yield "The code of Soundcheck is not that of the book, by its digest."
    nouns = {"corpora": "corpus", "models": "model", "sounds": "sounds", "families": "threshold file of"}
    for things, noun in nouns.items():
        known = {one.name: one.digest for one in getattr(before, things)}
        for one in getattr(after, things):
            if known.get(one.name, one.digest) != one.digest:
                yield f"The {noun} {quoted(one.name)} changed, by its digest."
