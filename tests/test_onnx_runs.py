"""Runs of ONNX models through the real command: real weights, a tiny graph and a tiny recogniser."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml
from networks import answers, installed_file, onnx_model, onnx_recogniser
from runs import Run, run, sound, write

from soundcheck.augment import registry
from soundcheck.suite.thresholds import read_family

runtime = pytest.importorskip("onnxruntime")
onnx_asr = pytest.importorskip("onnx_asr")
onnx = pytest.importorskip("onnx")

pytestmark = pytest.mark.slow
RATE, PIECE = 16000, 144160
TILT = "robustness_spectral_tilt"
NEURAL = yaml.safe_load((Path(__file__).parents[1] / "suites" / "neural.yml").read_text("utf-8"))
QUALITY = NEURAL["models"]["quality"] | {"families": [TILT], "corpora": ["few"]}  # the entry as it stands
SUITE = f"""
replicates: 100
studies: false
sweeps: false
limits: {{segments_per_change: 1}}
corpora:
  hums: {{format: csv, path: data/hums.csv}}
  few: {{format: csv, path: data/few.csv}}
tasks: {yaml.safe_dump(NEURAL["tasks"], default_flow_style=True)}
models:
  quality: {yaml.safe_dump(QUALITY, default_flow_style=True, width=9999)}
  tiny:
    onnx: tiny.onnx
    tasks: [arousal]
    outputs: {{number: [arousal]}}
    range: [-2, 2]
    batch: 4
    corpora: [hums]
    families: [correctness_regression]
  words: {{onnx-asr: asr, batch: 4, corpora: [hums]}}
families: [correctness_regression, {TILT}, asr_word_errors]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng, rows = tmp_path_factory.mktemp("onnx"), np.random.default_rng(0), []
    onnx_model(folder / "tiny.onnx", {"number": 1}, lengths="lens")
    onnx_recogniser(folder / "asr")
    for number in range(6):
        time = np.arange(RATE + 800 * (number // 2))
        phase = np.cumsum(2 * np.pi * (100 + 10 * np.sin(time / 1000)) / RATE)
        # What hums is not judged to be worse than 1.
        hum = sum(np.sin(n * phase) / n for n in range(1, 20)) * np.sin(time / 3000) ** 2
        sound(folder / "data" / f"{number}.wav", 0.1 * hum + rng.normal(0, 0.0002 * number, len(time)))
        rows.append((f"{number}.wav", f"s{number // 2}", round(rng.uniform(), 2), "a b c d"))
    table = pd.DataFrame(rows, columns=["file", "speaker", "arousal", "transcript"])
    return write(folder, {"data/hums.csv": table, "data/few.csv": table[4:5], "suite.yml": SUITE})


@pytest.fixture(scope="module")
def whole(folder, undrawn) -> Run:
    return run(undrawn, folder, "--no-book", "--no-code")


def heard(folder, key):
    return soundfile.read(folder / "data" / key.partition("|")[0], dtype="float32")[0]


def test_predictions_are_those_of_the_network_clean_and_under_changes(folder, whole):
    session = runtime.InferenceSession(installed_file("speechmos", "dnsmos_models", "sig_bak_ovr.onnx"))
    contents = whole.segments("few")["audio"]
    changes = {change.identity: change for change in read_family(TILT).changes.values()}
    predictions = whole.predictions("quality", "few", None).dropna(subset="overall_quality")
    assert len(predictions) == 1 + len(changes)
    for row in predictions.to_dict("records"):
        samples = heard(folder, row["key"])
        if change := changes.get(row["change"]):
            samples, _ = registry.apply(change, samples, RATE, seed=0, content=contents[row["key"]])
        (numbers,) = session.run(None, {"input_1": np.resize(samples, PIECE)[None]})[0]
        assert [row[task] for task in QUALITY["tasks"]] == pytest.approx(numbers.tolist(), abs=1e-5), row
    for key, arousal in whole.predictions("tiny", "hums")["arousal"].items():
        assert abs(4 * arousal - 2 - answers(heard(folder, key), 1)[0]) < 1e-6
    direct = onnx_asr.load_model("nemo-conformer-ctc", folder / "asr")
    for key, text in whole.predictions("words", "hums")["transcript"].items():
        assert text == direct.recognize(heard(folder, key))
    assert set(whole.rows(family="asr_word_errors")["model"]) == {"words"}
    notes = {model["name"]: "\n".join(model["notes"]) for model in whole.record["models"]}
    assert (
        "16,000 Hz are assumed; write sampling_rate:" in notes["tiny"] and "assumed" not in notes["quality"]
    )
