"""A model that is an ONNX graph: ``onnx: model.onnx``, or a folder that audonnx has written.

The graph is given signals and its numbers are predictions: see :mod:`soundcheck.models.onnx.graph` and
:mod:`soundcheck.models.onnx.outputs`. It computes in one thread. Nothing of it is code: operators of
libraries are refused, and classes that a folder names.

Cached predictions rest on the file, on the files of its weights, and on the version of ONNX Runtime.

A folder of audonnx has ``model.onnx`` with ``labels.yaml``, or with a ``model.yaml`` that describes a Python
object: a class of audonnx and its arguments, of which some may be objects again. It is only read: what it
says about labels is taken; an object among the arguments, such as the extraction of features, is code, which
nothing here runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import inside, require_regular
from soundcheck.common.tasks import Task
from soundcheck.models.class_labels import Labels, Probabilities
from soundcheck.models.library_model import LibraryModel, resampled
from soundcheck.models.onnx import graph as onnx_graph
from soundcheck.models.onnx.graph import FILLS, Graph
from soundcheck.models.onnx.outputs import Outputs, OutputsKey, metadata_labels
from soundcheck.suite import schema
from soundcheck.suite.model_kind import ModelKeys
from soundcheck.suite.paths import find_place
from soundcheck.suite.yaml_reader import Document, read_yaml

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

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
                graph = read_folder(entry.path, entry.path.name).graph
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
        inputs = [resampled(signal, sampling_rate, self.rate) for signal in signals]
        return self.outputs.answers(self.graph.values(inputs, self.outputs.names))


class OnnxFolder(NamedTuple):
    """What a folder says."""

    graph: Path  # its ONNX file, absolute
    labels: dict[str, list[str]]  # output -> names of its numbers; empty name = the only output


def read_folder(folder: Path, source: str) -> OnnxFolder:
    """Read what a folder says about its model; refuses one that needs code, or that audonnx did not write."""
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
        return OnnxFolder(inside(folder, GRAPH), {})
    where = f"{source}/{LABELS}"
    text = require_regular(inside(folder, LABELS), where, 1_000_000).read_bytes()
    try:
        content = yaml.load(text, yaml.BaseLoader)  # texts, lists and mappings, nothing else
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise input_error(where, "the file is not YAML", "Write {output: [label, label]}") from error
    return OnnxFolder(inside(folder, GRAPH), _labels(content, where))


def _from_object(document: Document, name: str, folder: Path) -> OnnxFolder:
    """Take what a description of an object says."""
    arguments, where = document.data[name], document.where((name,))
    if not isinstance(arguments, dict):
        raise input_error(where, "the class has no arguments", f"Expected is one such as path: {GRAPH}")
    for path, key in _objects(arguments, (name,)):
        what = f"it names the class {quoted(key[1:])}, which would have to run"
        raise input_error(document.where(path), what, REMEDY)
    # what stands for nothing is None, or a plain scalar whose value is None
    filled = {key: value for key, value in arguments.items() if getattr(value, "value", value) is not None}
    graph = filled.get("path")
    graph = str(graph) if isinstance(graph, str) and graph else GRAPH
    labels = _labels(filled["labels"], document.where((name, "labels"))) if "labels" in filled else {}
    return OnnxFolder(inside(folder, graph), labels)


def _objects(value: object, path: tuple) -> list[tuple[tuple, str]]:
    """Find the objects inside of arguments: where they are, and their class."""
    if isinstance(value, dict):
        values = [((*path, key), key) for key in value if key.startswith(OBJECT_SIGN)]
        return values + [entry for key, item in value.items() for entry in _objects(item, (*path, key))]
    if isinstance(value, list):
        return [entry for number, item in enumerate(value) for entry in _objects(item, (*path, number))]
    return []


def _labels(value: object, where: str) -> dict[str, list[str]]:
    """Check labels: a list, or output -> list."""
    lists = value if isinstance(value, dict) else {"": value}
    names = {}
    for name, labels in lists.items():
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise input_error(where, "labels are lists of names", "Write {output: [label, label]}")
        names[str(name)] = [str(label) for label in labels]
    return names
