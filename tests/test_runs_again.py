"""Runs of the small suite after others: nothing changed, something changed, parts of it, a first look."""

import numpy as np
import pytest
from runs import Run, changed, sound, write
from tones import SUITE, Project, make

from soundcheck.common.files import digest
from soundcheck.results.finished_run import read_runs

pytestmark = pytest.mark.slow

REGRESSION, SMALL = "correctness_regression", "robustness_small_changes"
TABLES = ("results.csv", "results.parquet", "left_out.csv", "comparisons.csv")


# Nothing, or something, is as it was ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def repeated(tmp_path_factory, undrawn):
    """A suite that is run again and again, without a book."""
    both = "comparisons: {both: {baseline: loud, candidate: quiet}}\n"
    repeated = Project(make(tmp_path_factory.mktemp("repeated") / "project"), undrawn)
    write(repeated.folder, {"suite.yml": changed(SUITE, {f", {SMALL}": ""}) + both})
    repeated.run("--no-book")
    return repeated


def tables(project, out="out"):
    """Digest, number and time of the tables of a run, by name."""
    root = project.folder / out
    paths = [root / name for name in TABLES]
    paths += [path for part in ("corpora", "predictions") for path in (root / part).rglob("*.parquet")]
    stats = {path.relative_to(root).as_posix(): (digest(path), path.stat()) for path in paths}
    return {name: (content, stat.st_ino, stat.st_mtime_ns) for name, (content, stat) in stats.items()}


def test_nothing_is_written_that_is_there_and_models_are_asked_again(repeated):
    before = tables(repeated)
    repeated.run("--no-book", "--jobs", "2")
    assert repeated.asked() == {"l": 5, "q": 5}
    assert [model["confirmed"] for model in Run(repeated.out).record["models"]] == [5, 5]
    assert before == tables(repeated)


def test_what_changed_is_noticed_as_if_everything_were_new(repeated):
    def digests(out="out"):
        return {name: content for name, (content, *_) in tables(repeated, out).items()}

    before = digests()
    tone = 0.9 * np.sin(2 * np.pi * 300 * np.arange(6000) / 16000)
    sound(repeated.folder / "data" / "0.wav", tone)
    repeated.edit("my_model.py", "* 5, 0", "* 4, 0")
    repeated.run("--no-book")
    after = digests()
    others = {name for name, content in after.items() if content != before[name]}
    predictions = {f"predictions/{model}/tones.parquet" for model in ("loud", "quiet")}
    assert {"results.csv", "corpora/tones.parquet", *predictions} <= others
    cache = {"SOUNDCHECK_CACHE": str(repeated.out / "cache")}
    repeated.run("--no-book", "--fresh", "--model", "loud", out="anew", **cache)
    assert repeated.asked()["l"] >= 12 and repeated.asked()["q"] == 0
    repeated.run("--no-book", out="anew", **cache)
    assert digests("anew") == after


# Some models or families: they add to the book, or refuse ---------------------------------------------------


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    """The suite in three runs that add up to it."""
    project = Project(make(tmp_path_factory.mktemp("parts") / "project"), undrawn)
    project.run("--model", "loud", "--family", REGRESSION, "--no-book")
    project.run("--model", "quiet", "--no-book")
    assert project.asked()["q"] > 5 and project.asked()["l"] == 0
    project.run("--family", SMALL, "--no-book")
    return project


@pytest.fixture(scope="module")
def whole(project):
    project.run("--no-book", out="whole", SOUNDCHECK_CACHE=str(project.out / "cache"))
    assert max(project.asked().values()) <= 5  # the parts have asked all
    return Run(project.folder / "whole")


def test_parts_add_up_to_the_whole(project, whole):
    assert (project.out / "results.csv").read_bytes() == (whole.out / "results.csv").read_bytes()
    records = [Run(project.out).record, whole.record]
    for model in [model for record in records for model in record["models"]]:  # when predictions were made
        del model["asked"], model["days"], model["confirmed"]
    for key in ("models", "families", "notebooks"):  # of which the pages of a book are made
        assert records[0][key] == records[1][key]


def test_what_has_changed_since_is_judged_anew_for_all_models_of_the_book(project, whole):
    table = project.folder / "data" / "segments.csv"
    text = table.read_text()
    table.write_text("\n".join(text.splitlines()[:-1]) + "\n")
    project.run("--model", "quiet", "--no-book")
    table.write_text(text)
    assert project.asked()["l"] <= 5  # that confirm cached predictions; only the chosen model is asked
    record = Run(project.out).record
    assert [corpus["segments"] for corpus in record["corpora"]] == [11]
    assert {model["name"] for model in record["models"]} == {"loud", "quiet"}


def test_a_model_on_another_scale_stops_the_run(project, whole):
    before = digest(whole.out / "results.csv")
    rated = 'rated: {python: "my_model:rated", tasks: [arousal]}'
    (project.folder / "rated.yml").write_text(SUITE.replace("models:\n", f"models:\n  {rated}\n"))
    message = project.run(suite="rated.yml", out="whole", code=2)
    assert "rated.yml, models.rated: arousal: all of the first 12 " in message
    assert "`range: [1, 7]`" in message and digest(whole.out / "results.csv") == before


# A first look -----------------------------------------------------------------------------------------------


def test_a_quick_run_says_so_wherever_numbers_are_and_has_no_card(repeated):
    cache = {"SOUNDCHECK_CACHE": str(repeated.out / "cache")}
    message = repeated("run", "suite.yml", "--quick", "--no-book", **cache)
    quick = repeated.folder / "build" / "quick"
    record = Run(quick).record
    assert record["suite"]["quick"] and record["suite"]["segments_per_change"] == 50
    assert not record["suite"]["sweeps"] and "Caveat: A quick run: at most 50 segments" in message
    assert "Caveat: A quick run" in repeated.command("check", "build/quick", cwd=repeated.folder).stdout
    message = repeated("card", "build/quick", "--model", record["order"][0], code=2)
    assert "Run the suite without --quick" in message
    assert [run.name for run in read_runs([quick]).runs] == ["quick (quick run)"]
