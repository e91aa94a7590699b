"""Commands that ask models: run, merge and compare."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

import click
from click.core import ParameterSource

from soundcheck.commands.options import PLACE, end, run_options
from soundcheck.common.messages import quoted

if TYPE_CHECKING:
    from soundcheck.common.messages import Outcome
    from soundcheck.predict.request import Share
    from soundcheck.run.selection import RunOptions


def _pipeline() -> ModuleType:
    """Load what runs suites, while the process that models are forks of does the same beside this one."""
    from soundcheck.models import processes

    processes.begin_to_import()
    from soundcheck import pipeline

    return pipeline


def _end(outcome: Outcome) -> NoReturn:
    end(outcome.summary, outcome.exit_code)


def _share(text: str) -> Share:
    from soundcheck.predict.request import Share

    try:
        return Share.parse(text)
    except ValueError as error:
        raise click.BadParameter(f"{quoted(text)}: {error}.", param_hint="--shard") from error


@click.command()
@run_options(
    *("suite", "out", "models", "families", "jobs", "no_code", "fresh", "book", "cluster", "voices"),
    *("efficiency", "quick"),
)
@click.option("--shard", metavar="K/N", help="Predict only this share of the inputs, for soundcheck merge.")
@click.option("--plan", is_flag=True, help="Say what would be done and how long it would take; run nothing.")
def run(options: RunOptions, shard: str | None, plan: bool) -> NoReturn:
    """Predict, test and build the book of SUITE, a suite.yml file.

    With --model or --family, the results are added to the book of the same suite in the output folder.

    Exit code 0: the book is complete, or with --no-book the results. 2: bad input, nothing was run, or
    predictions on another scale. 3: a notebook or a model failed. After an interruption, run again to go on.
    """
    share = None if shard is None else _share(shard)
    of_part = options.models or options.families or options.fresh or options.cluster or options.quick
    if share is not None and of_part:
        what = "A shard is part of the whole suite, and other shards may use the same cache: "
        raise click.UsageError(f"{what}leave out --model, --family, --fresh, --cluster and --quick.")
    if options.quick and click.get_current_context().get_parameter_source("out") is ParameterSource.DEFAULT:
        options = dataclasses.replace(options, out=options.out / "quick")
    if options.efficiency is not None and (plan or share is not None):
        raise click.UsageError("--efficiency measures after a run: leave out --plan and --shard.")
    pipeline = _pipeline()

    if plan or share is not None:
        _end(pipeline.plan_run(options, share) if plan else pipeline.run_shard(options, share))
    _end(pipeline.run(options))


@click.command()
@run_options("suite", "out", "jobs", "no_code", "book", "voices")
@click.argument("shards", nargs=-1, required=True, type=PLACE, metavar="SHARD_DIR...")
def merge(options: RunOptions, shards: tuple[Path, ...]) -> NoReturn:
    """Put the shards of SUITE together, and build its book.

    SHARD_DIR... are the output folders of soundcheck run --shard 1/N to N/N. What they predicted, or could
    not predict, is not tried again.

    Exit codes as for run. 2: a shard is missing, or belongs to another suite, version, model or data.
    """
    pipeline = _pipeline()

    _end(pipeline.run(options, shards))


@click.command()
@run_options(
    *("suite", "out", "families", "jobs", "no_code", "book", "cluster", "voices"),
    out=click.option(
        "--out",
        type=PLACE,
        default=Path("build") / "compare",
        show_default=True,
        help="Output folder; one inside that of a run shares its cache.",
    ),
)
@click.argument("baseline", required=False)
@click.argument("candidate", required=False)
@click.option("--strict", is_flag=True, help="Exit code 1 if the candidate is worse on any test.")
def compare(options: RunOptions, baseline: str | None, candidate: str | None, strict: bool) -> NoReturn:
    """Test two models of SUITE on the same segments, and say where CANDIDATE differs from BASELINE.

    Without names, the comparisons that the suite lists. Writes a book of the models compared, and
    comparisons.csv with the difference on every test, its interval, p-value, and better, worse or no evidence
    among all tests. Exit codes as for run; with --strict also 1.

    Two output folders of earlier runs in the place of SUITE and BASELINE, the earlier one first: their models
    of the same name are compared, or the only model of each, and no model is run. Writes comparisons.csv and
    a book without sounds.
    """
    pipeline = _pipeline()
    from soundcheck.book import two_runs

    if (options.suite / "results.csv").is_file():  # the output folder of a run
        if baseline is None or candidate is not None:
            what = f"{options.suite} is the folder of a run. Name another one to compare it with."
            raise click.UsageError(what)
        values = dataclasses.asdict(options)
        chosen = {name: values[name] for name in ("families", "jobs", "book")}
        _end(two_runs.compare_runs(options.suite, Path(baseline), options.out, strict=strict, **chosen))
    if baseline is not None and candidate is None:
        raise click.UsageError("Name two models, BASELINE and CANDIDATE, or none.")
    _end(pipeline.compare(options, None if baseline is None else (baseline, candidate), strict=strict))
