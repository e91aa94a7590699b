import os
from types import SimpleNamespace

import numpy as np
import pytest
from answer_files import NAN, corpus, files, written
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.errors import InputError
from soundcheck.common.files import TABLE_BYTES
from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import TEXT_LIMIT
from soundcheck.models.base import check_model
from soundcheck.models.tables.table import TableModel
from soundcheck.models.tables.transcripts import read_transcripts, transcript_format
from soundcheck.predict.engine import predict_model
from soundcheck.predict.request import PredictionRequest
from soundcheck.predict.tables import read_predictions

TRN = ";; by our recogniser\nturn left (a)\n(b)\n\nswitch   the light\ton (sub-c)\n"
KALDI = "sub-c switch the light on\na turn left\n\nb\n"
CSV = "file,transcript\na.wav,turn left\nb.wav,\nsub/c.wav,switch the light on\n"


@pytest.fixture
def write(tmp_path):
    return lambda content, name="hyp.trn", tasks=("transcript",): written(tmp_path, content, name, tasks)


@pytest.fixture
def load(write):
    return lambda *arguments: TableModel.load(*write(*arguments))


def read(content: str | bytes, form: str = "trn") -> dict[str, str]:
    content = content.encode() if isinstance(content, str) else content
    held = read_transcripts(content, "hyp", form, [BUILTIN["transcript"]])
    return dict(zip(held.rows[""].names, held.answers["transcript"], strict=True))


# Reading ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "name"), [(TRN, "hyp.trn"), (TRN, "HYP.TRN"), (KALDI, "text"), (KALDI, "hyp.txt")]
)
@pytest.mark.parametrize("change", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n"), str.rstrip])
def test_transcripts_equal_the_table(load, content, name, change):
    demo = files("a.wav", "b.wav", "sub/c.wav", "d.wav")
    expected, missing = load(CSV, "theirs.csv").look_up(demo, "")
    answers, problems = load(change(content), name).look_up(demo, "")
    assert answers["transcript"].tolist() == expected["transcript"].tolist()
    assert answers["transcript"].tolist() == ["turn left", "", "switch the light on", None]
    assert problems == ["", "", "", f"not asked: no utterance in {name}"]
    assert missing == ["", "", "", "not asked: no row in theirs.csv"]


@pytest.mark.parametrize(
    ("words", "transcript"),
    [
        ("turn { left / right } now", "turn left now"),
        ("{ @ / um } turn @ { the long way / @ }", "turn the long way"),
        ("{ { a / b } c / { d / e } f } g", "a c g"),
        ("{ / a } b { c }", "b c"),
        ("(%HESITATION) so %HESITATION {  (%uh)  /  @ }", "%HESITATION so %HESITATION %uh"),
        ("either / or :) (laughs) a@b {x}", "either / or :) (laughs) a@b {x}"),
        ("Ümlaut <script>alert(1)</script> \x07\x1b[31m ;; & 你好", None),
        ("a\u2028b\x0bc\x1cd\x85e\u00a0f", None),  # no ends of lines, and no blanks
    ],
)
def test_words_of_trn(words, transcript):
    assert read(f"{words} (s01-a)\nnext(s01-b)") == {"s01-a": transcript or words, "s01-b": "next"}


def test_ids_of_trn_may_hold_parentheses_and_blanks():
    assert read("x (take (2))\ny ( sub/my file )\n:( (c)") == {"take (2)": "x", "sub/my file": "y", "c": ":("}


def test_words_of_kaldi_are_kept():
    text = "a\tTurn  LEFT \n  b { @ / x } (%UH) ;; (a)\n;; comment\nc \u00a0\x07<b>x</b>\x85y\n"
    expected = {"a": "Turn  LEFT", "b": "{ @ / x } (%UH) ;; (a)", ";;": "comment", "c": "\x07<b>x</b>\x85y"}
    assert read(text, "kaldi") == expected


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(
        st.from_regex(r"[a-zA-Z0-9][\w./-]{0,8}", fullmatch=True),
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\0"), min_size=1, max_size=6)
            .filter(lambda word: word == word.strip() and word not in ("{", "}", "/", "@"))
            .filter(lambda word: not word.startswith(("(%", "\ufeff", ";;"))),
            max_size=5,
        ).map(" ".join),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n \t\n"]),
)
def test_what_is_written_is_read_back(transcripts, end):
    trn = end.join(f"{words} ({name})" for name, words in transcripts.items())
    kaldi = end.join(f"{name} {words}" for name, words in sorted(transcripts.items()))
    assert read(trn) == transcripts
    assert read(kaldi, "kaldi") == transcripts
    assert read("\ufeff" + trn) == transcripts


@pytest.mark.parametrize(
    ("content", "form", "words"),
    [
        ("a (x)\nb", "trn", r"hyp line 2: 'b' does not end with an id in parentheses. Write the id behind"),
        ("a (x)\n\nb (y) c", "trn", "line 3: .*does not end with an id"),
        ("a ()", "trn", "line 1: 'a \\(\\)' does not end with an id"),
        ("a )", "trn", "line 1: .*does not end with an id"),
        ("a (x)\nso (%HESITATION)", "trn", "line 2: .*does not end with an id"),
        ("a { b / c (x)", "trn", r"line 1: a brace is not closed. Write alternatives as `\{ a / b / @ \}`"),
        ("a (x)\r\na } b (y)", "trn", "line 2: a brace closes that was not opened"),
        ("a (x)\nb (y)\nc (x)", "trn", "hyp lines 1 and 3: duplicate id 'x'. Look where the two come from"),
        ("x a\ny b\n\nx", "kaldi", "hyp lines 1 and 4: duplicate id 'x'"),
        (
            "a (x)\rb\xe4 (y)".encode("latin-1"),
            "trn",
            "line 2: byte 7 is not UTF-8 text. Save the file as UTF-8",
        ),
        ("x a\ny \xe4\n".encode("latin-1"), "kaldi", "line 2: byte 6 is not UTF-8"),
        (b"\xef\xbb\xbfa (x)\n\xff (y)", "trn", "line 2: byte 9 is not UTF-8"),
        ("a (x)".encode("utf-16"), "trn", "line 1: byte 0 begins UTF-16 text"),
        ("x a\ny \0", "kaldi", "line 2: byte 6 is a NUL"),
        ("", "kaldi", "hyp: the file has no utterance. Give lines such as `s01-a turn left`"),
        (";; nothing\n \n", "trn", r"no utterance. Give lines such as `turn left \(s01-a\)`"),
    ],
)
def test_refused(content, form, words):
    with pytest.raises(InputError, match=words):
        read(content, form)


def test_all_problems_of_a_file_are_told():
    with pytest.raises(InputError) as caught:
        read("a (x)\nb\n{ (y)\nc (x)\n" + "d\n" * 30)
    assert len(caught.value.problems) == 33
    first, second, third = str(caught.value).splitlines()
    assert first.startswith("hyp line 2: 'b' does not end") and "There are 31 of this kind" in first
    assert "hyp line 3" in second and "duplicate id 'x'" in third


def test_many_lines_and_deep_braces_are_quick(load):
    count = 50_000
    names = [f"s{n % 7}/{n}" for n in range(count)]
    demo = files(*[f"{name}.wav" for name in names])
    model = load("".join(f"{name} turn left\n" for name in reversed(names)), "text")
    assert model.look_up(demo, "")[1] == [""] * count
    assert read("{ " * count + "a " * count + "} " * count + "(x)")["x"].split() == ["a"] * count


# What a file is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("hyp.trn", b"file,transcript\n", "trn"),
        ("text", b"a turn left\n", "kaldi"),
        ("hyp.txt", b"a open the file, please\n", "kaldi"),
        ("hyp.txt", b"a\tfile\n", "kaldi"),
        ("hyp.txt", b"", "kaldi"),
        ("text", b"\xef\xbb\xbf\r\n\n transcript , file\r\n", ""),
        ("text", b'"file","transcript"\r', ""),
        ("text", b"file;transcript\n", ""),
        ("text.csv", b"a turn left\n", ""),
        ("text.Parquet", b"a turn left\n", ""),
        ("text", b"PAR1", ""),
        ("text", b"\x80\x04\x95", ""),
        ("text", b"PK\x03\x04\x14\x00", ""),
    ],
)
def test_name_and_content_decide_the_format(name, content, form):
    assert transcript_format(name, content) == form


def test_tables_under_other_names(load):
    assert load(CSV, "answers").look_up(files("a.wav"), "")[0]["transcript"].tolist() == ["turn left"]
    with pytest.raises(InputError, match="text: this is a Python pickle, which is never opened"):
        load(b"\x80\x04\x95", "text")
    for separator in ";\t":
        answers = load(CSV.replace(",", separator), "hyp.txt").look_up(files("a.wav"), "")[0]
        assert answers["transcript"].tolist() == ["turn left"]
    with pytest.raises(InputError, match="separated by bars"):
        load("file|transcript\n", "hyp.txt")


@pytest.mark.parametrize("tasks", [("arousal",), ("transcript", "emotion")])
@pytest.mark.parametrize(("name", "content"), [("hyp.trn", TRN), ("text", KALDI)])
def test_other_tasks_are_refused(load, name, content, tasks):
    words = rf"^suite.yml, models.theirs.tasks: {name} holds transcripts only .* the tasks {tasks[-1]}\. Give"
    with pytest.raises(InputError, match=words):
        load(content, name, tasks)


@pytest.mark.parametrize("name", ["hyp.trn", "text"])
def test_nothing_but_regular_files_is_opened(write, tmp_path, name):
    entry, suite = write("", name)
    entry.path.unlink()
    with pytest.raises(InputError, match=f"^{name}: the file does not exist"):
        TableModel.load(entry, suite)
    entry.path.mkdir()
    with pytest.raises(InputError, match="this is a folder"):
        TableModel.load(entry, suite)
    entry.path.rmdir()
    os.mkfifo(entry.path)
    with pytest.raises(InputError, match="not a regular file"):
        TableModel.load(entry, suite)
    entry.path.unlink()
    with open(entry.path, "wb") as file:
        file.truncate(TABLE_BYTES + 1)
    with pytest.raises(InputError, match="more than the limit"):
        TableModel.load(entry, suite)
    entry.path.unlink()  # it takes no space, but looks as if it did


def test_fingerprint_is_content_and_format(load):
    prints = [
        load(content, name).fingerprint
        for content, name in [(TRN, "a.trn"), (TRN + "x (y)", "a.trn"), (TRN, "a"), (KALDI, "a"), (CSV, "a")]
    ]
    assert len(set(prints)) == len(prints)
    assert load(TRN, "b.trn").fingerprint == prints[0]


# Which segment an id means ----------------------------------------------------------------------------------


def found(ids: list[str], where: SimpleNamespace) -> list[int]:
    content = "".join(f"({name})\n" for name in ids).encode()
    held = read_transcripts(content, "hyp.trn", "trn", [BUILTIN["transcript"]])
    return held.rows[""].find(where).tolist()


@pytest.mark.parametrize("name", ["s1-Rec.a-take1", "SPK_take1"])
def test_forms_of_an_id(name):
    where = files("other.wav", "s1/Rec.a/take1.wav", speaker=[None, "SPK"])
    assert found([name], where) == [-1, 0]
    assert found([name.upper()], where) == [-1, 0]
    assert found([name.lower()], where) == [-1, 0]
    assert found([name + "x"], where) == [-1, -1]


def test_each_id_may_have_a_form_of_its_own():
    where = files("a.wav", "x/a.wav", "y/b.wav", "z/c.wav")
    assert found(["z-c", "b", "x/a", "a"], where) == [3, 2, 1, 0]


def test_speakers_are_needed_for_their_forms():
    assert found(["s1-a"], files("a.wav")) == [-1]
    assert found(["nan-a", "None-a", "-a"], files("a.wav", speaker=[None])) == [-1]


def test_case_matters_where_it_tells_segments_apart():
    assert found(["A", "a"], files("a.wav", "A.wav")) == [1, 0]
    with pytest.raises(InputError, match=r"line 1: the id 'Ab' could mean 'ab.wav' and 'AB.wav'\."):
        found(["Ab"], files("ab.wav", "AB.wav"))


def test_ambiguous_ids_are_all_told():
    where = files("x/a.wav", "y/a.wav", "z/a.wav", "b.wav", "b.flac", "c/d-e.wav", "c-d/e.wav")
    with pytest.raises(InputError) as caught:
        found(["a", "b", "c-d-e"], where)
    assert str(caught.value).splitlines() == [
        "hyp.trn line 1: the id 'a' could mean 'x/a.wav' and 'y/a.wav' and 1 more. "
        "Write the file as the corpus does, such as 'x/a.wav'.",
        "hyp.trn line 2: the id 'b' could mean 'b.wav' and 'b.flac'. "
        "Write the file as the corpus does, such as 'b.wav'.",
        "hyp.trn line 3: the id 'c-d-e' could mean 'c/d-e.wav' and 'c-d/e.wav'. "
        "Write the file as the corpus does, such as 'c/d-e.wav'.",
    ]
    assert found(["x/a.wav", "b.flac", "c/d-e"], where) == [0, -1, -1, -1, 1, 2, -1]


def test_several_segments_of_a_file_need_a_table_with_times():
    where = corpus(("a.wav", 0.0, 1.5), ("a.wav", 1.5, NAN), ("b.wav", NAN, NAN))
    with pytest.raises(InputError, match=r"could mean 'a.wav 0 to 1.5' and 'a.wav 1.5'.*file, start and end"):
        found(["b", "a"], where)
    assert found(["b"], where) == [-1, -1, 0]


def test_utterances_without_segment_are_counted(load):
    model = load("one (a)\ntwo (b)\nthree (c)\n")
    assert model.notices([files("a.wav", "b.wav", "c.wav")]) == []
    assert model.notices([files("a.wav", "b.wav")]) == ["1 utterance belongs to no segment of the corpora"]
    assert model.notices([files("b.wav")]) == ["2 utterances belong to no segment of the corpora"]
    assert model.notices([files("a.wav"), files("b.wav", name="two")]) == [
        "1 utterance belongs to no segment of the corpora"
    ]


@pytest.mark.parametrize(
    ("name", "content"), [("hyp.trn", ";;\nturn left (q-1)\n"), ("text", "\nq-1 turn left\n")]
)
def test_nothing_matches(write, name, content):
    entry, suite = write(content, name)
    words = rf"^{name} line 2: no utterance belongs to a segment: the name here is 'q-1', the .* 'a.wav'"
    with pytest.raises(InputError, match=words):
        check_model(entry, suite, [files("a.wav", "b.wav")])
    assert check_model(entry, suite) == check_model(entry, suite, [files("a/Q-1.wav")])


# Answers ----------------------------------------------------------------------------------------------------


def test_endless_transcripts_are_no_answer(load):
    fine, long = "x" * TEXT_LIMIT, "x " * (TEXT_LIMIT // 2) + "xy"
    for content, name in ((f"{fine} (a)\n{long} (b)", "hyp.trn"), (f"a {fine}\nb {long}\n", "text")):
        answers, problems = load(content, name).look_up(files("a.wav", "b.wav"), "")
        assert answers["transcript"].tolist() == [fine, None]
        what = f"{name} has a text of {TEXT_LIMIT + 2} characters for transcript"
        assert problems == ["", f"{what}; at most {TEXT_LIMIT} are a transcript"]


def test_predictions_tell_empty_from_missing(write, tmp_path):
    entry, suite = write(TRN)
    demo = files("a.wav", "b.wav", "d.wav")
    report = predict_model(PredictionRequest(entry, suite, [demo], {}, tmp_path / "out", tmp_path / "cache"))
    table = read_predictions(report.tables["demo"])
    assert table["transcript"].tolist() == ["turn left", "", None]
    assert table["error"].tolist() == ["", "", "not asked: no utterance in hyp.trn"]
    assert (report.inputs, report.computed, report.unusable) == (3, 2, 1)
    assert report.notices == ("1 utterance belongs to no segment of the corpora",)
    assert np.array_equal(table["change"], [""] * 3)
