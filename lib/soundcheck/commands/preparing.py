"""Commands before a run: init, and thresholds simulate."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from soundcheck.commands.numbers import JOBS, SEED, Number
from soundcheck.commands.options import PLACE
from soundcheck.common.escaping import terminal


@click.group()
def thresholds() -> None:
    """Find out what thresholds for differences between groups ought to be."""


@thresholds.command()
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; may be repeated.")
@click.option("--groups", multiple=True, type=Number(2, 1_000_000), help="Number of groups; may be repeated.")
@click.option(
    "--samples", multiple=True, type=Number(2, 1_000_000), help="Segments of each group; may be repeated."
)
@click.option(
    "--family", metavar="NAME", help="What the thresholds of this family come from, instead of a grid."
)
@click.option("--runs", type=Number(1, 1_000_000), default=1000, show_default=True)
@click.option("--seed", type=SEED, default=0, show_default=True)
@click.option("--jobs", type=JOBS, help="Processes to use; default: one a core.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="CSV file; default: standard output."
)
def simulate(
    metrics: tuple[str, ...],
    groups: tuple[int, ...],
    samples: tuple[int, ...],
    family: str | None,
    runs: int,
    seed: int,
    jobs: int | None,
    out: Path | None,
) -> NoReturn:
    """Simulate random models without bias, and write the differences that they show by chance as CSV.

    For each metric, distribution, number of groups and of segments a group: the largest difference between
    the first group and all groups, and those that 99 % and 99.9 % of the models stay below. With --family
    also the published thresholds and those of `thresholds: simulated` for groups of each number and size.
    """
    from soundcheck.run import threshold_table

    wanted = threshold_table.settings(metrics, groups, samples, family)
    click.echo(terminal(threshold_table.write(out, wanted, runs, seed, jobs or os.cpu_count() or 1, family)))
    sys.exit(0)


@click.command()
@click.argument("folder", type=PLACE, default=Path("."))
@click.option("--family", metavar="NAME", help="A family of tests of this name instead, beside a suite.")
@click.option("--like", metavar="FAMILY", help="The shipped family that --family copies, to be changed.")
@click.option("--model", "kind", metavar="KIND", help="What you have, such as onnx, command or predictions.")
@click.option("--data", type=PLACE, metavar="FOLDER", help="Recordings or tables to be recognised.")
def init(folder: Path, family: str | None, like: str | None, kind: str | None, data: Path | None) -> NoReturn:
    """Write a suite to start from, and a model to replace by yours, into FOLDER.

    With --model a suite for that kind of model, with a comment for each of its keys: python, command,
    endpoint, onnx, onnx-asr, transformers or predictions. With --data a suite for the data in another folder
    (or a manifest), whose format, columns, labels and groups are recognised. Both go together.

    With --family the three files of a family of tests, ready to run, beside the suite.yml in FOLDER; with
    --like those of a shipped family, such as robustness_small_changes.
    """
    if family is not None and (kind is not None or data is not None):
        raise click.UsageError("--family goes beside a suite that is there: leave out --model and --data.")
    if like is not None and family is None:
        raise click.UsageError("--like needs --family NAME, the name of the copy.")
    if family is None:
        from soundcheck.start.suites import write_suite

        summary = write_suite(folder, kind, data)
    else:
        from soundcheck.start.families import write_family

        summary = write_family(folder, family, like or "")
    click.echo(terminal(summary))
    sys.exit(0)
