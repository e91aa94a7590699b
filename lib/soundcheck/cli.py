"""The ``soundcheck`` command: parse, call, summarise, exit code."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from soundcheck import __version__
from soundcheck.common.errors import (
    EXIT_BAD_INPUT,
    EXIT_INCOMPLETE,
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    SoundcheckError,
)
from soundcheck.common.escaping import quoted, terminal
from soundcheck.common.media import VOICES

if TYPE_CHECKING:
    from soundcheck.predict.shares import Share


class _Terminated(BaseException):
    """SIGTERM, as an exception that runs all clean-up on its way out."""


def _say(text: str) -> None:
    click.echo(terminal(text), err=True)


_VOICES = click.option(
    "--voices",
    type=click.Choice(VOICES),
    help="What is heard in the book; none: no sounds, nor pictures of single recordings. Default: as the "
    "suite says, else all.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="soundcheck")
def commands() -> None:
    """Test speech models for correctness, fairness and robustness, and build a book of the results."""


@commands.command()
@click.argument("suite", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("build"), show_default=True, help="Output folder."
)
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model; may be repeated.")
@click.option(
    "--family", "families", multiple=True, metavar="NAME", help="Only this family; may be repeated."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes to use; default: one a core.")
@click.option("--no-code", is_flag=True, help="Refuse Python models, programs and services.")
@click.option("--fresh", is_flag=True, help="Forget kept answers of the models and ask everything anew.")
@click.option("--shard", metavar="K/N", help="Ask only this share of the inputs, for soundcheck merge.")
@click.option("--plan", is_flag=True, help="Say what would be done and how long it would take; run nothing.")
@click.option("--no-book", is_flag=True, help="Write results and tables only; a book of before stays.")
@click.option(
    "--cluster", metavar="ADDRESS", default="", help="Ask the models on the workers of this Dask scheduler."
)
@_VOICES
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

            outcome = pipeline.run(suite, out, cluster=cluster, early=early, **chosen, **common)
    click.echo(terminal(outcome.summary))
    sys.exit(outcome.exit_code)


def _share(text: str) -> Share:
    from soundcheck.predict.shares import Share

    try:
        return Share.parse(text)
    except ValueError as error:
        raise click.BadParameter(f"{quoted(text)}: {error}.", param_hint="--shard") from error


@commands.command()
@click.argument("suite", type=click.Path(path_type=Path))
@click.argument("shards", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SHARD_DIR...")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("build"), show_default=True, help="Output folder."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes to use; default: one a core.")
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


@commands.command()
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
@click.option("--jobs", type=click.IntRange(min=1), help="Processes to use; default: one a core.")
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


@commands.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--junit", type=click.Path(path_type=Path), help="JUnit XML file; default: junit.xml beside the results."
)
@click.option(
    "--model", "models", multiple=True, metavar="NAME", help="Judge only this model; may be repeated."
)
@click.option("--strict", is_flag=True, help="Every failure counts, not only those that hold.")
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RESULTS",
    help="An earlier run, its output folder or results.csv: only what got worse counts; may be repeated.",
)
@click.option(
    "--matters-worse",
    type=click.FloatRange(min=0),
    metavar="NUMBER",
    help="By how much a value has to be worse than in a baseline; default: the suite's, or 0.01.",
)
def check(
    results: Path,
    junit: Path | None,
    models: tuple[str, ...],
    strict: bool,
    baselines: tuple[Path, ...],
    matters_worse: float | None,
) -> NoReturn:
    """Judge RESULTS, a results.csv or the folder that holds it, and write JUnit XML.

    A failure counts if it holds among all tests of its model; with --strict every failure counts; with
    --baseline only what got worse than in an earlier run, among all tests at a false discovery rate of 5 %.
    Failures that the suite lists under `accepted` are named and do not count until their day is over. Random
    references are never judged.

    Exit code 0: no failure counts. 1: a failure counts, or something that should have been tested was not.
    2: the results cannot be used.
    """
    from soundcheck.results import gate

    outcome = gate.check(
        results, junit, models, strict=strict, baselines=baselines, matters_worse=matters_worse
    )
    click.echo(terminal(outcome.summary))
    sys.exit(outcome.exit_code)


@commands.group()
def thresholds() -> None:
    """Find out what thresholds for differences between groups ought to be."""


@thresholds.command()
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; may be repeated.")
@click.option("--groups", multiple=True, type=int, help="Number of groups; may be repeated.")
@click.option("--samples", multiple=True, type=int, help="Segments of each group; may be repeated.")
@click.option(
    "--family", metavar="NAME", help="What the thresholds of this family rest on, instead of a grid."
)
@click.option("--runs", type=click.IntRange(1, 1_000_000), default=1000, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes to use; default: one a core.")
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


@commands.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("."))
@click.option("--family", metavar="NAME", help="A family of tests of this name instead, beside a suite.")
@click.option("--model", "kind", metavar="KIND", help="What you have, such as onnx, command or predictions.")
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="FOLDER", help="Recordings or tables to be recognised."
)
def init(folder: Path, family: str | None, kind: str | None, data: Path | None) -> NoReturn:
    """Write a suite to start from, and a model to replace by yours, into FOLDER.

    With --model a suite for that kind of model, with a comment for each of its keys: python, command,
    endpoint, onnx, onnx-asr, transformers or predictions. With --data a suite for the data in another folder
    (or a manifest), whose format, columns, labels and groups are recognised. Both go together.

    With --family the three files of a family of tests, ready to run, beside the suite.yml in FOLDER.
    """
    from soundcheck.suite import starter

    if family is not None and (kind is not None or data is not None):
        raise click.UsageError("--family goes beside a suite that is there: leave out --model and --data.")
    if kind is not None or data is not None:
        from soundcheck.start import suites

        told = suites.write_suite(folder, kind, data)
    else:
        told = starter.write(folder) if family is None else starter.write_family(folder, family)
    click.echo(terminal(told))
    sys.exit(0)


@commands.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--model", metavar="NAME", help="The model; needed if the run has several.")
@click.option("--format", "formats", multiple=True, metavar="NAME", help="Only this format; may be repeated.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Default: cards/MODEL beside the results."
)
@click.option("--book-url", default="", metavar="URL", help="Where the book is published, for links.")
def card(
    results: Path, model: str | None, formats: tuple[str, ...], out: Path | None, book_url: str
) -> NoReturn:
    """Write cards of a model from RESULTS, a results.csv or the folder that holds it.

    A card is computed from the results alone. A README.md that is there is updated: between the markers
    <!-- soundcheck:begin --> and <!-- soundcheck:end -->, and in its metadata.
    """
    from soundcheck.publish.cards import writing

    click.echo(terminal(writing.write_cards(results, model, formats, out, book_url).summary))
    sys.exit(0)


@commands.command()
@click.argument("book", type=click.Path(path_type=Path))
@click.option("--digest", metavar="DIGEST", default="", help="Digest of the book, as it was noted elsewhere.")
@click.option(
    "--again",
    "suite",
    type=click.Path(path_type=Path),
    metavar="SUITE",
    help="Also compute some tests again, with this suite.yml.",
)
@click.option(
    "--tests", type=click.IntRange(min=1), default=20, show_default=True, help="How many, with --again."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Which ones, with --again."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes to use; default: one a core.")
@click.option("--no-code", is_flag=True, help="As for run.")
def verify(
    book: Path, digest: str, suite: Path | None, tests: int, seed: int, jobs: int | None, no_code: bool
) -> NoReturn:
    """Say what was changed in BOOK since it was built, and with which inputs it was made.

    BOOK is an output folder, its html, or a copy of that. All files of the book, results, tables and record
    are compared with the digests in manifest.sha256; verdicts are counted again. With --digest, the book has
    to be the one whose digest the run printed. With --again SUITE, tests that are drawn by --seed are
    computed again in a temporary folder, and models are asked anew; nothing is written to BOOK.

    Exit code 0: nothing was changed, and tests came out the same. 1: something differs. 2: there is nothing
    to verify, or the suite cannot be used.
    """
    from soundcheck.verify import verifying

    outcome = verifying.verify(book, digest)
    click.echo(terminal(outcome.summary))
    if suite is not None:
        from soundcheck.verify import again

        repeated = again.again(
            book, suite, tests=tests, seed=seed, jobs=jobs or os.cpu_count() or 1, no_code=no_code
        )
        click.echo(terminal(repeated.summary))
        outcome = repeated if not outcome.exit_code else outcome
    sys.exit(outcome.exit_code)


@commands.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model; may be repeated.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("build") / "history",
    show_default=True,
    help="Folder for history.html and history.csv, or a file that ends in .html.",
)
def history(runs: tuple[Path, ...], models: tuple[str, ...], out: Path) -> NoReturn:
    """Draw what each test gave over RUN..., the earliest first, and mark what became better or worse.

    RUN is an output folder, a results.csv, or a folder of kept runs (`history:` in a suite). Writes one page
    without anything from outside, and a table of all values with intervals, marks and reasons.

    Exit code 0: written. 2: a run cannot be read, was edited, or is of another suite.
    """
    from soundcheck.history.command import write_history

    click.echo(terminal(write_history(runs, out, models)))
    sys.exit(0)


@commands.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--model", metavar="NAME", help="The model; needed if the run has several.")
@click.option("--comparison", metavar="NAME", help="A comparison of the run instead of a model.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="RESULTS",
    help="The run of the last release, its output folder or results.csv.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="HTML file; default: sheets/NAME.html beside the results."
)
@click.option("--pdf", is_flag=True, help="Write a PDF beside it, too; needs the extra [pdf].")
@click.option("--text", type=click.Path(path_type=Path), help="Write the three lines to this Markdown file.")
def sheet(
    results: Path,
    model: str | None,
    comparison: str | None,
    baseline: Path | None,
    out: Path | None,
    pdf: bool,
    text: Path | None,
) -> NoReturn:
    """Write the page for a meeting about a model of RESULTS, the output folder of a run.

    One HTML file without anything outside, sounds included, that prints on one or two pages: the verdict in
    three lines, what holds, what could not be concluded, what became of it since the last release.

    Exit code 0: written. 2: the results cannot be used, nothing was written.
    """
    from soundcheck.publish.sheet import writing

    if comparison is not None and (model is not None or baseline is not None):
        raise click.UsageError(
            "--comparison says by itself what is compared: leave --model and --baseline out."
        )
    wanted = {"model": model, "comparison": comparison, "baseline": baseline}
    click.echo(terminal(writing.write(results, out, pdf=pdf, text=text, **wanted)))
    sys.exit(0)


def _log_failure() -> str:
    """Keep the traceback of a defect of ours in a file, and say where."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="soundcheck-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        traceback.print_exc(file=file)
    return file.name


def main() -> None:
    """Entry point: every error ends as one message and an exit code, never as a traceback."""

    def terminate(number: int, frame: object) -> None:
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        commands(standalone_mode=False)
    except click.exceptions.Abort:
        _interrupted(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_BAD_INPUT)
    except SoundcheckError as error:
        _say(str(error))
        sys.exit(getattr(error, "exit_code", EXIT_BAD_INPUT))
    except KeyboardInterrupt:
        _interrupted(EXIT_INTERRUPTED)
    except _Terminated:
        _interrupted(EXIT_TERMINATED)
    except BrokenPipeError:
        sys.exit(EXIT_INCOMPLETE)
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            _say(f"{quoted(str(error.filename), 60)}: the name is too long here. Use a shorter path.")
            sys.exit(EXIT_BAD_INPUT)
        # All else is a defect of ours.
        reason = f"{type(error).__name__}: {error}"
        _say(f"Soundcheck failed in a way that it should not: {reason}\nDetails are in {_log_failure()}.")
        sys.exit(EXIT_INCOMPLETE)


def _interrupted(code: int) -> NoReturn:
    _say("Stopped. What was done is kept: run again to go on.")
    sys.exit(code)


if __name__ == "__main__":
    main()
