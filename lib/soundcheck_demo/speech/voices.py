"""Who speaks in the demo: voices of Praat's synthesiser made into speakers, a row of ``speakers.csv`` each.

A speaker is a voice of the synthesiser, the pronunciation rules of a language or region, and habits of its
own: pitch, rate and length of the vocal tract. No voice speaks in both splits, so that a model cannot
profit from having heard it.

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
"""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

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
