r"""Records for other programs: YAML files in ``templates/cards`` say which value stands where.

- A text that begins with ``=`` is an expression of Jinja2. ``each: one in many`` repeats an item of a list.
- What is empty or NaN is left out: no format has a place for what nobody said.
- JSON is ASCII: what is invisible, or turns the order of letters round, is shown as ``\u202e``. No character
  that begins HTML is left, so that the text may stand inside of a page's script element.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

import jinja2
import yaml

from soundcheck.common import templates
from soundcheck.common.escaping import xml_text

_EMPTY = ("", None, [], {}, ())
_HTML = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def record(name: str, filters: Mapping[str, Callable], **values: object) -> dict[str, Any]:
    """Make the record of a file from values, which its expressions name."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    environment.filters |= filters
    expression = functools.cache(environment.compile_expression)
    layout = yaml.safe_load((templates.FOLDER / "cards" / f"{name}.yml").read_text("utf-8"))

    def made(part: object, values: Mapping) -> object:
        if isinstance(part, str):
            return expression(part[1:])(**values) if part.startswith("=") else part
        if isinstance(part, dict):
            return filled(**{key: made(value, values) for key, value in part.items() if key != "each"})
        return [one for item in part for one in items(item, values)] if isinstance(part, list) else part

    def items(item: dict, values: Mapping) -> list:
        if "each" not in item:
            return [made(item, values)]
        names, _, many = item["each"].partition(" in ")
        names = names.split(", ")
        rows = (one if len(names) > 1 else (one,) for one in expression(many)(**values))
        return [made(item, {**values, **dict(zip(names, one, strict=True))}) for one in rows]

    return made(layout, values)


def filled(**values: object) -> dict[str, object]:
    """Keep what is neither empty nor NaN, of lists, too."""
    cleaned = {
        name: [one for one in value if one not in _EMPTY] if isinstance(value, list) else value
        for name, value in values.items()
    }
    return {name: value for name, value in cleaned.items() if value == value and value not in _EMPTY}


def json_text(content: dict) -> str:
    r"""Write content as JSON with a line feed at its end; numbers that are NaN or infinite are refused.

    >>> print(json_text({"name": "<b>ü"}), end="")
    {
     "name": "\u003cb\u003e\u00fc"
    }
    """
    return json.dumps(_cleaned(content), indent=1, allow_nan=False).translate(_HTML) + "\n"


def _cleaned(content: object) -> object:
    """Make control characters, marks of direction and lone surrogates visible in all texts."""
    if isinstance(content, dict):
        return {xml_text(key): _cleaned(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_cleaned(value) for value in content]
    return xml_text(content) if isinstance(content, str) else content
