"""Processes of programs: started in the group of their worker, listened to, and cleaned up after.

Conventions
-----------
- Temporary files are gone in the end, even if it was the worker that was killed. Then its programs are
  killed, too, with all that they started, unless that has left the process group.
- What a program writes to standard error goes to that of the worker, and so to the model's log.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import selectors
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from soundcheck.common.escaping import shorten, terminal
from soundcheck.models import processes

LINE_LIMIT = 200  # characters of the last line of standard error that are told
_TAIL_BYTES = 4096  # of standard error in which that line is looked for
_READ_BYTES = 65536  # at a time
_MOST_WAITING = 100  # reads of what is there already, in case that it never ends
_TICK_SECONDS = 0.1  # how often to look whether a silent program has ended
_STANDARD_ERROR = 2
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CANNOT_RUN = {
    errno.ENOEXEC: "it is neither made for this machine nor a script that begins with #!",
    errno.ENOENT: "it does not exist, or not the interpreter that its first line names",
}
# Waits until the process that started it says that all is well, or is gone; then it cleans up.
_GUARD = 'read -r end; [ -n "$end" ] || { [ -z "$1" ] || kill -s KILL -- "-$1"; rm -rf -- "$2"; }'


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a folder that is removed at the end, even if this process is killed before.

    A time limit kills the worker, which cannot clean up then. So a small process outside of its group looks
    after the folder. It also kills the rest of a worker's group, in case that only the worker was killed.
    """
    group = str(os.getpid()) if os.getsid(0) == os.getpid() else ""  # a worker leads a session of its own
    temporary = tempfile.TemporaryDirectory(prefix="soundcheck-", ignore_cleanup_errors=True)
    with (
        temporary as folder,
        subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "sh", group, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        ) as guard,
    ):
        try:
            yield Path(folder)
        finally:
            temporary.cleanup()
            with contextlib.suppress(OSError):
                guard.stdin.write(b"end\n")


def start(command: Sequence[str], folder: Path, stdin: int = subprocess.DEVNULL) -> subprocess.Popen:
    """Start a program in a folder, in the group of its worker, so that they can be killed together.

    Raises
    ------
    RuntimeError
        If it cannot be run.
    """
    try:
        return subprocess.Popen(
            command, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
    except OSError as error:
        why = _CANNOT_RUN.get(error.errno, error.strerror)
        raise RuntimeError(f"the program cannot be run: {why}") from error


def run(command: Sequence[str], folder: Path, limit: int) -> tuple[bytes, bytes, int]:
    """Run a program.

    Parameters
    ----------
    command
        Program, absolute, and arguments.
    folder
        Where to run it.
    limit
        Bytes that it may write to standard output.

    Returns
    -------
    output
        What it wrote to standard output.
    errors
        The end of what it wrote to standard error.
    code
        Its exit code, or minus the number of the signal that killed it.

    Raises
    ------
    RuntimeError
        If it cannot be run or writes more.
    """
    with start(command, folder) as process:
        try:
            listener = Listener(process, limit)
            listener.listen()
            return bytes(listener.output), listener.errors, process.wait()
        finally:
            process.kill()  # does nothing if it has ended


class Listener:
    """Takes what a program writes.

    Parameters
    ----------
    process
        The program.
    limit
        Bytes of standard output that it may have written before somebody takes them.

    Attributes
    ----------
    output
        What it wrote to standard output; whoever has understood some of it takes it out.
    errors
        The end of what it wrote to standard error.
    """

    def __init__(self, process: subprocess.Popen, limit: int) -> None:
        self._process, self._limit = process, limit
        self._open = {process.stdout, process.stderr}
        self.output, self.errors = bytearray(), b""

    def listen(self, enough: Callable[[], bool] | None = None) -> None:
        """Listen until the program has ended or closed both streams.

        Parameters
        ----------
        enough
            Tells when to stop; then the end of standard output is the end as well.

        Raises
        ------
        RuntimeError
            If it writes more than it may.
        """
        while self._open and not (enough and (enough() or self._process.stdout not in self._open)):
            gone = self._process.poll() is not None  # asked first: what it wrote before is there then
            if not self._step(0.0 if gone else _TICK_SECONDS) and gone:
                break  # something that it started still holds the streams

    def take_waiting(self) -> None:
        """Take what is there already; raises as :meth:`listen`."""
        for _ in range(_MOST_WAITING):
            if not (self._open and self._step(0.0)):
                break

    def _step(self, seconds: float) -> bool:
        """Take what comes next; says whether there was something in time."""
        with selectors.DefaultSelector() as selector:
            for stream in self._open:
                selector.register(stream, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select(seconds)]
        self._open -= {stream for stream in ready if not self._take(stream)}
        return bool(ready)

    def _take(self, stream: object) -> bool:
        """Read some of a stream; says whether it goes on."""
        data = os.read(stream.fileno(), _READ_BYTES)
        if stream is self._process.stdout:
            self.output += data
        else:
            self.errors = (self.errors + data)[-_TAIL_BYTES:]
            with contextlib.suppress(OSError):
                os.write(_STANDARD_ERROR, data)
        if len(self.output) > self._limit:
            raise RuntimeError(f"the program wrote more than {self._limit} bytes and was killed")
        return bool(data)


def ended(code: int, errors: bytes, folder: Path) -> str:
    """Say how a program ended, with the last line of its errors, without the name of a temporary folder."""
    last = _last_line(errors.replace(os.fsencode(folder) + b"/", b""))
    return f"the program ended with {processes.ending(code)}{last and f': {last}'}"


def _last_line(errors: bytes) -> str:
    """Find the last line with text, made harmless and short; empty if there is none."""
    text = _COLOURS.sub("", errors.decode("utf-8", "replace"))
    lines = [line for line in text.splitlines() if line.strip()]
    return shorten(terminal(" ".join(lines[-1].split())), LINE_LIMIT) if lines else ""
