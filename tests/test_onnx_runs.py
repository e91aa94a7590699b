"""Runs of ONNX models through the real command: real weights, a tiny graph and a tiny recogniser."""

import numpy as np
import pandas as pd
import pytest
import soundfile
from killed import killed_run
from networks import answers, installed_file, onnx_model, onnx_recogniser
from runs import Run, refused, run, sound, write

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
    found = whole.predictions("quality", "noise", None).dropna(subset="overall")
    assert len(found) == 6 + len(changes)
    for row in found.itertuples():
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


def test_a_killed_run_goes_on_with_two_jobs_and_gives_the_same(folder, whole, undrawn):
    words = ("run", "suite.yml", "--out", "killed", "--no-book", "--no-code")
    killed_run(*words, "--jobs", "1", cwd=folder, answers=9)
    assert not (folder / "killed" / "results.csv").exists()
    again = run(undrawn, folder, "--no-book", "--no-code", "--jobs", "2", out="killed")
    paths = [whole.out / "results.csv", *whole.out.glob("predictions/**/*.parquet")]
    assert len(paths) == 4
    for path in paths:
        assert (again.out / path.relative_to(whole.out)).read_bytes() == path.read_bytes()


def test_what_cannot_be_used_is_told_at_once(folder, command):
    (folder / "damaged.onnx").write_bytes((folder / "tiny.onnx").read_bytes()[:200])
    text = SUITE.replace("onnx: tiny.onnx", "onnx: damaged.onnx").replace("onnx-asr: asr", "onnx-asr: data")
    message = refused(command, write(folder, {"bad.yml": text}), "run", "bad.yml", "--out", "bad")
    assert "bad.yml, models.tiny.onnx, damaged.onnx: this is no ONNX file, or a damaged one." in message
    assert "bad.yml, models.words.onnx-asr, data: neither the suite nor the folder says which" in message
    assert str(folder) not in message


def poisoned(number, above):
    """Give a graph whose answers are a number that is none, for all signals or for those above a level."""

    def change(model):
        helper, nodes = onnx.helper, model.graph.node
        nodes[-1].output[:] = ["plain"]
        for name, value in (("poison", number), ("nothing", 0), ("level", above or -1)):
            model.graph.initializer.append(
                onnx.numpy_helper.from_array(np.array([[value]], np.float32), name)
            )
        nodes.append(helper.make_node("Greater", ["mean abs", "level"], ["loud"]))
        nodes.append(helper.make_node("Where", ["loud", "poison", "nothing"], ["added"]))
        nodes.append(helper.make_node("Add", ["plain", "added"], ["number"]))

    return change


def test_numbers_that_are_none_are_failures_of_their_inputs(folder, undrawn):
    """Of six noises the mean amplitudes are 0.016 to 0.096."""
    text = HEAD
    for name, number, above in (("some", np.nan, 0.06), ("all", np.nan, None), ("endless", -np.inf, 0.07)):
        onnx_model(folder / f"{name}.onnx", {"number": 1}, change=poisoned(number, above))
        text += f"  {name}: {{onnx: {name}.onnx, tasks: [arousal], range: [-2, 2], sampling_rate: 16000}}\n"
    write(folder, {"none.yml": f"{text}families: [correctness_regression]\n"})
    found = run(undrawn, folder, "--no-book", suite="none.yml", out="none", code=3)
    message = [line for line in found.done.stdout.splitlines() if "gave no prediction" in line]
    whys = {"nan": 3, "infinite": 2}
    assert message[0] == (
        f"some gave no prediction for {whys['nan']} inputs (most often: arousal is nan, not a number); "
        "left_out.csv lists them"
    )
    assert (
        "endless" in message[2]
        and f"{whys['infinite']} inputs (most often: arousal is infinite" in message[2]
    )
    items = pd.read_csv(found.out / "left_out.csv").groupby("model", sort=False)["item"].agg(list).to_dict()
    everything = [f"{number}.wav" for number in range(6)]
    assert items == {"some": everything[3:], "all": everything, "endless": everything[4:]}
    counts = found.rows(test="Mean Absolute Error").set_index("model")["segments"]
    assert counts.to_dict() == {"some": 3, "all": 0, "endless": 4}
