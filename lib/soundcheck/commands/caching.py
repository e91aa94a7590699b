"""The command that says what a cache holds, and empties it."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from soundcheck.commands.options import PLACE
from soundcheck.common.escaping import terminal
from soundcheck.common.files import MARKER


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
        is_own = folder == output.folder / "cache" and (output.folder / MARKER).is_file()
        with FolderLock(output.folder, output.display_name):
            for path in predictions:
                path.unlink()
            if is_own:
                shutil.rmtree(folder)
        click.echo("Everything in it was removed" if is_own else "The predictions of models were removed")
