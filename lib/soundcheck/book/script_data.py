"""Data for our scripts, in files that a page loads as a script: from a disk it may load nothing else."""

from __future__ import annotations

import json

from soundcheck.common.escaping import shorten, xml_text


def script(name: str, data: object) -> str:
    r"""Write data as a script that gives them to ours; texts from data are strings and nothing else.

    >>> script("rows", ["</script>"])
    'window.soundcheck.give("rows",["\\u003c/script>"]);\n'
    """
    written = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII: no line breaks of Unicode
    written = written.replace("<", r"\u003c")
    return f"window.soundcheck.give({json.dumps(name)},{written});\n"


def text(value: str) -> str:
    """Shorten a text from data to what a page shows."""
    return xml_text(shorten(value))
