"""What the page *Models* shows for functions and other frameworks: files that work when they are copied."""

import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from library_models import load_model
from pages import PAGES, example
from tiny_transformers import SMALL
from tones import make

from soundcheck.common.errors import InputError
from soundcheck.models.base import check_model
from soundcheck.suite.suite_file import read_suite

pytestmark = pytest.mark.slow

SIGNALS = [np.random.default_rng(n).normal(0, 0.1, 4000 + n).astype(np.float32) for n in range(3)]
DIMENSIONS = ["arousal", "dominance", "valence"]
RECIPES = PAGES.joinpath("models.md").read_text("utf-8").split("\n## Other frameworks\n")[1].split("\n## ")[0]
NAMES = [line.removeprefix("### ") for line in RECIPES.splitlines() if line.startswith("### ")]


@pytest.fixture(autouse=True)
def modules():
    """Forget what was imported: each test has files of its own of the same names."""
    yield
    for name in ("my_model", "my_network"):
        sys.modules.pop(name, None)


@pytest.fixture
def folder(tmp_path) -> Path:
    return make(tmp_path / "suite")


def suite(folder: Path, models: str):
    begin = (folder / "suite.yml").read_text().split("models:")[0]
    (folder / "suite.yml").write_text(f"{begin}{models}families: [correctness_regression]\n")
    read = read_suite(folder / "suite.yml")
    (entry,) = read.models.values()
    return entry, read


def recipe(name: str) -> str:
    """Put the class of a recipe and the functions of the section on Python functions together."""
    functions = example("models", "A Python function", "python", 1)
    functions = functions[functions.index("@functools.cache") :].replace("signals", "signal")
    return f"import functools\n{example('models', name, 'python')}\n\n{functions}"


def test_a_function(folder):
    (folder / "my_model.py").write_text(example("models", "A Python function", "python"))
    entry, read = suite(folder, example("models", "A Python function"))
    (answer,) = load_model(entry, read).predict(SIGNALS[:1], 16000)
    assert answer == {"arousal": pytest.approx(0.5, abs=0.05), "emotion": "neutral"}


def test_a_class_in_batches(folder):
    (folder / "weight.txt").write_text("2")
    (folder / "my_network.py").write_text(example("models", "A Python function", "python", 1))
    entry, read = suite(folder, example("models", "A Python function", number=1))
    assert (entry.batch, entry.time_limit) == (8, 60)
    answers = load_model(entry, read).predict(SIGNALS, 16000)
    assert [answer["arousal"] for answer in answers] == [2 * np.abs(signal).mean() for signal in SIGNALS]
    first = check_model(entry, read)
    (folder / "weight.txt").write_text("3")
    assert check_model(entry, read) != first


def test_every_recipe_is_python():
    for name in NAMES:
        compile(recipe(name), name, "exec")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript(folder):
    torch = pytest.importorskip("torch")

    class Mean(torch.nn.Module):
        def forward(self, signals):
            return torch.stack([signals.abs().mean(1), signals.mean(1), signals.square().mean(1)], 1)

    torch.jit.script(Mean()).save(str(folder / "network.pt"))
    (folder / "my_network.py").write_text(recipe("TorchScript"))
    entry, read = suite(folder, example("models", "Other frameworks"))
    for signal, answer in zip(SIGNALS, load_model(entry, read).predict(SIGNALS, 16000), strict=True):
        expected = [np.abs(signal).mean(), signal.mean(), np.square(signal).mean()]
        assert list(answer.values()) == pytest.approx(expected, rel=1e-5)
        assert list(answer) == DIMENSIONS
    assert [path.name for path in entry.about.named_files(entry, read)] == ["network.pt"]


def test_a_head_of_its_own(folder):
    """Weights are called as published ones are; the message for the folder itself leads to the page."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    weights_folder = folder / "dimensions"
    settings = {"architectures": ["Wav2Vec2ForSpeechClassification"], "id2label": dict(enumerate(DIMENSIONS))}
    config = transformers.Wav2Vec2Config(**SMALL | settings)
    torch.manual_seed(0)
    encoder = transformers.Wav2Vec2Model(config).eval()
    weights = {f"wav2vec2.{name}": weight for name, weight in encoder.state_dict().items()}
    for name, size in {"dense": (16, 16), "out_proj": (3, 16)}.items():
        weights[f"classifier.{name}.weight"] = torch.randn(size)
        weights[f"classifier.{name}.bias"] = torch.randn(size[0])
    weights_folder.mkdir()
    config.save_pretrained(weights_folder)
    transformers.Wav2Vec2FeatureExtractor().save_pretrained(weights_folder)
    safetensors.save_file(weights, weights_folder / "model.safetensors", {"format": "pt"})

    refused = f"models:\n  m: {{transformers: dimensions, tasks: [{', '.join(DIMENSIONS)}]}}\n"
    with pytest.raises(InputError, match="is no class of transformers .* section Other frameworks"):
        load_model(*suite(folder, refused))

    (folder / "my_network.py").write_text(recipe("A head of its own"))
    suite_of_page = yaml.safe_load(example("models", "Other frameworks"))
    suite_of_page["models"]["network"]["files"] = "dimensions/*.safetensors"
    model = load_model(*suite(folder, yaml.safe_dump(suite_of_page)))
    for signal, answer in zip(SIGNALS, model.predict(SIGNALS, 16000), strict=True):
        values = torch.from_numpy((signal - signal.mean()) / np.sqrt(signal.var() + 1e-7))[None]
        with torch.inference_mode():
            mean = encoder(values).last_hidden_state.mean(1)
            dense = torch.tanh(mean @ weights["classifier.dense.weight"].T + weights["classifier.dense.bias"])
            numbers = dense @ weights["classifier.out_proj.weight"].T + weights["classifier.out_proj.bias"]
        assert list(answer.values()) == pytest.approx(numbers[0].tolist(), abs=1e-5)
