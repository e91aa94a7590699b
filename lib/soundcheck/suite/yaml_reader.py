"""Reads YAML files: data with the place of every key, or messages with line and key.

ruamel.yaml parses them (YAML 1.2: ``no`` is a text, ``5e-2`` is a number). The reader makes mappings, lists
and texts of them, refuses what settings have no use for, and leaves the meaning of a text to whoever knows
what belongs there (:mod:`soundcheck.suite.schema`).

Conventions
-----------
- A quoted scalar is a ``str``; an unquoted one is a :class:`Plain`.
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
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError, MaxDepthExceededError
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.resolver import VersionedResolver

from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import digest, require_regular
from soundcheck.common.remembered import Remembered

MAXIMUM_BYTES = 1024**2
MAXIMUM_DEPTH = 30

KeyPath = tuple[str | int, ...]

_YAML_1_2 = VersionedResolver()
_DECIMAL = re.compile(r"[-+]?(?!0[0-9])[0-9]{0,300}\.?[0-9]{0,300}([eE][-+]?[0-9]{1,4})?")


class Plain(str):
    """Unquoted scalar: its text as written, so that a model may be called ``no`` or ``1.10``."""

    __slots__ = ()

    @property
    def value(self) -> None | bool | int | float | str:
        """What YAML 1.2 makes of the text.

        Only finite decimal numbers become numbers: what programs read in different ways (``010``, ``0x10``,
        ``1_000``) stays a text, and so do infinity and NaN.
        """
        kind = str(_YAML_1_2.resolve(ScalarNode, str(self), (True, False))).rpartition(":")[2]
        if kind == "null":
            return None
        if kind == "bool":
            return self.lower() == "true"
        if kind in ("int", "float") and _DECIMAL.fullmatch(self) and math.isfinite(float(self)):
            return int(self) if kind == "int" else float(self)
        return str(self)


@dataclasses.dataclass(frozen=True)
class Document:
    """A mapping read from a file, and where each of its values stands."""

    data: dict[str, object]  # nested ``dict``, ``list``, ``str`` (quoted) and :class:`Plain` (unquoted)
    places: dict[KeyPath, tuple[int, int]]  # line and column of each key or list item
    shown: str  # how messages call the file
    digest: str  # digest of the file's bytes

    def where(self, path: KeyPath) -> str:
        """Name a place for a message, e.g. ``suite.yml line 7, models.prosody.task``.

        A key that is missing gets the line of what it is missing from.
        """
        known = tuple(path)
        while known and known not in self.places:
            known = known[:-1]
        line = self.places.get(known, (1, 1))[0]
        return f"{self.shown} line {line}" + (f", {dotted(path)}" if path else "")


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


def read_yaml(
    path: str | os.PathLike, shown: str, problems: Problems, known: Remembered | None = None
) -> Document:
    """Read a YAML file whose document is a mapping.

    - ``problems``: takes the problems that leave the rest of the file readable (a duplicate key: the first
      one counts).
    - ``known``: remembers what files without problems hold, by their content.
    - Raises InputError: if the file cannot be read as a whole; holds everything in ``problems``, too.
    """
    content = Path(require_regular(path, shown, MAXIMUM_BYTES)).read_bytes()
    name = digest(content)
    found = known.get(name) if known is not None else None
    if found is not None:
        return _recalled(found, shown, name)
    text = _decode(content, shown)
    loader = YAML(typ="safe", pure=True)
    loader.max_depth = MAXIMUM_DEPTH + 1  # the values in the innermost list or mapping count as well
    loader.Composer = _Composer
    loader.refuse = lambda mark, what, remedy: problems.add(_where(shown, mark), what, remedy)
    before = len(problems)
    try:
        node = loader.compose(text)
    except YAMLError as error:
        _note_syntax(error, text, shown, problems)
    else:
        if node is None or (isinstance(node, ScalarNode) and not node.value):
            problems.add(f"{shown} line 1", "the file is empty", "Write key: value lines")
        elif not isinstance(node, MappingNode):
            kind = f"the text {quoted(node.value)}" if isinstance(node, ScalarNode) else "a list"
            problems.add(f"{shown} line 1", f"the file holds {kind}, not a mapping", "Write key: value lines")
    if len(problems) > before:
        problems.raise_if_any()
    places: dict[KeyPath, tuple[int, int]] = {(): _place(node)}
    document = Document(_build(node, (), places, shown, problems), places, shown, name)
    if known is not None and len(problems) == before:
        known.put(name, [_written(document.data), [[*path, *place] for path, place in places.items()]])
    return document


def _written(value: object) -> object:
    """Make of data what JSON knows: a text begins with how it was written, q if it was in quotes."""
    if isinstance(value, dict):
        return {name: _written(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_written(item) for item in value]
    return f"{'p' if isinstance(value, Plain) else 'q'}{value}"


def _recalled(found: list, shown: str, name: str) -> Document:
    """Make a document of what :func:`read_yaml` remembered."""

    def data(value: object) -> dict | list | str:
        if isinstance(value, dict):
            return {name: data(item) for name, item in value.items()}
        if isinstance(value, list):
            return [data(item) for item in value]
        return Plain(value[1:]) if value[0] == "p" else value[1:]

    return Document(data(found[0]), {tuple(path): (x, y) for *path, x, y in found[1]}, shown, name)


class _Composer(Composer):
    """Composes nodes and refuses tags, anchors and references."""

    def __init__(self, loader: YAML | None = None) -> None:
        super().__init__(loader)
        self.warn_double_anchors = False

    def get_single_node(self) -> Node | None:
        try:
            return super().get_single_node()
        except YAMLError:
            raise
        except Exception as error:  # other kinds for an escape "\UFFFFFFFF" and a line %YAML 1.7
            raise ComposerError(None, None, str(error), self.loader.reader.get_mark()) from error

    def compose_node(self, parent: Node | None, index: object) -> Node:
        event = self.parser.peek_event()
        if event.anchor is not None:
            sign = "*" if isinstance(event, AliasEvent) else "&"
            what = f"references ({quoted(sign + event.anchor)}) are not allowed"
            remedy = f"Write the value out; put a text that begins with {sign} in quotes"
            self.loader.refuse(event.start_mark, what, remedy)
        if isinstance(event, AliasEvent):
            return ScalarNode(None, "", self.parser.get_event().start_mark)
        if event.tag is not None:
            what = f"tags ({quoted(event.tag.replace('tag:yaml.org,2002:', '!!'))}) are not allowed"
            remedy = "Remove the tag; put a text that begins with ! in quotes"
            self.loader.refuse(event.start_mark, what, remedy)
        return super().compose_node(parent, index)


def _build(node: Node, path: KeyPath, places: dict, shown: str, problems: Problems) -> dict | list | str:
    """Make data of a node and note the places of what is in it."""
    if isinstance(node, ScalarNode):
        if any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in node.value):
            what = f"{quoted(node.value)} holds a control character"
            problems.add(_where(shown, node.start_mark), what, "Remove it")
        return Plain(node.value) if node.style is None else node.value
    if not isinstance(node, MappingNode):
        items = []
        for position, item in enumerate(node.value):
            places[(*path, position)] = _place(item)
            items.append(_build(item, (*path, position), places, shown, problems))
        return items
    data: dict[str, object] = {}
    for key, item in node.value:
        if not isinstance(key, ScalarNode):
            what = "a key must be text, not a list or mapping"
            problems.add(_where(shown, key.start_mark), what, "Write key: value")
            continue
        name = str(_build(key, path, places, shown, problems))
        inner = (*path, name)
        if name in data:
            line = key.start_mark.line + 1
            what = f"duplicate key, on line {places[inner][0]} and line {line}"
            problems.add(f"{shown} line {line}, {dotted(inner)}", what, "Keep one of them")
        else:
            places[inner] = _place(key)
            data[name] = _build(item, inner, places, shown, problems)
    return data


def _place(node: Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _where(shown: str, mark: object) -> str:
    return f"{shown} line {mark.line + 1}, column {mark.column + 1}"


def _decode(content: bytes, shown: str) -> str:
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start} (0x{content[error.start]:02x}) is not UTF-8; is it UTF-16 or Latin-1?"
        raise input_error(f"{shown} line {line}", what, "Save the file as UTF-8") from error


# What ruamel.yaml says, and what a person can do about it.
_REMEDIES = {
    "another document": "Keep one document: remove the line '---'",
    "mapping values are not allowed": "Check the indentation; put a text that holds ': ' in quotes",
    "could not find expected ':'": "Write key: value, with a blank after the colon",
    "end of stream": "A quote or bracket is not closed, or the file is cut",
    "<stream end>": "A quote or bracket is not closed, or the file is cut",
    "cannot start any token": "Put a text that begins with this character in quotes",
    "expected ',' or": "Separate items by commas and close the bracket",
    "unknown escape": "Write \\\\ for a backslash, or use single quotes",
}


def _note_syntax(error: YAMLError, text: str, shown: str, problems: Problems) -> None:
    if isinstance(error, ReaderError):
        before = text[: error.position].split("\n")
        what = f"there is a control character (U+{ord(text[error.position]):04X})"
        remedy = "Remove it, it may be invisible in an editor. Save the file as UTF-8"
        problems.add(f"{shown} line {len(before)}, column {len(before[-1]) + 1}", what, remedy)
        return
    mark = error.problem_mark or error.context_mark
    if isinstance(error, MaxDepthExceededError):
        what = f"nested deeper than {MAXIMUM_DEPTH} levels"
        problems.add(_where(shown, mark), what, "Close the brackets; flatten the file")
        return
    what = ", ".join(part for part in (error.context, error.problem) if part)
    found = [remedy for sign, remedy in _REMEDIES.items() if sign in what]
    remedy = found[0] if found else "Check indentation, quotes, and escapes after a backslash"
    line = text.split("\n")[mark.line] if mark.line <= text.count("\n") else ""
    if "\\t" in what or "\t" in line[: len(line) - len(line.lstrip())]:
        remedy = "Indent with spaces; YAML allows no tab there"
    problems.add(_where(shown, mark), f"not valid YAML: {what}", remedy)
