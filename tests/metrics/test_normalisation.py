"""Normalisers: idempotence, scripts, apostrophes; the package as the oracle; texts that would take long."""

import importlib.metadata
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from whisper_normalizer import basic as whisper_basic
from whisper_normalizer import english as whisper_english

from soundcheck.metrics.normalisation import NORMALISERS, is_turkic, noise_marks

none, basic = NORMALISERS["none"], NORMALISERS["basic"]
basic_whisper, english = NORMALISERS["whisper-basic"], NORMALISERS["whisper-english"]

TEXTS = yaml.safe_load(Path(__file__).with_name("texts.yml").read_text("utf-8"))
pieces = st.sampled_from(
    [*"% %HESITATION ' ’ : · \" א [ ] noise <unk> \u0301 \u0345 \u200d ﾞ İ ß ´ a é".split(), " "]
)
anything = st.lists(st.one_of(pieces, st.characters()), max_size=12).map("".join)


@pytest.mark.parametrize("kind", ["basic", "signs between words"])
def test_basic(kind):
    for text, expected in TEXTS[kind].items():
        assert basic(text) == expected == basic(expected)


@settings(max_examples=60, deadline=None)
@given(anything)
def test_ours_are_idempotent_and_leave_words_only(text):
    for normaliser in (none, basic):
        once = normaliser(text)
        assert normaliser(once) == once
        assert once == " ".join(once.split())
    if text.isascii():  # the short way for plain texts is the same
        assert " ".join([basic(text), "é"]).strip() == basic(text + " é")
    for word in basic(text).split():
        assert unicodedata.category(word[0])[0] in "LNC" and not word.endswith("'")
        assert all(character in "':·\"" or unicodedata.category(character)[0] in "LMNC" for character in word)


SPOKEN = (
    "one two twenty oh zero hundred million decillion and a half point double triple first tenths twentieth "
    "dollars per cent percent minus plus $ £5 ¢7 3 3.5 1,000 1960s o'neil won't can't 's ' n't ( ) () < > [ "
    "] (a) [b] <c> um mr st { colour it's . % é - ٣ ² ½ been got"
).split()


def drawn_texts(rng):
    between = np.array(["", " ", "  ", "\t", " \n  "])
    for _ in range(500):
        yield "".join(word + rng.choice(between) for word in rng.choice(SPOKEN, rng.integers(0, 12)))


def test_whispers_are_those_of_the_package(rng):
    theirs, theirs_english = whisper_basic.BasicTextNormalizer(), whisper_english.EnglishTextNormalizer()
    for text in drawn_texts(rng):
        assert basic_whisper(text) == " ".join(theirs(text).split()), text
        assert english(text) == " ".join(theirs_english(text).split()), text
    assert english.version.endswith(importlib.metadata.version("whisper-normalizer"))


def test_the_leaderboard_joins_letters_drops_ellipses_and_is_whisper_without_later_rules(rng):
    leaderboard = NORMALISERS["open-asr"]
    assert {text: leaderboard(text) for text in TEXTS["leaderboard"]} == TEXTS["leaderboard"]
    for _ in range(500):
        text = " ".join(word for word in rng.choice(SPOKEN, rng.integers(0, 12)) if word != ".")
        assert leaderboard(text) == english(text), text
    assert [leaderboard(word) for word in ("kinda", "cause", "dunno")] == ["kinda", "cause", "dunno"]
    assert english("kinda") == "kinda"


def test_numbers_that_are_too_long_for_the_package_of_whisper_are_kept():
    number = "9" * 5000
    assert english(f"He said {number} twenty one times") == f"he said {number} 21 times"


def test_what_writing_puts_inside_of_words_does_not_split_them():
    for language, texts in TEXTS["one word, written in several ways"].items():
        normalised = {basic(text) for text in texts}
        assert len(normalised) == 1, (language, normalised)
        (word,) = normalised
        assert word and " " not in word and basic(word) == word


def test_turkish_and_azeri_have_capitals_of_their_own():
    turkic = "tr tur Turkish tr-TR tr_TR az aze azj Azeri Azerbaijani az-Latn TÜRKÇE türkisch crh".split()
    assert all(map(is_turkic, turkic))
    assert not any(map(is_turkic, ["en", "trv", "azz", "Trukese", "de-TR", "", None, np.nan, "uz"]))
    assert basic("İstanbul'da IŞIK, DIŞI", turkic=True) == "istanbul'da ışık dışı"
    assert basic("I\u0307ZMI\u0307R", turkic=True) == "izmir"
    assert none("IŞIK", turkic=True) == "IŞIK"


def test_marks_of_noises_are_no_words():
    for mark in TEXTS["marks of noises"]:
        assert noise_marks(f"go {mark} left") == [mark]
        assert basic(f"go {mark} left") == "go left" and basic(mark) == "", mark
        assert basic(f"go{mark}left") in ("go left", "gohesitation left") or mark[0] in "%!+*~/&", mark
        if mark != "%HESITATION":  # dropped as before
            assert NORMALISERS["basic-with-marks"](f"go {mark} left") != "go left", mark
    # A word that is said with laughter stays.
    text = "[laughter-yes] oh [LAUGHTER-I'm] [laughter]"
    assert noise_marks(text) == text.replace(" oh", "").split()
    assert basic(text) == "yes oh i'm"
    for text, expected in TEXTS["ordinary words in brackets"].items():
        assert noise_marks(text) == [] and basic(text) == expected
