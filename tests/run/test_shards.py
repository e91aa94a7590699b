"""Shards through the real command: together they are the run; what does not belong together is refused."""

import json
import re
import shutil
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from killed import killed_run

from soundcheck import cli, pipeline
from soundcheck.common.errors import InputError
from soundcheck.run.options import RunOptions

pytestmark = pytest.mark.slow

SHARES = ("1/3", "2/3", "3/3")
PICKY = '  picky: {python: "my_model:picky", tasks: [arousal]}\n  chance:'


class Project:
    """A folder with a suite, and the command in it."""

    def __init__(self, folder: Path, command) -> None:
        self.folder, self._command = folder, command
        self.calls = folder / "calls.txt"
        suite = folder / "suite.yml"
        text = suite.read_text().replace("  chance:", PICKY).replace("[planned, plain]", "[planned]")
        before, _, after = text.partition("comparisons:")
        with (folder / "my_model.py").open("a") as file:
            file.write('\nopen(__file__.replace("my_model.py", "weights.txt")).close()\n')
        (folder / "weights.txt").write_text("0.5")
        suite.write_text(before + after[after.index("families:") :])  # fewer notebooks

    def soundcheck(self, *arguments: str, code: int = 0, **environment: str) -> str:
        """Run the command, and give what it prints; a shard may have none of the inputs that fail."""
        codes = (0, code) if "--shard" in arguments else (code,)
        settings = {"CALLS": str(self.calls), "SOUNDCHECK_CACHE": ""} | environment
        done = self._command(*arguments, cwd=self.folder, **settings)
        assert done.returncode in codes and "Traceback" not in done.stderr, done.stderr + done.stdout
        return done.stdout + done.stderr

    def asked(self) -> int:
        return len(self.calls.read_text().split()) if self.calls.exists() else 0


def tables(folder: Path) -> dict[str, bytes]:
    paths = [folder / "results.csv", folder / "comparisons.csv", *(folder / "predictions").rglob("*.parquet")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def project(small_suite, command):
    """One run; three shards, the last with a cache elsewhere; their merge where no model loads."""
    project = Project(small_suite("shards"), command)
    project.soundcheck("run", "suite.yml", "--no-book", "--out", "one", code=3)
    project.calls.unlink()
    project.told = {}
    for share in SHARES:
        cache = {"SOUNDCHECK_CACHE": str(project.folder / "elsewhere")} if share == "3/3" else {}
        out = f"shards/{share[0]}"
        told = project.soundcheck("run", "suite.yml", "--shard", share, "--out", out, code=3, **cache)
        project.told[share] = told
    project.before = project.asked()
    shutil.copytree(project.folder / "elsewhere", project.folder / "kept")
    merge = ("merge", "suite.yml", "shards/1", "shards/2", "shards/3", "--no-book", "--out", "merged")
    elsewhere = str(project.folder / "elsewhere")
    project.merged = project.soundcheck(*merge, code=3, SOUNDCHECK_CACHE=elsewhere, NOT_HERE="1")
    project.after = project.asked()
    shutil.move(project.folder / "kept", project.folder / "shards" / "3" / "cache")
    return project


def copied(project: Project, *numbers: int) -> list[Path]:
    """Copy shards to a place where a test may change them."""
    place = project.folder / f"copy{time.monotonic_ns()}"
    for number in numbers:
        shutil.copytree(project.folder / "shards" / str(number), place / str(number))
    return [place / str(number) for number in numbers]


def test_merged_shards_are_the_run_byte_by_byte(project):
    one, merged = tables(project.folder / "one"), tables(project.folder / "merged")
    assert len(one) == 2 + 4 and one.keys() == merged.keys()
    assert {name for name in one if one[name] != merged[name]} == set()


def test_the_merge_asks_nothing_that_shards_were_asked(project):
    assert project.after == project.before > 0
    record = json.loads((project.folder / "merged" / "run.json").read_text())
    assert {model["name"]: model["asked"] for model in record["models"]} == dict.fromkeys(
        ("loud", "several", "picky", "chance"), 0
    )


def test_a_merge_has_the_fingerprints_of_the_run(project):
    records = [json.loads((project.folder / name / "run.json").read_text()) for name in ("one", "merged")]
    one, merged = ({m["name"]: (m["fingerprint"], m["seen_files"]) for m in r["models"]} for r in records)
    assert one == merged and {"my_model.py", "weights.txt"} == set(one["loud"][1])


def failures(project: Project) -> int:
    record = json.loads((project.folder / "one" / "run.json").read_text())
    (picky,) = [model for model in record["models"] if model["name"] == "picky"]
    return picky["failed"]


def test_failures_are_told_by_shards_and_by_the_merge(project):
    found = [shard(project.folder / "shards" / number)["models"]["picky"]["failures"] for number in "123"]
    problems = [failure["problem"] for one in found for failure in one]
    assert len(problems) == failures(project) > 0
    assert all(problem.startswith("ValueError: too loud") for problem in problems)
    assert any("without a prediction: ValueError: too loud" in told for told in project.told.values())
    assert f"picky gave no prediction for {failures(project)} inputs" in project.merged


def test_a_model_need_not_load_where_nothing_is_left_to_ask(project):
    assert "loud could not be loaded here, its predictions are those of the shards" in project.merged
    assert "no weights on this machine" in project.merged


def test_shards_share_the_work_and_write_no_results(project):
    names = {path.name for path in (project.folder / "shards" / "1").iterdir()}
    assert {"cache", "shard-1-of-3.json"} <= names
    assert not names & {"results.csv", "predictions", "notebooks", "html", "run.json"}
    inputs = [shard(project.folder / "shards" / n)["models"]["loud"]["inputs"] for n in "123"]
    assert sum(inputs) == 36 and min(inputs) > 0


def test_a_run_after_the_merge_asks_failed_inputs_only(project):
    shutil.copytree(project.folder / "merged", project.folder / "again")
    elsewhere = {"SOUNDCHECK_CACHE": str(project.folder / "elsewhere")}
    told = project.soundcheck("run", "suite.yml", "--no-book", "--out", "again", code=3, **elsewhere)
    for name, failed in (("loud", 0), ("several", 0), ("picky", failures(project))):
        assert (
            f"{name}: predictions: {36 - failed} from the cache" in told and f"{failed} computed now" in told
        )
    assert tables(project.folder / "again") == tables(project.folder / "one")


def test_several_shards_in_one_folder_which_then_holds_the_book(project):
    for share in ("1/2", "2/2"):
        project.soundcheck("run", "suite.yml", "--shard", share, "--out", "all", code=3)
    before = project.asked()
    project.soundcheck("merge", "suite.yml", "all", "--no-book", "--out", "all", code=3)
    assert project.asked() == before
    assert tables(project.folder / "all") == tables(project.folder / "one")


def test_a_shard_that_was_killed_goes_on_where_it_stopped(project):
    words = ("run", "suite.yml", "--shard", "1/3", "--out", "killed", "--jobs", "1")
    settings = {"CALLS": str(project.folder / "killed.txt"), "SOUNDCHECK_CACHE": ""}
    killed_run(*words, cwd=project.folder, answers=3, **settings)
    assert not list((project.folder / "killed").glob("shard-*"))
    told = project.soundcheck(*words, code=3)
    inputs = shard(project.folder / "killed")["models"]["loud"]["inputs"]
    assert shard(project.folder / "killed") == shard(project.folder / "shards" / "1")
    line = next(line for line in told.splitlines() if line.startswith("loud: "))
    assert f"{inputs} inputs of the share" in line
    assert int(line.split(" share, ")[1].split()[0]) == inputs - 3


def test_the_plan_of_a_shard_counts_its_share(project):
    told = project.soundcheck("run", "suite.yml", "--shard", "1/3", "--out", "shards/1", "--plan")
    inputs = shard(project.folder / "shards" / "1")["models"]["loud"]["inputs"]
    assert f"loud: {inputs} inputs" in told and "0 to predict" in told
    assert "Plan of shard 1/3" in told and "book " not in told


# Refusals ---------------------------------------------------------------------------------------------------


def shard(folder: Path) -> dict:
    (path,) = folder.glob("shard-*.json")
    return json.loads(path.read_text())


def edit(folder: Path, **changes: object) -> None:
    (path,) = folder.glob("shard-*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.fixture
def merge(project, monkeypatch, forked_models):
    """Merge in this process; gives the message of the refusal, and makes sure that nothing was written."""
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("CALLS", str(project.calls))

    def merged(*folders: Path, suite: str = "suite.yml") -> str:
        monkeypatch.setenv("SOUNDCHECK_CACHE", str(project.folder / "refused cache"))
        with pytest.raises(InputError) as error:
            pipeline.merge(RunOptions(suite=Path(suite), out=Path("refused"), book=False), folders)
        left = {path.name for path in Path("refused").glob("*")}
        assert left <= {".soundcheck", ".lock"}
        return str(error.value)

    return merged


def test_a_missing_shard_is_named(project, merge):
    one, three = copied(project, 1, 3)
    assert "shard 2/3 is missing. Name its folder, or run it" in merge(one, three)


def test_a_shard_that_is_there_twice_is_named_with_its_folders(project, merge):
    one, two, three = copied(project, 1, 2, 3)
    message = merge(one, two, three, one)
    assert f"shard 1/3: it is there 2 times, in {one} and {one}" in message


def test_shards_of_different_numbers_are_refused(project, merge):
    one, two, three = copied(project, 1, 2, 3)
    edit(two, of=4)
    assert "they do not belong together (1/3 in" in merge(one, two, three)


def test_folders_and_files_that_are_none_are_refused_together(project, merge):
    one, two = copied(project, 1, 2)
    (two / "shard-2-of-3.json").write_text("{}")
    message = merge(one, two, project.folder / "data", project.folder / "nowhere")
    assert "shard-2-of-3.json: the file is not one that a shard has left" in message
    assert "there is no shard in this folder" in message and "there is no such folder" in message


def test_another_version_is_named(project, merge):
    one, two, three = copied(project, 1, 2, 3)
    edit(one, version="0.0.9")
    message = merge(one, two, three)
    assert f"shard 1/3 in {one}: its version is 0.0.9, this is" in message
    assert "shard 2/3" not in message


def test_a_suite_that_says_something_else_is_refused(project, merge):
    folders = copied(project, 1, 2, 3)
    text = (project.folder / "suite.yml").read_text()
    other = text.replace("batch: 4", "batch: 2").replace("title: Planned", "title: Others")
    (project.folder / "other.yml").write_text(other)
    message = merge(*folders, suite="other.yml")
    assert f"shard 1/3 in {folders[0]}, code and files of models: 'several' is another one here" in message
    assert "loud" not in message and "picky" not in message


def test_another_model_is_named(project, merge):
    folders = copied(project, 1, 2, 3)
    code = project.folder / "my_model.py"
    text = code.read_text()
    try:
        code.write_text(text + "\n# trained longer\n")
        message = merge(*folders)
    finally:
        code.write_text(text)
    assert f"shard 1/3 in {folders[0]}, code and files of models: 'loud' is another one here" in message
    assert "There are 9 of this kind" in message  # three models in each of three shards


def test_other_data_are_named(project, merge):
    folders = copied(project, 1, 2, 3)
    recording = project.folder / "data" / "3.wav"
    content = recording.read_bytes()
    try:
        recording.write_bytes(content[:-200] + bytes(200))  # silence at its end
        message = merge(*folders)
    finally:
        recording.write_bytes(content)
    assert re.search(r"shard ./3 in .*: [123] inputs of 'loud' have no prediction in its cache", message)


def test_answers_that_are_gone_are_counted(project, merge):
    folders = copied(project, 1, 2, 3)
    shutil.rmtree(folders[1] / "cache")
    inputs = shard(folders[1])["models"]["loud"]["inputs"]
    message = merge(*folders)
    assert f"shard 2/3 in {folders[1]}: {inputs} inputs of 'loud' have no prediction in its cache" in message
    assert "shard 1/3" not in message and "shard 3/3" not in message


@pytest.mark.parametrize("share", ["0/3", "4/3", "a/b", "1/0", "2", ""])
def test_bad_shares_are_refused(share):
    done = CliRunner().invoke(cli.commands, ["run", "suite.yml", "--shard", share])
    assert done.exit_code == 2 and "Invalid value for --shard" in done.output
    assert "such as" in done.output


@pytest.mark.parametrize("option", [("--model", "loud"), ("--family", "plain"), ("--fresh",)])
def test_shards_are_of_the_whole_suite(option):
    done = CliRunner().invoke(cli.commands, ["run", "suite.yml", "--shard", "1/2", *option])
    assert done.exit_code == 2 and "A shard is part of the whole suite" in done.output
