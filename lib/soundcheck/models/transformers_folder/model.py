"""A model that is a folder of Hugging Face Transformers: ``transformers: my-model``.

Conventions
-----------
- Nothing is fetched, and no code of the folder is run unless the suite says ``trust_remote_code: true``;
  see :mod:`soundcheck.models.transformers_folder.files`. What the head means is in
  :mod:`soundcheck.models.transformers_folder.heads`.
- Weights are used as float32, whatever they were saved as, with one thread and deterministic algorithms.
  A weight that the files lack is an error: the library would take random numbers for it.
- Each signal is turned into inputs alone. Of a batch, inputs of one shape are computed together. Others
  are padded only on graphics cards, where this is exact but for rounding and at most a fifth is padding.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common.errors import Problems
from soundcheck.common.tasks import Task
from soundcheck.common.wording import some
from soundcheck.models.class_labels import Labels, Probabilities
from soundcheck.models.library_model import LibraryModel, resampled
from soundcheck.models.transformers_folder.files import AGAIN, Folder, read_folder, relevant_files
from soundcheck.models.transformers_folder.heads import POOLED, Head, find_head
from soundcheck.suite import schema
from soundcheck.suite.model_kind import ModelKeys
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

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
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Look for the folder; names of a hub are refused."""
        place, what, remedy = find_place(suite_file, target, folder=True)
        if place is None and "not exist" in what and target.count("/") == 1 and target[0] not in "./~":
            name = target.split("/")[1]
            remedy = (
                f"Is it on a hub? Models are not downloaded: `hf download {target} --local-dir {name}`, "
                f"then write transformers: {name}"
            )
        return place, what, remedy

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
        options = self.entry.options
        folder = read_folder(self.entry.path, self.where, code=options["trust_remote_code"])
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else CUDA is not deterministic
        self._torch = self.library("torch")
        transformers = self.library("transformers")
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        self._prepare_device(options["device"])
        self._head = self._find_head(folder, tasks)
        with self.understood("the preprocessor cannot be loaded", AGAIN):
            self._extractor = transformers.AutoFeatureExtractor.from_pretrained(folder.path, **self._local)
        self._rate = int(self._extractor.sampling_rate)
        problems = Problems()
        if self._head.needs_tokens:
            with self.understood("the tokenizer cannot be loaded", AGAIN):
                self._head.tokenizer = transformers.AutoTokenizer.from_pretrained(folder.path, **self._local)
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
        if not folder.has_preprocessor:
            what = "it has no preprocessor_config.json, which says how signals become inputs"
            remedy = "Copy it from the model that this one was trained from"
            problems.add(self.where, what, remedy)
        if kind.needs_tokens and not folder.has_vocabulary:
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
            try:
                with self._torch.inference_mode():
                    group_outputs = self._ask([inputs[number] for number in group])
            except RuntimeError as error:
                if not (isinstance(error, self._torch.OutOfMemoryError) or "allocate memory" in str(error)):
                    raise
                if self.entry.options["device"] == "cuda":
                    self._torch.cuda.empty_cache()
                seconds = sum(len(signals[number]) for number in group) / sampling_rate
                raise MemoryError(f"not enough memory for {seconds:.1f} s of sound") from error
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
        if not (self._pads and all("attention_mask" in one and "input_values" in one for one in inputs)):
            alike: dict[tuple, list[int]] = {}
            for number, one in enumerate(inputs):
                shape = tuple(sorted((name, getattr(item, "shape", 1)) for name, item in one.items()))
                alike.setdefault(shape, []).append(number)
            yield from alike.values()
            return
        lengths = [one["input_values"].shape[-1] for one in inputs]
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
        stacked = {name: pad([one[name][0] for one in inputs], batch_first=True) for name in names}
        stacked = {**inputs[0], **{name: item.to(device) for name, item in stacked.items()}}
        frames = None
        if self._pads and "attention_mask" in stacked:
            lengths = stacked["attention_mask"].sum(-1)
            if int(lengths.min()) < int(lengths.max()):
                frames = self._network._get_feat_extract_output_lengths(lengths).tolist()
        return self._head.answer(stacked, frames)
