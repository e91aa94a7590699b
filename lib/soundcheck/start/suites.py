"""Writes what ``soundcheck init`` begins with: a suite for a model, data or both, or a family of tests."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from soundcheck.common import files, resources, templates
from soundcheck.common.messages import InputError, Problem, did_you_mean, flow, input_error, quoted, some
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.corpora.segments import parse, prepare
from soundcheck.corpora.splits import ALL, kinds_of, likely, pick
from soundcheck.evaluation.evaluation import obstacle
from soundcheck.start.detect import DetectedFormat, InferredColumns, detect_format, infer_columns
from soundcheck.suite.corpus_format import CORPUS_FORMATS, RESERVED_COLUMNS
from soundcheck.suite.schema import keys_of
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

KINDS = ("python", "command", "endpoint", "onnx", "onnx-asr", "transformers", "predictions")
RECOGNISERS = ("endpoint", "onnx-asr")  # kinds that give transcripts and nothing else
GUESSED = "guessed: write the lowest and highest possible label, not those that occur"
ROWS = 2000  # of a table of predictions to fill in


def write_suite(folder: Path, kind: str | None, data: Path | None) -> str:
    """Write ``suite.yml`` and what its model needs into a folder, never overwriting; says what to do next.

    Without a kind the model is a Python function, or a table if there is nothing to hear; without data the
    corpus is the demo. InputError: if the kind or the format is not known, the data cannot be read, or a file
    is there already.
    """
    if kind is not None and kind not in KINDS:
        raise input_error(f"--model {quoted(kind)}", "no such kind of model", did_you_mean(kind, KINDS))
    detected = None if data is None else detect_format(data.absolute())
    inferred, remarks = InferredColumns(), []
    if detected is None:
        task = BUILTIN["transcript" if kind in (*RECOGNISERS, "command") else "arousal"]
    else:
        task = BUILTIN["embedding" if detected.format == "trials" else "arousal"]
        inferred = inferred if detected.format == "trials" else infer_columns(detected, data.absolute())
        remarks = [f"{data}: format {detected.format} ({detected.why})"]
        remarks += [f"{path.name}: predictions of a model (pred_text)" for path in detected.predictions]
    inferred.tasks = inferred.tasks or {task.name: task}
    predicted = [_relative(path, folder) for path in detected.predictions] if detected else []
    kind = kind or ("predictions" if predicted or not inferred.audio else "python")
    if detected and detected.format not in ("trials", "parquet"):
        _check(detected, inferred)
    tasks = {"transcript": BUILTIN["transcript"]} if kind in RECOGNISERS else inferred.tasks
    written = {"suite.yml": _suite(folder, detected, inferred, kind, tasks, predicted)}
    written |= _model_files(kind, tasks, inferred, predicted)
    write_files(folder, written, "Choose another folder")
    given = len(written) > 1 or predicted
    first = "" if given else f"name your model under {kind}: in it, then: "
    names = " and ".join(written)
    return "\n".join([*remarks, f"Wrote {names}. Next: {first}soundcheck run {folder / 'suite.yml'}"])


def write_files(folder: Path, contents: Mapping[str, str], remedy: str) -> None:
    """Write all files, or none if one of them is there already."""
    for name in contents:
        files.refuse_link(folder / name, name.count("/"))
    existing = [folder / name for name in contents if (folder / name).exists()]
    if existing:
        raise InputError(Problem(str(path), "the file exists already", remedy) for path in existing)
    files.write_all({folder / name: text for name, text in contents.items()})


def _suite(
    folder: Path | None,
    detected: DetectedFormat | None,
    inferred: InferredColumns,
    kind: str,
    tasks: Mapping[str, Task],
    predicted: list[str],
) -> str:
    labelled = [task for task in inferred.tasks.values() if task.is_labelled]
    outputs = next(({name: task.classes} for name, task in tasks.items() if task.classes), list(tasks))
    name = "demo" if detected is None else _name(detected.path)
    lines = [] if detected is None else _corpus_lines(folder, detected, inferred)
    return templates.text(
        "start/suite.yml",
        flow,
        title="My models" if detected is None else f"Models on {name}",
        corpus=name,
        lines=[templates.ready(" ".join(line.splitlines())) for line in lines],
        declared=[task for task in inferred.tasks.values() if task.name not in BUILTIN],
        guessed=templates.ready(GUESSED),
        kind=kind,
        tasks=list(tasks),
        outputs={"output": outputs},
        predictions=predicted or ["predictions.csv"],
        has_numbers=any(task.is_regression for task in tasks.values()),
        has_words=any(task.is_transcription for task in tasks.values()),
        has_labels=any(task.is_labelled for task in tasks.values()),
        random={  # a test that they pass tells little
            "gaussian": [task.name for task in labelled if task.is_regression],
            "categorical": [task.name for task in labelled if not task.is_regression],
        },
    )


# The corpus -------------------------------------------------------------------------------------------------


def _check(detected: DetectedFormat, inferred: InferredColumns) -> None:
    """Refuse data that a run would refuse, before a suite is written."""
    with tempfile.TemporaryDirectory() as folder:
        text = _suite(None, detected, inferred, "predictions", inferred.tasks, [])
        write_files(Path(folder), {"suite.yml": text, "predictions.csv": ""}, "")
        suite = read_suite(Path(folder, "suite.yml"))
        (entry,), form = suite.corpora.values(), CORPUS_FORMATS[detected.format]
        parse(prepare(form.read(entry, suite.tasks), entry, form.values), suite.tasks)


def _name(path: Path) -> str:
    """Name a corpus by its folder."""
    folder = path if path.is_dir() else path.parent
    text = re.sub(r"[^\w-]+", "-", folder.resolve().name).strip("-") or "data"
    return text if text[0].isalpha() else f"data-{text}"


def _relative(place: Path, folder: Path | None) -> str:
    """Name a place as seen from the folder of the suite; without one, as messages call it."""
    return Path(os.path.relpath(place, folder) if folder else os.path.abspath(place)).as_posix()


def _corpus_lines(folder: Path | None, detected: DetectedFormat, inferred: InferredColumns) -> list[str]:
    """Write the entry of a corpus, without keys that its format does not know."""
    frame, known = inferred.frame, keys_of(CORPUS_FORMATS[detected.format].keys)
    counts = ", ".join(f"{name or 'none'} ({count})" for name, count in inferred.splits.items())
    kinds = kinds_of(inferred.splits, {})
    chosen = (pick(kinds, None) or [likely(kinds)]) if kinds else [""]
    several = 1 < len(chosen) < len(kinds)  # test sets, evaluated together without the key
    meant = {  # key -> its value, and what it means
        "path": (_relative(detected.path, folder), ""),
        **{key: (value, "") for key, value in detected.keys.items()},
        "root": (inferred.root and _relative(inferred.root, folder), "that files are relative to"),
        "cut": (inferred.cut, "from the beginning of the names of files"),
        "audio": (inferred.audio, "most of the first files are not there; remove it once they are"),
        "columns": (inferred.columns, "our name: theirs"),
        "values": (inferred.values, "what their words mean"),
        "range": (inferred.ranges, GUESSED),
        "split": (counts and (chosen[0] if len(chosen) == 1 else ALL), f"there are {counts}"),
        "groups": (inferred.groups, "compared beside sex, accent and language"),
    }
    lines = [f"format: {detected.format} # {detected.why}"]
    lines += [
        f"{'# ' * (key == 'split' and several)}{key}: {flow(value)}{' # ' * bool(remark)}{remark}"
        for key, (value, remark) in meant.items()
        if key in known and bool(value) == (key != "audio")
    ]
    if others := [other.name for other in detected.others]:
        lines.insert(2, f"# path: could also be {some(others, 5)}")
    if not frame.empty:
        ours = {*RESERVED_COLUMNS, *BUILTIN} & {*frame}
        given = [frame[name] for name in frame if name not in {*ours, *inferred.columns}]
        repeated = {name for name in ours if any(frame[name].equals(other) for other in given)}
        theirs = [str(name) for name in frame if name not in {*inferred.columns, *repeated}]
        lines.append(f"# columns in {'the first ' * inferred.part}{len(frame)} rows: {', '.join(theirs)}")
    lines.append("# description: what readers of the book should know about it")
    return lines + _families(inferred) * (not frame.empty)


def _families(inferred: InferredColumns) -> list[str]:
    """Say, as comments, which families have something to test here and which have not."""
    fit, unfit = [], []
    for name in resources.names("thresholds", ".yml"):
        family = read_family(name, Path())
        why = [
            obstacle(family, task, inferred, predicts_changes=True)
            for task in inferred.tasks.values()
            if family.applies_to(task)
        ]
        if "" in why:
            fit.append(name)
        elif why:
            unfit.append(f"{name} ({why[0]})")
    lines = ["# Families that have something to test here:", *(f"#   {name}" for name in fit or ["none"])]
    return lines + ["# Not:"] * bool(unfit) + [f"#   {text}" for text in unfit]


# The model --------------------------------------------------------------------------------------------------


def _model_files(
    kind: str, tasks: Mapping[str, Task], inferred: InferredColumns, predicted: list[str]
) -> dict[str, str]:
    """Write the files that a model needs beside the suite, to be replaced or filled in."""
    if kind == "python":
        values = {name: _code(task) for name, task in tasks.items()}
        return {"my_model.py": templates.text("start/my_model.py", str, predicted=values)}
    if kind == "command":
        values = {name: _value(task) for name, task in tasks.items()}
        printed = '""' if list(tasks) == ["transcript"] else f"json.dumps({values!r})"
        return {"my_program.py": templates.text("start/my_program.py", str, printed=printed)}
    if kind == "predictions" and not predicted and "file" in inferred.frame:
        table = inferred.frame[["file"]].head(ROWS).dropna().reindex(columns=["file", *tasks])
        return {"predictions.csv": table.to_csv(index=False, lineterminator="\n")}
    return {}


def _value(task: Task) -> object:
    """Give a prediction without meaning."""
    number = (task.low + task.high) / 2 if task.is_regression else ""
    return [1.0, 0.5] if task.is_embedding else task.classes[0] if task.classes else number


def _code(task: Task) -> str:
    """Write Python code of a prediction; numbers grow with the loudness."""
    if task.is_embedding:
        return "np.array([1.0, signal.std()])"
    if task.is_regression:
        return f"{task.low:g} + {task.high - task.low:g} * loudness".removeprefix("0 + 1 * ")
    return json.dumps(_value(task), ensure_ascii=False)


# A family of tests ------------------------------------------------------------------------------------------

_FAMILY_NAME = re.compile("[A-Za-z][A-Za-z0-9_]{0,39}")


def write_family(folder: Path, name: str, like: str = "") -> str:
    """Write the three files of a family of tests, ready to run, beside a suite; never overwrites.

    - ``name``: name of the family: up to 40 letters, digits and underscores, a letter first.
    - ``like``: the shipped family that it is a copy of; by default one with a single measure.
    - Raises InputError: if the name cannot be used or is that of a family, or if one of the files is there
      already.
    """
    where, shipped = f"--family {quoted(name)}", resources.names("thresholds", ".yml")
    if not _FAMILY_NAME.fullmatch(name) or name.lower() in ("all", "null"):
        remedy = "Use up to 40 letters (a to z), digits and underscores, a letter first"
        raise input_error(where, "this cannot be the name of a family", remedy)
    notebooks = {path.stem for path in (resources.root() / "notebooks").glob("*.ipynb")}
    if name.lower() in {known.lower() for known in shipped} | notebooks:
        raise input_error(where, "Soundcheck has something of this name already", "Choose another name")
    if like and like not in shipped:
        raise input_error(f"--like {quoted(like)}", "no such family", did_you_mean(like, shipped))
    if not folder.is_dir():
        raise input_error(str(folder), "the folder does not exist", "Name the folder of your suite.yml")
    root = resources.root() if like else templates.FOLDER / "start" / "family"
    title = name.replace("_", " ").capitalize()
    changes = {  # file -> what is written in place of a pattern, where it comes first
        "thresholds/{}.yml": {r"(?m)^family: .*$": f"family: {name}", r"(?m)^title: .*$": f"title: {title}"},
        "notebooks/{}.ipynb": {r'"# [^"\\]*': f'"# {title}'},
        "book/methods/{}.md": {r"(?m)^# .*$": f"# {title}"},
    }
    written = {}
    for file, patterns in changes.items():
        text = (root / file.format(like or "NAME")).read_text("utf-8")
        for pattern, replacement in patterns.items():
            text = re.sub(pattern, replacement, text, count=1)
        written[file.format(name)] = text
    write_files(folder, written, "Choose another name")
    suite = folder / "suite.yml"
    return (
        f"Wrote {', '.join(written)}. Next: add {name} to families: in {suite} (families: all includes it), "
        f"then soundcheck run {suite}"
    )
