"""Types of the fields of YAML files.

A *section* is a pydantic model or a frozen dataclass whose fields use the types below. Numbers and truth
values are what YAML 1.2 makes of an unquoted scalar; a text field takes the scalar as written, so a model may
be called ``no`` or ``1.10`` (see :class:`soundcheck.suite.yaml_reader.Plain`).

A validator raises :func:`wrong`; :class:`soundcheck.suite.document_reader.DocumentReader` notes it with its
place.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from soundcheck.common.errors import did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.suite.yaml_reader import Plain

# What is unquoted, not a number or truth value, and yet may be meant as one: 010, 0,5, 50%, 1:30, .inf, yes.
_AMBIGUOUS = re.compile(
    r"[-+]?\.?[0-9].*|[-+]?\.(inf|nan)|y|n|yes|no|on|off|true|false", re.IGNORECASE | re.DOTALL
)
_ADDRESS = re.compile(r"https?://[\w.:@-]+(/[\w.~%/+-]*)?")


YAML = "YAML"  # the context of validation in which values are as :func:`read_yaml` gives them


class Section(pydantic.BaseModel):
    """Base of sections that are no dataclasses."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


def entry(kind: type, given: Mapping[str, Any]) -> Any:
    """Make a dataclass of values; what it has no field for goes into its ``options``."""
    fields = {field.name for field in dataclasses.fields(kind)}
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
