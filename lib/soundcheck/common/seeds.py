"""Random draws that depend on what they are for, never on order, worker or time.

Conventions
-----------
A draw is named by the suite's seed and a *purpose*: a few texts or numbers such as
``("change", "white_noise", <content of the audio>)``. The same name gives the same draw everywhere;
the order of a mapping's keys does not count.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np


def _plain(value: object) -> object:
    """Give NumPy's numbers the name of Python's; anything else has no stable name."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PurePath):
        return value.as_posix()
    raise TypeError(f"a draw cannot be named by a {type(value).__name__}")


def _key(seed: int, purpose: Sequence[object]) -> bytes:
    name = json.dumps([int(seed), *purpose], separators=(",", ":"), sort_keys=True, default=_plain)
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


def generator(seed: int, *purpose: object) -> np.random.Generator:
    """Make the random generator of a purpose.

    >>> bool(generator(0, "noise").random() == generator(0, "noise").random())
    True
    """
    return np.random.Generator(np.random.PCG64(int.from_bytes(_key(seed, purpose), "big")))


def uniform(seed: int, *purpose: object, keys: Sequence[str]) -> np.ndarray:
    """Draw one number in (0, 1) for each key, each independent of which other keys there are.

    - ``purpose``: what the draws are for.
    - ``keys``: one text an item, for instance a segment's file and times.
    - Returns float64, shape ``(len(keys),)``, never exactly 0 or 1.
    """
    begin = _key(seed, purpose)
    texts = (key.encode("utf-8", "surrogatepass") for key in keys)
    drawn = b"".join([hashlib.blake2b(begin + text, digest_size=8).digest() for text in texts])
    words = np.frombuffer(drawn, dtype=">u8").astype(np.uint64)
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52
