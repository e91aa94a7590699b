"""Options that several commands have, declared once, and numbers that are checked as those of a suite."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from soundcheck.common.media import VOICES
from soundcheck.common.messages import quoted, terminal

Command = Callable[..., Any]


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
            wrong = f"{quoted(str(value), 40)} is not a {kind} from {self._low:,} to {self._high:,}."
            self.fail(wrong, param, ctx)
        return number


MANY = Number(1, 1_000_000)
SEED = Number(0, 2**32 - 1)
PLACE = click.Path(path_type=Path)


def choices(flag: str, name: str, text: str) -> Callable[[Command], Command]:
    """Declare an option that may be repeated, whose values are names."""
    return click.option(flag, name, multiple=True, metavar="NAME", help=f"{text}; may be repeated.")


RESULTS = click.argument("results", type=PLACE)
MODEL = click.option("--model", metavar="NAME", help="The model; needed if the run has several.")
MODELS = choices("--model", "models", "Only this model")
JOBS = click.option(
    "--jobs",
    type=Number(1, 1000),
    default=lambda: os.cpu_count() or 1,
    help="Processes to use; default: one a core.",
)
_VOICES = (
    "Recordings in the book; none: no sounds, nor pictures of single recordings. Default: as the suite says, "
    "else all."
)
_QUICK = (
    "A first look: at most 50 segments under each change, two levels, no sweeps; written to build/quick "
    "unless --out says otherwise."
)
_EFFICIENCY = (
    "Afterwards measure speed, memory and size of the models, with so many seconds of calls each; written "
    "beside the book, as efficiency.html and efficiency.csv."
)
_OPTIONS = {
    "suite": click.argument("suite", type=PLACE),
    "out": click.option("--out", type=PLACE, default=Path("build"), show_default=True, help="Output folder."),
    "models": MODELS,
    "families": choices("--family", "families", "Only this family"),
    "jobs": JOBS,
    "no_code": click.option("--no-code", is_flag=True, help="Refuse Python models, programs and services."),
    "fresh": click.option(
        "--fresh", is_flag=True, help="Drop cached predictions of the models and compute all again."
    ),
    "book": click.option(  # its name in the command is that of its flag
        "--no-book", is_flag=True, help="Write results and tables only; a book of before stays."
    ),
    "cluster": click.option(
        "--cluster",
        metavar="ADDRESS",
        default="",
        help="Run the models on the workers of this Dask scheduler.",
    ),
    "voices": click.option("--voices", type=click.Choice(VOICES), help=_VOICES),
    "quick": click.option("--quick", is_flag=True, help=_QUICK),
    "efficiency": click.option(
        "--efficiency", type=Number(0.001, 604_800, whole=False), metavar="SECONDS", help=_EFFICIENCY
    ),
}


def end(text: str, exit_code: int = 0) -> NoReturn:
    """Say what came out, and end the command."""
    click.echo(terminal(text))
    sys.exit(exit_code)


def run_options(*names: str, **others: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Declare options of a command, which gets them as ``RunOptions``; ``others`` replace ours."""

    def declare(function: Command) -> Command:
        @functools.wraps(function)
        def command(**values: Any) -> Any:
            from soundcheck.run.selection import RunOptions  # late: `--help` need not load numpy

            if "no_book" in values:
                values["book"] = not values.pop("no_book")
            options = {name: values.pop(name) for name in names}
            return function(RunOptions(**options), **values)

        for name in reversed(names):
            command = (_OPTIONS | others)[name](command)
        return command

    return declare
