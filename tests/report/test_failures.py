"""Which failures repeat another one."""

import pandas as pd

from soundcheck.report.failures import mirrored


def failures(*rows):
    columns = ["group", "gap", "label"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(model="m", corpus="c", family="f", task="t", test="Recall Per Class")


def test_of_two_groups_the_second_repeats_the_first():
    found = failures(("sex: female", -0.2, "anger"), ("sex: male", 0.2, "anger"), ("sex: male", 0.2, "joy"))
    assert mirrored(found).tolist() == [False, True, False]


def test_failures_without_a_gap_and_of_other_columns_stand_for_themselves():
    found = failures(("", None, ""), ("", None, ""), ("sex: male", 0.2, ""), ("age: old", -0.2, ""))
    assert mirrored(found).tolist() == [False] * 4


def test_of_no_failures_none_repeats_another():
    assert mirrored(failures(("sex: male", 0.2, "")).iloc[:0]).empty
