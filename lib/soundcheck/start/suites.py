"""Writes a suite for a kind of model, for data that it recognises, or for both: ``soundcheck init``."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from soundcheck.common import resources, templates
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.common.yaml_text import flow, scalar
from soundcheck.corpora.segments import parse
from soundcheck.corpora.splits import ALL, kinds_of, likely, pick
from soundcheck.corpora.table_keys import prepare
from soundcheck.evaluation.eligibility import obstacle
from soundcheck.start.recognise import Found, recognise
from soundcheck.start.sample import Sample, read_sample
from soundcheck.start.understand import Understanding, understand
from soundcheck.suite import starter
from soundcheck.suite.corpus_format import CORPUS_FORMATS, RESERVED_COLUMNS
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

KINDS = ("python", "command", "endpoint", "onnx", "onnx-asr", "transformers", "predictions")
SPEECH = ("endpoint", "onnx-asr", "command")  # kinds that write words of the demo's commands
TASKS_OF = {"endpoint": ("transcript",), "onnx-asr": ("transcript",)}  # that a kind is for
GUESSED = "guessed: write the lowest and highest possible label, not those that occur"
ROWS = 2000  # of a table of predictions to fill in
_SCALE = "# range: [1, 7] # lowest and highest possible answer, if not that of the task"


@dataclasses.dataclass
class _Corpus:
    """The corpus of a suite; as it is, the demo."""

    name: str = "demo"
    lines: list[str] | None = None  # of its entry; None: the template has them
    tasks: Mapping[str, Task] = dataclasses.field(default_factory=dict)
    declared: Mapping[str, Task] = dataclasses.field(default_factory=dict)  # those that are not built in
    rows: Sequence[str] = ()  # its first files
    answers: Sequence[str] = ()  # paths of predictions that are there
    audio: bool = True
    remarks: Sequence[str] = ()  # for the terminal


def write_suite(folder: Path, kind: str | None, data: Path | None) -> str:
    """Write ``suite.yml`` and what its model needs into a folder, never overwriting; says what to do next.

    Without a kind the model is a Python function, or a table if there is nothing to hear; without data the
    corpus is the demo.

    Raises InputError: if the kind or the format is not known, the data cannot be read, or a file is there
    already.
    """
    if kind is not None and kind not in KINDS:
        raise input_error(f"--model {quoted(kind)}", "no such kind of model", did_you_mean(kind, KINDS))
    if data is None:
        task = BUILTIN["transcript" if kind in SPEECH else "arousal"]
        corpus, title = _Corpus(tasks={task.name: task}), "My models"
    else:
        corpus = _corpus(folder, data)
        title = f"Models on {corpus.name}"
    kind = kind or ("predictions" if corpus.answers or not corpus.audio else "python")
    entry, written, missing = _model(kind, corpus)
    text = _suite(corpus, title=title, entry=entry, speech=kind in SPEECH, random=_random(corpus.tasks))
    starter.write_files(folder, {"suite.yml": text, **written}, "Choose another folder")
    first = f"{missing}, then: " if missing else ""
    names = " and ".join(["suite.yml", *written])
    return "\n".join([*corpus.remarks, f"Wrote {names}. Next: {first}soundcheck run {folder / 'suite.yml'}"])


def _suite(corpus: _Corpus, *, entry: Sequence[str] | None, **context: object) -> str:
    about = {"corpus": corpus.name, "lines": None, "entry": None, "declared": list(corpus.declared.values())}
    for name, lines in (("lines", corpus.lines), ("entry", entry)):
        if lines is not None:
            about[name] = [templates.ready(line) for line in lines]
    return templates.text("start/suite.yml", flow, guessed=templates.ready(GUESSED), **about, **context)


def _random(tasks: Mapping[str, Task]) -> dict[str, list[str]]:
    """Name the tasks of random references: a test that they pass tells little."""
    labelled = [task for task in tasks.values() if task.is_labelled]
    return {
        "gaussian": [task.name for task in labelled if task.is_regression],
        "categorical": [task.name for task in labelled if not task.is_regression],
    }


# Data -------------------------------------------------------------------------------------------------------


def _corpus(folder: Path, data: Path) -> _Corpus:
    """Recognise data, and write the entry of a corpus."""
    found = recognise(data.absolute())
    inside = found.format == "parquet"  # tables that hold the sounds
    sample = None if found.format == "trials" else read_sample(found)
    about = Understanding(tasks={"embedding": BUILTIN["embedding"]})
    if sample is not None:
        about = understand(sample, data.absolute(), sounds_inside=inside)
    corpus = _Corpus(
        name=_name(found),
        lines=_lines(folder, found, sample, about),
        tasks=about.tasks or {"arousal": BUILTIN["arousal"]},
        declared=about.declared,
        rows=[] if sample is None else [name for name in about.frame["file"].head(ROWS) if name],
        answers=[_shown(path, folder) for path in found.answers],
        audio=about.audio,
        remarks=[
            f"{data}: format {found.format} ({found.why})",
            *(f"{path.name}: answers of a model (pred_text)" for path in found.answers),
        ],
    )
    if sample is not None and not sample.part and not inside:
        with tempfile.TemporaryDirectory() as place:
            _check(found, dataclasses.replace(corpus, lines=_lines(Path(place), found, sample, about)), place)
    return corpus


def _check(found: Found, corpus: _Corpus, folder: str) -> None:
    """Refuse data that a run would refuse, before a suite is written."""
    file = Path(folder) / "suite.yml"
    file.write_text(_suite(corpus, title="data", entry=None, speech=False, random={}), encoding="utf-8")
    suite = read_suite(file)
    entry, form = suite.corpora[corpus.name], CORPUS_FORMATS[found.format]
    parse(prepare(form.read(entry, suite.tasks), entry, form.values), entry, suite.tasks)


def _name(found: Found) -> str:
    """Name a corpus by its folder or file."""
    folder = found.path if found.path.is_dir() else found.path.parent
    text = re.sub(r"[^\w-]+", "-", folder.resolve().name).strip("-") or "data"
    return text if text[0].isalpha() else f"data-{text}"


def _shown(place: Path, folder: Path) -> str:
    """Write a path relative to the suite."""
    return Path(os.path.relpath(place.absolute(), folder.absolute())).as_posix()


def _lines(folder: Path, found: Found, sample: Sample | None, about: Understanding) -> list[str]:
    """Write the entry of a corpus, without keys that its format does not know."""
    path = scalar(_shown(found.path, folder))
    entry = {"format": f"{found.format} # {found.why}", "path": path, "# path": _others(found)}
    entry |= {key: flow(value) for key, value in found.keys.items()}
    if about.root is not None:
        entry["root"] = f"{scalar(_shown(about.root, folder))} # that files are relative to"
    if about.cut:
        entry["cut"] = f"{scalar(about.cut)} # from the beginning of the names of files"
    if not about.audio:
        entry["audio"] = "false # most of the first files are not there; remove it once they are"
    if sample is not None:
        entry |= _columns(sample, about)
    keys = CORPUS_FORMATS[found.format].keys.model_fields
    lines = [f"{key}: {text}" for key, text in entry.items() if text and (key in keys or key[0] == "#")]
    lines.append("# description: what readers of the book should know about it")
    return [*lines, *_families(about)]


def _others(found: Found) -> str:
    if not found.others:
        return ""
    more = ", ..." if len(found.others) > 5 else ""
    return f"could also be {', '.join(other.name for other in found.others[:5])}{more}"


def _columns(sample: Sample, about: Understanding) -> dict[str, str]:
    """Write what columns mean."""
    frame = sample.frame
    ours = {*RESERVED_COLUMNS, *BUILTIN} & {*frame}
    others = [frame[name] for name in frame if name not in ours]
    again = {name for name in ours if any(frame[name].equals(other) for other in others)}
    theirs = [str(name) for name in frame if name not in {*about.columns, *again}]
    entry = {f"# columns in {sample.shown_rows}": ", ".join(theirs)}
    remarks = {"columns": "our name: theirs", "values": "what their words mean", "range": GUESSED}
    meant = {"columns": about.columns, "values": about.values, "range": about.ranges}
    entry |= {key: f"{flow(value)} # {remarks[key]}" for key, value in meant.items() if value}
    if about.splits:
        counts = ", ".join(f"{name or 'none'} ({count})" for name, count in about.splits.items())
        kinds = kinds_of(about.splits, {})
        found = pick(kinds, None) or [likely(kinds)]
        chosen = found[0] if len(found) == 1 else ALL
        several = "# " if 1 < len(found) < len(kinds) else ""  # test sets, evaluated together without it
        entry[f"{several}split"] = f"{scalar(chosen)} # there are {counts}"
    if about.groups:
        entry["groups"] = f"{flow(about.groups)} # compared beside sex, accent and language"
    return entry


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


# Models -----------------------------------------------------------------------------------------------------


def _model(kind: str, corpus: _Corpus) -> tuple[list[str], dict[str, str], str]:
    """Write the entry of a model, the files that it needs beside the suite, and what has to be put there."""
    tasks = {name: corpus.tasks.get(name, BUILTIN.get(name)) for name in TASKS_OF.get(kind, corpus.tasks)}
    text = (templates.FOLDER / "start" / f"{kind}.yml").read_text("utf-8")
    text = text.replace("TASKS", flow(list(tasks))).replace("OUTPUTS", flow({"output": _numbers(tasks)}))
    written, missing = {}, ""
    if kind == "python":
        answers = ", ".join(f'"{name}": {_answer(task, code=True)}' for name, task in tasks.items())
        written["my_model.py"] = templates.text("start/my_model.py", str, answers=f"{{{answers}}}")
    elif kind == "command":
        answers = {name: _answer(task) for name, task in tasks.items()}
        printed = '""' if list(tasks) == ["transcript"] else f"json.dumps({answers!r})"
        written["my_program.py"] = templates.text("start/my_program.py", str, answers=printed)
    elif kind == "predictions" and corpus.answers:
        first, *more = map(scalar, corpus.answers)
        line = f"predictions: {first}" + (f" # there are also {', '.join(more)}" if more else "")
        text = text.replace("predictions: predictions.csv", line)
    elif kind == "predictions" and corpus.rows:
        lines = [",".join(["file", *tasks]), *(_cell(name) + "," * len(tasks) for name in corpus.rows)]
        written["predictions.csv"] = "\n".join(lines) + "\n"
    else:
        target = text.partition(f"\n{kind}: ")[2].partition("\n")[0]
        what = f"put {target} beside suite.yml, or name your own"
        missing = f"{'start the service' if kind == 'endpoint' else what} ({kind}:)"
    lines = text.splitlines()
    if not any(task.is_regression for task in tasks.values()):
        lines.remove(_SCALE) if _SCALE in lines else None
    return [*lines, *_common_keys(kind, corpus.name, tasks)], written, missing


def _common_keys(kind: str, corpus: str, tasks: Mapping[str, Task]) -> Iterator[str]:
    """Give a comment for each key that all kinds have, as far as it means something here."""
    yield "# description: what readers of the book should know about it"
    yield "# license: MIT"
    yield f"# corpora: [{corpus}] # that it is asked about; default: all"
    yield "# families: [fairness_sex] # that test it; default: all that fit"
    yield "# card: {intended_use: calls of customers, owner: us} # what people know, for soundcheck card"
    if kind != "predictions":
        yield "# time_limit: 60 # seconds that a call may take"
    if any(task.is_transcription for task in tasks.values()):
        yield "# missing: left out # inputs without an answer; default: error, their words count as missed"
    if any(task.is_labelled for task in tasks.values()):
        yield "# values: {emotion: {angry: anger}} # the class that a word in answers means"


def _numbers(tasks: Mapping[str, Task]) -> object:
    """Say what the numbers of an output may be: scores of classes, an embedding, or numbers of tasks."""
    for name, task in tasks.items():
        if task.is_embedding:
            return name
        if task.classes:
            return {name: task.classes}
    return list(tasks)


def _answer(task: Task, code: bool = False) -> object:
    """Give an answer without meaning, as a value or as Python code."""
    if task.is_embedding:
        return "np.array([1.0, signal.std()])" if code else [1.0, 0.5]
    if task.is_transcription:
        value: object = ""
    else:
        value = (task.low + task.high) / 2 if task.is_regression else task.classes[0]
    return json.dumps(value, ensure_ascii=False) if code else value


def _cell(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n\r') else name
