"""How an emotion sounds in the demo: expressed arousal, dominance and valence become settings of the voice.

The directions follow what is known of emotional speech (Scherer 2003, Vocal communication of emotion: a
review of research paradigms; Juslin and Laukka 2003, Communication of emotions in vocal expression and
music performance): arousal raises pitch, pitch range, rate, loudness and high-frequency energy; dominance
lowers the pitch and strengthens the voice; valence widens the pitch range and, as a smile does, shortens
the vocal tract; low dominance and valence sound breathier. The sizes are ours, chosen so that a simple
model learns something and not everything.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from soundcheck_demo.speech.voices import Speaker

WORDS_PER_MINUTE = 180.0  # of a neutral segment
LEVEL_DB = -26.0  # root mean square of a neutral segment, relative to full scale
RECORDING_GAIN_DB = 3.5  # a recording is up to this much softer or louder than its speech
NOISE_FLOOR_DB = (-60.0, -40.0)  # noise of the recording, relative to the speech


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the synthesiser and the filters behind it are told."""

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

    - ``expressed``: arousal, dominance, valence, about -1..1.
    - ``rng``: decides what does not depend on the emotion: gain and noise of the recording, small variations.
    """
    arousal, dominance, valence = expressed
    return Settings(
        semitones=float(
            np.clip(
                speaker.pitch + 3.5 * arousal - 1.5 * dominance + 0.5 * valence + rng.normal(0, 0.5), -6, 9
            )
        ),
        range_factor=float(np.clip(0.9 * 2 ** (0.8 * arousal + 1.4 * valence), 0.1, 2.0)),
        words_per_minute=float(
            WORDS_PER_MINUTE * speaker.rate * 2 ** (0.35 * arousal - 0.15 * dominance + rng.normal(0, 0.04))
        ),
        word_gap=float(np.clip(0.01 - 0.03 * arousal, 0.0, 0.05)),
        tract=float(speaker.tract * (1.0 - 0.06 * np.clip(valence, -1, 1))),
        tilt_db=float(np.clip(1.2 * arousal + 1.5 * dominance + rng.normal(0, 0.3), -4, 4)),
        breath_db=float(np.clip(-28.0 - 8.0 * dominance - 6.0 * valence, -50, -16)),
        level_db=float(
            np.clip(LEVEL_DB + 3.5 * arousal + 2.5 * dominance, -31, -20)
            + rng.uniform(-RECORDING_GAIN_DB, RECORDING_GAIN_DB)
        ),
        floor_db=float(rng.uniform(*NOISE_FLOOR_DB)),
    )
