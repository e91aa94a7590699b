"""The suite of networks whose weights come in packages."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml
from runs import started

from soundcheck.suite.paths import find_place
from soundcheck.suite.suite_file import read_suite

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "suites" / "neural.yml"
TEXT = SUITE.read_text("utf-8")


def test_extras_and_pins_name_what_the_suite_needs():
    pins = (ROOT / "requirements-neural.txt").read_text("utf-8").lower()
    for package in ("onnxruntime", "speechmos", "resemblyzer", "torch", "transformers", "onnx-asr"):
        assert re.search(rf"^{package}==\S+$", pins, re.MULTILINE), package
    others = (ROOT / "requirements.txt").read_text("utf-8").lower()
    shared = {line.partition("==")[0] for line in pins.splitlines() if "==" in line}
    shared &= {line.partition("==")[0] for line in others.splitlines()}
    assert shared <= {"setuptools"}  # torch asks for a newer one


SMALL = """
replicates: 100
studies: false
families: [fairness_accent]
corpora:
  calls: {format: csv, path: calls.csv}
"""


def test_its_network_judges_recordings(tmp_path):
    """The entry of the suite as it stands; answers are those of the graph for the signal, repeated."""
    onnxruntime, _ = pytest.importorskip("onnxruntime"), pytest.importorskip("speechmos")
    rows, signals = ["file,accent"], {}
    for number in range(3):
        pitch = 100 * (1 + 0.1 * np.sin(np.arange(16000 + number) / 1000))
        phase = np.cumsum(2 * np.pi * pitch / 16000)  # what hums like a voice is not judged worse than 1
        signal = sum(np.sin(n * phase) / n for n in range(1, 20)) * np.sin(np.arange(len(phase)) / 3000) ** 2
        signals[f"{number}.wav"] = signal = (0.1 * signal).astype(np.float32)
        soundfile.write(tmp_path / f"{number}.wav", signal, 16000, subtype="FLOAT")
        rows.append(f"{number}.wav,{number % 2}")
    (tmp_path / "calls.csv").write_text("\n".join(rows) + "\n")
    valid = read_suite(SUITE)
    assert valid.models["quality"].public_target == "package:speechmos/dnsmos_models/sig_bak_ovr.onnx"
    whole = yaml.safe_load(TEXT)
    part = {"tasks": whole["tasks"], "models": {"quality": whole["models"]["quality"]}}
    (tmp_path / "suite.yml").write_text(SMALL + yaml.safe_dump(part))
    options = ("--out", "out", "--no-book", "--no-code", "--jobs", "1")
    done = started("run", "suite.yml", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    table = pd.read_parquet(tmp_path / "out" / "predictions" / "quality" / "calls.parquet")
    graph, *_ = find_place(SUITE, whole["models"]["quality"]["onnx"], folder=False)
    session = onnxruntime.InferenceSession(graph)
    for name, row in zip(table["key"].str.partition("|")[0], table.to_dict("records"), strict=True):
        given = np.resize(signals[name], 144160)[np.newaxis]
        expected = session.run(None, {session.get_inputs()[0].name: given})[0][0]
        assert [row[task] for task in whole["tasks"]] == pytest.approx(expected.tolist(), abs=1e-4)
