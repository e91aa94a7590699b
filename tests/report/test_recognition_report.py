"""Tables and figures about recognisers: right numbers, safe text, honest conclusions."""

import re

import numpy as np
import pandas as pd
import pytest

from soundcheck.evaluation.recognition_measures import EVERYBODY
from soundcheck.metrics.alignment import confusions
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.differential import BETWEEN, MEAN, NOT_ROBUST, ROBUST, Localised, against_base
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.report import recognition_figures, recognition_tables
from soundcheck.statistics.bootstrap import resample
from soundcheck.suite.families import Perturbation, PerturbationSeries
from soundcheck.suite.thresholds import read_family

HOSTILE = "<script>alert(1)</script>"


def difference(first, second, blocks):
    words = np.full(len(first), 10.0)
    statistic = paired_difference(word_error_rate(words, first), word_error_rate(words, second))
    return resample(statistic, np.asarray(blocks), 300, 0)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (1, 4, "a makes fewer word errors than b"),
        (4, 1, "a makes more word errors than b"),
        (2, 2, "the evidence does not tell which of a and b is better"),
    ],
)
def test_conclusion(first, second, said):
    rng = np.random.default_rng(0)
    blocks = np.arange(300) // 10
    ours, theirs = (rng.binomial(10, rate / 10, 300).astype(float) for rate in (first, second))
    found = difference(ours, theirs, blocks)
    text = str(
        recognition_tables.conclusion("a", "b", "talk", found, difference(ours, theirs, np.arange(300)))
    )
    assert said in text and "30 blocks" in text and "times as wide as the ordinary one" in text


def both_ways(seed):
    """Draw errors of two recognisers in 8 blocks of 10 segments that are not alike."""
    rng = np.random.default_rng(seed)
    ours, theirs = (rng.binomial(10, rate, 80).astype(float) for rate in (0.2, 0.25))
    return difference(ours, theirs, np.arange(80) // 10), difference(ours, theirs, np.arange(80))


FEWER, UNKNOWN = "a makes fewer word errors than b", "the evidence does not tell"
OTHERWISE = "Resampling single segments would have said otherwise"
WHY = f"{OTHERWISE}, because it takes them for independent."


@pytest.mark.parametrize(
    ("seed", "kind", "blockwise", "ordinary", "said", "otherwise"),
    [  # bounds in points, rounded: what the sentence says follows those of the chosen kind
        (45, "percentile", (-11.75, -0.06), (-8.69, -0.81), FEWER, ""),
        (45, "expanded", (-12.89, 0.95), (-8.75, -0.75), UNKNOWN, WHY),
        (45, "gaussian", (-11.07, 1.07), (-8.88, -1.12), UNKNOWN, WHY),
        # Here the ordinary interval is the wider one, so that dependence cannot be why it holds zero.
        (94, "percentile", (-6.00, -0.68), (-7.38, 0.38), FEWER, f"{OTHERWISE}."),
        (94, "expanded", (-6.50, 0.11), (-7.41, 0.50), UNKNOWN, ""),
        (94, "gaussian", (-5.89, -0.86), (-7.45, 0.70), FEWER, f"{OTHERWISE}."),
    ],
)
def test_conclusion_follows_the_chosen_interval(seed, kind, blockwise, ordinary, said, otherwise):
    found = both_ways(seed)
    for resampled, bounds in zip(found, (blockwise, ordinary), strict=True):
        assert 100 * np.ravel(resampled.interval(kind)) == pytest.approx(bounds, abs=0.006)
    text = str(recognition_tables.conclusion("a", "b", "talk", *found, kind))
    assert said in text and (FEWER in text) != (UNKNOWN in text)
    assert (OTHERWISE in text) == bool(otherwise) and otherwise in text
    assert f"({kind} 95 % interval" in text
    shown = [f"{abs(bound):.2f}" for bound in blockwise]
    assert all(bound in text for bound in shown)


@pytest.mark.parametrize("kind", ["percentile", "expanded", "gaussian"])
def test_comparison_table_has_the_chosen_interval_standard_error_and_words(kind):
    found, _ = both_ways(45)
    row = recognition_tables.comparison_row("a minus b", "blockwise", found, "points", 800, kind)
    text = str(recognition_tables.comparison_table([row], kind))
    error = np.std(found.replicates[:, 0], ddof=1)
    assert f">{100 * error:.2f}\xa0points<" in text and "standard error" in text
    assert ">words<" in text and ">800<" in text and ">80<" in text and ">8<" in text
    assert ("expanded 95 %" in text) == ("12.89" in text) == (kind == "expanded")
    assert "percentile 95 %" in text and "Gaussian 95 %" in text


def test_conclusion_without_an_interval():
    one = difference(np.array([1.0, 2.0]), np.array([2.0, 2.0]), [0, 0])
    text = str(recognition_tables.conclusion("a", HOSTILE, "talk", one, one))
    assert "Whether that is chance cannot be told" in text and HOSTILE not in text
    none = difference(np.array([np.nan]), np.array([1.0]), [0])
    assert "nothing can be said" in str(recognition_tables.conclusion("a", "b", "talk", none, none))


def test_aligned_words_are_escaped_and_marked():
    text = str(recognition_tables.aligned_words(f"go {HOSTILE} left", "go right now left"))
    assert HOSTILE not in text and "&lt;script&gt;" in text
    assert "≠" in text and "+" in text
    long = str(recognition_tables.aligned_words("go " * 500, "stop"))
    assert "300 more words are not shown" in long


def test_confusions_are_shown_with_counts():
    frame = confusions(["go left", "go left", "stop"], ["go right", "go right", HOSTILE])
    text = str(recognition_tables.confusion_table(frame))
    assert "right" in text and ">2<" in text and HOSTILE not in text


def test_counts_and_words():
    counts = {
        "in all": pd.DataFrame([[3, 0]], columns=["german", "welsh"], index=["all"]),
        "by τ": pd.DataFrame([[3, 0], [1, 0]], columns=["german", "welsh"], index=[0.01, 0.1]),
    }
    text = str(recognition_tables.count_table(counts, "Violations"))
    assert text.count("<tr>") == 4 and ">0.01<" in text
    one = {"by pair": pd.DataFrame([[3, 0]], columns=["german", HOSTILE], index=["a–b"])}
    text = str(recognition_tables.count_table(one, "Violations"))
    assert "a–b" in text and HOSTILE not in text  # a single pair is named as well
    words = [
        Localised("bags", 4, 3, NOT_ROBUST),
        Localised("six", 4, 0, ROBUST),
        Localised("red", 4, 1, BETWEEN),
    ]
    text = str(recognition_tables.word_table(words, "words"))
    assert [text.index(kind) for kind in ("not robust", ">robust", "in between")]
    assert "75.0" in text


def test_words_of_groups_are_told():
    lost = [Localised(HOSTILE, 4, 4, NOT_ROBUST), *(Localised(f"w{n}", 3, 2, NOT_ROBUST) for n in range(29))]
    pooled = [Localised("w0", 9, 6, NOT_ROBUST), Localised("six", 9, 0, ROBUST)]
    found = {("accent", "welsh"): lost, ("accent", HOSTILE): [], EVERYBODY: pooled}
    text = str(recognition_tables.group_words(found, "words"))
    assert HOSTILE not in text and "&lt;script&gt;" in text
    assert "accent: welsh" in text and "w0 (2 of 3)" in text and "and 10 more" in text
    assert ">29<" in text  # of 30 words that are not robust, everybody together misses all but one


def test_drops_have_the_rows_of_the_paper():
    # Average drops of the paper for native and Korean speakers: of two recognisers here.
    rows = {("IBM", "Noise"): [1.0, 3.0], ("IBM", "Drop"): [0.0, 1.0]}
    rows |= {("Google", "Noise"): [0.5, 1.0], ("Google", "Drop"): [0.5, 2.0]}
    index = pd.MultiIndex.from_tuples(rows, names=["recogniser", "transformation"])
    drops = pd.DataFrame(list(rows.values()), index=index, columns=["english", "<korean>"])
    text = str(recognition_tables.drop_table(drops, "drops"))
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
    text = str(recognition_tables.agreement_table(drops, violations, "paper"))
    expected = drops.rank().corr(violations.rank())
    assert expected > 0.8 and f"rank correlation {expected:.2f} (Spearman, 7 groups)" in text
    assert "1086" in text
    two = recognition_tables.agreement_table(drops[:2], violations[:2], "paper")
    assert "fewer than 3 groups" in str(two)
    flat = recognition_tables.agreement_table(drops, violations * 0, "paper")
    assert "all groups are equal" in str(flat)


def test_violations_beside_those_of_a_base():
    tables = {
        "in all": against_base({"male": 28, "female": 176, HOSTILE: 1400}, "male")[1],
        "comprehensible": against_base({"male": 0, "female": 5, HOSTILE: 2}, "male")[1],
    }
    text = str(recognition_tables.base_table(tables, "male", "Violations"))
    assert "6.29" in text and "+528.6" in text and "1,400" in text and "+2,714.3" not in text
    assert text.count("male has none") == 3 and HOSTILE not in text
    assert text.count("<tr>") == 1 + 2 + 1 and MEAN in text


def test_figures_are_drawn():
    rates = pd.DataFrame(
        {
            "group": ["a", HOSTILE],
            "value": [0.2, np.nan],
            "low": [0.1, np.nan],
            "high": [0.4, np.nan],
            "segments": 3,
        }
    )
    assert len(recognition_figures.rate_bars(rates, 0.2).axes) == 1
    levels = pd.DataFrame(
        [(t, s, g, 0.1) for t in ("Noise", "Drop", "Scale") for s in "12" for g in ("x", "y")],
        columns=["transformation", "level", "group", "value"],
    )
    assert len(recognition_figures.degradation_curves(levels, "degradation").axes) == 4
    table = pd.DataFrame([[1, 2], [3, 4]], columns=["x", "y"], index=["a", "b"])
    assert len(recognition_figures.violation_bars([("by τ", table), ("by pair", table)]).axes) == 2
    assert recognition_figures.rating_curves({"Noise": {"10": 7.2, "2": 6.8}}, 7.2).axes
    drawn = {"blockwise": np.array([0.1, np.nan, 0.2]), "ordinary": np.array([0.1, 0.3])}
    assert recognition_figures.replicates_of_difference(drawn, 0.1, "difference").axes
    assert recognition_figures.replicates_of_difference({}, 0.1, "difference").axes


def test_pages_say_which_signals_were_rated():
    def notes(**given):
        steps = {
            name: PerturbationSeries(
                name, "", {"1": Perturbation(name, "x", {} if kind is None else {"definition": kind})}
            )
            for name, kind in given.items()
        }
        return " ".join(recognition_tables.rating_notes(steps))

    said = notes(Clipping="text", High="text", Low="text", Noise=None)
    assert said.startswith("Clipping, High and Low: people rated signals as the released generator makes")
    assert notes(Clipping="released", Low="text").startswith("Low: people rated")
    assert notes(Clipping="released", Noise=None) == "The signals are made as those were that people rated."
    shipped = read_family("asr_fairness").transformations
    assert recognition_tables.rating_notes(shipped)[0].startswith("Clipping, High pass and Low pass: ")
