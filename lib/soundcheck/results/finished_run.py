"""A run that is over, read from its output folder: results table, record, and replicates of its values."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import logging
import math
from pathlib import Path
from typing import Any

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import InputError, input_error
from soundcheck.common.escaping import terminal
from soundcheck.common.wording import some
from soundcheck.results.judged import KEPT_REPLICATES, Judged, load_judged, load_replicates
from soundcheck.results.record import RunRecord
from soundcheck.results.schema import AGAIN
from soundcheck.results.table import is_older, read_results, to_verdicts
from soundcheck.results.verdict import KEY, Verdict

logger = logging.getLogger(__name__)
_NAMED = 3  # files that a reason names
_OLDER = (
    "the results are of an earlier version. States follow its rules, and values of groups, ratios and "
    "intervals for these speakers are missing. Run the suite again to have them"
)


@dataclasses.dataclass(frozen=True, eq=False)
class FinishedRun:
    """What a run left."""

    shown: str  # the table or folder as the user named it
    path: Path  # results.csv
    frame: pd.DataFrame
    record: RunRecord | None  # None without one, or with one of another version that cannot be read
    about: dict[str, Any]  # the record in plain values, as far as it can be read

    def part(self, key: str, by: str = "name") -> dict[str, dict]:
        """Give a list of the record by the names of its entries, as far as it is one."""
        entries = self.about.get(key)
        entries = entries if isinstance(entries, list) else []
        return {one[by]: one for one in entries if isinstance(one, dict) and isinstance(one.get(by), str)}

    def changed_model(self, earlier: FinishedRun, model: str, before: str = "") -> str:
        """Say what made a model another one than in an earlier run, there called ``before``; else empty."""
        then, now = earlier.part("models").get(before or model), self.part("models").get(model)
        if not then or not now:
            return ""
        codes = [one.get("code") or one.get("fingerprint") for one in (then, now)]
        opened = [one.get("seen_files") for one in (then, now)]
        if all(isinstance(files, dict) for files in opened):
            if names := sorted({name for name, _ in opened[0].items() ^ opened[1].items()}):
                return f"other content of {some(names, _NAMED)}"
        return "" if codes[0] == codes[1] else "other code, options or files"

    @functools.cached_property
    def verdicts(self) -> dict[tuple[str, ...], Verdict]:
        """The rows of the results table, by what was tested."""
        return to_verdicts(self.frame)

    @functools.cached_property
    def judged(self) -> dict[tuple[str, ...], Judged]:
        """Rows with replicates, by what was tested, as far as the output folder has them.

        Rows that do not say what the table says are of another run and not used.
        """
        kept = self.path.parent / KEPT_REPLICATES
        if not self.about:
            return {}
        if kept.is_file():
            with contextlib.suppress(OSError, ValueError, KeyError):
                return load_replicates(kept, self.verdicts)
            return {}
        found = {}
        for model, family in self.frame[["model", "family"]].drop_duplicates().itertuples(index=False):
            with contextlib.suppress(OSError, ValueError):
                for entry in load_judged(rows_file(self.path.parent, model, family)):
                    key = tuple(getattr(entry.verdict, name) for name in KEY)
                    value, known = entry.verdict.value, self.verdicts.get(key)
                    if None not in (value, known and known.value) and math.isclose(
                        value, known.value, abs_tol=1e-9
                    ):
                        found[key] = entry
        return found


def rows_file(folder: Path, model: str, family: str) -> Path:
    """Give the file of an output folder with the rows of a model and family and their replicates."""
    return folder / "notebooks" / files.slug(model) / f"{files.slug(family)}.json"


def read_run(path: Path) -> FinishedRun:
    """Read the run that is judged, from ``results.csv`` or the output folder with it.

    Refused with an ``InputError`` if the table is missing, was cut or edited, has no row, or the record
    beside it cannot be read.
    """
    run = _read(path)
    if is_older(run.frame):
        logger.warning("%s", terminal(f"{run.shown}: {_OLDER}"))
    return run


def read_baseline(path: Path) -> FinishedRun:
    """Read the earlier run that ``--baseline`` names, see :func:`read_past`."""
    return read_past(path, f"--baseline {path}")


def read_past(path: Path, shown: str) -> FinishedRun:
    """Read a run of whatever version, as :func:`read_run`; messages call it ``shown``."""
    try:
        return _read(path, lenient=True)
    except InputError as error:
        raise InputError(
            [dataclasses.replace(one, where=f"{shown}: {one.where}") for one in error.problems]
        ) from error


def _read(path: Path, *, lenient: bool = False) -> FinishedRun:
    table = path / "results.csv" if path.is_dir() else path
    files.require_regular(table)
    beside, record, about = table.parent / "run.json", None, {}
    if beside.is_file():
        with contextlib.suppress(InputError) if lenient else contextlib.nullcontext():
            record = RunRecord.read(beside)
        with contextlib.suppress(OSError, ValueError):
            about = json.loads(beside.read_text(encoding="utf-8"))
        about = about if isinstance(about, dict) else {}
    if about and about.get("results") != files.digest(table):
        what = "the file is not the one that the run wrote: it was cut, edited or mixed with another run"
        raise input_error(table.name, what, AGAIN)
    frame = read_results(table)
    if frame.empty:
        raise input_error(table.name, "the table holds no row, so nothing was tested", AGAIN)
    return FinishedRun(str(path), table, frame, record, about)
