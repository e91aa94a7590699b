"""Who speaks in the demo, with which emotion, and how that sounds.

A speaker, a row of ``speakers.csv``, is a voice of Praat's synthesiser, the pronunciation rules of a language
or region, and habits of its own: pitch, rate and length of the vocal tract. No voice speaks in both splits,
so that a model cannot profit from having heard it.

Differences between groups rest on speakers, not on segments: five are the fewest that an interval is given
for, and about ten find a difference worth knowing. So every accent and language has the same ten voices, five
women and five men with nearly the same habits (±1 semitone, ±0.015 in the tract), who say little each: groups
differ in their pronunciation only.

Published rules decide the numbers of segments of speech: more than 25 let a speaker count as a low, medium or
high voice, and 8 of each emotion, which 36 hold, as one whose classes are averaged and ranked. Pitches are
such that at least ten speakers each are low, medium and high voices. Readers read one sentence of each
sentiment. Callers speak 50 commands an accent, the fewest that recognition fairness judges: each is heard
under dozens of changes by every recogniser, so there are no more accents. The small corpus, for quick tests,
has the first speakers of the first groups.

A segment has an emotion class, and a latent arousal, dominance and valence drawn around the region of that
class, moved by the habits of its speaker. The latent values are the labels. What a listener gets to hear,
the *expressed* values, are the latent ones plus errors of expression: people do not show exactly what they
feel. The errors bound what a perfect model could reach.

Expressed values become settings of the voice. The directions follow what is known of emotional speech
(Scherer 2003, Vocal communication of emotion: a review of research paradigms; Juslin and Laukka 2003,
Communication of emotions in vocal expression and music performance): arousal raises pitch, pitch range,
rate, loudness and high-frequency energy; dominance lowers the pitch and strengthens the voice; valence widens
the pitch range and, as a smile does, shortens the vocal tract; low dominance and valence sound breathier. The
sizes are ours, chosen so that a simple model learns something and not everything.

Conventions
-----------
Arousal, dominance and valence lie between 0 and 1, expressed ones about -1 and 1. Every draw is seeded by
speaker and number of the segment, so that a smaller corpus is the beginning of a larger one.
"""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np

from soundcheck.common.seeds import generator
from soundcheck.common.tasks import EMOTION

SPEECH, TEXTS, RECORDINGS, COMMANDS = "speech", "texts", "recordings", "commands"
MONOLOGUES = "monologues"


@dataclasses.dataclass(frozen=True)
class Speaker:
    """A speaker of the demo corpus."""

    name: str  # name in the column ``speaker``
    # ``"speech"``: sentences with an emotion; ``"texts"``: sentences with a sentiment, read without one;
    # ``"commands"``: commands, spoken without emotion
    part: str
    split: str  # ``"train"`` or ``"test"``
    sex: str  # ``"female"`` or ``"male"``
    voice: str  # voice variant of Praat's synthesiser
    rules: str  # language of Praat's synthesiser whose rules pronounce the text
    language: str  # language of the text, ISO 639-1
    accent: str  # of English speech: the region, or the language whose rules read the text; else empty
    pitch: float  # habitual pitch in semitones relative to the voice as the synthesiser has it
    rate: float  # habitual rate relative to the corpus average
    tract: float  # length of the vocal tract relative to the voice: below 1 moves the formants up
    segments: int  # number of segments in the full corpus
    small: int  # the same in the small corpus, which not all are in


def _read() -> list[Speaker]:
    with Path(__file__).with_name("speakers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = {"pitch": float, "rate": float, "tract": float, "segments": int, "small": int}
    return [Speaker(**row | {name: kind(row[name]) for name, kind in kinds.items()}) for row in rows]


BY_NAME = {speaker.name: speaker for speaker in _read()}
SPEAKERS, READERS, CALLERS = (
    tuple(speaker for speaker in BY_NAME.values() if speaker.part == part)
    for part in (SPEECH, TEXTS, COMMANDS)
)


# Which emotion a segment shows, to which degree, and how that sounds

DIMENSIONS = ("arousal", "dominance", "valence")

# Centres of the classes: arousal, dominance, valence. Their order follows the usual maps of emotion words:
# anger is active, strong, negative; happiness active and positive; sadness passive, weak, negative.
CENTRES = {
    "anger": (0.71, 0.71, 0.29),
    "happiness": (0.68, 0.58, 0.75),
    "neutral": (0.45, 0.46, 0.53),
    "sadness": (0.27, 0.29, 0.35),
}
SPREAD = 0.11  # standard deviation within a class
HABIT = 0.06  # standard deviation between speakers
EXPRESSION = (0.06, 0.09, 0.07)  # standard deviation of the error of expression, a dimension each
SURE = 8  # segments of each class that every speaker of the full corpus has

# What somebody expresses who reads without any emotion: the centre of neutral, as expressed values count.
UNMOVED = tuple(2.0 * value - 1.0 for value in CENTRES["neutral"])

WORDS_PER_MINUTE = 180.0  # of a neutral segment
LEVEL_DB = -26.0  # root mean square of a neutral segment, relative to full scale
RECORDING_GAIN_DB = 3.5  # a recording is up to this much softer or louder than its speech
NOISE_FLOOR_DB = (-60.0, -40.0)  # noise of the recording, relative to the speech


@dataclasses.dataclass(frozen=True)
class Label:
    """Truth of one segment."""

    emotion: str  # class that the segment was drawn from
    latent: tuple[float, float, float]  # arousal, dominance, valence between 0 and 1: the labels
    # the same with errors of expression, centred: -1..1, roughly; decides the acoustics
    expressed: tuple[float, float, float]


def draw(speaker: Speaker, number: int) -> Label:
    """Draw the label of a speaker's segment, counted from 0.

    The first 32 hold all classes equally, four by four; from then on a speaker prefers some classes, so that
    speakers differ in their proportions.
    """
    emotion = _emotion(speaker, number)
    habit = HABIT * generator(0, "demo", speaker.name, "habit").standard_normal(3)
    rng = generator(0, "demo", speaker.name, number, "label")
    latent = np.clip(np.add(CENTRES[emotion], habit) + SPREAD * rng.standard_normal(3), 0.0, 1.0)
    expressed = 2.0 * (latent + EXPRESSION * rng.standard_normal(3)) - 1.0
    return Label(emotion, tuple(latent.tolist()), tuple(expressed.tolist()))


def _emotion(speaker: Speaker, number: int) -> str:
    block, place = divmod(number, len(EMOTION))
    if block < SURE:
        return EMOTION[generator(0, "demo", speaker.name, "block", block).permutation(len(EMOTION))[place]]
    preference = generator(0, "demo", speaker.name, "preference").dirichlet(np.full(len(EMOTION), 0.5))
    chosen = generator(0, "demo", speaker.name, number, "emotion").choice(len(EMOTION), p=preference)
    return EMOTION[chosen]


@dataclasses.dataclass(frozen=True)
class Settings:
    """What sets the synthesiser and the filters behind it."""

    semitones: float  # pitch relative to the voice
    range_factor: float  # pitch range relative to the voice, 0 (monotone) to 2
    words_per_minute: float  # rate before any correction of the duration
    word_gap: float  # extra pause between words in seconds
    tract: float  # length of the vocal tract relative to the voice
    tilt_db: float  # change of the spectral slope in dB per octave, positive is brighter
    breath_db: float  # level of the breath noise relative to the voice
    level_db: float  # level of the recording, root mean square relative to full scale
    floor_db: float  # level of the recording's noise relative to the speech


def settings(speaker: Speaker, expressed: tuple[float, float, float], rng: np.random.Generator) -> Settings:
    """Turn expressed values into settings.

    What does not depend on the emotion is drawn: gain and noise of the recording, small variations.
    """
    arousal, dominance, valence = expressed
    semitones = speaker.pitch + 3.5 * arousal - 1.5 * dominance + 0.5 * valence + rng.normal(0, 0.5)
    rate = WORDS_PER_MINUTE * speaker.rate * 2 ** (0.35 * arousal - 0.15 * dominance + rng.normal(0, 0.04))
    tilt = 1.2 * arousal + 1.5 * dominance + rng.normal(0, 0.3)
    level = np.clip(LEVEL_DB + 3.5 * arousal + 2.5 * dominance, -31, -20)
    level += rng.uniform(-RECORDING_GAIN_DB, RECORDING_GAIN_DB)
    return Settings(
        semitones=float(np.clip(semitones, -6, 9)),
        range_factor=float(np.clip(0.9 * 2 ** (0.8 * arousal + 1.4 * valence), 0.1, 2.0)),
        words_per_minute=float(rate),
        word_gap=float(np.clip(0.01 - 0.03 * arousal, 0.0, 0.05)),
        tract=float(speaker.tract * (1.0 - 0.06 * np.clip(valence, -1, 1))),
        tilt_db=float(np.clip(tilt, -4, 4)),
        breath_db=float(np.clip(-28.0 - 8.0 * dominance - 6.0 * valence, -50, -16)),
        level_db=float(level),
        floor_db=float(rng.uniform(*NOISE_FLOOR_DB)),
    )
