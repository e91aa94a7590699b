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
from soundcheck.models.model_folder import links_outside, read_configuration

CONFIG = "config.json"
GENERATION = "generation_config.json"
PREPROCESSORS = ("preprocessor_config.json", "processor_config.json")  # the latter since version 5
TOKENIZER = "tokenizer_config.json"
VOCABULARIES = ("tokenizer.json", "vocab.json", "vocab.txt", "*.model")
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
ADAPTER = "adapter_config.json"
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
OTHERS = (
    *PICKLED,
    ".h5",
    ".msgpack",
    ".onnx",
    ".tflite",
    ".gguf",
    ".md",
    ".wav",
    ".flac",
    ".png",
)  # not opened


@dataclasses.dataclass(frozen=True)
class Folder:
    """What a folder says about its model.

    Parameters
    ----------
    path
        Where it is, absolute.
    config
        Content of ``config.json``.
    generation
        Content of ``generation_config.json``; empty if there is none.
    weights
        Names of its files of weights.
    has_preprocessor, has_vocabulary
        Whether there is what turns signals into inputs, and tokens into text.
    """

    path: Path
    config: dict[str, Any]
    generation: dict[str, Any]
    weights: tuple[str, ...]
    has_preprocessor: bool
    has_vocabulary: bool

    @property
    def architecture(self) -> str:
        """Name of the class that the weights were saved from; empty if the folder does not say."""
        return _architecture(self.config)

    @property
    def labels(self) -> list[str]:
        """Names of the outputs of a head, in their order; empty if there are none or they have gaps."""
        named = self.config.get("id2label", {"0": "LABEL_0", "1": "LABEL_1"})  # the library leaves these out
        if not isinstance(named, dict) or set(named) != {str(number) for number in range(len(named))}:
            return []
        return [str(named[str(number)]) for number in range(len(named))]


def _architecture(config: dict[str, Any]) -> str:
    names = config.get("architectures")
    return names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""


def relevant_files(path: Path) -> list[Path]:
    """List the files that a model's answers may rest on, absolute, sorted; none of other frameworks."""
    try:
        with os.scandir(path) as entries:
            names = [entry.name for entry in entries if entry.is_file()]
    except OSError:
        return []
    return [path / name for name in sorted(names) if not name.lower().endswith(OTHERS) and name[0] != "."]


def read_folder(path: Path, where: str, *, code: bool) -> Folder:
    """Read and check all that can be known without a library.

    Parameters
    ----------
    path
        The folder.
    where
        How messages call it.
    code
        Whether Python files of the folder may be run.

    Raises
    ------
    InputError
        All problems at once.
    """
    problems = Problems()
    for file in links_outside(path, relevant_files(path)):
        problems.add(f"{where}, {file.name}", "this link leads out of the folder", "Copy the file there")
    problems.raise_if_any()  # before anything is opened
    found = {file.name: _read_json(file, f"{where}, {file.name}", problems) for file in _configurations(path)}
    if CONFIG not in found:
        remedy = "Name the folder that save_pretrained() wrote, or that was downloaded whole"
        problems.add(where, f"it has no {CONFIG}", remedy)
    if not code:
        for name, content in found.items():
            _check_code(content, f"{where}, {name}", problems)
    if ADAPTER in found:
        remedy = "Merge it: model.merge_and_unload().save_pretrained(...) of the package peft"
        problems.add(f"{where}, {ADAPTER}", "these are changes to another model, which is elsewhere", remedy)
    config = found.get(CONFIG) or {}
    weights = _weights(path, config, found.get(INDEX), where, problems)
    problems.raise_if_any()
    return Folder(
        path=path,
        config=config,
        generation=found.get(GENERATION) or {},
        weights=weights,
        has_preprocessor=any(name in found for name in PREPROCESSORS),
        has_vocabulary=any(next(path.glob(pattern), None) for pattern in VOCABULARIES),
    )


def _configurations(path: Path) -> list[Path]:
    names = (CONFIG, GENERATION, *PREPROCESSORS, TOKENIZER, INDEX, ADAPTER)
    return [path / name for name in names if os.path.lexists(path / name)]


def _read_json(file: Path, where: str, problems: Problems) -> dict[str, Any]:
    content, reason = read_configuration(file)
    if reason:
        problems.add(where, reason, "Download or save the model again")
    return content


def _walk(content: Any) -> Iterator[tuple[str, Any]]:
    """Give all keys of nested mappings with their values."""
    waiting = [content]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield from item.items()
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def _check_code(content: dict[str, Any], where: str, problems: Problems) -> None:
    """Refuse what names classes of its own, or code that a hub would bring."""
    for key, value in _walk(content):
        if key == "auto_map":
            remedy = "If you trust the Python files of the folder, add trust_remote_code: true"
            problems.add(where, "the model needs code of its own (auto_map)", remedy)
        elif key.endswith("attn_implementation") and "/" in str(value):
            problems.add(where, f"{key} names code of a hub: {quoted(value)}", "Remove the key")


def _weights(
    path: Path, config: dict[str, Any], index: dict[str, Any] | None, where: str, problems: Problems
) -> tuple[str, ...]:
    """List the files of weights; notes what is wrong with them."""
    if os.path.lexists(path / WEIGHTS):
        names = [WEIGHTS]
    elif index is not None:
        places = index.get("weight_map")
        names = sorted({str(name) for name in places.values()}) if isinstance(places, dict) else []
        if not names:
            problems.add(f"{where}, {INDEX}", "it names no weights", "Download or save the model again")
    else:
        pickled = [file.name for file in sorted(path.iterdir()) if file.suffix.lower() in PICKLED]
        what = "it has no weights"
        remedy = f"Name a folder with {WEIGHTS}"
        if pickled:
            architecture = _architecture(config)
            architecture = architecture if architecture.isidentifier() else "AutoModel"
            what = f"its weights are pickled ({quoted(pickled[0])}), and reading them would run code"
            remedy = (
                "If you trust them, write them again as safetensors, in Python: from transformers import "
                f"{architecture} as M; M.from_pretrained(folder).save_pretrained(folder)"
            )
        problems.add(where, what, remedy)
        return ()
    for name in names:
        reason = "the name leads out of the folder" if name != os.path.basename(name) else ""
        if not reason and not name.endswith(".safetensors"):
            reason = "these weights are no safetensors"
        reason = reason or irregularity(path / name)
        if reason:
            problems.add(f"{where}, {quoted(name)}", reason, "Download or save the model again")
    return tuple(names)
