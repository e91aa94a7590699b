"""A run that is over, read from its output folder: tables, record, and replicates of its values."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import math
from pathlib import Path

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import InputError, did_you_mean, input_error
from soundcheck.common.escaping import quoted, terminal
from soundcheck.results.contrast import CONTRAST_TYPES, contrast_frame
from soundcheck.results.judged import KEPT_REPLICATES, Judged, load_judged, load_replicates
from soundcheck.results.record import ComparisonRecord, CorpusRecord, ModelRecord, RunRecord
from soundcheck.results.schema import AGAIN, read_csv
from soundcheck.results.table import key_of, read_results, to_verdicts
from soundcheck.results.verdict import Verdict

logger = logging.getLogger(__name__)
_OLDER = (
    "the results are of an earlier version. States follow its rules, and values of groups, ratios and "
    "intervals for these speakers are missing. Run the suite again to have them"
)


@dataclasses.dataclass(frozen=True, eq=False)
class FinishedRun:
    """What a run left."""

    path: Path  # results.csv
    frame: pd.DataFrame
    record: RunRecord | None  # None of a table alone

    @property
    def interval(self) -> str:
        """Kind of its intervals; empty if nobody knows."""
        return self.record.interval if self.record else ""

    @property
    def references(self) -> set[str]:
        """Names of the random references."""
        return self.record.references if self.record else set()

    @property
    def models(self) -> dict[str, ModelRecord]:
        """What the record says of each model."""
        return {one.name: one for one in self.record.models} if self.record else {}

    @property
    def corpora(self) -> dict[str, CorpusRecord]:
        """What the record says of each corpus."""
        return {one.name: one for one in self.record.corpora} if self.record else {}

    @functools.cached_property
    def verdicts(self) -> dict[tuple[str, ...], Verdict]:
        """The rows of the results table, by what was tested."""
        return to_verdicts(self.frame)

    @functools.cached_property
    def judged(self) -> dict[tuple[str, ...], Judged]:
        """Rows with replicates, by what was tested, as far as the folder has them and they fit the table."""
        folder, entries = self.path.parent, []
        if self.record is None:
            return {}
        with contextlib.suppress(OSError, ValueError, KeyError):
            if (folder / KEPT_REPLICATES).is_file():
                return load_replicates(folder / KEPT_REPLICATES, self.verdicts)
        for model, family in self.frame[["model", "family"]].drop_duplicates().itertuples(index=False):
            with contextlib.suppress(OSError, ValueError):
                entries += load_judged(rows_file(folder, model, family))
        fitting = {}
        for entry in entries:
            known = self.verdicts.get(key_of(entry.verdict))
            values = (entry.verdict.value, known and known.value)
            if None not in values and math.isclose(*values, abs_tol=1e-9):
                fitting[key_of(entry.verdict)] = entry
        return fitting

    def comparison(self, name: str) -> ComparisonRecord:
        """Find a comparison by its name."""
        known = {one.name: one for one in self.record.comparisons}
        if name in known:
            return known[name]
        remedy = "List it under `comparisons:` in the suite and run again"
        remedy = did_you_mean(name, known) if known else remedy
        raise input_error(f"--comparison {quoted(name)}", "the run has no such comparison", remedy)

    def contrasts(self, entry: ComparisonRecord) -> pd.DataFrame:
        """Read the rows of a comparison, none if it failed; refused if the table was cut or edited."""
        if entry.failed:
            return contrast_frame([])
        table = self.path.with_name("comparisons.csv")
        frame = read_csv(table, CONTRAST_TYPES)
        models = frame[["baseline", "candidate"]].eq([entry.baseline, entry.candidate])
        frame = frame[models.all(axis="columns")].reset_index(drop=True)
        if {name: int(frame["outcome"].eq(name).sum()) for name in entry.outcomes} != entry.outcomes:
            what = (
                f"the rows of {quoted(entry.name)} are not those that the run counted: it was cut or edited"
            )
            raise input_error(table.name, what, AGAIN)
        return frame


def rows_file(folder: Path, model: str, family: str) -> Path:
    """Give the file of an output folder with the rows of a model and family and their replicates."""
    return folder / "notebooks" / files.slug(model) / f"{files.slug(family)}.json"


def read_run(path: Path, source: str = "", *, older: bool = False) -> FinishedRun:
    """Read a run from ``results.csv`` or the output folder with it; messages begin with ``source``.

    Refused with an ``InputError`` if the table is missing, was cut or edited, has no row or (but with
    ``older``) is of an older version, or the record beside it cannot be read.
    """
    table = path / "results.csv" if path.is_dir() else path
    beside = table.parent / "run.json"
    try:
        files.require_regular(table)
        record = RunRecord.read(beside) if beside.is_file() else None
        if record and record.results != files.digest(table):
            what = "the file is not the one that the run wrote: it was cut, edited or mixed with another run"
            raise input_error(table.name, what, AGAIN)
        frame = read_results(table, older=older)
        if frame.empty:
            raise input_error(table.name, "the table holds no row, so nothing was tested", AGAIN)
    except InputError as error:
        if not source:
            raise
        raise InputError(
            dataclasses.replace(one, where=f"{source}: {one.where}") for one in error.problems
        ) from error
    if frame["state_sample"].eq("").all():
        logger.warning("%s", terminal(f"{source or path}: {_OLDER}"))
    return FinishedRun(table, frame, record)
