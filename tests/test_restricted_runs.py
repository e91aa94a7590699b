"""Runs of some models or families through the real command: they add to the book, or refuse."""

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from tones import SUITE, make

from soundcheck.results.table import read_results

pytestmark = pytest.mark.slow

FAMILY = "correctness_regression"
RATED = 'python: "my_model:rated", tasks: [arousal]'


class Project:
    """A folder with a suite, and the command in it."""

    def __init__(self, folder: Path, command) -> None:
        self.folder, self.command = folder, command
        self.calls = folder / "calls.txt"

    def run(self, *arguments: str, out: str = "out"):
        self.calls.unlink(missing_ok=True)
        settings = {"CALLS": str(self.calls), "SOUNDCHECK_CACHE": str(self.folder / "cache")}
        words = ("run", "suite.yml", "--out", out, *arguments)
        return self.command(*words, cwd=self.folder, **settings)

    def asked(self) -> set[str]:
        """Say which models were asked about more than the five inputs that confirm kept answers."""
        calls = Counter(self.calls.read_text() if self.calls.exists() else "")
        return {name for name, count in calls.items() if count > 5}

    def results(self, out: str = "out") -> pd.DataFrame:
        return read_results(self.folder / out / "results.csv")


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    return Project(make(tmp_path_factory.mktemp("runs") / "project"), undrawn)


@pytest.fixture(scope="module")
def parts(project):
    """The output of three runs that add up to the suite, and what each printed and asked."""
    done = []
    small = "robustness_small_changes"
    for options in (
        ["--model", "loud", "--family", FAMILY, "--no-book"],
        ["--model", "quiet", "--no-book"],
        ["--family", small],
    ):
        ended = project.run(*options)
        assert ended.returncode == 0, ended.stderr
        done.append((ended.stdout, project.asked(), project.results()))
    return done


@pytest.fixture(scope="module")
def whole(project, parts):
    """The output of one run of everything."""
    ended = project.run(out="whole")
    assert ended.returncode == 0, ended.stderr
    assert not project.asked()  # the parts have asked all
    return project.folder / "whole"


def pairs(frame: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(frame["model"], frame["family"], strict=True))


def test_a_restricted_run_adds_and_keeps_the_rest(project, parts):
    (_, _, first), (_, asked, second), _ = parts
    assert pairs(first) == {("loud", FAMILY)}
    assert asked == {"q"}
    assert pairs(second) == {("loud", FAMILY), ("quiet", FAMILY), ("quiet", "robustness_small_changes")}
    kept = second[second["model"] == "loud"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, first)


def test_parts_add_up_to_the_whole(project, parts, whole):
    out = project.folder / "out"
    assert (out / "results.csv").read_bytes() == (whole / "results.csv").read_bytes()
    one, other = (json.loads((place / "run.json").read_text()) for place in (out, whole))
    for model in (*one["models"], *other["models"]):  # when the answers were given differs
        del model["asked"], model["days"], model["confirmed"]
    assert [one[key] for key in ("models", "families", "notebooks")] == [
        other[key] for key in ("models", "families", "notebooks")
    ]
    pages = [
        {p.relative_to(place / "html") for p in (place / "html").rglob("*.html")} for place in (out, whole)
    ]
    assert pages[0] == pages[1]


def test_what_has_changed_since_is_judged_anew_for_all_models_of_the_book(project, whole):
    table = project.folder / "data" / "segments.csv"
    text = table.read_text()
    table.write_text("\n".join(text.splitlines()[:-1]) + "\n")
    done = project.run("--model", "quiet", "--no-book")
    table.write_text(text)
    assert done.returncode == 0, done.stderr
    assert project.asked() <= {"q"}  # only the chosen model is asked a few inputs again
    record = json.loads((project.folder / "out" / "run.json").read_text())
    assert [corpus["segments"] for corpus in record["corpora"]] == [11]
    assert {model["name"] for model in record["models"]} == {"loud", "quiet"}


def test_a_model_on_another_scale_stops_the_run(project, whole):
    before = (whole / "results.csv").read_bytes()
    (project.folder / "suite.yml").write_text(SUITE.replace("models:\n", f"models:\n  rated: {{{RATED}}}\n"))
    done = project.run(out="whole")
    (project.folder / "suite.yml").write_text(SUITE)
    assert done.returncode == 2
    assert "suite.yml, models.rated: arousal: all of the first 12 answers are not in 0 to 1 (" in done.stderr
    assert "`range: [1, 7]`" in done.stderr and "Traceback" not in done.stderr
    assert (whole / "results.csv").read_bytes() == before
    assert project.asked() == {"r"}


def test_tables_of_a_run_and_scaled_answers_give_the_same_results(project, whole):
    table = whole / "predictions" / "loud" / "tones.parquet"
    rows = pd.read_parquet(table)
    (project.folder / "clean").mkdir()
    rows[rows["change"] == ""].to_parquet(project.folder / "clean" / "tones.parquet", index=False)
    models = f"""models:
  rated: {{{RATED}, range: [1, 7]}}
  given: {{predictions: whole/predictions/loud/tones.parquet, tasks: [arousal]}}
  clean: {{predictions: clean, tasks: [arousal]}}
"""
    (project.folder / "suite.yml").write_text(SUITE.replace("models:\n", models))
    done = project.run("--no-book", out="again")
    (project.folder / "suite.yml").write_text(SUITE)
    assert done.returncode == 0, done.stderr
    frame = project.results("again")
    record = json.loads((project.folder / "again" / "run.json").read_text())
    rows = {name: own.drop(columns="model").reset_index(drop=True) for name, own in frame.groupby("model")}
    pd.testing.assert_frame_equal(rows["given"], rows["loud"])
    pd.testing.assert_frame_equal(rows["rated"], rows["loud"], rtol=1e-4, atol=1e-5)
    own, sure = (rows[name].query("family == @FAMILY").reset_index(drop=True) for name in ("clean", "loud"))
    pd.testing.assert_frame_equal(own, sure)
    changed = rows["clean"].query("family != @FAMILY")
    assert changed["passed"].isna().all()
    assert changed["skipped"].str.contains("table of predictions cannot answer for changed signals").all()
    (given,) = (model for model in record["models"] if model["name"] == "given")
    told = "predictions for changed signals are those of the run that wrote whole/predictions"
    assert any(told in note for note in given["notes"])  # which its page shows
