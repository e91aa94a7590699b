r"""JSON for other programs, with texts from data that can do no harm on the way.

All is ASCII: what is invisible, or turns the order of letters round, is shown as ``\u202e``. No character
that begins HTML is left, so that the text may stand inside of a page's script element.
"""

from __future__ import annotations

import json

from soundcheck.common.escaping import xml_text

_EMPTY = ("", None, [], {}, ())
_HTML = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def json_text(content: dict) -> str:
    r"""Write content as JSON with a line feed at its end; numbers that are NaN or infinite are refused.

    Examples
    --------
    >>> print(json_text({"name": "<b>ü"}), end="")
    {
     "name": "\u003cb\u003e\u00fc"
    }
    """
    return json.dumps(_cleaned(content), indent=1, allow_nan=False).translate(_HTML) + "\n"


def filled(**values: object) -> dict[str, object]:
    """Keep what is neither empty nor NaN: formats leave out what nobody said."""
    return {name: value for name, value in values.items() if value == value and value not in _EMPTY}


def _cleaned(content: object) -> object:
    """Make control characters, marks of direction and lone surrogates visible in all texts."""
    if isinstance(content, dict):
        return {xml_text(key): _cleaned(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_cleaned(value) for value in content]
    return xml_text(content) if isinstance(content, str) else content
