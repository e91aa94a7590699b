import io
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from answer_files import NAN, TASKS, corpus, files, loaded, suite_of

from soundcheck.common.errors import InputError
from soundcheck.models.answers import pack, unpack
from soundcheck.models.base import check_model
from soundcheck.models.tables.table import TableModel
from soundcheck.predict.tables import Row, write_predictions
from soundcheck.suite.entries import ModelEntry
from soundcheck.suite.groups import number_of

GOOD = "file,arousal,emotion\na.wav,0.25,anger\nb.wav,0.5,boredom\nsub/c.wav,1.5,sadness\n"


@pytest.fixture
def load(tmp_path):
    def load(content, tasks=("arousal", "emotion"), name="theirs.csv") -> TableModel:
        return loaded(tmp_path, content, name, tasks)

    return load


def test_rows_in_any_order(load):
    expected = ({"arousal": [0.25, 0.5, 1.5], "emotion": ["anger", "boredom", "sadness"]}, ["", "", ""])
    lines = GOOD.splitlines(keepends=True)
    for text in (GOOD, lines[0] + "".join(lines[:0:-1]), "\ufeff" + GOOD.replace("\n", "\r\n") + "\r\n"):
        answers, problems = load(text).look_up(files("a.wav", "b.wav", "sub/c.wav"), "")
        assert ({task: list(values) for task, values in answers.items()}, problems) == expected


def test_missing_and_empty_answers_are_named_extra_rows_counted(load):
    model = load("file,arousal,emotion\na.wav,nan,anger\nb.wav,0.5,\nx.wav,0.5,anger\n")
    demo = files("a.wav", "b.wav", "c.wav")
    answers, problems = model.look_up(demo, "")
    assert problems == [
        "theirs.csv has no value for arousal",
        "theirs.csv has no value for emotion",
        "not asked: no row in theirs.csv",
    ]
    assert np.isnan(answers["arousal"][[0, 2]]).all()
    assert answers["emotion"].tolist() == ["anger", None, None]
    assert model.notices([demo]) == ["1 row belongs to no segment of the corpora"]


def test_nothing_matches(load):
    model = load(GOOD.replace("a.wav", "/data/a.wav").replace("b.wav", "x").replace("sub/c.wav", "y"))
    with pytest.raises(
        InputError, match=r"the name here is '/data/a.wav', the most similar one in the corpus 'b.wav'"
    ):
        model.notices([files("b.wav", "c.wav")])


def test_nothing_matches_is_found_by_the_check(load, tmp_path):
    load(GOOD)
    entry = ModelEntry("theirs", "predictions", "theirs.csv", ("arousal",), path=tmp_path / "theirs.csv")
    suite = suite_of(tmp_path)
    assert check_model(entry, suite, [files("a.wav")])
    with pytest.raises(InputError, match="no row belongs to a segment"):
        check_model(entry, suite, [files("other.wav")])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GOOD + "a.wav,0.5,anger\n", "lines 2 and 5: the segment 'a.wav' is a duplicate"),
        (
            GOOD.replace("0.5", "high"),
            "line 3, column arousal: 'high' is not a number. Give a number from 0 to 1",
        ),
        (GOOD.replace("0.5", '"0,5"'), "line 3, column arousal: '0,5' is not a number"),
        (GOOD.replace("0.5", "inf"), "'inf' is not a number"),
        (GOOD.replace("0.5", "1e999"), "'1e999' is not a finite number"),
        (GOOD.replace("0.5", "1_0"), "'1_0' is not a number"),
        (GOOD.replace("arousal", "arousel"), "line 1, column arousal: .*Did you mean 'arousel'"),
        (GOOD.replace("file", "path"), "column file: the column is missing"),
        (GOOD.replace("emotion", "arousal"), "two columns are called 'arousal'"),
        (GOOD.replace("b.wav,", "b.wav,,"), "line 3: the row has 4 cells, the header 3"),
        (GOOD.replace("b.wav", '"b.wav'), "line 3: the row that begins here is no CSV"),
        (GOOD.replace(",", "|"), "separated by bars"),
        (GOOD.replace("b.wav", ""), "line 3, column file: the cell is empty"),
        ("file,arousal,emotion\n", "no rows"),
        ("", "the file is empty"),
        (GOOD.encode("utf-16"), "UTF-16"),
        (GOOD.replace("b.wav", "bä.wav").encode("latin-1"), "line 3: byte .* is not UTF-8"),
        (GOOD.replace("b.wav", "b\x00.wav"), "line 3: byte .* is a NUL"),
        (b"PAR1" + bytes(100) + b"PAR1", "not a valid Parquet table"),
        (b"PK\x03\x04", "zip archive"),
    ],
)
def test_refused(load, content, words):
    with pytest.raises(InputError, match=rf"^theirs.csv.*{words}"):
        load(content)


@pytest.mark.parametrize("name", ["theirs.csv", "theirs.parquet", "theirs.pkl"])
def test_pickles_are_not_opened(load, name, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "CANARY",))

    with pytest.raises(InputError, match="a Python pickle, which is never opened"):
        load(pickle.dumps(Bomb()), name=name)
    assert not (tmp_path / "CANARY").exists()


def test_segments_of_one_file(load):
    demo = corpus(("a.wav", 0.0, 1.5, 1.5), ("a.wav", 1.5, 2.25, 0.75), ("a.wav", 2.25, NAN, 0.75))
    plain = "file,start,end,arousal\na.wav,1.5,2.25,0.2\na.wav,2.25,,0.3\na.wav,0,1.5,0.1\n"
    clock = (
        "file,start,end,arousal\na.wav,0 days 00:00:01.500000,0:00:02.25,0.2\n"
        "a.wav,0:00:02.25,NaT,0.3\na.wav,,0 days 00:00:01.5,0.1\n"
    )
    for text in (plain, clock, plain.replace("2.25,,", "2.25,3.0,")):
        answers, problems = load(text, ("arousal",)).look_up(demo, "")
        assert answers["arousal"].tolist() == [0.1, 0.2, 0.3]
        assert problems == ["", "", ""]
    answers, problems = load(plain.replace("1.5,2.25", "1.5,2.23"), ("arousal",)).look_up(demo, "")
    assert problems == ["", "not asked: no row in theirs.csv", ""]


def test_durations_may_be_cut_into_groups(load):
    demo = corpus(("a.wav", NAN, NAN, 1.2))
    demo.segments = demo.segments.rename(columns={"duration": number_of("duration")}).assign(duration="short")
    text = "file,start,end,arousal\na.wav,0,1.2,0.1\n"
    assert load(text, ("arousal",)).look_up(demo, "")[0]["arousal"].tolist() == [0.1]


def test_several_segments_need_times(load):
    demo = corpus(("a.wav", 0.0, 1.5, 1.5), ("a.wav", 1.5, 2.25, 0.75))
    with pytest.raises(InputError, match="several segments of .*start and end"):
        load(GOOD).look_up(demo, "")
    with pytest.raises(InputError, match="'soon' is not a time"):
        load("file,start,arousal\na.wav,soon,0.5\n", ("arousal",))


def test_parquet_equals_csv(load):
    demo = corpus(("a.wav", 0.0, 1.5, 1.5), ("b.wav", NAN, NAN, 2.0))
    times = pd.to_timedelta([0.0, 0.0], unit="s"), pd.to_timedelta([1.5, None], unit="s")
    index = pd.MultiIndex.from_arrays([["a.wav", "b.wav"], *times], names=["file", "start", "end"])
    frame = pd.DataFrame({"age": np.array([0.1, NAN], np.float32), "emotion": ["anger", None]}, index=index)
    answers, problems = load(frame, ("age", "emotion"), name="theirs.parquet").look_up(demo, "")
    assert answers["age"][0] == pytest.approx(0.1)
    assert np.isnan(answers["age"][1])
    assert answers["emotion"].tolist() == ["anger", None]
    assert problems[0] == ""
    assert "age" in problems[1]


def test_fingerprint_is_the_content(load):
    one = load(GOOD).fingerprint
    assert load(GOOD).fingerprint == one
    assert load(GOOD.replace("0.25", "0.26")).fingerprint != one


def test_changed_signals_cannot_be_answered(load):
    model = load(GOOD)
    assert not model.changes_audio
    with pytest.raises(ValueError, match="changed signals"):
        model.look_up(files("a.wav"), "noise")


# Transcripts ------------------------------------------------------------------------------------------------


def test_transcripts_are_kept_as_written(load):
    text = (
        'file,transcript\na.wav,  Turn  LEFT \nb.wav,nan\nc.wav,NaN\nd.wav,"<b>no</b>, ""yes"" \x07\x1b[1m"\n'
    )
    answers, problems = load(text, ("transcript",)).look_up(files("a.wav", "b.wav", "c.wav", "d.wav"), "")
    assert answers["transcript"].tolist() == ["Turn  LEFT", "nan", "NaN", '<b>no</b>, "yes" \x07\x1b[1m']
    assert problems == [""] * 4


def test_an_empty_transcript_is_an_answer_a_missing_row_is_none(load):
    model = load('file,transcript\na.wav,\nb.wav,"  "\n', ("transcript",))
    answers, problems = model.look_up(files("a.wav", "b.wav", "c.wav"), "")
    assert answers["transcript"].tolist() == ["", "", None]
    assert problems == ["", "", "not asked: no row in theirs.csv"]


def test_transcripts_of_several_segments_and_in_parquet(load):
    demo = corpus(("a.wav", 0.0, 1.5, 1.5), ("a.wav", 1.5, 2.25, 0.75))
    frame = pd.DataFrame({"file": ["a.wav"] * 2, "start": [1.5, 0.0], "transcript": [None, "turn left"]})
    frame["end"] = frame["start"] + [0.75, 1.5]
    for model in (
        load("file,start,end,transcript\na.wav,1.5,2.25,\na.wav,0,1.5,turn left\n", ("transcript",)),
        load(frame, ("transcript",), name="theirs.parquet"),
        load(frame, ("transcript",), name="theirs"),
    ):
        answers, problems = model.look_up(demo, "")
        assert answers["transcript"].tolist() == ["turn left", ""]
        assert problems == ["", ""]


def embeddings(values):
    return [None if value is None else unpack(value).tolist() for value in values]


def test_embeddings(load):
    text = 'file,embedding\na.wav,0.5 -1 2\nb.wav,"[0.5, -1, 2]"\nc.wav,\n'
    answers, problems = load(text, ("embedding",)).look_up(files("a.wav", "b.wav", "c.wav"), "")
    assert embeddings(answers["embedding"]) == [[0.5, -1.0, 2.0], [0.5, -1.0, 2.0], None]
    assert problems == ["", "", "theirs.csv has no value for embedding"]


def parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("0 0 0", "embedding is a vector of zeros, which has no direction"),
        ("nan nan nan", "embedding is a vector with 3 nan among 3 numbers"),
        ("1 NaN 2", "embedding is a vector with 1 nan among 3 numbers"),
        ("1 -inf 2", "embedding is a vector with 1 infinite among 3 numbers"),
        ("[1, None, 2]", "embedding is a vector with 1 nan among 3 numbers"),
        ("too short", "embedding: 'too' is not a number"),
        ("1 2 1_0", "embedding: '1_0' is not a number"),
        ("", "theirs.csv has no value for embedding"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_embedding_without_direction_is_one_missing_answer(load, bad, why, kind):
    table = pd.DataFrame({"file": ["a.wav", "b.wav", "c.wav"], "embedding": ["1 2 3", bad, "3 2 1"]})
    content = table.to_csv(index=False) if kind == "csv" else parquet(table)
    model = load(content, ("embedding",))
    answers, problems = model.look_up(files("a.wav", "b.wav", "c.wav"), "")
    assert [answer is None for answer in answers["embedding"]] == [False, True, False]
    assert problems == ["", why, ""]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1 2", "1 2 3", "3 2 1"], "line 2, column embedding: the embedding has 2 numbers, most have 3"),
        (
            ["a b", "c d", "3 2 1"],
            "line 2, column embedding: 2 of 3 rows have no embedding, the first: .*'a'",
        ),
        (["nan", "0"], "line 2, column embedding: 2 of 2 rows have no embedding, the first"),
    ],
)
def test_tables_without_embeddings_are_refused(load, cells, words):
    rows = "".join(f"{n}.wav,{cell}\n" for n, cell in enumerate(cells))
    with pytest.raises(InputError, match=words) as caught:
        load(f"file,embedding\n{rows}", ("embedding",))
    assert len(caught.value.problems) == 1


# The scale, and tables that a run wrote --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "ranges", "words"),
    [
        ([0.5, 1.5, 0.7, 0.2], {}, ""),
        ([4.0, 5.5, 2.0, 0.9], {}, "arousal: 3 of the 4 answers in theirs.csv are not in 0 to 1 .*0, 10"),
        ([4.0, 5.5, 2.0, 1.0], {"arousal": (1.0, 7.0)}, ""),
        ([4.0], {}, ""),  # one answer says little
        ([400.0, 5.0], {}, r"arousal: all of the 2 answers .*range: \[lowest, highest\]"),
    ],
)
def test_a_table_on_another_scale_is_refused(tmp_path, answers, ranges, words):
    lines = [f"{n}.wav,{answer}" for n, answer in enumerate(answers)]
    (tmp_path / "theirs.csv").write_text("\n".join(["file,arousal", *lines]) + "\n")
    entry = ModelEntry("theirs", "predictions", "theirs.csv", ("arousal",), ranges=ranges)
    demo = files(*(f"{n}.wav" for n in range(len(answers))))
    if words:
        with pytest.raises(InputError, match=f"suite.yml, models.theirs: {words}"):
            check_model(entry, suite_of(tmp_path), [demo])
    else:
        check_model(entry, suite_of(tmp_path), [demo])


def written(path: Path, name: str, *rows: tuple) -> Path:
    """Write a prediction table as the engine does."""
    made = [Row(key, change, answer, error) for key, change, answer, error in rows]
    write_predictions(path / name, made, [TASKS[task] for task in ("arousal", "emotion", "embedding")])
    return path / name


def answer(arousal: float) -> dict:
    return {"arousal": arousal, "emotion": "anger", "embedding": pack(np.array([arousal, 0.1]))}


def test_a_table_of_a_run_is_taken_as_it_is(load, tmp_path):
    written(
        tmp_path,
        "theirs.csv",
        ("a|b.wav||", "", answer(0.1), ""),
        ("a|b.wav||", "gain-1", answer(0.2), ""),
        ("c.wav|0.5|1.5", "", answer(0.3), ""),
        ("c.wav|0.5|1.5", "gain-1", {}, "no answer within 1 s"),
        ("c.wav|1.5|", "", {}, "ValueError: two"),
    )
    model = load((tmp_path / "theirs.csv").read_bytes(), ("arousal", "emotion", "embedding"))
    demo = corpus(("a|b.wav", NAN, NAN, 2.0), ("c.wav", 0.5, 1.5, 1.0), ("c.wav", 1.5, NAN, 1.0))
    answers, problems = model.look_up(demo, "")
    np.testing.assert_array_equal(answers["arousal"], [0.1, 0.3, NAN])
    assert answers["emotion"].tolist() == ["anger", "anger", None]
    np.testing.assert_array_equal(unpack(answers["embedding"][0]), np.float32([0.1, 0.1]))
    assert problems == ["", "", "ValueError: two"]
    assert model.changes_audio and TableModel.known_changes(tmp_path / "theirs.csv") == {"gain-1"}
    answers, problems = model.look_up(demo, "gain-1")
    np.testing.assert_array_equal(answers["arousal"], [0.2, NAN, NAN])
    assert problems == ["", "no answer within 1 s", "not asked: no row in theirs.csv"]
    with pytest.raises(ValueError, match="changed signals"):
        model.look_up(demo, "gain-2")
    assert model.notices([demo]) == ["answers for changed signals are those of the run that wrote theirs.csv"]


def test_a_folder_of_tables_has_one_for_each_corpus(tmp_path):
    for name, value in (("demo", 0.1), ("other", 0.2)):
        written(tmp_path / "run", f"{name}.parquet", ("a.wav||", "", answer(value), ""))
    place, what, _ = TableModel.check_target("run", tmp_path / "suite.yml")
    assert (place, what) == (tmp_path / "run", "")
    entry = ModelEntry("theirs", "predictions", "run", ("arousal",), path=place)
    model = TableModel.load(entry, suite_of(tmp_path))
    for name, value in (("demo", 0.1), ("other", 0.2)):
        assert model.look_up(files("a.wav", name=name), "")[0]["arousal"].tolist() == [value]
    assert model.look_up(files("a.wav", name="third"), "")[1] == ["not asked: no row in run"]
    assert not model.changes_audio
    before = model.fingerprint
    written(tmp_path / "run", "other.parquet", ("a.wav||", "", answer(0.4), ""))
    assert TableModel.load(entry, suite_of(tmp_path)).fingerprint != before
    pd.DataFrame({"file": ["a.wav"], "arousal": [0.5]}).to_parquet(tmp_path / "run" / "own.parquet")
    with pytest.raises(InputError, match="run/own.parquet: in a folder, each table must be one that a run"):
        TableModel.load(entry, suite_of(tmp_path))


def test_a_folder_without_tables_is_no_file(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "file" in TableModel.check_target("empty", tmp_path / "suite.yml")[2]


def test_scores_of_a_run_are_not_answers_for_segments(load, tmp_path):
    write_predictions(tmp_path / "t.parquet", [Row("17", "", {"arousal": 0.5})], [TASKS["arousal"]])
    with pytest.raises(InputError, match="theirs.csv row 1, column key: '17' names no segment"):
        load((tmp_path / "t.parquet").read_bytes(), ("arousal",))


HEADER = "file,arousal,emotion,arousal.low,arousal.high,emotion.anger,emotion.sadness,confidence\n"


def test_columns_that_say_how_sure_it_was(load):
    rows = "a.wav,0.25,anger,0.1,0.4,0.7,0.3,0.6\nb.wav,0.5,sadness,,,,,\nc.wav,0.5,sadness,0.5,0.5,,1,\n"
    answers, problems = load(HEADER + rows).look_up(files("c.wav", "a.wav", "b.wav", "d.wav"), "")
    assert problems[:3] == ["", "", ""]
    assert answers["emotion.sadness"].tolist()[:2] == [1.0, 0.3]
    assert answers["emotion.anger"].tolist()[:2] == [0.0, 0.7]
    assert answers["emotion.neutral"].tolist()[:2] == [0.0, 0.0]
    assert answers["arousal.high"].tolist()[:2] == [0.5, 0.4]
    assert np.isnan(answers["confidence"]).tolist() == [True, False, True, True]
    for name in ("emotion.anger", "emotion.neutral", "arousal.low", "confidence"):
        assert np.isnan(answers[name][2:]).all()


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("0.1,0.4,0.7,0.2,", "add up to 0.9 instead of 1"),
        ("0.1,0.4,1.2,-0.2,", "-0.2 among them, which is negative"),
        ("0.1,0.4,much,0.2,", "much"),
        ("0.4,0.1,0.7,0.3,", "whose low lies above its high"),
        ("0.4,,0.7,0.3,", "one bound without the other"),
        ("0.1,0.4,0.7,0.3,80", "80, not a number from 0 to 1"),
    ],
)
def test_what_is_wrong_with_them_is_told_with_its_line(load, row, told):
    with pytest.raises(InputError) as caught:
        load(f"{HEADER}a.wav,0.25,anger,{row}\n")
    assert told in str(caught.value)
    assert "line 2" in str(caught.value)
    assert len(caught.value.problems) == 1


def test_columns_of_unknown_classes_or_without_their_pair(load):
    with pytest.raises(InputError, match="unknown class 'angr'"):
        load("file,arousal,emotion,emotion.anger,emotion.angr\na.wav,0.25,anger,1,0\n")
    with pytest.raises(InputError, match=r"arousal\.high.*missing"):
        load("file,arousal,emotion,arousal.low\na.wav,0.25,anger,0.1\n")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Confidence", "is called nearly like 'confidence'.* Rename it to confidence"),
        ("arousal_low", "'arousal.low'"),
        ("Emotion-Anger", "'emotion.anger'"),
        (" START", "column START: it is called nearly like 'start'"),
        ("arousal.lower", "column arousal.lower: .* Did you mean 'arousal.low'"),
    ],
)
def test_columns_that_are_nearly_called_like_those_that_are_read_are_refused(load, name, told):
    with pytest.raises(InputError, match=told):
        load(f"file,arousal,emotion,{name}\na.wav,0.25,anger,0.5\n")
    load("file,arousal,emotion,confidence,Confidence,low\na.wav,0.25,anger,0.5,80,1\n")


def test_confidences_of_words(load):
    rows = 'a.wav,Go on.,"[[""go"", 0.5], [""on"", 1]]"\nb.wav,go,\nc.wav,,\n'
    table = load(f"file,transcript,transcript.words\n{rows}", ("transcript",))
    answers, problems = table.look_up(files("c.wav", "a.wav", "d.wav", "b.wav"), "")
    assert answers["transcript.words"].tolist() == [None, '[["go", 0.5], ["on", 1]]', None, None]
    assert [bool(problem) for problem in problems] == [False, False, True, False]


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("0.5 0.6", "no list such as"),
        ('"[[""go"", ""sure""], [""on"", 1]]"', "no list such as"),
        ('"[[""go"", 0.5]]"', "do not join to the transcript: 'go' instead of 'go on'"),
        ('"[[""go"", 2], [""on"", 1]]"', "the word 'go' with the confidence 2, not"),
        ('"[[""go"", NaN], [""on"", 1]]"', "the word 'go' with the confidence nan, not"),
    ],
)
def test_confidences_of_words_that_cannot_be_are_told_with_their_line(load, cell, told):
    with pytest.raises(InputError) as caught:
        load(f"file,transcript,transcript.words\na.wav,go on,{cell}\n", ("transcript",))
    assert told in str(caught.value) and "line 2, column transcript.words" in str(caught.value)
