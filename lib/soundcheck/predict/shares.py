"""Parts of a run's questions to models, for several machines.

A key, which is a digest of all that the answer depends on, decides to which share a question belongs. So
shares are even, and the same on every machine, whatever else it has in its cache.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Self

_DIGITS = 15  # of a key, hexadecimal
_TEXT = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclasses.dataclass(frozen=True, order=True)
class Share:
    """One of some equal shares, counted from 1.

    >>> half = Share.parse("2/2")
    >>> str(half), "00000000000000f" in half, "00000000000000e" in half
    ('2/2', True, False)
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a share as people write it.

        Raises ValueError: if it is none, with the reason.
        """
        found = _TEXT.fullmatch(text)
        if not found:
            raise ValueError("it is not of the form K/N, such as 2/3")
        number, of = map(int, found.groups())
        if not 1 <= number <= of:
            raise ValueError(f"K must be from 1 to N, such as 1/{max(of, 1)}")
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def __contains__(self, key: str) -> bool:
        """Say whether a question belongs to the share."""
        return int(key[:_DIGITS], 16) % self.of == self.number - 1
