"""Transcripts under all settings belong to the predictions; groups and comparisons count words."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.eligibility import lacks, skip_small_groups
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import CLEAN, Predictions, Subset, TransformedPredictions
from soundcheck.evaluation.words import cer, compare, group_rates, wer
from soundcheck.metrics.additive import value
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.word_errors import error_rates, word_errors
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.evidence import Scale


def texts(*written):
    return np.array(written, dtype=object)


def subset(truth, predictions, **columns):
    data = pd.DataFrame({"key": [str(n) for n in range(len(truth))]} | columns)
    return Subset(
        "talk", BUILTIN["transcript"], data, truth, predictions, predictions, np.arange(len(truth)) // 2
    )


def test_levels_of_a_transformation_keep_their_order_and_rows():
    settings = {CLEAN: texts("a", "b", "c"), ("Noise", "20 dB"): texts("a", None, "c")}
    settings |= {("Drop", "1"): texts("x", "y", "z"), ("Noise", "0 dB"): texts("", "b", "d")}
    predictions = TransformedPredictions(settings[CLEAN], settings=settings)
    assert [list(level) for level in predictions.levels("Noise")] == [["a", None, "c"], ["", "b", "d"]]
    assert predictions.levels("Echo") == []
    taken = subset(settings[CLEAN], predictions).take(np.array([0, 2])).predictions
    assert list(taken.clean) == ["a", "c"] and taken.changed is None
    assert [list(level) for level in taken.levels("Noise")] == [["a", "c"], ["", "d"]]


def test_error_rates():
    said, heard = texts("go left now", "stop", "up"), texts("go right", "stop", None)
    assert value(wer(said, heard)) == pytest.approx(2 / 4)  # the missing transcript does not count
    assert value(cer(texts("abcd"), texts("abxd"))) == pytest.approx(1 / 4)


def judging(own, **options):
    """An evaluation that looks at some segments of a corpus, and notes what is skipped."""
    view, skipped = SimpleNamespace(name="talk", segments=own.segments), []
    family = SimpleNamespace(options=options, label=False, name="f")
    found = SimpleNamespace(family=family, tasks=[own.task], corpora=[view], seed=0, skipped=skipped)
    found.skip = lambda _, reason, test, column: skipped.append((reason, test, column))
    return found


def test_groups_need_enough_words_and_each_other():
    said = texts("one two three", "one two three", "one", "one two three four")
    own = subset(said, Predictions(said), accent=["welsh", "welsh", "irish", "scottish"])
    evaluation = judging(own, minimum_words=4)
    assert lacks(evaluation, own, "accent") == {"irish": "1 word, 4 needed", "scottish": "", "welsh": ""}
    assert lacks(evaluation, own, "sex") == {}
    assert Evaluation.groups(evaluation, own, "accent") == ["scottish", "welsh"]
    alone = judging(own, minimum_words=5)
    assert Evaluation.groups(alone, own, "accent") == []  # one alone has nothing to be compared with


def test_small_groups_are_listed_and_skipped():
    said = texts(*["one"] * 12)
    accents = ["welsh"] * 5 + ["irish"] * 4 + ["scottish"] * 2 + [None]
    own = subset(said, Predictions(said), accent=accents, speaker=[f"s{n % 3}" for n in range(12)])
    evaluation = judging(own, minimum_segments=4, groups=["accent", "sex"])
    looked_at = own.take(np.array([0, 1, 2, 3, 5, 6, 9]))  # two of four irish segments
    rows = skip_small_groups(evaluation, looked_at, ["A", "B"])
    assert rows == [
        ("talk", "accent", "irish", 4, 3, "2 transformed segments, 4 needed"),
        ("talk", "accent", "scottish", 2, 2, "2 segments, 4 needed"),
    ]
    assert evaluation.skipped[2:] == [
        ("2 segments, 4 needed", "A", "accent: scottish"),
        ("2 segments, 4 needed", "B", "accent: scottish"),
    ]
    assert skip_small_groups(judging(own, minimum_segments=1, groups=["accent"]), own, ["A"]) == []


def test_two_bootstraps_of_one_difference():
    said = texts(*["one two"] * 20, "three")
    own, theirs = texts(*["one two"] * 20, None), texts(*["one", "one two"] * 10, "three")
    rows = subset(said, Predictions(own))
    evaluation = SimpleNamespace(model="a", resample=lambda s, blocks: resample(s, blocks, 50, 0))
    found = compare(evaluation, rows, "b", theirs, "Word Error Rate Difference")
    # The segment that one of them has no transcript of does not count
    assert found.unit == "points" and found.words == 40
    assert found.blockwise.value[0] == found.ordinary.value[0] == pytest.approx(-10 / 40)
    assert (found.blockwise.blocks[0], found.ordinary.blocks[0]) == (10, 20)


def test_rates_of_groups_are_those_of_their_segments():
    rng = np.random.default_rng(1)
    words = np.array(["one", "two", "three"])
    said = texts(*(" ".join(rng.choice(words, size=4)) for _ in range(60)))
    own = texts(*(" ".join(rng.choice(words, size=rng.integers(0, 6))) for _ in range(59)), None)
    accent = [*["welsh", "irish", None] * 20]
    rows = subset(said, Predictions(own), accent=accent, speaker=[f"s{n % 7}" for n in range(60)])
    evaluation = SimpleNamespace(interval="t", resample=lambda s, blocks: resample(s, blocks, 50, 0))
    found = {(row["column"], row["group"]): row for row in group_rates(evaluation, rows, ["accent", "sex"])}
    assert list(found) == [("", "everybody"), ("accent", "irish"), ("accent", "welsh")]
    for (column, group), row in found.items():
        mask = rows.mask(column, group) if column else np.ones(60, dtype=bool)
        whole = evaluation.resample(restrict(error_rates(word_errors(said, own)), mask), rows.blocks)
        low, high = whole.interval("t", scale=Scale(0))
        assert [row[name] for name in ("value", "insertions", "deletions", "substitutions")] == list(
            whole.value
        )
        assert (row["low"], row["high"]) == (low[0], high[0])
        assert row["characters"] == value(restrict(cer(said, own), mask))
        assert (row["segments"], row["blocks"]) == (whole.segments[0], whole.blocks[0])
        there = mask & np.array([text is not None for text in own])
        assert row["words"] == 4 * there.sum()
