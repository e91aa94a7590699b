"""Which segments the name of a file means."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.messages import InputError, Problems
from soundcheck.corpora import utterances
from soundcheck.corpora.utterances import UtteranceNames

CASES = yaml.safe_load(Path(__file__).with_name("utterances.yml").read_text("utf-8"))


def names(*written: str, **columns: list) -> UtteranceNames:
    return UtteranceNames(pd.DataFrame({"file": list(written), **columns}))


@pytest.mark.parametrize(("files", "columns", "meant"), CASES["meant"])
def test_what_names_mean(files, columns, meant):
    assert names(*files.split(), **columns).find([*meant]) == [*meant.values()]


def test_upper_case_means_the_same_and_one_letter_more_nothing():
    matches = names("other.wav", "s1/Rec.a/take1.wav", speaker=[None, "SPK"])
    for name in ("s1/Rec.a/take1.wav", "s1-Rec.a-take1", "take1", "SPK_take1"):
        assert matches.find([name, name.upper(), name + "x"]) == [[1], [1], []]


@pytest.mark.parametrize(("files", "given_names", "owners"), CASES["assigned"])
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
