"""What kept answers rest on: the files that the model had opened, and whether they are still the same."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from soundcheck.common.file_contents import Contents, Signature, signature
from soundcheck.common.files import digest as digest_of
from soundcheck.predict.opened_files import READ, SPECIAL, WRITTEN
from soundcheck.suite.model_kind import public_path


@dataclasses.dataclass(frozen=True)
class Sources:
    """Files that answers rest on, as far as a run could see.

    Parameters
    ----------
    files
        Name of a file, relative to the suite or absolute -> digest of its content.
    special
        Names of what was read but is no file: pipes, sockets, devices.
    gone
        Name of a file that was no longer there when the run ended -> digest of its content; empty if nobody
        knows it.
    """

    files: dict[str, str] = dataclasses.field(default_factory=dict)
    special: tuple[str, ...] = ()
    gone: dict[str, str] = dataclasses.field(default_factory=dict)

    def encode(self) -> str:
        """Write as a text."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def decode(cls, text: str) -> Self:
        """Read what :meth:`encode` wrote.

        Raises
        ------
        ValueError, TypeError
            If it is anything else.
        """
        content = json.loads(text)
        gone = content["gone"]  # older versions kept names alone
        gone = gone if isinstance(gone, dict) else dict.fromkeys(gone, "")
        return cls(content["files"], tuple(content["special"]), gone)

    @property
    def seen_files(self) -> dict[str, str]:
        """Name of each file, of absolute ones the last name, -> digest of its content."""
        found: dict[str, str] = {}
        known = (self.gone | self.files).items()
        for name, digest in sorted((public_path(name), digest) for name, digest in known if digest):
            found[name] = digest_of(found[name] + digest) if name in found else digest
        return found

    def joined(self, other: Sources) -> Sources:
        """Put what two sets of answers rest on together."""
        return Sources(
            dict(sorted((self.files | other.files).items())),
            tuple(sorted({*self.special, *other.special})),
            dict(sorted((self.gone | other.gone).items())),
        )


def files_written(opened: Iterable[Sequence]) -> set[str]:
    """Give the names of what a model has written."""
    return {name for kind, name, *_ in opened if kind == WRITTEN}


class SourceCheck:
    """Looks whether files are what they were.

    Parameters
    ----------
    root
        Folder of the suite, which names are relative to.
    contents
        Digests of files.
    """

    def __init__(self, root: Path, contents: Contents | None = None) -> None:
        self._root = root
        self._contents = contents or Contents()

    def changed(self, sources: Sources) -> list[str]:
        """Give the names of the files that are not what they were, or cannot be read."""
        return [
            name
            for name, digest in sources.files.items()
            if self._contents.digest(self._root / name) != digest
        ]

    def settle(self, opened: Iterable[Sequence], written: set[str]) -> tuple[Sources, list[str]]:
        """Find out what the answers of a session rest on.

        Parameters
        ----------
        opened
            What the session says.
        written
            Names of files that the model writes itself; they are left out.

        Returns
        -------
        sources
            What the answers rest on.
        changed
            Names of files that have changed since they were opened: the answers may rest on either content.
        """
        files, special, gone, changed = {}, set(), {}, set()
        for kind, name, *found in opened:
            if kind == SPECIAL:
                special.add(name)
            elif kind == READ and name not in written:
                place = self._root / name
                if not os.path.lexists(place):
                    gone[name] = ""
                    continue
                same = signature(place) == Signature(*found)
                files[name] = self._contents.digest(place) if same else ""
                if not files[name]:
                    changed.add(name)
        own = Sources(dict(sorted(files.items())), tuple(sorted(special)), dict(sorted(gone.items())))
        return own, sorted(changed)

    def save(self) -> None:
        """Keep the digests for the next run.

        Raises
        ------
        OutputError
            If they cannot be written.
        """
        self._contents.save()
