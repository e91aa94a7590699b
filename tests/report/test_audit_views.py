"""What an audit found, in words: nothing unescaped, nothing dropped silently."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

from soundcheck.corpora.repeats import Repeated, Repeats
from soundcheck.evaluation.corpus_audit import Audit, compared
from soundcheck.report.corpus_views import audited, recorded_otherwise
from soundcheck.results.verdict import RESULT_COLUMNS

HOSTILE = "<script>alert(1)</script>"
LEVEL = {
    **{"column": "accent", "group": HOSTILE, "name": "level", "title": "level", "unit": "dB"},
    **{"noticeable": 3.0, "recorded": True, "value": -30.0, "low": -32.0, "high": -28.0},
    **{
        "segments": 80,
        "speakers": 10,
        "others": -20.0,
        "gap_low": -12.0,
        "gap_high": -8.0,
        "p_value": 0.0004,
    },
}
NO_GAP = dict.fromkeys(("others", "gap_low", "gap_high", "p_value"))
NOTHING = Repeats((), 0, 0, 0, 300, 300)


def audit(*means: dict, repeats: Repeats = NOTHING, **more: object) -> Audit:
    known = {"unchanging": (), "splits": (), "shared": (), "measured": {}, "block": "speaker"}
    known |= {"blocks": 20, "adjust": (), "unreadable": 0}
    return Audit(compared(means), repeats=repeats, **(known | more))


def rows(group: str, **columns: object) -> pd.DataFrame:
    values = dict.fromkeys(RESULT_COLUMNS, "") | {
        "corpus": "c",
        "group": f"accent: {group}",
        "value": 0.5,
        "gap": 0.1,
    }
    return pd.DataFrame([values | columns])


def test_differences_are_said_with_interval_and_p_value():
    text = str(audited(audit(LEVEL), audio=True))
    assert "level −30.0 dB, the others −20.0 dB (difference −12.0 to −8.0 dB, p &lt; 0.001)" in text
    assert ">p &lt; 0.001<" in text and "<script>" not in text
    assert "No recording more than once, among 300 sounds" in text


def test_means_of_groups_have_intervals_beside_the_differences():
    everybody = LEVEL | NO_GAP | {"column": "", "group": "", "value": -25.0, "low": -26.0, "high": -24.0}
    other = LEVEL | NO_GAP | {"group": "other", "value": -20.0, "low": None, "high": None, "segments": 60}
    text = str(audited(audit(everybody | {"segments": 160}, LEVEL, other | {"speakers": 4}), audio=True))
    words = re.sub(r"\s*<[^>]+>\s*", "|", text)
    assert re.search(r"\|all\|+level \(dB\)\|+−25.0\|+−26.0 to −24.0\|+160\|+10\|", words)
    assert re.search(r"−30.0\|+−32.0 to −28.0\|+−10.0\|+−12.0 to −8.0\|+p &lt; 0.001\|+80\|+10\|", words)
    assert re.search(r"accent: other\|+level \(dB\)\|+−20.0\|+60\|+4\|", words)


def test_what_is_not_significant_is_not_hidden():
    few = LEVEL | {"gap_low": None, "gap_high": None, "p_value": None}
    text = str(audited(audit(few), audio=True))
    assert "1 difference large enough to be noticed, but not significant: accent &lt;script" in text
    assert "None of 1 difference" in str(audited(audit(LEVEL | {"noticeable": 11.0}), True))
    assert "No groups to compare" in str(audited(audit(), audio=False))


def test_of_many_differences_some_are_said_and_all_are_in_the_table():
    many = [LEVEL | {"group": f"g{n:02}"} for n in range(40)]
    text = str(audited(audit(*many), audio=True))
    assert text.count("the others −20.0 dB") == 12 and "28 more significant differences" in text
    assert text.count("<td>accent: g") == 40 and "10 more rows" in text


def test_copies_splits_and_what_is_heard_twice():
    copy = Repeated((HOSTILE, "b", "c", "d"), False, ("x", "y"), ("test", "train"), ("emotion",))
    repeats = Repeats((copy,) * 60, 4, 3, 2, 290, 300)
    found = audit(repeats=repeats, splits=("test", "train"), shared=(HOSTILE,), unreadable=2)
    text = str(audited(found, audio=True))
    for words in (
        "60 recordings more than once, as 240 segments; 60 of them in several splits; 60 under the names of "
        "several speakers; 60 with labels that differ",
        "10 sounds compared by their bytes alone",
        "4 segments of items recorded under several conditions",
        "3 segments of 2 files overlap with another one",
        "1 speaker in more than one split: &lt;script&gt;",
        "2 sounds could not be read again",
        "and 1 more</td>",
        "30 more rows",
    ):
        assert words in text, words
    assert "<script>" not in text
    assert "No speaker in more than one of 2 splits" in str(audited(audit(splits=("a", "b")), True))


def test_speech_that_is_none_and_one_speaker_are_told():
    text = str(audited(audit(measured={"signal_to_noise": (1, 40)}, blocks=1), audio=True))
    assert "In 39 of 40 segments nothing stands out from the noise" in text and "A single speaker" in text
    steady = {"signal_to_noise": (40, 40), "silence": (0, 1000)}  # noise has a ratio, but nothing above it
    assert "In 1,000 of 1,000 segments nothing" in str(audited(audit(measured=steady), audio=True))
    assert "is there speech" not in str(audited(audit(measured={"silence": (0, 0)}), audio=True))


def test_splits_that_are_not_evaluated_are_told():
    some = audit(repeats=dataclasses.replace(NOTHING, others=20_000), unused=50_000)
    assert "Compared with 20,000 of 50,000 segments of splits that are not" in str(audited(some, audio=True))
    assert "splits that are not" not in str(audited(audit(), audio=True))


def test_pages_of_fairness_name_groups_that_were_recorded_otherwise():
    address = {"c": "../../corpora/c.html"}
    text = str(recorded_otherwise(rows(HOSTILE), {"c": audit(LEVEL)}, address))
    assert "Groups of accent in c were recorded differently:" in text and "<script>" not in text
    assert 'href="../../corpora/c.html#audit"' in text and "<code>adjust: [level]</code>" in text
    assert "differences adjusted for it" not in text


def test_gaps_that_are_adjusted_are_linked():
    found = {"c": audit(LEVEL, LEVEL | {"name": "bandwidth"}, adjust=("level",))}
    text = str(recorded_otherwise(rows(HOSTILE, adjusted_by="level"), found, {"c": "c.html"}))
    assert '<a href="#row-' in text and "differences adjusted for it" in text
    assert "<code>adjust: [level, bandwidth]</code>" in text  # what is missing
    level = {"c": audit(LEVEL, adjust=("level",))}
    assert "<code>" not in str(recorded_otherwise(rows(HOSTILE, adjusted_by="level"), level, {"c": "c.html"}))


@pytest.mark.parametrize(
    ("about", "change"),
    [
        ("another group", {"group": "accent: irish"}),
        ("another column", {"group": f"sex: {HOSTILE}"}),
        ("no group", {"group": ""}),
        ("skipped", {"value": np.nan}),
        ("another corpus", {"corpus": "d"}),
    ],
)
def test_other_pages_say_nothing(about, change):
    assert str(recorded_otherwise(rows(HOSTILE).assign(**change), {"c": audit(LEVEL)}, {"c": "c.html"})) == ""


def test_labels_are_no_recordings():
    label = LEVEL | {"name": "arousal", "title": "mean arousal", "unit": "", "recorded": False}
    assert str(recorded_otherwise(rows(HOSTILE), {"c": audit(label)}, {"c": "c.html"})) == ""
