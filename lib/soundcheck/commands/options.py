"""Options that several commands have, declared once."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from soundcheck.commands.numbers import JOBS, Number
from soundcheck.common.media import VOICES

Command = Callable[..., Any]


PLACE = click.Path(path_type=Path)
_OPTIONS = {
    "suite": click.argument("suite", type=PLACE),
    "out": click.option("--out", type=PLACE, default=Path("build"), show_default=True, help="Output folder."),
    "models": click.option(
        "--model", "models", multiple=True, metavar="NAME", help="Only this model; may be repeated."
    ),
    "families": click.option(
        "--family", "families", multiple=True, metavar="NAME", help="Only this family; may be repeated."
    ),
    "jobs": click.option(
        "--jobs",
        type=JOBS,
        default=lambda: os.cpu_count() or 1,
        help="Processes to use; default: one a core.",
    ),
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
    "voices": click.option(
        "--voices",
        type=click.Choice(VOICES),
        help="Recordings in the book; none: no sounds, nor pictures of single recordings. Default: as the "
        "suite says, else all.",
    ),
    "quick": click.option(
        "--quick",
        is_flag=True,
        help="A first look: at most 50 segments under each change, two levels, no sweeps; written to "
        "build/quick unless --out says otherwise.",
    ),
    "efficiency": click.option(
        "--efficiency",
        type=Number(0.001, 604_800, whole=False),
        metavar="SECONDS",
        help="Afterwards measure speed, memory and size of the models, with so many seconds of calls each; "
        "written beside the book, as efficiency.html and efficiency.csv.",
    ),
}


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
