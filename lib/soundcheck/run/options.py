"""What a run is asked for on the command line."""

from __future__ import annotations

import dataclasses
from pathlib import Path


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """A suite, an output folder, and how to run the one into the other."""

    suite: Path
    out: Path
    # names to restrict the run to; such a run adds to the book, see :mod:`soundcheck.run.selection`
    models: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    jobs: int = 1  # processes for synthesis, prediction and notebooks
    no_code: bool = False  # refuse models that run code
    fresh: bool = False  # forget what the models answered in earlier runs
    # if not, that of an earlier run stays: its pages name their run, run.json and summary say so
    book: bool = True
    voices: str | None = None  # what is heard in the book, "all" or "none"; None: as the suite says
    cluster: str = ""  # address of a Dask scheduler whose workers ask the models; empty: this machine
    efficiency: float | None = None  # seconds that each model may take to be measured after the run
    quick: bool = False  # a first look: few segments under each change, two levels, no sweeps
    keep: bool = True  # keep the run in the history, if the suite wants one
