"""The plan of a run through the real command: it says what the run then does, and runs nothing."""

import re
from pathlib import Path

import pytest
from tests.run.conftest import Project

from soundcheck.run.predictions import ModelForecast

pytestmark = pytest.mark.slow

SEGMENTS = 12
INPUTS = 3 * SEGMENTS


def planned(text: str) -> dict[str, tuple[int, int, int]]:
    """Read inputs, kept and asked of each model that listens."""
    pattern = r"^(\w+): (\d+) inputs .*of them (\d+) cached and (\d+) to predict"
    return {name: tuple(map(int, numbers)) for name, *numbers in re.findall(pattern, text, re.MULTILINE)}


class Planned(Project):
    """The suite, to be planned and run."""

    def succeed(self, *words: str) -> str:
        done = self.soundcheck("run", "suite.yml", "--no-book", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def outside_cache(self) -> dict[Path, tuple[int, bytes]]:
        build = self.folder / "build"
        files = {path for path in build.rglob("*") if path.is_file()}
        files -= {*build.glob("cache/**/*"), build / ".lock"}
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.fixture
def project(small_suite, command) -> Planned:
    return Planned(small_suite("plan"), command)


def test_a_plan_says_what_the_run_then_does_and_writes_nothing_but_the_cache(project):
    plan = project.succeed("--plan")
    assert {path.name for path in project.outside_cache()} == {".soundcheck"}
    assert "loud: 36 inputs (12 clean, 24 under 2 changes)" in plan
    assert "chance: looked up, nothing to predict" in plan
    assert re.search(r"several: .* s a clean input, .* s a changed one, .* timed with \d+ inputs", plan)
    assert re.search(r"^Time: about .*: corpora .*predictions .* \(timed\), .* unknown", plan, re.MULTILINE)
    project.succeed()
    counts = planned(plan)
    assert set(counts) == {"loud", "several"}
    for name, (inputs, cached, missing) in counts.items():
        model = project.models()[name]
        assert (inputs, missing) == (INPUTS, model["asked"]) == (model["inputs"], INPUTS - cached)
        assert 0 < cached < INPUTS  # those with which the model was timed
    calls, before = project.calls.read_text(), project.outside_cache()
    assert max(map(int, calls.split())) == 4  # a batch is timed as the model gets it
    again = project.succeed("--plan")
    assert planned(again) == {"loud": (INPUTS, INPUTS, 0), "several": (INPUTS, INPUTS, 0)}
    assert "Nothing is left to predict" in again and "nothing to predict" in again
    assert (project.calls.read_text(), project.outside_cache()) == (calls, before)
    project.edit("thresholds/planned.yml", "gain_db: [2]", "gain_db: [1]")
    changed = project.succeed("--plan")
    assert "as in the last run" in changed
    for inputs, cached, missing in planned(changed).values():
        assert inputs == INPUTS == cached + missing and missing < SEGMENTS
    of_one = project.succeed("--plan", "--model", "loud")
    assert planned(of_one)["several"] == planned(changed)["several"]  # it is in the book
    for _, cached, missing in planned(project.succeed("--plan", "--fresh")).values():
        assert (cached, missing) == (0, INPUTS)


def test_what_is_left_out_of_a_corpus_and_models_that_fail_are_told(project):
    (project.folder / "data" / "empty.wav").touch()
    table = project.folder / "data" / "segments.csv"
    table.write_text(table.read_text().replace("speaker", "who") + "empty.wav,s1,0.5\n")
    project.edit("my_model.py", "    note([signal])\n", "    raise RuntimeError('no weights')\n")
    plan = project.succeed("--plan", "--model", "loud", "--family", "planned")
    assert "tones: 1 item would be left out, the first 'empty.wav': 0 bytes, the file is empty\n" in plan
    assert "tones: no column speaker: each file counts as a block of its own in intervals\n" in plan
    assert re.search(r"no prediction for \d+ inputs: RuntimeError: no weights", plan)
    assert "without models that gave no prediction" in plan
    assert planned(plan)["loud"] == (INPUTS, 0, INPUTS)
    project.edit("suite.yml", "my_model:loud", "my_model:lout")
    done = project.soundcheck("run", "suite.yml", "--plan")
    assert done.returncode == 2 and "lout" in done.stderr and not done.stdout


def test_time_grows_with_what_is_left_and_shrinks_with_processes():
    model = ModelForecast(30, 10, 30, 10, 20, 8, start=3.0, clean_seconds=1.0, changed_seconds=2.0)
    assert model.seconds(1) == 53.0 and model.seconds(5) == 13.0
    assert ModelForecast(30, 10, 0, start=3.0).seconds(1) == 0.0
