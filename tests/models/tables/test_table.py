"""Tables of predictions: rows find their segments, cells are read as they are written."""

import numpy as np
import pandas as pd
import pytest
from answer_files import NAN, TASKS, corpus, files, suite_of

from soundcheck.common.messages import InputError
from soundcheck.models.answers import unpack
from soundcheck.models.tables.table import TableModel
from soundcheck.predict.tables import Columns, answer_columns, write_predictions
from soundcheck.suite.corpus_format import number_of
from soundcheck.suite.entries import ModelEntry

GOOD = "file,arousal,emotion\na.wav,0.25,anger\nb.wav,0.5,boredom\nsub/c.wav,1.5,sadness\n"
BOTH = ("arousal", "emotion")


def predictions(model, where, task: str, change: str = "") -> list:
    return model.look_up(where, change)[0][task].tolist()


@pytest.mark.parametrize("change", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n") + "\r\n"])
def test_rows_in_any_order(load, change):
    model = load(change(GOOD), "hyp.csv", *BOTH)
    values, problems = model.look_up(files("b.wav", "sub/c.wav", "a.wav"), "")
    assert values["arousal"].tolist() == [0.5, 1.5, 0.25]
    assert values["emotion"].tolist() == ["boredom", "sadness", "anger"] and problems == ["", "", ""]


def test_missing_and_empty_predictions_are_named_and_extra_rows_counted(load):
    model = load("file,arousal,emotion\na.wav,nan,anger\nb.wav,0.5,\nx.wav,0.5,anger\n", "hyp.csv", *BOTH)
    where = files("a.wav", "b.wav", "c.wav")
    values, problems = model.look_up(where, "")
    no_value = "hyp.csv has no value for"
    assert problems == [f"{no_value} arousal", f"{no_value} emotion", "not asked: no row in hyp.csv"]
    np.testing.assert_array_equal(values["arousal"], [NAN, 0.5, NAN])
    assert values["emotion"].tolist() == ["anger", None, None]
    assert model.notices([where]) == ["1 row belongs to no segment of the corpora"]


def test_times_tell_segments_of_a_file_apart(load):
    times = ("a.wav", 0.0, 1.5, 1.5), ("a.wav", 1.5, 2.25, 0.75), ("a.wav", 2.25, NAN, 0.75)
    cut = corpus(*times)  # as one that cuts durations into groups
    cut.segments = cut.segments.rename(columns={"duration": number_of("duration")}).assign(duration="short")
    for rows in (
        "a.wav,1.5,2.25,0.2\na.wav,2.25,3.0,0.3\na.wav,0,1.5,0.1\n",
        "a.wav,0 days 00:00:01.5,0:00:02.25,0.2\na.wav,0:00:02.25,NaT,0.3\na.wav,,0 days 00:00:01.5,0.1\n",
    ):
        table = "file,start,end,arousal\n" + rows
        for where in (corpus(*times), cut):
            assert predictions(load(table, "hyp.csv", "arousal"), where, "arousal") == [0.1, 0.2, 0.3]
        other = load(table.replace("2.25", "2.23", 1), "hyp.csv", "arousal")  # 0.01 s may differ
        assert other.look_up(cut, "")[1][1] == "not asked: no row in hyp.csv"


def test_parquet_with_times_in_its_index(load):
    times = pd.to_timedelta([0.0, 0.0], unit="s"), pd.to_timedelta([1.5, None], unit="s")
    index = pd.MultiIndex.from_arrays([["a.wav", "b.wav"], *times], names=["file", "start", "end"])
    frame = pd.DataFrame({"age": np.array([0.1, NAN], np.float32)}, index=index)
    where = corpus(("a.wav", 0.0, 1.5, 1.5), ("b.wav", NAN, NAN, 2.0))
    values, problems = load(frame, "hyp.parquet", "age").look_up(where, "")
    np.testing.assert_allclose(values["age"], [0.1, NAN], rtol=1e-6)
    assert problems == ["", "hyp.parquet has no value for age"]


def test_a_transcript_is_kept_as_written_an_empty_one_is_a_prediction_a_missing_row_is_none(load):
    rows = 'a,  Turn  LEFT \nb,nan\nc,NaN\nd,"<b>no</b>, ""yes"" \x07\x1b[1m"\ne,\nf,"  "\n'
    where = files(*(f"{name}.wav" for name in "abcdefg"))
    values, problems = load("file,transcript\n" + rows).look_up(where, "")
    expected_texts = ["Turn  LEFT", "nan", "NaN", '<b>no</b>, "yes" \x07\x1b[1m', "", "", None]
    assert values["transcript"].tolist() == expected_texts
    assert problems == [""] * 6 + ["not asked: no row in hyp.csv"]


def test_a_missing_transcript_of_parquet_is_empty(load):
    frame = pd.DataFrame({"file": ["a.wav", "b.wav"], "transcript": [None, "turn left"]})
    assert predictions(load(frame, "hyp"), files("b.wav", "a.wav"), "transcript") == ["turn left", ""]


def test_embeddings_and_those_without_direction(load):
    cells = {
        "0.5 -1 2": "",
        "[0.5, -1, 2]": "",
        "": "hyp.csv has no value for embedding",
        "0 0 0": "embedding is a vector of zeros, which has no direction",
        "[1, nan, 2]": "embedding is a vector with 1 nan among 3 numbers",
        "1 -inf 2": "embedding is a vector with 1 infinite among 3 numbers",
        "too short": "embedding: could not convert string to float: 'too'",
    }
    table = pd.DataFrame({"embedding": [*cells, *["3 2 1"] * 5]})  # most are fine, else it would be refused
    table["file"] = [f"{number}.wav" for number in table.index]
    model = load(table.to_csv(index=False), "hyp.csv", "embedding")
    values, problems = model.look_up(files(*table["file"]), "")
    assert problems == [*cells.values(), *[""] * 5]
    vectors = [None if value is None else unpack(value).tolist() for value in values["embedding"]]
    assert vectors == [[0.5, -1.0, 2.0]] * 2 + [None] * 5 + [[3.0, 2.0, 1.0]] * 5


def test_probabilities_bounds_and_confidences(load):
    header = "file,arousal,emotion,arousal.low,arousal.high,emotion.anger,emotion.sadness,confidence\n"
    rows = "a,0.25,anger,0.1,0.4,0.7,0.3,0.6\nb,0.5,sadness,,,,,\nc,0.5,sadness,0.5,0.5,,1,\n"
    where = files("c.wav", "a.wav", "b.wav", "d.wav")
    values, problems = load(header + rows, "hyp.csv", *BOTH).look_up(where, "")
    assert problems[:3] == ["", "", ""]
    for name, expected in {
        "emotion.sadness": [1.0, 0.3, NAN, NAN],
        "emotion.anger": [0.0, 0.7, NAN, NAN],
        "emotion.neutral": [0.0, 0.0, NAN, NAN],
        "arousal.low": [0.5, 0.1, NAN, NAN],
        "arousal.high": [0.5, 0.4, NAN, NAN],
        "confidence": [NAN, 0.6, NAN, NAN],
    }.items():
        np.testing.assert_array_equal(values[name], expected)
    load("file,arousal,emotion,confidence,Confidence,low\na.wav,0.25,anger,0.5,80,1\n", "hyp.csv", *BOTH)


def test_confidences_of_words(load):
    rows = 'a,Go on.,"[[""go"", 0.5], [""on"", 1]]"\nb,go,\nc,,\n'
    where = files("c.wav", "a.wav", "d.wav", "b.wav")
    values, problems = load(f"file,transcript,transcript.words\n{rows}").look_up(where, "")
    assert values["transcript.words"].tolist() == [None, '[["go", 0.5], ["on", 1]]', None, None]
    assert [bool(problem) for problem in problems] == [False, False, True, False]


@pytest.mark.parametrize(("separator", "name"), [(";", "hyp.txt"), ("\t", "answers")])
def test_columns_may_be_called_otherwise(load, separator, name):
    text = "path,A,file\na.wav,0.25,x\nb.wav,nan,y\n".replace(",", separator)
    model = load(text, name, "arousal", columns={"file": "path", "arousal": "A"})
    values, problems = model.look_up(files("a.wav", "b.wav"), "")
    np.testing.assert_array_equal(values["arousal"], [0.25, NAN])
    assert problems == ["", f"{name} has no value for arousal"]


def test_a_column_of_corpora_tells_them_apart(load):
    model = load("corpus,file,transcript\nA,1.wav,one\nB,1.wav,two\n")
    assert model.notices([files("1.wav", name="A"), files("1.wav", name="B")]) == []
    assert predictions(model, files("1.wav", name="B"), "transcript") == ["two"]


def test_a_table_on_another_scale_is_refused(check):
    table = "file,arousal\n0.wav,4.0\n1.wav,5.5\n2.wav,2.0\n3.wav,1.0\n"
    what = table, "hyp.csv", [files("0.wav")], "arousal"
    assert check(*what, ranges={"arousal": (1.0, 7.0)})
    words = "suite.yml, models.theirs: arousal: 3 of the 4 .* in hyp.csv are not in 0 to 1 .*0, 10"
    with pytest.raises(InputError, match=words):
        check(*what)


def write(path, *rows: tuple, tasks=BOTH) -> None:
    """Write a prediction table as a run does: (key, change, arousal or None, error)."""
    path.parent.mkdir(exist_ok=True)
    keys, changes, values, errors = zip(*rows, strict=True)
    answers = [{"arousal": value, "emotion": None if error else "anger"} for *_, value, error in rows]
    known = [TASKS[task] for task in tasks]
    write_predictions(path, Columns(keys, changes, errors, answer_columns(answers, known)), known)


def test_a_table_of_a_run_is_taken_as_it_is(load, tmp_path):
    write(
        tmp_path / "run.parquet",
        ("a|b.wav||", "", 0.1, ""),
        ("a|b.wav||", "gain-1", 0.2, ""),
        ("c.wav|0.5|1.5", "", 0.3, ""),
        ("c.wav|0.5|1.5", "gain-1", None, "no answer within 1 s"),
        ("c.wav|1.5|", "", 0.4, "no emotion"),
    )
    model = load((tmp_path / "run.parquet").read_bytes(), "hyp.csv", *BOTH)
    where = corpus(("a|b.wav", NAN, NAN, 2.0), ("c.wav", 0.5, 1.5, 1.0), ("c.wav", 1.5, NAN, 1.0))
    values, problems = model.look_up(where, "")
    np.testing.assert_array_equal(values["arousal"], [0.1, 0.3, 0.4])
    assert values["emotion"].tolist() == ["anger", "anger", None]
    assert problems == ["", "", "no emotion"]
    assert model.changes_audio and TableModel.known_changes(tmp_path / "hyp.csv") == {"gain-1"}
    values, problems = model.look_up(where, "gain-1")
    np.testing.assert_array_equal(values["arousal"], [0.2, NAN, NAN])
    assert problems == ["", "no answer within 1 s", "not asked: no row in hyp.csv"]
    (notice,) = model.notices([where])
    assert notice.endswith("changed signals are those of the run that wrote hyp.csv")


def test_a_folder_of_tables_has_one_for_each_corpus(tmp_path):
    (tmp_path / "run").mkdir()
    assert "file" in TableModel.check_target("run", tmp_path / "suite.yml")[2]  # there is no table yet
    for name, value in (("demo", 0.1), ("other", 0.2)):
        write(tmp_path / "run" / f"{name}.parquet", ("a.wav||", "", value, ""))
    place, what, _ = TableModel.check_target("run", tmp_path / "suite.yml")
    assert (place, what) == (tmp_path / "run", "")
    entry, suite = ModelEntry("theirs", "predictions", "run", ("arousal",), path=place), suite_of(tmp_path)
    model = TableModel.load(entry, suite)
    for name, expected in {"demo": 0.1, "other": 0.2}.items():
        assert predictions(model, files("a.wav", name=name), "arousal") == [expected]
    assert model.look_up(files("a.wav", name="third"), "")[1] == ["not asked: no row in run"]
    assert not model.changes_audio
    write(tmp_path / "run" / "other.parquet", ("a.wav||", "", 0.4, ""))
    assert TableModel.load(entry, suite).fingerprint != model.fingerprint
    table = tmp_path / "run" / "own.parquet"
    pd.DataFrame({"file": ["a.wav"], "arousal": [0.5]}).to_parquet(table)
    with pytest.raises(InputError, match="run/own.parquet: in a folder, each table must be one that a run"):
        TableModel.load(entry, suite)
    write(table, ("a||", "", 0.5, ""), tasks=["arousal"])
    words = r"run/own.parquet: not all tables .* same columns \(emotion\)"
    with pytest.raises(InputError, match=words):
        TableModel.load(entry, suite)


def test_scores_of_a_run_are_not_for_segments(load, tmp_path):
    write(tmp_path / "t.parquet", ("17", "", 0.5, ""), tasks=["arousal"])
    with pytest.raises(InputError, match="hyp.csv row 1, column key: '17' names no segment.* `scores:`"):
        load((tmp_path / "t.parquet").read_bytes(), "hyp.csv", "arousal")
