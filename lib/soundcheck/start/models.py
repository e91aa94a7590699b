"""Entries of models for a suite to start from: one for each kind, with a comment for each of its keys."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.common.yaml_text import flow, scalar

LIMIT = "# time_limit: 60 # seconds that a call may take\n"
VALUES = "# values: {emotion: {angry: anger}} # the class that a word in answers means\n"
MISSING = "# missing: left out # inputs without an answer; default: error, their words count as missed\n"
COMMON = """
# description: what readers of the book should know about it
# license: MIT
# corpora: [CORPUS] # that it is asked about; default: all
# families: [FAMILY] # that test it; default: all that fit
# card: {intended_use: calls of customers, owner: us} # what people know, for soundcheck card
"""
SCALE = "# range: [1, 7] # lowest and highest possible answer, if not that of the task\n"
KINDS = ("python", "command", "endpoint", "onnx", "onnx-asr", "transformers", "predictions")
TASKS_OF = {"endpoint": ("transcript",), "onnx-asr": ("transcript",)}  # that a kind is for

MODEL = '''"""A model to replace by yours: its answers say nothing."""

import numpy as np


def predict(signal, sampling_rate):
    """Predict from one signal: float32, shape (samples,), mono, 16000 Hz."""
    return {ANSWERS}
'''
PROGRAM = '''"""A program to replace by yours: its answers say nothing. The WAV file is its only argument."""

import json
import sys
import wave

with wave.open(sys.argv[1]) as audio:  # 16 bit, one channel, 16000 Hz
    samples = audio.readframes(audio.getnframes())
print(ANSWERS)
'''


@dataclasses.dataclass(frozen=True)
class ModelText:
    """A model as a suite to start from names it."""

    entry: str  # YAML, without indentation
    files: dict[str, str]  # name -> content of files beside the suite that it needs
    missing: str = ""  # what has to be put there before anything can run; empty if nothing


def model_text(
    kind: str, tasks: Mapping[str, Task], corpus: str, rows: Sequence[str] = (), answers: Sequence[str] = ()
) -> ModelText:
    """Write the entry of a model."""
    wanted = {name: tasks.get(name, BUILTIN.get(name)) for name in TASKS_OF.get(kind, tasks)}
    names = flow(list(wanted))
    text = Path(__file__).with_name("entries").joinpath(f"{kind}.yml").read_text("utf-8")
    text += COMMON.lstrip().replace("CORPUS", corpus)
    text += "" if kind == "predictions" else LIMIT
    text += MISSING if any(task.is_transcription for task in wanted.values()) else ""
    text += VALUES if any(task.is_labelled for task in wanted.values()) else ""
    text = text.replace("TASKS", names).replace("OUTPUTS", flow({"output": _numbers(wanted)}))
    if not any(task.is_regression for task in wanted.values()):
        text = text.replace(SCALE, "")
    text = text.replace("FAMILY", "fairness_sex")
    if kind == "python":
        answers = ", ".join(f'"{name}": {_answer(task, code=True)}' for name, task in wanted.items())
        return ModelText(text, {"my_model.py": MODEL.replace("{ANSWERS}", f"{{{answers}}}")})
    if kind == "command":
        answers = {name: _answer(task) for name, task in wanted.items()}
        printed = '""' if list(wanted) == ["transcript"] else f"json.dumps({answers!r})"
        return ModelText(text, {"my_program.py": PROGRAM.replace("ANSWERS", printed)})
    if kind == "predictions" and answers:
        first, *more = map(scalar, answers)
        line = f"predictions: {first}" + (f" # there are also {', '.join(more)}" if more else "")
        return ModelText(text.replace("predictions: predictions.csv", line), {})
    if kind == "predictions" and rows:
        lines = [",".join(["file", *wanted]), *(_cell(name) + "," * len(wanted) for name in rows)]
        return ModelText(text, {"predictions.csv": "\n".join(lines) + "\n"})
    target = text.partition(f"\n{kind}: ")[2].partition("\n")[0]
    what = "start the service" if kind == "endpoint" else f"put {target} beside suite.yml, or name your own"
    return ModelText(text, {}, f"{what} ({kind}:)")


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


def indented(text: str, by: int) -> str:
    """Indent lines that are not empty."""
    return textwrap.indent(text, " " * by)
