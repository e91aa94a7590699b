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
  demo: {format: demo, size: small}
models:
  guess: {random: gaussian}
families: [correctness_regression]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    arguments = ["-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT]
    subprocess.run([sys.executable, *map(str, arguments)], check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_wheel_carries_all_files(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, suffix in (("notebooks", ".ipynb"), ("thresholds", ".yml"), ("book/methods", ".md")):
        own = {path.name for path in (ROOT / folder).glob(f"*{suffix}")}
        assert own
        assert {f"soundcheck/_share/{folder}/{name}" for name in own} <= names
    assert {"soundcheck/_share/suite.yml", "soundcheck/_share/_config.yml"} <= names
    library = {path.relative_to(ROOT / "lib") for path in (ROOT / "lib").rglob("*") if path.is_file()}
    own = {path.as_posix() for path in library if "__pycache__" not in path.parts and path.name[0] != "."}
    assert {"soundcheck/statistics/simulated_scores.csv", "soundcheck_demo/speech/corpus.py"} <= own <= names
    (points,) = (name for name in names if name.endswith("dist-info/entry_points.txt"))
    registered = zipfile.ZipFile(wheel).read(points).decode()
    assert all(f"[soundcheck.{group}]\ndemo = " in registered for group in ("formats", "sounds", "speech"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Install the wheel apart from the clone; other packages are those of the present environment."""
    site = tmp_path_factory.mktemp("site")
    arguments = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel]
    subprocess.run([sys.executable, *map(str, arguments)], check=True, capture_output=True)
    where = [sys.executable, "-c", "import soundcheck; print(soundcheck.__file__)"]
    found = subprocess.run(where, env=os.environ | {"PYTHONPATH": str(site)}, capture_output=True, text=True)
    assert found.stdout.startswith(str(site))
    return site


def test_installed_wheel_scores_two_tables(installed, tmp_path, started_command):
    references, model = ["file,speaker,accent,transcript"], ["file,heard"]
    for n in range(300):
        references.append(f"{n}.wav,s{n % 30},{('us', 'indian')[n % 2]},turn left")
        model.append(f"{n}.wav,{('turn left', 'turn')[n % 2]}")
    write(tmp_path, {"references.csv": references, "model.csv": model})
    line = ("score", "references.csv", "model.csv", "--against", "us", "--out", "page.html", "--check")
    done = started_command(*line, cwd=tmp_path, PYTHONPATH=str(installed))
    assert done.returncode == 1 and done.stdout.startswith("model: word error rate 25.0 %"), done.stderr
    assert (
        "accent, against us:" in done.stdout and "data:image/svg+xml" in (tmp_path / "page.html").read_text()
    )


def test_installed_wheel_runs_in_an_empty_folder(installed, tmp_path, started_command, shared_cache):
    (tmp_path / "suite.yml").write_text(SUITE)
    own = {"PYTHONPATH": str(installed), "SOUNDCHECK_CACHE": str(shared_cache)}  # the corpus is spoken once
    done = started_command("run", "suite.yml", cwd=tmp_path, **own)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "build" / "html" / "methods" / "correctness_regression.html").is_file()
    assert started_command("init", "mine", cwd=tmp_path, **own).returncode == 0
    like = ("--like", "robustness_small_changes")
    assert started_command("init", "mine", "--family", "own", *like, cwd=tmp_path, **own).returncode == 0
    names = {path.relative_to(tmp_path / "mine").as_posix() for path in (tmp_path / "mine").rglob("*.*")}
    assert names == {
        "suite.yml",
        "my_model.py",
        "thresholds/own.yml",
        "notebooks/own.ipynb",
        "book/methods/own.md",
    }
