"""One run: suite, corpora, models, predictions, notebooks, results, book.

Everything that can be refused is refused before a model runs, all problems at once. After that nothing stops
the run: what fails is listed, and the exit code says so.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from soundcheck import files, record, resources, runner, verdicts
from soundcheck.augment.registry import check_change
from soundcheck.corpora.load import load_corpus
from soundcheck.corpora.segments import Corpus
from soundcheck.entries import CorpusEntry, ModelEntry, Suite
from soundcheck.errors import (
    EXIT_INCOMPLETE,
    EXIT_OK,
    InputError,
    Problems,
    did_you_mean,
    refuse,
)
from soundcheck.escaping import quoted, spreadsheet
from soundcheck.models.load import check_model
from soundcheck.output import CACHE_VARIABLE, Output
from soundcheck.predict.engine import PredictionReport, predict_model
from soundcheck.suite import read_suite
from soundcheck.tasks import Task
from soundcheck.thresholds import Change, Family, read_family

CODE_KINDS = ("python",)  # kinds of model that run a user's code


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    exit_code: int
    summary: str


def run(
    suite_file: Path,
    out: Path,
    *,
    models: Sequence[str] = (),
    families: Sequence[str] = (),
    jobs: int = 1,
    no_code: bool = False,
) -> Outcome:
    """Run a suite and build its book.

    Parameters
    ----------
    suite_file
        The suite.yml.
    out
        Output folder.
    models, families
        Names to restrict the run to; default all of the suite.
    jobs
        Processes for synthesis, prediction and notebooks.
    no_code
        Refuse models that run code.

    Raises
    ------
    InputError
        If anything that the suite names cannot be used; nothing has run then.
    """
    suite = _select(read_suite(suite_file), models, families)
    output = Output(out)
    output.check(_corpus_folders(suite))
    tested = _families(suite)
    if no_code:
        _refuse_code(suite)
    output.prepare()
    os.environ[CACHE_VARIABLE] = str(output.cache)  # for models that keep things, and for all children
    corpora, fingerprints = _load(suite, output, jobs)

    _write_segments(corpora, output)
    reports = {}
    for entry in suite.models.values():
        changes = _changes(tested, _tasks(suite, entry)) if _answers_changes(entry) else {}
        reports[entry.name] = predict_model(
            entry,
            suite,
            corpora,
            changes,
            output.folder,
            output.cache,
            jobs=jobs,
            progress=True,
            fingerprint=fingerprints[entry.name],
        )
    output.prune(output.predictions, {files.slug(name) for name in suite.models})

    planned = _jobs(suite, tested, corpora, output)
    with tqdm(total=len(planned), desc="notebooks", unit="", disable=None) as bar:
        outcomes = runner.execute(
            planned, cache=output.cache, log=output.log, workers=jobs, finished=lambda _: bar.update()
        )
    from soundcheck.book.executed import without_paths  # heavy, like all of the book

    # What a notebook failed with is published with the results.
    outcomes = [dataclasses.replace(o, error=without_paths(o.error, output.folder)) for o in outcomes]
    _prune_notebooks(output, planned)

    frame = _results(suite, tested, corpora, planned, outcomes)
    left_out = _left_out(corpora, reports)
    results_digest = verdicts.write_results(frame, output.folder)
    files.write_bytes(output.left_out, _csv(left_out))
    content = record.compose(suite, tested, corpora, reports, fingerprints, outcomes, results=results_digest)
    record.write(output, content)

    from soundcheck.book import build  # heavy, and of no use when anything above was refused

    problems = build.build(
        output,
        content,
        frame,
        suite_root=suite.root,
        families=tested,
        corpora=corpora,
        tasks=suite.tasks,
    )
    return _outcome(output, frame, content, outcomes, reports, problems)


def _select(suite: Suite, models: Sequence[str], families: Sequence[str]) -> Suite:
    """Restrict a suite to the models and families named on the command line."""
    problems = Problems()
    for option, wanted, known in (("model", models, suite.models), ("family", families, suite.families)):
        for name in wanted:
            if name not in known:
                problems.add(
                    f"--{option} {quoted(name)}", f"the suite has no such {option}", did_you_mean(name, known)
                )
    problems.raise_if_any()
    return dataclasses.replace(
        suite,
        models={name: entry for name, entry in suite.models.items() if not models or name in models},
        families=tuple(name for name in suite.families if not families or name in families),
    )


def _corpus_folders(suite: Suite) -> dict[str, Path]:
    """List the folders of corpora that the output must stay out of.

    A manifest that lies beside suite.yml makes the whole project the corpus folder; that is no reason against
    an output folder in the project.
    """
    entries = [entry for entry in suite.corpora.values() if entry.path is not None]
    folders = {entry.name: _corpus_folder(entry).resolve() for entry in entries}
    project = suite.root.resolve()
    return {name: folder for name, folder in folders.items() if not project.is_relative_to(folder)}


def _corpus_folder(entry: CorpusEntry) -> Path:
    if entry.root is not None:
        return entry.root
    return entry.path if entry.path.is_dir() else entry.path.parent


def _families(suite: Suite) -> list[Family]:
    """Read the families of a suite and check that each has its three files and known transforms."""
    families, problems = [], Problems()
    for name in suite.families:
        try:
            family = read_family(name, suite.root)
            runner.check_notebook(_notebook(suite, name))
        except InputError as error:
            problems.extend(error)
            continue
        if resources.find(f"book/methods/{name}.md", suite.root) is None:
            problems.add(
                f"family {name}", f"the page book/methods/{name}.md is missing", "Write what it tests"
            )
        for change in family.changes.values():
            problem = check_change(change)
            if problem:
                problems.add(f"thresholds/{name}.yml, changes.{change.name}", problem)
        families.append(family)
    problems.raise_if_any()
    return families


def _notebook(suite: Suite, family: str) -> Path:
    path = resources.find(f"notebooks/{family}.ipynb", suite.root)
    if path is None:
        raise refuse(f"family {family}", f"the notebook notebooks/{family}.ipynb is missing", "Write it")
    return path


def _refuse_code(suite: Suite) -> None:
    problems = Problems()
    for entry in suite.models.values():
        if entry.kind in CODE_KINDS:
            where = f"{suite.file.name}, models.{entry.name}"
            problems.add(where, f"the model runs code ({entry.kind}), and --no-code was given")
    problems.raise_if_any()


def _load(suite: Suite, output: Output, jobs: int) -> tuple[list[Corpus], dict[str, str]]:
    """Load all corpora and check all models, and tell the problems of all of them at once."""
    problems = Problems()
    corpora, fingerprints = [], {}
    for entry in suite.corpora.values():
        try:
            corpora.append(load_corpus(entry, suite, output.cache, jobs, progress=True))
        except InputError as error:
            problems.extend(error)
    for entry in suite.models.values():
        try:
            fingerprints[entry.name] = check_model(entry, suite, corpora)
        except InputError as error:
            problems.extend(error)
    problems.raise_if_any()
    return corpora, fingerprints


def _write_segments(corpora: Iterable[Corpus], output: Output) -> None:
    """Keep each segment table as Parquet, where notebooks and readers find it."""
    keep = set()
    for corpus in corpora:
        name = f"{files.slug(corpus.name)}.parquet"
        keep.add(name)
        with files.replacing(output.corpora / name) as part:
            corpus.segments.to_parquet(part, index=False)
    output.prune(output.corpora, keep)


def _answers_changes(entry: ModelEntry) -> bool:
    """Whether a model can be asked about changed signals; a table of predictions cannot."""
    return entry.kind != "predictions"


def _tasks(suite: Suite, entry: ModelEntry) -> list[Task]:
    return [suite.tasks[name] for name in entry.tasks]


def _applicable(family: Family, tasks: Iterable[Task]) -> list[Task]:
    return [task for task in tasks if family.applies_to(task)]


def _changes(families: Iterable[Family], tasks: Sequence[Task]) -> dict[str, Change]:
    """Collect the changes that the families of a model need, each once."""
    return {
        change.identity: change
        for family in families
        if _applicable(family, tasks)
        for change in family.changes.values()
    }


def _jobs(
    suite: Suite, families: Iterable[Family], corpora: Sequence[Corpus], output: Output
) -> list[runner.Job]:
    """Describe one notebook for each model and each family that applies to one of its tasks."""
    library = record.library_digest()
    jobs = []
    for entry in suite.models.values():
        folder = output.predictions / files.slug(entry.name)
        views = [_view(corpus, folder, output) for corpus in corpora]
        seen = [files.digest(Path(view[key])) for view in views for key in ("segments", "predictions")]
        for family in families:
            tasks = _applicable(family, _tasks(suite, entry))
            if not tasks:
                continue
            description = {
                "model": entry.name,
                "family": family.name,
                "tasks": [dataclasses.asdict(task) for task in tasks],
                "seed": suite.seed,
                "replicates": suite.replicates,
                "interval": suite.interval,
                "balance_samples": suite.balance_samples,
                "answers_changes": _answers_changes(entry),
                "prefix": "../../media/",
                "synthetic": [corpus.name for corpus in corpora if corpus.synthetic],
            }
            notebook = _notebook(suite, family.name)
            parts = [library, files.digest(notebook), family.digest, *seen, description]
            parts += [{key: view[key] for key in ("name", "title", "blocks")} for view in views]
            jobs.append(
                runner.Job(
                    model=entry.name,
                    family=family.name,
                    source=notebook,
                    target=output.notebooks / files.slug(entry.name) / f"{files.slug(family.name)}.ipynb",
                    description=description
                    | {"own": str(suite.root), "media": str(output.media), "corpora": views},
                    fingerprint=files.digest(repr(parts)),
                    limit=suite.notebook_seconds,
                )
            )
    return jobs


def _view(corpus: Corpus, predictions: Path, output: Output) -> dict:
    name = f"{files.slug(corpus.name)}.parquet"
    return {
        "name": corpus.name,
        "title": corpus.entry.title,
        "synthetic": corpus.synthetic,
        "blocks": corpus.entry.blocks,
        "root": str(corpus.root),
        "segments": str(output.corpora / name),
        "predictions": str(predictions / name),
    }


def _prune_notebooks(output: Output, planned: Iterable[runner.Job]) -> None:
    """Remove executed notebooks of models and families that the suite no longer has."""
    planned = list(planned)
    output.prune(output.notebooks, {job.target.parent.name for job in planned})
    for folder in {job.target.parent for job in planned}:
        mine = [job for job in planned if job.target.parent == folder]
        output.prune(folder, {path.name for job in mine for path in (job.target, job.rows, job.state)})


def _results(
    suite: Suite,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    jobs: Sequence[runner.Job],
    outcomes: Sequence[runner.Outcome],
) -> pd.DataFrame:
    """Collect the rows of all notebooks; a failed notebook's tests become rows with its error."""
    by_name = {family.name: family for family in families}
    rows: list[verdicts.Verdict] = []
    for job, outcome in zip(jobs, outcomes, strict=True):
        if outcome.status == "ok":
            rows += verdicts.load(job.rows)
            continue
        family = by_name[job.family]
        for corpus in corpora:
            for task in _applicable(family, _tasks(suite, suite.models[job.model])):
                rows += verdicts.skipped_rows(
                    job.model, corpus.name, family, task, f"error: the notebook failed: {outcome.error}"
                )
    return verdicts.to_frame(rows)


def _left_out(corpora: Sequence[Corpus], reports: dict[str, PredictionReport]) -> pd.DataFrame:
    """List everything that was left out of the evaluation, with its reason."""
    rows = [
        {"stage": item.stage, "model": "", "corpus": corpus.name, "item": item.item, "reason": item.reason}
        for corpus in corpora
        for item in corpus.left_out
    ]
    for name, report in reports.items():
        rows += [
            {
                "stage": "model",
                "model": name,
                "corpus": corpus,
                "item": f"{item} {change}".strip(),
                "reason": reason,
            }
            for corpus, item, change, reason in report.failures
        ]
    return pd.DataFrame(rows, columns=["stage", "model", "corpus", "item", "reason"])


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.map(spreadsheet).to_csv(index=False, lineterminator="\n").encode("utf-8", "backslashreplace")


def _outcome(
    output: Output,
    frame: pd.DataFrame,
    content: dict,
    outcomes: Sequence[runner.Outcome],
    reports: dict[str, PredictionReport],
    problems: Sequence[object],
) -> Outcome:
    """Sum up a run in a few lines, and give its exit code."""
    lines = []
    for name in content["order"]:
        rows = frame[frame["model"] == name]
        passed, failed = int(rows["passed"].eq(True).sum()), int(rows["passed"].eq(False).sum())
        skipped = len(rows) - passed - failed
        informative = rows[verdicts.informative(rows)]
        told = f"{int(informative['passed'].eq(True).sum())} of {int(informative['passed'].notna().sum())}"
        lines.append(
            f"{name}: {passed} tests passed, {failed} failed, {skipped} skipped; "
            f"of those that a random model fails, {told} passed"
        )
    failed_notebooks = [outcome for outcome in outcomes if outcome.status != "ok"]
    for outcome in failed_notebooks:
        lines.append(
            f"The notebook {outcome.family} of {outcome.model} failed: {outcome.error.splitlines()[0][:200]}"
        )
    failed_inputs = {name: report.failed for name, report in reports.items() if report.failed}
    for name, count in failed_inputs.items():
        lines.append(f"{name} gave no answer for {count} inputs; the book lists them")
    left_out = sum(len(corpus["left_out"]) for corpus in content["corpora"])
    if left_out:
        lines.append(f"{left_out} items of the corpora were left out; the book and left_out.csv list them")
    lines += [str(problem) for problem in problems]
    if problems:
        lines.append(f"The book could not be built; {output.log.name} in {output.shown} tells more.")
    else:
        lines.append(f"Book: {Path(output.shown) / 'html' / 'index.html'}")
    lines.append(f"Results: {Path(output.shown) / 'results.csv'}")
    fine = not (failed_notebooks or failed_inputs or problems)
    return Outcome(EXIT_OK if fine else EXIT_INCOMPLETE, "\n".join(lines))
