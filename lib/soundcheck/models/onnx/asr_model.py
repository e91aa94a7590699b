"""A recogniser in a folder that the package onnx-asr reads: ``onnx-asr: folder``.

NeMo's Conformers, Parakeet and Canary, Kaldi's and GigaAM's transducers, T-one and Whisper, as ONNX files
with their vocabulary. Nothing is fetched, and nothing of the folder is code.

Conventions
-----------
- Signals of the same length go into the model together, if the suite gives a ``batch``. Others never do: what
  is put behind the shorter ones would change their words. Those of Whisper go alone, as the package
  looks for the loudest spot in all signals of a call.
- Whisper hears 30 s. A longer signal gets no prediction: the rest of its words would be missing.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import AfterValidator

from soundcheck.common.messages import did_you_mean, quoted
from soundcheck.common.tasks import Task
from soundcheck.models import library_model
from soundcheck.models.answers import CONFIDENCE
from soundcheck.models.base import RECOGNISES, TRANSCRIPT, reason
from soundcheck.models.library_model import LibraryModel
from soundcheck.models.onnx import graph as onnx_graph
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelKeys
from soundcheck.suite.paths import find_files, find_place

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

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
DOWNLOAD = "Download it first: hf download OWNER/NAME --local-dir FOLDER"


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
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Look for the folder; names of a hub are none."""
        place, what, remedy = find_place(suite_file, target, folder=True)
        return place, what, f"{remedy}. {DOWNLOAD}" if "not exist" in what else remedy

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
        config = self._read_config(folder)
        self._architecture = options["architecture"] or self._architecture_of(config)
        self._options = {}
        if options["language"]:
            if self._architecture not in WITH_LANGUAGE:
                what = f"{self._architecture} knows one language, or finds it out itself"
                raise self.refusal(what, "Remove language")
            self._options = {"language": options["language"]}
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

    def _read_config(self, folder: Path) -> dict[str, Any]:
        """Read ``config.json``; empty if there is none."""
        path = folder / CONFIG
        if not path.exists():
            return {}
        config, what = library_model.read_configuration(path)
        for key in ("features_size", "num_mel_bins"):  # parts of names of files
            if not what and not isinstance(config.get(key, 80), int):
                what = f"{key} is no whole number"
        if what:
            raise self.refusal(f"{CONFIG}: {what}", "Download the folder again")
        return config

    def _architecture_of(self, config: dict[str, Any]) -> str:
        """Take the architecture that the folder says."""
        name = config.get(CONFIG_KEY)
        if name in ARCHITECTURES:
            return name
        what = "neither the suite nor the folder says which architecture it is"
        if name:
            what = f"the folder says {quoted(str(name))}, which is no architecture that onnx-asr knows"
        raise self.refusal(what, f"Add architecture. {did_you_mean(str(name or ''), ARCHITECTURES)}")
