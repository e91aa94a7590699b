"""Commands beside runs: score, init, thresholds simulate, and cache."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NoReturn

import click

from soundcheck.commands.options import JOBS, MANY, PLACE, SEED, Number, choices, end
from soundcheck.common.files import MARKER
from soundcheck.common.messages import quoted, terminal


@click.group()
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
    from soundcheck.start import suites

    if family is None:
        end(suites.write_suite(folder, kind, data))
    end(suites.write_family(folder, family, like or ""))


@click.command()
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


@click.command()
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
