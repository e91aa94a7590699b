r"""A model that is a program: ``command: "my-asr --model small {audio}"``; what it prints is the prediction.

The program is run once for each signal, in the suite's folder and without input. ``{audio}`` stands for the
path of the recording, a WAV file of its own: mono, 16 bit, full scale at ±1, at the sampling rate of the
signal (16 kHz). With ``stays: true`` it is started once for many signals instead, and told each on its
standard input.

Conventions
-----------
- The command is split as a shell would do it, but no shell runs it: ``;``, ``|``, ``>``, ``*``, ``~`` and
  ``$(...)`` are plain arguments. Whoever needs a shell writes a script and names that.
- A program whose name has a slash or that lies in the suite's folder is taken from there, any other from
  ``PATH``.
- Its environment is that of any model: numerical libraries use one thread, whatever the machine.
- Standard output is text in UTF-8; bytes that are none are replaced. If a transcript is all that the suite
  wants, it is the transcript: lines are stripped and joined by blanks; an empty output is an empty
  transcript. If the suite wants anything else, it is one JSON object with a key for each task.
- Standard error goes to the model's log. A program that fails is quoted with its last line there.
- What a program leaves running when it ends runs until the worker ends.
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

Cached predictions rest on the program and the files that the command names, and on those that the suite names
(``files:``). Others, such as modules that a script imports and folders of weights, are not seen; see
:mod:`soundcheck.predict.same_model`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import selectors
import subprocess
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.json_lines import json_or_none
from soundcheck.common.messages import input_error, quoted, shorten, terminal
from soundcheck.models import processes
from soundcheck.models.answers import NoAnswer, example
from soundcheck.models.base import Model
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelEntry, ModelKeys, Suite, public_path
from soundcheck.suite.paths import AUDIO, TASK, find_program, parse_command

LINE_LIMIT = 200  # characters of the last line of standard error that are quoted
END_SECONDS = 1.0  # for a program to end when there is nothing left to do
_TAIL_BYTES = 4096  # of standard error in which that line is looked for
_READ_BYTES = 65536  # at a time
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

    def __init__(self, command: Sequence[str], root: Path, limit: int, *, reads: bool = False) -> None:
        streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        streams["stdin"] = subprocess.PIPE if reads else subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(command, cwd=root, bufsize=0, **streams)
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

    def listen(self, line: bool = False) -> None:
        """Take what it writes until it has ended or closed both streams; or a ``line``, or its output."""
        while self._open and not (line and (b"\n" in self.output or self._process.stdout not in self._open)):
            gone = self.ended()  # asked first: what it wrote before is there then
            if not self._step(0.0 if gone else _TICK_SECONDS) and gone:
                break  # something that it started still holds the streams

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
        """Wait for its end, and say how it failed, with the last line of its errors; empty if it did not."""
        code = self._process.wait(seconds)
        text = _COLOURS.sub("", _readable(self._errors, folder))
        lines = [line for line in text.splitlines() if line.strip()]
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
        self._command, self._root, self._limit = command, root, limit  # bytes that an answer may have
        self._number = 0
        self._program: Program | None = None
        self._stack = contextlib.ExitStack()  # what ends with it
        weakref.finalize(self, self._stack.close)

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
            self._stack.close()
            self._program = None
            raise
        finally:
            recording.unlink(missing_ok=True)

    def _start(self) -> None:
        """Start the program, with a folder for recordings; both end at the latest with this process."""
        self._stack.close()
        self._program = Program(self._command, self._root, self._limit, reads=True)
        self._stack.callback(self._program.end)
        self._folder = self._stack.enter_context(temporary_folder())

    def _answer(self, path: bytes) -> str:
        program = self._program
        program.write(path + b"\n")
        program.listen(line=True)
        line, end, rest = bytes(program.output).partition(b"\n")
        program.output.clear()
        if not end:
            raise RuntimeError(self._ending())
        if rest or not line.startswith(path) or line[len(path) :][:1].strip():
            wrong = quoted(_readable(line + end + rest, self._folder).strip(), 60)
            what = "an answer is one line that begins with the path; other words belong on standard error"
            raise RuntimeError(f"the program wrote {wrong}, but {what}")
        return line[len(path) :].decode("utf-8", "replace").strip()

    def _ending(self) -> str:
        try:
            failure = self._program.failure(self._folder, END_SECONDS)
        except subprocess.TimeoutExpired:
            return "the program closed its standard output"
        return failure or "the program ended before it had answered (exit code 0)"


def _readable(output: bytes, folder: Path) -> str:
    """Give what a program wrote for people, without the temporary folder."""
    return output.replace(os.fsencode(folder) + b"/", b"").decode("utf-8", "replace")


OUTPUT_BYTES = 1_000_000  # of an answer; a program that writes more is killed
EMBEDDING_BYTES = 4_000_000  # the same if there is an embedding in it
FAILED_AFTER = 20  # signals in a row for which a program that stays failed: it is not asked any more
_ABSOLUTE = re.compile(r"(?<![^=:,'\"])[/~].*")  # a path, at the beginning of a word or behind --option=


class CommandKeys(ModelKeys):
    """Keys of programs."""

    stays: schema.Boolean = False


class CommandModel(Model):
    """A program as a model; it is run in the suite's folder."""

    keyword = "command"
    keys = CommandKeys

    def __init__(self, entry: ModelEntry, suite: Suite) -> None:
        stays, program = entry.options.get("stays", False), None
        arguments, what, remedy = parse_command(entry.target, stays)
        if arguments:
            program, what, remedy = find_program(arguments[0], suite.file)
        if program is None:
            raise input_error(f"{suite.file.name}, models.{entry.name}.command", what, remedy)
        self.fingerprint = files.digest(repr(("command", entry.target)))  # its files are named_files
        self._is_recogniser = tuple(entry.tasks) == (TASK,)
        self._command, self._root = [str(program), *arguments[1:]], suite.root
        self._tasks = suite.tasks_of(entry)
        self._limit = EMBEDDING_BYTES if any(task.is_embedding for task in self._tasks) else OUTPUT_BYTES
        self._staying = StayingProgram(self._command, self._root, self._limit) if stays else None
        self._failed = 0  # signals in a row

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[None, str, str]:
        """Check what does not depend on whether it stays; the program is looked for later."""
        return None, *parse_command(target, None)[1:]

    @classmethod
    def problems(cls, target: str, keys: CommandKeys) -> Iterator[tuple[str, str, str]]:
        """Say if the recording is named although the program stays, or not named although it does not."""
        _, what, remedy = parse_command(target, keys.stays)
        if what:
            yield cls.keyword, what, remedy

    @classmethod
    def default_tasks(cls, target: str) -> tuple[str, ...]:
        """Take what a command prints for a transcript."""
        return (TASK,)

    @classmethod
    def public_target(cls, target: str) -> str:
        """Keep the command, but of absolute paths in it only the last name."""
        words = target.split(" ")
        return " ".join(_ABSOLUTE.sub(lambda match: public_path(match[0]), word) for word in words)

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List the program and the files that arguments name, wherever they lie, and those of the suite."""
        program, *arguments = parse_command(entry.target, None)[0] or [""]
        # A file may be an argument of its own or stand in one such as --model=small.bin.
        texts = [text for argument in arguments for text in (argument, argument.partition("=")[2]) if text]
        places = [find_program(program, suite.file)[0], *(suite.root / text for text in texts)]
        files_of_command = [place for place in places if place is not None and os.path.isfile(place)]
        return [*dict.fromkeys([*files_of_command, *super().named_files(entry, suite)])]

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Run the program once for each signal, or tell the one that stays each of them.

        Of a program that stays, failures are :class:`NoAnswer`; else they raise RuntimeError.
        """
        if self._staying is not None:
            return [self._tell(signal, sampling_rate) for signal in signals]
        return [self._read(self._run(signal, sampling_rate)) for signal in signals]

    def _tell(self, signal: np.ndarray, sampling_rate: int) -> dict[str, Any] | NoAnswer:
        try:
            output = self._read(self._staying.ask(signal, sampling_rate))
        except RuntimeError as error:
            self._failed += 1
            rest = f"not asked, because the program failed {FAILED_AFTER} times in a row, in the end with: "
            return NoAnswer(str(error), f"{rest}{error}" if self._failed >= FAILED_AFTER else "")
        self._failed = 0
        return output

    def _run(self, signal: np.ndarray, sampling_rate: int) -> str:
        from soundcheck.corpora import audio  # late: whoever reads a suite imports this module

        with temporary_folder() as folder:
            recording = folder / "audio.wav"
            audio.write(recording, signal, sampling_rate)
            command = [self._command[0], *(part.replace(AUDIO, str(recording)) for part in self._command[1:])]
            program = Program(command, self._root, self._limit)
            try:
                program.listen()
                if failure := program.failure(folder):
                    raise RuntimeError(failure)
            finally:
                program.end()
        return program.output.decode("utf-8", "replace")

    def _read(self, output: str) -> dict[str, Any]:
        """Understand what the program printed for one signal."""
        if self._is_recogniser:
            lines = (line.strip() for line in output.splitlines())
            return {TASK: " ".join(line for line in lines if line)}
        answer = json_or_none(output)
        if isinstance(answer, dict):
            return answer
        wanted = json.dumps(example(self._tasks))
        printed = quoted(output.strip(), 60)
        raise RuntimeError(f"the program printed {printed}; expected is one JSON object such as {wanted}")
