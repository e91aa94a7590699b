"""Shards through the real command: together they are the run; what does not belong together is refused."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.run.conftest import Project

from soundcheck import cli, pipeline
from soundcheck.common.messages import InputError
from soundcheck.run.selection import RunOptions

pytestmark = pytest.mark.slow

PICKY = '  picky: {python: "my_model:picky", tasks: [arousal]}\n  chance:'


class Sharded(Project):
    """The suite with a model that fails now and then, in one family: fewer notebooks."""

    def __init__(self, folder: Path, command) -> None:
        super().__init__(folder, command)
        self.edit("suite.yml", "  chance:", PICKY)
        self.edit("suite.yml", "[planned, plain]", "[planned]")
        self.edit("suite.yml", "comparisons:\n  both: {baseline: loud, candidate: several}\n", "")
        with (folder / "my_model.py").open("a") as file:
            file.write('\nopen(__file__.replace("my_model.py", "weights.txt")).close()\n')
        (folder / "weights.txt").write_text("0.5")

    def output_of(self, command: str, *words: str, **more: str) -> str:
        """Run a command, and give what it prints; a shard may have none of the inputs that fail."""
        done = self.soundcheck(command, "suite.yml", *words, **more)
        assert done.returncode in ((0, 3) if "--shard" in words else (3,)), done.stderr + done.stdout
        return done.stdout + done.stderr

    def answers(self) -> int:
        return len(self.calls.read_text().split())

    def tables(self, out: str) -> dict[str, bytes]:
        folder = self.folder / out
        paths = [folder / "results.csv", folder / "comparisons.csv", *folder.glob("predictions/**/*.parquet")]
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def models_of(folder: Path) -> dict[str, dict]:
    (path,) = folder.glob("shard-*.json")
    return json.loads(path.read_text())["models"]


@pytest.fixture(scope="module")
def project(small_suite, command):
    """One run; three shards, the last with a cache elsewhere; their merge where no model loads."""
    project = Sharded(small_suite("shards"), command)
    project.output_of("run", "--no-book", "--out", "one")
    project.calls.unlink()
    elsewhere, project.printed = str(project.folder / "elsewhere"), []
    for number, cache in (("1", ""), ("2", ""), ("3", elsewhere)):
        words = ("--shard", f"{number}/3", "--out", f"shards/{number}")
        project.printed.append(project.output_of("run", *words, cache=cache))
    project.before = project.answers()
    words = ("shards/1", "shards/2", "shards/3", "--no-book", "--out", "merged")
    project.merged = project.output_of("merge", *words, cache=elsewhere, NOT_HERE="1")
    project.after = project.answers()
    shutil.copytree(elsewhere, project.folder / "shards" / "3" / "cache")
    return project


def test_merged_shards_are_the_run_and_ask_nothing(project):
    one, merged = project.tables("one"), project.tables("merged")
    assert len(one) == 2 + 4 and merged == one
    assert project.after == project.before > 0
    first, second = project.models("one"), project.models("merged")
    assert [model["asked"] for model in second.values()] == [0] * 4
    for name, model in first.items():
        assert all(model[key] == second[name][key] for key in ("fingerprint", "seen_files")), name
    assert set(first["loud"]["seen_files"]) == {"my_model.py", "weights.txt"}
    assert "loud could not be loaded here, its predictions are those of the shards" in project.merged
    assert "no weights on this machine" in project.merged


def test_shards_share_the_work_tell_failures_and_write_no_results(project):
    folders = [project.folder / "shards" / number for number in "123"]
    names = {path.name for path in folders[0].iterdir()}
    assert {"cache", "shard-1-of-3.json"} <= names
    assert not names & {"results.csv", "predictions", "notebooks", "html", "run.json"}
    inputs = [models_of(folder)["loud"]["inputs"] for folder in folders]
    assert sum(inputs) == 36 and min(inputs) > 0
    failures = project.models("one")["picky"]["failed"]
    failed = [failure for folder in folders for failure in models_of(folder)["picky"]["failures"]]
    problems = [failure["problem"] for failure in failed]
    assert len(problems) == failures > 0
    assert all(problem.startswith("ValueError: too loud") for problem in problems)
    assert any("without a prediction: ValueError: too loud" in text for text in project.printed)
    assert f"picky gave no prediction for {failures} inputs" in project.merged
    plan = project.output_of("run", "--shard", "1/3", "--out", "shards/1", "--plan")
    assert f"loud: {inputs[0]} inputs" in plan and "0 to predict" in plan


def edit(folder: Path, **changes: object) -> None:
    (path,) = folder.glob("shard-*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes if changes else {}))


ANOTHER_MODEL = "shard 1/3 in {1}, code and files of models: '%s' is another one here"
REFUSED = {  # what is done to folders 1, 2, 3, which of them (or others) are merged -> where and what
    "missing": (None, "13", ["shard 2/3 is missing. Name its folder, or run it"]),
    "twice": (None, "1231", ["shard 1/3: it is there 2 times, in {1} and {1}"]),
    "numbers": (lambda _, two: edit(two, share={"number": 2, "of": 4}), "123", ["belong together (1/3 in"]),
    "no shards": (
        *(lambda _, two: edit(two), ["1", "2", "data", "nowhere"]),
        ["shard-2-of-3.json: the file is not one that a shard has left"]
        + ["there is no shard in this folder", "there is no such folder"],
    ),
    "version": (lambda one, _: edit(one, version="0.0.9"), "123", ["1/3 in {1}: its version is 0.0.9, this"]),
    "answers that are gone": (
        *(lambda _, two: shutil.rmtree(two / "cache"), "123"),
        ["shard 2/3 in {2}: {inputs} inputs of 'loud' have no prediction in its cache"],
    ),
    "suite": (("suite.yml", b"batch: 4", b"batch: 2"), "123", [ANOTHER_MODEL % "several"]),
    "model": (  # three models in each of three shards
        *(("my_model.py", b"import os", b"import os # trained longer"), "123"),
        [ANOTHER_MODEL % "loud", "There are 9 of this kind"],
    ),
    "data": (("data/3.wav", b"\x00", b"\x01"), "123", ["inputs of 'loud' have no prediction in its cache"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_belong_together_is_refused_and_nothing_written(project, monkeypatch, tmp_path, name):
    change, wanted, words = REFUSED[name]
    shutil.copytree(project.folder, tmp_path / "suite", ignore=shutil.ignore_patterns("one", "merged", "all"))
    monkeypatch.chdir(tmp_path / "suite")
    monkeypatch.setenv("CALLS", str(project.calls))
    monkeypatch.setenv("SOUNDCHECK_CACHE", str(tmp_path / "cache"))
    copies = [tmp_path / "suite" / "shards" / number for number in "123"]
    inputs = models_of(copies[1])["loud"]["inputs"]
    if callable(change):
        change(*copies[:2])
    elif change:
        file, old, new = change
        Path(file).write_bytes(new.join(Path(file).read_bytes().rsplit(old, 1)))
    folders = [copies[int(name) - 1] if name.isdigit() else Path(name) for name in wanted]
    with pytest.raises(InputError) as error:
        pipeline.run(RunOptions(suite=Path("suite.yml"), out=tmp_path / "out", book=False), folders)
    for text in words:
        assert text.format(0, *copies, inputs=inputs) in str(error.value)
    assert {path.name for path in (tmp_path / "out").glob("*")} <= {".soundcheck", ".lock"}


PART = ("1/2 --model loud", "1/2 --family plain", "1/2 --fresh")


@pytest.mark.parametrize(
    ("words", "problem"),
    [("4/3", "such as 1/3"), *((words, "A shard is part of the whole suite") for words in PART)],
)
def test_bad_shares_and_parts_of_a_suite_are_refused(words, problem):
    done = CliRunner().invoke(cli.commands, ["run", "suite.yml", "--shard", *words.split()])
    assert done.exit_code == 2 and problem in done.output
