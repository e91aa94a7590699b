"""Writes texts, lists and mappings as YAML on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

# What YAML reads as the same text without quotes: words, paths.
_PLAIN = re.compile(r"(\.{1,2}/)*[^\W\d][\w./-]*( [\w./-]+)*|\.|(\.\./)*\.\.")
_MEANT = ("null", "true", "false", "yes", "no", "on", "off")  # by some YAML as something else


def scalar(value: object) -> str:
    """Write a text or number.

    >>> scalar("data/test.tsv"), scalar("no"), scalar("a: b"), scalar(1.0)
    ('data/test.tsv', '"no"', '"a: b"', '1')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}"
    text = str(value)
    plain = _PLAIN.fullmatch(text) and text.lower() not in _MEANT
    return text if plain else json.dumps(text, ensure_ascii=False)


def flow(value: object) -> str:
    """Write a list or mapping of them.

    >>> flow({"sex": {"m": "male"}, "range": (1, 7)})
    '{sex: {m: male}, range: [1, 7]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)
