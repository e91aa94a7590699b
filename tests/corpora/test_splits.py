"""Which splits are evaluated: by their names, by what the suite says, and through the command."""

import audformat
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
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


# What is not a column: folders, shards, tables --------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("Train", "Test"), ["test"]),
        (("train-clean-100", "dev-clean", "test-clean", "test-other"), ["test-clean", "test-other"]),
        (("TRAIN", "Eval"), ["Eval"]),
        (("train", "eval", "test"), ["test"]),
        (("training", "validation"), "called test: 'train' .1 row.*`split: validation`"),
        (("train",), "called test: 'train' .1 row.*`split: train`, if no model learned from it"),
    ],
)
@pytest.mark.parametrize("shards", [False, True])
def test_folders_and_shards(load, tmp_path, write_sound, names, expected, shards):
    (tmp_path / "data").mkdir()
    for number, name in enumerate(names):
        sound = write_sound(tmp_path / "data" / name / "sub" / "a.wav", number)
        if shards:
            kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
            column = pa.array([{"bytes": sound.read_bytes(), "path": "a.wav"}], kind)
            pq.write_table(pa.table({"audio": column}), tmp_path / "data" / f"{name}-00000-of-00001.parquet")
    entry = f"format: {'parquet' if shards else 'audiofolder'}, path: data"
    if isinstance(expected, str):
        with pytest.raises(InputError, match=expected.replace("row", "shard") if shards else expected):
            load(entry)
    else:
        corpus = load(entry)
        assert sorted(corpus.segments["split"]) == expected
        assert any("not used: '" in notice for notice in corpus.notices)


def test_labels_that_look_like_no_split_stay_labels(load, tmp_path, write_sound):
    for number, name in enumerate(("latest", "learn", "tr", "et", "contest", "value")):
        write_sound(tmp_path / "data" / name / "a.wav", number)
    corpus = load("format: audiofolder, path: data")
    assert len(corpus.segments) == 6 and "split" not in corpus.segments


@pytest.mark.parametrize(
    ("names", "split", "expected"),
    [
        (
            ("train", "dev", "test", "validated", "other"),
            "",
            "evaluated is the table test.tsv; not used: dev.tsv, train.tsv",
        ),
        (("train", "my-test"), "", "evaluated is the table my-test.tsv; not used: train.tsv"),
        (("train", "Dev"), ", split: dev", "evaluated is the table Dev.tsv; not used: train.tsv"),
        (("train", "validated"), "", "there is no table 'test.tsv'"),
        (
            ("train", "test1", "test2"),
            "",
            "evaluated are the tables test1.tsv, test2.tsv; not used: train.tsv",
        ),
        (
            ("dev", "test", "train"),
            ", split: [dev, test]",
            "evaluated are the tables dev.tsv, test.tsv; not used: train.tsv",
        ),
        (("test1", "test2"), ", split: test", "there is no table 'test.tsv'.*test1, test2"),
        (("dev", "test"), ", split: [dev, tset]", "there is no table 'tset.tsv'.*Did you mean 'test'"),
    ],
)
def test_tables_of_a_release(load, tmp_path, names, split, expected):
    (tmp_path / "cv").mkdir()
    for name in names:
        (tmp_path / "cv" / f"{name}.tsv").write_text(f"client_id\tpath\tsentence\ns\t{name}.mp3\ta\n")
    entry = f"format: commonvoice, path: cv, audio: false{split}"
    if expected.startswith("there"):
        with pytest.raises(InputError, match=expected):
            load(entry)
    else:
        assert expected in load(entry).notices


def split_tables(folder, tables):
    """Write tables of a database: name -> name of its split, and what the header says it is for."""
    db = audformat.Database("made")
    for number, (name, (split, kind)) in enumerate(tables.items()):
        if split:
            db.splits[split] = audformat.Split(kind)
        db[name] = audformat.Table(audformat.filewise_index([f"{number}.wav"]), split_id=split)
        db[name]["arousal"] = audformat.Column()
        db[name]["arousal"].set([0.5])
    db.save(folder / "db", storage_format="csv")
    return "format: audformat, path: db, audio: false"


@pytest.mark.parametrize(
    ("tables", "more", "expected"),
    [
        ({"a": ("fit", "train"), "b": ("blind", "test")}, "", ["1.wav"]),
        ({"a": ("fit", "train"), "b": ("blind", "test")}, ", split: test", ["1.wav"]),
        ({"a": ("fit", "train"), "b": ("blind", "test")}, ", split: fit", ["0.wav"]),
        ({"a": ("Test", "other"), "b": ("Train", "other")}, "", ["0.wav"]),
        ({"emotion.train": (None, ""), "emotion.test": (None, "")}, "", ["1.wav"]),
        ({"emotion.train": (None, ""), "emotion.test": (None, "")}, ", tables: [emotion.train]", ["0.wav"]),
        ({"a": (None, ""), "b": (None, "")}, "", ["0.wav", "1.wav"]),
        ({"a": ("fit", "train"), "b": ("tune", "dev")}, "", r"'fit' \(1 row\), 'tune' .*`split: tune`"),
    ],
)
def test_splits_of_a_database_are_what_it_says(load, tmp_path, tables, more, expected):
    entry = split_tables(tmp_path, tables) + more
    if isinstance(expected, str):
        with pytest.raises(InputError, match=expected):
            load(entry)
    else:
        assert load(entry).segments["file"].tolist() == expected


def table_of(folder, column, *splits):
    """Write a table of two segments a split."""
    rows = [
        {"file": f"{n}{who}.wav", "speaker": f"s{n}{who}", column: split}
        for n, split in enumerate(splits)
        for who in "ab"
    ]
    pd.DataFrame(rows).to_csv(folder / "t.csv", index=False)
    return "format: csv, path: t.csv, audio: false"


@pytest.mark.parametrize("name", ["Split", "Split_Set", "set", "subset", "Partition", "data-split"])
def test_a_column_of_splits_under_another_name(load, tmp_path, name):
    entry = table_of(tmp_path, name, "Train", "Test")
    corpus = load(entry)
    assert set(corpus.segments["split"]) == {"Test"}
    assert f"split is the column {name}; `columns:` takes another" in corpus.notices
    used = load(f"{entry}, columns: {{condition: {name}}}")
    assert len(used.segments) == 4 and "split" not in used.segments


def test_a_subset_that_is_no_split_stays_what_it_is(load, tmp_path):
    corpus = load(table_of(tmp_path, "subset", "clean", "noisy"))
    assert len(corpus.segments) == 4 and "split" not in corpus.segments


# Through the command ----------------------------------------------------------------------------------------


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
