"""Which failures repeat another one."""

from types import SimpleNamespace

import pandas as pd

from soundcheck.report.failures import mirrored, subject


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


def test_a_change_is_named_after_the_task():
    about = {"task": "valence", "group": "", "label": ""}
    row = SimpleNamespace(test="Percentage Unchanged Predictions Babble Noise", **about)
    assert subject(row) == "share of unchanged predictions of valence under babble noise"
    row = SimpleNamespace(test="Spearmans Rho", **about | {"label": "(0.25, 0.5]"})
    assert subject(row) == "Spearman's rho of valence, 0.25 to 0.5"
    row = SimpleNamespace(test="Change Eer Gain", task="embedding", group="", label="")
    assert subject(row) == "change of EER under gain"
