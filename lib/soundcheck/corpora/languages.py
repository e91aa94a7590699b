"""Codes of languages as data write them: ``de``, ``deu``, ``German``, ``zh-CN`` are one language each."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pandas as pd

_MACRO = {"cmn": "zho", "yue": "zho"}  # spoken Chinese by its own code


@functools.cache
def _code(name: str) -> str:
    """Give the three letters of ISO 639-3; what is not known stays as it is."""
    from audformat.utils import map_language  # late: few corpora need it, and it takes a while to load

    text = name.strip().replace("_", "-")
    for candidate in (text, text.split("-")[0], text.split("-")[0].lower(), text.title()):
        try:
            code = map_language(candidate)
        except ValueError:
            continue
        return _MACRO.get(code, code)
    return text


def among(names: Sequence[object], wanted: Sequence[str]) -> np.ndarray:
    """Say which of the wanted languages each name means, ``None`` = none of them.

    Both are codes of ISO 639-1 or 639-3, with or without region, or English names; names may be missing.

    >>> among(["deu", "zh-CN", "Danish", None], ["de", "zh"]).tolist()
    ['de', 'zh', None, None]
    """
    codes = {_code(name): name for name in wanted}
    meant = [None if pd.isna(name) else codes.get(_code(str(name))) for name in names]
    return np.array([*meant, None], dtype=object)[:-1]
