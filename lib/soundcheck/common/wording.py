"""Words of messages and pages; texts, lists and mappings as YAML on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

# What YAML reads as the same text without quotes: words, paths.
_PLAIN = re.compile(r"(\.{1,2}/)*[^\W\d][\w./-]*( [\w./-]+)*|\.|(\.\./)*\.\.")
_MEANT = ("null", "true", "false", "yes", "no", "on", "off")  # by some YAML as something else


def counted(count: int, noun: str) -> str:
    """Write a number with its noun, whose plural ends in s.

    >>> counted(1, "block"), counted(0, "block")
    ('1 block', '0 blocks')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def some(names: Sequence[str], most: int) -> str:
    """Name the first of several, and count the others.

    >>> some(["a", "b", "c"], 2), some(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def duration(seconds: float) -> str:
    """Write a duration as people say it.

    >>> duration(4.26), duration(728), duration(7325)
    ('4 s', '12 min 8 s', '2 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def scalar(value: object) -> str:
    """Write a text or number as YAML.

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
    """Write a list or mapping of texts and numbers as YAML.

    >>> flow({"sex": {"m": "male"}, "range": (1, 7)})
    '{sex: {m: male}, range: [1, 7]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)
