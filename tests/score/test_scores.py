"""Two tables give values, groups and differences: known answers, the oracle jiwer, published results."""

import os
from pathlib import Path

import jiwer
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import soundcheck
from soundcheck.cli import commands
from soundcheck.common.errors import InputError
from soundcheck.score import tables
from soundcheck.score.scores import evaluate

PUBLISHED = os.environ.get("SOUNDCHECK_PUBLISHED", "")
SPOKEN = ["turn the light on", "what time is it", "play some music", "stop"]
HEARD = ["turn the light on", "what time was it", "play music", "shop"]


def recordings(rng: np.random.Generator, worse: float = 0.0) -> pd.DataFrame:
    """Make 24 speakers of two groups with ten recordings each; ``worse`` is how much the second one loses."""
    rows = []
    for speaker in range(24):
        group = ("plain", "odd")[speaker % 2]
        for number in range(10):
            said = [f"w{word}" for word in rng.integers(50, size=8)]
            wrong = rng.random(8) < 0.05 + worse * (group == "odd")
            heard = ["oops" if lost else word for word, lost in zip(said, wrong, strict=True)]
            rows.append((f"{speaker}-{number}.wav", f"s{speaker}", group, " ".join(said), " ".join(heard)))
    return pd.DataFrame(rows, columns=["file", "speaker", "dialect", "said", "heard"])


def value(found, measure: str, part: str = "all", label: str = "") -> float:
    rows = found.estimates
    chosen = rows[rows["measure"].eq(measure) & rows["part"].eq(part) & rows["label"].eq(label)]
    assert len(chosen) == 1
    return chosen["value"].iloc[0]


def test_word_errors_are_those_of_jiwer(rng):
    frame = recordings(rng, 0.2)
    found = soundcheck.evaluate(
        frame, truth="said", prediction="heard", groups=["dialect"], speaker="speaker"
    )
    assert value(found, "word_error_rate") == pytest.approx(
        jiwer.wer(frame["said"].tolist(), frame["heard"].tolist())
    )
    for name, own in frame.groupby("dialect"):
        expected = jiwer.wer(own["said"].tolist(), own["heard"].tolist())
        assert value(found, "word_error_rate", f"dialect: {name}") == pytest.approx(expected)


def test_a_worse_group_fails_and_an_equal_one_does_not(rng):
    worse = evaluate(
        recordings(rng, 0.2), truth="said", prediction="heard", groups=["dialect"], speaker="speaker"
    )
    row = worse.results.query("mirrors == '' and state == 'fail'").iloc[0]
    assert row["group"] == "dialect: odd" and row["ratio"] > 2 and worse.exit_code == 1
    assert "word error rate of dialect: odd is" in str(worse)
    equal = evaluate(recordings(rng), truth="said", prediction="heard", groups=["dialect"], speaker="speaker")
    assert not equal.results["state"].eq("fail").any() and equal.exit_code == 0


def test_the_reference_group_is_named(rng):
    options = {"truth": "said", "prediction": "heard", "groups": ["dialect"], "speaker": "speaker"}
    found = evaluate(recordings(rng, 0.2), **options, against="plain")
    assert "dialect, against plain:" in str(found)
    with pytest.raises(InputError, match="there is no group 'plane'"):
        evaluate(recordings(rng), **options, against="plane")


def test_classes_and_values():
    frame = pd.DataFrame({"emotion": ["a", "a", "b", "b", "b", "b"], "model": ["a", "b", "b", "b", "b", "a"]})
    found = evaluate(frame, truth="emotion", prediction="model")
    assert value(found, "unweighted_average_recall") == pytest.approx((1 / 2 + 3 / 4) / 2)
    assert value(found, "recall", label="b") == 3 / 4
    frame = pd.DataFrame({"mos": [1, 2, 3, 4, 5], "model": [1.0, 2.0, 3.0, 4.0, 4.0]})
    found = evaluate(frame, truth="mos", prediction="model")
    assert value(found, "mean_absolute_error") == pytest.approx(0.2 / 4)  # of a scale from 1 to 5
    assert found.block == "file" and any("no column of speakers" in note for note in found.notes)


def test_missing_predictions_are_counted():
    words = pd.DataFrame({"said": SPOKEN, "heard": [*HEARD[:3], None]})
    found = evaluate(words, truth="said", prediction="heard")
    assert value(found, "word_error_rate") == pytest.approx((0 + 1 + 1 + 1) / 12)
    assert any("1 input without an answer" in note for note in found.notes)
    classes = pd.DataFrame({"truth": ["a", "b"] * 30, "model": ["a", "b"] * 29 + ["a", None]})
    assert any(
        "1 prediction of 60 missing" in note
        for note in evaluate(classes, truth="truth", prediction="model").notes
    )


def test_unknown_values_are_nobody(rng):
    frame = recordings(rng).rename(columns={"dialect": "gender"}).replace({"gender": {"odd": "unknown"}})
    found = evaluate(frame, truth="said", prediction="heard", groups=["gender"], speaker="speaker")
    assert "unknown" not in str(found).partition("Note:")[0]


def write(folder: Path, frame: pd.DataFrame, own: list[str], predicted: list[str]) -> tuple[str, str]:
    paths = folder / "references.csv", folder / "predictions.csv"
    for path, columns in zip(paths, (own, predicted), strict=True):
        frame[columns].to_csv(path, index=False)
    return tuple(map(str, paths))


def run(*arguments: str):
    return CliRunner().invoke(commands, ["score", *arguments], catch_exceptions=True)


def test_the_command_finds_columns_and_writes_a_page(tmp_path, rng):
    frame = recordings(rng, 0.2).rename(
        columns={"said": "sentence", "heard": "hypothesis", "dialect": "accent"}
    )
    frame["clip"] = "/data/" + frame["file"]
    paths = write(tmp_path, frame, ["file", "speaker", "accent", "sentence"], ["clip", "hypothesis"])
    done = run(*paths, "--out", str(tmp_path / "page.html"), "--check")
    assert done.exit_code == 1 and "accent, against the others:" in done.output
    page = (tmp_path / "page.html").read_text()
    assert "By accent" in page and "data:image/svg+xml" in page and "<script" not in page
    assert run(*paths, "--group", "speaker").exception.problems


def test_trials_and_scores(tmp_path, rng):
    trials, scores = [], []
    for n in range(200):
        one, other = rng.choice(20, 2, replace=False) if n % 2 else (n % 20, n % 20)
        pair = f"s{one}/{n}.wav s{other}/{n + 1000}.wav"
        trials.append(f"{int(one == other)} {pair}")
        scores.append(f"{float(one == other)} {pair}")
    (tmp_path / "trials.txt").write_text("\n".join(trials))
    (tmp_path / "scores.txt").write_text("\n".join(scores))
    done = run(str(tmp_path / "trials.txt"), str(tmp_path / "scores.txt"))
    assert done.exit_code == 0 and done.output.startswith("scores: equal error rate 0.0 %")


BAD = {
    "no common names": (lambda f: f.assign(clip="x" + f["file"]), [], "names the same files"),
    "a name twice": (lambda f: pd.concat([f, f.head(1)]), [], "stands more than once"),
    "no such truth": (None, ["--truth", "sayd"], "no column 'sayd'. Did you mean 'said'"),
    "no such group": (None, ["--group", "dialct"], "Did you mean 'dialect'"),
    "no such speaker": (None, ["--speaker", "who"], "no column 'who'"),
    "no such reference": (None, ["--group", "dialect", "--against", "south"], "no group 'south'"),
    "no truth": (lambda f: f.rename(columns={"said": "x1"}), [], "Name it with --truth"),
    "all labels empty": (lambda f: f.assign(said=""), ["--truth", "said"], "no row has a label"),
    "numbers and words": (lambda f: f, ["--truth", "said", "--kind", "values"], "not all of it are numbers"),
    "speakers as groups": (None, ["--group", "speaker"], "it cannot be a group"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables(tmp_path, rng, case):
    change, options, message = BAD[case]
    frame = recordings(rng).assign(clip=lambda f: f["file"])
    frame = change(frame) if change else frame
    said = "said" if "said" in frame else "x1"
    paths = write(tmp_path, frame, ["file", "speaker", "dialect", said], ["clip", "heard"])
    truth = [] if "--truth" in options or case == "no truth" else ["--truth", said]
    done = run(*paths, *truth, *options)
    assert isinstance(done.exception, InputError) and message in str(done.exception)


@pytest.mark.parametrize(
    ("content", "message"), [(b"\x80\x04", "pickle"), (b"", "empty"), (b"a,b\n1\n", "1 cells")]
)
def test_files_that_are_no_tables(tmp_path, content, message):
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        tables.read(tmp_path / "table.csv")


@pytest.mark.skipif(not PUBLISHED, reason="needs published results")
def test_published_results():
    artie, crema = (Path(PUBLISHED) / name for name in ("artie", "crema_d"))
    done = run(str(artie / "artie-bias-corpus.tsv"), str(artie / "amazon.csv"), "--against", "us")
    assert (
        "word error rate 24.6 %" in done.output
        and "word error rate of indian speakers is 35\xa0%" in done.output
    )
    done = run(str(crema / "segments.csv"), str(crema / "humans.csv"), "--group", "sex")
    assert done.output.startswith("humans: unweighted average recall 0.468")
