"""An installed wheel brings notebooks, thresholds and pages along, and works in an empty folder."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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


def test_installed_wheel_runs_in_an_empty_folder(wheel, tmp_path, started_command, shared_cache):
    site = tmp_path / "site"
    arguments = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel]
    subprocess.run([sys.executable, *map(str, arguments)], check=True, capture_output=True)
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "suite.yml").write_text(SUITE)
    own = {"PYTHONPATH": str(site), "SOUNDCHECK_CACHE": str(shared_cache)}  # the corpus is spoken once
    done = started_command("run", "suite.yml", cwd=empty, **own)
    assert done.returncode == 0, done.stderr
    assert (empty / "build" / "html" / "methods" / "correctness_regression.html").is_file()
    assert (site / "soundcheck" / "_share" / "notebooks").is_dir()
    assert started_command("init", "mine", cwd=empty, PYTHONPATH=str(site)).returncode == 0
    assert (empty / "mine" / "suite.yml").is_file()
