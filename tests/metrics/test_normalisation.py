"""Normalisers: idempotence, scripts, apostrophes; the package as the oracle; texts that would take long."""

import importlib.metadata
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.normalisation import (
    NORMALISERS,
    Normaliser,
    changed_examples,
    is_turkic,
    noise_marks,
)

none, basic = NORMALISERS["none"], NORMALISERS["basic"]
basic_whisper, english = NORMALISERS["whisper-basic"], NORMALISERS["whisper-english"]

pieces = st.sampled_from(
    [*"% %HESITATION ' ’ : · \" א [ ] noise <unk> \u0301 \u0345 \u200d ﾞ İ ß ´ a é".split(), " "]
)
anything = st.lists(st.one_of(pieces, st.characters()), max_size=12).map("".join)


def test_names_are_a_closed_ordered_list():
    names = ["none", "basic", "basic-with-marks", "whisper-basic", "whisper-english", "open-asr-2025"]
    assert list(NORMALISERS) == [*names, "open-asr"]
    assert all(name == NORMALISERS[name].name for name in names)
    assert NORMALISERS["open-asr"] is NORMALISERS["open-asr-2025"]  # as earlier suites call it
    assert all(each.version and each.description.endswith(".") for each in NORMALISERS.values())
    version = importlib.metadata.version("whisper-normalizer")
    assert english.version == f"20250625 with whisper-normalizer {version}"
    with pytest.raises(TypeError):
        NORMALISERS["mine"] = none
    with pytest.raises(AttributeError):
        none.version = "2"


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


@settings(max_examples=150, deadline=None)
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


LETTERS = {
    "The U.S.A. won": "the usa won",
    "the u.s.a won": "the usa won",
    "a U.S. ship": "a us ship",
    "A.B.C.D. and W.X.Y.Z": "abcd and wxyz",
    "two A.B.C.s": "2 abcs",
    "at 3 p.m. sharp": "at 3 pm sharp",
    "Wait ... what?....": "wait what",
    "so...": "so",
    "3...5": "3 5",
    "u.m. is no um": "um is no",
}


def test_the_leaderboard_joins_letters_drops_ellipses_and_is_whisper_without_later_rules(rng):
    leaderboard = NORMALISERS["open-asr"]
    assert {text: leaderboard(text) for text in LETTERS} == LETTERS
    for _ in range(1000):
        text = " ".join(word for word in rng.choice(SPOKEN, rng.integers(0, 12)) if word != ".")
        assert leaderboard(text) == english(text), text
    assert [leaderboard(word) for word in ("kinda", "cause", "dunno")] == ["kinda", "cause", "dunno"]
    assert english("kinda") == "kinda"


def test_known_traps_of_whisper():
    assert english("O'Neil") == "0 neil"
    assert english("[noise] He's twenty-one (laughs), um, and likes colour") == "he is 21 and likes color"
    assert english(english("cent triple o")) != english("cent triple o")
    assert basic_whisper("Don't (laughs) हिन्दी") == "don t ह न द"
    for trap in ("O'Neil", "0 neil", "brackets", "Not idempotent"):
        assert trap in english.description
    number = "9" * 5000  # too long for the package, and does not end a run
    assert english(f"He said {number} twenty one times") == f"he said {number} 21 times"


def test_examples_show_real_changes_first():
    texts = ["stop", "go  on", "Stop!", None, "stop", np.nan, "Stop!", "No.", "yes"]
    expected = [("Stop!", "stop"), ("No.", "no"), ("stop", "stop"), ("go  on", "go on"), ("yes", "yes")]
    assert changed_examples(basic, texts) == expected
    assert changed_examples(basic, texts, count=1) == expected[:1]
    assert changed_examples(basic, texts, count=0) == changed_examples(basic, []) == []
    shout = Normaliser("shout", "1", "Upper case.", str.upper)
    assert changed_examples(shout, ["a"]) == [("a", "A")]


WORDS = {  # language -> ways to write the same words, each of them one word
    "Catalan": ["col·legi", "col•legi", "coŀlegi", "COL·LEGI", "col‧legi"],
    "Swedish": ["EU:n", "eu:n", "EU：n"],
    "Finnish": ["10:ssä", "10:SSÄ"],
    "Hebrew gershayim": ['צה"ל', "צה״ל", "צה”ל"],
    "Hebrew geresh": ["ג'ירפה", "ג׳ירפה", "ג’ירפה"],
    "Ukrainian": ["м'ята", "м’ята", "мʼята", "М′ЯТА"],
    "Uzbek": ["oʻzbek", "o‘zbek", "o'zbek", "Oʼzbek", "o`zbek"],
    "Hawaiian": ["Hawaiʻi", "hawai‘i", "hawai'i"],
    "Hawaiian at the start": ["ʻokina", "‘okina", "'okina"],
    "Breton": ["c'hoar", "c’hoar", "cʼhoar"],
    "Armenian": ["Ինչո՞ւ", "ինչու", "ինչո՛ւ"],
    "Armenian apostrophe": ["բ՚նակ", "բ'նակ"],
    "Arabic stretched": ["كتـــاب", "كتاب"],
    "Arabic with vowels": ["كَتَبَ"],
    "Persian": ["می\u200cروم", "میروم"],
    "Hindi": ["क्\u200dष", "क्ष", "क्\u200cष"],
    "Malayalam": ["അവന\u0d4d\u200d", "അവൻ"],
    "Bengali": ["ত\u09cd\u200d", "ৎ"],
    "Thai": ["ความรู้"],
    "Khmer": ["ខ្មែរ"],
    "German": ["Donau\u00addampf", "donaudampf", "DONAUDAMPF"],
    "German ß": ["Straße", "STRASSE", "STRAẞE"],
    "Greek": ["ΣΟΦΟΣ", "σοφος", "σοφοσ"],
    "Lithuanian": ["i\u0307\u0300", "ì", "Ì"],
    "Turkish without a language": ["İyi", "iyi", "I\u0307yi", "i\u0307yi"],
    "Composed": ["é", "e\u0301", "É"],
    "Mongolian": ["ᠮᠣᠩᠭᠣᠯ\u202fᠤᠨ", "ᠮᠣᠩᠭᠣᠯᠤᠨ"],
    "Nahuatl": ["tlaꞌtol", "tla'tol"],
    "Tagalog": ["pag-ibig".replace("-", "\u00ad"), "pagibig"],
    "Qur'an": ["Qurʾan", "Qur'an", "qur’an"],
}


def test_what_writing_puts_inside_of_words_does_not_split_them():
    for language, texts in WORDS.items():
        normalised = {basic(text) for text in texts}
        assert len(normalised) == 1, (language, normalised)
        (word,) = normalised
        assert word and " " not in word and basic(word) == word


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 12:30 or 10:45", "at 12 30 or 10 45"),
        ("note: this, S:t", "note this s:t"),
        ("说：你好", "说 你好"),
        ("约翰·史密斯", "约翰 史密斯"),
        ("a · b", "a b"),
        ('he said "go"now', "he said go now"),
        ("well-known 3.5", "well known 3 5"),
        ("בית־ספר", "בית ספר"),
        ("10 000\u202fкм", "10 000 км"),
    ],
)
def test_signs_between_words_still_split_them(text, expected):
    assert basic(text) == expected


def test_turkish_and_azeri_have_capitals_of_their_own():
    turkic = "tr tur Turkish tr-TR tr_TR az aze azj Azeri Azerbaijani az-Latn TÜRKÇE türkisch crh".split()
    assert all(map(is_turkic, turkic))
    assert not any(map(is_turkic, ["en", "trv", "azz", "Trukese", "de-TR", "", None, np.nan, "uz"]))
    assert basic("İstanbul'da IŞIK, DIŞI", turkic=True) == "istanbul'da ışık dışı"
    assert basic("I\u0307ZMI\u0307R", turkic=True) == "izmir"
    assert none("IŞIK", turkic=True) == "IŞIK"


MARKS = (
    "[noise] <unk> <UNK> <sil> (laughs) {NOISE} %HESITATION <FOREIGN> [laughter] ((inaudible)) [BLANK_AUDIO] "
    "*coughs* !SIL <noise> [vocalized-noise] <eps> <SPOKEN_NOISE> [SPN] <NSN> ++breath++ <breath/> <hes> "
    "<no-speech> <lipsmack> <dtmf> <|nospeech|> <COMMA> <s> </s> [Music] （笑） 【音乐】 ［noise］ [risas] "
    "[rires] /unintelligible/ ~SIL (unclear) (Lachen) [музыка] <overlap> [crosstalk] <v-noise>".replace(
        "<v-noise>", "<vocal-noise>"
    )
    + " <|en|> <|0.00|> <|NEUTRAL|> [PAD] [SPEAKER_00] {disfmarker} &=laughs (%HESITATION) [fil] "
    "<B_ASIDE> <lang:Foreign>"
)
ORDINARY = [
    ("(two) [2] {three}", "two 2 three"),
    ("[laughs at me]", "laughs at me"),
    ("brother(s)", "brother s"),
    ("((you know))", "you know"),
    ("(other) [the] (foreign) (ring)", "other the foreign ring"),
    ("noise laughs SIL spn", "noise laughs sil spn"),
    ("50% noise, wow! Music", "50 noise wow music"),
    ("<b>bold</b>", "b bold b"),
    ("[no thanks]", "no thanks"),
    ("(speech) (speaking) [Spanish] [two words] (at home)", "speech speaking spanish two words at home"),
    ("(the man in the car) [b] AT&T &c", "the man in the car b at t c"),
    ("{ um / uh }", "um uh"),
    ("2 * noise * 3", "2 noise 3"),
    ("noise/music/speech and/or km/h", "noise music speech and or km h"),
]


MARKS_OF_SEVERAL_WORDS = [
    *(
        "[upbeat music]",
        "[inaudible 00:12:33]",
        "[inaudible- 3 secs.]",
        "(inaudible at 10:03)",
        "(phone rings)",
    ),
    *("(speaking in foreign language)", "[speaking Spanish]", "[clears throat]", "(clears throat)"),
    *("[2 words unclear]", "(wind blowing)", "(foreign language)", "[birds chirping]", "[speaker 2]"),
    *('<foreign lang="Spanish">', "[multiple speakers]"),
]


def test_marks_of_noises_are_no_words():
    for mark in (*MARKS.split(), *MARKS_OF_SEVERAL_WORDS):
        assert noise_marks(f"go {mark} left") == [mark]
        assert basic(f"go {mark} left") == "go left" and basic(mark) == "", mark
        assert basic(f"go{mark}left") in ("go left", "gohesitation left") or mark[0] in "%!+*~/&", mark
        if mark != "%HESITATION":  # dropped as before
            assert NORMALISERS["basic-with-marks"](f"go {mark} left") != "go left", mark
    # A word that is said with laughter stays.
    text = "[laughter-yes] oh [LAUGHTER-I'm] [laughter]"
    assert noise_marks(text) == text.replace(" oh", "").split()
    assert basic(text) == "yes oh i'm"


@pytest.mark.parametrize(("text", "expected"), ORDINARY)
def test_ordinary_words_in_brackets_stay(text, expected):
    assert noise_marks(text) == [] and basic(text) == expected
    assert NORMALISERS["basic-with-marks"](text) == expected


OPENAI = {  # rules of whisper-english, from OpenAI's own code
    **{"nine thousand twenty one": "9021", "two million euros": "€2000000", "seven dollars": "$7"},
    **{"twelve point five": "12.5", "minus four": "-4", "six and a half": "6.5", "one oh one": "101"},
    **{"double seven": "77", "triple four": "444", "1,234": "1234", "three percent": "3%", "£5": "£5"},
    **{
        "twelfth": "12th",
        "ninth": "ninth",
        "won't": "will not",
        "i'ma": "i am going to",
        "they've": "they have",
    },
    **{"she's been": "she has been", "he's got": "he has got", "y'all": "you all", "isn't": "is not"},
    **{"dr": "doctor", "capt": "captain", "st": "saint", "kinda": "kinda", "hmm": "", "[noise]": ""},
    **{"organised": "organized", "colour": "color", "theatre": "theater", "catalogue": "catalog"},
}


def test_whisper_english_follows_the_rules_of_openai():
    for text, normalised in OPENAI.items():
        for carrier in ("we said {} today", "{} is what they wanted"):
            expected = " ".join(carrier.format(normalised).split())
            assert english(carrier.format(text)) == english(f"{carrier.format(text.upper())}!") == expected
