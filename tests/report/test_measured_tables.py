"""Measured columns by group: medians, ranges, counts, and nothing from data unescaped."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.report.measured_tables import ALL, differences, measured_in, measured_table, summary

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def segments():
    return pd.DataFrame(
        {
            "speaker": [f"s{n % 4}" for n in range(40)],
            "accent": np.where(np.arange(40) % 4 < 2, HOSTILE, "irish"),
            "device": [None, "phone"] * 20,
            "duration": np.linspace(1, 5, 40),
            "level": np.where(np.arange(40) < 10, np.nan, -20.0),
            "pitch": np.nan,
            "speaking_rate": ["slow"] * 40,
            "speaking_rate (number)": np.arange(40.0),
            "bandwidth": ["wide"] * 40,  # a column of the data, of words
        }
    )


def test_what_counts_as_measured(segments):
    assert measured_in(segments) == {
        "level": "level",
        "duration": "duration",
        "pitch": "pitch",
        "speaking_rate": "speaking_rate (number)",
    }


def test_medians_ranges_and_counts(segments):
    found = summary(segments, ["accent", "device"]).set_index(["group", "measure"])
    assert list(dict.fromkeys(found.index.get_level_values(0))) == [
        ALL,
        f"accent: {HOSTILE}",
        "accent: irish",
        "device: phone",
    ]
    duration = found.loc[(ALL, "duration")]
    expected = np.percentile(segments["duration"], [5, 50, 95])
    assert duration[["low", "median", "high"]].tolist() == pytest.approx(expected.tolist())
    assert (duration["segments"], duration["speakers"], duration["measured"]) == (40, 4, 40)
    assert found.loc[(ALL, "level")]["measured"] == 30
    irish = found.loc[("accent: irish", "speaking_rate")]
    rows = segments["accent"].eq("irish")
    assert irish["median"] == segments["speaking_rate (number)"][rows].median()
    assert (irish["segments"], irish["speakers"]) == (20, 2)


def test_the_table_is_escaped_and_counts_what_has_no_number(segments):
    shown = str(measured_table(summary(segments, ["accent"]), "What was measured"))
    assert "<img" not in shown and "&lt;img" in shown
    assert "10 not measurable" in shown
    assert "pitch" not in shown  # measured nowhere
    assert shown.count("<tr>") == 4
    assert "level (dB)" in shown


def test_a_group_without_any_number_says_so(segments):
    segments.loc[segments["accent"].eq("irish"), "level"] = np.nan
    assert "not measurable<" in str(measured_table(summary(segments, ["accent"])))


def test_nothing_measured_is_no_table(segments):
    nothing = segments[["speaker", "accent"]]
    assert str(measured_table(summary(nothing, ["accent"]))) == ""
    silent = nothing.assign(level=np.nan)
    assert str(measured_table(summary(silent, ["accent"]))) == ""


def test_speakers_need_not_be_known(segments):
    found = summary(segments.drop(columns="speaker"), ["accent"])
    assert found["speakers"].eq(0).all()
    assert str(measured_table(found))


def test_groups_that_were_recorded_otherwise_are_named(rng):
    device = np.repeat(["headset", HOSTILE, None], [60, 60, 30])
    noise = np.where(device == HOSTILE, 10.0, 30.0) + rng.normal(size=150)
    table = pd.DataFrame({"device": device, "signal_to_noise": noise, "level": rng.normal(-20, 2, 150)})
    table["speaker"] = [f"s{n % 5}" for n in range(150)]
    found = differences(table, ["device"])
    ours, theirs = (table["signal_to_noise"][device == name].median() for name in (HOSTILE, "headset"))
    assert len(found) == 2  # each of the two sides differs from the other
    assert (
        f"device: {HOSTILE} (5 speakers): signal-to-noise ratio {ours:.1f} dB, the others {theirs:.1f} dB"
        in found
    )
    assert differences(table.head(80), ["device"]) == []  # too few segments of one side
    assert differences(table.assign(signal_to_noise=np.nan), ["device"]) == []
    narrow = table.assign(signal_to_noise=table["signal_to_noise"] / 10)  # 2 dB nobody hears
    assert differences(narrow, ["device"]) == []


def test_nothing_is_said_of_what_made_the_groups(rng):
    numbers = rng.normal(size=100)
    table = pd.DataFrame({"level (number)": 5 * numbers, "level": np.where(numbers > 0, "loud", "soft")})
    table["level × sex"] = table["level"] + " × female"
    assert differences(table, ["level", "level × sex"]) == []
    assert differences(table.rename(columns={"level": "how"}), ["how"]) != []
