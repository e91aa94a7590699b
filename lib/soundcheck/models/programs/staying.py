r"""A program that is started once and told one recording after the other.

Starting a program that loads a neural model costs seconds, for each signal. One that stays reads a line from
standard input, the path of a WAV file, and writes a line to standard output: the same path, a blank or tab,
and its answer, a transcript or a JSON object. Then it waits for the next line, until the input ends::

    for path in sys.stdin:
        path = path.rstrip("\n")
        print(path, recognise(path), sep="\t", flush=True)

Conventions
-----------
- The path in front of an answer says what it belongs to. Without it, one line too many, such as a greeting,
  would shift all answers by one without anybody noticing. So any other line is a failure.
- A program that fails is killed; the next signal starts a new one. What it was told then is lost.
- The recording is removed when it is answered. Every recording has another name.
- How long an answer may take is the business of whoever asks: the worker is killed, and its programs with it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from soundcheck.common.escaping import quoted
from soundcheck.models.programs import process as command_process
from soundcheck.models.programs.process import Listener

END_SECONDS = 1.0  # for a program to end when there is nothing left to do
_LINE_LIMIT = 60  # characters of a wrong line that are told


class StayingProgram:
    """A program that is started when there is something to ask, and again when it has ended.

    Parameters
    ----------
    command
        Program, absolute, and arguments.
    root
        Folder in which it is run.
    limit
        Bytes that an answer may have.
    """

    def __init__(self, command: Sequence[str], root: Path, limit: int) -> None:
        self._command, self._root, self._limit = list(command), root, limit
        self._started: _Started | None = None
        self._number = 0

    def ask(self, signal: np.ndarray, sampling_rate: int) -> str:
        """Tell a recording, and wait for the answer.

        Parameters
        ----------
        signal
            float32 ``(samples,)``.
        sampling_rate
            In Hz.

        Returns
        -------
        str
            The line behind the path.

        Raises
        ------
        RuntimeError
            If the program cannot be run, ends, or writes something else or too much.
        """
        from soundcheck.corpora import audio  # late: whoever reads a suite imports this module

        if self._started is not None and self._started.process.poll() is not None:
            self.close()
        if self._started is None:
            self._started = _Started(self._command, self._root, self._limit)
        self._number += 1
        recording = self._started.folder / f"{self._number}.wav"
        try:
            audio.write(recording, signal, sampling_rate)
            return self._started.ask(recording)
        except BaseException:
            self._started.process.kill()
            self.close()
            raise
        finally:
            recording.unlink(missing_ok=True)

    def close(self) -> None:
        """End the program."""
        started, self._started = self._started, None
        if started is not None:
            started.close()


class _Started:
    """A running program, with a folder for recordings; both end at the latest with this process."""

    def __init__(self, command: Sequence[str], root: Path, limit: int) -> None:
        with contextlib.ExitStack() as stack:
            self.folder = Path(os.path.realpath(stack.enter_context(command_process.temporary_folder())))
            self.process = command_process.start(command, root, subprocess.PIPE)
            stack.callback(_end, self.process)
            self.close = weakref.finalize(self, stack.pop_all().close)
        self._listener = Listener(self.process, limit)

    def ask(self, recording: Path) -> str:
        self._listener.take_waiting()
        self._refuse_more("without being asked")
        with contextlib.suppress(BrokenPipeError):  # it has ended; what it said then is still to be read
            self.process.stdin.write(os.fsencode(recording) + b"\n")
        output = self._listener.output
        self._listener.listen(lambda: b"\n" in output)
        if b"\n" not in output:
            raise RuntimeError(self._ending())
        line, _, rest = bytes(output).partition(b"\n")
        output[:] = rest
        path, text = os.fsencode(recording), self._text(line)
        if not line.startswith(path) or line[len(path) :][:1].strip():
            raise RuntimeError(
                f"the program wrote {quoted(text, _LINE_LIMIT)}, but a line begins with the path that it was "
                "told; other words belong on standard error"
            )
        self._listener.take_waiting()
        self._refuse_more("after its answer")
        return line[len(path) :].decode("utf-8", "replace").strip()

    def _refuse_more(self, when: str) -> None:
        """Raise if there is a line that nobody has asked for."""
        if self._listener.output:
            line = self._text(bytes(self._listener.output).partition(b"\n")[0])
            raise RuntimeError(
                f"the program wrote {quoted(line, _LINE_LIMIT)} {when}; an answer is one line, and other "
                "words belong on standard error"
            )

    def _ending(self) -> str:
        try:
            code = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            return "the program closed its standard output"
        if code:
            return command_process.ended(code, self._listener.errors, self.folder)
        return "the program ended before it had answered (exit code 0)"

    def _text(self, line: bytes) -> str:
        """Give a line for people, without the temporary folder."""
        return line.replace(os.fsencode(self.folder) + b"/", b"").decode("utf-8", "replace").strip()


def _end(process: subprocess.Popen) -> None:
    """Let a program end by itself for a moment, then kill it."""
    with contextlib.suppress(OSError):
        process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
    process.kill()  # does nothing if it has ended
    process.wait()
    process.stdout.close()
    process.stderr.close()
