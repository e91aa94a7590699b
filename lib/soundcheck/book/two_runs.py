"""Compares two output folders and makes a small book of it: a page a model, all differences as CSV."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.book import build, executed, overview, pages
from soundcheck.book.site import without_paths
from soundcheck.common import files
from soundcheck.common.messages import (
    EXIT_INCOMPLETE,
    EXIT_OK,
    EXIT_TEST_FAILED,
    Outcome,
    Problem,
    input_error,
    one_line,
    quoted,
    refuse_unknown,
)
from soundcheck.report.html import element, join
from soundcheck.results.contrast import BETTER, CONTRAST_TYPES, WORSE, conclusion, summary_of
from soundcheck.results.finished_run import read_run
from soundcheck.results.record import ComparisonRecord, RunRecord
from soundcheck.results.table import frame_csv
from soundcheck.run.notebook_jobs import ModelTwice, differences, pair
from soundcheck.run.notebooks import Notebooks
from soundcheck.run.output import FolderLock, Output
from soundcheck.run.tables import about_book

_ONE_RUN = ("families", "models", "corpora", "sounds", "notebooks", "studies", "order")  # parts of a record
_MOST_NAMED = 20  # worse or better tests in the summary


def compare_runs(
    baseline: Path,
    candidate: Path,
    out: Path,
    *,
    families: Sequence[str] = (),
    jobs: int = 1,
    strict: bool = False,
    book: bool = True,
) -> Outcome:
    """Compare the models of the same name of two runs, or the only model of each.

    Both are output folders of ``soundcheck run``, the earlier one first. With ``strict`` a model that became
    worse on a test changes the exit code. Without ``book`` that of before stays as it is. Refused if a folder
    is not that of a run or was changed after it, or they have nothing in common.
    """
    output = Output(out)
    folders = [folder.resolve() for folder in (baseline, candidate)]
    if folders[0] == folders[1]:
        raise input_error(str(candidate), "a run is compared with itself", "Name two output folders")
    if output.folder.resolve() in folders:
        raise input_error(f"--out {out}", "this is one of the runs that are compared", "Name another folder")
    output.check({})
    records = [files.require_regular(place / "run.json") for place in (baseline, candidate)]
    before, after = (read_run(record.parent) for record in records)
    known = dict.fromkeys(family.name for run in (before, after) for family in run.record.families)
    named = ((f"--family {quoted(name)}", name, known) for name in families)
    refuse_unknown(named, "neither run has such a family")
    frames: dict[ModelTwice, pd.DataFrame] = {}
    planned = []
    for model in pair(before, after):
        job = model.job(families, output)
        frame = model.contrasts(job)
        if len(frame):
            planned.append(job)
            frames[model] = frame
    unlike = differences(before, after)
    if not frames:
        why = " ".join(["the two runs have no test in common.", *unlike])
        raise input_error(str(candidate), why.removesuffix("."), "Name runs of one suite")
    with FolderLock(output.folder, output.display_name) as lock:
        lock.take()
        output.prepare()
        frame = pd.concat(frames.values(), ignore_index=True)
        files.write_bytes(output.comparison_table, frame_csv(frame, CONTRAST_TYPES))
        for job in planned:
            job.state.unlink(missing_ok=True)  # seconds of work: not worth to know whether it is still good
        with Notebooks(output.cache, output.log, jobs) as notebooks:
            executions = notebooks.execute(planned)
        comparisons = [
            ComparisonRecord(
                name=model.name,
                slug=files.slug(model.name),
                baseline=model.names[0],
                candidate=model.names[1],
                status=execution.status,
                error=without_paths(execution.error, output.folder),
                **summary_of(rows),
            )
            for (model, rows), execution in zip(frames.items(), executions, strict=True)
        ]
        digest = files.digest(output.comparison_table)
        about = {"comparisons": tuple(comparisons), "run": digest[:12], "results": digest}
        record = dataclasses.replace(after.record, **dict.fromkeys(_ONE_RUN, ()) | about)
        lines = [*unlike, *(line for rows in frames.values() for line in _sentences(rows))]
        problems = _build(output, record, lines) if book else []
        failed = [entry for entry in comparisons if entry.failed]
        lines += [f"The notebook of {entry.name} failed: {entry.error[:200]}" for entry in failed]
        lines += about_book(output, wanted=book, problems=problems)
        lines.append(f"All differences: {Path(output.display_name) / output.comparison_table.name}")
    code = EXIT_INCOMPLETE if problems or failed else EXIT_OK
    if strict and code == EXIT_OK and frame[["outcome", "outcome_sample"]].eq(WORSE).any(axis=None):
        code = EXIT_TEST_FAILED
    return Outcome(code, "\n".join(lines))


def _sentences(frame: pd.DataFrame) -> Iterator[str]:
    """Sum up a model, and name what became worse, then what became better."""
    yield conclusion(frame)
    for outcome in (WORSE, BETTER):
        rows = frame[frame[["outcome", "outcome_sample"]].eq(outcome).any(axis="columns")]
        for row in rows.head(_MOST_NAMED).itertuples():
            place = (row.corpus, row.family, row.task, row.test, row.group, row.label)
            values = f"{row.baseline_value:.3g} → {row.candidate_value:.3g}"
            low, high, whose = row.difference_low_sample, row.difference_high_sample, " for these speakers"
            if row.outcome == outcome:
                low, high, whose = row.low, row.high, ""
            interval = f"difference {row.difference:.2g}, 95 % {low:.2g} to {high:.2g}{whose}"
            yield f"{outcome}: {' / '.join(filter(None, place))}: {values} ({interval})"
        if len(rows) > _MOST_NAMED:
            yield f"{outcome}: and {len(rows) - _MOST_NAMED} more"


def _build(output: Output, record: RunRecord, lines: Sequence[str]) -> list[Problem]:
    """Build the book: what came out, and a page a model."""
    sources = build.open_sources(output, record)
    summary = pages.output(join(element("p", line, limit=None) for line in lines))
    title = pages.markdown("# Two runs, before and after")
    cells = [title, summary, *pages.sections({"Comparisons": overview.compared(record)})]
    sources.page("index", lambda: cells)
    for entry in record.comparisons:
        notebook = output.comparisons / f"{entry.slug}.ipynb"
        title = f"Before and after: {one_line(entry.name)}"
        make = functools.partial(executed.cells, notebook, title, entry, output.folder)
        sources.page(entry.page, make)
    chapters = [pages.chapter(entry.page) for entry in record.comparisons]
    sources.configure(record.title, {"Models": chapters})
    return build.finish(sources, output, record, [output.comparison_table])
