"""What further tables of an audformat database say about segments that others list.

Databases keep labels of a test set in one table and speakers of all recordings in another. The tables under
``tables:`` bring the segments; those under ``attributes:`` only fill columns that the former do not have.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from soundcheck.common.escaping import quoted

__all__ = ["with_attributes"]

INDEX = ["file", "start", "end"]


def with_attributes(
    frame: pd.DataFrame, parts: Sequence[tuple[str, bool, pd.DataFrame]], notices: list[str]
) -> pd.DataFrame:
    """Fill columns of segments from further tables.

    Parameters
    ----------
    frame
        Segments under our names, texts, with the columns ``file``, ``start`` and ``end``.
    parts
        Name of each table, whether its rows are whole files, and its rows under our names. The first one that
        says something counts.
    notices
        Gets a sentence for each table that says nothing about any segment.
    """
    brought = set(frame.columns)
    frame = frame.copy()
    for name, whole, part in parts:
        keys = INDEX[:1] if whole else INDEX
        index = pd.MultiIndex.from_frame(part[keys])
        rows = part[~index.duplicated()].set_index(keys)
        wanted = pd.MultiIndex.from_frame(frame[keys]) if len(keys) > 1 else frame[keys[0]]
        found = rows.reindex(wanted)
        if not wanted.isin(rows.index).any():
            kind = "files" if whole else "segments"
            notices.append(f"the table {quoted(name)} tells nothing: it has none of the {kind}")
        for column in (one for one in part.columns if one not in (*INDEX, *brought)):
            cells = found[column].fillna("").to_numpy(object)
            known = frame.get(column)
            frame[column] = cells if known is None else known.where(known != "", cells)
    return frame
