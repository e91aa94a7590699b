"""A process that has imported what notebooks need, and executes each one in a fork of itself.

``python -m soundcheck.run.notebook_server DESCRIPTOR`` is what :class:`soundcheck.run.notebooks.Notebooks`
starts. It receives :class:`Task` from the connection and sends an :class:`Ending` of each; it ends, and all
that it has started with it, when the other end is closed. Where processes cannot be forked, each notebook
gets one that starts anew.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import multiprocessing
import os
import pkgutil
import signal
import sys
import time
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

import psutil

from soundcheck.models import processes
from soundcheck.run.notebook_outputs import unshown

PRELOADED = ("soundcheck.evaluation", "soundcheck.metrics", "soundcheck.report")  # what notebooks import
LATE = (  # what only some import, or only what they import does, when it is used
    "audformat",
    "matplotlib.backends.backend_svg",
    "matplotlib_inline.backend_inline",
    "PIL.GifImagePlugin",
    "PIL.JpegImagePlugin",
    "PIL.PngImagePlugin",
    "audplot",
    "pyarrow.dataset",
    "pyarrow.pandas_compat",
    "scipy.signal",
    "scipy.stats",
    "seaborn",
    "soundcheck.corpora.labels",
    "soundcheck.run.notebook_shell",
    "sqlite3",
)
# The frameworks of macOS do not survive a fork: there each notebook gets a process that starts anew.
FORKS = hasattr(os, "fork") and sys.platform != "darwin"


class Task(NamedTuple):
    """A notebook to execute."""

    number: int
    source: Path
    target: Path
    description: Path  # the notebook's parameter
    limit: float  # seconds that a cell may take
    whole: float  # seconds that all may take
    folder: Path  # in which it runs


class Ending(NamedTuple):
    """How a notebook ended."""

    number: int
    problem: str = ""
    timeout: bool = False
    died: bool = False  # its process ended before the notebook did
    unshown: tuple[str, ...] = ()  # kinds of outputs that no page shows


class _Running(NamedTuple):
    task: Task
    process: BaseProcess
    deadline: float


def serve(requests: Connection) -> None:
    """Fork a process for each task that comes, until nobody is left to send one."""
    context = multiprocessing.get_context("fork" if FORKS else "spawn")
    running: dict[Connection, _Running] = {}
    try:
        while True:
            first = min((notebook.deadline for notebook in running.values()), default=None)
            ready = wait([requests, *running], None if first is None else max(0, first - time.monotonic()))
            if requests in ready:
                task = requests.recv()
                results, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_execute, args=(task, theirs, requests))
                process.start()
                theirs.close()
                running[results] = _Running(task, process, time.monotonic() + task.whole)
            for results, notebook in list(running.items()):
                if results in ready or time.monotonic() > notebook.deadline:
                    requests.send(_ending(results, notebook))
                    del running[results]
    except (EOFError, OSError):  # the run has ended, however it did
        return
    finally:
        for notebook in running.values():
            _kill(notebook.process)


def _ending(results: Connection, notebook: _Running) -> Ending:
    """Say how a notebook ended, and end its process with all that it has started."""
    try:
        ending = results.recv() if results.poll() else Ending(notebook.task.number, timeout=True)
    except EOFError:
        notebook.process.join(1)
        what = f"the process of the notebook ended with exit code {notebook.process.exitcode}"
        ending = Ending(notebook.task.number, what, died=True)
    _kill(notebook.process)
    results.close()
    return ending


def _kill(process: BaseProcess) -> None:
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)  # also what a process left that has died
    process.join()


def _execute(task: Task, results: Connection, requests: Connection) -> None:
    """Execute a notebook in this process, say how it ended, and wait to be killed."""
    requests.close()  # else the run would not see the server end
    processes.end_with_parent()
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ["IPYTHONDIR"] = str(task.folder)
    import papermill

    from soundcheck.run import notebook_shell

    problem, timeout = "", False
    try:
        papermill.execute_notebook(
            str(task.source),
            str(task.target),
            parameters={"run": str(task.description)},  # other values papermill pastes unescaped into code
            engine_name=notebook_shell.NAME,
            kernel_name="python3",
            progress_bar=False,
            cwd=str(task.folder),
            limit=task.limit,
            folder=str(task.folder),
        )
    except papermill.PapermillExecutionError as error:
        problem = f"{error.ename}: {error.evalue}"
    except notebook_shell.OutOfTimeError:
        timeout = True
    except RuntimeError as error:
        problem = str(error)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    cells = json.loads(task.target.read_text(encoding="utf-8"))["cells"] if task.target.is_file() else []
    results.send(Ending(task.number, problem, timeout, unshown=unshown(cells)))
    wait([multiprocessing.parent_process().sentinel])  # nobody is left to kill it if the server has died


def preload() -> None:
    """Import what notebooks import."""
    import nbformat
    import papermill  # noqa: F401

    nbformat.validate(nbformat.v4.new_notebook())  # compiles its schema, which each notebook would
    for name in PRELOADED:
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{name}.{module.name}")
    for name in LATE:
        importlib.import_module(name)
    _prepare_checks()
    gc.collect()
    gc.freeze()  # the forks' collector need not look at any of it, again and again


def _prepare_checks() -> None:
    """Make what checks the files that notebooks read and write, which takes longer than to read one."""
    from soundcheck.common.store import adapter
    from soundcheck.evaluation.evaluation import ComparisonDescription, EvaluationDescription
    from soundcheck.results.rows import SavedRows
    from soundcheck.suite.thresholds import read_family

    for kind in (EvaluationDescription, ComparisonDescription, SavedRows):
        adapter(kind)
    read_family("correctness_regression")  # any of them


def main() -> None:
    """Import and serve."""
    requests = Connection(int(sys.argv[1]))
    if FORKS:
        preload()
    serve(requests)


if __name__ == "__main__":
    from soundcheck.run import notebook_server

    notebook_server.main()  # as what the other end knows it by
