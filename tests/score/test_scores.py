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
from soundcheck.common.messages import InputError
from soundcheck.score.scores import evaluate, score_trials

PUBLISHED = os.environ.get("SOUNDCHECK_PUBLISHED", "")
DIALECTS = {"truth": "said", "prediction": "heard", "groups": ["dialect"], "speaker": "speaker"}


def recordings(worse: float = 0.0) -> pd.DataFrame:
    """Make 24 speakers of two groups with ten recordings each; ``worse`` is how much the second one loses."""
    rng, rows = np.random.default_rng(0), []
    for speaker in range(24):
        group = ("plain", "odd")[speaker % 2]
        for number in range(10):
            said = [f"w{word}" for word in rng.integers(50, size=8)]
            wrong = rng.random(8) < 0.05 + worse * (group == "odd")
            heard = ["oops" if lost else word for word, lost in zip(said, wrong, strict=True)]
            rows.append((f"{speaker}-{number}.wav", f"s{speaker}", group, " ".join(said), " ".join(heard)))
    return pd.DataFrame(rows, columns=["file", "speaker", "dialect", "said", "heard"])


def value(scores, measure: str, part: str = "all", label: str = "") -> float:
    return scores.estimates.set_index(["measure", "part", "label"])["value"][measure, part, label].item()


def test_a_worse_group_fails_with_the_word_errors_of_jiwer_and_an_equal_one_does_not():
    frame = recordings(0.2)
    worse = soundcheck.evaluate(frame, **DIALECTS)
    parts = {"all": frame} | {f"dialect: {name}": rows for name, rows in frame.groupby("dialect")}
    for part, rows in parts.items():
        expected = jiwer.wer(rows["said"].tolist(), rows["heard"].tolist())
        assert value(worse, "word_error_rate", part) == pytest.approx(expected)
    row = worse.results.query("mirrors == '' and state == 'fail'").iloc[0]
    assert row["group"] == "dialect: odd" and row["ratio"] > 2 and worse.exit_code == 1
    assert "word error rate of dialect: odd is" in str(worse)
    assert evaluate(recordings(), **DIALECTS).exit_code == 0


def test_groups_and_what_cannot_be_concluded_of_them():
    frame = recordings(0.2).assign(sex="f")
    few = frame.head(80)  # four speakers a group: even the reference has no interval for new ones
    text = str(evaluate(few, **DIALECTS | {"groups": ["sex", "dialect"]}, against="plain"))
    assert "dialect, against plain:" in text and "the reference" in text
    with pytest.raises(InputError, match="there is no group 'plain'"):
        evaluate(frame, **DIALECTS, against={"sex": "plain"})
    few = evaluate(recordings().head(10), **DIALECTS)
    assert few.results["state"].eq("not evaluated").all() and "<img" not in few._repr_html_()
    assert few.results["skipped"].str.contains("everything is one group").any()
    frame = recordings().replace({"dialect": {"odd": "unknown"}})
    frame.loc[3, "speaker"] = "n/a"  # a word for nobody, as unknown
    scores = evaluate(frame, **DIALECTS)
    assert "unknown" not in str(scores).partition("Note:")[0]
    assert any(note.startswith("1 of 240 rows name no speaker") for note in scores.notes)


def test_missing_predictions_and_those_of_other_classes_are_counted():
    words = pd.DataFrame({"said": ["what time is it", "play some music", "stop"]})
    words["heard"] = ["what time was it", "play music", None]
    scores = evaluate(words, truth="said", prediction="heard")
    assert value(scores, "word_error_rate") == pytest.approx((1 + 1 + 1) / 8)
    assert any("1 input without a prediction" in note for note in scores.notes)
    classes = pd.DataFrame({"truth": ["a", "b"] * 30, "model": ["a", "B"] * 29 + ["a", None]})
    notes = " ".join(evaluate(classes, truth="truth", prediction="model").notes)
    assert "1 of 60 predictions missing" in notes
    assert "29 of 59 predictions name a class that no label has, and count as wrong: 'B' (29)" in notes


def test_classes_and_values():
    frame = pd.DataFrame({"truth": [*"aabbbb"], "model": [*"abbbba"]})
    scores = evaluate(frame, truth="truth", prediction="model")
    assert value(scores, "unweighted_average_recall") == pytest.approx((1 / 2 + 3 / 4) / 2)
    assert value(scores, "recall", label="b") == 3 / 4
    frame = pd.DataFrame({"truth": [1, 2, 3, 4, 5], "model": [1.0, 2, 3, 4, 4]}, index=list("vwxyz"))
    scores = evaluate(frame, truth="truth", prediction="model")
    assert value(scores, "mean_absolute_error") == pytest.approx(0.2 / 4)  # of a scale from 1 to 5
    assert scores.block == "file" and any("no column of speakers" in note for note in scores.notes)


@pytest.mark.parametrize(("kind", "same"), [("classes", "a"), ("values", "0.5"), ("words", "w1 w2")])
def test_predictions_that_are_all_the_same(rng, kind, same):
    frame = recordings().rename(columns={"said": "words"})
    frame = frame.assign(model=same, classes=rng.choice(["a", "b"], 240), values=rng.random(240))
    scores = evaluate(frame, truth=kind, prediction="model", groups=["dialect"], speaker="speaker")
    assert scores.exit_code == 0 and "Fail" not in str(scores) and scores._repr_html_()
    assert any(note.startswith("all predictions are the same") for note in scores.notes)


def run(*arguments: object):
    return CliRunner().invoke(commands, ["score", *map(str, arguments)], catch_exceptions=True)


def write(folder, frame, labels, predicted):
    paths = folder / "references.csv", folder / "predictions.csv"
    for path, columns in zip(paths, (labels, predicted), strict=True):
        frame[columns].to_csv(path, index=False)
    return paths


def test_the_command_recognises_columns_and_writes_a_page(tmp_path):
    frame = recordings(0.2).rename(columns={"said": "sentence", "heard": "hypothesis", "dialect": "accent"})
    frame["clip"] = "/data/" + frame["file"]
    paths = write(tmp_path, frame, ["file", "speaker", "accent", "sentence"], ["clip", "hypothesis"])
    done = run(*paths, "--out", tmp_path / "page.html", "--check")
    assert done.exit_code == 1 and "accent, against the others:" in done.output
    assert run(*paths, "third.csv").exit_code == 2
    page = (tmp_path / "page.html").read_text()
    assert "By accent" in page and "<script" not in page
    assert "the file does not exist" in str(run(tmp_path / "none.csv", paths[1]).exception)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_formats_and_rows_without_a_partner(tmp_path, ending):
    frame = recordings().rename(columns={"said": "text", "heard": "hypothesis"})
    frame["duration"] = range(240)  # in both tables, as the speaker: it describes recordings
    labels, path = frame.drop(columns="hypothesis").head(237), tmp_path / f"references.{ending}"
    options = {"sep": ";", "encoding": "utf-8-sig"} if ending == "csv" else {}
    getattr(labels, f"to_{ending}")(path, index=False, **options)
    predicted = frame[["file", "speaker", "duration", "hypothesis"]].tail(238)
    predicted.to_json(tmp_path / "model.jsonl", orient="records", lines=True)
    done = run(path, tmp_path / "model.jsonl")
    rate = jiwer.wer(frame["text"][2:237].tolist(), frame["hypothesis"][2:237].tolist())
    assert done.output.startswith(f"model: word error rate {100 * rate:.1f} %"), done.exception
    assert f"2 of 237 rows of references.{ending} have no row in model.jsonl: left out" in done.output
    assert f"3 of 238 rows of model.jsonl have no row in references.{ending}: left out" in done.output


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda f: f.assign(clip="x" + f["file"]), "", "names the same files"),
        (lambda f: pd.concat([f, f.head(1)]), "", "stands more than once (lines 2, 242)"),
        (None, "--truth sayd", "no column 'sayd'. Did you mean 'said'"),
        (None, "--group dialect --against south", "no group 'south'"),
        (lambda f: f.assign(dialect="all"), "--against south", "--group"),
        (lambda f: f.assign(said=""), "", "no row has a label"),
        (None, "--kind values", "not all of it are numbers"),
        (lambda f: f.assign(said="a"), "", "all labels are the same"),
        (None, "--kind classes", "different labels"),
        (None, "--group speaker", "it cannot be a group"),
        (
            lambda f: pd.concat([f, "x" + f]).assign(dialect=range(480)),
            "--group dialect",
            "480 different values",
        ),
    ],
)
def test_bad_tables(tmp_path, change, options, message):
    frame = recordings().assign(clip=lambda f: f["file"])
    frame = change(frame) if change else frame
    paths = write(tmp_path, frame, ["file", "speaker", "dialect", "said"], ["clip", "heard"])
    done = run(*paths, "--truth", "said", *options.split())
    assert isinstance(done.exception, InputError) and message in str(done.exception)


def test_bad_frames():
    for frame, options, message in (
        (recordings().head(0), {}, "it has no rows"),
        (recordings(), {"kind": "word"}, "'word' is not known. Did you mean 'words'"),
        (pd.concat([recordings()] * 2, axis=1), {}, "two columns are called 'said'"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate(frame, truth="said", prediction="heard", **options)


def test_sentences_of_languages_without_blanks_are_words_and_their_classes_are_classes():
    for texts, headline in (
        (["左转", "右转吧", "停车"], "character_error_rate"),
        (["高兴", "生气"] * 4, "accuracy"),
    ):
        scores = evaluate(pd.DataFrame({"said": texts, "heard": texts}), truth="said", prediction="heard")
        assert headline in set(scores.estimates["measure"])


def trials(worse: float = 0.0) -> pd.DataFrame:
    """Make 1000 trials within two groups of ten speakers; scores of the second one are noisier."""
    rng, rows = np.random.default_rng(0), []
    for number in range(1000):
        sex, target = ("f", "m")[number % 2], number % 4 < 2
        one, other = rng.choice(10, 2, replace=False)
        score = target + rng.normal(scale=0.2 + worse * (sex == "m"))
        pair = f"{sex}{one}/{number}.wav", f"{sex}{one if target else other}/{number + 5000}.wav"
        rows.append((*pair, int(target), sex, "x", score))
    return pd.DataFrame(rows, columns=["enrol", "test", "label", "sex", "device", "score"])


def test_lists_of_trials_and_scores(tmp_path):
    frame, paths = trials(), (tmp_path / "trials.txt", tmp_path / "scores.txt")
    frame["label"] = frame["label"].map({0: "impostor", 1: "genuine"})
    for path, column in zip(paths, ("label", "score"), strict=True):
        lines = frame[column].astype(str) + " " + frame["enrol"] + " " + frame["test"]
        path.write_text("\n".join(lines))
    done = run(*paths, "--group", "sex")
    assert "Write the list as a CSV table with the columns enrol, test, label and sex" in str(done.exception)
    expected = str(score_trials(*paths)).splitlines()[:8]
    paths[1].write_text("\n".join(lines[:750]))
    done = run(*paths)
    assert done.output.startswith("scores: equal error rate ") and "1,000 trials" in done.output
    assert "250 of 1,000 trials have no score in scores.txt" in done.output
    heads = {"enrol": "modelid", "test": "segmentid", "label": "targettype"}
    frame[[*heads]].rename(columns=heads).to_csv(paths[0], sep="\t", index=False)
    paths[1].write_text("\n".join(frame["score"].map(str)))  # in the order of the list
    assert run(*paths).output.splitlines()[:8] == expected
    paths[1].write_text("0.5 a.wav b.wav\n")
    assert "none of its pairs is a trial of the list" in str(run(*paths).exception)


def test_groups_of_trials(tmp_path):
    frame, paths = trials(0.4), (tmp_path / "trials.csv", tmp_path / "model.csv")
    frame.drop(columns="score").to_csv(paths[0], index=False)
    frame[["enrol", "test", "score"]].to_csv(paths[1], index=False)
    done = run(*paths, "--against", "f", "--check", "--out", tmp_path / "page.html")
    assert done.exit_code == 1 and "By sex" in (tmp_path / "page.html").read_text()
    assert "sex, equal error rate:" in done.output and "sex, false acceptance rate, against f:" in done.output
    scores = score_trials(*paths, ["sex", "device"])
    men, target = frame["sex"].eq("m"), frame["label"].eq(1)
    others, targets = frame["score"][men & ~target], frame["score"][men & target]
    rates = [((others > one).mean(), (targets <= one).mean()) for one in frame["score"][men]]
    expected = np.mean(min(rates, key=lambda both: abs(both[0] - both[1])))
    assert value(scores, "equal_error_rate", "sex: m") == pytest.approx(expected, abs=2e-3)
    assert {"sex: f", "sex: m"} <= set(scores.results["group"])
    assert "everything is one group" in " ".join(scores.results["skipped"])
    with pytest.raises(InputError, match="no column 'accent'"):
        score_trials(*paths, ["accent"])


@pytest.mark.skipif(not PUBLISHED, reason="needs published results")
def test_published_results():
    artie, crema = (Path(PUBLISHED) / name for name in ("artie", "crema_d"))
    done = run(artie / "artie-bias-corpus.tsv", artie / "amazon.csv", "--against", "us")
    assert "word error rate 24.6 %" in done.output
    assert "word error rate of indian speakers is 35\xa0%" in done.output
    done = run(crema / "segments.csv", crema / "humans.csv", "--group", "sex")
    assert done.output.startswith("humans: unweighted average recall 0.468")
