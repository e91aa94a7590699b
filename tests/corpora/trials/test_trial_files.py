"""Files of trials, scores and enrolments, as many projects write them."""

import dataclasses
import io
import os
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.corpora.trials.trial_files import (
    parse_scores,
    parse_trials,
    read_enrolments,
    read_scores,
    read_trials,
    score_text,
    write_scores,
)
from soundcheck.models.tables.scores import scores_of_trials

# No surrogates and no NUL: corpora have no such names.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
HARD = st.sampled_from(
    ["target", "nontarget", "enrol", "test", "label", "1", "0", "0.5", "a b", "a\rb", '"', ","]
)


def trials(content: str | bytes):
    return parse_trials(content.encode() if isinstance(content, str) else content, "t.txt")


def scores(content: str | bytes):
    return parse_scores(content.encode() if isinstance(content, str) else content, "s.txt")


def pairs(found) -> list[tuple]:
    return list(found.frame.itertuples(index=False, name=None))


def scored(found) -> list[tuple]:
    return pairs(dataclasses.replace(found, frame=found.frame[["enrol", "test", "score"]]))


def join(found, listed) -> list[float]:
    """Join scores with trials."""
    table = SimpleNamespace(frame=listed.frame, listed=len(listed), numbers=np.arange(len(listed)))
    return scores_of_trials(found, table).tolist()


# Trials -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1 a b\n0 a c\n", "lines `1 enrol test`"),
        ("is_target enrol-path test-path\n1 a b\n0 a c", "lines `1 enrol test` under the header 'is_target"),
        ("label path1 path2\n1 a b\n0 a c", "columns path1, path2, label"),
        ("a b target\na c nontarget\n", "lines `enrol test target`"),
        (
            "modelid\tsegmentid\tside\ttargettype\na\tb\ta\ttarget\na\tc\ta\tnontarget",
            "columns modelid, segm",
        ),
        ("enroll,test,label\na,b,1\na,c,0\n", "a table with the columns enroll, test, label"),
    ],
)
def test_each_layout_of_trials(text, form):
    found = trials(text)
    assert pairs(found) == [("a", "b", True), ("a", "c", False)]
    assert found.form.startswith(form)
    assert found.frame["target"].dtype == bool
    begin = len(text.strip().splitlines()) - 1
    assert found.frame.index.tolist() == [begin, begin + 1]
    assert found.where(begin) == f"t.txt line {begin}"


PATHS = ("id0921/Hq-3xy/0001.wav", "id0981/BT_x-7/0002.wav", "id0981/Fhkd/00012.wav")
SOURCE_HEADER = "{} speaker/utterances/video spaker/utterances/video"  # verbatim, with the slip of the pen


@pytest.mark.parametrize("gap", [" ", "\t", "  "])
def test_header_that_describes_the_names(gap):
    """As in the notes on evaluation that the family follows: no column is called enrol or test."""
    one, two, three = PATHS
    header = SOURCE_HEADER.format("label").replace(" ", gap)
    found = trials(f"{header}\n0{gap}{one}{gap}{two}\n1{gap}{two}{gap}{three}\n")
    assert pairs(found) == [(one, two, False), (two, three, True)] and found.frame.index[0] == 2
    assert found.form.startswith("lines `1 enrol test` under the header 'label speaker/")
    assert pairs(trials(f"0 {one} {two}\n1 {two} {three}\n")) == pairs(found)
    for word in ("prediction", "score", "LLR"):
        header = SOURCE_HEADER.format(word).replace(" ", gap)
        given = scores(f"{header}\n0.107{gap}{one}{gap}{two}\n0.508{gap}{two}{gap}{three}\n")
        assert scored(given) == [(one, two, 0.107), (two, three, 0.508)]
        assert join(given, found) == [0.107, 0.508]
    assert scores("prediction\n0.5\n-1\n").frame["score"].tolist() == [0.5, -1]


def test_repeated_trials_are_kept():
    assert len(trials("1 a b\n1 b a\n1 a b\n0 a c\n1 a b\n")) == 5


def test_every_line_that_contradicts_is_told():
    with pytest.raises(InputError) as caught:
        trials("1 a b\n0 b a\n0 a b\n1 a b\n0 a b\n")
    assert [problem.where for problem in caught.value.problems] == [
        "t.txt lines 1 and 3",
        "t.txt lines 1 and 5",
    ]


def test_the_first_line_decides_where_both_columns_could_be_labels():
    assert pairs(trials("1 0 target\n0 1 nontarget\n")) == [("1", "0", True), ("0", "1", False)]
    text = "1 a target\n0 b c\n"  # one column is labels throughout
    assert pairs(trials(text)) == [("a", "target", True), ("b", "c", False)]
    words = (
        "^t.txt line 2: 'c' is not a valid label of a trial. Allowed: 1, 0, target, nontarget, .* The file "
        "is read as lines `enrol test target`; if not, set `layout:` of the corpus"
    )
    with pytest.raises(InputError, match=words):
        parse_trials(text.encode(), "t.txt", "kaldi")


@pytest.mark.parametrize("first", ["1 a b", "a b target"])
@pytest.mark.parametrize(("others", "wrong"), [(1, 2), (9, 1)])
def test_lines_of_another_layout_are_refused(first, others, wrong):
    """Most lines decide, or else the first one."""
    other = {"1 a b": "{} d target", "a b target": "1 c {}"}[first]
    lines = [first, *(other.format(f"x{n}") for n in range(others))]
    with pytest.raises(InputError, match=rf"^t.txt line {wrong}: .* is not a valid label") as caught:
        trials("\n".join(lines))
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("text", "layout", "words"),
    [
        ("1 a b\n", "kaldi", "^t.txt line 1: 'b' is not a valid label.*Allowed: 1, 0, target, nontarget"),
        ("a b target\n", "voxceleb", "^t.txt line 1: 'a' is not a valid label.*Allowed: 1, 0"),
        ("1 a b\n0 a c\n", "nist", "^t.txt line 1: there is no column enrol; there are '1', 'a', 'b'"),
        ("1 a b\n0 a c\n", "table", "^t.txt line 1: there is no column enrol; there are '1 a b'"),
        ("enrol,test,label\na,b,1\n", "voxceleb", "^t.txt line 1: 'enrol' is not a valid label"),
    ],
)
def test_the_layout_of_the_suite_decides(text, layout, words):
    with pytest.raises(InputError, match=words):
        parse_trials(text.encode(), "t.txt", layout)


def test_the_layout_of_the_suite_may_be_that_of_the_file():
    expected = [("a", "b", True), ("a", "c", False)]
    for layout, text in {
        "voxceleb": "label enrol test\n1 a b\n0 a c\n",
        "kaldi": "enrol test label\na b target\na c nontarget\n",
        "nist": "enrol test label\na b target\na c nontarget\n",
        "table": "enrol,test,label\na,b,target\na,c,nontarget\n",
    }.items():
        assert pairs(parse_trials(text.encode(), "t.txt", layout)) == expected


# Scores -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("0.107 a b\n-2 a c\n", "lines `0.107 enrol test`"),
        ("score path1 path2\n0.107 a b\n-2 a c\n", "columns path1, path2, score"),
        ("cos first second\n0.107 a b\n-2 a c\n", "lines `0.107 enrol test` under the header 'cos first"),
        ("a b 0.107\na c -2\n", "lines `enrol test 0.107`"),
        ("enrol,test,label,score\na,b,1,0.107\na,c,what,-2e0\n", "a table with the columns enrol, test,"),
        ("modelid\tsegmentid\tside\tLLR\na\tb\ta\t0.107\na\tc\ta\t-2\n", "columns modelid, segmentid, LLR"),
    ],
)
def test_each_layout_of_scores(text, form):
    found = scores(text)
    assert scored(found) == [("a", "b", 0.107), ("a", "c", -2.0)]
    assert found.form.startswith(form)
    assert found.frame["score"].dtype == np.float64


@pytest.mark.parametrize("text", ["0.5\n-1\n1e3", "score\n0.5\n-1\n1e3\n"])
def test_one_number_a_line(text):
    found = scores(text)
    assert found.frame["score"].tolist() == [0.5, -1.0, 1000.0]
    assert list(found.frame) == ["score"] and found.form.startswith("one number a line")


def test_of_two_columns_of_numbers_the_first_is_the_score():
    assert scored(scores("1 2 3\n4 5 6\n")) == [("2", "3", 1.0), ("5", "6", 4.0)]
    assert scored(scores("1 2 3\nx 5 6\n")) == [("1", "2", 3.0), ("x", "5", 6.0)]
    assert scored(scores("enrol test score\n1 2 3\nx 5 6\n")) == [("1", "2", 3.0), ("x", "5", 6.0)]


def test_all_bad_scores_are_told():
    with pytest.raises(InputError) as caught:
        scores("0.5 a b\n" + "".join(f"x a c{n}\n" for n in range(25)) + "0.5 a d\n")
    assert len(caught.value.problems) == 25
    assert str(caught.value).endswith("There are 25 of this kind, also s.txt line 3; s.txt line 4.")


def test_equal_scores_of_a_pair_count_once():
    found = scores("0.5 a b\n1 a c\n0.50 a b\n")
    assert scored(found) == [("a", "b", 0.5), ("a", "c", 1.0)]
    assert found.frame.index.tolist() == [1, 2]


# Joining ----------------------------------------------------------------------------------------------------


def test_scores_join_by_names_in_the_order_of_the_trials():
    listed = trials("1 a b\n0 c a\n1 a b\n0 b a\n")
    found = scores("0.1 b a\n0.2 x y\n0.3 a b\n0.4 c a\n")
    assert join(found, listed) == [0.3, 0.4, 0.3, 0.1]


def test_trials_without_score_are_all_told_once():
    listed = trials("1 a b\n0 c a\n0 b a\n0 c a\n1 d e\n")
    with pytest.raises(InputError) as caught:
        join(scores("0.3 a b\n0.1 b a\n"), listed)
    assert str(caught.value).splitlines() == [
        "s.txt: no score for the trial 'c' 'a'. Add a line with its score.",
        "s.txt: no score for the trial 'd' 'e'. Add a line with its score.",
    ]


def test_nothing_joins():
    words = (
        "^s.txt line 2: no score belongs to a trial: the pair here is 'a' 'b', the first trial is 'x/k' 'x/l'"
    )
    with pytest.raises(InputError, match=words) as caught:
        join(scores("\n0.3 a b\n0.1 b a\n"), trials("1 x/k x/l\n0 x/c x/d\n"))
    assert len(caught.value.problems) == 1


def test_without_names_the_order_counts():
    listed = trials("1 a b\n0 c d\n0 e f\n")
    assert join(scores("0.1\n0.2\n0.3\n"), listed) == [0.1, 0.2, 0.3]
    words = "^s.txt: the file has 2 scores without names, the list 3 trials. Give one number for each trial"
    with pytest.raises(InputError, match=words):
        join(scores("0.1\n0.2\n"), listed)


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), st.floats(-9, 9), min_size=1)
)
def test_joining_is_looking_up(known):
    given_scores = scores("".join(f"{value!r} {one} {other}\n" for (one, other), value in known.items()))
    wanted = sorted(known)[::2] * 2
    listed = trials("".join(f"1 {one} {other}\n" for one, other in wanted))
    assert join(given_scores, listed) == [known[pair] for pair in wanted]


# Enrolments -------------------------------------------------------------------------------------------------


@pytest.fixture
def enrolments(tmp_path):
    def read(text: str) -> dict[str, list[str]]:
        (tmp_path / "e").write_text(text)
        return read_enrolments(tmp_path / "e", "spk2utt")

    return read


@pytest.mark.parametrize(
    "text",
    [
        "m2 b\nm1 c\ta  d\n",
        "model,utterance\nm2,b\nm1,c\nm1,a\nm1,d\n",
        "modelid\tsegmentid\tside\nm2\tb\ta\nm1\tc\ta\nm1\ta\ta\nm1\td\ta\n",
        "modelid segmentid\nm2 b\nm1 c\nm1 a\nm1 d\n",
    ],
)
def test_each_layout_of_enrolments(enrolments, text):
    found = enrolments(text)
    assert found == {"m2": ["b"], "m1": ["c", "a", "d"]}
    assert list(found) == ["m2", "m1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("m1 a\nm2\n", "^spk2utt line 2: the model 'm2' has no utterance. Write its utterances behind its"),
        ("m1 a\n\nm1 b\n", "^spk2utt lines 1 and 3: duplicate model 'm1'. Write all its"),
        ("m1 a b a\n", "^spk2utt lines 1 and 1: the model 'm1' has the utterance 'a' twice. Keep it once"),
        ("model,utterance\nm1,a\nm2,a\nm1,a\n", "^spk2utt lines 2 and 4: the model 'm1' has the utterance"),
        ("model,utterance\nm1,\n", "^spk2utt line 2, column utterance: the name is empty"),
        ("", "^spk2utt: the file is empty. Give lines such as `model utterance1 utterance2`"),
    ],
)
def test_enrolments_refused(enrolments, text, words):
    with pytest.raises(InputError, match=words):
        enrolments(text)


# Files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [read_trials, read_scores, read_enrolments])
def test_nothing_but_regular_files_is_opened(tmp_path, read):
    path = tmp_path / "list.txt"
    with pytest.raises(InputError, match="^shown: the file does not exist"):
        read(path, "shown")
    path.mkdir()
    with pytest.raises(InputError, match="this is a folder"):
        read(path, "shown")
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(InputError, match="not a regular file"):
        read(path, "shown")


def test_what_is_written(tmp_path):
    path = tmp_path / "new" / "scores.txt"
    assert write_scores(path, ["b", "a"], ["c", "c"], np.array([0.1 + 0.2, 5])) == files.digest(path)
    assert path.read_text() == "0.30000000000000004 b c\n5.0 a c\n"
    assert score_text(["b"], ["c"], [-1]) == (b"-1.0 b c\n", ".txt")
    assert score_text(["b"], ["c\t"], [-1]) == (b'"enrol","test","score"\n"b","c\t",-1.0\n', ".csv")


def test_decisions_stand_behind_the_scores(tmp_path):
    path = tmp_path / "scores.txt"
    write_scores(path, ["a", "b", "c"], ["d", "d", "d"], [0.4, 0.41, -1], 0.4)
    assert path.read_text().splitlines() == [
        "score enrol test decision threshold",
        "0.4 a d reject 0.4",  # at the threshold: not above it
        "0.41 b d accept 0.4",
        "-1.0 c d reject 0.4",
    ]
    assert scored(read_scores(path, "s")) == [("a", "d", 0.4), ("b", "d", 0.41), ("c", "d", -1)]
    assert score_text(["a"], ["d"], [5], -np.inf)[0].endswith(b"\n5.0 a d accept -inf\n")
    table, suffix = score_text(["a 1", "b"], ["d", "d"], [0.5, 0.25], 0.25)
    assert (suffix, table.decode().splitlines()) == (
        ".csv",
        [
            '"enrol","test","score","decision","threshold"',
            '"a 1","d",0.5,"accept",0.25',
            '"b","d",0.25,"reject",0.25',
        ],
    )
    assert scored(parse_scores(table, "s")) == [("a 1", "d", 0.5), ("b", "d", 0.25)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["a"], ["b"], [np.nan]), "1 scores are not finite"),
        ((["a"], ["b"], [np.inf]), "not finite"),
        ((["a"], ["b", "c"], [1, 2]), "same length"),
        (([""], ["b"], [1]), "empty"),
        ((["a"], ["b\0"], [1]), "NUL"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(tmp_path, arguments, words):
    with pytest.raises(ValueError, match=words):
        write_scores(tmp_path / "scores.txt", *arguments)
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(NAMES | HARD, NAMES | HARD, st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
        max_size=6,
        unique_by=lambda row: row[:2],
    ),
    st.floats(),
)
def test_what_is_written_is_read_back(tmp_path_factory, rows, threshold):
    path = tmp_path_factory.mktemp("written") / "list"
    enrol, test, values = map(list, zip(*rows, strict=True))
    for decided in ((), (threshold,)):
        write_scores(path, enrol, test, values, *decided)
        found = read_scores(path, "list")
        assert scored(found) == rows
        np.testing.assert_array_equal(np.signbit(found.frame["score"]), np.signbit(values))


def test_many_trials_are_quick(tmp_path, rng):
    count = 100_000
    names = np.array([f"id{n // 20}/{n}.wav" for n in range(5000)], dtype=object)
    enrol, test = (names[rng.integers(5000, size=count)].tolist() for _ in range(2))
    values = [len(one) / len(other) for one, other in zip(enrol, test, strict=True)]
    begin = time.process_time()
    listed = "".join(f"0 {one} {other}\n" for one, other in zip(enrol, test, strict=True)).encode()
    write_scores(tmp_path / "s", enrol, test, values)
    assert join(read_scores(tmp_path / "s", "s"), parse_trials(listed, "t")) == values
    assert time.process_time() - begin < 15


# Lists and scores of other projects -------------------------------------------------------------------------

OTHERS = {  # what a list looks like, both trials on two lines
    "label last, as CN-Celeb": "a b 1\na c 0\n",
    "tgt and imp, as SITW": "a b tgt\na c imp\n",
    "impostor": "a b target\na c impostor\n",
    "upper case": "a b TARGET\na c NonTarget\n",
    "true and false": "true a b\nfalse a c\n",
    "Python's": "a b True\na c False\n",
    "1.0 and 0.0": "1.0 a b\n0.0 a c\n",
    "label in the middle": "a 1 b\na 0 c\n",
    "label -1": "a b 1\na c -1\n",
    "a score beside the label": "a b 0.7 target\na c 0.2 nontarget\n",
    "a side": "a b A target\na c A nontarget\n",
    "sides and label first": "1 a b b\n0 a c b\n",
    "commas without header": "a,b,1\na,c,0\n",
    "tabs": "a\tb\t1\na\tc\t0\n",
    "commas and blanks": "a, b, 1\na, c, 0\n",
    "semicolons without header": "a;b;1\na;c;0\n",
    "quotes without header": '"1","a","b"\n"0","a","c"\n',
    "positive and negative": "a b positive\na c negative\n",
    "signs": "+1 a b\n-1 a c\n",
    "same-speaker": "a b same-speaker\na c different-speaker\n",
    "decimals": "a b 1.000\na c 0.000\n",
    "sexes": "a b target f\na c nontarget m\n",
    "joined names, as ESPnet": "a*b 1\na*c 0\n",
    "a header of a label": "left,right,same\na,b,1\na,c,0\n",
    "table with same_speaker": "file_1,file_2,same_speaker\na,b,1\na,c,0\n",
    "a header of plain words": "first second same_speaker\na b 1\na c 0\n",
    "table of pandas": "enrol,test,label\na,b,1.0\na,c,0.0\n",
    "table with an index": ",enrol,test,label\n0,a,b,1\n1,a,c,0\n",
    "table with semicolons": "enrol;test;label\na;b;target\na;c;imp\n",
    "table with tabs": "modelid\tsegmentid\tside\ttargettype\na\tb\ta\ttarget\na\tc\ta\timpostor\n",
    "other headings": "label,utt1,utt2\n1,a,b\n0,a,c\n",
    "is_target": "wav1 wav2 is_target\na b 1\na c 0\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_lists_of_other_projects(text):
    assert pairs(trials(text)) == [("a", "b", True), ("a", "c", False)]


OTHER_SCORES = {
    "label last": "a b 0.7 target\na c 0.2 nontarget\n",
    "label third": "a b 1 0.7\na c 0 0.2\n",
    "label first": "target a b 0.7\nimp a c 0.2\n",
    "score first, label last": "0.7 a b 1\n0.2 a c 0\n",
    "commas without header": "a,b,0.7\na,c,0.2\n",
    "decimal label third": "a b 1.000000 0.700000\na c 0.000000 0.200000\n",
    "joined names, as ESPnet": "a*b 0.7\na*c 0.2\n",
    "cosine": "file1,file2,cosine\na,b,0.7\na,c,0.2\n",
    "table with semicolons": "enrol;test;score\na;b;0.7\na;c;0.2\n",
    "table with a label": "enrol,test,score,label\na,b,0.7,1.0\na,c,0.2,0.0\n",
}


@pytest.mark.parametrize("text", OTHER_SCORES.values(), ids=OTHER_SCORES)
def test_scores_of_other_projects(text):
    found = scores(text)
    assert scored(found) == [("a", "b", 0.7), ("a", "c", 0.2)]
    if len(text.split("\n")[-2].replace(",", " ").split()) == 4:
        assert found.frame["target"].tolist() == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "modelid\tsegmentid\tside\ttargettype\na\tx.sph\ta\ttarget\na\tx.sph\tb\tnontarget\n",
        "modelid,segmentid,side,key\na,x.sph,A,tgt\na,x.sph,B,imp\n",
    ],
)
def test_both_sides_of_a_call_are_two_utterances(text):
    assert pairs(trials(text)) == [("a", "x_a", True), ("a", "x_b", False)]


def test_scores_and_labels_without_names():
    found = scores("0.7 1\n0.2 0\n")
    assert found.layout == "numbers" and found.frame["score"].tolist() == [0.7, 0.2]
    assert join(found, trials("1 a b\n0 a c\n")) == [0.7, 0.2]
    with pytest.raises(InputError, match="^s.txt line 1: the label beside the score is not that of the list"):
        join(found, trials("0 a b\n1 a c\n"))


LINES = "1 a.wav b.wav\n0 a.wav c.wav\n"


def read(content: str | bytes) -> list[tuple[str, str, bool]]:
    return pairs(trials(content))


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


# What is refused --------------------------------------------------------------------------------------------

REFUSED = [
    (trials, "O {} {}\n1 {} {}\n", "^t.txt line 1: 'O' is not a valid label of a trial. Allowed: 1, 0"),
    (trials, "labl {} {}\n1 {} {}\n", "^t.txt line 1: 'labl' is not a valid label"),
    (trials, "prediction {} {}\n1 {} {}\n", "^t.txt line 1: 'prediction' is not a valid label"),
    (trials, "1 {} {}\nlabel {} {}\n", "^t.txt line 2: 'label' is not a valid label"),
    (trials, "label {} {}\n", "^t.txt line 1: the first line is neither a header nor"),
    (scores, "0,107 {} {}\n0.5 {} {}\n", "^s.txt line 1: '0,107' is not a number"),
    (scores, "label {} {}\n0.5 {} {}\n", "^s.txt line 1: 'label' is not a number"),
    (scores, "0.5 {} {}\nprediction {} {}\n", "^s.txt line 2: 'prediction' is not a number"),
    (trials, "1 a b\n2 a c\n", r"^t.txt line 2: '2' is not a valid label of a trial\. Allowed: 1, 0"),
    (trials, "a b target\na c nontarge\n", "line 2: 'nontarge' is not a valid label.*Did you mean"),
    (trials, "enrol,test,label\na,b,1\na,c,spoof\n", "^t.txt line 3, column label: 'spoof' is not a valid"),
    (trials, "enrol,test,label\na,b,\n", "line 2, column label: '' is not a valid label"),
    (trials, "x 1/a.wav b\n1 a c\n", "^t.txt line 1: 'x' is not a valid label"),
    (trials, "a b x\nc d 0x\n", "^t.txt line 1: the first line is neither a header nor in a known layout:"),
    (trials, "a b\nc d\n", "in a known layout.*`1 enrol.wav test.wav` or `enrol test target`, or a CSV"),
    (trials, "a,b,x\n", "layout: 'a,b,x'"),
    (trials, "1 a b\n0 a c\n\n0 a b\n", "^t.txt lines 1 and 4: the trial 'a' 'b' has both labels. Look"),
    (scores, "0.5 a b\nnan a c\n", "^s.txt line 2: 'nan' is not a number. Give each trial a finite number"),
    (scores, "inf a b\n0.5 a c\n", "^s.txt line 1: 'inf' is not a number"),
    (scores, "0.5 a b\n1e999 a c\n", "^s.txt line 2: '1e999' is not a finite number"),
    (scores, "0.5 a b\n1_0 a c\n", "line 2: '1_0' is not a number"),
    (scores, "0.5 a b\n0,5 a c\n", "line 2: '0,5' is not a number .write a point"),
    (scores, "0.5\n1\n\nNaN\n", "^s.txt line 4: 'NaN' is not a number"),
    (scores, "0.5\n1\n1 a b\n", "^s.txt line 3: the line has 3 words, not 1. Correct the line"),
    (scores, "a b\nc d\n", "^s.txt line 1: the first line is neither a header nor in a known layout: 'a b'"),
    (scores, "enrol,test,label\na,b,1\n", "there is no column score; there are 'enrol', 'test', 'label'"),
    (scores, "0.5 a b\n1 a c\n0.25 a b\n", "^s.txt lines 1 and 3: the trial 'a' 'b' has two scores, 0.5 and"),
    (trials, "a b spoof\na c bonafide\n", "in a known layout"),
    (trials, "a b target\na c spoof\n", "line 2: 'spoof' is not a valid label of a trial. .*Allowed: 1, 0,"),
    (trials, "k l m 1\nk l n 0\n", "in a known layout"),
    (trials, "", "^t.txt: the file is empty. Give lines such as `1 enrol.wav test.wav` or"),
    (trials, " \n\n", "the file is empty"),
    (trials, "enrol,test,label\n\n", "^t.txt: the file has a header and nothing else. Give lines"),
    (trials, "modelid segmentid targettype", "a header and nothing else"),
    (trials, "1 a b\n0 \xe4 c".encode("latin-1"), "^t.txt line 2: byte 8 is not UTF-8 text. Save the file"),
    (trials, b"1 a b\r\n\r\n0 c \xff", "^t.txt line 3: byte 13 is not UTF-8"),
    (trials, LINES.encode("utf-16"), "UTF-16"),
    (trials, b"\x80\x04\x95", "a Python pickle, which is never opened"),
    (trials, b"\x1f\x8b\x08", "a gzip archive"),
    (trials, "1 a b\n0 a c\0\n", "^t.txt line 2: byte 11 is a NUL character, this is not text"),
    (trials, "enrol|test|label\na|b|1\n", "separated by bars"),
    (trials, "enrol,test\na,b\n", "^t.txt line 1: there is no column label; there are 'enrol', 'test'"),
    (trials, "enrol,test,label,target\na,b,1,1\n", "line 1: the columns 'label' and 'target' could all be"),
    (trials, "enrol,test,label\na,b\n", "^t.txt line 2: the row has 2 cells, the header 3"),
    (trials, "enrol,test,label\n,b,1\na,,0\n", "^t.txt line 2, column enrol: the name is empty. Fill it in"),
    (trials, "enrol\ttest\tlabel\na\t\t1\n", "^t.txt line 2, column test: the name is empty"),
    (trials, "enrol test label\na b 1\na b\n", "^t.txt line 3: the line has 2 words, not 3. Correct"),
    (trials, "1 a b\n1 a\n0 c d e\n", "^t.txt line 2: the line has 2 words, not 3. Correct the line; names"),
    (trials, "1 a b\nx\n", "line 2: the line has 1 word, not 3"),
]


@pytest.mark.parametrize(("read", "content", "words"), REFUSED)
def test_refused(read, content, words):
    if isinstance(content, str):
        content = content.format(PATHS[0], PATHS[1], PATHS[1], PATHS[2])
    with pytest.raises(InputError, match=words):
        read(content)
