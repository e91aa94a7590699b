"""Scripts without blanks between words are told by their letters."""

import numpy as np
import pytest

from soundcheck.metrics.word_errors import character_errors, error_rates
from soundcheck.metrics.writing import mostly_without_blanks, without_blanks


@pytest.mark.parametrize(
    "text",
    [
        "请向左转",
        "今日はいい天気ですね",
        "ｶﾀｶﾅ",
        "วันนี้อากาศดี",
        "ມື້ນີ້",
        "ថ្ងៃនេះ",
        "ဒီနေ့",
        "今天 iPhone 在我们店里打折了吗",
    ],
)
def test_written_without_blanks(text):
    assert without_blanks([text]).tolist() == [True]


@pytest.mark.parametrize(
    "text",
    [
        "go left",
        "오늘 날씨가 좋다",
        "hôm nay trời đẹp",
        "اليوم الطقس جميل",
        "היום יפה",
        "आज मौसम",
        "١٢٣",
        "",
        "…",
    ],
)
def test_written_with_blanks(text):
    assert without_blanks([text, None, np.nan]).tolist() == [False] * 3


def test_most_texts_decide_not_most_letters():
    assert not mostly_without_blanks(["左转", "停", "one", "two"])
    assert mostly_without_blanks(["左转", "停", "a very long one in English", "走"])
    assert not mostly_without_blanks([]) and not mostly_without_blanks([None, "12"])


def test_blanks_are_no_characters_of_such_languages():
    said, heard = ["今天 天气 好"], ["今天天气坏"]
    assert value_of(said, heard, blanks=True) == pytest.approx(3 / 7)
    assert value_of(said, heard, blanks=False) == pytest.approx(1 / 5)


def value_of(said, heard, **options):
    counts = character_errors(said, heard, **options)
    return error_rates(counts).point().value[0]
