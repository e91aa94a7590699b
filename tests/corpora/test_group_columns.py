"""The columns by which a suite groups speech, as they stand in the segment table."""

import contextlib
import dataclasses
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.messages import InputError
from soundcheck.corpora.columns import add_groups, check_groups, cut, measured_columns, product
from soundcheck.corpora.load import Corpus
from soundcheck.suite.corpus_format import GroupColumn, NumberRange
from soundcheck.suite.entries import CorpusEntry, Suite
from soundcheck.suite.thresholds import read_family

AGES = (NumberRange("young", 0, 30), NumberRange("old", 30, 90))
AGE = GroupColumn("age", ("age",), {"age": AGES})
SEX_AGE = GroupColumn("sex × age", ("sex", "age"), {"age": AGES})
DEVICE = GroupColumn("device", ("device",))


def corpus(groups=(), adjust=(), offered=(), against=None, name="calls", unknown=None, **columns) -> Corpus:
    named = {"groups": tuple(groups), "adjust": tuple(adjust), "against": against or {}, "unknown": unknown}
    entry = CorpusEntry(name, "csv", **named)
    table = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    return Corpus(name, entry, Path(), table, (), (), offered=offered)


def test_ranges_products_and_their_numbers():
    ages, sexes = [20.0, 30.0, 31.0, np.nan, 95.0], ["f", "m", None, "f", "m"]
    grouped = add_groups(corpus([AGE, SEX_AGE], ["age"], age=ages, sex=sexes))
    assert grouped.segments["age"].tolist() == ["young", "young", "old", None, None]
    assert grouped.segments["sex × age"].tolist() == ["f × young", "m × young", None, None, None]
    assert grouped.segments["age (number)"].iloc[:3].tolist() == [20.0, 30.0, 31.0]
    assert (grouped.groups, grouped.adjust) == (("age", "sex × age"), ("age (number)",))
    assert "2 of 5 segments have no age, or none in its ranges: not in comparisons by it" in grouped.notices


def test_what_lies_between_ranges_is_in_no_group_and_told():
    ranges = (NumberRange("young", 0, 29), NumberRange("middle", 30, 59), NumberRange("old", 60, 120))
    assert cut(pd.Series([29.0, 29.5, 30.0]), ranges).tolist() == ["young", None, "middle"]
    grouped = add_groups(corpus([GroupColumn("age", ("age",), {"age": ranges})], age=[29.0, 29.5, 30.0]))
    assert "no segment is in these ranges of age: old (60 to 120)" in grouped.notices


def test_products_without_segments_and_missing_columns_are_told():
    both = GroupColumn("sex × device", ("sex", "device"))
    grouped = add_groups(corpus([both], sex=["f", None], device=[None, "phone"]))
    assert "no segment has a value of sex × device, so nothing is compared by it" in grouped.notices
    grouped = add_groups(corpus([DEVICE], sex=["f", "m"]))
    assert grouped.groups == () and "no column device, so nothing is compared by it" in grouped.notices
    joined = product([pd.Series(["<b>", None]), pd.Series(["a × b", "c"])])
    assert joined.tolist() == ["<b> × a × b", None]  # names stay as they are


def test_words_and_numbers_to_adjust_by():
    many = [str(number / 2) for number in range(20)]
    grouped = add_groups(corpus(adjust=["level", "device"], level=many, device=["1", "2"] * 10))
    assert grouped.adjust == ("level (number)", "device")
    assert grouped.segments["level (number)"].tolist() == [float(text) for text in many]


def test_only_what_is_named_is_measured():
    entry = CorpusEntry("calls", "csv", groups=(AGE,), adjust=("level", "device"))
    pitch = read_family("fairness_pitch", Path())
    assert measured_columns(entry, []) == ["level"]
    assert measured_columns(entry, [pitch]) == ["level", "pitch"]
    assert measured_columns(entry, [], ["speech_share"]) == ["level", "speech_share"]
    assert measured_columns(dataclasses.replace(entry, families=("fairness_sex",)), [pitch]) == ["level"]


SHARED = Suite(groups=(DEVICE,))
MANY, AGED = [f"person {n}" for n in range(500)], [str(n) for n in range(18, 80)]


@pytest.mark.parametrize(
    ("suite", "corpora", "words"),
    [
        (Suite(), [corpus([DEVICE], device=AGED)], "device: .*62 different numbers, more than the 10"),
        (Suite(), [corpus([DEVICE], device=MANY)], "device: .*500 different values, more than the 50"),
        (Suite(), [corpus([DEVICE], device=["1", "2", "3"] * 9)], ""),
        (Suite(), [corpus([DEVICE], offered=("file", "Device"), file=["a"])], "Did you mean 'Device'"),
        (Suite(), [corpus(adjust=["signal_to_nois"], file=["a"])], "Did you mean 'signal_to_noise'"),
        # A column of the suite may be missing in some corpora.
        (SHARED, [corpus([DEVICE], device=["phone"]), corpus([DEVICE], sex=["f"])], ""),
        (SHARED, [corpus([DEVICE], sex=["f"])] * 2, "no corpus has the column 'device'"),
    ],
)
def test_columns_of_groups_are_there_and_have_few_values(suite, corpora, words):
    with pytest.raises(InputError, match=words) if words else contextlib.nullcontext():
        check_groups(suite, corpora)


def accents(named: str, *values: str | None, **more) -> Corpus:
    return corpus(against={"accent": named}, accent=list(values or ("us", "uk", "indian")), **more)


B = accents("us", "uk", "irish", name="b")


@pytest.mark.parametrize(
    ("suite", "corpora", "words"),
    [
        ("us", [accents("us")], ""),
        ("others", [accents("others")], ""),
        ("us", [accents("us"), accents("us", "uk", None, name="b")], ""),
        ("US", [accents("US")], "calls has no group 'US'. Did you mean 'us'?"),
        ("na", [accents("na")], "calls has no group 'na'. Allowed: indian, uk, us"),
        ("na", [accents("na", "na", "us", unknown=())], ""),
        ("us", [accents("us", "us", "us")], "'us' is the only group. Remove against."),
        ("others", [accents("others", "us", "others")], "calls has a group called so"),
        ("us", [accents("us"), B], "b has no group 'us'. Give b a reference of its own"),
        ("us", [accents("us"), accents("UK", "uk", name="b")], "b has no group 'UK'. Did you mean 'uk'?"),
        ("medium", [corpus(against={"pitch": "medium"}, pitch=[99.0, 201.0])], ""),
        ("middle", [corpus(against={"pitch": "middle"}, pitch=[99.0])], "Allowed: low, medium, high"),
        ("young", [corpus([AGE], against={"age": "young"}, age=["5", "40"])], ""),
        ("yuong", [corpus([AGE], against={"age": "yuong"}, age=["5", "40"])], "Did you mean 'young'?"),
    ],
)
def test_reference_groups_are_there(suite, corpora, words):
    (column,) = corpora[0].entry.against
    suite = Suite(against={column: suite}, groups=corpora[0].entry.groups)
    with pytest.raises(InputError, match=re.escape(words)) if words else contextlib.nullcontext():
        check_groups(suite, corpora)
