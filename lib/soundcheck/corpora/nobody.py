"""Words in place of a speaker, a sex, an accent or a language that say that nobody knows it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

__all__ = ["COLUMNS", "without_nobody"]

COLUMNS = ("speaker", "sex", "accent", "language")
WORDS = ("", "unknown", "n/a", "na", "none", "?")


def without_nobody(column: pd.Series, own: Sequence[str] | None = None) -> tuple[pd.Series, pd.Series]:
    """Take words for nobody out of a column of words; gives these words beside, all else ``None``.

    Parameters
    ----------
    column
        Called like one of :data:`COLUMNS`; ``None`` = missing.
    own
        Words of the suite, in place of the usual ones.

    Examples
    --------
    >>> known, words = without_nobody(pd.Series(["s1", " UNKNOWN", "NA"], name="speaker"))
    >>> known.tolist(), words.tolist()
    (['s1', None, 'NA'], [None, ' UNKNOWN', None])
    """
    words = {word.strip().lower() for word in (WORDS if own is None else own)}
    if own is None and column.name == "speaker":
        words.remove("na")  # that may be the name of a speaker
    column = column.astype(object)
    nobody = column.isin([text for text in column.dropna().unique() if text.strip().lower() in words])
    return column.where(~nobody, None), column.where(nobody, None)
