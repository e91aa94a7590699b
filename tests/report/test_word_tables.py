"""Tables of words: right numbers and safe text."""

import re

import pandas as pd

from soundcheck.evaluation.fault_localisation import EVERYBODY
from soundcheck.metrics.alignment import confusions
from soundcheck.metrics.differential import BETWEEN, NOT_ROBUST, ROBUST, Localised
from soundcheck.report import word_tables

HOSTILE = "<script>alert(1)</script>"


def test_confusions_are_shown_with_counts():
    frame = confusions(["go left", "go left", "stop"], ["go right", "go right", HOSTILE])
    text = str(word_tables.confusion_table(frame))
    assert "right" in text and ">2<" in text and HOSTILE not in text


def test_words_are_told_with_their_kind():
    words = [
        Localised("bags", 4, 3, NOT_ROBUST),
        Localised("six", 4, 0, ROBUST),
        Localised("red", 4, 1, BETWEEN),
    ]
    text = str(word_tables.word_table(words, "words"))
    assert [text.index(kind) for kind in ("not robust", ">robust", "in between")]
    assert "75.0" in text


def test_words_of_groups_are_told():
    lost = [Localised(HOSTILE, 4, 4, NOT_ROBUST), *(Localised(f"w{n}", 3, 2, NOT_ROBUST) for n in range(29))]
    pooled = [Localised("w0", 9, 6, NOT_ROBUST), Localised("six", 9, 0, ROBUST)]
    found = {("accent", "welsh"): lost, ("accent", HOSTILE): [], EVERYBODY: pooled}
    text = str(word_tables.group_words(found, "words"))
    assert HOSTILE not in text and "&lt;script&gt;" in text
    assert "accent: welsh" in text and "w0 (2 of 3)" in text and "and 10 more" in text
    assert ">29<" in text  # of 30 words that are not robust, everybody together misses all but one


def test_drops_have_the_rows_of_the_paper():
    # Average drops of the paper for native and Korean speakers: of two recognisers here.
    rows = {("IBM", "Noise"): [1.0, 3.0], ("IBM", "Drop"): [0.0, 1.0]}
    rows |= {("Google", "Noise"): [0.5, 1.0], ("Google", "Drop"): [0.5, 2.0]}
    index = pd.MultiIndex.from_tuples(rows, names=["recogniser", "transformation"])
    drops = pd.DataFrame(list(rows.values()), index=index, columns=["english", "<korean>"])
    text = str(word_tables.drop_table(drops, "drops"))
    cells = [re.findall(r"<td[^>]*>([^<]*)</td>", line) for line in text.split("<tr>")[2:]]
    shown = {tuple(row[:2]): [float(number) for number in row[2:]] for row in cells}
    assert shown == {
        ("recogniser", "IBM"): [0.5, 2.0],
        ("recogniser", "Google"): [0.5, 1.5],
        ("transformation", "Noise"): [0.75, 2.0],
        ("transformation", "Drop"): [0.25, 1.5],
        ("all", ""): [0.5, 1.75],
    }
    assert "<korean>" not in text


def test_agreement_of_drops_and_violations():
    # Table 9 (mean of the three recognisers) and Table 4 (all violations) of the paper.
    names = ["English", "Ganda", "French", "Gujarati", "Indonesian", "Korean", "Russian"]
    drops = pd.DataFrame(
        [
            [1.21, 1.51, 1.21, 1.17, 1.07, 1.55, 1.64],
            [1.03, 1.94, 1.38, 1.35, 1.48, 1.92, 1.70],
            [0.47, 0.66, 0.40, 0.48, 0.36, 0.87, 0.63],
        ],
        columns=names,
    ).mean()
    violations = pd.Series([312, 844, 413, 406, 311, 1086, 853], index=names)
    text = str(word_tables.agreement_table(drops, violations, "paper"))
    expected = drops.rank().corr(violations.rank())
    assert expected > 0.8 and f"rank correlation {expected:.2f} (Spearman, 7 groups)" in text
    assert "1086" in text
    two = word_tables.agreement_table(drops[:2], violations[:2], "paper")
    assert "fewer than 3 groups" in str(two)
    flat = word_tables.agreement_table(drops, violations * 0, "paper")
    assert "all groups are equal" in str(flat)
