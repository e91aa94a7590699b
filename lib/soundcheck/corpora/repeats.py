"""What is in a corpus more than once: recordings, parts of files, and speakers of more than one split.

Conventions
-----------
- Sounds with the same digest are the same recording; so are copies by their fingerprints, of the sounds that
  have one (see :mod:`soundcheck.corpora.copies`).
- Segments of one file that overlap are told from the times of the table, and are no copies.
- Recordings of one item under several conditions at the same time are meant to be alike, and are no copies.
- Of splits that are not evaluated only what is in the evaluated one, too, is told.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.corpora.copies import FEWEST, copies, together
from soundcheck.corpora.measures.fingerprint import codes

_SAME_TIME = 1e-3  # seconds by which segments may touch


@dataclasses.dataclass(frozen=True)
class Repeated:
    """One recording that is there more than once.

    - ``speakers, splits``: different ones that its segments name; empty without such columns.
    """

    files: tuple[str, ...]  # of its segments, each as often as it is there
    identical: bool  # whether all of them are the same bytes
    speakers: tuple[str, ...]
    splits: tuple[str, ...]
    differing: tuple[str, ...]  # tasks whose labels are not the same for all of its segments


@dataclasses.dataclass(frozen=True)
class Repeats:
    """What is in a corpus more than once.

    - ``overlapping, overlapping_files``: segments that begin before another one of their file has ended, and
      files with such.
    - ``compared, sounds``: different sounds whose fingerprints were compared, and all.
    """

    recordings: tuple[Repeated, ...]  # those with the most segments first
    parallel: int  # segments of items that were recorded under several conditions at the same time
    overlapping: int
    overlapping_files: int
    compared: int
    sounds: int
    others: int = 0  # segments of splits that are not evaluated with which they were compared


def find_repeats(
    table: pd.DataFrame,
    fingerprints: Mapping[str, str | None],
    tasks: Sequence[str],
    others: pd.DataFrame | None = None,
) -> Repeats:
    """Find what is in a corpus more than once.

    - ``fingerprints``: digest of the sound -> fingerprint, for the sounds that were listened to.
    - ``tasks``: names of tasks, whose labels ought to be the same for the same recording.
    - ``others``: segments of splits that are not evaluated, like ``table``.
    """
    own, table = table, table if others is None else pd.concat([table, others], ignore_index=True)
    sounds = pd.Index(table["audio"].unique())  # those of the evaluated segments first
    heard = [codes(fingerprints.get(sound) or "") for sound in sounds]
    number = dict(zip(sounds, together(copies(heard), len(sounds)), strict=True))
    overlapping = _overlapping(table)
    recording = table["audio"].map(number)
    several = table[recording.duplicated(keep=False)]
    found, parallel = [], 0
    for _, rows in several.groupby(recording, sort=True):
        if rows.index[0] >= len(own):
            continue
        if _parallel(rows):
            parallel += len(rows)
            continue
        within = rows.index[-1] < len(own)  # what lies in two splits is told whatever the times
        if within and rows["file"].nunique() == 1 and rows["audio"].nunique() > 1:
            rows = rows[~overlapping[rows.index]]
        if len(rows) > 1:
            found.append(_repeated(rows, tasks))
    overlapping, count = overlapping[: len(own)], own["audio"].nunique()
    compared = sum(np.count_nonzero(one) >= FEWEST for one in heard[:count])
    return Repeats(
        tuple(sorted(found, key=lambda one: (-len(one.files), one.files))),
        parallel,
        int(overlapping.sum()),
        int(own["file"][overlapping.to_numpy()].nunique()),
        compared,
        count,
        len(table) - len(own),
    )


def speakers_in_splits(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Name the splits of a corpus, and the speakers that are in more than one of them."""
    if "split" not in table:
        return [], []
    splits = sorted(table["split"].dropna().unique())
    if "speaker" not in table:
        return splits, []
    each = table.groupby("speaker")["split"].nunique()
    return splits, sorted(each.index[each > 1])


def _overlapping(table: pd.DataFrame) -> pd.Series:
    """Say which segments begin before another one of their file has ended, bool by row."""
    begin = table["start"].fillna(0.0)
    end = table["end"].fillna(begin + table["duration"])
    order = pd.DataFrame({"file": table["file"], "begin": begin, "end": end}).sort_values(["file", "begin"])
    before = order.groupby("file")["end"].cummax().groupby(order["file"]).shift()
    inside = order["begin"] < before - _SAME_TIME
    # The same part of the same file twice is a copy.
    twice = table[["file", "audio"]].duplicated()
    return inside.reindex(table.index) & ~twice


def _parallel(rows: pd.DataFrame) -> bool:
    if not {"item", "condition"} <= set(rows.columns):
        return False
    return rows["item"].nunique(dropna=False) == 1 and rows["condition"].nunique() == len(rows)


def _repeated(rows: pd.DataFrame, tasks: Sequence[str]) -> Repeated:
    def different(column: str) -> tuple[str, ...]:
        return tuple(sorted(map(str, rows[column].dropna().unique()))) if column in rows else ()

    return Repeated(
        tuple(rows["file"]),
        rows["audio"].nunique() == 1,
        different("speaker"),
        different("split"),
        tuple(task for task in tasks if len(different(task)) > 1),
    )
