"""The folder in which each finished run leaves its results, its record and the replicates of its values.

Conventions
-----------
- A kept run is a folder named by the time it was kept, in UTC, and the first digits of the digest of its
  results: names sort by time. The same results are kept once.
- It appears whole or not at all: it is written beside and renamed. Two runs at once do no harm.
- The folder is marked as one of Soundcheck's, so that files in it are never taken for those of a model.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import Problems, SoundcheckError
from soundcheck.common.escaping import quoted
from soundcheck.common.json_file import JsonFile
from soundcheck.history.data_versions import tables_of
from soundcheck.results.finished_run import read_run
from soundcheck.results.judged import KEPT_REPLICATES, save_replicates

ABOUT = "kept.json"
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z-([0-9a-f]{12})")
_COPIED = ("results.csv", "run.json")


@dataclasses.dataclass(frozen=True)
class KeptFiles(JsonFile):
    """What else is known of a kept run.

    Parameters
    ----------
    replicates
        Digest of the file of replicates.
    tables
        Corpus -> digest of what was said of its segments, see :mod:`soundcheck.history.data_versions`.
    """

    replicates: str
    tables: dict[str, str]


def check_place(folder: Path, shown: str, output: Path, corpora: Mapping[str, Path]) -> None:
    """Refuse a place where runs cannot be kept, before anything runs.

    Parameters
    ----------
    folder
        The folder, which need not be there.
    shown
        How the suite names it.
    output
        Output folder of the run.
    corpora
        Name and folder of each corpus.

    Raises
    ------
    InputError
        If it cannot be written, is the output folder or in it, or lies inside a corpus.
    """
    problems, where = Problems(), f"history: {quoted(shown)}"
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        problems.add(where, "this is a file, not a folder", "Name a folder; it is made if it is not there")
    elif not os.access(existing, os.W_OK | os.X_OK):
        problems.add(where, "the folder cannot be written", "Name another one, or change who may write to it")
    place, out = folder.resolve(), output.resolve()
    if place == out or place.is_relative_to(out) or out.is_relative_to(place):
        what = "the folder is the output folder of the run, lies in it or holds it"
        problems.add(where, what, "Name a folder beside it")
    for name, root in corpora.items():
        if place.is_relative_to(root.resolve()):
            what = f"the folder lies inside the corpus {quoted(name)}"
            problems.add(where, what, "Name a folder outside of all corpora")
    problems.raise_if_any()


def keep(folder: Path, output: Path, now: datetime.datetime) -> Path:
    """Keep what a finished run has in its output folder.

    Parameters
    ----------
    folder
        Where runs are kept; made if it is not there.
    output
        The output folder.
    now
        The present time, with its zone.

    Returns
    -------
    pathlib.Path
        The kept run; an earlier one if the results are the same.

    Raises
    ------
    SoundcheckError
        If it cannot be written or the results cannot be read; nothing is left behind then.
    """
    run = read_run(output / "results.csv")
    if run.record is None:
        raise SoundcheckError("there is no record of the run, run.json")
    digest = run.record.results[:12]
    if known := _with_digest(folder, digest):
        return known[0]
    random = run.record.references
    judged = {key: entry for key, entry in run.judged.items() if key[0] not in random}
    tables = tables_of(output, [corpus.name for corpus in run.record.corpora])
    part = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / files.MARKER).exists():
            files.write_text(folder / files.MARKER, "{}\n")
        _sweep(folder)
        part = Path(tempfile.mkdtemp(prefix=files.TEMPORARY, dir=folder))
        for name in _COPIED:
            files.write_bytes(part / name, (output / name).read_bytes())
        save_replicates(judged, part / KEPT_REPLICATES)
        KeptFiles(files.digest(part / KEPT_REPLICATES), tables).write(part / ABOUT)
        part.chmod(0o755)
        stamp = _stamp(now)
        while any(folder.glob(f"{stamp}-*")):  # names that sort by time need a second of their own
            now += datetime.timedelta(seconds=1)
            stamp = _stamp(now)
        place = part.rename(folder / f"{stamp}-{digest}")
        part = None
    except (OSError, files.OutputError) as error:
        cause = error.__cause__ or error
        raise SoundcheckError(getattr(cause, "strerror", None) or str(cause)) from error
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)
    first, *others = _with_digest(folder, digest) or [place]
    for other in others:  # another run kept the same at the same time
        shutil.rmtree(other, ignore_errors=True)
    return first


def _stamp(time: datetime.datetime) -> str:
    return time.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H%M%SZ")


def folders_in(folder: Path) -> list[Path]:
    """List the kept runs of a folder, the earliest first; links and what is being written are passed over.

    Folders that somebody has named otherwise come after those with a date, by name.
    """
    inner = [
        Path(entry.path)
        for entry in os.scandir(folder)
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(files.TEMPORARY)
    ]
    kept = [path for path in inner if (path / "results.csv").is_file()]
    return sorted(kept, key=lambda path: (_NAME.fullmatch(path.name) is None, path.name))


def date_of(folder: Path) -> str:
    """Tell when a run was kept, in UTC, such as ``2027-03-01 14:30``; empty if its name does not say."""
    found = _NAME.fullmatch(folder.name)
    return f"{found[1]} {found[2]}:{found[3]}" if found else ""


def _with_digest(folder: Path, digest: str) -> list[Path]:
    """List the whole kept runs of some results, the earliest first."""
    if not folder.is_dir():
        return []
    named = [
        path for path in folders_in(folder) if (found := _NAME.fullmatch(path.name)) and found[5] == digest
    ]
    found = []
    for path in named:
        with contextlib.suppress(OSError):  # another run may have removed what both had kept
            if files.digest(path / "results.csv")[:12] == digest:
                found.append(path)
    return found


def _sweep(folder: Path) -> None:
    for path in folder.glob(f"{files.TEMPORARY}*"):
        if path.is_dir() and not path.is_symlink() and time.time() - path.stat().st_mtime > files.ABANDONED:
            shutil.rmtree(path, ignore_errors=True)
