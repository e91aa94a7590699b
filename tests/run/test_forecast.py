"""The plan of a run through the real command: it says what the run then does, and runs nothing."""

import json
import re
from pathlib import Path

import pytest

from soundcheck.predict.forecast import ModelForecast

pytestmark = pytest.mark.slow

SEGMENTS = 12
INPUTS = 3 * SEGMENTS


def planned(text: str) -> dict[str, tuple[int, int, int]]:
    """Read inputs, kept and asked of each model that listens."""
    pattern = r"^(\w+): (\d+) inputs .*of them (\d+) cached and (\d+) to predict"
    return {name: tuple(map(int, numbers)) for name, *numbers in re.findall(pattern, text, re.MULTILINE)}


def outside_cache(folder: Path) -> dict[Path, tuple[int, bytes]]:
    files = [path for path in (folder / "build").rglob("*") if path.is_file()]
    own = [path for path in files if "cache" not in path.relative_to(folder / "build").parts]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in own if path.name != ".lock"}


class Project:
    """A folder with a suite, and the command in it."""

    def __init__(self, folder: Path, command) -> None:
        self.folder, self._command = folder, command
        self.calls = folder / "calls.txt"

    def run(self, *arguments: str):
        done = self._command(
            "run", "suite.yml", *arguments, cwd=self.folder, CALLS=str(self.calls), SOUNDCHECK_CACHE=""
        )
        assert "Traceback" not in done.stderr
        return done

    def record(self) -> dict[str, dict]:
        models = json.loads((self.folder / "build" / "run.json").read_text())["models"]
        return {model["name"]: model for model in models}


@pytest.fixture(scope="module")
def project(small_suite, command):
    """Planned, run, planned again, a threshold changed, planned and run again."""
    project = Project(small_suite("plan"), command)
    steps = {}
    steps["plan"] = project.run("--plan", "--no-book")
    steps["files"] = outside_cache(project.folder)
    steps["run"] = project.run("--no-book")
    steps["record"], before = project.record(), outside_cache(project.folder)
    steps["calls"] = project.calls.read_text()
    steps["plan again"] = project.run("--plan", "--no-book")
    steps["asked again"] = project.calls.read_text() != steps["calls"]
    steps["changed"] = outside_cache(project.folder) != before
    for name, old, new in (
        ("planned", "gain_db: [2]", "gain_db: [1]"),
        ("plain", "arousal: 1}", "arousal: 2}"),
    ):
        path = project.folder / "thresholds" / f"{name}.yml"
        path.write_text(path.read_text().replace(old, new))
        steps[f"plan of {name}"] = project.run("--plan", "--no-book")
        steps[f"run of {name}"] = project.run("--no-book")
        steps[f"record of {name}"] = project.record()
    steps["plan of one model"] = project.run("--plan", "--no-book", "--model", "loud")
    steps["plan of fresh answers"] = project.run("--plan", "--no-book", "--fresh")
    for name, step in steps.items():
        if hasattr(step, "returncode"):
            assert step.returncode == 0, (name, step.stderr)
    return steps


def test_inputs_are_those_that_the_run_then_asks(project):
    counts = planned(project["plan"].stdout)
    assert set(counts) == {"loud", "several"}
    for name, (inputs, kept, asked) in counts.items():
        record = project["record"][name]
        assert (inputs, asked) == (INPUTS, record["asked"]) == (record["inputs"], INPUTS - kept)
        assert 0 < kept < INPUTS  # those with which the model was timed
    assert "loud: 36 inputs (12 clean, 24 under 2 changes)" in project["plan"].stdout
    assert "chance: looked up, nothing to predict" in project["plan"].stdout


def test_a_change_of_the_signal_that_is_new_is_to_be_asked(project):
    for name, (inputs, kept, asked) in planned(project["plan of planned"].stdout).items():
        assert (inputs, asked) == (INPUTS, project["record of planned"][name]["asked"])
        assert 0 <= asked < SEGMENTS and inputs == kept + asked


def test_nothing_is_to_do_when_nothing_changed(project):
    text = project["plan again"].stdout
    assert planned(text) == {"loud": (INPUTS, INPUTS, 0), "several": (INPUTS, INPUTS, 0)}
    assert "Nothing is left to predict" in text and "nothing to predict" in text
    assert not project["asked again"]


def test_nothing_is_written_but_the_cache(project):
    assert {path.name for path in project["files"]} == {".soundcheck"}
    assert not project["changed"]


def test_a_batch_is_timed_as_the_model_gets_it(project):
    sizes = {int(line) for line in project["calls"].split()}
    assert max(sizes) == 4
    assert re.search(
        r"several: .* s a clean input, .* s a changed one, .* timed with \d+ inputs", project["plan"].stdout
    )


def test_time_is_estimated(project):
    text = project["plan"].stdout
    assert re.search(r"^Time: about .*: corpora .*predictions .* \(timed\), .* unknown", text, re.MULTILINE)
    assert "as in the last run" in project["plan of planned"].stdout


def test_what_is_left_out_of_a_corpus_is_told(small_suite, command):
    project = Project(small_suite("plan"), command)
    table = project.folder / "data" / "segments.csv"
    project.folder.joinpath("data", "empty.wav").write_bytes(b"")
    table.write_text(table.read_text() + "empty.wav,s1,0.5\n")
    plan = project.run("--plan", "--no-book", "--family", "plain")
    assert plan.returncode == 0, plan.stderr
    assert (
        "tones: 1 item would be left out, the first 'empty.wav': 0 bytes, the file is empty\n" in plan.stdout
    )
    assert "tones: no column speaker" not in plan.stdout
    table.write_text(table.read_text().replace("speaker", "who"))
    plan = project.run("--plan", "--no-book", "--family", "plain")
    assert "tones: no column speaker: each file counts as a block of its own in intervals\n" in plan.stdout


def test_first_uses_of_changes_are_no_part_of_what_an_input_takes(small_suite, command):
    """The first telephone codec of a process loads a library for a second; a function answers at once."""
    project = Project(small_suite("plan"), command)
    path = project.folder / "thresholds" / "planned.yml"
    phone = "Softer: {transform: low_quality_phone}\n  Fainter: {transform: white_noise, snr_db: [30]}"
    path.write_text(path.read_text().replace("Softer: {transform: gain, gain_db: [-6]}", phone))
    plan = project.run("--plan", "--no-book", "--model", "loud")
    assert plan.returncode == 0, plan.stderr
    (seconds,) = re.findall(r"loud: .* s a clean input, ([\d.e-]+) s a changed one", plan.stdout)
    assert 0 < float(seconds) < 0.1


def test_one_model_alone_and_fresh_answers(project):
    counts = planned(project["plan of one model"].stdout)
    assert counts["several"] == (INPUTS, INPUTS, 0)  # it is in the book
    for _, kept, asked in planned(project["plan of fresh answers"].stdout).values():
        assert (kept, asked) == (0, INPUTS)


def test_bad_input_is_refused_as_by_a_run(small_suite, command):
    project = Project(small_suite("plan"), command)
    suite = project.folder / "suite.yml"
    suite.write_text(suite.read_text().replace("my_model:loud", "my_model:lout"))
    plan, run = project.run("--plan"), project.run()
    assert (plan.returncode, run.returncode) == (2, 2)
    assert plan.stderr.split("loud")[-1] == run.stderr.split("loud")[-1]
    assert not plan.stdout and "lout" in plan.stderr


def test_a_model_that_fails_is_named_with_its_reason(small_suite, command):
    project = Project(small_suite("plan"), command)
    code = project.folder / "my_model.py"
    code.write_text(
        code.read_text().replace("    note([signal])\n", "    raise RuntimeError('no weights')\n")
    )
    plan = project.run("--plan", "--model", "loud", "--family", "planned")
    assert plan.returncode == 0
    assert re.search(r"no prediction for \d+ inputs: RuntimeError: no weights", plan.stdout)
    assert "without models that gave no prediction" in plan.stdout
    assert planned(plan.stdout)["loud"] == (INPUTS, 0, INPUTS)


def test_time_grows_with_what_is_left_and_shrinks_with_processes():
    model = ModelForecast(10, 20, 0, 10, 20, 8, start=3.0, clean_seconds=1.0, changed_seconds=2.0)
    assert model.seconds(1) == 53.0 and model.seconds(5) == 13.0
    assert ModelForecast(10, 20, 30, start=3.0).seconds(1) == 0.0
