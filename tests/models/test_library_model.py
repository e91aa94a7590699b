"""Models that libraries run: what becomes of the child that loads one, whatever the library does.

The library is ONNX Runtime, or a module of its name that a test puts in its place.
"""

import dataclasses
import multiprocessing
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import soundfile
from library_models import Project, forgetting
from networks import answers, onnx_model

from soundcheck.common import extras
from soundcheck.common.files import digest
from soundcheck.models import library_model
from soundcheck.models.base import check_model, load_model
from soundcheck.predict import executor
from soundcheck.predict.engine import predict_model
from soundcheck.predict.request import PredictionRequest
from soundcheck.predict.tables import read_predictions

pytest.importorskip("onnxruntime")

TEXT = "{onnx: m.onnx, tasks: [arousal, dominance, valence], batch: 2, range: [-1, 1]}"
WHERE = "suite.yml, models.mine.onnx, m.onnx: "


@pytest.fixture
def project(tmp_path):
    onnx_model(tmp_path / "m.onnx")
    with forgetting():
        yield Project(tmp_path)


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Put a module in the place of ONNX Runtime, for children that are started from now on."""

    def put(source: str) -> None:
        folder = tmp_path / "instead"
        folder.mkdir()
        (folder / "onnxruntime.py").write_text(source)
        monkeypatch.setenv("PYTHONPATH", str(folder))

    return put


def test_a_child_finds_what_this_process_finds(project):
    assert project.check(TEXT) == check_model(*project.read(TEXT))
    entry, suite = project.read(TEXT)
    assert library_model.LibraryModel._latest is None  # nothing is loaded here
    assert entry.about.check(entry, suite) == load_model(entry, suite).fingerprint


def test_a_library_that_is_missing(project, library):
    library("raise ModuleNotFoundError(\"No module named 'onnxruntime'\", name='onnxruntime')")
    assert project.refused(TEXT, child=True) == (
        f'{WHERE}the package onnxruntime is not installed. Install it: pip install "soundcheck-speech[onnx]".'
    )


def test_a_library_that_is_broken(project, library):
    library("raise ImportError('libsomething.so.12: cannot open shared object file')")
    message = project.refused(TEXT, child=True)
    assert message.startswith(f"{WHERE}the package onnxruntime cannot be imported: ImportError: libsomething")


def test_a_library_that_ends_the_process(project, library):
    library("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    message = project.refused(TEXT, child=True)
    assert message.startswith(
        f"{WHERE}loading the model ended the process (signal 9, SIGKILL). Is there enough"
    )


def test_a_library_that_does_not_end(project, library, monkeypatch):
    monkeypatch.setattr(library_model, "LOAD_SECONDS", 0.5)
    library("import time; time.sleep(60)")
    message = project.refused(TEXT, child=True)
    assert message.startswith(f"{WHERE}loading the model did not end within 0.5 s")


def test_an_error_that_nobody_expected(project, library):
    library("get_available_providers = lambda: 1 / 0")
    message = project.refused(TEXT, child=True)
    assert message.startswith(f"{WHERE}the model cannot be loaded: ZeroDivisionError: division by zero")


def test_problems_come_from_the_child(project):
    text = "{onnx: m.onnx, tasks: [arousal, emotion], outputs: {a: [arousal], b: {emotion: [anger]}}}"
    lines = project.refused(text, child=True).splitlines()
    assert [line.partition(". ")[0] for line in lines] == [
        f"{WHERE}the graph has no output 'a'",
        f"{WHERE}the graph has no output 'b'",
    ]


def test_loaded_once_in_a_process_while_nothing_changes(project):
    entry, suite = project.read(TEXT)
    model = load_model(entry, suite)
    assert load_model(*project.read(TEXT)) is model
    batch = load_model(*project.read(TEXT.replace("batch: 2", "batch: 3")))
    assert batch is not model
    onnx_model(project.folder / "m.onnx", metadata={"by": "somebody else"})
    assert load_model(*project.read(TEXT.replace("batch: 2", "batch: 3"))) is not batch


@pytest.mark.usefixtures("forked_models")
def test_what_a_fingerprint_is_made_of(project, monkeypatch):
    entry, suite = project.read(TEXT)
    known = {check_model(entry, suite)}

    def is_new() -> bool:
        before = len(known)
        known.add(check_model(*project.read(TEXT)))
        return len(known) > before

    assert not is_new()
    onnx_model(project.folder / "m.onnx", external="weights.bin")
    assert is_new()
    (project.folder / "weights.bin").write_bytes(bytes((project.folder / "weights.bin").stat().st_size))
    assert is_new()
    other = dataclasses.replace(entry, options=entry.options | {"sampling_rate": 8000})
    before = load_model(entry, suite).fingerprint
    assert load_model(other, suite).fingerprint != before
    monkeypatch.setattr(extras, "versions", lambda names: dict.fromkeys(names, "another"))
    assert load_model(entry, suite).fingerprint != before


class Asked:
    """Six recordings, and the model asked about them by its own process."""

    def __init__(self, project: Project) -> None:
        self.root = project.folder
        rng = np.random.default_rng(0)
        for number in range(6):
            signal = rng.normal(0, 0.1, 1000 + 100 * (number // 2))
            soundfile.write(self.root / f"{number}.wav", signal.astype(np.float32), 16000, "FLOAT")
        files = [f"{number}.wav" for number in range(6)]
        segments = pd.DataFrame({"file": files, "start": np.nan, "end": np.nan, "duration": 1.0})
        segments["key"], segments["audio"] = files, [digest(self.root / file) for file in files]
        self.corpus = SimpleNamespace(name="demo", root=self.root, segments=segments)
        self.entry, self.suite = project.read(TEXT)

    def request_of(self, out: str = "out") -> PredictionRequest:
        folder = self.root / out
        return PredictionRequest(self.entry, self.suite, [self.corpus], {}, folder, self.root / "cache")

    def expected(self) -> np.ndarray:
        signals = [soundfile.read(self.root / f"{number}.wav", dtype="float32")[0] for number in range(6)]
        return np.array([answers(signal, 3) for signal in signals])


def found(report) -> np.ndarray:
    assert not report.failures
    table = read_predictions(report.tables["demo"])[["arousal", "dominance", "valence"]]
    return 2 * table.to_numpy() - 1  # tables hold what is 0 to 1 on the model's scale


@pytest.mark.usefixtures("forked_models")
def test_workers_give_what_the_graph_computes(project):
    asked = Asked(project)
    assert np.abs(found(predict_model(asked.request_of(), jobs=2)) - asked.expected()).max() < 1e-6


SHORT_OF_MEMORY = """
import os, sys

sys.path.remove(os.path.dirname(__file__))
del sys.modules["onnxruntime"]
import onnxruntime

run = onnxruntime.InferenceSession.run


def limited(self, names, given, *more):
    if given["signal"].shape[-1] == 9000:
        raise RuntimeError("Failed to allocate memory for requested buffer of size 21474836480")
    return run(self, names, given, *more)


onnxruntime.InferenceSession.run = limited
"""


def test_memory_that_does_not_suffice_is_the_failure_of_one_signal(project, library, monkeypatch, tmp_path):
    # A process that starts anew finds the library in the place of the one that a fork has imported already.
    monkeypatch.setattr(executor, "context", lambda: multiprocessing.get_context("spawn"))
    asked = Asked(project)
    soundfile.write(project.folder / "3.wav", np.zeros(9000), 16000)
    asked.corpus.segments.loc[3, "audio"] = digest(project.folder / "3.wav")
    library(SHORT_OF_MEMORY)
    monkeypatch.syspath_prepend(str(tmp_path / "instead"))
    report = predict_model(asked.request_of())
    ((_, item, _, problem),) = report.failures
    assert item == "3.wav"
    assert problem == "RuntimeError: Failed to allocate memory for requested buffer of size 21474836480"
    table = read_predictions(report.tables["demo"])
    there = table["error"] == ""
    assert there.tolist() == [True, True, True, False, True, True]
    assert np.abs(2 * table["arousal"] - 1 - asked.expected()[:, 0])[there].max() < 1e-6


@pytest.mark.usefixtures("forked_models")
def test_a_model_that_has_changed_is_asked_again(project):
    asked = Asked(project)
    before = found(predict_model(asked.request_of()))
    onnx_model(project.folder / "m.onnx", change=_doubled)
    assert np.allclose(found(predict_model(asked.request_of())), 2 * before, atol=1e-6)


def _doubled(model) -> None:
    import onnx

    model.graph.node[-1].output[:] = ["once"]
    model.graph.node.append(onnx.helper.make_node("Add", ["once", "once"], ["logits"]))
