"""Puts results into the ``model-index`` of a README, and takes out those that were made here before.

Results of others stay, byte for byte, whatever they are of, and so do models of other names. Who wrote a
result is told by what is in it, see :func:`soundcheck.publish.model_index.is_ours`: hubs and their programs
write metadata anew and lose comments.
"""

from __future__ import annotations

from typing import Any

import yaml

from soundcheck.common.errors import input_error
from soundcheck.publish.cards.model_index import is_ours
from soundcheck.publish.cards.readme.yaml_splice import Span, Yaml, appended, dumped, last_place, spliced

INDEX = "model-index"


def with_results(found: Yaml, model: str, results: list[dict]) -> Yaml:
    """Replace our results.

    Parameters
    ----------
    found
        The metadata; their text ends with a line feed or is empty.
    model
        Name of the model. Results go to the entry of this name, else to the only one there is.
    results
        From :func:`soundcheck.publish.model_index.results_of`; empty = ours are taken out.

    Raises
    ------
    InputError
        If the list has a form in which results of others cannot be kept.
    """
    fresh = [{"name": model, "results": results}] if results else None
    if INDEX not in found.keys:
        return appended(found, {INDEX: fresh}) if fresh else found
    data = _checked(found)
    if data == fresh:
        return found
    if any(_is_theirs(entry) for entry in data):
        return _Others(found, data).changed(model, results)
    key, node = found.keys[INDEX]
    end = max(key.end_mark.index + 1, last_place(node, found.text))
    if fresh is None:
        return spliced(found, {_whole_lines(found, (key.start_mark.index, end)): ""}, {INDEX: None})
    piece = dumped({INDEX: fresh}).removesuffix("\n")
    return spliced(found, {(key.start_mark.index, end): piece}, {INDEX: fresh})


def _is_theirs(entry: dict[str, Any]) -> bool:
    return bool(set(entry) - {"name", "results"}) or not all(map(is_ours, entry["results"] or []))


def _checked(found: Yaml) -> list[dict[str, Any]]:
    """Give the list as data; anything else is refused."""
    data = found.value(INDEX) or []
    if not isinstance(data, list) or not all(
        isinstance(entry, dict) and "results" in entry and isinstance(entry["results"], list | None)
        for entry in data
    ):
        what = f"{INDEX} is no list of models with results"
        raise input_error(found.line(found.keys[INDEX][0]), what, "Correct or remove it")
    return data


class _Others:
    """A list that holds something of others."""

    def __init__(self, found: Yaml, data: list[dict[str, Any]]) -> None:
        self._found, self._data = found, data
        self._node = found.keys[INDEX][1]
        self._changes: dict[Span, str] = {}

    def changed(self, model: str, results: list[dict]) -> Yaml:
        """Take our results out and put the new ones in."""
        names = [entry.get("name") for entry in self._data]
        target = names.index(model) if model in names else (0 if len(names) == 1 else None)
        wanted = []
        self._check_lines(self._node)
        for place, (entry, node) in enumerate(zip(self._data, self._node.value, strict=True)):
            kept = [one for one in entry["results"] or [] if not is_ours(one)]
            became = [*kept, *(results if place == target else [])]
            if became == (entry["results"] or []):
                wanted.append(entry)
            elif not became and not _is_theirs(entry):
                self._changes[self._lines_of(node)] = ""
            else:
                wanted.append(entry | {"results": became})
                self._replace(node, became[len(kept) :], bool(kept))
        if target is None and results:
            fresh = [{"name": model, "results": results}]
            self._insert(self._node, fresh)
            wanted += fresh
        return spliced(self._found, self._changes, {INDEX: wanted}) if self._changes else self._found

    def _replace(self, entry: yaml.Node, added: list[dict], kept: bool) -> None:
        """Change the results of an entry."""
        items = next(value for key, value in entry.value if key.value == "results")
        self._check_lines(items)
        if not (kept or added):
            what = "a model would be left without results, with other keys that are not ours"
            raise input_error(self._found.line(entry), what, f"Remove this model from {INDEX}")
        for item in items.value:
            if is_ours(_data_of(item)):
                self._changes[self._lines_of(item)] = ""
        if added:
            self._insert(items, added)

    def _insert(self, items: yaml.Node, added: list[dict]) -> None:
        """Put items behind the last one, or in its place."""
        begin, end = self._lines_of(items.value[-1])
        piece = dumped(added, items.start_mark.column)
        if (begin, end) in self._changes:
            self._changes[(begin, end)] += piece
        else:
            self._changes[(end, end)] = self._changes.get((end, end), "") + piece

    def _lines_of(self, item: yaml.Node) -> Span:
        return _whole_lines(self._found, (item.start_mark.index, last_place(item, self._found.text)))

    def _check_lines(self, items: yaml.Node) -> None:
        """Refuse what has no items, or items that do not begin lines."""
        if not isinstance(items, yaml.SequenceNode) or items.flow_style or not items.value:
            what = f"{INDEX} holds something of others in a form in which nothing can be added"
            remedy = "Write each model and each result as an item, - ..., on lines of its own"
            raise input_error(self._found.line(items), what, remedy)


def _data_of(node: yaml.Node) -> Any:
    return yaml.safe_load(yaml.serialize(node, Dumper=yaml.SafeDumper))


def _whole_lines(found: Yaml, span: Span) -> Span:
    """Widen a span to whole lines."""
    begin = found.text.rfind("\n", 0, span[0]) + 1
    return begin, found.text.find("\n", span[1]) + 1
