"""The part of a text file that is ours, between two markers; everything else stays as it is, byte for byte.

Each marker is an HTML comment on a line of its own. Where none is there the block is put at the end.
"""

from __future__ import annotations

import re

from soundcheck.common.errors import Problems
from soundcheck.common.escaping import quoted

BEGIN, END = "<!-- soundcheck:begin -->", "<!-- soundcheck:end -->"
_ANY = re.compile(r"<!--[ \t]*soundcheck[ \t]*:[^\r\n]*", re.IGNORECASE)
_BREAK = re.compile(r"\r\n|\n|\r")


def line_break(text: str) -> str:
    r"""Give what the first line of a text ends with; ``"\n"`` if it has only one."""
    found = _BREAK.search(text)
    return found.group() if found else "\n"


def replaced(text: str, block: str, shown: str, before: str = "") -> str:
    """Put a block between the markers of a text.

    Parameters
    ----------
    text
        The text, line breaks as they are.
    block
        What belongs between the markers, with line feeds and without markers.
    shown
        How messages call the file.
    before
        What stands in the file before the text, so that messages name the right line.

    Raises
    ------
    InputError
        If a marker is broken, alone, there twice or in the wrong order; names all lines.
    """
    found = list(_ANY.finditer(text))
    _check(found, text, shown, len(_BREAK.findall(before)))
    lines = line_break(before + text)
    ours = _BREAK.sub(lines, f"{BEGIN}\n{block.strip()}\n{END}")
    if found:
        first, last = (found[place].start() for place in (0, 1))
        return text[:first] + ours + text[last + len(END) :]
    if not text:
        return ours + lines
    ended = text.endswith(("\n", "\r"))
    return text + (lines if ended else 2 * lines) + ours + lines


def _check(found: list[re.Match], text: str, shown: str, above: int) -> None:
    problems = Problems()
    kinds = []
    for match in found:
        start = max(text.rfind(sign, 0, match.start()) for sign in "\r\n") + 1
        whole = text[start : match.end()]
        where = f"{shown} line {_line(text, match) + above}"
        if whole.strip(" \t") in (BEGIN, END):
            kinds.append((whole.strip(" \t"), where))
        else:
            what = f"{quoted(whole.strip())} is no marker, or not alone on its line"
            problems.add(where, what, f"Write {BEGIN} or {END} on a line of its own, or remove it")
    problems.raise_if_any()
    for wanted in (BEGIN, END):
        for _, where in [one for one in kinds if one[0] == wanted][1:]:
            problems.add(where, f"the marker {wanted} is there twice", "Keep one of them")
    problems.raise_if_any()
    if len(kinds) == 1:
        kind, where = kinds[0]
        other = END if kind == BEGIN else BEGIN
        problems.add(where, f"the marker {kind} is alone", f"Add {other}, or remove it")
    elif kinds and kinds[0][0] == END:
        what = f"the marker {END} stands before {BEGIN}"
        problems.add(kinds[0][1], what, "Swap them, or remove both")
    problems.raise_if_any()


def _line(text: str, match: re.Match) -> int:
    return len(_BREAK.findall(text, 0, match.start())) + 1
