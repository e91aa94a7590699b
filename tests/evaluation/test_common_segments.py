"""Models that leave out segments, compared by the real command on what both answered."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow

WORDS = "turn left right now go stop please here".split()


@pytest.fixture(scope="module")
def project(tmp_path_factory, command):
    """Two recognisers: one answers all, the other one, which is worse, only what is easy."""
    folder = tmp_path_factory.mktemp("left_out")
    rng = np.random.default_rng(0)
    rows = []
    for n in range(160):
        said = rng.choice(WORDS, 8)
        hard = n % 2
        texts = [np.where(rng.random(8) < share, "oh", said) for share in (0.4 if hard else 0.03, 0.12)]
        rows.append((f"{n:03}.wav", f"s{n % 16:02}", *(" ".join(text) for text in (said, *texts)), hard))
    table = pd.DataFrame(rows, columns=["file", "speaker", "transcript", "hears", "quits", "hard"])
    table[["file", "speaker", "transcript"]].to_csv(folder / "table.csv", index=False)
    for name, own in (
        ("hears", table),
        ("quits", table[table["hard"] == 0]),
        ("other", table[table["hard"] == 1]),
    ):
        text = own["hears" if name == "other" else name]
        own[["file"]].assign(transcript=text).to_csv(folder / f"{name}.csv", index=False)
    # Asked about everything, without an answer to every tenth
    lines = [
        json.dumps({"audio_filepath": row.file, "pred_text": row.hears if number % 10 else None})
        for number, row in enumerate(table.itertuples())
    ]
    (folder / "fails.jsonl").write_text("\n".join(lines))
    models = "".join(
        f"  {name}: {{predictions: {name}.csv, tasks: [transcript]}}\n"
        for name in ("hears", "quits", "other")
    )
    models += "  fails: {predictions: fails.jsonl, tasks: [transcript]}\n"
    models += "  spared: {predictions: fails.jsonl, tasks: [transcript], missing: left out}\n"
    (folder / "suite.yml").write_text(
        "corpora: {c: {format: csv, path: table.csv, audio: false}}\n"
        f"models:\n{models}"
        "comparisons:\n"
        "  new: {baseline: hears, candidate: quits}\n"
        "  back: {baseline: quits, candidate: hears}\n"
        "  apart: {baseline: quits, candidate: other}\n"
        "  failing: {baseline: hears, candidate: fails}\n"
        "  lenient: {baseline: hears, candidate: spared}\n"
        "families: [asr_word_errors]\nstudies: false\n"
    )
    done = command("run", "suite.yml", "--out", "out", cwd=folder)
    assert done.returncode in (0, 3), done.stdout + done.stderr  # answers are missing
    return folder, table, pd.read_csv(folder / "out" / "comparisons.csv"), done.stdout


def rate(table: pd.DataFrame, name: str) -> float:
    """Share of words that were replaced; there are no other errors."""
    words = [own.str.split(expand=True) for own in (table["transcript"], table[name])]
    return float((words[0] != words[1]).to_numpy().mean())


def of(rows: pd.DataFrame, baseline: str, candidate: str, test: str) -> pd.Series:
    own = rows[rows["baseline"].eq(baseline) & rows["candidate"].eq(candidate) & rows["test"].eq(test)]
    return own.iloc[0]


@pytest.mark.parametrize(("baseline", "candidate"), [("hears", "quits"), ("quits", "hears")])
def test_values_are_those_of_the_segments_that_both_answered(project, baseline, candidate):
    _, table, rows, _ = project
    easy = table[table["hard"] == 0]
    row = of(rows, baseline, candidate, "Word Error Rate")
    assert row["baseline_value"] == pytest.approx(rate(easy, baseline))
    assert row["candidate_value"] == pytest.approx(rate(easy, candidate))
    assert (row["segments"], row["pairing"]) == (80, "paired")
    assert row["outcome"] == ("worse" if candidate == "quits" else "better")
    counts = {"hears": 160, "quits": 80}
    told = f"{baseline} has {counts[baseline]}, {candidate} {counts[candidate]}"
    assert row["skipped"] == f"on 80 segments that both answered: {told}"


def test_missing_predictions_count_all_segments_and_pages_say_who_predicted(project):
    folder, table, rows, output = project
    row = of(rows, "hears", "quits", "Word Error Rate With Missing")
    assert (row["segments"], row["outcome"]) == (160, "worse") and row["candidate_value"] > 0.5
    assert "both answered" not in str(row["skipped"])
    assert "quits against hears: 0 better, " in output
    values = " → ".join(f"{rate(table[table['hard'] == 0], name):.3g}" for name in ("hears", "quits"))
    assert f"transcript: word error rate {values} on 80 segments that both answered, " in output
    assert "No segment was answered by both quits and other, so nothing is compared" in output
    page = (folder / "out" / "html" / "comparisons" / "new.html").read_text()
    assert "predicted by both" in page and ">80<" in page and "001.wav, 003.wav, 005.wav and 77 more" in page


def test_an_input_that_was_asked_in_vain_counts_as_all_words_missed(project):
    folder, table, rows, told = project
    lost = np.arange(160) % 10 == 0
    kept = table[~lost]
    expected = (rate(kept, "hears") * len(kept) + lost.sum()) / 160
    row = of(rows, "hears", "fails", "Word Error Rate")
    assert row["candidate_value"] == pytest.approx(expected)
    assert (row["segments"], row["outcome"], row["outcome_sample"]) == (160, "worse", "worse")
    estimates = pd.read_csv(folder / "out" / "estimates.csv", keep_default_na=False)
    words = estimates[estimates["measure"].eq("word_error_rate") & estimates["part"].eq("all")]
    words = pd.to_numeric(words.set_index(["model", "condition"])["value"], errors="coerce")
    assert words.loc[("fails", "")] == pytest.approx(expected)  # its own rate as well, and on the first page
    page = (folder / "out" / "html" / "comparisons" / "failing.html").read_text()
    assert "predicted by both" not in page
    spared = of(rows, "hears", "spared", "Word Error Rate")
    assert spared["candidate_value"] == spared["baseline_value"] == pytest.approx(rate(kept, "hears"))
    assert words.loc[("hears", "common with spared")] == pytest.approx(rate(kept, "hears"))
    assert "16 of 160 inputs have no prediction" in told


def test_without_a_common_segment_there_is_no_outcome(project):
    _, _, rows, _ = project
    row = of(rows, "quits", "other", "Word Error Rate")
    assert pd.isna(row["outcome"]) and pd.isna(row["p_value"])
    told = (
        "on 0 segments that both answered: quits has 80, other 80; not answered by both: 160 of 160 segments"
    )
    assert row["skipped"] == told


def test_nothing_is_executed_again_when_nothing_changed(project, command):
    folder, *_ = project
    states = sorted((folder / "out" / "comparisons").rglob("*.state.json"))
    assert any(path.parent.name == "hears" for path in states)
    before = [path.stat().st_mtime_ns for path in states]
    done = command("run", "suite.yml", "--out", "out", "--no-book", cwd=folder)
    assert done.returncode in (0, 3), done.stderr
    assert [path.stat().st_mtime_ns for path in states] == before


def test_two_runs_of_other_segments_have_no_outcome(project, command):
    folder, table, *_ = project
    later = folder / "later"
    later.mkdir()
    (later / "table.csv").write_text((folder / "table.csv").read_text())
    (later / "hears.csv").write_text((folder / "quits.csv").read_text())
    (later / "suite.yml").write_text(
        "corpora: {c: {format: csv, path: table.csv, audio: false}}\n"
        "models: {hears: {predictions: hears.csv, tasks: [transcript]}}\n"
        "families: [asr_word_errors]\nstudies: false\n"
    )
    command("run", "suite.yml", "--out", "out", "--no-book", cwd=later)
    done = command("compare", folder / "out", later / "out", "--out", "both", "--no-book", cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = pd.read_csv(folder / "both" / "comparisons.csv").set_index("test")
    assert pd.isna(rows.loc["Word Error Rate", "outcome"])
    assert rows.loc["Word Error Rate", "skipped"].startswith("not the same segments: 160 against 80")
    assert rows.loc["Word Error Rate With Missing", "outcome"] == "worse"


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (
            lambda record: record["suite"].update(normaliser="none"),
            2,
            "no test in common. The runs differ: normaliser basic then, none now. Word errors are not",
        ),
        (lambda record: record.update(seed=1), 0, "The runs differ: seed 0 then, 1 now."),
    ],
)
def test_runs_that_differ(project, undrawn, tmp_path, change, code, said):
    before, after = project[0] / "out", tmp_path / "after"
    shutil.copytree(before, after, ignore=shutil.ignore_patterns("html", "cache", "book-*", "media"))
    record = json.loads((after / "run.json").read_text())
    change(record)
    (after / "run.json").write_text(json.dumps(record))
    done = undrawn("compare", before, after, "--out", "both", "--no-book", cwd=tmp_path)
    assert done.returncode == code and said in done.stdout + done.stderr
    if not code:  # draws of speakers are not the same, but recordings are
        rows = pd.read_csv(tmp_path / "both" / "comparisons.csv")
        words = rows[rows["test"].eq("Word Error Rate")]
        assert words["pairing"].eq("unpaired").all() and words["p_value"].eq(1).all()
        assert words["difference_high_sample"].eq(0).all() and words["p_sample"].eq(1).all()
