import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    assert found.find(name) == [1]
    assert found.find(name.upper()) == [1]
    assert found.find(name + "x") == []


def test_the_first_form_that_fits_counts():
    found = names("x/a.wav", "a", "y/a.wav", "b/c.wav", "b-c.wav")
    assert found.find("a") == [1]
    assert found.find("b-c") == [4]  # without extension, before the one with - for /
    assert found.find("b_c") == [3]


def test_exact_forms_come_before_others():
    found = names("A.wav", "x/a.wav", "a/B.wav")
    assert found.find("a") == [1]
    assert found.find("A") == [0]
    assert found.find("b") == [2]


def test_all_rows_of_a_form_are_found_in_order():
    found = names("b.wav", "x/a.wav", "y/A.wav", "y/a.flac", "x/a.wav")
    assert found.find("a") == [1, 3, 4]
    assert found.find("x/A.WAV") == [1, 4]
    assert found.find("c") == []


def test_speakers_are_needed_for_their_forms():
    assert names("a.wav").find("s-a") == []
    assert names("a.wav", speaker=[None]).find("None-a") == []
    assert names("a.wav", "a.flac", speaker=["7", None]).find("7_a") == [0]


@given(st.lists(st.text("abAB/.-_", min_size=1, max_size=6), min_size=1, max_size=8))
def test_a_file_always_finds_itself(files):
    found = names(*files)
    for file in files:
        assert found.find(file) == [row for row, other in enumerate(files) if other == file]


def test_names_of_files_make_no_tables_of_other_forms(monkeypatch):
    """Most names are files: whatever else they could be is not even looked at."""
    found = names("a.wav", "b.wav")
    monkeypatch.setattr(UtteranceNames, "_bare", lambda self: pytest.fail("made a table"))
    assert found.find("b.wav") == [1]


def test_names_of_utterances_come_last():
    found = names("a.wav", "a.wav", "b.wav", item=["a-1", "b", None])
    assert found.find("A-1") == [0]
    assert found.find("b") == [2]
    assert found.find("") == []
    assert names("a.wav", "b.wav", item=["hello", "hello"]).find("hello") == []  # said twice


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        ("x/a.wav", [0]),
        ("/data/x/a.wav", [0]),
        ("a.wav", [3]),  # a file of that name comes before files that end like it
        ("/data/y/a.wav", [3]),
        ("c\\b.wav", [2]),
        ("./c/b", [2]),
        ("q/B.flac", [2]),
        ("x-a", [0]),
        ("/b", [2]),
        ("", []),
        ("/", []),
    ],
)
def test_paths_mean_files_that_end_like_them(path, rows):
    assert names("x/a.wav", "x/aa.wav", "d/c/b.wav", "a.wav").find_paths([path]) == [rows]


def test_paths_that_fit_several_files_give_all_of_them():
    found = names("x/a.wav", "y/a.wav", "y/a.flac")
    assert found.find_paths(["a.wav", "/d/y/a", "q/a.mp3"]) == [[0, 1], [1, 2], [0, 1, 2]]


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
        assert found.find_paths([file]) == [[row]]
        (rows,) = found.find_paths([f"/{folder}/{file}"])
        assert len(rows) == 1  # itself, or a file that is written with more of the folder
        assert files[rows[0]].endswith(file)
