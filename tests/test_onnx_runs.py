"""Runs of ONNX models through the real command: real weights, a tiny graph and a tiny recogniser.

One run is looked at closely; the others have to give the same, whatever the jobs, and killed half-way or not.
"""

import contextlib
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile
from killed import killed_run
from networks import answers, installed_file, onnx_model, onnx_recogniser

from soundcheck.augment import registry
from soundcheck.corpora.load import load_corpus
from soundcheck.predict.tables import read_predictions
from soundcheck.results.record import RunRecord
from soundcheck.results.table import read_results
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

runtime = pytest.importorskip("onnxruntime")
onnx_asr = pytest.importorskip("onnx_asr")
onnx = pytest.importorskip("onnx")

pytestmark = pytest.mark.slow
RATE, PIECE = 16000, 144160
SMALL = "robustness_small_changes"
SUITE = f"""
replicates: 100
studies: false
sweeps: false
limits: {{segments_per_change: 1}}
corpora:
  noise: {{format: csv, path: data/segments.csv}}
tasks:
  overall: {{type: regression, range: [0, 5]}}
models:
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
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("onnx") / "project"
    (place / "data").mkdir(parents=True)
    source = installed_file("speechmos", "dnsmos_models", "sig_bak_ovr.onnx")
    (place / source.name).write_bytes(source.read_bytes())
    onnx_model(place / "tiny.onnx", {"number": 1}, lengths="lens")
    onnx_recogniser(place / "asr")
    rng = np.random.default_rng(0)
    rows = ["file,speaker,arousal,overall,transcript"]
    for number in range(6):
        samples = rng.normal(0, 0.02 * (number + 1), RATE + 800 * (number // 2))
        soundfile.write(place / "data" / f"{number}.wav", samples, RATE)
        rows.append(f"{number}.wav,s{number // 2},{rng.uniform():.2f},{rng.uniform(1, 5):.2f},a b c d")
    (place / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    (place / "suite.yml").write_text(SUITE)
    return place


def words(folder: Path, out: str, *more: str) -> list[str]:
    return ["run", "suite.yml", "--out", out, "--no-book", "--no-code", *more]


@pytest.fixture(scope="module")
def out(folder, undrawn) -> Path:
    done = undrawn(*words(folder, "out"), cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def table(out: Path, model: str) -> pd.DataFrame:
    return read_predictions(out / "predictions" / model / "noise.parquet")


def contents(out: Path) -> dict[str, bytes]:
    paths = [out / "results.csv", *sorted(out.glob("predictions/**/*.parquet"))]
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in paths}


def heard(folder: Path, number: int) -> np.ndarray:
    return soundfile.read(folder / "data" / f"{number}.wav", dtype="float32")[0]


def test_real_weights_clean_and_under_changes(folder, out):
    session = runtime.InferenceSession(str(folder / "sig_bak_ovr.onnx"))
    suite = read_suite(str(folder / "suite.yml"))
    corpus = load_corpus(suite.corpora["noise"], suite, folder / "own-cache", 1)
    contents = dict(zip(corpus.segments["file"], corpus.segments["audio"], strict=True))
    changes = {change.identity: change for change in read_family(SMALL).changes.values()}
    found = table(out, "quality").dropna(subset="overall")
    assert len(found) == 6 + len(changes)
    for row in found.itertuples():
        samples = heard(folder, int(row.key[0]))
        if row.change:
            content = contents[row.key.partition("|")[0]]
            samples, _ = registry.apply(changes[row.change], samples, RATE, seed=0, content=content)
        (numbers,) = session.run(None, {"input_1": np.resize(samples, PIECE)[None]})[0]
        assert abs(row.overall - numbers[2]) < 1e-5, row


def test_a_tiny_graph(folder, out):
    found = table(out, "tiny")
    assert len(found) == 6
    for row in found.itertuples():
        expected = answers(heard(folder, int(row.key[0])), 1)[0]
        assert abs(4 * row.arousal - 2 - expected) < 1e-6


def test_a_recogniser(folder, out):
    direct = onnx_asr.load_model("nemo-conformer-ctc", folder / "asr")
    found = table(out, "words")
    assert list(found["transcript"]) == [direct.recognize(heard(folder, number)) for number in range(6)]
    rates = read_results(out / "results.csv").query("family == 'asr_word_errors'")
    assert len(rates) and set(rates["model"]) == {"words"}


def test_a_killed_run_goes_on_with_two_jobs_and_gives_the_same(folder, out, undrawn):
    killed_run(*words(folder, "killed", "--jobs", "1"), cwd=folder, answers=9)
    assert kept(folder / "killed") == 9 < kept(out)
    assert not (folder / "killed" / "results.csv").exists()
    done = undrawn(*words(folder, "killed", "--jobs", "2"), cwd=folder)
    assert done.returncode == 0, done.stderr
    assert contents(folder / "killed") == contents(out)


def test_what_cannot_be_used_is_told_at_once(folder, command):
    (folder / "damaged.onnx").write_bytes((folder / "tiny.onnx").read_bytes()[:200])
    text = SUITE.replace("onnx: tiny.onnx", "onnx: damaged.onnx").replace("onnx-asr: asr", "onnx-asr: data")
    (folder / "bad.yml").write_text(text)
    done = command("run", "bad.yml", "--out", "bad", "--no-book", cwd=folder)
    assert done.returncode == 2
    assert "bad.yml, models.tiny.onnx, damaged.onnx: this is no ONNX file, or a damaged one." in done.stderr
    assert "bad.yml, models.words.onnx-asr, data: neither the suite nor the folder says which" in done.stderr
    assert "Traceback" not in done.stderr and str(folder) not in done.stderr


def poisoned(number: float, above: float | None):
    """Give a graph whose answers are a number that is none, for all signals or for those above a level."""

    def change(model):
        helper, nodes = onnx.helper, model.graph.node
        nodes[-1].output[:] = ["plain"]
        for name, value in (("poison", number), ("nothing", 0), ("level", above or -1)):
            value = np.array([[value]], np.float32)
            model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
        nodes.append(helper.make_node("Greater", ["mean abs", "level"], ["loud"]))
        nodes.append(helper.make_node("Where", ["loud", "poison", "nothing"], ["added"]))
        nodes.append(helper.make_node("Add", ["plain", "added"], ["number"]))

    return change


def test_numbers_that_are_none_are_failures_of_their_inputs(folder, undrawn):
    """Of six noises the mean amplitudes are 0.016 to 0.096."""
    models = {"some": (np.nan, 0.06), "all": (np.nan, None), "endless": (-np.inf, 0.07)}
    text = SUITE.partition("models:")[0] + "models:\n"
    for name, poison in models.items():
        onnx_model(folder / f"{name}.onnx", {"number": 1}, change=poisoned(*poison))
        text += f"  {name}: {{onnx: {name}.onnx, tasks: [arousal], range: [-2, 2], sampling_rate: 16000}}\n"
    (folder / "none.yml").write_text(f"{text}families: [correctness_regression]\n")
    done = undrawn("run", "none.yml", "--out", "none", "--no-book", cwd=folder)
    assert done.returncode == 3 and "Traceback" not in done.stderr, done.stderr
    told = [line for line in done.stdout.splitlines() if "gave no prediction" in line]
    nan, infinite = (
        "(most often: arousal is nan, not a number)",
        "(most often: arousal is infinite, not a number)",
    )
    assert told == [
        f"some gave no prediction for 3 inputs {nan}; left_out.csv lists them",
        f"all gave no prediction for 6 inputs {nan}; left_out.csv lists them",
        f"endless gave no prediction for 2 inputs {infinite}; left_out.csv lists them",
    ]
    left_out = pd.read_csv(folder / "none" / "left_out.csv")
    assert left_out.groupby("model", sort=False)["item"].agg(list).to_dict() == {
        "some": ["3.wav", "4.wav", "5.wav"],
        "all": [f"{number}.wav" for number in range(6)],
        "endless": ["4.wav", "5.wav"],
    }
    found = read_results(folder / "none" / "results.csv").query("test == 'Mean Absolute Error'")
    counts = found.set_index("model")["segments"]
    assert counts.to_dict() == {"some": 3, "all": 0, "endless": 4}
    assert found.set_index("model")["skipped"].fillna("").ne("").to_dict()["all"]


def kept(out: Path) -> int:
    """Count the answers that a run has kept."""
    count = 0
    for path in out.glob("cache/**/predictions.sqlite"):
        with contextlib.closing(sqlite3.connect(path)) as database:
            count += database.execute("SELECT COUNT(*) FROM answers").fetchone()[0]
    return count


def test_a_sampling_rate_that_nobody_said_is_noted(out):
    notes = {model.name: "\n".join(model.notes) for model in RunRecord.read(out / "run.json").models}
    assert "16,000 Hz are assumed; write sampling_rate:" in notes["tiny"]
    assert "assumed" not in notes["quality"]
