"""What the Hugging Face Hub reads: the README.md of a model, and entries for the leaderboards of benchmarks.

- Only a suite can say which benchmark a corpus is (``benchmark:``). Interval, counts and the digest of the
  results go into the notes of an entry, the only place that its format has for them.
- In a README our keys in the metadata, our results in ``model-index`` and our block in the text are ours.
  Everything else belongs to others. Keys that need no change keep their bytes; in those that do, comments,
  quotes and order stay, while indentation may become regular. What cannot be changed without changing more is
  refused, and so are markers of the block that are no pair.
"""

import copy
import io
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from soundcheck.common.messages import InputError, heading, input_error, quoted
from soundcheck.publish.cards import content
from soundcheck.publish.cards.card_format import CardContext, CardFormat
from soundcheck.publish.cards.records import INDEX, filled, in_unit, is_ours, plain, results_of, task_type
from soundcheck.publish.facts import page
from soundcheck.report.key_figures import RATES, sentence
from soundcheck.results.facts import ModelFacts
from soundcheck.results.record import CorpusRecord, KeyFigure
from soundcheck.suite.entries import Card


class HubResults(CardFormat):
    """Entries of benchmarks; error rates are in per cent."""

    keyword = "hub-results"
    file = ".eval_results/soundcheck.yaml"

    def obstacle(self, facts: ModelFacts, context: CardContext) -> str:
        """Say why there is nothing to list."""
        if not any(corpus.benchmark for corpus in facts.corpora):
            return "no corpus of the model says which benchmark it is (benchmark: in the suite)"
        listed = {corpus.name: _figures(facts, corpus) for corpus in facts.corpora}
        for name, figures in listed.items():
            if len(figures) > 1:
                tasks = ", ".join(figure.task for figure in figures)
                return f"corpus {name} has results of {tasks}: name one of them as task: in benchmark:"
        return "" if any(listed.values()) else "no corpus that is a benchmark has a result of the model"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the entries."""
        figures = [(corpus, figure) for corpus in facts.corpora for figure in _figures(facts, corpus)]
        entries = [_entry(facts, context, corpus, figure) for corpus, figure in figures]
        return yaml.safe_dump(entries, allow_unicode=True, sort_keys=False, width=10**6)


def _figures(facts: ModelFacts, corpus: CorpusRecord) -> list[KeyFigure]:
    """List the figures of a benchmark: those that decide how good a model is."""
    if corpus.benchmark is None:
        return []
    figures = [one for one in facts.figures if one.corpus == corpus.name and one.standing]
    return [one for one in figures if one.value is not None and corpus.benchmark.task in ("", one.task)]


def _entry(facts: ModelFacts, context: CardContext, corpus: CorpusRecord, figure: KeyFigure) -> dict:
    about, synthetic = corpus.benchmark, "; synthetic speech" if corpus.synthetic else ""
    notes = (
        f"{sentence(figure)}, {figure.segments:,} segments{synthetic}; "
        f"Soundcheck {facts.record.version}, SHA-256 of results.csv {facts.sha256}"
    )
    address = context.link(page(facts))
    return filled(
        dataset=filled(id=about.id, task_id=plain(about.task_id), revision=plain(about.revision)),
        value=in_unit(figure.value, figure.measure),
        date=context.date.isoformat(),
        source={"url": address, "name": "Soundcheck"} if address else {},
        notes=plain(notes),
    )


_LIBRARIES = ("transformers", "onnx")  # kinds of models that hubs know by the same name
_TAGS = ("automatic-speech-recognition", "audio-classification")  # tasks that hubs know
# Licences that hubs know; any other is "other", with its name beside it.
_LICENCES = frozenset(Path(content.__file__).with_name("hub_licences.txt").read_text("utf-8").split())


class HuggingFaceCard(CardFormat):
    """``README.md``; one that is there is updated in the keys and between the markers that are ours."""

    keyword = "huggingface"
    file = "README.md"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the card."""
        title = f"\n# {heading(facts.model.name)}\n"
        return self._put(title, "README.md", _measured(facts), facts, context)

    def updated(self, existing: str, name: str, facts: ModelFacts, context: CardContext) -> str:
        """Change what is ours; the rest stays."""
        if not existing.strip("\ufeff \t\r\n"):
            return self.text(facts, context)
        return self._put(existing, name, {}, facts, context)

    def _put(
        self, text: str, file_name: str, keys: dict[str, Any], facts: ModelFacts, context: CardContext
    ) -> str:
        name = plain(context.card.id.rpartition("/")[2] or facts.model.name)
        block = content.text("card.md", facts, context)
        keys = _written(context.card) | keys
        return updated(text, file_name, keys, name, results_of(facts, context), block)


def _written(card: Card) -> dict[str, Any]:
    """Give what people said about the model, as the hub has it."""
    licence, known = card.license, card.license.lower() in _LICENCES
    is_name = re.fullmatch(r"[\w.-]+/[\w.-]+", card.base_model)
    return filled(
        language=[*card.languages],
        license=licence.lower() if known else licence and "other",
        license_name="" if known else plain(licence),
        base_model=card.base_model if is_name else "",
    )


def _measured(facts: ModelFacts) -> dict[str, Any]:
    """Give what the run knows; only for new cards, as people like to choose these words."""
    types = {task_type(facts, task) for task in facts.model.tasks} & {*_TAGS}
    has_rate = any(figure.measure == RATES[0] for figure in facts.figures)
    return filled(
        library_name=facts.model.kind if facts.model.kind in _LIBRARIES else "",
        pipeline_tag=types.pop() if len(types) == 1 else "",
        metrics=["wer"] if has_rate else [],
        tags=["soundcheck"],
    )


BEGIN, END = "<!-- soundcheck:begin -->", "<!-- soundcheck:end -->"
_BREAK = r"(?:\r\n|\r|\n)"
_OPENED = re.compile(rf"(\ufeff?\s*?)---[ \t]*(?:{_BREAK}|\Z)")
_METADATA = re.compile(rf"(\ufeff?\s*?---{_BREAK})((?:.*?{_BREAK})??)(---[ \t]*(?:{_BREAK}|\Z))", re.DOTALL)
_MARKER = re.compile(r"<!--[ \t]*soundcheck[ \t]*:", re.IGNORECASE)
_BELOW = re.compile(r"(^[ \t]*(#.*)?\n)*\Z", re.MULTILINE)  # comments and blank lines at the end
_FAILURES = (YAMLError, KeyError, ValueError, RecursionError)


def updated(
    text: str, file_name: str, keys: Mapping[str, Any], model: str, results: list[dict], block: str
) -> str:
    """Put what is ours into a README, which may be empty and is called ``shown`` in messages.

    ``own`` are keys of the metadata, ``block`` is Markdown between the markers. ``results`` replace ours in
    the entry of the model in ``model-index``, else in the only one, else in a new one. Raises an
    ``InputError`` if the metadata cannot be read or changed, or the markers are no pair.
    """
    match, opened = _METADATA.match(text), _OPENED.match(text)
    if opened and not match:
        what = "the metadata begin with --- and end nowhere, or there are blanks behind ---"
        remedy = "Begin and close them with lines --- without blanks, or begin the file with a heading"
        raise input_error(f"{file_name} line {_lines(opened[1]) + 1}", what, remedy)
    opening, metadata, closing = match.groups() if match else (text[: text.startswith("\ufeff")], "", "")
    body = text[len(opening + metadata + closing) :]
    lines = (re.search(_BREAK, text) or ["\n"])[0]
    plain = re.sub(_BREAK, "\n", metadata)
    changed = _with_ours(plain, file_name, _lines(opening), keys, model, results)
    if changed != plain:
        metadata = changed.replace("\n", lines)
    if metadata and not closing:
        opening, closing = f"{opening}---{lines}", f"---{lines}"
    above = _lines(text) - _lines(body)
    return opening + metadata + closing + _with_block(body, block, lines, file_name, above)


def _lines(text: str) -> int:
    return len(re.findall(_BREAK, text))


def _yaml(offset: int = 0) -> YAML:
    """Give what reads and writes block YAML, items of lists indented by so much; comments stay."""
    parser = YAML()
    parser.preserve_quotes, parser.width = True, 10**6
    parser.indent(mapping=2, sequence=offset + 2, offset=offset)
    return parser


def _with_ours(
    text: str, file_name: str, above: int, keys: Mapping[str, Any], model: str, results: list[dict]
) -> str:
    data = _read(text, file_name, above)
    index = data.get(INDEX) or []
    if not isinstance(index, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("results", ""), list | None) for entry in index
    ):
        line = data.lc.key(INDEX)[0] + above + 1
        raise input_error(
            f"{file_name} line {line}", f"{INDEX} is no list of models with results", "Correct it"
        )
    changes = {key: _quoted(value) for key, value in keys.items() if _listed(data.get(key)) != _listed(value)}
    became = _merged(copy.deepcopy(index), model, results)
    if became != index:
        changes[INDEX] = became
    if not changes:
        return text
    try:
        made = _changed(text, data, changes, model, results)
        read = _read(made, file_name, above)
        expected = {key for key in data if key not in changes} | {key for key in changes if changes[key]}
        same = {*read} == expected and all(read[key] == value for key, value in changes.items() if value)
    except (InputError, *_FAILURES):
        same = False
    if not same:
        what = "the metadata have a form in which our keys cannot be changed without changing more"
        remedy = "Write key: value lines without anchors, references and tags"
        raise input_error(f"{file_name} line {above + 1}", what, remedy)
    return made


def _read(text: str, file_name: str, above: int) -> CommentedMap:
    try:
        data = _yaml().load(text)
    except _FAILURES as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line if mark else text.count("\n", 0, getattr(error, "position", 0))
        why = getattr(error, "problem", None) or getattr(error, "reason", None) or "a value is out of range"
        what = f"the metadata between the two lines --- cannot be read: {why}"
        raise input_error(f"{file_name} line {line + above + 1}", what, "Correct them") from error
    if data is None:
        return CommentedMap()
    if not isinstance(data, CommentedMap) or data.fa.flow_style():
        what = "the text between the two lines --- is no list of lines key: value"
        raise input_error(f"{file_name} line {above + 1}", what, "Write it so")
    return data


def _changed(
    text: str, old: CommentedMap, changes: Mapping[str, Any], model: str, results: list[dict]
) -> str:
    """Write the lines of keys that change anew; a key without a value goes, a new one comes at the end."""
    lines = re.findall(r".*\n", text)
    starts = [old.lc.key(key)[0] for key in old] + [len(lines)]
    spans = zip(old, itertools.pairwise(starts), strict=True)
    sections = {key: "".join(lines[start:end]) for key, (start, end) in spans}
    for key, value in changes.items():
        section = sections.get(key, "")
        below = _BELOW.search(section).group()
        data = _yaml().load(section.removesuffix(below)) or {}
        if key == INDEX:
            value = _merged(data.get(key) or [], model, _quoted(results))
        data[key] = value
        items = re.search(r"^( *)-(?= |$)", section, re.MULTILINE)
        made = io.StringIO()
        if value:
            _yaml(len(items[1]) if items else 0).dump(data, made)
        sections[key] = made.getvalue() + below
    return "".join([*lines[: starts[0]], *sections.values()])


def _merged(index: list, model: str, results: list) -> list:
    """Take our results out of an index, in place, and put new ones in."""
    names = [entry.get("name") for entry in index]
    target = names.index(model) if model in names else 0 if len(names) == 1 else len(names)
    for place in reversed(range(len(index))):
        entry = index[place]
        listed, new = entry["results"] or [], results if place == target else []
        ours = [result for result in listed if is_ours(result)]
        if ours == new:
            continue
        for result in ours:
            listed.remove(result)
        listed.extend(new)
        entry["results"] = listed
        if not listed and set(entry) == {"name", "results"}:
            del index[place]
    if target == len(names) and results:
        index.append({"name": model, "results": results})
    return index


def _quoted(value: Any) -> Any:
    """Give a value with quotes wherever programs for YAML 1.1 need them: no, 1e3."""
    return _yaml().load(yaml.safe_dump(value, allow_unicode=True, sort_keys=False))


def _listed(value: Any) -> list:
    """Give a value as a list: a list of one text means the same as that text."""
    return value if isinstance(value, list) else [value]


def _with_block(text: str, block: str, lines: str, file_name: str, above: int) -> str:
    """Put a block between the markers of a text, at its end if there are none."""
    ours = re.sub(_BREAK, lines, f"{BEGIN}\n{block.strip()}\n{END}")
    markers = [
        (number, line.strip(" \t"))
        for number, line in enumerate(re.split(_BREAK, text), above + 1)
        if _MARKER.search(line)
    ]
    if [line for _, line in markers] == [BEGIN, END]:
        return text[: text.index(BEGIN)] + ours + text[text.index(END) + len(END) :]
    if markers:
        where = f"{file_name} line {', '.join(str(number) for number, _ in markers)}"
        what = f"the markers are no pair: {', '.join(quoted(line) for _, line in markers)}"
        remedy = f"Write {BEGIN} and, below it, {END}, each once and on a line of its own, or remove all"
        raise input_error(where, what, remedy)
    before = text if not text or text.endswith(("\n", "\r")) else text + lines
    return before + (lines if text else "") + ours + lines
