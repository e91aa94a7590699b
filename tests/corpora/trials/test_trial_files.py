import os
import time

import numpy as np
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
    write_trials,
)

# No surrogates and no NUL: corpora have no such names.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
HARD = st.sampled_from(
    ["target", "nontarget", "enrol", "test", "label", "1", "0", "0.5", "a b", "a\rb", '"', ","]
)


def trials(text: str):
    return parse_trials(text.encode(), "t.txt")


def scores(text: str):
    return parse_scores(text.encode(), "s.txt")


def pairs(found) -> list[tuple]:
    values = found.target if hasattr(found, "target") else found.scores
    return list(zip(found.enrol, found.test, values.tolist(), strict=True))


# Trials -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1 a b\n0 a c\n", "lines `1 enrol test`"),
        (
            "is_target enrol-path test-path\n1 a b\n0 a c",
            "lines `1 enrol test` under the header 'is_target en",
        ),
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
    assert found.target.dtype == bool
    assert found.scores is None
    begin = len(text.strip().splitlines()) - 1
    assert [found.where(0), found.where(1)] == [f"t.txt line {begin}", f"t.txt line {begin + 1}"]
    assert (len(found), found.listed, found.numbers.tolist()) == (2, 2, [0, 1])


PATHS = ("id0921/Hq-3xy/0001.wav", "id0981/BT_x-7/0002.wav", "id0981/Fhkd/00012.wav")
SOURCE_HEADER = "{} speaker/utterances/video spaker/utterances/video"  # verbatim, with the slip of the pen


@pytest.mark.parametrize("gap", [" ", "\t", "  "])
def test_header_that_describes_the_names(gap):
    """As in the notes on evaluation that the family follows: no column is called enrol or test."""
    one, two, three = PATHS
    header = SOURCE_HEADER.format("label").replace(" ", gap)
    found = trials(f"{header}\n0{gap}{one}{gap}{two}\n1{gap}{two}{gap}{three}\n")
    assert pairs(found) == [(one, two, False), (two, three, True)] and found.where(0) == "t.txt line 2"
    assert found.form.startswith("lines `1 enrol test` under the header 'label speaker/")
    assert pairs(trials(f"0 {one} {two}\n1 {two} {three}\n")) == pairs(found)
    for word in ("prediction", "score", "LLR"):
        header = SOURCE_HEADER.format(word).replace(" ", gap)
        scored = scores(f"{header}\n0.107{gap}{one}{gap}{two}\n0.508{gap}{two}{gap}{three}\n")
        assert pairs(scored) == [(one, two, 0.107), (two, three, 0.508)]
        assert scored.join(found).tolist() == [0.107, 0.508]
    assert scores("prediction\n0.5\n-1\n").scores.tolist() == [0.5, -1]


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [  # a first line that is neither trial nor header is not taken for a header
        (trials, "O {} {}\n1 {} {}\n", "^t.txt line 1: 'O' is no label of a trial. Allowed: 1, 0"),
        (trials, "labl {} {}\n1 {} {}\n", "^t.txt line 1: 'labl' is no label"),
        (trials, "prediction {} {}\n1 {} {}\n", "^t.txt line 1: 'prediction' is no label"),
        (trials, "1 {} {}\nlabel {} {}\n", "^t.txt line 2: 'label' is no label"),
        (trials, "label {} {}\n", "^t.txt line 1: the trials have no labels that are known"),
        (scores, "0,107 {} {}\n0.5 {} {}\n", "^s.txt line 1: '0,107' is not a number"),
        (scores, "label {} {}\n0.5 {} {}\n", "^s.txt line 1: 'label' is not a number"),
        (scores, "0.5 {} {}\nprediction {} {}\n", "^s.txt line 2: 'prediction' is not a number"),
    ],
)
def test_other_first_lines_are_refused(read, text, words):
    with pytest.raises(InputError, match=words):
        read(text.format(PATHS[0], PATHS[1], PATHS[1], PATHS[2]))


def test_tables_may_bring_scores():
    found = trials("enrol,test,label,score\na,b,1,0.5\na,c,0,-1e-3\n")
    assert found.scores.tolist() == [0.5, -0.001]
    with pytest.raises(InputError, match="^t.txt line 2, column score: 'nan' is not a number"):
        trials("enrol,test,label,score\na,b,1,nan\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 a b\n2 a c\n", r"^t.txt line 2: '2' is no label of a trial\. Allowed: 1, 0"),
        ("1 a b\n1.0 a c\n", "line 2: '1.0' is no label"),
        (
            "a b target\na c imp\n",
            r"^t.txt line 2: 'imp' is no label of a trial\. Allowed: target, nontarget",
        ),
        ("a b target\na c nontarge\n", "line 2: 'nontarge' is no label.*Did you mean 'nontarget'"),
        ("a b target\na c 0\n", "line 2: '0' is no label"),
        (
            "enrol,test,label\na,b,1\na,c,impostor\n",
            "^t.txt line 3, column label: 'impostor' is no label of a",
        ),
        ("enrol,test,label\na,b,\n", "line 2, column label: '' is no label"),
        ("x 1/a.wav b\n1 a c\n", "^t.txt line 1: 'x' is no label"),  # no words of a header
        (
            "a b 1\nc d 0\n",
            "^t.txt line 1: the trials have no labels that are known; the line is 'a b 1'. Give",
        ),
        ("a b\nc d\n", "no labels that are known.*`1 enrol.wav test.wav` or `enrol test target`, or a CSV"),
        ("a,b,1\n", "the line is 'a,b,1'"),
        (
            "1 a b\n0 a c\n\n0 a b\n",
            "^t.txt lines 1 and 4: the trial 'a' 'b' is there with both labels. Keep",
        ),
    ],
)
def test_trials_refused(text, words):
    with pytest.raises(InputError, match=words):
        trials(text)


def test_repeated_trials_are_kept_and_counted():
    found = trials("1 a b\n1 b a\n1 a b\n0 a c\n1 a b\n")
    assert (len(found), found.repeated) == (5, 2)


def test_words_decide_where_both_columns_could_be_labels():
    assert pairs(trials("1 0 target\n0 1 nontarget\n")) == [("1", "0", True), ("0", "1", False)]
    assert pairs(trials("1 a target\n0 b c\n")) == [("a", "target", True), ("b", "c", False)]


# Scores -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("0.107 a b\n-2 a c\n", "lines `0.107 enrol test`"),
        ("score path1 path2\n0.107 a b\n-2 a c\n", "columns path1, path2, score"),
        (
            "cos first second\n0.107 a b\n-2 a c\n",
            "lines `0.107 enrol test` under the header 'cos first second'",
        ),
        ("a b 0.107\na c -2\n", "lines `enrol test 0.107`"),
        (
            "enrol,test,label,score\na,b,1,0.107\na,c,what,-2e0\n",
            "a table with the columns enrol, test, score",
        ),
        ("modelid\tsegmentid\tside\tLLR\na\tb\ta\t0.107\na\tc\ta\t-2\n", "columns modelid, segmentid, LLR"),
    ],
)
def test_each_layout_of_scores(text, form):
    found = scores(text)
    assert pairs(found) == [("a", "b", 0.107), ("a", "c", -2.0)]
    assert found.form == form
    assert found.scores.dtype == np.float64


@pytest.mark.parametrize("text", ["0.5\n-1\n1e3", "score\n0.5\n-1\n1e3\n"])
def test_one_number_a_line(text):
    found = scores(text)
    assert found.scores.tolist() == [0.5, -1.0, 1000.0]
    assert (found.enrol, found.test, found.form) == (None, None, "one number a line")


def test_of_two_columns_of_numbers_the_first_is_the_score():
    assert pairs(scores("1 2 3\n4 5 6\n")) == [("2", "3", 1.0), ("5", "6", 4.0)]
    assert pairs(scores("1 2 3\nx 5 6\n")) == [("1", "2", 3.0), ("x", "5", 6.0)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0.5 a b\nnan a c\n", "^s.txt line 2: 'nan' is not a number. Give each trial a finite number"),
        ("inf a b\n0.5 a c\n", "^s.txt line 1: 'inf' is not a number"),
        ("0.5 a b\n1e999 a c\n", "^s.txt line 2: '1e999' is not a finite number"),
        ("0.5 a b\n1_0 a c\n", "line 2: '1_0' is not a number"),
        ("0.5 a b\n0,5 a c\n", "line 2: '0,5' is not a number .write a point"),
        ("0.5\n1\n\nNaN\n", "^s.txt line 4: 'NaN' is not a number"),
        (
            "0.5\n1\n1 a b\n",
            "^s.txt line 3: the line has 3 words, the others one number. Give one number a line",
        ),
        (
            "a b\nc d\n",
            "^s.txt line 1: the lines have no scores; the line is 'a b'. Give lines such as `0.107",
        ),
        ("enrol,test,label\na,b,1\n", "there is no column score; there are 'enrol', 'test', 'label'"),
        (
            "0.5 a b\n1 a c\n0.25 a b\n",
            "^s.txt lines 1 and 3: the trial 'a' 'b' has two scores, 0.5 and 0.25. K",
        ),
    ],
)
def test_scores_refused(text, words):
    with pytest.raises(InputError, match=words):
        scores(text)


def test_all_bad_scores_are_told():
    with pytest.raises(InputError) as caught:
        scores("0.5 a b\n" + "".join(f"x a c{n}\n" for n in range(25)) + "0.5 a d\n")
    assert len(caught.value.problems) == 25
    assert str(caught.value).endswith("... and 5 more.")


def test_equal_scores_of_a_pair_count_once():
    found = scores("0.5 a b\n1 a c\n0.50 a b\n")
    assert pairs(found) == [("a", "b", 0.5), ("a", "c", 1.0)]
    assert found.places == [1, 2]


# Joining ----------------------------------------------------------------------------------------------------


def test_scores_join_by_names_in_the_order_of_the_trials():
    listed = trials("1 a b\n0 c a\n1 a b\n0 b a\n")
    found = scores("0.1 b a\n0.2 x y\n0.3 a b\n0.4 c a\n")
    assert found.join(listed).tolist() == [0.3, 0.4, 0.3, 0.1]
    assert found.extra(listed) == 1


def test_trials_without_score_are_all_told_once():
    listed = trials("1 a b\n0 c a\n0 b a\n0 c a\n1 d e\n")
    with pytest.raises(InputError) as caught:
        scores("0.3 a b\n0.1 b a\n").join(listed)
    assert str(caught.value).splitlines() == [
        "s.txt: no score for the trial 'c' 'a'. Add a line with its score.",
        "s.txt: no score for the trial 'd' 'e'. Add a line with its score.",
    ]


def test_nothing_joins():
    words = (
        "^s.txt line 2: no score belongs to a trial: the pair here is 'a' 'b', the first trial is 'x/a' 'x/b'"
    )
    with pytest.raises(InputError, match=words) as caught:
        scores("\n0.3 a b\n0.1 b a\n").join(trials("1 x/a x/b\n0 x/c x/d\n"))
    assert len(caught.value.problems) == 1


def test_without_names_the_order_counts():
    listed = trials("1 a b\n0 c d\n0 e f\n")
    assert scores("0.1\n0.2\n0.3\n").join(listed).tolist() == [0.1, 0.2, 0.3]
    assert scores("0.1\n0.2\n0.3\n").extra(listed) == 0
    words = "^s.txt: the file has 2 scores without names, the list 3 trials. Give one number for each trial"
    with pytest.raises(InputError, match=words):
        scores("0.1\n0.2\n").join(listed)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), st.floats(-9, 9), min_size=1)
)
def test_joining_is_looking_up(known):
    given_scores = scores("".join(f"{value!r} {one} {other}\n" for (one, other), value in known.items()))
    wanted = sorted(known)[::2] * 2
    listed = trials("".join(f"1 {one} {other}\n" for one, other in wanted))
    assert given_scores.join(listed).tolist() == [known[pair] for pair in wanted]
    assert given_scores.extra(listed) == len(known) - len(set(wanted))


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
        (
            "m1 a\nm2\n",
            "^spk2utt line 2: the model 'm2' has no utterance. Write its utterances behind its name",
        ),
        ("m1 a\n\nm1 b\n", "^spk2utt lines 1 and 3: the model 'm1' is there twice. Write all its"),
        ("m1 a b a\n", "^spk2utt lines 1 and 1: the model 'm1' has the utterance 'a' twice. Keep it once"),
        (
            "model,utterance\nm1,a\nm2,a\nm1,a\n",
            "^spk2utt lines 2 and 4: the model 'm1' has the utterance 'a' t",
        ),
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
    assert write_trials(path, ["b", "a"], ["c", "c"], np.array([False, True])) == files.digest(path)
    assert path.read_text() == "0 b c\n1 a c\n"
    write_trials(path, ["b 1", "a"], ["c", "c"], [True, False])
    assert path.read_text() == '"enrol","test","label"\n"b 1","c",1\n"a","c",0\n'
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
    assert pairs(read_scores(path, "s")) == [("a", "d", 0.4), ("b", "d", 0.41), ("c", "d", -1)]
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
    assert pairs(parse_scores(table, "s")) == [("a 1", "d", 0.5), ("b", "d", 0.25)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["a"], ["b"], [np.nan]), "1 scores are not finite"),
        ((["a"], ["b"], [np.inf]), "not finite"),
        ((["a"], ["b", "c"], [1, 2]), "longer than argument 1"),
        (([""], ["b"], [1]), "empty"),
        ((["a"], ["b\0"], [1]), "NUL"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(tmp_path, arguments, words):
    with pytest.raises(ValueError, match=words):
        write_scores(tmp_path / "scores.txt", *arguments)
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            NAMES | HARD, NAMES | HARD, st.floats(allow_nan=False, allow_infinity=False), st.booleans()
        ),
        min_size=1,
        max_size=6,
        unique_by=lambda row: row[:2],
    ),
    st.floats(),
)
def test_what_is_written_is_read_back(tmp_path_factory, rows, threshold):
    path = tmp_path_factory.mktemp("written") / "list"
    enrol, test, values, target = map(list, zip(*rows, strict=True))
    write_trials(path, enrol, test, target)
    found = read_trials(path, "list")
    assert pairs(found) == list(zip(enrol, test, target, strict=True))
    for decided in ((), (threshold,)):
        write_scores(path, enrol, test, values, *decided)
        found = read_scores(path, "list")
        assert pairs(found) == list(zip(enrol, test, values, strict=True))
        np.testing.assert_array_equal(np.signbit(found.scores), np.signbit(values))


def test_many_trials_are_quick(tmp_path, rng):
    count = 100_000
    names = np.array([f"id{n // 20}/{n}.wav" for n in range(5000)], dtype=object)
    enrol, test = (names[rng.integers(5000, size=count)].tolist() for _ in range(2))
    values = [len(one) / len(other) for one, other in zip(enrol, test, strict=True)]
    begin = time.process_time()
    write_trials(tmp_path / "t", enrol, test, np.zeros(count, dtype=bool))
    write_scores(tmp_path / "s", enrol, test, values)
    joined = read_scores(tmp_path / "s", "s").join(read_trials(tmp_path / "t", "t"))
    assert joined.tolist() == values
    assert time.process_time() - begin < 15
