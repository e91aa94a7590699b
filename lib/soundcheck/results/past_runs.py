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
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problem, Problems, SoundcheckError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.json_file import JsonFile
from soundcheck.results.finished_run import FinishedRun, read_run
from soundcheck.results.judged import KEPT_REPLICATES, save_replicates
from soundcheck.suite.groups import MEASURED_COLUMNS

ABOUT = "kept.json"
DIGITS = 12  # of digests that people see
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z-([0-9a-f]{12})")
_STAMP = "%Y-%m-%dT%H%M%SZ"
# What Soundcheck measures is no label; a later version may measure otherwise.
_MEASURED = {*MEASURED_COLUMNS} | {f"{name} (number)" for name in MEASURED_COLUMNS}


@dataclasses.dataclass(frozen=True)
class KeptFiles(JsonFile):
    """What else is known of a kept run."""

    replicates: str  # digest of the file
    tables: dict[str, str]  # corpus -> digest of its labels


@dataclasses.dataclass(frozen=True, eq=False)
class PastRun:
    """A run of a history; what nobody knows of a table without a record is empty."""

    name: str  # of its folder, without the way there
    date: str  # when it was kept, in UTC
    digest: str  # first digits of that of results.csv: what tells runs apart
    finished: FinishedRun
    tables: dict[str, str]  # as in KeptFiles

    @property
    def soundcheck(self) -> str:
        """Version of Soundcheck."""
        return self.finished.record.version if self.finished.record else ""

    @property
    def tested(self) -> list[str]:
        """Names of the models that have results, without random references."""
        names = self.finished.frame["model"].unique().tolist()
        return [name for name in names if name not in self.finished.references]

    def model_version(self, model: str) -> str:
        """First digits of what a model's predictions depend on."""
        known = self.finished.models
        return known[model].fingerprint[:DIGITS] if model in known else ""

    def data_version(self, corpora: Iterable[str]) -> str:
        """First digits of the digest of sounds and labels of some corpora."""
        recorded = self.finished.corpora
        names = sorted(recorded.keys() & set(corpora))
        known = [(name, recorded[name].digest, self.tables.get(name, "")) for name in names]
        return files.digest(repr(known))[:DIGITS] if known else ""


@dataclasses.dataclass(frozen=True)
class PastRuns:
    """What was read: runs, the earliest first, no two with the same results, and what was left out."""

    runs: Sequence[PastRun]
    doubled: Sequence[tuple[str, str]] = ()  # name of a run, and of an earlier one with the same results
    problems: Sequence[Problem] = ()  # what cannot be read


def check_place(folder: Path, text: str, output: Path, corpora: Mapping[str, Path]) -> None:
    """Refuse a place where runs cannot be kept, before anything runs; the suite calls it ``text``."""
    problems, where = Problems(), f"history: {quoted(text)}"
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
    run = read_run(output / "results.csv")
    if run.record is None:
        raise SoundcheckError("there is no record of the run, run.json")
    digest = run.record.results[:DIGITS]
    if known := _with_digest(folder, digest):
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
            judged = {key: entry for key, entry in run.judged.items() if key[0] not in run.references}
            save_replicates(judged, part / KEPT_REPLICATES)
            KeptFiles(files.digest(part / KEPT_REPLICATES), _labels(output, run.corpora)).write(part / ABOUT)
            part.chmod(0o755)
            now = now.astimezone(datetime.UTC)
            while any(folder.glob(f"{now:{_STAMP}}-*")):  # names that sort by time need their own second
                now += datetime.timedelta(seconds=1)
            place = part.rename(folder / f"{now:{_STAMP}}-{digest}")
    except (OSError, files.OutputError) as error:
        cause = error.__cause__ or error
        raise SoundcheckError(getattr(cause, "strerror", None) or str(cause)) from error
    first, *others = _with_digest(folder, digest) or [place]
    for other in others:  # another run kept the same at the same time
        shutil.rmtree(other, ignore_errors=True)
    return first


def folders_in(folder: Path) -> list[Path]:
    """List the kept runs of a folder, the earliest first, without links and what is being written.

    Folders that somebody has named otherwise come after those with a date, by name.
    """
    runs = [
        Path(entry.path)
        for entry in os.scandir(folder)
        if entry.is_dir(follow_symlinks=False)
        and not entry.name.startswith(files.TEMPORARY)
        and Path(entry.path, "results.csv").is_file()
    ]
    return sorted(runs, key=lambda path: (_NAME.fullmatch(path.name) is None, path.name))


def _with_digest(folder: Path, digest: str) -> list[Path]:
    """List the whole kept runs of some results, the earliest first."""
    whole = []
    for path in folders_in(folder) if folder.is_dir() else []:
        with contextlib.suppress(OSError):  # another run may have removed what both had kept
            if path.name.endswith(f"-{digest}") and files.digest(path / "results.csv")[:DIGITS] == digest:
                whole.append(path)
    return whole


def _labels(output: Path, corpora: Iterable[str]) -> dict[str, str]:
    """Digest what people said of the segments of each corpus, of those whose table can be read."""
    digests = {}
    for name in corpora:
        with contextlib.suppress(OSError, ValueError):
            table = pd.read_parquet(output / "corpora" / f"{files.slug(name)}.parquet")
            labels = table[sorted(set(table.columns) - _MEASURED)]
            digests[name] = files.digest(labels.to_csv(index=False))
    return digests


def read_runs(paths: Sequence[Path]) -> PastRuns:
    """Read output folders, results tables, or folders of kept runs, which are read by date.

    Raises an ``InputError`` that names all that cannot be read or was edited.
    """
    problems, places = Problems(), []
    for path in paths:
        if not path.is_dir() or (path / "results.csv").is_file():
            places.append(path)
            continue
        try:
            kept = folders_in(path)
        except OSError as error:
            problems.add(f"RUN {path}", error.strerror or str(error), "Check who may read it")
            continue
        if not kept:
            what = "there are neither results nor kept runs in the folder"
            remedy = "Name an output folder, a results.csv or a folder of kept runs"
            problems.add(f"RUN {path}", what, remedy)
        places += kept
    past = _read((path, str(path)) for path in places)
    for problem in past.problems:
        problems.add(*dataclasses.astuple(problem))
    problems.raise_if_any()
    return past


def read_kept(folder: Path) -> PastRuns:
    """Read a folder of kept runs, as far as it can be read; problems name the runs alone."""
    return _read((path, path.name) for path in folders_in(folder))


def _read(places: Iterable[tuple[Path, str]]) -> PastRuns:
    runs: dict[str, PastRun] = {}
    doubled, problems = [], []
    for path, name in places:
        try:
            run = _read_run(path, f"RUN {name}")
        except InputError as error:
            problems += error.problems
            continue
        first = runs.setdefault(run.digest, run)
        if first is not run:
            doubled.append((run.name, first.name))
    return PastRuns(list(runs.values()), doubled, problems)


def _read_run(path: Path, name: str) -> PastRun:
    run = read_run(path, name, older=True)
    folder, time = run.path.parent, _NAME.fullmatch(run.path.parent.name)
    if (folder / ABOUT).is_file():
        changed = ABOUT
        with contextlib.suppress(OSError, ValueError):
            about = KeptFiles.read(folder / ABOUT)
            changed = quoted(KEPT_REPLICATES)
            if files.digest(folder / KEPT_REPLICATES) == about.replicates:
                changed, tables = "", about.tables
        if changed:
            what = "the file is not the one that the run left"
            raise input_error(f"{name}: {changed}", what, "Remove the kept run; it cannot be repaired")
    else:
        tables = _labels(folder, run.corpora)
    return PastRun(
        name=folder.absolute().name + " (quick run)" * bool(run.record and run.record.suite.get("quick")),
        date=f"{time[1]} {time[2]}:{time[3]}" if time else "",
        digest=files.digest(run.path)[:DIGITS],
        finished=run,
        tables=tables,
    )
