"""Typed fields of the YAML files and the check of a section against its schema.

A *schema* is a pydantic model whose fields use the types below. They take the text of a scalar exactly as
written (:class:`soundcheck.suite.yaml_reader.Plain`), so a model may be called ``no`` or ``1.10`` and a
number is never guessed: ``010``, ``5e-2``, ``0,5`` and ``50%`` are refused with the way to write them.

Conventions
-----------
- A field type is ``Annotated[<Python type>, BeforeValidator]``; a validator raises :func:`wrong` with what is
  wrong and the remedy, both sentences without full stop.
- :func:`check_section` notes every problem of a section and returns ``None`` if a field cannot be used.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Callable, Collection
from typing import Annotated, Any, TypeVar

import pydantic
from pydantic_core import PydanticCustomError

from soundcheck.common.errors import Problems, did_you_mean, nearest
from soundcheck.common.escaping import quoted
from soundcheck.suite.yaml_reader import Document, KeyPath, Plain

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"[-+]?([0-9]{1,300}\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,4})?")
_NUMERIC = re.compile(r"[-+]?\.?[0-9]|[-+]?\.(inf|nan)$", re.IGNORECASE)
_NOTHING = ("", "null", "Null", "NULL", "~")
_SWITCH = ("yes", "no", "on", "off", "y", "n")


def wrong(what: str, remedy: str = "") -> PydanticCustomError:
    """Make the error that a validator raises."""
    return PydanticCustomError("soundcheck", "{what}", {"what": what, "remedy": remedy})


def shown(value: object) -> str:
    """Describe a value for a message."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "nothing" if isinstance(value, Plain) and not value else quoted(value)


def parse_text(value: object, *, lines: bool = False, longest: int = 10_000) -> str:
    """Take a text as written, quoted or not."""
    if not isinstance(value, str):
        raise wrong(f"{shown(value)} stands where a text belongs", "Write one text, in quotes if need be")
    if isinstance(value, Plain) and value in _NOTHING:
        raise wrong("the value is empty", "Leave the key out, or put the text in quotes")
    if not value.strip():
        raise wrong("the text is blank", "Write a text")
    if "\n" in value and not lines:
        raise wrong(f"{quoted(value)} has more than one line", "Write it on one line")
    if len(value) > longest:
        raise wrong(f"the text has {len(value)} characters", f"Use at most {longest}")
    return str(value)


def name_problem(name: str) -> str:
    """Say why a text cannot be the name of a model or corpus; empty if it can."""
    if not any(unicodedata.category(character)[0] not in "ZC" for character in name):
        return "the name is blank"
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name):
        return "the name has a line break or control character"
    return f"the name has {len(name)} characters" if len(name) > 80 else ""


def _number_remedy(text: str) -> str:
    """Say how a number that somebody meant is written."""
    if match := re.fullmatch(r"([-+]?[0-9]+)([eE][-+]?[0-9]+)", text):
        return f"Write {match[1]}.0{match[2]}"
    if re.fullmatch(r"[-+]?[0-9]*,[0-9]+", text):
        return f"Write {text.replace(',', '.')}, with a point"
    if match := re.fullmatch(r"([-+]?[0-9]{1,6}(\.[0-9]{1,6})?) ?%", text):
        return f"Write {float(match[1]) / 100:.10g}"
    if re.fullmatch(r"[-+]?0[0-9]+", text):
        return "Write it without leading zeros"
    if not text:
        return "Write a number such as 0.5, with a point, not a comma"
    return "Write a finite number such as 0.5"


def parse_number(
    value: object, *, low: float = -math.inf, high: float = math.inf, positive: bool = False
) -> float:
    """Read a finite number between two bounds, inclusive."""
    if isinstance(value, str) and not isinstance(value, Plain):
        raise wrong(f"{quoted(value)} is a text in quotes, not a number", "Write it without quotes")
    text = value if isinstance(value, Plain) else ""
    if not _INTEGER.fullmatch(text) and not _DECIMAL.fullmatch(text):
        raise wrong(f"{shown(value)} is not a number", _number_remedy(text))
    number = float(text)
    if not math.isfinite(number):
        raise wrong(f"{quoted(text)} is too large", "Write a finite number")
    if positive and number <= 0:
        raise wrong(f"{quoted(text)} is not above 0", "Write a number above 0")
    if not low <= number <= high:
        raise wrong(f"{quoted(text)} is out of range", f"Give a number from {low:g} to {high:g}")
    return number


def parse_integer(value: object, *, low: int, high: int) -> int:
    """Read a whole number between two bounds, inclusive."""
    allowed = f"Give a whole number from {low} to {high}"
    if isinstance(value, str) and not isinstance(value, Plain):
        raise wrong(f"{quoted(value)} is a text in quotes, not a whole number", f"{allowed}, without quotes")
    text = value if isinstance(value, Plain) else ""
    if not _INTEGER.fullmatch(text):
        leading = re.fullmatch(r"[-+]?0[0-9]+", text)
        remedy = f"{allowed}, without leading zeros" if leading else allowed
        raise wrong(f"{shown(value)} is not a whole number", remedy)
    if not low <= int(text) <= high:
        raise wrong(f"{quoted(text)} is out of range", allowed)
    return int(text)


def parse_boolean(value: object) -> bool:
    """Read ``true`` or ``false``; ``yes``, ``on`` and 1 are refused."""
    if isinstance(value, Plain) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise wrong(f"{shown(value)} is neither true nor false", "Write true or false, without quotes")


def parse_choice(value: object, *, allowed: Collection[str]) -> str:
    """Take one of a few words."""
    if isinstance(value, str) and value in allowed:
        return str(value)
    remedy = did_you_mean(str(value), allowed) if isinstance(value, str) else f"Allowed: {', '.join(allowed)}"
    raise wrong(f"{shown(value)} is not known here", remedy)


def parse_range(value: object) -> tuple[float, float]:
    """Read ``[low, high]``, two numbers with low below high."""
    if not isinstance(value, list) or len(value) != 2:
        raise wrong(f"{shown(value)} is not a pair of numbers", "Write [low, high], for instance [1, 7]")
    low, high = (parse_number(item) for item in value)
    if not low < high:
        raise wrong(f"[{value[0]}, {value[1]}] does not rise", "Write [low, high], the lower number first")
    return low, high


def parse_free(value: object) -> Any:
    """Give plain Python values to an option whose schema only its user knows.

    ``true``, ``false``, numbers and ``null`` are what they say; every other unquoted scalar is a text unless
    it looks like a number or like a truth value.
    """
    if isinstance(value, dict):
        return {key: parse_free(item) for key, item in value.items()}
    if isinstance(value, list):
        return [parse_free(item) for item in value]
    if not isinstance(value, Plain):
        return value
    if value in _NOTHING:
        return None
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if _INTEGER.fullmatch(value):
        return int(value)
    if _NUMERIC.match(value):
        try:
            return parse_number(value)
        except PydanticCustomError as error:
            remedy = f"{error.context['remedy']}, or put it in quotes if it is a text"
            raise wrong(error.context["what"], remedy) from None
    if value.lower() in _SWITCH:
        raise wrong(
            f"{quoted(value)} may be a truth value or a text", "Write true or false, or put it in quotes"
        )
    return str(value)


def _parse_texts(value: object) -> object:
    if isinstance(value, str):
        raise wrong(f"{shown(value)} is not a list", f"Write [{value}]" if value else "Write [first, second]")
    return value


def _parse_names(value: object) -> object:
    if isinstance(value, list) and not value:
        raise wrong("the list is empty", "Write [first, second], or leave the key out")
    return value if isinstance(value, list) else [parse_text(value)]


def parsed(kind: type, parse: Callable, **options: object) -> Any:
    """Make the type of a field that a parser reads."""
    return Annotated[
        kind, pydantic.BeforeValidator(functools.partial(parse, **options) if options else parse)
    ]


Text = parsed(str, parse_text)
Title = parsed(str, parse_text, longest=200)
Prose = parsed(str, parse_text, lines=True)
Number = parsed(float, parse_number)
Boolean = parsed(bool, parse_boolean)
Range = parsed(tuple, parse_range)
Free = parsed(object, parse_free)
Texts = Annotated[list[Text], pydantic.BeforeValidator(_parse_texts)]
Names = Annotated[list[Text], pydantic.BeforeValidator(_parse_names)]  # one text, or a list of them


def whole(low: int, high: int) -> Any:
    """Make the type of a whole number between two bounds."""
    return parsed(int, parse_integer, low=low, high=high)


def number(low: float, high: float, *, positive: bool = False) -> Any:
    """Make the type of a number between two bounds."""
    return parsed(float, parse_number, low=low, high=high, positive=positive)


def choice(*allowed: str) -> Any:
    """Make the type of a word out of a few."""
    return parsed(str, parse_choice, allowed=allowed)


class Section(pydantic.BaseModel):
    """Base of all schemas: strict, frozen, no unknown keys."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)


SectionType = TypeVar("SectionType", bound=Section)

# What pydantic finds itself, in our words.
_MESSAGES = {
    "missing": ("the key is missing", "Add it"),
    "model_type": ("{value} stands where key: value lines belong", "Write key: value lines below it"),
    "dict_type": ("{value} stands where key: value lines belong", "Write key: value lines below it"),
    "list_type": ("{value} is not a list", "Write [first, second]"),
}


def check_section(
    document: Document,
    path: KeyPath,
    value: object,
    schema: type[SectionType],
    problems: Problems,
    *,
    also: Collection[str] = (),
) -> SectionType | None:
    """Check one section of a document and note all its problems.

    Parameters
    ----------
    document
        Where the section comes from; gives lines.
    path
        Place of the section.
    value
        Its content as read.
    schema
        Its schema.
    problems
        Takes the problems.
    also
        Keys that somebody else reads: removed before the check, named as allowed.

    Returns
    -------
    Section or None
        The checked section; unknown keys are noted but do not keep the rest from being used.
    """
    meant = set()  # keys that an unknown key stands for: their absence is not told again
    if isinstance(value, dict):
        allowed = sorted([*schema.model_fields, *also])
        for key in value:
            if key not in allowed:
                problems.add(document.where((*path, key)), "unknown key", did_you_mean(key, allowed))
                meant.add(nearest(key, allowed))
        value = {key: item for key, item in value.items() if key in schema.model_fields}
    try:
        return schema.model_validate(value)
    except pydantic.ValidationError as error:
        for detail in error.errors(include_url=False):
            if detail["type"] == "missing" and detail["loc"][0] in meant:
                continue
            what, remedy = _explain(detail)
            problems.add(document.where((*path, *detail["loc"])), what, remedy)
    return None


def attempt(document: Document, path: KeyPath, problems: Problems, parse: Callable, *values: object) -> Any:
    """Run one of the parsers outside a section; notes the problem and returns ``None`` if it fails."""
    try:
        return parse(*values)
    except PydanticCustomError as error:
        problems.add(document.where(path), error.context["what"], error.context["remedy"])
    return None


def _explain(detail: dict) -> tuple[str, str]:
    if detail["type"] == "soundcheck":
        return detail["ctx"]["what"], detail["ctx"]["remedy"]
    what, remedy = _MESSAGES.get(detail["type"], (detail["msg"], ""))
    return what.format(value=shown(detail["input"])), remedy
