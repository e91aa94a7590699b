"""Low, medium and high voices: speakers in groups by the mean pitch of their segments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.suite.groups import PITCHES


def voice_groups(
    pitch: Sequence[float],
    speakers: Sequence[object],
    usable: tuple[float, float] = (50.0, 350.0),
    borders: tuple[float, float] = (145.0, 190.0),
    more_than: int = 25,
) -> tuple[np.ndarray, pd.DataFrame]:
    """Sort speakers into groups.

    Parameters
    ----------
    pitch
        Mean fundamental frequency of each segment in Hz, ``(N,)``; NaN if it has none.
    speakers
        Speaker of each segment, ``(N,)``; missing ones take no part.
    usable
        Lowest and highest pitch of a segment that is used, both included.
    borders
        Highest mean pitch of a low and of a medium voice.
    more_than
        A speaker needs more usable segments than this.

    Returns
    -------
    tuple of numpy.ndarray and pandas.DataFrame
        Group of each segment, object ``(N,)``, ``None`` for segments and speakers that are not used; one row
        a group and reason, with columns ``group``, ``speakers``, ``segments``, ``lowest`` and ``highest``
        mean pitch of a speaker.
    """
    table = pd.DataFrame(
        {"pitch": np.asarray(pitch, dtype=np.float64), "speaker": np.asarray(speakers, dtype=object)}
    )
    known = table["speaker"].notna()
    fine = known & table["pitch"].between(*usable)
    own = table[fine].groupby("speaker", sort=True)["pitch"]
    count, mean = own.transform("size"), own.transform("mean")
    enough = fine & (count.reindex(table.index) > more_than)
    place = np.searchsorted(np.asarray(borders), mean.reindex(table.index)[enough].to_numpy(), side="left")
    groups = np.full(len(table), None, dtype=object)
    groups[enough.to_numpy()] = np.array(PITCHES, dtype=object)[place]
    reasons = {
        "no speaker": ~known,
        f"no pitch from {usable[0]:g} to {usable[1]:g} Hz": known & ~fine,
        f"speakers with up to {more_than} usable segments": fine & ~enough,
    }
    rows = []
    for name in PITCHES:
        rows.append((name, table[groups == name], mean))
    rows += [(reason, table[mask], None) for reason, mask in reasons.items() if mask.any()]
    return groups, pd.DataFrame(
        [
            (
                name,
                part["speaker"].nunique(),
                len(part),
                means.reindex(part.index).min() if means is not None else np.nan,
                means.reindex(part.index).max() if means is not None else np.nan,
            )
            for name, part, means in rows
        ],
        columns=["group", "speakers", "segments", "lowest", "highest"],
    )
