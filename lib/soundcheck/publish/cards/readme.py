"""The README of a model: our keys in its metadata, our results in ``model-index``, our block in the text.

Everything else belongs to others. Keys that need no change keep their bytes; in those that do, comments,
quotes and order stay, while indentation may become regular. What cannot be changed without changing more is
refused, and so are markers of the block that are no pair.
"""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Mapping
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from soundcheck.common.errors import InputError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.publish.cards.model_index import INDEX, is_ours

BEGIN, END = "<!-- soundcheck:begin -->", "<!-- soundcheck:end -->"
_MOST_REFERENCES = 20  # more make a small file large
_BREAK = r"(?:\r\n|\r|\n)"
_OPENED = re.compile(rf"(\ufeff?\s*?)---([ \t]*)(?:{_BREAK}|\Z)")
_METADATA = re.compile(rf"(\ufeff?\s*?---{_BREAK})((?:.*?{_BREAK})??)(---[ \t]*(?:{_BREAK}|\Z))", re.DOTALL)
_MARKER = re.compile(r"<!--[ \t]*soundcheck[ \t]*:", re.IGNORECASE)
_BELOW = re.compile(r"(^[ \t]*(#.*)?\n)*\Z", re.MULTILINE)  # comments and blank lines at the end
_FAILURES = (yaml.YAMLError, YAMLError, ValueError, RecursionError)


def updated(
    text: str, shown: str, own: Mapping[str, Any], model: str, results: list[dict], block: str
) -> str:
    """Put what is ours into a README, which may be empty.

    Parameters
    ----------
    text
        The README, line ends as they are.
    shown
        How messages call it.
    own
        Keys of the metadata and their values, texts or lists of texts.
    model
        Name of the model. Results go to its entry of ``model-index``, else to the only one, else a new one.
    results
        From :func:`soundcheck.publish.cards.model_index.results_of`; ours that are there are taken out.
    block
        Markdown between the markers.

    Raises
    ------
    InputError
        If the metadata cannot be read or changed, or the markers are no pair.
    """
    first = re.search(_BREAK, text)
    lines = first.group() if first else "\n"
    opening, metadata, closing = _parted(text, shown)
    body = text[len(opening + metadata + closing) :]
    above = len(re.findall(_BREAK, opening))
    plain = re.sub(_BREAK, "\n", metadata)
    changed = _with_ours(plain, shown, above, own, model, results)
    if changed != plain:
        metadata = changed.replace("\n", lines)
    if metadata and not closing:
        opening, closing = f"{opening}---{lines}", f"---{lines}"
    body = _with_block(body, block, lines, shown, len(re.findall(_BREAK, text[: len(text) - len(body)])))
    return opening + metadata + closing + body


def dumped(data: object) -> str:
    """Write data as block YAML, which programs for YAML 1.1 and 1.2 read alike."""
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=10**6)


def _parted(text: str, shown: str) -> tuple[str, str, str]:
    """Give what opens the metadata, the metadata and what closes them; without them a byte order mark."""
    opened, found = _OPENED.match(text), _METADATA.match(text)
    if not opened:
        return text[: text.startswith("\ufeff")], "", ""
    line = f"{shown} line {len(re.findall(_BREAK, opened[1])) + 1}"
    if opened[2]:
        raise input_error(line, "there are blanks after ---, so that no hub sees the metadata", "Remove them")
    if not found:
        what = "the metadata begin here and end nowhere"
        raise input_error(line, what, "Close them with a line ---, or begin the file with a heading")
    return found[1], found[2], found[3]


def _with_ours(
    text: str, shown: str, above: int, own: Mapping[str, Any], model: str, results: list[dict]
) -> str:
    there, sections = _read(text, shown, above)
    wanted = there | {key: value for key, value in own.items() if _listed(there.get(key)) != _listed(value)}
    index = copy.deepcopy(there.get(INDEX)) or []
    if not isinstance(index, list) or not all(map(_is_entry, index)):
        line = text[: text.find(sections[INDEX])].count("\n") + above + 1
        raise input_error(f"{shown} line {line}", f"{INDEX} is no list of models with results", "Correct it")
    _merge(index, model, results)
    if index != (there.get(INDEX) or []):
        wanted[INDEX] = index
        if not index:
            del wanted[INDEX]
    if wanted == there:
        return text
    first = f"{shown} line {above + 1}"
    try:
        for key in [key for key in there | wanted if there.get(key) != wanted.get(key)]:
            new = None if key not in wanted else results if key == INDEX else wanted[key]
            sections[key] = _rewritten(sections.get(key, ""), key, new, model)
        made = "".join(sections.values())
        kept = _read(made, shown, above)[0] == wanted
    except (InputError, *_FAILURES):
        kept = False
    if not kept:
        what = "the metadata have a form in which our keys cannot be changed without changing more"
        raise input_error(first, what, "Write key: value lines without anchors, references and tags")
    return made


def _read(text: str, shown: str, above: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Read metadata: as data, and the piece of text of each key, comments below it included."""
    try:
        references = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader))
        root = yaml.compose(text, yaml.SafeLoader)
        data = yaml.safe_load(text) if references <= _MOST_REFERENCES else None
    except _FAILURES as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line if mark else text.count("\n", 0, getattr(error, "position", 0))
        why = getattr(error, "problem", None) or getattr(error, "reason", None) or "a value is out of range"
        what = f"the metadata between the two lines --- cannot be read: {why}"
        raise input_error(f"{shown} line {line + above + 1}", what, "Correct them") from error
    first = f"{shown} line {above + 1}"
    if references > _MOST_REFERENCES:
        what = f"the metadata refer to themselves {references} times"
        raise input_error(first, what, "Write the values out")
    if root is None:
        return {}, {"": text}
    if not isinstance(data, dict) or root.flow_style:
        what = "the text between the two lines --- is no list of lines key: value"
        raise input_error(first, what, "Write it so")
    sections = {"": text[: root.value[0][0].start_mark.index]}
    starts = [key.start_mark.index for key, _ in root.value]
    for (key, _), start, end in zip(root.value, starts, [*starts[1:], len(text)], strict=True):
        if key.value in sections:
            line = f"{shown} line {key.start_mark.line + above + 1}"
            raise input_error(line, f"duplicate key {quoted(key.value)}", "Keep one of them")
        sections[key.value] = text[start:end]
    return data, sections


def _rewritten(section: str, key: str, value: Any, model: str) -> str:
    """Write the piece of text of a key anew; ``None`` takes it away."""
    below = _BELOW.search(section).group() if section else ""
    if value is None or not section:
        entry = [{"name": model, "results": value}] if key == INDEX else value
        return below if value is None else dumped({key: entry})
    trip = YAML()
    trip.preserve_quotes, trip.width = True, 10**6
    offset = len(re.search(r"^( *)-(?= |$)|\Z", section, re.MULTILINE)[1] or "")
    trip.indent(mapping=2, sequence=offset + 2, offset=offset)
    data = trip.load(section.removesuffix(below))
    if key == INDEX and data[key]:
        _merge(data[key], model, trip.load(dumped(value)))
    else:
        entry = [{"name": model, "results": value}] if key == INDEX else value
        data[key] = trip.load(dumped(entry))
    written = io.StringIO()
    trip.dump(data, written)
    return written.getvalue() + below


def _merge(index: list, model: str, results: list) -> None:
    """Take our results out of an index and put new ones in, in place."""
    names = [entry.get("name") for entry in index]
    target = names.index(model) if model in names else 0 if len(names) == 1 else len(names)
    for place in reversed(range(len(index))):
        entry = index[place]
        there = entry["results"] if entry["results"] is not None else []
        ours = [number for number, one in enumerate(there) if is_ours(one)]
        new = results if place == target else []
        if [there[number] for number in ours] == new:
            continue
        for number in reversed(ours):
            del there[number]
        there.extend(new)
        entry["results"] = there
        if not there and set(entry) == {"name", "results"}:
            del index[place]
    if target == len(names) and results:
        index.append({"name": model, "results": results})


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("results", ""), list | None)


def _listed(value: Any) -> list:
    """Give a value as a list: a list of one text means the same as that text."""
    return value if isinstance(value, list) else [value]


def _with_block(text: str, block: str, lines: str, shown: str, above: int) -> str:
    """Put a block between the markers of a text, at its end if there are none."""
    ours = re.sub(_BREAK, lines, f"{BEGIN}\n{block.strip()}\n{END}")
    found = [
        (number, line.strip(" \t"))
        for number, line in enumerate(re.split(_BREAK, text), above + 1)
        if _MARKER.search(line)
    ]
    if [line for _, line in found] == [BEGIN, END]:
        return text[: text.index(BEGIN)] + ours + text[text.index(END) + len(END) :]
    if found:
        where = f"{shown} line {', '.join(str(number) for number, _ in found)}"
        what = f"the markers are no pair: {', '.join(quoted(line) for _, line in found)}"
        remedy = f"Write {BEGIN} and, below it, {END}, each once and on a line of its own, or remove all"
        raise input_error(where, what, remedy)
    return (
        text
        + ("" if not text or text.endswith(("\n", "\r")) else lines)
        + (lines if text else "")
        + ours
        + lines
    )
