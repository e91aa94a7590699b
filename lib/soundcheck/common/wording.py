"""Words of messages and pages."""

__all__ = ["counted"]


def counted(count: int, noun: str) -> str:
    """Write a number with its noun, whose plural ends in s.

    Examples
    --------
    >>> counted(1, "block"), counted(0, "block")
    ('1 block', '0 blocks')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
