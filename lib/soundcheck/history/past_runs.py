"""The runs of a history: read from output folders, tables or a folder of kept runs, each of them once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problem, Problems
from soundcheck.common.escaping import quoted
from soundcheck.history.data_versions import tables_of
from soundcheck.history.kept_runs import ABOUT, KeptFiles, date_of, folders_in
from soundcheck.results.finished_run import FinishedRun, read_past
from soundcheck.results.judged import KEPT_REPLICATES

_RANDOM = "random"  # kind of the reference models
_DIGITS = 12  # of digests that people see


@dataclasses.dataclass(frozen=True, eq=False)
class PastRun:
    """A run of a history.

    Parameters
    ----------
    name
        Name of its folder, without the way there.
    date
        When it was kept, in UTC; empty if nobody knows.
    digest
        First digits of the digest of ``results.csv``: what tells runs apart.
    finished
        What the run left.
    tables
        Corpus -> digest of what was said of its segments; empty if nobody knows.
    """

    name: str
    date: str
    digest: str
    finished: FinishedRun
    tables: dict[str, str]

    @property
    def known(self) -> bool:
        """Whether there is a record of models, data and versions."""
        return bool(self.finished.about)

    @property
    def soundcheck(self) -> str:
        """Version of Soundcheck; empty if nobody knows."""
        return str(self.finished.about.get("version", ""))

    @property
    def models(self) -> list[str]:
        """Names of the models that have results, without random references."""
        models = self.finished.part("models").items()
        random = {name for name, model in models if model.get("kind") == _RANDOM}
        return [name for name in self.finished.frame["model"].unique().tolist() if name not in random]

    def model_version(self, model: str) -> str:
        """First digits of what a model's answers depend on; empty if nobody knows."""
        return str(self.finished.part("models").get(model, {}).get("fingerprint", ""))[:_DIGITS]

    def data_version(self, corpora: Iterable[str]) -> str:
        """First digits of the digest of sounds and labels of some corpora; empty if nobody knows."""
        recorded = self.finished.part("corpora")
        known = [
            (name, recorded[name].get("digest", ""), self.tables.get(name, ""))
            for name in corpora
            if name in recorded
        ]
        return files.digest(repr(sorted(known)))[:_DIGITS] if known else ""

    def setting(self, *keys: str) -> Any:
        """Look a value up in the suite that was run; ``None`` if nobody knows."""
        found: Any = self.finished.about.get("suite")
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found


@dataclasses.dataclass(frozen=True)
class PastRuns:
    """What was read.

    Parameters
    ----------
    runs
        The runs, the earliest first, no two with the same results.
    doubled
        Name of a run -> name of an earlier one with the same results; it is not counted.
    problems
        What cannot be read, and why.
    """

    runs: tuple[PastRun, ...]
    doubled: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()


def read_runs(paths: Sequence[Path]) -> PastRuns:
    """Read the runs that a user names, in their order.

    Parameters
    ----------
    paths
        Output folders, results tables, or folders of kept runs, which are read by date.

    Raises
    ------
    InputError
        If anything cannot be read or was edited; names each.
    """
    problems: list[Problem] = []
    places: list[tuple[Path, str]] = []
    for path in paths:
        if not path.is_dir() or (path / "results.csv").is_file():
            places.append((path, str(path)))
            continue
        try:
            kept = folders_in(path)
        except OSError as error:
            problems.append(Problem(f"RUN {path}", error.strerror or str(error), "Check who may read it"))
            continue
        if not kept:
            what = "there are neither results nor kept runs in the folder"
            remedy = "Name an output folder, a results.csv or a folder of kept runs"
            problems.append(Problem(f"RUN {path}", what, remedy))
        places += [(one, str(one)) for one in kept]
    found = _read(places)
    if problems or found.problems:
        raise InputError([*problems, *found.problems])
    return found


def read_kept(folder: Path) -> PastRuns:
    """Read a folder of kept runs, as far as it can be read; problems name the runs alone."""
    return _read([(path, path.name) for path in folders_in(folder)]) if folder.is_dir() else PastRuns(())


def _read(places: Sequence[tuple[Path, str]]) -> PastRuns:
    runs: dict[str, PastRun] = {}
    doubled: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for path, shown in places:
        try:
            run = _read_run(path, f"RUN {shown}")
        except InputError as error:
            problems += error.problems
            continue
        first = runs.setdefault(run.digest, run)
        if first is not run:
            doubled.append((run.name, first.name))
    return PastRuns(tuple(runs.values()), tuple(doubled), tuple(problems))


def _read_run(path: Path, shown: str) -> PastRun:
    finished = read_past(path, shown)
    folder = finished.path.parent
    problems = Problems()
    if not finished.about and (folder / "run.json").exists():
        what = "the record of the run cannot be read, so that nobody knows whether the results are its own"
        problems.add(f"{shown}: run.json", what, "Run the suite again, or leave the run out")
    kept = _kept_tables(folder, shown, problems) if (folder / ABOUT).is_file() else None
    problems.raise_if_any()
    digest = files.digest(finished.path)[:_DIGITS]
    run = PastRun(folder.absolute().name, date_of(folder), digest, finished, kept or {})
    return (
        run
        if kept is not None
        else dataclasses.replace(run, tables=tables_of(folder, [*run.finished.part("corpora")]))
    )


def _kept_tables(folder: Path, shown: str, problems: Problems) -> dict[str, str]:
    remedy = "Remove the kept run; it cannot be repaired"
    try:
        about = KeptFiles.read(folder / ABOUT)
    except (OSError, ValueError) as error:
        problems.add(f"{shown}: {ABOUT}", f"the file cannot be read ({type(error).__name__})", remedy)
        return {}
    replicates = folder / KEPT_REPLICATES
    if not replicates.is_file() or files.digest(replicates) != about.replicates:
        what = "the file is not the one that the run left"
        problems.add(f"{shown}: {quoted(replicates.name)}", what, remedy)
    return about.tables
