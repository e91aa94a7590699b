"""An installed wheel brings notebooks, thresholds and pages along, and works in an empty folder."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from runs import write

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

SUITE = """
replicates: 100
corpora:
  talk: {format: csv, path: references.csv, audio: false}
models:
  guess: {random: gaussian}
families: [correctness_regression]
"""
COMMANDS = """
import sys

import soundcheck
from soundcheck.cli import main

print(soundcheck.__file__)

for words in (
    "run suite.yml --jobs 1",
    "init mine",
    "init mine --family own --like robustness_small_changes",
    "score references.csv model.csv --against us --out page.html",
):
    sys.argv[1:] = words.split()
    try:
        main()
    except SystemExit as end:
        assert not end.code
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_wheel_carries_all_files(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, suffix in (("notebooks", ".ipynb"), ("thresholds", ".yml"), ("book/methods", ".md")):
        files = {path.name for path in (ROOT / folder).glob(f"*{suffix}")}
        assert files
        assert {f"soundcheck/_share/{folder}/{name}" for name in files} <= names
    assert {"soundcheck/_share/suite.yml", "soundcheck/_share/_config.yml"} <= names
    library = {path.relative_to(ROOT / "lib") for path in (ROOT / "lib").rglob("*") if path.is_file()}
    code = {path.as_posix() for path in library if "__pycache__" not in path.parts and path.name[0] != "."}
    assert {"soundcheck/statistics/simulated_scores.csv", "soundcheck_demo/speech/corpus.py"} <= code <= names
    (points,) = (name for name in names if name.endswith("dist-info/entry_points.txt"))
    registered = zipfile.ZipFile(wheel).read(points).decode()
    assert all(f"[soundcheck.{group}]\ndemo = " in registered for group in ("formats", "sounds", "speech"))


def test_an_installed_wheel_works_in_an_empty_folder(wheel, tmp_path):
    """It is unpacked apart from the clone, as pip does; other packages are those of the environment."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    references, model = ["file,speaker,accent,transcript,arousal"], ["file,heard"]
    for n in range(300):
        references.append(f"{n}.wav,s{n % 30},{('us', 'indian')[n % 2]},turn left,0.{n % 7}")
        model.append(f"{n}.wav,{('turn left', 'turn')[n % 2]}")
    folder = write(tmp_path / "empty", {"references.csv": references, "model.csv": model, "suite.yml": SUITE})
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMMANDS],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout.startswith(str(site)), done.stderr
    assert "model: word error rate 25.0 %" in done.stdout and "accent, against us:" in done.stdout
    assert "data:image/svg+xml" in (folder / "page.html").read_text()
    assert (folder / "build" / "html" / "methods" / "correctness_regression.html").is_file()
    names = {path.relative_to(folder / "mine").as_posix() for path in (folder / "mine").rglob("*.*")}
    written = {"thresholds/own.yml", "notebooks/own.ipynb", "book/methods/own.md"}
    assert names == {"suite.yml", "my_model.py"} | written
