"""Two tables of predictions, compared by the real command."""

import html
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.results.contrast import CONTRAST_COLUMNS

pytestmark = pytest.mark.slow

SUITE = """
title: Two models
corpora:
  tones: {format: csv, path: segments.csv}
models:
  old: {predictions: old.csv, tasks: [arousal]}
  new: {predictions: new.csv, tasks: [arousal, emotion]}
  third: {predictions: new.csv, tasks: [emotion]}
families: [correctness_regression]
studies: false
"""


def make_project(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = []
    for speaker in range(24):
        hard = rng.normal(0, 0.15)
        for segment in range(5):
            name = f"{speaker:02}_{segment}.wav"
            soundfile.write(folder / name, 0.1 * rng.standard_normal(1600), 16000)
            truth = rng.uniform(0.2, 0.8)
            old, new = truth + hard + rng.normal(0, [0.1, 0.03])
            rows.append((name, f"s{speaker}", truth, "anger", old, new, "anger"))
    table = pd.DataFrame(rows, columns=["file", "speaker", "arousal", "emotion", "old", "new", "said"])
    table = table.round(3)
    table[["file", "speaker", "arousal", "emotion"]].to_csv(folder / "segments.csv", index=False)
    table[["file", "old"]].rename(columns={"old": "arousal"}).to_csv(folder / "old.csv", index=False)
    new = table[["file", "new", "said"]].rename(columns={"new": "arousal", "said": "emotion"})
    new.to_csv(folder / "new.csv", index=False)
    (folder / "suite.yml").write_text(SUITE)
    return folder


@pytest.fixture(scope="module")
def compared(tmp_path_factory, command):
    folder = make_project(tmp_path_factory.mktemp("compare"))
    done = command("compare", "suite.yml", "old", "new", "--strict", cwd=folder)
    return folder, done


def test_command_tells_and_writes_the_outcome(compared):
    folder, done = compared
    assert done.returncode == 0, done.stdout + done.stderr
    assert "new against old: 3 better, 0 worse, 0 no evidence for new speakers; 3 better, 0" in done.stdout
    out = folder / "build" / "compare"
    table = pd.read_csv(out / "comparisons.csv")
    assert list(table.columns) == CONTRAST_COLUMNS
    judged = table[table["outcome"].notna()]
    assert judged["outcome"].eq("better").all()
    assert set(judged["test"]) == {
        "Concordance Correlation Coeff",
        "Mean Absolute Error",
        "Pearson Correlation Coeff",
    }
    assert judged["blocks"].eq(24).all()
    difference = judged["candidate_value"] - judged["baseline_value"]
    np.testing.assert_allclose(judged["difference"], difference, atol=1e-11)
    error = judged.set_index("test").loc["Mean Absolute Error"]
    assert error["high"] < 0
    assert error["relative_high"] < 0
    assert judged["relative"].notna().sum() == 1  # "x % more correlation" would mean nothing
    assert judged["pairing"].eq("paired").all()
    assert judged["adjusted_p_value"].max() <= 0.05


def html_text(page: str) -> str:
    return html.unescape(re.sub("<[^>]+>", "", page))


def test_book_has_a_page_of_the_comparison(compared):
    folder, _ = compared
    site = folder / "build" / "compare" / "html"
    record = json.loads((folder / "build" / "compare" / "run.json").read_text())
    slug = record["comparisons"][0]["slug"]
    page = (site / "comparisons" / f"{slug}.html").read_text()
    assert page.count("<audio") == 4
    assert "new is better than old on 3 and worse on 0 of 3 tests for new speakers." in page
    for words in ("▲ better", "corrections", "added errors", "baseline", "positive"):
        assert words in page
    assert f"comparisons/{slug}.html" in (site / "index.html").read_text()
    for answer in ("outcomes", "outcomes_sample"):
        assert record["comparisons"][0][answer] == {"better": 3, "worse": 0, "no evidence": 0}
    (headline,) = record["comparisons"][0]["headlines"]
    assert headline.startswith("tones, arousal: concordance 0.6") and headline in html_text(page)
    assert [model["name"] for model in record["models"]] == ["old", "new"]


def test_worse_candidate_fails_if_asked(compared, command):
    folder, _ = compared
    out = folder / "build" / "compare"
    index = (out / "html" / "index.html").read_bytes()
    done = command("compare", "suite.yml", "new", "old", "--strict", "--no-book", cwd=folder)
    assert done.returncode == 1
    assert "old against new: 0 better, 3 worse, 0 no evidence for new speakers" in done.stdout
    place = "build/compare/html/index.html"
    assert f"Book: not built; {place} is the book of an earlier run\n" in done.stdout
    assert (out / "html" / "index.html").read_bytes() == index
    assert json.loads((out / "run.json").read_text())["book"] is False


@pytest.fixture(scope="module")
def later(compared, tmp_path_factory, undrawn):
    """Give the same suite with another model under the name ``old``, run again."""
    folder = tmp_path_factory.mktemp("later")
    shutil.copytree(compared[0], folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build"))
    (folder / "old.csv").write_text((folder / "new.csv").read_text())
    options = ("--model", "old", "--model", "third", "--out", "run", "--no-book")
    done = undrawn("run", "suite.yml", *options, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "run"


def test_two_runs(compared, later, undrawn, tmp_path):
    before = compared[0] / "build" / "compare"
    done = undrawn("compare", before, later, "--out", "out", "--strict", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "old (after) is better than old (before) on 3 and worse on 0 of 3 tests for new speakers."
        in done.stdout
    )
    assert done.stdout.count("better: tones / correctness_regression / arousal") == 3
    assert str(tmp_path) not in done.stdout
    table = pd.read_csv(tmp_path / "out" / "comparisons.csv")
    assert list(table.columns) == CONTRAST_COLUMNS
    judged = table[table["p_value"].notna()]
    assert judged["pairing"].eq("paired").all() and len(judged) == 3
    expected = pd.read_csv(before / "comparisons.csv")  # old against new, which is what old became
    p_values = [table["p_value"].dropna().sort_values() for table in (judged, expected)]
    np.testing.assert_allclose(*p_values)
    html = tmp_path / "out" / "html"
    assert "on 3 and worse on 0 of 3 tests for new speakers." in (html / "index.html").read_text()
    (page,) = (html / "comparisons").glob("*.html")
    text = page.read_text()
    for words in ("Before and after: old", "old (before)", "▲ better", "corrections"):
        assert words in text
    assert "<audio" not in text  # a run keeps no recordings
    back = undrawn("compare", later, before, "--out", "out", "--strict", "--no-book", cwd=tmp_path)
    assert back.returncode == 1
    assert "Book: not built; out/html/index.html is the book of an earlier run" in back.stdout
    assert (
        "old (after) is better than old (before) on 0 and worse on 3 of 3 tests for new speakers."
        in back.stdout
    )


def renamed(run: Path) -> None:
    record = json.loads((run / "run.json").read_text())
    for model in record["models"]:
        model["name"] = f"my {model['name']}"
    (run / "run.json").write_text(json.dumps(record | {"notebooks": []}))


ROWS = Path("notebooks", "old", "correctness_regression.json")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda run: (run / "results.csv").open("a").write("\n"), ["results.csv", "cut, edited"]),
        (lambda run: (run / "run.json").unlink(), ["run.json", "does not exist"]),
        (lambda run: (run / ROWS).unlink(), ["old", "cannot be read", "Run the suite again"]),
        (lambda run: (run / ROWS).with_suffix(".npy").write_bytes(b"cut"), ["old", "cannot be read"]),
        (renamed, ["no model has the same name"]),
        (lambda run: (run / "results.csv").unlink(), ["results.csv", "does not exist"]),
    ],
)
def test_refused_runs(compared, later, undrawn, tmp_path, spoil, words):
    shutil.copytree(later, tmp_path / "spoilt")
    spoil(tmp_path / "spoilt")
    done = undrawn("compare", compared[0] / "build" / "compare", "spoilt", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert all(word in done.stderr for word in words) and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_run_is_not_compared_with_itself_or_written_to(compared, later, undrawn, tmp_path):
    before = compared[0] / "build" / "compare"
    for more, words in (
        ([later], "compared with itself"),
        ([], "Name another one"),
        ([before, "--out", later], "one of the runs"),
        ([before, "--family", "correctness_regresion"], "Did you mean 'correctness_regression'"),
    ):
        done = undrawn("compare", later, *more, cwd=tmp_path)
        assert done.returncode == 2
        assert words in done.stderr


RECOGNISERS = """
title: Two recognisers
corpora:
  talk: {format: csv, path: segments.csv}
models:
  old: {predictions: old.csv, tasks: [transcript]}
  new: {predictions: new.csv, tasks: [transcript]}
families: [asr_word_errors]
comparisons:
  update: {baseline: old, candidate: new}
studies: false
"""


def test_recognisers_show_which_words_were_corrected_and_broken(tmp_path, undrawn, shown):
    rng = np.random.default_rng(1)
    rows = []
    for speaker in range(8):
        for number in range(3):
            name = f"{speaker}_{number}.wav"
            soundfile.write(tmp_path / name, 0.1 * rng.standard_normal(1600), 16000)
            said = "Please turn the <i>lamp</i> off."
            old = "please turn lamp off" if number else "please churn the <i>lamp</i> off"
            new = "please turn the <i>lamp</i> of" if speaker < 2 else "please turn the <i>lamp</i> off"
            rows.append((name, f"s{speaker}", said, old, new))
    table = pd.DataFrame(rows, columns=["file", "speaker", "transcript", "old", "new"])
    table[["file", "speaker", "transcript"]].to_csv(tmp_path / "segments.csv", index=False)
    for name in ("old", "new"):
        own = table[["file", name]].rename(columns={name: "transcript"})
        own.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "suite.yml").write_text(RECOGNISERS)
    done = undrawn("compare", "suite.yml", "--no-book", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    out = tmp_path / "build" / "compare"
    slug = json.loads((out / "run.json").read_text())["comparisons"][0]["slug"]
    page = shown(out, slug, kind="comparisons")
    for words in ("Corrected and broken", "talk: most words broken", "talk: most words corrected"):
        assert words in page
    assert "<i>" not in page.split("Corrected and broken")[-1].split("Segments to listen")[0]
    table = page.split("wrong by both")[-1].split("</table>")[0]
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in table.split("<tr>")[1:]]
    assert rows == [
        ["i", "48", "32", "0", "32", "0"],  # "<i>" is words, too, for the normaliser
        ["the", "24", "16", "0", "16", "0"],
        ["turn", "24", "8", "0", "8", "0"],
        ["off", "24", "0", "6", "-6", "0"],
    ]
    assert page.count("<audio") == 6
    assert "The models share no task with labels" not in page


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["old", "gnew"], ["CANDIDATE", "gnew", "Did you mean 'new'"]),
        (["old", "old"], ["compared with itself"]),
        (["old", "third"], ["share no task"]),
        (["old"], ["BASELINE and CANDIDATE"]),
        ([], ["lists no comparisons", "comparisons: {"]),
    ],
)
def test_refused(compared, undrawn, tmp_path, names, words):
    folder, _ = compared
    done = undrawn("compare", "suite.yml", *names, "--out", tmp_path / "out", cwd=folder, timeout=60)
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "out" / "results.csv").exists()
