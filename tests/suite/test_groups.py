"""What a suite may name under ``groups:`` and ``adjust:``."""

from pathlib import Path

import pytest

from soundcheck.common.errors import InputError
from soundcheck.suite.families import Family
from soundcheck.suite.groups import GroupColumn, NumberRange, number_of, with_suite_groups
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

AGES = "{age: {young: [0, 29], middle: [30, 59], old: [60, 120]}}"


@pytest.fixture
def read(tmp_path: Path):
    (tmp_path / "calls.csv").write_text("file\na.wav\n")

    def _read(text: str, corpus: str = ""):
        path = tmp_path / "suite.yml"
        path.write_text(
            f"corpora:\n  calls: {{format: csv, path: calls.csv{corpus}}}\n"
            f"models:\n  guess: {{random: gaussian}}\nfamilies: all\n{text}\n"
        )
        return read_suite(path)

    return _read


def test_columns_products_and_ranges(read):
    suite = read(
        f"groups: [device, sex × accent, [sex, device], accent x age, {AGES}]\nadjust: [level, device]"
    )
    names = [group.name for group in suite.groups]
    assert names == ["device", "sex × accent", "sex × device", "accent × age", "age"]
    ages = suite.groups[4].ranges["age"]
    assert ages == (
        NumberRange("young", 0, 29),
        NumberRange("middle", 30, 59),
        NumberRange("old", 60, 120),
    )
    assert suite.groups[3] == GroupColumn("accent × age", ("accent", "age"), {"age": ages})
    assert suite.adjust == ("level", "device")
    entry = suite.corpora["calls"]
    assert (entry.groups, entry.adjust) == (suite.groups, suite.adjust)
    assert {"device", "age", "level"} <= {*entry.further_columns}


def test_reference_groups_of_suite_and_corpus(read):
    suite = read(
        "groups: [{accent: {against: us}}, {age: {young: [0, 29], old: [60, 120], against: young}},\n"
        "  {sex x accent: {against: female x us}}, {pitch: {against: medium}}, device]",
        ", groups: [sex, {accent: {against: others}}]",
    )
    assert suite.against == {
        "accent": "us",
        "age": "young",
        "sex × accent": "female × us",
        "pitch": "medium",
    }
    assert [group.name for group in suite.groups] == ["accent", "age", "sex × accent", "device"]
    entry = suite.corpora["calls"]
    assert [group.name for group in entry.groups] == ["sex", "accent"]
    assert entry.against == suite.against | {"accent": "others"}


def test_a_mapping_will_do(read):
    suite = read("groups: {age: {young: [0, 40], old: [40, 99]}, device: , sex × device: }")
    assert [group.name for group in suite.groups] == ["age", "device", "sex × device"]


def test_a_corpus_replaces_what_the_suite_says_and_keeps_its_ranges(read):
    suite = read(f"groups: [{AGES}]\nadjust: [level]", ", groups: [sex × age], adjust: [device]")
    entry = suite.corpora["calls"]
    assert [group.name for group in entry.groups] == ["sex × age"]
    assert entry.groups[0].ranges == suite.groups[0].ranges
    assert entry.adjust == ("device",)


def test_what_is_measured_may_be_asked_for(read):
    assert read("measured: [speech_share, level]").measured == ("speech_share", "level")
    assert read("").measured == ()


def test_columns_of_a_corpus_may_have_other_names_in_the_data(read):
    suite = read("groups: [age_group]", ", columns: {age_group: AgeBand}")
    assert suite.corpora["calls"].columns == {"age_group": "AgeBand"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("groups: device", "names no columns"),
        ("groups: []", "names no columns"),
        ("groups: {}", "names no columns"),
        ("groups: [sex × sex]", "names a column twice"),
        ("groups: [sex × accent × age]", "Name products of two"),
        ("groups: [sex × accent, [accent, sex]]", "named twice"),
        ("groups: [speaker]", "speaker cannot be a group"),
        ("groups: [sex × file]", "file cannot be a group"),
        ("groups: [arousal]", "arousal cannot be a group"),
        ("groups: [signal_to_noise]", "is measured: a number, and no ranges are given"),
        ("groups: [{age: {young: [0, 40], old: [30, 90]}}]", "young [0, 40] and old [30, 90] overlap"),
        ("groups: [{age: {young: [40, 0], old: [50, 90]}}]", "does not rise"),
        ("groups: [{age: {all: [0, 90]}}]", "one range makes one group"),
        ("groups: [{age: {}}]", "no range is given"),
        ("groups: [{age: {young: 5, old: [50, 90]}}]", "not a pair of numbers"),
        ("groups: [{sex × age: {young: [0, 9], old: [10, 90]}}]", "a product has no ranges of its own"),
        ("groups: [{accent: {against: all}}]", "each group is a part of all. Write others, or the name"),
        ("groups: [{accent: {against: [us]}}]", "accent.against: must be text, not a list"),
        ("groups: [{accent: {against: }}]", "accent.against: the value is empty"),
        ("groups: [{accent: {aginst: us}}]", "'us' is no range of numbers. Write against: us if it is"),
        ("groups: [{accent: us}]", "'us' is no range of numbers. Write against: us if it is"),
        ("groups: [{age: {against: young, young: [0, 9]}}]", "one range makes one group"),
        ("groups: [{level: {against: loud}}]", "is measured: a number, and no ranges are given"),
        ("adjust: [level, pitch, device]", "3 columns are more than the 2"),
        ("adjust: [level, level]", "duplicate 'level'"),
        ("adjust: [transcript]", "nothing can be adjusted by transcript"),
        ("measured: [levle]", "nothing measures 'levle'"),
    ],
)
def test_what_cannot_be_groups_is_refused(read, text, told):
    with pytest.raises(InputError) as error:
        read(text)
    assert told in str(error.value)
    assert "line 6" in str(error.value)


def test_problems_of_a_corpus_are_told_with_its_place(read):
    with pytest.raises(InputError, match="corpora.calls.groups"):
        read("", ", groups: [speaker]")


def test_numbers_stand_beside_their_groups():
    assert number_of("age") == "age (number)"


def test_families_of_columns_take_the_groups_of_the_suite():
    family = read_family("asr_word_errors", Path())
    assert with_suite_groups(family, ["age", "sex"]).options["groups"] == ["sex", "accent", "language", "age"]
    fixed: Family = read_family("fairness_sex", Path())
    assert with_suite_groups(fixed, ["age"]) is fixed
