"""What the page *Models* shows for functions and other frameworks: files that work when they are copied."""

import sys
from pathlib import Path

import numpy as np
import pytest
from library_models import load_model
from pages import PAGES, example
from tones import make

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
