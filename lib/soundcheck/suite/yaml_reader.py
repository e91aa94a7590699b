"""Reads YAML files: data with the place of every key, or messages with line and key.

PyYAML parses; what a text means is left to whoever knows what belongs there (:mod:`soundcheck.suite.schema`).

Conventions
-----------
- A quoted scalar is a ``str``; an unquoted one is a :class:`Plain`, whose value YAML 1.2 tells: ``no`` is a
  text, ``5e-2`` a number.
- A *path* is the tuple of keys and list positions (from 0) that leads to a value.
- Lines and columns count from 1.
- Refused: anything but UTF-8, control characters, tags, anchors and references, duplicate keys, deep
  nesting, several documents, a document that is not a mapping.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import unicodedata

import yaml

from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import digest, require_regular

MAXIMUM_BYTES = 1024**2
MAXIMUM_DEPTH = 30

KeyPath = tuple[str | int, ...]

_LOADER = yaml.CSafeLoader
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # YAML has none
_NUMBER = re.compile(r"[-+]?(?!0[0-9])([0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})([eE][-+]?[0-9]{1,4})?")


class Plain(str):
    """Unquoted scalar: its text as written, so that a model may be called ``no`` or ``1.10``."""

    __slots__ = ()

    @property
    def value(self) -> None | bool | int | float | str:
        """What YAML 1.2 makes of the text.

        Only finite decimal numbers become numbers: what programs read in different ways (``010``, ``0x10``,
        ``1_000``) stays a text, and so do infinity and NaN.
        """
        if self in ("", "~", "null", "Null", "NULL"):
            return None
        if self in ("true", "True", "TRUE", "false", "False", "FALSE"):
            return self.lower() == "true"
        if _NUMBER.fullmatch(self) and math.isfinite(float(self)):
            return int(self) if self.lstrip("+-").isdecimal() else float(self)
        return str(self)


@dataclasses.dataclass(frozen=True)
class Document:
    """A mapping read from a file, and where each of its values stands."""

    data: dict[str, object]  # nested ``dict``, ``list``, ``str`` (quoted) and :class:`Plain` (unquoted)
    places: dict[KeyPath, tuple[int, int]]  # line and column of each key or list item
    source: str  # how messages call the file
    digest: str  # digest of the file's bytes

    def where(self, path: KeyPath) -> str:
        """Name a place for a message, e.g. ``suite.yml line 7, models.prosody.task``.

        A key that is missing gets the line of what it is missing from.
        """
        known = tuple(path)
        while known and known not in self.places:
            known = known[:-1]
        line = self.places.get(known, (1, 1))[0]
        return f"{self.source} line {line}" + (f", {dotted(path)}" if path else "")


def dotted(path: KeyPath) -> str:
    """Write a path for a message.

    >>> dotted(("models", "my model", "tasks", 0))
    "models.'my model'.tasks item 1"
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f" item {part + 1}"
        else:
            part = part if re.fullmatch(r"[\w-]{1,80}", part) else quoted(part)
            text += f".{part}" if text else part
    return text


def read_yaml(path: str | os.PathLike, display_name: str, problems: Problems) -> Document:
    """Read a YAML file whose document is a mapping.

    - ``problems``: takes the problems that leave the rest of the file readable (a duplicate key: the first
      one counts).
    - Raises InputError: if the file cannot be read as a whole; holds everything in ``problems``, too.
    """
    content = require_regular(path, display_name, MAXIMUM_BYTES).read_bytes()
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start} (0x{content[error.start]:02x}) is not UTF-8; is it UTF-16 or Latin-1?"
        raise input_error(f"{display_name} line {line}", what, "Save the file as UTF-8") from error
    if sign := _CONTROL.search(text):
        before = text[: sign.start()].split("\n")
        where = f"{display_name} line {len(before)}, column {len(before[-1]) + 1}"
        remedy = "Remove it, it may be invisible in an editor. Save the file as UTF-8"
        raise input_error(where, f"there is a control character (U+{ord(sign[0]):04X})", remedy)
    builder = _Builder(display_name, problems)
    data = builder.document(text)
    if not isinstance(data, dict):
        kind = "a list" if isinstance(data, list) else f"the text {quoted(data)}"
        what = "the file is empty" if data == "" else f"the file holds {kind}, not a mapping"
        raise input_error(f"{display_name} line 1", what, "Write key: value lines")
    return Document(data, builder.places, display_name, digest(content))


class _Builder:
    """Makes data of what the parser gives, and notes where each value stands."""

    def __init__(self, source: str, problems: Problems) -> None:
        self.source, self.problems = source, problems
        self.places: dict[KeyPath, tuple[int, int]] = {}

    def note(self, mark: yaml.Mark, what: str, remedy: str) -> None:
        self.problems.add(f"{self.source} line {mark.line + 1}, column {mark.column + 1}", what, remedy)

    def document(self, text: str) -> dict | list | str:
        """Read the only document.

        Raises InputError: if it cannot be used at all.
        """
        try:
            self.refuse_references(text)
            root = yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            self.note(error.problem_mark or error.context_mark, *_syntax_problem(text, error))
            self.problems.raise_if_any()
        return Plain("") if root is None else self.value(root, ())

    def refuse_references(self, text: str) -> None:
        """Refuse tags, anchors, references and deep nesting, and note control characters in quotes.

        This comes before nodes are made: references to references are more than memory can hold.
        """
        depth, is_usable = 0, True
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAXIMUM_DEPTH:
                what = f"nested deeper than {MAXIMUM_DEPTH} levels"
                self.note(event.start_mark, what, "Close the brackets; flatten the file")
                self.problems.raise_if_any()
            if anchor := getattr(event, "anchor", None):
                sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
                what = f"references ({quoted(sign + anchor)}) are not allowed"
                remedy = f"Write the value out; put a text that begins with {sign} in quotes"
                self.note(event.start_mark, what, remedy)
                is_usable = False
            if tag := getattr(event, "tag", None):
                what = f"tags ({quoted(tag.replace('tag:yaml.org,2002:', '!!'))}) are not allowed"
                remedy = "Remove the tag; put a text that begins with ! in quotes"
                self.note(event.start_mark, what, remedy)
                is_usable = False
            value = getattr(event, "value", "")
            if any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in value):
                self.note(event.start_mark, f"{quoted(value)} holds a control character", "Remove it")
        if not is_usable:
            self.problems.raise_if_any()

    def value(self, node: yaml.Node, path: KeyPath) -> dict | list | str:
        """Make data of a node; of an entry the place of its key is noted."""
        self.places.setdefault(path, _place(node))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, number)) for number, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.style else Plain(node.value)
        data: dict[str, object] = {}
        for key, item in node.value:
            inner = (*path, key.value)
            if not isinstance(key, yaml.ScalarNode):
                self.note(key.start_mark, "a key must be text, not a list or mapping", "Write key: value")
            elif key.value in data:
                line, _ = _place(key)
                what = f"duplicate key, on line {self.places[inner][0]} and line {line}"
                self.problems.add(f"{self.source} line {line}, {dotted(inner)}", what, "Keep one of them")
            else:
                self.places[inner] = _place(key)
                data[key.value] = self.value(item, inner)
        return data


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _syntax_problem(text: str, error: yaml.MarkedYAMLError) -> tuple[str, str]:
    """Say why a text is no YAML, and what a person can do about it."""
    mark = error.problem_mark or error.context_mark
    line = (text.split("\n")[mark.line :] or [""])[0]
    what = ", ".join(part for part in (error.context, error.problem) if part)
    sign = line[mark.column : mark.column + 1]
    what = what.replace("character that cannot", f"character {sign!r} that cannot")
    matches = (remedy for words, remedy in _REMEDIES.items() if words in what)
    remedy = next(matches, "Check indentation, quotes, and escapes after a backslash")
    if mark.index >= len(text.rstrip()):
        remedy = "A quote or bracket is not closed, or the file is cut"
    if "\\t" in what or "\t" in line[: len(line) - len(line.lstrip())]:
        remedy = "Indent with spaces; YAML allows no tab there"
    return f"not valid YAML: {what}", remedy


# What the parser says, and what a person can do about it.
_REMEDIES = {
    "another document": "Keep one document: remove the line '---'",
    "mapping values are not allowed": "Check the indentation; put a text that holds ': ' in quotes",
    "could not find expected ':'": "Write key: value, with a blank after the colon",
    "cannot start any token": "Put a text that begins with this character in quotes",
    "expected ',' or": "Separate items by commas and close the bracket",
    "unknown escape": "Write \\\\ for a backslash, or use single quotes",
}
