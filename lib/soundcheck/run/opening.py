"""The first steps of every command that writes to an output folder."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from soundcheck.run import adding
from soundcheck.run.lock import FolderLock
from soundcheck.run.output import Output
from soundcheck.run.selection import ReadBefore, corpus_folders, read_families, refuse_code, select
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import Family


@dataclasses.dataclass(frozen=True)
class Opened:
    """An output folder that nobody else writes to.

    Parameters
    ----------
    plan
        What is run, and what an earlier run has left.
    output
        The folder; it is made by :meth:`begin`.
    lock
        The right to write to it.
    before
        What earlier runs have read.
    """

    plan: adding.Plan
    output: Output
    lock: FolderLock
    before: ReadBefore

    def begin(self, *, no_code: bool) -> list[Family]:
        """Read the families, refuse what needs no corpus to be refused, then make the folder.

        Raises
        ------
        InputError
            If a family cannot be used, or a model runs code although that is not wanted.
        """
        suite = self.plan.suite
        families = read_families(suite, self.before)
        if no_code:
            refuse_code(suite)  # models that are not asked are loaded, too, to compare what they are now
        self.lock.take()
        self.output.prepare()
        self.before.save()
        return families


@contextlib.contextmanager
def opened(
    suite: Suite, out: Path, models: Sequence[str] = (), families: Sequence[str] = ()
) -> Iterator[Opened]:
    """Open the output folder of a run, for the time of a block.

    Parameters
    ----------
    suite
        What there is to run.
    out
        The folder.
    models, families
        Names to restrict the run to; default all.

    Raises
    ------
    InputError
        If the suite has no such model or family, or the folder cannot be used.
    """
    output = Output(out)
    chosen = select(suite, models, families)
    output.check(corpus_folders(suite))
    with FolderLock(output.folder, output.display_name) as lock:
        plan = adding.add(suite, chosen, output) if models or families else adding.whole(suite)
        yield Opened(plan, output, lock, ReadBefore(output.cache))
