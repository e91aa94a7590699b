"""Word errors: rates against plain loops, tests that a script has no use for, and two recognisers."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation import words as measured
from soundcheck.evaluation.lost_words import pair_violations
from soundcheck.evaluation.recognition import HYPOTHESIS, TranscriptReader
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.words import INSTEAD, compare, fitting_tests, group_rates, speech_rates
from soundcheck.metrics.additive import value
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.word_errors import error_rates, unit_of, word_errors
from soundcheck.metrics.word_rates import cer, group_error_rate, wer
from soundcheck.report.words import rates_by_speech as drawn
from soundcheck.report.words import speech_table
from soundcheck.results.rows import Estimate
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.evidence import Scale
from soundcheck.suite.thresholds import read_family

OF_WORDS, NO_WORDS = INSTEAD["character"], INSTEAD["word"]  # tests of words, and those that are of none


def texts(*written):
    return np.array([*written, None], dtype=object)[:-1]


def subset(said, heard, each: int = 2, **columns):
    data = pd.DataFrame({"key": [str(n) for n in range(len(said))]} | columns)
    answers, blocks = Predictions(texts(*heard)), np.arange(len(said)) // each
    return Subset("talk", BUILTIN["transcript"], data, texts(*said), answers, answers, blocks)


def looking(**options):
    """Make an evaluation that keeps what is skipped, and estimates without a run."""
    family = read_family("asr_word_errors")
    family.options.update(options)
    evaluation = SimpleNamespace(family=family, interval="t", model="a", skipped=[])
    evaluation.resample = lambda statistic, blocks: resample(statistic, blocks, 50, 0)

    def estimate(rows, measure, statistic, condition):
        made = resample(statistic, rows.blocks, 100)
        low, high = (float(end[0]) for end in made.interval("t", scale=Scale(0)))
        cells = {"value": float(made.value[0]), "low": low, "high": high, "condition": condition}
        cells |= {"segments": int(made.segments[0]), "speakers": int(made.blocks[0])}
        return [Estimate("m", "c", "f", "t", measure, **cells)]

    evaluation.estimate = estimate
    evaluation.skip = lambda rows, reason, test: evaluation.skipped.append((rows.corpus, test, reason))
    return evaluation


def random_texts(rng, count: int, lowest: int, highest: int):
    words = ["one", "two", "three"]
    return [" ".join(rng.choice(words, rng.integers(lowest, highest))) for _ in range(count)]


def test_two_bootstraps_of_one_difference():
    theirs = texts(*["one", "one two"] * 10, "three")
    rows = subset([*["one two"] * 20, "three"], [*["one two"] * 20, None])  # without it nothing is compared
    both = compare(looking(), rows, "b", theirs, "Word Error Rate Difference")
    assert both.unit == "points" and both.words == 40
    assert both.blockwise.value[0] == both.ordinary.value[0] == pytest.approx(-10 / 40)
    assert (both.blockwise.blocks[0], both.ordinary.blocks[0]) == (10, 20)


def test_rates_of_groups_are_those_of_their_segments(rng):
    said, heard = random_texts(rng, 60, 4, 5), [*random_texts(rng, 59, 0, 6), None]
    columns = {"accent": [*["welsh", "irish", None] * 20], "speaker": [f"s{n % 7}" for n in range(60)]}
    rows, evaluation = subset(said, heard, **columns), looking()
    both = rows.truth, rows.predictions.clean
    rates = {(row["column"], row["group"]): row for row in group_rates(evaluation, rows, ["accent", "sex"])}
    assert list(rates) == [("", "everybody"), ("accent", "irish"), ("accent", "welsh")]
    for (column, group), row in rates.items():
        mask = rows.mask(column, group) if column else np.ones(60, dtype=bool)
        whole = evaluation.resample(restrict(error_rates(word_errors(*both)), mask), rows.blocks)
        low, high = whole.interval("t", scale=Scale(0))
        rates = [row[name] for name in ("value", "insertions", "deletions", "substitutions")]
        assert rates == list(whole.value) and (row["low"], row["high"]) == (low[0], high[0])
        assert row["characters"] == value(restrict(cer(*both), mask))
        assert (row["segments"], row["blocks"]) == (whole.segments[0], whole.blocks[0])
        assert row["words"] == 4 * (mask & np.array([text is not None for text in heard])).sum()


def test_rates_by_length_and_rate_are_those_of_a_plain_loop(rng):
    said, heard = random_texts(rng, 300, 0, 9), random_texts(rng, 300, 0, 9)
    heard[::10] = [None] * 30
    seconds = rng.uniform(0.5, 4, 300)
    seconds[:3] = 0, np.nan, 1
    ends = {"lengths": {"word": [2, 5]}, "speaking_rates": {"word": [1, 2.5]}}
    rates = speech_rates(looking(**ends), subset(said, heard, 50, duration=seconds))
    spans = {
        "length": {"1 to 2": (0, 2), "3 to 5": (2, 5), "more than 5": (5, np.inf)},
        "speaking rate": {"up to 1": (0, 1), "1 to 2.5": (1, 2.5), "more than 2.5": (2.5, np.inf)},
    }
    expected = [(column, name, *span) for column, names in spans.items() for name, span in names.items()]
    pairs = pd.DataFrame({"said": said, "heard": heard, "length": [len(text.split()) for text in said]})
    pairs["speaking rate"] = (pairs["length"] / seconds).where(seconds > 0)
    for row, (column, name, low, high) in zip(rates.itertuples(), expected, strict=True):
        members = pairs[(pairs[column] > low) & (pairs[column] <= high) & pairs["heard"].notna()]
        errors = word_errors(members["said"].tolist(), members["heard"].tolist())
        assert (row.column, row.bin, row.segments) == (column, name, len(members))
        assert row.value == pytest.approx(errors.errors.sum() / errors.words.sum(), abs=1e-11)
        assert row.units == errors.words.sum() and row.low < row.value < row.high
    table = str(speech_table(rates))
    assert "3 to 5 words<" in table and "2.5 words a second" in table and len(drawn(rates).axes) == 2
    assert speech_rates(looking(), subset(["", ""], ["a", None], duration=[1.0, 2.0])).empty
    evaluation, rows = looking(), subset(["go", "on", "", "", ""], ["", None, "", "", "x"])
    evaluation.estimates = lambda _, measures, __: value(measures["empty_answer_rate"](None, None))
    assert measured.error_profile(evaluation, rows, {}) == 1  # of the segments in which something was said


def test_characters_are_counted_where_words_are_not():
    chinese = subset(["请向左转", "停", "今天 天气好"] * 4, ["请向右转", "停", "今天天气"] * 4)
    (row,) = speech_rates(looking(), chinese).itertuples()  # there is no duration
    assert (unit_of(chinese.truth), row.unit, row.group) == ("character", "character", "1 to 5 characters")
    both = chinese.truth, chinese.predictions.clean
    assert row.value == pytest.approx(2 / 10) == value(cer(*both)) == value(group_error_rate(*both))
    view = SimpleNamespace(name="talk", labels=lambda _: both[0], segments=chinese.segments)
    apart = (reader := TranscriptReader("basic", False, ())).apart(view, chinese.task)
    assert reader.read(["请打开 灯"], HYPOTHESIS, view.segments[:1], apart)[0] == "请 打 开 灯"
    said, heard = texts("go left now", "stop", "up"), texts("go right", "stop", None)
    assert value(wer(said, heard)) == pytest.approx(2 / 4)  # the missing transcript does not count


def fitting(evaluation, corpora, tests):
    return [set(chosen) for _, chosen in fitting_tests(evaluation, corpora, dict.fromkeys(tests))]


def test_tests_that_fit_the_script():
    english, chinese = subset(["go left", "12"] * 2 + ["go"], ["go"] * 5), subset(["停", "走"], ["停", "走"])
    tests, evaluation = ("Word Error Rate", "Character Error Rate With Missing", "Nobody Knows"), looking()
    assert fitting(evaluation, [english], tests) == [{"Word Error Rate"}] and evaluation.skipped == []
    evaluation = looking()
    both = fitting(evaluation, [english, chinese], tests)
    assert both == [{"Word Error Rate"}, {"Character Error Rate With Missing"}]
    reasons = [reason for *_, reason in evaluation.skipped]
    assert reasons[0].endswith("by blanks: see Word Error Rate With Missing")
    assert reasons[1].endswith("told apart: see Character Error Rate")


def test_a_corpus_of_both_scripts_has_tests_of_its_own():
    both, english, evaluation = subset(["go left", "停"], ["go", "停"]), subset(["go"], ["go"]), looking()
    tests = evaluation.family.tests
    mixed, words = fitting(evaluation, [both, english], tests)
    assert unit_of(both.truth) == "mixed" and {*OF_WORDS, *NO_WORDS} <= set(tests)
    mixed_only = {"Mixed Error Rate", "Mixed Error Rate With Missing", "Character Error Rate Difference"}
    assert mixed - words == mixed_only
    assert {"Word Error Rate", "Word Error Rate Difference"} <= words - mixed
    reason = next(why for _, test, why in evaluation.skipped if test == "Word Error Rate")
    assert reason == "some references are written without blanks: see Mixed Error Rate"


def test_violations_are_counted_between_recognisers_alone():
    pairs = [SimpleNamespace(column="accent", groups=["a", "b"], with_transcripts=way) for way in (0, 1)]
    totals = {"in all": pd.DataFrame({"a": [3], "b": [1]}, index=["all"])}
    evaluation = SimpleNamespace(recogniser_pairs=lambda _: pairs, excluded=set())
    evaluation.violation_counts = lambda chosen, _: totals if chosen == pairs[:1] else {}
    counts = pair_violations(evaluation, None)
    assert counts.to_dict("list") == {("accent", "a"): [3], ("accent", "b"): [1]}
