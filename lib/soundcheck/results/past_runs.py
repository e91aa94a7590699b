"""The folder in which each finished run leaves its results, record and replicates, and runs read from it.

A kept run is a folder named by the time it was kept, in UTC, and the first digits of the digest of its
results: names sort by time, and the same results are kept once. It is written beside and renamed, so that it
appears whole or not at all. The folder is marked, so that files in it are never taken for those of a model.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problem, Problems, SoundcheckError
from soundcheck.common.escaping import quoted
from soundcheck.results.finished_run import ABOUT, DIGITS, KEPT_NAME, FinishedRun, KeptFiles, read_run
from soundcheck.results.judged import KEPT_REPLICATES, save_replicates

_STAMP = "%Y-%m-%dT%H%M%SZ"


@dataclasses.dataclass(frozen=True)
class PastRuns:
    """What was read: runs, the earliest first, no two with the same results, and what was left out."""

    runs: Sequence[FinishedRun]
    doubled: Sequence[tuple[str, str]] = ()  # name of a run, and of an earlier one with the same results
    problems: Sequence[Problem] = ()  # what cannot be read


def check_place(folder: Path, output: Path, corpora: Mapping[str, Path]) -> None:
    """Refuse a place where runs cannot be kept, before anything runs."""
    problems, where = Problems(), f"history: {quoted(folder.name)}"
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    place, out = folder.resolve(), output.resolve()
    if not existing.is_dir():
        problems.add(where, "this is a file, not a folder", "Name a folder; it is made if it is not there")
    elif not os.access(existing, os.W_OK | os.X_OK):
        problems.add(where, "the folder cannot be written", "Name another one, or change who may write to it")
    if place.is_relative_to(out) or out.is_relative_to(place):
        what = "the folder is the output folder of the run, lies in it or holds it"
        problems.add(where, what, "Name a folder beside it")
    for name in [name for name, root in corpora.items() if place.is_relative_to(root.resolve())]:
        what = f"the folder lies inside the corpus {quoted(name)}"
        problems.add(where, what, "Name a folder outside of all corpora")
    problems.raise_if_any()


def keep(folder: Path, output: Path, now: datetime.datetime) -> Path:
    """Keep what a finished run has in its output folder, unless the same results are kept already.

    Raises a ``SoundcheckError`` if it cannot be written or the results cannot be read; nothing is left then.
    """
    run = read_run(output)
    if not run.recorded:
        raise SoundcheckError("there is no record of the run, run.json")
    if known := _with_digest(folder, run.digest):
        return known[0]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / files.MARKER).exists():
            files.write_text(folder / files.MARKER, "{}\n")
        with tempfile.TemporaryDirectory(
            prefix=files.TEMPORARY, dir=folder, ignore_cleanup_errors=True
        ) as name:
            part = Path(name)
            for copied in ("results.csv", "run.json"):
                shutil.copyfile(output / copied, part / copied)
            tested = {key: one for key, one in run.judged.items() if key[0] not in run.record.references}
            save_replicates(tested, part / KEPT_REPLICATES)
            KeptFiles(files.digest(part / KEPT_REPLICATES), run.labels).write(part / ABOUT)
            part.chmod(0o755)
            now = now.astimezone(datetime.UTC)
            while any(folder.glob(f"{now:{_STAMP}}-*")):  # names that sort by time need their own second
                now += datetime.timedelta(seconds=1)
            place = part.rename(folder / f"{now:{_STAMP}}-{run.digest}")
    except (OSError, files.OutputError) as error:
        cause = error.__cause__ or error
        raise SoundcheckError(getattr(cause, "strerror", None) or str(cause)) from error
    first, *others = _with_digest(folder, run.digest) or [place]
    for other in others:  # another run kept the same at the same time
        shutil.rmtree(other, ignore_errors=True)
    return first


def folders_in(folder: Path) -> list[Path]:
    """List the kept runs of a folder, the earliest first, without links and what is being written.

    Folders that somebody has named otherwise come after those with a date, by name.
    """
    runs = [
        path
        for path in folder.iterdir()
        if (path / "results.csv").is_file()
        and not path.is_symlink()
        and not path.name.startswith(files.TEMPORARY)
    ]
    return sorted(runs, key=lambda path: (KEPT_NAME.fullmatch(path.name) is None, path.name))


def _with_digest(folder: Path, digest: str) -> list[Path]:
    """List the whole kept runs of some results, the earliest first."""
    whole = []
    for path in folders_in(folder) if folder.is_dir() else []:
        with contextlib.suppress(OSError):  # another run may have removed what both had kept
            if path.name.endswith(f"-{digest}") and files.digest(path / "results.csv")[:DIGITS] == digest:
                whole.append(path)
    return whole


def read_runs(paths: Sequence[Path]) -> PastRuns:
    """Read output folders, results tables, or folders of kept runs, which are read by date.

    Raises an ``InputError`` that names all that cannot be read or was edited.
    """
    problems, places = [], []
    for path in paths:
        kept = [path]
        if path.is_dir() and not (path / "results.csv").is_file():
            try:
                kept = folders_in(path)
            except OSError as error:
                problems.append(Problem(f"RUN {path}", error.strerror or str(error), "Check who may read it"))
                continue
        if not kept:
            what = "there are neither results nor kept runs in the folder"
            remedy = "Name an output folder, a results.csv or a folder of kept runs"
            problems.append(Problem(f"RUN {path}", what, remedy))
        places += kept
    past = _read((path, str(path)) for path in places)
    if problems := [*problems, *past.problems]:
        raise InputError(problems)
    return past


def read_kept(folder: Path) -> PastRuns:
    """Read a folder of kept runs, as far as it can be read; problems name the runs alone."""
    return _read((path, path.name) for path in folders_in(folder))


def _read(places: Iterable[tuple[Path, str]]) -> PastRuns:
    runs: dict[str, FinishedRun] = {}
    doubled, problems = [], []
    for path, name in places:
        try:
            run = read_run(path, f"RUN {name}", older=True)
        except InputError as error:
            problems += error.problems
            continue
        first = runs.setdefault(run.digest, run)
        if first is not run:
            doubled.append((run.name, first.name))
    return PastRuns(list(runs.values()), doubled, problems)
