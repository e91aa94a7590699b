"""Which segment an answer is for: the same rule in every format of answers."""

import io
import json
import unicodedata
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from answer_files import corpus, loaded, suite_of
from answer_files import files as files_of

from soundcheck.common.errors import InputError
from soundcheck.models.tables.scores import ScoreModel
from soundcheck.models.tables.table import TableModel
from soundcheck.suite.entries import CorpusEntry, ModelEntry


def parquet(names: list[str]) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame({"file": names, "transcript": "turn left"}).to_parquet(buffer)
    return buffer.getvalue()


def lines(form: str, names: list[str]) -> str:
    return "".join(form.format(name) + "\n" for name in names)


def segments(names: list[str]) -> str:
    return json.dumps(
        [{"session_id": name, "start_time": 0, "end_time": 2, "words": "turn left"} for name in names]
    )


FORMATS = {  # name of the file -> writes an answer under each name
    "hyp.csv": lambda names: "file,transcript\n" + lines("{},turn left", names),
    "hyp.tsv": lambda names: "file\ttranscript\n" + lines("{}\tturn left", names),
    "hyp;.csv": lambda names: "file;transcript\n" + lines("{};turn left", names),
    "hyp.parquet": parquet,
    "hyp.jsonl": lambda names: "".join(
        json.dumps({"audio_filepath": name, "pred_text": "turn left"}) + "\n" for name in names
    ),
    "hyp.trn": lambda names: lines("turn left ({})", names),
    "text": lambda names: lines("{} turn left", names),
    "hyp.stm": lambda names: lines("{} 1 s1 0 2 turn left", names),
    "hyp.ctm": lambda names: lines("{0} 1 0 1 turn\n{0} 1 1 1 left", names),
    "hyp.json": segments,
}


@pytest.fixture
def model(tmp_path):
    def model(name: str, names: list[str] | str, tasks=("transcript",), **options) -> TableModel:
        content = FORMATS[name](names) if isinstance(names, list) else names
        return loaded(tmp_path, content, name, tasks, options=options)

    return model


def answered(model: TableModel, where: SimpleNamespace) -> list[bool]:
    return [answer is not None for answer in model.look_up(where, "")[0]["transcript"]]


NFD = unicodedata.normalize("NFD", "Bär/ä.wav")
EXTENSION = "with another extension than that of the file"
CASES = [  # names in the answers, files of the corpus, which of them have an answer, what is said
    (["M02/0001.wav"], ["M02/0001.wav"], [True], ""),
    (["/data/M02/0001.wav"], ["M02/0001.wav", "0002.wav"], [True, False], ""),
    (["/data/M02/0001.wav", "x/2.wav"], ["F01/0001.wav", "2.wav"], [False, True], ""),
    (["M02/0001.wav", "b.wav"], ["b.wav", "data/M02/0001.wav"], [True, True], "without the folder"),
    (["0001.wav"], ["F01/0001.wav", "F01/0002.wav"], [True, False], "without the folder"),
    (["F01/a.wav"], ["F01/a.mp3", "F02/a.mp3"], [True, False], EXTENSION),
    (["a.wav"], ["F01/a.flac"], [True], f"without the folder and {EXTENSION}"),
    (["a.wav", "a.flac"], ["a.wav"], [True], ""),
    (["C:\\data\\s1\\a.wav"], ["s1/a.wav", "s2/a.wav"], [True, False], ""),
    (["./s1//a.wav"], ["s1/a.wav"], [True], ""),
    (["S1/A.wav"], ["s1/a.wav", "b.wav"], [True, False], "in another spelling than that"),
    (["A.wav", "a.wav"], ["a.wav", "A.wav"], [True, True], ""),
    ([NFD], ["Bär/ä.wav"], [True], "in another spelling than that"),
    (["a%23b.wav"], ["a#b.wav"], [True], "in another spelling than that"),
    (["utt.v2", "utt.v3"], ["utt.v1", "utt.v2"], [False, True], ""),
]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("names", "files", "expected", "said"), CASES)
def test_names_fit_by_all_that_both_sides_give(model, name, names, files, expected, said):
    theirs, where = model(name, names), files_of(*files)
    assert answered(theirs, where) == expected
    told = [notice for notice in theirs.notices([where]) if " of the file (" in notice]
    assert len(told) == bool(said) and all(said in notice for notice in told)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("names", "files", "words"),
    [
        (["a.wav"], ["x/a.wav", "y/a.wav"], "'a.wav' could mean 'x/a.wav' and 'y/a.wav'"),
        (["a.wav"], ["a.mp3", "a.flac"], "'a.wav' could mean 'a.mp3' and 'a.flac'"),
        (["x/a.wav", "y/a.wav"], ["a.wav"], "'x/a.wav' and 'y/a.wav' mean the same"),
        (["b.wav", "k/b.ogg", "k/b.mp3"], ["b.wav", "k/b.wav"], "'k/b.ogg' and 'k/b.mp3' mean the same"),
    ],
)
def test_what_is_not_unique_is_refused_with_both(model, name, names, files, words):
    with pytest.raises(InputError, match=words):
        model(name, names).notices([files_of(*files)])


@pytest.mark.parametrize("name", FORMATS)
def test_one_answer_is_for_one_sound(model, name):
    theirs = model(name, ["1.wav", "2.wav"])
    one, two = files_of("1.wav", "2.wav", name="A"), files_of("1.wav", "2.wav", name="B")
    words = (
        "'1.wav' would be the answer for '1.wav' of 'A' and '1.wav' of 'B', two sounds; so would [13] more. "
    )
    with pytest.raises(InputError, match=words + r"Write `corpora: \[A\]` for the model") as caught:
        theirs.notices([one, two])
    assert len(caught.value.problems) == 1
    assert theirs.notices([one]) == []
    third = files_of("1.wav", "2.wav", name="C", audio=one.segments["audio"].tolist())
    with pytest.raises(InputError, match="for '1.wav' of 'A' and '1.wav' of 'B', two"):
        theirs.notices([one, third, two])
    sounds = ["same", "too"]
    same = [files_of("1.wav", "2.wav", name=own, audio=sounds) for own in "AB"]
    assert theirs.notices(same) == []


def test_a_column_of_corpora_tells_them_apart(model):
    text = "corpus,file,transcript\nA,1.wav,one\nB,1.wav,two\n"
    theirs = model("hyp.csv", text)
    assert theirs.notices([files_of("1.wav", name="A"), files_of("1.wav", name="B")]) == []
    assert theirs.look_up(files_of("1.wav", name="B"), "")[0]["transcript"].tolist() == ["two"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("given", "file", "shown"),
    [
        ("а.wav", "a.wav", (r"'\\u0430.wav'", "'a.wav'")),  # Cyrillic
        ("a\u200b.wav", "a.wav", (r"'a\\u200b.wav'", "'a.wav'")),
        ("s1/a.wav", "s2/a.wav", ("'s1/a.wav'", "'s2/a.wav'")),
    ],
)
def test_messages_never_show_two_equal_names(model, name, given, file, shown):
    with pytest.raises(InputError, match="belongs to a segment") as caught:
        model(name, [given]).notices([files_of(file, "zz.wav")])
    assert all(part.replace("\\\\", "\\") in str(caught.value) for part in shown)


def test_times_that_do_not_fit_are_shown_with_all_digits(model):
    where = corpus(("a.wav", 0.0, 1.5345), ("a.wav", 1.5345, 3.0))
    for name, text in {
        "hyp.csv": "file,start,end,transcript\na.wav,0,1.50,turn\na.wav,1.50,3.0,left\n",
        "hyp.jsonl": '{"audio_filepath": "a.wav", "offset": 0, "duration": 1.5, "pred_text": "turn"}\n'
        '{"audio_filepath": "a.wav", "offset": 1.5, "duration": 1.5, "pred_text": "left"}\n',
    }.items():
        words = r"the times are not .*0.0 to 1.5 s here and 0.0 to 1.5345 s in the corpus, 0.01 s may differ"
        with pytest.raises(InputError, match=words):
            model(name, text).notices([where])
        near = corpus(("a.wav", 0.0, 1.5045), ("a.wav", 1.5045, 3.0))
        assert answered(model(name, text), near) == [True, True]


# Columns ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["hyp.csv", "hyp.txt", "answers"])
def test_columns_may_be_called_otherwise(model, separator, name):
    text = "path,A,file\na.wav,0.25,x\nb.wav,nan,y\n".replace(",", separator)
    theirs = model(name, text, ("arousal",), columns={"file": "path", "arousal": "A"})
    answers, problems = theirs.look_up(files_of("a.wav", "b.wav"), "")
    assert answers["arousal"].tolist()[0] == 0.25 and np.isnan(answers["arousal"][1])
    assert problems == ["", f"{name} has no value for arousal"]


@pytest.mark.parametrize(
    ("text", "columns", "words"),
    [
        (
            "path,A\na.wav,1\n",
            {"file": "Path"},
            r"theirs.columns.file: hyp.csv has no column 'Path'. Did you mean 'p",
        ),
        (
            "path,A\na.wav,1\n",
            {"fil": "path"},
            "theirs.columns.fil: the name of no column .* Did you mean 'file'",
        ),
        ("path,A\na.wav,1\n", {}, r"column file: the column is missing.*`columns: \{file: ...\}`"),
        (
            "path,A\na.wav,x\n",
            {"file": "path", "arousal": "A"},
            "hyp.csv line 2, column A: 'x' is not a number",
        ),
    ],
)
def test_columns_that_are_not_there(model, text, columns, words):
    with pytest.raises(InputError, match=words):
        model("hyp.csv", text, ("arousal",), columns=columns)


def test_files_of_transcripts_have_no_columns(model):
    with pytest.raises(InputError, match="hyp.trn is no table with columns"):
        model("hyp.trn", ["a"], columns={"file": "path"})


# Scores -----------------------------------------------------------------------------------------------------


def trials(*pairs: tuple[str, str], name: str = "A", sound: str = "") -> SimpleNamespace:
    """Make a corpus with trials; all of target speakers."""
    files = list(dict.fromkeys(file for pair in pairs for file in pair))
    frame = pd.DataFrame(pairs, columns=["enrol", "test"], dtype=object).assign(target=True)
    frame["enrolment"], frame["segment"] = range(len(pairs)), [files.index(test) for _, test in pairs]
    members = np.array([files.index(enrol) for enrol, _ in pairs])
    table = SimpleNamespace(
        frame=frame,
        members=members,
        member_of=np.arange(len(pairs)),
        listed=len(pairs),
        numbers=np.arange(len(pairs)),
    )
    segments = pd.DataFrame({"audio": [f"{sound or name} {file}" for file in files]})
    return SimpleNamespace(
        name=name, entry=CorpusEntry(name, "csv", trials="t"), trials=table, segments=segments
    )


@pytest.fixture
def scores(tmp_path):
    def scores(text: str) -> ScoreModel:
        path = tmp_path / "scores.txt"
        path.write_text(text)
        entry = ModelEntry("theirs", "scores", path.name, ("embedding",), path=path)
        return ScoreModel.load(entry, suite_of(tmp_path))

    return scores


def test_scores_find_trials_whose_names_are_written_otherwise(scores):
    where = trials(("id1-enroll", "test/id1-a.wav"), ("id2-enroll", "test/id2-a.wav"))
    model = scores("enroll/id1-enroll.wav id1-a 0.7\nenroll/id2-enroll.wav id2-a 0.2\n")
    assert model.look_up(where, "")[0]["score"].tolist() == [0.7, 0.2]
    assert [notice.split(" fit ")[1].split(" (")[0] for notice in model.notices([where])] == [
        "with another extension than that of the file",
        "without the folder of the file",
    ]
    with pytest.raises(InputError, match="no score for the trial 'id1-enroll' 'test/id1-a.wav'"):
        scores("id1-enroll x/id1-a.wav 0.7\nid2-enroll test/id2-a.wav 0.2\n").notices([where])


def test_a_score_is_for_the_sounds_of_one_corpus(scores):
    model = scores("0.7 a b\n0.1 a c\n")
    pairs = (("a", "b"), ("a", "c"))
    with pytest.raises(InputError, match=r"two sounds.*`corpora: \[A\]`"):
        model.notices([trials(*pairs), trials(*pairs, name="B")])
    assert model.notices([trials(*pairs, sound="s"), trials(*pairs, name="B", sound="s")]) == []


def test_labels_beside_scores_are_those_of_the_list(scores):
    where = trials(("a", "b"), ("a", "c"))
    assert scores("a b 0.7 target\na c 0.2 tgt\n").look_up(where, "")[0]["score"].tolist() == [0.7, 0.2]
    for text in ("a b 0.7 target\na c 0.2 nontarget\n", "enrol,test,score,label\na,b,0.7,1\na,c,0.2,0\n"):
        with pytest.raises(InputError, match="^scores.txt line [23]: the label beside the score is not that"):
            scores(text).notices([where])
