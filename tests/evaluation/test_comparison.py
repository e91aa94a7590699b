"""Two tables of predictions, compared by the real command."""

import html
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from runs import Run, inside, sound, write

from soundcheck.results.contrast import CONTRAST_COLUMNS

pytestmark = pytest.mark.slow

SUITE = """
corpora: {{tones: {{format: csv, path: segments.csv, audio: {audio}}}}}
families: [{family}]
studies: false
replicates: 300
models:
"""


def suite(family: str, models: dict[str, tuple[str, str]], audio: str = "true") -> str:
    lines = [f"  {name}: {{predictions: {path}, tasks: [{task}]}}\n" for name, (path, task) in models.items()]
    return SUITE.format(audio=audio, family=family) + "".join(lines)


@pytest.fixture(scope="module")
def compared(tmp_path_factory, undrawn):
    """Two models of 24 speakers, some of them hard for both; the new one is better."""
    folder = tmp_path_factory.mktemp("compare")
    rng, speakers = np.random.default_rng(0), np.repeat(np.arange(24), 5)
    table = pd.DataFrame({"speaker": [f"s{n}" for n in speakers], "arousal": rng.uniform(0.2, 0.8, 120)})
    table = table.assign(file=[f"{n}.wav" for n in range(120)], emotion="anger")
    for name in table["file"]:
        sound(folder / name, 0.1 * rng.standard_normal(1600))
    hard, files = rng.normal(0, 0.15, 24)[speakers], {"segments.csv": table.round(3)}
    for name, error in (("old", 0.1), ("new", 0.03)):
        answers = table["arousal"] + hard + rng.normal(0, error, 120)
        files[f"{name}.csv"] = table[["file", "emotion"]].assign(arousal=answers)
    models = {"old": ("old.csv", "arousal"), "new": ("new.csv", "arousal, emotion")}
    models["third"] = "new.csv", "emotion"
    write(folder, files | {"suite.yml": suite("correctness_regression", models)})
    return folder, undrawn("compare", "suite.yml", "old", "new", "--strict", "--no-book", cwd=folder)


@pytest.fixture(scope="module")
def later(compared, tmp_path_factory, undrawn):
    """The same suite with another model under the name ``old``, run again."""
    folder = tmp_path_factory.mktemp("later")
    shutil.copytree(compared[0], folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build"))
    (folder / "old.csv").write_text((folder / "new.csv").read_text())
    models = ("--model", "old", "--model", "third", "--out", "run", "--no-book")
    done = undrawn("run", "suite.yml", *models, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "run"


def test_command_and_page_tell_the_outcome(compared):
    folder, done = compared
    assert done.returncode == 0, done.stdout + done.stderr
    assert "new against old: 3 better, 0 worse, 0 no evidence for new speakers; 3 better, 0" in done.stdout
    out = folder / "build" / "compare"
    table = pd.read_csv(out / "comparisons.csv")
    assert list(table.columns) == CONTRAST_COLUMNS
    judged = table[table["outcome"].notna()]
    assert judged["outcome"].eq("better").all() and judged["pairing"].eq("paired").all()
    assert set(judged["test"].str.split().str[0]) == {"Concordance", "Mean", "Pearson"}
    assert judged["blocks"].eq(24).all() and judged["adjusted_p_value"].max() <= 0.05
    (comparison,) = json.loads((out / "run.json").read_text())["comparisons"]
    assert comparison["outcomes"] == {"better": 3, "worse": 0, "no evidence": 0}
    page = Run(out).shown(comparison["slug"], kind="comparisons")
    assert page.count("<audio") == 4
    for words in ("▲ better", "corrections", "added errors", "better on 3 and worse on 0 of 3 tests."):
        assert words in page
    (headline,) = comparison["headlines"]
    assert headline.startswith("tones, arousal: concordance 0.")
    assert headline in html.unescape(re.sub("<[^>]+>", "", page))


def test_two_runs(compared, later, unbuilt, tmp_path):
    before = compared[0] / "build" / "compare"
    done = unbuilt("compare", before, later, "--out", "out", "--strict", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    text = "For new speakers, old (after) is better on {} and worse on {} of 3 tests."
    assert text.format(3, 0) in done.stdout and str(tmp_path) not in done.stdout
    tables = [pd.read_csv(folder / "comparisons.csv") for folder in (tmp_path / "out", before)]
    judged = tables[0][tables[0]["p_value"].notna()]
    assert judged["pairing"].eq("paired").all() and len(judged) == 3
    # As of old against new, which is what old became.
    np.testing.assert_allclose(*(table["p_value"].dropna().sort_values() for table in tables))
    (page,) = (tmp_path / "out" / "html" / "comparisons").glob("*.html")
    assert "▲ better" in page.read_text() and "<audio" not in page.read_text()  # a run keeps no recordings
    back = unbuilt("compare", later, before, "--out", "out", "--strict", "--no-book", cwd=tmp_path)
    assert back.returncode == 1 and text.format(0, 3) in back.stdout


def renamed(run: Path) -> None:
    record = json.loads((run / "run.json").read_text())
    for model in record["models"]:
        model["name"] = f"my {model['name']}"
    (run / "run.json").write_text(json.dumps(record | {"notebooks": []}))


REPLICATES = Path("notebooks", "old", "correctness_regression.npy")


@pytest.mark.parametrize(
    ("words", "spoil", "why"),
    [
        (["suite.yml", "old", "third"], None, "share no task"),
        (["suite.yml", "old"], None, "BASELINE and CANDIDATE"),
        (["LATER", "LATER"], None, "compared with itself"),
        (["LATER", "BEFORE", "--out", "LATER"], None, "one of the runs"),
        (["LATER", "BEFORE", "--family", "correctness_regresion"], None, "mean 'correctness_regression'"),
        (["BEFORE", "SPOILT"], lambda run: (run / "results.csv").open("a").write("\n"), "cut, edited"),
        (["BEFORE", "SPOILT"], lambda run: (run / "run.json").unlink(), "does not exist"),
        (["BEFORE", "SPOILT"], lambda run: (run / REPLICATES).write_bytes(b"cut"), "cannot be read"),
        (["BEFORE", "SPOILT"], renamed, "no model has the same name"),
    ],
)
def test_refused(compared, later, tmp_path, words, spoil, why):
    places = {"BEFORE": compared[0] / "build" / "compare", "LATER": later, "SPOILT": tmp_path / "spoilt"}
    if spoil:
        shutil.copytree(later, places["SPOILT"])
        spoil(places["SPOILT"])
    out = [] if "--out" in words else ["--out", tmp_path / "out"]
    done = inside("compare", *(places.get(word, word) for word in words), *out, cwd=compared[0])
    assert done.returncode == 2 and why in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "results.csv").exists()


WORDS = "turn left right now go stop please here".split()
PAIRS = {"new": ("hears", "quits"), "apart": ("quits", "other")}
PAIRS |= {"failing": ("hears", "fails"), "lenient": ("hears", "spared")}
RATE = "Word Error Rate"


@pytest.fixture(scope="module")
def left_out(tmp_path_factory, undrawn):
    """Recognisers: one answers all; a worse one only what is easy; others the rest, or not every tenth."""
    folder, rng = tmp_path_factory.mktemp("left_out"), np.random.default_rng(0)
    rows = []
    for n in range(160):
        spoken, hard = rng.choice(WORDS, 8), n % 2
        texts = [np.where(rng.random(8) < share, "oh", spoken) for share in (0.4 if hard else 0.03, 0.12)]
        rows.append((f"{n:03}.wav", f"s{n % 16:02}", *map(" ".join, (spoken, *texts)), hard))
    table = pd.DataFrame(rows, columns=["file", "speaker", "transcript", "hears", "quits", "hard"])
    easy, files = table["hard"].eq(0), {"segments.csv": table[["file", "speaker", "transcript"]]}
    answered = {"hears": table["hears"], "quits": table["quits"][easy], "other": table["hears"][~easy]}
    for name, texts in answered.items():
        files[f"{name}.csv"] = table[["file"]].assign(transcript=texts).dropna()
    fails = table[["file"]].assign(pred_text=table["hears"].where(table.index % 10 > 0))
    fails = fails.rename(columns={"file": "audio_filepath"})
    files["fails.jsonl"] = fails.to_json(orient="records", lines=True)
    models = {name: (f"{name}.csv", "transcript") for name in answered}
    models |= {"fails": ("fails.jsonl", "transcript")}
    text = suite("asr_word_errors", models, audio="false")
    text += "  spared: {predictions: fails.jsonl, tasks: [transcript], missing: left out}\ncomparisons:\n"
    pairs = (f"  {name}: {{baseline: {one}, candidate: {other}}}\n" for name, (one, other) in PAIRS.items())
    write(folder, files | {"suite.yml": text + "".join(pairs)})
    done = undrawn("run", "suite.yml", "--out", "out", "--no-book", cwd=folder)
    assert done.returncode in (0, 3), done.stdout + done.stderr  # answers are missing
    rows = pd.read_csv(folder / "out" / "comparisons.csv", keep_default_na=False)
    return folder, table, rows.set_index(["baseline", "candidate", "test"]), done.stdout


def rate(table: pd.DataFrame, name: str) -> float:
    words = [table[column].str.split(expand=True) for column in ("transcript", name)]
    return float((words[0] != words[1]).to_numpy().mean())


def test_values_are_those_of_the_segments_that_both_answered(left_out):
    folder, table, rows, output = left_out
    easy, row = table[table["hard"] == 0], rows.loc[*PAIRS["new"], RATE]
    values = [rate(easy, name) for name in PAIRS["new"]]
    assert [float(row[f"{side}_value"]) for side in ("baseline", "candidate")] == pytest.approx(values)
    assert (row["segments"], row["pairing"], row["outcome"]) == (80, "paired", "worse")
    assert row["skipped"] == "on 80 segments that both answered: hears has 160, quits 80"
    row = rows.loc[*PAIRS["new"], "Word Error Rate With Missing"]  # counts all segments
    assert (row["segments"], row["outcome"]) == (160, "worse") and float(row["candidate_value"]) > 0.5
    row = rows.loc[*PAIRS["apart"], RATE]
    assert (row["outcome"], row["p_value"]) == ("", "")
    assert row["skipped"].endswith("other 80; not answered by both: 160 of 160 segments")
    assert "{:.3g} → {:.3g} on 80 segments that both answered, ".format(*values) in output
    assert "No segment was answered by both quits and other, so nothing is compared" in output
    assert "001.wav, 003.wav, 005.wav and 77 more" in Run(folder / "out").shown("new", kind="comparisons")


def test_an_input_that_was_asked_in_vain_counts_as_all_words_missed(left_out):
    folder, table, rows, output = left_out
    answered = rate(table[np.arange(160) % 10 > 0], "hears")
    expected = (answered * 144 + 16) / 160
    row = rows.loc[*PAIRS["failing"], RATE]
    assert float(row["candidate_value"]) == pytest.approx(expected)
    assert (row["segments"], row["outcome"], row["outcome_sample"]) == (160, "worse", "worse")
    estimates = pd.read_csv(folder / "out" / "estimates.csv", keep_default_na=False)
    words = estimates[estimates["measure"].eq("word_error_rate") & estimates["part"].eq("all")]
    words = pd.to_numeric(words.set_index(["model", "condition"])["value"], errors="coerce")
    assert words.loc["fails", ""] == pytest.approx(expected)  # its own rate as well
    spared = rows.loc[*PAIRS["lenient"], RATE]
    assert float(spared["candidate_value"]) == float(spared["baseline_value"]) == pytest.approx(answered)
    assert words.loc["hears", "common with spared"] == pytest.approx(answered)
    assert estimates["condition"][estimates["measure"].str.endswith("with_missing")].eq("").all()
    assert "16 of 160 inputs have no prediction" in output


def test_runs_with_other_seeds_are_unpaired(left_out, undrawn, tmp_path):
    before, after = left_out[0] / "out", tmp_path / "after"
    shutil.copytree(before, after, ignore=shutil.ignore_patterns("html", "cache", "book-*", "media"))
    (after / "run.json").write_text(json.dumps(json.loads((after / "run.json").read_text()) | {"seed": 1}))
    done = undrawn("compare", before, after, "--out", "both", "--no-book", cwd=tmp_path)
    assert done.returncode == 0 and "The runs differ: seed 0 then, 1 now." in done.stdout
    words = pd.read_csv(tmp_path / "both" / "comparisons.csv").query("test == @RATE")
    assert words["pairing"].eq("unpaired").all()
    assert words[["p_value", "p_sample"]].eq(1).all(axis=None)  # draws differ, but not recordings
