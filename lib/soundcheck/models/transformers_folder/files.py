"""Folders of Hugging Face Transformers, looked at before any library opens them.

Conventions
-----------
- Only what lies in the folder counts, nothing is fetched. A link may lead to another file of the folder; in a
  cache of the hub (``models--.../snapshots/...``) to one of the same repository.
- Weights are safetensors. Pickled ones run code when they are read, and are never opened.
- ``auto_map`` in a configuration names classes of the folder's own Python files: code.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from soundcheck.common.errors import Problems
from soundcheck.common.escaping import quoted
from soundcheck.common.files import irregularity
from soundcheck.models.library_model import links_outside, read_configuration

CONFIG = "config.json"
GENERATION = "generation_config.json"
PREPROCESSORS = ("preprocessor_config.json", "processor_config.json")  # the latter since version 5
VOCABULARIES = ("tokenizer.json", "vocab.json", "vocab.txt", "*.model")
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
ADAPTER = "adapter_config.json"
CONFIGURATIONS = (CONFIG, GENERATION, *PREPROCESSORS, "tokenizer_config.json", INDEX, ADAPTER)
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
OTHERS = (*PICKLED, *".h5 .msgpack .onnx .tflite .gguf .md .wav .flac .png".split())  # not opened
AGAIN = "Download or save the model again"


@dataclasses.dataclass(frozen=True)
class Folder:
    """What a folder says about its model."""

    path: Path  # absolute
    config: dict[str, Any]  # content of config.json
    generation: dict[str, Any]  # content of generation_config.json; empty if there is none
    weights: tuple[str, ...]  # names of its files of weights
    has_preprocessor: bool  # what turns signals into inputs
    has_vocabulary: bool  # what turns tokens into text

    @property
    def architecture(self) -> str:
        """Name of the class that the weights were saved from; empty if the folder does not say."""
        names = self.config.get("architectures")
        return names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""

    @property
    def labels(self) -> list[str]:
        """Names of the outputs of a head, in their order; empty if there are none or they have gaps."""
        named = self.config.get("id2label", {"0": "LABEL_0", "1": "LABEL_1"})  # the library leaves these out
        if not isinstance(named, dict) or set(named) != {str(number) for number in range(len(named))}:
            return []
        return [str(named[str(number)]) for number in range(len(named))]


def relevant_files(path: Path) -> list[Path]:
    """List the files that a model's predictions may rest on, absolute, sorted; none of other frameworks."""
    try:
        with os.scandir(path) as entries:
            names = [entry.name for entry in entries if entry.is_file()]
    except OSError:
        return []
    return [path / name for name in sorted(names) if not name.lower().endswith(OTHERS) and name[0] != "."]


def read_folder(path: Path, where: str, *, code: bool) -> Folder:
    """Read and check all that can be known without a library, all problems at once.

    ``code`` says whether Python files of the folder may be run.
    """
    problems = Problems()
    for file in links_outside(path, relevant_files(path)):
        problems.add(f"{where}, {file.name}", "this link leads out of the folder", "Copy the file there")
    problems.raise_if_any()  # before anything is opened
    contents: dict[str, dict[str, Any]] = {}
    for name in CONFIGURATIONS:
        if os.path.lexists(path / name):
            contents[name], why = read_configuration(path / name)
            if why:
                problems.add(f"{where}, {name}", why, AGAIN)
            for key, value in [] if code else _items(contents[name]):
                if key == "auto_map":
                    remedy = "If you trust the Python files of the folder, add trust_remote_code: true"
                    what = "the model needs code of its own (auto_map)"
                    problems.add(f"{where}, {name}", what, remedy)
                elif key.endswith("attn_implementation") and "/" in str(value):
                    what = f"{key} names code of a hub: {quoted(value)}"
                    problems.add(f"{where}, {name}", what, "Remove the key")
    if CONFIG not in contents:
        remedy = "Name the folder that save_pretrained() wrote, or that was downloaded whole"
        problems.add(where, f"it has no {CONFIG}", remedy)
    if ADAPTER in contents:
        remedy = "Merge it: model.merge_and_unload().save_pretrained(...) of the package peft"
        problems.add(f"{where}, {ADAPTER}", "these are changes to another model, which is elsewhere", remedy)
    folder = Folder(
        path=path,
        config=contents.get(CONFIG, {}),
        generation=contents.get(GENERATION, {}),
        weights=tuple(_weights(path, contents)),
        has_preprocessor=any(name in contents for name in PREPROCESSORS),
        has_vocabulary=any(next(path.glob(pattern), None) for pattern in VOCABULARIES),
    )
    for name in folder.weights:
        why = "the name leads out of the folder" if name != os.path.basename(name) else ""
        if not why and not name.endswith(".safetensors"):
            why = "these weights are no safetensors"
        if why := why or irregularity(path / name):
            problems.add(f"{where}, {quoted(name)}", why, AGAIN)
    if not folder.weights:
        problems.add(where, *_no_weights(folder))
    problems.raise_if_any()
    return folder


def _items(content: Any) -> Iterator[tuple[str, Any]]:
    """Give all keys of nested mappings with their values."""
    waiting = [content]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield from item.items()
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def _weights(path: Path, contents: dict[str, dict[str, Any]]) -> list[str]:
    """List the files of weights."""
    if os.path.lexists(path / WEIGHTS):
        return [WEIGHTS]
    places = contents.get(INDEX, {}).get("weight_map")
    return sorted({str(name) for name in places.values()}) if isinstance(places, dict) else []


def _no_weights(folder: Folder) -> tuple[str, str]:
    """Say that there are none that can be used, and how pickled ones are written again."""
    pickled = [file.name for file in sorted(folder.path.iterdir()) if file.suffix.lower() in PICKLED]
    if not pickled:
        return "it has no weights", f"Name a folder with {WEIGHTS}"
    name = folder.architecture if folder.architecture.isidentifier() else "AutoModel"
    remedy = (
        "If you trust them, write them again as safetensors, in Python: from transformers import "
        f"{name} as M; M.from_pretrained(folder).save_pretrained(folder)"
    )
    return f"its weights are pickled ({quoted(pickled[0])}), and reading them would run code", remedy
