"""Executes the notebooks of all models and families, in parallel, and keeps what did not change.

Conventions
-----------
- A :class:`Job` is one model and one family. Its *fingerprint* covers everything its notebook can see; a job
  whose fingerprint, notebook and rows are still there is not executed again. Failed work is never kept.
- No more notebooks than cores run at once, each in a process of its own. One whose process died, perhaps for
  want of memory, is tried once more.
- A notebook that fails, hangs or kills its process is a listed failure; the others go on.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import math
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from soundcheck.common import files
from soundcheck.common.media import Description
from soundcheck.common.messages import counted, input_error
from soundcheck.common.store import JsonFile
from soundcheck.models.processes import ONE_THREAD
from soundcheck.results.record import Executed
from soundcheck.results.rows import REPLICATES
from soundcheck.run.notebook_outputs import SHOWABLE
from soundcheck.run.notebook_server import Ending, Task

STARTING = 60.0  # seconds that a notebook may take besides its cells
TRIES = 2  # of a notebook whose process died


@dataclasses.dataclass(frozen=True)
class Job:
    """One notebook to execute."""

    model: str  # for messages and the record, as is the family
    family: str
    source: Path
    target: Path  # where the executed notebook is kept, with its state beside it
    description: Description  # what the notebook is told
    fingerprint: str  # digest of everything the notebook can see
    limit: float  # seconds that one cell may take; the notebook as a whole may take half as much again
    judges: bool = True  # whether it has to save rows
    weight: int = 0  # grows with the time that it takes; heavy ones begin first

    @property
    def rows(self) -> Path:
        """File into which the notebook saves its rows and notes."""
        return self.description.rows

    @property
    def replicates(self) -> Path:
        """File into which the notebook saves the replicates of its rows, if it has any."""
        return self.rows.with_suffix(REPLICATES)

    @property
    def state(self) -> Path:
        """File that says how the last execution ended."""
        return self.target.with_suffix(".state.json")

    @property
    def made(self) -> tuple[Path, Path, Path]:
        """Files that an execution makes: the notebook, perhaps its rows and their replicates."""
        return (self.target, self.rows, self.replicates)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that an execution leaves."""
        return (*self.made, self.state)


@dataclasses.dataclass(frozen=True)
class State(JsonFile):
    """How a job ended, kept beside its notebook."""

    fingerprint: str  # of the job, when it was executed
    status: str  # ok, failed or timeout
    digests: tuple[str, str, str]  # of the files that were made, as in Job.made; empty for a missing one
    unshown: tuple[str, ...] = ()  # kinds of outputs that its page cannot show


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome(Executed):
    """How a job ended."""

    job: Job
    unshown: tuple[str, ...] = ()


class Outcomes(NamedTuple):
    """How all notebooks of a run ended."""

    judged: list[Outcome]  # those of models and families
    on_common: list[Outcome]  # those again, on the segments that both models of a comparison answered
    compared: list[Outcome]
    studied: list[Outcome]


def without_outputs(outcome: Outcome) -> str:
    """Say which outputs the page of a notebook leaves out; empty if none."""
    if not outcome.unshown:
        return ""
    page = " of ".join(filter(None, (outcome.job.family, outcome.job.model)))
    count, kinds = counted(len(outcome.unshown), "output"), ", ".join(dict.fromkeys(outcome.unshown))
    return f"The page of {page} leaves out {count} that no page can show ({kinds}). {SHOWABLE}"


def check_notebook(path: Path) -> None:
    """Refuse a notebook that papermill could not run, before anything runs.

    Raises InputError: naming the file and what is missing.
    """
    where = f"notebooks/{path.name}"
    try:
        notebook = json.loads(files.require_regular(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        what = f"the file is not a notebook ({error})"
        raise input_error(where, what, "Save it again with Jupyter") from error
    version = notebook.get("nbformat") if isinstance(notebook, dict) else None
    if version != 4:
        what = f"the notebook has format {version}, not 4"
        raise input_error(where, what, "Save it again with a current Jupyter")
    if not notebook.get("metadata", {}).get("kernelspec"):
        raise input_error(where, "the notebook names no kernel", "Save it with the kernel 'Python 3'")
    tags = [tag for cell in notebook["cells"] for tag in cell.get("metadata", {}).get("tags", [])]
    if "parameters" not in tags:
        remedy = "Tag the cell that holds run = '' with 'parameters'"
        raise input_error(where, "no cell is tagged 'parameters'", remedy)


def last_execution(job: Job) -> Outcome | None:
    """Say how the last execution of a job ended, if it is still valid: same fingerprint, files whole."""
    try:
        state = State.read(job.state)
    except (OSError, ValueError):
        return None
    digests = tuple(files.digest(path) if path.is_file() else "" for path in job.made)
    if (state.fingerprint, state.status, state.digests) != (job.fingerprint, "ok", digests):
        return None
    return Outcome(job=job, status="ok", error="", unshown=state.unshown)


class Notebooks:
    """Executes notebooks in forks of one process, which ends with the block of this object."""

    def __init__(self, cache: Path, log: Path, workers: int) -> None:
        self._cache, self._log = cache, log  # what is worth keeping, such as the font cache; what is printed
        self._most = max(1, min(workers, os.cpu_count() or 1))
        self._server: subprocess.Popen | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the process, which imports what notebooks need."""
        if self._server is not None:
            return
        (self._cache / "matplotlib").mkdir(parents=True, exist_ok=True)
        # Several notebooks run at a time, so each uses one thread: more would only wait for each other.
        environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
        environment |= {"MPLCONFIGDIR": str(self._cache / "matplotlib"), "PYTHONHASHSEED": "0"}
        environment["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # figures become outputs
        self._connection, theirs = multiprocessing.Pipe()
        with theirs, open(self._log, "ab") as log:
            self._server = subprocess.Popen(
                [sys.executable, "-P", "-m", "soundcheck.run.notebook_server", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def close(self) -> None:
        """End the process before the block ends, and what it executes."""
        if self._server is None:
            return
        self._connection.close()
        try:
            self._server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
        self._server = None

    def execute(
        self,
        jobs: Sequence[Job],
        finished: Callable[[Outcome], None] = lambda outcome: None,
    ) -> list[Outcome]:
        """Execute all jobs that changed, in parallel; outcomes come in the order of the jobs.

        ``finished`` is called with each outcome, for a progress bar.
        """
        outcomes = {
            number: outcome for number, job in enumerate(jobs) if (outcome := last_execution(job)) is not None
        }
        for outcome in outcomes.values():
            finished(outcome)
        todo = {*range(len(jobs))} - {*outcomes}
        waiting = collections.deque(sorted(todo, key=lambda number: (-jobs[number].weight, number)))
        tries: collections.Counter[int] = collections.Counter()
        running: set[int] = set()
        with tempfile.TemporaryDirectory(prefix="soundcheck-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            while waiting or running:
                while waiting and len(running) < self._most:
                    number = waiting.popleft()
                    running.add(number)
                    tries[number] += 1
                    self.start()
                    with contextlib.suppress(OSError):  # the process has died, which the next reading notices
                        self._connection.send(_task(number, jobs[number], folder / str(number)))
                try:
                    endings = [self._connection.recv()]
                except (EOFError, OSError):  # the process of all has died
                    self.close()
                    what = "the process of all notebooks ended"
                    endings = [Ending(number, what, died=True) for number in running]
                for ending in endings:
                    number, job = ending.number, jobs[ending.number]
                    running.remove(number)
                    if ending.died and tries[number] < TRIES:
                        waiting.appendleft(number)
                        continue
                    outcomes[number] = _store(job, folder / str(number), ending)
                    finished(outcomes[number])
        return [outcomes[number] for number in range(len(jobs))]


def _task(number: int, job: Job, folder: Path) -> Task:
    """Write what a notebook is told into a folder of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    description = folder / "evaluation.json"
    dataclasses.replace(job.description, rows=folder / "rows.json").write(description)
    whole = 1.5 * job.limit + STARTING
    return Task(number, job.source, folder / "executed.ipynb", description, job.limit, whole, folder)


def _store(job: Job, folder: Path, ending: Ending) -> Outcome:
    """Move what a notebook has left to where it is kept."""
    drafts = folder / "executed.ipynb", folder / "rows.json", (folder / "rows.json").with_suffix(REPLICATES)
    problem, status = ending.problem, "failed" if ending.problem else "ok"
    if ending.timeout:
        what = f"a cell took longer than {job.limit:.0f} s, or all cells longer than {1.5 * job.limit:.0f} s"
        remedy = f". Set limits: {{notebook_seconds: {60 * math.ceil(4 * job.limit / 60)}}} in the suite"
        status, problem = "timeout", what + (remedy if job.judges else "")
    elif status == "ok" and job.judges and not drafts[1].is_file():
        status, problem = "failed", "the notebook saved no rows; its last cell must call evaluation.save()"
    job.state.unlink(missing_ok=True)  # from here on the old execution is not kept
    digests = []
    for draft, target in zip(drafts, job.made, strict=True):
        target.unlink(missing_ok=True)
        digests.append(files.write_bytes(target, draft.read_bytes()) if draft.is_file() else "")
    State(job.fingerprint, status, tuple(digests), ending.unshown).write(job.state)
    shutil.rmtree(folder, ignore_errors=True)
    return Outcome(job=job, status=status, error=problem, unshown=ending.unshown)
