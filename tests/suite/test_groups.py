"""What a suite may name under ``groups:`` and ``adjust:``."""

from pathlib import Path

import pytest

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


def test_numbers_stand_beside_their_groups():
    assert number_of("age") == "age (number)"


def test_families_of_columns_take_the_groups_of_the_suite():
    family = read_family("asr_word_errors", Path())
    assert with_suite_groups(family, ["age", "sex"]).options["groups"] == ["sex", "accent", "language", "age"]
    fixed: Family = read_family("fairness_sex", Path())
    assert with_suite_groups(fixed, ["age"]) is fixed
