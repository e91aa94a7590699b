"""Executes notebooks one after the other, each in a fork of a process that has imported the library.

``python -m soundcheck.run.notebook_worker`` is what the runner starts, once a place. It imports, computes
nothing, and reads requests from its standard input, a line each; see :class:`Worker` for the other end. Where
processes cannot be forked, each notebook gets a process that starts anew.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from soundcheck.run import processes
from soundcheck.run.notebook_process import main

PRELOADED = ("soundcheck.evaluation", "soundcheck.metrics", "soundcheck.report")  # what notebooks import
LATE = (  # what only some import, or only what they import does, when it is used
    "audformat",
    "matplotlib.backends.backend_svg",
    "PIL.GifImagePlugin",
    "PIL.JpegImagePlugin",
    "PIL.PngImagePlugin",
    "pyarrow.dataset",
    "pyarrow.pandas_compat",
    "scipy.signal",
    "scipy.stats",
    "soundcheck.corpora.languages",
    "sqlite3",
)
MOST_SECONDS = 300.0  # that imports may take
# The frameworks of macOS do not survive a fork: there each notebook gets a process that starts anew.
FORKS = hasattr(os, "fork") and sys.platform != "darwin"


class Worker:
    """A process that executes notebooks, one at a time.

    Parameters
    ----------
    environment
        Of the process.
    log
        File that gets its output, and that of the notebooks.
    """

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self._environment, self._log = environment, log
        self._process: subprocess.Popen | None = None
        self._token = ""
        self._begun = 0.0
        self._ready = self._executing = False

    def execute(self, task: Path, environment: dict[str, str]) -> None:
        """Begin to execute the notebook of a task file; :attr:`busy` tells when it has ended."""
        self.start()
        self._executing = True
        request = json.dumps({"task": str(task), "environment": environment})
        with contextlib.suppress(
            OSError
        ):  # it has just died: nothing is busy, and the notebook has no ending
            self._process.stdin.write(f"{request}\n".encode())
            self._process.stdin.flush()

    @property
    def ready(self) -> bool:
        """Whether the process has imported what notebooks need, or takes too long: it is asked anyway."""
        self._ready = self._ready or self._hears() or time.monotonic() > self._begun + MOST_SECONDS
        return self._ready

    @property
    def busy(self) -> bool:
        """Whether a notebook is being executed."""
        self._executing = self._executing and not (self.ready and self._hears())
        return self._executing

    def _hears(self) -> bool:
        """Whether the process has told something, or is gone."""
        if self._process is None:
            return True
        ready, _, _ = select.select([self._process.stdout], [], [], 0)
        # Readable without anything to read: the process is gone.
        return bool(ready and (os.read(self._process.stdout.fileno(), 1) or True))

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        self._token = secrets.token_hex(8)
        self._begun, self._ready = time.monotonic(), False
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "soundcheck.run.notebook_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._environment | {processes.MARK: self._token},
                start_new_session=True,
            )

    def stop(self) -> None:
        """End the process, the notebook that it executes, and that notebook's kernel."""
        if self._process is None:
            return
        processes.kill_marked(self._token)  # forks keep the environment that they were started with
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        self._process, self._executing = None, False


def serve() -> None:
    """Say when all is imported; read requests until there are no more, and say of each when it has ended."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what notebooks print goes to the log
    if FORKS:
        _preload()
    os.write(answers, b".")
    for line in sys.stdin:
        request = json.loads(line)
        if FORKS:
            pid = os.fork()
            if pid == 0:
                _execute(request["task"], request["environment"])
            os.waitpid(pid, 0)
        else:
            command = [sys.executable, "-P", "-m", "soundcheck.run.notebook_process", request["task"]]
            subprocess.run(
                command, env=os.environ | request["environment"], stdin=subprocess.DEVNULL, check=False
            )
        os.write(answers, b".")


@contextlib.contextmanager
def _missing(name: str) -> Iterator[None]:
    """Let a package seem not to be installed, for the time of a block."""
    sys.modules[name] = None
    try:
        yield
    finally:
        del sys.modules[name]


def _preload() -> None:
    import nbformat
    from ipykernel import ipkernel, kernelapp  # noqa: F401

    from soundcheck.run import notebook_engine  # noqa: F401

    with _missing("debugpy"):  # nobody attaches a debugger to these kernels, and it is slow to import
        from ipykernel import debugger  # noqa: F401

    nbformat.validate(nbformat.v4.new_notebook())  # compiles its schema, which each notebook would

    for name in PRELOADED:
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{name}.{module.name}")
    for name in LATE:
        importlib.import_module(name)
    importlib.import_module("soundcheck.report.style").seaborn.histplot  # noqa: B018  (it is imported when used)
    gc.collect()
    gc.freeze()  # the forks' collector need not look at any of it, again and again


def _execute(task: str, environment: dict[str, str]) -> NoReturn:
    """Execute a notebook in this process, a fork, and end."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(environment)
        from soundcheck.run import forked_kernel

        forked_kernel.offer()
        status = main(task, kernel_manager_class=forked_kernel.PromptManager)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve()
