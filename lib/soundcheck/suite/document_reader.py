"""Reads the sections of a YAML document and notes the problems of all, each with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from soundcheck.common.errors import Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.suite import schema
from soundcheck.suite.yaml_reader import Document

__all__ = ["DocumentReader"]


class DocumentReader:
    """What readers of suites and of threshold files have in common.

    Parameters
    ----------
    document
        The document.
    problems
        Where problems are noted.
    """

    def __init__(self, document: Document, problems: Problems) -> None:
        self.document = document
        self.problems = problems

    def note(self, path: tuple, what: str, remedy: str = "") -> None:
        """Note a problem at a place of the file."""
        self.problems.add(self.document.where(path), what, remedy)

    def section(self, path: tuple, value: object, kind: type, also: tuple[str, ...] = ()) -> Any:
        """Check a section."""
        return schema.check_section(self.document, path, value, kind, self.problems, also=also)

    def check_names(self, path: tuple, names: Sequence[object]) -> None:
        """Note names that cannot be names."""
        for name in names:
            reason = schema.name_problem(name)
            if reason:
                self.note((*path, name), reason, "Use 1 to 80 characters on one line")

    def known_names(self, path: tuple, value: list, known: list[str], what: str) -> tuple[str, ...]:
        """Take a list of different known names."""
        names = []
        for position, item in enumerate(value):
            if not isinstance(item, str) or item not in known:
                remedy = did_you_mean(str(item), known)
                self.note((*path, position), f"unknown {what} {schema.shown(item)}", remedy)
            else:
                names.append(str(item))
        self.refuse_repeated(path, names)
        return tuple(names)

    def refuse_repeated(self, path: tuple, names: tuple[str, ...] | list[str]) -> None:
        """Note duplicate names."""
        for name in sorted({name for name in names if list(names).count(name) > 1}):
            self.note(path, f"duplicate {quoted(name)}", "Name it once")
