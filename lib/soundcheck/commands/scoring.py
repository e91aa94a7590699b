"""The command that scores two tables without a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import click

from soundcheck.commands.options import PLACE, end
from soundcheck.common.escaping import quoted


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
