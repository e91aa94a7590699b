"""From which size a difference between groups is a failure: ``matters:`` of a suite or test.

::

    matters: {absolute: 0.05, relative: 0.25, floor: 0.005}
"""

from __future__ import annotations

import dataclasses
import math

from soundcheck.suite import schema
from soundcheck.suite.measures import MeasureInfo

ABSOLUTE = 0.05  # of error rates without a published threshold


def _read_relative(value: object) -> object:
    given = schema.plain_value(value)
    if given == 0 and given is not False:
        raise schema.wrong("0 is no share of an error rate", "Write false for the absolute margin alone")
    return None if given is False else value


@dataclasses.dataclass(frozen=True)
class Margin:
    """The size of a difference that counts."""

    # the largest margin; ``None`` = the published threshold of the test
    absolute: schema.number(0, 1, positive=True) | None = None
    # of error rates: share of the rate of the reference; ``None`` = the absolute margin alone
    relative: schema.parsed(schema.number(0, 1, positive=True) | None, _read_relative) = 0.25
    floor: schema.number(0, 1) = 0.005  # of error rates: the smallest margin

    def of(self, published: float | None, reference: float | None, info: MeasureInfo) -> float | None:
        """Give the margin of a test; ``None`` if there is nothing to judge by.

        - ``published``: threshold of the test, if it has one.
        - ``reference``: value of the reference group: of a recall 0.98 the error rate is 0.02.

        >>> errors = MeasureInfo("word_error_rate", "word error rate", "lower", error=True)
        >>> [Margin().of(0.05, rate, errors) for rate in (0.45, 0.08, 0.003)]
        [0.05, 0.02, 0.005]
        """
        absolute = published if self.absolute is None else self.absolute
        if not info.error:
            return absolute
        absolute = ABSOLUTE if absolute is None else absolute
        if self.relative is None or reference is None or math.isnan(reference):
            return absolute
        rate = 1 - reference if info.better == "higher" else reference
        return max(self.floor, min(absolute, self.relative * rate))

    def __str__(self) -> str:
        absolute = "the threshold" if self.absolute is None else f"{self.absolute:g}"
        if self.relative is None:
            return absolute
        return f"{absolute}, of error rates {self.relative:g} of the rate if that is less"
