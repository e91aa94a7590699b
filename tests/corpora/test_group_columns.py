"""Columns by which a suite groups speech, as they stand in the segment table."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.errors import InputError
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.group_columns import add_groups, check_groups, cut, measured_columns, product
from soundcheck.suite.entries import CorpusEntry, Suite
from soundcheck.suite.groups import GroupColumn, NumberRange
from soundcheck.suite.thresholds import read_family

AGES = (NumberRange("young", 0, 30), NumberRange("old", 30, 90))
AGE = GroupColumn("age", ("age",), {"age": AGES})
SEX_AGE = GroupColumn("sex × age", ("sex", "age"), {"age": AGES})
DEVICE = GroupColumn("device", ("device",))


def corpus(groups=(), adjust=(), offered=(), **columns) -> Corpus:
    entry = CorpusEntry("calls", "csv", groups=tuple(groups), adjust=tuple(adjust))
    table = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    return Corpus("calls", entry, Path(), table, (), (), False, "", offered=offered)


def test_ranges_products_and_their_numbers():
    found = add_groups(
        corpus([AGE, SEX_AGE], ["age"], age=[20.0, 30.0, 31.0, np.nan, 95.0], sex=["f", "m", None, "f", "m"])
    )
    assert found.segments["age"].tolist() == ["young", "young", "old", None, None]
    assert found.segments["sex × age"].tolist() == ["f × young", "m × young", None, None, None]
    assert found.segments["age (number)"].iloc[:3].tolist() == [20.0, 30.0, 31.0]
    assert found.groups == ("age", "sex × age")
    assert found.adjust == ("age (number)",)
    assert "2 of 5 segments have no age, or none in its ranges: not in comparisons by it" in found.notices


def test_what_lies_between_ranges_is_in_no_group_and_told():
    ranges = (NumberRange("young", 0, 29), NumberRange("middle", 30, 59), NumberRange("old", 60, 120))
    assert cut(pd.Series([29.0, 29.5, 30.0]), ranges).tolist() == ["young", None, "middle"]
    found = add_groups(corpus([GroupColumn("age", ("age",), {"age": ranges})], age=[29.0, 29.5, 30.0]))
    assert "no segment is in these ranges of age: old (60 to 120)" in found.notices


def test_products_without_segments_and_missing_columns_are_told():
    both = GroupColumn("sex × device", ("sex", "device"))
    found = add_groups(corpus([both], sex=["f", None], device=[None, "phone"]))
    assert "no segment has a value of sex × device, so nothing is compared by it" in found.notices
    found = add_groups(corpus([DEVICE], sex=["f", "m"]))
    assert found.groups == () and "no column device, so nothing is compared by it" in found.notices


def test_words_and_numbers_to_adjust_by():
    many = [str(number / 2) for number in range(20)]
    found = add_groups(corpus(adjust=["level", "device"], level=many, device=["1", "2"] * 10))
    assert found.adjust == ("level (number)", "device")
    assert found.segments["level (number)"].tolist() == [float(text) for text in many]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([str(n) for n in range(18, 80)], "62 different numbers, 18 to 79, and no ranges are given"),
        ([f"person {n}" for n in range(500)], "500 different values, more than the 50"),
    ],
)
def test_too_many_values_are_refused(values, told):
    with pytest.raises(InputError, match="corpora.calls, column device") as error:
        check_groups(Suite(), [corpus([DEVICE], device=values)])
    assert told in str(error.value)


def test_a_few_numbers_may_be_groups():
    check_groups(Suite(), [corpus([DEVICE], device=["1", "2", "3"] * 9)])


def test_columns_that_are_not_there_are_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean 'Device'"):
        check_groups(Suite(), [corpus([DEVICE], offered=("file", "Device"), file=["a"])])
    with pytest.raises(InputError, match="Did you mean 'signal_to_noise'"):
        check_groups(Suite(), [corpus(adjust=["signal_to_nois"], file=["a"])])


def test_a_column_of_the_suite_may_be_missing_in_some_corpora():
    suite = Suite(groups=(DEVICE,))
    both = [corpus([DEVICE], device=["phone"]), corpus([DEVICE], sex=["f"])]
    check_groups(suite, both)
    with pytest.raises(InputError, match="no corpus has the column 'device'"):
        check_groups(suite, both[1:] * 2)


def test_only_what_is_named_is_measured():
    entry = CorpusEntry("calls", "csv", groups=(AGE,), adjust=("level", "device"))
    assert measured_columns(entry, []) == ["level"]
    pitch = read_family("fairness_pitch", Path())
    assert measured_columns(entry, [pitch]) == ["level", "pitch"]
    assert measured_columns(entry, [], ["speech_share"]) == ["level", "speech_share"]
    other = dataclasses.replace(entry, families=("fairness_sex",))
    assert measured_columns(other, [pitch]) == ["level"]


def test_products_keep_names_as_they_are():
    joined = product([pd.Series(["<b>", None]), pd.Series(["a × b", "c"])])
    assert joined.tolist() == ["<b> × a × b", None]


THREE = ["us", "uk", "indian"]


def with_reference(named: str, values: list, column: str = "accent", name: str = "calls", **more) -> Corpus:
    found = corpus([], **{column: values})
    entry = dataclasses.replace(found.entry, name=name, against={column: named}, **more)
    return dataclasses.replace(found, name=name, entry=entry)


@pytest.mark.parametrize(
    ("suite", "corpora", "told"),
    [
        ("us", [with_reference("us", THREE)], ""),
        ("others", [with_reference("others", THREE)], ""),
        ("us", [with_reference("us", THREE), with_reference("us", ["uk", None], name="b")], ""),
        ("US", [with_reference("US", THREE)], "no corpus has the group 'US'. Did you mean 'us'?"),
        ("na", [with_reference("na", THREE)], "'na' means that nobody knows the accent. Name a group"),
        ("na", [with_reference("na", ["na", "us"], unknown=())], ""),
        ("us", [with_reference("us", ["us", "us"])], "'us' is the only group. Remove against."),
        ("others", [with_reference("others", ["us", "others"])], "calls has a group called so"),
        (
            "us",
            [with_reference("us", THREE), with_reference("us", ["uk", "irish"], name="b")],
            "groups, accent, against: the corpus b has no group 'us'; it is in calls. Give b a",
        ),
        (
            "us",
            [with_reference("us", THREE), with_reference("UK", ["uk", "irish"], name="b")],
            "corpora.b.groups, accent, against: the corpus b has no group 'UK'. Did you mean 'uk'?",
        ),
        ("medium", [with_reference("medium", [99.0, 201.0], "pitch")], ""),
        ("middle", [with_reference("middle", [99.0, 201.0], "pitch")], "Allowed: low, medium, high"),
        ("young", [with_reference("young", ["5", "40"], "age", groups=(AGE,))], ""),
        ("yuong", [with_reference("yuong", ["5", "40"], "age", groups=(AGE,))], "Did you mean 'young'?"),
    ],
)
def test_reference_groups_are_there(suite, corpora, told):
    column = next(iter(corpora[0].entry.against))
    suite = Suite(against={column: suite}, groups=corpora[0].entry.groups)
    if not told:
        return check_groups(suite, corpora)
    with pytest.raises(InputError) as error:
        check_groups(suite, corpora)
    assert told in str(error.value)
    assert len(error.value.problems) == 1
