"""Commands that ask models: run, merge and compare."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from soundcheck.commands.numbers import JOBS, Number
from soundcheck.common.escaping import quoted, terminal
from soundcheck.common.media import VOICES

if TYPE_CHECKING:
    from soundcheck.predict.shares import Share

_VOICES = click.option(
    "--voices",
    type=click.Choice(VOICES),
    help="What is heard in the book; none: no sounds, nor pictures of single recordings. Default: as the "
    "suite says, else all.",
)


def _share(text: str) -> Share:
    from soundcheck.predict.shares import Share

    try:
        return Share.parse(text)
    except ValueError as error:
        raise click.BadParameter(f"{quoted(text)}: {error}.", param_hint="--shard") from error


@click.command()
@click.argument("suite", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("build"), show_default=True, help="Output folder."
)
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model; may be repeated.")
@click.option(
    "--family", "families", multiple=True, metavar="NAME", help="Only this family; may be repeated."
)
@click.option("--jobs", type=JOBS, help="Processes to use; default: one a core.")
@click.option("--no-code", is_flag=True, help="Refuse Python models, programs and services.")
@click.option("--fresh", is_flag=True, help="Forget kept answers of the models and ask everything anew.")
@click.option("--shard", metavar="K/N", help="Ask only this share of the inputs, for soundcheck merge.")
@click.option("--plan", is_flag=True, help="Say what would be done and how long it would take; run nothing.")
@click.option("--no-book", is_flag=True, help="Write results and tables only; a book of before stays.")
@click.option(
    "--cluster", metavar="ADDRESS", default="", help="Ask the models on the workers of this Dask scheduler."
)
@_VOICES
@click.option(
    "--efficiency",
    type=Number(0.001, 604_800, whole=False),
    metavar="SECONDS",
    help="Afterwards measure speed, memory and size of the models, with so many seconds of calls each; "
    "written beside the book, as efficiency.html and efficiency.csv.",
)
def run(
    suite: Path,
    out: Path,
    models: tuple[str, ...],
    families: tuple[str, ...],
    jobs: int | None,
    no_code: bool,
    fresh: bool,
    shard: str | None,
    plan: bool,
    no_book: bool,
    cluster: str,
    voices: str | None,
    efficiency: float | None,
) -> NoReturn:
    """Predict, test and build the book of SUITE, a suite.yml file.

    With --model or --family, the results are added to the book of the same suite in the output folder.
    With --shard, only a share of the predictions is made, for soundcheck merge.

    Exit code 0: the book is complete, or with --no-book the results. 2: bad input, nothing was run; or a
    model answers on another scale. 3: the book is built, but a notebook or a model failed. What is done is
    kept: after an interruption, run again to go on.
    """
    share = None if shard is None else _share(shard)
    if share is not None and (models or families or fresh or cluster):
        what = "A shard is part of the whole suite, and other shards may use the same cache: "
        raise click.UsageError(f"{what}leave out --model, --family, --fresh and --cluster.")
    if efficiency is not None and (plan or share is not None):
        raise click.UsageError("--efficiency measures after a run: leave out --plan and --shard.")
    chosen = {"models": models, "families": families, "fresh": fresh, "book": not no_book}
    chosen["voices"] = voices or ""
    common = {"jobs": jobs or os.cpu_count() or 1, "no_code": no_code}
    if plan or share is not None:
        from soundcheck import pipeline

        if plan:
            outcome = pipeline.plan_run(suite, out, share=share, **chosen, **common)
        else:
            outcome = pipeline.run_shard(suite, out, share, **common)
    else:
        from soundcheck.run.early import begun

        check = not (no_code or fresh)
        with begun(suite, out, jobs=common["jobs"], models=models, check=check) as early:
            from soundcheck import pipeline  # takes a second, while models are checked

            outcome = pipeline.run(
                suite, out, cluster=cluster, early=early, efficiency=efficiency, **chosen, **common
            )
    click.echo(terminal(outcome.summary))
    sys.exit(outcome.exit_code)


@click.command()
@click.argument("suite", type=click.Path(path_type=Path))
@click.argument("shards", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SHARD_DIR...")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("build"), show_default=True, help="Output folder."
)
@click.option("--jobs", type=JOBS, help="Processes to use; default: one a core.")
@click.option("--no-code", is_flag=True, help="Refuse Python models, programs and services.")
@click.option("--no-book", is_flag=True, help="Write results and tables only; a book of before stays.")
@_VOICES
def merge(
    suite: Path,
    shards: tuple[Path, ...],
    out: Path,
    jobs: int | None,
    no_code: bool,
    no_book: bool,
    voices: str | None,
) -> NoReturn:
    """Put the shards of SUITE together, and build its book.

    SHARD_DIR... are the output folders of soundcheck run --shard 1/N to N/N. What they have answered, or
    could not answer, is not asked again; what is left is asked here.

    Exit codes as for run. 2: a shard is missing, or belongs to another suite, version, model or data.
    """
    from soundcheck import pipeline

    outcome = pipeline.merge(
        suite,
        shards,
        out,
        jobs=jobs or os.cpu_count() or 1,
        no_code=no_code,
        book=not no_book,
        voices=voices or "",
    )
    click.echo(terminal(outcome.summary))
    sys.exit(outcome.exit_code)


@click.command()
@click.argument("suite", type=click.Path(path_type=Path))
@click.argument("baseline", required=False)
@click.argument("candidate", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("build") / "compare",
    show_default=True,
    help="Output folder; one inside that of a run shares its cache.",
)
@click.option(
    "--family", "families", multiple=True, metavar="NAME", help="Only this family; may be repeated."
)
@click.option("--jobs", type=JOBS, help="Processes to use; default: one a core.")
@click.option("--no-code", is_flag=True, help="Refuse Python models, programs and services.")
@click.option("--strict", is_flag=True, help="Exit code 1 if the candidate is worse on any test.")
@click.option("--no-book", is_flag=True, help="Write results and tables only; a book of before stays.")
@click.option("--cluster", metavar="ADDRESS", default="", help="As for run.")
@_VOICES
def compare(
    suite: Path,
    baseline: str | None,
    candidate: str | None,
    out: Path,
    families: tuple[str, ...],
    jobs: int | None,
    no_code: bool,
    strict: bool,
    no_book: bool,
    cluster: str,
    voices: str | None,
) -> NoReturn:
    """Test two models of SUITE on the same segments, and say where CANDIDATE differs from BASELINE.

    Without names, the comparisons that the suite lists. Writes a book of the models compared, and
    comparisons.csv with the difference on every test, its interval, p-value, and better, worse or no evidence
    among all tests. Exit codes as for run; with --strict also 1.

    Two output folders of earlier runs in the place of SUITE and BASELINE, the earlier one first: their models
    of the same name are compared, or the only model of each, and no model is run. Writes comparisons.csv and
    a book without sounds.
    """
    from soundcheck import pipeline
    from soundcheck.book import two_runs
    from soundcheck.run.two_runs import is_run

    if is_run(suite):
        if baseline is None or candidate is not None:
            raise click.UsageError(f"{suite} is the folder of a run. Name another one to compare it with.")
        options = {"families": families, "jobs": jobs or os.cpu_count() or 1}
        compared = two_runs.compare_runs(
            suite, Path(baseline), out, **options, strict=strict, book=not no_book
        )
        click.echo(terminal(compared.summary))
        sys.exit(compared.exit_code)
    if baseline is not None and candidate is None:
        raise click.UsageError("Name two models, BASELINE and CANDIDATE, or none.")
    outcome = pipeline.compare(
        suite,
        out,
        (baseline, candidate) if baseline is not None else None,
        families=families,
        jobs=jobs or os.cpu_count() or 1,
        no_code=no_code,
        strict=strict,
        book=not no_book,
        cluster=cluster,
        voices=voices or "",
    )
    click.echo(terminal(outcome.summary))
    sys.exit(outcome.exit_code)
