"""What a run is about: the part of a suite that a command names, and what is refused before anything runs.

A run of some models or families adds to the book that the output folder holds: it is one of all models and
families of the book and of those that were chosen. What the others predicted comes from the cache, notebooks
that did not change are not executed again, and what has changed since is predicted and judged anew: nothing
is mixed. Only for chosen models are a few predictions repeated.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from unittest import mock

from soundcheck.augment.registry import check_change
from soundcheck.common import resources
from soundcheck.common.messages import InputError, Problems, did_you_mean, input_error, quoted, refuse_unknown
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.corpora.columns import MEASURES
from soundcheck.results.record import RunRecord
from soundcheck.run import notebook_jobs, notebooks
from soundcheck.run.material import Opened, Plan
from soundcheck.run.output import FolderLock, Output
from soundcheck.suite.corpus_format import with_suite_groups
from soundcheck.suite.entries import ComparisonEntry, Suite
from soundcheck.suite.families import Family, with_own_tests
from soundcheck.suite.thresholds import read_family

NO_FAMILY = ("",)  # of a model that no family of the book tests


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """A suite, an output folder, and how to run the one into the other."""

    suite: Path
    out: Path
    # names to restrict the run to; such a run adds to the book; see above
    models: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    jobs: int = 1  # processes for synthesis, prediction and notebooks
    no_code: bool = False  # refuse models that run code
    fresh: bool = False  # forget what the models answered in earlier runs
    # if not, that of an earlier run stays: its pages name their run, run.json and summary say so
    book: bool = True
    voices: str | None = None  # what is heard in the book, "all" or "none"; None: as the suite says
    cluster: str = ""  # address of a Dask scheduler whose workers ask the models; empty: this machine
    efficiency: float | None = None  # seconds that each model may take to be measured after the run
    quick: bool = False  # a first look: few segments under each change, two levels, no sweeps
    keep: bool = True  # keep the run in the history, if the suite wants one


def plan_part(suite: Suite, chosen: Suite, output: Output) -> Plan:
    """Plan a run of what the book in the output folder has, and of some models and families of its suite.

    Raises InputError: if the folder holds the book of another suite.
    """
    if not output.record.is_file():
        return Plan(chosen, frozenset(chosen.models))
    record = RunRecord.read(output.record)
    _check_same(suite, record, output)
    tested: dict[str, set[str]] = {name: set() for name in record.order if name in suite.models}
    for notebook in record.notebooks:
        tested.setdefault(notebook.model, set()).add(notebook.family)
    for name, entry in chosen.models.items():
        tested.setdefault(name, set()).update(filter(entry.is_for, chosen.families))
    models = {}
    for name, entry in suite.models.items():
        if name in tested:
            model_families = tuple(family for family in suite.families if family in tested[name])
            models[name] = dataclasses.replace(entry, families=model_families or NO_FAMILY)
    families = {family for entry in models.values() for family in entry.families} | {*chosen.families}
    names = tuple(family for family in suite.families if family in families)
    known = {
        model.name: model.code or model.fingerprint
        for model in record.models
        if model.name in models and model.name not in chosen.models
    }
    merged = dataclasses.replace(suite, models=models, families=names, comparisons=_between(models, suite))
    return Plan(merged, frozenset(chosen.models), known, tuple(_removed(suite, record)))


def _between(models: Collection[str], suite: Suite) -> dict[str, ComparisonEntry]:
    """Keep the comparisons of some models with each other."""
    comparisons = suite.comparisons.items()
    return {name: pair for name, pair in comparisons if pair.baseline in models and pair.candidate in models}


def _check_same(suite: Suite, record: RunRecord, output: Output) -> None:
    """Refuse the book of another suite: one of another title or file name, or without a common name."""
    described = record.suite
    same = (described.get("title"), described.get("source")) == (suite.title, suite.file.name)
    for known, named in ((record.order, suite.models), ((c.name for c in record.corpora), suite.corpora)):
        same = same and not set(known).isdisjoint(named)
    if not same:
        title, file = quoted(record.title, 60), described.get("source", "suite.yml")
        what = (
            f"the folder holds the book of another suite ({title} of {file}), so nothing can be added to it"
        )
        remedy = "To replace it, leave out --model and --family, or choose another folder with --out"
        raise input_error(f"--out {output.display_name}", what, remedy)


def _removed(suite: Suite, record: RunRecord) -> Iterable[str]:
    gone = {
        "model": [name for name in record.order if name not in suite.models],
        "family": [family.name for family in record.families if family.name not in suite.families],
        "corpus": [name for name in record.suite.get("corpora", {}) if name not in suite.corpora],
    }
    for noun, names in gone.items():
        for name in names:
            yield f"The suite no longer names the {noun} {quoted(name)}: its results were removed"


def select(suite: Suite, models: Sequence[str], families: Sequence[str]) -> Suite:
    """Restrict a suite to the models and families named on the command line."""
    problems = Problems()
    for option, wanted, known in (("model", models, suite.models), ("family", families, suite.families)):
        with problems.collected():
            places = ((f"--{option} {quoted(name)}", name, known) for name in wanted)
            refuse_unknown(places, f"the suite has no such {option}")
    problems.raise_if_any()
    chosen = {name: entry for name, entry in suite.models.items() if not models or name in models}
    return dataclasses.replace(
        suite,
        models=chosen,
        families=tuple(name for name in suite.families if not families or name in families),
        comparisons=_between(chosen, suite),
    )


def comparing(suite: Suite, pair: tuple[str, str] | None) -> Suite:
    """Restrict a suite to models that are compared."""
    comparisons = suite.comparisons
    if pair is not None:
        roles = zip(("BASELINE", "CANDIDATE"), pair, (suite.models, suite.models), strict=True)
        refuse_unknown(roles, "the suite has no model {}")
        if pair[0] == pair[1]:
            raise input_error("CANDIDATE", "a model is compared with itself", "Name two models")
        if not set(suite.models[pair[0]].tasks) & set(suite.models[pair[1]].tasks):
            raise input_error(
                "CANDIDATE", "the two models share no task", "Name models that predict the same"
            )
        name = f"{pair[1]} against {pair[0]}"
        comparisons = {name: ComparisonEntry(name, *pair)}
    if not comparisons:
        remedy = "Name two models, or add comparisons: {name: {baseline: ..., candidate: ...}}"
        raise input_error(suite.file.name, "the suite lists no comparisons", remedy)
    wanted = {name for entry in comparisons.values() for name in (entry.baseline, entry.candidate)}
    models = {name: entry for name, entry in suite.models.items() if name in wanted}
    return dataclasses.replace(suite, models=models, comparisons=comparisons)


def corpus_folders(suite: Suite) -> dict[str, Path]:
    """List the folders of corpora that the output must stay out of.

    A manifest that lies beside suite.yml makes the whole project the corpus folder; that is no reason against
    an output folder in the project.
    """
    folders = {
        entry.name: (entry.root or (entry.path if entry.path.is_dir() else entry.path.parent)).resolve()
        for entry in suite.corpora.values()
        if entry.path is not None
    }
    project = suite.root.resolve()
    return {name: folder for name, folder in folders.items() if not project.is_relative_to(folder)}


def read_families(suite: Suite) -> list[Family]:
    """Read the families of a suite and check that each has its three files and known transforms."""
    families, problems = [], Problems()
    grouped = [group.name for entry in suite.corpora.values() for group in entry.groups]
    for name in suite.families:
        try:
            family = with_own_tests(read_family(name, suite.root), suite.tests.get(name, {}))
            notebooks.check_notebook(notebook_jobs.notebook_of(name, suite.root))
        except InputError as error:
            problems.extend(error)
            continue
        if resources.find(f"book/methods/{name}.md", suite.root) is None:
            problems.add(
                f"family {name}", f"the page book/methods/{name}.md is missing", "Write what it tests"
            )
        for change in family.all_changes:
            if problem := check_change(change):
                problems.add(f"thresholds/{name}.yml, change {change.name}", problem)
        for column in family.measured:
            if column not in MEASURES:
                what = f"nothing measures {quoted(column)}"
                problems.add(f"thresholds/{name}.yml, measured", what, did_you_mean(column, MEASURES))
        for transformation in suite.transformations.get(name, ()):
            if transformation not in family.series:
                what = f"{name} has no change from mild to severe {quoted(transformation)}"
                problems.add("limits.transformations", what, did_you_mean(transformation, family.series))
        needed = family.options.get("by")
        if needed and needed not in suite.transformations.get(name, [needed]):
            problems.add("limits.transformations", f"{name} needs {quoted(needed)}", "Add it")
        family = with_suite_groups(family, grouped)
        families.append(family.limited(suite))
    problems.raise_if_any()
    titles = Counter(family.title for family in families)
    return [
        dataclasses.replace(family, title=f"{family.title} ({family.name})")  # pages must differ by title
        if titles[family.title] > 1
        else family
        for family in families
    ]


def refuse_code(suite: Suite) -> None:
    """Refuse models that run code, or do what is as dangerous, and notebooks and pages that the suite brings.

    Raises InputError: naming each of them.
    """
    problems = Problems()
    for entry in suite.models.values():
        if what := entry.about.refused_without_code(entry):
            problems.add(f"{suite.file.name}, models.{entry.name}", f"{what}, and --no-code was given")
    executed = (*suite.families, *([notebook_jobs.COMPARISON] if suite.comparisons else []))
    brought = {f"notebooks/{name}.ipynb": "a notebook beside the suite is code" for name in executed}
    page = "a page beside the suite can include scripts and files"
    brought |= {f"book/methods/{name}.md": page for name in suite.families}
    for path, what in brought.items():
        place = resources.find(path, suite.root)
        if place is not None and place.resolve() != (resources.root() / path).resolve():
            remedy = "Leave out --no-code if you trust it, else remove it"
            problems.add(path, f"{what}, and --no-code was given", remedy)
    problems.raise_if_any()


def share_cache(suite: Suite) -> None:
    """Use the cache that a suite names, unless the environment names one."""
    if suite.cache is not None and not os.environ.get(CACHE_VARIABLE):
        os.environ[CACHE_VARIABLE] = str(suite.cache)


@contextlib.contextmanager
def opened(suite: Suite, options: RunOptions) -> Iterator[Opened]:
    """Refuse what needs no corpus to be refused, then make the output folder, and lock it for a block.

    Raises InputError: if the folder, a model's or family's name or a family cannot be used, or a model runs
    code although that is not wanted.
    """
    with mock.patch.dict(os.environ):  # models and children find the cache there; the next run has its own
        share_cache(suite)
        output = Output(options.out)
        chosen = select(suite, options.models, options.families)
        output.check(corpus_folders(suite))
        with FolderLock(output.folder, output.display_name) as lock:
            part = options.models or options.families
            plan = plan_part(suite, chosen, output) if part else Plan(chosen, frozenset(chosen.models))
            families = read_families(plan.suite)
            if options.no_code:
                refuse_code(plan.suite)
            lock.take()
            output.prepare()
            yield Opened(plan, families, output)
