"""Some of the demo speech, one segment after the other in one file, for tests of what changes in time.

Half of the speakers say their segments in the order in which they were drawn and jump from one emotion to
the next; the others begin with the least aroused one and end with the most.

Conventions
-----------
Signals are ``(samples,)`` at 16 kHz. The samples of a segment are those of its own file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common.seeds import generator
from soundcheck.corpora import audio

if TYPE_CHECKING:
    import pandas as pd

SEGMENTS = 5  # of each file
PAUSE = (0.3, 1.2)  # seconds of digital silence between two of them


def chosen(speech: pd.DataFrame) -> pd.DataFrame:
    """Choose half of the test speakers, as many women as men, and put their segments in order.

    - ``speech``: table of the speech, whose files become the column ``item``.
    - Returns one row a segment, in the order in which they follow each other, with the later ``file``.
    """
    import pandas as pd  # late: who only asks for the fingerprint needs no tables

    test = speech[speech["split"] == "test"].groupby("speaker", sort=False).head(SEGMENTS)
    parts = []
    for number, (name, own) in enumerate(test.groupby("speaker", sort=False)):
        pair, second = divmod(number // 2, 2)  # a woman and a man follow each other
        if not second:
            order = own.sort_values("arousal", kind="stable") if pair % 2 else own
            parts.append(order.rename(columns={"file": "item"}).assign(file=f"audio/{name}.wav"))
    found = pd.concat(parts, ignore_index=True)
    return found[["file", *(name for name in found.columns if name not in ("file", "item")), "item"]]


def write(folder: Path, speech: Path, segments: pd.DataFrame) -> pd.DataFrame:
    """Write the files.

    - ``speech``: folder of the demo speech.
    - ``segments``: from :func:`chosen`.
    - Returns the segments with ``start`` and ``end`` as text, in seconds.
    """
    (folder / "audio").mkdir()
    times = []
    for file, own in segments.groupby("file", sort=False):
        rng, pieces, place = generator(0, "monologues", file), [], 0
        for item in own["item"]:
            pause = round(audio.SAMPLING_RATE * rng.uniform(*PAUSE)) if pieces else 0
            said = audio.read(speech / item)
            pieces += [np.zeros(pause, dtype=np.float32), said]
            times.append([place + pause, place + pause + len(said)])
            place = times[-1][1]
        audio.write(folder / file, np.concatenate(pieces), audio.SAMPLING_RATE)
    # A sample lasts 0.0000625 s: seven digits are exact.
    texts = [[f"{samples / audio.SAMPLING_RATE:.7f}" for samples in pair] for pair in times]
    start, end = zip(*texts, strict=True)
    table = segments.drop(columns="item")
    table.insert(1, "start", start)
    table.insert(2, "end", end)
    return table
