"""Runs of some models or families, which add to the book that the output folder holds.

Conventions
-----------
- The book is that of the same suite if title and file name are the same, and at least one model and one
  corpus. Its models and families stay, as far as the suite still names them.
- A model that is asked is asked for all families that the book has of it: what stands in a book about a model
  are answers of one model.
- A model that is not asked keeps its prediction tables, with their day. Everything is judged by the present
  thresholds, notebooks and labels; what has not changed is not executed again.
- Answers that no longer belong to what is tested (other sounds, seed, version or entry in the suite) are
  refused with the remedy: nothing is mixed, nothing dropped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.common.caveats import Caveat
from soundcheck.common.day import day_of
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.file_contents import Contents
from soundcheck.common.wording import some
from soundcheck.corpora.corpus import Corpus
from soundcheck.predict.opened_files import Sources, changed_files
from soundcheck.predict.report import PredictionReport
from soundcheck.results.record import ModelRecord, RunRecord
from soundcheck.run import planning
from soundcheck.run.output import Output
from soundcheck.sounds.sound import Sounds
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.families import Family

# What no answer depends on.
SAID = ("name", "description", "license", "card", "families", "time_limit", "missing")
NAMED = 3  # files that a message names
NO_FAMILY = ("",)  # of a model that no family of the book tests
WHOLE = "leave out --model and --family to run the whole suite, or choose another folder with --out"


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run is about.

    Parameters
    ----------
    suite
        What the book is about afterwards.
    asked
        Names of the models that are asked.
    record
        Of the book that is added to; ``None`` if there is none.
    notices
        What happens to the book, in sentences.
    """

    suite: Suite
    asked: frozenset[str]
    record: RunRecord | None = None
    notices: tuple[str, ...] = ()

    @property
    def kept(self) -> list[ModelEntry]:
        """Models of the book that are not asked."""
        return [entry for name, entry in self.suite.models.items() if name not in self.asked]


def whole(suite: Suite) -> Plan:
    """Plan a run of all that a suite names."""
    return Plan(suite, frozenset(suite.models))


def add(suite: Suite, chosen: Suite, output: Output) -> Plan:
    """Plan a run of some models and families.

    Parameters
    ----------
    suite
        The whole suite.
    chosen
        The same with the models and families to run.
    output
        Output folder, perhaps with a book.

    Raises
    ------
    InputError
        If the folder holds the book of another suite, or answers in it are out of date.
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
    there = {family for entry in models.values() for family in entry.families} | {*chosen.families}
    merged = dataclasses.replace(
        suite,
        models=models,
        families=tuple(family for family in suite.families if family in there),
        comparisons={
            name: entry
            for name, entry in suite.comparisons.items()
            if {entry.baseline, entry.candidate} <= set(models)
        },
    )
    plan = Plan(merged, frozenset(chosen.models), record, tuple(_removed(suite, record)))
    _check_entries(suite, plan)
    return plan


def _check_same(suite: Suite, record: RunRecord, output: Output) -> None:
    """Refuse the book of another suite."""
    described = record.suite
    same = (described.get("title"), described.get("shown")) == (suite.title, suite.file.name)
    for known, named in ((record.order, suite.models), ((c.name for c in record.corpora), suite.corpora)):
        same = same and not set(known).isdisjoint(named)
    if not same:
        title, file = quoted(record.title, 60), described.get("shown", "suite.yml")
        what = (
            f"the folder holds the book of another suite ({title} of {file}), so nothing can be added to it"
        )
        raise input_error(f"--out {output.display_name}", what, f"To replace it, {WHOLE}")


def _removed(suite: Suite, record: RunRecord) -> Iterable[str]:
    gone = [name for name in record.order if name not in suite.models]
    dropped = [family.name for family in record.families if family.name not in suite.families]
    silent = [name for name in record.suite.get("corpora", {}) if name not in suite.corpora]
    for noun, names in (("model", gone), ("family", dropped), ("corpus", silent)):
        for name in names:
            yield f"The suite no longer names the {noun} {quoted(name)}: its results were removed"


def _check_entries(suite: Suite, plan: Plan) -> None:
    """Refuse answers that were given under another seed, version or entry of the suite."""
    record, problems = plan.record, Problems()
    described, before = suite.describe(), record.suite
    for entry in plan.kept:
        then, now = before.get("models", {}).get(entry.name, {}), described["models"][entry.name]
        changed = [key for key in now if key not in SAID and (then.get(key) or None) != (now[key] or None)]
        reasons = []
        if changed:
            keys = ", ".join({"target": entry.kind, "ranges": "range"}.get(key, key) for key in changed)
            reasons.append(f"its entry in the suite changed since it was asked ({keys})")
        for task in entry.tasks:
            if task not in changed and before.get("tasks", {}).get(task) != described["tasks"][task]:
                reasons.append(f"the task {quoted(task)} changed since it was asked")
        if record.version != __version__:
            reasons.append(f"it was asked by version {record.version} of Soundcheck, this is {__version__}")
        if record.seed != suite.seed:
            reasons.append(f"it was asked with seed {record.seed}, the suite now says {suite.seed}")
        for reason in reasons:
            _out_of_date(problems, entry.name, reason)
    problems.raise_if_any()


def _out_of_date(problems: Problems, model: str, reason: str) -> None:
    what = f"the answers that the folder holds are out of date: {reason}"
    problems.add(f"model {quoted(model)}", what, f"Add --model {quoted(model)} to ask it again, or {WHOLE}")


def keep_answers(
    plan: Plan,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    sounds: Sounds,
    output: Output,
    fingerprints: Mapping[str, str],
) -> dict[str, PredictionReport]:
    """Find the answers of the models that are not asked, and make sure that they belong to what is tested.

    Parameters
    ----------
    plan
        What the run is about.
    families, sounds
        What is tested, and with which noises and impulse responses.
    corpora
        Loaded corpora; those that a model is not asked about are passed over.
    output
        Output folder with the prediction tables.
    fingerprints
        Of the models as they are now, as far as they could be loaded.

    Returns
    -------
    dict
        Model -> what became of its inputs when it was asked.

    Raises
    ------
    InputError
        If a model, a corpus, a change of the signal or the sounds that it draws from are not those of the
        tables.
    """
    reports, problems = {}, Problems()
    about = {model.name: model for model in plan.record.models} if plan.record else {}
    for entry in plan.kept:
        own = [family for family in families if entry.is_for(family.name)]
        if reason := _other_model(about[entry.name], fingerprints, plan.suite.root, output):
            _out_of_date(problems, entry.name, reason)
        tables = {}
        for corpus in planning.predicted_corpora(plan.suite, entry, families, corpora):
            place = tables[corpus.name] = _table(output, entry, corpus)
            written = about[entry.name].digests.get(corpus.name)
            reason = _misfit(plan, entry, own, corpus, sounds, output)
            if not reason and written and files.digest(place) != written:
                reason = f"those for the corpus {quoted(corpus.name)} were replaced after the book was built"
            if reason:
                _out_of_date(problems, entry.name, reason)
        material = {group.kind: group.digest for group in plan.record.sounds}
        for kind in sorted(planning.sounds_of(own) & set(sounds.sets) & set(material)):
            if sounds.sets[kind].digest != material[kind]:
                _out_of_date(problems, entry.name, f"the sounds of kind {kind} changed")
        if not len(problems):
            caveats = tuple(
                caveat for caveat in plan.record.caveats if caveat.model == entry.name and not caveat.corpus
            )
            reports[entry.name] = _report(about[entry.name], tables, caveats)
    problems.raise_if_any()
    return reports


def _other_model(about: ModelRecord, fingerprints: Mapping[str, str], root: Path, output: Output) -> str:
    """Say that a model is not what it was when it was asked; empty if it is, as far as it is here."""
    seen = {name: digest for name, digest in about.opened.items() if digest and (root / name).is_file()}
    contents = Contents(output.cache / "digests" / f"{about.slug}.opened.json")
    if changed := changed_files(Sources(seen), root, contents):
        return f"{some(changed, NAMED)} changed since it was asked"
    known = about.code or about.fingerprint  # older versions knew no other
    return (
        ""
        if fingerprints.get(about.name, known) == known
        else "its files or its code changed since it was asked"
    )


def _table(output: Output, entry: ModelEntry, corpus: Corpus) -> Path:
    return output.predictions / files.slug(entry.name) / f"{files.slug(corpus.name)}.parquet"


def _other_trials(families: Iterable[Family], corpus: Corpus, output: Output) -> str:
    """Say that scores, which are kept by the number of their trial, belong to another list of trials."""
    named, paths = ["key", "enrol", "test"], (output.trials(corpus.name, one.name) for one in families)
    written = next((pd.read_parquet(path, columns=named) for path in paths if path.is_file()), None)
    if written is not None and np.array_equal(written.to_numpy(), corpus.trials.frame[named].to_numpy()):
        return ""
    return f"the list of trials of the corpus {quoted(corpus.name)} changed"


def _misfit(
    plan: Plan, entry: ModelEntry, families: Sequence[Family], corpus: Corpus, sounds: Sounds, output: Output
) -> str:
    """Say why a prediction table does not belong to a corpus as it is now; empty if it does."""
    place = _table(output, entry, corpus)
    before = next((known for known in plan.record.corpora if known.name == corpus.name), None)
    if before is None or not place.is_file():
        return f"it was not asked about the corpus {quoted(corpus.name)}"
    segments = corpus.segments
    if before.digest != files.digest("\n".join(segments["audio"])):
        counts = f"{before.segments} segments then, {len(segments)} now"
        return f"the corpus {quoted(corpus.name)} changed ({counts})"
    if entry.about.for_trials:
        return _other_trials(families, corpus, output)
    asked = pq.read_table(place, columns=["key", "change"]).to_pandas()
    tasks = planning.tasks_of(plan.suite, entry)
    answered = [family for family in families if planning.answers_changes(entry, family, sounds)]
    wanted = planning.needed_segments(answered, tasks, plan.suite.seed, corpus)
    made = planning.changes_of(answered, tasks, sounds)
    masks = {"": np.ones(len(segments), dtype=bool)} | {name: wanted[name] for name in made if name in wanted}
    for name, mask in masks.items():
        there = pd.Index(asked.loc[asked["change"] == name, "key"])
        if not segments["key"][mask].isin(there).all():
            what = f"the change {quoted(made[name].name)}" if name else "all segments"
            return f"it was not asked about {what} of the corpus {quoted(corpus.name)}"
    return ""


def _report(about: ModelRecord, tables: Mapping[str, Path], caveats: tuple[Caveat, ...]) -> PredictionReport:
    """Give the report of a model as it stands in the record; caveats of its key figures are found anew."""
    written = max((path.stat().st_mtime for path in tables.values()), default=0.0)
    day = about.answers_of or day_of(written).isoformat()
    counted = ("inputs", "failed", "unusable", "repeated", "repeated_different", "out_of_range")
    report = PredictionReport(
        about.name,
        about.code or about.fingerprint,
        sources=Sources(about.opened),
        tables=dict(tables),
        reused=about.inputs - about.failed - about.unusable,
        failures=[(item.corpus, item.item, item.change, item.reason) for item in about.failures],
        unknown_classes=dict(about.unknown_classes),
        answers_of=day,
        kept_caveats=caveats,
        **{name: getattr(about, name) for name in counted},
    )
    told = report.notes()
    return dataclasses.replace(report, notices=tuple(note for note in about.notes if note not in told))
