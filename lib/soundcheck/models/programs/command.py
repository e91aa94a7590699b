"""A model that is a program: ``command: "my-asr --model small {audio}"``; what it prints is the prediction.

The program is run once for each signal, in the suite's folder and without input. ``{audio}`` stands for the
path of the recording, a WAV file of its own: mono, 16 bit, full scale at ±1, at the sampling rate of the
signal (16 kHz). With ``stays: true`` it is started once for many signals instead, and told each on its
standard input (:mod:`soundcheck.models.programs.process`).

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
- What a program leaves running when it ends runs until the worker ends; see
  :mod:`soundcheck.models.programs.process`.

Cached predictions rest on the program and the files that the command names, and on those that the suite names
(``files:``). Others, such as modules that a script imports and folders of weights, are not seen; see
:mod:`soundcheck.predict.canaries`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.models.answers import NoAnswer, example
from soundcheck.models.base import Model
from soundcheck.models.programs.process import Program, StayingProgram, temporary_folder
from soundcheck.suite import schema
from soundcheck.suite.model_kind import ModelKeys, public_path
from soundcheck.suite.paths import AUDIO, TASK, find_program, parse_command

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry, Suite

OUTPUT_BYTES = 1_000_000  # of an answer; a program that writes more is killed
EMBEDDING_BYTES = 4_000_000  # the same if there is an embedding in it
FAILED_AFTER = 20  # signals in a row for which a program that stays failed: it is not asked any more
_ABSOLUTE = re.compile(r"(?<![^=:,'\"])[/~].*")  # a path, at the beginning of a word or behind --option=


class CommandKeys(ModelKeys):
    """Keys of programs."""

    stays: schema.Boolean = False


class CommandModel(Model):
    """A program as a model; it is run in the suite's folder ``root``."""

    keyword = "command"
    keys = CommandKeys

    def __init__(
        self,
        entry: ModelEntry,
        program: Path,
        arguments: Sequence[str],
        root: Path,
        tasks: Sequence[Task] = (),
    ) -> None:
        self.name = entry.name
        self.tasks = tuple(entry.tasks)
        self._entry = entry
        self._command = [str(program), *arguments]
        self._root = root
        self._described = list(tasks)
        self._limit = EMBEDDING_BYTES if any(task.is_embedding for task in tasks) else OUTPUT_BYTES
        self._staying = StayingProgram(self._command, root, self._limit) if _stays(entry) else None
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

    @property
    def fingerprint(self) -> str:
        """Digest of the command; the files that it names are among :meth:`named_files`."""
        return files.digest(repr(("command", self._entry.target)))

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List the program and the files that arguments name, wherever they lie, and those of the suite."""
        program, *arguments = parse_command(entry.target, None)[0] or [""]
        # A file may be an argument of its own or stand in one such as --model=small.bin.
        texts = [text for argument in arguments for text in (argument, argument.partition("=")[2]) if text]
        places = [find_program(program, suite.file)[0], *(suite.root / text for text in texts)]
        files_of_command = [place for place in places if place is not None and os.path.isfile(place)]
        return [*dict.fromkeys([*files_of_command, *super().named_files(entry, suite)])]

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> CommandModel:
        """Look for the program; it is not run."""
        arguments, what, remedy = parse_command(entry.target, _stays(entry))
        program = None
        if arguments:
            program, what, remedy = find_program(arguments[0], suite.file)
        if program is None:
            raise input_error(f"{suite.file.name}, models.{entry.name}.command", what, remedy)
        return cls(entry, program, arguments[1:], suite.root, [suite.tasks[name] for name in entry.tasks])

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
        if self.tasks == (TASK,):
            lines = (line.strip() for line in output.splitlines())
            return {TASK: " ".join(line for line in lines if line)}
        try:
            answer = json.loads(output)
        except (ValueError, RecursionError):
            answer = None
        if isinstance(answer, dict):
            return answer
        wanted = json.dumps(example(self._described))
        printed = quoted(output.strip(), 60)
        raise RuntimeError(f"the program printed {printed}; expected is one JSON object such as {wanted}")


def _stays(entry: ModelEntry) -> bool:
    return entry.options.get("stays", False)
