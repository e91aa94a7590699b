"""Programs: started in the group of their worker, listened to, and cleaned up after.

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

LINE_LIMIT = 200  # characters of the last line of standard error that are quoted
END_SECONDS = 1.0  # for a program to end when there is nothing left to do
_TAIL_BYTES = 4096  # of standard error in which that line is looked for
_READ_BYTES = 65536  # at a time
_MOST_WAITING = 100  # reads of what is there already, in case that it never ends
_TICK_SECONDS = 0.1  # how often to look whether a silent program has ended
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
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ["/bin/sh", "-c", _GUARD, "sh", group, temporary.name]
    with (
        temporary as folder,
        subprocess.Popen(words, stdin=subprocess.PIPE, bufsize=0, start_new_session=True, **nowhere) as guard,
    ):
        try:
            yield Path(os.path.realpath(folder))
        finally:
            temporary.cleanup()
            with contextlib.suppress(OSError):
                guard.stdin.write(b"end\n")


class Program:
    """A running program that may write so many bytes before somebody takes them out of ``output``.

    Raises RuntimeError if it cannot be run, here and later if it writes more.
    """

    def __init__(
        self, command: Sequence[str], root: Path, limit: int, stdin: int = subprocess.DEVNULL
    ) -> None:
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                command, cwd=root, stdin=stdin, stdout=pipe, stderr=pipe, bufsize=0
            )
        except OSError as error:
            why = _CANNOT_RUN.get(error.errno, error.strerror)
            raise RuntimeError(f"the program cannot be run: {why}") from error
        self._limit = limit
        self._open = {self._process.stdout, self._process.stderr}
        self.output, self._errors = bytearray(), b""

    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def write(self, line: bytes) -> None:
        """Give it a line; if it has ended, what it said then is still to be read."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line)

    def listen(self, enough: Callable[[], bool] = lambda: False) -> None:
        """Take what it writes until it has ended or closed both streams, or that is enough."""
        while self._open and not enough():
            gone = self.ended()  # asked first: what it wrote before is there then
            if not self._step(0.0 if gone else _TICK_SECONDS) and gone:
                break  # something that it started still holds the streams

    def has_closed_output(self) -> bool:
        """Whether no more output can come."""
        return self._process.stdout not in self._open

    def take_waiting(self) -> None:
        """Take what is there already."""
        for _ in range(_MOST_WAITING):
            if not (self._open and self._step(0.0)):
                break

    def _step(self, seconds: float) -> bool:
        """Take what comes next; says whether there was something in time."""
        with selectors.DefaultSelector() as selector:
            for stream in self._open:
                selector.register(stream, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select(seconds)]
        for stream in ready:
            data = os.read(stream.fileno(), _READ_BYTES)
            if not data:
                self._open.remove(stream)
            elif stream is self._process.stdout:
                self.output += data
            else:
                self._errors = (self._errors + data)[-_TAIL_BYTES:]
                with contextlib.suppress(OSError):
                    os.write(2, data)
        if len(self.output) > self._limit:
            raise RuntimeError(f"the program wrote more than {self._limit} bytes and was killed")
        return bool(ready)

    def failure(self, folder: Path, seconds: float | None = None) -> str:
        """Wait for its end, and say how it failed, with the last line of its errors; empty if it did not.

        Names in the temporary folder are shown without it.
        """
        code = self._process.wait(seconds)
        text = self._errors.replace(os.fsencode(folder) + b"/", b"").decode("utf-8", "replace")
        lines = [line for line in _COLOURS.sub("", text).splitlines() if line.strip()]
        last = shorten(terminal(" ".join(lines[-1].split())), LINE_LIMIT) if lines else ""
        return f"the program ended with {processes.ending(code)}{last and f': {last}'}" if code else ""

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def end(self) -> None:
        """Let it end by itself for a moment if it reads lines, then kill it."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if self._process.stdin is not None:
                self._process.stdin.close()
                self._process.wait(END_SECONDS)
        self._process.kill()  # does nothing if it has ended
        self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()
