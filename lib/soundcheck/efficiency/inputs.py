"""What models are asked to see how quick they are: segments of their corpora, and such behind each other.

Conventions
-----------
- Recorded segments are those at the middle of equal parts of all durations, short and long ones alike.
- For set durations segments stand behind each other, in the order of their content, in one file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile

from soundcheck.corpora import audio
from soundcheck.corpora.corpus import Corpus
from soundcheck.efficiency.measuring import JOINED, RECORDED, Input
from soundcheck.predict.inputs import list_segments
from soundcheck.predict.protocol import Call, Item
from soundcheck.suite.groups import numbers_of

FEW = 8  # recorded segments
DURATIONS = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds of joined ones


def chosen(corpora: Sequence[Corpus], file: Path) -> list[Input]:
    """Choose what a model is asked; the first one has a usual duration."""
    segments = [segment for corpus in corpora for segment in list_segments(corpus, [], None)]
    if not segments:
        return []
    seconds = np.concatenate([numbers_of(corpus.segments, "duration") for corpus in corpora])
    order = sorted(range(len(segments)), key=lambda n: (seconds[n], segments[n].content))
    few = min(FEW, len(order))
    places = [order[int((n + 0.5) * len(order) / few)] for n in range(few)]
    inputs = [
        Input(RECORDED, round(float(seconds[n]), 3), Item(one.path, one.start, one.end, one.content, _CALL))
        for n in places
        for one in [segments[n]]
    ]
    inputs.insert(0, inputs.pop(few // 2))
    signals, samples = [], 0
    for one in sorted(segments, key=lambda one: one.content):
        if samples >= max(DURATIONS) * audio.SAMPLING_RATE:
            break
        signals.append(audio.read(one.path, one.start, one.end))
        samples += len(signals[-1])
    soundfile.write(file, np.concatenate(signals), audio.SAMPLING_RATE, subtype="FLOAT")
    there = [length for length in DURATIONS if length * audio.SAMPLING_RATE <= samples]
    return inputs + [Input(JOINED, length, Item(str(file), 0.0, length, "", _CALL)) for length in there]


_CALL = (Call("", None),)
