"""Models that libraries run: what becomes of the child that loads one, whatever the library does.

The library is ONNX Runtime, or a module of its name that a test puts in its place.
"""

import dataclasses

import numpy as np
import pytest
from library_models import load_model, noises
from networks import onnx_model

from soundcheck.common import resources
from soundcheck.models import library_model
from soundcheck.models.base import check_model
from soundcheck.models.library_model import each_length, links_outside, read_configuration

TEXT = "{onnx: m.onnx, tasks: [arousal, dominance, valence], batch: 2, range: [-1, 1]}"
WHERE = "suite.yml, models.mine.onnx, m.onnx: "


@pytest.fixture
def onnx_project(project):
    pytest.importorskip("onnxruntime")
    onnx_model(project.folder / "m.onnx")
    return project


def test_only_so_many_equally_long_signals_go_together():
    signals, seen = noises(5, 3, 5, 4, 3, 5), []
    sums = each_length(signals, lambda batch: seen.append(batch.shape) or batch.sum(axis=1).tolist(), 2)
    assert np.allclose(sums, [signal.sum() for signal in signals])
    assert sorted(seen) == [(1, 4), (1, 5), (2, 3), (2, 5)]


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
    [("{", "not JSON"), ("[]", "no mapping"), ("[" * 100_000, "it is not JSON: maximum recursion depth")],
)
def test_only_mappings_are_read(tmp_path, content, reason):
    (tmp_path / "config.json").write_text('{"a": 1}')
    assert read_configuration(tmp_path / "config.json") == ({"a": 1}, "")
    (tmp_path / "config.json").write_text(content)
    results, why = read_configuration(tmp_path / "config.json")
    assert results == {} and reason in why


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise ImportError('lib.so')", "the package onnxruntime cannot be imported: ImportError: lib.so"),
        ("import os; os.kill(os.getpid(), 9)", "loading the model ended the process (signal 9, SIGKILL)"),
        ("import time; time.sleep(60)", "loading the model did not end within 1 s"),
        ("get_available_providers = lambda: 1 / 0", "the model cannot be loaded: ZeroDivisionError: "),
    ],
)
def test_libraries_that_do_not_work(onnx_project, tmp_path, monkeypatch, source, words):
    """A module stands in the place of ONNX Runtime, for children that are started from now on."""
    monkeypatch.setattr(library_model, "LOAD_SECONDS", 1.0 if "sleep" in source else 60.0)
    (tmp_path / "instead").mkdir()
    (tmp_path / "instead" / "onnxruntime.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path / "instead"))
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
    monkeypatch.setattr(resources, "versions", lambda names: dict.fromkeys(names, "another"))
    assert model.fingerprint != before
