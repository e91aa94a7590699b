"""Folders of Transformers as models: tiny networks with random weights, against the library itself."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from killed import killed_run
from late import late
from pages import example
from tiny_transformers import moonshine, paired, wav2vec2, whisper
from tones import make

from soundcheck.common.errors import InputError
from soundcheck.models.answers import check_output
from soundcheck.models.base import check_model, load_model
from soundcheck.models.transformers_folder.model import pads_exactly
from soundcheck.run.selection import refuse_code
from soundcheck.suite.suite_file import read_suite

pytestmark = pytest.mark.slow

torch = late("torch")
transformers = late("transformers")

LABELS = ["ang", "HAPPINESS", "neu", "sad", "oth"]
EMOTION = "tasks: [emotion], labels: {ang: anger, neu: neutral, sad: sadness, oth: }"
DIMENSIONS = ["Arousal", "dominance", "valence"]
SIGNALS = [
    np.random.default_rng(number).normal(0, 0.1, samples).astype(np.float32)
    for number, samples in enumerate((16000, 12345, 9000, 15999, 12345, 3000))
]


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a network of each kind."""
    root = tmp_path_factory.mktemp("networks")
    wav2vec2(root / "emotion", "ForSequenceClassification", LABELS)
    wav2vec2(root / "values", "ForSequenceClassification", DIMENSIONS, problem_type="regression")
    grouped = {"feat_extract_norm": "group", "mask": False}
    wav2vec2(root / "grouped", "ForSequenceClassification", DIMENSIONS, problem_type="regression", **grouped)
    wav2vec2(root / "slow", "ForSequenceClassification", DIMENSIONS, problem_type="regression", rate=8000)
    wav2vec2(root / "ctc", "ForCTC")
    wav2vec2(root / "voices", "ForXVector")
    wav2vec2(root / "encoder", "Model")
    whisper(root / "whisper")
    moonshine(root / "moonshine")
    paired(root / "paired")
    return root


@pytest.fixture
def world(tmp_path: Path, networks: Path) -> Path:
    """A suite's folder with a copy of all networks, which tests may spoil."""
    shutil.copytree(networks, tmp_path / "networks")
    return make(tmp_path / "suite")


def suite(folder: Path, keys: str, name: str = "../networks/"):
    """Read a suite whose model is ``networks/...`` with these keys, the name of the network first."""
    text = (folder / "suite.yml").read_text().split("models:")[0]
    folder.joinpath("suite.yml").write_text(
        f"{text}models:\n  m: {{transformers: {name}{keys}}}\nfamilies: all\n"
    )
    return read_suite(folder / "suite.yml")


def load(folder: Path, keys: str):
    read = suite(folder, keys)
    return load_model(read.models["m"], read)


def refused(folder: Path, keys: str) -> str:
    """Why a model cannot be used: one line a problem, none of them with a folder's place."""
    with pytest.raises(InputError) as caught:
        load(folder, keys)
    text = str(caught.value)
    assert str(folder.parent) not in text and "Traceback" not in text
    return text


def directly(network: Path, auto: str, sound: np.ndarray, **options: object):
    """Call the library as its documentation says; gives the outputs and the inputs."""
    model = getattr(transformers, auto).from_pretrained(network, dtype=torch.float32).eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(network)
    inputs = extractor(sound, sampling_rate=extractor.sampling_rate, return_tensors="pt", **options)
    with torch.inference_mode():
        return model(**inputs), inputs, model


def edit(file: Path, change: Callable[[dict], object]) -> None:
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def groups(model) -> list[list[int]]:
    return list(model._groups([model._inputs(sound) for sound in SIGNALS]))


def assert_alike(found: list[dict], expected: list[dict]) -> None:
    for one, other in zip(expected, found, strict=True):
        for task, value in one.items():
            if isinstance(value, str):
                assert other[task] == value
            else:
                bound = 1e-6 * max(1, np.abs(value).max())
                np.testing.assert_allclose(other[task], value, rtol=0, atol=bound)


# Answers ----------------------------------------------------------------------------------------------------


def test_classes(world, networks):
    model = load(world, f"emotion, {EMOTION}")
    meant = ["anger", "happiness", "neutral", "sadness"]
    logits = [
        directly(networks / "emotion", "AutoModelForAudioClassification", sound)[0].logits[0]
        for sound in SIGNALS
    ]
    expected = [{"emotion": meant[int(row[:4].argmax())]} for row in logits]
    assert model.predict(SIGNALS, 16000) == expected
    assert len({answer["emotion"] for answer in expected}) > 1 or not any(row.argmax() == 4 for row in logits)


@pytest.mark.parametrize("network", ["values", "grouped"])
def test_numbers(world, networks, network):
    found = load(world, f"{network}, tasks: [valence, arousal]").predict(SIGNALS, 16000)
    for sound, answer in zip(SIGNALS, found, strict=True):
        logits = directly(networks / network, "AutoModelForAudioClassification", sound)[0].logits[0]
        assert answer["arousal"] == pytest.approx(float(logits[0]), abs=1e-6)
        assert answer["valence"] == pytest.approx(float(logits[2]), abs=1e-6)
    assert np.ptp([answer["valence"] for answer in found]) > 1e-3  # it hears something


def test_words_of_frames(world, networks):
    model = load(world, "ctc, tasks: [transcript]")
    tokenizer = transformers.AutoTokenizer.from_pretrained(networks / "ctc")
    found = [answer["transcript"] for answer in model.predict(SIGNALS, 16000)]
    for sound, text in zip(SIGNALS, found, strict=True):
        logits = directly(networks / "ctc", "AutoModelForCTC", sound)[0].logits
        assert text == tokenizer.batch_decode(logits.argmax(-1))[0]
    assert len(set(found)) == len(found) and all(found)


def test_classes_have_probabilities_if_the_suite_says_so(world, networks):
    plain = load(world, f"emotion, {EMOTION}").predict(SIGNALS, 16000)
    found = load(world, f"emotion, {EMOTION}, probabilities: softmax").predict(SIGNALS, 16000)
    for sound, one, named in zip(SIGNALS, found, plain, strict=True):
        logits = directly(networks / "emotion", "AutoModelForAudioClassification", sound)[0].logits[0, :4]
        names = ("anger", "happiness", "neutral", "sadness")
        expected = dict(zip(names, torch.softmax(logits, 0).tolist(), strict=True))
        assert one["emotion"] == pytest.approx(expected, abs=1e-6)
        assert max(one["emotion"], key=one["emotion"].get) == named["emotion"]


def test_words_of_frames_have_a_confidence_if_the_suite_says_so(world, networks):
    plain = load(world, "ctc, tasks: [transcript]").predict(SIGNALS, 16000)
    found = load(world, "ctc, tasks: [transcript], confidence: true").predict(SIGNALS, 16000)
    blank = transformers.AutoTokenizer.from_pretrained(networks / "ctc").pad_token_id
    for sound, one, said in zip(SIGNALS, found, plain, strict=True):
        logits = directly(networks / "ctc", "AutoModelForCTC", sound)[0].logits[0]
        logs = [float(row.log_softmax(0).max()) for row in logits if int(row.argmax()) != blank]
        assert one == {**said, "confidence": pytest.approx(np.exp(np.mean(logs)), abs=1e-5)}


@pytest.mark.parametrize("network", ["whisper", "moonshine", "paired"])
def test_sentences_have_a_confidence_if_the_suite_says_so(world, networks, network):
    plain = load(world, f"{network}, tasks: [transcript]").predict(SIGNALS, 16000)
    found = load(world, f"{network}, tasks: [transcript], confidence: true").predict(SIGNALS, 16000)
    assert [{"transcript": one["transcript"]} for one in found] == plain
    recogniser = transformers.AutoModelForSpeechSeq2Seq.from_pretrained(networks / network).eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(networks / network)
    special = set(transformers.AutoTokenizer.from_pretrained(networks / network).all_special_ids)
    asked = {"do_sample": False, "return_dict_in_generate": True, "output_scores": True}
    for sound, answer in zip(SIGNALS, found, strict=True):
        made = recogniser.generate(**extractor(sound, sampling_rate=16000, return_tensors="pt"), **asked)
        logs = []
        for token, scores in zip(made.sequences[0, -len(made.scores) :], made.scores, strict=True):
            if int(token) not in special:
                logs.append(float(scores[0].log_softmax(0)[token]))
        assert answer["confidence"] == pytest.approx(np.exp(np.mean(logs)), abs=1e-3) and logs


@pytest.mark.parametrize(
    ("network", "language"),
    [("whisper", ""), ("whisper", ", language: de"), ("moonshine", ""), ("paired", "")],
)
def test_sentences(world, networks, network, language):
    found = load(world, f"{network}, tasks: [transcript]{language}").predict(SIGNALS, 16000)
    recogniser = transformers.AutoModelForSpeechSeq2Seq.from_pretrained(networks / network).eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(networks / network)
    tokenizer = transformers.AutoTokenizer.from_pretrained(networks / network)
    options = {"language": "de", "task": "transcribe"} if language else {}
    for sound, answer in zip(SIGNALS, found, strict=True):
        inputs = extractor(sound, sampling_rate=16000, return_tensors="pt")
        tokens = recogniser.generate(**inputs, do_sample=False, **options)
        text = tokenizer.batch_decode(tokens, skip_special_tokens=True)[0].strip()
        assert answer == {"transcript": text} and text
    same = len({answer["transcript"] for answer in found}) == 1
    assert not same or (network, language) == ("whisper", "")


def test_sentences_of_more_than_a_window(world):
    model = load(world, "whisper, tasks: [transcript], language: de")
    sound = np.concatenate(SIGNALS)  # more than two windows of two seconds
    (whole,), (beginning,) = model.predict([sound], 16000), model.predict([sound[:32000]], 16000)
    assert len(whole["transcript"]) > 2 * len(beginning["transcript"])
    assert model.predict([sound, SIGNALS[0]], 16000)[0] == whole


def test_vectors(world, networks):
    found = load(world, "voices, tasks: [embedding]").predict(SIGNALS, 16000)
    for sound, answer in zip(SIGNALS, found, strict=True):
        vector = directly(networks / "voices", "AutoModelForAudioXVector", sound)[0].embeddings[0].numpy()
        np.testing.assert_allclose(answer["embedding"], vector, rtol=1e-6, atol=1e-6 * np.abs(vector).max())


def test_frames_are_averaged_if_the_suite_says_so(world, networks):
    found = load(world, "encoder, tasks: [embedding], pooling: mean").predict(SIGNALS, 16000)
    for sound, answer in zip(SIGNALS, found, strict=True):
        frames = directly(networks / "encoder", "AutoModel", sound)[0].last_hidden_state[0]
        np.testing.assert_allclose(answer["embedding"], frames.mean(0).numpy(), atol=2e-6)


@pytest.mark.parametrize(
    "keys",
    [
        "values, tasks: [arousal, dominance, valence]",
        "grouped, tasks: [arousal, dominance, valence]",
        "ctc, tasks: [transcript]",
        "whisper, tasks: [transcript]",
        "moonshine, tasks: [transcript]",
        "voices, tasks: [embedding]",
        "encoder, tasks: [embedding], pooling: mean",
    ],
)
def test_answers_do_not_depend_on_what_stands_beside(world, keys):
    """Measured: 1.5e-7 of numbers near 0.5, that is rounding of float32."""
    model = load(world, keys)
    alone = [model.predict([sound], 16000)[0] for sound in SIGNALS]
    together = model.predict(SIGNALS, 16000)
    assert_alike(together, alone)


@pytest.mark.parametrize(
    "keys",
    [
        "values, tasks: [arousal, dominance, valence]",
        "ctc, tasks: [transcript]",
        "voices, tasks: [embedding]",
        "encoder, tasks: [embedding], pooling: mean",
    ],
)
def test_padding_as_on_a_graphics_card_changes_nothing(world, keys, monkeypatch):
    model = load(world, keys)
    alone = [model.predict([sound], 16000)[0] for sound in SIGNALS]
    monkeypatch.setattr(model, "_pads", pads_exactly(model._network.config))
    assert groups(model) == [[0, 3], [1, 4], [2], [5]]
    assert_alike(model.predict(SIGNALS, 16000), alone)


def test_only_what_is_exact_is_padded(world):
    """Group normalisation hears the padding; a processor would only have more to do."""
    for keys, exact in (("values", True), ("grouped", False)):
        model = load(world, f"{keys}, tasks: [arousal]")
        assert pads_exactly(model._network.config) == exact
        assert groups(model) == [[0], [1, 4], [2], [3], [5]]
    for kind in (
        transformers.Data2VecAudioConfig,
        transformers.SEWConfig,
        transformers.Wav2Vec2ConformerConfig,
    ):
        assert not pads_exactly(kind(feat_extract_norm="layer"))
    assert not pads_exactly(transformers.Wav2Vec2Config(feat_extract_norm="layer", add_adapter=True))


def test_signals_are_resampled(world, networks):
    import audresample

    answer = load(world, "slow, tasks: [arousal]").predict(SIGNALS[:1], 16000)[0]
    sound = audresample.resample(SIGNALS[0], 16000, 8000)[0]
    logits = directly(networks / "slow", "AutoModelForAudioClassification", sound)[0].logits[0]
    assert answer["arousal"] == pytest.approx(float(logits[0]), abs=1e-6)


def test_what_was_saved_in_half_precision_is_computed_in_single(world):
    network = transformers.AutoModelForAudioClassification.from_pretrained(
        world.parent / "networks" / "values"
    )
    network.half().save_pretrained(world.parent / "networks" / "half")
    shutil.copy(world.parent / "networks/values/preprocessor_config.json", world.parent / "networks/half")
    model = load(world, "half, tasks: [arousal]")
    assert {weight.dtype for weight in model._network.parameters()} == {torch.float32}
    assert model.predict(SIGNALS[:1], 16000)[0]["arousal"] == pytest.approx(0.5, abs=0.1)


def test_what_was_not_computed_is_no_answer(world):
    silence = np.full(8000, np.nan, dtype=np.float32)
    for keys, word in (
        (f"emotion, {EMOTION}", "nan"),
        ("values, tasks: [arousal]", "nan"),
        ("ctc, tasks: [transcript]", "nan"),
    ):
        model = load(world, keys)
        read = read_suite(world / "suite.yml")
        (answer,) = model.predict([silence], 16000)
        assert word in check_output(answer, [read.tasks[name] for name in model.tasks])[1]


def test_too_little_memory_for_one_signal_is_told(world, monkeypatch):
    model = load(world, "grouped, tasks: [arousal]")
    own = model._head.answer

    def answer(network, tokenizer, inputs, frames):
        if inputs["input_values"].shape[-1] > 15999:
            raise RuntimeError(
                "[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"
            )
        return own(network, tokenizer, inputs, frames)

    monkeypatch.setattr(model._head, "answer", answer)
    with pytest.raises(MemoryError, match=r"not enough memory for 1\.0 s of sound"):
        model.predict(SIGNALS, 16000)
    assert len(model.predict(SIGNALS[1:], 16000)) == 5
    monkeypatch.setattr(
        model._head, "answer", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("CUDA"))
    )
    with pytest.raises(MemoryError):
        model.predict(SIGNALS[:1], 16000)


# What is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("facebook/wav2vec2-base", "hf download facebook/wav2vec2-base --local-dir wav2vec2-base"),
        ("../network", "Did you mean 'networks'?"),
        ("suite.yml", "this is a file, not a folder"),
    ],
)
def test_what_is_no_folder_is_refused_when_the_suite_is_read(world, name, words):
    with pytest.raises(InputError, match="models.m.transformers") as caught:
        suite(world, f"{name}, tasks: [arousal]", name="")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("emotion, tasks: [emotion]", "the label 'ang' of the model is no class of emotion"),
        (
            "emotion, tasks: [emotion], labels: {agn: anger}",
            "labels: the model has no 'agn'. Did you mean 'ang'?",
        ),
        (
            "emotion, tasks: [emotion, arousal]",
            "Under tasks: belongs one classification task, or regression tasks",
        ),
        ("emotion, tasks: [arousal]", "no output is called 'arousal'; the outputs: 'ang', 'HAPPINESS'"),
        ("emotion, tasks: [transcript]", "Wav2Vec2ForSequenceClassification does not answer transcript"),
        ("values, tasks: [emotion]", "the model answers numbers, not a class of emotion"),
        ("values, tasks: [arousal], outputs: [arousal]", "outputs: 1 names for 3 outputs"),
        (
            "values, tasks: [arousal], outputs: [arousal, arousal, valence]",
            "several outputs are called 'arousal'",
        ),
        ("ctc, tasks: [arousal]", "Under tasks: belongs transcript"),
        ("ctc, tasks: [transcript], language: de", "language: means nothing for Wav2Vec2ForCTC"),
        (
            "whisper, tasks: [transcript], language: fr",
            "language: 'fr' is none of its codes. Allowed: de, en",
        ),
        ("voices, tasks: [transcript], labels: {a: b}", "labels: means nothing for Wav2Vec2ForXVector"),
        ("encoder, tasks: [embedding]", "is an encoder without head"),
        ("values, tasks: [arousal], probabilities: softmax", "probabilities: it has no classes"),
        ("ctc, tasks: [transcript], probabilities: softmax", "probabilities: means nothing for Wav2Vec2"),
        ("values, tasks: [arousal], confidence: true", "confidence: means nothing for Wav2Vec2"),
        ("values, tasks: [arousal], pooling: mean", "Under tasks: belongs embedding"),
    ],
)
def test_keys_that_do_not_fit_the_network(world, keys, words):
    assert words in refused(world, keys)


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_devices_that_are_not_there(world, device):
    if torch.cuda.is_available():
        pytest.skip("there is a device")
    assert f"device: {device} is not there" in refused(world, f"values, tasks: [arousal], device: {device}")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"architectures": None}, "architectures is missing"),
        ({"architectures": ["Wav2Vec2ForSpeechClassification"]}, "is no class of transformers"),
        ({"architectures": ["Wav2Vec2ForAudioFrameClassification"]}, "does not know how to ask"),
        (
            {"architectures": ["BertForSequenceClassification"], "model_type": "bert"},
            "does not know how to ask",
        ),
        ({"classifier_proj_size": 9}, "classifier.weight (3, 8) instead of (3, 9)"),
        (
            {"num_hidden_layers": 3},
            "weights that config.json wants are not in the files: wav2vec2.encoder.layers.2",
        ),
        ({"hidden_size": "many"}, "the model cannot be loaded: "),
    ],
)
def test_configurations_that_do_not_fit_the_weights(world, change, words):
    edit(world.parent / "networks/values/config.json", lambda content: content.update(change))
    assert words in refused(world, "values, tasks: [arousal]")


@pytest.mark.parametrize(
    ("network", "file", "words"),
    [
        ("values", "preprocessor_config.json", "no preprocessor_config.json"),
        ("ctc", "vocab.json", "no vocabulary"),
        ("values", "model.safetensors", "no weights"),
        ("values", "config.json", "no config.json"),
    ],
)
def test_files_that_are_missing(world, network, file, words):
    world.parent.joinpath("networks", network, file).unlink()
    task = "transcript" if network == "ctc" else "arousal"
    assert words in refused(world, f"{network}, tasks: [{task}]")


def test_weights_that_are_damaged(world):
    weights = world.parent / "networks/values/model.safetensors"
    whole = weights.read_bytes()
    for content in (b"", b"\xff" * 100, whole[: len(whole) // 2]):
        weights.unlink()  # else one that is loaded would lose its memory
        weights.write_bytes(content)
        assert "the model cannot be loaded: " in refused(world, "values, tasks: [arousal]")


def test_weights_that_are_no_numbers(world):
    folder = world.parent / "networks/values"
    network = transformers.AutoModelForAudioClassification.from_pretrained(folder)
    torch.nn.init.constant_(network.projector.bias, float("nan"))
    network.save_pretrained(folder.parent / "nan")
    shutil.copy(folder / "preprocessor_config.json", folder.parent / "nan")
    assert "weights are not finite: projector.bias" in refused(world, "nan, tasks: [arousal]")


def test_a_tokenizer_that_keeps_repetitions_is_refused(world):
    for name in ("vocab.json", "tokenizer_config.json"):
        world.parent.joinpath("networks/ctc", name).unlink()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(world.parent / "networks/whisper" / name, world.parent / "networks/ctc")
    assert "does not remove repetitions" in refused(world, "ctc, tasks: [transcript]")


def test_a_package_that_is_missing(world, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    text = refused(world, "values, tasks: [arousal]")
    assert "the package transformers is not installed" in text and "soundcheck-speech[transformers]" in text


# Code -------------------------------------------------------------------------------------------------------

OWN = """
from transformers import Wav2Vec2ForSequenceClassification

class Own(Wav2Vec2ForSequenceClassification):
    def forward(self, *arguments, **options):
        outputs = super().forward(*arguments, **options)
        outputs.logits = outputs.logits * 0 + 0.25
        return outputs
"""


def test_code_of_the_folder_runs_only_if_it_is_trusted(world, monkeypatch, tmp_path):
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    network = world.parent / "networks/values"
    network.joinpath("modeling_own.py").write_text(OWN)
    own = {"architectures": ["Own"], "auto_map": {"AutoModelForAudioClassification": "modeling_own.Own"}}
    edit(network / "config.json", lambda content: content.update(own))
    keys = "values, tasks: [arousal]"
    assert "auto_map" in refused(world, keys)
    refuse_code(read_suite(world / "suite.yml"))
    model = load(world, f"{keys}, trust_remote_code: true")
    assert model.predict(SIGNALS[:1], 16000) == [{"arousal": 0.25}]
    read = read_suite(world / "suite.yml")
    with pytest.raises(InputError, match="the model runs code"):
        refuse_code(read)


# Through the command ----------------------------------------------------------------------------------------


def numbers_suite(world: Path, options: str = "") -> Path:
    text = (world / "suite.yml").read_text()
    begin, end = text.split("models:")[0], text.split("families:")[1]
    model = f"models:\n  m: {{transformers: ../networks/values, tasks: [arousal]{options}}}\n"
    world.joinpath("suite.yml").write_text(f"{begin}{model}families:{end}")
    return world


def test_the_fingerprint_is_that_of_the_files(world):
    """In the child that a run asks: without code, and noticing weights, settings and what is no matter."""
    numbers_suite(world)
    read = read_suite(world / "suite.yml")
    entry = read.models["m"]
    first = check_model(entry, read)
    network = world.parent / "networks/values"
    network.joinpath("README.md").write_text("A model")
    assert check_model(entry, read) == first
    edit(network / "config.json", lambda content: content.update(layer_norm_eps=1e-6))
    assert check_model(entry, read) != first


def test_runs_give_the_same_on_any_number_of_processes_and_after_a_kill(world, undrawn, networks):
    numbers_suite(world, ", batch: 4")
    done = undrawn("run", "suite.yml", "--out", "one", "--no-book", "--no-code", cwd=world)
    assert done.returncode == 0, done.stderr
    results = (world / "one" / "results.csv").read_bytes()
    words, cache = (
        ("run", "suite.yml", "--out", "two", "--no-book", "--jobs", "2"),
        {"SOUNDCHECK_CACHE": str(world / "cache")},
    )
    killed_run(*words, cwd=world, answers=5, **cache)
    again = undrawn(*words, cwd=world, **cache)
    assert again.returncode == 0, again.stderr
    assert (world / "two" / "results.csv").read_bytes() == results

    table = pd.read_parquet(world / "one" / "predictions" / "m" / "tones.parquet")
    clean = table[table["change"] == ""]
    assert len(clean) == 12 and table["error"].isin(["", None]).all() and len(table) > 12
    import soundfile

    for key, value in zip(clean["key"], clean["arousal"], strict=True):
        sound = soundfile.read(world / "data" / key.split("|")[0], dtype="float32")[0]
        logits = directly(networks / "values", "AutoModelForAudioClassification", sound)[0].logits[0]
        assert value == pytest.approx(float(logits[0]), abs=1e-6)


def test_the_example_of_the_page(world):
    """Networks of the names that the page shows are loaded and answer."""
    text = example("models", "Transformers")
    begin = (world / "suite.yml").read_text().split("models:")[0]
    shown = {"emotions": "emotion", "dimensions": "values", "whisper-small": "whisper"}
    for name, network in (shown | {"voices": "voices", "wavlm": "encoder"}).items():
        shutil.copytree(world.parent / "networks" / network, world / "models" / name)
    world.joinpath("suite.yml").write_text(f"{begin}{text}families: all\n")
    read = read_suite(world / "suite.yml")
    assert len(read.models) == 5
    for entry in read.models.values():
        (answer,) = load_model(entry, read).predict(SIGNALS[:1], 16000)
        assert check_output(answer, [read.tasks[name] for name in entry.tasks])[1] == ""
