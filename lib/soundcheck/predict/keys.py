"""The keys under which answers are kept: digests of everything that an answer depends on."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from soundcheck.common import files, resources

if TYPE_CHECKING:  # who only opens the file of answers need not load numpy
    from soundcheck.common.tasks import Task
    from soundcheck.predict.protocol import PlainChange

VERSION = 3  # of keys


class Keys:
    """Makes the keys of calls.

    - ``seed``: the suite's seed; counts for changed signals only.
    """

    def __init__(
        self, fingerprint: str, tasks: Sequence[Task], changes: Sequence[PlainChange], seed: int
    ) -> None:
        self._made: dict[tuple[str, int | None], str] = {}  # the same are asked for again and again
        common = [VERSION, fingerprint, sorted((task.name, task.kind) for task in tasks), reading_code()]
        self._clean = self._base(common)
        self._changed = [
            self._base(
                [
                    *(*common, change.transform, change.options, list(change.common), change.material),
                    *(seed, changing_code()),
                ]
            )
            for change in changes
        ]

    @staticmethod
    def _base(parts: list) -> str:
        return files.digest(json.dumps(parts, sort_keys=True, default=str))

    def key(self, content: str, change: int | None) -> str:
        """Make the key of a call.

        - ``change``: number of the change; ``None`` = clean.
        """
        call = content, change
        key = self._made.get(call)
        if key is None:
            base = self._clean if change is None else self._changed[change]
            key = self._made[call] = files.digest(f"{base} {content}")
        return key


def repeated_key(key: str) -> str:
    """Make the key under which the second answer to the same question is kept."""
    return files.digest(f"again {key}")


@functools.cache
def reading_code() -> str:
    """Digest of the code that reads audio: what it does to signals changes answers."""
    return _code([resources.PACKAGE / "corpora" / "audio.py"])


@functools.cache
def changing_code() -> str:
    """Digest of the code that changes signals."""
    return _code(sorted((resources.PACKAGE / "augment").glob("**/*.py")))


def _code(paths: Sequence[Path]) -> str:
    return files.digest(json.dumps([files.digest(path) for path in paths if path.is_file()]))
