"""Models that libraries run: what becomes of the child that loads one, whatever the library does.

The library is ONNX Runtime, or a module of its name that a test puts in its place.
"""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import soundfile
from library_models import noises
from load import load_model
from networks import answers, onnx_model

from soundcheck.common import extras
from soundcheck.common.files import digest
from soundcheck.models import library_model
from soundcheck.models.base import check_model
from soundcheck.models.library_model import each_length, links_outside, read_configuration
from soundcheck.predict.engine import predict_model
from soundcheck.predict.request import PredictionRequest
from soundcheck.predict.tables import read_predictions

TEXT = "{onnx: m.onnx, tasks: [arousal, dominance, valence], batch: 2, range: [-1, 1]}"
WHERE = "suite.yml, models.mine.onnx, m.onnx: "


@pytest.fixture
def onnx_project(project):
    pytest.importorskip("onnxruntime")
    onnx_model(project.folder / "m.onnx")
    return project


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Put a module in the place of ONNX Runtime, for children that are started from now on."""

    def put(source: str) -> None:
        folder = tmp_path / "instead"
        folder.mkdir()
        (folder / "onnxruntime.py").write_text(source)
        monkeypatch.syspath_prepend(str(folder))

    return put


@pytest.mark.parametrize(
    ("most", "calls"), [(None, [(1, 4), (2, 3), (3, 5)]), (2, [(1, 4), (1, 5), (2, 3), (2, 5)])]
)
def test_only_equally_long_signals_go_together(most, calls):
    signals, seen = noises(5, 3, 5, 4, 3, 5), []
    sums = each_length(signals, lambda batch: seen.append(batch.shape) or batch.sum(axis=1).tolist(), most)
    assert np.allclose(sums, [signal.sum() for signal in signals]) and sorted(seen) == calls


def test_links_that_lead_out_of_a_folder_but_not_to_the_blobs_of_a_hub(tmp_path):
    hub = tmp_path / "models--a--b"
    plain, snapshot = tmp_path / "model", hub / "snapshots" / "1"
    for folder in (plain, snapshot, hub / "blobs"):
        folder.mkdir(parents=True)
    (hub / "blobs" / "f00").write_text("")
    (plain / "weights").write_text("")
    (plain / "inside").symlink_to("weights")
    (plain / "outside").symlink_to("../secret")
    (plain / "nowhere").symlink_to("/does/not/exist")
    (snapshot / "weights").symlink_to("../../blobs/f00")
    (snapshot / "other").symlink_to("../../../elsewhere")
    results = [links_outside(folder, sorted(folder.iterdir())) for folder in (plain, snapshot)]
    assert [[path.name for path in paths] for paths in results] == [["nowhere", "outside"], ["other"]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [('{"a": 1}', ""), ("{", "not JSON"), ("[]", "no mapping"), ("[" * 100_000, "nested"), (None, "not")],
)
def test_only_mappings_are_read(tmp_path, content, reason):
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    results, why = read_configuration(tmp_path / "config.json")
    assert results == ({} if reason else {"a": 1})
    assert reason in why and bool(why) == bool(reason)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise ImportError('lib.so')", "the package onnxruntime cannot be imported: ImportError: lib.so"),
        ("import os; os.kill(os.getpid(), 9)", "loading the model ended the process (signal 9, SIGKILL). Is"),
        ("import time; time.sleep(60)", "loading the model did not end within 1 s"),
        (
            "get_available_providers = lambda: 1 / 0",
            "the model cannot be loaded: ZeroDivisionError: division",
        ),
    ],
)
def test_libraries_that_do_not_work(onnx_project, library, monkeypatch, source, words):
    if "sleep" in source:
        monkeypatch.setattr(library_model, "LOAD_SECONDS", 1.0)
    library(source)
    assert onnx_project.refused(TEXT, child=True).startswith(WHERE + words)


def test_what_a_fingerprint_is_made_of(onnx_project, monkeypatch):
    entry, suite = onnx_project.read(TEXT)
    weights = onnx_project.folder / "weights.bin"
    seen = [check_model(entry, suite)]
    onnx_model(onnx_project.folder / "m.onnx", external="weights.bin")
    seen.append(check_model(*onnx_project.read(TEXT)))
    weights.write_bytes(bytes(weights.stat().st_size))
    seen.append(check_model(*onnx_project.read(TEXT)))
    assert len(set(seen)) == 3
    other = dataclasses.replace(entry, options=entry.options | {"sampling_rate": 8000})
    before = load_model(entry, suite).fingerprint
    assert entry.about.check(entry, suite) == before != load_model(other, suite).fingerprint
    model = load_model(entry, suite)
    del model.entry.options["probabilities"]  # as of predictions from before there was the key
    assert model.fingerprint == before
    monkeypatch.setattr(extras, "versions", lambda names: dict.fromkeys(names, "another"))
    assert model.fingerprint != before


def test_workers_give_what_the_graph_computes_also_when_it_has_changed(onnx_project):
    def double(model) -> None:
        import onnx

        model.graph.node[-1].output[:] = ["once"]
        model.graph.node.append(onnx.helper.make_node("Add", ["once", "once"], ["logits"]))

    def predicted(jobs: int) -> np.ndarray:
        request = PredictionRequest(*onnx_project.read(TEXT), [corpus], {}, root / "out", root / "cache")
        report = predict_model(request, jobs=jobs)
        assert not report.failures
        table = read_predictions(report.tables["demo"])[["arousal", "dominance", "valence"]]
        return 2 * table.to_numpy() - 1  # tables hold what is 0 to 1 on the model's scale

    root, signals = onnx_project.folder, noises(1000, 1000, 1100, 1100, 1200, 1200)
    files = [f"{number}.wav" for number in range(len(signals))]
    for file, signal in zip(files, signals, strict=True):
        soundfile.write(root / file, signal, 16000, "FLOAT")
    segments = pd.DataFrame({"file": files, "start": np.nan, "end": np.nan, "duration": 1.0, "key": files})
    segments["audio"] = [digest(root / file) for file in files]
    corpus = SimpleNamespace(name="demo", root=root, segments=segments)
    expected = np.array([answers(signal, 3) for signal in signals])
    assert np.abs(predicted(jobs=2) - expected).max() < 1e-6
    onnx_model(root / "m.onnx", change=double)
    assert np.abs(predicted(jobs=1) - 2 * expected).max() < 1e-6
