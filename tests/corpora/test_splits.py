"""Which splits are evaluated: by their names and by what the suite says."""

from pathlib import Path

import pytest
import yaml
from tests.corpora.refusals import refusals

from soundcheck.common.errors import InputError
from soundcheck.corpora.splits import choose, kinds_of, pick, tell_splits
from soundcheck.suite.entries import CorpusEntry

SPLITS = yaml.safe_load(Path(__file__).with_name("splits.yml").read_text("utf-8"))


@pytest.mark.parametrize(("names", "wanted", "expected"), SPLITS["picked"])
def test_which_are_picked(names, wanted, expected):
    assert pick(kinds_of(names.split(), {}), wanted) == expected.split()


def test_what_the_data_say_counts_more_than_the_name():
    kinds = kinds_of(["blind", "test_old"], {"blind": "test", "test_old": "train"})
    assert pick(kinds, None) == ["blind"]


def chosen(counts, split):
    return choose(counts, CorpusEntry("c", "csv", split=split and tuple(split)), "t.csv", "row", {})


@pytest.mark.parametrize(("counts", "split", "notice"), SPLITS["notices"])
def test_what_is_said_about_the_choice(counts, split, notice):
    names, notices = chosen(counts, split)
    assert notices == ([] if notice is None else [notice]) and names


@pytest.mark.parametrize(("counts", "split", "words"), refusals("splits"))
def test_refused(counts, split, words):
    with pytest.raises(InputError) as caught:
        chosen(counts, split)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("values", "tells"), [*SPLITS["columns"], ([f"train {n}" for n in range(30)] + ["test"], False)]
)
def test_which_columns_tell_splits_by_all_their_values(values, tells):
    assert tell_splits(values) == tells
