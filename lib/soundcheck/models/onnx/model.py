"""A model that is an ONNX graph: ``onnx: model.onnx``, or a folder that audonnx has written.

The graph is given signals and its numbers are answers: see :mod:`soundcheck.models.onnx.inputs` and
:mod:`soundcheck.models.onnx.outputs`. It computes in one thread. Nothing of it is code: operators of
libraries are refused, and classes that a folder names.

Kept answers rest on the file, on the files of its weights, and on the version of ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common.tasks import Task
from soundcheck.models.class_labels import Labels, Probabilities
from soundcheck.models.library_model import LibraryModel, resampled
from soundcheck.models.onnx import session as onnx_session
from soundcheck.models.onnx.folder import LABELS, OBJECT, find_graph, read_folder
from soundcheck.models.onnx.inputs import FILLS, Graph
from soundcheck.models.onnx.outputs import Outputs, OutputsKey, metadata_labels
from soundcheck.suite import schema
from soundcheck.suite.model_kind import ModelKeys
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

USUAL_RATE = 16_000  # of models of speech


class OnnxKeys(ModelKeys):
    """Keys of such a model."""

    outputs: OutputsKey = {}
    labels: Labels = {}
    probabilities: Probabilities | None = None
    sampling_rate: schema.whole(1000, 384_000) | None = None
    pieces: schema.choice(*FILLS) | None = None
    device: schema.choice(*onnx_session.DEVICES) = "cpu"


class OnnxModel(LibraryModel):
    """An ONNX graph as a model."""

    keyword = "onnx"
    keys = OnnxKeys
    extra = "onnx"
    distributions = onnx_session.DISTRIBUTIONS

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
        """Say that the sampling rate is assumed: no graph tells, and a wrong one ruins every answer."""
        if entry.options["sampling_rate"] is not None:
            return []
        assumed = f"nothing says at which sampling rate the graph listens, so {USUAL_RATE:,} Hz are assumed"
        return [f"{assumed}; write sampling_rate: if that is wrong"]

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List the graph, the files with its weights and what describes it, and those of the suite."""
        graph, described = entry.path, []
        if entry.path.is_dir():
            graph = find_graph(entry.path)
            described = [entry.path / name for name in (LABELS, OBJECT) if (entry.path / name).is_file()]
        try:
            weights = onnx_session.read_onnx_file(graph).weights
        except (onnx_session.OnnxFileError, ImportError):  # told when it is loaded
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
        found = onnx_session.checked_file(path, self.refusal)
        session = onnx_session.open_session(runtime, path, options["device"], self.refusal)
        self.rate = options["sampling_rate"] or USUAL_RATE
        self.graph = Graph(
            session,
            self.refusal,
            fill=options["pieces"] or "",
            batch=self.entry.batch or 1,
            rate=self.rate,
        )
        sizes = self.graph.sizes
        only = next(iter(sizes)) if len(sizes) == 1 else ""
        if not named:
            named = {only: metadata_labels(found.metadata)}
        self.outputs = Outputs(
            tasks,
            sizes,
            self.where,
            said=options["outputs"],
            labels=options["labels"],
            named={name or only: names for name, names in named.items() if names},
            unusable=self.graph.unusable,
            probabilities=options["probabilities"],
        )

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Run the graph."""
        given = [resampled(signal, sampling_rate, self.rate) for signal in signals]
        return self.outputs.answers(self.graph.values(given, self.outputs.names))
