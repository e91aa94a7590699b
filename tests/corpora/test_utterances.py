"""Which segments the name of a file means."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.errors import InputError, Problems
from soundcheck.corpora import utterances
from soundcheck.corpora.utterances import UtteranceNames


def names(*written: str, **columns: list) -> UtteranceNames:
    return UtteranceNames(pd.DataFrame({"file": list(written), **columns}))


TAKES = "s1/Rec.a/take1.wav s1/Rec.a/take1 s1-Rec.a-take1 s1_Rec.a_take1 take1 SPK-take1 SPK_take1".split()


@pytest.mark.parametrize("name", TAKES)
def test_each_form(name):
    matches = names("other.wav", "s1/Rec.a/take1.wav", speaker=[None, "SPK"])
    assert matches.find([name, name.upper(), name + "x"]) == [[1], [1], []]


@pytest.mark.parametrize(
    ("files", "columns", "meant"),
    [
        # The first form that fits counts: without extension, before the one with - for /.
        ("x/a.wav a y/a.wav b/c.wav b-c.wav", {}, {"a": [1], "b-c": [4], "b_c": [3]}),
        ("A.wav x/a.wav a/B.wav", {}, {"a": [1], "A": [0], "b": [2]}),  # first with regard to case
        ("b.wav x/a.wav y/A.wav y/a.flac x/a.wav", {}, {"a": [1, 3, 4], "x/A.WAV": [1, 4], "c": []}),
        ("a.wav", {}, {"s-a": []}),
        ("a.wav", {"speaker": [None]}, {"None-a": []}),
        ("a.wav a.flac", {"speaker": ["7", None]}, {"7_a": [0]}),
        ("a.wav a.wav b.wav", {"item": ["a-1", "b", None]}, {"A-1": [0], "b": [2], "": []}),  # items last
        ("a.wav b.wav", {"item": ["hello", "hello"]}, {"hello": []}),  # said twice
        (
            "x/a.wav x/aa.wav d/c/b.wav a.wav",  # paths mean files that end like them
            {},
            {"x/a.wav": [0], "/data/x/a.wav": [0], "x-a": [0], "c\\b.wav": [2], "./c/b": [2], "c/B.flac": [2]}
            | {"/b": [2], "a.wav": [3], "/data/y/a.wav": [3], "q/b.wav": [], "": [], "/": []},
        ),
        ("x/a.wav y/a.wav y/a.flac", {}, {"a.wav": [0, 1], "/d/y/a": [1, 2], "a.mp3": [0, 1, 2]}),
    ],
)
def test_what_names_mean(files, columns, meant):
    assert names(*files.split(), **columns).find([*meant]) == [*meant.values()]


@pytest.mark.parametrize(
    ("files", "given_names", "owners"),
    [
        ("a.wav b.wav", "b.wav a.wav", [1, 0]),
        ("x/a.wav b.wav", "a.flac", [0, -1]),
        ("x/a.wav", "a.wav /d/x/a.wav", [1]),  # the only one that gives the whole path
        ("x/a.wav", "a.wav a.flac x/a.wav", [2]),  # written like the file
        ("x/a.wav", "a.wav a.flac", "names 'a.wav' and 'a.flac' mean the same segment 'x/a.wav'. Write the"),
        ("x/a.wav y/a.wav z/a.wav", "a", "'a' could mean 'x/a.wav' and 'y/a.wav' and 1 more. Write the file"),
        ("a.wav a.wav", "a", "'a' could mean 'a.wav 0 to 1' and 'a.wav 1 to 2'. Give a CSV table with"),
    ],
)
def test_each_segment_has_one_name(files, given_names, owners):
    files, problems = files.split(), Problems()
    times = {"start": np.arange(len(files)) * 1.0, "end": np.arange(len(files)) + 1.0}
    owner = names(*files, **times).assign(given_names.split(), "name", lambda *rows: "t.csv", problems)
    if isinstance(owners, str):
        with pytest.raises(InputError, match=owners):
            problems.raise_if_any()
    else:
        problems.raise_if_any()
        assert owner.tolist() == owners


FOLDERS = st.lists(st.sampled_from("a b aa ab ba bb".split()), min_size=1, max_size=3).map("/".join)
PATHS = st.tuples(FOLDERS, st.sampled_from([".wav", ".mp3"])).map("".join)


@settings(deadline=None)
@given(st.lists(PATHS, min_size=1, max_size=6, unique=True), st.text("ab/", max_size=4))
def test_a_file_finds_itself_behind_any_folder(files, folder):
    matches = names(*files)
    for row, file in enumerate(files):
        assert matches.find([file]) == [[row]]
        (rows,) = matches.find([f"/{folder}/{file}"])
        assert len(rows) == 1  # itself, or a file that is written with more of the folder
        assert files[rows[0]].endswith(file)


def test_names_that_look_alike_are_told_apart():
    (notice,) = utterances.matched_by_less({("a\u0308.wav", "\u00e4.wav")}, "t.csv")
    assert "('a\\u0308.wav' is taken for '\\u00e4.wav')" in notice
