"""Failures that hold: which of a model's many tests found a difference, and which may be chance.

A model is tested a hundred times; of a hundred tests five fail by chance alone. What *holds* is what remains
when that is accounted for, by the false discovery rate of Benjamini and Hochberg (1995), Controlling the
false discovery rate, over all tests of a model in a category.

Conventions
-----------
- A test of a group counts as found only if its gap is of a size that matters, any other only if it fails;
  else its p-value counts as 1.
- Rows without p-value neither hold nor count.
"""

from __future__ import annotations

import pandas as pd

from soundcheck.results.states import decide
from soundcheck.results.verdict import state_of
from soundcheck.statistics.rules import one_sided

FALSE_DISCOVERY_RATE = 0.05


settle = decide


def candidates(frame: pd.DataFrame) -> pd.Series:
    """Say of each row whether there is something that may hold: a gap that matters, or a failure, bool."""
    size = frame["gap"].where(frame["rule"].map(one_sided).astype(bool), frame["gap"].abs())
    return (size >= frame["matters"]).where(frame["matters"].notna(), frame["passed"].eq(False)).astype(bool)


def tests(frame: pd.DataFrame) -> pd.Series:
    """Count for each row the tests of its model and category that it stands among, int."""
    known = frame["p_value"].notna()
    return known.groupby([frame["model"], frame["category"]]).transform("sum").astype(int)


def cannot_hold(frame: pd.DataFrame) -> pd.Series:
    """Say of each row whether its speakers are too few to show anything among so many tests, bool.

    It could hold only together with others then, however large its gap.
    """
    return frame["least_p"] > FALSE_DISCOVERY_RATE / tests(frame).clip(lower=1)


def states(frame: pd.DataFrame) -> pd.Series:
    """Give the state of each row, one of :data:`soundcheck.results.verdict.STATES`."""
    found = [state_of(*row) for row in zip(frame["passed"], frame["holds"], frame["evidence"], strict=True)]
    return pd.Series(found, index=frame.index, dtype=object)
