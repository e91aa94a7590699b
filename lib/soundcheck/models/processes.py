"""Child processes that run somebody else's code, and are gone when they should be.

Conventions
-----------
- A child is a process in a session of its own, so that it and whatever it starts can be killed together, and
  with one thread for each numerical library, so that answers do not depend on the machine.
- Parent and child talk through a connection of their own: what the code prints never gets in between.
- A child ends when its parent is gone, however the parent ended. Python's search path does not begin with
  the working directory, where a ``json.py`` of the user may lie.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import signal
import subprocess
import sys
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
RUN_VARIABLE = "SOUNDCHECK_RUN"  # tells children whose they are: number and start of the process
_RETURNED, _REFUSED, _MORE = "returned", "refused", "more time"  # what a child sends
_parent: Connection | None = None  # in a child of in_child
_PR_SET_PDEATHSIG = 1
_ORPHAN_SECONDS = 1.0  # how often a child looks whether it still has its parent


def environment(cache: str | os.PathLike | None = None) -> dict[str, str]:
    """Make the environment of a child; ``cache``: where models may keep things, if not as it is."""
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


def ending(code: int) -> str:
    """Say how a process ended.

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
    ours, theirs = Pipe()
    with ours, theirs:
        numbers = map(str, (theirs.fileno(), os.getpid()))
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "soundcheck.models.processes", *numbers],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None if shown else subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=environment(cache),
            start_new_session=True,
        )
        theirs.close()
        seconds = task.seconds
        try:
            ours.send((function, arguments))
            while ours.poll(seconds):
                word, content = ours.recv()
                if word == _REFUSED:
                    raise InputError(Problem(*parts) for parts in content)
                if word == _RETURNED:
                    return content
                seconds = content
            what, remedy = f"{task.doing} did not end within {task.seconds:g} s", task.late
        except (EOFError, OSError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(1.0)
            what, remedy = f"{task.doing} ended the process", task.lost
        finally:  # with all that it has started
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    lost = f" ({ending(child.returncode)})" if remedy == task.lost else ""
    raise input_error(task.where, what + lost, remedy)


def more_time(seconds: float) -> None:
    """Say, in a child, that the next step may take long: ``seconds`` from now."""
    if _parent is not None:
        _parent.send((_MORE, seconds))


def _serve() -> None:
    """Call what the parent wants, in a child whose life is tied to it."""
    global _parent
    descriptor, parent = map(int, sys.argv[1:3])
    os.set_inheritable(descriptor, False)
    if sys.platform == "linux":  # at once, even while code holds the interpreter
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    _parent = Connection(descriptor)
    function, arguments = _parent.recv()
    try:
        answer = (_RETURNED, function(*arguments))
    except InputError as error:
        answer = (_REFUSED, [(one.where, one.what, one.remedy) for one in error.problems])
    _parent.send(answer)


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_ORPHAN_SECONDS)
    os.killpg(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    # As the module that others import, so that there is one parent in this process.
    importlib.import_module("soundcheck.models.processes")._serve()
