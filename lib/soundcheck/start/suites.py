"""Writes a suite for a kind of model, for data that it recognises, or for both: ``soundcheck init``."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from soundcheck.common import resources
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.common.yaml_text import flow, scalar
from soundcheck.corpora.segments import parse
from soundcheck.corpora.splits import ALL, kinds_of, likely, pick
from soundcheck.corpora.table_keys import prepare
from soundcheck.evaluation.eligibility import obstacle
from soundcheck.start.models import KINDS, indented, model_text
from soundcheck.start.recognise import Found, recognise
from soundcheck.start.sample import Sample, read_sample
from soundcheck.start.understand import Understanding, understand
from soundcheck.suite import starter
from soundcheck.suite.corpus_format import CORPUS_FORMATS, RESERVED_COLUMNS
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

HEAD = """# A suite: which models are tested, on which corpora, by which families of tests. What a run would
# do and how long it would take says: soundcheck run SUITE --plan
title: TITLE

# The same seed gives the same book, on any machine and with any number of jobs.
seed: 0

"""
TAIL = """
families: all # or a list such as [fairness_sex]

# What a group may differ by to pass. published: from all groups by less than the published threshold; gap:
# from its reference, all others or a group that is named, by less than the absolute margin.
thresholds: published

# Intervals by Student's t on a scale where values are free, honest with few speakers too; or percentile.
interval: t
"""
DEMO = """corpora:
  demo: # synthetic speech, made on first use; `soundcheck init --data FOLDER` writes this for your own
    format: demo
CHOICE
"""
GUESSED = "guessed: write the lowest and highest possible label, not those that occur"
ROWS = 2000  # of a table of predictions to fill in


def write_suite(folder: Path, kind: str | None, data: Path | None) -> str:
    """Write ``suite.yml`` and what its model needs into a folder; never overwrites.

    Raises
    ------
    InputError
        If the kind or the format is not known, the data cannot be read, or a file is there already.
    """
    if kind is not None and kind not in KINDS:
        raise input_error(f"--model {quoted(kind)}", "no such kind of model", did_you_mean(kind, KINDS))
    if data is None:
        speech = kind in ("endpoint", "onnx-asr", "command")
        choice = "    part: commands # spoken commands with their transcripts" if speech else ""
        tasks = {"transcript": BUILTIN["transcript"]} if speech else {"arousal": BUILTIN["arousal"]}
        corpora, told, corpus, rows = DEMO.replace("CHOICE", choice).rstrip() + "\n", [], "demo", []
        declared, title, answers = {}, "My models", []
    else:
        found = recognise(data.absolute())
        trials = found.format == "trials"
        sample = None if trials else read_sample(found)
        about = (
            _of_trials()
            if sample is None
            else understand(sample, data.absolute(), sounds_inside=found.format == "parquet")
        )
        corpus = _name(found)
        corpora = _corpus(folder, corpus, found, sample, about)
        told = [f"{data}: format {found.format} ({found.why})"]
        tasks = about.tasks or {"arousal": BUILTIN["arousal"]}
        answers = [_shown(path, folder) for path in found.answers]
        told += [f"{path.name}: answers of a model (pred_text)" for path in found.answers]
        kind = kind or ("predictions" if answers or not about.audio else "python")
        rows = [] if sample is None else [name for name in about.frame["file"].head(ROWS) if name]
        declared, title = about.declared, f"Models on {corpus}"
        if sample is not None and not sample.part and found.format != "parquet":
            _check(corpus, found, sample, about)
    model = model_text(kind or "python", tasks, corpus, rows, answers)
    text = HEAD.replace("TITLE", scalar(title)) + corpora + "\n" + _declared(declared)
    text += "models:\n  mine:\n" + indented(model.entry, 4) + _random(tasks) + TAIL
    starter.write_files(folder, {"suite.yml": text, **model.files}, "Choose another folder")
    names = " and ".join(["suite.yml", *model.files])
    first = f"{model.missing}, then: " if model.missing else ""
    return "\n".join([*told, f"Wrote {names}. Next: {first}soundcheck run {folder / 'suite.yml'}"])


def _check(name: str, found: Found, sample: Sample, about: Understanding) -> None:
    """Refuse data that a run would refuse, before a suite is written."""
    with tempfile.TemporaryDirectory() as folder:
        text = HEAD + _corpus(Path(folder), name, found, sample, about) + _declared(about.declared)
        file = Path(folder) / "suite.yml"
        file.write_text(text + "models: {any: {random: gaussian}}\nfamilies: all\n", encoding="utf-8")
        suite = read_suite(file)
        entry, form = suite.corpora[name], CORPUS_FORMATS[found.format]
        parse(prepare(form.read(entry, suite.tasks), entry, form.values), entry, suite.tasks)


def _of_trials() -> Understanding:
    return Understanding(tasks={"embedding": BUILTIN["embedding"]})


def _name(found: Found) -> str:
    """Name a corpus by its folder or file."""
    folder = found.path if found.path.is_dir() else found.path.parent
    text = re.sub(r"[^\w-]+", "-", folder.resolve().name).strip("-") or "data"
    return text if text[0].isalpha() else f"data-{text}"


def _shown(place: Path, folder: Path) -> str:
    """Write a path relative to the suite."""
    return Path(os.path.relpath(place.absolute(), folder.absolute())).as_posix()


def _corpus(folder: Path, name: str, found: Found, sample: Sample | None, about: Understanding) -> str:
    """Write the entry of a corpus."""
    lines = [f"format: {found.format} # {found.why}", f"path: {scalar(_shown(found.path, folder))}"]
    if found.others:
        others = ", ".join(other.name for other in found.others[:5])
        lines.append(f"# path: could also be {others}{', ...' if len(found.others) > 5 else ''}")
    lines += [f"{key}: {flow(value)}" for key, value in found.keys.items()]
    if about.root is not None:
        lines.append(f"root: {scalar(_shown(about.root, folder))} # that files are relative to")
    if about.cut:
        lines.append(f"cut: {scalar(about.cut)} # from the beginning of the names of files")
    if not about.audio:
        lines.append("audio: false # most of the first files are not there; remove it once they are")
    if sample is not None:
        lines += _understood(sample, about)
    keys = CORPUS_FORMATS[found.format].keys.model_fields
    lines = [line for line in lines if line.startswith("#") or line.partition(":")[0] in keys]
    lines += ["# description: what readers of the book should know about it"]
    lines += _families(about)
    return f"corpora:\n  {scalar(name)}:\n" + indented("\n".join(lines), 4) + "\n"


def _understood(sample: Sample, about: Understanding) -> list[str]:
    """Write what columns mean."""
    frame = sample.frame
    ours = {*RESERVED_COLUMNS, *BUILTIN} & {*frame}
    others = [frame[name] for name in frame if name not in ours]
    again = {name for name in ours if any(frame[name].equals(other) for other in others)}
    theirs = [name for name in frame if name not in {*about.columns, *again}]
    lines = [f"# columns in {sample.shown_rows}: {', '.join(map(str, theirs))}"]
    if about.columns:
        lines.append(f"columns: {flow(about.columns)} # our name: theirs")
    if about.values:
        lines.append(f"values: {flow(about.values)} # what their words mean")
    if about.ranges:
        lines.append(f"range: {flow(about.ranges)} # {GUESSED}")
    if about.splits:
        counts = ", ".join(f"{name or 'none'} ({count})" for name, count in about.splits.items())
        kinds = kinds_of(about.splits, {})
        found = pick(kinds, None) or [likely(kinds)]
        chosen = found[0] if len(found) == 1 else ALL
        several = "# " if 1 < len(found) < len(kinds) else ""  # test sets, evaluated together without it
        lines.append(f"{several}split: {scalar(chosen)} # there are {counts}")
    if about.groups:
        lines.append(f"groups: {flow(about.groups)} # compared beside sex, accent and language")
    return lines


def _declared(declared: dict[str, Task]) -> str:
    """Write tasks that are not built in."""
    if not declared:
        return ""
    lines = []
    for task in declared.values():
        more = {"range": (task.low, task.high)} if task.is_regression else {"classes": task.classes}
        guessed = f" # {GUESSED}" if task.is_regression else ""
        lines.append(f"  {task.name}: {flow({'type': task.kind, **more})}{guessed}")
    return "tasks:\n" + "\n".join(lines) + "\n\n"


def _random(tasks: dict[str, Task]) -> str:
    """Write random references: a test that they pass tells little."""
    text = ""
    for name, regression in (("gaussian", True), ("categorical", False)):
        own = [task.name for task in tasks.values() if task.is_labelled and task.is_regression == regression]
        if own:
            text += f"  random-{name}: # guesses: a test that it passes tells little\n"
            text += f"    random: {name}\n    tasks: {flow(own)}\n"
    return text


def _families(about: Understanding) -> list[str]:
    """Say, as comments, which families have something to test here and which have not."""
    if about.frame.empty:
        return []
    fit, unfit = [], []
    for name in resources.names("thresholds", ".yml"):
        family = read_family(name, Path())
        why = [
            obstacle(family, task, about.frame, audio=about.audio)
            for task in about.tasks.values()
            if family.applies_to(task)
        ]
        if "" in why:
            fit.append(name)
        elif why:
            unfit.append(f"{name} ({why[0]})")
    lines = ["# Families that have something to test here:"]
    lines += [f"#   {name}" for name in fit] or ["#   none"]
    return lines + ["# Not:"] * bool(unfit) + [f"#   {text}" for text in unfit]
