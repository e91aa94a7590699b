"""What is the same for all files of trials, shown on lists of trials and of scores."""

import io

import pandas as pd
import pytest

from soundcheck.common.errors import InputError
from soundcheck.corpora.trials.trial_files import parse_scores, parse_trials

LINES = "1 a.wav b.wav\n0 a.wav c.wav\n"


def read(content: str | bytes) -> list[tuple[str, str, bool]]:
    trials = parse_trials(content.encode() if isinstance(content, str) else content, "t.txt")
    return list(trials.frame.itertuples(index=False, name=None))


EXPECTED = [("a.wav", "b.wav", True), ("a.wav", "c.wav", False)]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\n \t\n" + text.replace("\n", "\n\n \n"),
        lambda text: text.replace(" ", "\t"),
        lambda text: " " + text.replace(" ", " \t ").replace("\n", " \n"),
        str.rstrip,
    ],
)
def test_ends_blanks_and_marks_do_not_matter(change):
    assert read(change(LINES)) == EXPECTED


def test_only_blanks_and_tabs_separate():
    assert read("1 a\u00a0b c\x85d\u2028e\n") == [("a\u00a0b", "c\x85d\u2028e", True)]


@pytest.mark.parametrize(
    "content",
    [
        "enrol,test,label\na.wav,b.wav,1\na.wav,c.wav,0\n",
        '"Enrollment", "test","Label"\na.wav,b.wav, 1\na.wav,c.wav,nontarget\n',
        "label,what,test,enroll\n1,x,b.wav,a.wav\n0,,c.wav,a.wav\n",
        "model_id,segment_id,target_type\na.wav,b.wav,target\na.wav,c.wav,nontarget\n",
        "\nenrolment,test,target\na.wav,b.wav,True\na.wav,c.wav,False\n",
        "modelid\tsegmentid\tside\ttargettype\na.wav\tb.wav\ta\ttarget\na.wav\tc.wav\ta\tnontarget\n",
        "modelid segmentid side targettype\na.wav b.wav a target\na.wav c.wav a nontarget\n",
        "label path1 path2\n1 a.wav b.wav\n0 a.wav c.wav\n",
        "modelid\tsegmentid\tside\ttargettype\na.wav\tb.wav\t\ttarget\na.wav\tc.wav\t\tnontarget\n",
    ],
)
def test_columns_are_found_by_name(content):
    assert read(content) == EXPECTED


def test_cells_of_a_table_may_hold_blanks():
    assert read("enrol,test,label\nmy file.wav, b.wav,1\n") == [("my file.wav", " b.wav", True)]
    assert read("enrol\ttest\tlabel\nmy file.wav\tb.wav\t1\n") == [("my file.wav", "b.wav", True)]


@pytest.mark.parametrize("labels", [[1, 0], [True, False], ["target", "nontarget"]])
def test_parquet(labels):
    table = pd.DataFrame({"enrol": ["a.wav"] * 2, "test": ["b.wav", "c.wav"], "label": labels})
    buffer = io.BytesIO()
    table.to_parquet(buffer)
    assert read(buffer.getvalue()) == EXPECTED
    buffer = io.BytesIO()
    table.assign(label=[1, 2]).to_parquet(buffer)
    with pytest.raises(InputError, match="^t.txt row 2, column label: '2' is not a valid label of a trial"):
        read(buffer.getvalue())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "^t.txt: the file is empty. Give lines such as `1 enrol.wav test.wav` or"),
        (" \n\n", "the file is empty"),
        ("enrol,test,label\n\n", "^t.txt: the file has a header and nothing else. Give lines"),
        ("modelid segmentid targettype", "a header and nothing else"),
        ("1 a b\n0 \xe4 c".encode("latin-1"), "^t.txt line 2: byte 8 is not UTF-8 text. Save the file as"),
        (b"1 a b\r\n\r\n0 c \xff", "^t.txt line 3: byte 13 is not UTF-8"),
        (LINES.encode("utf-16"), "UTF-16"),
        (b"\x80\x04\x95", "a Python pickle, which is never opened"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        ("1 a b\n0 a c\0\n", "^t.txt line 2: byte 11 is a NUL character, this is not text"),
        ("enrol|test|label\na|b|1\n", "separated by bars"),
        (
            "enrol,test\na,b\n",
            "^t.txt line 1: there is no column label; there are 'enrol', 'test'. Allowed n",
        ),
        ("enrol,test,label,target\na,b,1,1\n", "line 1: the columns 'label' and 'target' could all be meant"),
        ("enrol,test,label\na,b\n", "^t.txt line 2: the row has 2 cells, the header 3"),
        ("enrol,test,label\n,b,1\na,,0\n", "^t.txt line 2, column enrol: the name is empty. Fill it in"),
        ("enrol\ttest\tlabel\na\t\t1\n", "^t.txt line 2, column test: the name is empty"),
        ("enrol test label\na b 1\na b\n", "^t.txt line 3: the line has 2 words, not 3. Correct"),
        ("1 a b\n1 a\n0 c d e\n", "^t.txt line 2: the line has 2 words, not 3. Correct the line; names with"),
        ("1 a b\nx\n", "line 2: the line has 1 word, not 3"),
    ],
)
def test_refused(content, words):
    with pytest.raises(InputError, match=words):
        read(content)


def test_all_problems_are_told_at_once():
    with pytest.raises(InputError) as caught:
        read("1 a b\n2 a c\n1 a\n\n0 a b c d\nx a b\n" + "0 x\n" * 30)
    assert len(caught.value.problems) == 34
    assert [problem.where for problem in caught.value.problems[:3]] == [f"t.txt line {n}" for n in (3, 5, 7)]
    with pytest.raises(InputError) as caught:
        parse_scores(b"enrol,test,score\na,,x\n,b,nan\n", "s.csv")
    assert [problem.where for problem in caught.value.problems] == [
        "s.csv line 2, column score",
        "s.csv line 3, column score",
        "s.csv line 3, column enrol",
        "s.csv line 2, column test",
    ]


def test_many_bad_lines_are_quick():
    with pytest.raises(InputError) as caught:
        read("1 a b\n" + "\n1 a\n1 a b c d e\n" * 20_000)
    assert len(caught.value.problems) == 40_000
    assert caught.value.problems[-1].where == "t.txt line 60001"


def test_a_file_may_begin_like_an_archive():
    assert read("PK1/a PK1/b target\n") == [("PK1/a", "PK1/b", True)]


def test_shown_values_are_harmless():
    with pytest.raises(InputError) as caught:
        read("\x1b[31m <b>" + "long" * 50)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 350
