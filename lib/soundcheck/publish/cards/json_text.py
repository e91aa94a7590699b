r"""JSON for other programs, with texts from data that can do no harm on the way.

All is ASCII: what is invisible, or turns the order of letters round, is shown as ``\u202e``. No character
that begins HTML is left, so that the text may stand inside of a page's script element.
"""

from __future__ import annotations

import json

from soundcheck.common.escaping import xml_text

_HTML = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def json_text(content: dict) -> str:
    r"""Write content as JSON with a line feed at its end.

    Parameters
    ----------
    content
        Plain values; the order of keys is kept.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.

    Examples
    --------
    >>> print(json_text({"name": "<b>ü"}), end="")
    {
     "name": "\u003cb\u003e\u00fc"
    }
    """
    return json.dumps(cleaned(content), indent=1, allow_nan=False).translate(_HTML) + "\n"


def cleaned(content: object) -> object:
    """Make control characters, marks of direction and lone surrogates visible in all texts."""
    if isinstance(content, dict):
        return {xml_text(key): cleaned(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [cleaned(value) for value in content]
    return xml_text(content) if isinstance(content, str) else content
