"""Who speaks in the demo: voices of Praat's synthesiser made into speakers.

A speaker is a voice of the synthesiser, the pronunciation rules of a language or region, and habits of its
own: pitch, rate and length of the vocal tract. No voice speaks in both splits, so that a model cannot
profit from having heard it.

Conventions
-----------
- ``accent`` describes English speech only: the region, or the language whose pronunciation rules read the
  English text. It is empty for other languages.
- ``pitch`` in semitones relative to the voice as the synthesiser has it, ``rate`` and ``tract`` as factors;
  a tract below 1 is shorter and moves the formants up.
"""

from __future__ import annotations

import dataclasses

SPEECH, TEXTS, RECORDINGS, COMMANDS = "speech", "texts", "recordings", "commands"
AMERICA = "English (America)"
BRITAIN = "English (Great Britain)"
RECEIVED = "English (Received Pronunciation)"
SCOTLAND = "English (Scotland)"


@dataclasses.dataclass(frozen=True)
class Speaker:
    """A speaker of the demo corpus.

    Parameters
    ----------
    name
        Name in the column ``speaker``.
    split
        ``"train"`` or ``"test"``.
    sex
        ``"female"`` or ``"male"``.
    voice
        Voice variant of Praat's synthesiser.
    rules
        Language of Praat's synthesiser whose rules pronounce the text.
    language
        Language of the text, ISO 639-1.
    accent
        Accent of English speech, else empty.
    pitch
        Habitual pitch in semitones relative to the voice.
    rate
        Habitual rate relative to the corpus average.
    tract
        Length of the vocal tract relative to the voice.
    part
        ``"speech"``: sentences with an emotion; ``"texts"``: sentences with a sentiment, read without one;
        ``"commands"``: commands, spoken without emotion.
    segments
        Number of segments; ``None`` = as the corpus says for the split.
    """

    name: str
    split: str
    sex: str
    voice: str
    rules: str
    language: str
    accent: str
    pitch: float
    rate: float
    tract: float
    part: str = SPEECH
    segments: int | None = None


_MAIN = (
    Speaker("s01", "train", "female", "Female1", AMERICA, "en", "american", 0.5, 1.00, 1.00),
    Speaker("s02", "train", "male", "Male1", AMERICA, "en", "american", 3.0, 1.04, 1.00),
    Speaker("s03", "train", "female", "Female3", BRITAIN, "en", "british", -1.0, 0.97, 0.98),
    Speaker("s04", "train", "male", "Male3", BRITAIN, "en", "british", 1.5, 0.95, 1.02),
    Speaker("s05", "train", "female", "Female5", SCOTLAND, "en", "scottish", 1.0, 1.03, 1.01),
    Speaker("s06", "train", "male", "Male5", SCOTLAND, "en", "scottish", 4.5, 1.00, 0.97),
    Speaker("s07", "train", "female", "Female1", RECEIVED, "en", "british", -1.5, 1.05, 1.03),
    Speaker("s08", "train", "male", "Max", AMERICA, "en", "american", 2.0, 1.02, 0.99),
    Speaker("s09", "train", "female", "Female5", AMERICA, "en", "american", -0.5, 0.95, 1.04),
    Speaker("s10", "train", "male", "Boris", RECEIVED, "en", "british", 6.0, 0.98, 0.96),
    Speaker("s11", "train", "female", "Female3", AMERICA, "en", "american", 2.5, 1.00, 0.96),
    Speaker("s12", "train", "male", "Kaukovalta", SCOTLAND, "en", "scottish", 2.5, 1.03, 1.03),
    Speaker("s13", "test", "female", "Female2", AMERICA, "en", "american", 0.0, 1.02, 1.00),
    Speaker("s14", "test", "male", "Male2", AMERICA, "en", "american", 2.0, 1.00, 1.00),
    Speaker("s15", "test", "female", "Female4", BRITAIN, "en", "british", -0.5, 1.00, 1.02),
    Speaker("s16", "test", "male", "Male4", BRITAIN, "en", "british", 1.5, 1.03, 0.98),
    Speaker("s17", "test", "female", "Annie", SCOTLAND, "en", "scottish", -1.0, 0.97, 1.01),
    Speaker("s18", "test", "male", "Male6", SCOTLAND, "en", "scottish", 3.5, 1.01, 1.01),
    Speaker("s19", "test", "female", "Linda", "German", "en", "german", -2.0, 1.08, 1.00),
    Speaker("s20", "test", "male", "Michael", "German", "en", "german", 2.5, 1.08, 0.99),
    Speaker("s21", "test", "female", "Female2", "French (France)", "en", "french", 1.0, 1.02, 0.98),
    Speaker("s22", "test", "male", "Robert", "French (France)", "en", "french", 2.0, 1.00, 1.01),
    Speaker("s23", "test", "female", "Female4", "Spanish (Spain)", "en", "spanish", 1.5, 1.05, 0.98),
    Speaker("s24", "test", "male", "Male7", "Spanish (Spain)", "en", "spanish", 5.5, 1.06, 0.97),
    Speaker("s25", "test", "female", "Annie", "Italian", "en", "italian", -3.0, 1.08, 1.03),
    Speaker("s26", "test", "male", "Rob", "Italian", "en", "italian", 0.5, 1.06, 1.00),
    Speaker("s27", "test", "female", "Linda", "German", "de", "", -1.0, 1.03, 0.99),
    Speaker("s28", "test", "male", "Male2", "German", "de", "", 3.0, 1.00, 0.98),
    Speaker("s29", "test", "female", "Female2", "French (France)", "fr", "", -1.0, 1.00, 1.02),
    Speaker("s30", "test", "male", "Male4", "French (France)", "fr", "", 5.0, 1.02, 0.96),
    Speaker("s31", "test", "female", "Female4", "Spanish (Spain)", "es", "", 0.5, 1.02, 0.99),
    Speaker("s32", "test", "male", "Male6", "Spanish (Spain)", "es", "", 1.0, 1.00, 1.02),
    Speaker("s33", "test", "female", "Annie", "Italian", "it", "", -2.0, 1.00, 0.99),
    Speaker("s34", "test", "male", "Robert", "Italian", "it", "", 3.5, 1.03, 0.99),
)

# Speakers with few segments, so that all accents but the Italian one have five women and five men, and all
# languages two women and two men.
_LANGUAGES = (("fr", "French (France)"), ("de", "German"), ("it", "Italian"), ("es", "Spanish (Spain)"))
_ACCENTS = (
    ("american", AMERICA),
    ("british", BRITAIN),
    ("scottish", SCOTLAND),
    ("french", "French (France)"),
    ("german", "German"),
    ("spanish", "Spanish (Spain)"),
)
_MORE = (  # sex, voices in turn, pitch, tract
    ("female", ("Linda", "Female4", "Annie", "Female2"), -1.0, 0.99),
    ("male", ("Male7", "Michael", "Male2", "Robert"), 3.0, 1.01),
    ("female", ("Female2", "Annie", "Linda", "Female4"), 1.0, 1.02),
    ("male", ("Male4", "Male6", "Rob", "Michael"), 1.5, 0.98),
    ("female", ("Female4", "Linda", "Female2", "Annie"), 0.0, 0.97),
    ("male", ("Male6", "Robert", "Male4", "Male4"), 2.25, 1.03),
    ("female", ("Annie", "Female2", "Female4", "Linda"), 0.5, 1.04),
    ("male", ("Rob", "Rob", "Robert", "Male7"), 2.0, 1.0),
)


def _more_speakers() -> list[Speaker]:
    wanted = [("en", accent, rules, 10, 4) for accent, rules in _ACCENTS]
    wanted += [(language, "", rules, 4, 8) for language, rules in _LANGUAGES]
    speakers = []
    for n, (language, accent, rules, people, each) in enumerate(wanted):
        there = sum((s.language, s.accent, s.split) == (language, accent, "test") for s in _MAIN)
        for sex, voices, pitch, tract in _MORE[: people - there]:
            name = f"s{35 + len(speakers)}"
            voice = voices[n % len(voices)]
            own = pitch + 0.25 * (n % 5)
            speakers.append(
                Speaker(name, "test", sex, voice, rules, language, accent, own, 1.04, tract, SPEECH, each)
            )
    return speakers


SPEAKERS = (*_MAIN, *_more_speakers())

# Readers of the texts, four for each language; two read one half of the sentences, two the other.
READERS = tuple(
    Speaker(
        f"t{1 + 4 * n + m:02d}", "test", sex, voices[n % 4], rules, language, "", pitch, 1.0, tract, TEXTS, 9
    )
    for n, (language, rules) in enumerate(
        (
            ("de", "German"),
            ("en", AMERICA),
            ("es", "Spanish (Spain)"),
            ("fr", "French (France)"),
            ("it", "Italian"),
            ("ja", "Japanese"),
            ("pt", "Portuguese (Brazil)"),
            ("zh", "Chinese (Mandarin)"),
        )
    )
    for m, (sex, voices, pitch, tract) in enumerate(_MORE[:4])
)

# Speakers of commands: the same two women and two men for each accent, but for the pitch, so that accents
# differ in their pronunciation only. The first three accents are those for quick tests.
_PRONUNCIATIONS = (
    ("american", AMERICA),
    ("british", BRITAIN),
    ("german", "German"),
    ("caribbean", "English (Caribbean)"),
    ("dutch", "Dutch"),
    ("french", "French (France)"),
    ("italian", "Italian"),
    ("lancashire", "English (Lancaster)"),
    ("scottish", SCOTLAND),
    ("spanish", "Spanish (Spain)"),
)
_CALLERS = (  # sex, voice, pitch, rate, tract
    ("female", "Female2", 0.0, 1.05, 0.96),
    ("male", "Male2", 2.0, 1.00, 1.00),
    ("female", "Female4", -1.0, 0.95, 0.97),
    ("male", "Male6", 3.0, 1.10, 1.00),
)
CALLERS = tuple(
    Speaker(
        f"c{1 + 4 * n + m:02d}",
        "test",
        sex,
        voice,
        rules,
        "en",
        accent,
        pitch + 0.25 * (n % 5),
        rate,
        tract,
        COMMANDS,
    )
    for n, (accent, rules) in enumerate(_PRONUNCIATIONS)
    for m, (sex, voice, pitch, rate, tract) in enumerate(_CALLERS)
)

BY_NAME = {speaker.name: speaker for speaker in (*SPEAKERS, *READERS, *CALLERS)}

# For quick tests: four speakers of each split, both sexes, two accents; readers of two languages; speakers of
# commands with three accents.
SMALL = (
    *("s01", "s02", "s03", "s04", "s13", "s14", "s15", "s16", "t01", "t04", "t05", "t08"),
    *(speaker.name for speaker in CALLERS[:12]),
)
