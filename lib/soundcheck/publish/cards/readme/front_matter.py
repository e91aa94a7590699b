"""The metadata at the beginning of a README, between two lines ``---``, as hubs read them.

Ours are the keys that are given here, and of ``model-index`` the results that were made here. Everything else
belongs to somebody else and stays, byte for byte: other keys, their order, comments, results of others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from soundcheck.common.errors import input_error
from soundcheck.publish.cards.readme.index_splice import INDEX, with_results
from soundcheck.publish.cards.readme.marked_block import line_break
from soundcheck.publish.cards.readme.yaml_splice import (
    Span,
    Yaml,
    appended,
    dumped,
    last_place,
    one_line,
    spliced,
)

_ENDS = r"\r\n|\r|\n"
_BLOCK = re.compile(rf"(\ufeff?\s*---(?:{_ENDS}))([\s\S]*?)((?:(?<=[\r\n])|{_ENDS})---[ \t]*(?:{_ENDS}|$))")
_OPENED = re.compile(r"\ufeff?(\s*)---([ \t]*)(?=[\r\n]|$)")


class Parts(NamedTuple):
    """A README in pieces: what opens the metadata, the metadata, what closes them, and the rest.

    Without metadata the first holds a byte order mark or nothing, the next two nothing.
    """

    opening: str
    metadata: str
    closing: str
    body: str

    @property
    def above(self) -> str:
        """What stands before the body."""
        return self.opening + self.metadata + self.closing


def parted(text: str, shown: str) -> Parts:
    """Take a README apart.

    Parameters
    ----------
    text
        The README, line ends as they are.
    shown
        How messages call it.

    Raises
    ------
    InputError
        If the metadata do not end, or begin with a line that hubs do not see.
    """
    opened = _OPENED.match(text)
    if not opened:
        mark = text[:1] if text[:1] == "\ufeff" else ""
        return Parts(mark, "", "", text[len(mark) :])
    line = f"{shown} line {_lines(opened.group(1)) + 1}"
    if opened.group(2):
        raise input_error(line, "there are blanks after ---, so that no hub sees the metadata", "Remove them")
    found = _BLOCK.match(text)
    if not found:
        what = "the metadata begin here and end nowhere"
        raise input_error(line, what, "Close them with a line ---, or begin the file with a heading")
    return Parts(*found.groups(), text[found.end() :])


def updated(parts: Parts, shown: str, own: Mapping[str, Any], model: str, results: list[dict]) -> Parts:
    """Put what is ours into the metadata.

    Parameters
    ----------
    parts
        The README.
    shown
        How messages call it.
    own
        Keys of the top level and their values, texts or lists of texts; a key that is there with another
        value is changed.
    model
        Name of the model, for a ``model-index`` that has none.
    results
        From :func:`soundcheck.publish.model_index.results_of`.

    Raises
    ------
    InputError
        If the metadata are no YAML, or have a form in which they cannot be changed.
    """
    lines = line_break("".join(parts))
    if not parts.closing:
        index = {INDEX: [{"name": model, "results": results}]} if results else {}
        text = dumped({**own, **index}).replace("\n", lines) if own or index else ""
        if not text:
            return parts
        return Parts(f"{parts.opening}---{lines}", text, f"---{lines}", parts.body)
    above = _lines(parts.opening)
    if set(re.findall(_ENDS, parts.metadata)) - {lines}:
        what = "the lines of the metadata end in several ways"
        raise input_error(f"{shown} line {above}", what, "Save the file with one kind of line ends")
    text = parts.metadata.replace(lines, "\n")
    found = Yaml.compose(f"{text}\n" if text else "", shown, above)
    found = _with_keys(
        found, {key: value for key, value in own.items() if not _same(found.value(key), value)}
    )
    found = with_results(found, model, results)
    became = found.text.removesuffix("\n").replace("\n", lines)
    ended = not became or re.match(r"[\r\n]", parts.closing)
    return parts._replace(metadata=became, closing=parts.closing if ended else lines + parts.closing)


def _with_keys(found: Yaml, new: Mapping[str, Any]) -> Yaml:
    """Change the keys that are there, and add the others at the end."""
    changes: dict[Span, str] = {}
    there = {key: value for key, value in new.items() if key in found.keys}
    for key, value in there.items():
        node, old = found.keys[key]
        end = node.end_mark.index
        changes[(end, max(end + 1, last_place(old, found.text)))] = f": {one_line(value)}"
    found = spliced(found, changes, there) if there else found
    missing = {key: value for key, value in new.items() if key not in there}
    return appended(found, missing) if missing else found


def _same(there: Any, wanted: Any) -> bool:
    """Say whether two values mean the same: a list of one text is that text."""
    one, other = (value if isinstance(value, list) else [value] for value in (there, wanted))
    return one == other


def _lines(text: str) -> int:
    return len(re.findall(_ENDS, text))
