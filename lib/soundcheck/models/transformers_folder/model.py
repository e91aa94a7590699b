"""A model that is a folder of Hugging Face Transformers: ``transformers: my-model``.

Conventions
-----------
- Only what lies in the folder counts, nothing is fetched. A link may lead to another file of the folder; in a
  cache of the hub (``models--.../snapshots/...``) to one of the same repository.
- Weights are safetensors. Pickled ones run code when they are read, and are never opened.
- ``auto_map`` in a configuration names classes of the folder's own Python files: code, which is run only if
  the suite says ``trust_remote_code: true``.
- What the head means is in :mod:`soundcheck.models.transformers_folder.heads`.
- Weights are used as float32, whatever they were saved as, with one thread and deterministic algorithms.
  A weight that the files lack is an error: the library would take random numbers for it.
- Each signal is turned into inputs alone. Of a batch, inputs of one shape are computed together. Others
  are padded only on graphics cards, where this is exact but for rounding and at most a fifth is padding.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from soundcheck.common.files import irregularity
from soundcheck.common.messages import Problems, quoted, some
from soundcheck.common.tasks import Task
from soundcheck.models import library_model
from soundcheck.models.library_model import Labels, LibraryModel, Probabilities, resampled
from soundcheck.models.transformers_folder.heads import POOLED, Head, find_head
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelEntry, ModelKeys, Suite

CONFIG = "config.json"
GENERATION = "generation_config.json"
PREPROCESSORS = ("preprocessor_config.json", "processor_config.json")  # the latter since version 5
VOCABULARIES = ("tokenizer.json", "vocab.json", "vocab.txt", "*.model")
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
ADAPTER = "adapter_config.json"
CONFIGURATIONS = (CONFIG, GENERATION, *PREPROCESSORS, "tokenizer_config.json", INDEX, ADAPTER)
OTHERS = tuple(".bin .pt .pth .ckpt .pkl .h5 .msgpack .onnx .tflite .gguf .md .wav .flac .png".split())
AGAIN = "Download or save the model again"


@dataclasses.dataclass(frozen=True)
class Folder:
    """What a folder says about its model."""

    config: dict[str, Any]  # content of config.json
    generation: dict[str, Any]  # content of generation_config.json; empty if there is none
    weights: tuple[str, ...]  # names of its files of weights

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

    def refuse(name: str, what: str, remedy: str = AGAIN) -> None:
        problems.add(f"{where}, {name}", what, remedy)

    for file in library_model.links_outside(path, relevant_files(path)):
        refuse(file.name, "this link leads out of the folder", "Copy the file there")
    problems.raise_if_any()  # before anything is opened
    contents: dict[str, dict[str, Any]] = {}
    for name in CONFIGURATIONS:
        if name == CONFIG or os.path.lexists(path / name):
            contents[name], why = library_model.read_configuration(path / name)
            if why:
                refuse(name, why)
            for key, value in [] if code else _items(contents[name]):
                if key == "auto_map" or (key.endswith("attn_implementation") and "/" in str(value)):
                    remedy = "If you trust the code that it names, add trust_remote_code: true"
                    refuse(name, f"the model needs code of its own ({key})", remedy)
    if ADAPTER in contents:
        remedy = "Merge it: model.merge_and_unload().save_pretrained(...) of the package peft"
        refuse(ADAPTER, "these are changes to another model, which is elsewhere", remedy)
    folder = Folder(contents[CONFIG], contents.get(GENERATION, {}), tuple(_weights(path, contents)))
    for name in folder.weights:
        why = "" if name.endswith(".safetensors") else "these weights are no safetensors"
        why = why if name == os.path.basename(name) else "the name leads out of the folder"
        if why := why or irregularity(path / name):
            refuse(quoted(name), why)
    if not folder.weights:
        name = folder.architecture if folder.architecture.isidentifier() else "AutoModel"
        code = f"from transformers import {name} as M; M.from_pretrained(folder).save_pretrained(folder)"
        what = f"it has no {WEIGHTS}; others, such as pickled weights, run code when they are read"
        problems.add(where, what, f"If you trust the others, write them again in Python: {code}")
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


# The model -------------------------------------------------------------------------------------------------


# Types of models whose predictions do not depend on padding behind a signal if a mask is given and the first
# layers normalise each frame for itself (``feat_extract_norm: layer``). All others do.
PADDABLE = ("hubert", "unispeech", "unispeech-sat", "wav2vec2", "wavlm")
SHORTEST = 0.8  # of the longest signal, that one may have to be padded
# Weights that only training uses.
UNUSED = ("masked_spec_embed",)
NAMED = 5  # weights that a message names


def pads_exactly(config: Any) -> bool:
    """Say whether the predictions of a network with this configuration do not depend on masked padding."""
    layered = getattr(config, "feat_extract_norm", "") == "layer"
    return config.model_type in PADDABLE and layered and not getattr(config, "add_adapter", False)


class TransformersKeys(ModelKeys):
    """Further keys of such a model."""

    labels: Labels = {}
    probabilities: Probabilities | None = None
    confidence: schema.Boolean = False
    outputs: schema.Names | None = None
    language: schema.Text | None = None
    pooling: schema.choice(POOLED) | None = None
    device: schema.choice("cpu", "cuda", "mps") = "cpu"
    trust_remote_code: schema.Boolean = False


class TransformersModel(LibraryModel):
    """A folder of Transformers as a model."""

    keyword = "transformers"
    keys = TransformersKeys
    extra = "transformers"
    distributions = ("transformers", "torch", "tokenizers", "safetensors")

    @classmethod
    def refused_without_code(cls, entry: ModelEntry) -> str:
        """Refuse code of the folder, which is run only if the suite says so."""
        return "the model runs code of its folder" if entry.options["trust_remote_code"] else ""

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List the files of the folder that its predictions rest on, and those that the suite names."""
        return [*dict.fromkeys([*relevant_files(entry.path), *super().named_files(entry, suite)])]

    def open(self, tasks: Sequence[Task]) -> None:
        """Load network, preprocessor and tokenizer."""
        options, path = self.entry.options, self.entry.path
        folder = read_folder(path, self.where, code=options["trust_remote_code"])
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else CUDA is not deterministic
        self._torch = self.library("torch")
        transformers = self.library("transformers")
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        self._prepare_device(options["device"])
        self._head = self._find_head(folder, tasks)
        with self.understood("the preprocessor cannot be loaded", AGAIN):
            self._extractor = transformers.AutoFeatureExtractor.from_pretrained(path, **self._local)
        self._rate = int(self._extractor.sampling_rate)
        problems = Problems()
        if self._head.needs_tokens:
            with self.understood("the tokenizer cannot be loaded", AGAIN):
                self._head.tokenizer = transformers.AutoTokenizer.from_pretrained(path, **self._local)
            self._head.check(problems)
            problems.raise_if_any()
        self._network = self._head.network = self._load_network(getattr(transformers, self._head.auto))
        # Longer rows cost a processor more than calls; a graphics card has cores to fill.
        self._pads = options["device"] != "cpu" and pads_exactly(self._network.config)

    @property
    def _local(self) -> dict[str, bool]:
        """How anything is loaded."""
        return {"local_files_only": True, "trust_remote_code": self.entry.options["trust_remote_code"]}

    def _prepare_device(self, device: str) -> None:
        torch = self._torch
        available = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
        if device in available and not available[device]():
            remedy = "Write device: cpu, or install a torch that fits this machine and its driver"
            raise self.refusal(f"device: {device} is not there, says torch {torch.__version__}", remedy)
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # what nobody reads
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False

    def _find_head(self, folder: Folder, tasks: Sequence[Task]) -> Head:
        """Find what the model predicts, and check that it fits what the suite says."""
        problems = Problems()
        options = self.entry.options
        library = self.library("transformers")
        kind = find_head(folder, options, library, self.where, problems)
        problems.raise_if_any()
        if not kind.fits(tasks):
            name = folder.architecture or "the model"
            what = f"{name} does not answer {', '.join(task.name for task in tasks)}"
            problems.add(self.where, what, f"Under tasks: belongs {kind.wanted}")
        for key in ("labels", "outputs", "language", "pooling", "probabilities", "confidence"):
            if options.get(key) and key not in kind.options:
                what = f"{key}: means nothing for {folder.architecture or 'this model'}"
                problems.add(self.where, what, "Remove the key")
        if kind.needs_tokens and not any(any(self.entry.path.glob(name)) for name in VOCABULARIES):
            # The library would make a tokenizer without words, and every transcript would be empty.
            what = "it has no vocabulary: neither vocab.json nor tokenizer.json"
            problems.add(self.where, what, "Copy it from where the model was trained")
        problems.raise_if_any()
        head = kind(tasks, options, self.where)
        head.understand(folder, problems)
        problems.raise_if_any()
        return head

    def _load_network(self, auto: Any) -> Any:
        """Load the weights; refuses some that are missing, of another shape or not finite."""
        with self.understood("the model cannot be loaded", AGAIN):
            network, info = auto.from_pretrained(
                self.entry.path,
                **self._local,
                use_safetensors=True,
                dtype=self._torch.float32,
                ignore_mismatched_sizes=True,  # refused below, with names
                output_loading_info=True,
            )
        remedy = "Save the model again with save_pretrained(), with the configuration that belongs to it"
        shapes, finite = info["mismatched_keys"], self._torch.isfinite
        wrong = {
            "weights that config.json wants are not in the files": [
                name for name in info["missing_keys"] if not name.endswith(UNUSED)
            ],
            "weights have another shape than config.json says": [
                f"{name} {tuple(size)} instead of {tuple(shape)}" for name, size, shape in shapes
            ],
            "weights are not finite": [
                name for name, weight in network.named_parameters() if not bool(finite(weight).all())
            ],
        }
        problems = Problems()
        for what, names in wrong.items():
            if names:
                problems.add(self.where, f"{what}: {some(sorted(names), NAMED)}", remedy)
        problems.raise_if_any()
        return network.eval().to(self.entry.options["device"])

    # Asking ---------------------------------------------------------------------------------------------

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Ask the network, in groups whose predictions do not depend on each other."""
        inputs = [self._inputs(resampled(signal, sampling_rate, self._rate)) for signal in signals]
        outputs: list[Any] = [None] * len(signals)
        for group in self._groups(inputs):
            with self._torch.inference_mode():
                group_outputs = self._ask([inputs[number] for number in group])
            for number, output in zip(group, group_outputs, strict=True):
                outputs[number] = output
        return outputs

    def _inputs(self, signal: np.ndarray) -> dict[str, Any]:
        """Turn one signal into inputs of the network, first axis 1."""
        options: dict[str, Any] = {}
        longest = getattr(self._extractor, "n_samples", None)  # of models that hear windows of 30 s
        if self._head.needs_tokens and longest is not None and len(signal) > longest:  # window after window
            options = {"truncation": False, "padding": "longest", "return_attention_mask": True}
        made = self._extractor(signal, sampling_rate=self._rate, return_tensors="pt", **options)
        return {**made, "long": True} if options else dict(made)

    def _groups(self, inputs: Sequence[Mapping[str, Any]]) -> Iterator[list[int]]:
        """Part a batch into what is computed together, numbers of inputs."""
        masked = all({"attention_mask", "input_values"} <= tensors.keys() for tensors in inputs)
        if not (self._pads and masked):
            alike: dict[tuple, list[int]] = {}
            for number, tensors in enumerate(inputs):
                shape = tuple(sorted((name, getattr(item, "shape", 1)) for name, item in tensors.items()))
                alike.setdefault(shape, []).append(number)
            yield from alike.values()
            return
        lengths = [tensors["input_values"].shape[-1] for tensors in inputs]
        group: list[int] = []
        for number in sorted(range(len(inputs)), key=lambda number: -lengths[number]):
            if group and lengths[number] < SHORTEST * lengths[group[0]]:
                yield group
                group = []
            group.append(number)
        yield group

    def _ask(self, inputs: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Ask about inputs that belong together."""
        pad = self._torch.nn.utils.rnn.pad_sequence
        device = self.entry.options["device"]
        names = [name for name, item in inputs[0].items() if not isinstance(item, bool)]
        stacked = {name: pad([tensors[name][0] for tensors in inputs], batch_first=True) for name in names}
        stacked = {**inputs[0], **{name: item.to(device) for name, item in stacked.items()}}
        frames = None
        if self._pads and "attention_mask" in stacked:
            lengths = stacked["attention_mask"].sum(-1)
            if int(lengths.min()) < int(lengths.max()):
                frames = self._network._get_feat_extract_output_lengths(lengths).tolist()
        return self._head.answer(stacked, frames)
