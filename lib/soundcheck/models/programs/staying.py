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
from soundcheck.models.programs.process import END_SECONDS, Program, temporary_folder

_LINE_LIMIT = 60  # characters of a wrong line that are quoted


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
        return quoted(text.strip(), _LINE_LIMIT)
