"""Files of trials, scores and enrolments, as many projects write them."""

import dataclasses
import os
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpora.given import refusals

from soundcheck.common.messages import InputError
from soundcheck.corpora.trials.trial_files import read_enrolments, read_scores, read_trials, score_text
from soundcheck.models.tables.rows import scores_of_trials

TWO = [("a", "b", True), ("a", "c", False)]
TWO_SCORES = [("a", "b", 0.7), ("a", "c", 0.2)]
LAYOUTS = yaml.safe_load(Path(__file__).with_name("layouts.yml").read_text("utf-8"))


def read(reader, content: str | bytes, *options: str):
    with tempfile.NamedTemporaryFile() as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        return reader(file.name, *options)


def trials(content: str | bytes, layout: str = ""):
    return read(read_trials, content, "t.txt", layout)


def scores(content: str | bytes):
    return read(read_scores, content, "s.txt")


def enrolments(content: str):
    return read(read_enrolments, content, "e.txt")


def pairs(listing) -> list[tuple]:
    return list(listing.frame.itertuples(index=False, name=None))


def scored(listing) -> list[tuple]:
    return pairs(dataclasses.replace(listing, frame=listing.frame[["enrol", "test", "score"]]))


@pytest.mark.parametrize("text", LAYOUTS["trials"].values(), ids=LAYOUTS["trials"])
def test_lists_of_trials(text):
    listing = trials(text)
    assert pairs(listing) == TWO and listing.frame["target"].dtype == bool


@pytest.mark.parametrize(("name", "form", "line"), LAYOUTS["forms"])
def test_the_layout_is_named_and_the_line(name, form, line):
    listing = trials(LAYOUTS["trials"][name])
    assert listing.form.startswith(form)
    assert listing.frame.index.tolist() == [line, line + 1] and listing.where(line) == f"t.txt line {line}"


def test_parquet():
    table = pd.DataFrame({"enrol": ["a", "a"], "test": ["b", "c"]})
    for labels in ((1, 0), (True, False), ("target", "nontarget")):
        assert pairs(trials(table.assign(label=labels).to_parquet())) == TWO
    with pytest.raises(InputError, match="^t.txt row 2, column label: '2' is not a valid label of a trial"):
        trials(table.assign(label=[1, 2]).to_parquet())


@pytest.mark.parametrize(("text", "expected"), LAYOUTS["names"])
def test_names_of_trials(text, expected):
    assert [*map(list, pairs(trials(text)))] == expected


PATHS = ("id0921/Hq-3xy/0001.wav", "id0981/BT_x-7/0002.wav", "id0981/Fhkd/00012.wav")


@pytest.mark.parametrize(("text", "form"), LAYOUTS["scores"])
def test_lists_of_scores(text, form):
    listing = scores(text)
    assert scored(listing) == TWO_SCORES and listing.form.startswith(form)
    assert listing.frame["score"].dtype == np.float64
    labelled = {*"1 target 1.000000 1.0".split()} & {*text.replace(",", " ").split()} and "what" not in text
    assert listing.frame.get("target", pd.Series()).tolist() == ([True, False] if labelled else [])


def test_numbers_alone_and_two_columns_of_numbers():
    for header in ("", "prediction\n"):
        listing = scores(f"{header}0.5\n-1\n1e3\n")
        assert listing.frame.to_dict("list") == {"score": [0.5, -1.0, 1000.0]}
        assert listing.form.startswith("one number a line")
    assert scored(scores("1 2 3\n4 5 6\n")) == [("2", "3", 1.0), ("5", "6", 4.0)]
    assert scored(scores("1 2 3\nx 5 6\n")) == [("1", "2", 3.0), ("x", "5", 6.0)]


@pytest.mark.parametrize("text", LAYOUTS["enrolments"])
def test_each_layout_of_enrolments(text):
    assert [*enrolments(text).items()] == [("m2", ["b"]), ("m1", ["c", "a", "d"])]


@pytest.mark.parametrize(("kind", "content", "words"), refusals("trials", "scores", "enrolments"))
def test_refused(kind, content, words):
    content = content.format(PATHS[0], PATHS[1], PATHS[1], PATHS[2])
    with pytest.raises(InputError, match=words) as caught:
        {"trials": trials, "scores": scores, "enrolments": enrolments}[kind](content)
    assert len(caught.value.problems) == 1


def test_what_is_no_text_is_refused():
    with pytest.raises(InputError, match="^t.txt line 3: byte 13 is not UTF-8 text. Save the file"):
        trials(b"1 a b\r\n\r\n0 c \xff")


def test_a_suite_may_say_the_layout():
    for layout, text in LAYOUTS["layout of the suite"]:
        assert pairs(trials(text, layout)) == TWO
    for layout, text, words in LAYOUTS["another layout than that of the suite"]:
        with pytest.raises(InputError, match=words):
            trials(text, layout)


@pytest.mark.parametrize(("others", "wrong"), [(1, 2), (9, 1)])
def test_most_lines_decide_on_the_layout_or_else_the_first(others, wrong):
    with pytest.raises(InputError, match=rf"^t.txt line {wrong}: .* is not a valid label") as caught:
        trials("\n".join(["1 a b", *(f"x{n} d target" for n in range(others))]))
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("parse", "content", "places"),
    [
        (trials, "1 a b\n0 b a\n0 a b\n1 a b\n0 a b\n", ["t.txt lines 1 and 3", "t.txt lines 1 and 5"]),
        (trials, "1 a b\n2 a c\n1 a\n\n0 a b c d\n", ["t.txt line 3", "t.txt line 5", "t.txt line 2"]),
        (scores, "enrol,test,score\na,,x\n", ["s.txt line 2, column score", "s.txt line 2, column test"]),
    ],
)
def test_all_problems_are_told_at_once(parse, content, places):
    with pytest.raises(InputError) as caught:
        parse(content)
    assert [problem.where for problem in caught.value.problems] == places


@pytest.mark.parametrize("read", [read_trials, read_scores, read_enrolments])
def test_nothing_but_regular_files_is_opened(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    for name, words in (("none", "the file does not exist"), ("pipe", "this is not a regular file")):
        with pytest.raises(InputError, match=f"^shown: {words}"):
            read(tmp_path / name, "shown")


def test_scores_are_written_as_lines_or_as_a_table():
    lines = b"0.30000000000000004 b c\n5.0 a c\n"
    assert score_text(["b", "a"], ["c", "c"], np.array([0.1 + 0.2, 5])) == (lines, ".txt")
    decided = "score enrol test decision threshold\n0.4 a d reject 0.4\n0.41 b d accept 0.4\n"
    text, suffix = score_text(["a", "b"], ["d", "d"], [0.4, 0.41], 0.4)  # at the threshold: not above it
    assert (suffix, text.decode()) == (".txt", decided)
    table = '"enrol","test","score","decision","threshold"\n"a 1","d",0.5,"accept",0.25\n'
    text, suffix = score_text(["a 1"], ["d"], [0.5], 0.25)
    assert (suffix, text.decode()) == (".csv", table)


HARD = 'target|nontarget|enrol|test|label|1|0|0.5|a b|a\rb|"|,|;a;|a,b'.split("|")
NAMES = st.text("aé漢 \"',;#*\t\r\n\x85\u2028\u00a0", min_size=1, max_size=6) | st.sampled_from(HARD)


@settings(max_examples=10)
@given(
    st.lists(
        st.tuples(NAMES, NAMES, st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
        max_size=6,
        unique_by=lambda row: row[:2],
    ),
    st.floats(),
)
def test_what_is_written_is_read_back(rows, threshold):
    enrol, test, values = map(list, zip(*rows, strict=True))
    for decided in ((), (threshold,)):
        listing = scores(score_text(enrol, test, values, *decided)[0])
        assert scored(listing) == rows
        np.testing.assert_array_equal(np.signbit(listing.frame["score"]), np.signbit(values))


@pytest.mark.slow
def test_many_trials_are_quick(rng):
    names = np.array([f"id{n // 20}/{n}.wav" for n in range(5000)], dtype=object)
    enrol, test = (names[rng.integers(5000, size=20_000)].tolist() for _ in range(2))
    values = [len(one) / len(other) for one, other in zip(enrol, test, strict=True)]
    begin = time.process_time()
    listed = trials("".join(f"0 {one} {other}\n" for one, other in zip(enrol, test, strict=True)))
    table = SimpleNamespace(frame=listed.frame, listed=len(listed), numbers=np.arange(len(listed)))
    of_trials = scores_of_trials(scores(score_text(enrol, test, values)[0]), table)
    assert of_trials.tolist() == values and time.process_time() - begin < 3
