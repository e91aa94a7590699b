"""A model that is a program: ``command: "my-asr --model small {audio}"``; what it prints is the transcript.

The program is run once for each signal, in the suite's folder and without input. ``{audio}`` stands for the
path of the recording, a WAV file of its own: mono, 16 bit, full scale at ±1, at the sampling rate of the
signal (16 kHz).

Conventions
-----------
- The command is split as a shell would do it, but no shell runs it: ``;``, ``|``, ``>``, ``*``, ``~`` and
  ``$(...)`` are plain arguments. Whoever needs a shell writes a script and names that.
- A program whose name has a slash or that lies in the suite's folder is taken from there, any other from
  ``PATH``.
- Its environment is that of any model: numerical libraries use one thread, whatever the machine.
- Standard output is text in UTF-8; bytes that are none are replaced. Lines are stripped and joined by
  blanks. An empty output is an empty transcript.
- Standard error goes to the model's log. A program that fails is quoted with its last line there.
- Temporary files are gone after each call, even if it was the worker that was killed. Then the program is
  killed, too, with all that it started, unless that has left the process group. What a program leaves
  running when it ends runs until the worker ends.

Kept answers rest on the program and the files that the command names, and on those that the suite names
(``files:``). Others, such as modules that a script imports and folders of weights, are not seen; see
:mod:`soundcheck.predict.canaries`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import selectors
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import input_error
from soundcheck.common.escaping import shorten, terminal
from soundcheck.common.tasks import Task
from soundcheck.models import processes
from soundcheck.models.base import Model
from soundcheck.suite.model_kind import public_path
from soundcheck.suite.programs import AUDIO, TASK, find_program, parse_command

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

OUTPUT_BYTES = 1_000_000  # of standard output; a program that writes more is killed
LINE_LIMIT = 200  # characters of the last line of standard error that are told
_TAIL_BYTES = 4096  # of standard error in which that line is looked for
_READ_BYTES = 65536  # at a time
_TICK_SECONDS = 0.1  # how often to look whether a silent program has ended
_STANDARD_ERROR = 2
_ABSOLUTE = re.compile(r"(?<![^=:,'\"])[/~].*")  # a path, at the beginning of a word or behind --option=
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CANNOT_RUN = {
    errno.ENOEXEC: "it is neither made for this machine nor a script that begins with #!",
    errno.ENOENT: "it does not exist, or not the interpreter that its first line names",
}
# Waits until the process that started it says that all is well, or is gone; then it cleans up.
_GUARD = 'read -r end; [ -n "$end" ] || { [ -z "$1" ] || kill -s KILL -- "-$1"; rm -rf -- "$2"; }'


class CommandModel(Model):
    """A program as a model.

    Parameters
    ----------
    entry
        The suite's entry.
    program
        The program, absolute.
    arguments
        Its arguments; ``{audio}`` stands for the recording.
    root
        Folder of the suite, in which it is run.
    """

    keyword = "command"

    def __init__(self, entry: ModelEntry, program: Path, arguments: Sequence[str], root: Path) -> None:
        self.name = entry.name
        self.tasks = tuple(entry.tasks)
        self._entry = entry
        self._program = program
        self._arguments = tuple(arguments)
        self._root = root

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[None, str, str]:
        """Check the command; the program is looked for later."""
        return None, *parse_command(target)[1:]

    @classmethod
    def default_tasks(cls, target: str) -> tuple[str, ...]:
        """Take what a command prints for a transcript."""
        return (TASK,)

    @classmethod
    def check_tasks(cls, target: str, tasks: Sequence[Task]) -> list[tuple[str, str]]:
        """Refuse other tasks."""
        if all(task.name == TASK for task in tasks):
            return []
        remedy = f"Write tasks: [{TASK}], or leave the key out"
        return [(f"the standard output of a command is a {TASK}", remedy)]

    @classmethod
    def public_target(cls, target: str) -> str:
        """Keep the command, but of absolute paths in it only the last name."""
        words = target.split(" ")
        return " ".join(_ABSOLUTE.sub(lambda found: public_path(found[0]), word) for word in words)

    @property
    def fingerprint(self) -> str:
        """Digest of the command; the files that it names are among :meth:`named_files`."""
        return files.digest(repr(("command", self._entry.target)))

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List the program and the files that arguments name, wherever they lie, and those of the suite."""
        program, *arguments = parse_command(entry.target)[0] or [""]
        # A file may be an argument of its own or stand in one such as --model=small.bin.
        texts = [text for argument in arguments for text in (argument, argument.partition("=")[2]) if text]
        places = [find_program(program, suite.file)[0], *(suite.root / text for text in texts)]
        own = [place for place in places if place is not None and os.path.isfile(place)]
        return [*dict.fromkeys([*own, *super().named_files(entry, suite)])]

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> CommandModel:
        """Look for the program; it is not run.

        Raises
        ------
        InputError
            If the command cannot be used, or the program is missing or not executable.
        """
        arguments, what, remedy = parse_command(entry.target)
        program = None
        if arguments:
            program, what, remedy = find_program(arguments[0], suite.file)
        if program is None:
            raise input_error(f"{suite.file.name}, models.{entry.name}.command", what, remedy)
        return cls(entry, program, arguments[1:], suite.root)

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Run the program once for each signal.

        Raises
        ------
        RuntimeError
            If it cannot be run, fails or writes too much.
        """
        return [{TASK: self._transcribe(signal, sampling_rate)} for signal in signals]

    def _transcribe(self, signal: np.ndarray, sampling_rate: int) -> str:
        from soundcheck.corpora import audio  # late: whoever reads a suite imports this module

        with _temporary_folder() as folder:
            recording = folder / "audio.wav"
            audio.write(recording, signal, sampling_rate)
            arguments = [argument.replace(AUDIO, str(recording)) for argument in self._arguments]
            output, errors, code = _run([str(self._program), *arguments], self._root)
        if code:
            last = _last_line(errors.replace(os.fsencode(folder) + b"/", b""))
            raise RuntimeError(f"the program ended with {processes.ending(code)}{last and f': {last}'}")
        lines = (line.strip() for line in output.decode("utf-8", "replace").splitlines())
        return " ".join(line for line in lines if line)


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
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


def _run(command: Sequence[str], folder: Path) -> tuple[bytes, bytes, int]:
    """Run a program.

    Parameters
    ----------
    command
        Program, absolute, and arguments.
    folder
        Where to run it.

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
        If it cannot be run or writes more than :data:`OUTPUT_BYTES`.
    """
    try:
        process = subprocess.Popen(  # in the group of its worker, so that they can be killed together
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
    except OSError as error:
        why = _CANNOT_RUN.get(error.errno, error.strerror)
        raise RuntimeError(f"the program cannot be run: {why}") from error
    with process:
        try:
            output, errors = _listen(process)
            return output, errors, process.wait()
        finally:
            process.kill()  # does nothing if it has ended


def _listen(process: subprocess.Popen) -> tuple[bytes, bytes]:
    """Take what a program writes, until it has ended or closed both streams."""
    output, errors = bytearray(), b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.get_map():
            ended = process.poll() is not None  # asked first: what it wrote before is there then
            ready = selector.select(0.0 if ended else _TICK_SECONDS)
            if ended and not ready:
                break  # something that it started still holds the streams
            for key, _ in ready:
                data = os.read(key.fd, _READ_BYTES)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stdout:
                    output += data
                else:
                    errors = (errors + data)[-_TAIL_BYTES:]
                    with contextlib.suppress(OSError):
                        os.write(_STANDARD_ERROR, data)
            if len(output) > OUTPUT_BYTES:
                raise RuntimeError(f"the program wrote more than {OUTPUT_BYTES} bytes and was killed")
    return bytes(output), errors


def _last_line(errors: bytes) -> str:
    """Find the last line with text, made harmless and short; empty if there is none."""
    text = _COLOURS.sub("", errors.decode("utf-8", "replace"))
    lines = [line for line in text.splitlines() if line.strip()]
    return shorten(terminal(" ".join(lines[-1].split())), LINE_LIMIT) if lines else ""
