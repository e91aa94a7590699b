"""Which splits are evaluated: by their names, by what the suite says, and through the command."""

import pandas as pd
import pytest

from soundcheck.common.errors import InputError
from soundcheck.corpora.splits import choose, kinds_of, pick, tell_splits
from soundcheck.suite.entries import CorpusEntry

PICKED = [  # names of splits, what the suite says, what is evaluated; nothing: the suite has to say it
    ("Train Test", None, "Test"),
    ("TRAIN DEVELOPMENT TEST", None, "TEST"),
    ("Train Development Test1 Test2 Test3", None, "Test1 Test2 Test3"),
    ("trn dev tst", None, "tst"),
    ("training testing", None, "testing"),
    ("TrainSet DevSet TestSet", None, "TestSet"),
    ("train_data test_data", None, "test_data"),
    ("train.clean.100 validation.clean test.clean", None, "test.clean"),
    ("fold1_train fold1_test fold2_train", None, "fold1_test"),
    ("test Test train", None, "test Test"),
    ("test test-other train", None, "test"),
    ("dev eval", None, "eval"),
    ("train dev eval", None, "eval"),
    ("train eval test", None, "test"),  # eval is for development here
    ("train_si284 test_dev93 test_eval92", None, "test_eval92"),
    ("train devtest evltest", None, "evltest"),
    ("train devtest", None, "devtest"),
    ("train hold-out", None, "hold-out"),
    ("tr05_real dt05_real et05_real", None, "et05_real"),
    ("tr cv tt", None, "tt"),
    ("tr va te", None, "te"),
    ("TR TS", None, "TS"),
    ("训练 验证 测试", None, "测试"),
    ("训练集 测试集", None, "测试集"),
    ("entrenamiento validacion prueba", None, "prueba"),
    ("treino teste", None, "teste"),
    ("entraînement test", None, "test"),
    ("Training Validierung Testdaten", None, "Testdaten"),
    ("train test集", None, "test集"),
    ("train", None, ""),
    ("train validation", None, ""),
    ("train_nodev train_dev", None, ""),
    ("train clean noisy", None, ""),
    ("Val", None, ""),
    ("A B", None, "A B"),
    ("fold1 fold2 latest validated", None, "fold1 fold2 latest validated"),
    ("Train Test", "test", "Test"),
    ("train validation test", "dev", "validation"),
    ("Train Development Test1", "Development", "Development"),
    ("train dev eval", "test", "eval"),
    ("train Test1 Test2", "test", "Test1 Test2"),  # which is refused, naming both
    ("train test", "all of it", ""),
    ("A B", "C", ""),
    ("train test", "train", "train"),
]


@pytest.mark.parametrize(("names", "wanted", "expected"), PICKED)
def test_which_are_picked(names, wanted, expected):
    assert pick(kinds_of(names.split(), {}), wanted) == expected.split()


def test_what_the_data_say_counts_more_than_the_name():
    kinds = kinds_of(["blind", "test_old"], {"blind": "test", "test_old": "train"})
    assert pick(kinds, None) == ["blind"]


@pytest.mark.parametrize(
    ("counts", "split", "told"),
    [
        ({"Test": 3}, None, None),
        ({"": 3}, None, None),
        ({"Test": 3, "Train": 1}, ("all",), None),
        ({"Test": 3, "Train": 1}, None, "evaluated is the split 'Test' (3 rows); not used: 'Train' (1 row)"),
        ({"Test": 3, "": 2}, None, "evaluated is the split 'Test' (3 rows); not used: 'no split' (2 rows)"),
        (
            {"Train": 3, "Test": 2},
            ("Train",),
            "evaluated is the split 'Train' (3 rows); not used: 'Test' (2 rows)",
        ),
        (
            {"Train": 3, "Test1": 2, "Test2": 4, "dev": 1},
            ("Test1", "Development"),
            "evaluated are the splits 'Test1' (2 rows), 'dev' (1 row); "
            "not used: 'Test2' (4 rows), 'Train' (3 rows)",
        ),
        ({"full": 3}, None, "evaluated is the split 'full' (3 rows); not used: none"),
        (
            {"A": 3, "": 1},
            None,
            "evaluated are the splits 'no split' (1 row), 'A' (3 rows); not used: none. `split:` chooses one",
        ),
    ],
)
def test_what_is_said(counts, split, told):
    found, notices = choose(counts, CorpusEntry("c", "csv", split=split), "t.csv", "row", {})
    assert notices == ([] if told is None else [told]) and found


@pytest.mark.parametrize(
    ("counts", "split", "message"),
    [
        (
            {"Train": 9, "Development": 3},
            None,
            "t.csv: none of the splits is called test: 'Development' (3 rows), 'Train' (9 rows). Say "
            "which one is evaluated under corpora.c, such as `split: Development`. "
            "`split: all` evaluates everything",
        ),
        ({"train": 9, "": 1}, None, "such as `split: train`, if no model learned from it"),
        ({"train": 9, "noisy": 1}, None, "such as `split: noisy`."),
        ({"Train": 9, "Test": 3}, ("val",), "no row belongs to the split 'val'. Allowed: Test, Train"),
        (
            {"Test1": 9, "Test2": 3},
            ("test",),
            "several may be meant: 'Test1' (9 rows), 'Test2' (3 rows). Name one of them, or all: "
            "`split: [Test1, Test2]`",
        ),
        (
            {"Train": 9, "Test": 3},
            ("Test", "Blind"),
            "no row belongs to the split 'Blind'. Allowed: Test, Train",
        ),
    ],
)
def test_what_is_refused(counts, split, message):
    with pytest.raises(InputError) as caught:
        choose(counts, CorpusEntry("c", "csv", split=split), "t.csv", "row", {})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("values", "tells"),
    [
        (["train", "test", ""], True),
        (["Train"] * 3 + ["Development"], True),
        (["train"] * 3, False),  # a means of transport?
        (["dev", "test"], False),
        (["train", "test", "other"], False),
        (["tr", "te"], False),  # languages
        ([f"train {n}" for n in range(30)] + ["test"], False),
    ],
)
def test_which_columns_tell_splits_by_all_their_values(values, tells):
    assert tell_splits(values) == tells


def suite_of(folder, splits):
    """Write a table of these splits, of which a model knows all but the tests by heart, and a suite."""
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(len(splits))], "split": splits})
    table["speaker"], table["transcript"] = [f"s{n % 6}" for n in table.index], "turn left now please"
    table.to_csv(folder / "table.csv", index=False)
    said = table["transcript"].where(table["split"] != "Test", "oh oh oh please")
    table[["file"]].assign(transcript=said).to_csv(folder / "hyp.csv", index=False)
    (folder / "suite.yml").write_text(
        "corpora: {c: {format: csv, path: table.csv, audio: false}}\n"
        "models: {m: {predictions: hyp.csv, tasks: [transcript]}}\nfamilies: [asr_word_errors]\n"
    )


def test_only_test_rows_count(command, tmp_path):
    suite_of(tmp_path, ["Train"] * 9 + ["Test"] * 3)
    done = command("run", "suite.yml", "--out", "out", "--no-book", cwd=tmp_path)
    assert done.returncode == 0 and "word error rate 75.0\N{NO-BREAK SPACE}%" in done.stdout


def test_training_data_are_refused_before_anything_runs(command, tmp_path):
    suite_of(tmp_path, ["Train"] * 9 + ["Dev"] * 3)
    done = command("run", "suite.yml", "--out", "out", "--no-book", cwd=tmp_path)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "'Dev' (3 rows), 'Train' (9 rows)" in done.stderr and "`split: Dev`" in done.stderr
    assert not list((tmp_path / "out").rglob("*.csv"))
