"""Runs of some models or families, which add to the book that the output folder holds.

Such a run is one of all models and families of the book and of those that were chosen. What the others
predicted comes from the cache, notebooks that did not change are not executed again, and what has changed
since is predicted and judged anew: nothing is mixed. Only chosen models are asked a few inputs again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted
from soundcheck.results.record import RunRecord
from soundcheck.run.output import Output
from soundcheck.suite.entries import Suite

NO_FAMILY = ("",)  # of a model that no family of the book tests


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run is about."""

    suite: Suite  # what the book is about afterwards
    chosen: frozenset[str]  # models
    fingerprints: Mapping[str, str] = dataclasses.field(default_factory=dict)  # of the others, last time
    notices: tuple[str, ...] = ()  # what happens to the book, in sentences


def whole(suite: Suite) -> Plan:
    """Plan a run of all that a suite names."""
    return Plan(suite, frozenset(suite.models))


def add(suite: Suite, chosen: Suite, output: Output) -> Plan:
    """Plan a run of what the book in the output folder has, and of some models and families of its suite.

    Raises InputError: if the folder holds the book of another suite.
    """
    if not output.record.is_file():
        return whole(chosen)
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
            own = tuple(family for family in suite.families if family in tested[name])
            models[name] = dataclasses.replace(entry, families=own or NO_FAMILY)
    families = {family for entry in models.values() for family in entry.families} | {*chosen.families}
    comparisons = {
        name: entry
        for name, entry in suite.comparisons.items()
        if {entry.baseline, entry.candidate} <= set(models)
    }
    kept = tuple(family for family in suite.families if family in families)
    known = {
        model.name: model.code or model.fingerprint
        for model in record.models
        if model.name in models and model.name not in chosen.models
    }
    merged = dataclasses.replace(suite, models=models, families=kept, comparisons=comparisons)
    return Plan(merged, frozenset(chosen.models), known, tuple(_removed(suite, record)))


def _check_same(suite: Suite, record: RunRecord, output: Output) -> None:
    """Refuse the book of another suite: one of another title or file name, or without a common name."""
    described = record.suite
    same = (described.get("title"), described.get("shown")) == (suite.title, suite.file.name)
    for known, named in ((record.order, suite.models), ((c.name for c in record.corpora), suite.corpora)):
        same = same and not set(known).isdisjoint(named)
    if not same:
        title, file = quoted(record.title, 60), described.get("shown", "suite.yml")
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
