"""Entries of models for a suite to start from: one for each kind, with a comment for each of its keys."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Mapping, Sequence

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.common.yaml_text import flow, scalar

LIMIT = "# time_limit: 60 # seconds that a call may take\n"
VALUES = "# values: {emotion: {angry: anger}} # the class that a word in answers means\n"
COMMON = """
# description: what readers of the book should know about it
# license: MIT
# corpora: [CORPUS] # that it is asked about; default: all
# families: [FAMILY] # that test it; default: all that fit
# card: {intended_use: calls of customers, owner: us} # what people know, for soundcheck card
"""
FILES = "# files: [weights] # further files that its answers rest on; if they change, it is asked anew\n"
BATCH = "# batch: 8 # signals a call\n"
SCALE = "# range: [1, 7] # lowest and highest possible answer, if not that of the task\n"
TEXTS = {
    "python": """
# A function of one signal, in my_model.py beside this file; a class is written module:Class.predict.
python: "my_model:predict"
tasks: TASKS
"""
    + BATCH
    + SCALE
    + FILES,
    "command": """
# A program that prints what it hears; {audio} stands for a WAV file of 16 kHz.
command: "python3 my_program.py {audio}"
tasks: TASKS # a transcript is printed as it is, anything else as an object: {"arousal": 0.4}
# stays: true # it is started once, reads a line a signal and answers a line; then without {audio}
"""
    + BATCH
    + SCALE
    + FILES,
    "endpoint": """
# A service that takes a recording and answers its words, as OpenAI's does. Recordings are sent to it.
endpoint: http://localhost:8000/v1/audio/transcriptions
tasks: [transcript]
# model: whisper-1 # that the service is asked for
# language: en
# key: $ASR_KEY # the environment variable that holds the secret, never the secret itself
# requests: 4 # at a time
# most_requests: 10000 # a limit of cost
# confidence: true # it says how sure it is of a transcript, too, where it knows
"""
    + FILES,
    "onnx": """
# An ONNX file, or a folder of audonnx; needs pip install "soundcheck-speech[onnx]".
onnx: model.onnx
tasks: TASKS
# outputs: OUTPUTS # what the numbers of an output are, in their order
# labels: {ang: anger, oth: } # the class that a label means; nothing: it does not count
sampling_rate: 16000 # that the graph expects; no graph tells, and a wrong one ruins every answer
# probabilities: softmax # or given, what scores of classes are; they are tested, too
# pieces: repeat # or zeros, how short signals are filled up if it takes a fixed number of samples
# device: cpu # or cuda
"""
    + BATCH
    + SCALE
    + FILES,
    "onnx-asr": """
# A folder with a recogniser of onnx-asr: Parakeet, Canary, Whisper, ...; needs
# pip install "soundcheck-speech[onnx-asr]".
onnx-asr: model-folder
tasks: [transcript]
# architecture: nemo-conformer-ctc # if the folder's config.json does not say
# quantization: int8 # model.int8.onnx instead of model.onnx
# language: en
# confidence: true # it says how sure it is of a transcript, too, where it knows
# device: cpu # or cuda
"""
    + BATCH
    + FILES,
    "transformers": """
# A folder of Hugging Face Transformers, already downloaded; needs
# pip install "soundcheck-speech[transformers]".
transformers: model-folder
tasks: TASKS
# labels: {ang: anger, oth: } # the class that a label means; nothing: it does not count
# outputs: [arousal, dominance, valence] # what the numbers of a regression head are
# probabilities: softmax # of classes, which are tested, too
# language: en # of speech-to-text models
# confidence: true # it says how sure it is of a transcript, too, where it knows
# pooling: mean # of the frames of an encoder, as an embedding
# device: cpu # or cuda, mps
# trust_remote_code: true # runs code that lies in the folder
"""
    + BATCH
    + SCALE
    + FILES,
    "predictions": """
# Answers that you have: a table with the columns file, (start, end) and one for each task; transcripts also
# as .trn, Kaldi's text, JSON lines of NeMo, STM, CTM or SegLST.
predictions: predictions.csv
# columns: {file: path} # our name: the name in your table
tasks: TASKS
"""
    + SCALE,
}
KINDS = tuple(TEXTS)
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
    """A model as a suite to start from names it.

    Parameters
    ----------
    entry
        YAML, without indentation.
    files
        Name -> content of files beside the suite that it needs.
    missing
        What has to be put there before anything can run; empty if nothing.
    """

    entry: str
    files: dict[str, str]
    missing: str = ""


def model_text(
    kind: str, tasks: Mapping[str, Task], corpus: str, rows: Sequence[str] = (), answers: Sequence[str] = ()
) -> ModelText:
    """Write the entry of a model.

    Parameters
    ----------
    kind
        One of :data:`KINDS`.
    tasks
        What it predicts, by name.
    corpus
        Name of a corpus, for an example.
    rows
        Files of the corpus, for a table of predictions to fill in.
    answers
        Paths of predictions that are there, instead of such a table.
    """
    wanted = {name: tasks.get(name, BUILTIN.get(name)) for name in TASKS_OF.get(kind, tasks)}
    names = flow(list(wanted))
    text = TEXTS[kind].strip() + "\n" + COMMON.lstrip().replace("CORPUS", corpus)
    text += "" if kind == "predictions" else LIMIT
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
