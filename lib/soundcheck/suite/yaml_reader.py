"""Reads YAML files strictly: what a file says is what the reader gets, or a message with line and key.

YAML has traps for people who write settings: ``no`` is a truth value, ``010`` is 8, ``5e-2`` is a text, the
second of two equal keys wins. This reader builds mappings and lists only and leaves the meaning of a scalar
to whoever knows what belongs there (:mod:`soundcheck.suite.schema`).

Conventions
-----------
- A quoted scalar is a ``str``; an unquoted one is a :class:`Plain`, its text exactly as written.
- A *path* is the tuple of keys and list positions (from 0) that leads to a value.
- Lines and columns count from 1.
- Refused: anything but UTF-8, control characters, tags, anchors and references, keys given twice, deep
  nesting, several documents, a document that is not a mapping.
"""

from __future__ import annotations

import dataclasses
import os
import re
import unicodedata
from pathlib import Path

import yaml

from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.files import digest, require_regular

MAXIMUM_BYTES = 1024**2
MAXIMUM_DEPTH = 30

KeyPath = tuple[str | int, ...]


class Plain(str):
    """Text of an unquoted scalar, exactly as written; the schema decides what it means."""

    __slots__ = ()


@dataclasses.dataclass(frozen=True)
class Document:
    """A mapping read from a file, and where each of its values stands.

    Parameters
    ----------
    data
        Nested ``dict``, ``list``, ``str`` (quoted) and :class:`Plain` (unquoted).
    places
        Line and column of each key or list item.
    shown
        How messages call the file.
    digest
        Digest of the file's bytes.
    """

    data: dict[str, object]
    places: dict[KeyPath, tuple[int, int]]
    shown: str
    digest: str

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

    Examples
    --------
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


def read_yaml(path: str | os.PathLike, shown: str, problems: Problems) -> Document:
    """Read a YAML file whose document is a mapping.

    Parameters
    ----------
    path
        The file.
    shown
        How messages call it.
    problems
        Takes the problems that leave the rest of the file readable (a key given twice: the first one counts).

    Raises
    ------
    InputError
        If the file cannot be read as a whole; holds everything in ``problems``, too.
    """
    data = require_regular(path, shown, MAXIMUM_BYTES)
    content = Path(data).read_bytes()
    text = _decode(content, shown)
    found = Problems()
    builder = _Builder(shown, found)
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        while loader.check_event():
            builder.take(loader.get_event())
    except yaml.MarkedYAMLError as error:
        _note_syntax(error, text, shown, found)
    except yaml.YAMLError as error:
        found.add(shown, f"not valid YAML: {error}", "Save it as plain UTF-8 text")
    except (ValueError, OverflowError) as error:  # an escape such as "\UFFFFFFFF" is no character
        line = loader.line + 1 if loader is not None else 1
        found.add(
            f"{shown} line {line}", f"not valid YAML: {error}", "Check numbers and escapes after a backslash"
        )
    except _StopError:
        pass
    else:
        builder.finish()
    _merge(found, problems)
    if builder.unreadable or not isinstance(builder.root, dict) or (len(found) and not builder.finished):
        problems.raise_if_any()
    return Document(builder.root, builder.places, shown, digest(content))


def _merge(found: Problems, problems: Problems) -> None:
    try:
        found.raise_if_any()
    except InputError as error:
        problems.extend(error)


def _decode(content: bytes, shown: str) -> str:
    remedy = "Save the file as UTF-8"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise input_error(f"{shown} line 1", "the file is UTF-16 (byte 0 begins its mark), not UTF-8", remedy)
    if b"\0" in content:
        offset = content.index(b"\0")
        raise input_error(
            f"{shown} line {_line(content, offset)}",
            f"there is a NUL character at byte {offset}; is this UTF-16 or not a text file?",
            remedy,
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        offset = error.start + (3 if content.startswith(b"\xef\xbb\xbf") else 0)
        raise input_error(
            f"{shown} line {_line(content, offset)}",
            f"byte {offset} (0x{content[offset]:02x}) is not UTF-8; is it Latin-1 or another encoding?",
            remedy,
        ) from error
    match = re.search("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]", text)
    if match:
        before = text[: match.start()]
        column = match.start() - before.rfind("\n")
        raise input_error(
            f"{shown} line {before.count(chr(10)) + 1}, column {column}",
            f"there is a control character (U+{ord(match.group()):04X})",
            "Remove it; it may be invisible in an editor",
        )
    return text


def _line(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1


# What PyYAML says, and what a person can do about it.
_REMEDIES = {
    "mapping values are not allowed": "Check the indentation; put a text that holds ': ' in quotes",
    "could not find expected ':'": "Write key: value, with a blank after the colon",
    "end of stream": "A quote or bracket is not closed, or the file is cut",
    "<stream end>": "A quote or bracket is not closed, or the file is cut",
    "cannot start any token": "Put a text that begins with this character in quotes",
    "expected ',' or": "Separate items by commas and close the bracket",
    "unknown escape": "Write \\\\ for a backslash, or use single quotes",
}


def _note_syntax(error: yaml.MarkedYAMLError, text: str, shown: str, found: Problems) -> None:
    mark = error.problem_mark or error.context_mark
    what = ", ".join(part for part in (error.problem, error.context) if part)
    where, line = shown, ""
    if mark is not None:
        where = f"{shown} line {mark.line + 1}, column {mark.column + 1}"
        lines = text.split("\n")
        line = lines[mark.line] if mark.line < len(lines) else ""
    remedy = next(
        (remedy for sign, remedy in _REMEDIES.items() if sign in what), "Check indentation and quotes"
    )
    if "\\t" in what or "\t" in line[: len(line) - len(line.lstrip())]:
        remedy = "Indent with spaces; YAML allows no tab there"
    found.add(where, f"not valid YAML: {what}", remedy)


class _StopError(Exception):
    """Reading cannot go on; the problem is noted."""


class _Frame:
    """A mapping or list under construction."""

    def __init__(self, container: dict | list, path: KeyPath, line: int, known: bool = True) -> None:
        self.container = container
        self.path = path
        self.line = line
        self.known = known  # False below a key that is there twice: its places must not replace the first's
        self.key: str | None = None
        self.twice = False
        self.lines: dict[str, int] = {}


class _Builder:
    """Builds the document from PyYAML's events, without recursion.

    PyYAML's own composer follows references, recurses and keeps the last of equal keys.
    """

    def __init__(self, shown: str, problems: Problems) -> None:
        self.shown = shown
        self.problems = problems
        self.places: dict[KeyPath, tuple[int, int]] = {}
        self.root: object = None
        self.unreadable = False
        self.finished = False
        self._documents = 0
        self._frames: list[_Frame] = []

    def take(self, event: yaml.Event) -> None:
        """Take the next event."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._stop(event, "a second document begins here", "Keep one document: remove the line '---'")
        elif isinstance(event, yaml.AliasEvent):
            self._refuse_reference(event, "*")
            self._place(event, Plain(""))
        elif isinstance(event, yaml.ScalarEvent):
            self._check_node(event)
            self._check_characters(event)
            self._place(event, Plain(event.value) if event.style is None else event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._check_node(event)
            if len(self._frames) >= MAXIMUM_DEPTH:
                self._stop(
                    event,
                    f"nested deeper than {MAXIMUM_DEPTH} levels",
                    "Close the brackets; flatten the file",
                )
            self._place(event, {} if isinstance(event, yaml.MappingStartEvent) else [])
        elif isinstance(event, yaml.CollectionEndEvent):
            self._frames.pop()

    def finish(self) -> None:
        """Check the document as a whole."""
        self.finished = True
        if self.unreadable or isinstance(self.root, dict):
            return
        example = "Write key: value lines"
        if self.root is None or (isinstance(self.root, Plain) and not self.root):
            self.problems.add(f"{self.shown} line 1", "the file is empty", example)
        else:
            kind = "a list" if isinstance(self.root, list) else f"the text {quoted(self.root)}"
            self.problems.add(f"{self.shown} line 1", f"the file holds {kind}, not a mapping", example)

    def _where(self, event: yaml.Event) -> str:
        return f"{self.shown} line {event.start_mark.line + 1}, column {event.start_mark.column + 1}"

    def _stop(self, event: yaml.Event, what: str, remedy: str) -> None:
        self.problems.add(self._where(event), what, remedy)
        self.unreadable = True
        raise _StopError

    def _refuse_reference(self, event: yaml.NodeEvent, sign: str) -> None:
        what = f"references ({quoted(sign + event.anchor)}) are not allowed"
        self.problems.add(
            self._where(event), what, f"Write the value out; put a text that begins with {sign} in quotes"
        )
        self.unreadable = True

    def _check_node(self, event: yaml.NodeEvent) -> None:
        if event.anchor is not None:
            self._refuse_reference(event, "&")
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            what = f"tags ({quoted(tag)}) are not allowed"
            self.problems.add(
                self._where(event), what, "Remove the tag; put a text that begins with ! in quotes"
            )
            self.unreadable = True

    def _check_characters(self, event: yaml.ScalarEvent) -> None:
        if any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in event.value):
            what = f"{quoted(event.value)} holds a control character"
            self.problems.add(self._where(event), what, "Remove it")

    def _place(self, event: yaml.Event, value: object) -> None:
        """Put a value where it belongs; a mapping takes key and value in turn."""
        mark = (event.start_mark.line + 1, event.start_mark.column + 1)
        frame = self._frames[-1] if self._frames else None
        if frame is None:
            self.root, path, known = value, (), True
        elif isinstance(frame.container, list):
            path, known = (*frame.path, len(frame.container)), frame.known
            frame.container.append(value)
        elif frame.key is None:
            self._take_key(event, frame, value, mark)
            return
        else:
            path, known = (*frame.path, frame.key), frame.known and not frame.twice
            if not frame.twice:
                frame.container[frame.key] = value
            frame.key = None
        if known:
            self.places.setdefault(path, mark)
        if isinstance(value, dict | list):
            self._frames.append(_Frame(value, path, mark[0], known))

    def _take_key(self, event: yaml.Event, frame: _Frame, key: object, mark: tuple[int, int]) -> None:
        if not isinstance(key, str):
            self._stop(event, "a key must be a text, not a list or mapping", "Write key: value")
        frame.key = str(key)
        frame.twice = frame.key in frame.container
        path = (*frame.path, frame.key)
        if not frame.twice:
            frame.lines[frame.key] = mark[0]
            if frame.known:
                self.places[path] = mark
        elif frame.known:
            first = frame.lines[frame.key]
            what = f"the key is there twice, on line {first} and line {mark[0]}"
            self.problems.add(f"{self.shown} line {mark[0]}, {dotted(path)}", what, "Keep one of them")
