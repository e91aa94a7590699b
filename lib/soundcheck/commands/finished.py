"""Commands that read what a run has left: check, card, verify, history and sheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import click

from soundcheck.commands.options import JOBS, MANY, MODEL, MODELS, PLACE, RESULTS, SEED, Number, choices, end
from soundcheck.common.messages import terminal


@click.command()
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


@click.command()
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


@click.command()
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


@click.command()
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


@click.command()
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
