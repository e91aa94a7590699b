import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.corpora import utterances
from soundcheck.corpora.utterances import UtteranceNames


def names(*written: str, **columns: list) -> UtteranceNames:
    return UtteranceNames(pd.DataFrame({"file": list(written), **columns}))


@pytest.mark.parametrize(
    "name",
    [
        "s1/Rec.a/take1.wav",
        "s1/Rec.a/take1",
        "s1-Rec.a-take1",
        "s1_Rec.a_take1",
        "take1",
        "SPK-take1",
        "SPK_take1",
    ],
)
def test_each_form(name):
    found = names("other.wav", "s1/Rec.a/take1.wav", speaker=[None, "SPK"])
    assert found.find([name])[0] == [1]
    assert found.find([name.upper()])[0] == [1]
    assert found.find([name + "x"])[0] == []


def test_the_first_form_that_fits_counts():
    found = names("x/a.wav", "a", "y/a.wav", "b/c.wav", "b-c.wav")
    assert found.find(["a"])[0] == [1]
    assert found.find(["b-c"])[0] == [4]  # without extension, before the one with - for /
    assert found.find(["b_c"])[0] == [3]


def test_exact_forms_come_before_others():
    found = names("A.wav", "x/a.wav", "a/B.wav")
    assert found.find(["a"])[0] == [1]
    assert found.find(["A"])[0] == [0]
    assert found.find(["b"])[0] == [2]


def test_all_rows_of_a_form_are_found_in_order():
    found = names("b.wav", "x/a.wav", "y/A.wav", "y/a.flac", "x/a.wav")
    assert found.find(["a"])[0] == [1, 3, 4]
    assert found.find(["x/A.WAV"])[0] == [1, 4]
    assert found.find(["c"])[0] == []


def test_speakers_are_needed_for_their_forms():
    assert names("a.wav").find(["s-a"])[0] == []
    assert names("a.wav", speaker=[None]).find(["None-a"])[0] == []
    assert names("a.wav", "a.flac", speaker=["7", None]).find(["7_a"])[0] == [0]


@given(st.lists(st.text("abAB/.-_", min_size=1, max_size=6), min_size=1, max_size=8))
def test_a_file_always_finds_itself(files):
    found = names(*files)
    for file in files:
        assert found.find([file])[0] == [row for row, other in enumerate(files) if other == file]


def test_names_of_files_make_no_tables_of_other_forms(monkeypatch):
    """Most names are files: whatever else they could be is not even looked at."""
    found = names("a.wav", "b.wav")
    monkeypatch.setattr(utterances, "plain_path", lambda name: pytest.fail("looked at paths"))
    assert found.find(["b.wav"])[0] == [1]


def test_names_of_utterances_come_last():
    found = names("a.wav", "a.wav", "b.wav", item=["a-1", "b", None])
    assert found.find(["A-1"])[0] == [0]
    assert found.find(["b"])[0] == [2]
    assert found.find([""])[0] == []
    assert names("a.wav", "b.wav", item=["hello", "hello"]).find(["hello"])[0] == []  # said twice


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        ("x/a.wav", [0]),
        ("/data/x/a.wav", [0]),
        ("a.wav", [3]),  # a file of that name comes before files that end like it
        ("/data/y/a.wav", [3]),
        ("c\\b.wav", [2]),
        ("./c/b", [2]),
        ("c/B.flac", [2]),
        ("q/b.wav", []),  # another folder
        ("x-a", [0]),
        ("/b", [2]),
        ("", []),
        ("/", []),
    ],
)
def test_paths_mean_files_that_end_like_them(path, rows):
    assert names("x/a.wav", "x/aa.wav", "d/c/b.wav", "a.wav").find([path]) == [rows]


def test_paths_that_fit_several_files_give_all_of_them():
    found = names("x/a.wav", "y/a.wav", "y/a.flac")
    assert found.find(["a.wav", "/d/y/a", "a.mp3"]) == [[0, 1], [1, 2], [0, 1, 2]]


@settings(deadline=None)
@given(
    st.lists(
        st.from_regex(r"[ab]{1,2}(/[ab]{1,2}){0,2}\.(wav|mp3)", fullmatch=True),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    st.text("ab/", max_size=4),
)
def test_a_file_finds_itself_behind_any_folder(files, folder):
    found = names(*files)
    for row, file in enumerate(files):
        assert found.find([file]) == [[row]]
        (rows,) = found.find([f"/{folder}/{file}"])
        assert len(rows) == 1  # itself, or a file that is written with more of the folder
        assert files[rows[0]].endswith(file)


def test_names_that_look_alike_are_told_apart():
    (told,) = utterances.matched_by_less({("a\u0308.wav", "\u00e4.wav")}, "t.csv")
    assert "('a\\u0308.wav' is taken for '\\u00e4.wav')" in told
