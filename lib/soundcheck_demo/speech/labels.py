"""Which emotion a segment of the demo shows, and to which degree.

A segment has an emotion class, and a latent arousal, dominance and valence drawn around the region of that
class, moved by the habits of its speaker. The latent values are the labels. What a listener gets to hear,
the *expressed* values, are the latent ones plus errors of expression: people do not show exactly what they
feel. The errors bound what a perfect model could reach.

Conventions
-----------
Arousal, dominance and valence lie between 0 and 1. Every draw is seeded by speaker and number of the
segment, so that a smaller corpus is the beginning of a larger one.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from soundcheck.common.seeds import generator
from soundcheck.common.tasks import EMOTION
from soundcheck_demo.speech.voices import Speaker

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


@dataclasses.dataclass(frozen=True)
class Label:
    """Truth of one segment."""

    emotion: str  # class that the segment was drawn from
    latent: tuple[float, float, float]  # arousal, dominance, valence between 0 and 1: the labels
    # the same with errors of expression, centred: -1..1, roughly; decides the acoustics
    expressed: tuple[float, float, float]


def draw(speaker: Speaker, number: int) -> Label:
    """Draw the label of a speaker's segment.

    - ``number``: number of the speaker's segment, from 0. The first 32 hold all classes equally, four by
      four; from then on a speaker prefers some classes, so that speakers differ in their proportions.
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
