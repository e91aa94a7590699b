"""Speech in a language that the recogniser does not know: which of it can be judged.

Conventions
-----------
- What a recogniser knows is the language that its entry tells it to write, else the languages of its card.
- A folder of sounds may have a folder for each language, called by its code or English name.
"""

from __future__ import annotations

import dataclasses
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

from soundcheck.corpora.languages import among
from soundcheck.evaluation.recognition import Recognition
from soundcheck.evaluation.subset import Subset
from soundcheck.sounds.sound import SoundSet

IN_CORPUS = "Other Language Of The Corpus"
MOST = 8  # languages that are named


def unjudged(evaluation: Recognition, sounds: SoundSet) -> str:
    """Say why the answers to speech in another language cannot be judged; empty if they can."""
    named = [parts[0] for sound in sounds.sounds if (parts := PurePosixPath(sound.name).parts[:-1])]
    known = sorted(set(among(named, evaluation.languages)) - {None})
    if known:
        return f"the recogniser knows {', '.join(known)}, and some of the sounds are in that"
    if sounds.synthetic and not evaluation.languages:
        spoken = ", ".join(sorted(set(named)))
        return (
            f"the suite does not say which languages the recogniser knows, and the sounds are in {spoken}; "
            "name its languages under card, or a folder other_language under sounds"
        )
    return ""


def of_corpus(evaluation: Recognition, subset: Subset) -> Subset | None:
    """Give the segments of a corpus in languages that the recogniser does not know, as they are.

    ``None`` if there are none, or if nobody says which languages these are or the recogniser knows. Their
    answers stand as those to a change.
    """
    if not evaluation.languages or "language" not in subset.segments:
        return None
    spoken = subset.segments["language"].to_numpy(dtype=object)
    foreign = pd.notna(spoken) & pd.isna(among(spoken, evaluation.languages))
    if not foreign.any():
        return None
    found = subset.take(np.flatnonzero(foreign))
    names = sorted(found.segments["language"].unique())
    told = f"{len(found)} of {len(subset)} segments are in {', '.join(names[:MOST])}"
    told += f" and {len(names) - MOST} other languages" if len(names) > MOST else ""
    evaluation.note(f"{subset.corpus}: {told}, which the recogniser does not know")
    heard = {"predictions": found.predictions.unchanged(), "reference": found.reference.unchanged()}
    return dataclasses.replace(found, **heard, change=IN_CORPUS)
