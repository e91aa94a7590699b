"""YAML files: read with the place of every key; types of their fields; readers that note all problems.

PyYAML parses; what a text means is left to whoever knows what belongs there.

- A quoted scalar is a ``str``; an unquoted one is a :class:`Plain`, whose value YAML 1.2 tells: ``no`` is a
  text, ``5e-2`` a number. A text field takes it as written, so a model may be called ``no`` or ``1.10``.
- A *path* is the tuple of keys and list positions (from 0) that leads to a value.
- Lines and columns count from 1.
- Refused: anything but UTF-8, control characters, tags, anchors and references, duplicate keys, deep
  nesting, several documents, a document that is not a mapping.
- A *section* is a frozen dataclass whose fields use the types below, see :class:`Section`.
- A validator raises :func:`wrong`; :class:`DocumentReader` notes it with its place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, TypeVar

import pydantic
import yaml
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from soundcheck.common import resources
from soundcheck.common.files import digest, require_regular
from soundcheck.common.messages import Problems, did_you_mean, input_error, look, nearest, quoted, told_apart
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.suite.paths import find_place

# Documents --------------------------------------------------------------------------------------------------

MAXIMUM_BYTES = 1024**2
MAXIMUM_DEPTH = 30

KeyPath = tuple[str | int, ...]
T = TypeVar("T")

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
            self.note(error.problem_mark or error.context_mark, *_syntax_problem(error))
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
            if sign := getattr(event, "anchor", None) or getattr(event, "tag", None):
                what = f"references and tags ({quoted(sign)}) are not allowed"
                remedy = "Write the value out; put a text that begins with &, * or ! in quotes"
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


def _syntax_problem(error: yaml.MarkedYAMLError) -> tuple[str, str]:
    """Say why a text is no YAML, and what a person can do about it."""
    what = ", ".join(part for part in (error.context, error.problem) if part)
    remedy = "Check that brackets and quotes are closed, and the indentation, which takes no tab"
    return f"not valid YAML: {what}", f"{remedy}; put a text with ': ' or special characters in quotes"


# Types ------------------------------------------------------------------------------------------------------

# What is unquoted, not a number or truth value, and yet may be meant as one: 010, 0,5, 50%, 1:30, .inf, yes.
_AMBIGUOUS = re.compile(
    r"[-+]?\.?[0-9].*|[-+]?\.(inf|nan)|y|n|yes|no|on|off|true|false", re.IGNORECASE | re.DOTALL
)
_ADDRESS = re.compile(r"https?://[\w.:@-]+(/[\w.~%/+-]*)?")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)

YAML = "YAML"  # the context of validation in which values are as :func:`read_yaml` gives them


class Section:
    """Base of sections that others extend: each subclass is a frozen dataclass, by itself.

    Its fields are given by name, unless it says ``kw_only=False``; a default may be an empty dict or list.
    """

    apart: ClassVar[tuple[str, ...]] = ()  # further keys, which functions read that know more of the file

    def __init_subclass__(cls, *, kw_only: bool = True) -> None:
        for name in cls.__annotations__:
            if isinstance(default := vars(cls).get(name), dict | list):
                setattr(cls, name, dataclasses.field(default_factory=default.copy))
        dataclasses.dataclass(frozen=True, kw_only=kw_only)(cls)


def keys_of(section: type[Section]) -> tuple[str, ...]:
    """List the keys that may be written in a section."""
    return (*(field.name for field in dataclasses.fields(section)), *section.apart)


def entry(kind: type[T], keys: Section, /, **more: Any) -> T:
    """Make an entry of keys and of what was found out; what it has no field for goes into its ``options``."""
    fields = {field.name for field in dataclasses.fields(kind)}
    given = {**vars(keys), **more}
    options = {key: value for key, value in given.items() if key not in fields}
    return kind(options=options, **{key: value for key, value in given.items() if key in fields})


def wrong(what: str, remedy: str = "") -> PydanticCustomError:
    """Make the error that a validator raises, of sentences without full stop."""
    return PydanticCustomError("soundcheck", "{what}", {"what": what, "remedy": remedy})


def display(value: object) -> str:
    """Describe a value for a message."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return "nothing" if isinstance(value, Plain) and not value else quoted(value)


def name_problem(name: str) -> str:
    """Say why a text cannot be the name of a model or corpus; empty if it can."""
    categories = {unicodedata.category(character) for character in name}
    if all(category[0] in "ZC" for category in categories):
        return "the name is blank"
    if categories & {"Cc", "Cs", "Zl", "Zp"}:
        return "the name has a line break or control character"
    return f"the name has {len(name)} characters" if len(name) > 80 else ""


def plain_value(value: object) -> object:
    """Give the value of an unquoted scalar; anything else stays as it is."""
    return value.value if isinstance(value, Plain) else value


def free_value(value: object) -> Any:
    """Give plain Python values to an option whose schema only its user knows.

    What is unquoted and may be meant as a number or truth value without being one is refused.
    """
    if isinstance(value, dict):
        return {key: free_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [free_value(item) for item in value]
    given = plain_value(value)
    if isinstance(value, Plain) and isinstance(given, str) and _AMBIGUOUS.fullmatch(given):
        what = f"{quoted(given)} may be a number, a truth value or a text"
        raise wrong(what, "Write a number such as 0.5, true or false, or put it in quotes if it is a text")
    return given


def parsed(kind: Any, parse: Callable[[object], object]) -> Any:
    """Make the type of a field whose value in a YAML file a function reads; a record holds what it made."""

    def read(value: object, info: pydantic.ValidationInfo) -> object:
        return parse(value) if info.context else value

    return Annotated[kind, BeforeValidator(read)]


def _check_text(value: object, *, lines: bool = False) -> object:
    if isinstance(value, Plain) and value.value is None:
        raise wrong("the value is empty", "Leave the key out, or put the text in quotes")
    if isinstance(value, str) and not value.strip():
        raise wrong("the text is blank", "Write a text")
    if isinstance(value, str) and "\n" in value and not lines:
        raise wrong(f"{quoted(value)} has more than one line", "Write it on one line")
    return value


def _check_text_or_nothing(value: object) -> object:
    nothing = isinstance(value, str) and not isinstance(value, Plain) and not value
    return value if nothing else _check_text(value)


def _check_address(value: str) -> str:
    if not _ADDRESS.fullmatch(value):
        raise wrong(f"{quoted(value)} is no web address", "Write one such as https://example.org/handbook")
    return value


def _read_hub_id(value: object) -> object:
    if isinstance(value, str) and _HUB_ID.fullmatch(value) and ".." not in value:
        return str(value)
    raise wrong(f"{display(value)} is no name on a hub", "Write owner/name")


def choice(*allowed: str) -> Any:
    """Make the type of a word out of a few."""

    def check(value: str) -> str:
        if value not in allowed:
            raise wrong(f"{quoted(value)} is not known here", did_you_mean(value, allowed))
        return value

    return Annotated[str, AfterValidator(check)]


_LONG = Annotated[str, Field(max_length=10_000)]
Title = parsed(Annotated[str, Field(max_length=200)], _check_text)
Text = parsed(_LONG, _check_text)
TextOrNothing = parsed(_LONG, _check_text_or_nothing)  # nothing: quotes with nothing between them
Prose = parsed(_LONG, functools.partial(_check_text, lines=True))
Address = Annotated[Text, AfterValidator(_check_address)]
HubId = parsed(str, _read_hub_id)
_TEXT = pydantic.TypeAdapter(Text)


def _read_names(value: object) -> object:
    return value if isinstance(value, list) else [_TEXT.validate_python(value, context=YAML)]


Texts = tuple[Text, ...]
Names = parsed(Annotated[tuple[Text, ...], Field(min_length=1)], _read_names)  # or a single text


def _bounded(kind: type, noun: str, low: float, high: float, positive: bool) -> Any:
    def check(value: float) -> float:
        if positive and value <= 0:
            raise PydanticCustomError("not_above_0", "not above 0")
        if not low <= value <= high:
            allowed = f"a {noun} from {low:.10g} to {high:.10g}"
            raise PydanticCustomError("out_of_range", "out of range", {"allowed": allowed})
        return value

    return Annotated[parsed(Annotated[kind, pydantic.Strict()], plain_value), AfterValidator(check)]


def whole(low: int, high: int) -> Any:
    """Make the type of a whole number between two bounds, inclusive."""
    return _bounded(int, "whole number", low, high, False)


def number(low: float = -math.inf, high: float = math.inf, *, positive: bool = False) -> Any:
    """Make the type of a finite number between two bounds, inclusive."""
    return _bounded(float, "number", low, high, positive)


def _read_pair(value: object) -> object:
    if not isinstance(value, list) or len(value) != 2:
        raise wrong(f"{display(value)} is not a pair of numbers", "Write [low, high], for instance [1, 7]")
    return value


def _check_rise(pair: tuple[float, float]) -> tuple[float, float]:
    if not pair[0] < pair[1]:
        raise wrong(f"[{pair[0]:g}, {pair[1]:g}] does not rise", "Write [low, high], the lower number first")
    return pair


def _check_scale(pair: tuple[float, float]) -> tuple[float, float]:
    if pair[0] == pair[1]:
        raise wrong(f"both ends are {pair[0]:g}", "Write the end that is shown as 0, then the one shown as 1")
    return pair


Number = number()
Boolean = parsed(Annotated[bool, pydantic.Strict()], plain_value)
_PAIR = parsed(tuple[Number, Number], _read_pair)
Range = Annotated[_PAIR, AfterValidator(_check_rise)]
Scale = Annotated[_PAIR, AfterValidator(_check_scale)]
Free = parsed(object, free_value)


# Readers ----------------------------------------------------------------------------------------------------

_MAPPING = ("{value} is not a mapping", "Write key: value lines below it")
_MESSAGES = {  # of pydantic's errors
    "soundcheck": ("{what}", "{remedy}"),
    "missing": ("the key is missing", "Add it"),
    **dict.fromkeys(("model_type", "dataclass_type", "dict_type"), _MAPPING),
    **dict.fromkeys(("list_type", "tuple_type"), ("{value} is not a list", "Write [first, second]")),
    "too_short": ("the list is empty", "Write [first, second], or leave the key out"),
    "string_type": ("must be text, not {value}", "Write one text, in quotes if need be"),
    "string_too_long": ("the text is too long", "Use at most {max_length} characters"),
    "int_type": ("{value} is not a whole number", "Write one such as 100, without quotes or leading zeros"),
    "float_type": ("{value} is not a number", "Write one such as 0.5, with a point and without quotes"),
    "bool_type": ("{value} is neither true nor false", "Write true or false, without quotes"),
    "out_of_range": ("{value} is out of range", "Give {allowed}"),
    "not_above_0": ("{value} is not above 0", "Write a number above 0"),
}
_adapter = functools.cache(pydantic.TypeAdapter)


class DocumentReader:
    """What readers of suites and of threshold files have in common."""

    def __init__(self, document: Document, problems: Problems) -> None:
        self.document = document
        self.problems = problems

    def note(self, path: tuple, what: str, remedy: str = "") -> None:
        """Note a problem at a place of the file."""
        self.problems.add(self.document.where(path), what, remedy)

    def check(
        self,
        path: tuple,
        value: object,
        kind: Any,
        also: Collection[str] = (),
        more: Mapping[str, object] = MappingProxyType({}),
        needed: Collection[str] = (),
    ) -> Any:
        """Check a value against the type of a field, or a mapping against its section.

        Unknown keys of a section are noted, and the rest is used.

        - ``path, value``: place of the value, and the value as read; ``None`` = the key is not there.
        - ``kind``: its type, see above, or a section.
        - ``also``: keys of a section that are read by somebody else.
        - ``more``: fields of a section that are no keys of the file.
        - ``needed``: keys of a section that must be there although their fields have a default.
        - Returns the value, ``None`` if it cannot be used; all its problems are noted.
        """
        if value is None:
            return None
        meant = set()  # keys that an unknown key stands for
        if dataclasses.is_dataclass(kind) and isinstance(value, dict):
            keys = [field.name for field in dataclasses.fields(kind) if field.name not in more]
            allowed = sorted([*keys, *also, *getattr(kind, "apart", ())])
            for key in [key for key in value if key not in allowed]:
                self.note((*path, key), "unknown key", did_you_mean(key, allowed))
                meant.add(nearest(key, allowed))
            for key in needed:
                if key not in value and key not in meant:
                    self.note((*path, key), *_MESSAGES["missing"])
            value = {**more, **{key: item for key, item in value.items() if key in keys}}
        try:
            return _adapter(kind).validate_python(value, context=YAML)
        except pydantic.ValidationError as error:
            for detail in error.errors(include_url=False):
                missing, place, given = detail["type"] == "missing", detail["loc"], value
                if missing and place[0] in meant:
                    continue
                with contextlib.suppress(LookupError, TypeError):  # the name of a type is not a key
                    for part in () if missing else place:
                        given = given[part]  # as written, not as converted
                empty = isinstance(given, Plain) and not given
                words = detail.get("ctx", {}) | {"value": display(given), "msg": detail["msg"]}
                what, remedy = (text.format(**words) for text in _MESSAGES.get(detail["type"], ("{msg}", "")))
                self.note((*path, *place), "the value is empty" if empty else what, remedy)
        return None

    def entries(self, *path: str, needed: bool = False) -> list[tuple[str, object]]:
        """List the named entries of a section, names checked."""
        value = functools.reduce(dict.get, path, self.document.data)
        if value is None:
            if needed:
                self.note(path, "the key is missing", f"Name at least one of the {path[-1]}")
            return []
        if not isinstance(value, dict) or not value:
            empty = isinstance(value, dict | str) and not value
            what = "the section is empty" if empty else f"{display(value)} is not a mapping of names"
            self.note(path, what, "Write name: {...}, at least one")
            return []
        self.check_names(path, value)
        return list(value.items())

    def check_possible(self, path: tuple, threshold: float, limits: tuple[float, float] | None) -> None:
        """Note a threshold that no score can be on either side of."""
        if limits and not limits[0] <= threshold <= limits[1]:
            what = f"{threshold:g} is impossible, scores lie from {limits[0]:g} to {limits[1]:g}"
            self.note(path, what, "Give a threshold in between")

    def check_names(self, path: tuple, names: Sequence[object]) -> None:
        """Note names that cannot be names, and those that look like one before them."""
        seen: dict[str, str] = {}
        for name in names:
            alike = seen.setdefault(look(str(name)), name)
            reason = name_problem(name)
            if reason:
                self.note((*path, name), reason, "Use 1 to 80 characters on one line")
            elif alike != name:
                what = f"{' and '.join(told_apart(alike, name))} look the same"
                self.note((*path, name), what, "Give them names that readers can tell apart")

    def known_names(
        self, path: tuple, value: Collection, known: Collection[str], what: str
    ) -> tuple[str, ...]:
        """Take a list of different known names, or the known keys of a mapping."""
        places = value if isinstance(value, Mapping) else range(len(value))
        for place, item in zip(places, value, strict=True):
            if item not in known:
                remedy = did_you_mean(str(item), known)
                self.note((*path, place), f"unknown {what} {display(item)}", remedy)
        names = tuple(str(item) for item in value if item in known)
        self.check_repeated(path, names)
        return names

    def check_repeated(self, path: tuple, names: Sequence[str]) -> None:
        """Note duplicate names."""
        for name in sorted({name for name in names if names.count(name) > 1}):
            self.note(path, f"duplicate {quoted(name)}", "Name it once")


class EntryReader(DocumentReader):
    """Reads entries of one suite."""

    def __init__(self, document: Document, problems: Problems, file: Path) -> None:
        super().__init__(document, problems)
        self.file = file
        self.root = file.parent
        self.tasks: dict[str, Task] = dict(BUILTIN)
        self.families = resources.names("thresholds", ".yml", first=self.root)

    def read_keys(
        self,
        path: tuple,
        value: object,
        chosen: type,
        known: Mapping[str, type],
        what: str,
        also: Collection[str] = (),
        needed: Collection[str] = (),
    ) -> Any:
        """Check an entry against the keys of its kind or format.

        - ``chosen``: the class that it belongs to; without keyword the base of all, if nobody knows.
        - ``known``: all classes; a key that only others take gets a message of its own.
        - ``what``: how messages call the class, such as ``"format"``.
        - ``also, needed``: as for :meth:`check`.
        """
        allowed = (*keys_of(chosen.keys), *also)
        if isinstance(value, dict) and any(key not in allowed for key in value):
            others = {key for other in known.values() for key in keys_of(other.keys)}
            foreign = [key for key in value if key in others and key not in allowed]
            for key in foreign if chosen.keyword else ():
                remedy = f"Remove it. Allowed: {', '.join(allowed)}"
                self.note((*path, key), f"{what} {chosen.keyword} does not take this key", remedy)
            value = {key: item for key, item in value.items() if key not in foreign}
        return self.check(path, value, chosen.keys, also, needed=needed)

    def read_path(self, path: tuple, text: str, *, folder: bool | None) -> Path | None:
        """Find a file or folder that the suite names; ``None`` = either."""
        if folder is None:
            folder = os.path.isdir(self.root / os.path.expanduser(text))
            folder |= find_place(self.file, text, folder=True)[0] is not None  # in a package
        place, what, remedy = find_place(self.file, text, folder=folder)
        if what:
            self.note(path, what, remedy)
        return place

    def read_ranges(
        self, path: tuple, value: object, tasks: Iterable[Task]
    ) -> dict[str, tuple[float, float]]:
        """Read the scale of labels or predictions: one for all regression tasks, or one a task."""
        regression = [task.name for task in tasks if task.is_regression]
        if value is None:
            return {}
        if not isinstance(value, dict):
            bounds = self.check(path, value, Scale)
            return dict.fromkeys(regression, bounds) if bounds else {}
        for task in [task for task in value if task not in regression]:
            self.note((*path, task), "not a regression task", did_you_mean(task, regression))
        known = [task for task in value if task in regression]
        ranges = {task: self.check((*path, task), value[task], Scale) for task in known}
        return {task: bounds for task, bounds in ranges.items() if bounds}
