"""Columns of groups: what corpora read for them, and what families compare."""

from pathlib import Path

from soundcheck.suite.groups import number_of, with_suite_groups
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family


def test_columns_of_groups_are_read_from_the_data(tmp_path):
    (tmp_path / "calls.csv").touch()
    (tmp_path / "suite.yml").write_text(
        "corpora: {calls: {format: csv, path: calls.csv, columns: {device: Phone}}}\n"
        "models: {guess: {random: gaussian}}\nfamilies: all\n"
        "groups: [device, {age: {young: [0, 29], old: [60, 120]}}]\nadjust: [level]\n"
    )
    entry = read_suite(tmp_path / "suite.yml").corpora["calls"]
    assert {"device", "age", "level"} <= {*entry.further_columns} and entry.columns == {"device": "Phone"}
    assert number_of("age") == "age (number)"  # beside its ranges


def test_families_of_columns_take_the_groups_of_the_suite():
    family = read_family("asr_word_errors", Path())
    assert with_suite_groups(family, ["age", "sex"]).options["groups"] == ["sex", "accent", "language", "age"]
    fixed = read_family("fairness_sex", Path())
    assert with_suite_groups(fixed, ["age"]) is fixed
