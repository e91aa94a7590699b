"""Measured columns by group: medians, ranges, counts, and nothing from data unescaped."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.report.corpus_views import ALL, group_table, measured_in, summary

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
        "device not known",
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
    shown = str(group_table(summary(segments, ["accent"]), "What was measured"))
    assert "<img" not in shown and "&lt;img" in shown
    assert "10 not measurable" in shown
    assert "pitch" not in shown  # measured nowhere
    assert shown.count("<tr>") == 4
    assert "level (dB)" in shown


def test_where_nothing_is_measured_the_table_has_the_sizes(segments):
    nothing = segments[["speaker", "accent"]].assign(duration=np.nan)
    for table in (nothing, nothing.assign(level=np.nan)):
        text = str(group_table(summary(table, ["accent"])))
        assert "accent: irish" in text and "level" not in text and "length" not in text
