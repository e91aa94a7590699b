"""Words of messages and pages."""

from collections.abc import Sequence


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
