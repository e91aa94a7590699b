"""Runs of ONNX models through the real command: real weights, a tiny graph and a tiny recogniser."""

import numpy as np
import pandas as pd
import pytest
import soundfile
from networks import answers, installed_file, onnx_model, onnx_recogniser
from runs import Run, run, sound, write

from soundcheck.augment import registry
from soundcheck.suite.thresholds import read_family

runtime = pytest.importorskip("onnxruntime")
onnx_asr = pytest.importorskip("onnx_asr")
onnx = pytest.importorskip("onnx")

pytestmark = pytest.mark.slow
RATE, PIECE = 16000, 144160
SMALL = "robustness_small_changes"
HEAD = """
replicates: 100
studies: false
sweeps: false
limits: {segments_per_change: 1}
corpora:
  noise: {format: csv, path: data/segments.csv}
tasks:
  overall: {type: regression, range: [0, 5]}
models:
"""
SUITE = f"""{HEAD}
  quality:
    onnx: sig_bak_ovr.onnx
    tasks: [overall]
    outputs: {{"Identity:0": [signal, background, overall]}}
    sampling_rate: 16000
    pieces: repeat
  tiny: {{onnx: tiny.onnx, tasks: [arousal], range: [-2, 2], batch: 4, families: [correctness_regression]}}
  words: {{onnx-asr: asr, batch: 4}}
families: [correctness_regression, {SMALL}, asr_word_errors]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng, rows = tmp_path_factory.mktemp("onnx"), np.random.default_rng(0), []
    source = installed_file("speechmos", "dnsmos_models", "sig_bak_ovr.onnx")
    (folder / source.name).write_bytes(source.read_bytes())
    onnx_model(folder / "tiny.onnx", {"number": 1}, lengths="lens")
    onnx_recogniser(folder / "asr")
    for number in range(6):
        noise = rng.normal(0, 0.02 * (number + 1), RATE + 800 * (number // 2))
        sound(folder / "data" / f"{number}.wav", noise)
        rows.append((f"{number}.wav", f"s{number // 2}", rng.uniform(), rng.uniform(1, 5), "a b c d"))
    columns = ["file", "speaker", "arousal", "overall", "transcript"]
    table = pd.DataFrame(rows, columns=columns).round(2)
    return write(folder, {"data/segments.csv": table, "suite.yml": SUITE})


@pytest.fixture(scope="module")
def whole(folder, undrawn) -> Run:
    return run(undrawn, folder, "--no-book", "--no-code")


def heard(folder, key):
    return soundfile.read(folder / "data" / key.partition("|")[0], dtype="float32")[0]


def test_predictions_are_those_of_the_network_clean_and_under_changes(folder, whole):
    session = runtime.InferenceSession(str(folder / "sig_bak_ovr.onnx"))
    contents = whole.segments("noise")["audio"]
    changes = {change.identity: change for change in read_family(SMALL).changes.values()}
    predictions = whole.predictions("quality", "noise", None).dropna(subset="overall")
    assert len(predictions) == 6 + len(changes)
    for row in predictions.itertuples():
        samples = heard(folder, row.key)
        if row.change:
            samples, _ = registry.apply(changes[row.change], samples, RATE, seed=0, content=contents[row.key])
        (numbers,) = session.run(None, {"input_1": np.resize(samples, PIECE)[None]})[0]
        assert abs(row.overall - numbers[2]) < 1e-5, row
    for key, arousal in whole.predictions("tiny", "noise")["arousal"].items():
        assert abs(4 * arousal - 2 - answers(heard(folder, key), 1)[0]) < 1e-6
    direct = onnx_asr.load_model("nemo-conformer-ctc", folder / "asr")
    for key, text in whole.predictions("words", "noise")["transcript"].items():
        assert text == direct.recognize(heard(folder, key))
    assert set(whole.rows(family="asr_word_errors")["model"]) == {"words"}
    notes = {model["name"]: "\n".join(model["notes"]) for model in whole.record["models"]}
    assert (
        "16,000 Hz are assumed; write sampling_rate:" in notes["tiny"] and "assumed" not in notes["quality"]
    )
