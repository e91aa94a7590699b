"""Folders of audonnx: ``model.onnx`` with ``labels.yaml``, or with a ``model.yaml`` that names classes.

``model.yaml`` describes a Python object: a class of audonnx and its arguments, of which some may be objects
again. Here it is only read: what it says about labels is taken, and an object among the arguments, such as
the extraction of features, is code, which nothing here runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import inside, require_regular
from soundcheck.suite.yaml_reader import Document, Plain, read_yaml

GRAPH, LABELS, OBJECT, TRANSFORM = "model.onnx", "labels.yaml", "model.yaml", "transform.yaml"
MODEL_CLASS = "$audonnx.core.model.Model"
OBJECT_SIGN = "$"  # begins the name of a class
REMEDY = "The model needs code: write a Python model that calls audonnx (python: module:function)"


class OnnxFolder(NamedTuple):
    """What a folder says."""

    graph: Path  # its ONNX file, absolute
    labels: dict[str, list[str]]  # output -> names of its numbers; empty name = the only output


def find_graph(folder: Path) -> Path:
    """Find the ONNX file of a folder as far as that is possible without complaint."""
    try:
        return read_folder(folder, folder.name).graph
    except Exception:  # told when it is loaded
        return folder / GRAPH


def read_folder(folder: Path, shown: str) -> OnnxFolder:
    """Read what a folder says about its model; refuses one that needs code, or that audonnx did not write."""
    problems = Problems()
    shown = shown.rstrip("/")
    if (folder / OBJECT).exists():
        document = read_yaml(inside(folder, OBJECT), f"{shown}/{OBJECT}", problems)
        problems.raise_if_any()
        names = [name for name in document.data if name.partition("==")[0] == MODEL_CLASS]
        if names:
            return _from_object(document, names[0], folder)
    if (folder / TRANSFORM).exists():
        raise input_error(f"{shown}/{TRANSFORM}", "it names a class that makes features", REMEDY)
    labels: dict[str, list[str]] = {}
    if (folder / LABELS).exists():
        labels = _read_labels(inside(folder, LABELS), f"{shown}/{LABELS}")
    return OnnxFolder(inside(folder, GRAPH), labels)


def _read_labels(path: Path, shown: str) -> dict[str, list[str]]:
    """Read a file that is a list of labels, or a mapping of outputs to lists."""
    import yaml  # late: whoever reads a suite imports this module

    text = require_regular(path, shown, 1_000_000).read_bytes()
    try:
        content = yaml.load(text, yaml.BaseLoader)  # texts, lists and mappings, nothing else
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise input_error(shown, "the file is not YAML", "Write {output: [label, label]}") from error
    return _labels(content, shown)


def _from_object(document: Document, name: str, folder: Path) -> OnnxFolder:
    """Take what a description of an object says."""
    arguments = document.data[name]
    where = document.where((name,))
    if not isinstance(arguments, dict):
        raise input_error(where, "the class has no arguments", f"Expected is one such as path: {GRAPH}")
    for path, key in _objects(arguments, (name,)):
        what = f"it names the class {quoted(key[1:])}, which would have to run"
        raise input_error(document.where(path), what, REMEDY)
    text = arguments.get("path")
    graph = str(text) if _is_text(text) else GRAPH
    labels = arguments.get("labels")
    empty = labels is None or (isinstance(labels, Plain) and labels.value is None)
    return OnnxFolder(
        inside(folder, graph), {} if empty else _labels(labels, document.where((name, "labels")))
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and getattr(value, "value", value) is not None


def _objects(value: object, path: tuple) -> list[tuple[tuple, str]]:
    """Find the objects inside of arguments: where they are, and their class."""
    if isinstance(value, dict):
        own = [((*path, key), key) for key in value if key.startswith(OBJECT_SIGN)]
        return own + [found for key, item in value.items() for found in _objects(item, (*path, key))]
    if isinstance(value, list):
        return [found for number, item in enumerate(value) for found in _objects(item, (*path, number))]
    return []


def _labels(value: object, where: str) -> dict[str, list[str]]:
    """Check labels: a list, or output -> list."""
    lists = value if isinstance(value, dict) else {"": value}
    found = {}
    for name, labels in lists.items():
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise input_error(where, "labels are lists of names", "Write {output: [label, label]}")
        found[str(name)] = [str(label) for label in labels]
    return found
