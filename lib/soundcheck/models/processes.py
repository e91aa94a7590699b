"""Child processes that run somebody else's code, and are gone when they should be.

Conventions
-----------
- Children are forks of one process that has imported what all of them need; where forks are not safe, they
  start anew. Python's search path does not begin with the working directory, where a ``json.py`` of the user
  may lie.
- A child is a process in a session of its own, so that it and whatever it starts can be killed together, and
  with one thread for each numerical library, so that predictions do not depend on the machine.
- Parent and child talk through a connection of their own: what the code prints never gets in between.
- A child ends when its parent is gone, however the parent ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing.forkserver
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

import psutil

from soundcheck.common.messages import InputError, input_error
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
PRELOADED = (  # what children import: what a run begins with, code that is run, what changes signals
    "soundcheck.cli",
    "soundcheck.predict.workers",
    "soundcheck.suite.entries",
    "soundcheck.augment.registry",
    "soundcheck.models.function",
)
LONGEST_PLACE = 60  # characters of a folder of temporary files; the address of a server of forks may have 107
END_SECONDS = 0.5  # for a child to end by itself when it has answered
_REMEDY = "Try it outside of Soundcheck. Load what takes long with the first signal, or in prepare()"
_ANSWER, _MORE = "answer", "more time"  # what a child sends
_parent: Connection | None = None  # in a child of in_child
_starting = threading.Lock()
_PR_SET_PDEATHSIG = 1


def environment(cache: str | os.PathLike | None = None) -> dict[str, str]:
    """Make the environment of a child; ``cache``: where models may keep things, if not as it is."""
    changed = dict.fromkeys(ONE_THREAD, "1")
    changed |= {
        "PYTHONHASHSEED": "0",  # the order of a set must not decide about a prediction
        "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written beside the user's files
        "PYTHONUNBUFFERED": "1",  # what a model printed before it died is in the log
        "PYTHONFAULTHANDLER": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "MPLBACKEND": "agg",
        RUN_VARIABLE: f"{os.getpid()}-{psutil.Process().create_time():.0f}",
    }
    if cache is not None:
        changed[CACHE_VARIABLE] = str(cache)
    with _starting:  # else it may hold what another start sets for a moment
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


def context() -> BaseContext:
    """Say how processes start."""
    forks = sys.platform == "linux" and hasattr(os, "fork") and len(tempfile.gettempdir()) <= LONGEST_PLACE
    return multiprocessing.get_context("forkserver" if forks else "spawn")


def start(function: Callable[..., None], arguments: tuple, environment: dict[str, str]) -> BaseProcess:
    """Start a child that calls a function, which begins with :func:`detach`."""
    child = context().Process(target=function, args=arguments)
    with _starting, _set(environment | {"PYTHONSAFEPATH": "1"}):  # libraries read it when they are imported
        _preload()
        try:
            child.start()
        except ConnectionRefusedError:  # the server of forks was killed, and has not quite ended
            time.sleep(0.5)
            child.start()
    return child


def begin_to_import() -> None:
    """Let the process that children are forks of import what they need, while this one goes on."""
    variables = environment() | {"PYTHONSAFEPATH": "1"}
    with _starting, _set(variables):
        _preload()


def _preload() -> None:
    methods = context()
    methods.set_forkserver_preload(list(PRELOADED))
    if methods.get_start_method() == "forkserver":
        multiprocessing.forkserver._forkserver.ensure_running()


@contextlib.contextmanager
def _set(environment: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        for name in environment.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def kill(child: BaseProcess) -> None:
    """Kill a child and all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()  # if it had no group of its own yet
    child.join()


@contextlib.contextmanager
def threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads that wait for children, which are killed if anything is raised meanwhile."""
    pool = ThreadPoolExecutor(count)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            if isinstance(child, context().Process):
                kill(child)
        raise


def detach(environment: dict[str, str], output: int, streams: tuple[int, ...] = (1, 2)) -> None:
    """Give this process its own group, environment and output, and tie its life to that of the run."""
    os.setsid()  # so that whatever it starts is killed with it
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in streams:
        os.dup2(output, stream)
    alive = multiprocessing.forkserver._forkserver._forkserver_alive_fd
    if alive is not None:  # the server that forked this process ends with the run, unless a fork prevents it
        os.close(alive)
    end_with_parent()
    threading.Thread(target=_follow_run, daemon=True).start()


def end_with_parent() -> None:
    """Let this process end as soon as its parent does, even while code holds the interpreter; on Linux."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _follow_run() -> None:
    wait([multiprocessing.parent_process().sentinel])
    os.killpg(0, signal.SIGKILL)


def in_child(
    where: str,
    doing: str,
    seconds: float,
    function: Callable[..., Any],
    *arguments: object,
    cache: str | os.PathLike | None = None,
    with_output: bool = False,
) -> Any:
    """Call a function of ours in a child, and give what it returns; what it prints goes nowhere.

    ``where`` and ``doing`` are for messages. Raises InputError as the function does, or if it takes more than
    so many seconds or ends the process. With ``with_output``, errors and progress bars go to the terminal.
    """
    ours, theirs = multiprocessing.Pipe()
    variables = environment(cache)
    with ours:
        with theirs:
            child = start(_call, (theirs, variables, with_output, function, arguments), variables)
        left = seconds
        try:
            while ours.poll(left):
                word, content = ours.recv()
                if word == _ANSWER:
                    child.join(END_SECONDS)  # what is killed leaves semaphores behind
                    if isinstance(content, InputError):
                        raise content
                    return content
                left = content
            what = f"{doing} did not end within {seconds:g} s"
        except (EOFError, OSError):
            child.join(1.0)
            what = f"{doing} ended the process ({ending(child.exitcode)})"
        finally:
            kill(child)
    raise input_error(where, what, _REMEDY)


def more_time(seconds: float) -> None:
    """Say, in a child, that the next step may take long: ``seconds`` from now."""
    if _parent is not None:
        _parent.send((_MORE, seconds))


def _call(
    parent: Connection,
    environment: dict[str, str],
    with_output: bool,
    function: Callable[..., Any],
    arguments: tuple,
) -> None:
    """Call what the parent wants, in a child."""
    global _parent
    _parent = parent
    detach(environment, os.open(os.devnull, os.O_RDWR), (0, 1) if with_output else (0, 1, 2))
    try:
        answer = function(*arguments)
    except InputError as error:
        answer = error
    parent.send((_ANSWER, answer))
