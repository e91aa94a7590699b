"""Reads the models of a suite: what each is, what it predicts, and for which data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from soundcheck.common.errors import did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import BUILTIN
from soundcheck.suite import schema
from soundcheck.suite.card import read_card
from soundcheck.suite.document_reader import EntryReader
from soundcheck.suite.model_kind import ERROR, LEFT_OUT, MODEL_KINDS, ModelEntry, ModelKeys, ModelKind
from soundcheck.suite.paths import find_files


def read_model(reader: EntryReader, name: str, value: object, seconds: float) -> ModelEntry | None:
    """Read a model; ``seconds`` is what a call may take if the model does not say."""
    path = ("models", name)
    given = [kind for kind in MODEL_KINDS if isinstance(value, dict) and kind in value]
    kind = MODEL_KINDS[given[0]] if len(given) == 1 else None
    keys = reader.read_keys(path, value, kind, ModelKeys, MODEL_KINDS, "kind", tuple(MODEL_KINDS))
    if not isinstance(value, dict):
        return None
    if len(given) > 1:
        reader.note(path, f"two kinds of model: {' and '.join(given)}", "Keep one of them")
    if not given:
        reader.note(path, "it does not say what the model is", f"Add one of: {', '.join(MODEL_KINDS)}")
    if kind is None:
        return None
    if keys is not None:
        reader.known_names((*path, "families"), keys.families, reader.families, "family")
        corpora = list(reader.document.data.get("corpora") or {})
        reader.known_names((*path, "corpora"), keys.corpora, corpora, "corpus")
        for text in keys.files or ():
            _, what, remedy = find_files(reader.file, text)
            if what:
                reader.note((*path, "files"), what, remedy)
    place = (*path, kind.keyword)
    target = reader.check(place, value[kind.keyword], schema.Text)
    if target is None or keys is None:
        return None
    file, what, remedy = kind.check_target(target, reader.file)
    if what:
        reader.note(place, what, remedy)
    else:
        for key, what, remedy in kind.problems(target, keys):
            reader.note((*path, key), what, remedy)
    tasks = _read_tasks(reader, (*path, "tasks"), kind, target, keys.tasks)
    known = {**dict(keys), "files": keys.files or (), "time_limit": keys.time_limit or seconds}
    known |= {"name": name, "kind": kind.keyword, "target": target, "path": file, "tasks": tasks}
    known["ranges"] = _read_scale(reader, (*path, "range"), kind, known.pop("range"), tasks)
    known["card"] = read_card(reader, (*path, "card"), keys.card)
    known["missing"] = _read_missing(reader, (*path, "missing"), keys.missing, tasks)
    _check_meanings(reader, (*path, "values"), keys.values, tasks)
    return kind.complete(schema.entry(ModelEntry, known))


def _read_missing(reader: EntryReader, path: tuple, value: str, names: Sequence[str]) -> str:
    """Read how an input without a prediction counts."""
    words = any(reader.tasks[name].is_transcription for name in names)
    if value == ERROR and names and not words:
        reader.note(path, "the model recognises no words that could be missed", "Remove it")
    return value or (ERROR if words else LEFT_OUT)


def _read_scale(
    reader: EntryReader, path: tuple, kind: type[ModelKind], value: object, names: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Read on which scale a model predicts numbers."""
    tasks = [reader.tasks[name] for name in names]
    if value is not None and names and not (kind.has_scale and any(task.is_regression for task in tasks)):
        what = "the model predicts no number" if kind.has_scale else f"{kind.keyword} models need no scale"
        reader.note(path, what, "Remove it. It is the scale on which a model answers regression tasks")
        return {}
    return reader.read_ranges(path, value, tasks)


def _check_meanings(
    reader: EntryReader, path: tuple, values: Mapping[str, Mapping[str, str]], names: Sequence[str]
) -> None:
    """Note words of predictions that mean no class."""
    for task, words in values.items():
        classes = reader.tasks[task].classes if task in names else ()
        for word, name in words.items():
            if name not in classes:
                remedy = did_you_mean(name, classes) or "Name a task with classes that the model answers"
                reader.note((*path, task, word), f"{quoted(name)} is no class of {task}", remedy)


def _read_tasks(
    reader: EntryReader, path: tuple, kind: type[ModelKind], target: str, names: Sequence[str] | None
) -> tuple[str, ...]:
    """Read what a model predicts."""
    remedy = f"Name what it predicts: {', '.join(reader.tasks)}"
    if names is None:
        default = kind.default_tasks(target)
        if default is None:
            reader.note(path, "the key is missing", remedy)
        declared = [task for name, task in reader.tasks.items() if name not in BUILTIN]
        others = [t.name for t in declared if kind.answers_declared and not kind.check_tasks(target, [t])]
        return (*(default or ()), *others)
    if not names:
        reader.note(path, "no task is named", remedy)
    tasks = reader.known_names(path, names, list(reader.tasks), "task")
    for what, advice in kind.check_tasks(target, [reader.tasks[task] for task in tasks]):
        reader.note(path, what, advice)
    return tasks
