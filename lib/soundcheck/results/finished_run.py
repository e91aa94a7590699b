"""Runs that are over, read from output folders and histories; and how they get into a history.

A kept run is a folder named by the time it was kept, in UTC, and the first digits of the digest of its
results: names sort by time, and the same results are kept once. It is written beside and renamed, so that it
appears whole or not at all. The folder is marked, so that files in it are never taken for those of a model.
"""

import contextlib
import dataclasses
import datetime
import functools
import logging
import math
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import files, messages, store
from soundcheck.common.messages import quoted, terminal
from soundcheck.common.store import JsonFile
from soundcheck.results.contrast import CONTRAST_TYPES, contrast_frame
from soundcheck.results.record import NO_RECORD, ComparisonRecord, CorpusRecord, ModelRecord, RunRecord
from soundcheck.results.rows import KEPT_REPLICATES, Judged, load_judged, load_replicates, save_replicates
from soundcheck.results.table import AGAIN, key_of, read_csv, read_results, to_verdicts
from soundcheck.suite.corpus_format import MEASURED_COLUMNS

logger = logging.getLogger(__name__)
ABOUT = "kept.json"  # in the folder of a kept run
DIGITS = 12  # of digests that people see
_STAMP = "%Y-%m-%dT%H%M%SZ"
KEPT_NAME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z-([0-9a-f]{12})")
# What Soundcheck measures is no label; a later version may measure otherwise.
_MEASURED = {*MEASURED_COLUMNS} | {f"{name} (number)" for name in MEASURED_COLUMNS}
_OLDER = (
    "the results are of an earlier version. States follow its rules, and values of groups, ratios and "
    "intervals for these speakers are missing. Run the suite again to have them"
)


@dataclasses.dataclass(frozen=True)
class KeptFiles(JsonFile):
    """What else is known of a kept run."""

    replicates: str  # digest of the file
    tables: dict[str, str]  # corpus -> digest of its labels


@dataclasses.dataclass(frozen=True, eq=False)
class FinishedRun:
    """What a run left."""

    path: Path  # results.csv
    frame: pd.DataFrame
    record: RunRecord = NO_RECORD  # of a table alone

    @property
    def recorded(self) -> bool:
        """Whether there is more than a table."""
        return self.record is not NO_RECORD

    @property
    def models(self) -> dict[str, ModelRecord]:
        """What the record says of each model."""
        return {model.name: model for model in self.record.models}

    @property
    def corpora(self) -> dict[str, CorpusRecord]:
        """What the record says of each corpus."""
        return {corpus.name: corpus for corpus in self.record.corpora}

    @functools.cached_property
    def judged(self) -> dict[tuple[str, ...], Judged]:
        """The rows of the table by what was tested, with the replicates of the folder that fit the table."""
        verdicts, folder, entries = to_verdicts(self.frame), self.path.parent, []
        if (folder / KEPT_REPLICATES).is_file():
            with contextlib.suppress(OSError, ValueError, KeyError):
                entries = load_replicates(folder / KEPT_REPLICATES, verdicts)
        elif self.recorded:
            for model, family in self.frame[["model", "family"]].drop_duplicates().itertuples(index=False):
                with contextlib.suppress(ValueError):
                    entries += load_judged(rows_file(folder, model, family))
        judged = {key: Judged(verdict, np.empty(0)) for key, verdict in verdicts.items()}
        for entry in entries:
            known = verdicts.get(key := key_of(entry.verdict))
            values = entry.verdict.value, known and known.value
            if None not in values and math.isclose(*values, abs_tol=1e-9):
                judged[key] = dataclasses.replace(entry, verdict=known)
        return judged

    def comparison(self, name: str) -> ComparisonRecord:
        """Find a comparison by its name."""
        known = {comparison.name: comparison for comparison in self.record.comparisons}
        if name in known:
            return known[name]
        remedy = messages.did_you_mean(name, known) or "List it under `comparisons:` and run again"
        raise messages.input_error(f"--comparison {quoted(name)}", "the run has no such comparison", remedy)

    def contrasts(self, entry: ComparisonRecord) -> pd.DataFrame:
        """Read the rows of a comparison, none if it failed; refused if the table was cut or edited."""
        if entry.failed:
            return contrast_frame([])
        table = self.path.with_name("comparisons.csv")
        frame = read_csv(table, CONTRAST_TYPES)
        models = frame[["baseline", "candidate"]].eq([entry.baseline, entry.candidate])
        frame = frame[models.all(axis="columns")].reset_index(drop=True)
        if {name: int(frame["outcome"].eq(name).sum()) for name in entry.outcomes} != entry.outcomes:
            what = "are not those that the run counted: it was cut or edited"
            raise messages.input_error(table.name, f"the rows of {quoted(entry.name)} {what}", AGAIN)
        return frame

    # As a run of a history; what nobody knows of a table alone is empty.

    @property
    def name(self) -> str:
        """Name of its folder, without the way there."""
        return self.path.parent.absolute().name + " (quick run)" * bool(self.record.suite.get("quick"))

    @property
    def date(self) -> str:
        """When it was kept, in UTC."""
        time = KEPT_NAME.fullmatch(self.path.parent.name)
        return f"{time[1]} {time[2]}:{time[3]}" if time else ""

    @functools.cached_property
    def digest(self) -> str:
        """First digits of the digest of results.csv, which tell runs apart."""
        return (self.record.results or files.digest(self.path))[:DIGITS]

    @functools.cached_property
    def labels(self) -> dict[str, str]:
        """Digests of what people said of the segments of each corpus, of those whose table can be read."""
        folder, digests = self.path.parent, {}
        if (folder / ABOUT).is_file():
            return KeptFiles.read(folder / ABOUT).tables
        for name in self.corpora:
            with contextlib.suppress(OSError, ValueError):
                table = pd.read_parquet(folder / "corpora" / f"{files.slug(name)}.parquet")
                labels = table[sorted(set(table.columns) - _MEASURED)]
                digests[name] = files.digest(labels.to_csv(index=False))
        return digests

    def model_version(self, model: str) -> str:
        """First digits of what a model's predictions depend on."""
        known = self.models.get(model)
        return known.fingerprint[:DIGITS] if known else ""

    def data_version(self, corpora: Iterable[str]) -> str:
        """First digits of the digest of sounds and labels of some corpora."""
        recorded = self.corpora
        names = sorted(recorded.keys() & set(corpora))
        known = [(name, recorded[name].digest, self.labels.get(name, "")) for name in names]
        return files.digest(repr(known))[:DIGITS] if known else ""


def rows_file(folder: Path, model: str, family: str) -> Path:
    """Give the file of an output folder with the rows of a model and family and their replicates."""
    return folder / "notebooks" / files.slug(model) / f"{files.slug(family)}.json"


def read_run(path: Path, source: str = "", *, older: bool = False) -> FinishedRun:
    """Read a run from ``results.csv`` or the folder with it; messages begin with ``source``.

    Refused with an ``InputError`` if the table is missing, was cut or edited, has no row or (but with
    ``older``) is of an older version, or what lies beside it cannot be read or was changed.
    """
    table = path / "results.csv" if path.is_dir() else path
    beside = table.with_name("run.json")
    try:
        files.require_regular(table)
        record = RunRecord.read(beside) if beside.is_file() else NO_RECORD
        if beside.is_file() and record.results != files.digest(table):
            what = "the file is not the one that the run wrote: it was cut, edited or mixed with another run"
            raise messages.input_error(table.name, what, AGAIN)
        frame = read_results(table, older=older)
        if frame.empty:
            raise messages.input_error(table.name, "the table holds no row, so nothing was tested", AGAIN)
        if changed := _changed(table.parent):
            what = "the file is not the one that the run left"
            raise messages.input_error(changed, what, "Remove the saved run; it cannot be repaired")
    except messages.InputError as error:
        if not source:
            raise
        raise messages.InputError(
            dataclasses.replace(problem, where=f"{source}: {problem.where}") for problem in error.problems
        ) from error
    if frame["state_sample"].eq("").all():
        logger.warning("%s", terminal(f"{source or path}: {_OLDER}"))
    return FinishedRun(table, frame, record)


def _changed(folder: Path) -> str:
    """Name the file of a kept run that was changed, if there is one."""
    if not (folder / ABOUT).is_file():
        return ""
    try:
        about = KeptFiles.read(folder / ABOUT)
    except (OSError, ValueError):
        return ABOUT
    replicates = folder / KEPT_REPLICATES
    same = replicates.is_file() and files.digest(replicates) == about.replicates
    return "" if same else KEPT_REPLICATES


# Kept runs --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class PastRuns:
    """What was read: runs, the earliest first, no two with the same results, and what was left out."""

    runs: Sequence[FinishedRun]
    doubled: Sequence[tuple[str, str]] = ()  # name of a run, and of an earlier one with the same results
    problems: Sequence[messages.Problem] = ()  # what cannot be read


def check_place(folder: Path, output: Path, corpora: Mapping[str, Path]) -> None:
    """Refuse a place where runs cannot be kept, before anything runs."""
    problems, where = messages.Problems(), f"history: {quoted(folder, 200)}"
    place, out = folder.resolve(), output.resolve()
    for reason in files.why_not_written(folder, corpora):
        problems.add(where, *reason)
    if place.is_relative_to(out) or out.is_relative_to(place):
        what = "the folder is the output folder of the run, lies in it or holds it"
        problems.add(where, what, "Name a folder beside it")
    problems.raise_if_any()


def keep(folder: Path, output: Path, now: datetime.datetime) -> Path:
    """Keep what a finished run has in its output folder, unless the same results are kept already.

    Raises a ``SoundcheckError`` if it cannot be written or the results cannot be read; nothing is left then.
    """
    run = read_run(output)
    if not run.recorded:
        raise messages.SoundcheckError("there is no record of the run, run.json")
    try:
        with store.lock(folder / files.MARKER):  # runs may end at the same time
            for path in folders_in(folder):
                known = path.name.endswith(run.digest) and files.digest(path / "results.csv")
                if known == run.record.results:
                    return path
            files.write_text(folder / files.MARKER, "{}\n")
            with tempfile.TemporaryDirectory(
                prefix=files.TEMPORARY, dir=folder, ignore_cleanup_errors=True
            ) as name:
                part = Path(name)
                for copied in ("results.csv", "run.json"):
                    shutil.copyfile(output / copied, part / copied)
                tested = {key: row for key, row in run.judged.items() if key[0] not in run.record.references}
                save_replicates(tested, part / KEPT_REPLICATES)
                KeptFiles(files.digest(part / KEPT_REPLICATES), run.labels).write(part / ABOUT)
                part.chmod(0o755)
                now = now.astimezone(datetime.UTC)
                while any(folder.glob(f"{now:{_STAMP}}-*")):  # names that sort by time need their own second
                    now += datetime.timedelta(seconds=1)
                return part.rename(folder / f"{now:{_STAMP}}-{run.digest}")
    except (OSError, files.OutputError) as error:
        cause = error.__cause__ or error
        raise messages.SoundcheckError(getattr(cause, "strerror", None) or str(cause)) from error


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


def read_runs(paths: Sequence[Path]) -> PastRuns:
    """Read output folders, results tables, or folders of kept runs, which are read by date.

    Raises an ``InputError`` that names all that cannot be read or was edited.
    """
    problems, places = [], []
    for path in paths:
        folders, why = [path], "there are neither results nor saved runs in the folder"
        if path.is_dir() and not (path / "results.csv").is_file():
            try:
                folders = folders_in(path)
            except OSError as error:
                folders, why = [], error.strerror or str(error)
        if not folders:
            remedy = "Name an output folder, a results.csv or a folder of saved runs"
            problems.append(messages.Problem(f"RUN {path}", why, remedy))
        places += folders
    past = _read((path, str(path)) for path in places)
    if problems := [*problems, *past.problems]:
        raise messages.InputError(problems)
    return past


def read_history(folder: Path) -> PastRuns:
    """Read a folder of kept runs, as far as it can be read; problems name the runs alone."""
    return _read((path, path.name) for path in folders_in(folder))


def _read(places: Iterable[tuple[Path, str]]) -> PastRuns:
    runs: dict[str, FinishedRun] = {}
    doubled, problems = [], []
    for path, name in places:
        try:
            run = read_run(path, f"RUN {name}", older=True)
        except messages.InputError as error:
            problems += error.problems
            continue
        first = runs.setdefault(run.digest, run)
        if first is not run:
            doubled.append((run.name, first.name))
    return PastRuns(list(runs.values()), doubled, problems)
