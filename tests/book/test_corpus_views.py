"""What pages say of a corpus: what was measured, by group, and what its audit found; nothing is dropped."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from tests.report.given import HOSTILE, cells
from tests.support.rows import row

from soundcheck.book.corpus_page import ALL, audited, measured_in, recorded_otherwise, summary
from soundcheck.corpora.repeats import Repeated, Repeats
from soundcheck.evaluation.corpus_audit import Audit, compared
from soundcheck.results.table import to_frame

LEVEL = {
    **{"column": "accent", "group": HOSTILE, "name": "level", "title": "level", "unit": "dB"},
    **{"noticeable": 3.0, "recorded": True, "value": -30.0, "low": -32.0, "high": -28.0, "segments": 80},
    **{"speakers": 10, "others": -20.0, "gap_low": -12.0, "gap_high": -8.0, "p_value": 0.0004},
}
NO_GAP = dict.fromkeys(("others", "gap_low", "gap_high", "p_value"))
NOTHING = Repeats((), 0, 0, 0, 300, 300)


@pytest.fixture
def segments():
    numbers = np.arange(40)
    return pd.DataFrame(
        {
            "speaker": [f"s{n % 4}" for n in numbers],
            "accent": np.where(numbers % 4 < 2, HOSTILE, "irish"),
            "device": [None, "phone"] * 20,
            "duration": np.linspace(1, 5, 40),
            "level": np.where(numbers < 10, np.nan, -20.0),
            "pitch": np.nan,
            "speaking_rate": ["slow"] * 40,
            "speaking_rate (number)": np.arange(40.0),
            "bandwidth": ["wide"] * 40,  # a column of the data, of words
        }
    )


def test_medians_ranges_and_counts_by_group(segments):
    measured = {name: name for name in ("level", "duration", "pitch")}
    assert measured_in(segments) == measured | {"speaking_rate": "speaking_rate (number)"}
    found = summary(segments, ["accent", "device"]).set_index(["group", "measure"])
    groups = [ALL, f"accent: {HOSTILE}", "accent: irish", "device: phone", "device not known"]
    assert list(dict.fromkeys(found.index.get_level_values(0))) == groups
    duration, expected = found.loc[(ALL, "duration")], np.percentile(segments["duration"], [5, 50, 95])
    assert duration[["low", "median", "high"]].tolist() == pytest.approx(expected.tolist())
    assert (duration["segments"], duration["speakers"], duration["measured"]) == (40, 4, 40)
    assert found.loc[(ALL, "level")]["measured"] == 30
    irish, own = found.loc[("accent: irish", "speaking_rate")], segments["accent"].eq("irish")
    assert irish["median"] == segments["speaking_rate (number)"][own].median()
    assert (irish["segments"], irish["speakers"]) == (20, 2)


def audit(*means, repeats=NOTHING, **more) -> Audit:
    known = {"unchanging": (), "splits": (), "shared": (), "measured": {}, "block": "speaker"}
    known |= {"blocks": 20, "adjust": (), "unreadable": 0}
    return Audit(compared(means), repeats=repeats, **(known | more))


COPY = Repeated((HOSTILE, "b", "c", "d"), False, ("x", "y"), ("test", "train"), ("emotion",))
SIXTY = audit(
    repeats=Repeats((COPY,) * 60, 4, 3, 2, 290, 300),
    splits=("test", "train"),
    shared=(HOSTILE,),
    unreadable=2,
)
UNSURE = LEVEL | {"gap_low": None, "gap_high": None, "p_value": None}
STEADY = {"signal_to_noise": (40, 40), "silence": (0, 1000)}  # noise has a ratio, but nothing above it
OTHERS = dataclasses.replace(NOTHING, others=20_000)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (audit(LEVEL), "level −30.0 dB, the others −20.0 dB (difference −12.0 to −8.0 dB, p &lt; 0.001)"),
        (audit(LEVEL), "No recording more than once, among 300 sounds"),
        (audit(UNSURE), "1 difference large enough to be noticed, but not significant: accent &lt;img"),
        (audit(LEVEL | {"noticeable": 11.0}), "None of 1 difference"),
        (audit(*(LEVEL | {"group": f"g{n:02}"} for n in range(40))), "28 more significant differences"),
        (audit(splits=("a", "b")), "No speaker in more than one of 2 splits"),
        (audit(repeats=OTHERS, unused=50_000), "Compared with 20,000 of 50,000 segments of splits that"),
        (audit(blocks=1), "A single speaker"),
        (audit(measured={"signal_to_noise": (1, 40)}), "In 39 of 40 segments nothing stands out from the"),
        (audit(measured=STEADY), "In 1,000 of 1,000 segments nothing stands out from the noise"),
    ],
)
def test_what_an_audit_found_is_said(found, said):
    text = str(audited(found, audio=True))
    assert said in text and "<img" not in text
    assert ("is there speech" in text) == (found.measured != {})


def test_copies_and_overlaps_are_counted():
    text = str(audited(SIXTY, audio=True))
    for said in (
        "60 recordings more than once, as 240 segments; 60 of them in several splits; 60 under the names of",
        "several speakers; 60 with labels that differ",
        "10 sounds compared by their bytes alone",
        "4 segments of items recorded under several conditions",
        "3 segments of 2 files overlap with another one",
        "1 speaker in more than one split: &lt;img",
        "2 sounds could not be read again",
    ):
        assert said in text


def test_means_of_groups_have_intervals_beside_the_differences():
    everybody = LEVEL | NO_GAP | {"column": "", "group": "", "value": -25.0, "low": -26.0, "high": -24.0}
    other = LEVEL | NO_GAP | {"group": "other", "value": -20.0, "low": None, "high": None, "segments": 60}
    lines = {
        line[0]: line for line in cells(audited(audit(everybody, LEVEL, other | {"speakers": 4}), audio=True))
    }
    texts = {name: " ".join(filter(None, line)) for name, line in lines.items()}
    assert texts["all"] == "all level (dB) −25.0 −26.0 to −24.0 80 10"
    own = f"accent: {HOSTILE}"
    assert texts[own] == f"{own} level (dB) −30.0 −32.0 to −28.0 −10.0 −12.0 to −8.0 p < 0.001 80 10"
    assert texts["accent: other"] == "accent: other level (dB) −20.0 60 4"


ADJUSTED = {"group": f"accent: {HOSTILE}", "adjusted_by": "level", "corpus": "c"}
BY_LEVEL = audit(LEVEL, LEVEL | {"name": "bandwidth"}, adjust=("level",))


@pytest.mark.parametrize(
    ("given", "found", "said"),
    [
        (
            {},
            audit(LEVEL),
            ["Groups of accent in c were", 'href="../c.html#audit"', "<code>adjust: [level]<"],
        ),
        (ADJUSTED, BY_LEVEL, ["differences adjusted for it", "<code>adjust: [level, bandwidth]</code>"]),
        ({"group": "accent: irish"}, audit(LEVEL), []),
        ({"group": f"sex: {HOSTILE}"}, audit(LEVEL), []),
        ({"group": ""}, audit(LEVEL), []),
        ({"value": None, "passed": None, "skipped": "few"}, audit(LEVEL), []),
        ({"corpus": "d"}, audit(LEVEL), []),
        ({}, audit(LEVEL | {"name": "arousal", "recorded": False}), []),  # labels are no recordings
    ],
)
def test_pages_of_fairness_name_groups_that_were_recorded_otherwise(given, found, said):
    rows = to_frame([row(**{"corpus": "c", "group": f"accent: {HOSTILE}"} | given)])
    text = str(recorded_otherwise(rows, {"c": found}, {"c": "../c.html"}))
    assert all(part in text for part in said) and bool(said) == bool(text) and "<img" not in text
