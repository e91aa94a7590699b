"""Tables and figures about recognisers: right numbers, safe text, honest conclusions."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.evaluation.words import Compared
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.differential import MEAN, against_base
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


def compared(first, second, blocks, other="b"):
    blockwise, ordinary = (difference(first, second, own) for own in (blocks, np.arange(len(first))))
    return Compared("a", other, "talk", "points", 10 * len(first), blockwise, ordinary)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (1, 4, "a makes fewer word errors than b"),
        (4, 1, "a makes more word errors than b"),
        (2, 2, "which of a and b is better is inconclusive"),
    ],
)
def test_conclusion(first, second, said):
    rng = np.random.default_rng(0)
    blocks = np.arange(300) // 10
    ours, theirs = (rng.binomial(10, rate / 10, 300).astype(float) for rate in (first, second))
    text = str(recognition_tables.conclusion(compared(ours, theirs, blocks)))
    assert said in text and "30 speakers" in text and "times as wide as the ordinary one" in text


def both_ways(seed):
    """Draw errors of two recognisers in 8 blocks of 10 segments that are not alike."""
    rng = np.random.default_rng(seed)
    ours, theirs = (rng.binomial(10, rate, 80).astype(float) for rate in (0.2, 0.25))
    return compared(ours, theirs, np.arange(80) // 10)


FEWER, UNKNOWN = "a makes fewer word errors than b", "which of a and b is better is inconclusive"
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
    for resampled, bounds in ((found.blockwise, blockwise), (found.ordinary, ordinary)):
        assert 100 * np.ravel(resampled.interval(kind)) == pytest.approx(bounds, abs=0.006)
    text = str(recognition_tables.conclusion(found, kind))
    assert said in text and (FEWER in text) != (UNKNOWN in text)
    assert (OTHERWISE in text) == bool(otherwise) and otherwise in text
    assert f"({kind} 95 % interval" in text
    shown = [f"{abs(bound):.2f}" for bound in blockwise]
    assert all(bound in text for bound in shown)


@pytest.mark.parametrize("kind", ["percentile", "expanded", "gaussian"])
def test_comparison_table_has_the_chosen_interval_standard_error_and_words(kind):
    found = both_ways(45)
    text = str(recognition_tables.comparison_table([found], kind))
    assert text.count("a minus b, absolute") == 2  # resampled in both ways
    error = np.std(found.blockwise.replicates[:, 0], ddof=1)
    assert f">{100 * error:.2f}\xa0points<" in text and "standard error" in text
    assert ">words<" in text and ">800<" in text and ">80<" in text and ">8<" in text
    assert ("expanded 95 %" in text) == ("12.89" in text) == (kind == "expanded")
    assert "percentile 95 %" in text and "Gaussian 95 %" in text


def test_conclusion_without_an_interval():
    one = compared(np.array([1.0, 2.0]), np.array([2.0, 2.0]), [0, 0], HOSTILE)
    text = str(recognition_tables.conclusion(one))
    assert "Whether that is chance is inconclusive" in text and HOSTILE not in text
    none = compared(np.array([np.nan]), np.array([1.0]), [0])
    assert "nothing can be said" in str(recognition_tables.conclusion(none))


def test_counts():
    counts = {
        "in all": pd.DataFrame([[3, 0]], columns=["german", "welsh"], index=["all"]),
        "by τ": pd.DataFrame([[3, 0], [1, 0]], columns=["german", "welsh"], index=[0.01, 0.1]),
    }
    text = str(recognition_tables.count_table(counts, "Violations"))
    assert text.count("<tr>") == 4 and ">0.01<" in text
    one = {"by pair": pd.DataFrame([[3, 0]], columns=["german", HOSTILE], index=["a–b"])}
    text = str(recognition_tables.count_table(one, "Violations"))
    assert "a–b" in text and HOSTILE not in text  # a single pair is named as well


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


def test_bars_of_many_groups_are_cut_and_say_so():
    table = pd.DataFrame([np.arange(300)], index=["all"], columns=[f"group {n}" for n in range(300)])
    (axes,) = recognition_figures.violation_bars([("in all", table)]).axes
    assert len(axes.patches) == recognition_figures.MOST_GROUPS
    assert axes.get_title("right") == "the 40 of 300 groups with the most violations"
    assert min(bar.get_height() for bar in axes.patches) == 260
