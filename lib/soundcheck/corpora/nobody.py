"""Words in place of a speaker, a sex, an accent or a language that say that nobody knows it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from soundcheck.common.class_words import NOTHING

COLUMNS = ("speaker", "sex", "accent", "language")
WORDS = (*NOTHING, *"-- ?? n.a. unk <unk> undefined unspecified unidentified missing undisclosed".split())
WORDS += ("anonymous", "not specified", "not given", "not available", "prefer not to say", "no information")
NAMES = (("speaker", "na"), ("language", "nan"))  # somebody may be called NA, and nan is Min Nan Chinese


def without_nobody(column: pd.Series, own: Sequence[str] | None = None) -> tuple[pd.Series, pd.Series]:
    """Take words for nobody out of a column of words; gives these words beside, all else ``None``.

    - ``column``: called like one of :data:`COLUMNS`; ``None`` = missing.
    - ``own``: words of the suite, in place of the usual ones.

    >>> known, words = without_nobody(pd.Series(["s1", " UNKNOWN", "NA"], name="speaker", dtype=object))
    >>> known.tolist(), words.tolist()
    (['s1', None, 'NA'], [None, ' UNKNOWN', None])
    """
    usual = [word for word in WORDS if (column.name, word) not in NAMES]
    words = {word.strip().lower() for word in (usual if own is None else own)}
    nobody = column.isin([text for text in column.dropna().unique() if text.strip().lower() in words])
    return column.where(~nobody, None), column.where(nobody, None)
