"""The first steps of every command that writes to an output folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.run import adding
from soundcheck.run.lock import FolderLock
from soundcheck.run.options import RunOptions
from soundcheck.run.output import Output
from soundcheck.run.selection import changes_made, corpus_folders, read_families, refuse_code, select
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import Family


class Opened(NamedTuple):
    """An output folder that nobody else writes to."""

    plan: adding.Plan
    families: list[Family]
    output: Output
    has_run: bool  # whether there was a run
    anew: bool  # whether families changed since


def share_cache(suite: Suite) -> None:
    """Use the cache that a suite names, unless the environment names one."""
    if suite.cache is not None and not os.environ.get(CACHE_VARIABLE):
        os.environ[CACHE_VARIABLE] = str(suite.cache)


@contextlib.contextmanager
def opened(suite: Suite, options: RunOptions) -> Iterator[Opened]:
    """Refuse what needs no corpus to be refused, then make the output folder, and lock it for a block.

    Raises InputError: if the folder, a model's or family's name or a family cannot be used, or a model runs
    code although that is not wanted.
    """
    share_cache(suite)
    output = Output(options.out)
    chosen = select(suite, options.models, options.families)
    output.check(corpus_folders(suite))
    with FolderLock(output.folder, output.display_name) as lock:
        has_run = output.has_run
        part = options.models or options.families
        plan = adding.add(suite, chosen, output) if part else adding.whole(suite)
        made = changes_made(output.cache)
        families = read_families(plan.suite, made)
        if options.no_code:
            refuse_code(plan.suite)
        lock.take()
        output.prepare()
        anew = made.grown
        made.save()
        yield Opened(plan, families, output, has_run, anew)
