"""Computes some tests of a finished run again and compares what comes out.

Tests are drawn by a seed, from those that have a value. The notebooks that they come from are executed in a
temporary folder with a cache of its own: models are asked anew, corpora are read anew, nothing of the run is
used but its results table, to compare with. All tests of these notebooks are compared, not only those drawn.
Which failures hold among all tests of a model is not: that needs all of them, and is counted again anyway.
"""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from soundcheck import pipeline
from soundcheck.common import files
from soundcheck.common.errors import EXIT_OK, EXIT_TEST_FAILED, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.common.wording import counted
from soundcheck.results.record import Provenance, RunRecord
from soundcheck.results.schema import columns_of
from soundcheck.results.table import read_results
from soundcheck.results.verdict import KEY, RESULTS
from soundcheck.run.options import RunOptions
from soundcheck.suite.entries import Suite
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family
from soundcheck.verify.listed import Book, find
from soundcheck.verify.verifying import Verified

TRUTHS = columns_of(RESULTS, "bool")
COMPARED = [*columns_of(RESULTS, "float"), *columns_of(RESULTS, "int"), "passed", "reference_passed"]
CLOSE = 1e-9  # relative: what the same computation gives with other versions of libraries at most
SHOWN = 20  # tests that differ, the furthest apart first
NAMED = ("value", "low", "high", "segments", "blocks", "passed")  # which are told of a test that differs


def again(
    path: Path, suite_file: Path, *, tests: int = 20, seed: int = 0, jobs: int = 1, no_code: bool = False
) -> Verified:
    """Compute some tests again.

    Parameters
    ----------
    path
        The book, see :func:`soundcheck.verify.listed.find`; nothing is written to it.
    suite_file
        The suite.yml that it was made of.
    tests
        How many to draw.
    seed
        Which.
    jobs, no_code
        See :func:`soundcheck.pipeline.run`.

    Raises
    ------
    InputError
        If book or suite cannot be used, or have no test in common.
    """
    book = find(path)
    before = _made_of(book)
    frame = read_results(book.results)
    suite = read_suite(suite_file)
    here = frame["model"].isin(list(suite.models)) & frame["family"].isin(list(suite.families))
    drawn = draw(frame[here & frame["value"].notna()], tests, seed)
    if drawn.empty:
        what = "the suite has no model and family of which the book holds a value"
        raise input_error(suite.file.name, what, "Give the suite that the book was made of")
    pairs = list(dict.fromkeys(zip(drawn["model"], drawn["family"], strict=True)))
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as name, _own_cache(Path(name) / "cache"):
        new, records, notes = [], [], []
        for number, (models, families) in enumerate(_runs(pairs, frame, suite)):
            out = Path(name) / f"run {number}"
            part = {"models": tuple(models), "families": tuple(families), "book": False, "keep": False}
            done = pipeline.run(RunOptions(suite=suite_file, out=out, jobs=jobs, no_code=no_code, **part))
            if done.exit_code != EXIT_OK:
                notes += [line for line in done.summary.splitlines() if "failed" in line or "gave no" in line]
            new.append(read_results(out / "results.csv"))
            records.append(RunRecord.read(out / "run.json"))
    found = pd.concat([_of_pairs(rows, pairs) for rows in new], ignore_index=True)
    found = found.drop_duplicates(list(KEY))
    compared = _of_pairs(frame, pairs)
    told = unlike(compared, found)
    lines = [f"{len(drawn)} tests drawn, {counted(len(compared), 'test')} of their notebooks computed again."]
    lines += [f"differs: {one}" for one in told[:SHOWN]]
    if len(told) > SHOWN:
        lines.append(f"... and {len(told) - SHOWN} more that differ.")
    lines += [*notes, *_changed(before, suite, records)]
    left = int((~here & frame["value"].notna()).sum())
    if left:
        lines.append(f"{counted(left, 'test')} could not be drawn: the suite has not their model or family.")
    lines.append(f"{counted(len(told), 'test')} came out differently." if told else "All came out the same.")
    return Verified(EXIT_TEST_FAILED if told else EXIT_OK, "\n".join(lines))


def draw(frame: pd.DataFrame, tests: int, seed: int) -> pd.DataFrame:
    """Draw rows of a results table by what they are about, whatever the order of the table."""
    keys = frame[list(KEY)].itertuples(index=False, name=None)
    order = pd.Series([files.digest(repr((seed, *key))) for key in keys], index=frame.index, dtype=object)
    return frame.loc[order.sort_values().index[:tests]]


def unlike(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """Say which tests are not the same in two results tables, the furthest apart first."""
    old, new = (frame.set_index(list(KEY))[[*COMPARED, "skipped"]] for frame in (before, after))
    found: list[tuple[float, str]] = []
    for key in dict.fromkeys([*old.index, *new.index]):
        where = quoted(" / ".join(part for part in key if part), 200)[1:-1]
        if key not in new.index or key not in old.index:
            found.append((math.inf, f"{where}: {'is not there now' if key in old.index else 'is new'}"))
            continue
        one, other = old.loc[key], new.loc[key]
        differ = [name for name in COMPARED if not _same(one[name], other[name])]
        if differ:
            named = [name for name in differ if name in NAMED] or differ[:1]
            reason = f" ({quoted(other['skipped'])})" if other["value"] != other["value"] else ""
            changes = ", ".join(_change(name, one[name], other[name]) for name in named)
            found.append((_apart(one["value"], other["value"]), f"{where}: {changes}{reason}"))
    return [line for _, line in sorted(found, key=lambda item: -item[0])]


def _same(one: object, other: object) -> bool:
    if _none(one) or _none(other):
        return _none(one) and _none(other)
    return abs(float(one) - float(other)) <= CLOSE * max(1.0, abs(float(one)))


def _none(value: object) -> bool:
    return value is None or value != value


def _apart(one: float, other: float) -> float:
    return math.inf if _none(one) != _none(other) else 0.0 if _none(one) else abs(one - other)


def _change(name: str, one: object, other: object) -> str:
    shown = ["none" if _none(x) else str(x) if name in TRUTHS else f"{x:.9g}" for x in (one, other)]
    by = "" if "none" in shown or name in TRUTHS else f" (by {abs(one - other):.2g})"
    return f"{name} {shown[0]}, now {shown[1]}{by}"


def _of_pairs(frame: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    kept = [pair in set(pairs) for pair in zip(frame["model"], frame["family"], strict=True)]
    return frame[kept]


def _runs(
    pairs: Sequence[tuple[str, str]], frame: pd.DataFrame, suite: Suite
) -> Iterator[tuple[list[str], list[str]]]:
    """Give models and families of the runs that hold all pairs, and little else."""
    families = dict.fromkeys(family for _, family in pairs)
    among = [name for name in families if read_family(name, suite.root).others]
    for model in dict.fromkeys(model for model, _ in pairs):
        own = [family for one, family in pairs if one == model and family not in among]
        if own:
            yield [model], own
    if among:  # their results depend on the other models that were tested
        tested = set(frame.loc[frame["family"].isin(among), "model"])
        yield [name for name in suite.models if name in tested], among


@contextlib.contextmanager
def _own_cache(folder: Path) -> Iterator[None]:
    """Keep answers and all else that is computed once in a folder, for the time of a block."""
    before = os.environ.get(CACHE_VARIABLE)
    os.environ[CACHE_VARIABLE] = str(folder)
    try:
        yield
    finally:
        os.environ.pop(CACHE_VARIABLE)
        if before is not None:
            os.environ[CACHE_VARIABLE] = before


def _made_of(book: Book) -> Provenance:
    record = book.record()
    made_of = Provenance.of(record) if record is not None else book.made_of()
    if made_of is None:
        raise input_error(quoted(book.shown), "the pages compare two runs, so there is nothing to compute")
    return made_of


def _changed(before: Provenance, suite: Suite, records: Sequence[RunRecord]) -> Iterator[str]:
    """Say what is not as it was when the book was made."""
    described = suite.describe()
    if before.suite != described["digest"]:
        yield "The suite is not the one that the book was made of, by its digest."
    told = set()
    for after in map(Provenance.of, records):
        for name in sorted(before.versions.keys() | after.versions.keys()):
            old, new = before.versions.get(name, "none"), after.versions.get(name, "none")
            if old != new:
                told.add(f"Version of {name}: {old}, now {new}.")
        if before.library != after.library:
            told.add("The code of Soundcheck is not that of the book, by its digest.")
        for noun, things in (
            *(("corpus", "corpora"), ("model", "models"), ("sounds", "sounds")),
            ("threshold file of", "families"),
        ):
            known = {one.name: one.digest for one in getattr(before, things)}
            told |= {
                f"The {noun} {quoted(one.name)} changed, by its digest."
                for one in getattr(after, things)
                if known.get(one.name, one.digest) != one.digest
            }
    yield from sorted(told)
