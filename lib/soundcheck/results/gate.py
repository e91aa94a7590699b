"""Judges results for a pipeline: an exit code and JUnit XML.

Nothing that did not run counts as passed: a family or model without rows, a failed notebook, a table without
a single judged test all fail. A results table that was cut or edited after the run is refused; the record of
the run beside it (``run.json``) holds the digest.
"""

from __future__ import annotations

import dataclasses
import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import EXIT_OK, EXIT_TEST_FAILED, input_error
from soundcheck.common.escaping import xml_text
from soundcheck.results.reading import read_results
from soundcheck.results.record import RunRecord

FAILED_NOTEBOOK = "error: "  # how the reason of a row begins whose notebook or model failed


@dataclasses.dataclass(frozen=True)
class Judgement:
    """What a pipeline wants to know."""

    exit_code: int
    summary: str


def check(results: Path, junit: Path | None = None, models: Sequence[str] = ()) -> Judgement:
    """Judge a results table and write JUnit XML.

    Parameters
    ----------
    results
        ``results.csv``, or the output folder that holds it.
    junit
        File for the JUnit XML; default ``junit.xml`` beside the results.
    models
        Judge only these models; default all.

    Raises
    ------
    InputError
        If the table is missing, was cut or edited, or holds no row.
    """
    path = results / "results.csv" if results.is_dir() else results
    files.require_regular(path)
    beside = path.parent / "run.json"
    record = RunRecord.read(beside) if beside.is_file() else None
    if record is not None and record.results != files.digest(path):
        raise input_error(
            path.name,
            "the file is not the one that the run wrote: it was cut, edited or mixed with another run",
            "Run the suite again",
        )
    frame = read_results(path)
    if frame.empty:
        raise input_error(path.name, "the table holds no row, so nothing was tested", "Run the suite again")
    if models:
        unknown = sorted(set(models) - set(frame["model"]))
        if unknown:
            raise input_error(
                path.name, f"no row of model {unknown[0]!r}", "Check the name given with --model"
            )
        frame = frame[frame["model"].isin(models)]
    problems = _missing(frame, record, models)
    for model, rows in frame.groupby("model", sort=True):
        if rows["passed"].isna().all():
            problems.append(f"Not one test of {model} was judged.")
    junit = junit or path.parent / "junit.xml"
    files.write_bytes(junit, junit_xml(frame, problems))
    passed = frame["passed"].eq(True)
    failed = frame["passed"].eq(False)
    errors = frame["skipped"].fillna("").str.startswith(FAILED_NOTEBOOK)
    lines = [
        f"{int(passed.sum())} tests passed, {int(failed.sum())} failed, "
        f"{int((~passed & ~failed).sum())} skipped, {int(errors.sum())} of these by an error."
    ]
    if record is None:
        lines.append("No run.json beside the results: whether the table is whole cannot be checked.")
    lines += problems
    for row in frame[failed].head(20).itertuples():
        lines.append(f"failed: {row.model} / {row.corpus} / {row.family}: {_name(row)}: {_verdict(row)}")
    if failed.sum() > 20:
        lines.append(f"... and {int(failed.sum()) - 20} more.")
    lines.append(f"JUnit XML: {junit}")
    fine = passed.any() and not failed.any() and not errors.any() and not problems
    return Judgement(EXIT_OK if fine else EXIT_TEST_FAILED, "\n".join(lines))


def _missing(frame: pd.DataFrame, record: RunRecord | None, models: Sequence[str]) -> list[str]:
    """Name what the run set out to test and the table does not hold."""
    if record is None:
        return []
    there = set(zip(frame["model"], frame["family"], strict=True))
    judged = [one for one in record.notebooks if not models or one.model in models]
    problems = []
    for notebook in (*judged, *record.comparisons, *record.studies):
        if notebook.failed:
            problems.append(f"The notebook {notebook.display_name} failed: {notebook.error}")
        elif notebook in judged and (notebook.model, notebook.family) not in there:
            problems.append(f"No row of {notebook.display_name}: the family was not tested.")
    return problems


def _name(row: object) -> str:
    parts = (row.task, row.test, row.group, row.label)
    return " / ".join(part for part in parts if isinstance(part, str) and part)


def _verdict(row: object) -> str:
    rule = f"{row.rule.replace('|value|', '').strip()} {row.threshold:g}"
    interval = ""
    if not math.isnan(row.low):
        interval = (
            f" (95 % {row.low:.3g} to {row.high:.3g}, {int(row.segments)} segments, {int(row.blocks)} blocks)"
        )
    absolute = "|value| = " if "|" in row.rule else ""
    return f"{absolute}{row.value:.4g} is not {rule}{interval}"


def junit_xml(frame: pd.DataFrame, problems: Sequence[str] = ()) -> bytes:
    """Write results as JUnit XML: a suite a model, corpus and family; a case a test.

    A missed threshold is a *failure*, a notebook or model that broke an *error*, and what could not be judged
    is *skipped*; ``problems`` become errors of a suite of their own.
    """
    root = ElementTree.Element("testsuites", name="soundcheck")
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for (model, corpus, family), rows in frame.groupby(
        ["model", "corpus", "family"], sort=True, dropna=False
    ):
        suite = ElementTree.SubElement(root, "testsuite", name=xml_text(f"{model}.{corpus}.{family}"))
        counts = {"tests": len(rows), "failures": 0, "errors": 0, "skipped": 0}
        for row in rows.itertuples():
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=xml_text(f"{model}.{family}"),
                name=xml_text(_name(row)),
                time="0",
            )
            if row.passed is False:
                counts["failures"] += 1
                ElementTree.SubElement(case, "failure", type="threshold", message=xml_text(_verdict(row)))
            elif row.passed is None and row.skipped.startswith(FAILED_NOTEBOOK):
                counts["errors"] += 1
                ElementTree.SubElement(case, "error", type="run", message=xml_text(row.skipped))
            elif row.passed is None:
                counts["skipped"] += 1
                ElementTree.SubElement(case, "skipped", message=xml_text(row.skipped))
        for key, count in counts.items():
            suite.set(key, str(count))
            totals[key] += count
        suite.set("time", "0")
    if problems:
        suite = ElementTree.SubElement(root, "testsuite", name="soundcheck.run", time="0")
        for number, problem in enumerate(problems, start=1):
            case = ElementTree.SubElement(
                suite, "testcase", classname="soundcheck.run", name=f"problem {number}", time="0"
            )
            ElementTree.SubElement(case, "error", type="run", message=xml_text(problem))
        counts = {"tests": len(problems), "failures": 0, "errors": len(problems), "skipped": 0}
        for key, count in counts.items():
            suite.set(key, str(count))
            totals[key] += count
    for key, count in totals.items():
        root.set(key, str(count))
    root.set("time", "0")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"
