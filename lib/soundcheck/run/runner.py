"""Executes the notebooks of all models and families, in parallel, and keeps what did not change.

Conventions
-----------
- A :class:`Job` is one model and one family. Its *fingerprint* covers everything its notebook can see; a job
  whose fingerprint, notebook and rows are still there is not executed again. Failed work is never kept.
- No more notebooks than cores run at once, each in processes of its own (more lose kernels at random). A
  notebook whose first cell never ran is tried again, and once one whose kernel was killed.
- A notebook that fails, hangs or kills its kernel is a listed failure; the others go on.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import math
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from soundcheck.common import files
from soundcheck.common.description import Description
from soundcheck.common.errors import InputError, Problem
from soundcheck.common.json_file import JsonFile
from soundcheck.common.wording import counted
from soundcheck.models.processes import ONE_THREAD
from soundcheck.results.judged import REPLICATES
from soundcheck.results.record import Executed
from soundcheck.run.notebook_outputs import SHOWABLE
from soundcheck.run.notebook_process import Ending, NotebookTask, jupyter_folders
from soundcheck.run.notebook_worker import Worker
from soundcheck.run.processes import MARK, kill_marked

STARTING = 60  # seconds granted for starting a kernel, on top of a notebook's limit
TRIES = 3  # of a notebook whose kernel did not start
WORTH_STARTING = 4.0  # seconds of notebooks for which one more worker is started, which needs half as many


@dataclasses.dataclass(frozen=True)
class Job:
    """One notebook to execute.

    Parameters
    ----------
    model, family
        Names, for messages and the record.
    source
        The family's notebook.
    target
        Where the executed notebook is kept, with its state beside it.
    description
        What the notebook is told.
    fingerprint
        Digest of everything the notebook can see.
    limit
        Seconds that one cell may take; the notebook as a whole may take half as much again, and the time
        that a kernel needs to start.
    judges
        Whether the notebook has to save rows.
    weight
        A number that grows with the time that the notebook takes; heavy ones begin first.
    trials
        How many trials it scores.
    """

    model: str
    family: str
    source: Path
    target: Path
    description: Description
    fingerprint: str
    limit: float
    judges: bool = True
    weight: int = 0
    trials: int = 0

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
        """File that tells how the last execution ended."""
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
    """How a job ended, kept beside its notebook.

    Parameters
    ----------
    fingerprint
        Of the job, when it was executed.
    status
        See :class:`Outcome`.
    digests
        Of the files that were made, in the order of :attr:`Job.made`; empty for one that is not there.
    seconds
        That the execution took.
    unshown
        Kinds of outputs that its page cannot show.
    """

    fingerprint: str
    status: str
    digests: tuple[str, str, str]
    seconds: float = 0.0
    unshown: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Outcome(Executed):
    """How a job ended."""

    job: Job
    status: str
    error: str
    unshown: tuple[str, ...] = ()


def without_outputs(outcome: Outcome) -> str:
    """Say which outputs the page of a notebook leaves out; empty if none."""
    if not outcome.unshown:
        return ""
    page = " of ".join(filter(None, (outcome.job.family, outcome.job.model)))
    count, kinds = counted(len(outcome.unshown), "output"), ", ".join(dict.fromkeys(outcome.unshown))
    return f"The page of {page} leaves out {count} that no page can show ({kinds}). {SHOWABLE}"


@dataclasses.dataclass(frozen=True)
class Later:
    """A notebook that can be described when others have ended; then it comes first.

    Parameters
    ----------
    needs
        Places of the others in the list of jobs.
    describe
        Makes it from their outcomes, which come in the order of the list.
    """

    needs: tuple[int, ...]
    describe: Callable[[list[Outcome]], Job]


def check_notebook(path: Path) -> None:
    """Refuse a notebook that papermill could not run, before anything runs.

    Raises
    ------
    InputError
        Naming the file and what is missing.
    """

    def input_error(what: str, remedy: str) -> InputError:
        return InputError([Problem(f"notebooks/{path.name}", what, remedy)])

    try:
        notebook = json.loads(files.require_regular(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise input_error(f"the file is not a notebook ({error})", "Save it again with Jupyter") from error
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4:
        version = notebook.get("nbformat") if isinstance(notebook, dict) else None
        raise input_error(f"the notebook has format {version}, not 4", "Save it again with a current Jupyter")
    if not notebook.get("metadata", {}).get("kernelspec"):
        raise input_error("the notebook names no kernel", "Save it with the kernel 'Python 3'")
    tags = [tag for cell in notebook["cells"] for tag in cell.get("metadata", {}).get("tags", [])]
    if "parameters" not in tags:
        raise input_error(
            "no cell is tagged 'parameters'", "Tag the cell that holds run = '' with 'parameters'"
        )


def kept(job: Job) -> bool:
    """Whether the last execution of a job is still valid: same fingerprint, files whole."""
    try:
        state = State.read(job.state)
    except (OSError, ValueError):
        return False
    there = tuple(files.digest(path) if path.is_file() else "" for path in job.made)
    return (state.fingerprint, state.status, state.digests) == (job.fingerprint, "ok", there)


def seconds_of(job: Job) -> float:
    """Read how long the last execution of a job took; 0 if nobody knows."""
    try:
        return State.read(job.state).seconds
    except (OSError, ValueError):
        return 0.0


def _out_of_time(job: Job) -> str:
    what = f"a cell took longer than {job.limit:.0f} s, or all cells longer than {1.5 * job.limit:.0f} s"
    more = 60 * math.ceil(4 * job.limit / 60)
    return f"{what}. Set limits: {{notebook_seconds: {more}}} in the suite" if job.judges else what


class _Running:
    """A job whose notebook a worker executes."""

    def __init__(self, job: Job, folder: Path, worker: Worker) -> None:
        self.job = job
        self.folder = folder
        self.worker = worker
        self.token = secrets.token_hex(8)
        self.start = time.monotonic()
        self.tries = 0
        self.launch()

    def launch(self) -> None:
        """Let the worker execute the notebook (again)."""
        self.tries += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ending = self.folder / "ending.json"
        self.ending.unlink(missing_ok=True)
        self.draft = self.folder / "executed.ipynb"
        self.draft.unlink(missing_ok=True)
        self.draft_rows = self.folder / "rows.json"
        self.draft_replicates = self.draft_rows.with_suffix(REPLICATES)
        for draft in (self.draft_rows, self.draft_replicates):
            draft.unlink(missing_ok=True)
        description = self.folder / "evaluation.json"
        dataclasses.replace(self.job.description, rows=self.draft_rows).write(description)
        task = NotebookTask(
            source=self.job.source,
            target=self.draft,
            description=description,
            limit=self.job.limit,
            ending=self.ending,
            folder=self.folder,
        )
        task_file = self.folder / "task.json"
        task.write(task_file)
        self.worker.execute(task_file, {MARK: self.token})

    @property
    def overdue(self) -> bool:
        return time.monotonic() - self.start > 1.5 * self.job.limit + STARTING * self.tries

    def finish(self) -> Outcome | None:
        """Store what the notebook left; ``None`` if it is tried again."""
        overdue = self.worker.busy
        if overdue or not self.ending.is_file():
            self.worker.stop()
        kill_marked(self.token)  # what the notebook has started
        try:
            ending = Ending.read(self.ending)
        except (OSError, ValueError):
            ending = Ending("the process that runs the notebook ended", self.draft.exists())
        problem = ending.problem
        if overdue or "Timeout" in problem:
            problem = _out_of_time(self.job)
        died = "DeadKernelError" in problem or not self.ending.is_file()
        if problem and not overdue and self.tries < (2 if died and ending.started else TRIES):
            if died or not ending.started:
                self.launch()
                return None
        status = "ok"
        if problem:
            status = "timeout" if overdue or "Timeout" in ending.problem else "failed"
        elif self.job.judges and not self.draft_rows.is_file():
            status = "failed"
            problem = "the notebook saved no rows; its last cell must call evaluation.save()"
        self._store(status, ending.unshown)
        return Outcome(self.job, status, problem, ending.unshown)

    def _store(self, status: str, unshown: tuple[str, ...]) -> None:
        job = self.job
        job.state.unlink(missing_ok=True)  # from here on the old execution is not kept
        digests = []
        for draft, target in zip((self.draft, self.draft_rows, self.draft_replicates), job.made, strict=True):
            target.unlink(missing_ok=True)
            digests.append(files.write_bytes(target, draft.read_bytes()) if draft.is_file() else "")
        seconds = round(time.monotonic() - self.start, 1)
        State(job.fingerprint, status, tuple(digests), seconds, unshown).write(job.state)


def _environment(folder: Path, cache: Path) -> dict[str, str]:
    """Give the environment of a worker, with Jupyter folders of its own.

    Several work at a time, so each uses one thread: more would only wait for each other.
    """
    (cache / "matplotlib").mkdir(parents=True, exist_ok=True)
    own = {"MPLCONFIGDIR": str(cache / "matplotlib"), "PYTHONHASHSEED": "0"}
    one_thread = dict.fromkeys(ONE_THREAD, "1")
    return os.environ | one_thread | jupyter_folders(folder / "jupyter") | own


class Places:
    """Workers for notebooks, which have imported what notebooks need once; leaving its block ends all.

    Parameters
    ----------
    cache
        Folder for things worth keeping between runs, such as the font cache.
    log
        File that gets the output of the processes.
    workers
        How many at once; never more than there are cores.

    Attributes
    ----------
    folder
        For what notebooks write before they have ended.
    """

    def __init__(self, cache: Path, log: Path, workers: int) -> None:
        self._cache, self._log = cache, log
        self._most = max(1, min(workers, os.cpu_count() or 1))
        self._workers: list[Worker] = []

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="soundcheck-"))
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers before the block ends."""
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def free(self, notebooks: int) -> list[Worker]:
        """Give as many workers as there are notebooks and places."""
        for number in range(len(self._workers), min(notebooks, self._most)):
            environment = _environment(self.folder / f"worker {number}", self._cache)
            self._workers.append(Worker(environment, self._log))
        return self._workers[:notebooks]

    def warm(self) -> None:
        """Have a worker import what notebooks need, before there is a notebook."""
        for worker in self.free(1):
            worker.start()


def _workers(seconds: Sequence[float]) -> int:
    """Say how many workers some notebooks are worth: one each, but a few that are known to be quick share."""
    return min(len(seconds), math.ceil(sum(seconds) / WORTH_STARTING)) if all(seconds) else len(seconds)


def execute(
    jobs: Sequence[Job],
    places: Places,
    finished: Callable[[Outcome], None] = lambda outcome: None,
    meanwhile: Callable[[], object] | None = None,
    later: Sequence[Later] = (),
) -> list[Outcome]:
    """Execute all jobs that changed, in parallel.

    Parameters
    ----------
    jobs
        What to execute.
    places
        Who executes them.
    finished
        Called with each outcome, for a progress bar.
    meanwhile
        Called once when the first notebooks have begun, if there are any.
    later
        What else to execute.

    Returns
    -------
    list of Outcome
        In the order of ``jobs``, then of ``later``.
    """
    queue = _Queue(jobs, later, finished)
    running: dict[int, _Running] = {}
    free = places.free(_workers(queue.expected))
    for worker in free:
        worker.start()
    with tempfile.TemporaryDirectory(dir=places.folder, ignore_cleanup_errors=True) as name:
        drafts = Path(name)
        while queue.waiting or running:
            for worker in [worker for worker in free if worker.ready][: len(queue.waiting)]:
                free.remove(worker)
                number = queue.waiting.popleft()
                running[number] = _Running(queue.jobs[number], drafts / str(number), worker)
            if meanwhile is not None:
                meanwhile()
                meanwhile = None
            for number, child in list(running.items()):
                if child.worker.busy and not child.overdue:
                    continue
                outcome = child.finish()
                if outcome is not None:
                    free.append(running.pop(number).worker)
                    shutil.rmtree(child.folder, ignore_errors=True)
                    queue.end(number, outcome)
            time.sleep(0.02)
    return [queue.outcomes[number] for number in range(len(jobs) + len(later))]


class _Queue:
    """Which notebooks wait to be executed, and how others have ended.

    Parameters
    ----------
    jobs, later, finished
        See :func:`execute`.

    Attributes
    ----------
    jobs
        All by their place; those that come later once they are described.
    waiting
        Places of those to execute: heavy ones first, so that the last one is not a long one.
    outcomes
        Those that have ended, by their place.
    """

    def __init__(
        self, jobs: Sequence[Job], later: Sequence[Later], finished: Callable[[Outcome], None]
    ) -> None:
        self.jobs = dict(enumerate(jobs))
        self.waiting: collections.deque[int] = collections.deque()
        self.outcomes: dict[int, Outcome] = {}
        self._later = dict(enumerate(later, len(jobs)))
        self._finished = finished
        for number in sorted(self.jobs, key=lambda number: -jobs[number].weight):
            if not self._is_kept(number):
                self.waiting.append(number)
        self._describe()

    @property
    def expected(self) -> list[float]:
        """Seconds that each one will take that waits, or comes later; 0 if nobody knows."""
        return [seconds_of(self.jobs[number]) for number in self.waiting] + [0.0] * len(self._later)

    def end(self, number: int, outcome: Outcome) -> None:
        """Note how a notebook has ended; others may wait for that."""
        self.outcomes[number] = outcome
        self._finished(outcome)
        self._describe()

    def _is_kept(self, number: int) -> bool:
        if not kept(self.jobs[number]):
            return False
        job = self.jobs[number]
        self.outcomes[number] = Outcome(job, "ok", "", State.read(job.state).unshown)
        self._finished(self.outcomes[number])
        return True

    def _describe(self) -> None:
        ready = [number for number, one in self._later.items() if self.outcomes.keys() >= {*one.needs}]
        for number in ready:
            one = self._later.pop(number)
            self.jobs[number] = one.describe([self.outcomes[needed] for needed in one.needs])
            if not self._is_kept(number):
                self.waiting.appendleft(number)
