r"""Programs: started in the group of their worker, listened to, and cleaned up after.

Conventions
-----------
- Temporary files are gone in the end, even if it was the worker that was killed. Then its programs are
  killed, too, with all that they started, unless that has left the process group.
- What a program writes to standard error goes to that of the worker, and so to the model's log.
- One that stays reads a line from standard input, the path of a WAV file, and writes a line to standard
  output: the same path, a blank or tab, and its answer, a transcript or a JSON object. Then it waits for the
  next line, until the input ends::

    for path in sys.stdin:
        path = path.rstrip("\n")
        print(path, recognise(path), sep="\t", flush=True)

- The path in front of an answer says what it belongs to. Without it, one line too many, such as a greeting,
  would shift all answers by one without anybody noticing. So any other line is a failure.
- A program that fails is killed; the next signal starts a new one. What it was told then is lost. How long an
  answer may take is the business of whoever asks: the worker is killed, and its programs with it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import selectors
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from soundcheck.common.escaping import quoted, shorten, terminal
from soundcheck.models import processes

_WRONG_LINE_LIMIT = 60  # characters of a wrong line that are quoted
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


class StayingProgram:
    """A program that is started when there is something to ask, and again when it has ended."""

    def __init__(self, command: Sequence[str], root: Path, limit: int) -> None:
        self._command, self._root, self._limit = list(command), root, limit  # bytes that an answer may have
        self._number = 0
        self._program: Program | None = None
        self._close = weakref.finalize(self, lambda: None)

    def ask(self, signal: np.ndarray, sampling_rate: int) -> str:
        """Tell a recording, and wait for the answer: the line behind the path.

        Raises RuntimeError if the program cannot be run, ends, or writes something else or too much.
        """
        from soundcheck.corpora import audio  # late: whoever reads a suite imports this module

        if self._program is None or self._program.ended():
            self._start()
        self._number += 1
        recording = self._folder / f"{self._number}.wav"
        try:
            audio.write(recording, signal, sampling_rate)
            return self._answer(os.fsencode(recording))
        except BaseException:
            self._program.kill()
            self._close()
            self._program = None
            raise
        finally:
            recording.unlink(missing_ok=True)

    def _start(self) -> None:
        """Start the program, with a folder for recordings; both end at the latest with this process."""
        self._close()
        with contextlib.ExitStack() as stack:
            self._folder = stack.enter_context(temporary_folder())
            self._program = Program(self._command, self._root, self._limit, subprocess.PIPE)
            stack.callback(self._program.end)
            self._close = weakref.finalize(self, stack.pop_all().close)

    def _answer(self, path: bytes) -> str:
        program = self._program
        self._refuse_more("without being asked")
        program.write(path + b"\n")
        program.listen(lambda: b"\n" in program.output or program.has_closed_output())
        if b"\n" not in program.output:
            raise RuntimeError(self._ending())
        line, _, rest = bytes(program.output).partition(b"\n")
        program.output[:] = rest
        if not line.startswith(path) or line[len(path) :][:1].strip():
            raise RuntimeError(
                f"the program wrote {self._quoted(line)}, but a line begins with the path that it was "
                "told; other words belong on standard error"
            )
        self._refuse_more("after its answer")
        return line[len(path) :].decode("utf-8", "replace").strip()

    def _refuse_more(self, when: str) -> None:
        """Raise if there is a line that nobody has asked for."""
        self._program.take_waiting()
        if self._program.output:
            line = self._quoted(bytes(self._program.output).partition(b"\n")[0])
            raise RuntimeError(
                f"the program wrote {line} {when}; an answer is one line, and other words belong on "
                "standard error"
            )

    def _ending(self) -> str:
        try:
            failure = self._program.failure(self._folder, END_SECONDS)
        except subprocess.TimeoutExpired:
            return "the program closed its standard output"
        return failure or "the program ended before it had answered (exit code 0)"

    def _quoted(self, line: bytes) -> str:
        """Give a line for people, without the temporary folder."""
        text = line.replace(os.fsencode(self._folder) + b"/", b"").decode("utf-8", "replace")
        return quoted(text.strip(), _WRONG_LINE_LIMIT)
