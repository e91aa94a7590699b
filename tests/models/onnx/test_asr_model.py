"""Folders of onnx-asr as models, against the package itself; nothing is ever fetched."""

import numpy as np
import pytest
from library_models import noises
from networks import onnx_recogniser

from soundcheck.models.library_model import resampled
from soundcheck.run.selection import refuse_code

onnx_asr = pytest.importorskip("onnx_asr")
pytest.importorskip("onnxruntime")

TEXT = "{onnx-asr: asr}"
BATCH = "{onnx-asr: asr, batch: 8, architecture: nemo-conformer-ctc}"


@pytest.fixture(autouse=True)
def recogniser(project):
    return onnx_recogniser(project.folder / "asr")


def texts(outputs: list[dict]) -> list[str]:
    return [output["transcript"] for output in outputs]


def test_transcripts_and_confidences_are_those_of_the_package(project, recogniser):
    signals = noises(8000, 16000, 8000, 30000, 8000)
    package = onnx_asr.load_model("nemo-conformer-ctc", recogniser).with_timestamps()
    results = [package.recognize(signal) for signal in signals]
    expected = [result.text for result in results]
    assert len({*expected}) == 5 and all(expected)
    assert texts(project.answers(TEXT, signals)) == texts(project.answers(BATCH, signals)) == expected
    sure = project.answers(TEXT[:-1] + ", confidence: true}", signals)
    assert texts(sure) == expected
    for output, result in zip(sure, results, strict=True):
        assert output["confidence"] == pytest.approx(np.exp(np.mean(result.logprobs)), abs=1e-6)
        assert 0 < output["confidence"] < 1


def test_quantised_weights_and_signals_that_are_resampled(project, recogniser):
    (long,), model = noises(24000), project.load(BATCH)
    assert model.predict([long], 24000) == model.predict([resampled(long, 24000, 16000)], 16000)
    onnx_recogniser(recogniser, name="model.int8.onnx", seed=1)
    (signal,) = noises(16000)
    direct = onnx_asr.load_model("nemo-conformer-ctc", recogniser, quantization="int8").recognize(signal)
    assert texts(project.answers("{onnx-asr: asr, quantization: int8}", [signal])) == [direct]
    assert texts(project.answers(TEXT, [signal])) != [direct]


def test_whisper_is_given_one_signal_at_a_time(project):
    """The package takes the loudest spot of all signals of a call as that of each."""

    class Recogniser:
        sizes = []

        def recognize(self, batch, **_):
            self.sizes.append(len(batch))
            return ["a"]

    model = project.load(BATCH)
    model._architecture, model._recogniser = "whisper", Recogniser()
    assert texts(model.predict(noises(16000, 16000), 16000)) == ["a", "a"]
    assert Recogniser.sizes == [1, 1]
    with pytest.raises(ValueError, match=r"the signal has 31\.0 s, and Whisper hears 30 s"):
        model.predict([np.zeros(31 * 16000, np.float32)], 16000)


def test_it_is_no_code_and_names_its_files(project):
    entry, suite = project.read(TEXT)
    refuse_code(suite)
    names = [path.name for path in entry.about.named_files(entry, suite)]
    assert names == ["config.json", "model.onnx", "vocab.txt"]
