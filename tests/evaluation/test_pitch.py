"""Voices are sorted by their mean pitch; what is not used is told."""

import numpy as np
import pandas as pd

from soundcheck.evaluation.groups import voice_groups


def data(**pitches):
    speakers = [name for name, values in pitches.items() for _ in values]
    return [value for values in pitches.values() for value in values], speakers


def test_borders_belong_to_the_lower_group():
    found, _ = voice_groups(*data(a=[145.0] * 26, b=[145.01] * 26, c=[190.0] * 26, d=[190.01] * 26))
    assert [found[26 * n] for n in range(4)] == ["low", "medium", "medium", "high"]


def test_more_than_25_usable_segments():
    found, told = voice_groups(*data(a=[120.0] * 25, b=[120.0] * 26, c=[120.0] * 25 + [40.0, 351.0, np.nan]))
    assert set(found[25:51]) == {"low"} and set(found[:25]) == set(found[51:]) == {None}
    rows = told.set_index("group")["segments"]
    assert rows["low"] == 26 and rows["speakers with up to 25 usable segments"] == 50
    assert rows["no pitch from 50 to 350 Hz"] == 3


def test_segments_outside_do_not_move_a_speaker():
    found, told = voice_groups(*data(a=[140.0] * 30 + [600.0] * 30))
    assert set(found[:30]) == {"low"} and set(found[30:]) == {None}
    low = told.set_index("group").loc["low"]
    assert (low["speakers"], low["lowest"], low["highest"]) == (1, 140.0, 140.0)


def test_whispered_speakers_and_segments_of_nobody():
    pitch, speakers = data(a=[np.nan] * 30, b=[200.0] * 30)
    speakers[-1] = None
    found, told = voice_groups(pitch, speakers)
    assert set(found[:30]) == {None} and set(found[30:59]) == {"high"} and found[59] is None
    assert told.set_index("group").loc["no speaker", "segments"] == 1


def test_nothing():
    found, told = voice_groups([], [])
    assert len(found) == 0 and told["segments"].sum() == 0


def test_limits_can_be_moved():
    found, _ = voice_groups(*data(a=[120.0] * 3), (100, 200), (110, 115), 2)
    assert set(found) == {"high"}
    assert isinstance(voice_groups([100.0], ["a"])[1], pd.DataFrame)
