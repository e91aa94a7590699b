"""The ``soundcheck`` command and its notebook workers, forked from a process that has imported the library.

Starting Python and importing all that a run needs takes five seconds of processor time, and the tests run
the command a hundred times. Here a server, started once a test process, imports and computes nothing; each
command is a fork of it with its own arguments, folder, environment and output, and ends as Python ends. Its
notebook workers are forked from the same server, not from the command, so that they know nothing of it.

Files whose tests are about processes use the fixture ``started_command`` instead.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
from typing import IO, Any, NoReturn

COMMAND, WORKER = "command", "worker"
PACKAGES = ("book", "corpora", "corpora.formats", "corpora.measures", "corpora.trials", "models", "predict")
PACKAGES += ("results", "run", "sounds", "suite", "augment", "statistics")
END_SECONDS = 20.0


class Preloaded:
    """A connection to the server, through which processes can be asked for.

    Parameters
    ----------
    connection
        One end; the server has the other.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._told = b""
        self._begun: int | None = None
        self._codes: dict[int, int] = {}

    @classmethod
    def start(cls, environment: dict[str, str]) -> Preloaded:
        """Start a server; it ends with the last connection to it."""
        ours, theirs = socket.socketpair()
        with theirs:
            subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=environment,
                stdin=subprocess.DEVNULL,
            )
        return cls(ours)

    def fork(self, request: dict[str, Any], stdin: int, stdout: int, stderr: int) -> int:
        """Ask for a process; returns its number."""
        with tempfile.TemporaryFile() as file:  # a stream may cut a long message
            file.write(json.dumps(request).encode())
            file.seek(0)
            socket.send_fds(self._connection, [b"+"], [file.fileno(), stdin, stdout, stderr])
        while self._begun is None:
            self._read()
        pid, self._begun = self._begun, None
        return pid

    def code(self, pid: int, seconds: float) -> int | None:
        """Wait until a process has ended; gives its exit code, ``None`` if it still runs."""
        end = time.monotonic() + seconds
        while pid not in self._codes:
            left = max(0.0, end - time.monotonic())
            if not select.select([self._connection], [], [], left)[0]:
                return None
            self._read()
        return self._codes[pid]

    def _read(self) -> None:
        """Read what the server says: which process has begun, and how others have ended."""
        received = self._connection.recv(4096)
        if not received:
            raise RuntimeError("the preloaded process has ended")
        *lines, self._told = (self._told + received).split(b"\n")
        for line in lines:
            told = json.loads(line)
            if "code" in told:
                self._codes[told["pid"]] = told["code"]
            else:
                self._begun = told["pid"]

    def command(
        self, arguments: list[str], folder: str, environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess:
        """Run the command, as ``subprocess.run`` would."""
        request = {"kind": COMMAND, "arguments": arguments, "folder": folder, "environment": environment}
        with (
            open(os.devnull) as nothing,
            tempfile.TemporaryFile("w+") as output,
            tempfile.TemporaryFile("w+") as errors,
        ):
            pid = self.fork(request, nothing.fileno(), output.fileno(), errors.fileno())
            code = self.code(pid, timeout)
            if code is None:
                os.kill(pid, signal.SIGKILL)
                self.code(pid, END_SECONDS)
                raise subprocess.TimeoutExpired(arguments, timeout)
            output.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())


class _ForkedWorker:
    """What a run takes for the ``subprocess.Popen`` of a notebook worker."""

    def __init__(
        self,
        server: Preloaded,
        arguments: list[str],
        *,
        stdin: int,
        stdout: int,
        stderr: IO,
        env: dict[str, str],
        start_new_session: bool,
    ) -> None:
        assert arguments[1:] == ["-P", "-m", "soundcheck.run.notebook_worker"] and start_new_session
        assert stdin == stdout == subprocess.PIPE
        self._server = server
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        request = {"kind": WORKER, "arguments": [], "folder": os.getcwd(), "environment": dict(env)}
        self.pid = server.fork(request, theirs_in, theirs_out, stderr.fileno())
        os.close(theirs_in)
        os.close(theirs_out)
        self.stdin, self.stdout = os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb")

    def poll(self) -> int | None:
        return self._server.code(self.pid, 0)

    def wait(self, timeout: float) -> int:
        # The mark by which the library finds a worker stands in an environment that a process starts with.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        code = self._server.code(self.pid, timeout)
        if code is None:
            raise subprocess.TimeoutExpired("notebook worker", timeout)
        return code


def _preload() -> None:
    from soundcheck import cli, pipeline  # noqa: F401
    from soundcheck.run import notebook_worker

    notebook_worker._preload()
    for package in PACKAGES:
        found = importlib.import_module(f"soundcheck.{package}")
        for module in pkgutil.iter_modules(found.__path__):
            importlib.import_module(f"soundcheck.{package}.{module.name}")
    gc.collect()
    gc.freeze()  # else a fork copies all of it when it looks for what nobody needs


def _serve(connection: socket.socket) -> tuple[socket.socket, dict[str, Any]]:
    """Fork whatever is asked for; comes back in each fork, with a connection of its own and its request."""
    asking = {connection: connection}
    asked_by: dict[int, socket.socket] = {}
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        for ready in select.select([reader, *asking], [], [])[0]:
            if ready is reader:
                reader.recv(4096)
                continue
            byte, descriptors, _, _ = socket.recv_fds(ready, 1, 4)
            if not byte:
                ready.close()
                del asking[ready]
                if ready is connection:
                    sys.exit()
                continue
            with os.fdopen(descriptors[0]) as file:
                request = json.load(file)
            ours, theirs = socket.socketpair()
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in (reader, writer, ours, *asking):
                    other.close()
                for number, descriptor in enumerate(descriptors[1:]):
                    os.dup2(descriptor, number)
                    os.close(descriptor)
                return theirs, request
            theirs.close()
            for descriptor in descriptors[1:]:
                os.close(descriptor)
            asking[ours] = ours
            asked_by[pid] = ready
            _tell(ready, {"pid": pid})
        while asked_by:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            _tell(asked_by.pop(pid), {"pid": pid, "code": os.waitstatus_to_exitcode(status)})


def _tell(connection: socket.socket, told: dict[str, int]) -> None:
    with contextlib.suppress(OSError):  # who asked may be gone
        connection.sendall(json.dumps(told).encode() + b"\n")


def _run(connection: socket.socket, request: dict[str, Any]) -> None:
    """Be the process that was asked for."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    from soundcheck import cli
    from soundcheck.run import notebook_worker

    if request["kind"] == WORKER:
        connection.close()
        os.setsid()
        notebook_worker.serve()
        return
    server = Preloaded(connection)
    changed = {"Popen": functools.partial(_ForkedWorker, server)}
    notebook_worker.subprocess = types.SimpleNamespace(**vars(subprocess) | changed)
    sys.argv = ["soundcheck", *request["arguments"]]
    cli.main()


def _end(code: object) -> NoReturn:
    """End as Python does, but for tearing down what was imported, which a fork would have to copy first."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    _preload()
    own, asked = _serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        _run(own, asked)
        _end(0)
    except SystemExit as end:
        _end(end.code)
    except BaseException:
        traceback.print_exc()
        _end(1)
