"""Models that are ONNX files: ``onnx: model.onnx``, a folder of audonnx, or ``onnx-asr: folder``.

The graph is given signals and its numbers are predictions (:mod:`soundcheck.models.onnx.graph`). It computes
in one thread. Nothing of it is code: operators of libraries are refused, and classes that a folder names.

Cached predictions rest on the file, on the files of its weights, and on the version of ONNX Runtime.

A folder of audonnx has ``model.onnx`` with ``labels.yaml``, or with a ``model.yaml`` that describes a Python
object: a class of audonnx and its arguments, of which some may be objects again. It is only read: what it
says about labels is taken; an object among the arguments, such as the extraction of features, is code, which
nothing here runs.

What numbers mean: ``outputs: {logits: [arousal, dominance, valence]}``
-----------------------------------------------------------------------
- Values of an output are float ``(signals, n)``, one row a signal.
- A list of names: the numbers of an output in their order. Those that are no task of the model are nobody's.
- ``{emotion: [ang, hap]}``: scores of the classes of a task, of which the highest counts; with the key
  ``probabilities`` they are given as probabilities.
- ``embedding``, or another name that stands alone: the whole row, or its only number, is the prediction.
- What the suite does not say may be said by the labels of a folder or by the file's metadata; and if there is
  only one thing that it can be, nobody has to.

A recogniser in a folder that the package onnx-asr reads
--------------------------------------------------------
NeMo's Conformers, Parakeet and Canary, Kaldi's and GigaAM's transducers, T-one and Whisper, as ONNX files
with their vocabulary. Nothing is fetched, and nothing of the folder is code.

- Signals of the same length go into the model together, if the suite gives a ``batch``. Others never do: what
  is put behind the shorter ones would change their words. Those of Whisper go alone, as the package
  looks for the loudest spot in all signals of a call.
- Whisper hears 30 s. A longer signal gets no prediction: the rest of its words would be missing.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import AfterValidator

from soundcheck.common.files import inside, require_regular
from soundcheck.common.json_lines import json_or_none
from soundcheck.common.messages import InputError, Problems, counted, did_you_mean, input_error, quoted
from soundcheck.common.tasks import Task
from soundcheck.models import library_model
from soundcheck.models.answers import CONFIDENCE
from soundcheck.models.base import RECOGNISES, TRANSCRIPT, reason
from soundcheck.models.library_model import Labels, LibraryModel, Probabilities, meant
from soundcheck.models.onnx import graph as onnx_graph
from soundcheck.models.onnx.graph import FILLS, ONE_ROW, Graph
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelEntry, ModelKeys, Suite
from soundcheck.suite.paths import find_files, find_place
from soundcheck.suite.schema import Document, read_yaml

LABEL_KEYS = ("labels", "classes", "id2label")  # of a file's metadata that name its numbers
EXAMPLE = "outputs: {logits: [arousal, dominance, valence]} or outputs: {scores: {emotion: [anger, neutral]}}"


def _read_outputs(value: object) -> dict[str, Any]:
    """Check the key ``outputs`` of a suite."""
    if not (isinstance(value, dict) and value and all(map(_is_meaning, value.values()))):
        remedy = f"Write the name of an output and what its numbers are, such as {EXAMPLE}"
        raise schema.wrong(f"{schema.display(value)} does not say what outputs are", remedy)
    return _plain(value)


def _is_meaning(item: object) -> bool:
    """Whether it may be the name of a task, of all numbers, or of a task with its classes."""
    if isinstance(item, dict):
        return len(item) == 1 and all(map(_is_names, item.values()))
    return _is_names([item]) or _is_names(item)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    return [str(item) for item in value] if isinstance(value, list) else str(value)


def _is_names(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) and item for item in value)


OutputsKey = schema.parsed(dict, _read_outputs)  # the type of the key ``outputs`` of a suite


GRAPH, LABELS, OBJECT, TRANSFORM = "model.onnx", "labels.yaml", "model.yaml", "transform.yaml"
MODEL_CLASS = "$audonnx.core.model.Model"
OBJECT_SIGN = "$"  # begins the name of a class
REMEDY = "The model needs code: write a Python model that calls audonnx (python: module:function)"
USUAL_RATE = 16_000  # of models of speech


class OnnxKeys(ModelKeys):
    """Keys of such a model."""

    outputs: OutputsKey = {}
    labels: Labels = {}
    probabilities: Probabilities | None = None
    sampling_rate: schema.whole(1000, 384_000) | None = None
    pieces: schema.choice(*FILLS) | None = None
    device: schema.choice(*onnx_graph.DEVICES) = "cpu"


class OnnxModel(LibraryModel):
    """An ONNX graph as a model."""

    keyword = "onnx"
    keys = OnnxKeys
    extra = "onnx"
    distributions = onnx_graph.DISTRIBUTIONS

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Look for the file or folder."""
        folder = find_place(suite_file, target, folder=True)
        return folder if folder[0] is not None else find_place(suite_file, target, folder=False)

    @classmethod
    def check_tasks(cls, target: str, tasks: Sequence[Task]) -> list[tuple[str, str]]:
        """Refuse transcripts: words are not read from numbers here."""
        if not any(task.is_transcription for task in tasks):
            return []
        remedy = "Use onnx-asr: folder for a recogniser that onnx-asr knows, or a Python model"
        return [("an ONNX graph answers numbers, not a transcript", remedy)]

    @classmethod
    def caveats(cls, entry: ModelEntry) -> list[str]:
        """Say that the sampling rate is assumed: no graph tells, and a wrong one ruins every prediction."""
        if entry.options["sampling_rate"] is not None:
            return []
        assumed = f"nothing says at which sampling rate the graph listens, so {USUAL_RATE:,} Hz are assumed"
        return [f"{assumed}; write sampling_rate: if that is wrong"]

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List the graph, the files with its weights and what describes it, and those of the suite."""
        graph, described = entry.path, []
        if entry.path.is_dir():
            graph = entry.path / GRAPH
            with contextlib.suppress(Exception):  # told when it is loaded
                graph, _ = read_folder(entry.path, entry.path.name)
            described = [entry.path / name for name in (LABELS, OBJECT) if (entry.path / name).is_file()]
        try:
            weights = onnx_graph.read_onnx_file(graph).weights
        except (InputError, ImportError):  # told when it is loaded
            weights = []
        return [*dict.fromkeys([graph, *weights, *described, *super().named_files(entry, suite)])]

    def open(self, tasks: Sequence[Task]) -> None:
        """Load the graph and understand what it takes and gives."""
        path, options = self.entry.path, self.entry.options
        named: dict[str, list[str]] = {}
        if path.is_dir():
            path, named = read_folder(path, self.entry.public_target)
            if not path.is_file():
                raise self.refusal(f"the folder has no {path.name}", "Name the ONNX file itself")
        runtime, _ = self.library("onnxruntime"), self.library("onnx")
        file = onnx_graph.checked_file(path, self.where)
        session = onnx_graph.open_session(runtime, path, options["device"], self.where)
        self.rate, fill = options["sampling_rate"] or USUAL_RATE, options["pieces"] or ""
        self.graph = Graph(session, self.where, fill=fill, batch=self.entry.batch or 1, rate=self.rate)
        only = next(iter(self.graph.sizes)) if len(self.graph.sizes) == 1 else ""
        named = named or {"": metadata_labels(file.metadata)}
        named = {name or only: names for name, names in named.items() if names}
        self.outputs = Outputs(tasks, self.graph, self.where, options, named)

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Run the graph."""
        inputs = [library_model.resampled(signal, sampling_rate, self.rate) for signal in signals]
        return self.outputs.answers(self.graph.values(inputs, self.outputs.names))


def read_folder(folder: Path, source: str) -> tuple[Path, dict[str, list[str]]]:
    """Read what a folder says about its model; refuses one that needs code, or that audonnx did not write.

    Gives its ONNX file, absolute, and output -> names of its numbers; empty name = the only output.
    """
    import yaml  # late: whoever reads a suite imports this module

    problems, source = Problems(), source.rstrip("/")
    if (folder / OBJECT).exists():
        document = read_yaml(inside(folder, OBJECT), f"{source}/{OBJECT}", problems)
        problems.raise_if_any()
        names = [name for name in document.data if name.partition("==")[0] == MODEL_CLASS]
        if names:
            return _from_object(document, names[0], folder)
    if (folder / TRANSFORM).exists():
        raise input_error(f"{source}/{TRANSFORM}", "it names a class that makes features", REMEDY)
    if not (folder / LABELS).exists():
        return inside(folder, GRAPH), {}
    where = f"{source}/{LABELS}"
    text = require_regular(inside(folder, LABELS), where, 1_000_000).read_bytes()
    try:
        content = yaml.load(text, yaml.BaseLoader)  # texts, lists and mappings, nothing else
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise input_error(where, "the file is not YAML", "Write {output: [label, label]}") from error
    return inside(folder, GRAPH), _labels(content, where)


def _from_object(document: Document, name: str, folder: Path) -> tuple[Path, dict[str, list[str]]]:
    """Take what a description of an object says."""
    arguments = document.data[name]
    for path, key in _objects(arguments, (name,)):
        what = f"it names the class {quoted(key[1:])}, which would have to run"
        raise input_error(document.where(path), what, REMEDY)
    # what stands for nothing is None, or a plain scalar whose value is None
    filled = {key: value for key, value in arguments.items() if getattr(value, "value", value) is not None}
    labels = _labels(filled.get("labels", {}), document.where((name, "labels")))
    return inside(folder, str(filled.get("path", GRAPH))), labels


def _objects(value: object, path: tuple) -> Iterator[tuple[tuple, str]]:
    """Find the objects inside of arguments: where they are, and their class."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        if isinstance(key, str) and key.startswith(OBJECT_SIGN):
            yield (*path, key), key
        yield from _objects(item, (*path, key))


def _labels(value: object, where: str) -> dict[str, list[str]]:
    """Check labels: a list, or output -> list."""
    lists = value if isinstance(value, dict) else {"": value}
    names = {}
    for name, labels in lists.items():
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise input_error(where, "labels are lists of names", "Write {output: [label, label]}")
        names[str(name)] = [str(label) for label in labels]
    return names


# What the numbers of a graph mean ---------------------------------------------------------------------------


def metadata_labels(metadata: Mapping[str, str]) -> list[str]:
    """Read the names of numbers that an author wrote into a file; empty if there are none.

    >>> metadata_labels({"labels": "anger, joy"}), metadata_labels({"id2label": '{"0": "anger", "1": "joy"}'})
    (['anger', 'joy'], ['anger', 'joy'])
    """
    for key in LABEL_KEYS:
        text = metadata.get(key, "")
        labels = json_or_none(text)
        if labels is None:
            labels = [part.strip() for part in text.split(",")]
        if isinstance(labels, dict) and set(labels) == {str(number) for number in range(len(labels))}:
            labels = [labels[str(number)] for number in range(len(labels))]
        if _is_names(labels):
            return labels
    return []


class Reading(NamedTuple):
    """How one task is read from an output."""

    task: Task
    output: str
    size: int | None = None  # numbers that the output must have; None = any
    column: int | None = None  # which of them is the prediction; None = all
    classes: tuple[str, ...] = ()  # scores: the class of each number

    def answers(self, values: np.ndarray, probabilities: str | None) -> list[Any]:
        """Read one prediction from each row."""
        if self.classes:
            return library_model.class_answers(values, self.classes, probabilities)
        if self.column is None:
            return list(values)
        column = values[:, self.column]
        # Plain numbers are checked soonest; those of half precision are read as their shortest decimal.
        return list(column) if column.dtype == np.float16 else column.tolist()


class Outputs:
    """What the outputs of a graph are to a model's tasks; raises all problems at once.

    ``options`` has ``outputs``, ``labels`` and ``probabilities`` of the suite; ``named``: output -> names of
    its numbers as its author gave them.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        graph: Graph,
        where: str,
        options: Mapping[str, Any],
        named: Mapping[str, Sequence[str]],
    ) -> None:
        self._probabilities, self._labels = options["probabilities"], options["labels"]
        self._tasks, self._sizes, self._where = {task.name: task for task in tasks}, graph.sizes, where
        self._problems, declared = Problems(), options["outputs"]
        self._readings: dict[str, list[Reading]] = {name: [] for name in self._tasks}
        for output, item in declared.items():
            if output in self._sizes:
                self._take(output, item)
            elif output in graph.unusable:
                what = f"the output {quoted(output)} cannot be used: {graph.unusable[output]}"
                self._problem(what, ONE_ROW)
            else:
                self._problem(f"the graph has no output {quoted(output)}", did_you_mean(output, self._sizes))
        for output, names in named.items():
            if output in self._sizes and output not in declared:
                self._take_labels(output, names)
        if not declared and not any(self._readings.values()):
            self._take_what_is_obvious()
        for name, readings in self._readings.items():
            if len(readings) != 1 and not len(self._problems):
                self._refuse(self._tasks[name], readings, named)
        if self._probabilities and not any(task.classes for task in tasks):
            self._problem("probabilities: the model has no task with classes", "Remove the key")
        self._problems.raise_if_any()
        self.readings = [reading for (reading,) in self._readings.values()]

    @property
    def names(self) -> list[str]:
        """Outputs that are asked for."""
        return list(dict.fromkeys(reading.output for reading in self.readings))

    def answers(self, values: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
        """Turn the values of outputs into unchecked predictions, one a row."""
        columns = [reading.answers(values[reading.output], self._probabilities) for reading in self.readings]
        return [dict(zip(self._tasks, row, strict=True)) for row in zip(*columns, strict=True)]

    def _problem(self, what: str, remedy: str = "") -> None:
        self._problems.add(self._where, what, remedy)

    def _add(self, reading: Reading) -> None:
        """Note how a task is read, if the numbers are as many as they should be."""
        size = self._sizes[reading.output]
        if reading.size not in (None, size):
            what = f"the output {quoted(reading.output)} has {size} numbers, and {reading.size} are named"
            self._problem(what, "Name them all, in their order")
        self._readings[reading.task.name].append(reading)

    def _take(self, output: str, item: str | Sequence[str] | Mapping[str, Sequence[str]]) -> None:
        """Understand what is said about an output."""
        names, scores = [item] if isinstance(item, str) else [*item], isinstance(item, dict)
        for column, name in enumerate(names):
            task = self._tasks.get(name)
            if task is None and isinstance(item, list):
                continue  # a number that is nobody's
            if task is None:
                what = f"outputs.{output} names {quoted(name)}, which is no task of the model"
                self._problem(what, did_you_mean(name, self._tasks))
            elif task.classes and scores:
                with self._problems.collected():
                    classes = library_model.classes_of(item[name], task, self._labels, self._where)
                    self._add(Reading(task, output, len(item[name]), None, tuple(classes)))
            elif task.is_embedding and len(names) == 1:
                self._add(Reading(task, output))
            elif task.is_regression and not scores:
                self._add(Reading(task, output, len(names), column))
            else:
                self._problem(f"outputs.{output} is nothing that {name} can be", f"Write such as {EXAMPLE}")

    def _take_labels(self, output: str, names: Sequence[str]) -> None:
        """Understand what an author says about an output: classes of a task, or names of numbers."""
        regression = [name for name, task in self._tasks.items() if task.is_regression]
        written = [self._labels.get(name, name) for name in names]
        numbers = [meant(name, regression, {}) or name for name in written]
        known = [
            name
            for name, task in self._tasks.items()
            if not self._readings[name] and any(meant(label, task.classes, self._labels) for label in names)
        ]
        if any(name in regression for name in numbers):
            self._take(output, numbers)
        elif len(known) == 1:
            self._take(output, {known[0]: names})

    def _take_what_is_obvious(self) -> None:
        """Understand graphs that leave no choice."""
        tasks, (first, *others) = self._tasks.values(), self._sizes
        if all(name in self._sizes and not task.classes for name, task in self._tasks.items()):
            for name in self._tasks:
                self._take(name, name)
        elif not others and [task.is_embedding for task in tasks] == [True]:
            self._take(first, *self._tasks)
        elif not others and all(task.is_regression for task in tasks):
            if self._sizes[first] == len(tasks):
                self._take(first, [*self._tasks])

    def _refuse(self, task: Task, readings: Sequence[Reading], named: Mapping[str, Sequence[str]]) -> None:
        """Refuse a task that several outputs predict, or none."""
        sizes = []
        for name, size in self._sizes.items():
            called = "".join(f", {quoted(label)}" for label in named.get(name, ())[:10])
            sizes.append(f"{quoted(name)} ({counted(size, 'number')}{called})")
        which = " and ".join(quoted(reading.output) for reading in readings)
        what = f"it is answered by {which}" if readings else "nothing says where the answer is"
        what = f"{task.name}: {what}; the graph's outputs: {', '.join(sizes)}"
        remedy = f"Say once what all numbers are, in their order, such as {EXAMPLE}"
        self._problem(what, f"{remedy}; or what the labels mean, labels: {{ang: anger}}")


# A folder of onnx-asr ---------------------------------------------------------------------------------------


RATE = 16_000
WHISPERS = ("whisper", "whisper-ort")
WHISPER_SECONDS = 30
WITH_LANGUAGE = (*WHISPERS, "nemo-conformer-aed")
ARCHITECTURES = (
    *("nemo-conformer-ctc", "nemo-conformer-rnnt", "nemo-conformer-tdt", "nemo-conformer-aed"),
    *("kaldi-rnnt", "vosk", "t-one-ctc", *WHISPERS),
    *("gigaam-v2-ctc", "gigaam-v2-rnnt", "gigaam-v3-ctc", "gigaam-v3-rnnt"),
    *("gigaam-v3-e2e-ctc", "gigaam-v3-e2e-rnnt", "gigaam-multilingual-ctc", "gigaam-multilingual-large-ctc"),
)
CONFIG, CONFIG_KEY = "config.json", "model_type"


def _check_part(text: str) -> str:
    """Let nothing into the names of files that leads elsewhere."""
    if not text.replace("_", "").replace("-", "").isalnum():
        raise schema.wrong(f"{quoted(text)} is no part of a file's name", "Write one such as int8")
    return text


class OnnxAsrKeys(ModelKeys):
    """Keys of such a model."""

    architecture: schema.choice(*ARCHITECTURES) | None = None
    quantization: Annotated[schema.Text, AfterValidator(_check_part)] | None = None
    language: schema.Text | None = None
    confidence: schema.Boolean = False
    device: schema.choice(*onnx_graph.DEVICES) = "cpu"


class OnnxAsrModel(LibraryModel):
    """A folder of onnx-asr as a model."""

    keyword = "onnx-asr"
    keys = OnnxAsrKeys
    only_task = RECOGNISES
    has_scale = False
    extra = "onnx-asr"
    distributions = ("onnx-asr", *onnx_graph.DISTRIBUTIONS)

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List all files of the folder, and those of the suite."""
        in_folder = find_files(suite.file, entry.target)[0]
        return [*dict.fromkeys([*in_folder, *super().named_files(entry, suite)])]

    def open(self, tasks: Sequence[Task]) -> None:
        """Load the recogniser, and let it hear a second of noise."""
        folder, options = self.entry.path, self.entry.options
        _, what, remedy = find_files(self.suite_file, self.entry.target)
        if what:  # predictions rest on all of them
            raise self.refusal(what, remedy)
        for path in library_model.links_outside(folder, sorted(folder.rglob("*"))):
            name = path.relative_to(folder).as_posix()
            raise self.refusal(f"{quoted(name)} is a link that leads out of the folder", "Copy the file")
        self._architecture = self._find_architecture(folder)
        self._options = {"language": options["language"]} if options["language"] else {}
        if self._options and self._architecture not in WITH_LANGUAGE:
            what = f"{self._architecture} knows one language, or finds it out itself"
            raise self.refusal(what, "Remove language")
        self._recogniser = self._load(folder, options["quantization"], options["device"])
        if options["confidence"]:
            self._recogniser = self._recogniser.with_timestamps()
        noise = np.random.default_rng(0).normal(0.0, 0.1, RATE).astype(np.float32)
        remedy = "Is it the right architecture? Try it outside of Soundcheck"
        with self.understood("it fails with 1 s of noise", remedy):
            self._recognise(noise[np.newaxis])

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Recognise signals; ValueError if one is longer than the model can hear."""
        inputs = [library_model.resampled(signal, sampling_rate, RATE) for signal in signals]
        if self._architecture not in WHISPERS:
            return library_model.each_length(inputs, self._recognise)
        for signal in inputs:
            if len(signal) > WHISPER_SECONDS * RATE:
                seconds = len(signal) / RATE
                raise ValueError(f"the signal has {seconds:.1f} s, and Whisper hears {WHISPER_SECONDS} s")
        return [output for signal in inputs for output in self._recognise(signal[np.newaxis])]

    def _recognise(self, batch: np.ndarray) -> list[dict[str, Any]]:
        """Recognise signals that are equally long, ``(signals, samples)`` at :data:`RATE`."""
        texts = self._recogniser.recognize(list(batch), sample_rate=RATE, **self._options)
        if not self.entry.options["confidence"]:
            return [{TRANSCRIPT: text} for text in texts]
        sure = [{CONFIDENCE: math.exp(np.mean(text.logprobs))} if text.logprobs else {} for text in texts]
        return [{TRANSCRIPT: text.text} | stated for text, stated in zip(texts, sure, strict=True)]

    def _load(self, folder: Path, quantization: str | None, device: str) -> Any:
        """Check the files that the package would load, and let it."""
        os.environ["HF_HUB_OFFLINE"] = "1"  # of this process, which loads nothing else
        runtime, package = self.library("onnxruntime"), self.library("onnx_asr")
        loader, _ = self.library("onnx_asr.loader"), self.library("onnx")
        device = onnx_graph.provider(runtime, device, self.where)
        try:
            resolver = loader.create_asr_resolver(self._architecture, folder, offline=True)
            used = resolver.resolve_model(quantization=quantization)
        except Exception as error:
            remedy = "Check architecture and quantization, and that the folder was downloaded whole"
            what = reason(error, folder).partition(": ")[2].replace(" in path '.'", "")
            raise self.refusal(what, remedy) from error
        for path in used.values():
            if path.suffix == ".onnx":
                onnx_graph.checked_file(path, f"{self.where}: {path.relative_to(folder).as_posix()}")
        with self.understood("onnx-asr cannot load it", "Is it the right architecture?"):
            return package.load_model(
                self._architecture,
                folder,
                quantization=quantization,
                sess_options=onnx_graph.options(runtime),
                providers=[device],
            )

    def _find_architecture(self, folder: Path) -> str:
        """Take the architecture that the suite or the folder says."""
        if name := self.entry.options["architecture"]:
            return name
        config, what = library_model.read_configuration(folder / CONFIG)
        name = config.get(CONFIG_KEY)
        if name in ARCHITECTURES:
            return name
        what = what or f"{quoted(str(name))} is no architecture that onnx-asr knows"
        remedy = f"Add architecture. {did_you_mean(str(name or ''), ARCHITECTURES)}"
        raise self.refusal(f"{CONFIG}: {what}", remedy)
