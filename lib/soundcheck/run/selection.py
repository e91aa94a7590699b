"""What a command asks for, of what a suite names; and what is refused before anything runs.

All problems of a step are told at once.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from soundcheck.augment.registry import TRANSFORMS, check_change
from soundcheck.common import files, resources
from soundcheck.common.errors import InputError, Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.remembered import Remembered, made_here
from soundcheck.corpora.measures import MEASURES
from soundcheck.run import notebook_jobs, notebooks
from soundcheck.suite.entries import ComparisonEntry, CorpusEntry, Suite
from soundcheck.suite.families import Family, Perturbation
from soundcheck.suite.groups import with_suite_groups
from soundcheck.suite.own_rules import with_own_tests
from soundcheck.suite.thresholds import read_family


def select(suite: Suite, models: Sequence[str], families: Sequence[str]) -> Suite:
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
        comparisons={
            name: entry
            for name, entry in suite.comparisons.items()
            if not models or {entry.baseline, entry.candidate} <= set(models)
        },
    )


def comparing(suite: Suite, pair: tuple[str, str] | None) -> Suite:
    """Restrict a suite to models that are compared."""
    comparisons = suite.comparisons
    if pair is not None:
        problems = Problems()
        for role, name in zip(("BASELINE", "CANDIDATE"), pair, strict=True):
            if name not in suite.models:
                what = f"the suite has no model {quoted(name)}"
                problems.add(role, what, did_you_mean(name, suite.models))
        problems.raise_if_any()
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
    entries = [entry for entry in suite.corpora.values() if entry.path is not None]
    folders = {entry.name: _corpus_folder(entry).resolve() for entry in entries}
    project = suite.root.resolve()
    return {name: folder for name, folder in folders.items() if not project.is_relative_to(folder)}


def _corpus_folder(entry: CorpusEntry) -> Path:
    if entry.root is not None:
        return entry.root
    return entry.path if entry.path.is_dir() else entry.path.parent


def changes_made(cache: Path | None = None) -> Remembered:
    """Give which changes of signals earlier runs into a cache could make."""
    if cache is None:
        return Remembered()
    return Remembered(cache / "families" / "changes.json", made_here())


def read_families(suite: Suite, made: Remembered | None = None) -> list[Family]:
    """Read the families of a suite and check that each has its three files and known transforms."""
    families, problems = [], Problems()
    made = made if made is not None else changes_made()
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
            problem = _problem(change, made)
            if problem:
                problems.add(f"thresholds/{name}.yml, change {change.name}", problem)
        for column in family.measured:
            if column not in MEASURES:
                what = f"nothing measures {quoted(column)}"
                problems.add(f"thresholds/{name}.yml, measured", what, did_you_mean(column, MEASURES))
        for heard in suite.transformations.get(name, ()):
            if heard not in family.series:
                what = f"{name} has no change from mild to severe {quoted(heard)}"
                problems.add("limits.transformations", what, did_you_mean(heard, family.series))
        needed = family.options.get("by")
        if needed and needed not in suite.transformations.get(name, [needed]):
            problems.add("limits.transformations", f"{name} needs {quoted(needed)}", "Add it")
        family = with_suite_groups(family, grouped)
        limits = (suite.transformed_segments, suite.segments_per_change, suite.levels, suite.transformations)
        families.append(family.limited(suite.sweeps, *limits))
    problems.raise_if_any()
    titles = Counter(family.title for family in families)
    return [
        dataclasses.replace(family, title=f"{family.title} ({family.name})")  # pages must differ by title
        if titles[family.title] > 1
        else family
        for family in families
    ]


def _problem(change: Perturbation, tried: Remembered) -> str:
    """Say what is wrong with a change; one of ours that could be made need not be tried again."""
    transform = TRANSFORMS.get(change.transform) if isinstance(change.transform, str) else None
    if transform is None or not transform.function.__module__.startswith("soundcheck."):
        return check_change(change)
    done = files.digest(json.dumps([change.transform, change.options], sort_keys=True))
    if tried.get(done):
        return ""
    problem = check_change(change)
    if not problem:
        tried.put(done, True)
    return problem


def refuse_code(suite: Suite) -> None:
    """Refuse models that run code, or do what is as dangerous, and notebooks and pages that the suite brings.

    Raises InputError: naming each of them.
    """
    problems = Problems()
    for entry in suite.models.values():
        if what := entry.about.refused_without_code(entry):
            problems.add(f"{suite.file.name}, models.{entry.name}", f"{what}, and --no-code was given")
    executed = (*suite.families, *([notebook_jobs.COMPARISON] if suite.comparisons else []))
    own = {f"notebooks/{name}.ipynb": "a notebook beside the suite is code" for name in executed}
    page = "a page beside the suite can include scripts and files"
    own |= {f"book/methods/{name}.md": page for name in suite.families}
    for path, what in own.items():
        found = resources.find(path, suite.root)
        if found is not None and found.resolve() != (resources.root() / path).resolve():
            remedy = "Leave out --no-code if you trust it, else remove it"
            problems.add(path, f"{what}, and --no-code was given", remedy)
    problems.raise_if_any()
