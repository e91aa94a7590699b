"""Groups that show one weakness several times: which of them says it best, and which repeat it.

A model that fails women over a telephone is worse for women, over the telephone, and for women over the
telephone in noise. One of these groups stands for all:

- A group within another one, and no worse than the rest of that one, repeats it. The smaller a part, the
  larger its gap by chance, so it would often stand above the group that says it all.
- A group that shares half of its segments or more with one of a larger gap repeats that one.
- A group that shares some repeats it if it is no worse than the others without the segments of all groups
  that stand above it, on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Worse = Callable[[np.ndarray, np.ndarray], bool]

_SHARED = 0.5


def repeated_groups(sides: Sequence[tuple[np.ndarray, np.ndarray]], worse: Worse) -> dict[int, list[int]]:
    """Sort groups under those that they repeat.

    >>> whole, half = np.array([True, True, False]), np.array([True, False, False])
    >>> repeated_groups([(half, ~half), (whole, ~whole)], lambda own, rest: False)
    {1: [0]}
    """
    wider = _wider([own for own, _ in sides], worse)
    below: dict[int, list[int]] = {}
    above = np.zeros_like(sides[0][0]) if sides else np.empty(0, dtype=bool)
    for place in (place for place in range(len(sides)) if place not in wider):
        own, rest = sides[place]
        shared = {top: (own & sides[top][0]).sum() / own.sum() for top in below}
        most = max(shared, key=shared.__getitem__, default=None)
        if most is not None and shared[most] > 0:
            if shared[most] >= _SHARED or not worse(own & ~above, rest & ~above):
                below[most].append(place)
                continue
        below[place] = []
        above |= own
    for top, places in below.items():
        held = {top, *places}
        places.extend(place for place, home in wider.items() if home in held)
        places.sort()
    return below


def _wider(groups: Sequence[np.ndarray], worse: Worse) -> dict[int, int]:
    """Find groups within another one that are no worse than its rest; place -> place of the other one.

    The other one lies within none in this way.
    """
    found: dict[int, int] = {}
    by_size = sorted(range(len(groups)), key=lambda place: (-groups[place].sum(), place))
    for rank, place in enumerate(by_size):
        for other in (other for other in by_size[:rank] if other not in found):
            if (groups[place] & ~groups[other]).any():
                continue
            if not worse(groups[place], groups[other] & ~groups[place]):
                found[place] = other
                break
    return found
