"""Which splits are evaluated: by their names, by what the suite says, and through the command."""

from pathlib import Path

import pandas as pd
import pytest
import yaml
from tests.corpora.refusals import refusals

from soundcheck.common.errors import InputError
from soundcheck.corpora.splits import choose, kinds_of, pick, tell_splits
from soundcheck.suite.entries import CorpusEntry

SPLITS = yaml.safe_load(Path(__file__).with_name("splits.yml").read_text("utf-8"))


@pytest.mark.parametrize(("names", "wanted", "expected"), SPLITS["picked"])
def test_which_are_picked(names, wanted, expected):
    assert pick(kinds_of(names.split(), {}), wanted) == expected.split()


def test_what_the_data_say_counts_more_than_the_name():
    kinds = kinds_of(["blind", "test_old"], {"blind": "test", "test_old": "train"})
    assert pick(kinds, None) == ["blind"]


def chosen(counts, split):
    return choose(counts, CorpusEntry("c", "csv", split=split and tuple(split)), "t.csv", "row", {})


@pytest.mark.parametrize(("counts", "split", "notice"), SPLITS["notices"])
def test_what_is_said_about_the_choice(counts, split, notice):
    names, notices = chosen(counts, split)
    assert notices == ([] if notice is None else [notice]) and names


@pytest.mark.parametrize(("counts", "split", "words"), refusals("splits"))
def test_refused(counts, split, words):
    with pytest.raises(InputError) as caught:
        chosen(counts, split)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("values", "tells"), [*SPLITS["columns"], ([f"train {n}" for n in range(30)] + ["test"], False)]
)
def test_which_columns_tell_splits_by_all_their_values(values, tells):
    assert tell_splits(values) == tells


def table_of(column, *splits):
    """Give a table of two segments a split."""
    names = [(f"{n}{who}", split) for n, split in enumerate(splits) for who in "ab"]
    return pd.DataFrame([{"file": f"{n}.wav", "speaker": f"s{n}", column: split} for n, split in names])


@pytest.mark.parametrize("name", ["Split", "Split_Set", "subset", "data-split"])
def test_a_column_of_splits_under_another_name(load, name):
    entry, files = "format: csv, path: t.csv, audio: false", {"t.csv": table_of(name, "Train", "Test")}
    corpus = load(entry, files)
    assert set(corpus.segments["split"]) == {"Test"}
    assert f"split is the column {name}; `columns:` takes another" in corpus.notices
    used = load(f"{entry}, columns: {{condition: {name}}}")
    assert len(used.segments) == 4 and "split" not in used.segments


def test_what_looks_like_no_split_stays_what_it_is(load):
    names = ("latest", "learn", "tr", "et", "contest", "value")
    corpus = load(
        "format: audiofolder, path: data", {f"data/{name}/a.wav": n for n, name in enumerate(names)}
    )
    assert len(corpus.segments) == 6 and "split" not in corpus.segments


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("Train", "Test"), ["test"]),
        (("train-clean-100", "dev-clean", "test-clean", "test-other"), ["test-clean", "test-other"]),
        (("TRAIN", "Eval"), ["Eval"]),
        (("train", "eval", "test"), ["test"]),
        (("training", "validation"), "called test: 'train' .1 {}.*`split: validation`"),
        (("train",), "called test: 'train' .1 {}.*`split: train`, if no model learned from it"),
    ],
)
@pytest.mark.parametrize(("form", "unit"), [("audiofolder", "row"), ("parquet", "shard")])
def test_folders_and_shards(load, refused, tone, tmp_path, names, expected, form, unit):
    for number, name in enumerate(names):
        sound = tone(tmp_path / "data" / name / "sub" / "a.wav", number)
        if form == "parquet":
            column = [{"bytes": sound.read_bytes(), "path": "a.wav"}]
            pd.DataFrame({"audio": column}).to_parquet(tmp_path / f"data/{name}-00000-of-00001.parquet")
    if isinstance(expected, str):
        refused(expected.format(unit), f"format: {form}, path: data")
    else:
        corpus = load(f"format: {form}, path: data")
        assert sorted(corpus.segments["split"]) == expected
        assert any("not used: '" in notice for notice in corpus.notices)


@pytest.mark.parametrize("evaluated", ["Test", "Dev"])
def test_only_test_rows_count_and_others_are_refused_before_anything_runs(
    command, write, tmp_path, evaluated
):
    """A model knows all but the tests by heart."""
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(12)], "split": ["Train"] * 9 + [evaluated] * 3})
    table["speaker"], table["transcript"] = [f"s{n % 6}" for n in table.index], "turn left now please"
    said = table["transcript"].where(table["split"] != "Test", "oh oh oh please")
    suite = (
        "corpora: {c: {format: csv, path: table.csv, audio: false}}\n"
        "models: {m: {predictions: hyp.csv, tasks: [transcript]}}\nfamilies: [asr_word_errors]\n"
    )
    write({"table.csv": table, "hyp.csv": table[["file"]].assign(transcript=said), "suite.yml": suite})
    done = command("run", "suite.yml", "--out", "out", "--no-book", cwd=tmp_path)
    if evaluated == "Test":
        assert done.returncode == 0 and "word error rate 75.0\N{NO-BREAK SPACE}%" in done.stdout
    else:
        assert done.returncode == 2 and "Traceback" not in done.stderr
        assert "'Dev' (3 rows), 'Train' (9 rows)" in done.stderr and "`split: Dev`" in done.stderr
        assert not list((tmp_path / "out").rglob("*.csv"))
