"""Rates by length and by speaking rate against plain loops; tests that a script has no use for."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.evaluation.words import INSTEAD, fitting_tests, speech_rates
from soundcheck.metrics.word_errors import word_errors
from soundcheck.metrics.writing import unit_of
from soundcheck.report.words import rates_by_speech as drawn
from soundcheck.report.words import speech_table
from soundcheck.results.estimates import Estimate
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.evidence import Scale
from soundcheck.suite.families import TestDefinition
from soundcheck.suite.thresholds import read_family

OF_WORDS, NO_WORDS = INSTEAD["character"], INSTEAD["word"]  # tests of words, and those that are of none


def subset(said, heard, **columns):
    said, heard = (np.array([*texts, None], dtype=object)[:-1] for texts in (said, heard))
    data = pd.DataFrame({"key": [str(n) for n in range(len(said))]} | columns)
    answers = Predictions(heard)
    return Subset("talk", BUILTIN["transcript"], data, said, answers, answers, np.arange(len(said)) % 6)


def looking(**options):
    notes, skipped = [], []
    tests = {name: TestDefinition(name, "<", {"transcript": 0.1}) for name in {*OF_WORDS, *NO_WORDS}}

    @dataclasses.dataclass(frozen=True)
    class Family:
        tests: dict
        options: dict

    found = SimpleNamespace(family=Family(tests, options), interval="t", notes=notes, skipped=skipped)

    def estimate(own, measure, statistic, condition):
        found = resample(statistic, own.blocks, 100)
        ends = (float(end[0]) for end in found.interval("t", scale=Scale(0)))
        names = ("value", "low", "high", "segments", "speakers")
        numbers = (float(found.value[0]), *ends, int(found.segments[0]), int(found.blocks[0]))
        return [
            Estimate(
                "m", "c", "f", "t", measure, condition=condition, **dict(zip(names, numbers, strict=True))
            )
        ]

    found.estimate = estimate
    found.note = notes.append
    found.skip = lambda own, reason, test: skipped.append((own.corpus, test, reason))
    return found


def test_rates_by_length_and_rate_are_those_of_a_plain_loop(rng):
    words = ["go", "left", "stop"]
    said = [" ".join(rng.choice(words, rng.integers(0, 9))) for _ in range(300)]
    heard = [None if n % 10 == 0 else " ".join(rng.choice(words, rng.integers(0, 9))) for n in range(300)]
    seconds = rng.uniform(0.5, 4, 300)
    seconds[:3] = 0, np.nan, 1
    ends = {"lengths": {"word": [2, 5]}, "speaking_rates": {"word": [1, 2.5]}}
    found = speech_rates(looking(**ends), subset(said, heard, duration=seconds))
    pairs = [
        (word_errors([one], [other]), len(one.split()), second)
        for one, other, second in zip(said, heard, seconds, strict=True)
        if other is not None and one
    ]
    spans = {
        ("length", "1 to 2"): lambda count, second: count <= 2,
        ("length", "3 to 5"): lambda count, second: 2 < count <= 5,
        ("length", "more than 5"): lambda count, second: count > 5,
        ("speaking rate", "up to 1"): lambda count, second: second > 0 and count / second <= 1,
        ("speaking rate", "1 to 2.5"): lambda count, second: second > 0 and 1 < count / second <= 2.5,
        ("speaking rate", "more than 2.5"): lambda count, second: second > 0 and count / second > 2.5,
    }
    assert list(zip(found["column"], found["bin"], strict=True)) == list(spans)
    for row, inside in zip(found.itertuples(), spans.values(), strict=True):
        own = [errors for errors, count, second in pairs if inside(count, second)]
        total = sum(errors.words for errors in own)
        assert row.value == pytest.approx(sum(errors.errors for errors in own) / total, abs=1e-11)
        assert (row.units, row.segments) == (total, len(own)) and row.low < row.value < row.high
    table = str(speech_table(found))
    assert "3 to 5 words<" in table and "2.5 words a second" in table
    assert len(drawn(found).axes) == 2


def test_characters_are_counted_where_words_are_not():
    own = subset(["请向左转", "停", "今天 天气好"] * 4, ["请向右转", "停", "今天天气"] * 4)
    found = speech_rates(looking(), own)
    assert unit_of(own.truth) == "character" and found["value"].tolist() == pytest.approx([2 / 10])
    assert found["group"].tolist() == ["1 to 5 characters"] and found["unit"].tolist() == [
        "character"
    ]  # no duration
    assert len(drawn(found).axes) == 1


def test_nothing_to_show_is_an_empty_table():
    found = speech_rates(looking(), subset(["", ""], ["a", None], duration=[1.0, 2.0]))
    assert found.empty


def test_tests_that_fit_the_script():
    english, chinese = subset(["go left", "12"] * 2 + ["go"], ["go"] * 5), subset(["停", "走"], ["停", "走"])
    tests = dict.fromkeys(("Word Error Rate", "Character Error Rate With Missing", "Nobody Knows"))
    evaluation = looking()
    ((_, fitting),) = fitting_tests(evaluation, [english], tests)
    assert list(fitting) == ["Word Error Rate"] and evaluation.skipped == []
    assert not set(NO_WORDS) & set(evaluation.family.tests)  # no rows where no corpus needs them
    evaluation = looking()
    both = [list(fitting) for _, fitting in fitting_tests(evaluation, [english, chinese], tests)]
    assert both == [["Word Error Rate"], ["Character Error Rate With Missing"]]
    reasons = [reason for *_, reason in evaluation.skipped]
    assert reasons[0].endswith("by blanks: see Word Error Rate With Missing")
    assert reasons[1].endswith("told apart: see Character Error Rate")


def test_a_corpus_of_both_scripts_has_tests_of_its_own():
    both, english = subset(["go left", "停"], ["go", "停"]), subset(["go"], ["go"])
    evaluation = looking()
    evaluation.family = read_family("asr_word_errors")
    tests = dict.fromkeys(evaluation.family.tests)
    mixed, words = (set(fitting) for _, fitting in fitting_tests(evaluation, [both, english], tests))
    assert unit_of(both.truth) == "mixed"
    assert mixed - words == {
        "Mixed Error Rate",
        "Mixed Error Rate With Missing",
        "Character Error Rate Difference",
    }
    assert words - mixed == {
        "Word Error Rate",
        "Word Error Rate With Missing",
        "Word Error Rate Difference",
    }
    assert {"Match Error Rate", "Sentence Error Rate", "Character Error Rate"} <= mixed & words
    reasons = {test: reason for _, test, reason in evaluation.skipped[: len(words - mixed) + 1]}
    assert reasons["Word Error Rate"] == "some references are written without blanks: see Mixed Error Rate"
    evaluation.family = read_family("asr_word_errors")
    list(fitting_tests(evaluation, [english], tests))
    assert not set(NO_WORDS) & set(evaluation.family.tests)  # no rows where nobody needs them


def test_the_family_has_all_tests_and_says_that_some_have_no_threshold():
    family = read_family("asr_word_errors")
    assert {*OF_WORDS, *NO_WORDS} <= set(family.tests)
    without = [
        name for name, test in family.tests.items() if test.threshold_for(BUILTIN["transcript"]) is None
    ]
    assert without == ["Sentence Error Rate", "Match Error Rate", "Word Information Lost"]
