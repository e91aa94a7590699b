"""Who speaks in the demo: voices of Praat's synthesiser made into speakers.

A speaker is a voice of the synthesiser, the pronunciation rules of a language or region, and habits of its
own: pitch, rate and length of the vocal tract. No voice speaks in both splits, so that a model cannot
profit from having heard it.

Differences between groups rest on speakers, not on segments: five are the fewest that an interval is given
for, and about ten find a difference worth knowing. So every accent and language has five women and five men,
and each of them says little. They have the same ten voices and nearly the same habits everywhere, so that
groups differ in their pronunciation only.

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
MONOLOGUES = "monologues"
AMERICA = "English (America)"
BRITAIN = "English (Great Britain)"
RECEIVED = "English (Received Pronunciation)"
SCOTLAND = "English (Scotland)"


@dataclasses.dataclass(frozen=True)
class Speaker:
    """A speaker of the demo corpus."""

    name: str  # name in the column ``speaker``
    split: str  # ``"train"`` or ``"test"``
    sex: str  # ``"female"`` or ``"male"``
    voice: str  # voice variant of Praat's synthesiser
    rules: str  # language of Praat's synthesiser whose rules pronounce the text
    language: str  # language of the text, ISO 639-1
    accent: str  # accent of English speech, else empty
    pitch: float  # habitual pitch in semitones relative to the voice
    rate: float  # habitual rate relative to the corpus average
    tract: float  # length of the vocal tract relative to the voice
    # ``"speech"``: sentences with an emotion; ``"texts"``: sentences with a sentiment, read without one;
    # ``"commands"``: commands, spoken without emotion
    part: str = SPEECH
    segments: int = 36  # number of segments in the full corpus


_TRAINING = (
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
)


@dataclasses.dataclass(frozen=True)
class _Person:
    """One of the ten who speak in every test group: sex, voice, habits, and how often with an emotion."""

    sex: str
    voice: str
    pitch: float
    rate: float
    tract: float
    segments: int


# Published rules decide the numbers of segments: more than 25 let a speaker count as a low, medium or high
# voice, and 8 of each emotion, which 36 hold, as one whose classes are averaged and ranked. Pitches are such
# that at least ten speakers each are low, medium and high voices.
_PEOPLE = (
    _Person("female", "Linda", 0.5, 1.05, 0.97, 36),  # high
    _Person("male", "Male2", 2.0, 1.00, 1.00, 36),  # low, as all men
    _Person("female", "Female4", -0.5, 0.95, 1.00, 26),  # medium
    _Person("male", "Male6", 3.0, 1.08, 1.01, 26),
    _Person("female", "Annie", 0.0, 1.00, 1.03, 26),  # high
    _Person("male", "Robert", 2.5, 0.97, 0.98, 26),
    _Person("female", "Female2", -1.1, 1.03, 0.99, 26),  # medium or high
    _Person("male", "Male4", 2.5, 1.04, 1.02, 8),
    _Person("female", "Auntie", -0.5, 1.02, 1.01, 26),  # medium
    _Person("male", "Male7", 3.5, 0.98, 0.99, 8),
)
_SPREAD = (-1.0, 1.0, -0.8, 0.8)  # semitones by which a person's pitch differs from group to group
_TRACTS = (-0.015, -0.005, 0.005, 0.015)


def _groups(letter: str, first: int, part: str, groups: tuple, segments: int | None = None) -> tuple:
    """Let the ten people speak in each group: (language, accent, rules)."""
    speakers = []
    for n, (language, accent, rules) in enumerate(groups):
        for m, person in enumerate(_PEOPLE):
            speakers.append(
                Speaker(
                    f"{letter}{first + len(speakers):02d}",
                    "test",
                    person.sex,
                    person.voice,
                    rules,
                    language,
                    accent,
                    person.pitch + _SPREAD[(n + m // 2) % 4],
                    person.rate,
                    person.tract + _TRACTS[(n + m) % 4],
                    part,
                    segments or person.segments,
                )
            )
    return tuple(speakers)


SPEAKERS = _TRAINING + _groups(
    "s",
    1 + len(_TRAINING),
    SPEECH,
    (
        ("en", "american", AMERICA),
        ("en", "british", BRITAIN),
        ("en", "german", "German"),
        ("en", "spanish", "Spanish (Spain)"),
    ),
)

# Readers of the texts: one sentence of each sentiment each.
READERS = _groups(
    "t",
    1,
    TEXTS,
    (
        ("de", "", "German"),
        ("en", "", AMERICA),
        ("es", "", "Spanish (Spain)"),
        ("fr", "", "French (France)"),
        ("it", "", "Italian"),
        ("ja", "", "Japanese"),
        ("pt", "", "Portuguese (Brazil)"),
        ("zh", "", "Chinese (Mandarin)"),
    ),
    segments=3,
)

# Speakers of commands: 50 segments an accent, the fewest that recognition fairness judges. Each is heard
# under dozens of changes by every recogniser, so there are no more accents.
CALLERS = _groups(
    "c",
    1,
    COMMANDS,
    (
        ("en", "american", AMERICA),
        ("en", "british", BRITAIN),
        ("en", "german", "German"),
    ),
    segments=5,
)

BY_NAME = {speaker.name: speaker for speaker in (*SPEAKERS, *READERS, *CALLERS)}

# For quick tests: the first speakers of the first groups.
SMALL = tuple(
    speaker.name
    for speakers, groups, people in (
        (_TRAINING, 1, 4),
        (SPEAKERS[len(_TRAINING) :], 2, 2),
        (READERS, 2, 2),
        (CALLERS, 3, 4),
    )
    for group in range(groups)
    for speaker in speakers[group * len(_PEOPLE) :][:people]
)
