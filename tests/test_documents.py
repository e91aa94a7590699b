"""What the README, the handbook and docstrings tell to type works."""

import doctest
import importlib
import os
import re
import shutil
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pandas as pd
import pytest
from links import dead_links
from packaging.specifiers import SpecifierSet
from preloaded import UNDRAWN

import soundcheck
import soundcheck_demo
from soundcheck.book import site
from soundcheck.common import resources

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = [
    ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
    for root in (Path(package.__file__).parent for package in (soundcheck, soundcheck_demo))
    for path in sorted(root.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def test_pinned_versions_run_on_the_oldest_python_that_is_promised():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = f"{project['requires-python'].removeprefix('>=')}.0"
    pinned = [
        line.split("==")[0] for path in ROOT.glob("requirements*.txt") for line in path.read_text().split()
    ]
    installed = {d.metadata["Name"].lower(): d.metadata.get("Requires-Python") for d in distributions()}
    asked = {name: installed.get(name.lower()) or "" for name in pinned}
    assert {name: asks for name, asks in asked.items() if not SpecifierSet(asks).contains(oldest)} == {}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    examples = doctest.testmod(importlib.import_module(name))
    assert examples.attempted and not examples.failed


def block(language, containing):
    blocks = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return next(text for text in blocks if containing in text)


@pytest.fixture
def words():
    """What thirty speakers said, of whom a third lose a word."""
    frame = pd.DataFrame({"file": [f"{n}.wav" for n in range(300)]})
    frame["speaker"] = [f"s{n % 30}" for n in range(300)]
    frame["accent"] = [("us", "indian")[n % 2] for n in range(300)]
    return frame.assign(
        said="turn the light on", heard=["turn the light on", "turn light", "turn light"] * 100
    )


def test_python_lines_of_the_readme(tmp_path, monkeypatch, words, capsys):
    monkeypatch.chdir(tmp_path)
    words.to_csv("words.csv", index=False)
    code = block("python", "soundcheck.evaluate")
    assert len(code.splitlines()) <= 10
    exec(code, {})
    assert capsys.readouterr().out.startswith("model: word error rate")
    assert "By accent" in (tmp_path / "scores.html").read_text()


def test_score_command_of_the_readme(tmp_path, command, words):
    references = words.rename(columns={"said": "transcript"}).drop(columns="heard")
    references.to_csv(tmp_path / "references.csv", index=False)
    words[["file", "heard"]].to_csv(tmp_path / "predictions.csv", index=False)
    done = command(*block("bash", "soundcheck score").split()[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "accent, against us:" in done.stdout and (tmp_path / "scores.html").is_file()


def test_links_and_make_targets_of_the_readme_exist():
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert [target for target in links if not (ROOT / target).exists()] == []
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.slow
def test_the_handbook_is_built_as_any_jupyter_book(tmp_path, shared_cache, forked_sphinx, monkeypatch):
    """Complete, without a warning, no link into nothing; figures, which other tests draw, are blank."""
    root = tmp_path / "checkout"
    (root / "_build").mkdir(parents=True)
    (root / "_build" / "sounds").symlink_to(shared_cache)  # which runs of other tests make, too
    shutil.copytree(resources.root() / "book", root / "book")
    for name in ("_config.yml", "_toc.yml"):
        shutil.copyfile(resources.root() / name, root / name)
    monkeypatch.chdir(root)
    build = "from jupyter_book.cli.main import main; main(['build', '.', '-W', '--keep-going', '-q'])"
    command, log = [sys.executable, "-c", build], tmp_path / "log.txt"
    with log.open("w") as output:
        streams = {"stdin": site.subprocess.DEVNULL, "stdout": output, "stderr": output}
        done = site.subprocess.Popen(command, **streams, env=os.environ | {UNDRAWN: "1"})
        assert done.wait(600) == 0, log.read_text()[-3000:]
    html = root / "_build" / "html"
    assert dead_links(html) == []
    page = (html / "book" / "methods" / "robustness_background_noise.html").read_text(encoding="utf-8")
    assert "Robustness Background Noise" in page and "<audio" in page and 'class="sc-table' in page
    assert "http" not in page.partition("<head>")[2].partition("</head>")[0].replace("http-equiv", "")


def test_extras_and_pins_name_what_the_suite_of_networks_needs():
    pins = (ROOT / "requirements-neural.txt").read_text("utf-8").lower()
    for package in ("onnxruntime", "speechmos", "resemblyzer", "torch", "transformers", "onnx-asr"):
        assert re.search(rf"^{package}==\S+$", pins, re.MULTILINE), package
    others = (ROOT / "requirements.txt").read_text("utf-8").lower()
    shared = {line.partition("==")[0] for line in pins.splitlines() if "==" in line}
    shared &= {line.partition("==")[0] for line in others.splitlines()}
    assert shared <= {"setuptools"}  # torch asks for a newer one
