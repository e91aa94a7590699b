"""Reads the sections of a YAML document and notes the problems of all, each with its place."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pydantic

from soundcheck.common import resources
from soundcheck.common.errors import Problems, did_you_mean, nearest
from soundcheck.common.escaping import look, quoted, told_apart
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.suite import schema
from soundcheck.suite.paths import find_place
from soundcheck.suite.yaml_reader import Document, Plain

_MAPPING = ("{value} is not a mapping", "Write key: value lines below it")
_MESSAGES = {  # of pydantic's errors
    "soundcheck": ("{what}", "{remedy}"),
    "missing": ("the key is missing", "Add it"),
    "extra_forbidden": ("unknown key", "Remove it"),
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

    def check(self, path: tuple, value: object, kind: Any, meant: Collection[str] = ()) -> Any:
        """Check a value against the type of a field.

        - ``path, value``: place of the value, and the value as read; ``None`` = the key is not there.
        - ``kind``: its type, see :mod:`soundcheck.suite.schema`.
        - ``meant``: keys whose absence is not told.
        - Returns the value, ``None`` if it cannot be used; all its problems are noted.
        """
        if value is None:
            return None
        try:
            return _adapter(kind).validate_python(value, context=schema.YAML)
        except pydantic.ValidationError as error:
            for detail in error.errors(include_url=False):
                missing, place, given = detail["type"] == "missing", detail["loc"], value
                if missing and place[0] in meant:
                    continue
                with contextlib.suppress(LookupError, TypeError):  # the name of a type is not a key
                    for part in () if missing else place:
                        given = given[part]  # as written, not as converted
                empty = isinstance(given, Plain) and not given
                words = detail.get("ctx", {}) | {"value": schema.display(given), "msg": detail["msg"]}
                what, remedy = (text.format(**words) for text in _MESSAGES.get(detail["type"], ("{msg}", "")))
                self.note((*path, *place), "the value is empty" if empty else what, remedy)
        return None

    def section(
        self,
        path: tuple,
        value: object,
        kind: type,
        also: Collection[str] = (),
        more: Mapping[str, object] = MappingProxyType({}),
        needed: Collection[str] = (),
    ) -> Any:
        """Check a section against its schema. Unknown keys are noted, and the rest is used.

        - ``also``: keys that are read by somebody else.
        - ``more``: fields that are no keys of the file.
        - ``needed``: keys that must be there although their fields have a default.
        """
        meant = set()  # keys that an unknown key stands for
        if isinstance(value, dict):
            fields = kind.__dataclass_fields__ if dataclasses.is_dataclass(kind) else kind.model_fields
            keys = [key for key in fields if key not in more]
            allowed = sorted([*keys, *also])
            for key in [key for key in value if key not in allowed]:
                self.note((*path, key), "unknown key", did_you_mean(key, allowed))
                meant.add(nearest(key, allowed))
            for key in needed:
                if key not in value and key not in meant:
                    self.note((*path, key), *_MESSAGES["missing"])
            value = {**more, **{key: item for key, item in value.items() if key in keys}}
        return self.check(path, value, kind, meant)

    def entries(self, *path: str, needed: bool = False) -> list[tuple[str, object]]:
        """List the named entries of a section, names checked."""
        value = functools.reduce(dict.get, path, self.document.data)
        if value is None:
            if needed:
                self.note(path, "the key is missing", f"Name at least one of the {path[-1]}")
            return []
        if not isinstance(value, dict) or not value:
            empty = isinstance(value, dict | str) and not value
            what = "the section is empty" if empty else f"{schema.display(value)} is not a mapping of names"
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
            reason = schema.name_problem(name)
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
                self.note((*path, place), f"unknown {what} {schema.display(item)}", remedy)
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
        chosen: type | None,
        common: type[schema.Section],
        known: Mapping[str, type],
        what: str,
        also: Collection[str] = (),
    ) -> Any:
        """Check an entry against the keys of its kind or format.

        - ``chosen``: the class that it belongs to; ``None`` = nobody knows, only the common keys are checked.
        - ``known``: all classes; a key that only others take gets a message of its own.
        - ``what``: how messages call the class, such as ``"format"``.
        - ``also``: keys that are read elsewhere.
        """
        keys = (chosen.keys if chosen else None) or common
        allowed = (*keys.model_fields, *also)
        if isinstance(value, dict) and any(key not in allowed for key in value):
            others = {key for other in known.values() for key in (other.keys or common).model_fields}
            foreign = [key for key in value if key in others and key not in allowed]
            for key in foreign if chosen else ():
                remedy = f"Remove it. Allowed: {', '.join(allowed)}"
                self.note((*path, key), f"{what} {chosen.keyword} does not take this key", remedy)
            value = {key: item for key, item in value.items() if key not in foreign}
        return self.section(path, value, keys, also)

    def read_path(self, path: tuple, text: str, *, folder: bool | None) -> Path | None:
        """Find a file or folder that the suite names; ``None`` = either."""
        if folder is None:
            folder = (self.root / os.path.expanduser(text)).is_dir()
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
            bounds = self.check(path, value, schema.Scale)
            return dict.fromkeys(regression, bounds) if bounds else {}
        for task in [task for task in value if task not in regression]:
            self.note((*path, task), "not a regression task", did_you_mean(task, regression))
        known = [task for task in value if task in regression]
        ranges = {task: self.check((*path, task), value[task], schema.Scale) for task in known}
        return {task: bounds for task, bounds in ranges.items() if bounds}
