"""Normalisers: idempotence, scripts, apostrophes; the package as the oracle; texts that would take long."""

import importlib.metadata
import subprocess
import sys
import time
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.normalisation import NORMALISERS, Normaliser, changed_examples

none, basic = NORMALISERS["none"], NORMALISERS["basic"]
basic_whisper, english = NORMALISERS["whisper-basic"], NORMALISERS["whisper-english"]

pieces = st.sampled_from(
    ["%HESITATION", "'", "’", "\u0301", "\u0345", "\u200d", "ﾞ", "İ", "ß", "´", " ", "a", "é"]
)
anything = st.lists(st.one_of(pieces, st.characters()), max_size=12).map("".join)


def test_names_are_a_closed_ordered_list():
    assert list(NORMALISERS) == ["none", "basic", "whisper-basic", "whisper-english", "open-asr"]
    assert all(name == normaliser.name for name, normaliser in NORMALISERS.items())
    assert all(each.version and each.description.endswith(".") for each in NORMALISERS.values())
    assert english.version == importlib.metadata.version("whisper-normalizer")
    with pytest.raises(TypeError):
        NORMALISERS["mine"] = none
    with pytest.raises(AttributeError):
        none.version = "2"


def test_none_settles_white_space_only():
    assert none("  It's\t“A”,\n b.\u00a0C ") == "It's “A”, b. C"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" ?! … ", ""),
        ("Please, call Stella.", "please call stella"),
        ("Don’t! it's DON'T", "don't it's don't"),
        ("it`s it´s it‘s itʼs it＇s", "it's it's it's it's it's"),
        ("'tis the dogs' rock 'n' roll, o'clock", "tis the dogs rock n roll o'clock"),
        ("a''b 'c' d'", "a b c d"),
        ("well-known 3.5 1,000 50% £5 a_b", "well known 3 5 1 000 50 5 a b"),
        ("%HESITATION uh %hesitation. (％HESITATION)", "uh"),
        ("hesitation %hesitations", "hesitation hesitations"),
        ("Straße ΣΑΣ ﬁn ＡＢＣ ²", "strasse σασ fin abc 2"),
        ("e\u0301 é", "é é"),
        ("हिन्दी में। नमस्ते!", "हिन्दी में नमस्ते"),
        ("ไม่เป็นไร", "ไม่เป็นไร"),
        ("வணக்கம், தமிழ்", "வணக்கம் தமிழ்"),
        ("你好，世界。", "你好 世界"),
        ("soft\u00adhyphen zero\u200bwidth می\u200cخواهم", "softhyphen zero width میخواهم"),
        ("I ❤️ you 1️⃣", "i you 1"),
        ("\u0301 ¨ a\u0301", "á"),
        ("<b>bold</b>\x00\x07x", "b bold b x"),
        ("\ud800 lone", "lone"),
    ],
)
def test_basic(text, expected):
    assert basic(text) == expected
    assert basic(expected) == expected


@settings(max_examples=250, deadline=None)
@given(anything)
def test_ours_are_idempotent_and_leave_words_only(text):
    for normaliser in (none, basic):
        once = normaliser(text)
        assert normaliser(once) == once
        assert once == " ".join(once.split())
    for word in basic(text).split():
        assert unicodedata.category(word[0])[0] in "LNC" and not word.endswith("'")
        assert all(character == "'" or unicodedata.category(character)[0] in "LMNC" for character in word)


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_plain_texts_is_the_same(text):
    assert " ".join([basic(text), "é"]).strip() == basic(text + " é")


def test_every_character_is_settled_at_once():
    for code in range(0, 0x110000, 23):
        character = chr(code)
        for text in (f"a{character}b", f"'{character}'a"):
            once = basic(text)
            assert basic(once) == once


SPOKEN = (
    "one two twenty oh zero hundred million decillion and a half point double triple first tenths twentieth "
    "dollars per cent percent minus plus $ £5 ¢7 3 3.5 1,000 1960s o'neil won't can't 's ' n't ( ) () < > [ "
    "] (a) [b] <c> um mr st { colour it's . % é - ٣ ² ½ been got"
).split()


@pytest.mark.parametrize("name", ["basic", "english"])
def test_whispers_are_those_of_the_package(name, rng):
    if name == "english":
        from whisper_normalizer.english import EnglishTextNormalizer as Theirs
    else:
        from whisper_normalizer.basic import BasicTextNormalizer as Theirs
    theirs, ours = Theirs(), NORMALISERS[f"whisper-{name}"]
    between = np.array(["", " ", "  ", "\t", " \n  "])
    for _ in range(1000):
        drawn = rng.choice(SPOKEN, rng.integers(0, 12))
        text = "".join(word + rng.choice(between) for word in drawn)
        assert ours(text) == " ".join(theirs(text).split()), text


LETTERS = [
    ("The U.S.A. won", "the usa won"),
    ("the u.s.a won", "the usa won"),
    ("a U.S. ship", "a us ship"),
    ("A.B.C.D. and W.X.Y.Z", "abcd and wxyz"),
    ("two A.B.C.s", "2 abcs"),
    ("at 3 p.m. sharp", "at 3 pm sharp"),
    ("Wait ... what?....", "wait what"),
    ("so...", "so"),
    ("3...5", "3 5"),
    ("u.m. is no um", "um is no"),
]


@pytest.mark.parametrize(("text", "expected"), LETTERS)
def test_the_leaderboard_joins_letters_and_drops_ellipses(text, expected):
    assert NORMALISERS["open-asr"](text) == expected


def test_elsewhere_the_leaderboard_is_whisper_without_later_rules(rng):
    leaderboard = NORMALISERS["open-asr"]
    for _ in range(1000):
        text = " ".join(word for word in rng.choice(SPOKEN, rng.integers(0, 12)) if word != ".")
        assert leaderboard(text) == english(text), text
    assert [leaderboard(word) for word in ("kinda", "cause", "dunno")] == ["kinda", "cause", "dunno"]
    assert english("kinda") == "kind of"
    assert leaderboard.version.endswith(importlib.metadata.version("whisper-normalizer"))


def test_known_traps_of_whisper():
    assert english("O'Neil") == "0 neil"
    assert english("[noise] He's twenty-one (laughs), um, and likes colour") == "he is 21 and likes color"
    assert english(english("cent triple o")) != english("cent triple o")
    assert basic_whisper("Don't (laughs) हिन्दी") == "don t ह न द"
    for trap in ("O'Neil", "0 neil", "brackets", "Not idempotent"):
        assert trap in english.description


@pytest.mark.parametrize(
    "text",
    [
        "<",
        "(",
        "[",
        "(<)>" + "(" * 50,
        "<>(",
        "()",
        " ",
        "\n",
        "'",
        "1",
        "1,",
        "1.",
        "one ",
        "million ",
        "1 decillion one one ",
        "and a half ",
        "$1 and ¢2 ",
        "um ",
        "the cat's ",
        "a1",
        "%hesitation ",
        "a'",
        "'\u0300",
        "a\u0315\u0300",
        "\u0315\u0300",
        "ﾞ\u0300",
        "\u200d\u0300",
        "ß",
        "한",
        "İ",
        "हि ",
    ],
)
@pytest.mark.parametrize("name", NORMALISERS)
def test_no_text_takes_long(name, text):
    normaliser = NORMALISERS[name]
    normaliser("warm up")
    long = (text * (20_000 // len(text) + 1))[:20_000]
    start = time.process_time()
    once = normaliser(long)
    assert time.process_time() - start < 1
    if name in ("none", "basic"):
        assert normaliser(once) == once


def test_numbers_too_long_for_the_package_do_not_end_a_run():
    number = "9" * 5000
    assert english(number) == number
    assert english(f"He said {number} twenty one times") == f"he said {number} 21 times"


def test_the_package_is_imported_when_used():
    code = (
        "import sys; from soundcheck.metrics.normalisation import NORMALISERS; NORMALISERS['basic']('É'); "
        "print('whisper_normalizer' in sys.modules, end=' '); NORMALISERS['whisper-basic']('a'); "
        "print('whisper_normalizer' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "True"]


def test_examples_show_real_changes_first():
    texts = ["stop", "go  on", "Stop!", None, "stop", np.nan, "Stop!", "No.", "yes"]
    expected = [("Stop!", "stop"), ("No.", "no"), ("stop", "stop"), ("go  on", "go on"), ("yes", "yes")]
    assert changed_examples(basic, texts) == expected
    assert changed_examples(basic, texts, count=1) == expected[:1]
    assert changed_examples(basic, texts, count=0) == changed_examples(basic, []) == []
    shout = Normaliser("shout", "1", "Upper case.", str.upper)
    assert changed_examples(shout, ["a"]) == [("a", "A")]


@pytest.mark.parametrize("name", ["none", "basic"])
@pytest.mark.parametrize("text", ["الساعة ٣ و١٥ دقيقة", "לך ימינה 3", "साढ़े ३ बजे", "۱۲۳ بار", "۳\u200f٫۵"])
def test_scripts_from_right_to_left_and_digits_of_others_are_words_like_any(name, text):
    normalised = NORMALISERS[name](text)
    assert normalised == NORMALISERS[name](normalised) and normalised.split()
    digits = [character for character in text if character.isdigit()]
    assert [character for character in normalised if character.isdigit()] == digits  # not turned into others
