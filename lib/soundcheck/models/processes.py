"""Child processes that run somebody else's code, and are gone when they should be.

Conventions
-----------
- A child is ``python -m <module>`` in a session of its own, so that it and whatever it starts can be killed
  together, and with one thread for each numerical library, so that answers do not depend on the machine.
- Parent and child talk through a connection of their own: what the code prints never gets in between. They
  also share a few numbers, which the parent can read while, and after, the child does something.
- A child ends when its parent is gone, however the parent ended. Python's search path does not begin with
  the working directory, where a ``json.py`` of the user may lie.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import psutil

from soundcheck.common.errors import InputError, Problem, input_error
from soundcheck.common.store import CACHE_VARIABLE

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
NOWHERE, CAPTURED, TERMINAL = "nowhere", "captured", "terminal"  # where a child's output goes
RUN_VARIABLE = "SOUNDCHECK_RUN"  # tells children whose they are: number and start of the process
_RETURNED, _REFUSED, _MORE = "returned", "refused", "more time"  # what a child sends
_parent: Connection | None = None  # in a child of in_child
SHARED = 4  # numbers that parent and child share
_PR_SET_PDEATHSIG = 1
_ORPHAN_SECONDS = 1.0  # how often a child looks whether it still has its parent


def environment(cache: str | os.PathLike | None = None) -> dict[str, str]:
    """Make the environment of a child.

    Parameters
    ----------
    cache
        Folder where models may keep things, given as ``SOUNDCHECK_CACHE``; default: as it is.
    """
    changed = dict.fromkeys(ONE_THREAD, "1")
    changed |= {
        "PYTHONHASHSEED": "0",  # the order of a set must not decide about an answer
        "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written beside the user's files
        "PYTHONUNBUFFERED": "1",  # what a model printed before it died is in the log
        "PYTHONFAULTHANDLER": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "MPLBACKEND": "agg",
        RUN_VARIABLE: f"{os.getpid()}-{psutil.Process().create_time():.0f}",
    }
    if cache is not None:
        changed[CACHE_VARIABLE] = str(cache)
    return os.environ | changed


class Child:
    """A child process, as its parent sees it.

    Parameters
    ----------
    module
        What to run; its main function calls :func:`connect`.
    cache
        See :func:`environment`.
    output
        Where standard output and error go: :data:`NOWHERE`, :data:`CAPTURED`, or :data:`TERMINAL` (errors
        and progress bars only).

    Attributes
    ----------
    connection
        For messages to and from the child.
    output
        Captured: descriptor from which all that it prints can be read, non-blocking; else ``None``.
    shared
        Numbers, 0 at first, that the child may set: see :func:`shared`.
    """

    def __init__(self, module: str, *, cache: str | os.PathLike | None = None, output: str = NOWHERE) -> None:
        self.output: int | None = None
        writing = subprocess.DEVNULL
        if output == CAPTURED:
            self.output, writing = os.pipe()
            os.set_blocking(self.output, False)
        self.connection, other = Pipe(duplex=True)
        place = _memory()
        self.shared = _numbers(place)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, *map(str, (other.fileno(), place, os.getpid()))],
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=None if output == TERMINAL else writing,
                pass_fds=[other.fileno(), place],
                env=environment(cache),
                start_new_session=True,
            )
        except BaseException:
            self._close()
            raise
        finally:
            other.close()
            os.close(place)
            if output == CAPTURED:
                os.close(writing)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def gone(self) -> bool:
        """Whether the process has ended; it stays a zombie, so that its group cannot be mistaken."""
        if self.process.returncode is not None:
            return True
        if hasattr(os, "waitid"):
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.process.pid, options) is not None
        try:  # Python 3.11 and 3.12 on macOS
            return psutil.Process(self.process.pid).status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True

    def wait(self, seconds: float) -> bool:
        """Wait until the process has ended; says whether it has."""
        end = time.monotonic() + seconds
        while not self.gone():
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def interrupt(self) -> None:
        """Kill the process while another thread waits for what it says."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def kill(self) -> str:
        """Kill the process and all that it started, if they still run.

        Returns
        -------
        str
            How the process ended, such as ``"signal 11, SIGSEGV"`` or ``"exit code 1"``.
        """
        if self.process.returncode is None:
            self.interrupt()
            self.process.wait()
        self._close()
        return ending(self.process.returncode)

    def _close(self) -> None:
        self.connection.close()
        if self.output is not None:
            os.close(self.output)
            self.output = None


def ending(code: int) -> str:
    """Say how a process ended.

    Examples
    --------
    >>> ending(-11)
    'signal 11, SIGSEGV'
    """
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {-code}, {signal.Signals(-code).name}"
    return f"signal {-code}"


class Task(NamedTuple):
    """What a child is to do, for messages: where the suite says so, and remedies."""

    where: str
    doing: str
    seconds: float  # that it may take
    late: str  # if it takes longer
    lost: str  # if it ends the process


def in_child(
    task: Task,
    function: Callable[..., Any],
    *arguments: object,
    cache: str | os.PathLike | None = None,
    shown: bool = False,
) -> Any:
    """Call a function of ours in a child, and give what it returns; what it prints goes nowhere.

    Raises InputError as the function does, or if it takes too long or ends the process. With ``shown``,
    errors and progress bars go to the terminal.
    """
    with Child("soundcheck.models.processes", cache=cache, output=TERMINAL if shown else NOWHERE) as child:
        seconds = task.seconds
        try:
            child.connection.send((function, arguments))
            while child.connection.poll(seconds):
                word, content = child.connection.recv()
                if word == _REFUSED:
                    raise InputError(Problem(*parts) for parts in content)
                if word == _RETURNED:
                    return content
                seconds = content
        except (EOFError, OSError):
            child.wait(1.0)
            what = f"{task.doing} ended the process ({child.kill()})"
            raise input_error(task.where, what, task.lost) from None
    what = f"{task.doing} did not end within {task.seconds:g} s"
    raise input_error(task.where, what, task.late)


def more_time(seconds: float) -> None:
    """Say, in a child, that the next step may take long: ``seconds`` from now."""
    if _parent is not None:
        _parent.send((_MORE, seconds))


def _serve() -> None:
    """Call what the parent wants, in a child."""
    global _parent
    _parent = connect()
    function, arguments = _parent.recv()
    try:
        answer = (_RETURNED, function(*arguments))
    except InputError as error:
        answer = (_REFUSED, [(one.where, one.what, one.remedy) for one in error.problems])
    _parent.send(answer)


def connect() -> Connection:
    """Connect a child with its parent, and tie its life to it; called once, first of all, in the child."""
    descriptor, place, parent = map(int, sys.argv[1:4])
    os.set_inheritable(descriptor, False)
    os.set_inheritable(place, False)
    if sys.platform == "linux":  # at once, even while code holds the interpreter
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    return Connection(descriptor)


def shared() -> memoryview:
    """Give the numbers that the parent of this process sees as :attr:`Child.shared`, float64 (4)."""
    return _numbers(int(sys.argv[2]))


def _memory() -> int:
    """Open memory that processes can share; gives its descriptor."""
    if hasattr(os, "memfd_create"):
        place = os.memfd_create("soundcheck")
    else:
        with tempfile.TemporaryFile() as file:
            place = os.dup(file.fileno())
    os.truncate(place, 8 * SHARED)
    return place


def _numbers(place: int) -> memoryview:
    return memoryview(mmap.mmap(place, 8 * SHARED)).cast("d")


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_ORPHAN_SECONDS)
    os.killpg(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    # As the module that others import, so that there is one parent in this process.
    importlib.import_module("soundcheck.models.processes")._serve()
