"""Partners among recordings of the same words."""

import pandas as pd

from soundcheck.evaluation.recording_pairs import pairings


def table(*rows):
    return pd.DataFrame(rows, columns=["item", "condition", "speaker"])


def found(frame, base=""):
    return {
        (p.base, p.other): list(zip(p.base_rows.tolist(), p.other_rows.tolist(), strict=True))
        for p in pairings(frame, base)
    }


def test_partners_have_the_same_item_and_speaker():
    frame = table(
        ("1", "near", "a"), ("1", "far", "a"), ("1", "far", "b"), ("2", "far", "a"), ("2", "near", "a"),
        ("1", "near", "b"), ("3", "near", "b"),
    )  # fmt: skip
    assert found(frame) == {("near", "far"): [(0, 1), (4, 3), (5, 2)]}
    (pairing,) = pairings(frame)
    assert pairing.notes == ("1 of 4 segments under 'near' have no partner under 'far'",)
    assert found(frame, "far") == {("far", "near"): [(1, 0), (2, 5), (3, 4)]}


def test_each_condition_is_compared_with_the_base():
    rows = [(item, condition, "a") for item in "12" for condition in ("x", "y", "z")]
    assert list(found(table(*rows))) == [("x", "y"), ("x", "z")]
    assert list(found(table(*rows, ("9", "z", "a")))) == [("z", "x"), ("z", "y")]


def test_repeated_items_tell_no_partners():
    frame = table(("1", "x", "a"), ("1", "x", "a"), ("1", "y", "a"), ("2", "x", "a"), ("2", "y", "a"))
    (pairing,) = pairings(frame)
    assert pairing.base_rows.tolist() == [3]
    assert pairing.notes == (
        "2 segments under 'x' repeat an item and are passed over",
        "1 of 2 segments under 'y' have no partner under 'x'",
    )


def test_missing_items_conditions_and_speakers():
    frame = table(("1", "x", None), ("1", "y", None), (None, "x", "a"), (None, "y", "a"), ("2", None, "a"))
    assert found(frame) == {("x", "y"): [(0, 1)]}
    assert pairings(table((None, None, "a"))) == []
    assert pairings(table(("1", "x", "a"))) == []
    assert found(frame.drop(columns="speaker")) == {("x", "y"): [(0, 1)]}
