"""Folders of onnx-asr as models, against the package itself; nothing is ever fetched."""

import json
import shutil

import numpy as np
import pytest
import yaml
from library_models import Project, forgetting, noises
from networks import onnx_model, onnx_recogniser
from pages import example

from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import check_output
from soundcheck.models.onnx import asr_model as onnx_asr_model
from soundcheck.run.selection import refuse_code

onnx_asr = pytest.importorskip("onnx_asr")
pytest.importorskip("onnxruntime")

TEXT = "{onnx-asr: asr}"
BATCH = "{onnx-asr: asr, batch: 8, architecture: nemo-conformer-ctc}"


@pytest.fixture
def project(tmp_path):
    onnx_recogniser(tmp_path / "asr")
    with forgetting():
        yield Project(tmp_path)


def texts(found: list[dict]) -> list[str]:
    return [answer["transcript"] for answer in found]


def test_answers_are_those_of_the_package(project):
    signals = noises(8000, 16000, 8000, 30000, 8000)
    direct = onnx_asr.load_model("nemo-conformer-ctc", project.folder / "asr")
    expected = [direct.recognize(signal) for signal in signals]
    assert texts(project.answers(TEXT, signals)) == expected
    assert texts(project.answers(BATCH, signals)) == expected
    assert len({*expected}) == 5 and all(expected)
    assert check_output({"transcript": expected[0]}, [BUILTIN["transcript"]])[1] == ""


def test_confidences_are_those_of_the_package_if_the_suite_says_so(project):
    signals = noises(8000, 16000, 8000)
    direct = onnx_asr.load_model("nemo-conformer-ctc", project.folder / "asr").with_timestamps()
    plain = project.answers(TEXT, signals)
    found = project.answers(TEXT[:-1] + ", confidence: true}", signals)
    for signal, one, said in zip(signals, found, plain, strict=True):
        sure = np.exp(np.mean(direct.recognize(signal).logprobs))
        assert one == {**said, "confidence": pytest.approx(sure, abs=1e-6)} and 0 < sure < 1


def test_only_equally_long_signals_go_together(project, monkeypatch):
    model = project.load(BATCH)
    calls = []
    recognise = model._recogniser.recognize

    def count(signals, **options):
        calls.append([len(signal) for signal in signals])
        return recognise(signals, **options)

    monkeypatch.setattr(model._recogniser, "recognize", count)
    model.predict(noises(8000, 9000, 8000), 16000)
    assert calls == [[8000, 8000], [9000]]


def test_other_rates_are_resampled(project):
    model = project.load(TEXT)
    (signal,) = noises(24000)
    expected = model.predict([onnx_asr_model.resampled(signal, 24000, 16000)], 16000)
    assert model.predict([signal], 24000) == expected


def test_quantised_weights(project):
    folder = project.folder / "asr"
    onnx_recogniser(folder, name="model.int8.onnx", seed=1)
    (signal,) = noises(16000)
    direct = onnx_asr.load_model("nemo-conformer-ctc", folder, quantization="int8").recognize(signal)
    assert texts(project.answers("{onnx-asr: asr, quantization: int8}", [signal])) == [direct]
    assert texts(project.answers(TEXT, [signal])) != [direct]


def test_whisper_is_given_one_signal_at_a_time(project):
    """The package takes the loudest spot of all signals of a call as that of each."""
    from onnx_asr.preprocessors.numpy_preprocessor import WhisperPreprocessorNumpy

    quiet, loud = noises(16000)[0] * 0.01, noises(16000)[0] * 5
    length = np.array([16000])
    features = WhisperPreprocessorNumpy("whisper80")
    alone, _ = features(quiet[None], length)
    beside, _ = features(np.stack([quiet, loud]), np.array([16000, 16000]))
    assert np.abs(beside[:1] - alone).max() > 0.1  # else they might go together

    model = project.load(BATCH)
    model._architecture = "whisper"
    calls = []
    model._recogniser = type(
        "Recogniser", (), {"recognize": lambda _, batch, **o: calls.append(batch) or ["a"]}
    )()
    assert texts(model.predict([quiet, loud], 16000)) == ["a", "a"]
    assert [len(batch) for batch in calls] == [1, 1]
    with pytest.raises(ValueError, match=r"the signal has 31\.0 s, and Whisper hears 30 s"):
        model.predict([np.zeros(31 * 16000, np.float32)], 16000)


def test_it_is_no_code_and_answers_transcripts(project):
    entry, suite = project.read(TEXT)
    refuse_code(suite)
    assert entry.tasks == ("transcript",)
    names = [path.name for path in entry.about.named_files(entry, suite)]
    assert names == ["config.json", "model.onnx", "vocab.txt"]


def test_what_the_page_shows_can_be_used(project):
    ((_, entry),) = yaml.safe_load(example("models", "onnx-asr"))["models"].items()
    shutil.copytree(project.folder / "asr", project.folder / entry["onnx-asr"])
    (project.folder / entry["onnx-asr"] / "config.json").unlink()
    text = yaml.safe_dump(entry, default_flow_style=True, width=1000)
    assert texts(project.answers(text, noises(16000)))[0]


# What is refused --------------------------------------------------------------------------------------------


def remove(name):
    return lambda folder: (folder / name).unlink()


def config(**content):
    return lambda folder: (folder / "config.json").write_text(json.dumps(content))


def write(name, content):
    return lambda folder: (folder / name).write_text(content)


def link(folder):
    (folder / "vocab.txt").rename(folder.parent / "secret.txt")
    (folder / "vocab.txt").symlink_to(folder.parent / "secret.txt")


def empty(folder):
    for path in folder.iterdir():
        path.unlink()


def plain_graph(folder):
    onnx_model(folder / "model.onnx")


def foreign_graph(folder):
    def change(model):
        model.graph.node[0].domain = "com.acme"

    onnx_model(folder / "model.onnx", change=change)


@pytest.mark.parametrize(
    ("text", "change", "words"),
    [
        (TEXT, remove("config.json"), "says which architecture it is. Add architecture. Allowed: nemo-con"),
        (TEXT, config(model_type="parakeet"), "the folder says 'parakeet', which is no architecture that"),
        (TEXT, config(model_type="someone/model"), "the folder says 'someone/model', which is no archite"),
        (TEXT, config(model_type="nemo-conformer-ctc", features_size="../80"), "features_size is no whole n"),
        (TEXT, write("config.json", "{"), "config.json: it is not JSON"),
        (TEXT, write("config.json", "[1]"), "config.json: it holds no mapping"),
        (
            TEXT,
            remove("vocab.txt"),
            "File 'vocab.txt' not found. Check architecture and quanti",
        ),
        (TEXT, remove("model.onnx"), "File 'model.onnx' not found"),
        ("{onnx-asr: asr, quantization: int8}", None, "File 'model?int8.onnx' not found"),
        ("{onnx-asr: asr, architecture: whisper}", None, "File '**/encoder_model.onnx' not found"),
        ("{onnx-asr: asr, language: en}", None, "nemo-conformer-ctc knows one language, or finds it out it"),
        ("{onnx-asr: asr, device: cuda}", None, "the installed onnxruntime has no CUDAExecutionProvider"),
        (TEXT, empty, "'asr' means no file"),
        (TEXT, link, "'vocab.txt' is a link that leads out of the folder. Copy the file"),
        (
            TEXT,
            write("model.onnx", "version https://git-lfs.github.com/spec/v1"),
            "model.onnx: this is a poin",
        ),
        (
            TEXT,
            foreign_graph,
            "model.onnx: it has operators of a library, which is code: 'com.acme:Identity'",
        ),
        (TEXT, plain_graph, "it fails with 1 s of noise: "),
        (TEXT, write("vocab.txt", "a b c d\n"), "onnx-asr cannot load it: "),
    ],
)
def test_refused(project, text, change, words):
    if change is not None:
        change(project.folder / "asr")
    message = project.refused(text)
    assert words in message
    assert message.startswith("suite.yml, models.mine.onnx-asr, asr: ")
