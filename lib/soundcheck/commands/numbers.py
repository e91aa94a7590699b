"""Numbers of the command line, checked as those of a suite: each is finite and lies between two bounds."""

from __future__ import annotations

import click

from soundcheck.common.escaping import quoted


class Number(click.ParamType):
    """A number between two bounds, both included."""

    name = "number"

    def __init__(self, low: float, high: float, *, whole: bool = True) -> None:
        self._low, self._high, self._type = low, high, int if whole else float

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        """Read it."""
        try:
            number = self._type(value)
        except ValueError:
            number = float("nan")
        if not self._low <= number <= self._high:  # also if it is not a number
            kind = "whole number" if self._type is int else "number"
            self.fail(
                f"{quoted(str(value), 40)} is not a {kind} from {self._low:,} to {self._high:,}.", param, ctx
            )
        return number


JOBS = Number(1, 1000)
SEED = Number(0, 2**32 - 1)
