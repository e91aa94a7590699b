"""Changes a few values in YAML that somebody else wrote; all that is not changed stays, byte for byte.

The YAML is composed to find where things stand, and pieces of the text are replaced. What comes out is
composed again and compared: a form that would come out with any other difference is refused.

Conventions
-----------
- The document is a mapping of the block style; its values may have any form, those of keys that are changed
  must not have anchors or references.
- A *span* is the pair of places in the text between which something stands.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import yaml

from soundcheck.common.errors import InputError, SoundcheckError, input_error
from soundcheck.common.escaping import quoted

MOST_REFERENCES = 20  # more make a small file large
Span = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Yaml:
    """A composed mapping.

    Parameters
    ----------
    text
        The YAML, with line feeds.
    where
        How messages call the file, and the lines above the YAML.
    keys
        Key -> its node and that of its value.
    """

    text: str
    where: tuple[str, int]
    keys: dict[str, tuple[yaml.Node, yaml.Node]]

    @classmethod
    def compose(cls, text: str, shown: str, above: int) -> Yaml:
        """Compose a text.

        Raises
        ------
        InputError
            If it is no YAML, no mapping of the block style, holds a key twice or refers too often.
        """
        try:
            references = sum(
                isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)
            )
            root = yaml.compose(text, yaml.SafeLoader)
            yaml.safe_load(text if references <= MOST_REFERENCES else "")
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise _syntax(error, text, shown, above) from error
        first = f"{shown} line {above + 1}"
        if references > MOST_REFERENCES:
            raise input_error(
                first, f"the metadata refer to themselves {references} times", "Write the values out"
            )
        if root is None:
            return cls(text, (shown, above), {})
        if not isinstance(root, yaml.MappingNode):
            raise input_error(
                first, "the text between the two lines --- is no mapping", "Write key: value lines"
            )
        keys: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in root.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            if name in keys:
                where = f"{shown} line {key.start_mark.line + above + 1}"
                raise input_error(where, f"duplicate key {quoted(name)}", "Keep one of them")
            keys[name] = key, value
        if root.flow_style:
            raise input_error(first, "the metadata are written in braces", "Write key: value lines")
        return cls(text, (shown, above), keys)

    def line(self, node: yaml.Node) -> str:
        """Name the line of a node for a message."""
        return f"{self.where[0]} line {node.start_mark.line + self.where[1] + 1}"

    def value(self, key: str) -> Any:
        """Give the value of a key as data; ``None`` if it is not there."""
        found = yaml.safe_load(self.text) if key in self.keys else {}
        return found.get(key)

    def canonical(self, key: str) -> str:
        """Write the value of a key in a form that depends on nothing but what it holds."""
        return yaml.serialize(self.keys[key][1], Dumper=yaml.SafeDumper)


def dumped(data: object, indent: int = 0) -> str:
    """Write data as block YAML, each line indented, with a line feed at its end."""
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=10**6, default_flow_style=False)
    return re.sub(r"^(?=.)", " " * indent, text, flags=re.MULTILINE)


def one_line(data: object) -> str:
    """Write a text or a list of texts on one line."""
    text = yaml.safe_dump(data, allow_unicode=True, width=10**6, default_flow_style=True)
    return text.removesuffix("\n").removesuffix("\n...")


def last_place(node: yaml.Node, text: str) -> int:
    """Give where the last character of a node stands, not counting comments and blank lines after it."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style:
        end = node.end_mark.index
        while end > node.start_mark.index and text[end - 1] in " \n" and node.style in ("|", ">"):
            end -= 1
        return end
    pairs = (
        node.value if isinstance(node, yaml.SequenceNode) else [one for pair in node.value for one in pair]
    )
    return max([node.start_mark.index, *(last_place(one, text) for one in pairs)])


def spliced(found: Yaml, changes: Mapping[Span, str], new: Mapping[str, Any]) -> Yaml:
    """Replace pieces of the text, and check that nothing else changed.

    Parameters
    ----------
    found
        What is there.
    changes
        Span of the text -> what stands there instead; spans do not overlap.
    new
        Top-level key -> the value that it has afterwards; ``None`` = it is gone. All others stay.

    Raises
    ------
    InputError
        If the text has a form in which this cannot be done.
    """
    text = found.text
    for (begin, end), piece in sorted(changes.items(), reverse=True):
        text = text[:begin] + piece + text[end:]
    shown, above = found.where
    refused = input_error(
        f"{shown} line {above + 1}",
        f"the metadata have a form in which {' and '.join(new)} cannot be changed without changing more",
        "Write key: value lines without anchors, references and tags",
    )
    try:
        became = Yaml.compose(text, shown, above)
        kept = [key for key in found.keys if key not in new]
        wanted = [key for key, value in new.items() if value is not None]
        same = set(became.keys) == {*kept, *wanted}
        same = same and all(became.canonical(key) == found.canonical(key) for key in kept)
        same = same and all(became.value(key) == new[key] for key in wanted)
    except (SoundcheckError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise refused from error
    if not same:
        raise refused
    return became


def appended(found: Yaml, new: Mapping[str, Any]) -> Yaml:
    """Add keys at the end of a text that ends with a line feed or is empty."""
    end = len(found.text)
    return spliced(found, {(end, end): dumped(dict(new))}, new)


def _syntax(error: Exception, text: str, shown: str, above: int) -> InputError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line if mark else 0
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "a value is out of range"
    what = f"the metadata between the two lines --- cannot be read: {reason}"
    return input_error(f"{shown} line {line + above + 1}", what, "Correct them; nothing was written")
