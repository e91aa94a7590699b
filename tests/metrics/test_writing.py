"""Scripts without blanks between words are told by their letters."""

import jiwer
import numpy as np
import pytest

from soundcheck.metrics.word_errors import character_errors, error_rates
from soundcheck.metrics.writing import characters_apart, closed_up, unit_of, without_blanks


@pytest.mark.parametrize(
    "text",
    "请向左转|今日はいい天気ですね|ｶﾀｶﾅ|วันนี้อากาศดี|ມື້ນີ້|ថ្ងៃនេះ|ဒီနေ့|今天 iPhone 在我们店里打折了吗".split("|"),
)
def test_written_without_blanks(text):
    assert without_blanks([text]).tolist() == [True]


@pytest.mark.parametrize(
    "text", "go left|오늘 날씨가 좋다|hôm nay trời đẹp|اليوم الطقس جميل|היום יפה|आज मौसम|١٢٣||…".split("|")
)
def test_written_with_blanks(text):
    assert without_blanks([text, None, np.nan]).tolist() == [False] * 3


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (["左转", "停", "one", "two"], "mixed"),
        (["左转", "停", "12", None, "…"], "character"),
        (["左转 iPhone 在我们店里", "停"], "character"),
        (["go left", "12", "오늘"], "word"),
        (["go 左", "left"], "mixed"),
        (["i want to 吃饭 today", "turn left"], "mixed"),
        (["我 想 要 iphone 手机", "hello world"], "mixed"),
        (["go 左", *["turn left now please"] * 9], "word"),
        ([None, "12"], "word"),
        ([], "word"),
    ],
)
def test_each_reference_has_a_unit_and_two_are_mixed(texts, unit):
    assert unit_of(texts) == unit


@pytest.mark.parametrize(
    ("written", "apart", "closed"),
    [
        ("我要去 new york 看看", "我 要 去 new york 看 看", "我要去new york看看"),
        ("今日は iphone15 を 買う", "今 日 は iphone15 を 買 う", "今日はiphone15を買う"),
        ("ไม่ ok", "ไ ม ่ ok", "ไม่ok"),
        ("go left", "go left", "go left"),
        ("12 月 5 日", "12 月 5 日", "12月5日"),
        ("", "", ""),
    ],
)
def test_characters_of_such_scripts_are_words_of_their_own(written, apart, closed):
    assert characters_apart(written) == apart and closed_up(apart) == closed == closed_up(written)


def test_characters_of_mixed_texts_are_those_of_jiwer():
    said, heard = ["我 要 去 new york", "turn left now"], ["我要 去 new work", "turn left"]
    theirs = jiwer.cer(["我要去new york", "turn left now"], ["我要去new work", "turn left"])
    assert value_of(said, heard, blanks=None) == pytest.approx(theirs)


def test_blanks_are_no_characters_of_such_languages():
    said, heard = ["今天 天气 好"], ["今天天气坏"]
    assert value_of(said, heard, blanks=True) == pytest.approx(3 / 7)
    assert value_of(said, heard, blanks=False) == pytest.approx(1 / 5)


def value_of(said, heard, **options):
    counts = character_errors(said, heard, **options)
    return error_rates(counts).point().value[0]
