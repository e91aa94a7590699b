"""Folders of Transformers as models: tiny networks with random weights, against the library itself."""

import shutil
from pathlib import Path

import audresample
import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml
from late import late
from library_models import Project, load_model, noises
from preloaded import IMPORTED
from tests.models.transformers_folder.tiny_transformers import moonshine, paired, wav2vec2, whisper
from tones import make

from soundcheck.common.messages import InputError
from soundcheck.models.answers import check_output
from soundcheck.models.transformers_folder.model import pads_exactly
from soundcheck.run.selection import refuse_code

pytestmark = pytest.mark.slow

torch = late("torch")
transformers = late("transformers")

ROWS = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))["networks"]
EMOTION = "tasks: [emotion], labels: {ang: anger, neu: neutral, sad: sadness, oth: }"
CLASSES = ["anger", "happiness", "neutral", "sadness"]
DIMENSIONS = ["Arousal", "dominance", "valence"]
LARGE = "auto.modeling_auto auto.feature_extraction_auto wav2vec2.modeling_wav2vec2".split()
LARGE = " ".join(f"transformers.models.{name}" for name in LARGE)  # takes seconds in each process of a model
SIGNALS = noises(16000, 12345, 9000, 15999, 12345, 3000)


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite's folder with a network of each kind; only read."""
    root, head = tmp_path_factory.mktemp("networks"), "ForSequenceClassification"
    wav2vec2(root / "emotion", head, ["ang", "HAPPINESS", "neu", "sad", "oth"])
    grouped = {"feat_extract_norm": "group", "mask": False}
    for name, more in {"values": {}, "grouped": grouped, "slow": {"rate": 8000}}.items():
        wav2vec2(root / name, head, DIMENSIONS, problem_type="regression", **more)
    wav2vec2(root / "ctc", "ForCTC")
    wav2vec2(root / "voices", "ForXVector")
    wav2vec2(root / "encoder", "Model")
    whisper(root / "whisper")
    moonshine(root / "moonshine")
    paired(root / "paired")
    return root


@pytest.fixture
def load(networks: Path, project):
    return lambda keys: Project(networks).load(f"{{transformers: {keys}}}")


@pytest.fixture
def copy(networks: Path, project):
    """Copy a network into the suite's folder of a test, which may spoil it."""
    return lambda name, to="": Path(shutil.copytree(networks / name, project.folder / (to or name)))


def directly(network: Path, auto: str, sound: np.ndarray):
    """Call the library as its documentation says; gives its outputs."""
    model = getattr(transformers, auto).from_pretrained(network, dtype=torch.float32).eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(network)
    with torch.inference_mode():
        return model(**extractor(sound, sampling_rate=extractor.sampling_rate, return_tensors="pt"))


def logits_of(network: Path, sound: np.ndarray):
    return directly(network, "AutoModelForAudioClassification", sound).logits[0]


def groups(model) -> list[list[int]]:
    return list(model._groups([model._inputs(sound) for sound in SIGNALS]))


def test_classes_and_their_probabilities(load, networks):
    plain = load(f"emotion, {EMOTION}").predict(SIGNALS, 16000)
    shares = load(f"emotion, {EMOTION}, probabilities: softmax").predict(SIGNALS, 16000)
    for sound, one, other in zip(SIGNALS, plain, shares, strict=True):
        logits = logits_of(networks / "emotion", sound)[:4]
        assert one == {"emotion": CLASSES[int(logits.argmax())]}
        expected = dict(zip(CLASSES, torch.softmax(logits, 0).tolist(), strict=True))
        assert other["emotion"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("network", "rate"), [("values", 16000), ("grouped", 16000), ("slow", 8000)])
def test_numbers(load, networks, network, rate):
    outputs = load(f"{network}, tasks: [valence, arousal]").predict(SIGNALS, 16000)
    for signal, output in zip(SIGNALS, outputs, strict=True):
        sound = audresample.resample(signal, 16000, rate)[0]
        logits = logits_of(networks / network, sound).tolist()
        assert output == pytest.approx({"arousal": logits[0], "valence": logits[2]}, abs=1e-6)
    assert np.ptp([output["valence"] for output in outputs]) > 1e-3  # it hears something


def test_words_of_frames_and_their_confidence(load, networks):
    tokenizer = transformers.AutoTokenizer.from_pretrained(networks / "ctc")
    plain = load("ctc, tasks: [transcript]").predict(SIGNALS, 16000)
    sure = load("ctc, tasks: [transcript], confidence: true").predict(SIGNALS, 16000)
    for sound, one, other in zip(SIGNALS, plain, sure, strict=True):
        logits = directly(networks / "ctc", "AutoModelForCTC", sound).logits
        assert one == {"transcript": tokenizer.batch_decode(logits.argmax(-1))[0]}
        spoken = [row for row in logits[0] if int(row.argmax()) != tokenizer.pad_token_id]
        logs = [float(row.log_softmax(0).max()) for row in spoken]
        assert other == {**one, "confidence": pytest.approx(np.exp(np.mean(logs)), abs=1e-5)}
    assert len({output["transcript"] for output in plain}) == len(SIGNALS)


@pytest.mark.parametrize(("network", "language"), [("whisper", "de"), ("moonshine", ""), ("paired", "")])
def test_sentences_and_their_confidence(load, networks, network, language):
    keys = f"{network}, tasks: [transcript]{language and f', language: {language}'}"
    plain, sure = (load(keys + more).predict(SIGNALS, 16000) for more in ("", ", confidence: true"))
    recogniser = transformers.AutoModelForSpeechSeq2Seq.from_pretrained(networks / network).eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(networks / network)
    tokenizer = transformers.AutoTokenizer.from_pretrained(networks / network)
    options = {"language": language, "task": "transcribe"} if language else {}
    scored = {"do_sample": False, "return_dict_in_generate": True, "output_scores": True}
    for sound, one, other in zip(SIGNALS, plain, sure, strict=True):
        inputs = extractor(sound, sampling_rate=16000, return_tensors="pt")
        tokens = recogniser.generate(**inputs, do_sample=False, **options)
        text = tokenizer.batch_decode(tokens, skip_special_tokens=True)[0].strip()
        assert one == {"transcript": text} and text == other["transcript"] and text
        made = recogniser.generate(**inputs, **scored, **options)
        both = zip(made.sequences[0, -len(made.scores) :], made.scores, strict=True)
        special = tokenizer.all_special_ids
        logs = [float(scores[0].log_softmax(0)[token]) for token, scores in both if int(token) not in special]
        assert other["confidence"] == pytest.approx(np.exp(np.mean(logs)), abs=1e-3)
    assert len({output["transcript"] for output in plain}) > 1


def test_sentences_of_more_than_a_window(load):
    model = load("whisper, tasks: [transcript], language: de")
    sound = np.concatenate(SIGNALS)  # more than two windows of two seconds
    (whole,), (beginning,) = model.predict([sound], 16000), model.predict([sound[:32000]], 16000)
    assert len(whole["transcript"]) > 2 * len(beginning["transcript"])
    assert model.predict([sound, SIGNALS[0]], 16000)[0] == whole


def test_vectors_and_means_of_frames(load, networks):
    vectors = load("voices, tasks: [embedding]").predict(SIGNALS, 16000)
    means = load("encoder, tasks: [embedding], pooling: mean").predict(SIGNALS, 16000)
    for sound, vector, mean in zip(SIGNALS, vectors, means, strict=True):
        expected = directly(networks / "voices", "AutoModelForAudioXVector", sound).embeddings[0].numpy()
        bound = 1e-6 * np.abs(expected).max()
        np.testing.assert_allclose(vector["embedding"], expected, rtol=1e-6, atol=bound)
        frames = directly(networks / "encoder", "AutoModel", sound).last_hidden_state[0]
        np.testing.assert_allclose(mean["embedding"], frames.mean(0).numpy(), atol=2e-6)


@pytest.mark.parametrize(
    ("keys", "padded"),
    [
        ("values, tasks: [arousal, dominance, valence]", True),
        ("grouped, tasks: [arousal, dominance, valence]", False),
        ("ctc, tasks: [transcript]", True),
        ("whisper, tasks: [transcript]", False),
        ("encoder, tasks: [embedding], pooling: mean", True),
    ],
)
def test_predictions_do_not_depend_on_what_stands_beside(load, monkeypatch, keys, padded):
    """Measured: 1.5e-7 of numbers near 0.5, that is rounding of float32. Graphics cards pad what is exact."""
    model = load(keys)
    assert pads_exactly(model._network.config) == padded
    whole = keys.startswith("whisper")  # it hears windows of one length
    assert groups(model) == ([[*range(6)]] if whole else [[0], [1, 4], [2], [3], [5]])
    alone = [model.predict([sound], 16000)[0] for sound in SIGNALS]
    together = [model.predict(SIGNALS, 16000)]
    if padded:
        monkeypatch.setattr(model, "_pads", True)
        assert groups(model) == [[0, 3], [1, 4], [2], [5]]
        together.append(model.predict(SIGNALS, 16000))
    for outputs in together:
        for one, other in zip(alone, outputs, strict=True):
            for task, value in one.items():
                if isinstance(value, str):
                    assert other[task] == value
                else:
                    bound = 1e-6 * max(1, np.abs(value).max())
                    np.testing.assert_allclose(other[task], value, rtol=0, atol=bound)


def test_other_networks_are_never_padded():
    assert not pads_exactly(transformers.SEWConfig(feat_extract_norm="layer"))
    assert not pads_exactly(transformers.Wav2Vec2Config(feat_extract_norm="layer", add_adapter=True))


def test_half_precision_is_computed_in_single_and_weights_that_are_no_numbers_are_refused(copy, project):
    text = "{transformers: values, tasks: [arousal]}"
    network = transformers.AutoModelForAudioClassification.from_pretrained(copy("values"))
    network.half().save_pretrained(project.folder / "values")
    model = project.load(text)
    assert {weight.dtype for weight in model._network.parameters()} == {torch.float32}
    assert model.predict(SIGNALS[:1], 16000)[0]["arousal"] == pytest.approx(0.5, abs=0.1)
    torch.nn.init.constant_(network.projector.bias, float("nan"))
    network.save_pretrained(project.folder / "values")
    assert "weights are not finite: projector.bias" in project.refused(text)


@pytest.mark.parametrize(
    "keys", [f"emotion, {EMOTION}", "values, tasks: [arousal]", "ctc, tasks: [transcript]"]
)
def test_what_was_not_computed_is_no_prediction(networks, project, keys):
    entry, suite = Project(networks).read(f"{{transformers: {keys}}}")
    (output,) = load_model(entry, suite).predict([np.full(8000, np.nan, dtype=np.float32)], 16000)
    assert "nan" in check_output(output, [suite.tasks[name] for name in entry.tasks])[1]


def test_too_little_memory_for_one_signal_is_told(load, monkeypatch):
    model = load("grouped, tasks: [arousal]")
    answer = model._head.answer
    for error in (RuntimeError("CPUAllocator: can't allocate memory"), torch.OutOfMemoryError("CUDA")):

        def limited(inputs, frames, error=error):
            if inputs["input_values"].shape[-1] > 15999:
                raise error
            return answer(inputs, frames)

        monkeypatch.setattr(model._head, "answer", limited)
        with pytest.raises(type(error), match=str(error)):
            model.predict(SIGNALS, 16000)
        assert len(model.predict(SIGNALS[1:], 16000)) == 5


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["words"][:40])
def test_refused(copy, project, spoil, row):
    if "device" in row["words"] and torch.cuda.is_available():
        pytest.skip("there is a device")
    spoil(copy(row["network"]), row)
    message = project.refused(f"{{transformers: {row['network']}, {row.get('keys', 'tasks: [arousal]')}}}")
    assert row["words"] in message and "Traceback" not in message


def test_a_name_of_a_hub_is_refused_when_the_suite_is_read(project):
    with pytest.raises(InputError, match="models.mine.transformers: .*Download it first"):
        project.read("{transformers: a/b, tasks: [arousal]}")


def test_a_tokenizer_that_keeps_repetitions_is_refused(copy, networks, project):
    folder = copy("ctc")
    (folder / "vocab.json").unlink()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(networks / "whisper" / name, folder)
    assert "does not remove repetitions" in project.refused("{transformers: ctc, tasks: [transcript]}")


OWN = """
from transformers import Wav2Vec2ForSequenceClassification

class Own(Wav2Vec2ForSequenceClassification):
    def forward(self, *arguments, **options):
        outputs = super().forward(*arguments, **options)
        outputs.logits = outputs.logits * 0 + 0.25
        return outputs
"""


def test_code_of_the_folder_runs_only_if_it_is_trusted(copy, project, spoil, monkeypatch, tmp_path):
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    configuration = {
        "architectures": ["Own"],
        "auto_map": {"AutoModelForAudioClassification": "modeling_own.Own"},
    }
    spoil(copy("values"), {"write": {"modeling_own.py": OWN}, "update": {"config.json": configuration}})
    text = "{transformers: values, tasks: [arousal]}"
    assert "auto_map" in project.refused(text)
    refuse_code(project.read(text)[1])
    trusted = text.replace("}", ", trust_remote_code: true}")
    assert project.answers(trusted, SIGNALS[:1]) == [{"arousal": 0.25}]
    with pytest.raises(InputError, match="the model runs code"):
        refuse_code(project.read(trusted)[1])


def test_a_run_gives_what_the_library_gives(tmp_path, networks, undrawn):
    world = make(tmp_path / "suite")
    begin = (world / "suite.yml").read_text().partition("models:")[0]
    shutil.copytree(networks / "values", world / "values")
    model = "models:\n  m: {transformers: values, tasks: [arousal], batch: 4}\n"
    (world / "suite.yml").write_text(f"{begin}{model}families: [correctness_regression]\nstudies: false\n")
    words = ("run", "suite.yml", "--out", "out", "--no-book", "--no-code")
    done = undrawn(*words, cwd=world, **{IMPORTED: LARGE})
    assert done.returncode == 0, done.stderr
    table = pd.read_parquet(world / "out" / "predictions" / "m" / "tones.parquet")
    assert len(table) == 12 and table["error"].isin(["", None]).all()
    for key, value in zip(table["key"], table["arousal"], strict=True):
        sound = soundfile.read(world / "data" / key.split("|")[0], dtype="float32")[0]
        assert value == pytest.approx(float(logits_of(networks / "values", sound)[0]), abs=1e-6)
