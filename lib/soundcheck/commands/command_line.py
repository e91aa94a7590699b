"""The commands and their options; numbers are checked as those of a suite."""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from soundcheck import __version__
from soundcheck.common.files import MARKER
from soundcheck.common.media import VOICES
from soundcheck.common.messages import quoted, terminal

if TYPE_CHECKING:
    from soundcheck.common.messages import Outcome
    from soundcheck.predict.request import Share
    from soundcheck.run.selection import RunOptions


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


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="soundcheck")
def commands() -> None:
    """Test speech models for correctness, fairness and robustness, and build a book of the results."""


# Commands that ask models -----------------------------------------------------------------------------------


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


@commands.command()
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


@commands.command()
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


@commands.command()
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


# Commands that read what a run has left ---------------------------------------------------------------------


@commands.command()
@RESULTS
@click.option("--junit", type=PLACE, help="JUnit XML file; default: junit.xml beside the results.")
@MODELS
@click.option("--strict", is_flag=True, help="Values on the wrong side of their threshold fail, too.")
@click.option(
    "--inconclusive",
    type=click.Choice(["pass", "fail"]),
    default="pass",
    show_default=True,
    help="Whether tests fail that are inconclusive.",
)
@click.option(
    "--suite",
    type=PLACE,
    metavar="SUITE",
    help="Apply `accepted` and `tests` of this suite.yml as it is now, without a run.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=PLACE,
    metavar="RESULTS",
    help="An earlier run, its output folder or results.csv: only what got worse counts; may be repeated.",
)
@click.option(
    "--matters-worse",
    type=Number(0, 1_000_000, whole=False),
    metavar="NUMBER",
    help="By how much a value has to be worse than in a baseline; default: the suite's, or 0.01.",
)
def check(results: Path, junit: Path | None, models: tuple[str, ...], **options: Any) -> NoReturn:
    """Judge RESULTS, a results.csv or the folder that holds it, and write JUnit XML.

    A test fails if its state is fail; with --strict also if its value is on the wrong side of its threshold;
    with --baseline only if it got worse than in an earlier run, among all tests at a false discovery rate of
    5 %. Failures that the suite lists under `accepted` are named and do not count until their day is over. A
    test under a hard bar of the suite fails in any case if its value is on the wrong side or missing. Random
    references are never judged.

    Exit code 0: nothing fails. 1: something fails, or did not run; the text and JUnit XML give each reason.
    2: the results cannot be used.
    """
    from soundcheck.results import gate

    outcome = gate.check(results, junit, models, **options)
    end(outcome.summary, outcome.exit_code)


@commands.command()
@RESULTS
@MODEL
@choices("--format", "formats", "Only this format")
@click.option("--out", type=PLACE, metavar="DIR", help="Default: cards/MODEL beside the results.")
@click.option("--book-url", default="", metavar="URL", help="Where the book is published, for links.")
def card(
    results: Path, model: str | None, formats: tuple[str, ...], out: Path | None, book_url: str
) -> NoReturn:
    """Write cards of a model from RESULTS, a results.csv or the folder that holds it.

    A card is computed from the results alone. A README.md that is there is updated: between the markers
    <!-- soundcheck:begin --> and <!-- soundcheck:end -->, and in its metadata.
    """
    from soundcheck.publish.cards.card_format import write_cards

    end(write_cards(results, model, formats, out, book_url))


@commands.command()
@click.argument("book", type=PLACE)
@click.option("--digest", metavar="DIGEST", default="", help="Digest of the book, as it was noted elsewhere.")
@click.option(
    "--again",
    "suite",
    type=PLACE,
    metavar="SUITE",
    help="Also compute some tests again, with this suite.yml.",
)
@click.option("--tests", type=MANY, default=20, show_default=True, help="How many, with --again.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Which ones, with --again.")
@JOBS
@click.option("--no-code", is_flag=True, help="As for run.")
def verify(book: Path, digest: str, suite: Path | None, **options: Any) -> NoReturn:
    """Say what was changed in BOOK since it was built, and with which inputs it was made.

    BOOK is an output folder, its html, or a copy of that. All files of the book, results, tables and record
    are compared with the digests in manifest.sha256; verdicts are counted again. With --digest, the book has
    to be the one whose digest the run printed. With --again SUITE, tests that are drawn by --seed are
    computed again in a temporary folder, and their models predict again; nothing is written to BOOK.

    Exit code 0: nothing was changed, and tests came out the same. 1: something differs. 2: there is nothing
    to verify, or the suite cannot be used.
    """
    from soundcheck.commands import verifying

    outcome = verifying.verify(book, digest)
    if suite is not None:
        click.echo(terminal(outcome.summary))
        repeated = verifying.again(book, suite, **options)
        end(repeated.summary, outcome.exit_code or repeated.exit_code)
    end(outcome.summary, outcome.exit_code)


@commands.command()
@click.argument("runs", nargs=-1, required=True, type=PLACE, metavar="RUN...")
@MODELS
@click.option(
    "--out",
    type=PLACE,
    default=Path("build") / "history",
    show_default=True,
    help="Folder for history.html and history.csv, or a file that ends in .html.",
)
def history(runs: tuple[Path, ...], models: tuple[str, ...], out: Path) -> NoReturn:
    """Draw what each test gave over RUN..., the earliest first, and mark what became better or worse.

    RUN is an output folder, a results.csv, or a folder of saved runs (`history:` in a suite). Writes one page
    without anything from outside, and a table of all values with intervals, marks and reasons.

    Exit code 0: written. 2: a run cannot be read, was edited, or is of another suite.
    """
    from soundcheck.book.history_page import write_history

    end(write_history(runs, out, models))


@commands.command()
@RESULTS
@MODEL
@click.option("--comparison", metavar="NAME", help="A comparison of the run instead of a model.")
@click.option(
    "--baseline",
    type=PLACE,
    metavar="RESULTS",
    help="The run of the last release, its output folder or results.csv.",
)
@click.option("--out", type=PLACE, help="HTML file; default: sheets/NAME.html beside the results.")
@click.option("--pdf", is_flag=True, help="Write a PDF beside it, too; needs the extra [pdf].")
@click.option("--text", type=PLACE, help="Write the three lines to this Markdown file.")
def sheet(results: Path, out: Path | None, **options: Any) -> NoReturn:
    """Write the one-page summary of a model of RESULTS, the output folder of a run.

    One HTML file without anything outside, sounds included, that prints on one or two pages: how good it is,
    what fails, values by group and class, what could not be concluded, what changed since the last release.

    Exit code 0: written. 2: the results cannot be used, nothing was written.
    """
    from soundcheck.publish.sheet import write

    if options["comparison"] is not None and (options["model"], options["baseline"]) != (None, None):
        what = "--comparison says by itself what is compared: leave --model and --baseline out."
        raise click.UsageError(what)
    end(write(results, out, **options))


# Commands beside runs ---------------------------------------------------------------------------------------


@commands.group()
def thresholds() -> None:
    """Find out what thresholds for differences between groups ought to be."""


@thresholds.command()
@choices("--metric", "metrics", "Only this metric")
@click.option("--groups", multiple=True, type=Number(2, 1_000_000), help="Number of groups; may be repeated.")
@click.option(
    "--samples", multiple=True, type=Number(2, 1_000_000), help="Segments of each group; may be repeated."
)
@click.option(
    "--family", metavar="NAME", help="What the thresholds of this family come from, instead of a grid."
)
@click.option("--runs", type=MANY, default=1000, show_default=True)
@click.option("--seed", type=SEED, default=0, show_default=True)
@JOBS
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="CSV file; default: standard output."
)
def simulate(
    runs: int, seed: int, jobs: int, out: Path | None, family: str | None, **grid: tuple
) -> NoReturn:
    """Simulate random models without bias, and write the differences that they show by chance as CSV.

    For each metric, distribution, number of groups and of segments a group: the largest difference between
    the first group and all groups, and those that 99 % and 99.9 % of the models stay below. With --family
    also the published thresholds and those of `thresholds: simulated` for groups of each number and size.
    """
    from soundcheck.run import threshold_table

    wanted = threshold_table.settings(**grid, family=family)
    end(threshold_table.write(out, wanted, runs, seed, jobs, family))


@commands.command()
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
    from soundcheck.start import suites

    if family is None:
        end(suites.write_suite(folder, kind, data))
    end(suites.write_family(folder, family, like or ""))


@commands.command()
@click.argument("suite", required=False, type=PLACE)
@click.option("--out", type=PLACE, default=Path("build"), show_default=True, help="Output folder.")
@click.option("--clear", is_flag=True, help="Empty the cache; of a shared one, the predictions only.")
def cache(suite: Path | None, out: Path, clear: bool) -> None:
    """Say where the cache of an output folder is and how large, or empty it.

    With SUITE, a suite.yml file, the cache may be one that the suite names.
    """
    from soundcheck.predict.store import NAME
    from soundcheck.run.output import FolderLock, Output
    from soundcheck.run.selection import share_cache
    from soundcheck.suite.suite_file import read_suite

    if suite is not None:
        share_cache(read_suite(suite))
    output = Output(out)
    folder = output.cache
    cached = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    predictions = [path for path in cached if path.parent == folder and NAME.partition(".")[0] in path.name]
    sizes = [sum(path.stat().st_size for path in paths) / 1e6 for paths in (cached, predictions)]
    click.echo(terminal(f"Cache {folder}: {sizes[0]:.1f} MB, of these {sizes[1]:.1f} MB predictions"))
    if clear and cached:
        is_own = folder == output.folder / "cache" and not folder.is_symlink()
        is_own = is_own and (output.folder / MARKER).is_file()
        with FolderLock(output.folder, output.display_name):
            for path in predictions:
                path.unlink()
            if is_own:
                shutil.rmtree(folder)
        click.echo("Everything in it was removed" if is_own else "The predictions of models were removed")


@commands.command()
@click.argument("references", type=PLACE)
@click.argument("predictions", type=PLACE)
@click.argument("further", nargs=-1, metavar="")
@click.option("--truth", metavar="COLUMN", default="", help="Column of REFERENCES with what is true.")
@click.option("--prediction", metavar="COLUMN", default="", help="Column of PREDICTIONS with predictions.")
@click.option("--speaker", metavar="COLUMN", default="", help="Column of REFERENCES with the speakers.")
@click.option("--group", "groups", metavar="COLUMN", multiple=True, help="Columns whose groups are compared.")
@click.option("--against", metavar="GROUP", default="others", help="Group that others are compared with.")
@click.option(
    "--kind",
    type=click.Choice(["words", "values", "classes", "trials"]),
    help="What is predicted; default: what it looks like.",
)
@click.option("--out", type=PLACE, metavar="FILE.html", help="Write one self-contained page.")
@click.option("--check", is_flag=True, help="Exit with 1 if a group is worse by more than the margin.")
def score(
    references: Path,
    predictions: Path,
    against: str,
    kind: str | None,
    out: Path | None,
    check: bool,
    further: tuple[str, ...],
    **columns: Any,
) -> NoReturn:
    """Score PREDICTIONS against REFERENCES, two tables, without a suite.

    Prints the headline measure with its interval, the value of each group, and differences between groups
    with their state. Columns are recognised by their names, as `soundcheck init` does.
    """
    if further and not columns["groups"]:
        raise click.UsageError(f"There are two tables, not more: {quoted(further[0])}.")
    columns["groups"] += further
    from soundcheck.score import tables
    from soundcheck.score.scores import score_tables, score_trials

    if kind == "trials" or (kind is None and tables.is_trial_list(references)):
        groups = columns.pop("groups")
        if any(columns.values()):
            raise click.UsageError("These are trials: leave out --truth, --prediction and --speaker.")
        scores = score_trials(references, predictions, groups, against=against)
    else:
        scores = score_tables(references, predictions, against=against, kind=kind, **columns)
    page = "" if out is None else f"\nPage: {scores.to_html(out)}"
    end(f"{scores}{page}", scores.exit_code if check else 0)
